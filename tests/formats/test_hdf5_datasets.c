/* SPDX-License-Identifier: Apache-2.0 */
/* A dataset's header put together by hand: which messages it needs, which may lie elsewhere, which of two counts; and texts that lie in
 * a heap of the file. */
#include "hdf5_bytes.h"

#include "base/memory.h"
#include "formats/hdf5_file.h"

#include <string.h>

enum { ROOT = 64, MOST = 2048, HEAP = 1024 };
enum { TYPE, SPACE, LAYOUT, FILTERS, FILL, OLD_FILL, EXTERNAL, MESSAGES };

static sk_hdf5_file *file;

static void begin(void)
{
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "\x89HDF\r\n\x1a\n\2\x08\x08", 11);
    memset(bytes + 20, 0xff, 8);
    length = 36;
    put(ROOT, 8);
    length = ROOT;
    put(1, 4);
    put(1, 4);
    put(0, 8);
}

static void put_message(int type, int flags, const void *data, size_t count)
{
    put((uint64_t)type, 2);
    put(count, 2);
    put((uint64_t)flags, 4);
    memcpy(bytes + length, data, count);
    length += count;
}

static void end(void)
{
    const size_t size = length - ROOT - 16;
    bytes[ROOT + 8] = (uint8_t)size;
    bytes[ROOT + 9] = (uint8_t)(size >> 8);
    sk_hdf5_close(&file);
    assert_ok(sk_hdf5_open_memory(bytes, MOST, "in.h5", &file, &err), &err);
}

/* Two numbers of two bytes, 0x0201 and 0x0403, in the header; or nowhere, so that the fill is read. */
static void make(unsigned with, unsigned shared, bool written, bool old_first)
{
    static const int types[MESSAGES] = {0x03, 0x01, 0x08, 0x0b, 0x05, 0x04, 0x07};
    static const uint8_t data[MESSAGES][16] = {[TYPE] = {0x10, 0, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0},
                                               [SPACE] = {2, 1, 0, 1, 2},
                                               [LAYOUT] = {3, 0, 4, 0, 1, 2, 3, 4},
                                               [FILTERS] = {2, 0},
                                               [FILL] = {2, 0, 0, 1, 2, 0, 0, 0, 7, 0},
                                               [OLD_FILL] = {2, 0, 0, 0, 9, 0}};
    static const uint8_t nowhere[18] = {3, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 4};
    static const size_t sizes[MESSAGES] = {12, 12, 8, 2, 10, 6, 8};
    begin();
    for (int k = 0; k < MESSAGES; k++) {
        int i = old_first && k == FILL ? OLD_FILL : old_first && k == OLD_FILL ? FILL : k;
        const bool apart = i == LAYOUT && !written;
        if (with >> i & 1)
            put_message(types[i], shared >> i & 1 ? 2 : 0, apart ? nowhere : data[i], apart ? 18 : sizes[i]);
    }
    end();
}

static sk_status first_of(double *value)
{
    sk_blob *blob = NULL;
    const sk_status status = sk_hdf5_dataset_read(file, "", SK_DTYPE_F64, 64, &blob, NULL, &err);
    if (status == SK_OK) {
        assert_int_equal(sk_blob_bytes(blob), 16);
        *value = *(const double *)sk_blob_data(blob);
    }
    sk_blob_unref(&blob);
    return status;
}

static void messages_of_a_dataset(void **state)
{
    (void)state;
    double value = 0;
    enum { NEEDED = 1 << TYPE | 1 << SPACE | 1 << LAYOUT };
    for (unsigned with = 0; with < 1u << MESSAGES; with++)
        for (int written = 0; written < 2; written++)
            for (int old_first = 0; old_first < 2; old_first++) {
                make(with, 0, written, old_first);
                const sk_status status = first_of(&value);
                if ((with & NEEDED) != NEEDED)
                    told(status, SK_ERR_FORMAT, "in.h5: / is not a dataset");
                else if (with >> EXTERNAL & 1)
                    told(status, SK_ERR_UNSUPPORTED, "its data lies outside this file");
                else
                    assert_ok(status, &err);
                if (status != SK_OK)
                    continue;
                /* of two fills the newer counts, wherever it stands */
                const double fill = with >> FILL & 1 ? 7 : with >> OLD_FILL & 1 ? 9 : 0;
                assert_true(value == (written ? 0x0201 : fill));
            }
    for (unsigned shared = 1; shared < 1u << MESSAGES; shared <<= 1) { /* one that lies elsewhere */
        make(NEEDED | 1 << FILTERS | 1 << FILL, shared, true, false);
        const sk_status status = first_of(&value);
        if (shared & (1 << TYPE | 1 << SPACE | 1 << FILTERS | 1 << FILL))
            told(status, SK_ERR_UNSUPPORTED, "in.h5: dataset /: a named or shared type, which is not read");
        else
            assert_ok(status, &err);
        make(NEEDED | 1 << OLD_FILL, 1 << OLD_FILL, true, false);
        told(first_of(&value), SK_ERR_UNSUPPORTED, "a named or shared type");
    }
}

/* --- texts in a heap --- */

static void put_object(uint64_t index, const char *text, size_t count)
{
    put(index, 2);
    put(1, 6);
    put(count, 8);
    memcpy(bytes + length, text, count);
    length += (count + 7) / 8 * 8;
}

/* Three texts of the heap: each a length, the heap's place and a number. */
static void make_texts(const uint64_t texts[3][3], uint64_t heap_bytes)
{
    static const uint8_t type[24] = {0x19, 1, 0, 0, 16, 0, 0, 0, 0x13, 0, 0, 0, 1};
    static const uint8_t space[12] = {2, 1, 0, 1, 3};
    uint8_t layout[52] = {3, 0, 48};
    begin();
    for (int i = 0; i < 3; i++) {
        const size_t kept = length;
        length = MOST - 64;
        put(texts[i][0], 4);
        put(texts[i][1], 8);
        put(texts[i][2], 4);
        memcpy(layout + 4 + 16 * i, bytes + MOST - 64, 16);
        length = kept;
    }
    put_message(3, 0, type, sizeof type);
    put_message(1, 0, space, sizeof space);
    put_message(8, 0, layout, sizeof layout);
    const size_t kept = length;
    length = HEAP;
    memcpy(bytes + length, "GCOL\1", 5);
    length += 8;
    put(heap_bytes, 8);
    put_object(3, "three", 5);
    put_object(1, "one and more", 12);
    put_object(2, "eightlet", 8);
    put_object(0, "", 0); /* what is free */
    put_object(4, "behind", 6);
    length = kept;
    end();
}

static void texts_in_a_heap(void **state)
{
    (void)state;
    static const struct {
        uint64_t texts[3][3];
        const char *wanted[3]; /* none: a text is missing */
    } cases[] = {
        {{{5, HEAP, 3}, {12, HEAP, 1}, {8, HEAP, 2}}, {"three", "one and more", "eightlet"}},
        {{{3, HEAP, 3}, {0, HEAP, 1}, {1, HEAP, 2}}, {"thr", "", "e"}},
        {{{5, 0, 3}, {5, UINT64_MAX, 1}, {8, HEAP, 2}}, {"", "", "eightlet"}},
        {{{6, HEAP, 3}, {12, HEAP, 1}, {8, HEAP, 2}}, {NULL}},     /* longer than the object */
        {{{5, HEAP, 3}, {12, HEAP, 9}, {8, HEAP, 2}}, {NULL}},     /* no such object */
        {{{5, HEAP, 3}, {12, HEAP, 1}, {6, HEAP, 4}}, {NULL}},     /* behind the end */
        {{{5, HEAP + 8, 3}, {12, HEAP, 1}, {8, HEAP, 2}}, {NULL}}, /* no heap */
        {{{5, MOST - 8, 3}, {12, HEAP, 1}, {8, HEAP, 2}}, {NULL}}, /* outside */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_hdf5_texts texts;
        make_texts(cases[i].texts, 200);
        const sk_status status = sk_hdf5_dataset_texts(file, "/", &texts, &err);
        if (!cases[i].wanted[0]) {
            told(status, SK_ERR_FORMAT, "in.h5: dataset /: a text is missing");
            assert_true(!texts.bytes && texts.count == 0);
            continue;
        }
        assert_ok(status, &err);
        assert_int_equal(texts.count, 3);
        for (size_t k = 0; k < 3; k++)
            assert_string_equal(sk_hdf5_text_at(&texts, k), cases[i].wanted[k]);
        sk_free(texts.bytes);
    }
    static const uint64_t sizes[] = {0, 15, 16, 16 + 21, 16 + 24 + 28, 16 + 24 + 32 + 24, MOST, UINT64_MAX};
    for (int i = 0; i < 8; i++) { /* how long the heap says it is: the third object ends at byte 96 */
        sk_hdf5_texts texts;
        make_texts(cases[0].texts, sizes[i]);
        const sk_status status = sk_hdf5_dataset_texts(file, "/", &texts, &err);
        assert_int_equal(status, i == 5 ? SK_OK : SK_ERR_FORMAT);
        sk_free(texts.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_of_a_dataset),
                                       cmocka_unit_test(texts_in_a_heap)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_hdf5_close(&file);
    return failed;
}
