/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "media/picture.h"
#include "media/shrink.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <tiffio.h>

/* How large a picture may say that it is, for a file of its length; small copies by their definition. */

static void sizes_end_where_they_should(void **state)
{
    (void)state;
    const int64_t sure = SK_PICTURE_SURE, per = SK_PICTURE_PER_BYTE, most = SK_PICTURE_MOST;
    const struct {
        int64_t max_pixels;
        size_t length;
        int64_t most;
    } limits[] = {{0, 0, sure},
                  {0, (size_t)(sure / per), sure / per * per < sure ? sure : sure / per * per},
                  {0, (size_t)(sure / per) + 2, (sure / per + 2) * per},
                  {0, (size_t)(most / per), most},
                  {0, (size_t)(most / per) - 1, (most / per - 1) * per},
                  {0, SIZE_MAX, most},
                  {5, SIZE_MAX, 5},
                  {most + 7, 0, most + 7}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const sk_picture_task task = {
            .path = "a", .max_pixels = limits[i].max_pixels, .length = limits[i].length};
        if (sk_picture_most(&task) != limits[i].most)
            fail_msg("limit %zu: %lld", i, (long long)sk_picture_most(&task));
    }
    static const struct {
        int64_t max_pixels, width, height;
        bool fine;
    } sizes[] = {{100, 10, 10, true},        {100, 101, 1, false},      {100, 1, 100, true},
                 {100, 25, 5, false},        {0, 0, 5, false},          {0, 5, 0, false},
                 {0, -1, 5, false},          {0, 5, -1, false},         {1 << 30, 65535, 1, true},
                 {1 << 30, 65536, 1, false}, {1 << 30, 1, 65535, true}, {1 << 30, 1, 65536, false},
                 {1 << 30, 1, 1, true}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const sk_picture_task task = {.path = "a", .max_pixels = sizes[i].max_pixels, .length = 1000};
        sk_error err = {0};
        if (sk_picture_check_size(&task, sizes[i].width, sizes[i].height, &err) !=
            (sizes[i].fine ? SK_OK : SK_ERR_LIMIT))
            fail_msg("%lld x %lld", (long long)sizes[i].width, (long long)sizes[i].height);
    }
}

/* So many pixels a byte at most, and 64 bytes for nothing. */
static void packing_has_its_ends(void **state)
{
    (void)state;
    static const struct {
        size_t length;
        double most;
        int64_t width, height;
        bool fine;
    } cases[] = {{36, 1, 10, 10, true}, {36, 1, 101, 1, false}, {35, 1, 10, 10, false}, {0, 2, 64, 2, true},
                 {0, 2, 129, 1, false}, {0, 0.5, 32, 1, true},  {0, 0.5, 33, 1, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_picture_task task = {.path = "a", .length = cases[i].length};
        sk_error err = {0};
        if (sk_picture_check_packing(&task, cases[i].width, cases[i].height, cases[i].most, &err) !=
            (cases[i].fine ? SK_OK : SK_ERR_FORMAT))
            fail_msg("case %zu", i);
    }
}

/* Fax pages of nothing but paper pack better than any rule for packing knows. */
static void empty_pages_pack_without_end(void **state)
{
    (void)state;
    enum { SIDE = 2000 };
    char path[600];
    static uint8_t row[SIDE / 8];
    sk_error err = {0};
    sk_slot slot = {0};
    snprintf(path, sizeof path, "%s/fax.tif", test_folder());
    TIFF *t = TIFFOpen(path, "w");
    assert_non_null(t);
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, SIDE);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, SIDE);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 1);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, SIDE);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
    TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
    for (uint32_t y = 0; y < SIDE; y++)
        assert_int_equal(TIFFWriteScanline(t, row, y, 0), 1);
    TIFFClose(t);
    assert_ok(sk_picture_decode(path, SK_PIXEL_GRAY, 0, &slot, &err), &err);
    assert_true(slot.frame.width == SIDE && slot.frame.height == SIDE);
    assert_true(slot.frame.data[0] == 255 &&
                slot.frame.data[slot.frame.stride * (SIDE - 1) + SIDE - 1] == 255);
    sk_slot_free(&slot);
}

/* Each pixel is the mean of those it stands for, at least one; a copy of the same size is the part itself. */
static void small_copies_are_means(void **state)
{
    (void)state;
    enum { W = 23, H = 17 };
    static uint8_t pixels[H * (3 * W + 5)];
    static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
    static const int parts[][6] = {{0, 0, W, H, 7, 5},   {3, 2, 20, 15, 17, 13}, {0, 0, W, H, W, H},
                                   {5, 4, 8, 6, 9, 8},   {22, 16, 23, 17, 1, 1}, {1, 1, 22, 2, 4, 1},
                                   {2, 3, 14, 9, 12, 3}, {2, 3, 14, 9, 6, 6}};
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * 37 + i / 11);
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const int *p = parts[i], width = p[4], height = p[5], bytes = k == 2 ? 1 : 3;
            sk_frame f = SK_FRAME_INIT, out;
            sk_error err = {0};
            f.format = formats[k], f.width = W, f.height = H, f.stride = 3 * W + 5, f.data = pixels;
            assert_ok(sk_frame_shrink(&f, p, width, height, &out, &err), &err);
            assert_true(out.format == SK_PIXEL_RGB && out.width == width && out.height == height &&
                        out.stride == 3 * (ptrdiff_t)width);
            for (int y = 0; y < height; y++)
                for (int x = 0; x < width; x++)
                    for (int c = 0; c < 3; c++) {
                        int sum = 0, n = 0;
                        for (int v = p[1]; v < p[3]; v++)
                            for (int u = p[0]; u < p[2]; u++) {
                                const int w = p[2] - p[0], h = p[3] - p[1], x0 = x * w / width,
                                          y0 = y * h / height, x1 = (x + 1) * w / width,
                                          y1 = (y + 1) * h / height;
                                if (u - p[0] < x0 || v - p[1] < y0 || u - p[0] >= (x1 > x0 ? x1 : x0 + 1) ||
                                    v - p[1] >= (y1 > y0 ? y1 : y0 + 1))
                                    continue;
                                sum += pixels[v * (int)f.stride + bytes * u +
                                              (k == 2   ? 0
                                               : k == 1 ? 2 - c
                                                        : c)];
                                n++;
                            }
                        if (out.data[out.stride * y + 3 * x + c] != sum / n)
                            fail_msg("format %d, part %zu at %d, %d", k, i, x, y);
                    }
            sk_free(out.data);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_end_where_they_should),
        cmocka_unit_test(packing_has_its_ends),
        cmocka_unit_test(empty_pages_pack_without_end),
        cmocka_unit_test(small_copies_are_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
