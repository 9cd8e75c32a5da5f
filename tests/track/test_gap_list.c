/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps as sightings go by: which there are, what is told in them, and the spline beside that of the whole track. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/memory.h"
#include "track/gaps.h"
#include "track/spline.h"

#include <math.h>

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9))
        fail_msg("%.15g, not %.15g", value, wanted);
}

static void see(sk_gaps *gaps, int32_t track, int64_t at)
{
    sk_error err;
    const sk_sighting s = {.track = track, .frame = 100 + 2 * at, .x = 10.0 * (double)at};
    assert_ok(sk_gaps_add(gaps, at, &s, &err), &err);
}

static void which_gaps_there_are(void **state)
{
    (void)state;
    sk_error err;
    sk_gaps gaps;
    assert_ok(sk_gaps_open(&gaps, 3, 2, false, &err), &err);
    see(&gaps, 1, 0); /* the first frame is one, too */
    see(&gaps, 0, 1), see(&gaps, 2, 1);
    see(&gaps, 1, 2);                   /* one between */
    see(&gaps, 0, 2);                   /* none */
    see(&gaps, 2, 5);                   /* three: too many */
    see(&gaps, 0, 5), see(&gaps, 1, 5); /* two each, in another order */
    see(&gaps, 2, 7);
    sk_gaps_finish(&gaps);
    static const struct {
        int32_t track;
        int64_t from, to;
    } want[] = {{1, 0, 2}, {0, 2, 5}, {1, 2, 5}, {2, 5, 7}};
    assert_int_equal(gaps.count, 4);
    for (int i = 0; i < 4; i++) {
        const sk_gap *g = &gaps.items[i];
        assert_true(g->before.track == want[i].track && g->after.track == want[i].track);
        assert_true(g->from == want[i].from && g->to == want[i].to);
        assert_true(g->before.frame == 100 + 2 * g->from && g->after.frame == 100 + 2 * g->to);
        assert_true(g->bend_before[0] == 0 && g->bend_after[1] == 0);
    }
    static const size_t behind[] = {0, 0, 1, 1, 1, 3, 3, 4, 4};
    for (int at = 0; at < 9; at++)
        assert_int_equal(sk_gaps_behind(&gaps, at), behind[at]);
    sk_gaps_free(&gaps);
    assert_true(!gaps.items && !gaps.count);
    assert_int_equal(sk_gaps_behind(&gaps, 3), 0);
    assert_ok(sk_gaps_open(&gaps, 0, 2, true, &err), &err); /* nobody: nothing to fill */
    sk_gaps_finish(&gaps);
    assert_int_equal(gaps.count, 0);
    sk_gaps_free(&gaps);
    assert_ok(sk_gaps_open(&gaps, 2, 2, true, &err), &err); /* given up before the end */
    see(&gaps, 1, 4);
    sk_gaps_free(&gaps);
}

static void what_is_told_in_a_gap(void **state)
{
    (void)state;
    const sk_gap gap = {.before = {.frame = 10,
                                   .track = 4,
                                   .place = 9,
                                   .detection = 3,
                                   .x = 100,
                                   .y = 50,
                                   .heading = 6.2,
                                   .major = 40,
                                   .minor = 10,
                                   .angle = 3.1,
                                   .score = 0.9,
                                   .certainty = 0.8,
                                   .uncertainty = 2,
                                   .box = {{0, 10, 20, 30}, {1, 2, 30, 10, 0.1}},
                                   .class_id = 5},
                        .after = {.frame = 18,
                                  .x = 140,
                                  .y = 30,
                                  .heading = 0.1,
                                  .major = 44,
                                  .minor = 14,
                                  .angle = 0.1,
                                  .certainty = 0.6,
                                  .uncertainty = 3,
                                  .box = {{4, 18, 32, 46}, {5, 10, 42, 26, 3.1}},
                                  .class_id = 6}};
    const sk_sighting s = sk_gap_at(&gap, 12); /* a quarter of the way */
    assert_true(s.frame == 12 && s.track == 4 && s.place == 4 && s.detection == -1 && s.class_id == 5);
    assert_true(s.state == SK_TRACK_COVERED && isnan(s.score));
    assert_true(s.x == 110 && s.y == 45 && s.major == 41 && s.minor == 11);
    assert_true(s.certainty == 0.6 && s.uncertainty == 3);
    for (int i = 0; i < 4; i++) {
        const double upright[] = {1, 12, 23, 34}, turned[] = {2, 4, 33, 14};
        assert_true(s.box.upright[i] == upright[i] && s.box.turned[i] == turned[i]);
    }
    const double heading = atan2(0.75 * sin(6.2) + 0.25 * sin(0.1), 0.75 * cos(6.2) + 0.25 * cos(0.1));
    near_to(s.heading, heading + 2 * M_PI);
    near_to(s.angle, atan2(0.75 * sin(6.2) + 0.25 * sin(0.2), 0.75 * cos(6.2) + 0.25 * cos(0.2)) / 2 + M_PI);
    near_to(s.box.turned[4], atan2(0.75 * sin(0.2) + 0.25 * sin(6.2), 0.75 * cos(0.2) + 0.25 * cos(6.2)) / 2);
    sk_gap bent = gap; /* each axis by itself, each end by itself */
    bent.bend_before[0] = 3;
    bent.bend_after[1] = -6;
    const sk_sighting b = sk_gap_at(&bent, 12);
    near_to(b.x, 110 + 3 * (0.75 * 0.75 * 0.75 - 0.75) * 64 / 6);
    near_to(b.y, 45 - 6 * (0.25 * 0.25 * 0.25 - 0.25) * 64 / 6);
}

/* The natural spline's bends by elimination with a full matrix. */
static void bends_of(const double *x, const double *y, int n, double *bend)
{
    static double a[64][65];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k <= n; k++)
            a[i][k] = 0;
        if (i == 0 || i == n - 1) {
            a[i][i] = 1;
            continue;
        }
        a[i][i - 1] = (x[i] - x[i - 1]) / 6;
        a[i][i] = (x[i + 1] - x[i - 1]) / 3;
        a[i][i + 1] = (x[i + 1] - x[i]) / 6;
        a[i][n] = (y[i + 1] - y[i]) / (x[i + 1] - x[i]) - (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
    }
    for (int r = 0; r < n; r++)
        for (int q = 0; q < n; q++) {
            const double share = q == r ? 0 : a[q][r] / a[r][r];
            for (int k = 0; k <= n && q != r; k++)
                a[q][k] -= share * a[r][k];
        }
    for (int i = 0; i < n; i++)
        bend[i] = a[i][n] / a[i][i];
}

static void curves_are_those_of_the_sixteen_on_each_side(void **state)
{
    (void)state;
    sk_error err;
    for (int n = 2; n < 60; n += n < 8 ? 1 : 7) {
        sk_gaps gaps;
        unsigned dice = 4 + (unsigned)n;
        double frame[64], x[2][64];
        assert_ok(sk_gaps_open(&gaps, 2, 5, true, &err), &err);
        for (int i = 0; i < n; i++) {
            frame[i] = i ? frame[i - 1] + 1 + (int)(recorded_chance(&dice) * 3) : 7;
            x[0][i] = recorded_between(&dice, 0, 100);
            x[1][i] = recorded_between(&dice, 0, 100);
            const sk_sighting s = {.track = 1, .frame = (int64_t)frame[i], .x = x[0][i], .y = x[1][i]};
            assert_ok(sk_gaps_add(&gaps, s.frame, &s, &err), &err);
        }
        sk_gaps_finish(&gaps);
        size_t at = 0;
        for (int i = 0; i + 1 < n; i++) {
            if (frame[i + 1] - frame[i] < 2)
                continue;
            const sk_gap *g = &gaps.items[at++];
            assert_true(g->from == (int64_t)frame[i] && g->to == (int64_t)frame[i + 1]);
            const int from = i > 15 ? i - 15 : 0, to = i + 16 < n ? i + 16 : n - 1, m = to - from + 1;
            double bend[64] = {0}, other[64] = {0}, work[64];
            for (int axis = 0; axis < 2; axis++) {
                if (m >= 4) { /* fewer: straight */
                    bends_of(frame + from, x[axis] + from, m, bend);
                    sk_spline_bends(frame + from, x[axis] + from, (size_t)m, other, work);
                }
                for (int k = 0; k < m; k++)
                    near_to(other[k], bend[k]);
                near_to(g->bend_before[axis], bend[i - from]);
                near_to(g->bend_after[axis], bend[i - from + 1]);
            }
        }
        assert_int_equal(at, gaps.count);
        sk_gaps_free(&gaps);
    }
    double bend[2] = {5, 5}, work[2]; /* two points have a line */
    sk_spline_bends((const double[]){1, 2}, (const double[]){3, 9}, 2, bend, work);
    assert_true(bend[0] == 0 && bend[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(which_gaps_there_are),
                                       cmocka_unit_test(what_is_told_in_a_gap),
                                       cmocka_unit_test(curves_are_those_of_the_sixteen_on_each_side)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
