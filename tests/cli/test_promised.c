/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of options have promised: words, bounds and defaults that people's scripts hold. And that every command has a
 * word for a line that cannot be meant. */
#include "said.h"

#include "base/text.h"

static said s;

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

/* No command begins anything with these. */
static void every_command_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words;
    } rows[] = {{"demo --behaviour nonsense -o x", "nonsense"},
                {"predict a.mp4", "predict needs a model: --model M"},
                {"track a.mp4", "track needs a model: --model M"},
                {"batch a b", "'b': one plan, or one of status, cancel, merge and work"},
                {"correct /no/such/folder", "/no/such/folder"},
                {"serve 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17", "at most 16 folders"},
                {"node", "the node needs a model"},
                {"ros info", ""},
                {"eval /no/such.csv /no/other.csv", "/no/such.csv"},
                {"scene", "nowhere to write to"},
                {"info /no/such.pt", "/no/such.pt"},
                {"export m.pt --imgsz x", "--imgsz x: "},
                {"quantize m.pt", "--data film.mp4"},
                {"net m.pt -i x.npy", "net needs --input X.npy and --output Y.npy"},
                {"bench a --imgsz x", "--imgsz x: "},
                {"run a b c", "at most 2 models"},
                {"runtimes --pipelines nonsense", "nonsense"},
                {"config get nonsense", "there is no setting 'nonsense'"},
                {"artifacts list /no/such", "/no/such: no such file or folder"},
                {"help nonsense", "nonsense"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        said_run(&s, "%s", rows[i].line);
        if (s.status == SK_OK || !strstr(s.error.message, rows[i].words))
            fail_msg("%s: %s", rows[i].line, s.error.message);
        assert_string_equal(s.out, "");
    }
    static const char *const others[] = {"version", "completion bash", "man"};
    for (int i = 0; i < 3; i++)
        SAID_OK(&s, "%s", others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_stay_as_they_were),
        cmocka_unit_test(bounds_are_taken),
        cmocka_unit_test(every_command_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
