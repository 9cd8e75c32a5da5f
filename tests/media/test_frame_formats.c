/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "base/memory.h"
#include "media/cutout.h"
#include "media/draw.h"
#include "media/video_sink.h"
#include "support/frame_formats.h"
#include "support/test.h"
#include "tasks/plain_frame.h"

#include <string.h>

/* Frames as people have them, drawn on, cut out and written: the same as with the plain picture. */

static void assert_same_plain(const sk_frame *frame, const sk_frame *expected)
{
    sk_error err = {0};
    sk_plain_frame plain = {0};
    const sk_frame *got = NULL;
    assert_ok(sk_plain_frame_take(&plain, frame, &got, &err), &err);
    assert_true(got->format == expected->format && got->width == expected->width);
    for (int32_t y = 0; y < got->height; y++)
        assert_memory_equal(got->data + got->stride * y, expected->data + expected->stride * y,
                            sk_frame_row_bytes(got->format, got->width));
    sk_plain_frame_free(&plain);
}

static void drawing_and_cutting(void **state)
{
    (void)state;
    static const sk_pixel_format formats[] = {SK_PIXEL_RGBA, SK_PIXEL_BGRA};
    const double box[4] = {20, 10, 40, 30};
    for (int f = 0; f < 2; f++) {
        any_frame any = any_frame_make(formats[f], 64, 48, 5);
        uint8_t fourth = any.frame.data[3];
        sk_draw_line(&any.frame, 3, 4, 60, 40, 3, 0x20a0f0);
        sk_draw_text(&any.frame, 5, 30, 1, 0xffffff, "fly");
        sk_draw_line(&any.plain, 3, 4, 60, 40, 3, 0x20a0f0);
        sk_draw_text(&any.plain, 5, 30, 1, 0xffffff, "fly");
        assert_same_plain(&any.frame, &any.plain);
        assert_int_equal(any.frame.data[3], fourth);
        sk_frame a, b;
        assert_true(sk_cutout_box(&any.frame, box, &a) && sk_cutout_box(&any.plain, box, &b));
        assert_same_plain(&a, &b);
        any_frame_free(&any);
    }
    any_frame grey = any_frame_make(SK_PIXEL_GRAY, 64, 48, 5);
    sk_draw_fill(&grey.frame, 10, 10, 8, 8, 0xffffff, 1);
    sk_draw_fill(&grey.frame, 30, 10, 8, 8, 0xff0000, 1);
    assert_int_equal(grey.frame.data[grey.frame.stride * 12 + 12], 255);
    assert_int_equal(grey.frame.data[grey.frame.stride * 12 + 32], 76);
    any_frame_free(&grey);
}

static void pictures_of_every_format(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int f = SK_PIXEL_RGB; f <= SK_PIXEL_YUYV; f++) {
        any_frame any = any_frame_make((sk_pixel_format)f, 64, 48, (uint32_t)f);
        uint8_t *a = NULL, *b = NULL;
        size_t a_bytes = 0, b_bytes = 0;
        assert_ok(sk_picture_jpeg(&any.frame, 90, &a, &a_bytes, &err), &err);
        assert_ok(sk_picture_jpeg(&any.plain, 90, &b, &b_bytes, &err), &err);
        assert_int_equal(a_bytes, b_bytes);
        assert_memory_equal(a, b, a_bytes);
        sk_free(a);
        sk_free(b);
        any_frame_free(&any);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drawing_and_cutting),
                                       cmocka_unit_test(pictures_of_every_format)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
