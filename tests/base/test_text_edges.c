/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/memory.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Texts at their boundaries: each of them, from both sides, and against a second way to say the same. */

static void units_change_where_they_should(void **state)
{
    (void)state;
    static const struct {
        const char *(*say)(double value, char *buffer, size_t capacity);
        double value;
        const char *text;
    } cases[] = {
        {sk_text_bytes, -5, "0 B"},
        {sk_text_bytes, 0.6, "1 B"},
        {sk_text_bytes, 999.4, "999 B"},
        {sk_text_bytes, 999.5, "1.0 kB"},
        {sk_text_bytes, 9949, "9.9 kB"},
        {sk_text_bytes, 9950, "10 kB"},
        {sk_text_bytes, 999499, "999 kB"},
        {sk_text_bytes, 999500, "1.0 MB"},
        {sk_text_bytes, 2.5e12, "2.5 TB"},
        {sk_text_bytes, 999.5e12, "1.0 PB"},
        {sk_text_bytes, NAN, "0 B"},
        {sk_text_duration, 999.5, "1.0 us"},
        {sk_text_duration, 1e6, "1.0 ms"},
        {sk_text_duration, 9.5e8, "950 ms"},
        {sk_text_duration, 5e12, "5000 s"},
        {sk_text_time_left, 0, "0:00"},
        {sk_text_time_left, 0.49, "0:00"},
        {sk_text_time_left, 0.5, "0:01"},
        {sk_text_time_left, 59.4, "0:59"},
        {sk_text_time_left, 59.5, "1:00"},
        {sk_text_time_left, 3599.4, "59:59"},
        {sk_text_time_left, 3599.5, "1:00:00"},
        {sk_text_time_left, 86399.4, "23:59:59"},
        {sk_text_time_left, 86399.5, "1 d 0 h"},
        {sk_text_time_left, 86400 + 23.9 * 3600, "1 d 23 h"},
        {sk_text_time_left, 1e9, "11574 d 1 h"},
        {sk_text_time_left, 1.1e9, "-:--"},
        {sk_text_time_left, NAN, "-:--"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SK_TEXT_UNIT];
        assert_string_equal(cases[i].say(cases[i].value, text, sizeof text), cases[i].text);
    }
}

/* UTF-8 by its definition: what the bytes stand for, written the shortest way, no surrogate, not beyond the last one. */
static size_t decoded(const unsigned char *b, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = b[0] < 0x80             ? 1
                          : (b[0] & 0xE0) == 0xC0 ? 2
                          : (b[0] & 0xF0) == 0xE0 ? 3
                          : (b[0] & 0xF8) == 0xF0 ? 4
                                                  : 0;
    if (length == 0 || length > left)
        return 0;
    uint32_t point = length == 1 ? b[0] : b[0] & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((b[i] & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (b[i] & 0x3Fu);
    }
    return point < least[length] || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF ? 0 : length;
}

static void utf8_is_what_it_says(void **state)
{
    (void)state;
    static const unsigned char edges[] = {
        0x00, 0x01, 0x41, 0x7F, 0x80, 0x81, 0x8E, 0x8F, 0x90, 0x91, 0x9F, 0xA0, 0xA1, 0xBE, 0xBF, 0xC0, 0xC1,
        0xC2, 0xC3, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFE, 0xFF};
    enum { N = sizeof edges };
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            for (size_t c = 0; c < N; c++)
                for (size_t d = 0; d < N; d += 3) {
                    const unsigned char bytes[] = {edges[a], edges[b], edges[c], edges[d]};
                    for (size_t left = 1; left <= 4; left++)
                        if (sk_text_utf8((const char *)bytes, left) != decoded(bytes, left))
                            fail_msg("%02x %02x %02x %02x, %zu of them", bytes[0], bytes[1], bytes[2],
                                     bytes[3], left);
                }
}

static int encode(uint32_t point, char *out)
{
    if (point < 0x80)
        return out[0] = (char)point, 1;
    if (point < 0x800)
        return out[0] = (char)(0xC0 | point >> 6), out[1] = (char)(0x80 | (point & 0x3F)), 2;
    out[0] = (char)(0xE0 | point >> 12);
    out[1] = (char)(0x80 | (point >> 6 & 0x3F));
    out[2] = (char)(0x80 | (point & 0x3F));
    return 3;
}

/* Every character up to U+2FFF: those that command a terminal or turn the writing are named, all others left. */
static void controls_are_these(void **state)
{
    (void)state;
    for (uint32_t point = 1; point < 0x3000; point++) {
        const bool control = point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x200E ||
                             point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
                             (point >= 0x2066 && point <= 0x2069);
        char raw[4] = {0}, expected[16] = "";
        const int length = encode(point, raw);
        for (int i = 0; control && i < length; i++)
            snprintf(expected + 4 * i, 5, "\\x%02x", (unsigned char)raw[i]);
        char *text = sk_text_printable(raw, "");
        if (strcmp(text, control ? expected : raw) != 0)
            fail_msg("U+%04X is written \"%s\"", point, text);
        sk_free(text);
    }
    char *text = sk_text_printable("\x85\xC2\x85\xC3", "\x85");
    assert_string_equal(text, "\\x85\\xc2\\x85\\xc3");
    sk_free(text);
}

static void words_for_shells_and_pages(void **state)
{
    (void)state;
    static const struct {
        const char *word, *shell, *markup;
    } cases[] = {
        {"plain-1.2_a/b:c,d@e%f=g+", "plain-1.2_a/b:c,d@e%f=g+", "plain-1.2_a/b:c,d@e%f=g+"},
        {"", "''", ""},
        {"a b", "'a b'", "a b"},
        {"it's", "'it'\\''s'", "it&#39;s"},
        {"$(x)`y`", "'$(x)`y`'", "$(x)`y`"},
        {"<a href=\"x\">&</a>", "'<a href=\"x\">&</a>'", "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;"},
        {"鼠~\n", "'鼠~\n'", "鼠~\\x0a"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_text text = {0};
        sk_text_append_shell(&text, cases[i].word);
        assert_string_equal(sk_text_get(&text), cases[i].shell);
        sk_text_clear(&text);
        sk_text_append_markup(&text, cases[i].word);
        assert_string_equal(sk_text_get(&text), cases[i].markup);
        sk_text_free(&text);
    }
}

/* Base64 of every length up to several blocks, read back by its alphabet. */
static void base64_is_read_back(void **state)
{
    (void)state;
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[700], back[720];
    uint32_t dice = 1;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)((dice = 1664525u * dice + 1013904223u) >> 24);
    for (size_t n = 0; n <= sizeof bytes; n += n < 200 ? 1 : 97) {
        sk_text text = {0};
        sk_text_append_base64(&text, bytes, n);
        assert_int_equal(text.length, (n + 2) / 3 * 4);
        size_t used = 0;
        for (size_t i = 0; i < text.length; i += 4) {
            uint32_t v = 0;
            for (size_t k = 0; k < 4; k++)
                v = v << 6 |
                    (text.data[i + k] == '=' ? 0 : (uint32_t)(strchr(letters, text.data[i + k]) - letters));
            back[used++] = (unsigned char)(v >> 16);
            back[used++] = (unsigned char)(v >> 8);
            back[used++] = (unsigned char)v;
        }
        assert_memory_equal(back, bytes, n);
        sk_text_free(&text);
    }
}

/* Formatted texts around the size of the small buffer, and around each doubling. */
static void lengths_around_the_buffers(void **state)
{
    (void)state;
    char wide[600];
    memset(wide, 'w', sizeof wide);
    for (int n = 0; n < 520; n++) {
        sk_text text = {0};
        sk_text_append(&text, "<");
        sk_text_appendf(&text, "%.*s", n, wide);
        sk_text_append(&text, ">");
        assert_int_equal(text.length, n + 2);
        assert_int_equal(strlen(text.data), n + 2);
        assert_int_equal(text.data[n + 1], '>');
        assert_true(text.capacity > text.length);
        sk_text_free(&text);
    }
    sk_text text = {.limit = 300};
    sk_text_appendf(&text, "%.*s", 300, wide);
    assert_int_equal(sk_text_status(&text, NULL), SK_OK);
    sk_text_appendf(&text, "%.*s", 301, wide);
    sk_error err = {0};
    assert_int_equal(sk_text_status(&text, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "300 bytes"));
    assert_int_equal(text.length, 300);
    sk_text_clear(&text);
    assert_int_equal(sk_text_status(&text, NULL), SK_OK);
    assert_string_equal(sk_text_get(&text), "");
    sk_text_free(&text);
    assert_int_equal(text.limit, 300); /* it stays a text of that kind */
    char *out = NULL;
    assert_ok(sk_text_take(&text, &out, &err), &err);
    assert_string_equal(out, "");
    sk_free(out);
}

static void numbers_are_cut_to_their_room(void **state)
{
    (void)state;
    char text[8] = "#######";
    assert_string_equal(sk_text_number(-12345, 9, text, 7), "-12345");
    assert_int_equal(text[7], 0);
    assert_string_equal(sk_text_number(-12345, 9, text, 6), "-1234");
    assert_string_equal(sk_text_number(7, 9, text, 1), "");
    memset(text, '#', 7);
    sk_text_number(7, 9, text, 0);
    assert_string_equal(text, "#######");
    assert_string_equal(sk_text_number(INFINITY, 9, text, sizeof text), "inf");
    char small[4];
    sk_text_shorten("abc", small, sizeof small);
    assert_string_equal(small, "abc");
    sk_text_shorten("abcd", small, sizeof small);
    assert_string_equal(small, "abc");
    sk_text_shorten("x", small, 1);
    assert_string_equal(small, "");
    small[0] = 'q';
    sk_text_shorten("x", small, 0);
    assert_int_equal(small[0], 'q');
}

/* One slip, and one more for every four letters; never all of them; the first of equals; then what it is the beginning of. */
static void suggestions_have_bounds(void **state)
{
    (void)state;
    static const char *const words[] = {"frames", "frange", "a", "confidence", "keypoints"};
    static const struct {
        const char *typed, *meant;
    } cases[] = {{"frame", "frames"},
                 {"fraxes", "frames"},
                 {"frxxes", "frames"},
                 {"xxxmes", NULL},
                 {"frxnes", "frames"},
                 {"b", NULL},
                 {"ab", "a"},
                 {"abc", NULL},
                 {"con", "confidence"},
                 {"co", NULL},
                 {"CONF", "confidence"},
                 {"key-points", "keypoints"},
                 {"kyepoinst", "keypoints"},
                 {"kxxxoints", "keypoints"},
                 {"kxxxxints", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *meant = sk_text_suggest(cases[i].typed, words, 5);
        if (cases[i].meant ? !meant || strcmp(meant, cases[i].meant) != 0 : meant != NULL)
            fail_msg("%s: %s, not %s", cases[i].typed, meant ? meant : "nothing",
                     cases[i].meant ? cases[i].meant : "nothing");
    }
    char a[80], b[80];
    memset(a, 'a', 79);
    memset(b, 'b', 79);
    a[79] = b[79] = '\0';
    assert_int_equal(sk_text_distance(a, b), 63);
    b[62] = 'a';
    assert_int_equal(sk_text_distance(a, b), 62);
    assert_int_equal(sk_text_distance("ab", "ba"), 1);
    assert_int_equal(sk_text_distance("xab", "yba"), 2);
    assert_int_equal(sk_text_distance("abcd", "acbd"), 1);
    assert_int_equal(sk_text_distance("ca", "abc"), 3); /* what was swapped is not changed again */
    assert_int_equal(sk_text_distance("", "abc"), 3);
    assert_int_equal(sk_text_distance("saturday", "sunday"), 3);
}

static sk_status copies(void *context, sk_error *err)
{
    (void)context;
    char *a = sk_text_utf8_copy("a\xff"), *b = sk_text_printable("\n", "");
    sk_text page = {0};
    sk_text_append_markup(&page, "<b>");
    sk_text_append_base64(&page, "abc", 3);
    sk_status status = a && b ? sk_text_status(&page, err) : sk_fail_memory(err, 1);
    if (status == SK_OK && strcmp(sk_text_get(&page), "&lt;b&gt;YWJj") != 0)
        status = sk_fail_memory(err, 1); /* the name was left out */
    sk_text_free(&page);
    sk_free(a);
    sk_free(b);
    return status;
}

static void copies_survive_lack_of_memory(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(copies, NULL), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_change_where_they_should),
        cmocka_unit_test(utf8_is_what_it_says),
        cmocka_unit_test(controls_are_these),
        cmocka_unit_test(words_for_shells_and_pages),
        cmocka_unit_test(base64_is_read_back),
        cmocka_unit_test(lengths_around_the_buffers),
        cmocka_unit_test(numbers_are_cut_to_their_room),
        cmocka_unit_test(suggestions_have_bounds),
        cmocka_unit_test(copies_survive_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
