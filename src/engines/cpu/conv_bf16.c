/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"

/* Which convolutions read and write maps in bf16. */

static bool is_depthwise(const cpu_conv *c)
{
    return c->weights.groups > 1 && c->weights.groups == c->weights.cin &&
           c->weights.groups == c->weights.cout;
}

/* A depthwise convolution multiplies floats, but half as many bytes come and go. */
static bool is_low_depthwise(const cpu_plan *plan, const cpu_conv *c)
{
    return plan->bf16 && plan->kernels.bf16_native && is_depthwise(c) &&
           c->kernel_h <= SK_DEPTHWISE_BF16_MOST && c->kernel_w <= SK_DEPTHWISE_BF16_MOST &&
           c->stride_h <= 2 && c->stride_w <= 2 && c->dilation_h <= 1 && c->dilation_w <= 1;
}

static bool reads_low(const cpu_plan *plan, const cpu_conv *c)
{
    return is_depthwise(c) ? is_low_depthwise(plan, c) : cpu_conv_is_bf16(plan, c);
}

/* What the shape of a node's convolution says, before it is built. */
static bool node_is_bf16(const cpu_plan *plan, const sk_node *node)
{
    const sk_window *w = &node->a.conv.window;
    if (!cpu_conv_is_known(plan, node))
        return false;
    const sk_shape *xs = cpu_shape(plan, node->in[0]), *ys = cpu_shape(plan, node->out[0]);
    const cpu_conv c = {
        .x = node->in[0],
        .kernel_h = w->kernel[0],
        .kernel_w = w->kernel[1],
        .stride_h = w->stride[0],
        .stride_w = w->stride[1],
        .dilation_h = w->dilation[0],
        .dilation_w = w->dilation[1],
        .step_x = 1,
        .step_y = 1,
        .out_h = (int32_t)ys->dim[2],
        .out_w = (int32_t)ys->dim[3],
        .weights = {.groups = node->a.conv.groups, .cin = (int32_t)xs->dim[1], .cout = (int32_t)ys->dim[1]}};
    return reads_low(plan, &c);
}

#define MOST_PASSED 6 /* concatenations and the like between a convolution and the one that reads it */

/* Is there a convolution that reads v in bf16, itself or as a part of something? */
static bool wanted_low(const cpu_plan *plan, sk_value v, int passed)
{
    const sk_graph *g = plan->graph;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            const sk_node *node = &g->nodes[i];
            if (node->in[k] != v)
                continue;
            if (node->op == SK_OP_CONV && (k == 0 || k == 3) && node_is_bf16(plan, node))
                return true;
            if (node->op != SK_OP_CONCAT && node->op != SK_OP_SPLIT && node->op != SK_OP_SLICE &&
                !cpu_is_halving(plan, node) &&
                (node->op != SK_OP_RESIZE || node->a.resize.mode != SK_RESIZE_NEAREST))
                continue;
            for (int32_t o = 0; o < node->n_out && passed < MOST_PASSED; o++)
                if (wanted_low(plan, node->out[o], passed + 1))
                    return true;
        }
    return false;
}

void cpu_conv_to_bf16(const cpu_plan *plan, const sk_node *node, cpu_conv *c)
{
    const bool first = cpu_conv_can_first(plan, c);
    if (plan->low != CPU_LOW_BF16 || (!first && !reads_low(plan, c)))
        return;
    if (is_depthwise(c) && plan->values[cpu_low(plan, c->x)].map < 0)
        return; /* one that reads floats writes them */
    if (wanted_low(plan, node->out[0], 0))
        c->y = cpu_low(plan, c->y);
    if (first)
        return;
    if (plan->values[cpu_low(plan, c->x)].map >= 0)
        c->x = cpu_low(plan, c->x);
    if (c->residual != SK_VALUE_NONE && plan->values[cpu_low(plan, c->residual)].map >= 0 &&
        cpu_usual_fill(&plan->values[cpu_low(plan, c->residual)]))
        c->residual = cpu_low(plan, c->residual);
}
