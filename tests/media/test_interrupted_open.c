/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/source.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

/* A video whose opening is interrupted is not half opened: frames of such had times of their own. */

static bool now(void *context)
{
    (void)context;
    return true;
}

static void test_no_frames(void **state)
{
    (void)state;
    char path[4200];
    const char *tree = getenv("SKITTER_TEST_SOURCE");
    sk_source *source = NULL;
    sk_error err = {0};
    sk_source_settings settings = {.size = sizeof settings};
    sk_source_defaults(&settings);
    snprintf(path, sizeof path, "%s/tests/fixtures/colours/bt709.mp4", tree ? tree : ".");
    const sk_status plain = sk_source_open(path, &settings, &source, &err);
    sk_source_close(&source);
    if (plain == SK_ERR_UNSUPPORTED) /* built without video */
        skip();
    assert_ok(plain, &err);
    settings.interrupted = now;
    assert_int_equal(sk_source_open(path, &settings, &source, &err), SK_ERR_CANCELLED);
    assert_null(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
