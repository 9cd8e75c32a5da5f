/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/quantise.h"

#include "graph/edit.h"
#include "graph/ops.h"

#include <float.h>
#include <math.h>

/* 255 steps of a scale beyond this, or f8's 448 times it, are no float any more. */
#define SCALE_MAX ((double)FLT_MAX / 512)

static sk_status check_scales(const sk_node *node, const sk_tensor *scale, sk_error *err)
{
    int64_t count = sk_shape_count(&scale->shape);
    if (scale->dtype != SK_DTYPE_F32 || !scale->data || scale->shape.rank > 1 || count < 1)
        return sk_node_fail(node, err, SK_ERR_UNSUPPORTED,
                            "its scale must be known before the network runs: one f32, or a list of them");
    for (int64_t i = 0; i < count; i++) {
        double s = sk_tensor_at(scale, i);
        if (!(s > 0) || s > SCALE_MAX)
            return sk_node_fail(node, err, SK_ERR_FORMAT,
                                "scale %lld is %g; a scale is a finite number above 0", (long long)i, s);
    }
    return SK_OK;
}

sk_status sk_quantise_check(const sk_node *node, const sk_tensor *ins, sk_error *err)
{
    const sk_tensor *zero = node->n_in > 2 && ins[2].dtype != SK_DTYPE_NONE ? &ins[2] : NULL;
    bool narrows = node->op == SK_OP_QUANTIZE;
    sk_dtype bytes = narrows && zero ? zero->dtype : ins[0].dtype;
    SK_TRY(check_scales(node, &ins[1], err));
    if (zero && (!zero->data || zero->shape.rank > 1 ||
                 sk_shape_count(&zero->shape) != sk_shape_count(&ins[1].shape)))
        return sk_node_fail(node, err, SK_ERR_UNSUPPORTED,
                            "its zero point must be known before the network runs, one for each scale");
    if (narrows && ins[0].dtype != SK_DTYPE_NONE && !sk_dtype_is_float(ins[0].dtype))
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the input is %s where floating point is needed",
                            sk_dtype_name(ins[0].dtype));
    bool fits = bytes == SK_DTYPE_U8 || bytes == SK_DTYPE_I8 || bytes == SK_DTYPE_F8 ||
                (!narrows && bytes == SK_DTYPE_I32);
    if (!fits && bytes != SK_DTYPE_NONE)
        return sk_node_fail(node, err, SK_ERR_UNSUPPORTED, "%s; u8, i8%s and f8 are possible",
                            sk_dtype_name(bytes), narrows ? "" : ", i32");
    if (!narrows && zero && bytes != SK_DTYPE_NONE && zero->dtype != bytes)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the zero point is %s, what it belongs to is %s",
                            sk_dtype_name(zero->dtype), sk_dtype_name(bytes));
    for (int64_t i = 0; zero && zero->dtype == SK_DTYPE_F8 && i < sk_shape_count(&zero->shape); i++)
        if (!(sk_tensor_at(zero, i) == 0))
            return sk_node_fail(node, err, SK_ERR_UNSUPPORTED, "zero point %lld is %g; of f8 it must be 0",
                                (long long)i, sk_tensor_at(zero, i));
    return SK_OK;
}

sk_status sk_quantise_check_node(const sk_graph *graph, const sk_node *node, sk_error *err)
{
    sk_tensor ins[3];
    if (node->op != SK_OP_QUANTIZE && node->op != SK_OP_DEQUANTIZE)
        return SK_OK;
    for (int i = 0; i < node->n_in; i++)
        ins[i] = sk_value_tensor(graph, node->in[i]);
    return sk_quantise_check(node, ins, err);
}

static const sk_node *maker(const sk_graph *graph, sk_value v, sk_op op)
{
    int32_t index = v >= 0 && (size_t)v < graph->n_values ? graph->values[v].producer : -1;
    return index >= 0 && graph->nodes[index].op == op ? &graph->nodes[index] : NULL;
}

/* Do both say the same of every element? Engines fold only such pairs. */
static bool same_rule(const sk_graph *graph, const sk_node *narrow, const sk_node *widen)
{
    sk_tensor a = sk_value_tensor(graph, narrow->in[1]), b = sk_value_tensor(graph, widen->in[1]);
    sk_tensor za = sk_value_tensor(graph, narrow->in[2]),
              zb = sk_value_tensor(graph, widen->n_in > 2 ? widen->in[2] : SK_VALUE_NONE);
    int64_t n = sk_shape_count(&a.shape);
    if (n != sk_shape_count(&b.shape) || (n > 1 && narrow->a.quantise.axis != widen->a.quantise.axis))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (((const float *)a.data)[i] != ((const float *)b.data)[i] ||
            sk_tensor_int_at(&za, i) != (zb.data ? sk_tensor_int_at(&zb, i) : 0))
            return false;
    return true;
}

/* One of several that are not 0, so that who takes none but 0 needs to look at no other. */
static int32_t zero_of(const sk_tensor *zero)
{
    const int64_t count = zero->data ? sk_shape_count(&zero->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        if (sk_tensor_int_at(zero, i) != 0)
            return (int32_t)sk_tensor_int_at(zero, i);
    return 0;
}

bool sk_graph_quantisation_of(const sk_graph *graph, sk_value v, sk_quantisation *out)
{
    const sk_node *widen = maker(graph, v, SK_OP_DEQUANTIZE);
    if (!widen)
        return false;
    const sk_node *narrow = maker(graph, widen->in[0], SK_OP_QUANTIZE);
    sk_tensor scale = sk_value_tensor(graph, widen->in[1]);
    sk_tensor zero = sk_value_tensor(graph, widen->n_in > 2 ? widen->in[2] : SK_VALUE_NONE);
    sk_dtype dtype = narrow ? graph->values[narrow->in[2]].dtype : graph->values[widen->in[0]].dtype;
    if ((narrow && !same_rule(graph, narrow, widen)) ||
        (!narrow && !sk_value_is_constant(graph, widen->in[0])) || sk_dtype_bytes(dtype) != 1)
        return false;
    *out = (sk_quantisation){
        .dtype = dtype,
        .scale = ((const float *)scale.data)[0],
        .zero = zero_of(&zero),
        .n_scales = sk_shape_count(&scale.shape),
        .scales = scale.data,
        .axis = widen->a.quantise.axis,
        .real = narrow ? narrow->in[0] : SK_VALUE_NONE,
        .bytes = widen->in[0],
    };
    return true;
}

bool sk_graph_is_quantised(const sk_graph *graph)
{
    for (size_t n = 0; graph && n < graph->n_nodes; n++)
        if (graph->nodes[n].op == SK_OP_QUANTIZE || graph->nodes[n].op == SK_OP_DEQUANTIZE)
            return true;
    return false;
}

bool sk_graph_computes_bytes(const sk_graph *graph)
{
    for (size_t n = 0; graph && n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        if (node->op == SK_OP_QUANTIZE && !sk_value_is_constant(graph, node->in[0]))
            return true;
        if ((node->op == SK_OP_CONV || node->op == SK_OP_CONV_TRANSPOSE) &&
            maker(graph, node->in[1], SK_OP_DEQUANTIZE))
            return true;
    }
    return false;
}

bool sk_graph_is_f8(const sk_graph *graph)
{
    for (size_t n = 0; graph && n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        const int of = node->op == SK_OP_QUANTIZE ? 2 : 0; /* the zero's type, or the input's */
        if ((node->op != SK_OP_QUANTIZE && node->op != SK_OP_DEQUANTIZE) || node->in[of] < 0)
            continue;
        if (graph->values[node->in[of]].dtype == SK_DTYPE_F8)
            return true;
    }
    return false;
}

sk_status sk_graph_mark_weights(sk_graph *graph, sk_error *err)
{
    if (!sk_graph_is_quantised(graph))
        return SK_OK;
    bool *elsewhere = sk_calloc(graph->n_values + 1, sizeof *elsewhere);
    if (!elsewhere)
        return sk_fail_memory(err, graph->n_values);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        bool conv = node->op == SK_OP_CONV || node->op == SK_OP_CONV_TRANSPOSE;
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && !(conv && i == 1))
                elsewhere[node->in[i]] = true;
    }
    for (int i = 0; i < graph->n_outputs; i++)
        elsewhere[graph->outputs[i]] = true;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        sk_node *node = &graph->nodes[n];
        if (node->op == SK_OP_DEQUANTIZE && !elsewhere[node->out[0]])
            node->flags |= SK_NODE_WEIGHTS;
    }
    sk_free(elsewhere);
    return SK_OK;
}

sk_status sk_graph_dequantise(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    if (!sk_graph_is_quantised(graph))
        return SK_OK;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        sk_node *node = &graph->nodes[n];
        sk_quantisation q;
        if (node->op != SK_OP_DEQUANTIZE)
            continue;
        node->flags &= ~SK_NODE_WEIGHTS;
        if (!sk_graph_quantisation_of(graph, node->out[0], &q) || q.real == SK_VALUE_NONE)
            continue; /* a constant is folded below, anything else runs as it stands */
        node->op = SK_OP_IDENTITY;
        node->in[0] = q.real;
        node->n_in = 1;
    }
    SK_TRY(sk_graph_fold_constants(graph, err));
    return sk_graph_remove_dead(graph, err);
}
