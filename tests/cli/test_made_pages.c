/* SPDX-License-Identifier: Apache-2.0 */
/* What is made from the tables, option by option: the manual, the completions; and what the tables have promised. */
#include "said.h"

#include "base/text.h"

static said s;

static void has(const char *whole, const sk_text *part)
{
    if (!strstr(whole, sk_text_get(part)))
        fail_msg("'%s' is not there", sk_text_get(part));
}

/* --- the manual --- */

static void roff(sk_text *out, const char *text)
{
    for (; *text; text++) {
        if (strncmp(text, "\n\n", 2) == 0) {
            sk_text_append(out, "\n.PP\n");
            text++;
        } else if (*text == '-')
            sk_text_append(out, "\\-");
        else if (*text == '\\')
            sk_text_append(out, "\\e");
        else
            sk_text_append_bytes(out, text, 1);
    }
}

static void with_commas(sk_text *out, const char *choices)
{
    sk_text_append(out, ": ");
    for (const char *c = choices; *c; c++)
        *c == '|'   ? sk_text_append(out, ", ")
        : *c == '-' ? sk_text_append(out, "\\-")
                    : sk_text_append_bytes(out, c, 1);
}

static void manual_of_option(const sk_option *o, sk_text *out)
{
    sk_text_append(out, ".TP\n");
    if (o->letter)
        sk_text_appendf(out, "\\fB\\-%c\\fR, ", o->letter);
    sk_text_append(out, "\\fB\\-\\-");
    roff(out, o->name);
    sk_text_append(out, "\\fR");
    if (o->kind != SK_OPTION_FLAG) {
        sk_text_append(out, " \\fI");
        roff(out, o->argument);
        sk_text_append(out, "\\fR");
    }
    sk_text_append(out, "\n");
    roff(out, o->help);
    if (o->choices)
        with_commas(out, o->choices);
    if (o->max >= 1e9)
        sk_text_appendf(out, " (%.15g or more)", o->min);
    else if (o->min != 0 || o->max != 0)
        sk_text_appendf(out, " (%.15g to %.15g)", o->min, o->max);
    if (o->repeat)
        sk_text_append(out, "; may be repeated");
    if (o->fallback) {
        sk_text_append(out, " [default: ");
        roff(out, o->fallback);
        sk_text_append(out, "]");
    }
    sk_text_append(out, "\n");
}

static void manual_of_command(const sk_command *c, sk_text *out)
{
    sk_text_appendf(out, ".SS \"skitter %s ", c->name);
    for (const sk_operand *o = c->operands; o && o->name; o++) {
        sk_text_append(out, o->optional ? "[" : "");
        for (const char *letter = o->name; *letter; letter++)
            sk_text_appendf(out, "%c", *letter - 'a' + 'A');
        sk_text_appendf(out, "%s%s ", o->repeat ? "..." : "", o->optional ? "]" : "");
    }
    sk_text_append(out, "[options]\"\n");
    roff(out, c->summary);
    sk_text_append(out, "\n");
    if (c->description) {
        sk_text_append(out, ".PP\n");
        roff(out, c->description);
        sk_text_append(out, "\n");
    }
    for (const sk_operand *o = c->operands; o && o->name; o++) {
        sk_text_append(out, ".TP\n\\fI");
        for (const char *letter = o->name; *letter; letter++)
            sk_text_appendf(out, "%c", *letter - 'a' + 'A');
        sk_text_append(out, "\\fR\n");
        roff(out, o->help);
        if (o->choices)
            with_commas(out, o->choices);
        sk_text_append(out, "\n");
    }
    for (const sk_option *o = c->options; o && o->name; o++)
        manual_of_option(o, out);
}

static void the_manual_has_all(void **state)
{
    (void)state;
    SAID_OK(&s, "man");
    sk_text part = {0}, examples = {0};
    const char *at = s.out;
    for (const sk_command *const *c = sk_commands; *c; c++) {
        sk_text_clear(&part);
        manual_of_command(*c, &part);
        has(at, &part);
        at = strstr(at, sk_text_get(&part)) + part.length; /* one behind the other, and nothing between */
        for (const sk_example *e = (*c)->examples; e->command; e++) {
            sk_text_append(&examples, ".TP\n\\fB");
            roff(&examples, e->command);
            sk_text_append(&examples, "\\fR\n");
            roff(&examples, e->what ? e->what : (*c)->summary);
            sk_text_append(&examples, "\n");
        }
    }
    sk_text_clear(&part);
    sk_text_append(&part, ".SH OPTIONS OF EVERY COMMAND\n");
    for (const sk_option *o = sk_common_options; o->name; o++)
        manual_of_option(o, &part);
    sk_text_append(&part, ".SH EXAMPLES\n");
    sk_text_append(&part, sk_text_get(&examples));
    sk_text_append(&part, ".SH EXIT STATUS\n.TP\n0\nsuccess\n");
    assert_int_equal(strncmp(at, sk_text_get(&part), part.length), 0);
    assert_int_equal(strncmp(s.out, ".TH SKITTER 1 ", 14), 0);
    sk_text_free(&part);
    sk_text_free(&examples);
}

/* --- completions --- */

static void words(sk_text *out, const char *choices)
{
    for (const char *c = choices; *c; c++)
        sk_text_append_bytes(out, *c == '|' ? " " : c, 1);
}

static void bash_values(sk_text *out, sk_option_kind kind, const char *choices)
{
    if (kind == SK_OPTION_CHOICE) {
        sk_text_append(out, "COMPREPLY=($(compgen -W '");
        words(out, choices);
        sk_text_append(out, "' -- \"$cur\"))");
    } else {
        sk_text_append(out, kind == SK_OPTION_FILE     ? ":"
                            : kind == SK_OPTION_FOLDER ? "compopt -o dirnames"
                                                       : "compopt +o default +o bashdefault");
    }
}

static void names_of_all(sk_text *out, const char *between)
{
    for (const sk_command *const *c = sk_commands; *c; c++)
        sk_text_appendf(out, "%s%s", (*c)->name, c[1] ? " " : between);
}

static void bash_has_all(void **state)
{
    (void)state;
    SAID_OK(&s, "completion bash");
    const char *at = s.out;
    sk_text part = {0};
    sk_text_append(&part, "compgen -W '");
    names_of_all(&part, " ");
    sk_text_append(&part, "--help --version' -- \"$cur\")) ;;\n");
    has(at, &part);
    at = strstr(at, sk_text_get(&part)) + part.length;
    for (const sk_command *const *c = sk_commands; *c; c++) {
        sk_text_clear(&part);
        if (strcmp((*c)->name, "help") == 0) {
            sk_text_append(
                &part,
                "    help)\n        compopt +o default +o bashdefault\n        COMPREPLY=($(compgen -W '");
            names_of_all(&part, " ");
            sk_text_append(&part, "' -- \"$cur\")) ;;\n");
        } else {
            sk_text_appendf(&part, "    %s)\n        case $prev in\n", (*c)->name);
            for (const sk_option *o = (*c)->options; o && o->name; o++) {
                if (o->kind == SK_OPTION_FLAG)
                    continue;
                sk_text_appendf(&part, "        --%s", o->name);
                if (o->letter)
                    sk_text_appendf(&part, " | -%c", o->letter);
                sk_text_append(&part, ") ");
                bash_values(&part, o->kind, o->choices);
                sk_text_append(&part, "; return ;;\n");
            }
            sk_text_append(&part,
                           "        esac\n        if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '");
            for (const sk_option *o = (*c)->options; o && o->name; o++)
                sk_text_appendf(&part, " --%s", o->name);
            sk_text_append(&part, " --help --quiet --verbose' -- \"$cur\"))\n        else ");
            const sk_operand *first = (*c)->operands;
            bash_values(&part, first ? first->kind : SK_OPTION_TEXT, first ? first->choices : NULL);
            sk_text_append(&part, "; fi ;;\n");
        }
        if (strncmp(at, sk_text_get(&part), part.length) != 0)
            fail_msg("%s: '%.300s' is not '%.300s'", (*c)->name, at, sk_text_get(&part));
        at += part.length;
    }
    sk_text_free(&part);
}

static void zsh_escaped(sk_text *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            sk_text_append(out, "'\\''");
        else
            sk_text_appendf(out, "%s%c", strchr(special, *text) ? "\\" : "", *text);
    }
}

static void zsh_values(sk_text *out, sk_option_kind kind, const char *choices)
{
    if (kind == SK_OPTION_CHOICE) {
        sk_text_append(out, "(");
        words(out, choices);
        sk_text_append(out, ")");
    } else {
        sk_text_append(out, kind == SK_OPTION_FILE ? "_files" : kind == SK_OPTION_FOLDER ? "_files -/" : " ");
    }
}

static void zsh_option(sk_text *out, const sk_option *o)
{
    const char *value = o->kind == SK_OPTION_FLAG ? "" : "=";
    sk_text_append(out, " \\\n            ");
    if (o->repeat || strcmp(o->name, "verbose") == 0)
        sk_text_append(out, "'*'");
    else if (o->letter)
        sk_text_appendf(out, "'(-%c --%s)'", o->letter, o->name);
    if (o->letter)
        sk_text_appendf(out, "{-%c%s,--%s%s}", o->letter, *value ? "+" : "", o->name, value);
    else
        sk_text_appendf(out, "--%s%s", o->name, value);
    sk_text_append(out, "'[");
    zsh_escaped(out, o->help, "[]:\\");
    sk_text_append(out, "]");
    if (*value) {
        sk_text_append(out, ":");
        zsh_escaped(out, o->argument, ":\\");
        sk_text_append(out, ":");
        zsh_values(out, o->kind, o->choices);
    }
    sk_text_append(out, "'");
}

static void zsh_has_all(void **state)
{
    (void)state;
    SAID_OK(&s, "completion zsh");
    sk_text part = {0};
    sk_text_append(&part, "        local -a commands=(\n");
    for (const sk_command *const *c = sk_commands; *c; c++) {
        sk_text_appendf(&part, "            '%s:", (*c)->name);
        zsh_escaped(&part, (*c)->summary, ":\\");
        sk_text_append(&part, "'\n");
    }
    sk_text_append(&part,
                   "        )\n        _describe -t commands 'skitter command' commands ;;\n    rest)\n"
                   "        case $words[1] in\n");
    for (const sk_command *const *c = sk_commands; *c; c++) {
        sk_text_appendf(&part, "        %s)\n            _arguments -s", (*c)->name);
        for (const sk_option *o = (*c)->options; o && o->name; o++)
            zsh_option(&part, o);
        for (const sk_option *o = sk_common_options; o->name; o++)
            zsh_option(&part, o);
        int position = 1;
        for (const sk_operand *o = (*c)->operands; o && o->name; o++) {
            if (o->repeat)
                sk_text_append(&part, " \\\n            '*:");
            else
                sk_text_appendf(&part, " \\\n            '%d:%s", position++, o->optional ? ":" : "");
            sk_text_appendf(&part, "%s:", o->name);
            if (strcmp((*c)->name, "help") == 0) {
                sk_text_append(&part, "(");
                names_of_all(&part, ")");
            } else {
                zsh_values(&part, o->kind, o->choices);
            }
            sk_text_append(&part, "'");
            if (o->repeat)
                break;
        }
        sk_text_append(&part, " ;;\n");
    }
    sk_text_append(&part, "        esac ;;\n    esac\n}\n");
    has(s.out, &part);
    sk_text_free(&part);
}

/* --- what was promised --- */

static const char *const kinds[] = {"", "flag", "text", "int", "real", "choice", "file", "folder"};

static void options_as_lines(sk_text *out)
{
    for (const sk_command *const *c = sk_commands; *c; c++) {
        int position = 0;
        for (const sk_operand *o = (*c)->operands; o && o->name; o++)
            sk_text_appendf(out, "%s %d %s %s optional %d repeat %d\n", (*c)->name, position++, o->name,
                            kinds[o->kind], o->optional, o->repeat);
        for (const sk_option *o = (*c)->options; o && o->name; o++) {
            sk_text_appendf(out, "%s --%s %s", (*c)->name, o->name, kinds[o->kind]);
            if (o->letter)
                sk_text_appendf(out, " -%c", o->letter);
            if (o->also)
                sk_text_appendf(out, " also --%s", o->also);
            if (o->min != 0 || o->max != 0)
                sk_text_appendf(out, " from %.15g to %.15g", o->min, o->max);
            if (o->repeat)
                sk_text_appendf(out, " repeat %d", o->repeat);
            if (o->needs)
                sk_text_appendf(out, " needs %u", o->needs);
            sk_text_appendf(out, "%s%s%s%s\n", o->fallback ? " default " : "", o->fallback ? o->fallback : "",
                            o->alone ? " alone " : "", o->alone ? o->alone : "");
        }
    }
}

/* People's scripts have these words in them. A new option may be put to tests/cli/printed/options.txt with
 * SKITTER_TEST_REWRITE=1; one that is there stays as it is. */
static void options_stay_as_they_were(void **state)
{
    (void)state;
    static char promised[SAID_MOST];
    sk_text now = {0};
    options_as_lines(&now);
    if (getenv("SKITTER_TEST_REWRITE"))
        said_is("options", sk_text_get(&now));
    FILE *file = fopen(test_source("tests/cli/printed/options.txt"), "r");
    assert_non_null(file);
    promised[fread(promised, 1, sizeof promised - 1, file)] = '\0';
    fclose(file);
    int lines = 0;
    for (char *rest = NULL, *line = strtok_r(promised, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        char whole[512];
        snprintf(whole, sizeof whole, "%s\n", line);
        const char *at = strstr(sk_text_get(&now), whole);
        if (!at || (at > sk_text_get(&now) && at[-1] != '\n'))
            fail_msg("promised: %s", line);
        lines++;
    }
    assert_true(lines > 300);
    sk_text_free(&now);
}

/* Every number is taken at its bounds, and not beyond them. */
static void bounds_are_taken(void **state)
{
    (void)state;
    int tried = 0;
    for (const sk_command *const *c = sk_commands; *c; c++) {
        for (const sk_option *o = (*c)->options; o && o->name; o++) {
            if ((o->kind != SK_OPTION_INT && o->kind != SK_OPTION_REAL) || (o->min == 0 && o->max == 0))
                continue;
            const double step = o->kind == SK_OPTION_INT ? 1 : 1e-6;
            const double values[] = {o->min, o->max, o->min - step, o->max + step};
            for (int i = 0; i < 4; i++) {
                const sk_command alone = {.name = (*c)->name, .options = (*c)->options};
                char word[128];
                snprintf(word, sizeof word, "--%s=%.17g", o->name, values[i]);
                if (o->kind == SK_OPTION_INT)
                    snprintf(word, sizeof word, "--%s=%.0f", o->name, values[i]);
                if (i == 3 && values[3] == values[1]) /* beyond what a double tells apart */
                    continue;
                const char *argv[] = {word};
                sk_args *args = NULL;
                sk_error err = {0};
                const sk_status status = sk_args_parse(&alone, 1, argv, &args, &err);
                sk_args_close(&args);
                if (status != (i < 2 ? SK_OK : SK_ERR_ARG))
                    fail_msg("%s %s: %s", (*c)->name, word, err.message);
                tried++;
            }
        }
    }
    assert_true(tried > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_has_all), cmocka_unit_test(bash_has_all),
        cmocka_unit_test(zsh_has_all),        cmocka_unit_test(options_stay_as_they_were),
        cmocka_unit_test(bounds_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
