/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/memory.h"
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <string.h>

static void grows(void **state)
{
    (void)state;
    sk_text text = {0};
    sk_error err = {0};
    assert_string_equal(sk_text_get(&text), "");
    for (int i = 0; i < 1000; i++)
        sk_text_appendf(&text, "%d,", i);
    sk_text_append(&text, "end");
    sk_text_append_bytes(&text, "", 0);
    assert_ok(sk_text_status(&text, &err), &err);
    assert_int_equal(text.length, strlen(sk_text_get(&text)));
    assert_memory_equal(sk_text_get(&text), "0,1,2,", 6);
    assert_string_equal(sk_text_get(&text) + text.length - 7, "999,end");
    sk_text_clear(&text);
    assert_string_equal(sk_text_get(&text), "");
    char wide[700];
    memset(wide, 'w', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    sk_text_appendf(&text, "<%s>", wide); /* longer than the small buffer */
    assert_int_equal(text.length, sizeof wide + 1);
    assert_int_equal(text.data[text.length - 1], '>');
    sk_text_free(&text);
}

static void stops_at_the_limit(void **state)
{
    (void)state;
    sk_text text = {.limit = 5};
    sk_error err = {0};
    sk_text_append(&text, "12345");
    assert_ok(sk_text_status(&text, &err), &err);
    sk_text_append(&text, "6");
    sk_text_append(&text, "");
    assert_int_equal(sk_text_status(&text, &err), SK_ERR_LIMIT);
    char *out = NULL;
    assert_int_equal(sk_text_take(&text, &out, &err), SK_ERR_LIMIT);
    assert_null(out);
}

static sk_status build(void *context, sk_error *err)
{
    (void)context;
    sk_text text = {0};
    for (int i = 0; i < 300; i++)
        sk_text_appendf(&text, "%d ", i);
    char *out = NULL;
    sk_status status = sk_text_take(&text, &out, err);
    sk_free(out);
    return status;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(build, NULL) >= 4);
}

static void numbers_ignore_the_locale(void **state)
{
    (void)state;
    char text[SK_TEXT_NUMBER];
    const char *german = setlocale(LC_NUMERIC, "de_DE.UTF-8");
    if (!german)
        print_message("no de_DE locale here: only the C locale was tried\n");
    assert_string_equal(sk_text_number(1.5, 9, text, sizeof text), "1.5");
    assert_string_equal(sk_text_number(-0.1f, 9, text, sizeof text), "-0.100000001");
    assert_string_equal(sk_text_number(1e300, 9, text, sizeof text), "1e+300");
    assert_string_equal(sk_text_number(-1.25e-7, 3, text, sizeof text), "-1.25e-07");
    assert_string_equal(sk_text_number(0, 9, text, sizeof text), "0");
    assert_string_equal(sk_text_number(NAN, 9, text, sizeof text), "nan");
    assert_string_equal(sk_text_number(-INFINITY, 9, text, sizeof text), "-inf");
    assert_string_equal(sk_text_number(123456, 9, text, 4), "123");
    char unit[SK_TEXT_UNIT];
    assert_string_equal(sk_text_bytes(1234, unit, sizeof unit), "1.2 kB");
    setlocale(LC_NUMERIC, "C");
}

static void units_for_people(void **state)
{
    (void)state;
    char text[SK_TEXT_UNIT];
    assert_string_equal(sk_text_bytes(0, text, sizeof text), "0 B");
    assert_string_equal(sk_text_bytes(812, text, sizeof text), "812 B");
    assert_string_equal(sk_text_bytes(999.9, text, sizeof text), "1.0 kB");
    assert_string_equal(sk_text_bytes(1.2e6, text, sizeof text), "1.2 MB");
    assert_string_equal(sk_text_bytes(45.6e9, text, sizeof text), "46 GB");
    assert_string_equal(sk_text_bytes(5e18, text, sizeof text), "5000 PB");
    assert_string_equal(sk_text_duration(250, text, sizeof text), "250 ns");
    assert_string_equal(sk_text_duration(3.4e6, text, sizeof text), "3.4 ms");
    assert_string_equal(sk_text_duration(12.5e9, text, sizeof text), "12 s");
    assert_string_equal(sk_text_duration(NAN, text, sizeof text), "0 ns");
    assert_string_equal(sk_text_time_left(7.4, text, sizeof text), "0:07");
    assert_string_equal(sk_text_time_left(723, text, sizeof text), "12:03");
    assert_string_equal(sk_text_time_left(3765, text, sizeof text), "1:02:45");
    assert_string_equal(sk_text_time_left(2 * 86400 + 3 * 3600, text, sizeof text), "2 d 3 h");
    assert_string_equal(sk_text_time_left(-1, text, sizeof text), "-:--");
    assert_string_equal(sk_text_time_left(INFINITY, text, sizeof text), "-:--");
}

static void utf8(void **state)
{
    (void)state;
    assert_int_equal(sk_text_utf8("a", 1), 1);
    assert_int_equal(sk_text_utf8("é", 2), 2);
    assert_int_equal(sk_text_utf8("鼠", 3), 3);
    assert_int_equal(sk_text_utf8("🐀", 4), 4);
    assert_int_equal(sk_text_utf8("🐀", 3), 0);            /* cut */
    assert_int_equal(sk_text_utf8("\xC0\xAF", 2), 0);     /* longer than needed */
    assert_int_equal(sk_text_utf8("\xED\xA0\x80", 3), 0); /* surrogate */
    assert_int_equal(sk_text_utf8("\xF5\x80\x80\x80", 4), 0);
    assert_int_equal(sk_text_utf8("\x80", 1), 0);
    assert_int_equal(sk_text_utf8("", 0), 0);
}

static void names_for_files_and_terminals(void **state)
{
    (void)state;
    char *text = sk_text_utf8_copy("a\xff鼠\xC3");
    assert_string_equal(text, "a\xEF\xBF\xBD鼠\xEF\xBF\xBD");
    sk_free(text);
    /* ESC, CSI as one character, backspace, a byte that is not UTF-8, a turn of the direction of writing */
    text = sk_text_printable("fly\x1b[2J\xC2\x9b\b\xfe\xE2\x80\xAE 鼠\n", "");
    assert_string_equal(text, "fly\\x1b[2J\\xc2\\x9b\\x08\\xfe\\xe2\\x80\\xae 鼠\\x0a");
    sk_free(text);
    text = sk_text_printable("a\tb\nc\r", "\t\n");
    assert_string_equal(text, "a\tb\nc\\x0d");
    sk_free(text);
}

static void names_are_cut_between_characters(void **state)
{
    (void)state;
    char buffer[6];
    sk_text_shorten("ab鼠鼠", buffer, sizeof buffer);
    assert_string_equal(buffer, "ab鼠");
    sk_text_shorten("abc鼠", buffer, sizeof buffer);
    assert_string_equal(buffer, "abc");
    sk_text_shorten("\xff\xff\xff\xff\xff\xff", buffer, sizeof buffer);
    assert_string_equal(buffer, "\xff\xff\xff\xff\xff");
    sk_text_shorten("", buffer, sizeof buffer);
    assert_string_equal(buffer, "");
}

static void distances_and_suggestions(void **state)
{
    (void)state;
    assert_int_equal(sk_text_distance("", ""), 0);
    assert_int_equal(sk_text_distance("abc", ""), 3);
    assert_int_equal(sk_text_distance("kitten", "sitting"), 3);
    assert_int_equal(sk_text_distance("predcit", "predict"), 1); /* a swap */
    assert_int_equal(sk_text_distance("TRACK", "track"), 0);
    const char *const names[] = {"predict", "track", "export", "bench", "demo"};
    assert_string_equal(sk_text_suggest("predcit", names, 5), "predict");
    assert_string_equal(sk_text_suggest("Trak", names, 5), "track");
    assert_string_equal(sk_text_suggest("ex", names, 5) ? sk_text_suggest("ex", names, 5) : "none", "none");
    assert_string_equal(sk_text_suggest("expo", names, 5), "export");
    assert_string_equal(sk_text_suggest("ben", names, 5), "bench");
    assert_null(sk_text_suggest("zebra", names, 5));
    assert_null(sk_text_suggest("", names, 5));
    assert_null(sk_text_suggest("x", names, 0));
}

static void base64_is_rfc_4648s(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        sk_text text = {0};
        sk_text_append_base64(&text, pairs[i][0], strlen(pairs[i][0]));
        assert_string_equal(sk_text_get(&text), pairs[i][1]);
        sk_text_free(&text);
    }
    unsigned char all[400];
    for (size_t i = 0; i < sizeof all; i++)
        all[i] = (unsigned char)(255 - i);
    sk_text text = {0};
    sk_text_append_base64(&text, all, sizeof all);
    assert_int_equal(text.length, 536);
    assert_memory_equal(text.data, "//79/Pv6", 8);
    sk_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_is_rfc_4648s),
        cmocka_unit_test(grows),
        cmocka_unit_test(stops_at_the_limit),
        cmocka_unit_test(survives_lack_of_memory),
        cmocka_unit_test(numbers_ignore_the_locale),
        cmocka_unit_test(units_for_people),
        cmocka_unit_test(utf8),
        cmocka_unit_test(names_for_files_and_terminals),
        cmocka_unit_test(names_are_cut_between_characters),
        cmocka_unit_test(distances_and_suggestions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
