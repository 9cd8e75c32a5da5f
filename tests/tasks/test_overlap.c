/* SPDX-License-Identifier: Apache-2.0 */
/* How much two shapes share: cases worked out by hand, and against counting points. */
#include "support/test.h"

#include "tasks/overlap.h"

#include <math.h>

static void near_to(double value, double wanted, double off)
{
    if (!(fabs(value - wanted) <= off))
        fail_msg("%.12g, not %.12g", value, wanted);
}

static void boxes_by_hand(void **state)
{
    (void)state;
    static const struct {
        double a[4], b[4], share, crowd;
    } cases[] = {
        {{0, 0, 10, 10}, {0, 0, 10, 10}, 1, 1},
        {{0, 0, 10, 10}, {5, 0, 10, 10}, 50.0 / 150, 0.5},
        {{0, 0, 10, 10}, {5, 5, 20, 20}, 25.0 / 475, 0.25},
        {{2, 3, 4, 5}, {0, 0, 20, 20}, 20.0 / 400, 1},
        {{0, 0, 10, 10}, {10, 0, 10, 10}, 0, 0}, /* they touch */
        {{0, 0, 10, 10}, {0, 10, 10, 10}, 0, 0},
        {{0, 0, 10, 10}, {20, 2, 3, 3}, 0, 0},
        {{0, 0, 0, 10}, {0, 0, 10, 10}, 0, 0},
        {{-6, -4, 4, 2}, {-5, -3, 4, 2}, 3.0 / 13, 3.0 / 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double *a = cases[i].a, *b = cases[i].b;
        near_to(sk_overlap_boxes(a, b, false), cases[i].share, 1e-12);
        near_to(sk_overlap_boxes(b, a, false), cases[i].share, 1e-12);
        near_to(sk_overlap_boxes(a, b, true), cases[i].crowd, 1e-12);
        /* the same boxes as turned ones that are not turned */
        const double p[5] = {a[0] + a[2] / 2, a[1] + a[3] / 2, a[2], a[3], 0};
        const double q[5] = {b[0] + b[2] / 2, b[1] + b[3] / 2, b[2], b[3], 0};
        near_to(sk_overlap_oriented(p, q, false), cases[i].share, 1e-12);
        near_to(sk_overlap_oriented(p, q, true), cases[i].crowd, 1e-12);
    }
}

static void turned_boxes_by_hand(void **state)
{
    (void)state;
    const double square[5] = {0, 0, 10, 10, 0}, diamond[5] = {0, 0, 10, 10, acos(-1) / 4};
    const double octagon = 200 * (sqrt(2) - 1); /* a regular one of inner radius 5 */
    near_to(sk_overlap_oriented(square, diamond, false), octagon / (200 - octagon), 1e-12);
    near_to(sk_overlap_oriented(square, diamond, true), octagon / 100, 1e-12);
    const double quarter[5] = {0, 0, 10, 10, acos(-1) / 2};
    near_to(sk_overlap_oriented(square, quarter, false), 1, 1e-12);
    const double cross[5] = {0, 0, 20, 4, 0}, beam[5] = {0, 0, 20, 4, acos(-1) / 2};
    near_to(sk_overlap_oriented(cross, beam, false), 16.0 / 144, 1e-12);
    /* near enough for their corners' circles to meet, and yet apart, along a side and along a diagonal */
    const double beside[5] = {10.5, 0, 10, 10, 0}, along[5] = {9, 9, 10, 10, acos(-1) / 4};
    near_to(sk_overlap_oriented(square, beside, false), 0, 0);
    near_to(sk_overlap_oriented(square, along, false), 0, 0);
    const double flat[5] = {0, 0, 10, 0, 0.3};
    near_to(sk_overlap_oriented(square, flat, false), 0, 0);
    near_to(sk_overlap_oriented(flat, square, true), 0, 0);
}

static bool holds(const double b[5], double x, double y)
{
    const double c = cos(b[4]), s = sin(b[4]), dx = x - b[0], dy = y - b[1];
    return fabs(dx * c + dy * s) < b[2] / 2 && fabs(dy * c - dx * s) < b[3] / 2;
}

static void as_counting_points_says(void **state)
{
    (void)state;
    for (int round = 0; round < 24; round++) {
        const double a[5] = {0, 0, 20, 8, 0.37 * round};
        const double b[5] = {(round % 5 - 2) * 3, (round % 3 - 1) * 2.5, 14, 10 - round % 4,
                             0.9 - 0.21 * round};
        int both = 0, either = 0, first = 0;
        for (int i = 0; i < 240; i++)
            for (int k = 0; k < 240; k++) {
                const double x = (i + 0.5) / 6 - 20, y = (k + 0.5) / 6 - 20;
                const bool in = holds(a, x, y), other = holds(b, x, y);
                both += in && other, either += in || other, first += in;
            }
        near_to(sk_overlap_oriented(a, b, false), (double)both / either, 0.012);
        near_to(sk_overlap_oriented(b, a, false), sk_overlap_oriented(a, b, false), 1e-12);
        near_to(sk_overlap_oriented(a, b, true), (double)both / first, 0.012);
        double far[2][5]; /* far off it is the same */
        for (int n = 0; n < 5; n++)
            far[0][n] = a[n] + (n < 2 ? 1e5 : 0), far[1][n] = b[n] + (n < 2 ? 1e5 : 0);
        near_to(sk_overlap_oriented(far[0], far[1], false), sk_overlap_oriented(a, b, false), 1e-7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_by_hand),
        cmocka_unit_test(turned_boxes_by_hand),
        cmocka_unit_test(as_counting_points_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
