/* SPDX-License-Identifier: Apache-2.0 */
/* One version in three forms: the header's numbers, the text, and the number that programs compare. */
#include "support/test.h"

#include "skitter/version.h"

#include <stdio.h>

static void all_forms_say_the_same(void **state)
{
    (void)state;
    int major = -1, minor = -1, patch = -1, used = 0;
    assert_int_equal(sscanf(sk_version_text(), "%d.%d.%d%n", &major, &minor, &patch, &used), 3);
    assert_int_equal(sk_version_text()[used], 0);
    assert_true(major == SK_VERSION_MAJOR && minor == SK_VERSION_MINOR && patch == SK_VERSION_PATCH);
    assert_int_equal(sk_version_number(), 1000000 * major + 1000 * minor + patch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms_say_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
