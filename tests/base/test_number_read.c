/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number_read.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t bits = 3;

static uint64_t next(void)
{
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    return bits ^ (bits >> 29);
}

static void same_as_strtod(const char *text)
{
    double got = -1;
    const size_t length = strlen(text);
    const char *end = sk_number_read(text, text + length, &got);
    const double expected = strtod(text, NULL);
    if (end != text + length || memcmp(&got, &expected, sizeof got) != 0)
        fail_msg("%s: %.17g, not %.17g", text, got, expected);
}

static void test_as_strtod(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "-1.5",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "123456789012345",
                                        "1234567890123456",
                                        "9007199254740993",
                                        "0.1",
                                        "1e308",
                                        "1e400",
                                        "1e-400",
                                        "4.9e-324",
                                        "00012.500",
                                        "0e0",
                                        "0.000000000000000000000000000001",
                                        "1E+5",
                                        "12345678901234567890123"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        same_as_strtod(texts[i]);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        double value;
        const uint64_t word = next();
        memcpy(&value, &word, sizeof value);
        if (value - value != 0)
            continue;
        snprintf(text, sizeof text, "%.*g", 1 + (int)(next() % 17), value);
        same_as_strtod(text);
        snprintf(text, sizeof text, "%.7g", (double)(int64_t)(next() % 2000000) / 1000 - 1000);
        same_as_strtod(text);
    }
}

static void test_what_is_none(void **state)
{
    (void)state;
    static const char *const texts[] = {"",    "-",   ".5",  "1.", "e5", "1e",
                                        "1e+", "nan", "inf", "+1", " 1", "0x1p3x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        double got = 7;
        const char *end = sk_number_read(texts[i], texts[i] + strlen(texts[i]), &got);
        assert_true(!end || end < texts[i] + strlen(texts[i]));
    }
    char long_one[5000];
    double got;
    memset(long_one, '7', sizeof long_one);
    assert_null(sk_number_read(long_one, long_one + sizeof long_one, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_strtod), cmocka_unit_test(test_what_is_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
