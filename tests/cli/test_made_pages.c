/* SPDX-License-Identifier: Apache-2.0 */
/* What is made from the tables, option by option: the manual and the completions. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manual_has_all),
        cmocka_unit_test(bash_has_all),
        cmocka_unit_test(zsh_has_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
