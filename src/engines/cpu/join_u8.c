/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv_u8.h"

/* conv1x1(concat(upsample2(a), b)) in eight bits, as rewrite.c has it in f32: a's part of each sum is computed at a's size, a quarter
 * of the work, and b's part is added to it at half coordinates. Sums are exact, so the bytes are those of the whole.
 *
 * The graph stays as it is, since nodes have no sums of 32 bits. When the upsampling comes to be built, everything that
 * decides is known, so long as b stands before it, as in every network with a neck. The upsampling's result then stands for
 * the small map (cpu_value.half), the concatenation's for b and that; between them go QUANTIZE and DEQUANTIZE that change no
 * byte. The convolution becomes two steps. */

static const sk_node *sole_reader(const cpu_plan *plan, sk_value v)
{
    const sk_graph *g = plan->graph;
    if (plan->uses[v] != 1)
        return NULL;
    for (size_t i = (size_t)(g->values[v].producer + 1); i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v)
                return &g->nodes[i];
    return NULL; /* an output */
}

/* Who alone reads v, maybe behind nodes that leave bytes of this rule as they are; *read: v as it comes there. */
static const sk_node *reader_of_bytes(const cpu_plan *plan, sk_value v, float scale, int32_t zero,
                                      sk_value *read)
{
    const sk_node *node = sole_reader(plan, v);
    while (node && (node->op == SK_OP_QUANTIZE || node->op == SK_OP_DEQUANTIZE)) {
        if (!cpu_keeps_bytes(plan, node, scale, zero))
            return NULL;
        v = node->out[0];
        node = sole_reader(plan, v);
    }
    *read = v;
    return node;
}

static bool joins_channels(const sk_node *node)
{
    return node->op == SK_OP_CONCAT && node->n_in == 2 && (node->a.axis == 1 || node->a.axis == -3);
}

static bool ends_in_join(const cpu_plan *plan, const sk_node *up)
{
    const cpu_value *small = &plan->values[cpu_low(plan, up->in[0])];
    sk_value part, whole;
    if (plan->low != CPU_LOW_U8 || small->map < 0 || !cpu_is_doubling(plan->graph, up))
        return false;
    const sk_node *join = reader_of_bytes(plan, up->out[0], small->scale, small->zero, &part);
    if (!join || !joins_channels(join))
        return false;
    const cpu_value *other = &plan->values[cpu_low(plan, join->in[join->in[0] == part])];
    if (other->map < 0 || other->half != SK_VALUE_NONE || other->scale != small->scale ||
        other->zero != small->zero)
        return false;
    const sk_node *conv = reader_of_bytes(plan, join->out[0], small->scale, small->zero, &whole);
    return conv && cpu_is_pointwise(conv) && conv->in[0] == whole && !cpu_conv_is_few(plan, conv) &&
           cpu_conv_takes_bytes(plan, conv);
}

bool cpu_pass_join(cpu_plan *plan, const sk_node *node)
{
    if (node->op == SK_OP_RESIZE && ends_in_join(plan, node)) {
        cpu_value *up = &plan->values[cpu_low(plan, node->out[0])];
        *up = plan->values[cpu_low(plan, node->in[0])];
        up->half = cpu_low(plan, node->in[0]);
        return true;
    }
    for (int32_t k = 0; joins_channels(node) && k < 2; k++) {
        const cpu_value *up = &plan->values[cpu_low(plan, node->in[k])];
        cpu_value *whole = &plan->values[cpu_low(plan, node->out[0])];
        if (up->half == SK_VALUE_NONE)
            continue;
        *whole = plan->values[cpu_low(plan, node->in[1 - k])];
        whole->half = up->half;
        whole->half_first = k == 0;
        return true;
    }
    return false;
}

/* A map of sums at half the size of what the convolution makes, in the place of a residual in another order, which it has not. */
static sk_status make_sums(cpu_plan *plan, const cpu_conv *c, sk_value *sums, sk_error *err)
{
    *sums = cpu_reordered(plan, c->y % plan->n_values);
    SK_TRY(cpu_make_blocked(plan, *sums, err));
    plan->buffers[plan->values[*sums].map].h = c->out_h / 2;
    plan->buffers[plan->values[*sums].map].w = c->out_w / 2;
    return SK_OK;
}

sk_status cpu_conv_split_join(cpu_plan *plan, cpu_conv *c, double flops, sk_error *err)
{
    const cpu_value *x = &plan->values[cpu_low(plan, c->x % plan->n_values)];
    if (x->half == SK_VALUE_NONE)
        return SK_OK;
    cpu_conv small = *c;
    cpu_conv_u8 *sums = sk_arena_alloc(plan->arena, sizeof *sums);
    if (!c->u8)
        return sk_fail(err, SK_ERR_INTERNAL, "%s: should have been computed in bytes", plan->node_name);
    if (!sums)
        return sk_fail_memory(err, sizeof *sums);
    const int32_t all = c->weights.cin, mine = (int32_t)cpu_shape(plan, x->half)->dim[1], rest = all - mine;
    *sums = *c->u8;
    sums->floats = false;
    sums->only_sums = true;
    SK_TRY(make_sums(plan, c, &c->u8->half, err));
    small.u8 = sums;
    small.x = x->half;
    small.y = c->u8->half;
    small.act = (sk_act_f32){0};
    small.out_h /= 2;
    small.out_w /= 2;
    small.weights.bias = NULL;
    small.weights.cin = mine;
    small.weights.offset += x->half_first ? 0 : rest * c->weights.ci;
    c->weights.cin = rest;
    c->weights.offset += x->half_first ? mine * c->weights.ci : 0;
    c->u8->before = x->half_first ? mine : 0;
    c->u8->behind = x->half_first ? 0 : mine;
    return cpu_add_conv(plan, &small, flops * mine / all / 4, err);
}
