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
    {.name = "class", .kind = SK_OPTION_TEXT, .argument = "NAME", .repeat = 1, .help = "h"},
    {.name = "json", .letter = 'j', .kind = SK_OPTION_FLAG, .help = "h"},
    {0},
};
static const sk_command command = {.name = "try", .operands = operands, .options = options};
static const sk_command bare = {.name = "bare", .options = options};

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
    REFUSES(&bare, "or elsewhere", "--kind", "c");
    REFUSES(&bare, "no use for 'x'", "x");
    REFUSES(&command, "needs a video", "m.pt");
    REFUSES(&command, "needs a target", "m.pt", "a.mp4");
    REFUSES(&command, "the path is empty", "", "a", "b");
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
        cmocka_unit_test(reads_all_spellings),
        cmocka_unit_test(gives_defaults),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
