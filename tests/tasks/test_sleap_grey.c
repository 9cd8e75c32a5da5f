/* SPDX-License-Identifier: Apache-2.0 */
/* When the colours of a frame become grey on their way into SLEAP's networks. */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "tasks/stage.h"
#include "tasks/resize_antialias.h"

#include <math.h>
#include <string.h>

enum { W = 48, H = 32 };

static float grey_of(const uint8_t *p)
{
    return (float)(0.2989 * p[0] / 255 + 0.587 * p[1] / 255 + 0.114 * p[2] / 255);
}

static void rules_of_the_eras(void **state)
{
    (void)state;
    for (int legacy = 0; legacy < 2; legacy++)
        for (int ensure = 0; ensure < 2; ensure++) {
            const sk_sleap_spec spec = {.legacy = legacy, .ensure_grayscale = ensure};
            assert_int_equal(sk_sleap_grey_of(&spec, 1),
                             legacy || ensure ? SK_SLEAP_GREY_FIRST : SK_SLEAP_GREY_LAST);
            assert_int_equal(sk_sleap_grey_of(&spec, 3),
                             !legacy && ensure ? SK_SLEAP_GREY_SPREAD : SK_SLEAP_GREY_FIRST);
        }
}

/* sleap-nn, one channel: fractions of the resized colours; with ensure_grayscale 8-bit grey that is resized; of a frame
 * without colours its values. */
static void greys_of_one_channel(void **state)
{
    (void)state;
    sk_error err;
    uint8_t pixels[W * H * 3], grey[W * H * 3], half[W * H * 3 / 4];
    case_noise(pixels, sizeof pixels, 3);
    for (int i = 0; i < W * H; i++)
        grey[3 * i] = grey[3 * i + 1] = grey[3 * i + 2] = pixels[3 * i];
    sk_resize_antialias *resize;
    assert_ok(sk_resize_antialias_open(W, H, W / 2, H / 2, 3, &resize, &err), &err);
    for (int k = 0; k < 8; k++) {
        const int scaled = k & 1, ensure = k >> 1 & 1, coloured = k >> 2 & 1;
        const sk_frame frame = {.format = SK_PIXEL_RGB,
                                .width = W,
                                .height = H,
                                .stride = W * 3,
                                .data = coloured ? pixels : grey};
        const sk_sleap_spec spec = {
            .input_scale = scaled ? 0.5f : 1, .pad_to_stride = 1, .ensure_grayscale = ensure};
        sk_sleap_geometry g;
        sk_sleap_pre *pre;
        assert_ok(sk_sleap_sizes(&spec, W, H, &g, &err), &err);
        assert_ok(sk_sleap_pre_open(&spec, 1, &g, &pre, &err), &err);
        static float plane[W * H];
        const uint64_t before = sk_memory_allocations();
        assert_ok(sk_sleap_pre_size(pre, &frame, NULL, &err), &err);
        assert_ok(sk_sleap_pre_f32(pre, plane, &err), &err);
        assert_int_equal(sk_memory_allocations(), before);
        assert_int_equal(sk_sleap_pre_channels(pre), coloured && !ensure ? 3 : 1);
        assert_int_equal(sk_sleap_pre_is_u8(pre), ensure);
        const uint8_t *from = frame.data;
        if (scaled) {
            sk_resize_antialias_run(resize, frame.data, W * 3, half, W / 2 * 3);
            from = half;
        }
        int fractions = 0;
        for (int i = 0; i < g.width * g.height; i++) {
            const float want = coloured ? grey_of(from + 3 * i) : (float)from[3 * i] / 255;
            fractions += fabsf(plane[i] * 255 - rintf(plane[i] * 255)) > 1e-3f;
            if (!ensure) {
                if (!(fabsf(plane[i] - want) < 1e-6f))
                    fail_msg("case %d, pixel %d: %g instead of %g", k, i, (double)plane[i], (double)want);
            } else { /* cut to 8 bits before and after resizing */
                assert_true(fabsf(plane[i] - want) < 3.0f / 255);
            }
        }
        assert_true(ensure || !coloured ? fractions == 0 : fractions > g.width * g.height / 2);
        sk_sleap_pre_close(&pre);
    }
    sk_resize_antialias_close(&resize);
}

static void grey_over_three_channels(void **state)
{
    (void)state;
    sk_error err;
    uint8_t pixels[W * H * 3];
    case_noise(pixels, sizeof pixels, 4);
    const sk_frame frame = {.format = SK_PIXEL_BGR, .width = W, .height = H, .stride = W * 3, .data = pixels};
    const sk_sleap_spec spec = {.input_scale = 1, .pad_to_stride = 1, .ensure_grayscale = 1};
    sk_sleap_geometry g;
    sk_sleap_pre *pre;
    assert_ok(sk_sleap_sizes(&spec, W, H, &g, &err), &err);
    assert_ok(sk_sleap_pre_open(&spec, 3, &g, &pre, &err), &err);
    static uint8_t made[W * H * 3];
    assert_ok(sk_sleap_pre_size(pre, &frame, NULL, &err), &err);
    assert_ok(sk_sleap_pre_u8(pre, made, &err), &err);
    for (int i = 0; i < W * H; i++) {
        const uint8_t rgb[3] = {pixels[3 * i + 2], pixels[3 * i + 1], pixels[3 * i]};
        assert_true(made[3 * i] == made[3 * i + 1] && made[3 * i] == made[3 * i + 2]);
        assert_true(fabsf((float)made[3 * i] - grey_of(rgb) * 255 + 0.5f) < 0.51f); /* cut off */
    }
    sk_sleap_pre_close(&pre);
}

/* Crops: cut and scaled in colours, then grey. */
static void greys_of_crops(void **state)
{
    (void)state;
    sk_error err;
    enum { SIDE = 16 };
    uint8_t pixels[W * H * 3], cut[SIDE * SIDE * 3], half[SIDE * SIDE * 3 / 4];
    case_noise(pixels, sizeof pixels, 5);
    for (int scaled = 0; scaled < 2; scaled++) {
        const sk_sleap_spec spec = {
            .input_scale = scaled ? 0.5f : 1, .pad_to_stride = 1, .crop_size = {SIDE, SIDE}};
        sk_sleap_crop_geometry g;
        sk_sleap_crop *crop;
        assert_ok(sk_sleap_crop_sizes(&spec, 0, &g, &err), &err);
        assert_ok(sk_sleap_crop_open(&spec, &g, 1, W, H, 1, &crop, &err), &err);
        static float plane[SIDE * SIDE];
        sk_sleap_crop_begin(crop, pixels, 3);
        const sk_crop place = sk_sleap_crop_around(crop, 19.5f, 15.5f);
        assert_true(place.left == 12 && place.top == 8);
        sk_sleap_crop_f32(crop, &place, plane);
        for (int y = 0; y < SIDE; y++)
            memcpy(cut + y * SIDE * 3, pixels + ((8 + y) * W + 12) * 3, SIDE * 3);
        const uint8_t *from = cut;
        if (scaled) {
            sk_resize_antialias *resize;
            assert_ok(sk_resize_antialias_open(SIDE, SIDE, SIDE / 2, SIDE / 2, 3, &resize, &err), &err);
            sk_resize_antialias_run(resize, cut, SIDE * 3, half, SIDE / 2 * 3);
            sk_resize_antialias_close(&resize);
            from = half;
        }
        for (int i = 0; i < g.width * g.height; i++)
            if (!(fabsf(plane[i] - grey_of(from + 3 * i)) < 1e-6f))
                fail_msg("scaled %d, pixel %d: %g instead of %g", scaled, i, (double)plane[i],
                         (double)grey_of(from + 3 * i));
        /* The next frame has no colours. */
        sk_sleap_crop_begin(crop, pixels, 1);
        sk_sleap_crop_f32(crop, &place, plane);
        if (!scaled)
            for (int i = 0; i < SIDE * SIDE; i++)
                assert_true(plane[i] == (float)pixels[(8 + i / SIDE) * W + 12 + i % SIDE] / 255.0f);
        sk_sleap_crop_close(&crop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_the_eras), cmocka_unit_test(greys_of_one_channel),
        cmocka_unit_test(grey_over_three_channels), cmocka_unit_test(greys_of_crops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
