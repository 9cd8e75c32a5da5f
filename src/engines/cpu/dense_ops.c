/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/dense.h"

#include <stdio.h>

/* Operations on dense tensors. */

static bool only_renames(sk_op op)
{
    return op == SK_OP_RESHAPE || op == SK_OP_SQUEEZE || op == SK_OP_UNSQUEEZE || op == SK_OP_FLATTEN ||
           op == SK_OP_IDENTITY;
}

/* The same elements in the same order: the same buffer. */
static sk_status rename_value(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    sk_value x = node->in[0], y = node->out[0];
    if (node->op == SK_OP_IDENTITY && (plan->values[x].map >= 0 || plan->values[cpu_low(plan, x)].map >= 0)) {
        plan->values[y] = plan->values[x];
        plan->values[cpu_low(plan, y)] = plan->values[cpu_low(plan, x)];
        return SK_OK;
    }
    SK_TRY(cpu_need_dense(plan, x, err));
    plan->values[y].dense = plan->values[x].dense;
    plan->values[y].constant = plan->values[x].constant;
    plan->values[y].input = plan->values[x].input;
    return SK_OK;
}

sk_status cpu_add_dense(cpu_plan *plan, const sk_node *node, size_t data_bytes, cpu_dense_run run,
                        cpu_step **out, sk_error *err)
{
    sk_value dense[64];
    int32_t count = 0;
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE) {
            SK_TRY(cpu_need_dense(plan, node->in[i], err));
            dense[count++] = node->in[i];
        }
    for (int32_t i = 0; i < node->n_out; i++) {
        SK_TRY(cpu_make_dense(plan, node->out[i], err));
        dense[count++] = node->out[i];
    }
    SK_TRY(cpu_add_step(plan, data_bytes, out, err));
    (*out)->run = run;
    (*out)->bind = cpu_bind_nothing;
    snprintf((*out)->kernel, sizeof(*out)->kernel, "%s", sk_op_name(node->op));
    return cpu_step_uses(plan, *out, NULL, 0, dense, count, err);
}

sk_status cpu_bind_nothing(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)plan, (void)step, (void)err;
    return SK_OK;
}

bool cpu_all_f32(const cpu_plan *plan, const sk_node *node)
{
    for (int32_t i = 0; i < node->n_in; i++)
        if (node->in[i] != SK_VALUE_NONE && plan->graph->values[node->in[i]].dtype != SK_DTYPE_F32)
            return false;
    for (int32_t i = 0; i < node->n_out; i++)
        if (plan->graph->values[node->out[i]].dtype != SK_DTYPE_F32)
            return false;
    return node->n_in + node->n_out <= 64;
}

sk_status cpu_build_dense_op(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = false;
    if (only_renames(node->op)) {
        *done = true;
        return rename_value(plan, node, err);
    }
    switch (node->op) {
    case SK_OP_UNARY: return cpu_build_dense_unary(plan, node, done, err);
    case SK_OP_BINARY: return cpu_build_dense_binary(plan, node, done, err);
    case SK_OP_TRANSPOSE:
    case SK_OP_CONCAT:
    case SK_OP_SPLIT:
    case SK_OP_SLICE: return cpu_build_dense_move(plan, node, done, err);
    case SK_OP_SOFTMAX: return cpu_build_dense_softmax(plan, node, done, err);
    case SK_OP_MATMUL: return cpu_build_dense_matmul(plan, node, done, err);
    case SK_OP_GEMM: return cpu_build_dense_gemm(plan, node, done, err);
    case SK_OP_REDUCE: return cpu_build_dense_reduce(plan, node, done, err);
    case SK_OP_LAYER_NORM: return cpu_build_dense_layer_norm(plan, node, done, err);
    default: return SK_OK;
    }
}
