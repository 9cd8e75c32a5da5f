/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "media/cutout.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH  64
#define HEIGHT 48

static uint8_t pixels[HEIGHT][WIDTH][3];

/* Red tells x, green y. */
static sk_frame picture(void)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            pixels[y][x][0] = (uint8_t)(4 * x), pixels[y][x][1] = (uint8_t)(4 * y), pixels[y][x][2] = 200;
    return (sk_frame){.format = SK_PIXEL_RGB,
                      .width = WIDTH,
                      .height = HEIGHT,
                      .stride = sizeof pixels[0],
                      .data = &pixels[0][0][0]};
}

static const uint8_t *at(const sk_frame *f, int x, int y)
{
    return f->data + y * f->stride + (ptrdiff_t)x * 3;
}

/* What Ultralytics' save_one_box cuts: 1.02 times and 10 pixels larger, cut to whole pixels, clipped. */
static void boxes_get_a_margin_and_are_clipped(void **state)
{
    (void)state;
    sk_frame frame = picture(), crop;
    assert_true(sk_cutout_box(&frame, (double[]){20, 15, 30, 25}, &crop)); /* 20.2 wide: 14.9 to 35.1 */
    assert_int_equal(crop.width, 35 - 14);
    assert_int_equal(crop.height, 30 - 9);
    assert_int_equal(at(&crop, 0, 0)[0], 4 * 14);
    assert_int_equal(at(&crop, 0, 0)[1], 4 * 9);
    assert_true(sk_cutout_box(&frame, (double[]){-50, -50, 200, 200}, &crop));
    assert_true(crop.width == WIDTH && crop.height == HEIGHT && crop.data == frame.data);
    /* 20.2 wide again: from 1.9 and 2.9, and back from the last but one */
    assert_true(sk_cutout_box(&frame, (double[]){7, 8, 17, 18}, &crop));
    assert_ptr_equal(crop.data, at(&frame, 1, 2));
    assert_true(sk_cutout_box(&frame, (double[]){WIDTH - 16, HEIGHT - 17, WIDTH - 6, HEIGHT - 7}, &crop));
    assert_int_equal(crop.data - frame.data + (crop.width - 1) * 3 + (crop.height - 1) * frame.stride,
                     at(&frame, WIDTH - 2, HEIGHT - 3) - frame.data);
    /* turned inside out by less than the margin: 0.31 pixels are left, from 29.85 to 30.15 */
    assert_true(sk_cutout_box(&frame, (double[]){20, 24.75, 40, 15.25}, &crop));
    assert_int_equal(crop.height, 1);
    assert_ptr_equal(crop.data, at(&frame, 14, 19));
    assert_true(sk_cutout_box(&frame, (double[]){34.75, 10, 25.25, 20}, &crop));
    assert_int_equal(crop.width, 1);
    assert_ptr_equal(crop.data, at(&frame, 29, 4));
    assert_false(sk_cutout_box(&frame, (double[]){20, 25, 40, 15}, &crop));
    assert_false(sk_cutout_box(&frame, (double[]){100, 100, 110, 110}, &crop));
    static const double beside[][4] = {
        {-40, 10, -20, 20}, {90, 10, 99, 20}, {10, -40, 20, -20}, {10, 90, 20, 99}};
    for (int side = 0; side < 4; side++)
        assert_false(sk_cutout_box(&frame, beside[side], &crop));
    assert_false(sk_cutout_box(&frame, (double[]){NAN, 1, 2, 3}, &crop));
    assert_false(sk_cutout_box(&frame, (double[]){1, NAN, 2, 3}, &crop));
    assert_false(sk_cutout_box(&frame, (double[]){0, 0, INFINITY, 3}, &crop));
}

/* Upright, a crop is the pixels themselves; turned by a right angle, the same pixels turned; outside is black. */
static void turned_boxes_come_upright(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame frame = picture(), crop = {0};
    size_t capacity = 0;
    bool any = false;
    assert_ok(sk_cutout_turned(&frame, (float[]){30, 20, 12, 6, 0}, &crop, &capacity, &any, &err), &err);
    assert_true(any && crop.width == 12 && crop.height == 6);
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 12; x++)
            assert_memory_equal(at(&crop, x, y), pixels[17 + y][24 + x], 3);
    float quarter = 1.57079632679f; /* w runs down the frame: left in the crop is up in the frame */
    assert_ok(sk_cutout_turned(&frame, (float[]){30, 20, 12, 6, quarter}, &crop, &capacity, &any, &err),
              &err);
    assert_true(any && crop.width == 12 && crop.height == 6);
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 12; x++)
            assert_memory_equal(at(&crop, x, y), pixels[14 + x][32 - y], 3);
    assert_ok(sk_cutout_turned(&frame, (float[]){0, 0, 10, 10, 0.5f}, &crop, &capacity, &any, &err), &err);
    assert_true(any);
    assert_memory_equal(at(&crop, 0, 0), "\0\0", 3);
    assert_true(at(&crop, 9, 5)[2] == 200); /* inside */
    const float none[][5] = {{10, 10, 0, 5, 0},      {10, 10, 5, -5, 0},   {NAN, 1, 5, 5, 0},
                             {1, 1, 5, 5, INFINITY}, {10, 10, 1e9f, 5, 0}, {1e30f, 1, 5, 5, 0}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_ok(sk_cutout_turned(&frame, none[i], &crop, &capacity, &any, &err), &err);
        assert_false(any);
    }
    sk_free(crop.data);
}

/* Over every edge and by half a pixel: a pixel is the mean of those around it, black where there are none. */
static void edges_are_black(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_frame frame = picture(), crop = {0};
    size_t capacity = 0;
    bool any = false;
    for (int half = 0; half < 2; half++)
        for (int edge = 0; edge < 4; edge++) {
            const float cx = (edge == 0   ? 0.0f
                              : edge == 1 ? (float)WIDTH
                                          : 30.0f) +
                             0.5f * (float)half,
                        cy = edge == 2   ? 0.0f
                             : edge == 3 ? (float)HEIGHT
                                         : 20.0f;
            assert_ok(sk_cutout_turned(&frame, (float[]){cx, cy, 8, 8, 0}, &crop, &capacity, &any, &err),
                      &err);
            assert_true(any && crop.width == 8 && crop.height == 8);
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    for (int c = 0; c < 3; c++) {
                        const int px = (int)cx - 4 + x,
                                  py = (int)cy - 4 + y; /* and half of its neighbour on the right */
                        double sum = 0;
                        for (int k = 0; k <= half; k++)
                            if (px + k >= 0 && px + k < WIDTH && py >= 0 && py < HEIGHT)
                                sum += pixels[py][px + k][c] * (half ? 0.5 : 1.0);
                        if (fabs(at(&crop, x, y)[c] - sum) > 0.51)
                            fail_msg("edge %d, half %d: %d, %d is %d instead of %g", edge, half, x, y,
                                     at(&crop, x, y)[c], sum);
                    }
        }
    /* sizes at their bounds: a pixel, twice the frame's sides together, a million away */
    const float sizes[][6] = {{10, 10, 0.5f, 5, 0, 1},  {10, 10, 0.49f, 5, 0, 0}, {10, 10, 5, 0.5f, 0, 1},
                              {10, 10, 224, 2, 0, 1},   {10, 10, 225, 2, 0, 0},   {10, 10, 2, 224, 0, 1},
                              {10, 10, 2, 225, 0, 0},   {999999, 1, 2, 2, 0, 1},  {1000000, 1, 2, 2, 0, 0},
                              {1, -1000000, 2, 2, 0, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(sk_cutout_turned(&frame, sizes[i], &crop, &capacity, &any, &err), &err);
        assert_int_equal(any, sizes[i][5] != 0);
    }
    sk_free(crop.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(boxes_get_a_margin_and_are_clipped),
                                       cmocka_unit_test(turned_boxes_come_upright),
                                       cmocka_unit_test(edges_are_black)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
