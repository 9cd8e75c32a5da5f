/* SPDX-License-Identifier: Apache-2.0 */
/* Choices of scales against all that could be chosen, and what other runtimes are told of activations. */
#include "support/test.h"

#include "base/memory.h"
#include "graph/builder.h"
#include "graph/f8_formula.h"
#include "graph/quantise.h"
#include "graph/quantise_range.h"
#include "graph/quantise_weights.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

static uint32_t seed = 7;

static double chance(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / (1 << 24);
}

/* --- weights --- */

static double error_of(const float *w, int n, float scale, bool f8)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const float steps = w[i] / scale;
        const float near = f8 ? sk_f8_number(sk_f8_of(steps)) : fminf(127, fmaxf(-127, nearbyintf(steps)));
        const double off = (double)(w[i] - near * scale);
        sum += off * off;
    }
    return sum;
}

/* Of the largest weight and parts of it, in steps of 2 % (of f8: of places within a power of two), the one with the least error is
 * the end of the scale. */
static void weights_have_the_best_scale(void **state)
{
    (void)state;
    enum { N = 6000 }; /* so many that cutting the largest off can pay */
    static float w[N], meant[N];
    static uint8_t bytes[N];
    int clipped = 0;
    for (int round = 0; round < 4; round++)
        for (int f8 = 0; f8 < 2; f8++) {
            float largest = 0;
            for (int i = 0; i < N; i++) {
                w[i] = i == 77 && round % 3 ? 0.6f : (float)(0.8 * (chance() - 0.5));
                largest = fmaxf(largest, fabsf(w[i]));
            }
            const float scale = sk_quantise_weights(w, N, N, f8, bytes, meant);
            const double own = error_of(w, N, scale, f8);
            bool among = false;
            for (int k = 0; k < 20; k++) {
                const float tried = f8 ? (float)((double)largest * (1 + k / 20.0)) / 448
                                       : (float)((double)largest * (1 - k * 0.02)) / 127;
                assert_true(own <= error_of(w, N, tried, f8) * (1 + 1e-6));
                among |= fabsf(scale - tried) <= 1e-6f * tried;
                clipped += !f8 && k && fabsf(scale - tried) <= 1e-6f * tried;
            }
            assert_true(among);
        }
    assert_true(clipped > 1); /* the largest is not always the best */
    const float nothing[4] = {0}, bad[4] = {1, INFINITY, 2, 3};
    assert_true(sk_quantise_weights(nothing, 4, 4, false, bytes, meant) == 1 && meant[2] == 0);
    assert_true(sk_quantise_weights(bad, 4, 4, false, bytes, meant) == 1);
}

/* What a channel's taps are short of together goes to those that are farthest from their step, until half a step is left. */
static void taps_keep_their_sum(void **state)
{
    (void)state;
    static const struct {
        float w[5];
        double steps[5];
    } cases[] = {{{127, 0.4f, 0.3f, 0.45f, 0}, {127, 0, 0, 1, 0}},
                 {{127, -0.4f, -0.3f, -0.45f, 0}, {127, 0, 0, -1, 0}},
                 {{127, 0.4f, 0.45f, 0.3f, 0.42f}, {127, 0, 1, 0, 1}},
                 {{127, 2.4f, -3.45f, 1.3f, 0.2f}, {127, 2, -3, 1, 0}},
                 {{-127, 5.6f, 5.7f, 5.8f, 0}, {-127, 5, 6, 6, 0}},
                 {{127, 0.2f, 0.2f, 0.05f, 0}, {127, 0, 0, 0, 0}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float meant[5];
        uint8_t bytes[5];
        assert_true(sk_quantise_weights(cases[i].w, 5, 5, false, bytes, meant) == 1);
        for (int k = 0; k < 5; k++)
            if ((double)meant[k] != cases[i].steps[k] || (int8_t)bytes[k] != (int)cases[i].steps[k])
                fail_msg("case %zu: tap %d is %g", i, k, (double)meant[k]);
    }
}

/* --- ranges --- */

static double cubes_of(const sk_range *r, sk_quantise_scale s, bool f8)
{
    double sum = 0;
    const double scale = (double)s.scale;
    for (int i = 0; i < SK_RANGE_BINS; i++) {
        if (!r->bins[i])
            continue;
        const double x = (i - SK_RANGE_BINS / 2 + 0.5) * r->width;
        const double q = fmin(255, fmax(0, nearbyint(x / scale) + s.zero));
        const double kept =
            f8 ? (double)sk_f8_number(sk_f8_of((float)(x / scale))) * scale : (q - s.zero) * scale;
        sum += (double)r->bins[i] * (kept - x) * (kept - x) * fabs(kept - x);
    }
    return sum;
}

static void check_ends(const sk_range *r, int *cut)
{
    const sk_quantise_scale got = sk_range_scale(r, SK_RANGE_ERROR, 0);
    sk_quantise_scale best = {0};
    double least = INFINITY;
    for (int h = 0; h < 24; h++)
        for (int l = 0; l < 24; l++) {
            const sk_quantise_scale tried =
                sk_quantise_scale_of((double)r->low * (1 - l * 0.04), (double)r->high * (1 - h * 0.04));
            const double error = cubes_of(r, tried, false);
            if (error < least)
                least = error, best = tried;
        }
    assert_true(fabs((double)got.scale - 1.2 * (double)best.scale) < 1e-6 * (double)got.scale);
    assert_int_equal(got.zero, best.zero);
    *cut += (double)best.scale * 255 < 0.99 * ((double)r->high - (double)r->low);
    const sk_quantise_scale f8 = sk_range_f8_scale(r, SK_RANGE_ERROR, 0);
    const double far = fmax((double)r->high, -(double)r->low);
    for (int i = 0; i < 24; i++) {
        const sk_quantise_scale tried = sk_quantise_f8_scale_of(0, far * 1.2 * (1 + i / 24.0));
        assert_true(cubes_of(r, f8, true) <= cubes_of(r, tried, true) * (1 + 1e-4));
    }
    assert_true((double)f8.scale * 448 > 1.19 * far && (double)f8.scale * 448 < 2.4 * far);
}

/* The least sum of cubes among 24 by 24 ends, and a fifth beyond. */
static void ranges_have_the_best_ends(void **state)
{
    (void)state;
    static sk_range r;
    int cut = 0;
    for (int round = 0; round < 20; round++) {
        memset(&r, 0, sizeof r);
        for (int i = 0; i < 30; i++)
            sk_range_add(&r, &(float){(float)(chance() - 0.1 * (round % 8))}, 1);
        for (int i = 0; round > 1 && i < SK_RANGE_BINS; i++) /* a single far one among very many */
            r.bins[i] *= (int64_t)1000 << (round % 12);
        if (round > 1)
            sk_range_add(&r, &(float){round % 5 == 4 ? -1.9f : 1.2f + 0.1f * (float)(round % 7)}, 1);
        check_ends(&r, &cut);
    }
    assert_true(cut >= 2); /* what is far and alone is cut off */
}

static void ends_of_scales(void **state)
{
    (void)state;
    static const struct {
        double low, high;
        float scale;
        int zero;
    } cases[] = {{0, 255, 1, 0},     {-255, 0, 1, 255}, {-55, 200, 1, 55},           {10, 255, 1, 0},
                 {-255, -9, 1, 255}, {0, 0, 1, 0},      {-0.5, 0.5, 1 / 255.0f, 128}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_quantise_scale s = sk_quantise_scale_of(cases[i].low, cases[i].high);
        assert_true(s.scale == cases[i].scale);
        assert_int_equal(s.zero, cases[i].zero);
    }
    assert_true(sk_quantise_f8_scale_of(-3, 448).scale == 1);
    assert_true(sk_quantise_f8_scale_of(-896, 3).scale == 2);
    assert_true(sk_quantise_f8_scale_of(0, 0).scale == 1);
}

/* Through the library, in its conversion of whole tensors: neighbours of the middles between two codes. */
static void numbers_of_eight_bits_round_to_the_nearest(void **state)
{
    (void)state;
    for (int code = 0; code < 126; code++) {
        uint8_t pair[2] = {(uint8_t)code, (uint8_t)(code + 1)}, back[3];
        float at[2];
        sk_convert(SK_DTYPE_F8, pair, SK_DTYPE_F32, at, 2);
        const float middle = (at[0] + at[1]) / 2;
        const float near[3] = {nextafterf(middle, 0), middle, nextafterf(middle, 1e9f)};
        sk_convert(SK_DTYPE_F32, near, SK_DTYPE_F8, back, 3);
        assert_int_equal(back[0], code);
        assert_int_equal(back[1], code + code % 2);
        assert_int_equal(back[2], code + 1);
    }
}

/* --- a layer and its activation --- */

static sk_value byte_constant(sk_builder *b, sk_dtype dtype, int value)
{
    const sk_shape one = {.rank = 0};
    const uint8_t byte = (uint8_t)value;
    return sk_b_constant(b, "", dtype, &one, &byte);
}

static sk_dtype told_in = SK_DTYPE_U8; /* what the activation's output is put in */

static sk_value pair(sk_builder *b, sk_value x, sk_dtype dtype, float scale, int zero)
{
    sk_value s = sk_b_f32(b, scale), z = byte_constant(b, dtype, zero);
    sk_value q = sk_b_node(b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, z}, 3, "q");
    return sk_b_node(b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, z}, 3, "dq");
}

static sk_graph *begin(sk_builder *b)
{
    sk_error err = {0};
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(b, graph);
    return graph;
}

static sk_graph *specialised(sk_builder *b, sk_shape shape)
{
    sk_error err = {0};
    sk_graph *fixed = NULL;
    assert_ok(b->status, &b->error);
    assert_ok(sk_graph_specialise(b->graph, &shape, 1, &fixed, &err), &err);
    sk_graph_close(&b->graph);
    return fixed;
}

/* x in eight bits, a convolution of one tap, the activation; its output in eight bits of this scale and zero. False: the sum before
 * the activation was put in none. */
static bool sum_of(sk_unary kind, float alpha, float scale, int zero, const sk_quantise_reach *reach,
                   sk_quantisation *q)
{
    sk_error err = {0};
    sk_builder b;
    begin(&b);
    const sk_shape kernel = sk_shape_of(4, 1, 1, 1, 1), list = sk_shape_of(1, 1);
    const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    sk_value x = pair(&b, sk_b_input(&b, "x", SK_DTYPE_F32, NULL), SK_DTYPE_U8, 0.1f, 0);
    sk_value w = sk_b_node(&b, SK_OP_DEQUANTIZE, NULL,
                           (sk_value[]){sk_b_constant(&b, "w", SK_DTYPE_I8, &kernel, "\x40"),
                                        sk_b_constant(&b, "s", SK_DTYPE_F32, &list, &(float){0.5f})},
                           2, "w");
    sk_value bias = sk_b_constant(&b, "bias", SK_DTYPE_F32, &list, &(float){3});
    sk_value y = sk_b_conv(&b, x, w, bias, &window, 1, "conv");
    y = sk_b_node(&b, SK_OP_UNARY, &(sk_attrs){.unary = {.kind = kind, .alpha = alpha}}, &y, 1, "act");
    sk_b_output(&b, pair(&b, y, told_in, scale, zero), "y");
    sk_graph *graph = specialised(&b, sk_shape_of(4, 1, 1, 1, 1));
    assert_ok(sk_quantise_for_runtimes(graph, reach, reach != NULL, &err), &err);
    bool found = false;
    const sk_node *conv = NULL;
    for (size_t n = 0; n < graph->n_nodes; n++)
        conv = graph->nodes[n].op == SK_OP_CONV ? &graph->nodes[n] : conv;
    assert_non_null(conv);
    for (size_t n = 0; n < graph->n_nodes && !found; n++)
        found = sk_graph_quantisation_of(graph, graph->nodes[n].out[0], q) && q->real == conv->out[0];
    /* the bias became whole steps of the sums: 3 / (0.1 * 0.5) */
    const sk_node *added = &graph->nodes[graph->values[conv->in[2]].producer];
    assert_int_equal(added->op, SK_OP_DEQUANTIZE);
    const sk_tensor sums = sk_value_tensor(graph, added->in[0]);
    assert_int_equal(sk_tensor_int_at(&sums, 0), 60);
    sk_graph_close(&graph);
    return found;
}

static void sums_reach_as_far_as_activations_hear(void **state)
{
    (void)state;
    sk_quantisation q;
    /* outputs of 0 … 25.5 */
    assert_true(sum_of(SK_UNARY_RELU, 0, 0.1f, 0, NULL, &q));
    assert_true(q.zero == 0 && fabsf(q.scale - 0.1f) < 1e-6f);
    assert_true(sum_of(SK_UNARY_RELU6, 0, 0.02f, 0, NULL, &q));
    assert_true(q.zero == 0 && fabsf(q.scale - 0.02f) < 1e-6f);
    /* -1 … 24.5 of a tenth below 0: -10 … 24.5 before it */
    assert_true(sum_of(SK_UNARY_LEAKY, 0.1f, 0.1f, 10, NULL, &q));
    assert_true(fabsf(q.scale - 34.5f / 255) < 1e-5f && q.zero == 74);
    assert_true(sum_of(SK_UNARY_LEAKY, 0, 0.1f, 10, NULL, &q)); /* no slope: nothing comes from below */
    assert_true(q.zero == 0 && fabsf(q.scale - 24.5f / 255) < 1e-5f);
    /* what was seen says more than the eight bits behind it */
    const sk_quantise_reach seen = {"conv", -0.2f, 5};
    assert_true(sum_of(SK_UNARY_LEAKY, 0.1f, 0.1f, 10, &seen, &q));
    assert_true(fabsf(q.scale - 7.0f / 255) < 1e-5f && q.zero == 73);
    const sk_quantise_reach other = {"another", -0.2f, 5}, none = {"conv", 5, 5};
    assert_true(sum_of(SK_UNARY_LEAKY, 0.1f, 0.1f, 10, &other, &q));
    assert_true(fabsf(q.scale - 34.5f / 255) < 1e-5f);
    assert_false(sum_of(SK_UNARY_LEAKY, 0.1f, 0.1f, 10, &none, &q));
    told_in = SK_DTYPE_I8; /* of those nothing is read */
    assert_false(sum_of(SK_UNARY_RELU, 0, 0.1f, 0, NULL, &q));
    told_in = SK_DTYPE_U8;
    assert_false(sum_of(SK_UNARY_TANH, 0, 0.1f, 0, NULL, &q));
    assert_false(sum_of(SK_UNARY_SIGMOID, 0, 0.1f, 0, NULL, &q));
}

/* Down to where it says nothing to half a step, up to what gives the largest number. */
static void smooth_activations_are_inverted(void **state)
{
    (void)state;
    static const sk_unary kinds[] = {SK_UNARY_SILU, SK_UNARY_GELU, SK_UNARY_HARD_SWISH, SK_UNARY_MISH};
    for (int i = 0; i < 4; i++) {
        const sk_quantise_reach seen = {"conv", -0.3f, 2}, low = {"conv", -0.3f, 0.25f};
        sk_quantisation q;
        assert_true(sum_of(kinds[i], 0, 0.01f, 40, &low, &q));
        assert_true(kinds[i] == SK_UNARY_HARD_SWISH || (255 - q.zero) * (double)q.scale < 0.6);
        assert_true(sum_of(kinds[i], 0, 0.01f, 40, &seen, &q));
        const double from = -q.zero * (double)q.scale, to = (255 - q.zero) * (double)q.scale;
        float ends[4] = {(float)from, (float)from + 0.2f, (float)to, (float)to}, got[4];
        const sk_tensor in = {SK_DTYPE_F32, sk_shape_of(1, 4), ends};
        sk_tensor out = {SK_DTYPE_F32, sk_shape_of(1, 4), got};
        sk_value ins[1] = {0}, outs[1] = {1};
        sk_node node = {.op = SK_OP_UNARY, .n_in = 1, .n_out = 1, .in = ins, .out = outs, .name = "n"};
        sk_error err = {0};
        memset(&node.a, 0, sizeof node.a);
        node.a.unary.kind = kinds[i];
        if (kinds[i] == SK_UNARY_HARD_SWISH) /* without a slope of its own it is 0 everywhere */
            continue;
        assert_ok(sk_node_execute(&node, &in, &out, &err), &err);
        const double half = 2.3 / 510;
        assert_true(fabs((double)got[2] - 2) < 0.02);    /* a step and its rounding */
        assert_true(fabs((double)got[0]) < half * 1.05); /* nothing is left of it */
        assert_true(fabs((double)got[1]) > half * 0.95); /* and there was, just before */
    }
}

/* Depthwise: every channel by itself. A single output of all channels is not, nor are groups of several. */
static void each_channel_by_itself_is_depthwise(void **state)
{
    (void)state;
    static const struct {
        int64_t outputs, inputs;
        int32_t groups;
        bool depthwise;
    } cases[] = {{4, 1, 4, true}, {1, 4, 1, false}, {4, 1, 1, false}, {4, 2, 4, false}, {4, 4, 1, false}};
    static const float weights[64] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_builder b;
        sk_graph *graph = begin(&b);
        const sk_shape kernel = sk_shape_of(4, cases[i].outputs, cases[i].inputs, 1, 1);
        const sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
        sk_b_conv(&b, x, sk_b_constant(&b, "w", SK_DTYPE_F32, &kernel, weights), SK_VALUE_NONE, &window,
                  cases[i].groups, "conv");
        assert_ok(b.status, &b.error);
        assert_int_equal(sk_quantise_is_depthwise(graph, &graph->nodes[0]), cases[i].depthwise);
        sk_graph_close(&graph);
    }
}

/* One number for all and one for each channel are two rules, even where the first is the same. */
static void rules_must_be_the_same_for_all(void **state)
{
    (void)state;
    static const float three[] = {1, 2, 3}, same[] = {1, 2, 3};
    const sk_shape list = sk_shape_of(1, 3);
    for (int k = 0; k < 4; k++) {
        sk_quantisation q;
        sk_builder b;
        begin(&b);
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL), z = byte_constant(&b, SK_DTYPE_U8, 0);
        sk_value zs = sk_b_constant(&b, "z", SK_DTYPE_U8, &list, "\0\0\0");
        sk_value one = sk_b_f32(&b, 1), all = sk_b_constant(&b, "s", SK_DTYPE_F32, &list, three),
                 twin = sk_b_constant(&b, "t", SK_DTYPE_F32, &list, same);
        const sk_attrs first = {.quantise.axis = 1}, second = {.quantise.axis = k == 3 ? 0 : 1};
        sk_value narrow = sk_b_node(&b, SK_OP_QUANTIZE, &first,
                                    (sk_value[]){x, k == 0 ? one : all, k == 0 ? z : zs}, 3, "q");
        sk_b_output(&b,
                    sk_b_node(&b, SK_OP_DEQUANTIZE, &second,
                              (sk_value[]){narrow,
                                           k == 0   ? all
                                           : k == 1 ? one
                                                    : twin,
                                           k == 0   ? zs
                                           : k == 1 ? z
                                                    : zs},
                              3, "dq"),
                    "y");
        sk_graph *graph = specialised(&b, sk_shape_of(2, 3, 3));
        assert_int_equal(sk_graph_quantisation_of(graph, graph->outputs[0], &q), k == 2);
        sk_graph_close(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights_have_the_best_scale),
                                       cmocka_unit_test(taps_keep_their_sum),
                                       cmocka_unit_test(ranges_have_the_best_ends),
                                       cmocka_unit_test(ends_of_scales),
                                       cmocka_unit_test(numbers_of_eight_bits_round_to_the_nearest),
                                       cmocka_unit_test(sums_reach_as_far_as_activations_hear),
                                       cmocka_unit_test(smooth_activations_are_inverted),
                                       cmocka_unit_test(each_channel_by_itself_is_depthwise),
                                       cmocka_unit_test(rules_must_be_the_same_for_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
