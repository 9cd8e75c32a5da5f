/* SPDX-License-Identifier: Apache-2.0 */
/* Transposed convolutions in eight bits: their weights have the outputs second, and a scale for each. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/quantise_plan.h"
#include "graph/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { IN = 6, OUT = 5, KH = 2, KW = 3, TAPS = KH * KW };

static float weight_of(int i, int o, int t)
{
    return (float)((i * 37 + o * 11 + t * 5) % 41 - 20) * 0.01f * (float)(o + 1);
}

static sk_value conv(sk_builder *b, sk_value x, int in, int out, const char *name)
{
    float data[8 * 8], bias[8];
    for (int i = 0; i < out * in; i++)
        data[i] = (float)(i % 7 - 3) * 0.1f;
    for (int i = 0; i < out; i++)
        bias[i] = 0.05f * (float)i;
    const sk_shape w = sk_shape_of(4, out, in, 1, 1), list = sk_shape_of(1, out);
    const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    return sk_b_conv(b, x, sk_b_constant(b, "w", SK_DTYPE_F32, &w, data),
                     sk_b_constant(b, "b", SK_DTYPE_F32, &list, bias), &window, 1, name);
}

/* first, up (from `in` channels, in `groups`), after, last */
static sk_graph *network(int in, int groups)
{
    sk_error err;
    sk_graph *graph = NULL;
    sk_builder b;
    float data[8 * 8 * TAPS], bias[8];
    const int out = OUT + groups - 1;
    for (int i = 0; i < in; i++)
        for (int o = 0; o < out / groups; o++)
            for (int t = 0; t < TAPS; t++)
                data[(i * (out / groups) + o) * TAPS + t] = weight_of(i, o, t);
    for (int o = 0; o < out; o++)
        bias[o] = 0.1f * (float)o;
    const sk_shape w = sk_shape_of(4, in, out / groups, KH, KW), list = sk_shape_of(1, out);
    sk_attrs a = {0};
    a.conv_transpose.window = (sk_window){.kernel = {KH, KW}, .stride = {2, 2}, .dilation = {1, 1}};
    a.conv_transpose.groups = groups;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(&b, graph);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, &(sk_shape){.rank = 4, .dim = {1, 3, 4, 5}});
    x = sk_b_unary(&b, SK_UNARY_RELU, conv(&b, x, 3, in, "first"));
    x = sk_b_node(&b, SK_OP_CONV_TRANSPOSE, &a,
                  (sk_value[]){x, sk_b_constant(&b, "w", SK_DTYPE_F32, &w, data),
                               sk_b_constant(&b, "b", SK_DTYPE_F32, &list, bias)},
                  3, "up");
    x = conv(&b, sk_b_unary(&b, SK_UNARY_RELU, x), out, 6, "after");
    sk_b_output(&b, conv(&b, x, 6, 2, "last"), "y");
    assert_ok(b.status, &b.error);
    sk_graph *ready = NULL;
    assert_ok(sk_quantise_prepare(graph, &ready, &err), &err);
    sk_graph_close(&graph);
    return ready;
}

static const sk_node *named(const sk_graph *graph, const char *name)
{
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (strcmp(graph->nodes[n].name, name) == 0)
            return &graph->nodes[n];
    return NULL;
}

static bool is_layer(const sk_graph *graph, const char *name, int32_t *layers, int32_t *kept)
{
    sk_error err;
    sk_quantise_plan *plan = NULL;
    bool found = false;
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    for (int32_t i = 0; i < plan->n_layers; i++)
        found = found || strcmp(plan->layers[i].name, name) == 0;
    *layers = plan->n_layers;
    *kept = plan->n_kept;
    sk_quantise_plan_close(&plan);
    return found;
}

static void they_are_layers(void **state)
{
    (void)state;
    static const struct {
        int in, groups;
        bool layer;
    } all[] = {{IN, 1, true}, {5, 1, true}, {4, 1, false}, {IN, 2, false}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        int32_t layers, kept;
        sk_graph *graph = network(all[i].in, all[i].groups);
        assert_int_equal(is_layer(graph, "up", &layers, &kept), all[i].layer);
        assert_int_equal(layers, 1 + all[i].layer); /* and "after" */
        assert_int_equal(kept, 3 - all[i].layer);
        if (all[i].groups == 1)
            assert_int_equal(sk_quantise_channels_read(graph, named(graph, "up")), all[i].in);
        sk_graph_close(&graph);
    }
}

static sk_tensor run(const sk_graph *graph)
{
    sk_error err;
    sk_graph *fixed = NULL;
    float x[3 * 4 * 5];
    const sk_shape shape = sk_shape_of(4, 1, 3, 4, 5);
    for (int i = 0; i < 60; i++)
        x[i] = (float)(i * 7 % 23) / 23.0f;
    sk_tensor in = {SK_DTYPE_F32, shape, x}, out;
    assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, &out, 1, &err), &err);
    sk_graph_close(&fixed);
    return out;
}

/* Every weight is its byte times its output's scale, to a step; each channel's taps keep their sum to half a step; a shift that rounding
 * makes of inputs of 1 is taken back in the bias; and what is simulated in f32 is what eight bits give. */
static void weights_and_bias(void **state)
{
    (void)state;
    sk_error err;
    sk_quantise_plan *plan = NULL;
    sk_graph *graph = network(IN, 1), *narrow = NULL, *simulated = NULL;
    const sk_quantise_scale scales[] = {{0.01f, 0}, {0.02f, 10}, {0.02f, 0}};
    const float ones[IN] = {1, 1, 1, 1, 1, 1}, *means[] = {ones, ones, ones};
    double errors[3] = {-1, -1, -1};
    assert_ok(sk_quantise_plan_open(graph, NULL, &plan, &err), &err);
    assert_in_range(plan->n_groups, 1, 3);
    sk_quantise_numbers numbers = {.groups = scales, .means = means, .weight_error = errors};
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &narrow, &err), &err);
    numbers.simulate = true;
    assert_ok(sk_quantise_rewrite(graph, plan, &numbers, &simulated, &err), &err);
    assert_true(errors[0] > 0 && errors[0] < 0.02);
    const sk_node *up = named(narrow, "up");
    sk_quantisation w;
    assert_true(sk_graph_quantisation_of(narrow, up->in[1], &w));
    assert_int_equal(w.axis, 1);
    assert_int_equal(w.n_scales, OUT);
    assert_int_equal(w.dtype, SK_DTYPE_I8);
    const sk_tensor bytes = sk_value_tensor(narrow, w.bytes), bias = sk_value_tensor(narrow, up->in[2]);
    assert_true(sk_shape_equal(&bytes.shape, &(sk_shape){.rank = 4, .dim = {IN, OUT, KH, KW}}));
    for (int o = 0; o < OUT; o++) {
        const double step = (double)w.scales[o];
        double sum = sk_tensor_at(&bias, o), wanted = (double)(0.1f * (float)o), largest = 0;
        for (int i = 0; i < IN; i++) {
            double taps = 0;
            for (int t = 0; t < TAPS; t++) {
                const double is = sk_tensor_at(&bytes, (i * OUT + o) * TAPS + t) * step,
                             was = (double)weight_of(i, o, t);
                assert_true(fabs(is - was) < 1.01 * step);
                largest = fmax(largest, fabs(was));
                sum += is;
                wanted += was;
                taps += is - was;
            }
            assert_true(fabs(taps) < 0.51 * step);
        }
        assert_true(step > largest / 140 && step < largest / 70); /* its own scale, not another's */
        assert_true(fabs(sum - wanted) < 1e-4);
    }
    sk_tensor a = run(narrow), b = run(simulated), c = run(graph);
    for (int64_t i = 0; i < sk_shape_count(&a.shape); i++) {
        assert_true(fabs(sk_tensor_at(&a, i) - sk_tensor_at(&b, i)) < 1e-5);
        assert_true(fabs(sk_tensor_at(&a, i) - sk_tensor_at(&c, i)) < 0.1);
    }
    sk_free(a.data);
    sk_free(b.data);
    sk_free(c.data);
    sk_quantise_plan_close(&plan);
    sk_graph_close(&narrow);
    sk_graph_close(&simulated);
    sk_graph_close(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_layers), cmocka_unit_test(weights_and_bias)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
