/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#define CHECK(expected, ...)                                                                                 \
    do {                                                                                                     \
        char got[512] = "";                                                                                  \
        FILE *file = tmpfile();                                                                              \
        assert_non_null(file);                                                                               \
        sk_cli_print_to(file, __VA_ARGS__);                                                                  \
        rewind(file);                                                                                        \
        got[fread(got, 1, sizeof got - 1, file)] = '\0';                                                     \
        fclose(file);                                                                                        \
        assert_string_equal(got, expected);                                                                  \
    } while (0)

static void formats_as_printf_does(void **state)
{
    (void)state;
    char expected[256];
    CHECK("plain", "%s", "plain");
    CHECK("100 %", "100 %%");
    snprintf(expected, sizeof expected, "%-8s|%8s|%.2s|%-6.3s|%*s|%-*s|%.*s", "ab", "cd", "efg", "hijk", 5,
             "l", 4, "m", 2, "nop");
    CHECK(expected, "%-8s|%8s|%.2s|%-6.3s|%*s|%-*s|%.*s", "ab", "cd", "efg", "hijk", 5, "l", 4, "m", 2,
          "nop");
    snprintf(expected, sizeof expected, "%d %5d %-5d| %lld %ld %zu %u %llu %x %c %03d %+d", -3, 4, 5,
             1LL << 40, -7L, (size_t)9, 8u, ~0ULL, 255u, 'z', 7, 1);
    CHECK(expected, "%d %5d %-5d| %lld %ld %zu %u %llu %x %c %03d %+d", -3, 4, 5, 1LL << 40, -7L, (size_t)9,
          8u, ~0ULL, 255u, 'z', 7, 1);
    snprintf(expected, sizeof expected, "%g %.3f %9.1f %-9.2f| %.15g %e", 0.5, 1.0 / 3, 2.25, 3.5, 1e15, 5.0);
    CHECK(expected, "%g %.3f %9.1f %-9.2f| %.15g %e", 0.5, 1.0 / 3, 2.25, 3.5, 1e15, 5.0);
}

static void formats_every_conversion(void **state)
{
    (void)state;
    char expected[512];
    snprintf(expected, sizeof expected, "[%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%*d|%-*d|%hd|%hhd]", 42, 42, 42,
             42, 42, 7, 7, 6, 9, 6, 9, (short)-3, (signed char)5);
    CHECK(expected, "[%5d|%-5d|%05d|%+d|% d|%.3d|%8.3d|%*d|%-*d|%hd|%hhd]", 42, 42, 42, 42, 42, 7, 7, 6, 9, 6,
          9, (short)-3, (signed char)5);
    snprintf(expected, sizeof expected, "[%u|%lu|%llu|%x|%X|%o|%#x|%jd|%td|%zu|%i]", 7u, 8UL, 1ULL << 63,
             255u, 255u, 8u, 16u, (intmax_t)-5, (ptrdiff_t)6, (size_t)1 << 40, -9);
    CHECK(expected, "[%u|%lu|%llu|%x|%X|%o|%#x|%jd|%td|%zu|%i]", 7u, 8UL, 1ULL << 63, 255u, 255u, 8u, 16u,
          (intmax_t)-5, (ptrdiff_t)6, (size_t)1 << 40, -9);
    snprintf(expected, sizeof expected, "[%f|%.0f|%10.2e|%G|%-10.3g|%*.*f]", 1.5, 2.5, 12345.678, 1e-10, 0.1,
             9, 2, 3.14159);
    CHECK(expected, "[%f|%.0f|%10.2e|%G|%-10.3g|%*.*f]", 1.5, 2.5, 12345.678, 1e-10, 0.1, 9, 2, 3.14159);
    snprintf(expected, sizeof expected, "[%5c|%-5c|%c|%p]", 'a', 'b', 'c', (void *)expected);
    CHECK(expected, "[%5c|%-5c|%c|%p]", 'a', 'b', 'c', (void *)expected);
    CHECK("[   ab|ab   |  |a|]", "[%5s|%-5s|%2s|%.1s|%.0s]", "ab", "ab", "", "abc", "abc");
    CHECK("[ab   |   ab]", "[%*s|%*s]", -5, "ab", 5, "ab"); /* a width below zero is one to the left */
    CHECK("a longer text than its width", "%3s", "a longer text than its width");
    const char *volatile none = NULL;
    CHECK("[]", "[%s]", none);
    CHECK("5 % of 7", "%d %% of %d", 5, 7);
    CHECK("", "%s", "");
    FILE *file = tmpfile();
    assert_int_equal(sk_cli_print_to(file, "%s %d", "abc", 12), 6); /* bytes that were written */
    fclose(file);
}

/* A text that is given with its length need not end. */
static void reads_no_further_than_told(void **state)
{
    (void)state;
    char *text = malloc(3);
    assert_non_null(text);
    memcpy(text, "abc", 3);
    CHECK("abc|ab", "%.*s|%.2s", 3, text, text);
    free(text);
}

static void names_do_not_command(void **state)
{
    (void)state;
    CHECK("a\\x1b[2Jb \\x08\\xc2\\x9b 鼠", "%s %s", "a\x1b[2Jb", "\b\xC2\x9b 鼠");
    CHECK("  \\x07|é   |", "%6s|%-4s|", "\a", "é"); /* a width counts characters */
    CHECK("two\nlines\t", "%s", "two\nlines\t");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_as_printf_does), cmocka_unit_test(formats_every_conversion),
        cmocka_unit_test(reads_no_further_than_told), cmocka_unit_test(names_do_not_command)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
