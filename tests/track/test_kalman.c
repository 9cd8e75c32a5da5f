/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/kalman.h"

#include <math.h>
#include <stdbool.h>

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-12))
        fail_msg("%.15g, not %.15g", value, wanted);
}

static const sk_kalman_motion still = {.frames = 1, .damping = 1, .turn_c = 1, .axis_c = 1};

/* By hand: place 0 +- 2, velocity 0 +- 1; a frame later place +- sqrt(5), then a look at 10 +- sqrt(5): half way. */
static void a_worked_example(void **state)
{
    (void)state;
    sk_kalman k;
    sk_kalman_begin(&k, 0, 0, (sk_cov2){4, 0, 4}, 1);
    sk_kalman_predict(&k, &still);
    near_to(k.cov[0][0], 5);
    near_to(k.cov[0][2], 1);
    near_to(k.cov[2][2], 1);
    sk_kalman_correct(&k, 10, 20, (sk_cov2){5, 0, 5}, 0);
    near_to(k.at[0], 5);
    near_to(k.at[1], 10);
    near_to(k.at[2], 1); /* gain of the velocity: 1 / 10 */
    near_to(k.at[3], 2);
    near_to(k.cov[0][0], 2.5);
    near_to(k.cov[0][2], 0.5);
    near_to(k.cov[2][2], 0.9);
    near_to(k.cov[0][1], 0);
    sk_kalman_predict(&k, &still);
    near_to(k.at[0], 6);
    near_to(k.at[1], 12);
}

/* Three frames at once are three frames, with damping and turning. */
static void frames_that_are_left_out_count(void **state)
{
    (void)state;
    sk_kalman a, b;
    sk_kalman_begin(&a, 5, 6, (sk_cov2){1, 0, 1}, 0.5);
    a.at[2] = 2;
    a.at[3] = -1;
    b = a;
    sk_kalman_motion m = still;
    m.damping = 0.9;
    for (int i = 0; i < 3; i++)
        sk_kalman_predict(&a, &m);
    m.frames = 3;
    sk_kalman_predict(&b, &m);
    for (int i = 0; i < 4; i++)
        near_to(a.at[i], b.at[i]);
    near_to(a.at[0], 5 + 2 * (1 + 0.9 + 0.81));
    near_to(a.at[2], 2 * 0.729);
    near_to(a.cov[0][0], b.cov[0][0]);
    near_to(a.cov[0][2], b.cov[0][2]);
}

static void noise_lies_along_the_body(void **state)
{
    (void)state;
    sk_kalman k;
    sk_kalman_begin(&k, 0, 0, (sk_cov2){1, 0, 1}, 1);
    k.at[2] = 3;
    sk_kalman_motion m = {
        .frames = 1, .damping = 1, .turn_c = 0, .turn_s = 1, .axis_c = 0, .axis_s = 1, .along = 3};
    sk_kalman_predict(&k, &m);
    near_to(k.cov[2][2], 1);
    near_to(k.cov[3][3], 4);
    near_to(k.cov[0][0], 2);
    near_to(k.cov[1][1], 3); /* 1 + 1 + 3 / 3 */
    near_to(k.at[2], 0);     /* the velocity has turned by a quarter */
    near_to(k.at[3], 3);
    const sk_cov2 slanted = sk_cov2_turned(4, 1, sqrt(0.5), sqrt(0.5));
    near_to(slanted.xx, 2.5);
    near_to(slanted.xy, 1.5);
    near_to(slanted.yy, 2.5);
}

static void a_jump_is_clipped(void **state)
{
    (void)state;
    sk_kalman k;
    sk_kalman_begin(&k, 0, 0, (sk_cov2){1, 0, 1}, 1);
    sk_kalman_correct(&k, 300, 400, (sk_cov2){1, 0, 1}, 5);
    near_to(k.at[0], 1.5);
    near_to(k.at[1], 2);
}

/* Exact looks and none, for long: the covariance stays one. */
static void the_covariance_stays_sound(void **state)
{
    (void)state;
    sk_kalman k;
    sk_kalman_begin(&k, 1e5, 1e5, (sk_cov2){1, 0, 1}, 1);
    sk_kalman_motion m = {
        .frames = 1, .damping = 0.95, .along = 1e-3, .across = 1e-9, .axis_c = 0.6, .axis_s = 0.8};
    for (int i = 0; i < 20000; i++) {
        m.turn_c = cos(i * 0.01);
        m.turn_s = sin(i * 0.01);
        sk_kalman_predict(&k, &m);
        if (i % 7)
            sk_kalman_correct(&k, 1e5 + i % 3, 1e5 - i % 5, (sk_cov2){1e-12, 0, 1e-12}, 0);
        for (int r = 0; r < 4; r++)
            for (int c = 0; c < 4; c++) {
                assert_true(isfinite(k.cov[r][c]) && k.cov[r][c] == k.cov[c][r]);
                if (r != c)
                    assert_true(k.cov[r][c] * k.cov[r][c] < k.cov[r][r] * k.cov[c][c]);
            }
    }
}

/* --- against whole matrices --- */

typedef struct matrix {
    double v[4][4];
} matrix;

static matrix times(const matrix *a, const matrix *b, bool turned)
{
    matrix out = {0};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                out.v[i][j] += a->v[i][k] * (turned ? b->v[j][k] : b->v[k][j]);
    return out;
}

/* A matrix that can be a covariance, every entry of it at work: A A' + I. */
static void any_kalman(sk_kalman *k, unsigned round)
{
    matrix a, p;
    for (unsigned i = 0; i < 16; i++)
        a.v[i / 4][i % 4] = (double)((round * 31 + i * i * 7 + i * 13) % 17) / 17 - 0.4;
    p = times(&a, &a, true);
    for (int i = 0; i < 4; i++) {
        k->at[i] = (double)((round * 5 + (unsigned)i * 3) % 11) - 5;
        for (int j = 0; j < 4; j++)
            k->cov[i][j] = p.v[i][j] + (i == j);
    }
}

static void as_matrices_say(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 30; round++) {
        sk_kalman k, before;
        any_kalman(&k, round);
        before = k;
        const double d = 0.9, turn = 0.1 * round, axis = 0.3 * round, q[2] = {0.5, 0.2};
        const double n = 1 + round % 3, left = pow(d, n), g = (1 - left) / (1 - d);
        const double c = left * cos(turn), s = left * sin(turn), qc = cos(axis), qs = sin(axis);
        const matrix f = {{{1, 0, g, 0}, {0, 1, 0, g}, {0, 0, c, -s}, {0, 0, s, c}}};
        matrix p, fp, want;
        for (int i = 0; i < 16; i++)
            p.v[i / 4][i % 4] = before.cov[i / 4][i % 4];
        fp = times(&f, &p, false);
        want = times(&fp, &f, true);
        const double v[2][2] = {{q[0] * qc * qc + q[1] * qs * qs, (q[0] - q[1]) * qc * qs},
                                {(q[0] - q[1]) * qc * qs, q[0] * qs * qs + q[1] * qc * qc}};
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) { /* of an acceleration that is white: n, n²/2, n³/3 */
                want.v[2 + i][2 + j] += v[i][j] * n;
                want.v[i][2 + j] += v[i][j] * n * n / 2;
                want.v[2 + i][j] += v[i][j] * n * n / 2;
                want.v[i][j] += v[i][j] * n * n * n / 3 + (i == j) * 0.7 * n;
            }
        const sk_kalman_motion m = {.frames = n,
                                    .damping = d,
                                    .turn_c = cos(turn),
                                    .turn_s = sin(turn),
                                    .axis_c = qc,
                                    .axis_s = qs,
                                    .along = q[0],
                                    .across = q[1],
                                    .jump = 0.7};
        sk_kalman_predict(&k, &m);
        for (int i = 0; i < 4; i++) {
            double at = 0;
            for (int j = 0; j < 4; j++) {
                at += f.v[i][j] * before.at[j];
                near_to(k.cov[i][j], want.v[i][j]);
            }
            near_to(k.at[i], at);
        }
        /* and a look: the short form K = P H' S^-1, P - K H P */
        before = k;
        const sk_cov2 r = {1.5, 0.4, 0.8};
        const double sxx = k.cov[0][0] + r.xx, sxy = k.cov[0][1] + r.xy, syy = k.cov[1][1] + r.yy;
        const double det = sxx * syy - sxy * sxy, dx = 3 - k.at[0], dy = -2 - k.at[1];
        sk_kalman_correct(&k, 3, -2, r, 0);
        for (int i = 0; i < 4; i++) {
            const double *row = before.cov[i];
            const double gain[2] = {(row[0] * syy - row[1] * sxy) / det, (row[1] * sxx - row[0] * sxy) / det};
            near_to(k.at[i], before.at[i] + gain[0] * dx + gain[1] * dy);
            for (int j = 0; j < 4; j++)
                near_to(k.cov[i][j], row[j] - gain[0] * before.cov[0][j] - gain[1] * before.cov[1][j]);
        }
    }
}

/* What cannot be a covariance becomes one: every pair of entries, and variances below the least. */
static void unsound_ones_are_mended(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            sk_kalman k;
            sk_kalman_begin(&k, 0, 0, (sk_cov2){1, 0, 1}, 1);
            k.cov[i][j] = k.cov[j][i] = -50;
            sk_kalman_correct(&k, 0, 0, (sk_cov2){1e12, 0, 1e12}, 0); /* says nothing */
            if (!(fabs(k.cov[i][j] + 0.99 * sqrt(k.cov[i][i] * k.cov[j][j])) < 1e-6) ||
                k.cov[i][j] != k.cov[j][i])
                fail_msg("%d %d: %g of %g and %g", i, j, k.cov[i][j], k.cov[i][i], k.cov[j][j]);
        }
    sk_kalman k;
    sk_kalman_begin(&k, 0, 0, (sk_cov2){0, 0, 0}, 0);
    sk_kalman_correct(&k, 0, 0, (sk_cov2){1, 0, 1}, 0);
    for (int i = 0; i < 4; i++)
        assert_true(k.cov[i][i] == (i < 2 ? 1e-4 : 1e-8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worked_example),           cmocka_unit_test(frames_that_are_left_out_count),
        cmocka_unit_test(noise_lies_along_the_body),  cmocka_unit_test(a_jump_is_clipped),
        cmocka_unit_test(the_covariance_stays_sound), cmocka_unit_test(as_matrices_say),
        cmocka_unit_test(unsound_ones_are_mended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
