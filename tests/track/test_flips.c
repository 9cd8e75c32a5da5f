/* SPDX-License-Identifier: Apache-2.0 */
/* Headings that are turned around for a while: which of them are mended. */
#include "support/recorded.h"
#include "support/test.h"

#include "track/sightings.h"

#include <math.h>
#include <string.h>

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) < 1e-9;
}

/* '>' forward, '<' turned around, '.' none, '^' across. */
static size_t read(const char *text, double *headings)
{
    const size_t n = strlen(text);
    for (size_t i = 0; i < n; i++)
        headings[i] = text[i] == '>'   ? 0.2
                      : text[i] == '<' ? 0.2 + M_PI
                      : text[i] == '^' ? 0.2 + 0.4 * M_PI
                                       : NAN;
    return n;
}

static void short_bursts_are_mended(void **state)
{
    (void)state;
    static const struct {
        int32_t burst;
        const char *before, *after;
    } cases[] = {{2, ">><>>", ">>>>>"},
                 {2, ">><<>>", ">>>>>>"},
                 {2, ">><<<>>", ">><<<>>"}, /* too long: it may have turned */
                 {3, ">><<<>>", ">>>>>>>"},
                 {3, ">><<<<>>", ">><<<<>>"},
                 {0, ">><>>", ">><>>"},
                 {-4, ">><>>", ">><>>"},
                 {3, ">>><", ">>><"}, /* nobody came back */
                 {3, ">>><<", ">>><<"},
                 {5, ">>><<..", ">>><<.."},
                 {3, "<>>>", "<>>>"}, /* nobody was there before */
                 {3, ">.<.>", ">.>.>"},
                 {2, ">.<.>", ">.>.>"}, /* what is not there behind it is of it, as long as there is room */
                 {1, ">.<.>", ">.<.>"},
                 {2, "..<.>>", "..<.>>"},
                 {1, "><><>", ">>>>>"},
                 {2, ">^<^>", ">^>^>"},
                 {2, "><", "><"},
                 {2, "<>", "<>"},
                 {1, "><>", ">>>"},
                 {1, ">>><", ">>><"},
                 {2, ">>", ">>"},
                 {4, ">><<.>>", ">>>>.>>"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double got[16], want[16];
        const size_t n = read(cases[i].before, got);
        assert_int_equal(read(cases[i].after, want), n);
        sk_headings_mend(got, n, cases[i].burst);
        for (size_t k = 0; k < n; k++)
            if (!same(got[k], want[k]))
                fail_msg("%s with %d: heading %zu is %g, not %g", cases[i].before, cases[i].burst, k, got[k],
                         want[k]);
    }
}

/* A quarter of a turn is no flip: a burst ends where the heading is across again, and what is across stays so. */
static void across_is_not_turned_around(void **state)
{
    (void)state;
    double h[] = {0, M_PI, M_PI / 2, M_PI / 2, 0}, across[] = {0, M_PI / 2, 0, M_PI / 2, 0};
    const double want[] = {0, 0, M_PI / 2, M_PI / 2, 0}, same_as[] = {0, M_PI / 2, 0, M_PI / 2, 0};
    sk_headings_mend(h, 5, 3);
    sk_headings_mend(across, 5, 3);
    for (int i = 0; i < 5; i++)
        assert_true(same(h[i], want[i]) && same(across[i], same_as[i]));
}

/* What is mended may show another burst, and so on, three times: here a fourth would turn the last but one. */
static void three_passes_are_enough(void **state)
{
    (void)state;
    double h[] = {6, 2, 2, 4, 2.5, 1, 3, 2};
    const double want[] = {6, 2 + M_PI, 2 + M_PI, 4, 2.5, 1, 3, 2};
    sk_headings_mend(h, 8, 5);
    for (int i = 0; i < 8; i++)
        assert_true(same(h[i], want[i]));
}

static double turn_of(double a, double b)
{
    return fabs(remainder(a - b, 2 * M_PI));
}

/* Of all answers (each heading as it is, or turned around) the one that turns least, and of those one that changes few. */
static void directed_ones_turn_as_little_as_can_be(void **state)
{
    (void)state;
    unsigned dice = 11;
    for (int round = 0; round < 300; round++) {
        double h[9], before[9];
        uint8_t work[9];
        const int n = 1 + round % 9;
        for (int i = 0; i < n; i++)
            before[i] = h[i] = recorded_chance(&dice) < 0.15 ? NAN : recorded_between(&dice, 0, 6.28);
        sk_headings_mend_directed(h, (size_t)n, work);
        double got = 0, least = INFINITY;
        int changed = 0, fewest = 99, known = 0;
        for (int answer = 0; answer <= 1 << n; answer++) { /* the last one: what was made of it */
            double sum = 0, last = NAN;
            int flips = 0;
            known = 0;
            for (int i = 0; i < n; i++) {
                if (isnan(before[i])) {
                    assert_true(isnan(h[i]));
                    continue;
                }
                const bool flip = answer == 1 << n ? !same(h[i], before[i]) : answer >> i & 1;
                const double now = before[i] + (flip ? M_PI : 0);
                sum += isnan(last) ? 0 : turn_of(now, last);
                last = now;
                flips += flip;
                known++;
            }
            if (answer == 1 << n) {
                got = sum;
                changed = flips;
            } else if (sum < least - 1e-9 || (sum < least + 1e-9 && flips < fewest)) {
                least = fmin(least, sum);
                fewest = flips;
            }
        }
        for (int i = 0; i < n; i++)
            assert_true(isnan(h[i]) ||
                        (h[i] >= 0 && h[i] < 2 * M_PI && turn_of(2 * h[i], 2 * before[i]) < 1e-9));
        assert_true(fabs(got - least) < 1e-9);
        assert_true(2 * changed <= known); /* all of them turned around is as good an answer */
        assert_int_equal(changed, fewest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_bursts_are_mended), cmocka_unit_test(across_is_not_turned_around),
        cmocka_unit_test(three_passes_are_enough), cmocka_unit_test(directed_ones_turn_as_little_as_can_be)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
