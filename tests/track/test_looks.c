/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/looks.h"

#include <math.h>
#include <string.h>

enum { W = 200, H = 160 };
static uint8_t data[W * H * 3];

/* A body with a bright head third and a stripe, drawn turned; the ground is grey. */
static sk_detection draw(double x, double y, double angle, const uint8_t body[3], const uint8_t head[3])
{
    sk_detection d = {.x = x, .y = y, .score = 1};
    sk_detection_set_oriented(&d, 60, 24, angle);
    memset(data, 120, sizeof data);
    const double c = cos(angle), s = sin(angle);
    for (int py = 0; py < H; py++)
        for (int px = 0; px < W; px++) {
            const double u = ((px + 0.5 - x) * c + (py + 0.5 - y) * s) / 30,
                         v = ((py + 0.5 - y) * c - (px + 0.5 - x) * s) / 12;
            if (u * u + v * v <= 1)
                memcpy(&data[3 * (py * W + px)], u > 0.4 ? head : body, 3);
        }
    return d;
}

static sk_frame frame(sk_pixel_format format)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = format;
    f.width = W;
    f.height = H;
    f.stride = 3 * W;
    f.data = data;
    return f;
}

static void looks_stay_with_the_animal(void **state)
{
    (void)state;
    static const uint8_t red[3] = {200, 60, 40}, blue[3] = {40, 60, 200}, dark[3] = {50, 40, 40};
    const sk_frame f = frame(SK_PIXEL_RGB);
    float one[SK_TRACK_LOOKS], other[SK_TRACK_LOOKS], turned[SK_TRACK_LOOKS];
    sk_detection d = draw(70, 70, 0.3, red, dark);
    assert_true(sk_looks_of(&f, &d, one));
    for (int i = 1; i < 12; i++) { /* anywhere, any way around: the box knows the axis only */
        d = draw(70 + 3 * i, 90, 0.3 + 0.55 * i, red, dark);
        assert_true(sk_looks_of(&f, &d, turned));
        assert_true(sk_looks_apart(one, turned) < 0.03);
    }
    d = draw(70, 70, 0.3, blue, dark);
    assert_true(sk_looks_of(&f, &d, other));
    assert_true(sk_looks_apart(one, other) > 0.15);
    d = draw(70, 70, 0.3, dark, red); /* the same colours elsewhere on the body */
    assert_true(sk_looks_of(&f, &d, other));
    assert_true(sk_looks_apart(one, other) > 0.06);
    assert_true(sk_looks_apart(one, one) < 1e-6);
}

static void the_order_of_colours_is_the_formats(void **state)
{
    (void)state;
    static const uint8_t red[3] = {200, 60, 40}, blue[3] = {40, 60, 200};
    float rgb[SK_TRACK_LOOKS], bgr[SK_TRACK_LOOKS];
    sk_frame f = frame(SK_PIXEL_RGB);
    sk_detection d = draw(70, 70, 1, red, red);
    assert_true(sk_looks_of(&f, &d, rgb));
    draw(70, 70, 1, blue, blue);
    f.format = SK_PIXEL_BGR;
    assert_true(sk_looks_of(&f, &d, bgr));
    assert_memory_equal(rgb, bgr, sizeof rgb);
    f.format = SK_PIXEL_GRAY;
    f.stride = W;
    assert_true(sk_looks_of(&f, &d, rgb));
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        assert_true(isfinite(rgb[i]));
}

static void what_cannot_be_seen_has_no_looks(void **state)
{
    (void)state;
    static const uint8_t red[3] = {200, 60, 40};
    float looks[SK_TRACK_LOOKS];
    sk_frame f = frame(SK_PIXEL_RGB);
    sk_detection d = draw(70, 70, 0, red, red);
    d.x = -5; /* more than half of it is outside */
    assert_false(sk_looks_of(&f, &d, looks));
    d.x = 5;
    assert_true(sk_looks_of(&f, &d, looks));
    d.x = 1e300;
    assert_false(sk_looks_of(&f, &d, looks));
    d.x = NAN;
    assert_false(sk_looks_of(&f, &d, looks));
    d.x = 70;
    f.format = SK_PIXEL_NV12;
    assert_false(sk_looks_of(&f, &d, looks));
    f.format = SK_PIXEL_RGB;
    f.place = SK_PLACE_CUDA; /* where nobody can look */
    assert_false(sk_looks_of(&f, &d, looks));
    f.place = SK_PLACE_HOST;
    assert_true(sk_looks_of(&f, &d, looks));
    f.data = NULL;
    assert_false(sk_looks_of(&f, &d, looks));
}

/* Where all is black: one brightness, no colour, nothing that changes, no run from end to end. Each part is as heavy as it should
 * be, and what has no sum is nothing. */
static void black_has_few_looks(void **state)
{
    (void)state;
    float looks[SK_TRACK_LOOKS], want[SK_TRACK_LOOKS] = {0};
    const sk_frame f = frame(SK_PIXEL_RGB);
    memset(data, 0, sizeof data);
    sk_detection d = {.x = 100, .y = 80, .score = 1};
    sk_detection_set_oriented(&d, 60, 24, 0.4);
    assert_true(sk_looks_of(&f, &d, looks));
    want[0] = sqrtf(0.35F);
    want[16 + 3] = want[16 + 4] = want[24 + 3] = want[24 + 4] = sqrtf(0.35F / 4); /* between two bins each */
    want[32 + 4] = sqrtf(0.1F);
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        assert_true(fabsf(looks[i] - want[i]) < 1e-6F);
    memset(data, 255, sizeof data); /* white: the last brightness, and as bright all along */
    assert_true(sk_looks_of(&f, &d, looks));
    want[0] = 0;
    want[15] = sqrtf(0.35F);
    for (int i = 0; i < 4; i++)
        want[40 + i] = sqrtf(0.2F / 4);
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        assert_true(fabsf(looks[i] - want[i]) < 1e-6F);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_stay_with_the_animal), cmocka_unit_test(the_order_of_colours_is_the_formats),
        cmocka_unit_test(what_cannot_be_seen_has_no_looks), cmocka_unit_test(black_has_few_looks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
