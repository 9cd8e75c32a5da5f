/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes that are paired by their overlap: every pair that shares anything is found, and the sides of a box may be told in four
 * ways. */
#include "support/recorded.h"
#include "support/test.h"

#include "track/boxes.h"

#include <math.h>
#include <string.h>

enum { MOST = 60 };

static sk_box some_box(unsigned *dice, bool turned, double wide)
{
    double luck[5];
    for (int i = 0; i < 5; i++)
        luck[i] = recorded_chance(dice);
    return sk_box_make(wide * luck[0], wide * luck[1] / 3, 4 + 40 * luck[2], 4 + 40 * luck[3],
                       turned ? 6 * luck[4] : 0, turned);
}

/* Shares of points that lie in one, in the other, in both: slow and obvious. */
static double overlap_by_points(const sk_box *a, const sk_box *b)
{
    int in[3] = {0};
    for (int i = -60; i <= 60; i++)
        for (int k = -60; k <= 60; k++) {
            const double x = a->x + i * 0.6, y = a->y + k * 0.6;
            bool inside[2];
            for (int j = 0; j < 2; j++) {
                const sk_box *o = j ? b : a;
                const double dx = x - o->x, dy = y - o->y;
                inside[j] =
                    fabs(dx * o->c + dy * o->s) <= o->w / 2 && fabs(dy * o->c - dx * o->s) <= o->h / 2;
            }
            in[0] += inside[0], in[2] += inside[0] && inside[1];
        }
    const double shared = in[2] * 0.36, all = a->w * a->h + b->w * b->h - shared;
    return shared / all;
}

static void overlaps_are_areas(void **state)
{
    (void)state;
    unsigned dice = 5;
    for (int i = 0; i < 200; i++) {
        const sk_box a = some_box(&dice, i % 4 >= 2, 30), b = some_box(&dice, i % 2, 30);
        const double got = sk_box_overlap(&a, &b);
        assert_true(fabs(got - sk_box_overlap(&b, &a)) < 1e-9);
        if (fabs(got - overlap_by_points(&a, &b)) > 0.03)
            fail_msg("%d: %g, by points %g", i, got, overlap_by_points(&a, &b));
        assert_true(fabs(sk_box_overlap(&a, &a) - 1) < 1e-9);
        sk_box apart = a;
        apart.x += 200;
        assert_true(sk_box_overlap(&a, &apart) == 0);
    }
    const sk_box one = sk_box_make(0, 0, 10, 10, 0, false), half = sk_box_make(5, 0, 10, 10, 0, false),
                 touching = sk_box_make(10, 0, 10, 10, 0, false), inner = sk_box_make(1, 1, 5, 4, 0, false);
    assert_true(fabs(sk_box_overlap(&one, &half) - 50.0 / 150) < 1e-12);
    assert_true(sk_box_overlap(&one, &touching) == 0);
    assert_true(fabs(sk_box_overlap(&one, &inner) - 0.2) < 1e-12);
}

static void no_pair_is_overlooked(void **state)
{
    (void)state;
    unsigned dice = 6;
    sk_error err = {0};
    sk_box_pairs pairs = {0};
    assert_ok(sk_box_pairs_open(&pairs, &err), &err);
    for (int round = 0; round < 80; round++) {
        sk_box rows[MOST], columns[MOST];
        const int32_t n = 1 + round * 37 % MOST, m = 1 + round * 23 % MOST;
        const double wide = round % 3 == 0 ? 100 : round % 3 == 1 ? 700 : 3000;
        for (int32_t i = 0; i < n; i++)
            rows[i] = some_box(&dice, round % 4 >= 2, wide);
        for (int32_t i = 0; i < m; i++)
            columns[i] = some_box(&dice, round % 2, wide);
        if (round % 5 == 1) { /* corner to corner, as far away as turned boxes can meet */
            rows[0] = sk_box_make(columns[0].x + 50, columns[0].y, 40, 40, 0.785398, true);
            columns[0] = sk_box_make(columns[0].x, columns[0].y, 40, 40, 0.785398, true);
        }
        if (round % 7 == 3)
            rows[n - 1].x = NAN; /* is nowhere */
        assert_ok(sk_box_pairs_find(&pairs, rows, n, columns, m, &err), &err);
        int32_t wanted = 0;
        for (int32_t i = 0; i < n; i++)
            for (int32_t j = 0; j < m; j++) {
                const double overlap = isnan(rows[i].x) ? 0 : sk_box_overlap(&rows[i], &columns[j]);
                int found = 0;
                for (int32_t k = 0; k < pairs.n; k++)
                    if (pairs.pairs[k].row == i && pairs.pairs[k].column == j) {
                        found++;
                        assert_true(pairs.pairs[k].cost == overlap);
                    }
                assert_int_equal(found, overlap > 0);
                wanted += overlap > 0;
            }
        assert_int_equal(pairs.n, wanted);
    }
    assert_ok(sk_box_pairs_find(&pairs, NULL, 0, NULL, 0, &err), &err);
    assert_int_equal(pairs.n, 0);
    sk_box_pairs_close(&pairs);
}

/* Whichever of the four ways a box is told in, alignment finds the one that is like another; and it stays the same box. */
static void boxes_are_told_alike(void **state)
{
    (void)state;
    unsigned dice = 7;
    for (int i = 0; i < 200; i++) {
        const sk_box like = some_box(&dice, true, 100);
        const double off = recorded_between(&dice, -0.3, 0.3);
        for (int k = -5; k <= 5; k++) {
            sk_box b = sk_box_make(like.x, like.y, k & 1 ? like.h : like.w, k & 1 ? like.w : like.h,
                                   like.angle + off + k * SK_PI_D / 2, true);
            const double area = b.w * b.h;
            sk_box_align(&b, &like);
            assert_true(fabs(b.w * b.h - area) < 1e-9);
            assert_true(fabs(b.w - like.w) < 1e-9 && fabs(b.h - like.h) < 1e-9);
            assert_true(fabs(b.angle - like.angle - off) < 1e-9);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(overlaps_are_areas),
                                       cmocka_unit_test(no_pair_is_overlooked),
                                       cmocka_unit_test(boxes_are_told_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
