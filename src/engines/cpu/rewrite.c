/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"
#include "graph/edit.h"

#include <string.h>

/* Changes to the plan's own graph that save arithmetic.
 *
 * conv1x1(concat(upsample2(a), b)): a 1x1 convolution of repeated pixels is the repeated convolution. So the part of a
 * is computed at a's size, a quarter of the work, and added, read at half coordinates, while b's part is finished:
 *     t = conv1x1(a, weights of a);  y = act(conv1x1(b, weights of b) + bias + upsample2(t))
 * Neither the upsampled map nor the concatenation comes into being. */

bool cpu_is_doubling(const sk_graph *g, const sk_node *node)
{
    const float *scale = node->a.resize.scale;
    const bool sizes = node->n_in > 1 && node->in[1] != SK_VALUE_NONE; /* instead of a scale */
    if (node->op != SK_OP_RESIZE || node->a.resize.mode != SK_RESIZE_NEAREST ||
        (!sizes && (scale[0] != 2.0f || scale[1] != 2.0f)))
        return false;
    const sk_shape *x = &g->values[node->in[0]].shape, *y = &g->values[node->out[0]].shape;
    if (y->dim[2] != 2 * x->dim[2] || y->dim[3] != 2 * x->dim[3] ||
        g->values[node->in[0]].dtype != SK_DTYPE_F32)
        return false;
    /* floor(i / 2) for every i: only these two of the roundings give it */
    return (node->a.resize.coords == SK_COORDS_ASYMMETRIC && node->a.resize.round == SK_ROUND_FLOOR) ||
           (node->a.resize.coords == SK_COORDS_HALF_PIXEL && node->a.resize.round == SK_ROUND_PREFER_FLOOR);
}

static const sk_node *producer(const sk_graph *g, sk_value v)
{
    int32_t p = g->values[v].producer;
    return p >= 0 ? &g->nodes[p] : NULL;
}

bool cpu_is_pointwise(const sk_node *node)
{
    const sk_window *w = &node->a.conv.window;
    return node->op == SK_OP_CONV && node->a.conv.groups == 1 && w->kernel[0] == 1 && w->kernel[1] == 1 &&
           w->stride[0] == 1 && w->stride[1] == 1 && w->pad[0] == 0 && w->pad[1] == 0 && w->pad[2] == 0 &&
           w->pad[3] == 0 && (node->n_in < 4 || node->in[3] == SK_VALUE_NONE);
}

static bool can_split(const sk_graph *g, const sk_node *node)
{
    return cpu_is_pointwise(node) && sk_value_is_constant(g, node->in[1]) &&
           g->values[node->in[1]].dtype == SK_DTYPE_F32 && sk_act_f32_known(node->a.conv.act.kind);
}

/* Columns [from, from + count) of a [cout][cin] matrix as a constant of its own. */
static sk_status weight_columns(sk_graph *g, sk_value w, int64_t from, int64_t count, sk_value *out,
                                sk_error *err)
{
    const sk_shape *s = &g->values[w].shape;
    const int64_t cout = s->dim[0], cin = s->dim[1];
    const float *data = sk_value_tensor(g, w).data;
    const sk_shape part = {.rank = 4, .dim = {cout, count, 1, 1}};
    sk_blob *blob = NULL;
    SK_TRY(sk_blob_alloc((size_t)(cout * count) * sizeof(float), &blob, err));
    float *to = sk_blob_data(blob);
    for (int64_t i = 0; i < cout; i++)
        memcpy(to + i * count, data + i * cin + from, (size_t)count * sizeof(float));
    sk_status status = sk_graph_add_constant(g, "", SK_DTYPE_F32, &part, blob, 0, out, err);
    sk_blob_unref(&blob);
    return status;
}

static sk_status set_inputs(sk_graph *g, sk_node *node, const sk_value *in, int32_t count, sk_error *err)
{
    node->in = sk_arena_alloc(g->arena, (size_t)count * sizeof *in);
    if (!node->in)
        return sk_fail_memory(err, (size_t)count * sizeof *in);
    memcpy(node->in, in, (size_t)count * sizeof *in);
    node->n_in = count;
    return SK_OK;
}

/* `up` becomes the small convolution, `join` the upsampling of its result, `conv` the rest. */
static sk_status split_pointwise(sk_graph *g, int32_t conv_at, int32_t join_at, int32_t up_at, int32_t which,
                                 sk_error *err)
{
    sk_node *conv = &g->nodes[conv_at], *join = &g->nodes[join_at], *up = &g->nodes[up_at];
    const sk_value small = up->in[0], other = join->in[1 - which], weights = conv->in[1];
    const int64_t mine = g->values[small].shape.dim[1], rest = g->values[other].shape.dim[1];
    sk_value w_small, w_other, bias = conv->n_in > 2 ? conv->in[2] : SK_VALUE_NONE;
    SK_TRY(weight_columns(g, weights, which == 0 ? 0 : rest, mine, &w_small, err));
    SK_TRY(weight_columns(g, weights, which == 0 ? mine : 0, rest, &w_other, err));
    const sk_attrs resize = up->a;
    const sk_shape wide = g->values[conv->out[0]].shape;
    /* values keep their numbers: up's output is now t, join's output is t upsampled */
    sk_value t = up->out[0], t2 = join->out[0];
    g->values[t].shape.dim[1] = g->values[t2].shape.dim[1] = wide.dim[1];
    g->values[t].shape.dim[2] = wide.dim[2] / 2;
    g->values[t].shape.dim[3] = wide.dim[3] / 2;
    up->op = SK_OP_CONV;
    up->a = conv->a;
    up->a.conv.act = (sk_fused_act){0};
    up->name = conv->name;
    SK_TRY(set_inputs(g, up, (const sk_value[]){small, w_small}, 2, err));
    join->op = SK_OP_RESIZE;
    join->a = resize;
    join->a.resize.scale[0] = join->a.resize.scale[1] = 2.0f;
    SK_TRY(set_inputs(g, join, &t, 1, err));
    conv->a.conv.residual_before_act = 1;
    return set_inputs(g, conv, (const sk_value[]){other, w_other, bias, t2}, 4, err);
}

sk_status cpu_rewrite(cpu_plan *plan, sk_error *err)
{
    sk_graph *g = plan->graph;
    int32_t *uses = sk_graph_count_uses(g);
    sk_status status = SK_OK;
    if (!uses)
        return sk_fail_memory(err, g->n_values * sizeof *uses);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const sk_node *conv = &g->nodes[i];
        if (!can_split(g, conv) || uses[conv->in[0]] != 1)
            continue;
        const sk_node *join = producer(g, conv->in[0]);
        if (!join || join->op != SK_OP_CONCAT || join->n_in != 2 || (join->a.axis != 1 && join->a.axis != -3))
            continue;
        for (int32_t k = 0; k < 2; k++) {
            const sk_node *up = producer(g, join->in[k]);
            if (!up || !cpu_is_doubling(g, up) || uses[join->in[k]] != 1)
                continue;
            SK_TRY_GOTO(
                split_pointwise(g, (int32_t)i, (int32_t)(join - g->nodes), (int32_t)(up - g->nodes), k, err));
            break;
        }
    }
done:
    sk_free(uses);
    return status;
}
