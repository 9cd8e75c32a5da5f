/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/edit.h"

#include <string.h>

/* A 1x1 convolution of maps side by side, one of which was brought to twice its size by repeating pixels: that one's share of
 * the sums is the same for the four pixels. It is computed by a convolution at its own size and added as a residual, so that
 * nothing is resized and nothing joined. The node of the resize becomes that convolution. */

typedef struct found_sum {
    int32_t conv, concat, resize, part; /* part: which input of the concatenation */
} found_sum;

static bool is_pointwise(const gpu_plan *plan, const sk_node *node)
{
    const sk_graph *g = plan->graph;
    return node->op == SK_OP_CONV && node->a.conv.groups == 1 && sk_value_is_constant(g, node->in[1]) &&
           g->values[node->in[1]].dtype == SK_DTYPE_F32 && gpu_shape(plan, node->in[0])->rank == 4 &&
           (node->n_in < 4 || node->in[3] == SK_VALUE_NONE) && gpu_conv_is_pointwise(plan, node);
}

static bool find_sum(const gpu_plan *plan, const int32_t *uses, size_t index, found_sum *out)
{
    const sk_graph *g = plan->graph;
    const sk_node *conv = &g->nodes[index];
    if (conv->op != SK_OP_CONV || !is_pointwise(plan, conv) || uses[conv->in[0]] != 1)
        return false;
    const int32_t concat = g->values[conv->in[0]].producer;
    if (concat < 0 || g->nodes[concat].op != SK_OP_CONCAT || g->nodes[concat].n_in < 2 ||
        (g->nodes[concat].a.axis != 1 && g->nodes[concat].a.axis != -3))
        return false;
    for (int32_t i = 0; i < g->nodes[concat].n_in; i++) {
        const sk_value v = g->nodes[concat].in[i];
        const int32_t p = g->values[v].producer;
        if (p < 0 || g->nodes[p].op != SK_OP_RESIZE || uses[v] != 1 ||
            !gpu_resize_doubles(plan, &g->nodes[p]))
            continue;
        *out = (found_sum){(int32_t)index, concat, p, i};
        return true;
    }
    return false;
}

/* Columns [from, from + n) of the weights, or all but these. */
static sk_status take_columns(gpu_plan *plan, sk_value weights, int64_t from, int64_t n, bool others,
                              sk_value *out, sk_error *err)
{
    sk_graph *g = plan->graph;
    const sk_tensor t = sk_value_tensor(g, weights);
    const int64_t rows = t.shape.dim[0], all = t.shape.dim[1], left = others ? all - n : n;
    const sk_shape shape = sk_shape_of(4, rows, left, (int64_t)1, (int64_t)1);
    sk_blob *blob = NULL;
    SK_TRY(sk_blob_alloc((size_t)(rows * left) * sizeof(float), &blob, err));
    float *to = sk_blob_data(blob);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < all; c++)
            if ((c >= from && c < from + n) != others)
                *to++ = ((const float *)t.data)[r * all + c];
    const sk_status status = sk_graph_add_constant(g, "", SK_DTYPE_F32, &shape, blob, 0, out, err);
    sk_blob_unref(&blob);
    return status == SK_OK ? gpu_copy_scales(plan, weights, *out, err) : status;
}

static sk_status rewrite(gpu_plan *plan, const found_sum *f, sk_error *err)
{
    sk_graph *g = plan->graph;
    const sk_value large = g->nodes[f->concat].in[f->part], small = g->nodes[f->resize].in[0];
    const sk_value weights = g->nodes[f->conv].in[1], joined = g->nodes[f->concat].out[0];
    const int64_t n = g->values[large].shape.dim[1];
    int64_t from = 0;
    for (int32_t i = 0; i < f->part; i++)
        from += g->values[g->nodes[f->concat].in[i]].shape.dim[1];
    sk_value own, rest, sum, *list = sk_arena_alloc(g->arena, 8 * sizeof *list);
    if (!list)
        return sk_fail_memory(err, 8 * sizeof *list);
    SK_TRY(take_columns(plan, weights, from, n, false, &own, err));
    SK_TRY(take_columns(plan, weights, from, n, true, &rest, err));
    sk_shape shape = g->values[small].shape;
    shape.dim[1] = g->values[weights].shape.dim[0];
    SK_TRY(sk_graph_add_value(g, "", SK_DTYPE_F32, &shape, &sum, err));
    sk_node *conv = &g->nodes[f->conv], *half = &g->nodes[f->resize], *concat = &g->nodes[f->concat];
    half->op = SK_OP_CONV;
    half->name = conv->name;
    half->a = conv->a;
    memset(&half->a.conv.act, 0, sizeof half->a.conv.act);
    half->in = list;
    half->n_in = 2;
    list[0] = small;
    list[1] = own;
    half->out[0] = sum;
    g->values[sum].producer = f->resize;
    memmove(concat->in + f->part, concat->in + f->part + 1,
            (size_t)(--concat->n_in - f->part) * sizeof *concat->in);
    g->values[joined].shape.dim[1] -= n;
    list[2] = concat->n_in > 1 ? joined : concat->in[0];
    list[3] = rest;
    list[4] = conv->n_in > 2 ? conv->in[2] : SK_VALUE_NONE;
    list[5] = sum;
    conv->in = list + 2;
    conv->n_in = 4;
    conv->a.conv.residual_before_act = 1;
    if (concat->n_in == 1) {
        concat->op = SK_OP_NONE;
        concat->n_in = concat->n_out = 0;
    }
    return SK_OK;
}

sk_status gpu_find_upsample(gpu_plan *plan, sk_error *err)
{
    sk_graph *g = plan->graph;
    sk_status status = SK_OK;
    if (plan->without & GPU_WITHOUT_UPSAMPLE)
        return SK_OK;
    int32_t *uses = sk_graph_count_uses(g);
    if (!uses)
        return sk_fail_memory(err, g->n_values * sizeof *uses);
    for (size_t i = 0; status == SK_OK && i < g->n_nodes; i++) {
        found_sum f;
        if (find_sum(plan, uses, i,
                     &f)) /* values that are added have numbers beyond those that are counted */
            status = rewrite(plan, &f, err);
    }
    sk_free(uses);
    return status;
}
