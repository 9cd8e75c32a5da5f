/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"
#include "graph/quantise.h"

#include <stdio.h>
#include <string.h>

/* Values in fewer bits: which they are, and the steps between them and f32. */

typedef struct convert {
    sk_value from, to;
    cpu_map in, out;
    float scale;
    int32_t zero;
} convert;

static sk_status bind_convert(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    convert *c = step->data;
    c->in = cpu_bound_map(plan, c->from);
    c->out = cpu_bound_map(plan, c->to);
    return SK_OK;
}

/* Work is split over (image, block, row). */
static void run_convert(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const convert *c = step->data;
    const sk_kernels_u8 *k = &frame->plan->kernels_u8;
    const cpu_map *in = &c->in, *out = &c->out;
    int64_t from, to;
    sk_pool_split((int64_t)in->n * in->blocks * in->h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to; at++) {
        const ptrdiff_t y = at % in->h, b = at / in->h % in->blocks, n = at / in->h / in->blocks;
        const ptrdiff_t i = n * in->image + b * in->plane + y * in->row,
                        o = n * out->image + b * out->plane + y * out->row;
        const size_t count = (size_t)in->w * SK_BLOCK;
        if (out->size == 2)
            frame->plan->kernels.to_bf16(in->data + i, (uint16_t *)(void *)out->bytes + o, count);
        else if (in->size == 2)
            frame->plan->kernels.from_bf16((const uint16_t *)(const void *)in->bytes + i, out->data + o,
                                           count);
        else if (in->size == sizeof(float))
            k->quantise(in->data + i, out->bytes + o, count, c->scale, c->zero);
        else
            k->dequantise(in->bytes + i, out->data + o, count, c->scale, c->zero);
    }
}

/* A form of `to` like that of `from`, filled by a step. */
static sk_status add_convert(cpu_plan *plan, sk_value from, sk_value to, float scale, int32_t zero,
                             sk_error *err)
{
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof(convert), &step, err));
    *(convert *)step->data = (convert){.from = from, .to = to, .scale = scale, .zero = zero};
    step->run = run_convert;
    step->bind = bind_convert;
    const char *bits = plan->low == CPU_LOW_BF16 ? "bf16" : "u8";
    const bool narrow = cpu_is_low(plan, to);
    snprintf(step->kernel, sizeof step->kernel, "%s to %s %s", narrow ? "f32" : bits, narrow ? bits : "f32",
             plan->kernels.isa);
    const int64_t *d = cpu_shape(plan, from)->dim;
    snprintf(step->shape, sizeof step->shape, "%d %dx%d", (int)d[1], (int)d[2], (int)d[3]);
    return cpu_step_uses(plan, step, (const sk_value[]){from, to}, 2, NULL, 0, err);
}

sk_status cpu_add_raise(cpu_plan *plan, sk_value v, sk_error *err)
{
    const sk_value low = cpu_low(plan, v);
    SK_TRY(cpu_make_like(plan, v, low, err));
    return add_convert(plan, low, v, plan->values[low].scale, plan->values[low].zero, err);
}

sk_status cpu_need_low_bf16(cpu_plan *plan, sk_value v, sk_error *err)
{
    const sk_value low = cpu_low(plan, v);
    if (plan->values[low].map >= 0)
        return SK_OK;
    SK_TRY(cpu_need_blocked(plan, v, err));
    SK_TRY(cpu_make_like(plan, low, v, err));
    return add_convert(plan, v, low, 1.0f, 0, err);
}

/* One rule for a whole value in eight bits; signed ones are kept with 128 added. */
static bool rule_of(const cpu_plan *plan, const sk_node *node, float *scale, int32_t *zero)
{
    const sk_tensor s = sk_value_tensor(plan->graph, node->in[1]);
    sk_tensor z = {0};
    if (node->n_in > 2 && node->in[2] != SK_VALUE_NONE)
        z = sk_value_tensor(plan->graph, node->in[2]);
    const sk_dtype type = plan->graph->values[node->op == SK_OP_QUANTIZE ? node->out[0] : node->in[0]].dtype;
    if (sk_shape_count(&s.shape) != 1 || !s.data || (type != SK_DTYPE_U8 && type != SK_DTYPE_I8))
        return false;
    *scale = ((const float *)s.data)[0];
    *zero = (z.data ? (int32_t)sk_tensor_int_at(&z, 0) : 0) + (type == SK_DTYPE_I8 ? 128 : 0);
    return true;
}

bool cpu_quantised_next(const cpu_plan *plan, sk_value v, float *scale, int32_t *zero)
{
    const sk_graph *g = plan->graph;
    if (plan->low != CPU_LOW_U8 || plan->uses[v] != 1)
        return false;
    for (size_t i = (size_t)(g->values[v].producer + 1); i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v)
                return k == 0 && g->nodes[i].op == SK_OP_QUANTIZE && rule_of(plan, &g->nodes[i], scale, zero);
    return false;
}

bool cpu_stays_bytes(const cpu_plan *plan, const sk_node *node)
{
    const sk_graph *g = plan->graph;
    const sk_value q = node->out[0];
    float scale, other;
    int32_t zero, other_zero;
    if (!rule_of(plan, node, &scale, &zero))
        return false;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == q)
            return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == q &&
                (k > 0 || g->nodes[i].op != SK_OP_DEQUANTIZE ||
                 !rule_of(plan, &g->nodes[i], &other, &other_zero) || other != scale || other_zero != zero))
                return false;
    return true;
}

bool cpu_keeps_bytes(const cpu_plan *plan, const sk_node *node, float scale, int32_t zero)
{
    float its_scale;
    int32_t its_zero;
    return rule_of(plan, node, &its_scale, &its_zero) && its_scale == scale && its_zero == zero &&
           (node->op == SK_OP_DEQUANTIZE ||
            (cpu_can_block(plan, node->in[0]) && cpu_stays_bytes(plan, node)));
}

/* The graph's input, quantised, that only convolutions read: it is never made, they take it from the caller's picture. */
static bool stays_input(const cpu_plan *plan, const sk_node *node)
{
    return plan->values[node->in[0]].input >= 0 && plan->values[node->in[0]].map < 0 &&
           plan->values[node->in[0]].dense < 0 && cpu_read_in_place(plan, node->in[0]);
}

static sk_status build_quantise(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_value x = node->in[0], q = cpu_low(plan, node->out[0]), low = cpu_low(plan, x);
    float scale;
    int32_t zero;
    if (!rule_of(plan, node, &scale, &zero) || !cpu_can_block(plan, x) || !cpu_stays_bytes(plan, node))
        return SK_OK;
    *done = true;
    if (plan->values[low].map >= 0 && plan->values[low].scale == scale && plan->values[low].zero == zero) {
        plan->values[q] = plan->values[low];
        return SK_OK;
    }
    if (stays_input(plan, node)) {
        plan->values[q] = plan->values[x];
        plan->values[q].scale = scale;
        plan->values[q].zero = zero;
        return SK_OK;
    }
    SK_TRY(cpu_need_blocked(plan, x, err));
    plan->values[q].scale = scale;
    plan->values[q].zero = zero;
    SK_TRY(cpu_make_like(plan, q, x, err));
    return add_convert(plan, x, q, scale, zero, err);
}

bool cpu_is_weights(const cpu_plan *plan, sk_value v)
{
    const int32_t p = plan->graph->values[v].producer;
    return p >= 0 && plan->graph->nodes[p].op == SK_OP_DEQUANTIZE &&
           sk_value_is_constant(plan->graph, plan->graph->nodes[p].in[0]);
}

sk_status cpu_fold_weights(cpu_plan *plan, sk_value v, sk_error *err)
{
    const sk_node *node = &plan->graph->nodes[plan->graph->values[v].producer];
    sk_value_info *info = &plan->graph->values[v];
    sk_tensor ins[3] = {0}, out = {.dtype = SK_DTYPE_F32, .shape = info->shape};
    if (info->blob) /* a transposed convolution is several, which share theirs */
        return SK_OK;
    for (int32_t i = 0; i < node->n_in && i < 3; i++)
        if (node->in[i] != SK_VALUE_NONE)
            ins[i] = sk_value_tensor(plan->graph, node->in[i]);
    SK_TRY(sk_blob_alloc((size_t)sk_shape_count(&info->shape) * sizeof(float), &info->blob, err));
    info->offset = 0;
    out.data = sk_blob_data(info->blob);
    plan->values[v].constant = out.data;
    return sk_node_execute(node, ins, &out, err);
}

sk_status cpu_build_low(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = false;
    if (plan->low != CPU_LOW_U8)
        return SK_OK;
    if (node->op == SK_OP_QUANTIZE)
        return build_quantise(plan, node, done, err);
    if (node->op == SK_OP_DEQUANTIZE) {
        const cpu_value *q = &plan->values[cpu_low(plan, node->in[0])];
        float scale;
        int32_t zero;
        if (sk_value_is_constant(plan->graph, node->in[0])) { /* weights: read where they are used */
            *done = true;
        } else if ((q->map >= 0 || q->input >= 0) && rule_of(plan, node, &scale, &zero) &&
                   q->scale == scale && q->zero == zero) {
            plan->values[cpu_low(plan, node->out[0])] = *q;
            *done = true;
        }
    }
    return SK_OK;
}
