/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "cli/command.h"

#include <string.h>

static const sk_operand operands[] = {
    {.name = "model", .kind = SK_OPTION_FILE, .help = "a model"},
    {.name = "video", .kind = SK_OPTION_FILE, .repeat = 1, .help = "videos"},
    {.name = "target", .kind = SK_OPTION_FOLDER, .help = "where to"},
    {0},
};
static const sk_option options[] = {
    {.name = "conf",
     .letter = 'c',
     .kind = SK_OPTION_REAL,
     .argument = "X",
     .fallback = "0.25",
     .max = 1,
     .help = "h"},
    {.name = "batch",
     .letter = 'b',
     .kind = SK_OPTION_INT,
     .argument = "N",
     .min = 1,
     .max = 64,
     .help = "h"},
    {.name = "offset", .kind = SK_OPTION_INT, .argument = "N", .help = "h"},
    {.name = "runtime",
     .kind = SK_OPTION_CHOICE,
     .argument = "NAME",
     .choices = "cpu|cuda|onnx_cpu",
     .help = "h"},
    {.name = "kind",
     .kind = SK_OPTION_CHOICE,
     .argument = "NAME",
     .choices = "a|b",
     .otherwise = "or elsewhere",
     .help = "h"},
    {.name = "below", .kind = SK_OPTION_INT, .argument = "N", .min = -5, .help = "h"},
    {.name = "when",
     .kind = SK_OPTION_CHOICE,
     .argument = "WHEN",
     .choices = "on|off|auto",
     .fallback = "auto",
     .alone = "on",
     .help = "h"},
    {.name = "class", .kind = SK_OPTION_TEXT, .argument = "NAME", .repeat = 1, .help = "h"},
    {.name = "json", .letter = 'j', .kind = SK_OPTION_FLAG, .help = "h"},
    {0},
};
static const sk_command command = {.name = "try", .operands = operands, .options = options};
static const sk_command bare = {.name = "bare", .options = options};

static const sk_operand choices[] = {
    {.name = "action", .kind = SK_OPTION_CHOICE, .choices = "list|clean", .help = "what"},
    {.name = "place", .kind = SK_OPTION_FILE, .optional = 1, .help = "where"},
    {0},
};
static const sk_command choosing = {.name = "choose", .operands = choices, .options = options};

static const sk_operand late[] = {
    {.name = "zone", .kind = SK_OPTION_FILE, .optional = 1, .help = "where"},
    {.name = "model", .kind = SK_OPTION_FILE, .help = "a model"},
    {0},
};
static const sk_command lately = {.name = "late", .operands = late, .options = options};

#define COUNT(words) (int)(sizeof(words) / sizeof(words)[0])

static void reads_all_spellings(void **state)
{
    (void)state;
    const char *words[] = {"m.pt", "--conf",  "0.5", "-b8",   "a.mp4",     "--class=mouse", "-jq", "--offset",
                           "-3",   "--class", "fly", "b.mp4", "--runtime", "onnx_cpu",      "--",  "-out"};
    sk_args *args = NULL;
    sk_error err = {0};
    assert_ok(sk_args_parse(&command, COUNT(words), words, &args, &err), &err);
    assert_string_equal(sk_args_text(args, "model"), "m.pt");
    assert_int_equal(sk_args_count(args, "video"), 2);
    assert_string_equal(sk_args_at(args, "video", 1), "b.mp4");
    assert_null(sk_args_at(args, "video", 2));
    assert_string_equal(sk_args_text(args, "target"), "-out");
    assert_true(sk_args_real(args, "conf") == 0.5);
    assert_int_equal(sk_args_int(args, "batch"), 8);
    assert_int_equal(sk_args_int(args, "offset"), -3);
    assert_string_equal(sk_args_text(args, "runtime"), "onnx_cpu");
    assert_int_equal(sk_args_count(args, "class"), 2);
    assert_string_equal(sk_args_at(args, "class", 0), "mouse");
    assert_int_equal(sk_args_flag(args, "json"), 1);
    assert_int_equal(sk_args_flag(args, "quiet"), 1);
    assert_int_equal(sk_args_flag(args, "verbose"), 0);
    sk_args_close(&args);
    assert_null(args);
}

static void gives_defaults(void **state)
{
    (void)state;
    sk_args *args = NULL;
    sk_error err = {0};
    assert_ok(sk_args_parse(&bare, 0, NULL, &args, &err), &err);
    assert_true(sk_args_real(args, "conf") == 0.25);
    assert_false(sk_args_given(args, "conf"));
    assert_null(sk_args_text(args, "runtime"));
    assert_int_equal(sk_args_int(args, "batch"), 0);
    sk_args_close(&args);
}

static void refuses(const sk_command *of, const char *const *words, int count, const char *part)
{
    sk_args *args = NULL;
    sk_error err = {0};
    assert_int_equal(sk_args_parse(of, count, words, &args, &err), SK_ERR_ARG);
    assert_null(args);
    if (!strstr(err.message, part))
        fail_msg("'%s' is not in '%s'", part, err.message);
}
#define REFUSES(of, part, ...)                                                                               \
    do {                                                                                                     \
        const char *refused_[] = {__VA_ARGS__};                                                              \
        refuses(of, refused_, COUNT(refused_), part);                                                        \
    } while (0)

static void says_what_is_wrong(void **state)
{
    (void)state;
    REFUSES(&bare, "from 0 to 1", "--conf", "1.5");
    REFUSES(&bare, "'nan' is not a number", "--conf=nan");
    REFUSES(&bare, "'0,5' is not a number", "--conf=0,5");
    REFUSES(&bare, "from 1 to 64", "-b", "0");
    REFUSES(&bare, "'3.5' is not a whole number", "-b3.5");
    REFUSES(&bare, "is not a whole number", "--batch=");
    REFUSES(&bare, "too large", "--offset=99999999999999999999");
    REFUSES(&bare, "did you mean '--runtime'", "--runtmie", "cpu");
    REFUSES(&bare, "did you mean 'cuda'", "--runtime", "cida");
    REFUSES(&bare, "is not one of cpu, cuda, onnx_cpu", "--runtime", "quantum");
    REFUSES(&bare, "--conf needs a value", "--conf");
    REFUSES(&bare, "--conf needs a value", "--conf", "--json");
    REFUSES(&bare, "takes no value", "--json=1");
    REFUSES(&bare, "given twice", "--conf=0.1", "--conf=0.2");
    REFUSES(&bare, "no option '-x'", "-jx");
    REFUSES(&bare, "write '--json'", "-json");
    REFUSES(&bare, "write '--conf'", "-conf", "0.3"); /* not -c with the value onf */
    REFUSES(&bare, "write '--batch'", "-batch=2");
    REFUSES(&bare, "'skitter bare' has no option '-jsn'\ndid you mean '--json'?", "-jsn");
    REFUSES(&bare, "'skitter bare' has no option '--x'\n'skitter bare --help' lists them", "--x=json");
    REFUSES(&bare, "'cp' is not one of cpu, cuda, onnx_cpu", "--runtime", "cp");
    REFUSES(&bare, "'cpuu' is not one of", "--runtime", "cpuu");
    REFUSES(&bare, "'cpu|cuda' is not one of", "--runtime", "cpu|cuda");
    REFUSES(&bare, "'' is not one of", "--runtime=");
    REFUSES(&bare, "--below: -6 is out of range; it must be from -5 to 0", "--below", "-6");
    REFUSES(&bare, "--below: 1 is out of range", "--below", "1");
    REFUSES(&bare, "'inf' is not a number", "--conf", "inf");
    REFUSES(&bare, "'' is not a number", "--conf=");
    REFUSES(&bare, "'1x' is not a number", "--conf", "1x");
    REFUSES(&bare, "--conf: -0.001 is out of range", "--conf", "-0.001");
    REFUSES(&bare, "too large", "--offset=-99999999999999999999");
    REFUSES(&bare, "'often' is not one of on, off, auto", "--when=often");
    REFUSES(&lately, "ZONE: the path is empty", "", "m.pt");
    REFUSES(&lately, "'skitter late' needs a model", "-j");
    REFUSES(&bare, "or elsewhere", "--kind", "c");
    REFUSES(&bare, "--kind: 'quantum' is not one of a, b\n", "--kind", "quantum");
    REFUSES(&bare, "--conf: 1.5 is out of range; it must be from 0 to 1", "--conf", "1.5");
    REFUSES(&bare, "--batch: 65 is out of range; it must be from 1 to 64", "--batch=65");
    REFUSES(&bare, "--conf needs a value: --conf X\nh", "--conf");
    REFUSES(&bare, "--conf needs a value", "--conf", "--");
    REFUSES(&bare, "'skitter bare' has no option '--zzzzzzz'\n'skitter bare --help' lists them", "--zzzzzzz");
    REFUSES(&bare, "'skitter bare' has no option '-x'\n'skitter bare --help' lists them", "-x");
    REFUSES(&bare, "'skitter bare' has no option '--cnf'\ndid you mean '--conf'?", "--cnf=3");
    REFUSES(&bare, "--conf is given twice, as '0.1' and as '0.2'\nkeep one of them", "--conf=0.1", "-c",
            "0.2");
    REFUSES(&command, "'skitter try' needs a model\na model", "--json");
    REFUSES(&command, "MODEL: the path is empty", "", "a", "b");
    REFUSES(&choosing, "ACTION: 'go' is not one of list, clean", "go");
    REFUSES(&choosing, "'skitter choose' needs an action\nwhat", "--json");
    REFUSES(&choosing, "'skitter choose' has no use for 'c'\n'skitter choose --help' shows what it takes",
            "list", "b", "c");
    REFUSES(&bare, "no use for 'x'", "x");
    REFUSES(&command, "needs a video", "m.pt");
    REFUSES(&command, "needs a target", "m.pt", "a.mp4");
    REFUSES(&command, "the path is empty", "", "a", "b");
}

/* The same value twice is no contradiction; flags may come often; a value may look like a number below zero. */
static void takes_what_is_no_mistake(void **state)
{
    (void)state;
    const char *words[] = {"--conf=0.5", "-c0.5", "-c=0.5", "-jj", "--json",
                           "--offset",   "-3",    "-b=64",  "-v",  "-vv"};
    sk_args *args = NULL, *more = NULL;
    sk_error err = {0};
    assert_ok(sk_args_parse(&bare, COUNT(words), words, &args, &err), &err);
    assert_int_equal(sk_args_count(args, "conf"), 3);
    assert_int_equal(sk_args_flag(args, "json"), 3);
    assert_int_equal(sk_args_flag(args, "verbose"), 3);
    assert_int_equal(sk_args_int(args, "offset"), -3);
    assert_int_equal(sk_args_int(args, "batch"), 64);
    assert_true(sk_args_given(args, "conf") && !sk_args_given(args, "kind"));
    assert_ptr_equal(sk_args_command(args), &bare);
    const sk_args_more added[] = {{"class", "fly"}, {"class", "bee"}, {"kind", "a"}};
    assert_ok(sk_args_with(args, added, 3, &more, &err), &err);
    assert_int_equal(sk_args_count(more, "class"), 2);
    assert_string_equal(sk_args_at(more, "class", 1), "bee");
    assert_string_equal(sk_args_text(more, "kind"), "a");
    assert_int_equal(sk_args_count(more, "conf"), 3);
    assert_int_equal(sk_args_count(args, "class"), 0);
    sk_args_close(&more);
    const sk_args_more odd = {"nonsense", "x"};
    assert_int_equal(sk_args_with(args, &odd, 1, &more, &err), SK_ERR_INTERNAL);
    assert_null(more);
    sk_args_close(&args);
    /* operands around the repeated one, and the optional one only where enough are left */
    const char *three[] = {"m", "a", "b", "c", "t"}, *one[] = {"list"}, *dash[] = {"list", "-"};
    assert_ok(sk_args_parse(&command, 5, three, &args, &err), &err);
    assert_int_equal(sk_args_count(args, "video"), 3);
    assert_string_equal(sk_args_text(args, "video"), "c");
    assert_string_equal(sk_args_text(args, "target"), "t");
    sk_args_close(&args);
    assert_ok(sk_args_parse(&choosing, 1, one, &args, &err), &err);
    assert_null(sk_args_text(args, "place"));
    sk_args_close(&args);
    assert_ok(sk_args_parse(&choosing, 2, dash, &args, &err), &err);
    assert_string_equal(sk_args_text(args, "place"), "-"); /* a dash alone is a name */
    sk_args_close(&args);
}

/* What may stand alone, what looks like an option and is a value, and who comes first where little is given. */
static void takes_what_follows(void **state)
{
    (void)state;
    static const struct {
        const char *words[4], *when, *video;
    } alone[] = {{{"--when"}, "on", NULL},
                 {{"--when", "off"}, "off", NULL},
                 {{"--when=auto"}, "auto", NULL},
                 {{"--when", "--json"}, "on", NULL},
                 {{"--when", "often", "t"}, "on", "often"}, /* none of its words: another's */
                 {{"often", "t"}, "auto", "often"}};
    sk_args *args = NULL;
    sk_error err = {0};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        const char *words[6] = {"m.pt"};
        int n = 1;
        for (int k = 0; k < 4 && alone[i].words[k]; k++)
            words[n++] = alone[i].words[k];
        if (!alone[i].video)
            words[n++] = "a.mp4", words[n++] = "t";
        assert_ok(sk_args_parse(&command, n, words, &args, &err), &err);
        assert_string_equal(sk_args_text(args, "when"), alone[i].when);
        assert_string_equal(sk_args_text(args, "video"), alone[i].video ? alone[i].video : "a.mp4");
        sk_args_close(&args);
    }
    const char *values[] = {"--class",    "--weird",  "--class",  "-b",
                            "--class",    "-",        "--below",  "-5",
                            "--below=-5", "--class=", "--offset", "9223372036854775807"};
    assert_ok(sk_args_parse(&bare, COUNT(values), values, &args, &err), &err);
    assert_string_equal(sk_args_at(args, "class", 0), "--weird");
    assert_string_equal(sk_args_at(args, "class", 1), "-b");
    assert_string_equal(sk_args_at(args, "class", 2), "-");
    assert_string_equal(sk_args_at(args, "class", 3), "");
    assert_int_equal(sk_args_int(args, "below"), -5);
    assert_true(sk_args_int(args, "offset") == INT64_MAX);
    sk_args_close(&args);
    const char *zero[] = {"--below", "0", "--conf=1", "--batch=1"};
    assert_ok(sk_args_parse(&bare, COUNT(zero), zero, &args, &err), &err);
    assert_int_equal(sk_args_count(args, "below"), 1);
    sk_args_close(&args);
    const char *both[] = {"there", "m.pt"};
    assert_ok(sk_args_parse(&lately, 1, both + 1, &args, &err), &err);
    assert_null(sk_args_text(args, "zone"));
    assert_string_equal(sk_args_text(args, "model"), "m.pt");
    sk_args_close(&args);
    assert_ok(sk_args_parse(&lately, 2, both, &args, &err), &err);
    assert_string_equal(sk_args_text(args, "zone"), "there");
    sk_args_close(&args);
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    const char *words[] = {"a", "b", "c", "--json", "--conf=1", "-q", "-q", "-q", "-q", "-q", "-q", "-q"};
    int64_t before = sk_memory_live_bytes();
    sk_status status = SK_ERR_MEMORY;
    for (uint64_t n = 1; n < 50 && status != SK_OK; n++) {
        sk_args *args = NULL;
        sk_memory_fail_nth(n);
        status = sk_args_parse(&command, COUNT(words), words, &args, NULL);
        sk_memory_fail_nth(0);
        assert_true(status == SK_OK || status == SK_ERR_MEMORY);
        sk_args_close(&args);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    assert_int_equal(status, SK_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_spellings),          cmocka_unit_test(gives_defaults),
        cmocka_unit_test(says_what_is_wrong),           cmocka_unit_test(takes_what_is_no_mistake),
        cmocka_unit_test(survives_failing_allocations), cmocka_unit_test(takes_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
