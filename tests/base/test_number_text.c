/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/number_text.h"
#include "support/test.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every text is compared with snprintf's. An argument is how many random numbers each case takes: 200000 unless told;
 * test_number_text 50000000 is the long run. */
static int64_t rounds = 200000;

static uint64_t state_of_dice = 0x9e3779b97f4a7c15u;

static uint64_t dice(void)
{
    state_of_dice ^= state_of_dice << 13;
    state_of_dice ^= state_of_dice >> 7;
    state_of_dice ^= state_of_dice << 17;
    return state_of_dice;
}

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Also that nothing is written before the text or behind the room. */
static void compare(double value, int digits, bool fixed)
{
    char expected[512], room[SK_NUMBER_ROOM + 16], *text = room + 8;
    memset(room, '#', sizeof room);
    const int length = fixed ? snprintf(expected, sizeof expected, "%.*f", digits, value)
                             : snprintf(expected, sizeof expected, "%.*g", digits, value);
    const char *end = fixed ? sk_number_f(text, value, digits) : sk_number_g(text, value, digits);
    if (end != text + length || memcmp(text, expected, (size_t)length) != 0)
        fail_msg("%a as %%.%d%c: \"%.*s\" where printf has \"%s\"", value, digits, fixed ? 'f' : 'g',
                 (int)(end - text), text, expected);
    assert_memory_equal(room, "########", 8);
    assert_memory_equal(room + 8 + SK_NUMBER_ROOM, "########", 8);
}

/* As the writers use it. */
static void compare_all(double value)
{
    compare(value, 7, false);
    compare(value, 6, false);
    compare(value, 9, false);
    compare(value, 6, true);
}

static void edges_are_printfs(void **state)
{
    (void)state;
    const double edges[] = {
        0,        -0.0,    1,       -1,       0.5,      1.5,       2.5,       9.9999995, 9.9999994999,
        999999.5, 1234567, 9999999, 99999995, 99999985, 1234567.5, 1e-4,      1e-5,      9.9999999e-5,
        1e15,     1e16,    1e17,    1e18,     1e19,     1.8e19,    1.9e19,    1e20,      1e21,
        1e-12,    1e-13,   1e-14,   1e-19,    1e-20,    1e-30,     1e300,     1e-300,    DBL_MAX,
        DBL_MIN,  FLT_MAX, FLT_MIN, NAN,      -NAN,     INFINITY,  -INFINITY, 0x1p-1074, 0x1p-149,
        0x1p52,   0x1p53,  0x1p63,  0x1p64,   0x1p-127, 0x1p-180,  0.1,       0.3,       2.0 / 3};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        for (int digits = 1; digits <= 17; digits++) {
            const double around[] = {edges[i], nextafter(edges[i], 0), nextafter(edges[i], INFINITY)};
            for (int k = 0; k < 3; k++) {
                compare(around[k], digits, false);
                compare(-around[k], digits, false);
                compare(around[k], digits, true);
                compare(-around[k], digits, true);
            }
        }
    for (int power = -330; power <= 308;
         power++) { /* every decimal and every binary exponent, and beside them */
        const double value = pow(10, power);
        for (int digits = 1; digits <= 17; digits++) {
            compare(value, digits, false);
            compare(nextafter(value, 0), digits, false);
            compare(value * (1 - 1e-8), digits, false);
        }
    }
    for (int power = -1074; power <= 1023; power++)
        compare_all(ldexp(1.0, power)), compare_all(-ldexp(1.9999999, power));
}

/* Numbers that lie in the middle between two texts: printf takes the even one. */
static void halves_go_to_the_even_digit(void **state)
{
    (void)state;
    for (int64_t i = 0; i < rounds / 4; i++) {
        const int shift = 1 + (int)(dice() % 17); /* odd halves, quarters, …: the last digits are ...5 */
        const double value = ldexp((double)(dice() % (1u << 26) | 1), -shift);
        for (int digits = 1; digits <= 9; digits += 2)
            compare(value, digits, false);
        compare(value, shift - 1, true);
        compare((double)(dice() % 1000000000) * 10 + 5, 9, false);
    }
}

static void any_double_is_printfs(void **state)
{
    (void)state;
    for (int64_t i = 0; i < rounds / 2; i++)
        compare(from_bits(dice()), 1 + (int)(dice() % 17), dice() & 1);
}

static void any_float_is_printfs(void **state)
{
    (void)state;
    for (int64_t i = 0; i < rounds; i++)
        compare((double)float_from_bits((uint32_t)dice()), 7, false);
}

/* What results hold: places in pixels, scores, places divided by the picture's size, areas, seconds. */
static void numbers_of_results_are_printfs(void **state)
{
    (void)state;
    for (int64_t i = 0; i < rounds / 4; i++) {
        const double part = (double)(dice() >> 11) * 0x1p-53;
        compare_all((double)(float)(part * 4096));
        compare_all((double)(float)part);
        compare_all(part * 4096 * 2160);
        compare((double)(dice() % 10000000) / 29.97, 6, true);
        compare_all((double)(float)ldexp(part, -(int)(dice() % 60)));
        compare_all(ldexp(part, (int)(dice() % 80)));
    }
}

static void whole_numbers_are_printfs(void **state)
{
    (void)state;
    char expected[64], text[SK_NUMBER_ROOM];
    for (int64_t i = 0; i < rounds / 4; i++) {
        int64_t value = (int64_t)(dice() >> (dice() % 64));
        const int64_t edges[] = {value, -value, 0, INT64_MAX, INT64_MIN, 9, 10, 99, 100};
        for (size_t k = 0; k < (i ? 2 : sizeof edges / sizeof *edges); k++) {
            snprintf(expected, sizeof expected, "%" PRId64, edges[k]);
            *sk_number_int(text, edges[k]) = '\0';
            assert_string_equal(text, expected);
        }
    }
}

/* Digits out of range are cut to what there is; a locale with another decimal sign changes nothing. */
static void arguments_and_locale(void **state)
{
    (void)state;
    char text[SK_NUMBER_ROOM];
    *sk_number_g(text, 0.1, 99) = '\0';
    assert_string_equal(text, "0.10000000000000001");
    *sk_number_g(text, 1234, -3) = '\0';
    assert_string_equal(text, "1e+03");
    static const double values[] = {0.5, 0.95, 3.7, 9.6, 95, 1234, -77, 1e-7, 2.5e-5, 4e15, -0.0004};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (int digits = -1; digits <= 1; digits++) { /* one at least */
            char want[SK_NUMBER_ROOM];
            snprintf(want, sizeof want, "%.1g", values[i]);
            *sk_number_g(text, values[i], digits) = '\0';
            assert_string_equal(text, want);
        }
    *sk_number_f(text, 2.5, -1) = '\0';
    assert_string_equal(text, "2");
    const char *before = setlocale(LC_NUMERIC, "de_DE.UTF-8");
    if (!before)
        print_message("no German locale here: only the C locale was tried\n");
    *sk_number_g(text, 1.5e-30, 7) = '\0';
    assert_string_equal(text, "1.5e-30");
    *sk_number_f(text, 1e30, 1) = '\0';
    assert_string_equal(text, "1000000000000000019884624838656.0");
    setlocale(LC_NUMERIC, "C");
}

#if defined(__has_feature)
#define SLOWED                                                                                               \
    (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define SLOWED true
#else
#define SLOWED false
#endif

/* Nanoseconds of the fastest of some rounds over the same numbers: other work on the machine only adds. */
static double fastest(bool printed, const double *values, size_t count)
{
    double best = INFINITY;
    char text[SK_NUMBER_ROOM];
    for (int round = 0; round < 30; round++) {
        const int64_t begin = sk_clock_ns();
        for (size_t i = 0; i < count; i++) {
            if (printed)
                snprintf(text, sizeof text, "%.7g", values[i]);
            else
                sk_number_g(text, values[i], 7);
        }
        best = fmin(best, (double)(sk_clock_ns() - begin));
    }
    return best;
}

/* What this file is for. Ten times is usual; three is asked for, of a program as it is shipped. */
static void it_is_faster_than_printf(void **state)
{
    (void)state;
    if (SLOWED)
        skip();
    static double values[2000];
    for (size_t i = 0; i < 2000; i++)
        values[i] = (double)(float)((double)(dice() >> 11) * 0x1p-53 * 2000);
    const double printed = fastest(true, values, 2000), own = fastest(false, values, 2000);
    if (printed < 3 * own)
        fail_msg("%.0f ns a number, printf takes %.0f ns", own / 2000, printed / 2000);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoll(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_are_printfs),
        cmocka_unit_test(halves_go_to_the_even_digit),
        cmocka_unit_test(any_double_is_printfs),
        cmocka_unit_test(any_float_is_printfs),
        cmocka_unit_test(numbers_of_results_are_printfs),
        cmocka_unit_test(whole_numbers_are_printfs),
        cmocka_unit_test(arguments_and_locale),
        cmocka_unit_test(it_is_faster_than_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
