/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

/* A convolution whose result only a 1x1 convolution reads: one step makes both, and the map between them is never written.
 * Where memory is what takes the time (many pixels, few channels), that is half of it. */

static bool is_output(const gpu_plan *plan, sk_value v)
{
    for (int32_t i = 0; i < plan->graph->n_outputs; i++)
        if (plan->graph->outputs[i] == v)
            return true;
    return false;
}

/* A group of warps has all channels of 64 pixels or more: with fewer pixels most of the device would wait, and the steps of
 * small images that split channels and sums are quicker. */
static bool fills_device(const gpu_plan *plan, sk_value v)
{
    enum { PIXELS = 32 }; /* for each multiprocessor */
    const sk_shape *s = gpu_shape(plan, v);
    return plan->without & GPU_WITHOUT_LIMITS ||
           s->dim[0] * s->dim[2] * s->dim[3] >= (int64_t)plan->sms * PIXELS;
}

/* The convolution that makes what node `index` reads, if the two can be one step; -1. */
static int32_t find_first(const gpu_plan *plan, size_t index)
{
    const sk_graph *g = plan->graph;
    const sk_node *node = &g->nodes[index];
    if (node->op != SK_OP_CONV || gpu_attention_of(plan, index) || !gpu_conv_goes_behind(plan, node))
        return -1;
    const sk_value between = node->in[0];
    const gpu_value *value = &plan->values[between];
    const int32_t first = g->values[between].producer;
    if (first < 0 || !value->map || value->low || value->parent != SK_VALUE_NONE ||
        plan->uses[between] != 1 || !fills_device(plan, between) || is_output(plan, between) ||
        g->nodes[first].op != SK_OP_CONV || gpu_attention_of(plan, (size_t)first) ||
        !gpu_conv_is_tiled(plan, &g->nodes[first]) || plan->values[g->nodes[first].in[0]].pair >= 0)
        return -1;
    /* the second computes in halves, whatever the first does, and writes no bytes */
    if (plan->values[node->out[0]].low)
        return -1;
    /* both are computed where the second stands: nothing may be written meanwhile over what the first reads (forms.c) */
    for (size_t i = (size_t)first + 1; i < index; i++)
        if (g->nodes[i].op != SK_OP_NONE)
            return -1;
    return first;
}

void gpu_find_pairs(gpu_plan *plan)
{
    const sk_graph *g = plan->graph;
    if (!gpu_is_narrow(plan->type) || plan->without & (GPU_WITHOUT_PAIRS | GPU_WITHOUT_TENSOR))
        return;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const int32_t first = find_first(plan, i);
        if (first >= 0)
            plan->values[g->nodes[i].in[0]].pair = first;
    }
}

sk_status gpu_build_pair(gpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    gpu_value *between = node->n_in > 0 && node->in[0] >= 0 ? &plan->values[node->in[0]] : NULL;
    *done = false;
    if (node->op != SK_OP_CONV || !between || between->pair < 0)
        return SK_OK;
    const sk_node *first = &plan->graph->nodes[between->pair];
    SK_TRY(gpu_build_conv_then(plan, first, node, done, err));
    if (*done)
        return SK_OK;
    between->pair = -1; /* no tile for the two: one after the other */
    bool built;
    return gpu_build_conv(plan, first, &built, err);
}
