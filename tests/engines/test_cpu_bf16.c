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

/* Sums of many channels, in which each is a small part, lose no more than those of few. */
static void many_channels(void **state)
{
    (void)state;
    static const int channels[] = {64, 256, 272, 512, 1040};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        random_source r = {i};
        sk_graph *g = NULL;
        sk_builder b;
        const sk_shape shape = sk_shape_of(4, 1, channels[i], 8, 9);
        random_map x = random_begin(&g, &b, &shape);
        const sk_shape weights = sk_shape_of(4, 16, channels[i], 3, 3);
        const sk_window w = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
        sk_value k = random_constant(&b, &r, &weights, 1.0f / sqrtf(9.0f * (float)channels[i]));
        sk_b_output(&b, sk_b_conv(&b, x.v, k, SK_VALUE_NONE, &w, 1, "conv"), "out");
        assert_ok(b.status, &b.error);
        float *in = malloc((size_t)sk_shape_count(&shape) * sizeof *in);
        for (int64_t j = 0; j < sk_shape_count(&shape); j++)
            in[j] = random_unit(&r);
        size_t count;
        float *want = result(open_on("reference", g, &shape, SK_PRECISION_AUTO, 1, ""), in, &count),
              *got = result(open_on("cpu", g, &shape, SK_PRECISION_BF16, 1, "tune=off"), in, &count);
        double error = 0, power = 0;
        for (size_t j = 0; j < count; j++) {
            error += ((double)want[j] - (double)got[j]) * ((double)want[j] - (double)got[j]);
            power += (double)want[j] * (double)want[j];
        }
        if (!(sqrt(error / power) < 0.012))
            fail_msg("%d channels: %g of the signal lost", channels[i], sqrt(error / power));
        free(want);
        free(got);
        free(in);
        sk_graph_close(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_the_reference_and_the_same_on_all_threads),
                                       cmocka_unit_test(many_channels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
