/* SPDX-License-Identifier: Apache-2.0 */
#define FOREIGN_ENGINE "onnx_cpu"
#include "foreign_checks.h"

/* ONNX Runtime through its function table; and libraries that are not ONNX Runtime, or not one that works. */

#define VARIABLE "SKITTER_ONNXRUNTIME"

static const char *fake(const char *kind)
{
    static char path[4096];
    const char *build = getenv("SKITTER_TEST_BUILD");
    snprintf(path, sizeof path, "%s/tests/fake_ort_%s.so", build ? build : ".", kind);
    return path;
}

static void test_wrong_libraries(void **state)
{
    (void)state;
    refuses(VARIABLE, "/nowhere/libonnxruntime.so", "no such file");
    refuses(VARIABLE, test_folder(), "pip install onnxruntime");
    refuses(VARIABLE, test_source("VERSION"), "could not be loaded");
    refuses(VARIABLE, fake("empty"), "no OrtGetApiBase");
    refuses(VARIABLE, fake("no_base"), "gives nothing");
    refuses(VARIABLE, fake("no_table"), "no interface of version 17");
    refuses(VARIABLE, fake("old"), "1.4.0 is too old");
    refuses(VARIABLE, fake("refuses"), "the fake does not want to");
    refuses(VARIABLE, fake("holes"), "function 2 of ONNX Runtime 1.25.0 is missing");
}

/* A library that answers every call with success is found out by the sums. */
static void test_idle_library(void **state)
{
    (void)state;
    refuses(VARIABLE, fake("idle"), "gave 0 where 4.5 is right");
}

/* The library is found in a folder that was named, below a Python environment's package. */
static void test_folder_search(void **state)
{
    (void)state;
    char folder[3000], command[8000];
    snprintf(folder, sizeof folder, "%s/env", test_folder());
    snprintf(command, sizeof command,
             "p='%s/lib/python3.9/site-packages/onnxruntime/capi' && mkdir -p \"$p\" && "
             "cp '%s' \"$p/libonnxruntime.so.1.25.0\"",
             folder, fake("old"));
    assert_int_equal(system(command), 0);
    refuses(VARIABLE, folder, "libonnxruntime.so.1.25.0: ONNX Runtime 1.4.0 is too old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_libraries), cmocka_unit_test(test_idle_library),
        cmocka_unit_test(test_folder_search),   cmocka_unit_test(test_refused_settings),
        cmocka_unit_test(test_named_graph),     cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_pictures),        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_two_at_once),     cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
