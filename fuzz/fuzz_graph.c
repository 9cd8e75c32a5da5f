/* SPDX-License-Identifier: Apache-2.0 */
/* Random graphs: operations, attributes, shapes and wiring decoded from bytes, as a hostile ONNX file
 * could hold them. Whatever they are, verifying, specialising, optimising and running must end in a result
 * or in an error that names its cause. */
#include "fuzz.h"

#include "graph/builder.h"
#include "graph/ops.h"
#include "graph/quantise_plan.h"
#include "graph/reference.h"

#include <math.h>
#include <string.h>

enum { MAX_NODES = 12, MAX_VALUES = 80 };

typedef struct source {
    const uint8_t *at, *end;
} source;

static uint8_t byte(source *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

/* Mostly small and sensible; one byte in sixteen asks for an extreme. */
static int64_t number(source *s)
{
    static const int64_t extremes[8] = {INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 1 << 20, -1, 65536, 255};
    uint8_t b = byte(s);
    return b >= 240 ? extremes[b & 7] : (int64_t)(b % 16) - 4;
}

static int32_t number32(source *s)
{
    int64_t v = number(s);
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

static int32_t positive(source *s)
{
    uint8_t b = byte(s);
    return b >= 248 ? number32(s) : 1 + b % 3;
}

static sk_shape shape_of(source *s)
{
    sk_shape shape = {.rank = byte(s) % 6};
    for (int d = 0; d < shape.rank; d++)
        shape.dim[d] = byte(s) % 7;
    return shape;
}

static sk_window window_of(source *s)
{
    sk_window w = {.kernel = {byte(s) % 4, byte(s) % 4}};
    for (int i = 0; i < 2; i++) {
        w.stride[i] = positive(s);
        w.dilation[i] = positive(s);
    }
    for (int i = 0; i < 4; i++)
        w.pad[i] = byte(s) % 3;
    w.same = byte(s) % 4 == 0 ? byte(s) % 3 : 0;
    return w;
}

/* Fills the attributes the operation reads; the rest stays zero. */
static sk_attrs attributes_of(source *s, sk_op op, int n_in, int n_out)
{
    sk_attrs a;
    memset(&a, 0, sizeof a);
    switch (op) {
    case SK_OP_CONV:
        a.conv.window = window_of(s);
        a.conv.groups = positive(s);
        a.conv.act.kind = byte(s) % 4 ? 0 : byte(s) % 32;
        a.conv.residual_before_act = byte(s) & 1;
        break;
    case SK_OP_CONV_TRANSPOSE:
        a.conv_transpose.window = window_of(s);
        a.conv_transpose.groups = positive(s);
        a.conv_transpose.output_pad[0] = byte(s) % 3;
        a.conv_transpose.same_output = byte(s) & 1;
        break;
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
        a.pool.window = window_of(s);
        a.pool.ceil_mode = byte(s) & 1;
        a.pool.count_include_pad = byte(s) & 1;
        break;
    case SK_OP_RESIZE:
        a.resize.mode = (sk_resize_mode)(byte(s) % 5);
        a.resize.coords = (sk_resize_coords)(byte(s) % 6);
        a.resize.round = (sk_resize_round)(byte(s) % 6);
        a.resize.antialias = byte(s) & 1;
        a.resize.exclude_outside = byte(s) & 1;
        a.resize.cubic_a = -0.5f;
        a.resize.scale[0] = (float)byte(s) / 64;
        a.resize.scale[1] = (float)byte(s) / 64;
        break;
    case SK_OP_EINSUM:
        for (int i = 0; i < 16; i++)
            a.einsum.equation[i] = "abcd,->. "[byte(s) % 9];
        break;
    case SK_OP_REDUCE:
        a.reduce.kind = (sk_reduction)(byte(s) % 11);
        a.reduce.keep_dims = byte(s) & 1;
        a.reduce.n_axes = byte(s) % 4;
        for (int i = 0; i < 3; i++)
            a.reduce.axes[i] = number32(s);
        break;
    case SK_OP_CAST: a.cast.to = (sk_dtype)(byte(s) % 15); break;
    case SK_OP_UNARY:
        a.unary.kind = (sk_unary)(byte(s) % (SK_UNARY_COUNT + 1));
        a.unary.alpha = 0.5f;
        break;
    case SK_OP_BINARY: a.binary.kind = (sk_binary)(byte(s) % (SK_BINARY_COUNT + 1)); break;
    case SK_OP_CLIP:
        a.clip.low = (double)number(s);
        a.clip.high = (double)number(s);
        break;
    case SK_OP_SPLIT:
        a.split.axis = number32(s);
        a.split.n_sizes = byte(s) & 1 ? n_out : 0;
        for (int i = 0; i < 4; i++)
            a.split.sizes[i] = number(s);
        break;
    case SK_OP_CONSTANT_OF_SHAPE:
    case SK_OP_EYE_LIKE:
        a.fill.dtype = (sk_dtype)(byte(s) % 15);
        a.fill.value = (double)number(s);
        break;
    case SK_OP_ANCHORS: a.anchors.n_levels = n_in; break;
    case SK_OP_DEPTH_TO_SPACE:
    case SK_OP_SPACE_TO_DEPTH:
        a.blocks.block = positive(s);
        a.blocks.crd = byte(s) & 1;
        break;
    case SK_OP_TRANSPOSE:
        for (int i = 0; i < 5; i++)
            a.perm[i] = byte(s) % 6;
        break;
    default: /* axis, flags: small numbers in the first words */
        for (int i = 0; i < 3; i++)
            a.perm[i] = number32(s);
        break;
    }
    return a;
}

static sk_value constant_of(source *s, sk_builder *b)
{
    static const sk_dtype types[8] = {SK_DTYPE_F32,  SK_DTYPE_I64, SK_DTYPE_I64, SK_DTYPE_F32,
                                      SK_DTYPE_BOOL, SK_DTYPE_F16, SK_DTYPE_U8,  SK_DTYPE_F64};
    sk_dtype dtype = types[byte(s) % 8];
    sk_shape shape = byte(s) % 2 ? shape_of(s) : (sk_shape){.rank = 1, .dim = {byte(s) % 5}};
    int64_t values[64] = {0};
    uint64_t data[7 * 7 * 7 * 7 * 7 + 1]; /* the largest shape, in the widest type */
    int64_t count = sk_shape_count(&shape);
    for (int i = 0; i < 8; i++)
        values[i] = number(s);
    for (int64_t i = 0; i < count; i++)
        sk_convert(SK_DTYPE_I64, &values[i % 8], dtype, (char *)data + (size_t)i * sk_dtype_bytes(dtype), 1);
    return sk_b_constant(b, "c", dtype, &shape, data);
}

/* Scales mostly good, and zeros: one of each, or as many as a byte says. Weights in eight bits, now and then. */
static void quantise_inputs(source *s, sk_builder *b, sk_op op, sk_value *in)
{
    static const float hostile[8] = {0, -1, -0.0f, 1e38f, 1e-45f, 3e38f, (float)INFINITY, (float)NAN};
    sk_dtype type = byte(s) % 2 ? SK_DTYPE_U8 : SK_DTYPE_I8;
    sk_shape list = {.rank = byte(s) % 2, .dim = {1 + byte(s) % 5}};
    float scales[5];
    uint8_t zeros[5], weights[7 * 7 * 7 * 7 * 7];
    for (int i = 0; i < 5; i++) {
        uint8_t pick = byte(s);
        scales[i] = pick >= 250 ? hostile[byte(s) % 8] : (float)(1 + pick) / 64;
        zeros[i] = byte(s);
    }
    in[1] = sk_b_constant(b, "scale", SK_DTYPE_F32, &list, scales);
    in[2] = sk_b_constant(b, "zero", type, &list, zeros);
    if (op == SK_OP_DEQUANTIZE && byte(s) % 2) {
        sk_shape shape = shape_of(s);
        for (int64_t i = 0; i < sk_shape_count(&shape); i++)
            weights[i] = (uint8_t)(i * 41);
        in[0] = sk_b_constant(b, "w", type, &shape, weights);
    }
}

static void random_node(source *s, sk_builder *b, sk_value *values, int *n_values)
{
    sk_op op = (sk_op)(1 + byte(s) % (SK_OP_COUNT - 1));
    const sk_op_info *info = sk_op_info_of(op);
    int n_in = info->min_in, n_out = info->min_out;
    if (info->max_in > n_in)
        n_in += byte(s) % (info->max_in - n_in + 1);
    else if (info->max_in < 0)
        n_in += byte(s) % 3;
    if (info->max_out < 0)
        n_out += byte(s) % 4;
    sk_value in[8], outs[8];
    for (int i = 0; i < n_in; i++) {
        uint8_t pick = byte(s);
        in[i] = pick == 255              ? SK_VALUE_NONE
                : pick % 3 == 0 && i > 0 ? constant_of(s, b)
                                         : values[pick % *n_values];
    }
    if (n_in == 3 && (op == SK_OP_QUANTIZE || op == SK_OP_DEQUANTIZE) && byte(s) % 8)
        quantise_inputs(s, b, op, in);
    sk_attrs a = attributes_of(s, op, n_in, n_out);
    b->node_flags = byte(s) % 8 == 0 ? SK_NODE_TAIL : b->node_flags;
    sk_b_node_n(b, op, &a, in, n_in, "n", outs, n_out);
    for (int i = 0; i < n_out && *n_values < MAX_VALUES; i++)
        if (outs[i] >= 0)
            values[(*n_values)++] = outs[i];
}

/* Too much work for a fuzzer is not a failure. */
static bool affordable(const sk_graph *graph)
{
    double elements = 0;
    for (size_t v = 0; v < graph->n_values; v++) {
        int64_t n = sk_shape_count(&graph->values[v].shape);
        elements += n > 0 ? (double)n : 0;
    }
    return elements < 1e6 && sk_graph_flops(graph) < 1e7;
}

static sk_status run(const sk_graph *graph, sk_tensor *outs, sk_error *err)
{
    float zeros[7 * 7 * 7 * 7 * 7 * 2] = {0};
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++)
        zeros[i] = (float)(i % 5) - 2;
    sk_tensor ins[8];
    for (int i = 0; i < graph->n_inputs; i++)
        ins[i] =
            (sk_tensor){graph->values[graph->inputs[i]].dtype, graph->values[graph->inputs[i]].shape, zeros};
    return sk_reference_run(graph, ins, graph->n_inputs, outs, graph->n_outputs, err);
}

/* Optimising keeps what the outputs are. Values are not compared: random weights overflow in one order
 * only. */
static void check_optimised(sk_graph *special, const sk_tensor *before)
{
    sk_error err = {0};
    sk_tensor after[32];
    sk_status status = sk_graph_optimise(special, &err);
    SK_FUZZ_CHECK(status == SK_OK || err.message[0]);
    if (status != SK_OK)
        return;
    SK_FUZZ_CHECK(sk_graph_verify(special, &err) == SK_OK);
    if (run(special, after, &err) != SK_OK)
        return;
    for (int i = 0; i < special->n_outputs; i++) {
        SK_FUZZ_CHECK(before[i].dtype == after[i].dtype && sk_shape_equal(&before[i].shape, &after[i].shape));
        sk_free(after[i].data);
    }
    status = sk_graph_dequantise(special, &err);
    SK_FUZZ_CHECK(status == SK_OK ? sk_graph_verify(special, &err) == SK_OK : err.message[0] != 0);
    if (status == SK_OK && run(special, after, &err) == SK_OK)
        for (int i = 0; i < special->n_outputs; i++)
            sk_free(after[i].data);
    status = sk_graph_cut_tail(special, &err);
    SK_FUZZ_CHECK(status != SK_OK || sk_graph_verify(special, &err) == SK_OK);
}

/* Any reach of any value and channel: the network stays one. */
static void equalise(source *s, sk_graph *graph)
{
    sk_error err = {0};
    float *reach = sk_calloc(graph->n_values + 1, sizeof *reach);
    const float **channels = sk_calloc(graph->n_values + 1, sizeof *channels);
    static float own[256];
    bool changed = false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        own[i] = (float)ldexp(1, (int)((byte(s) + i) % 32) - 16) * (float)((byte(s) + i) % 3);
    for (size_t n = 0; reach && channels && n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        if (node->op != SK_OP_CONV || graph->values[node->in[1]].shape.rank != 4 ||
            graph->values[node->in[1]].shape.dim[0] > 256)
            continue;
        reach[node->out[0]] = own[byte(s)];
        channels[node->out[0]] = byte(s) & 1 ? NULL : own;
    }
    if (reach && channels) {
        sk_status status = sk_quantise_equalise(graph, reach, channels, &changed, &err);
        SK_FUZZ_CHECK(status == SK_OK ? sk_graph_verify(graph, &err) == SK_OK : err.message[0]);
    }
    sk_free_all(reach, channels);
}

/* Any graph may be asked to go to eight bits, with any scales that are scales. */
static void check_to_eight_bits(source *s, const sk_graph *graph)
{
    sk_error err = {0};
    sk_graph *ready = NULL, *narrow = NULL;
    sk_quantise_plan *plan = NULL;
    sk_quantise_scale scales[MAX_VALUES * 2];
    if (sk_quantise_prepare(graph, &ready, &err) != SK_OK ||
        sk_quantise_plan_open(ready, NULL, &plan, &err) != SK_OK) {
        SK_FUZZ_CHECK(err.message[0]);
    } else if (plan->n_groups <= MAX_VALUES * 2) {
        for (int i = 0; i < MAX_VALUES * 2; i++)
            scales[i] = (sk_quantise_scale){(float)(1 + byte(s)) / 100, byte(s)};
        sk_quantise_numbers numbers = {.groups = scales, .simulate = byte(s) & 1};
        sk_status status = sk_quantise_rewrite(ready, plan, &numbers, &narrow, &err);
        SK_FUZZ_CHECK(status == SK_OK ? sk_graph_verify(narrow, &err) == SK_OK : err.message[0] != 0);
        if (status == SK_OK)
            SK_FUZZ_CHECK(sk_quantise_for_runtimes(narrow, NULL, 0, &err) == SK_OK || err.message[0]);
    }
    sk_quantise_plan_close(&plan);
    if (ready)
        equalise(s, ready);
    sk_graph_close(&narrow);
    sk_graph_close(&ready);
}

SK_FUZZ(graph, data, size)
{
    source s = {data, data + size};
    sk_error err = {0};
    sk_graph *graph = NULL, *special = NULL;
    sk_builder b;
    sk_value values[MAX_VALUES];
    sk_shape shapes[2];
    sk_tensor outs[32];
    int n_values = 0, n_nodes = 1 + byte(&s) % MAX_NODES;
    if (sk_graph_open(&graph, &err) != SK_OK)
        return;
    sk_builder_init(&b, graph);
    for (int i = 0; i < 2; i++) {
        shapes[i] = shape_of(&s);
        for (int d = 0; d < shapes[i].rank; d++)
            shapes[i].dim[d] += shapes[i].dim[d] == 0;
        values[n_values++] = sk_b_input(&b, "x", i && byte(&s) % 4 == 0 ? SK_DTYPE_U8 : SK_DTYPE_F32, NULL);
    }
    for (int i = 0; i < n_nodes; i++)
        random_node(&s, &b, values, &n_values);
    for (int i = 0; i < 1 + byte(&s) % 3; i++)
        sk_b_output(&b, values[n_values - 1 - byte(&s) % n_values], "y");
    if (b.status == SK_OK && sk_graph_verify(graph, &err) == SK_OK) {
        check_to_eight_bits(&s, graph);
        sk_status status = sk_graph_specialise(graph, shapes, 2, &special, &err);
        SK_FUZZ_CHECK(status == SK_OK ? special != NULL : special == NULL && err.message[0]);
    }
    if (special && affordable(special)) {
        sk_status status = run(special, outs, &err);
        SK_FUZZ_CHECK(status == SK_OK || err.message[0]);
        if (status == SK_OK) {
            check_optimised(special, outs);
            for (int i = 0; i < 32 && i < graph->n_outputs; i++)
                sk_free(outs[i].data);
        }
    }
    sk_graph_close(&special);
    sk_graph_close(&graph);
}
