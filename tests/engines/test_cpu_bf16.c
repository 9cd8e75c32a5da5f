/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU engine with products of bf16: near the reference on random networks, the same bits for every number of threads, with
 * the instruction and without. */
#include "support/test.h"

#include "engines/engine.h"
#include "random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_session *open_on(const char *engine, const sk_graph *g, const sk_shape *shape,
                           sk_precision precision, int threads, const char *options)
{
    sk_error err = {0};
    sk_session *session = NULL;
    sk_session_settings s = sk_session_defaults();
    s.threads = threads;
    s.precision = precision;
    s.cache_dir = "";
    snprintf(s.options, sizeof s.options, "%s", options);
    assert_ok(sk_session_open(sk_engine_find(engine), g, shape, 1, &s, &session, &err), &err);
    return session;
}

/* The first output, copied; and how many floats it has. */
static float *result(sk_session *session, const float *x, size_t *count)
{
    sk_error err = {0};
    sk_tensor out[SK_SESSION_MAX_OUTPUTS];
    const sk_session_input in = {.data = x};
    for (int i = 0; i < 2; i++)
        assert_ok(sk_session_run(session, &in, 1, out, SK_SESSION_MAX_OUTPUTS, &err), &err);
    *count = sk_tensor_bytes(&out[0]) / sizeof(float);
    float *copy = malloc(sk_tensor_bytes(&out[0]) + 1);
    memcpy(copy, out[0].data, sk_tensor_bytes(&out[0]));
    sk_session_close(&session);
    return copy;
}

static void near_the_reference_and_the_same_on_all_threads(void **state)
{
    (void)state;
    static const char *const options[] = {"tune=off", "tune=off,mask=avx512", "tune=off,mask=avx2",
                                          "tune=off,winograd=off"};
    for (uint64_t seed = 0; seed < 60; seed++) {
        sk_shape shape;
        sk_graph *g = random_graph(seed, &shape);
        random_source r = {seed + 50};
        const int64_t n = sk_shape_count(&shape);
        float *x = malloc((size_t)n * sizeof *x);
        for (int64_t i = 0; i < n; i++)
            x[i] = random_unit(&r);
        size_t count, others;
        float *want = result(open_on("reference", g, &shape, SK_PRECISION_AUTO, 1, ""), x, &count);
        const char *how = options[seed % 4];
        float *one = result(open_on("cpu", g, &shape, SK_PRECISION_BF16, 1, how), x, &others),
              *three = result(open_on("cpu", g, &shape, SK_PRECISION_BF16, 3, how), x, &others);
        double error = 0, power = 1e-3 * (double)count;
        for (size_t i = 0; i < count; i++) {
            error += ((double)want[i] - (double)one[i]) * ((double)want[i] - (double)one[i]);
            power += (double)want[i] * (double)want[i];
        }
        if (!(error / power < 2e-3))
            fail_msg("seed %d, %s: mean square error %g of the signal", (int)seed, how, error / power);
        if (memcmp(one, three, count * sizeof *one) != 0)
            fail_msg("seed %d, %s: three threads give other bits than one", (int)seed, how);
        free(want);
        free(one);
        free(three);
        free(x);
        sk_graph_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_the_reference_and_the_same_on_all_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
