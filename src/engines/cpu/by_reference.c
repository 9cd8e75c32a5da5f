/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include <stdio.h>

/* Operations run by the reference executor: any of the graph's, slowly, on one thread. Sessions say which. */

typedef struct reference_node {
    const sk_node *node;
    sk_tensor *ins, *outs;
} reference_node;

static void run_by_reference(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    (void)parts;
    const reference_node *b = step->data;
    cpu_plan *plan = (cpu_plan *)(uintptr_t)frame->plan;
    if (part != 0 || plan->failure != SK_OK)
        return;
    for (int32_t i = 0; i < b->node->n_in; i++)
        if (b->node->in[i] != SK_VALUE_NONE)
            b->ins[i].data = cpu_bound_dense(plan, frame, b->node->in[i]);
    plan->failure = sk_node_execute(b->node, b->ins, b->outs, &plan->failure_error);
}

static sk_status bind_by_reference(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    reference_node *b = step->data;
    for (int32_t i = 0; i < b->node->n_in; i++) {
        sk_value v = b->node->in[i];
        b->ins[i] = (sk_tensor){0};
        if (v != SK_VALUE_NONE)
            b->ins[i] = (sk_tensor){.dtype = plan->graph->values[v].dtype, .shape = *cpu_shape(plan, v)};
    }
    for (int32_t i = 0; i < b->node->n_out; i++) {
        sk_value v = b->node->out[i];
        b->outs[i] = (sk_tensor){.dtype = plan->graph->values[v].dtype,
                                 .shape = *cpu_shape(plan, v),
                                 .data = plan->memory + plan->buffers[plan->values[v].dense].offset};
    }
    return SK_OK;
}

sk_status cpu_build_by_reference(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    sk_value dense[64];
    int32_t count = 0;
    if (node->n_in + node->n_out > 64)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s with %d inputs and %d outputs", node->name,
                       sk_op_name(node->op), node->n_in, node->n_out);
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE) {
            SK_TRY(cpu_need_dense(plan, node->in[i], err));
            dense[count++] = node->in[i];
        }
    for (int32_t i = 0; i < node->n_out; i++) {
        SK_TRY(cpu_make_dense(plan, node->out[i], err));
        dense[count++] = node->out[i];
    }
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof(reference_node), &step, err));
    reference_node *b = step->data;
    b->node = node;
    b->ins = sk_arena_alloc(plan->arena, ((size_t)node->n_in + 1) * sizeof *b->ins);
    b->outs = sk_arena_alloc(plan->arena, ((size_t)node->n_out + 1) * sizeof *b->outs);
    if (!b->ins || !b->outs)
        return sk_fail_memory(err, sizeof *b->ins * (size_t)node->n_in);
    step->run = run_by_reference;
    step->parts = 1;
    step->bind = bind_by_reference;
    plan->by_reference[node->op]++;
    snprintf(step->kernel, sizeof step->kernel, "%s, reference", sk_op_name(node->op));
    return cpu_step_uses(plan, step, NULL, 0, dense, count, err);
}
