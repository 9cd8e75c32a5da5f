/* SPDX-License-Identifier: Apache-2.0 */
/* Values in eight bits: rounding and saturation to the last one, what engines ask of a graph, and what is left when eight
 * bits are not wanted. */
#include "support/test.h"

#include "graph/builder.h"
#include "graph/quantise.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

static sk_value byte_constant(sk_builder *b, sk_dtype dtype, int value)
{
    sk_shape one = {.rank = 0};
    int8_t byte = (int8_t)value;
    return sk_b_constant(b, "", dtype, &one, &byte);
}

static sk_value pair(sk_builder *b, sk_value x, float scale, sk_dtype dtype, int zero)
{
    sk_value s = sk_b_f32(b, scale), z = byte_constant(b, dtype, zero);
    sk_value q = sk_b_node(b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, z}, 3, "q");
    return sk_b_node(b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, z}, 3, "dq");
}

static sk_graph *specialise(sk_builder *b, sk_shape shape)
{
    sk_error err;
    sk_graph *fixed = NULL;
    assert_ok(b->status, &b->error);
    assert_ok(sk_graph_specialise(b->graph, &shape, 1, &fixed, &err), &err);
    sk_graph_close(&b->graph);
    return fixed;
}

static void begin(sk_builder *b)
{
    sk_error err;
    sk_graph *graph = NULL;
    assert_ok(sk_graph_open(&graph, &err), &err);
    sk_builder_init(b, graph);
}

/* x in eight bits, as bytes. */
static void expect_bytes(sk_dtype dtype, float scale, int zero, const float *x, const int *wanted, int n)
{
    sk_error err;
    sk_builder b;
    sk_tensor out;
    begin(&b);
    sk_shape shape = sk_shape_of(1, n);
    sk_value in = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
    sk_b_output(&b,
                sk_b_node(&b, SK_OP_QUANTIZE, NULL,
                          (sk_value[]){in, sk_b_f32(&b, scale), byte_constant(&b, dtype, zero)}, 3, "q"),
                "y");
    sk_graph *graph = specialise(&b, shape);
    sk_tensor given = {SK_DTYPE_F32, shape, (void *)(uintptr_t)x};
    assert_ok(sk_reference_run(graph, &given, 1, &out, 1, &err), &err);
    assert_int_equal(out.dtype, dtype);
    for (int i = 0; i < n; i++)
        if (sk_tensor_int_at(&out, i) != wanted[i])
            fail_msg("%g became %lld, not %d", (double)x[i], (long long)sk_tensor_int_at(&out, i), wanted[i]);
    sk_free(out.data);
    sk_graph_close(&graph);
}

static void rounds_half_to_even_and_saturates(void **state)
{
    (void)state;
    static const float halves[] = {0.5f,        1.5f,   2.5f,   -0.5f,   -1.5f,
                                   0.49999997f, 126.5f, 127.5f, -127.5f, -128.5f};
    expect_bytes(SK_DTYPE_I8, 1, 0, halves, (int[]){0, 2, 2, 0, -2, 0, 126, 127, -128, -128}, 10);
    static const float ends[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 254.5f, 255.5f, -0.4f, -0.6f};
    expect_bytes(SK_DTYPE_U8, 1, 0, ends, (int[]){255, 0, 0, 255, 0, 254, 255, 0, 0}, 9);
    /* the zero point is added after rounding, and saturation comes last */
    static const float around[] = {-1.5f, 0.25f, 0.75f, 31, 32, -33, NAN};
    expect_bytes(SK_DTYPE_U8, 0.5f, 128, around, (int[]){125, 128, 130, 190, 192, 62, 128}, 7);
    expect_bytes(SK_DTYPE_I8, 1e-38f, 5, (float[]){1, -1, 0}, (int[]){127, -128, 5}, 3);
}

/* conv(dq(x)) with weights in eight bits, relu, in eight bits again. */
static sk_graph *network(void)
{
    static const int8_t w[8] = {127, -127, 64, 1, -3, 90, 0, 12};
    static const float scales[2] = {0.01f, 0.02f};
    sk_builder b;
    begin(&b);
    sk_window window = {.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}};
    sk_shape kernel = sk_shape_of(4, 2, 4, 1, 1), two = sk_shape_of(1, 2);
    sk_attrs first = {.quantise.axis = 0};
    sk_value x = pair(&b, sk_b_input(&b, "x", SK_DTYPE_F32, NULL), 1.0f / 255, SK_DTYPE_U8, 0);
    sk_value weight = sk_b_node(&b, SK_OP_DEQUANTIZE, &first,
                                (sk_value[]){sk_b_constant(&b, "w", SK_DTYPE_I8, &kernel, w),
                                             sk_b_constant(&b, "s", SK_DTYPE_F32, &two, scales)},
                                2, "w");
    sk_value bias = sk_b_node(&b, SK_OP_DEQUANTIZE, &first,
                              (sk_value[]){sk_b_constant(&b, "b", SK_DTYPE_I32, &two, (int32_t[]){1000, -7}),
                                           sk_b_constant(&b, "s", SK_DTYPE_F32, &two, scales)},
                              2, "bias");
    sk_value y = sk_b_conv(&b, x, weight, bias, &window, 1, "conv");
    y = pair(&b, sk_b_unary(&b, SK_UNARY_RELU, y), 0.05f, SK_DTYPE_U8, 7);
    sk_b_output(&b, y, "y");
    return specialise(&b, sk_shape_of(4, 1, 4, 3, 3));
}

static void engines_see_what_is_in_eight_bits(void **state)
{
    (void)state;
    sk_error err;
    sk_quantisation q;
    sk_graph *graph = network();
    assert_ok(sk_graph_optimise(graph, &err), &err);
    assert_ok(sk_graph_verify(graph, &err), &err);
    assert_true(sk_graph_is_quantised(graph));
    assert_true(sk_graph_quantisation_of(graph, graph->outputs[0], &q));
    assert_int_equal(q.dtype, SK_DTYPE_U8);
    assert_int_equal(q.zero, 7);
    assert_true(q.scale == 0.05f && q.n_scales == 1);
    /* what is quantised is the convolution with its activation */
    const sk_node *conv = &graph->nodes[graph->values[q.real].producer];
    assert_int_equal(conv->op, SK_OP_CONV);
    assert_int_equal(conv->a.conv.act.kind, SK_UNARY_RELU);
    assert_true(sk_value_is_constant(graph, conv->in[2]));
    assert_int_equal(graph->values[conv->in[2]].dtype, SK_DTYPE_F32);
    assert_true(sk_graph_quantisation_of(graph, conv->in[0], &q));
    assert_int_equal(q.zero, 0);
    assert_int_equal(q.real, graph->inputs[0]);
    assert_true(sk_graph_quantisation_of(graph, conv->in[1], &q));
    assert_int_equal(q.dtype, SK_DTYPE_I8);
    assert_int_equal(q.real, SK_VALUE_NONE);
    assert_true(q.n_scales == 2 && q.scales[1] == 0.02f && sk_value_is_constant(graph, q.bytes));
    assert_false(sk_graph_quantisation_of(graph, graph->inputs[0], &q));
    sk_graph_close(&graph);
}

static void becomes_f32_where_that_is_wanted(void **state)
{
    (void)state;
    sk_error err;
    sk_tensor exact, plain;
    float x[36];
    for (int i = 0; i < 36; i++)
        x[i] = (float)(i * 37 % 101) / 100;
    sk_graph *graph = network();
    sk_tensor in = {SK_DTYPE_F32, sk_shape_of(4, 1, 4, 3, 3), x};
    assert_ok(sk_reference_run(graph, &in, 1, &exact, 1, &err), &err);
    assert_ok(sk_graph_dequantise(graph, &err), &err);
    assert_false(sk_graph_is_quantised(graph));
    assert_ok(sk_graph_optimise(graph, &err), &err);
    assert_int_equal(graph->n_nodes, 2); /* the output's name stays on an identity */
    assert_ok(sk_reference_run(graph, &in, 1, &plain, 1, &err), &err);
    const float *a = exact.data, *b = plain.data;
    bool differs = false;
    for (int i = 0; i < 18; i++) {
        differs = differs || a[i] != b[i];
        if (fabsf(a[i] - b[i]) > 0.035f) /* half a step of the output, and the rounded input */
            fail_msg("element %d: %g in eight bits, %g without", i, (double)a[i], (double)b[i]);
    }
    assert_true(differs);
    sk_free(exact.data);
    sk_free(plain.data);
    sk_graph_close(&graph);
}

/* A pair whose halves disagree is no value in eight bits: it stays what it computes. */
static void halves_that_disagree_stay(void **state)
{
    (void)state;
    sk_error err;
    sk_quantisation q;
    sk_builder b;
    begin(&b);
    sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL), z = byte_constant(&b, SK_DTYPE_U8, 0);
    sk_value narrow = sk_b_node(&b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, sk_b_f32(&b, 1), z}, 3, "q");
    sk_b_output(&b, sk_b_node(&b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){narrow, sk_b_f32(&b, 2), z}, 3, "dq"),
                "y");
    sk_graph *graph = specialise(&b, sk_shape_of(1, 3));
    assert_false(sk_graph_quantisation_of(graph, graph->outputs[0], &q));
    assert_ok(sk_graph_dequantise(graph, &err), &err);
    sk_tensor in = {SK_DTYPE_F32, sk_shape_of(1, 3), (float[]){1.2f, 2.5f, 400}}, out;
    assert_ok(sk_reference_run(graph, &in, 1, &out, 1, &err), &err);
    assert_true(((float *)out.data)[0] == 2 && ((float *)out.data)[1] == 4 && ((float *)out.data)[2] == 510);
    sk_free(out.data);
    sk_graph_close(&graph);
}

static void scales_must_fit(void **state)
{
    (void)state;
    static const struct {
        float scale[2];
        int n;
        const char *says;
    } bad[] = {{{0}, 1, "scale 0 is 0"},
               {{1, NAN}, 2, "nan"},
               {{1, -INFINITY}, 2, "scale 1 is -inf"},
               {{1, 1}, 2, "2 scales for the 3 channels"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        sk_error err = {0};
        sk_graph *fixed = NULL;
        sk_builder b;
        begin(&b);
        sk_shape list = sk_shape_of(1, bad[i].n), shape = sk_shape_of(2, 1, 3);
        sk_attrs axis = {.quantise.axis = 1};
        sk_value in[3] = {sk_b_input(&b, "x", SK_DTYPE_F32, NULL),
                          sk_b_constant(&b, "s", SK_DTYPE_F32, &list, bad[i].scale),
                          sk_b_constant(&b, "z", SK_DTYPE_U8, &list, "\0\0")};
        sk_b_output(&b, sk_b_node(&b, SK_OP_QUANTIZE, &axis, in, 3, "hostile"), "y");
        assert_int_not_equal(sk_graph_specialise(b.graph, &shape, 1, &fixed, &err), SK_OK);
        if (!strstr(err.message, bad[i].says) || !strstr(err.message, "hostile"))
            fail_msg("\"%s\" does not say \"%s\" of 'hostile'", err.message, bad[i].says);
        sk_graph_close(&b.graph);
    }
}

/* Weights of a product become constants in f32; those of a convolution, and values that are rounded, stay. */
static void what_is_left_when_sizes_are_known(void **state)
{
    (void)state;
    enum { PRODUCT, CONV, ROUNDED, KINDS };
    for (int kind = 0; kind < KINDS; kind++) {
        sk_builder b;
        begin(&b);
        int8_t bytes[9 * 4] = {1, 2, 3};
        const sk_shape shape = kind == CONV ? sk_shape_of(4, 4, 1, 3, 3) : sk_shape_of(2, 4, 9);
        const sk_window window = {.kernel = {3, 3}, .stride = {1, 1}, .dilation = {1, 1}};
        sk_value x = sk_b_input(&b, "x", SK_DTYPE_F32, NULL);
        sk_value w = sk_b_node(&b, SK_OP_DEQUANTIZE, NULL,
                               (sk_value[]){sk_b_constant(&b, "w", SK_DTYPE_I8, &shape, bytes),
                                            sk_b_f32(&b, 0.5f), byte_constant(&b, SK_DTYPE_I8, 0)},
                               3, "w");
        if (kind == ROUNDED)
            x = pair(&b, x, 0.5f, SK_DTYPE_U8, 0);
        sk_b_output(
            &b, kind == CONV ? sk_b_conv(&b, x, w, SK_VALUE_NONE, &window, 1, "conv") : sk_b_matmul(&b, x, w),
            "y");
        assert_true(sk_graph_is_quantised(b.graph));
        assert_int_equal(sk_graph_computes_bytes(b.graph), kind != PRODUCT);
        sk_graph *fixed = specialise(&b, sk_shape_of(4, 1, 1, 4, 4));
        assert_int_equal(sk_graph_is_quantised(fixed), kind != PRODUCT);
        sk_graph_close(&fixed);
    }
    assert_false(sk_graph_computes_bytes(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_when_sizes_are_known),
        cmocka_unit_test(rounds_half_to_even_and_saturates),
        cmocka_unit_test(engines_see_what_is_in_eight_bits),
        cmocka_unit_test(becomes_f32_where_that_is_wanted),
        cmocka_unit_test(halves_that_disagree_stay),
        cmocka_unit_test(scales_must_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
