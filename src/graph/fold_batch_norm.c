/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"

#include <math.h>
#include <string.h>

/* y = (conv(x) - mean) * scale / sqrt(variance + epsilon) + shift is a convolution with other weights:
 * w' = w * factor, b' = (b - mean) * factor + shift, one factor an output channel. */

static bool constant_floats(const sk_graph *graph, const sk_node *node, int first)
{
    for (int i = first; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE && (!sk_value_is_constant(graph, node->in[i]) ||
                                             !sk_dtype_is_float(graph->values[node->in[i]].dtype)))
            return false;
    return true;
}

/* The convolution before this batch norm, if the two can become one; -1 otherwise. */
static int32_t foldable_conv(const sk_graph *graph, const sk_node *norm, const int32_t *uses)
{
    if (norm->op != SK_OP_BATCH_NORM || !constant_floats(graph, norm, 1))
        return -1;
    int32_t index = graph->values[norm->in[0]].producer;
    if (index < 0 || uses[norm->in[0]] != 1)
        return -1;
    const sk_node *conv = &graph->nodes[index];
    bool transposed = conv->op == SK_OP_CONV_TRANSPOSE;
    if ((conv->op != SK_OP_CONV && !transposed) || conv->n_in > 3 || conv->flags != norm->flags)
        return -1;
    if ((transposed ? conv->a.conv_transpose.act.kind : conv->a.conv.act.kind) ||
        !constant_floats(graph, conv, 1))
        return -1;
    const sk_shape *w = &graph->values[conv->in[1]].shape;
    if (w->rank != 4)
        return -1;
    int64_t channels = transposed ? w->dim[1] * conv->a.conv_transpose.groups : w->dim[0];
    for (int i = 1; i < 5; i++)
        if (sk_shape_count(&graph->values[norm->in[i]].shape) != channels)
            return -1;
    return index;
}

static sk_status new_constant(sk_graph *graph, const char *name, const sk_shape *shape, float **data,
                              sk_value *value, sk_error *err)
{
    sk_blob *blob = NULL;
    SK_TRY(sk_blob_alloc((size_t)sk_shape_count(shape) * sizeof(float), &blob, err));
    *data = sk_blob_data(blob);
    sk_status status = sk_graph_add_constant(graph, name, SK_DTYPE_F32, shape, blob, 0, value, err);
    sk_blob_unref(&blob);
    return status;
}

/* Which output channel weight plane p = (first dimension) * (second dimension) belongs to. */
static int64_t channel_of(const sk_node *conv, const sk_shape *w, int64_t plane)
{
    if (conv->op == SK_OP_CONV)
        return plane / w->dim[1];
    int64_t in = plane / w->dim[1], per_group = w->dim[0] / conv->a.conv_transpose.groups;
    return in / per_group * w->dim[1] + plane % w->dim[1];
}

static sk_status fold_into(sk_graph *graph, int32_t conv_index, size_t norm_index, sk_error *err)
{
    const sk_node *norm = &graph->nodes[norm_index];
    sk_node *conv = &graph->nodes[conv_index];
    sk_value w_value, b_value, old_w = conv->in[1], old_b = conv->n_in > 2 ? conv->in[2] : SK_VALUE_NONE;
    sk_shape w_shape = graph->values[old_w].shape;
    sk_shape b_shape = {.rank = 1, .dim = {sk_shape_count(&graph->values[norm->in[1]].shape)}};
    float *w, *b;
    sk_value *list = sk_arena_alloc(graph->arena, 4 * sizeof *list);
    if (!list)
        return sk_fail_memory(err, 4 * sizeof *list);
    SK_TRY(new_constant(graph, graph->values[old_w].name, &w_shape, &w, &w_value, err));
    SK_TRY(new_constant(graph, old_b >= 0 ? graph->values[old_b].name : "", &b_shape, &b, &b_value, err));

    sk_tensor old_weights = sk_value_tensor(graph, old_w), old_bias = sk_value_tensor(graph, old_b);
    sk_tensor scale = sk_value_tensor(graph, norm->in[1]), shift = sk_value_tensor(graph, norm->in[2]);
    sk_tensor mean = sk_value_tensor(graph, norm->in[3]), variance = sk_value_tensor(graph, norm->in[4]);
    double epsilon = (double)norm->a.norm.epsilon;
    int64_t plane = w_shape.dim[2] * w_shape.dim[3];
    for (int64_t p = 0; p < w_shape.dim[0] * w_shape.dim[1]; p++) {
        int64_t c = channel_of(conv, &w_shape, p);
        double factor = sk_tensor_at(&scale, c) / sqrt(sk_tensor_at(&variance, c) + epsilon);
        for (int64_t i = p * plane; i < (p + 1) * plane; i++)
            w[i] = (float)(sk_tensor_at(&old_weights, i) * factor);
    }
    for (int64_t c = 0; c < b_shape.dim[0]; c++) {
        double factor = sk_tensor_at(&scale, c) / sqrt(sk_tensor_at(&variance, c) + epsilon);
        double before = old_bias.data ? sk_tensor_at(&old_bias, c) : 0;
        b[c] = (float)((before - sk_tensor_at(&mean, c)) * factor + sk_tensor_at(&shift, c));
    }
    list[0] = conv->in[0];
    list[1] = w_value;
    list[2] = b_value;
    sk_value out = norm->out[0];
    conv->in = list;
    conv->n_in = 3;
    sk_node_remove(graph, norm_index);
    graph->values[conv->out[0]].producer = -1;
    conv->out[0] = out;
    graph->values[out].producer = conv_index;
    return SK_OK;
}

sk_status sk_graph_fold_batch_norm(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    int32_t *uses = sk_graph_count_uses(graph);
    if (!uses)
        return sk_fail_memory(err, graph->n_values * sizeof *uses);
    sk_status status = SK_OK;
    for (size_t n = 0; n < graph->n_nodes && status == SK_OK; n++) {
        int32_t conv = foldable_conv(graph, &graph->nodes[n], uses);
        if (conv >= 0)
            status = fold_into(graph, conv, n, err);
    }
    sk_free(uses);
    sk_graph_sweep(graph);
    return status == SK_OK ? sk_graph_remove_dead(graph, err) : status;
}
