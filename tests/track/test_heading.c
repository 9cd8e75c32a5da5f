/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/heading.h"

#include <math.h>

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9))
        fail_msg("%.12g, not %.12g", value, wanted);
}

static void angles_wrap(void **state)
{
    (void)state;
    near_to(sk_angle_turn(-0.5), SK_TAU_D - 0.5);
    near_to(sk_angle_turn(SK_TAU_D), 0);
    near_to(sk_angle_turn(7 * SK_PI_D), SK_PI_D);
    assert_true(sk_angle_turn(-1e-18) < SK_TAU_D);
    near_to(sk_angle_axis(SK_PI_D), 0);
    near_to(sk_angle_axis(-0.25), SK_PI_D - 0.25);
    near_to(sk_angle_axis(1.5 * SK_PI_D), SK_PI_D / 2);
    near_to(sk_angle_between(0.1, SK_TAU_D - 0.1), 0.2);
    near_to(sk_angle_between(SK_TAU_D - 0.1, 0.1), -0.2);
    near_to(sk_axis_between(0.1, SK_PI_D - 0.1), 0.2);
    near_to(sk_axis_between(0, SK_PI_D / 2), SK_PI_D / 2);
    near_to(sk_axis_between(0, SK_PI_D), 0);
}

/* An axis that turns through 0 and pi gives a heading that turns on. */
static void an_axis_is_followed_around(void **state)
{
    (void)state;
    sk_heading h = {0};
    sk_heading_correct(&h, 3.0, true, 0.01, 1);
    for (int i = 1; i < 300; i++) {
        const double truth = 3.0 + 0.05 * i;
        sk_heading_predict(&h, 1, 0.95, 0.01);
        sk_heading_correct(&h, sk_angle_axis(truth), false, 0.001, 1);
        assert_true(fabs(sk_angle_between(h.angle, truth)) < 0.1);
    }
}

static void a_few_swapped_poses_turn_nobody_around_but_many_do(void **state)
{
    (void)state;
    sk_heading h = {0};
    for (int i = 0; i < 20; i++)
        sk_heading_correct(&h, 1, true, 0.01, 1);
    for (int i = 0; i < 5; i++)
        sk_heading_correct(&h, 1 + SK_PI_D, true, 0.01, 1);
    near_to(h.angle, 1);
    for (int i = 0; i < 5; i++)
        sk_heading_correct(&h, 1 + SK_PI_D, true, 0.01, 1);
    near_to(h.angle, 1 + SK_PI_D);
}

static void the_way_tells_the_head(void **state)
{
    (void)state;
    sk_heading h = {0};
    sk_heading_correct(&h, 0.5, false, 0.01, 1); /* an axis: either end */
    for (int i = 0; i < 3; i++)
        sk_heading_moved(&h, -2 * cos(0.5), -2 * sin(0.5));
    near_to(h.angle, 0.5 + SK_PI_D);
    const double surety = h.surety;
    sk_heading_moved(&h, 0.01, -0.01); /* one that hardly moves tells hardly anything */
    assert_true(fabs(h.surety - surety) < 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(angles_wrap),
                                       cmocka_unit_test(an_axis_is_followed_around),
                                       cmocka_unit_test(a_few_swapped_poses_turn_nobody_around_but_many_do),
                                       cmocka_unit_test(the_way_tells_the_head)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
