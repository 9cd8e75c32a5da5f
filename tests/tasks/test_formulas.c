/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas shared by C, CUDA and HIP: the same bits where a compiler fuses what it may; and where the C has a vectorised form of
 * its own, the same bits as by the formula. */
#include "support/test.h"

#include "base/cpu.h"
#include "formula_values.h"
#include "kernels/nv12.h"
#include "tasks/peak_formula.h"
#include "tasks/peaks.h"
#include "tasks/pixels.h"
#include "tasks/resize_antialias.h"
#include "tasks/resize_linear.h"
#include "tasks/resize_planar.h"

#include <stdlib.h>
#include <string.h>

int formula_values_fused(uint32_t seed, float *values);
float formula_plain_fused(float a, float b, float c);

static bool can_fuse(void)
{
#if defined(__x86_64__)
    return (sk_cpu_flags() & SK_CPU_AVX2) != 0; /* with it comes FMA */
#else
    return true;
#endif
}

static void nothing_is_fused_that_must_not_be(void **state)
{
    (void)state;
    if (!can_fuse()) {
        print_message("skipped: this processor has no fused multiply-add\n");
        skip();
    }
    int differ = 0;
    uint32_t seed = 5;
    for (int i = 0; i < 1000; i++) {
        const float a = between(&seed, 1, 2), b = between(&seed, 1, 2), c = between(&seed, 1, 2);
        volatile float product = a * b;
        differ += formula_plain_fused(a, b, c) != product + c;
    }
    assert_true(differ > 100); /* the other file really is compiled so */
    for (uint32_t i = 0; i < 20000; i++) {
        float want[FORMULA_VALUES], got[FORMULA_VALUES];
        const int n = formula_values(i * 2654435761u, want);
        assert_true(n <= FORMULA_VALUES);
        assert_int_equal(formula_values_fused(i * 2654435761u, got), n);
        for (int k = 0; k < n; k++)
            if (memcmp(&want[k], &got[k], sizeof want[k]) != 0)
                fail_msg("value %d of seed %u: %.9g, where the compiler fuses %.9g", k, (unsigned)i,
                         (double)want[k], (double)got[k]);
    }
}

/* --- vectorised forms --- */

static uint8_t *random_bytes(size_t n, uint32_t seed)
{
    uint8_t *p = malloc(n);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)next_bits(&seed);
    return p;
}

static void greys(void **state)
{
    (void)state;
    enum { WIDTH = 4099, HEIGHT = 151 }; /* some 600 thousand colours, every fourth of them nearly grey */
    uint8_t *in = random_bytes((size_t)WIDTH * HEIGHT * 3, 3), *out = malloc((size_t)WIDTH * HEIGHT);
    assert_non_null(out);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i += 4)
        in[3 * i + 1] = in[3 * i + 2] = in[3 * i];
    for (int form = 0; form < 4; form++) {
        const int red = form / 2 ? 2 : 0, old = form % 2;
        sk_error err = {0};
        const sk_frame frame = {.format = red ? SK_PIXEL_BGR : SK_PIXEL_RGB,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .stride = (ptrdiff_t)WIDTH * 3,
                                .data = in};
        assert_ok(sk_pixels_convert(&frame, 1, old ? SK_GRAY_TENSORFLOW : SK_GRAY_TORCH, out, &err), &err);
        for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
            const uint8_t *p = in + 3 * i;
            const uint8_t want =
                old ? sk_grey_tensorflow(p[red], p[1], p[2 - red]) : sk_grey_torch(p[red], p[1], p[2 - red]);
            if (out[i] != want)
                fail_msg("grey of %d %d %d, form %d: %d instead of %d", p[0], p[1], p[2], form, out[i], want);
        }
    }
    free(in);
    free(out);
}

/* Colours whose grey lies so close to a whole number that sums which are rounded once more come out below it. */
static void greys_close_to_whole_numbers(void **state)
{
    (void)state;
    static const uint8_t colours[][4] = {{20, 152, 7, 96},     {40, 244, 244, 183},  {40, 252, 80, 169},
                                         {110, 111, 26, 101},  {140, 160, 81, 145},  {140, 236, 23, 183},
                                         {140, 252, 195, 212}, {170, 61, 170, 106},  {190, 175, 206, 183},
                                         {220, 222, 52, 202},  {230, 225, 177, 221}, {240, 222, 175, 222}};
    enum { WIDTH = 23, N = sizeof colours / sizeof *colours };
    for (int bgr = 0; bgr < 2; bgr++)
        for (int at = 0; at < WIDTH; at++)
            for (int i = 0; i < N; i++) {
                uint8_t in[3 * WIDTH], out[WIDTH];
                sk_error err = {0};
                for (int x = 0; x < WIDTH; x++)
                    for (int k = 0; k < 3; k++)
                        in[3 * x + (bgr ? 2 - k : k)] = x == at ? colours[i][k] : (uint8_t)(50 + 60 * k);
                const sk_frame frame = {.format = bgr ? SK_PIXEL_BGR : SK_PIXEL_RGB,
                                        .width = WIDTH,
                                        .height = 1,
                                        .stride = (ptrdiff_t)3 * WIDTH,
                                        .data = in};
                assert_ok(sk_pixels_convert(&frame, 1, SK_GRAY_TORCH, out, &err), &err);
                for (int x = 0; x < WIDTH; x++) /* 0.2989 * 50 + 0.587 * 110 + 0.114 * 170 = 98.9 */
                    assert_int_equal(out[x], x == at ? colours[i][3] : 98);
            }
}

/* One value of a picture antialiased along one axis. */
static uint8_t along(const sk_antialias_axis *a, const uint8_t *in, size_t step, int32_t i)
{
    int32_t sum = sk_antialias_begin(a->bits);
    for (int32_t k = 0; k < a->count[i]; k++)
        sum += in[(size_t)(a->first[i] + k) * step] * a->weights[(size_t)i * (size_t)a->taps + (size_t)k];
    return sk_antialias_end(sum, a->bits);
}

static void antialiased(void **state)
{
    (void)state;
    static const int32_t sizes[][4] = {
        {97, 61, 40, 23}, {41, 30, 83, 47}, {64, 33, 64, 20}, {33, 64, 16, 64}};
    for (int c = 1; c <= 3; c += 2)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const int32_t w = sizes[s][0], h = sizes[s][1], ow = sizes[s][2], oh = sizes[s][3];
            const size_t n = (size_t)c, row = (size_t)ow * n;
            uint8_t *in = random_bytes((size_t)(w * h) * n, (uint32_t)s), *got = malloc((size_t)oh * row),
                    *between_rows = malloc((size_t)h * row);
            sk_resize_antialias *r = NULL;
            sk_antialias_axis x = {0}, y = {0};
            sk_error err = {0};
            assert_true(got && between_rows);
            assert_ok(sk_resize_antialias_open(w, h, ow, oh, c, &r, &err), &err);
            assert_ok(sk_antialias_axis_open(&x, w, ow, &err), &err);
            assert_ok(sk_antialias_axis_open(&y, h, oh, &err), &err);
            sk_resize_antialias_run(r, in, (ptrdiff_t)w * c, got, (ptrdiff_t)row);
            for (int32_t v = 0; v < h; v++)
                for (size_t i = 0; i < row; i++)
                    between_rows[(size_t)v * row + i] =
                        w == ow ? in[(size_t)v * row + i]
                                : along(&x, in + (size_t)v * (size_t)w * n + i % n, n, (int32_t)(i / n));
            for (int32_t v = 0; v < oh; v++)
                for (size_t i = 0; i < row; i++)
                    assert_int_equal(got[(size_t)v * row + i], h == oh ? between_rows[(size_t)v * row + i]
                                                                       : along(&y, between_rows + i, row, v));
            sk_antialias_axis_close(&x);
            sk_antialias_axis_close(&y);
            sk_resize_antialias_close(&r);
            free(in);
            free(got);
            free(between_rows);
        }
}

enum { MOST = 200 };

typedef struct taps {
    int32_t x0[MOST], x1[MOST], y0[MOST], y1[MOST];
    int16_t ax[MOST][2], by[MOST][2];
} taps;

static uint8_t linear(const taps *t, int32_t x, int32_t y, const uint8_t four[4])
{
    return sk_linear_down(sk_linear_across(four[0], four[1], t->ax[x][0], t->ax[x][1]),
                          sk_linear_across(four[2], four[3], t->ax[x][0], t->ax[x][1]), t->by[y][0],
                          t->by[y][1]);
}

static void linear_sizes(void **state)
{
    (void)state;
    static taps t;
    static const int32_t sizes[][4] = {{150, 90, 64, 40}, {33, 20, 97, 71},  {41, 41, 41, 20},
                                       {100, 60, 50, 30}, {100, 60, 50, 31}, {100, 60, 49, 30}};
    for (int32_t c = 1; c <= 3; c += 2)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const int32_t w = sizes[s][0], h = sizes[s][1], ow = sizes[s][2], oh = sizes[s][3];
            uint8_t *in = random_bytes((size_t)(w * h * c), (uint32_t)s),
                    *got = malloc((size_t)(ow * oh * c));
            sk_resize_linear *r = NULL;
            sk_error err = {0};
            assert_non_null(got);
            assert_ok(sk_resize_linear_open(w, h, ow, oh, c, 1, &r, &err), &err);
            sk_resize_linear_rows(r, in, (ptrdiff_t)w * c, got, (ptrdiff_t)ow * c, 0, 0, 0, oh, 0);
            sk_resize_linear_taps(w, ow, 0, 1, t.x0, t.x1, t.ax);
            sk_resize_linear_taps(h, oh, 1, 1, t.y0, t.y1, t.by);
            for (int32_t i = 0; i < ow * oh * c; i++) {
                const int32_t x = i / c % ow, y = i / c / ow;
                const bool half = w == 2 * ow && h == 2 * oh;
                const int32_t columns[2] = {half ? 2 * x : t.x0[x], half ? 2 * x + 1 : t.x1[x]},
                              rows[2] = {half ? 2 * y : t.y0[y], half ? 2 * y + 1 : t.y1[y]};
                uint8_t four[4];
                for (int k = 0; k < 4; k++)
                    four[k] = in[(rows[k / 2] * w + columns[k % 2]) * c + i % c];
                assert_int_equal(got[i], half ? sk_linear_half(four[0], four[1], four[2], four[3])
                                              : linear(&t, x, y, four));
            }
            sk_resize_linear_close(&r);
            free(in);
            free(got);
        }
}

static int32_t channel(sk_rgb p, int c)
{
    return c == 0 ? p.red : c == 1 ? p.green : p.blue;
}

/* Planes of video to a sized picture, and whole frames to RGB. */
static void video(void **state)
{
    (void)state;
    enum { W = 121, H = 75, OW = 64, OH = 40, HALF = (W + 1) / 2 };
    static taps t;
    uint8_t *luma = random_bytes(W * H, 1), *u = random_bytes(HALF * ((H + 1) / 2), 2),
            *v = random_bytes(HALF * ((H + 1) / 2), 3);
    static uint8_t rgb[W * H * 3], sized[OW * OH * 3];
    for (int form = 0; form < 4; form++) {
        const sk_frame frame = {.format = SK_PIXEL_I420,
                                .width = W,
                                .height = H,
                                .stride = W,
                                .data = luma,
                                .chroma = u,
                                .chroma_v = v,
                                .chroma_stride = HALF,
                                .full_range = form % 2,
                                .matrix = form / 2 ? SK_COLOUR_BT709 : SK_COLOUR_BT601};
        const sk_nv12_weights w = sk_nv12_weights_of(frame.matrix, frame.full_range);
        sk_resize_planar *r = NULL;
        sk_error err = {0};
        sk_yuv_to_rgb(&frame, rgb);
        for (int i = 0; i < W * H * 3; i++) {
            const int x = i / 3 % W, y = i / 3 / W, at = y / 2 * HALF + x / 2;
            assert_int_equal(rgb[i], channel(sk_nv12_pixel(&w, luma[y * W + x], u[at], v[at]), i % 3));
        }
        assert_ok(sk_resize_planar_open(OW, OH, &r, &err), &err);
        assert_true(sk_resize_planar_fit(r, W, H, OW, OH));
        sk_resize_planar_rows(r, &frame, sized, OW * 3, 0, OH);
        sk_resize_linear_taps(W, OW, 0, 1, t.x0, t.x1, t.ax);
        sk_resize_linear_taps(H, OH, 1, 1, t.y0, t.y1, t.by);
        for (int i = 0; i < OW * OH * 3; i++) {
            const int x = i / 3 % OW, y = i / 3 / OW, c = i % 3;
            const uint8_t four[4] = {
                rgb[(t.y0[y] * W + t.x0[x]) * 3 + c], rgb[(t.y0[y] * W + t.x1[x]) * 3 + c],
                rgb[(t.y1[y] * W + t.x0[x]) * 3 + c], rgb[(t.y1[y] * W + t.x1[x]) * 3 + c]};
            assert_int_equal(sized[i], linear(&t, x, y, four));
        }
        sk_resize_planar_close(&r);
    }
    free(luma);
    free(u);
    free(v);
}

/* Rows at a time by the C, value by value as a GPU's threads: also with ties and NaN. */
static void highest_values(void **state)
{
    (void)state;
    enum { W = 37, H = 29 };
    static float map[W * H];
    uint32_t seed = 9;
    for (int round = 0; round < 4000; round++) {
        const uint32_t steps = round % 3 ? 4 : 4000;
        for (int i = 0; i < W * H; i++)
            map[i] = round % 5 == 0 && next_bits(&seed) % 7 == 0
                         ? NAN
                         : (float)(next_bits(&seed) % steps) / (float)steps;
        const sk_map one = sk_map_planar(map, 1, H, W);
        sk_highest want = sk_highest_begin();
        sk_peak got;
        sk_peaks_global(&one, 0, &got);
        for (int i = W * H; i-- > 0;) /* in any order */
            sk_highest_join(&want, map[i], i % W, i / W);
        assert_true(got.value == want.v && got.x == (float)want.x && got.y == (float)want.y);
    }
}

/* Also in maps narrower than a step of the C, which may not look behind the row, or the map. */
static void highest_values_of_narrow_maps(void **state)
{
    (void)state;
    uint32_t seed = 4;
    for (int round = 0; round < 3000; round++) {
        const int w = 1 + round % 20, h = 1 + round / 20 % 3;
        float values[20 * 3 + 40];
        for (int i = 0; i < 20 * 3 + 40; i++)
            values[i] = i < w * h ? (float)(next_bits(&seed) % 1000) / 1000 : 9;
        const sk_map one = sk_map_planar(values, 1, h, w);
        sk_highest want = sk_highest_begin();
        sk_peak got;
        sk_peaks_global(&one, 0, &got);
        for (int i = 0; i < w * h; i++)
            sk_highest_join(&want, values[i], i % w, i / w);
        assert_true(got.value == want.v && got.x == (float)want.x && got.y == (float)want.y);
    }
}

/* The same of maps whose channels lie one beside the other in every place. */
static void highest_values_side_by_side(void **state)
{
    (void)state;
    enum { W = 19, H = 5, C = 3 };
    uint32_t seed = 6;
    for (int round = 0; round < 500; round++) {
        float values[W * H * C];
        sk_peak got[C];
        for (int i = 0; i < W * H * C; i++) /* the channels' values lie far apart */
            values[i] = (float)(next_bits(&seed) % 1000) / 1000 + (float)(10 * (i % C));
        const sk_map map = sk_map_interleaved(values, C, H, W);
        sk_peaks_global(&map, 0, got);
        for (int c = 0; c < C; c++) {
            sk_highest want = sk_highest_begin();
            for (int i = 0; i < W * H; i++)
                sk_highest_join(&want, values[i * C + c], i % W, i / W);
            assert_true(got[c].value == want.v && got[c].x == (float)want.x && got[c].y == (float)want.y &&
                        got[c].channel == c);
        }
    }
}

/* Points lie as far from the one end as from the other: the first on one peak, the last on the other, whose nearest pixel is that
 * of the half above it where the number is even. */
static void lines_reach_both_ends(void **state)
{
    (void)state;
    static const int32_t numbers[] = {2, 3, 10, 42, 48, 56, 62, 83, 84};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int axis = 0; axis < 2; axis++) {
            const float from[2] = {0, 0}, to[2] = {axis ? 0 : 7.50000095f, axis ? 7.50000095f : 0};
            const sk_line line = sk_line_begin(from, to, numbers[i], 1);
            int32_t at[2];
            sk_line_pixel(&line, 0, 20, 20, &at[0], &at[1]);
            assert_true(at[0] == 0 && at[1] == 0);
            sk_line_pixel(&line, numbers[i] - 1, 20, 20, &at[0], &at[1]);
            assert_true(at[axis] == 8 && at[1 - axis] == 0); /* 7.5 */
            sk_line_pixel(&line, numbers[i] - 1, 8, 8, &at[0], &at[1]);
            assert_int_equal(at[axis], 7);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_fused_that_must_not_be),
        cmocka_unit_test(greys),
        cmocka_unit_test(greys_close_to_whole_numbers),
        cmocka_unit_test(antialiased),
        cmocka_unit_test(linear_sizes),
        cmocka_unit_test(video),
        cmocka_unit_test(highest_values),
        cmocka_unit_test(highest_values_of_narrow_maps),
        cmocka_unit_test(highest_values_side_by_side),
        cmocka_unit_test(lines_reach_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
