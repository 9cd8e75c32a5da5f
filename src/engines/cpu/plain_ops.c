/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include <stdio.h>
#include <string.h>

/* Operations on plain tensors: those that are only another view, and those lent by the reference executor. */

static bool only_renames(sk_op op)
{
    return op == SK_OP_RESHAPE || op == SK_OP_SQUEEZE || op == SK_OP_UNSQUEEZE || op == SK_OP_FLATTEN ||
           op == SK_OP_IDENTITY;
}

sk_status cpu_build_plain_op(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = false;
    if (!only_renames(node->op))
        return SK_OK;
    sk_value x = node->in[0], y = node->out[0];
    *done = true;
    if (node->op == SK_OP_IDENTITY && plan->values[x].map >= 0) {
        plan->values[y] = plan->values[x];
        return SK_OK;
    }
    SK_TRY(cpu_need_plain(plan, x, err));
    plan->values[y].plain = plan->values[x].plain;
    plan->values[y].constant = plan->values[x].constant;
    plan->values[y].input = plan->values[x].input;
    return SK_OK;
}

/* --- borrowed from the reference executor --- */

typedef struct borrowed {
    const sk_node *node;
    sk_tensor *ins, *outs;
} borrowed;

static void run_borrowed(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    (void)parts;
    const borrowed *b = step->data;
    cpu_plan *plan = (cpu_plan *)(uintptr_t)frame->plan;
    if (part != 0 || plan->failure != SK_OK)
        return;
    for (int32_t i = 0; i < b->node->n_in; i++)
        if (b->node->in[i] != SK_VALUE_NONE)
            b->ins[i].data = cpu_bound_plain(plan, frame, b->node->in[i]);
    plan->failure = sk_node_execute(b->node, b->ins, b->outs, &plan->failure_error);
}

static sk_status bind_borrowed(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    borrowed *b = step->data;
    for (int32_t i = 0; i < b->node->n_in; i++) {
        sk_value v = b->node->in[i];
        b->ins[i] = (sk_tensor){0};
        if (v != SK_VALUE_NONE)
            b->ins[i] = (sk_tensor){.dtype = plan->graph->values[v].dtype, .shape = *cpu_shape(plan, v)};
    }
    for (int32_t i = 0; i < b->node->n_out; i++) {
        sk_value v = b->node->out[i];
        b->outs[i] = (sk_tensor){.dtype = plan->graph->values[v].dtype, .shape = *cpu_shape(plan, v),
                                 .data = plan->memory + plan->buffers[plan->values[v].plain].offset};
    }
    return SK_OK;
}

sk_status cpu_build_borrowed(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    sk_value plain[64];
    int32_t count = 0;
    if (node->n_in + node->n_out > 64)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s with %d inputs and %d outputs", node->name, sk_op_name(node->op),
                       node->n_in, node->n_out);
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE) {
            SK_TRY(cpu_need_plain(plan, node->in[i], err));
            plain[count++] = node->in[i];
        }
    for (int32_t i = 0; i < node->n_out; i++) {
        SK_TRY(cpu_make_plain(plan, node->out[i], err));
        plain[count++] = node->out[i];
    }
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof(borrowed), &step, err));
    borrowed *b = step->data;
    b->node = node;
    b->ins = sk_arena_alloc(plan->arena, ((size_t)node->n_in + 1) * sizeof *b->ins);
    b->outs = sk_arena_alloc(plan->arena, ((size_t)node->n_out + 1) * sizeof *b->outs);
    if (!b->ins || !b->outs)
        return sk_fail_memory(err, sizeof *b->ins * (size_t)node->n_in);
    step->run = run_borrowed;
    step->parts = 1;
    step->bind = bind_borrowed;
    plan->borrowed[node->op]++;
    snprintf(step->kernel, sizeof step->kernel, "%s, reference", sk_op_name(node->op));
    return cpu_step_uses(plan, step, NULL, 0, plain, count, err);
}
