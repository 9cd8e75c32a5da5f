/* SPDX-License-Identifier: Apache-2.0 */
/* Corners of turned boxes and the boxes around them: cases worked out by hand, and there and back. */
#include "results/shape.h"
#include "support/test.h"

#include <math.h>
#include <stdint.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-5)

static void corners_go_round_in_order(void **state)
{
    (void)state;
    /* 8 long, 2 wide at (10, 20): upright, a quarter turned, and by the angle of 3-4-5 */
    static const struct {
        float obb[5];
        double xy[8];
    } cases[] = {{{10, 20, 8, 2, 0}, {14, 21, 14, 19, 6, 19, 6, 21}},
                 {{10, 20, 8, 2, 1.57079632679f}, {9, 24, 11, 24, 11, 16, 9, 16}},
                 {{10, 20, 10, 5, 0.9272952180f}, {11, 25.5, 15, 22.5, 9, 14.5, 5, 17.5}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double xy[8];
        sk_obb_corners(cases[i].obb, xy);
        for (int k = 0; k < 8; k++)
            NEAR(xy[k], cases[i].xy[k]);
    }
}

static void a_box_comes_back_from_its_corners(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        const float obb[5] = {100 + (float)i, 50 - (float)i, 30, 10 + (float)i / 10, 0.04f * (float)i};
        double xy[8], back[5], again[8], lost = 0;
        sk_obb_corners(obb, xy);
        sk_obb_of_corners(xy, back);
        NEAR(back[0], (double)obb[0]);
        NEAR(back[1], (double)obb[1]);
        NEAR(fmax(back[2], back[3]), 30);
        NEAR(fmin(back[2], back[3]), (double)obb[3]);
        const float same[5] = {(float)back[0], (float)back[1], (float)back[2], (float)back[3],
                               (float)back[4]};
        sk_obb_corners(same, again);
        for (int k = 0; k < 4; k++) { /* the same four points, in whichever order */
            double nearest = INFINITY;
            for (int j = 0; j < 4; j++)
                nearest = fmin(nearest, hypot(xy[2 * k] - again[2 * j], xy[2 * k + 1] - again[2 * j + 1]));
            lost = fmax(lost, nearest);
        }
        assert_true(lost < 1e-3);
    }
    double point[8] = {3, 4, 3, 4, 3, 4, 3, 4}, none[5];
    sk_obb_of_corners(point, none);
    assert_true(none[0] == 3 && none[1] == 4 && none[2] == 0 && none[3] == 0 && none[4] == 0);
    /* points of no rectangle: the smallest one that holds them all */
    double kite[8] = {0, 0, 4, 0, 4, 2, 1, 1}, around[5];
    sk_obb_of_corners(kite, around);
    NEAR(around[2] * around[3], 8);
    NEAR(around[0], 2);
    NEAR(around[1], 1);
}

/* How far points reach along a direction. */
static double reach(const double xy[8], double dx, double dy)
{
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < 4; k++) {
        low = fmin(low, xy[2 * k] * dx + xy[2 * k + 1] * dy);
        high = fmax(high, xy[2 * k] * dx + xy[2 * k + 1] * dy);
    }
    return high - low;
}

/* Of all rectangles with a side along two of the points none is smaller, and all points lie in it. */
static void the_smallest_around_any_four_points(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 200; round++) {
        double xy[8], obb[5], least = INFINITY;
        for (int i = 0; i < 8; i++) {
            seed = seed * 1664525u + 1013904223u;
            xy[i] = (double)(seed >> 16) / 655.36 * (i % 2 ? 0.4 : 1);
        }
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) {
                const double dx = xy[2 * i] - xy[2 * j], dy = xy[2 * i + 1] - xy[2 * j + 1];
                const double size = hypot(dx, dy);
                least = fmin(least, reach(xy, dx / size, dy / size) * reach(xy, -dy / size, dx / size));
            }
        sk_obb_of_corners(xy, obb);
        NEAR(obb[2] * obb[3] / least, 1);
        const double c = cos(obb[4]), s = sin(obb[4]);
        for (int k = 0; k < 4; k++) {
            const double x = xy[2 * k] - obb[0], y = xy[2 * k + 1] - obb[1];
            assert_true(fabs(x * c + y * s) <= obb[2] / 2 + 1e-6);
            assert_true(fabs(y * c - x * s) <= obb[3] / 2 + 1e-6);
        }
    }
}

static void bounds_are_of_what_there_is(void **state)
{
    (void)state;
    sk_keypoint points[] = {{99, 99, 1}, {5, 8, 1}, {NAN, NAN, 0}, {2, 9, 1}, {99, 99, 1}};
    sk_instances all = {.count = 1, .n_keypoints = 3, .keypoints = points};
    sk_found in = {.has = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS,
                   .box = {1, 2, 11, 32},
                   .obb = {10, 20, 8, 2, 1.57079632679f},
                   .first_keypoint = 1};
    double box[4];
    sk_instance_bounds(&all, &in, box);
    assert_true(box[0] == 1 && box[1] == 2 && box[2] == 10 && box[3] == 30);
    in.has = SK_HAS_OBB | SK_HAS_KEYPOINTS;
    sk_instance_bounds(&all, &in, box);
    NEAR(box[0], 9);
    NEAR(box[1], 16);
    NEAR(box[2], 2);
    NEAR(box[3], 8);
    in.obb[4] = 0.9272952180f, in.obb[2] = 10, in.obb[3] = 5;
    sk_instance_bounds(&all, &in, box);
    NEAR(box[0], 5);
    NEAR(box[1], 14.5);
    NEAR(box[2], 10);
    NEAR(box[3], 11);
    in.has = SK_HAS_KEYPOINTS;
    sk_instance_bounds(&all, &in, box);
    assert_true(box[0] == 2 && box[1] == 8 && box[2] == 3 && box[3] == 1);
    points[1].x = points[3].x = NAN; /* nothing was found */
    sk_instance_bounds(&all, &in, box);
    assert_true(box[0] == 0 && box[1] == 0 && box[2] == 0 && box[3] == 0);
    points[1] = (sk_keypoint){7, 8, 1}; /* one point is a box without size */
    sk_instance_bounds(&all, &in, box);
    assert_true(box[0] == 7 && box[1] == 8 && box[2] == 0 && box[3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_go_round_in_order),
        cmocka_unit_test(a_box_comes_back_from_its_corners),
        cmocka_unit_test(the_smallest_around_any_four_points),
        cmocka_unit_test(bounds_are_of_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
