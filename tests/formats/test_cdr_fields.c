/* SPDX-License-Identifier: Apache-2.0 */
/* CDR, field by field: where numbers are aligned, what each order of bytes gives, and what is a byte too short or too long. */
#include "support/test.h"

#include "base/memory.h"
#include "formats/cdr.h"

#include <string.h>

static sk_error err;
static sk_cdr_writer w;

static sk_cdr_reader reader_of(const void *bytes, size_t count)
{
    sk_cdr_reader r;
    assert_ok(sk_cdr_reader_begin(&r, bytes, count, &err), &err);
    return r;
}

static void begin(bool swapped)
{
    if (swapped)
        sk_cdr_writer_begin_swapped(&w);
    else
        sk_cdr_writer_begin(&w);
}

/* A number of each size behind each number of bytes: at the next multiple of its size, zeroes before it. */
static void numbers_are_aligned(void **state)
{
    (void)state;
    static const uint8_t number[] = {1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16, 17, 18};
    for (int swapped = 0; swapped < 2; swapped++)
        for (size_t before = 0; before <= 17; before++)
            for (size_t size = 1; size <= 8; size *= 2) {
                uint8_t back[16] = {0};
                begin(swapped);
                const uint16_t one = 1;
                const bool little = *(const uint8_t *)&one == 1;
                assert_int_equal(w.length, 4);
                assert_true(w.data[0] == 0 && w.data[1] == (little != (bool)swapped) && !w.data[2] &&
                            !w.data[3]);
                for (size_t i = 0; i < before; i++)
                    sk_cdr_put_u8(&w, 0xee);
                sk_cdr_put_numbers(&w, number, size, 0); /* none: nothing is aligned */
                assert_int_equal(w.length, 4 + before);
                sk_cdr_put_numbers(&w, number, size, 2);
                const size_t at = (before + size - 1) / size * size;
                assert_int_equal(w.length, 4 + at + 2 * size);
                assert_ok(sk_cdr_writer_status(&w, &err), &err);
                for (size_t i = 0; i < at; i++)
                    assert_int_equal(w.data[4 + i], i < before ? 0xee : 0);
                for (size_t i = 0; i < 2 * size; i++) {
                    const size_t from = swapped ? i / size * size + size - 1 - i % size : i;
                    assert_int_equal(w.data[4 + at + i], number[from]);
                }
                for (size_t less = 0; less < 2; less++) {
                    sk_cdr_reader r = reader_of(w.data, w.length - less);
                    assert_non_null(sk_cdr_get_bytes(&r, before));
                    assert_true(sk_cdr_get_numbers(&r, back, size, 0));
                    assert_int_equal(r.at, before);
                    assert_int_equal(sk_cdr_get_numbers(&r, back, size, 2), !less);
                    if (!less)
                        assert_memory_equal(back, number, 2 * size);
                    else
                        assert_true(back[0] == 0 && back[2 * size - 1] == 0);
                    assert_int_equal(sk_cdr_reader_status(&r, &err), less ? SK_ERR_FORMAT : SK_OK);
                    if (less)
                        assert_non_null(strstr(err.message, "it ends before its last field (at byte "));
                }
            }
}

static void numbers_of_every_type(void **state)
{
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        begin(swapped);
        sk_cdr_put_u8(&w, 200);
        sk_cdr_put_u32(&w, 0xfedcba98);
        sk_cdr_put_i32(&w, -5);
        sk_cdr_put_u64(&w, 0xfedcba9876543210);
        sk_cdr_put_i64(&w, -6);
        sk_cdr_put_f64(&w, -0.375);
        sk_cdr_put_text(&w, "hé", 3);
        sk_cdr_put_text(&w, "", 0);
        sk_cdr_put_count(&w, 2);
        sk_cdr_put_bytes(&w, "xy", 2);
        sk_cdr_put_bytes(&w, NULL, 0);
        assert_ok(sk_cdr_writer_status(&w, &err), &err);
        const size_t whole = w.length;
        for (size_t n = 4; n <= whole; n++) {
            size_t length = 9;
            sk_cdr_reader r = reader_of(w.data, n);
            const bool good = sk_cdr_get_u8(&r) == 200 && sk_cdr_get_u32(&r) == 0xfedcba98 &&
                              sk_cdr_get_i32(&r) == -5 && sk_cdr_get_u64(&r) == 0xfedcba9876543210 &&
                              sk_cdr_get_i64(&r) == -6 && sk_cdr_get_f64(&r) == -0.375 &&
                              strcmp(sk_cdr_get_text(&r, &length), "hé") == 0 && length == 3 &&
                              sk_cdr_get_text(&r, &length)[0] == 0 && length == 0 &&
                              sk_cdr_get_count(&r, 1) == 2;
            const uint8_t *bytes = sk_cdr_get_bytes(&r, 2);
            assert_int_equal(good && bytes && memcmp(bytes, "xy", 2) == 0, n == whole);
            assert_int_equal(sk_cdr_reader_status(&r, &err), n == whole ? SK_OK : SK_ERR_FORMAT);
            if (n == whole)
                continue;
            /* the first failure is kept, and everything after is nothing */
            assert_true(sk_cdr_get_u8(&r) == 0 && sk_cdr_get_f64(&r) == 0 && !sk_cdr_get_bytes(&r, 0));
            assert_string_equal(sk_cdr_get_text(&r, &length), "");
            assert_int_equal(sk_cdr_get_count(&r, 1), 0);
        }
    }
}

static void beginnings(void **state)
{
    (void)state;
    static const uint8_t heads[][4] = {{0, 0, 0, 0}, {0, 1, 0, 0}, {0, 2, 0, 0}, {1, 0, 0, 0}, {0, 1, 9, 9}};
    sk_cdr_reader r;
    for (size_t i = 0; i < 5; i++) {
        const bool good = i < 2 || i == 4;
        assert_int_equal(sk_cdr_reader_begin(&r, heads[i], 4, &err), good ? SK_OK : SK_ERR_UNSUPPORTED);
        assert_int_equal(sk_cdr_reader_status(&r, &err), good ? SK_OK : SK_ERR_FORMAT);
        for (size_t n = 0; n < 4; n++)
            assert_int_equal(sk_cdr_reader_begin(&r, heads[i], n, &err), SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "a message of 3 bytes: not even the four"));
    }
    assert_int_equal(sk_cdr_reader_begin(&r, heads[2], 4, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "whose representation is 0002: plain CDR"));
    assert_int_equal(sk_cdr_reader_status(&r, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "it has no beginning"));
}

/* Texts by their length: none, too long by one, without a zero; sequences that the rest can hold, and that it cannot. */
static void texts_and_counts(void **state)
{
    (void)state;
    uint8_t bytes[16] = {0, 1, 0, 0, 0, 0, 0, 0, 'a', 'b', 0};
    for (uint32_t says = 0; says <= 5; says++) {
        size_t length = 99;
        bytes[4] = (uint8_t)says;
        sk_cdr_reader r = reader_of(bytes, 11);
        const char *text = sk_cdr_get_text(&r, &length);
        const bool good = says == 0 || says == 3;
        assert_string_equal(text, says == 3 ? "ab" : "");
        assert_int_equal(length, says == 3 ? 2 : 0);
        assert_int_equal(sk_cdr_reader_status(&r, &err), good ? SK_OK : SK_ERR_FORMAT);
        if (!good)
            assert_non_null(
                strstr(err.message, says < 3 ? "a damaged message of 11 bytes: a text without its final "
                                               "zero"
                                             : "it ends before its last field (at byte 8)"));
    }
    for (uint32_t least = 1; least <= 4; least++)
        for (uint32_t says = 0; says <= 9; says++) { /* eight bytes follow */
            bytes[4] = (uint8_t)says;
            sk_cdr_reader r = reader_of(bytes, 16);
            const bool good = says * least <= 8;
            assert_int_equal(sk_cdr_get_count(&r, least), good ? says : 0);
            assert_int_equal(sk_cdr_reader_status(&r, &err), good ? SK_OK : SK_ERR_FORMAT);
            if (!good)
                assert_non_null(strstr(err.message, "it has fewer elements than it says"));
        }
}

/* More than the lengths can say is refused before it is looked at; and stays refused, until the next message. */
static void what_is_too_long(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        sk_cdr_writer_begin(&w);
        switch (i) {
        case 0: sk_cdr_put_text(&w, "", UINT32_MAX); break;
        case 1: sk_cdr_put_count(&w, (size_t)UINT32_MAX + 1); break;
        case 2: sk_cdr_put_numbers(&w, "", 8, SIZE_MAX / 8 + 2); break;
        case 3: sk_cdr_put_numbers(&w, "", 4, (size_t)1 << 30); break;
        case 4: sk_cdr_put_bytes(&w, "", (size_t)UINT32_MAX - 3); break;
        default: sk_cdr_put_bytes(&w, "", SIZE_MAX); break;
        }
        sk_cdr_put_u32(&w, 1);
        assert_int_equal(sk_cdr_writer_status(&w, &err), SK_ERR_LIMIT);
        assert_non_null(strstr(err.message, "a message of more than 4294967295 bytes"));
        assert_int_equal(w.length, 4);
    }
    sk_cdr_writer_begin(&w);
    sk_cdr_put_count(&w, UINT32_MAX);
    assert_ok(sk_cdr_writer_status(&w, &err), &err);
    assert_int_equal(w.length, 8);
    sk_cdr_writer_free(&w);
    assert_true(!w.data && w.capacity == 0);
    sk_memory_fail_nth(1); /* without memory nothing is written, whatever else is wrong */
    sk_cdr_writer_begin(&w);
    sk_memory_fail_nth(0);
    sk_cdr_put_text(&w, "", UINT32_MAX);
    sk_cdr_put_count(&w, SIZE_MAX);
    sk_cdr_put_f64(&w, 1);
    assert_int_equal(sk_cdr_writer_status(&w, &err), SK_ERR_MEMORY);
    assert_int_equal(w.length, 0);
    sk_cdr_writer_begin(&w);
    for (int i = 0; i < 3000; i++) /* grows, and keeps what is in it */
        sk_cdr_put_u32(&w, (uint32_t)i * 77777);
    assert_ok(sk_cdr_writer_status(&w, &err), &err);
    sk_cdr_reader r = reader_of(w.data, w.length);
    for (int i = 0; i < 3000; i++)
        assert_int_equal(sk_cdr_get_u32(&r), (uint32_t)i * 77777);
    sk_cdr_writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_aligned), cmocka_unit_test(numbers_of_every_type),
        cmocka_unit_test(beginnings),          cmocka_unit_test(texts_and_counts),
        cmocka_unit_test(what_is_too_long),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_cdr_writer_free(&w);
    return failed;
}
