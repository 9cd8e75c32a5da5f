/* SPDX-License-Identifier: Apache-2.0 */
#define FOREIGN_ENGINE  "openvino"
#define FOREIGN_REFUSES SK_PRECISION_F16 /* of graphs: its f16 is a file's */
#include "foreign_checks.h"

/* OpenVINO through its C interface; and libraries that are not OpenVINO. */

#define VARIABLE "SKITTER_OPENVINO"

static void test_wrong_libraries(void **state)
{
    (void)state;
    char path[4096];
    const char *build = getenv("SKITTER_TEST_BUILD");
    refuses(VARIABLE, "/nowhere/libopenvino_c.so", "no such file");
    refuses(VARIABLE, test_folder(), "pip install openvino");
    refuses(VARIABLE, test_source("VERSION"), "could not be loaded");
    snprintf(path, sizeof path, "%s/tests/fake_ort_empty.so", build ? build : ".");
    refuses(VARIABLE, path, "not OpenVINO");
}

/* A second opening takes the compiled model from the cache folder and gives the same bits. */
static void test_cache(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    float *x = foreign_input(&shape, 5), first = 0;
    sk_session_settings settings = foreign_settings(1);
    settings.cache_dir = test_folder();
    for (int i = 0; i < 2; i++) {
        sk_session *s = foreign_open(FOREIGN_ENGINE, g, &shape, &settings);
        sk_tensor out[32];
        sk_session_input in = {.data = x};
        assert_ok(sk_session_run(s, &in, 1, out, 32, &err), &err);
        if (i == 0)
            first = *(float *)out[1].data;
        assert_true(*(float *)out[1].data == first);
        sk_session_close(&s);
    }
    char command[4096];
    snprintf(command, sizeof command, "ls '%s/openvino/'*.blob > /dev/null", test_folder());
    assert_int_equal(system(command), 0);
    free(x);
    sk_graph_close(&g);
}

/* Several requests side by side: each slot has its own input, and its own answer. */
static void test_throughput(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    sk_session_settings settings = foreign_settings(2);
    sk_session *alone = foreign_open(FOREIGN_ENGINE, g, &shape, &settings);
    settings.slots = 4;
    strcpy(settings.options, "hint=throughput");
    sk_session *s = foreign_open(FOREIGN_ENGINE, g, &shape, &settings);
    assert_true(sk_session_about(s)->asynchronous);
    assert_non_null(strstr(sk_session_about(s)->detail, "throughput"));
    float *x[4];
    for (int i = 0; i < 4; i++)
        x[i] = foreign_input(&shape, (uint64_t)(10 + i));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 4; i++) {
            sk_session_input in = {.data = x[i]};
            assert_ok(sk_session_submit(s, &in, 1, &err), &err);
        }
        for (int i = 0; i < 4; i++) {
            sk_tensor got[32], want[32];
            sk_session_input in = {.data = x[i]};
            assert_ok(sk_session_wait(s, got, 32, &err), &err);
            assert_ok(sk_session_run(alone, &in, 1, want, 32, &err), &err);
            assert_true(foreign_difference(got, want, sk_session_about(s)->n_outputs) < 1e-5);
        }
    }
    for (int i = 0; i < 4; i++)
        free(x[i]);
    sk_session_close(&s);
    sk_session_close(&alone);
    sk_graph_close(&g);
}

static void test_devices(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    sk_session *s = NULL;
    sk_session_settings settings = foreign_settings(1);
    strcpy(settings.options, "device=TPU");
    assert_int_equal(sk_session_open(sk_engine_find(FOREIGN_ENGINE), g, &shape, 1, &settings, &s, &err),
                     SK_ERR_ARG);
    strcpy(settings.options, "device=NPU.7"); /* no machine has eight */
    assert_int_equal(sk_session_open(sk_engine_find(FOREIGN_ENGINE), g, &shape, 1, &settings, &s, &err),
                     SK_ERR_RUNTIME);
    assert_non_null(strstr(err.message, "here are: CPU"));
    strcpy(settings.options, "device=AUTO:CPU");
    s = foreign_open(FOREIGN_ENGINE, g, &shape, &settings);
    assert_non_null(strstr(sk_session_about(s)->detail, "CPU device (asked for AUTO:CPU)"));
    sk_session_close(&s);
    sk_graph_close(&g);
}

/* OpenVINO rounds to bf16 by itself; a device that would compute in f32 all the same says so instead. */
static void test_bf16(void **state)
{
    (void)state;
    foreign_or_skip();
    sk_error err = {0};
    sk_shape shape;
    sk_graph *g = named_graph(&shape);
    float *x = foreign_input(&shape, 7);
    sk_session *s = NULL;
    sk_session_settings settings = foreign_settings(1);
    double exact = foreign_compare(g, &shape, &settings, x);
    settings.precision = SK_PRECISION_BF16;
    sk_status status = sk_session_open(sk_engine_find(FOREIGN_ENGINE), g, &shape, 1, &settings, &s, &err);
    if (status == SK_OK) {
        double rounded = foreign_compare(g, &shape, &settings, x);
        assert_true(rounded > 10 * exact && rounded < 0.05);
        sk_session_close(&s);
    } else {
        assert_int_equal(status, SK_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "bf16; set the precision to f32"));
    }
    free(x);
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_libraries), cmocka_unit_test(test_refused_settings),
        cmocka_unit_test(test_named_graph),     cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_pictures),        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_two_at_once),     cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_cache),           cmocka_unit_test(test_throughput),
        cmocka_unit_test(test_devices),         cmocka_unit_test(test_bf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
