/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "media/encoding.h"
#include "support/known.h"

#include <string.h>

/* Every encoding of a message's image: in rows with gaps and in both byte orders its pixels are known; a byte too short is refused. */

static void every_encoding_has_its_size_and_pixels(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t pixel; /* bytes; 0: 12 bits */
        sk_pixel_format format;
        uint64_t hash;
    } cases[] = {{"mono8", 1, SK_PIXEL_GRAY, 0x0aa62ff1b44efc17},
                 {"mono16", 2, SK_PIXEL_GRAY16, 0x2eae1057af26a795},
                 {"16UC1", 2, SK_PIXEL_GRAY16, 0x2eae1057af26a795},
                 {"rgb8", 3, SK_PIXEL_RGB, 0x132665c1542d71b7},
                 {"8UC3", 3, SK_PIXEL_BGR, 0x132665c1542d71b7},
                 {"rgba8", 4, SK_PIXEL_RGBA, 0x3323aba0ed20142d},
                 {"8UC4", 4, SK_PIXEL_BGRA, 0x3323aba0ed20142d},
                 {"rgb16", 6, SK_PIXEL_RGB, 0x234bf65817b41bb9},
                 {"bgr16", 6, SK_PIXEL_BGR, 0x234bf65817b41bb9},
                 {"yuyv", 2, SK_PIXEL_YUYV, 0xc684e7efc5ad4271},
                 {"uyvy", 2, SK_PIXEL_YUYV, 0x2bec03dd4b100b8a},
                 {"yuv422", 2, SK_PIXEL_YUYV, 0x2bec03dd4b100b8a},
                 {"bayer_rggb8", 1, SK_PIXEL_RGB, 0xe8b5fe4bfb233ee0},
                 {"bayer_bggr8", 1, SK_PIXEL_RGB, 0x8de35e505c3ff0f8},
                 {"bayer_gbrg8", 1, SK_PIXEL_RGB, 0x45d21ad48cda0372},
                 {"bayer_grbg8", 1, SK_PIXEL_RGB, 0x467bec0c5cd028fc},
                 {"bayer_rggb16", 2, SK_PIXEL_RGB, 0xe73374bcd86f7620},
                 {"bayer_bggr16", 2, SK_PIXEL_RGB, 0xf84d2e8ad5bb29ef},
                 {"bayer_gbrg16", 2, SK_PIXEL_RGB, 0x30259df4516d0892},
                 {"bayer_grbg16", 2, SK_PIXEL_RGB, 0x25d27ba68e09f606},
                 {"nv12", 0, SK_PIXEL_NV12, 0x4cc9628abbd46115},
                 {"nv21", 0, SK_PIXEL_NV12, 0x54dc7e3001370ec0}};
    enum { W = 6, H = 4 };
    static uint8_t bytes[6 * 16 * 8];
    bool same = true;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 73 + i / 7);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t pixels[4096];
        size_t used = 0;
        for (int form = 0; form < 4; form++) { /* gaps, the other byte order */
            const size_t row = W * (cases[i].pixel ? cases[i].pixel : 1), step = form & 1 ? row + 4 : row;
            const size_t length = step * (cases[i].pixel ? H : H * 3 / 2);
            sk_encoded_image image = {.width = W,
                                      .height = H,
                                      .encoding = cases[i].name,
                                      .big_endian = form & 2,
                                      .step = form & 1 ? (uint32_t)step : 0,
                                      .data = bytes,
                                      .length = length};
            sk_slot slot = {0};
            sk_frame f = SK_FRAME_INIT;
            sk_error err = {0};
            if (sk_encoded_frame(&image, &slot, &f, &err) != SK_OK)
                fail_msg("%s: %s", cases[i].name, err.message);
            assert_int_equal(f.format, cases[i].format);
            assert_true(f.width == W && f.height == H);
            const size_t out = W * (f.format == SK_PIXEL_GRAY || f.format == SK_PIXEL_NV12     ? 1u
                                    : f.format == SK_PIXEL_GRAY16 || f.format == SK_PIXEL_YUYV ? 2u
                                    : f.format == SK_PIXEL_RGBA || f.format == SK_PIXEL_BGRA   ? 4u
                                                                                               : 3u);
            for (int y = 0; y < (f.format == SK_PIXEL_NV12 ? H * 3 / 2 : H); y++, used += out)
                memcpy(pixels + used, f.data + f.stride * y, out);
            sk_slot_free(&slot);
            image.length =
                length - (form & 1 ? 5 : 1); /* the last row's gap may be missing, a pixel may not */
            assert_int_equal(sk_encoded_frame(&image, &slot, &f, &err), SK_ERR_FORMAT);
            sk_slot_free(&slot);
            image.length = length, image.step = (uint32_t)row - 1;
            assert_int_equal(sk_encoded_frame(&image, &slot, &f, &err), SK_ERR_FORMAT);
            sk_slot_free(&slot);
        }
        same = test_known(cases[i].name, pixels, used, cases[i].hash) && same;
    }
    assert_true(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_encoding_has_its_size_and_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
