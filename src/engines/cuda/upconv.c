/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/infer.h"

#include <stdio.h>
#include <string.h>

/* Transposed convolutions that double the size, on the tensor cores. Output pixel (2 y + py, 2 x + px) takes from the input
 * pixels around (y, x) only, at most one away: so each of the four kinds of pixels is an ordinary 3x3 convolution, most of
 * whose taps are zero, and all four are one with four times the channels. */

/* Where tap k of the window lands for pixels of this kind: 0, 1, 2 = one before, the same, one behind; -1: not at all. */
static int32_t landing(int32_t kind, int32_t pad, int32_t k)
{
    const int32_t twice = kind + pad - k;
    if (twice % 2 != 0 || twice / 2 < -1 || twice / 2 > 1)
        return -1;
    return twice / 2 + 1;
}

static bool fits(const gpu_plan *plan, const sk_node *node, sk_attrs *attrs)
{
    const sk_graph *g = plan->graph;
    if (node->op != SK_OP_CONV_TRANSPOSE || !gpu_by_tiles(plan) || !sk_value_is_constant(g, node->in[1]) ||
        g->values[node->in[1]].dtype != SK_DTYPE_F32 ||
        (node->n_in > 2 && node->in[2] != SK_VALUE_NONE && !sk_value_is_constant(g, node->in[2])))
        return false;
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]),
                   *w = gpu_shape(plan, node->in[1]);
    const int32_t act = node->a.conv_transpose.act.kind;
    *attrs = node->a;
    sk_conv_transpose_resolve(attrs, w->dim[2], w->dim[3]);
    const sk_window *win = &attrs->conv_transpose.window;
    if (attrs->conv_transpose.groups != 1 || win->stride[0] != 2 || win->stride[1] != 2 ||
        win->dilation[0] != 1 || win->dilation[1] != 1 || y->dim[2] != 2 * x->dim[2] ||
        y->dim[3] != 2 * x->dim[3] ||
        (act != 0 && act != SK_UNARY_RELU && act != SK_UNARY_SILU && act != SK_UNARY_LEAKY))
        return false;
    for (int axis = 0; axis < 2; axis++) /* every tap lands for one of the two kinds */
        for (int32_t k = 0; k < w->dim[2 + axis]; k++)
            if (landing(0, win->pad[axis], k) < 0 && landing(1, win->pad[axis], k) < 0)
                return false;
    return true;
}

/* [4][cout8][cin][3][3] */
static void spread_weights(const gpu_plan *plan, const sk_node *node, const sk_window *win, int32_t cout8,
                           float *to)
{
    const sk_shape *w = gpu_shape(plan, node->in[1]);
    const int32_t cin = (int32_t)w->dim[0], cout = (int32_t)w->dim[1], kh = (int32_t)w->dim[2],
                  kw = (int32_t)w->dim[3];
    const float *from = sk_value_tensor(plan->graph, node->in[1]).data;
    for (int32_t kind = 0; kind < 4; kind++)
        for (int32_t ky = 0; ky < kh; ky++)
            for (int32_t kx = 0; kx < kw; kx++) {
                const int32_t ty = landing(kind / 2, win->pad[0], ky),
                              tx = landing(kind % 2, win->pad[1], kx);
                if (ty < 0 || tx < 0)
                    continue;
                for (int32_t co = 0; co < cout; co++)
                    for (int32_t ci = 0; ci < cin; ci++)
                        to[((size_t)(kind * cout8 + co) * (size_t)cin + (size_t)ci) * 9 +
                           (size_t)(ty * 3 + tx)] =
                            from[(((size_t)ci * (size_t)cout + (size_t)co) * (size_t)kh + (size_t)ky) *
                                     (size_t)kw +
                                 (size_t)kx];
            }
}

static sk_status add_constant(sk_graph *g, const sk_shape *shape, sk_blob *blob, sk_value *out, sk_error *err)
{
    return sk_graph_add_constant(g, "", SK_DTYPE_F32, shape, blob, 0, out, err);
}

static sk_status rewrite(gpu_plan *plan, size_t index, const sk_attrs *attrs, sk_error *err)
{
    sk_graph *g = plan->graph;
    const sk_node *node = &g->nodes[index];
    const sk_shape x = *gpu_shape(plan, node->in[0]);
    const int32_t cout = (int32_t)gpu_shape(plan, node->out[0])->dim[1], cout8 = gpu_round8(cout);
    const sk_shape ws = {.rank = 4, .dim = {4 * cout8, x.dim[1], 3, 3}}, bs = {.rank = 1, .dim = {4 * cout8}};
    const sk_shape wide = {.rank = 4, .dim = {x.dim[0], 4 * cout8, x.dim[2], x.dim[3]}};
    sk_blob *weights = NULL, *bias = NULL;
    gpu_upconv up = {.node = (int32_t)index};
    sk_status status;
    SK_TRY_GOTO(sk_blob_alloc((size_t)sk_shape_count(&ws) * sizeof(float), &weights, err));
    SK_TRY_GOTO(sk_blob_alloc((size_t)sk_shape_count(&bs) * sizeof(float), &bias, err));
    spread_weights(plan, node, &attrs->conv_transpose.window, cout8, sk_blob_data(weights));
    if (node->n_in > 2 && node->in[2] != SK_VALUE_NONE)
        for (int32_t kind = 0; kind < 4; kind++)
            memcpy((float *)sk_blob_data(bias) + kind * cout8, sk_value_tensor(g, node->in[2]).data,
                   (size_t)cout * sizeof(float));
    up.in[0] = node->in[0];
    SK_TRY_GOTO(add_constant(g, &ws, weights, &up.in[1], err));
    SK_TRY_GOTO(add_constant(g, &bs, bias, &up.in[2], err));
    SK_TRY_GOTO(sk_graph_add_value(g, "", SK_DTYPE_F32, &wide, &up.out, err));
    up.conv = (sk_node){.op = SK_OP_CONV, .n_in = 3, .n_out = 1, .name = g->nodes[index].name};
    up.conv.a.conv.window = (sk_window){{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0};
    up.conv.a.conv.groups = 1;
    up.conv.a.conv.act = g->nodes[index].a.conv_transpose.act;
    SK_TRY_GOTO(sk_array_reserve((void **)&plan->upconv, &plan->upconv_capacity, plan->n_upconv + 1,
                                 sizeof up, 4096, err));
    plan->upconv[plan->n_upconv++] = up;
done:
    sk_blob_unref(&weights);
    sk_blob_unref(&bias);
    return status;
}

sk_status gpu_find_upconv(gpu_plan *plan, sk_error *err)
{
    for (size_t i = 0; i < plan->graph->n_nodes; i++) {
        sk_attrs attrs;
        if (fits(plan, &plan->graph->nodes[i], &attrs))
            SK_TRY(rewrite(plan, i, &attrs, err));
    }
    for (size_t i = 0; i < plan->n_upconv; i++) { /* the list has its place now */
        plan->upconv[i].conv.in = plan->upconv[i].in;
        plan->upconv[i].conv.out = &plan->upconv[i].out;
    }
    return SK_OK;
}

sk_status gpu_build_upconv(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    gpu_upconv *up = NULL;
    gpu_step *step;
    for (size_t i = 0; i < plan->n_upconv; i++)
        if (&plan->graph->nodes[plan->upconv[i].node] == node)
            up = &plan->upconv[i];
    *done = up && gpu_is_map(plan, node->out[0]);
    if (!*done)
        return SK_OK;
    bool built = false;
    SK_TRY(gpu_build_conv(plan, &up->conv, &built, err));
    const sk_shape *x = gpu_shape(plan, up->out);
    SK_TRY(gpu_make_map(plan, node->out[0], err));
    SK_TRY(gpu_add_step(plan, GPU_SHUFFLE, NULL, &step, err));
    step->args.shuffle = (gpu_shuffle_args){.n = (int32_t)x->dim[0],
                                            .h = (int32_t)x->dim[2],
                                            .w = (int32_t)x->dim[3],
                                            .c8 = (int32_t)x->dim[1] / 32,
                                            .ldi = gpu_map_pitch(plan, up->out),
                                            .ldo = gpu_map_pitch(plan, node->out[0]),
                                            .type = plan->type};
    step->refs[0] = gpu_map_ref(plan, node->out[0]);
    step->refs[1] = gpu_map_ref(plan, up->out);
    step->n_refs = 2;
    snprintf(step->kernel, sizeof step->kernel, "shuffle");
    snprintf(step->shape, sizeof step->shape, "%lldx%lld x2", (long long)x->dim[2], (long long)x->dim[3]);
    return SK_OK;
}
