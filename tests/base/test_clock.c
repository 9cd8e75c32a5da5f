/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/clock.h"

#include <math.h>

static void monotonic_and_sleep(void **state)
{
    (void)state;
    int64_t start = sk_clock_ns();
    sk_clock_sleep_ns(2000000);
    int64_t passed = sk_clock_ns() - start;
    assert_true(passed >= 2000000);
    sk_clock_sleep_ns(0);
    sk_clock_sleep_ns(-5);
}

static void wall_text(void **state)
{
    (void)state;
    char text[SK_CLOCK_TEXT];
    assert_string_equal(sk_clock_text(0, text, sizeof text), "1970-01-01T00:00:00Z");
    assert_string_equal(sk_clock_text(1700000000123, text, sizeof text), "2023-11-14T22:13:20Z");
    assert_string_equal(sk_clock_text(0, text, 5), "");
    assert_true(sk_clock_wall_ms() > 1700000000000);
}

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void summarizes(void **state)
{
    (void)state;
    double samples[] = {4, 1, 3, 2, 10};
    sk_samples_summary s = sk_samples_summarize(samples, 5);
    assert_int_equal(s.count, 5);
    assert_near(s.min, 1);
    assert_near(s.max, 10);
    assert_near(s.mean, 4);
    assert_near(s.median, 3);
    assert_near(s.p90, 7.6);  /* numpy.percentile([4,1,3,2,10], 90) */
    assert_near(s.p99, 9.76); /* and 99 */
    assert_near(s.deviation, sqrt(50.0 / 4));
    assert_near(samples[0], 1); /* sorted */
}

static void small_sets(void **state)
{
    (void)state;
    double none[1] = {0}, one[] = {7}, two[] = {2, 1};
    assert_near(sk_samples_summarize(none, 0).median, 0);
    sk_samples_summary s = sk_samples_summarize(one, 1);
    assert_near(s.median, 7);
    assert_near(s.p99, 7);
    assert_near(s.deviation, 0);
    assert_near(sk_samples_summarize(two, 2).median, 1.5);
    assert_near(sk_samples_percentile(two, 2, -1), 1);
    assert_near(sk_samples_percentile(two, 2, 100), 2);
    assert_near(sk_samples_percentile(two, 2, NAN), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_and_sleep),
        cmocka_unit_test(wall_text),
        cmocka_unit_test(summarizes),
        cmocka_unit_test(small_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
