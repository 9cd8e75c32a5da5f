/* SPDX-License-Identifier: Apache-2.0 */
#include "background/background.h"

#include "base/memory.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { W = 320, H = 240 };

static uint8_t pixels[3 * W * H];

static sk_frame frame_of(sk_pixel_format format)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = format, f.width = W, f.height = H, f.data = pixels;
    f.stride = format == SK_PIXEL_RGB ? 3 * W : W;
    return f;
}

/* A ground that is lighter to the right, with a grain that is another in every frame. */
static void draw_ground(int frame, int level, int noise)
{
    uint32_t seed = 12345u + 977u * (uint32_t)frame;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            seed = 1664525u * seed + 1013904223u;
            const int grain = noise ? (int)(seed >> 16) % (2 * noise + 1) - noise : 0;
            pixels[y * W + x] = (uint8_t)(level + x / 16 + grain);
        }
}

static void draw_ellipse(double cx, double cy, double length, double width, double angle, int grey)
{
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            const double dx = x + 0.5 - cx, dy = y + 0.5 - cy;
            const double u = (dx * cos(angle) + dy * sin(angle)) / (length / 2),
                         v = (dy * cos(angle) - dx * sin(angle)) / (width / 2);
            if (u * u + v * v <= 1)
                pixels[y * W + x] = (uint8_t)grey;
        }
}

static sk_background *open_with(const sk_background_settings *settings, sk_instances *found)
{
    sk_background *b = NULL;
    sk_error err = {0};
    assert_ok(sk_background_open(settings, W, H, &b, &err), &err);
    assert_ok(sk_instances_alloc(64, 0, found, &err), &err);
    return b;
}

static void prime_with_ground(sk_background *b, int level, int noise)
{
    sk_error err = {0};
    for (int i = 0; i < 9; i++) {
        draw_ground(100 + i, level, noise);
        draw_ellipse(20 + 30.0 * i, 60, 40, 14, 0.3, 60); /* an animal that is never twice in one place */
        const sk_frame f = frame_of(SK_PIXEL_GRAY);
        assert_ok(sk_background_prime(b, &f, &err), &err);
    }
}

static void find(sk_background *b, sk_instances *found)
{
    sk_error err = {0};
    const sk_frame f = frame_of(SK_PIXEL_GRAY);
    assert_ok(sk_background_find(b, &f, found, &err), &err);
}

static void an_ellipse_is_measured(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 160, 3);
    for (int i = 0; i < 12; i++) {
        const double angle = i * M_PI / 12, x = 100.3 + 5 * i, y = 120.7;
        draw_ground(i, 160, 3);
        draw_ellipse(x, y, 48, 16, angle, 70);
        find(b, &found);
        assert_int_equal(found.count, 1);
        const sk_found *one = &found.items[0];
        assert_true(fabs((double)one->obb[0] - x) < 0.3 && fabs((double)one->obb[1] - y) < 0.3);
        assert_true(fabs((double)one->obb[2] - 48) < 1.5 && fabs((double)one->obb[3] - 16) < 1.5);
        const double turn = fabs(remainder((double)one->obb[4] - angle, M_PI));
        assert_true(turn < 0.03);
        assert_true(one->has == (SK_HAS_BOX | SK_HAS_OBB) && one->score > 0.6f && one->score < 1);
        assert_true(one->box[0] < one->obb[0] && one->box[2] > one->obb[0]);
    }
    sk_background_close(&b);
    sk_instances_free(&found);
}

/* What was not there when the background was made, and only that. */
static void nothing_is_found_in_an_empty_place(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 160, 6);
    for (int i = 0; i < 10; i++) {
        draw_ground(i, i % 2 ? 160 : 140, 6); /* the lamp flickers */
        find(b, &found);
        assert_int_equal(found.count, 0);
    }
    assert_true(sk_background_threshold(b) >= 12);
    assert_true(abs(sk_background_picture(b)[100 * W + 160] - 170) <= 2);
    sk_background_close(&b);
    sk_instances_free(&found);
}

static void flicker_is_found_without_steady_light(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    s.steady_light = false;
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 160, 3);
    draw_ground(1, 120, 3);
    find(b, &found);
    assert_true(found.count > 0);
    sk_background_close(&b);
    sk_instances_free(&found);
}

static void grounds_choose_what_counts(void **state)
{
    (void)state;
    static const struct {
        sk_background_ground ground;
        int dark, light;
    } cases[] = {{SK_GROUND_LIGHT, 1, 0}, {SK_GROUND_DARK, 0, 1}, {SK_GROUND_EITHER, 1, 1}};
    for (size_t i = 0; i < 3; i++) {
        sk_background_settings s;
        sk_background_defaults(&s);
        s.ground = cases[i].ground;
        sk_instances found;
        sk_background *b = open_with(&s, &found);
        prime_with_ground(b, 120, 2);
        draw_ground(1, 120, 2);
        draw_ellipse(80, 180, 40, 14, 0, 40);
        draw_ellipse(240, 180, 42, 14, 0, 220);
        find(b, &found);
        assert_int_equal(found.count, cases[i].dark + cases[i].light);
        for (int32_t k = 0; k < found.count; k++)
            assert_true(found.items[k].obb[0] < 160 ? cases[i].dark : cases[i].light);
        sk_background_close(&b);
        sk_instances_free(&found);
    }
}

/* Two that touch side by side, end to end, and crossed at the tips; and three. */
static void touching_ones_are_split_by_size(void **state)
{
    (void)state;
    static const struct {
        int n;
        double at[3][3]; /* x, y, angle */
    } cases[] = {{2, {{100, 100, 0}, {100, 113, 0}}},
                 {2, {{100, 120, 0}, {142, 120, 0}}},
                 {2, {{100, 120, 0.2}, {120, 140, 1.4}}},
                 {3, {{100, 120, 0}, {140, 122, 0.1}, {160, 145, 1.2}}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_background_settings s;
        sk_background_defaults(&s);
        s.body_area = M_PI / 4 * 44 * 14;
        sk_instances found;
        sk_background *b = open_with(&s, &found);
        prime_with_ground(b, 170, 2);
        draw_ground(1, 170, 2);
        for (int k = 0; k < cases[i].n; k++)
            draw_ellipse(cases[i].at[k][0], cases[i].at[k][1], 44, 14, cases[i].at[k][2], 60);
        find(b, &found);
        assert_int_equal(found.count, cases[i].n);
        for (int k = 0; k < cases[i].n; k++) {
            double nearest = 1e9;
            for (int32_t m = 0; m < found.count; m++)
                nearest = fmin(nearest, hypot((double)found.items[m].obb[0] - cases[i].at[k][0],
                                              (double)found.items[m].obb[1] - cases[i].at[k][1]));
            if (nearest > 5)
                fail_msg("case %zu: animal %d is %.1f pixels from where it was found", i, k, nearest);
        }
        sk_background_close(&b);
        sk_instances_free(&found);
    }
}

/* The size of one is learned from those that are alone. */
static void size_of_a_body_is_learned(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 170, 2);
    for (int i = 0; i < 20; i++) {
        draw_ground(i, 170, 2);
        const double gap = fabs(i - 15.0) * 8;
        draw_ellipse(150 - gap, 80, 44, 14, M_PI / 2, 60);
        draw_ellipse(162 + gap, 80, 44, 14, M_PI / 2, 60);
        draw_ellipse(60, 190, 44, 14, 0, 60);
        find(b, &found);
        assert_int_equal(found.count, 3);
    }
    sk_background_close(&b);
    sk_instances_free(&found);
}

static void light_that_changes_slowly_is_followed(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    s.steady_light = false;
    s.following = 0.25;
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 100, 2);
    for (int i = 0; i < 400; i++) {
        draw_ground(i, 100 + i / 8, 2);
        draw_ellipse(40 + i / 2.0, 120, 40, 14, 0, 30);
        find(b, &found);
        assert_int_equal(found.count, 1);
    }
    sk_background_close(&b);
    sk_instances_free(&found);
}

static void formats_agree_and_nothing_is_allocated(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    sk_instances found[2];
    sk_background *b[2] = {open_with(&s, &found[0]), open_with(&s, &found[1])};
    sk_error err = {0};
    uint64_t allocations = 0;
    for (int i = 0; i < 30; i++) {
        draw_ground(i, 150, 2);
        if (i > 0)
            draw_ellipse(30 + 8.0 * i, 100, 40, 14, 0.1 * i, 60);
        const sk_frame grey = frame_of(SK_PIXEL_GRAY);
        assert_ok(sk_background_find(b[0], &grey, &found[0], &err), &err);
        for (int k = W * H; k-- > 0;)
            memset(pixels + 3 * (ptrdiff_t)k, pixels[k], 3);
        const sk_frame rgb = frame_of(SK_PIXEL_RGB);
        assert_ok(sk_background_find(b[1], &rgb, &found[1], &err), &err);
        assert_int_equal(found[0].count, found[1].count);
        for (int32_t k = 0; k < found[0].count; k++)
            assert_memory_equal(found[0].items[k].obb, found[1].items[k].obb, sizeof found[0].items[k].obb);
        if (i == 15)
            allocations = sk_memory_allocations();
    }
    assert_int_equal(found[0].count, 1);
    assert_int_equal(sk_memory_allocations(), allocations);
    for (int i = 0; i < 2; i++) {
        sk_background_close(&b[i]);
        sk_instances_free(&found[i]);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background *b = NULL;
    sk_error err = {0};
    sk_background_defaults(&s);
    s.gamma = 0;
    assert_int_equal(sk_background_open(&s, W, H, &b, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "gamma is 0: it goes from 0.01 to 100"));
    sk_background_defaults(&s);
    s.threshold = NAN;
    assert_int_equal(sk_background_open(&s, W, H, &b, &err), SK_ERR_ARG);
    sk_background_defaults(&s);
    sk_instances found;
    b = open_with(&s, &found);
    draw_ground(0, 100, 0);
    sk_frame f = frame_of(SK_PIXEL_GRAY);
    f.height = H - 1;
    assert_int_equal(sk_background_find(b, &f, &found, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "320x239"));
    sk_background_close(&b);
    sk_instances_free(&found);
}

/* Legs and wings that hang together with nothing are neither animals nor the measure of one. */
static void shreds_are_no_animals(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 170, 2);
    for (int i = 0; i < 5; i++) {
        draw_ground(i, 170, 2);
        for (int k = 0; k < 3; k++) {
            const double x = 60 + 100.0 * k, y = 100 + 3.0 * i;
            draw_ellipse(x, y, 44, 20, 0, 60);
            for (int leg = 0; leg < 4; leg++)
                draw_ellipse(x - 20 + 14.0 * leg, y + (leg % 2 ? 20 : -20), 9, 5, 1.5, 60);
        }
        find(b, &found);
        assert_int_equal(found.count, 3);
        for (int k = 0; k < 3; k++)
            assert_true(found.items[k].obb[2] > 40);
    }
    sk_background_close(&b);
    sk_instances_free(&found);
}

/* A light that goes out is no thousand animals. */
static void too_many_are_none(void **state)
{
    (void)state;
    sk_background_settings s;
    sk_background_defaults(&s);
    s.steady_light = false;
    s.most_found = 20;
    s.smallest_feature = 0;
    s.least_area = 1;
    sk_instances found;
    sk_background *b = open_with(&s, &found);
    prime_with_ground(b, 150, 0);
    draw_ground(0, 150, 0);
    for (int y = 0; y < H; y += 3)
        for (int x = 0; x < W; x += 3)
            pixels[y * W + x] = 20;
    find(b, &found);
    assert_int_equal(found.count, 0);
    sk_background_close(&b);
    sk_instances_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ellipse_is_measured),
        cmocka_unit_test(nothing_is_found_in_an_empty_place),
        cmocka_unit_test(flicker_is_found_without_steady_light),
        cmocka_unit_test(grounds_choose_what_counts),
        cmocka_unit_test(touching_ones_are_split_by_size),
        cmocka_unit_test(size_of_a_body_is_learned),
        cmocka_unit_test(light_that_changes_slowly_is_followed),
        cmocka_unit_test(formats_agree_and_nothing_is_allocated),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(shreds_are_no_animals),
        cmocka_unit_test(too_many_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
