/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ops.h"
#include "graph/quantise.h"

#include <math.h>
#include <string.h>

/* Windows beyond this are no network but an attack; the limit keeps all index arithmetic far from
 * overflow. */
#define WINDOW_MAX (1 << 20)

static sk_status check_window(const sk_node *node, const sk_window *w, int kernel_min, sk_error *err)
{
    for (int i = 0; i < 2; i++) {
        if (w->kernel[i] < kernel_min || w->kernel[i] > WINDOW_MAX)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "kernel size %d is out of range", w->kernel[i]);
        if (w->stride[i] < 1 || w->stride[i] > WINDOW_MAX)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "stride %d is out of range", w->stride[i]);
        if (w->dilation[i] < 1 || w->dilation[i] > WINDOW_MAX)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "dilation %d is out of range", w->dilation[i]);
    }
    for (int i = 0; i < 4; i++)
        if (w->pad[i] < 0 || w->pad[i] > WINDOW_MAX)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "padding %d is out of range", w->pad[i]);
    if (w->same < 0 || w->same > 2)
        return sk_node_fail(node, err, SK_ERR_FORMAT, "padding rule %d is unknown", w->same);
    return SK_OK;
}

/* Activations a convolution may carry: those that act on each float alone. */
static bool act_allowed(int32_t kind)
{
    return kind >= 0 && kind < SK_UNARY_COUNT && kind != SK_UNARY_NOT && kind != SK_UNARY_IS_NAN;
}

static sk_status check_conv(const sk_node *node, sk_error *err)
{
    bool transposed = node->op == SK_OP_CONV_TRANSPOSE;
    const sk_window *window = transposed ? &node->a.conv_transpose.window : &node->a.conv.window;
    int32_t groups = transposed ? node->a.conv_transpose.groups : node->a.conv.groups;
    int32_t act = transposed ? node->a.conv_transpose.act.kind : node->a.conv.act.kind;
    SK_TRY(check_window(node, window, 0, err));
    if (groups < 1)
        return sk_node_fail(node, err, SK_ERR_FORMAT, "%d groups", groups);
    if (!act_allowed(act))
        return sk_node_fail(node, err, SK_ERR_FORMAT, "fused activation %d is unknown", act);
    if (transposed)
        for (int i = 0; i < 2; i++)
            if (node->a.conv_transpose.output_pad[i] < 0 || node->a.conv_transpose.output_pad[i] > WINDOW_MAX)
                return sk_node_fail(node, err, SK_ERR_FORMAT, "output padding %d is out of range",
                                    node->a.conv_transpose.output_pad[i]);
    return SK_OK;
}

static sk_status check_resize(const sk_node *node, sk_error *err)
{
    int mode = (int)node->a.resize.mode, coords = (int)node->a.resize.coords,
        round = (int)node->a.resize.round;
    if (mode < SK_RESIZE_NEAREST || mode > SK_RESIZE_CUBIC)
        return sk_node_fail(node, err, SK_ERR_FORMAT, "resize mode %d is unknown", mode);
    if (coords < SK_COORDS_HALF_PIXEL || coords > SK_COORDS_PYTORCH_HALF_PIXEL)
        return sk_node_fail(node, err, SK_ERR_FORMAT, "coordinate rule %d is unknown", coords);
    if (mode == SK_RESIZE_NEAREST && (round < SK_ROUND_FLOOR || round > SK_ROUND_CEIL))
        return sk_node_fail(node, err, SK_ERR_FORMAT, "rounding rule %d is unknown", round);
    bool sized = node->n_in > 1 && node->in[1] != SK_VALUE_NONE;
    for (int i = 0; i < 2 && !sized; i++)
        if (!(node->a.resize.scale[i] > 0) || !isfinite(node->a.resize.scale[i]))
            return sk_node_fail(node, err, SK_ERR_FORMAT, "scale %g is out of range",
                                (double)node->a.resize.scale[i]);
    return SK_OK;
}

static sk_status check_split(const sk_node *node, sk_error *err)
{
    int32_t n = node->a.split.n_sizes;
    if (n == 0)
        return SK_OK;
    if (n != node->n_out || n > (int32_t)(sizeof node->a.split.sizes / sizeof node->a.split.sizes[0]))
        return sk_node_fail(node, err, SK_ERR_FORMAT, "%d sizes for %d outputs", n, node->n_out);
    for (int i = 0; i < n; i++)
        if (node->a.split.sizes[i] < 0)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "size %lld is negative",
                                (long long)node->a.split.sizes[i]);
    return SK_OK;
}

static bool dtype_valid(sk_dtype dtype)
{
    return (int)dtype > SK_DTYPE_NONE && (int)dtype <= SK_DTYPE_F8;
}

static sk_status check_attributes(const sk_node *node, sk_error *err)
{
    const sk_attrs *a = &node->a;
    switch (node->op) {
    case SK_OP_CONV:
    case SK_OP_CONV_TRANSPOSE: return check_conv(node, err);
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL: return check_window(node, &a->pool.window, 1, err);
    case SK_OP_RESIZE: return check_resize(node, err);
    case SK_OP_SPLIT: return check_split(node, err);
    case SK_OP_GRID_SAMPLE:
        if (a->grid_sample.mode < 0 || a->grid_sample.mode > 1 || a->grid_sample.padding < 0 ||
            a->grid_sample.padding > 1)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "unknown sampling or padding mode");
        break;
    case SK_OP_EINSUM:
        if (!memchr(a->einsum.equation, 0, sizeof a->einsum.equation))
            return sk_node_fail(node, err, SK_ERR_FORMAT, "the equation is too long");
        break;
    case SK_OP_UNARY:
        if ((int)a->unary.kind < 1 || a->unary.kind >= SK_UNARY_COUNT)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "function %d is unknown", (int)a->unary.kind);
        break;
    case SK_OP_BINARY:
        if ((int)a->binary.kind < 1 || a->binary.kind >= SK_BINARY_COUNT)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "function %d is unknown", (int)a->binary.kind);
        break;
    case SK_OP_CAST:
        if (!dtype_valid(a->cast.to))
            return sk_node_fail(node, err, SK_ERR_FORMAT, "type %d is unknown", (int)a->cast.to);
        break;
    case SK_OP_CONSTANT_OF_SHAPE:
        if (!dtype_valid(a->fill.dtype))
            return sk_node_fail(node, err, SK_ERR_FORMAT, "type %d is unknown", (int)a->fill.dtype);
        break;
    case SK_OP_EYE_LIKE:
        if (a->fill.dtype != SK_DTYPE_NONE && !dtype_valid(a->fill.dtype))
            return sk_node_fail(node, err, SK_ERR_FORMAT, "type %d is unknown", (int)a->fill.dtype);
        break;
    case SK_OP_REDUCE:
        if ((int)a->reduce.kind < SK_REDUCE_SUM || a->reduce.kind > SK_REDUCE_LOG_SUM_EXP)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "reduction %d is unknown", (int)a->reduce.kind);
        if (a->reduce.n_axes < 0 || a->reduce.n_axes > SK_MAX_RANK)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "%d axes", a->reduce.n_axes);
        break;
    case SK_OP_PAD:
        if (a->pad.mode < 0 || a->pad.mode > 2)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "padding mode %d is unknown", a->pad.mode);
        break;
    case SK_OP_DEPTH_TO_SPACE:
    case SK_OP_SPACE_TO_DEPTH:
        if (a->blocks.block < 1 || a->blocks.block > 4096)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "block size %d is out of range", a->blocks.block);
        break;
    case SK_OP_ANCHORS:
        if (a->anchors.n_levels != node->n_in)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "%d levels but %d inputs", a->anchors.n_levels,
                                node->n_in);
        break;
    default: break;
    }
    return SK_OK;
}

sk_status sk_node_check(const sk_node *node, sk_error *err)
{
    const sk_op_info *info = sk_op_info_of(node->op);
    if (!info || !info->name)
        return sk_fail(err, SK_ERR_FORMAT, "node '%.120s': operation number %d is unknown",
                       node->name ? node->name : "", (int)node->op);
    if (node->n_in < info->min_in || (info->max_in >= 0 && node->n_in > info->max_in))
        return sk_node_fail(node, err, SK_ERR_FORMAT, "has %d inputs", node->n_in);
    if (node->n_out < info->min_out || (info->max_out >= 0 && node->n_out > info->max_out))
        return sk_node_fail(node, err, SK_ERR_FORMAT, "has %d outputs", node->n_out);
    for (int i = 0; i < node->n_in; i++) {
        bool required = i < info->min_in || info->max_in < 0;
        if (node->in[i] == SK_VALUE_NONE && required)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "input %d is missing", i);
    }
    return check_attributes(node, err);
}

static sk_status check_constant(const sk_value_info *value, sk_value v, sk_error *err)
{
    int64_t count = sk_shape_count(&value->shape);
    size_t bytes, end;
    if (!dtype_valid(value->dtype) || count < 0)
        return sk_fail(err, SK_ERR_FORMAT, "constant '%.120s' (value %d) has no type or no full shape",
                       value->name, v);
    if (!sk_mul_size((size_t)count, sk_dtype_bytes(value->dtype), &bytes) ||
        !sk_add_size(value->offset, bytes, &end) || end > sk_blob_bytes(value->blob))
        return sk_fail(err, SK_ERR_FORMAT,
                       "constant '%.120s' (value %d) reaches beyond its data of %zu bytes", value->name, v,
                       sk_blob_bytes(value->blob));
    return SK_OK;
}

static sk_status check_value(const sk_value_info *value, sk_value v, sk_error *err)
{
    const sk_shape *shape = &value->shape;
    if (shape->rank < -1 || shape->rank > SK_MAX_RANK)
        return sk_fail(err, SK_ERR_FORMAT, "value '%.120s' (%d) has %d dimensions; at most %d are possible",
                       value->name, v, shape->rank, SK_MAX_RANK);
    for (int i = 0; i < shape->rank; i++)
        if (shape->dim[i] < -1)
            return sk_fail(err, SK_ERR_FORMAT, "value '%.120s' (%d) has a negative dimension", value->name,
                           v);
    if (value->blob)
        return check_constant(value, v, err);
    return SK_OK;
}

static sk_status check_node_wiring(const sk_graph *graph, int32_t index, bool *made, sk_error *err)
{
    const sk_node *node = &graph->nodes[index];
    for (int i = 0; i < node->n_in; i++) {
        sk_value v = node->in[i];
        if (v == SK_VALUE_NONE)
            continue;
        if (v < 0 || (size_t)v >= graph->n_values)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "input %d is value %d, which does not exist", i, v);
        if (!made[v])
            return sk_node_fail(
                node, err, SK_ERR_FORMAT,
                "input %d ('%.80s') is used before it is made (a cycle, or nodes out of order)", i,
                graph->values[v].name);
    }
    for (int i = 0; i < node->n_out; i++) {
        sk_value v = node->out[i];
        if (v < 0 || (size_t)v >= graph->n_values)
            return sk_node_fail(node, err, SK_ERR_FORMAT, "output %d is value %d, which does not exist", i,
                                v);
        if (made[v])
            return sk_node_fail(node, err, SK_ERR_FORMAT, "output %d ('%.80s') is made twice", i,
                                graph->values[v].name);
        if (graph->values[v].producer != index)
            return sk_node_fail(node, err, SK_ERR_INTERNAL, "output %d names node %d as its producer", i,
                                graph->values[v].producer);
        made[v] = true;
    }
    return SK_OK;
}

sk_status sk_graph_verify(const sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    sk_status status = SK_OK;
    bool *made = sk_calloc(graph->n_values + 1, sizeof *made);
    if (!made)
        return sk_fail_memory(err, graph->n_values);
    for (size_t v = 0; v < graph->n_values; v++) {
        SK_TRY_GOTO(check_value(&graph->values[v], (sk_value)v, err));
        made[v] = graph->values[v].blob != NULL;
    }
    for (int i = 0; i < graph->n_inputs; i++) {
        sk_value v = graph->inputs[i];
        if (v < 0 || (size_t)v >= graph->n_values || made[v]) {
            status = sk_fail(err, SK_ERR_FORMAT,
                             "graph input %d is value %d: absent, constant or given twice", i, v);
            goto done;
        }
        if (!dtype_valid(graph->values[v].dtype)) {
            status = sk_fail(err, SK_ERR_FORMAT, "graph input '%.120s' has no type", graph->values[v].name);
            goto done;
        }
        made[v] = true;
    }
    for (size_t n = 0; n < graph->n_nodes; n++) {
        SK_TRY_GOTO(sk_node_check(&graph->nodes[n], err));
        SK_TRY_GOTO(check_node_wiring(graph, (int32_t)n, made, err));
        SK_TRY_GOTO(sk_quantise_check_node(graph, &graph->nodes[n], err));
    }
    for (int i = 0; i < graph->n_outputs; i++) {
        sk_value v = graph->outputs[i];
        if (v < 0 || (size_t)v >= graph->n_values || !made[v]) {
            status = sk_fail(err, SK_ERR_FORMAT, "graph output %d is value %d, which no node makes", i, v);
            goto done;
        }
    }
done:
    sk_free(made);
    return status;
}
