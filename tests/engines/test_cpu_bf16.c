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

/* How much of the result a 3x3 convolution loses; channel c's inputs are gain(c) times as large, and its weights as much smaller. */
static double lost(int channels, uint64_t seed, float (*gain)(int))
{
    random_source r = {seed};
    sk_graph *g = NULL;
    sk_builder b;
    const sk_shape shape = sk_shape_of(4, 1, channels, 8, 9), weights = sk_shape_of(4, 16, channels, 3, 3);
    const sk_window w = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {1, 1, 1, 1}};
    random_map x = random_begin(&g, &b, &shape);
    float *in = malloc((size_t)sk_shape_count(&shape) * sizeof *in),
          *k = malloc((size_t)sk_shape_count(&weights) * sizeof *k);
    for (int64_t j = 0; j < sk_shape_count(&weights); j++)
        k[j] = random_unit(&r) / sqrtf(9.0f * (float)channels) / gain((int)(j / 9 % channels));
    for (int64_t j = 0; j < sk_shape_count(&shape); j++)
        in[j] = random_unit(&r) * gain((int)(j / 72));
    sk_b_output(
        &b,
        sk_b_conv(&b, x.v, sk_b_constant(&b, "", SK_DTYPE_F32, &weights, k), SK_VALUE_NONE, &w, 1, "conv"),
        "out");
    assert_ok(b.status, &b.error);
    size_t count;
    float *want = result(open_on("reference", g, &shape, SK_PRECISION_AUTO, 1, ""), in, &count),
          *got = result(open_on("cpu", g, &shape, SK_PRECISION_BF16, 1, "tune=off"), in, &count);
    double error = 0, power = 0;
    for (size_t j = 0; j < count; j++) {
        error += ((double)want[j] - (double)got[j]) * ((double)want[j] - (double)got[j]);
        power += (double)want[j] * (double)want[j];
    }
    free(want);
    free(got);
    free(in);
    free(k);
    sk_graph_close(&g);
    return sqrt(error / power);
}

static float alike(int channel)
{
    return (void)channel, 1.0f;
}

/* Three powers of ten. */
static float spread(int channel)
{
    return powf(10.0f, (float)(channel % 7) * 0.5f);
}

static float one_large(int channel)
{
    return channel == 5 ? 1000.0f : 1.0f;
}

/* Sums of many channels, in which each is a small part, lose no more than those of few. */
static void many_channels(void **state)
{
    (void)state;
    static const int channels[] = {64, 256, 272, 512, 1040};
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++)
        if (!(lost(channels[i], i, alike) < 0.012))
            fail_msg("%d channels: %g of the signal lost", channels[i], lost(channels[i], i, alike));
}

/* A bf16 has an exponent of its own, and words share one: channels of other sizes must not be lost for it. */
static void channels_of_other_sizes(void **state)
{
    (void)state;
    assert_true(lost(64, 1, alike) < 0.006);
    assert_true(lost(64, 2, spread) < 0.006);
    assert_true(lost(64, 3, one_large) < 0.006);
    assert_true(lost(130, 4, spread) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(near_the_reference_and_the_same_on_all_threads),
                                       cmocka_unit_test(many_channels),
                                       cmocka_unit_test(channels_of_other_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
