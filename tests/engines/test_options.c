/* SPDX-License-Identifier: Apache-2.0 */
/* Engines' own options: what is taken, what is refused and how, and what of it makes another run. */
#include "support/test.h"

#include "engines/engine.h"

#include <stdio.h>
#include <string.h>

static const sk_engine_option table[] = {
    {.key = "winograd", .kind = SK_ENGINE_OPTION_SWITCH, .usual = "on", .changes_results = true},
    {.key = "hint",
     .kind = SK_ENGINE_OPTION_WORD,
     .choices = "latency|throughput",
     .usual = "latency",
     .changes_results = true},
    {.key = "streams", .kind = SK_ENGINE_OPTION_NUMBER, .least = 1, .most = 8, .usual = "1"},
    {.key = "device", .kind = SK_ENGINE_OPTION_TEXT, .usual = "CPU", .changes_results = true},
    {0}};

static void gives(const char *text, const char *key, const char *want)
{
    char value[64];
    sk_error err = {0};
    assert_ok(sk_options_check("toy", table, text, &err), &err);
    assert_string_equal(sk_options_value("toy", sk_options_find(table, key), text, value, sizeof value),
                        want);
}

static void test_values(void **state)
{
    (void)state;
    gives("", "hint", "latency");
    gives("hint=throughput", "hint", "throughput");
    gives("hint=throughput,streams=8", "hint", "throughput");
    gives("streams=2,streams=3", "streams", "3");
    gives(" , streams=2, hint=latency", "streams", "2");
    gives("device=AUTO:GPU,CPU,streams=2", "device", "AUTO:GPU,CPU");
    gives("device=AUTO:GPU,CPU,streams=2", "streams", "2");
    gives("other.hint=nonsense,toy.streams=4", "streams", "4");
    gives("other.streams=2", "streams", "1");
    static const char *const on[] = {"on", "yes", "true", "1"}, *const off[] = {"off", "no", "false", "0"};
    for (int i = 0; i < 4; i++) {
        char text[64];
        snprintf(text, sizeof text, "winograd=%s", on[i]);
        assert_true(sk_options_on("toy", table, text, "winograd"));
        snprintf(text, sizeof text, "winograd=%s", off[i]);
        assert_false(sk_options_on("toy", table, text, "winograd"));
    }
    assert_true(sk_options_on("toy", table, "", "winograd"));
}

static void refused(const char *text, const char *words)
{
    sk_error err = {0};
    assert_int_not_equal(sk_options_check("toy", table, text, &err), SK_OK);
    if (!strstr(err.message, words))
        fail_msg("%s: %s", text, err.message);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("winogard=off", "the engine 'toy' has no option 'winogard' (did you mean 'winograd'?); it has "
                            "winograd=on|off, hint=latency|throughput, streams=1 to 8, device=TEXT");
    refused("zebra=1", "has no option 'zebra'; it has winograd");
    refused("winograd=perhaps", "cannot have winograd=perhaps; it takes on|off");
    refused("hint=latancy",
            "cannot have hint=latancy (did you mean 'latency'?); it takes latency|throughput");
    refused("streams=9", "streams=9; it takes 1 to 8");
    refused("streams=2x", "streams=2x; it takes 1 to 8");
    refused("streams=99999999999999999999", "it takes 1 to 8");
    refused("device=", "cannot have device=");
    refused("fast", "written KEY=VALUE, not 'fast'");
    refused("=2", "written KEY=VALUE");
    refused("toy.zebra=1", "has no option 'zebra'");
    sk_error err = {0};
    assert_int_equal(sk_options_check("toy", NULL, "a=1", &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "the engine 'toy' has no option 'a'; it has none at all"));
    char longest[2 * SK_OPTIONS_TEXT];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    refused(longest, "longer than");
    memcpy(longest, "device=", 7);
    longest[SK_OPTIONS_TEXT - 2] = '\0';
    refused(longest, "longer than");
    char text[SK_OPTIONS_TEXT] = "hint=latency";
    assert_int_equal(sk_options_add(text, longest, &err), SK_ERR_LIMIT);
    assert_string_equal(text, "hint=latency");
    assert_non_null(strstr(err.message, "511 bytes: hint=latency,device=xx"));
    text[0] = '\0';
    longest[SK_OPTIONS_TEXT - 2] = 'x';
    assert_int_equal(sk_options_add(text, longest, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "511 bytes: device=xx"));
}

static void expect_identity(const char *text, const char *want)
{
    sk_text out = {0};
    sk_options_identity("toy", table, text, &out);
    assert_string_equal(sk_text_get(&out) ? sk_text_get(&out) : "", want);
    sk_text_free(&out);
}

static void test_identity(void **state)
{
    (void)state;
    expect_identity("", "");
    expect_identity("winograd=yes,streams=4", ""); /* as usual, and nothing of the result's */
    expect_identity("device=GPU,winograd=0", "winograd=off,device=GPU");
    expect_identity("other.winograd=off", "");
}

/* What every engine says of itself must hold together. */
static void test_tables(void **state)
{
    (void)state;
    for (int32_t i = 0; i < sk_engine_count(); i++) {
        const sk_engine *e = sk_engine_at(i);
        sk_error err = {0};
        assert_true(e->can.precisions & 1u << e->can.usual);
        assert_true(e->can.reads & SK_READS(SK_PLACE_HOST));
        assert_int_equal(e->can.replay == SK_REPLAY_CAPTURED, e->capture != NULL);
        assert_int_equal(e->can.free_shapes, e->form == NULL);
        assert_int_equal((e->can.reads & SK_READS(SK_PLACE_PINNED)) != 0, e->host_alloc && e->can.offers);
        assert_ptr_equal(sk_engine_can(e->name), &e->can);
        for (const sk_engine_option *o = e->options; o && o->key; o++) {
            assert_true(strlen(o->help) > 10);
            char text[SK_OPTIONS_TEXT] = "";
            if (o->usual) {
                assert_ok(sk_options_put(text, o->key, o->usual, &err), &err);
                assert_ok(sk_options_check(e->name, e->options, text, &err), &err);
            }
        }
    }
    assert_int_equal(sk_engine_can("no such engine")->device, SK_DEVICE_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
