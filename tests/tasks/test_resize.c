/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "tasks/pixels.h"
#include "tasks/resize_linear.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_float.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every case of antialias_cases.txt bit for bit. */
static void antialias_equals_the_original(void **state)
{
    (void)state;
    FILE *f = fopen(test_source("tests/tasks/antialias_cases.txt"), "r");
    assert_non_null(f);
    char line[256];
    int c, w, h, nw, nh, n = 0;
    unsigned long long hash;
    sk_error err;
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%d %d %d %d %d %llx", &c, &w, &h, &nw, &nh, &hash) != 6)
            continue;
        size_t from = (size_t)(w * h * c), to = (size_t)(nw * nh * c);
        uint8_t *src = malloc(from), *dst = malloc(to);
        case_noise(src, from, (uint32_t)n);
        sk_resize_antialias *r;
        assert_ok(sk_resize_antialias_open(w, h, nw, nh, c, &r, &err), &err);
        uint64_t before = sk_memory_allocations();
        sk_resize_antialias_run(r, src, (ptrdiff_t)w * c, dst, (ptrdiff_t)nw * c);
        assert_int_equal(sk_memory_allocations(), before);
        if (case_hash(dst, to) != hash)
            fail_msg("case %d differs: %s", n, line);
        sk_resize_antialias_close(&r);
        free(src);
        free(dst);
        n++;
    }
    fclose(f);
    assert_int_equal(n, 68);
}

/* Half-pixel bilinear by its definition, in double. */
static double plain_bilinear(const uint8_t *src, int w, int h, int channels, int c, double x, double y)
{
    int x0 = (int)floor(x), y0 = (int)floor(y);
    double px = x - x0, py = y - y0, v = 0;
    for (int k = 0; k < 4; k++) {
        int u = x0 + (k & 1), t = y0 + (k >> 1);
        u = u < 0 ? 0 : u >= w ? w - 1 : u;
        t = t < 0 ? 0 : t >= h ? h - 1 : t;
        v += (k & 1 ? px : 1 - px) * (k >> 1 ? py : 1 - py) * src[(t * w + u) * channels + c];
    }
    return v;
}

static void float_resize_is_half_pixel_bilinear(void **state)
{
    (void)state;
    const int sizes[][4] = {{12, 9, 6, 5}, {5, 4, 13, 11}, {40, 30, 20, 15}, {7, 7, 7, 3}, {1, 1, 3, 3}};
    sk_error err;
    for (int n = 0; n < 5; n++) {
        int w = sizes[n][0], h = sizes[n][1], nw = sizes[n][2], nh = sizes[n][3];
        uint8_t src[40 * 30 * 3], bytes[20 * 20 * 3];
        float planes[20 * 20 * 3];
        case_noise(src, sizeof src, (uint32_t)n);
        sk_resize_float *r;
        assert_ok(sk_resize_float_open(w, h, nw, nh, 3, &r, &err), &err);
        sk_resize_float_to_planes(r, src, w * 3, planes, nw, (ptrdiff_t)nw * nh);
        sk_resize_float_to_u8(r, src, w * 3, bytes, nw * 3);
        for (int y = 0; y < nh; y++)
            for (int x = 0; x < nw; x++)
                for (int c = 0; c < 3; c++) {
                    double v =
                        plain_bilinear(src, w, h, 3, c, (x + 0.5) * w / nw - 0.5, (y + 0.5) * h / nh - 0.5);
                    assert_true(fabs(planes[(c * nh + y) * nw + x] - v / 255) < 2e-6);
                    assert_true(fabs(bytes[(y * nw + x) * 3 + c] - floor(v)) <= (fabs(v - round(v)) < 1e-3));
                }
        sk_resize_float_close(&r);
    }
}

static void colours_become_grey(void **state)
{
    (void)state;
    sk_error err;
    uint8_t rgb[6] = {200, 100, 50, 7, 7, 7}, gray[2] = {9, 250}, out[6];
    sk_frame frame = {.format = SK_PIXEL_RGB, .width = 2, .height = 1, .stride = 6, .data = rgb};
    /* .2989 * 200 + .587 * 100 + .114 * 50 = 124.18; 7 * .9999 = 6.9993 */
    assert_ok(sk_pixels_convert(&frame, 1, SK_GRAY_TORCH, out, &err), &err);
    assert_int_equal(out[0], 124);
    assert_int_equal(out[1], 6);
    assert_ok(sk_pixels_convert(&frame, 1, SK_GRAY_TENSORFLOW, out, &err), &err);
    assert_int_equal(out[0], 124);
    assert_int_equal(out[1], 7);
    frame.format = SK_PIXEL_BGR;
    assert_ok(sk_pixels_convert(&frame, 3, SK_GRAY_TORCH, out, &err), &err);
    assert_int_equal(out[0], 50);
    assert_int_equal(out[2], 200);
    /* .2989 * 50 + .587 * 100 + .114 * 200 = 96.445 */
    assert_ok(sk_pixels_convert(&frame, 1, SK_GRAY_TORCH, out, &err), &err);
    assert_int_equal(out[0], 96);
    /* A colour frame that is grey everywhere is taken as it is. */
    memset(rgb, 77, sizeof rgb);
    assert_ok(sk_pixels_convert(&frame, 1, SK_GRAY_TORCH, out, &err), &err);
    assert_int_equal(out[0], 77);
    frame = (sk_frame){.format = SK_PIXEL_GRAY, .width = 2, .height = 1, .stride = 2, .data = gray};
    assert_ok(sk_pixels_convert(&frame, 3, SK_GRAY_TORCH, out, &err), &err);
    assert_int_equal(out[2], 9);
    assert_int_equal(out[3], 250);
    frame.format = SK_PIXEL_NV12;
    assert_int_equal(sk_pixels_convert(&frame, 3, SK_GRAY_TORCH, out, &err), SK_ERR_UNSUPPORTED);
}

/* One coloured pixel anywhere in a grey row is seen, and rows of any width go through the wide and the
 * plain path. */
static void one_coloured_pixel_is_seen(void **state)
{
    (void)state;
    sk_error err;
    enum { W = 53 };
    uint8_t rgb[W * 3], out[W], plain[W];
    for (int width = 1; width <= W; width++)
        for (int at = 0; at < width * 3; at++) {
            memset(rgb, 100, sizeof rgb);
            rgb[at] = 101;
            sk_frame frame = {
                .format = SK_PIXEL_RGB, .width = width, .height = 1, .stride = W * 3, .data = rgb};
            assert_ok(sk_pixels_convert(&frame, 1, SK_GRAY_TORCH, out, &err), &err);
            for (int x = 0; x < width; x++) {
                double v = 0.2989 * rgb[3 * x] + 0.587 * rgb[3 * x + 1] + 0.114 * rgb[3 * x + 2];
                plain[x] = (uint8_t)v;
            }
            assert_memory_equal(out, plain, (size_t)width);
        }
}

static void planes_hold_every_value(void **state)
{
    (void)state;
    uint8_t in[256 * 3];
    float out[256 * 3];
    for (int i = 0; i < 768; i++)
        in[i] = (uint8_t)(i / 3);
    const float mean[3] = {0.5f, 0, 0}, std[3] = {1, 2, 1};
    sk_pixels_to_planes(in, 768, 256, 1, 3, 1.0f / 255.0f, mean, std, out);
    for (int i = 0; i < 256; i++) {
        float v = (float)i / 255.0f;
        assert_true(out[i] == v - 0.5f && out[256 + i] == v / 2 && out[512 + i] == v);
    }
}

/* Sides from 1 to 65536, one channel or three; a second shape may not be larger than the first. */
static void sizes_are_checked(void **state)
{
    (void)state;
    static const int32_t bad[][6] = {{0, 8, 4, 4, 1, 1},     {8, 0, 4, 4, 1, 1},     {8, 8, 0, 4, 1, 1},
                                     {8, 8, 4, 0, 1, 1},     {65537, 8, 4, 4, 1, 1}, {8, 65537, 4, 4, 1, 1},
                                     {8, 8, 65537, 4, 1, 1}, {8, 8, 4, 65537, 1, 1}, {8, 8, 4, 4, 2, 1},
                                     {8, 8, 4, 4, 4, 1},     {8, 8, 4, 4, 1, 0},     {8, 8, 4, 4, 1, 257}};
    sk_error err = {0};
    sk_resize_linear *r = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const int32_t *b = bad[i];
        if (sk_resize_linear_open(b[0], b[1], b[2], b[3], b[4], b[5], &r, &err) != SK_ERR_ARG)
            fail_msg("taken: %zu", i);
    }
    assert_int_equal(sk_resize_linear_open(8, 8, 4, 4, 1, 1, NULL, &err), SK_ERR_ARG);
    assert_ok(sk_resize_linear_open(65536, 1, 4, 6, 3, 256, &r, &err), &err);
    assert_ok(sk_resize_linear_refit(r, 65536, 65536, 4, 6, 1, &err), &err);
    assert_ok(sk_resize_linear_refit(r, 1, 1, 1, 1, 3, &err), &err);
    static const int32_t wrong[][5] = {{0, 1, 1, 1, 1},     {1, 0, 1, 1, 1}, {65537, 1, 1, 1, 1},
                                       {1, 65537, 1, 1, 1}, {1, 1, 0, 1, 1}, {1, 1, 1, 0, 1},
                                       {1, 1, 5, 1, 1},     {1, 1, 1, 7, 1}, {1, 1, 1, 1, 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const int32_t *w = wrong[i];
        if (sk_resize_linear_refit(r, w[0], w[1], w[2], w[3], w[4], &err) != SK_ERR_ARG)
            fail_msg("taken for the second: %zu", i);
    }
    sk_resize_linear_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_checked),
                                       cmocka_unit_test(antialias_equals_the_original),
                                       cmocka_unit_test(float_resize_is_half_pixel_bilinear),
                                       cmocka_unit_test(colours_become_grey),
                                       cmocka_unit_test(one_coloured_pixel_is_seen),
                                       cmocka_unit_test(planes_hold_every_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
