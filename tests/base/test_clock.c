/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/clock.h"

#include <math.h>
#include <time.h>

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
    assert_string_equal(sk_clock_text(999, text, sizeof text), "1970-01-01T00:00:00Z");
    assert_string_equal(sk_clock_text(1000, text, sizeof text), "1970-01-01T00:00:01Z");
    char fine[64];
    assert_string_equal(sk_clock_text_ns(0, fine, sizeof fine), "1970-01-01T00:00:00.000000000Z");
    assert_string_equal(sk_clock_text_ns(1, fine, sizeof fine), "1970-01-01T00:00:00.000000001Z");
    assert_string_equal(sk_clock_text_ns(999999999, fine, sizeof fine), "1970-01-01T00:00:00.999999999Z");
    assert_string_equal(sk_clock_text_ns(1000000000, fine, sizeof fine), "1970-01-01T00:00:01.000000000Z");
    assert_string_equal(sk_clock_text_ns(INT64_C(1700000000123456789), fine, sizeof fine),
                        "2023-11-14T22:13:20.123456789Z");
    const int64_t ms = sk_clock_wall_ms(), ns = sk_clock_wall_ns(), later = sk_clock_wall_ms();
    assert_true(ns / 1000000 >= ms && ns / 1000000 <= later);
}

/* A clock whose parts go together: it never goes back, and a second of it is a second. */
static void a_second_is_a_second(void **state)
{
    (void)state;
    struct timespec real;
    for (int i = 0; i < 200; i++) {
        const int64_t before = sk_clock_ns();
        clock_gettime(CLOCK_MONOTONIC, &real);
        const int64_t after = sk_clock_ns(), between = (int64_t)real.tv_sec * 1000000000 + real.tv_nsec;
        assert_true(before <= between && between <= after);
    }
    const int64_t start = sk_clock_ns();
    sk_clock_sleep_ns(1020000000); /* over a second's end */
    const int64_t passed = sk_clock_ns() - start;
    assert_true(passed >= 1020000000 && passed < INT64_C(20000000000));
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
        cmocka_unit_test(monotonic_and_sleep),  cmocka_unit_test(wall_text),
        cmocka_unit_test(a_second_is_a_second), cmocka_unit_test(summarizes),
        cmocka_unit_test(small_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
