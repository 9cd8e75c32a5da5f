/* SPDX-License-Identifier: Apache-2.0 */
/* Colours of still pictures in every format they are asked for; large strips of a small file. */
#include "support/test.h"

#include "media/reader.h"
#include "media/video_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

/* Grey is 0.299 red, 0.587 green and 0.114 blue, in files of every kind. */
static void greys_of_colours(void **state)
{
    (void)state;
    static const uint8_t colours[][3] = {{255, 0, 0},     {0, 255, 0},    {0, 0, 255},
                                         {255, 255, 255}, {200, 100, 50}, {13, 130, 240}};
    static const char *const names[] = {"c.png", "c.jpg"};
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        for (int n = 0; n < 2; n++) {
            char path[600];
            uint8_t pixels[16 * 16 * 3];
            sk_error err = {0};
            sk_frame f = SK_FRAME_INIT;
            for (int k = 0; k < 256 * 3; k++)
                pixels[k] = colours[i][k % 3];
            f.format = SK_PIXEL_RGB, f.width = f.height = 16, f.stride = 48, f.data = pixels;
            snprintf(path, sizeof path, "%s/%s", test_folder(), names[n]);
            /* a PNG without a chunk about gamma, which libpng would take into account */
            assert_ok(n ? sk_picture_write(path, &f, &err) : sk_picture_write_drawing(path, &f, &err), &err);
            for (int format = SK_PIXEL_RGB; format <= SK_PIXEL_GRAY; format++) {
                sk_slot slot = {0};
                assert_ok(sk_picture_decode(path, (sk_pixel_format)format, 0, &slot, &err), &err);
                const uint8_t *c = colours[i], *p = slot.frame.data + 8 * slot.frame.stride;
                const double grey = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
                for (int k = 0; k < 16 * sk_pixel_bytes((sk_pixel_format)format); k++) {
                    const double wanted =
                        format == SK_PIXEL_GRAY ? grey : c[format == SK_PIXEL_BGR ? 2 - k % 3 : k % 3];
                    if (abs(p[k] - (int)wanted) > (n ? 3 : 1))
                        fail_msg("%s, colour %zu, format %d: %d instead of %g", names[n], i, format, p[k],
                                 wanted);
                }
                sk_slot_free(&slot);
            }
        }
}

/* A strip may be far larger than its file, as long as the picture is not too large: it is packed. */
static void large_strips_of_small_files(void **state)
{
    (void)state;
    enum { W = 1000, H = 1200 };
    static uint16_t row[W * 3];
    char path[600];
    sk_error err = {0};
    sk_slot slot = {0};
    snprintf(path, sizeof path, "%s/packed.tif", test_folder());
    for (int bits = 8; bits <= 16; bits += 8) {
        TIFF *t = TIFFOpen(path, "w");
        assert_non_null(t);
        TIFFSetField(t, TIFFTAG_IMAGEWIDTH, W);
        TIFFSetField(t, TIFFTAG_IMAGELENGTH, H);
        TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
        TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 3);
        TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, H);
        TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
        TIFFSetField(t, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
        memset(row, 0x21, sizeof row);
        for (uint32_t y = 0; y < H; y++)
            assert_int_equal(TIFFWriteScanline(t, row, y, 0), 1);
        TIFFClose(t);
        assert_ok(sk_picture_decode(path, SK_PIXEL_RGB, (int64_t)W * H, &slot, &err), &err);
        assert_int_equal(slot.frame.data[(H - 1) * slot.frame.stride + W * 3 - 1], 0x21);
        assert_int_equal(sk_picture_decode(path, SK_PIXEL_RGB, (int64_t)W * H - 1, &slot, &err),
                         SK_ERR_LIMIT);
    }
    sk_slot_free(&slot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(greys_of_colours),
                                       cmocka_unit_test(large_strips_of_small_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
