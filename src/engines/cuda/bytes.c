/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/edit.h"
#include "graph/quantise.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Eight bits (i8, fp8): a quantised graph becomes an ordinary one, and what it said of values and weights is kept beside it. A value
 * with a rule is kept as a map of bytes where somebody reads bytes: convolutions of bytes, and what moves them. Everything else
 * reads and writes maps of the session's type; a step in between converts, so that every operation works on every value. Roundings
 * between a convolution and the activation or sum behind it, which the graph may ask for, are not made. */

gpu_rule gpu_rule_of(const gpu_plan *plan, sk_value v)
{
    return v >= 0 && (size_t)v < plan->n_rules ? plan->rules[v] : (gpu_rule){0};
}

static bool same_rule(gpu_rule a, gpu_rule b)
{
    return a.scale > 0 && a.scale == b.scale && a.zero == b.zero;
}

const gpu_scales *gpu_scales_of(const gpu_plan *plan, sk_value weights)
{
    for (size_t i = 0; i < plan->n_scales; i++)
        if (plan->scales[i].weights == weights)
            return &plan->scales[i];
    return NULL;
}

static sk_status add_scales(gpu_plan *plan, sk_value weights, const float *scales, int64_t n, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&plan->scales, &plan->scales_capacity, plan->n_scales + 1,
                            sizeof plan->scales[0], SK_GRAPH_MAX_VALUES, err));
    plan->scales[plan->n_scales++] = (gpu_scales){weights, scales, n};
    return SK_OK;
}

sk_status gpu_copy_scales(gpu_plan *plan, sk_value from, sk_value to, sk_error *err)
{
    const gpu_scales *s = gpu_scales_of(plan, from);
    return s ? add_scales(plan, to, s->scales, s->n, err) : SK_OK;
}

static sk_status keep_scales(gpu_plan *plan, sk_value v, const sk_quantisation *q, sk_error *err)
{
    const int64_t rows = gpu_shape(plan, v)->rank == 4 ? gpu_shape(plan, v)->dim[0] : 0;
    if (q->dtype != (plan->low == GPU_F8 ? SK_DTYPE_F8 : SK_DTYPE_I8) || q->zero != 0 ||
        (q->n_scales != 1 && (q->n_scales != rows || q->axis != 0)))
        return SK_OK;
    float *own = sk_arena_alloc(plan->arena, (size_t)q->n_scales * sizeof *own);
    if (!own)
        return sk_fail_memory(err, (size_t)q->n_scales * sizeof *own);
    memcpy(own, q->scales, (size_t)q->n_scales * sizeof *own);
    return add_scales(plan, v, own, q->n_scales, err);
}

sk_status gpu_take_quantised(gpu_plan *plan, sk_error *err)
{
    const sk_graph *g = plan->graph;
    plan->rules = sk_calloc(g->n_values + 1, sizeof *plan->rules);
    if (!plan->rules)
        return sk_fail_memory(err, g->n_values * sizeof *plan->rules);
    plan->n_rules = g->n_values;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const sk_node *node = &g->nodes[i];
        sk_quantisation q;
        if (node->op != SK_OP_DEQUANTIZE || !sk_graph_quantisation_of(g, node->out[0], &q))
            continue;
        if (q.real == SK_VALUE_NONE)
            SK_TRY(keep_scales(plan, node->out[0], &q, err));
        else if (q.n_scales == 1 &&
                 (q.dtype == SK_DTYPE_F8) == (plan->low == GPU_F8)) /* signed ones are kept with 128 added */
            plan->rules[q.real] = (gpu_rule){q.scale, q.zero + (q.dtype == SK_DTYPE_I8 ? 128 : 0)};
    }
    return sk_graph_dequantise(plan->graph, err);
}

/* --- which values are kept in bytes --- */

/* Does it hand numbers on as they are? */
static bool is_mover(const gpu_plan *plan, const sk_node *node)
{
    switch (node->op) {
    case SK_OP_MAX_POOL: return node->n_out == 1;
    case SK_OP_CONCAT:
        return gpu_shape(plan, node->out[0])->rank == 4 && (node->a.axis == 1 || node->a.axis == -3);
    case SK_OP_SPLIT:
        return gpu_shape(plan, node->in[0])->rank == 4 &&
               (node->a.split.axis == 1 || node->a.split.axis == -3);
    case SK_OP_RESIZE: return gpu_resize_is_known(plan, node) && node->a.resize.mode == SK_RESIZE_NEAREST;
    default: return false;
    }
}

/* What a mover reads and writes: a resize's other inputs are sizes. */
static int32_t moved_inputs(const sk_node *node)
{
    return node->op == SK_OP_CONCAT ? node->n_in : 1;
}

/* One rule for all it reads; none: scale 0. */
static gpu_rule rule_read(const gpu_plan *plan, const sk_node *node)
{
    const gpu_rule first = gpu_rule_of(plan, node->in[0]);
    for (int32_t i = 1; i < moved_inputs(node); i++)
        if (!same_rule(first, gpu_rule_of(plan, node->in[i])))
            return (gpu_rule){0};
    return first;
}

static bool moves(const gpu_plan *plan, const sk_node *node)
{
    if (!is_mover(plan, node))
        return false;
    const gpu_rule rule = rule_read(plan, node);
    for (int32_t i = 0; i < node->n_out; i++)
        if (!same_rule(rule, gpu_rule_of(plan, node->out[i])))
            return false;
    return true;
}

/* What of a mover has no rule has the one of what it is made of: its numbers are those. */
static void spread_rules(gpu_plan *plan)
{
    for (size_t i = 0; i < plan->graph->n_nodes; i++) {
        const sk_node *node = &plan->graph->nodes[i];
        const gpu_rule rule = is_mover(plan, node) ? rule_read(plan, node) : (gpu_rule){0};
        for (int32_t k = 0; rule.scale > 0 && k < node->n_out; k++)
            if ((size_t)node->out[k] < plan->n_rules && gpu_rule_of(plan, node->out[k]).scale == 0)
                plan->rules[node->out[k]] = rule;
    }
}

/* Marks what is read as bytes; whatever is not has no use for its rule. True while something changed. */
static bool drop_rules(gpu_plan *plan, bool *wanted)
{
    const sk_graph *g = plan->graph;
    bool changed = false;
    memset(wanted, 0, plan->n_rules * sizeof *wanted);
    for (size_t i = 0; i < g->n_nodes; i++) {
        const sk_node *node = &g->nodes[i];
        const bool conv = node->op == SK_OP_CONV && gpu_conv_is_bytes(plan, node), mover = moves(plan, node);
        for (int32_t k = 0; (conv || mover) && k < node->n_in; k++)
            if (node->in[k] >= 0 && (size_t)node->in[k] < plan->n_rules &&
                (mover ? k < moved_inputs(node) : k == 0))
                wanted[node->in[k]] = true;
    }
    for (int32_t i = 0; i < g->n_outputs; i++)
        wanted[g->outputs[i]] = false;
    for (int32_t i = 0; i < g->n_inputs; i++)
        wanted[g->inputs[i]] = false;
    for (size_t v = 0; v < plan->n_rules; v++)
        if (plan->rules[v].scale > 0 && !wanted[v]) {
            plan->rules[v].scale = 0;
            changed = true;
        }
    return changed;
}

sk_status gpu_mark_bytes(gpu_plan *plan, sk_error *err)
{
    if (!plan->rules)
        return SK_OK;
    bool *wanted = sk_calloc(plan->graph->n_values + 1, sizeof *wanted);
    if (!wanted)
        return sk_fail_memory(err, plan->graph->n_values);
    spread_rules(plan);
    while (drop_rules(plan, wanted))
        ;
    sk_free(wanted);
    return SK_OK;
}

bool gpu_moves_bytes(const gpu_plan *plan, const sk_node *node)
{
    if (!plan->rules || !moves(plan, node))
        return false;
    for (int32_t i = 0; i < moved_inputs(node); i++)
        if (!plan->values[node->in[i]].low)
            return false;
    for (int32_t i = 0; i < node->n_out; i++)
        if (!plan->values[node->out[i]].low)
            return false;
    return true;
}

/* --- between bytes and the session's type --- */

gpu_bytes gpu_bytes_to(const gpu_plan *plan, sk_value out, sk_value residual, int32_t act, bool before)
{
    gpu_bytes b = {0};
    const bool added = residual != SK_VALUE_NONE, low = added && plan->values[residual].low;
    const gpu_rule rule = gpu_rule_of(plan, out), other = gpu_rule_of(plan, residual);
    b.f8 = plan->low == GPU_F8;
    if (plan->values[out].low) {
        b.out = 1;
        b.gain = 1.0f / (b.f8 ? rule.scale : 255.0f * rule.scale);
        b.zero = (float)rule.zero / 255.0f;
        b.half = act == GPU_ACT_SILU && (!added || before == !low);
    }
    if (low) {
        b.residual = 1;
        b.residual_gain = other.scale;
        b.residual_zero = (float)other.zero;
    }
    return b;
}

/* Between v in bytes and a map of the session's type. */
static sk_status add_convert(gpu_plan *plan, sk_value v, gpu_ref map, int32_t pitch, bool to_bytes,
                             sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, v);
    const gpu_rule rule = gpu_rule_of(plan, v);
    const gpu_bytes b = gpu_bytes_to(plan, v, SK_VALUE_NONE, GPU_ACT_NONE, false);
    const int32_t kept = gpu_kept_pitch(plan, v);
    gpu_step *step;
    SK_TRY(gpu_add_step(plan, GPU_CONVERT, NULL, &step, err));
    step->args.convert = (gpu_convert_args){.pixels = s->dim[0] * s->dim[2] * s->dim[3],
                                            .c8 = gpu_round8(s->dim[1]) / 8,
                                            .ldi = to_bytes ? pitch : kept,
                                            .ldo = to_bytes ? kept : pitch,
                                            .to_bytes = to_bytes,
                                            .f8 = b.f8,
                                            .gain = to_bytes ? b.gain : rule.scale,
                                            .zero = to_bytes ? b.zero : (float)rule.zero};
    step->refs[to_bytes ? 0 : 1] = gpu_kept_ref(plan, v);
    step->refs[to_bytes ? 1 : 0] = map;
    step->n_refs = 2;
    snprintf(step->kernel, sizeof step->kernel, "%s %s", to_bytes ? "to" : "from", b.f8 ? "fp8" : "bytes");
    snprintf(step->shape, sizeof step->shape, "%lldx%lldx%lld", (long long)s->dim[1], (long long)s->dim[2],
             (long long)s->dim[3]);
    return SK_OK;
}

sk_status gpu_add_raise(gpu_plan *plan, sk_value v, sk_error *err)
{
    SK_TRY(gpu_make_map(plan, v, err));
    return add_convert(plan, v, gpu_map_ref(plan, v), gpu_map_pitch(plan, v), false, err);
}

sk_status gpu_add_lower(gpu_plan *plan, sk_value from, int32_t at, sk_value v, sk_error *err)
{
    gpu_ref map = gpu_map_ref(plan, from);
    map.offset += (size_t)at * gpu_type_bytes(plan);
    map.from += at;
    map.to = map.from + gpu_round8(gpu_shape(plan, v)->dim[1]);
    SK_TRY(gpu_make_kept(plan, v, err));
    return add_convert(plan, v, map, gpu_map_pitch(plan, from), true, err);
}

sk_status gpu_lower_outputs(gpu_plan *plan, const sk_node *node, sk_error *err)
{
    for (int32_t i = 0; i < node->n_out; i++) {
        const sk_value v = node->out[i];
        if (!plan->values[v].low || plan->values[v].low_made || plan->values[v].raised < 0)
            continue;
        SK_TRY(gpu_add_lower(plan, v, 0, v, err));
    }
    return SK_OK;
}
