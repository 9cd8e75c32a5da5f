/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda engine as the program has it, in a plugin with a GPU of loops in it: nothing is lost on the way. */
#include "cropped.h"
#include "engines/plugin.h"
#include "support/test.h"

#include <dlfcn.h>

static const char *folder(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/emulated", getenv("SKITTER_TEST_BUILD"));
    return path;
}

/* Every function that the plugin's engine has is there in the one that forwards to it. */
static void test_all_is_forwarded(void **state)
{
    (void)state;
    char path[4200];
    void *handle = NULL;
    const sk_engine *engine = NULL;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/libskitter_cuda.so", folder());
    assert_ok(sk_plugin_open_file(path, "cuda", &handle, &engine, &err), &err);
    for (size_t at = offsetof(sk_engine, probe); at < sizeof *engine;
         at += sizeof(void *)) { /* all are pointers */
        const void *there, *here;
        memcpy(&there, (const char *)engine + at, sizeof there);
        memcpy(&here, (const char *)&sk_engine_cuda + at, sizeof here);
        if (there && !here)
            fail_msg("the pointer at byte %zu of sk_engine is not forwarded (engines/plugin.h)", at);
    }
    dlclose(handle);
}

static void test_crops(void **state)
{
    (void)state;
    cropped c = {.engine = &sk_engine_cuda, .random = {3}};
    setenv("SKITTER_PLUGIN_DIR", folder(), 1);
    for (int round = 0; round < 10; round++)
        if (!(round % 2 ? cropped_boxes(&c, round, 60, 50) : cropped_round(&c, round * 3, 60, 50)))
            fail_msg("round %d: %s", round, c.problem);
    assert_true(c.crops > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_is_forwarded), cmocka_unit_test(test_crops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
