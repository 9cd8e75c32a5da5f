/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include <stdio.h>
#include <string.h>

/* Outputs that are 1x1 convolutions of a map, written as the planes of floats they are to be. Those of fine_outputs
 * (sk_session_settings) by products of floats: their sums are fp32 anyway, and peaks of maps that were rounded to fp16 get lost
 * where two neighbours become equal. Others by the tiles of all convolutions. */

enum { MOST_CHANNELS = 64, MOST_WEIGHTS = 8192 };

static int32_t act_of(const sk_node *node)
{
    switch (node->a.conv.act.kind) {
    case 0: return GPU_ACT_NONE;
    case SK_UNARY_RELU: return GPU_ACT_RELU;
    case SK_UNARY_LEAKY: return GPU_ACT_LEAKY;
    case SK_UNARY_SIGMOID: return GPU_ACT_SIGMOID;
    default: return -1;
    }
}

static bool is_constant(const gpu_plan *plan, sk_value v)
{
    return sk_value_is_constant(plan->graph, v) && plan->graph->values[v].dtype == SK_DTYPE_F32;
}

/* Is it an output, and nothing else? */
static bool is_end(const gpu_plan *plan, sk_value v)
{
    const sk_graph *g = plan->graph;
    int32_t outputs = 0;
    for (int32_t i = 0; i < g->n_outputs; i++)
        outputs += g->outputs[i] == v;
    for (size_t i = 0; outputs == 1 && i < g->n_nodes; i++)
        for (int32_t k = 0; g->nodes[i].op != SK_OP_NONE && k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v)
                return false;
    return outputs == 1;
}

bool gpu_is_fine_head(const gpu_plan *plan, const sk_node *node)
{
    if (!plan->settings.fine_outputs || !gpu_is_narrow(plan->type) || node->op != SK_OP_CONV ||
        node->n_in < 2 || !gpu_is_map(plan, node->in[0]) || plan->values[node->in[0]].input >= 0 ||
        !gpu_conv_is_pointwise(plan, node) || act_of(node) < 0)
        return false;
    const int64_t cin = gpu_shape(plan, node->in[0])->dim[1], cout = gpu_shape(plan, node->out[0])->dim[1];
    return (node->n_in < 4 || node->in[3] == SK_VALUE_NONE) && is_constant(plan, node->in[1]) &&
           (node->n_in < 3 || node->in[2] == SK_VALUE_NONE || is_constant(plan, node->in[2])) &&
           cout <= MOST_CHANNELS && (cin + 7) / 8 * 8 * cout <= MOST_WEIGHTS && is_end(plan, node->out[0]);
}

/* Will it be brought down as it is? */
static bool is_brought_down(const gpu_plan *plan, sk_value v)
{
    for (int32_t i = 0; i < plan->graph->n_outputs; i++)
        if (plan->graph->outputs[i] == v)
            return !gpu_is_sparse(plan, i) && !gpu_is_looked_at(plan, i) && plan->found.wish.n_levels == 0;
    return false;
}

bool gpu_is_plane_head(const gpu_plan *plan, const sk_node *node)
{
    return node->op == SK_OP_CONV && gpu_config_count() > 0 && gpu_by_tiles(plan) && node->n_in > 1 &&
           gpu_is_map(plan, node->in[0]) && plan->values[node->in[0]].input < 0 &&
           gpu_conv_is_pointwise(plan, node) && act_of(node) >= 0 &&
           (node->n_in < 4 || node->in[3] == SK_VALUE_NONE) && is_constant(plan, node->in[1]) &&
           (node->n_in < 3 || node->in[2] == SK_VALUE_NONE || is_constant(plan, node->in[2])) &&
           is_end(plan, node->out[0]) && is_brought_down(plan, node->out[0]);
}

sk_status gpu_build_head(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = gpu_is_fine_head(plan, node);
    if (!*done && !gpu_is_map(plan, node->out[0]) && gpu_is_plane_head(plan, node)) {
        *done = true;
        return gpu_build_planes(plan, node, err);
    }
    if (!*done)
        return SK_OK;
    const sk_shape *x = gpu_shape(plan, node->in[0]), *y = gpu_shape(plan, node->out[0]);
    const int32_t cin = (int32_t)x->dim[1], cout = (int32_t)y->dim[1], padded = gpu_round8(cin);
    gpu_ref weights, bias;
    gpu_step *step;
    void *data;
    SK_TRY(gpu_need_map(plan, node->in[0], err));
    SK_TRY(gpu_make_dense(plan, node->out[0], err));
    SK_TRY(gpu_add_weights(plan, (size_t)cout * (size_t)padded * sizeof(float), &data, &weights, err));
    const float *from = sk_value_tensor(plan->graph, node->in[1]).data;
    for (int32_t c = 0; c < cout; c++)
        memcpy((float *)data + (size_t)c * (size_t)padded, from + (size_t)c * (size_t)cin,
               (size_t)cin * sizeof(float));
    SK_TRY(gpu_add_weights(plan, (size_t)cout * sizeof(float), &data, &bias, err));
    if (node->n_in > 2 && node->in[2] != SK_VALUE_NONE)
        memcpy(data, sk_value_tensor(plan->graph, node->in[2]).data, (size_t)cout * sizeof(float));
    SK_TRY(gpu_add_step(plan, GPU_HEAD, node, &step, err));
    step->args.head = (gpu_head_args){.plane = y->dim[2] * y->dim[3],
                                      .n = (int32_t)y->dim[0],
                                      .cin = padded,
                                      .cout = cout,
                                      .ld = gpu_map_pitch(plan, node->in[0]),
                                      .act = act_of(node),
                                      .type = plan->type,
                                      .alpha = node->a.conv.act.alpha};
    step->refs[0] = (gpu_ref){.buffer = plan->values[node->out[0]].dense};
    step->refs[1] = gpu_map_ref(plan, node->in[0]);
    step->refs[2] = weights;
    step->refs[3] = bias;
    step->n_refs = 4;
    step->flops = 2.0 * (double)sk_shape_count(y) * cin;
    snprintf(step->kernel, sizeof step->kernel, "head f32");
    snprintf(step->shape, sizeof step->shape, "%d->%d 1x1 %lldx%lld", cin, cout, (long long)y->dim[2],
             (long long)y->dim[3]);
    return SK_OK;
}
