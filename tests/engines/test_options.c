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

/* Texts grow pair by pair, up to the last byte there is. */
static void test_building(void **state)
{
    (void)state;
    sk_error err = {0};
    char text[SK_OPTIONS_TEXT] = "", name[8], more[SK_OPTIONS_TEXT];
    assert_ok(sk_options_add(text, NULL, &err), &err);
    assert_ok(sk_options_add(text, "", &err), &err);
    assert_string_equal(text, "");
    assert_ok(sk_options_add(text, "hint=latency", &err), &err);
    assert_ok(sk_options_put(text, "streams", "2", &err), &err);
    assert_ok(sk_options_put_known(text, table, "zebra", "1", &err), &err);
    assert_ok(sk_options_put_known(text, table, "device", "GPU", &err), &err);
    assert_string_equal(text, "hint=latency,streams=2,device=GPU");
    const char *at = text;
    assert_false(sk_options_scope(&at, name, sizeof name));
    at = "hint=latency,cpu.mask=avx2, tensorrt.fast=1,last=2";
    assert_true(sk_options_scope(&at, name, sizeof name));
    assert_string_equal(name, "cpu");
    assert_true(sk_options_scope(&at, name, sizeof name));
    assert_string_equal(name, "tensorr"); /* as much as there is room for */
    assert_false(sk_options_scope(&at, name, sizeof name));
    const size_t used = strlen(text),
                 room = SK_OPTIONS_TEXT - 1 - used - 1; /* a comma before, a zero behind */
    memset(more, 'x', sizeof more);
    more[room + 1] = '\0';
    assert_int_equal(sk_options_add(text, more, &err), SK_ERR_LIMIT);
    assert_int_equal(strlen(text), used);
    more[room] = '\0';
    assert_ok(sk_options_add(text, more, &err), &err);
    assert_int_equal(strlen(text), SK_OPTIONS_TEXT - 1);
    assert_int_equal(sk_options_put(text, "a", more, &err), SK_ERR_LIMIT);
    memset(more, 'y', sizeof more - 1);
    more[sizeof more - 1] = '\0';
    text[0] = '\0';
    assert_int_equal(sk_options_put(text, "key", more, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "511 bytes: key=yyy"));
}

/* Who has an option is named, all of them, as people list things; lengths at their bounds. */
static void test_owners_and_lengths(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int32_t i = 0; i < sk_engine_count(); i++)
        for (const sk_engine_option *o = sk_engine_at(i)->options; o && o->key; o++) {
            const char *names[64];
            char text[128], wanted[512];
            int count = 0;
            for (int32_t k = 0; k < sk_engine_count(); k++)
                if (sk_options_find(sk_engine_at(k)->options, o->key))
                    names[count++] = sk_engine_at(k)->name;
            int used = snprintf(wanted, sizeof wanted, "the engine 'toy' has no option '%s', which is for %s",
                                o->key, names[0]);
            for (int k = 1; k < count; k++)
                used += snprintf(wanted + used, sizeof wanted - (size_t)used, "%s%s",
                                 k == count - 1 ? " and " : ", ", names[k]);
            snprintf(wanted + used, sizeof wanted - (size_t)used, "; it has none at all");
            snprintf(text, sizeof text, "%s=1", o->key);
            assert_int_equal(sk_options_check("toy", NULL, text, &err), SK_ERR_ARG);
            assert_string_equal(err.message, wanted);
        }
    for (size_t length = 62; length <= 66; length++) { /* names are told up to their 63rd letter */
        char text[100] = {0}, wanted[100];
        memset(text, 'k', length);
        snprintf(wanted, sizeof wanted, "has no option '%.*s'", (int)(length < 63 ? length : 63), text);
        strcat(text, "=1");
        refused(text, wanted);
    }
    for (size_t length = 254; length <= 257; length++) {
        char text[300] = "device=";
        memset(text + 7, 'v', length);
        if (length <= 255)
            assert_ok(sk_options_check("toy", table, text, &err), &err);
        else
            refused(text, "the option 'device' is longer than 255 bytes");
    }
    gives("streams=1", "streams", "1");
    refused("streams=0", "it takes 1 to 8");
    refused("streams=", "it takes 1 to 8");
    refused("streams=-1", "it takes 1 to 8");
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
        cmocka_unit_test(test_values),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_building), cmocka_unit_test(test_owners_and_lengths),
        cmocka_unit_test(test_identity), cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
