/* SPDX-License-Identifier: Apache-2.0 */
/* Plain values of pickles, opcode by opcode: numbers of every length, texts in every form, and what they are taken for. */
#include "support/test.h"

#include "base/text.h"
#include "formats/pickle.h"

#include <math.h>
#include <string.h>

static sk_pickle *pickle;
static sk_error err;

static const sk_pickle_value *read_bytes(const void *bytes, size_t length)
{
    sk_pickle_close(&pickle);
    if (sk_pickle_open(bytes, length, "in", &pickle, &err) != SK_OK)
        fail_msg("%s", err.message);
    return sk_pickle_root(pickle);
}
#define READ(text) read_bytes(text, sizeof text - 1)

static void refused_bytes(const void *bytes, size_t length, const char *why)
{
    sk_pickle *none = NULL;
    const sk_status status = sk_pickle_open(bytes, length, "in", &none, &err);
    if (status != SK_ERR_FORMAT || !strstr(err.message, why))
        fail_msg("%s, not '%s'", status == SK_OK ? "read" : err.message, why);
}
#define REFUSED(text, why) refused_bytes(text, sizeof text - 1, why)

/* An integer in so many bytes, the sign carried on, is that integer; what 64 bits do not hold is the nearest that they do. */
static void integers_of_every_length(void **state)
{
    (void)state;
    static const int64_t numbers[] = {
        0,         1,         -1,           127,       128,       -128,      -129,         255,
        32767,     -32768,    -32769,       INT32_MAX, INT32_MIN, 1ll << 40, -(1ll << 40), 72057594037927936,
        INT64_MAX, INT64_MIN, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int n = 1; n <= 20; n++)
            for (int four = 0; four < 2; four++) {
                uint8_t bytes[40] = {0x80, 2, four ? 0x8b : 0x8a, (uint8_t)n};
                size_t at = four ? 7 : 4;
                bool fits = true;
                for (int k = 0; k < n; k++)
                    bytes[at++] = k < 8            ? (uint8_t)((uint64_t)numbers[i] >> (8 * k))
                                  : numbers[i] < 0 ? 0xff
                                                   : 0;
                for (int k = n; k < 8; k++) /* cut off */
                    fits = fits && (uint8_t)((uint64_t)numbers[i] >> (8 * k)) == (numbers[i] < 0 ? 0xff : 0);
                fits = fits && (bytes[at - 1] >> 7) == (numbers[i] < 0);
                bytes[at++] = '.';
                if (fits)
                    assert_true(read_bytes(bytes, at)->u.integer == numbers[i]);
                for (int k = 8; k < n; k++) { /* another byte beyond the eighth: too large */
                    const uint8_t kept = bytes[(four ? 7 : 4) + k];
                    bytes[(four ? 7 : 4) + k] ^= 0x10;
                    const int64_t got = read_bytes(bytes, at)->u.integer;
                    assert_true(got == (numbers[i] < 0 ? INT64_MIN : INT64_MAX));
                    bytes[(four ? 7 : 4) + k] = kept;
                }
            }
    assert_int_equal(READ("\x80\x02\x8a\0.")->u.integer, 0);
    assert_int_equal(READ("K\xff.")->u.integer, 255);
    assert_int_equal(READ("M\xff\xff.")->u.integer, 65535);
    assert_int_equal(READ("J\xff\xff\xff\x7f.")->u.integer, INT32_MAX);
    assert_int_equal(READ("J\0\0\0\x80.")->u.integer, INT32_MIN);
    REFUSED("\x8a\x05\1\1.", "an integer of 5 bytes");
    REFUSED("J\1\1", "");
}

static void numbers_in_words(void **state)
{
    (void)state;
    assert_true(READ("I12\n.")->u.integer == 12 && READ("I-7\n.")->u.integer == -7);
    assert_true(READ("L99L\n.")->u.integer == 99 && READ("L-5\n.")->u.integer == -5);
    assert_true(READ("I00\n.")->kind == SK_PICKLE_BOOL && !sk_pickle_root(pickle)->u.boolean);
    assert_true(READ("I01\n.")->kind == SK_PICKLE_BOOL && sk_pickle_root(pickle)->u.boolean);
    assert_true(READ("L01\n.")->kind == SK_PICKLE_INT && sk_pickle_root(pickle)->u.integer == 1);
    assert_true(READ("I02\n.")->kind == SK_PICKLE_INT && READ("I010\n.")->u.integer == 10);
    assert_true(READ("F2.5\n.")->u.real == 2.5 && READ("F-1e3\n.")->u.real == -1000);
    assert_true(isnan(READ("Fnan\n.")->u.real) && READ("Finf\n.")->u.real > 1e300);
    assert_true(READ("I99999999999999999999\n.")->u.integer == INT64_MAX);
    assert_true(READ("G\x40\x09\x21\xfb\x54\x44\x2d\x18.")->u.real == 3.141592653589793);
    REFUSED("I\n.", "a number of 0 digits");
    REFUSED("Ix\n.", "'x' is no integer");
    REFUSED("I1x\n.", "'1x' is no integer");
    REFUSED("I1LL\n.", "'1LL' is no integer");
    REFUSED("F\n.", "a number of 0 digits");
    REFUSED("F1x\n.", "'1x' is no number");
    REFUSED("Fx\n.", "'x' is no number");
    REFUSED("I1", "");
    char digits[80] = "I";
    for (int n = 63; n <= 64; n++) {
        memset(digits + 1, '0', 64);
        digits[n] = '7';
        strcpy(digits + n + 1, "\n.");
        if (n == 63)
            assert_int_equal(read_bytes(digits, strlen(digits))->u.integer, 7);
        else
            refused_bytes(digits, strlen(digits), "a number of 64 digits");
    }
}

static void texts_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *before;
        size_t length;
        bool bytes;
    } forms[] = {{"X\3\0\0\0", 5, false},
                 {"\x8c\3", 2, false},
                 {"\x8d\3\0\0\0\0\0\0\0", 9, false},
                 {"T\3\0\0\0", 5, false},
                 {"U\3", 2, false},
                 {"B\3\0\0\0", 5, true},
                 {"C\3", 2, true},
                 {"\x8e\3\0\0\0\0\0\0\0", 9, true},
                 {"\x96\3\0\0\0\0\0\0\0", 9, true}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char text[20];
        memcpy(text, forms[i].before, forms[i].length);
        memcpy(text + forms[i].length, "abc.", 4);
        const sk_pickle_value *v = read_bytes(text, forms[i].length + 4);
        assert_int_equal(v->kind, forms[i].bytes ? SK_PICKLE_BYTES : SK_PICKLE_STRING);
        assert_true(v->length == 3 && memcmp(v->u.text, "abc", 3) == 0);
        assert_int_equal(sk_pickle_text(v) != NULL, !forms[i].bytes);
        text[1] = 5; /* longer than what is left */
        refused_bytes(text, forms[i].length + 4, "a string of 5 bytes begins where 4 bytes are left");
        text[1] = 0;
        text[forms[i].length] = '.';
        assert_int_equal(read_bytes(text, forms[i].length + 1)->length, 0);
    }
    assert_string_equal(sk_pickle_text(READ("S'a b'\n.")), "a b");
    assert_string_equal(sk_pickle_text(READ("S\"it's\"\n.")), "it's");
    assert_string_equal(sk_pickle_text(READ("S''\n.")), "");
    assert_string_equal(sk_pickle_text(READ("Vplain 'it\n.")), "plain 'it");
    REFUSED("S'\n.", "a string without quotes");
    REFUSED("Sab\n.", "a string without quotes");
    REFUSED("S'ab\"\n.", "a string without quotes");
    REFUSED("Saba\n.", "a string without quotes");
}

/* What is asked for as a number: whole reals, too, and truths. */
static void values_as_numbers(void **state)
{
    (void)state;
    static const struct {
        double real;
        bool whole;
    } reals[] = {{0, true},       {-3, true},       {2.5, false}, {9.1e18, true},
                 {9.3e18, false}, {-9.3e18, false}, {NAN, false}, {INFINITY, false}};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        sk_pickle_value v = {.kind = SK_PICKLE_FLOAT};
        int64_t whole = 5;
        double real = 5;
        v.u.real = reals[i].real;
        assert_int_equal(sk_pickle_to_int(&v, &whole), reals[i].whole);
        assert_true(whole == (reals[i].whole ? (int64_t)reals[i].real : 5));
        assert_true(sk_pickle_to_real(&v, &real) && (real == reals[i].real || isnan(real)));
    }
    int64_t whole = 5;
    double real = 5;
    sk_pickle_value v = {.kind = SK_PICKLE_INT};
    v.u.integer = -8;
    assert_true(sk_pickle_to_int(&v, &whole) && whole == -8 && sk_pickle_to_real(&v, &real) && real == -8);
    v = (sk_pickle_value){.kind = SK_PICKLE_BOOL};
    v.u.boolean = true;
    assert_true(sk_pickle_to_int(&v, &whole) && whole == 1 && sk_pickle_to_real(&v, &real) && real == 1);
    v = (sk_pickle_value){.kind = SK_PICKLE_STRING};
    assert_false(sk_pickle_to_int(&v, &whole) || sk_pickle_to_real(&v, &real));
    assert_false(sk_pickle_to_int(NULL, &whole) || sk_pickle_to_real(NULL, &real));
    assert_null(sk_pickle_text(NULL));
    assert_null(sk_pickle_at(NULL, 0));
    assert_null(sk_pickle_get(NULL, "a"));
    assert_null(sk_pickle_class(NULL, NULL));
}

/* Dictionaries of every size: what was put in is found, by text, bytes or number, and nothing else. */
static void keys_of_dictionaries(void **state)
{
    (void)state;
    for (int n = 0; n <= 40; n++) {
        sk_text text = {0};
        sk_text_append_bytes(&text, "\x80\x02}(", 4);
        for (int i = 0; i < n; i++) { /* i: 2 i, and "ki": 3 i */
            const char number[] = {'K', (char)i, 'K', (char)(2 * i)},
                       name[] = {'X', 2, 0, 0, 0, 'k', (char)('A' + i), 'K', (char)(3 * i)};
            sk_text_append_bytes(&text, number, sizeof number);
            sk_text_append_bytes(&text, name, sizeof name);
        }
        sk_text_append_bytes(&text, "u.", 2);
        const sk_pickle_value *d = read_bytes(sk_text_get(&text), text.length);
        sk_text_free(&text);
        assert_true(d->kind == SK_PICKLE_DICT && d->length == (size_t)(2 * n));
        for (int i = 0; i < 42; i++) {
            const char key[] = {'k', (char)('A' + i), 0}, longer[] = {'k', (char)('A' + i), 'x', 0};
            const sk_pickle_value *by_number = sk_pickle_get_int(d, i), *by_name = sk_pickle_get(d, key);
            assert_int_equal(by_number != NULL, i < n);
            assert_int_equal(by_name != NULL, i < n);
            assert_null(sk_pickle_get(d, longer));
            if (i < n)
                assert_true(by_number->u.integer == 2 * i && by_name->u.integer == 3 * i);
        }
        assert_null(sk_pickle_get_int(d, -1));
        assert_null(sk_pickle_get(d, "k"));
        assert_null(sk_pickle_get(d, NULL));
    }
    sk_pickle_close(&pickle);
}

/* What is remembered is found again by its number, in every form; what is not is told, the very first, too. */
static void remembered_values(void **state)
{
    (void)state;
    REFUSED("h\0.", "memo entry 0 is used before it is made");
    REFUSED("j\0\0\0\0.", "memo entry 0 is used before it is made");
    REFUSED("g0\n.", "memo entry 0 is used before it is made");
    REFUSED("K\5q\0h\1.", "memo entry 1 is used before it is made");
    REFUSED("K\5q\2h\1.", "memo entry 1 is used before it is made");
    REFUSED("q\0.", "");
    assert_int_equal(READ("K\5q\2K\6h\2.")->u.integer, 5);
    assert_int_equal(READ("K\5p3\nK\6r\1\0\0\0K\7j\3\0\0\0.")->u.integer, 5);
    assert_int_equal(READ("K\5p3\nK\6r\1\0\0\0K\7g1\n.")->u.integer, 6);
    assert_int_equal(READ("\x80\4K\5\x94K\6\x94K\7h\1.")->u.integer, 6); /* numbered as they come */
    assert_int_equal(READ("\x80\4K\5q\3K\6\x94K\7h\4.")->u.integer, 6);
    assert_int_equal(READ("K\5q\0K\6q\0K\7h\0.")->u.integer, 6); /* the later counts */
    REFUSED("K\5p\n.", "a memo index of 0 digits");
    REFUSED("K\5p1x\n.", "'1x' is no memo index");
    REFUSED("K\5p000000000000000000000001\n.", "a memo index of 24 digits");
    assert_int_equal(READ("K\5p00000000000000000000001\nK\6h\1.")->u.integer, 5);
    for (int index = 4; index <= 6; index++) { /* a number as large as the pickle is long is none */
        const char bytes[] = {'K', 5, 'q', (char)index, '.'};
        sk_pickle *none = NULL;
        const sk_status status = sk_pickle_open(bytes, sizeof bytes, "in", &none, &err);
        assert_int_equal(status, index < 5 ? SK_OK : SK_ERR_LIMIT);
        sk_pickle_close(&none);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_every_length), cmocka_unit_test(numbers_in_words),
        cmocka_unit_test(texts_in_every_form),      cmocka_unit_test(values_as_numbers),
        cmocka_unit_test(keys_of_dictionaries),     cmocka_unit_test(remembered_values),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_pickle_close(&pickle);
    return failed;
}
