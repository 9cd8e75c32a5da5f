/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "cases_test.h"
#include "tasks/peaks.h"

#include <math.h>
#include <string.h>

enum { W = 70, H = 41, C = 3 };

static float planar[C * H * W], turned[C * H * W];

static void turn(void)
{
    for (int c = 0; c < C; c++)
        for (int i = 0; i < H * W; i++)
            turned[i * C + c] = planar[c * H * W + i];
}

/* A bell of the given height at a fractional place. */
static void add_bell(int channel, float x, float y, float height)
{
    for (int v = 0; v < H; v++)
        for (int u = 0; u < W; u++) {
            float dx = (float)u - x, dy = (float)v - y, value = height * expf(-(dx * dx + dy * dy) / 4.5f);
            float *p = &planar[(channel * H + v) * W + u];
            *p = value > *p ? value : *p;
        }
}

static void bells_are_found(void **state)
{
    (void)state;
    memset(planar, 0, sizeof planar);
    const float places[5][4] = {{0, 10.3f, 8.2f, 0.9f},
                                {0, 50.6f, 30.4f, 0.5f},
                                {1, 0, 0, 0.7f},
                                {1, 69, 40, 0.6f},
                                {2, 35.1f, 20.7f, 0.15f}};
    for (int i = 0; i < 5; i++)
        add_bell((int)places[i][0], places[i][1], places[i][2], places[i][3]);
    turn();
    sk_map forms[2] = {sk_map_planar(planar, C, H, W), sk_map_interleaved(turned, C, H, W)};
    for (int f = 0; f < 2; f++) {
        sk_peak found[8];
        assert_int_equal(sk_peaks_local(&forms[f], 0.2f, found, 8), 4);
        assert_int_equal(sk_peaks_local(&forms[f], 0.2f, found, 2), 4); /* all counted, two written */
        assert_int_equal(sk_peaks_local(&forms[f], 0.2f, found, 8), 4);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(found[i].channel, (int)places[i][0]);
            assert_true(found[i].x == rintf(places[i][1]) && found[i].y == rintf(places[i][2]));
            sk_peak_refine(&forms[f], SK_REFINE_INTEGRAL, SK_PEAK_PATCH, &found[i]);
            if (i < 2)
                assert_true(fabsf(found[i].x - places[i][1]) < 0.15f &&
                            fabsf(found[i].y - places[i][2]) < 0.15f);
            else
                assert_true(isfinite(found[i].x) && isfinite(found[i].y));
        }
        sk_peak global[C];
        sk_peaks_global(&forms[f], 0.2f, global);
        assert_true(global[0].x == 10 && global[0].y == 8 && global[1].x == 0 && global[1].y == 0);
        assert_true(isnan(global[2].x) && global[2].value == 0);
        sk_peak_refine(&forms[f], SK_REFINE_LOCAL, SK_PEAK_PATCH, &global[0]);
        assert_true(global[0].x == 10.25f && global[0].y == 8.25f);
        sk_peak_refine(&forms[f], SK_REFINE_INTEGRAL, SK_PEAK_PATCH, &global[2]);
        assert_true(isnan(global[2].x));
    }
}

/* The 5x5 mean by hand, at an edge where pixels are missing. */
static void integral_by_hand(void **state)
{
    (void)state;
    memset(planar, 0, sizeof planar);
    planar[0] = 1;
    planar[1] = 0.5f;
    planar[W] = 0.25f;
    sk_map map = sk_map_planar(planar, 1, H, W);
    sk_peak peak = {0, 0, 1, 0};
    sk_peak_refine(&map, SK_REFINE_INTEGRAL, SK_PEAK_PATCH, &peak);
    assert_true(fabsf(peak.x - 0.5f / 1.75f) < 1e-6f && fabsf(peak.y - 0.25f / 1.75f) < 1e-6f);
}

static void offsets_are_added(void **state)
{
    (void)state;
    memset(planar, 0, sizeof planar);
    float offsets[2 * H * W] = {0};
    offsets[5 * W + 9] = 0.4f;
    offsets[H * W + 5 * W + 9] = -0.3f;
    sk_map map = sk_map_planar(offsets, 2, H, W);
    sk_peak peak = {9, 5, 1, 0}, beyond = {9, 5, 1, 1};
    sk_peak_offset(&map, &peak);
    assert_true(peak.x == 9.4f && peak.y == 4.7f);
    sk_peak_offset(&map, &beyond);
    assert_true(beyond.x == 9);
}

/* Equal neighbours are no peak: the rule is strict. NaN and infinity are none either, nor next to one. */
static void flat_and_broken_maps(void **state)
{
    (void)state;
    sk_peak found[16], global[C];
    sk_map map = sk_map_planar(planar, C, H, W);
    for (int i = 0; i < C * H * W; i++)
        planar[i] = 0.5f;
    assert_int_equal(sk_peaks_local(&map, 0.2f, found, 16), 0);
    sk_peaks_global(&map, 0.2f, global);
    assert_true(global[0].x == 0 && global[0].y == 0);
    for (int i = 0; i < C * H * W; i++)
        planar[i] = NAN;
    assert_int_equal(sk_peaks_local(&map, 0.2f, found, 16), 0);
    sk_peaks_global(&map, 0.2f, global);
    assert_true(isnan(global[0].x));
    memset(planar, 0, sizeof planar);
    planar[3 * W + 3] = INFINITY;
    planar[9 * W + 9] = 0.8f;
    planar[9 * W + 10] = NAN;
    assert_int_equal(sk_peaks_local(&map, 0.2f, found, 16), 0);
    sk_peaks_global(&map, 0.2f, global);
    assert_true(isnan(global[0].x));
    /* Two equal maxima: the smallest column and the smallest row, each for itself. */
    memset(planar, 0, sizeof planar);
    planar[4 * W + 20] = planar[30 * W + 6] = 1;
    sk_peaks_global(&map, 0.2f, global);
    assert_true(global[0].x == 6 && global[0].y == 4);
}

static void local_peaks_equal_brute_force(void **state)
{
    (void)state;
    uint32_t seed = 4;
    for (int i = 0; i < C * H * W; i++)
        planar[i] = floorf(case_random(&seed) * 12) / 12;
    sk_map map = sk_map_planar(planar, C, H, W);
    static sk_peak found[C * H * W];
    int32_t n = sk_peaks_local(&map, 0.4f, found, C * H * W), k = 0;
    for (int c = 0; c < C; c++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                float v = planar[(c * H + y) * W + x];
                int top = v > 0.4f;
                for (int d = 0; d < 9; d++) {
                    int u = x + d % 3 - 1, t = y + d / 3 - 1;
                    if (d != 4 && u >= 0 && t >= 0 && u < W && t < H && planar[(c * H + t) * W + u] >= v)
                        top = 0;
                }
                if (!top)
                    continue;
                assert_true(k < n && found[k].x == (float)x && found[k].y == (float)y &&
                            found[k].channel == c);
                k++;
            }
    assert_int_equal(n, k);
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bells_are_found), cmocka_unit_test(integral_by_hand),
                                       cmocka_unit_test(offsets_are_added),
                                       cmocka_unit_test(flat_and_broken_maps),
                                       cmocka_unit_test(local_peaks_equal_brute_force)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
