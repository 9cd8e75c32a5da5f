/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a JSON text too large for one tree: handed out whole, wherever white space stands. */
#include "support/test.h"

#include "formats/json_scan.h"

#include <string.h>

static void is(sk_json_span span, const char *want)
{
    assert_non_null(span.text);
    assert_int_equal(span.length, strlen(want));
    assert_memory_equal(span.text, want, span.length);
}

static void parts_are_handed_out(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "{\"a\":[1,{\"x\":\"]}\"}],\"b\\\"c\":\"v\",\"e\":[]}",
        " \t\r\n{ \"a\" : [1,{\"x\":\"]}\"}] ,\n \"b\\\"c\" :\t\"v\" , \"e\" : [] \n}\r\n ",
    };
    for (int i = 0; i < 2; i++) {
        sk_error err = {0};
        sk_json_span key, value;
        sk_json_scan scan = sk_json_scan_over(forms[i], strlen(forms[i]), "x.json");
        assert_ok(sk_json_scan_enter(&scan, '{', &err), &err);
        assert_ok(sk_json_scan_pair(&scan, &key, &value, &err), &err);
        is(key, "a");
        is(value, "[1,{\"x\":\"]}\"}]");
        sk_json_span item;
        sk_json_scan list = sk_json_scan_over(value.text, value.length, "x.json");
        assert_ok(sk_json_scan_enter(&list, '[', &err), &err);
        assert_ok(sk_json_scan_item(&list, &item, &err), &err);
        is(item, "1");
        assert_ok(sk_json_scan_item(&list, &item, &err), &err);
        is(item, "{\"x\":\"]}\"}");
        assert_ok(sk_json_scan_item(&list, &item, &err), &err);
        assert_null(item.text);
        assert_ok(sk_json_scan_finish(&list, &err), &err);
        assert_ok(sk_json_scan_pair(&scan, &key, &value, &err), &err);
        is(key, "b\\\"c");
        is(value, "\"v\"");
        assert_ok(sk_json_scan_pair(&scan, &key, &value, &err), &err);
        is(key, "e");
        is(value, "[]");
        assert_ok(sk_json_scan_pair(&scan, &key, &value, &err), &err);
        assert_null(key.text);
        assert_ok(sk_json_scan_finish(&scan, &err), &err);
    }
}

/* Goes over a list or an object until it ends or is refused. */
static sk_status walk(const char *text, sk_error *err)
{
    sk_json_span key, value;
    const bool list = strchr(text, '[') && (!strchr(text, '{') || strchr(text, '[') < strchr(text, '{'));
    sk_json_scan scan = sk_json_scan_over(text, strlen(text), "x.json");
    SK_TRY(sk_json_scan_enter(&scan, list ? '[' : '{', err));
    do
        SK_TRY(list ? sk_json_scan_item(&scan, &value, err) : sk_json_scan_pair(&scan, &key, &value, err));
    while (list ? value.text != NULL : key.text != NULL);
    return sk_json_scan_finish(&scan, err);
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const good[] = {"[]",  "{}",     "[ ]",        "{ }",
                                       "[1]", "[[[]]]", "[\"\\\\\"]", "{\"a\":\"\\\"}\"}"};
    static const char *const bad[] = {
        "",     "1",       "[",       "[1",    "[1,",        "[1 2]",     "[1,]", "[1:2]", "[true:1]",
        "[,1]", "{\"a\"}", "{\"a\":", "{a:1}", "{\"a\":1,}", "{\"a\" 1}", "[] x", "[\"a]", "[[1]"};
    sk_error err = {0};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_ok(walk(good[i], &err), &err);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (walk(bad[i], &err) != SK_ERR_FORMAT)
            fail_msg("taken: %s", bad[i]);
        assert_non_null(strstr(err.message, "x.json"));
    }
}

/* What is refused is refused where it stands, and why. */
static void where_and_why(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "at byte 0: an object was expected here"},
        {"  x", "at byte 2: an object was expected here"},
        {"[", "at byte 1: the file is cut short"},
        {" [1", "at byte 3: the file is cut short"},
        {"[1 2]", "at byte 3: a comma was expected here"},
        {"[1, ]", "at byte 4: a value was expected here"},
        {"[1,", "at byte 3: a value was expected here"},
        {"[,1]", "at byte 1: a value was expected here"},
        {"[[1, 2]", "at byte 7: the file is cut short"},
        {"[[1, {2]", "at byte 8: the file is cut short"},
        {"[\"a]", "at byte 4: a text without an end"},
        {"[\"a\\", "at byte 4: a text without an end"},
        {"[\"a\\\"", "at byte 5: a text without an end"},
        {"[1:2]", "at byte 2: a comma was expected here"},
        {"[] x", "at byte 3: something follows the end"},
        {"[]]", "at byte 2: something follows the end"},
        {"{", "at byte 1: the file is cut short"},
        {"{a", "at byte 1: a key was expected here"},
        {"{ \"a", "at byte 4: a key was expected here"},
        {"{\"a\"", "at byte 4: a colon was expected here"},
        {"{\"a\" 1", "at byte 5: a colon was expected here"},
        {"{\"a\": ", "at byte 6: a value was expected here"},
        {"{\"a\":1,", "at byte 7: a key was expected here"},
        {"{\"a\":1 \"b\"", "at byte 7: a comma was expected here"},
        {"{\"a\":1", "at byte 6: the file is cut short"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        assert_int_equal(walk(cases[i].text, &err), SK_ERR_FORMAT);
        if (!strstr(err.message, cases[i].why) || !strstr(err.message, "x.json: not valid JSON "))
            fail_msg("%s: '%s' is not in: %s", cases[i].text, cases[i].why, err.message);
    }
    sk_error err = {0};
    sk_json_scan scan = sk_json_scan_over("x", 1, "x.json");
    assert_int_equal(sk_json_scan_enter(&scan, '[', &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "a list was expected here"));
}

/* Cut anywhere it is refused, and what lies behind the end is never looked at. */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char *const texts[] = {"[1, [2, {\"a\": \"\\\"]\"}], true, \"x\\\\\"]",
                                        "{\"a\": 1, \"b\": [2, \"}\"], \"c\\\"\": {\"d\": null}}"};
    for (int i = 0; i < 2; i++)
        for (size_t n = 0; n <= strlen(texts[i]); n++) {
            char part[80] = "";
            sk_error err = {0};
            memcpy(part, texts[i], n);
            assert_int_equal(walk(part, &err), n == strlen(texts[i]) ? SK_OK : SK_ERR_FORMAT);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_handed_out),
        cmocka_unit_test(what_is_none_is_refused),
        cmocka_unit_test(where_and_why),
        cmocka_unit_test(cut_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
