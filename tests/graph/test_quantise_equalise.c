/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are joined are brought to reach alike, and the network computes the same bits. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/quantise_plan.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

static uint32_t seed = 3;
static bool with_bias = true;

static sk_value conv(sk_builder *b, sk_value x, int in, int out, int kernel, const char *name)
{
    static float data[32 * 32 * 9];
    const sk_shape w = sk_shape_of(4, out, in, kernel, kernel), list = sk_shape_of(1, out);
    const int p = kernel / 2;
    const sk_window window = {
        .kernel = {kernel, kernel}, .stride = {1, 1}, .dilation = {1, 1}, .pad = {p, p, p, p}};
    for (int64_t i = 0; i < sk_shape_count(&w); i++) {
        seed = seed * 1664525u + 1013904223u;
        data[i] = (float)(int32_t)seed / 4294967296.0f;
    }
    sk_value weight = sk_b_constant(b, "w", SK_DTYPE_F32, &w, data);
    sk_value bias = with_bias ? sk_b_constant(b, "b", SK_DTYPE_F32, &list, data) : SK_VALUE_NONE;
    return sk_b_conv(b, x, weight, bias, &window, 1, name);
}

/* A U-Net's joint: what was before pooling, and what comes from below. `seen`: what comes from below is a result, too. */
static sk_graph *network(sk_unary act, bool seen)
{
    sk_error err;
    sk_graph *graph = NULL, *out = NULL;
    sk_builder b;
    const sk_shape open = {.rank = 4, .dim = {-1, 3, -1, -1}};
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &open);
    sk_value skip = sk_b_unary(&b, act, conv(&b, x, 3, 8, 3, "skip"));
    sk_value below =
        sk_b_unary(&b, act, conv(&b, sk_b_max_pool(&b, skip, 2, 2, 0, "pool"), 8, 6, 3, "below"));
    sk_value up = sk_b_upsample_nearest(&b, below, 2);
    sk_value joined = sk_b_concat(&b, (sk_value[]){skip, up}, 2, 1);
    sk_b_output(&b, conv(&b, joined, 14, 4, 3, "last"), "y");
    if (seen)
        sk_b_output(&b, below, "z");
    assert_ok(b.status, &b.error);
    assert_ok(sk_quantise_prepare(graph, &out, &err), &err);
    sk_graph_close(&graph);
    return out;
}

static void compute(const sk_graph *graph, float *to)
{
    sk_error err;
    sk_graph *fixed = NULL;
    static float x[3 * 8 * 8];
    const sk_shape shape = sk_shape_of(4, 1, 3, 8, 8);
    for (int i = 0; i < 192; i++)
        x[i] = (float)((i * 37) % 101) / 50.0f - 1;
    sk_tensor in = {SK_DTYPE_F32, shape, x}, outs[2] = {{0}};
    assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, outs, fixed->n_outputs, &err), &err);
    memcpy(to, outs[0].data, 4 * 64 * sizeof *to);
    for (int i = 0; i < fixed->n_outputs; i++)
        sk_free(outs[i].data);
    sk_graph_close(&fixed);
}

static sk_value output_of(const sk_graph *graph, const char *name)
{
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (strcmp(graph->nodes[n].name, name) == 0)
            return graph->nodes[n].out[0];
    fail_msg("no %s", name);
    return SK_VALUE_NONE;
}

static void joined_values_reach_alike(void **state)
{
    (void)state;
    sk_error err;
    static const struct {
        sk_unary act;
        bool seen, changes;
    } cases[] = {{SK_UNARY_RELU, false, true}, {SK_UNARY_RELU, true, false}, {SK_UNARY_SILU, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static float before[256], after[256], reach[4096];
        bool changed = !cases[i].changes;
        sk_graph *graph = network(cases[i].act, cases[i].seen);
        const sk_value skip = output_of(graph, "skip"), below = output_of(graph, "below");
        memset(reach, 0, sizeof reach);
        reach[skip] = 100;
        reach[below] = 3;
        compute(graph, before);
        assert_ok(sk_quantise_equalise(graph, reach, NULL, &changed, &err), &err);
        assert_int_equal(changed, cases[i].changes);
        assert_true(reach[below] == (changed ? 96 : 3));
        compute(graph, after);
        assert_memory_equal(before, after, sizeof before);
        sk_graph_close(&graph);
    }
}

/* Of the weights of `conv`, those of one output channel (`out` >= 0) or of one input channel. */
static double largest_weight(const sk_graph *graph, const char *name, int64_t out, int64_t in)
{
    double most = 0;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        if (strcmp(graph->nodes[n].name, name) != 0)
            continue;
        const sk_tensor w = sk_value_tensor(graph, graph->nodes[n].in[1]);
        const int64_t *d = w.shape.dim, taps = d[2] * d[3];
        for (int64_t i = 0; i < sk_shape_count(&w.shape); i++)
            if ((out < 0 || i / (d[1] * taps) == out) && (in < 0 || i / taps % d[1] == in))
                most = fmax(most, fabs((double)((const float *)w.data)[i]));
    }
    return most;
}

/* A channel that reaches a sixteenth as far is made four times as large, wherever it is read, behind a pool and in a joint. */
static void channels_reach_alike(void **state)
{
    (void)state;
    sk_error err;
    static const sk_unary acts[] = {SK_UNARY_RELU, SK_UNARY_SILU};
    for (size_t i = 0; i < 2; i++) {
        static float before[256], after[256], reach[4096];
        static const float own[8] = {16, 1, 16, 15, 9, 0, 16, 16};
        static const float *channels[4096];
        const bool changes = acts[i] == SK_UNARY_RELU;
        const double by = changes ? 4 : 1;
        bool changed = !changes;
        sk_graph *graph = network(acts[i], false);
        const double made[2] = {largest_weight(graph, "skip", 1, -1), largest_weight(graph, "skip", 5, -1)},
                     pooled = largest_weight(graph, "below", -1, 1),
                     joined = largest_weight(graph, "last", -1, 1);
        memset(reach, 0, sizeof reach);
        memset(channels, 0, sizeof channels);
        channels[output_of(graph, "skip")] = own;
        compute(graph, before);
        assert_ok(sk_quantise_equalise(graph, reach, channels, &changed, &err), &err);
        assert_int_equal(changed, changes);
        assert_true(largest_weight(graph, "skip", 1, -1) == made[0] * by);
        assert_true(largest_weight(graph, "skip", 5, -1) == made[1]);
        assert_true(largest_weight(graph, "below", -1, 1) == pooled / by);
        assert_true(largest_weight(graph, "last", -1, 1) == joined / by);
        compute(graph, after);
        assert_memory_equal(before, after, sizeof before);
        sk_graph_close(&graph);
    }
}

/* By how much what comes from below is made larger: powers of two, from one and a half on, up to a million. */
static void joined_values_have_bounds(void **state)
{
    (void)state;
    static const struct {
        float skip, below;
        double factor;
    } cases[] = {{100, 100, 1},      {149, 100, 1},  {150, 100, 2}, {270, 100, 2},    {290, 100, 4},
                 {1e6f, 1, 1048576}, {1.1e6f, 1, 1}, {100, 0, 1},   {INFINITY, 1, 1}, {1, NAN, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int bias = 0; bias < 2; bias++) {
            static float before[256], after[256], reach[4096];
            sk_error err;
            bool changed;
            with_bias = bias;
            sk_graph *graph = network(SK_UNARY_RELU, false);
            with_bias = true;
            const double made = largest_weight(graph, "below", 0, -1);
            memset(reach, 0, sizeof reach);
            reach[output_of(graph, "skip")] = cases[i].skip;
            reach[output_of(graph, "below")] = cases[i].below;
            compute(graph, before);
            assert_ok(sk_quantise_equalise(graph, reach, NULL, &changed, &err), &err);
            assert_int_equal(changed, cases[i].factor > 1);
            if (largest_weight(graph, "below", 0, -1) != made * cases[i].factor)
                fail_msg("case %zu: %g times", i, largest_weight(graph, "below", 0, -1) / made);
            compute(graph, after);
            assert_memory_equal(before, after, sizeof before);
            sk_graph_close(&graph);
        }
}

/* Channels: half of the way, from a half on, up to a millionth. */
static void channels_have_bounds(void **state)
{
    (void)state;
    static const float own[8] = {2e6f, 1.1e6f, 0.4e6f, 1e5f, 4, 1.9f, 0, 2e6f / 900000};
    static const double factors[8] = {1, 1, 2, 4, 512, 1, 1, 1024};
    static float before[256], after[256], reach[4096];
    static const float *channels[4096];
    sk_error err;
    bool changed;
    sk_graph *graph = network(SK_UNARY_RELU, false);
    double made[8];
    for (int c = 0; c < 8; c++)
        made[c] = largest_weight(graph, "skip", c, -1);
    memset(reach, 0, sizeof reach);
    memset(channels, 0, sizeof channels);
    channels[output_of(graph, "skip")] = own;
    compute(graph, before);
    assert_ok(sk_quantise_equalise(graph, reach, channels, &changed, &err), &err);
    assert_true(changed);
    for (int c = 0; c < 8; c++)
        if (largest_weight(graph, "skip", c, -1) != made[c] * factors[c])
            fail_msg("channel %d: %g times", c, largest_weight(graph, "skip", c, -1) / made[c]);
    compute(graph, after);
    assert_memory_equal(before, after, sizeof before);
    sk_graph_close(&graph);
}

/* Joints of joints: whose channels come before its own is counted through pools, resizes and other joints; what cannot be
 * counted is left alone. */
static void joints_of_joints(void **state)
{
    (void)state;
    for (int odd = 0; odd < 2; odd++) {
        static float before[256], after[256], reach[4096];
        sk_error err;
        sk_graph *graph = NULL, *ready = NULL;
        sk_builder b;
        bool changed = odd;
        const sk_shape open = {.rank = 4, .dim = {-1, 3, -1, -1}};
        assert_ok(sk_graph_open(&graph, &err), &err);
        sk_builder_init(&b, graph);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &open);
        sk_value far = sk_b_unary(&b, SK_UNARY_RELU, conv(&b, x, 3, 5, 3, "far"));
        sk_value near = sk_b_unary(&b, SK_UNARY_RELU, conv(&b, x, 3, 3, 1, "near"));
        sk_value low = sk_b_upsample_nearest(&b, sk_b_max_pool(&b, near, 2, 2, 0, "pool"), 2);
        if (odd) /* how many channels a softmax has nobody says */
            low = sk_b_softmax(&b, low, 1);
        sk_value inner = sk_b_concat(&b, (sk_value[]){far, low}, 2, 1);
        sk_value small = sk_b_unary(&b, SK_UNARY_RELU, conv(&b, x, 3, 6, 3, "small"));
        sk_b_output(&b, conv(&b, sk_b_concat(&b, (sk_value[]){inner, far, small}, 3, 1), 19, 4, 3, "last"),
                    "y");
        assert_ok(b.status, &b.error);
        assert_ok(sk_quantise_prepare(graph, &ready, &err), &err);
        sk_graph_close(&graph);
        memset(reach, 0, sizeof reach);
        reach[output_of(ready, "far")] = 64;
        reach[output_of(ready, "small")] = 4;
        const double made = largest_weight(ready, "small", 2, -1),
                     first = largest_weight(ready, "last", -1, 13),
                     last = largest_weight(ready, "last", -1, 18),
                     before_it = largest_weight(ready, "last", -1, 12);
        compute(ready, before);
        assert_ok(sk_quantise_equalise(ready, reach, NULL, &changed, &err), &err);
        assert_int_equal(changed, !odd);
        const double by = odd ? 1 : 16;
        assert_true(largest_weight(ready, "small", 2, -1) == made * by);
        assert_true(largest_weight(ready, "last", -1, 13) == first / by); /* behind 5 + 3 + 5 channels */
        assert_true(largest_weight(ready, "last", -1, 18) == last / by);
        assert_true(largest_weight(ready, "last", -1, 12) == before_it);
        compute(ready, after);
        assert_memory_equal(before, after, sizeof before);
        sk_graph_close(&ready);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_values_reach_alike), cmocka_unit_test(channels_reach_alike),
        cmocka_unit_test(joined_values_have_bounds), cmocka_unit_test(channels_have_bounds),
        cmocka_unit_test(joints_of_joints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
