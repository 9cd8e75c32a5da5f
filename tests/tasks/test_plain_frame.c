/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/plain_frame.h"

#include "base/frame.h"
#include "base/memory.h"
#include "support/frame_formats.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static const sk_pixel_format formats[] = {SK_PIXEL_RGB,  SK_PIXEL_BGR,    SK_PIXEL_GRAY,
                                          SK_PIXEL_RGBA, SK_PIXEL_BGRA,   SK_PIXEL_NV12,
                                          SK_PIXEL_I420, SK_PIXEL_GRAY16, SK_PIXEL_YUYV};
enum { FORMATS = sizeof formats / sizeof *formats };

static void assert_same_pixels(const sk_frame *a, const sk_frame *b)
{
    assert_true(a->format == b->format && a->width == b->width && a->height == b->height);
    for (int32_t y = 0; y < a->height; y++)
        assert_memory_equal(a->data + a->stride * y, b->data + b->stride * y,
                            sk_frame_row_bytes(a->format, a->width));
}

/* Every width around the steps of the vectors, gaps between rows, all matrices and both ranges. */
static void formats_become_plain(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_plain_frame plain = {0};
    for (int f = 0; f < FORMATS; f++)
        for (int32_t width = 1; width <= 70; width++) {
            if (formats[f] == SK_PIXEL_YUYV && width % 2)
                continue;
            any_frame any = any_frame_make(formats[f], width, 1 + width % 5, (uint32_t)(1000 * f + width));
            const sk_frame *got = NULL;
            assert_ok(sk_frame_check(&any.frame, &err), &err);
            assert_ok(sk_plain_frame_take(&plain, &any.frame, &got, &err), &err);
            assert_true((got == &any.frame) == (any.plain.format == formats[f]));
            assert_same_pixels(got, &any.plain);
            any_frame_free(&any);
        }
    sk_plain_frame_free(&plain);
}

/* A row is written whole and no byte behind it. */
static void rows_end_where_they_end(void **state)
{
    (void)state;
    for (int f = 0; f < FORMATS; f++)
        for (int32_t width = 2; width <= 40; width += 2) {
            any_frame any = any_frame_make(formats[f], width, 2, 7);
            const size_t bytes = sk_frame_row_bytes(any.plain.format, width);
            const sk_nv12_weights w = sk_nv12_weights_of(any.frame.matrix, any.frame.full_range);
            uint8_t *row = malloc(bytes + 8);
            memset(row, 0xA5, bytes + 8);
            sk_plain_row(&any.frame, &w, 1, row);
            assert_memory_equal(row, any.plain.data + any.plain.stride, bytes);
            for (int k = 0; k < 8; k++)
                assert_int_equal(row[bytes + (size_t)k], 0xA5);
            free(row);
            any_frame_free(&any);
        }
}

static void copies_are_the_same_picture(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int f = 0; f < FORMATS; f++)
        for (int32_t width = 4; width <= 9; width++) {
            if (formats[f] == SK_PIXEL_YUYV && width % 2)
                continue;
            any_frame any = any_frame_make(formats[f], width, 5, (uint32_t)width);
            const size_t bytes = sk_frame_copy_bytes(&any.frame);
            uint8_t *memory = malloc(bytes); /* no more than that: sanitizers look */
            sk_frame copy;
            sk_plain_frame plain = {0};
            const sk_frame *got = NULL;
            sk_frame_copy(&any.frame, memory, &copy);
            assert_ok(sk_frame_check(&copy, &err), &err);
            assert_ok(sk_plain_frame_take(&plain, &copy, &got, &err), &err);
            assert_same_pixels(got, &any.plain);
            sk_plain_frame_free(&plain);
            free(memory);
            any_frame_free(&any);
        }
}

static void memory_is_taken_once(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_plain_frame plain = {0};
    const sk_frame *got = NULL;
    any_frame any = any_frame_make(SK_PIXEL_YUYV, 64, 48, 3);
    assert_ok(sk_plain_frame_take(&plain, &any.frame, &got, &err), &err);
    const uint64_t before = sk_memory_allocations();
    for (int i = 0; i < 5; i++)
        assert_ok(sk_plain_frame_take(&plain, &any.frame, &got, &err), &err);
    assert_int_equal(sk_memory_allocations(), before);
    any_frame_free(&any);
    sk_plain_frame_free(&plain);
}

static void assert_refused(const sk_frame *frame, const char *word)
{
    sk_error err = {0};
    assert_int_equal(sk_frame_check(frame, &err), SK_ERR_ARG);
    if (!strstr(err.message, word))
        fail_msg("'%s' does not say '%s'", err.message, word);
}

static void what_is_no_frame_is_told(void **state)
{
    (void)state;
    any_frame any = any_frame_make(SK_PIXEL_NV12, 7, 4, 1);
    sk_frame f = any.frame;
    f.chroma_stride = 7; /* three pairs and a half */
    assert_refused(&f, "rows of chroma");
    f = any.frame;
    f.format = SK_PIXEL_NONE;
    assert_refused(&f, "pixel format");
    f.format = (sk_pixel_format)99;
    assert_refused(&f, "99");
    f.format = SK_PIXEL_YUYV;
    f.stride = 99;
    assert_refused(&f, "even width");
    f.width = 6;
    f.stride = 11;
    assert_refused(&f, "11 bytes from row to row");
    f.format = SK_PIXEL_I420;
    assert_refused(&f, "I420 needs chroma, chroma_v and chroma_stride");
    f.format = SK_PIXEL_RGBA;
    f.stride = 24;
    f.place = SK_PLACE_CUDA;
    assert_refused(&f, "GPU");
    f.place = SK_PLACE_HOST;
    f.width = 0;
    assert_refused(&f, "0x4");
    any_frame_free(&any);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_become_plain),        cmocka_unit_test(rows_end_where_they_end),
        cmocka_unit_test(copies_are_the_same_picture), cmocka_unit_test(memory_is_taken_once),
        cmocka_unit_test(what_is_no_frame_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
