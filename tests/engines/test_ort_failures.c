/* SPDX-License-Identifier: Apache-2.0 */
#include "summed.h"

/* ONNX Runtime on its ways to a device, each call of the library failing in turn: it is told, in the library's words, and nothing is
 * left of what was made before. */

typedef struct way {
    const char *engine, *options;
    int forgiven; /* options that older libraries do not know */
} way;

static void fail_in_turn(const void *context)
{
    const way *w = context;
    sk_error err = {0};
    sk_graph *g = summed_graph();
    const sk_session_settings settings = summed_settings(w->options);
    summed_library(NULL, "fake_cuda", RTLD_NOW | RTLD_GLOBAL);
    void *library = summed_library("SKITTER_ONNXRUNTIME", "fake_ort_device", RTLD_NOW);
    int *calls = dlsym(library, "fake_ort_calls"), *fails_at = dlsym(library, "fake_ort_fails_at"),
        *held = dlsym(library, "fake_ort_held"), *statuses = dlsym(library, "fake_ort_statuses"),
        forgiven = 0;
    assert_ok(summed_use(w->engine, &settings, g, NULL, &err), &err); /* what it keeps is kept */
    const int before = *held;
    *calls = 0;
    assert_ok(summed_use(w->engine, &settings, g, NULL, &err), &err);
    assert_int_equal(*held, before);
    const int all = *calls;
    assert_true(all > 15);
    for (int n = 1; n <= all; n++) {
        *calls = 0;
        *fails_at = n;
        err = (sk_error){0};
        const sk_status status = summed_use(w->engine, &settings, g, NULL, &err);
        if (status == SK_OK)
            forgiven++;
        else if (!strstr(err.message, "the fake does not want to"))
            fail_msg("%s %s: call %d of %d: %d %s", w->engine, w->options, n, all, (int)status, err.message);
        if (*held != before || *statuses != 0)
            fail_msg("%s %s: call %d of %d leaves %d and %d behind", w->engine, w->options, n, all,
                     *held - before, *statuses);
    }
    if (forgiven != w->forgiven)
        fail_msg("%s %s: %d were forgiven", w->engine, w->options, forgiven);
    *fails_at = 0;
    assert_ok(summed_use(w->engine, &settings, g, NULL, &err), &err);
    sk_graph_close(&g);
}

static void every_call_may_fail(void **state)
{
    (void)state;
    static const way ways[] = {{"onnx_cuda", "", 1},
                               {"onnx_cuda", "cuda_graph=off", 1},
                               {"onnx_cuda", "provider=TensorRT", 1},
                               {"onnx_rocm", "", 0},
                               {"onnx_rocm", "provider=ROCm", 0}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        summed_apart(fail_in_turn, &ways[i], ways[i].engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
