/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of archives, byte by byte: numbers of 64 bits among others' fields, ends and headers in odd places, and sums. */
#include "support/test.h"

#include "formats/zip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static uint8_t made[70000];
static size_t length;
static sk_zip *zip;
static sk_error err;

static void put(uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        made[length++] = (uint8_t)value;
}

static void put_bytes(const void *bytes, size_t count)
{
    memcpy(made + length, bytes, count);
    length += count;
}

static void put_local(uint32_t sum, uint32_t packed, uint32_t size, size_t name)
{
    put(0x04034b50, 4);
    put(20, 2);
    put(0, 8);
    put(sum, 4);
    put(packed, 4);
    put(size, 4);
    put(name, 2);
    put(0, 2);
}

static void put_central(uint32_t packed, uint32_t size, size_t name, size_t extra, uint32_t header)
{
    put(0x02014b50, 4);
    put(20, 2);
    put(20, 2);
    put(0, 12);
    put(packed, 4);
    put(size, 4);
    put(name, 2);
    put(extra, 2);
    put(0, 10);
    put(header, 4);
}

static void put_end(uint64_t count, uint64_t bytes, uint64_t begin, size_t comment)
{
    put(0x06054b50, 4);
    put(0, 4);
    put(count, 2);
    put(count, 2);
    put(bytes, 4);
    put(begin, 4);
    put(comment, 2);
}

/* Whether the directory was believed; else the entries themselves were asked. */
static bool believed(void)
{
    sk_zip_close(&zip);
    assert_ok(sk_zip_open_memory(made, length, "in.zip", &zip, &err), &err);
    return !sk_zip_truncated(zip);
}

/* An archive of one entry, "x" with "abc", whose directory has these fields and numbers. */
static void make(const uint8_t *extra, size_t bytes, const uint32_t numbers[3])
{
    length = 0;
    put_local(0, 3, 3, 1);
    put_bytes("xabc", 4);
    const size_t begin = length;
    put_central(numbers[1], numbers[0], 1, bytes, numbers[2]);
    put_bytes("x", 1);
    put_bytes(extra, bytes);
    put_end(1, length - begin, begin, 0);
}

static size_t field(uint8_t *to, size_t at, uint64_t id, size_t bytes)
{
    const uint8_t head[] = {(uint8_t)id, (uint8_t)(id >> 8), (uint8_t)bytes, (uint8_t)(bytes >> 8)};
    memcpy(to + at, head, 4);
    memset(to + at + 4, 0xa5, bytes);
    return at + 4 + bytes;
}

/* Up to three fields of others before it, each of its own length, one behind it, and bytes that are no field. */
static void wide_numbers_among_other_fields(void **state)
{
    (void)state;
    static const uint64_t values[] = {0x1122334455667788, 0x99aabbccddeeff01, 0x0203040506070809};
    static const size_t lengths[] = {0, 5, 300};
    for (int mask = 0; mask < 8; mask++)
        for (int before = 0; before <= 3; before++)
            for (int after = 0; after < 5; after++)
                for (int more = -1; more <= 3; more += 2) { /* bytes of it that are too few, or more */
                    uint8_t extra[600];
                    size_t at = 0, values_at;
                    uint32_t numbers[3];
                    int wide = 0;
                    for (int i = 0; i < before; i++)
                        at = field(extra, at, 0x0100 + (uint64_t)i, lengths[i]);
                    for (int i = 0; i < 3; i++)
                        wide += mask >> i & 1;
                    if (!wide && more < 0)
                        continue;
                    values_at = at + 4;
                    at = field(extra, at, 1, (size_t)(8 * wide + more));
                    uint8_t all[24];
                    int n = 0;
                    for (int i = 0; i < 3; i++) {
                        numbers[i] = mask >> i & 1 ? 0xffffffff : 40u + (uint32_t)i;
                        for (int k = 0; mask >> i & 1 && k < 8; k++)
                            all[n++] = (uint8_t)(values[i] >> 8 * k);
                    }
                    memcpy(extra + values_at, all, (size_t)(n < n + more ? n : n + more));
                    if (after == 4)
                        at = field(extra, at, 7, 9);
                    else
                        memset(extra + at, 0, (size_t)after), at += (size_t)after;
                    make(extra, at, numbers);
                    assert_int_equal(believed(), more > 0);
                    assert_int_equal(sk_zip_count(zip), 1);
                    const sk_zip_entry *e = sk_zip_at(zip, 0);
                    if (more < 0) {
                        assert_true(e->size == 3 && e->compressed == 3 && e->header == 0);
                        continue;
                    }
                    assert_true(e->size == (mask & 1 ? values[0] : 40));
                    assert_true(e->compressed == (mask & 2 ? values[1] : 41));
                    assert_true(e->header == (mask & 4 ? values[2] : 42));
                    assert_true(sk_zip_total_size(zip) == e->size);
                }
    sk_zip_close(&zip);
}

/* A field that is longer than the rest is damage, one that fills it is not; without ZIP64's, 2^32 - 1 is a number. */
static void fields_at_the_end(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {0xffffffff, 0xffffffff, 0xffffffff};
    for (int wrong = -1; wrong <= 1; wrong++)
        for (int before = 0; before < 2; before++) {
            uint8_t extra[64];
            size_t at = before ? field(extra, 0, 9, 3) : 0;
            const size_t says = at + 2;
            at = field(extra, at, 2, 6);
            extra[says] = (uint8_t)(6 + wrong);
            make(extra, at, numbers);
            assert_int_equal(believed(), wrong <= 0);
            if (wrong <= 0)
                assert_true(sk_zip_at(zip, 0)->size == 0xffffffff && sk_zip_at(zip, 0)->header == 0xffffffff);
        }
    make((const uint8_t *)"", 0, (const uint32_t[]){3, 3, 0}); /* of others nobody looks at the fields */
    assert_true(believed());
    uint8_t broken[] = {1, 0, 200, 0};
    make(broken, 4, (const uint32_t[]){3, 3, 0});
    assert_true(believed());
    make(broken, 4, numbers);
    assert_false(believed());
    sk_zip_close(&zip);
}

static void sizes_are_summed_up_to_the_most(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{UINT64_MAX, 0},
                                        {UINT64_MAX, 1},
                                        {(uint64_t)1 << 63, (uint64_t)1 << 63},
                                        {(uint64_t)1 << 63, (uint64_t)1 << 62},
                                        {5, 7}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        length = 0;
        put_local(0, 0, 0, 0);
        const size_t begin = length;
        for (int i = 0; i < 2; i++) {
            put_central(0, 0xffffffff, 0, 12, 0);
            put(1, 2);
            put(8, 2);
            put(sizes[k][i], 8);
        }
        put_end(2, length - begin, begin, 0);
        assert_true(believed());
        const uint64_t sum = sizes[k][0] + sizes[k][1];
        assert_true(sk_zip_total_size(zip) == (sum < sizes[k][0] ? UINT64_MAX : sum));
    }
    sk_zip_close(&zip);
}

/* ZIP64's record counts where any of the three numbers is too small for it, and lies where its place says, were it in the comment. */
static void ends_of_64_bits(void **state)
{
    (void)state;
    for (int mask = 0; mask < 8; mask++)
        for (int place = 0; place < 6; place++) {
            length = 0;
            put_local(0, 3, 3, 1);
            put_bytes("xabc", 4);
            const size_t begin = length;
            put_central(3, 3, 1, 0, 0);
            put_bytes("x", 1);
            const size_t bytes = length - begin, end = length + 20, record = end + 22, all = record + 56;
            const uint64_t places[] = {record, record + 1, all, all + 1, UINT64_MAX, UINT64_MAX - 30};
            put(0x07064b50, 4);
            put(0, 4);
            put(places[place], 8);
            put(1, 4);
            put_end(mask & 1 ? 0xffff : 1, mask & 2 ? 0xffffffff : bytes, mask & 4 ? 0xffffffff : begin, 56);
            if (place == 1)
                put(0, 1); /* then it is cut short by one */
            put(0x06064b50, 4);
            put(44, 8);
            put(45, 2 + 2 + 4 + 4);
            put(77, 8); /* of this volume */
            put(1, 8);
            put(bytes, 8);
            put(begin, 8);
            length = all;
            assert_int_equal(believed(), mask == 0 || place == 0);
            assert_int_equal(sk_zip_count(zip), 1);
            assert_string_equal(sk_zip_at(zip, 0)->name, "x");
        }
    sk_zip_close(&zip);
}

/* A header in the comment of the end: it may be the last that is in the file, and not a byte may be missing. */
static void headers_at_the_very_end(void **state)
{
    (void)state;
    for (int missing = 0; missing < 4; missing++)
        for (size_t data = 0; data < 3; data++) {
            const uint8_t *bytes = NULL;
            sk_blob *hold = NULL;
            length = 0;
            put_local(0, 0, 0, 0);
            put_central((uint32_t)data, (uint32_t)data, 0, 0, 30 + 46 + 22);
            put_end(1, 46, 30, 30 + data - (missing == 1));
            put_local(0, 0, 0, missing == 2);
            put_bytes("de", data);
            if (missing == 3)
                made[30 + 46 + 22]++;
            length -= missing == 1;
            assert_true(believed());
            const sk_status status = sk_zip_read(zip, sk_zip_at(zip, 0), &bytes, &hold, &err);
            assert_int_equal(status, missing ? SK_ERR_FORMAT : SK_OK);
            if (!missing)
                assert_true(bytes == made + length - data && !hold);
            else if (missing == 3 || (missing == 1 && !data))
                assert_non_null(strstr(err.message, "in.zip: entry '' has no header at byte 98;"));
            else
                assert_non_null(strstr(err.message, "bytes goes beyond the end of the file ("));
        }
    sk_zip_close(&zip);
}

/* Descriptors in the data: of the right length and a wrong sum, of a wrong length; the right one is found behind them. */
static void data_that_looks_like_its_end(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++)
        for (int first = 0; first < 2; first++) { /* nothing before the first false one */
            length = 0;
            put_local(0, 0, 0, 1);
            made[6] = 8; /* its sizes come later */
            put_bytes("x", 1);
            const size_t begin = length;
            for (int i = 0; i < 3; i++) {
                put_bytes("PKP", first ? 0 : 1 + (size_t)i);
                const size_t here = length - begin;
                put(0x08074b50, 4);
                put(i == 1 ? crc32(0, made + begin, (uInt)here) : 0x1234567, 4);
                put(here + (i == 1), 4); /* of the second one size is wrong */
                put(here, 4);
            }
            const size_t size = length - begin;
            put(0x08074b50, 4);
            put(crc32(0, made + begin, (uInt)size), 4);
            put(size, wide ? 8 : 4);
            put(size, wide ? 8 : 4);
            const size_t next = length;
            put_local(0, 2, 2, 1);
            put_bytes("y..", 3);
            assert_false(believed());
            assert_int_equal(sk_zip_count(zip), 2);
            assert_true(sk_zip_at(zip, 0)->size == size && sk_zip_at(zip, 0)->compressed == size);
            assert_true(sk_zip_at(zip, 1)->header == next && sk_zip_at(zip, 1)->size == 2);
        }
    length = 0; /* the shortest of all: a header alone */
    put_local(0, 0, 0, 0);
    assert_false(believed());
    assert_int_equal(sk_zip_count(zip), 1);
    sk_zip_close(&zip);
    assert_int_equal(sk_zip_open_memory(made, 29, "in.zip", &zip, &err), SK_ERR_FORMAT);
}

/* 4 GiB are more than is inflated at once, however many bytes they come from. */
static void more_than_32_bits_are_not_inflated(void **state)
{
    (void)state;
    const uint32_t packed = 4161790; /* times 1032: just below 4 GiB */
    uint8_t *large = calloc(1, packed + 200);
    const uint8_t *bytes;
    sk_blob *hold;
    assert_non_null(large);
    for (uint32_t less = 0; less < 2; less++) {
        length = 0;
        put_local(0, packed, 0, 0);
        memcpy(large, made, length);
        length = 0;
        put_central(packed - less, 0xffffffff, 0, 12, 0);
        made[10] = 8;
        put(1, 2);
        put(8, 2);
        put((uint64_t)1 << 32, 8);
        const size_t directory = length;
        put_end(1, directory, 30 + packed, 0);
        memcpy(large + 30 + packed, made, length);
        assert_ok(sk_zip_open_memory(large, 30 + packed + length, "in.zip", &zip, &err), &err);
        assert_false(sk_zip_truncated(zip));
        assert_int_equal(sk_zip_read(zip, sk_zip_at(zip, 0), &bytes, &hold, &err), SK_ERR_LIMIT);
        assert_non_null(
            strstr(err.message, less ? "from 4161789 to 4294967296" : "from 4161790 to 4294967296"));
        sk_zip_close(&zip);
    }
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_numbers_among_other_fields),
        cmocka_unit_test(fields_at_the_end),
        cmocka_unit_test(sizes_are_summed_up_to_the_most),
        cmocka_unit_test(ends_of_64_bits),
        cmocka_unit_test(headers_at_the_very_end),
        cmocka_unit_test(data_that_looks_like_its_end),
        cmocka_unit_test(more_than_32_bits_are_not_inflated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
