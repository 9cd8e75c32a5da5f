/* SPDX-License-Identifier: Apache-2.0 */
/* TIFF at its ends: tiles that cover the picture exactly, and one pixel less or more; as many samples as are read; files that are none;
 * ranges that somebody else has found. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "media/picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

static sk_error err;
static char path[600];

static int grey(int x, int y)
{
    return (x * 5 + y * 3) % 256;
}

/* 16 bits, `samples` of a pixel; rows of a strip, or tiles of 16 x 16 where they are 0. */
static void write_grey(int width, int height, int samples, int rows)
{
    snprintf(path, sizeof path, "%s/edge.tif", test_folder());
    TIFF *t = TIFFOpen(path, "w");
    assert_non_null(t);
    const int bw = rows ? width : 16, bh = rows ? rows : 16;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    uint16_t more[64] = {0};
    if (samples > 1)
        TIFFSetField(t, TIFFTAG_EXTRASAMPLES, samples - 1, more);
    if (rows) {
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, rows);
    } else {
        TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
    }
    uint16_t *block = calloc((size_t)bw * (size_t)bh * (size_t)samples, sizeof *block);
    uint32_t index = 0;
    for (int y = 0; y < height; y += bh)
        for (int x = 0; x < width; x += bw, index++) {
            const int left = rows && height - y < bh ? height - y : bh;
            for (int j = 0; j < left; j++)
                for (int i = 0; i < bw; i++)
                    block[(j * bw + i) * samples] = (uint16_t)(grey(x + i, y + j) << 8);
            const tmsize_t size = (tmsize_t)((size_t)bw * (size_t)left * (size_t)samples * sizeof *block);
            assert_true((rows ? TIFFWriteEncodedStrip(t, index, block, size)
                              : TIFFWriteEncodedTile(t, index, block, size)) == size);
        }
    free(block);
    TIFFClose(t);
}

static void expect_grey(int width, int height)
{
    sk_slot slot = {0};
    assert_ok(sk_picture_decode(path, SK_PIXEL_GRAY, 0, &slot, &err), &err);
    assert_true(slot.frame.width == width && slot.frame.height == height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            if (slot.frame.data[y * slot.frame.stride + x] != grey(x, y))
                fail_msg("%d x %d: %d at %d, %d", width, height, slot.frame.data[y * slot.frame.stride + x],
                         x, y);
    sk_slot_free(&slot);
}

static void tiles_and_strips_that_just_fit(void **state)
{
    (void)state;
    static const int sizes[] = {1, 15, 16, 17, 31, 32, 33, 48};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            for (int rows = 0; rows <= 16; rows += 8) {
                write_grey(sizes[i], sizes[k], 1, rows);
                expect_grey(sizes[i], sizes[k]);
            }
}

/* Spectra have many; more than these are a trap. */
static void samples_of_a_pixel(void **state)
{
    (void)state;
    sk_slot slot = {0};
    write_grey(20, 10, 64, 5);
    expect_grey(20, 10);
    write_grey(20, 10, 65, 5);
    assert_int_equal(sk_picture_decode(path, SK_PIXEL_GRAY, 0, &slot, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "edge.tif: a TIFF with 65 samples of 16 bits a pixel"));
    sk_slot_free(&slot);
}

static void lists_of_no_tiff(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *words;
    } rows[] = {{"", 0, "x: not a TIFF"},
                {"II*\0\10\0\0", 7, "x: not a TIFF"},
                {"no TIFF at all, this", 20, "x: not a TIFF"},
                {"II*\0\0\0\0\0", 8, "holds no page"},
                {"II+\0\10\0\0\0\0\0\0\0\0\0\0", 15, "the file ends in its head"},
                {"MM\0*\0\0\0\10\0", 9, "the file ends"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_tiff_pages pages;
        assert_int_equal(
            sk_tiff_list("x", (const unsigned char *)rows[i].bytes, rows[i].length, &pages, &err),
            SK_ERR_FORMAT);
        if (!strstr(err.message, rows[i].words))
            fail_msg("%zu: %s", i, err.message);
        assert_true(!pages.offsets && pages.count == 0);
    }
}

/* What the first page has said holds for all; it is not looked at again. */
static void a_range_that_is_known(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/reals.tif", test_folder());
    TIFF *t = TIFFOpen(path, "w");
    const float reals[4] = {-1, 0, 1, 3};
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 4);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 1);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 32);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_IEEEFP);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    assert_true(TIFFWriteEncodedStrip(t, 0, (void *)(uintptr_t)reals, sizeof reals) == sizeof reals);
    TIFFClose(t);
    assert_ok(sk_file_read(path, 1 << 16, &bytes, &length, &err), &err);
    const sk_picture_task task = {
        .path = path, .format = SK_PIXEL_GRAY, .data = (const unsigned char *)bytes, .length = length};
    sk_tiff_pages pages;
    assert_ok(sk_tiff_list(path, task.data, length, &pages, &err), &err);
    for (int known = 0; known < 2; known++) {
        static const uint8_t wanted[2][4] = {{0, 64, 128, 255}, {10, 20, 30, 50}};
        sk_tiff_range range = {.known = known, .low = -2, .scale = 10};
        sk_slot slot = {0};
        assert_ok(sk_picture_decode_tiff(&task, pages.offsets[0], pages.offsets[0], &range, &slot, &err),
                  &err);
        assert_memory_equal(slot.frame.data, wanted[known], 4);
        assert_true(range.known && range.low == (known ? -2 : -1));
        sk_slot_free(&slot);
    }
    sk_tiff_pages_free(&pages);
    sk_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_and_strips_that_just_fit), cmocka_unit_test(samples_of_a_pixel),
        cmocka_unit_test(lists_of_no_tiff), cmocka_unit_test(a_range_that_is_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
