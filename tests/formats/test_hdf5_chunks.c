/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of datasets: the tree that lists them put together by hand, filters that each chunk may leave out, and what is told where
 * something is damaged. */
#include "hdf5_bytes.h"

#include "formats/hdf5_format.h"

#include <string.h>
#include <zlib.h>

enum { MOST = 8192 };

static char what[] = "in.h5";
static sk_hdf5_file file = {.bytes = bytes, .what = what};

static void put_node(int type, int level, int count)
{
    memcpy(bytes + length, "TREE", 4);
    length += 4;
    put((uint64_t)type, 1);
    put((uint64_t)level, 1);
    put((uint64_t)count, 2);
    put(UINT64_MAX, 8);
    put(UINT64_MAX, 8);
}

static void put_entry(size_t stored, uint64_t skipped, uint64_t row, uint64_t column, uint64_t child)
{
    put(stored, 4);
    put(skipped, 4);
    put(row, 8);
    put(column, 8);
    put(0, 8);
    put(child, 8);
}

/* 3 x 5 numbers of two bytes in chunks of 2 x 3. */
static sk_hdf5_item item_of(uint64_t tree)
{
    file.length = length;
    return (sk_hdf5_item){.file = &file,
                          .label = "it",
                          .type.size = 2,
                          .shape = {.rank = 2, .dim = {3, 5}},
                          .count = 15,
                          .layout = SK_HDF5_CHUNKED,
                          .address = tree,
                          .chunk = {2, 3}};
}

static uint16_t number(int row, int column)
{
    return (uint16_t)(0x101 * row + 0x1010 * column + 7);
}

/* The chunk at this place, its numbers beyond the data 0xeeee. */
static void chunk_at(int row, int column, uint8_t out[12])
{
    for (int i = 0; i < 6; i++) {
        const int y = row + i / 3, x = column + i % 3;
        const uint16_t v = y < 3 && x < 5 ? number(y, x) : 0xeeee;
        out[2 * i] = (uint8_t)v;
        out[2 * i + 1] = (uint8_t)(v >> 8);
    }
}

/* Filters one after the other, as whoever wrote the chunk would; 1 packs, 2 sorts bytes, 3 adds a sum. */
static size_t filtered(uint8_t data[64], size_t count, const int *ids, int n, uint64_t skipped)
{
    for (int i = 0; i < n; i++) {
        uint8_t kept[64];
        memcpy(kept, data, count);
        if (skipped >> i & 1)
            continue;
        if (ids[i] == 1) {
            uLongf packed = 64;
            assert_int_equal(compress(data, &packed, kept, count), Z_OK);
            count = packed;
        } else if (ids[i] == 2) {
            for (size_t k = 0; k < count / 2; k++)
                data[k] = kept[2 * k], data[count / 2 + k] = kept[2 * k + 1];
        } else {
            memset(data + count, 0x5a, 4);
            count += 4;
        }
    }
    return count;
}

static void expect(const sk_hdf5_item *item, const bool *there)
{
    uint8_t out[32];
    memset(out, 0xcc, sizeof out);
    assert_ok(sk_hdf5_read_chunks(item, out, &err), &err);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 5; x++) {
            const uint16_t got = (uint16_t)(out[2 * (5 * y + x)] | out[2 * (5 * y + x) + 1] << 8);
            assert_int_equal(got, there[2 * (y / 2) + x / 3] ? number(y, x) : 0xcccc);
        }
    assert_true(out[30] == 0xcc && out[31] == 0xcc);
}

static void filters_that_chunks_leave_out(void **state)
{
    (void)state;
    static const int orders[][3] = {{2, 1, 3}, {3, 2, 1}, {2, 3, 1}};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (int n = 0; n <= 3; n++)
            for (uint64_t first = 0; first < (1u << n); first++) {
                size_t places[4], sizes[4];
                const bool all[4] = {true, true, true, true};
                length = 64;
                for (int c = 0; c < 4; c++) { /* each leaves out others */
                    uint8_t data[64];
                    chunk_at(c / 2 * 2, c % 2 * 3, data);
                    sizes[c] = filtered(data, 12, orders[o], n, first ^ (uint64_t)c);
                    places[c] = length;
                    memcpy(bytes + length, data, sizes[c]);
                    length += sizes[c];
                }
                const size_t tree = length;
                put_node(1, 0, 4);
                for (int c = 0; c < 4; c++)
                    put_entry(sizes[c], first ^ (uint64_t)c, (uint64_t)(c / 2 * 2), (uint64_t)(c % 2 * 3),
                              places[c]);
                sk_hdf5_item item = item_of(tree);
                item.n_filters = n;
                for (int i = 0; i < n; i++)
                    item.filters[i].id = orders[o][i];
                expect(&item, all);
            }
}

/* Two levels; chunks that nobody wrote stay as they are, those beyond the data are passed over. */
static void trees_of_chunks(void **state)
{
    (void)state;
    static const bool some[4] = {false, true, true, false};
    uint8_t data[64];
    length = 64;
    chunk_at(0, 3, data);
    memcpy(bytes + 64, data, 12);
    chunk_at(2, 0, data);
    memcpy(bytes + 76, data, 12);
    length = 88;
    const size_t leaf = length;
    put_node(1, 0, 1);
    put_entry(12, 0, 0, 3, 64);
    const size_t other = length;
    put_node(1, 0, 3);
    put_entry(12, 0, 2, 0, 76);
    put_entry(12, 0, 4, 0, 64); /* rows and columns that were there before it shrank */
    put_entry(12, 0, 0, 6, 64);
    const size_t tree = length;
    put_node(1, 1, 2);
    put_entry(0, 0, 0, 3, leaf);
    put_entry(0, 0, 2, 0, other);
    sk_hdf5_item item = item_of(tree);
    uint8_t out[32];
    expect(&item, some);
    for (size_t cut = 0; cut < 24 + 2 * 40; cut++) { /* the root is cut short */
        file.length = tree + cut;
        told(sk_hdf5_read_chunks(&item, out, &err), SK_ERR_FORMAT,
             "in.h5: it: its tree of chunks is damaged");
    }
    file.length = length;
    static const struct {
        size_t at;
        uint8_t value;
        const char *why;
    } wrong[] = {{0, 'X', "its tree of chunks is damaged"},
                 {3, 'X', "its tree of chunks is damaged"},
                 {4, 0, "its tree of chunks is damaged"},
                 {4, 2, "its tree of chunks is damaged"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const uint8_t kept = bytes[tree + wrong[i].at];
        bytes[tree + wrong[i].at] = wrong[i].value;
        told(sk_hdf5_read_chunks(&item, out, &err), SK_ERR_FORMAT, wrong[i].why);
        bytes[tree + wrong[i].at] = kept;
    }
    bytes[tree + 24 + 32] = (uint8_t)tree; /* a tree that is its own child */
    bytes[tree + 24 + 33] = (uint8_t)(tree >> 8);
    told(sk_hdf5_read_chunks(&item, out, &err), SK_ERR_FORMAT, "its tree of chunks is damaged");
}

static void chunks_that_are_damaged(void **state)
{
    (void)state;
    static const struct {
        int filter;
        size_t stored;
        uint64_t place;
        const char *why;
    } cases[] = {
        {0, 11, 64, "a chunk is of the wrong length"},
        {0, 13, 64, "a chunk is of the wrong length"},
        {0, 12, MOST, "a chunk lies outside the file"},
        {0, 5000, 64, "a chunk lies outside the file"},
        {2, 20, 64, "a chunk is of the wrong length"},
        {2, 21, 64, "a chunk is too long"},
        {3, 3, 64, "a chunk is cut short"},
        {3, 4, 64, "a chunk is of the wrong length"},
        {3, 15, 64, "a chunk is of the wrong length"},
        {1, 12, 64, "a compressed chunk is damaged"},
    };
    uint8_t out[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(bytes, 0, 200);
        length = 200;
        put_node(1, 0, 1);
        put_entry(cases[i].stored, 0, 0, 0, cases[i].place);
        sk_hdf5_item item = item_of(200);
        item.n_filters = cases[i].filter ? 1 : 0;
        item.filters[0].id = cases[i].filter;
        told(sk_hdf5_read_chunks(&item, out, &err), SK_ERR_FORMAT, cases[i].why);
    }
    /* chunks of up to 256 MiB */
    sk_hdf5_item item = item_of(200);
    item.chunk[0] = 1 << 14;
    item.chunk[1] = (1 << 13) + 1;
    told(sk_hdf5_read_chunks(&item, out, &err), SK_ERR_LIMIT,
         "in.h5: it: chunks of more than 268435456 bytes");
    /* one chunk, again and again: more than there is room for */
    static uint8_t large[7000];
    length = 64;
    const size_t tree = length;
    put_node(1, 0, 130);
    for (int i = 0; i < 130; i++)
        put_entry(2000, 0, 0, 0, 5500);
    length = 7600;
    item = item_of(tree);
    item.chunk[0] = 1;
    item.chunk[1] = 1000;
    item.shape = (sk_shape){.rank = 2, .dim = {1, 1000}};
    item.count = 1000;
    told(sk_hdf5_read_chunks(&item, large, &err), SK_ERR_LIMIT, "more chunks than the dataset has room for");
}

/* Up to the file's last byte, counted from where it begins behind somebody else's. */
static void views_of_the_file(void **state)
{
    (void)state;
    for (uint64_t base = 0; base <= 512; base += 512)
        for (uint64_t at = 0; at <= 12; at++)
            for (uint64_t count = 0; count <= 12; count++) {
                sk_hdf5_file part = {.bytes = bytes, .length = base + 10, .base = base, .what = what};
                const sk_hdf5_cursor c = sk_hdf5_view(&part, at, count);
                assert_int_equal(c.bad, at + count > 10);
                assert_int_equal(sk_hdf5_left(&c), at + count > 10 ? 0 : count);
                assert_true(c.bad || c.at == bytes + base + at);
            }
    sk_hdf5_file part = {.bytes = bytes, .length = 10, .what = what};
    assert_true(sk_hdf5_view(&part, 5, UINT64_MAX).bad && sk_hdf5_view(&part, UINT64_MAX, 5).bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_that_chunks_leave_out),
        cmocka_unit_test(trees_of_chunks),
        cmocka_unit_test(chunks_that_are_damaged),
        cmocka_unit_test(views_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
