/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/kalman.h"

#include <math.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_worked_example), cmocka_unit_test(frames_that_are_left_out_count),
        cmocka_unit_test(noise_lies_along_the_body), cmocka_unit_test(a_jump_is_clipped),
        cmocka_unit_test(the_covariance_stays_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
