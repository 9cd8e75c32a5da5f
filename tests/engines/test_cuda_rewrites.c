/* SPDX-License-Identifier: Apache-2.0 */
/* What the cuda engine leaves out of a graph, on the GPU of loops: maps that are doubled in size, copies into concatenations,
 * conversions of outputs and of pictures. The results stay those of the reference executor. */
#include "support/test.h"

#include "tile_cases.h"

typedef struct outcome {
    double distance;
    int steps, resizes, copies, to_dense, inputs;
} outcome;

static outcome run_on(sk_graph *g, const sk_shape *shape, sk_precision precision, sk_input_form form)
{
    sk_error err = {0};
    sk_session_settings settings = sk_session_defaults(), plain;
    sk_session *fast = NULL, *slow = NULL;
    const int64_t n = sk_shape_count(shape);
    float *x = randoms(n, 1.0f);
    uint8_t *bytes = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(127.0f + 127.0f * x[i]);
    const sk_session_input given = {.data = form == SK_INPUT_TENSOR ? (const void *)x : bytes};
    sk_tensor got[2], want[2];
    outcome o = {0};
    settings.input = form;
    settings.cache_dir = "";
    plain = settings;
    settings.precision = precision;
    strcpy(settings.options, "tune=off");
    if (sk_session_open(&gpu_engine, g, shape, 1, &settings, &fast, &err) != SK_OK ||
        sk_session_capture(fast, &err) != SK_OK ||
        sk_session_open(sk_engine_find("reference"), g, shape, 1, &plain, &slow, &err) != SK_OK ||
        sk_session_run(slow, &given, 1, want, 2, &err) != SK_OK)
        stop(&err);
    for (int run = 0; run < 3; run++) {
        if (sk_session_run(fast, &given, 1, got, 2, &err) != SK_OK)
            stop(&err);
        for (int32_t i = 0; i < g->n_outputs; i++) {
            const double d = distance(got[i].data, want[i].data, sk_shape_count(&want[i].shape));
            o.distance = d > o.distance || isnan(d) ? d : o.distance;
        }
    }
    const gpu_plan *plan = &((gpu_session *)fast)->plan;
    o.steps = (int)plan->n_steps;
    for (size_t i = 0; i < plan->n_steps; i++) {
        o.resizes += plan->steps[i].kind == GPU_RESIZE;
        o.copies += plan->steps[i].kind == GPU_COPY;
        o.to_dense += plan->steps[i].kind == GPU_TO_DENSE;
        o.inputs += plan->steps[i].kind == GPU_INPUT;
    }
    sk_session_close(&fast);
    sk_session_close(&slow);
    free(x);
    free(bytes);
    return o;
}

static void begin(sk_graph **g, sk_builder *b, const sk_shape *shape, sk_value *x)
{
    sk_error err = {0};
    assert_ok(sk_graph_open(g, &err), &err);
    sk_builder_init(b, *g);
    *x = sk_b_input(b, "x", SK_DTYPE_F32, shape);
}

/* The neck of a detector: low, doubled, beside high (and a third), through a 1x1 convolution. */
static sk_graph *neck(const sk_shape *shape, int others, bool doubled_last, int act)
{
    sk_graph *g = NULL;
    sk_builder b;
    sk_value x, parts[3];
    begin(&g, &b, shape, &x);
    const sk_value high = conv(&b, x, 3, 24, 3, 1, 1, SK_UNARY_SILU, "high");
    const sk_value low = conv(&b, high, 24, 20, 3, 2, 1, SK_UNARY_SILU, "low");
    const sk_value large = sk_b_upsample_nearest(&b, low, 2.0f);
    int n = 0, channels = 20 + 24;
    if (!doubled_last)
        parts[n++] = large;
    parts[n++] = high;
    if (others > 1) {
        parts[n++] = conv(&b, high, 24, 7, 1, 1, 1, 0, "third");
        channels += 7;
    }
    if (doubled_last)
        parts[n++] = large;
    sk_value y = conv(&b, sk_b_concat(&b, parts, n, 1), channels, 33, 1, 1, 1, act, "neck");
    sk_b_output(&b, conv(&b, y, 33, 5, 1, 1, 1, 0, "head"), "y");
    assert_int_equal(b.status, SK_OK);
    return g;
}

static void test_doubled(void **state)
{
    (void)state;
    static const int acts[] = {SK_UNARY_SILU, 0, SK_UNARY_GELU};
    static const sk_precision precisions[] = {SK_PRECISION_F16, SK_PRECISION_TF32, SK_PRECISION_F32};
    for (int i = 0; i < 6; i++) {
        const sk_shape shape = sk_shape_of(4, 1 + i % 2, 3, 6 + 2 * (i % 3), 10);
        sk_graph *g = neck(&shape, 1 + i % 2, i / 2 % 2, acts[i % 3]);
        for (int p = 0; p < 3; p++) {
            const outcome o = run_on(g, &shape, precisions[p], SK_INPUT_TENSOR);
            if (!(o.distance < (p == 2 ? EXACT_LIMIT : TILE_LIMIT)) || o.resizes != 0)
                fail_msg("case %d, %s: %.2e, %d resizes", i, sk_precision_name(precisions[p]), o.distance,
                         o.resizes);
        }
        assert_int_equal(setenv("SKITTER_CUDA_WITHOUT", "upsample", 1), 0);
        const outcome o = run_on(g, &shape, SK_PRECISION_F16, SK_INPUT_TENSOR);
        unsetenv("SKITTER_CUDA_WITHOUT");
        assert_true(o.distance < TILE_LIMIT && o.resizes == 1);
        sk_graph_close(&g);
    }
}

/* Where something else reads what was doubled, it is made. */
static void test_doubled_and_read(void **state)
{
    (void)state;
    const sk_shape shape = sk_shape_of(4, 1, 3, 8, 6);
    sk_graph *g = NULL;
    sk_builder b;
    sk_value x;
    begin(&g, &b, &shape, &x);
    const sk_value high = conv(&b, x, 3, 16, 3, 1, 1, SK_UNARY_SILU, "high");
    const sk_value large = sk_b_upsample_nearest(&b, conv(&b, high, 16, 8, 3, 2, 1, 0, "low"), 2.0f);
    const sk_value parts[2] = {large, high};
    sk_b_output(&b, conv(&b, sk_b_concat(&b, parts, 2, 1), 24, 8, 1, 1, 1, 0, "one"), "y");
    sk_b_output(&b, conv(&b, large, 8, 8, 3, 1, 1, 0, "two"), "z");
    assert_int_equal(b.status, SK_OK);
    const outcome o = run_on(g, &shape, SK_PRECISION_F16, SK_INPUT_TENSOR);
    assert_true(o.distance < TILE_LIMIT && o.resizes == 1);
    sk_graph_close(&g);
}

/* [a, f(b)] of a split [a, b]: f(b) is written where b was; unless b is still to be read then. */
static void test_written_over(void **state)
{
    (void)state;
    for (int later = 0; later < 3; later++) {
        const sk_shape shape = sk_shape_of(4, 2, 3, 7, 5);
        sk_graph *g = NULL;
        sk_builder b;
        sk_value x, half[2];
        begin(&g, &b, &shape, &x);
        sk_b_split(&b, conv(&b, x, 3, 48, 3, 1, 1, SK_UNARY_SILU, "whole"), 1, (const int64_t[]){16, 32}, 2,
                   half);
        sk_value f = conv(&b, half[1], 32, 40, 1, 1, 1, SK_UNARY_SILU, "in");
        f = conv(&b, f, 40, 32, 3, 1, 1, 0, "out");
        if (later == 1) /* as the residual of the one that would overwrite it */
            f = sk_b_add(&b, f, half[1]);
        const sk_value parts[2] = {half[0], f};
        sk_value y = conv(&b, sk_b_concat(&b, parts, 2, 1), 48, 24, 1, 1, 1, 0, "last");
        if (later == 2)
            y = sk_b_add(&b, y, conv(&b, half[1], 32, 24, 3, 1, 1, 0, "behind"));
        sk_b_output(&b, conv(&b, y, 24, 6, 3, 1, 1, 0, "head"), "y");
        assert_int_equal(b.status, SK_OK);
        const outcome o = run_on(g, &shape, SK_PRECISION_F16, SK_INPUT_TENSOR);
        if (!(o.distance < TILE_LIMIT) || o.copies != (later > 0))
            fail_msg("later %d: %.2e, %d copies", later, o.distance, o.copies);
        sk_graph_close(&g);
    }
}

/* A 1x1 convolution writes an output's planes itself; byte pictures are read as they come. */
static void test_ends(void **state)
{
    (void)state;
    const sk_shape shape = sk_shape_of(4, 2, 3, 32, 32);
    sk_graph *g = NULL;
    sk_builder b;
    sk_value x;
    begin(&g, &b, &shape, &x);
    x = conv(&b, x, 3, 16, 3, 2, 1, SK_UNARY_SILU, "first");
    sk_b_output(&b, conv(&b, x, 16, 51, 1, 1, 1, 0, "plain"), "y");
    sk_b_output(&b, conv(&b, x, 16, 3, 1, 1, 1, SK_UNARY_SIGMOID, "scores"), "z");
    assert_int_equal(b.status, SK_OK);
    outcome o = run_on(g, &shape, SK_PRECISION_F16, SK_INPUT_U8_HWC);
    assert_true(o.distance < TILE_LIMIT);
    assert_int_equal(o.to_dense, 0);
    assert_int_equal(o.inputs, 0);
    assert_int_equal(o.steps, 3);
    o = run_on(g, &shape, SK_PRECISION_F32, SK_INPUT_U8_HWC);
    assert_true(o.distance < EXACT_LIMIT);
    assert_int_equal(o.to_dense, 0);
    sk_graph_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_doubled),
                                       cmocka_unit_test(test_doubled_and_read),
                                       cmocka_unit_test(test_written_over), cmocka_unit_test(test_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
