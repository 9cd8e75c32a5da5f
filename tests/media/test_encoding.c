/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "media/encoding.h"

#include <string.h>

/* Images of messages: every encoding gives the pixels it says, and sizes that lie are refused. */

static sk_slot slot;

static sk_status frame_of(const char *encoding, int32_t w, int32_t h, uint32_t step, const void *data,
                          size_t length, bool big, sk_frame *out, sk_error *err)
{
    const sk_encoded_image image = {.width = w,
                                    .height = h,
                                    .encoding = encoding,
                                    .big_endian = big,
                                    .step = step,
                                    .data = data,
                                    .length = length};
    *out = (sk_frame)SK_FRAME_INIT;
    return sk_encoded_frame(&image, &slot, out, err);
}

static void layouts_of_ours_stay_where_they_are(void **state)
{
    static const struct {
        const char *name;
        sk_pixel_format format;
        size_t pixel;
    } rows[] = {{"mono8", SK_PIXEL_GRAY, 1},   {"rgb8", SK_PIXEL_RGB, 3},   {"bgr8", SK_PIXEL_BGR, 3},
                {"rgba8", SK_PIXEL_RGBA, 4},   {"bgra8", SK_PIXEL_BGRA, 4}, {"8UC1", SK_PIXEL_GRAY, 1},
                {"8UC3", SK_PIXEL_BGR, 3},     {"8UC4", SK_PIXEL_BGRA, 4},  {"yuv422_yuy2", SK_PIXEL_YUYV, 2},
                {"mono16", SK_PIXEL_GRAY16, 2}};
    uint8_t bytes[4 * 4 * 3] = {0};
    sk_error err = {0};
    sk_frame f;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_ok(frame_of(rows[i].name, 4, 3, 0, bytes, 12 * rows[i].pixel, false, &f, &err), &err);
        assert_int_equal(f.format, rows[i].format);
        assert_ptr_equal(f.data, bytes);
        assert_int_equal(f.stride, 4 * rows[i].pixel);
    }
    assert_ok(frame_of("nv12", 4, 2, 0, bytes, 12, false, &f, &err), &err);
    assert_int_equal(f.format, SK_PIXEL_NV12);
}

static void others_are_rearranged(void **state)
{
    const uint8_t uyvy[] = {1, 2, 3, 4}, wide[] = {0xAB, 0x01, 0xCD, 0x02}, nv21[] = {1, 2, 3, 4, 9, 8};
    const uint8_t rgb16[] = {1, 10, 2, 20, 3, 30};
    sk_error err = {0};
    sk_frame f;
    (void)state;
    assert_ok(frame_of("yuv422", 2, 1, 0, uyvy, 4, false, &f, &err), &err);
    assert_int_equal(f.format, SK_PIXEL_YUYV);
    assert_memory_equal(f.data, ((uint8_t[]){2, 1, 4, 3}), 4);
    assert_ok(frame_of("mono16", 2, 1, 0, wide, 4, true, &f, &err), &err);
    assert_int_equal(((uint16_t *)(void *)f.data)[0], 0xAB01);
    assert_ok(frame_of("nv21", 2, 2, 0, nv21, 6, false, &f, &err), &err);
    assert_memory_equal(f.data + 2 * f.stride, ((uint8_t[]){8, 9}), 2);
    /* of an odd width every pair of the chroma's row is there, too */
    const uint8_t odd[] = {1, 2, 3, 0, 4, 5, 6, 0, 9, 8, 7, 6};
    assert_ok(frame_of("nv21", 3, 2, 4, odd, 12, false, &f, &err), &err);
    assert_memory_equal(f.data + f.stride, ((uint8_t[]){4, 5, 6}), 3);
    assert_memory_equal(f.data + 2 * f.stride, ((uint8_t[]){8, 9, 6, 7}), 4);
    assert_ok(frame_of("rgb16", 1, 1, 0, rgb16, 6, false, &f, &err), &err);
    assert_memory_equal(f.data, ((uint8_t[]){10, 20, 30}), 3);
    assert_ok(frame_of("rgb16", 1, 1, 0, rgb16, 6, true, &f, &err), &err);
    assert_memory_equal(f.data, ((uint8_t[]){1, 2, 3}), 3);
}

/* A mosaic of one colour is a picture of that colour, whichever corner it begins with. */
static void bayer_keeps_flat_colours(void **state)
{
    static const struct {
        const char *name;
        const char *first;
    } rows[] = {
        {"bayer_rggb8", "rggb"}, {"bayer_bggr8", "bggr"}, {"bayer_gbrg8", "gbrg"}, {"bayer_grbg8", "grbg"}};
    sk_error err = {0};
    sk_frame f;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint8_t mosaic[5 * 4];
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++) {
                const char c = rows[i].first[(y & 1) * 2 + (x & 1)];
                mosaic[5 * y + x] = c == 'r' ? 200 : c == 'g' ? 100 : 50;
            }
        assert_ok(frame_of(rows[i].name, 5, 4, 0, mosaic, sizeof mosaic, false, &f, &err), &err);
        assert_int_equal(f.format, SK_PIXEL_RGB);
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 5; x++)
                assert_memory_equal(f.data + y * f.stride + 3 * x, ((uint8_t[]){200, 100, 50}), 3);
    }
}

static void bayer_takes_the_mean_of_neighbours(void **state)
{
    const uint8_t mosaic[] = {0, 10, 0, 20, 99, 30, 0, 40, 0}; /* the middle is blue */
    sk_error err = {0};
    sk_frame f;
    (void)state;
    assert_ok(frame_of("bayer_rggb8", 3, 3, 0, mosaic, 9, false, &f, &err), &err);
    const uint8_t *middle = f.data + f.stride + 3; /* its four neighbours are green, the corners red */
    assert_memory_equal(middle, ((uint8_t[]){0, 25, 99}), 3);
}

static void sizes_that_lie_are_refused(void **state)
{
    uint8_t bytes[64] = {0};
    sk_error err = {0};
    sk_frame f;
    (void)state;
    assert_int_equal(frame_of("rgb8", 4, 4, 0, bytes, 47, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("rgb8", 4, 4, 11, bytes, 64, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("rgb8", 4, 2, UINT32_MAX, bytes, 64, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("rgb8", 0, 4, 0, bytes, 64, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("mono8", 65536, 1, 0, bytes, 64, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("nv12", 4, 4, 0, bytes, 23, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("yuyv", 3, 1, 0, bytes, 64, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("bayer_rggb8", 1, 8, 0, bytes, 64, false, &f, &err), SK_ERR_FORMAT);
    assert_int_equal(frame_of("rgb9", 1, 1, 0, bytes, 64, false, &f, &err), SK_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "bayer_"));
    assert_ok(frame_of("rgb8", 4, 4, 16, bytes, 60, false, &f, &err), &err); /* the last row ends early */
}

/* The smallest and the largest, and the messages that tell what is wrong. */
static void sizes_at_their_ends(void **state)
{
    static uint8_t bytes[4 * 65536];
    static const struct {
        const char *name;
        int32_t w, h;
        size_t length;
        const char *problem; /* null: it is read */
    } cases[] = {
        {"mono8", 1, 1, 1, NULL},
        {"mono8", 65535, 1, 65535, NULL},
        {"mono8", 1, 65535, 65535, NULL},
        {"mono8", 65536, 1, 65536, "an image of 65536 x 1 pixels with 65536 bytes"},
        {"mono8", 1, 65536, 65536, "an image of 1 x 65536 pixels with 65536 bytes"},
        {"mono8", 0, 1, 9, "an image of 0 x 1 pixels with 9 bytes"},
        {"mono8", 1, 0, 9, "an image of 1 x 0 pixels with 9 bytes"},
        {"mono8", -1, -1, 9, "an image of -1 x -1 pixels with 9 bytes"},
        {"bayer_rggb8", 2, 2, 4, NULL},
        {"bayer_rggb8", 1, 2, 4, "an image of 1 x 2 pixels cannot be 'bayer_rggb8'"},
        {"bayer_rggb8", 2, 1, 4, "an image of 2 x 1 pixels cannot be 'bayer_rggb8'"},
        {"yuyv", 2, 1, 4, NULL},
        {"yuyv", 1, 1, 4, "an image of 1 x 1 pixels cannot be 'yuyv'"},
        {"uyvy", 3, 1, 9, "an image of 3 x 1 pixels cannot be 'uyvy'"},
        {"nv12", 3, 3, 20, NULL}, /* rows of 4, three and two of them */
        {"nv12", 3, 3, 19, "an image of 3 x 3 pixels, 'nv12', with rows of 4 bytes has 19 bytes: too few"},
        {"nv21", 2, 2, 6, NULL},
        {"nv21", 2, 2, 5, "an image of 2 x 2 pixels, 'nv21', with rows of 2 bytes has 5 bytes: too few"},
        {"rgb8", 2, 1, 5, "an image of 2 x 1 pixels, 'rgb8', with rows of 6 bytes has 5 bytes: too few"}};
    sk_frame f;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        const sk_status status =
            frame_of(cases[i].name, cases[i].w, cases[i].h, 0, bytes, cases[i].length, false, &f, &err);
        assert_int_equal(status, cases[i].problem ? SK_ERR_FORMAT : SK_OK);
        assert_string_equal(err.message, cases[i].problem ? cases[i].problem : "");
        assert_true(cases[i].problem || (f.width == cases[i].w && f.height == cases[i].h));
    }
    sk_error err = {0};
    assert_int_equal(frame_of("mono8", 1, 1, 0, NULL, 9, false, &f, &err), SK_ERR_FORMAT);
    assert_ok(frame_of("nv12", 3, 2, 0, bytes, 12, false, &f, &err), &err);
    assert_int_equal(f.stride, 4);
    assert_null(f.chroma);
}

/* Rows that an image has not got are neither read nor written. */
static void no_row_more(void **state)
{
    static const struct {
        const char *name;
        int32_t rows, row; /* of two rows of four pixels: rows and bytes that are written */
    } cases[] = {{"nv21", 3, 4}, {"uyvy", 2, 8}, {"rgb16", 2, 12}, {"bayer_rggb8", 2, 12}, {"mono16", 2, 8}};
    static uint8_t bytes[4 * 6 * 4];
    sk_error err = {0};
    sk_frame f;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i + 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_slot_prepare(&slot, SK_PIXEL_RGB, 64, 64, &err), &err);
        memset(slot.memory, 0xEE, slot.capacity);
        assert_ok(frame_of(cases[i].name, 4, 2, 24, bytes, sizeof bytes, true, &f, &err), &err);
        assert_ptr_equal(f.data, slot.memory);
        for (ptrdiff_t at = 0; at < 4 * f.stride; at++)
            if ((slot.memory[at] != 0xEE) != (at / f.stride < cases[i].rows && at % f.stride < cases[i].row))
                fail_msg("%s: byte %d of row %d", cases[i].name, (int)(at % f.stride), (int)(at / f.stride));
    }
}

static int end(void **state)
{
    (void)state;
    sk_slot_free(&slot);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_of_ours_stay_where_they_are),
        cmocka_unit_test(others_are_rearranged),
        cmocka_unit_test(bayer_keeps_flat_colours),
        cmocka_unit_test(bayer_takes_the_mean_of_neighbours),
        cmocka_unit_test(sizes_that_lie_are_refused),
        cmocka_unit_test(sizes_at_their_ends),
        cmocka_unit_test(no_row_more),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
