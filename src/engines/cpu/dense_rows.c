/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/dense.h"

#include <string.h>

/* Softmax, layer norm and matrix products on dense f32 tensors. */

typedef struct rows_op {
    sk_value x, scale, shift, y;
    int64_t outer, count, inner; /* softmax along the middle one; layer norm: inner 1 */
    float epsilon;
} rows_op;

#define ACROSS 256 /* columns of a softmax that is not along the last axis, done together */

/* Softmax down the columns of a [count][inner] array, `width` columns from x. */
static void softmax_columns(const sk_kernels_f32 *k, const float *x, float *y, int64_t count, int64_t inner,
                            size_t width)
{
    float most[ACROSS], sum[ACROSS];
    const sk_act_f32 exponential = {SK_UNARY_EXP, 0, 0};
    memcpy(most, x, width * sizeof(float));
    for (int64_t i = 1; i < count; i++)
        k->binary(SK_BINARY_MAX, most, x + i * inner, most, width);
    memset(sum, 0, width * sizeof(float));
    for (int64_t i = 0; i < count; i++) {
        k->binary(SK_BINARY_SUB, x + i * inner, most, y + i * inner, width);
        k->unary(y + i * inner, y + i * inner, width, &exponential);
        k->binary(SK_BINARY_ADD, sum, y + i * inner, sum, width);
    }
    for (int64_t i = 0; i < count; i++)
        k->binary(SK_BINARY_DIV, y + i * inner, sum, y + i * inner, width);
}

static void run_softmax(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const rows_op *op = step->data;
    const float *x = cpu_bound_dense(frame->plan, frame, op->x);
    float *y = cpu_bound_dense(frame->plan, frame, op->y);
    int64_t from, to;
    if (op->inner == 1) {
        sk_pool_split(op->outer, 1, part, parts, &from, &to);
        for (int64_t i = from; i < to; i++)
            frame->plan->kernels.softmax(x + i * op->count, y + i * op->count, (size_t)op->count);
        return;
    }
    int64_t strips = (op->inner + ACROSS - 1) / ACROSS;
    sk_pool_split(op->outer * strips, 1, part, parts, &from, &to);
    for (int64_t i = from; i < to; i++) {
        int64_t column = i % strips * ACROSS, at = i / strips * op->count * op->inner + column;
        int64_t width = op->inner - column < ACROSS ? op->inner - column : ACROSS;
        softmax_columns(&frame->plan->kernels, x + at, y + at, op->count, op->inner, (size_t)width);
    }
}

sk_status cpu_build_dense_softmax(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *s = cpu_shape(plan, node->in[0]);
    int32_t axis = node->a.axis < 0 ? node->a.axis + s->rank : node->a.axis;
    cpu_step *step;
    *done = cpu_all_f32(plan, node) && sk_shape_count(s) > 0;
    if (!*done)
        return SK_OK;
    SK_TRY(cpu_add_dense(plan, node, sizeof(rows_op), run_softmax, &step, err));
    rows_op *op = step->data;
    *op = (rows_op){.x = node->in[0], .y = node->out[0], .outer = 1, .count = s->dim[axis], .inner = 1};
    for (int32_t k = 0; k < s->rank; k++)
        if (k != axis)
            *(k < axis ? &op->outer : &op->inner) *= s->dim[k];
    return SK_OK;
}

static void run_layer_norm(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const rows_op *op = step->data;
    const cpu_plan *plan = frame->plan;
    const float *x = cpu_bound_dense(plan, frame, op->x);
    const float *scale = op->scale == SK_VALUE_NONE ? NULL : cpu_bound_dense(plan, frame, op->scale);
    const float *shift = op->shift == SK_VALUE_NONE ? NULL : cpu_bound_dense(plan, frame, op->shift);
    float *y = cpu_bound_dense(plan, frame, op->y);
    int64_t from, to;
    sk_pool_split(op->outer, 1, part, parts, &from, &to);
    for (int64_t i = from; i < to; i++)
        plan->kernels.layer_norm(x + i * op->count, y + i * op->count, (size_t)op->count, scale, shift,
                                 op->epsilon);
}

sk_status cpu_build_dense_layer_norm(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *s = cpu_shape(plan, node->in[0]);
    int32_t axis = node->a.norm.axis < 0 ? node->a.norm.axis + s->rank : node->a.norm.axis;
    cpu_step *step;
    rows_op op = {.x = node->in[0],
                  .y = node->out[0],
                  .outer = 1,
                  .count = 1,
                  .inner = 1,
                  .epsilon = node->a.norm.epsilon};
    op.scale = node->n_in > 1 ? node->in[1] : SK_VALUE_NONE;
    op.shift = node->n_in > 2 ? node->in[2] : SK_VALUE_NONE;
    *done = false;
    if (!cpu_all_f32(plan, node) || node->n_out != 1 || sk_shape_count(s) <= 0)
        return SK_OK;
    for (int32_t k = 0; k < s->rank; k++)
        *(k < axis ? &op.outer : &op.count) *= s->dim[k];
    if ((op.scale != SK_VALUE_NONE && sk_shape_count(cpu_shape(plan, op.scale)) != op.count) ||
        (op.shift != SK_VALUE_NONE && sk_shape_count(cpu_shape(plan, op.shift)) != op.count))
        return SK_OK;
    *done = true;
    SK_TRY(cpu_add_dense(plan, node, sizeof op, run_layer_norm, &step, err));
    *(rows_op *)step->data = op;
    return SK_OK;
}

/* --- matrix products --- */

typedef struct product {
    sk_value a, b, y, bias;
    int32_t rank; /* of the batch axes */
    int64_t dim[SK_MAX_RANK], stride_a[SK_MAX_RANK], stride_b[SK_MAX_RANK];
    int64_t batches;
    const float *weights; /* instead of b, where not null */
    sk_gemm_f32 p;
} product;

static void run_product(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const product *m = step->data;
    const cpu_plan *plan = frame->plan;
    const float *a = cpu_bound_dense(plan, frame, m->a), *b = m->weights;
    float *y = cpu_bound_dense(plan, frame, m->y);
    sk_gemm_f32 p = m->p;
    if (!b)
        b = cpu_bound_dense(plan, frame, m->b);
    p.bias = m->bias == SK_VALUE_NONE ? NULL : cpu_bound_dense(plan, frame, m->bias);
    int64_t from, to;
    sk_pool_split(m->batches * p.m, 1, part, parts, &from, &to); /* rows of all batches */
    for (int64_t at = from; at < to;) {
        int64_t batch = at / p.m, row = at % p.m, rows = to - at < p.m - row ? to - at : p.m - row;
        int64_t rest = batch;
        p.a = a;
        p.b = b;
        for (int32_t k = m->rank - 1; k >= 0; k--) {
            p.a += rest % m->dim[k] * m->stride_a[k];
            p.b += rest % m->dim[k] * m->stride_b[k];
            rest /= m->dim[k];
        }
        p.c = y + batch * p.m * p.n;
        plan->kernels.gemm(&p, (int32_t)row, (int32_t)(row + rows));
        at += rows;
    }
}

sk_status cpu_build_dense_matmul(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *a = cpu_shape(plan, node->in[0]), *b = cpu_shape(plan, node->in[1]);
    const sk_shape *y = cpu_shape(plan, node->out[0]);
    cpu_step *step;
    *done = cpu_all_f32(plan, node) && a->rank >= 2 && b->rank >= 2 && sk_shape_count(y) > 0 &&
            sk_shape_count(a) < INT32_MAX && sk_shape_count(b) < INT32_MAX && sk_shape_count(y) < INT32_MAX;
    if (!*done)
        return SK_OK;
    SK_TRY(cpu_add_dense(plan, node, sizeof(product), run_product, &step, err));
    product *m = step->data;
    *m = (product){.a = node->in[0],
                   .b = node->in[1],
                   .y = node->out[0],
                   .bias = SK_VALUE_NONE,
                   .rank = y->rank - 2,
                   .batches = 1};
    m->p = (sk_gemm_f32){.m = (int32_t)a->dim[a->rank - 2],
                         .k = (int32_t)a->dim[a->rank - 1],
                         .n = (int32_t)b->dim[b->rank - 1]};
    m->p.a_row = m->p.k;
    m->p.a_col = 1;
    m->p.b_row = m->p.c_row = m->p.n;
    int64_t step_a = (int64_t)m->p.m * m->p.k, step_b = (int64_t)m->p.k * m->p.n;
    for (int32_t k = m->rank - 1; k >= 0; k--) {
        int32_t ka = k - (m->rank - (a->rank - 2)), kb = k - (m->rank - (b->rank - 2));
        int64_t da = ka >= 0 ? a->dim[ka] : 1, db = kb >= 0 ? b->dim[kb] : 1;
        m->dim[k] = y->dim[k];
        m->stride_a[k] = da == 1 ? 0 : step_a;
        m->stride_b[k] = db == 1 ? 0 : step_b;
        step_a *= da;
        step_b *= db;
        m->batches *= y->dim[k];
    }
    step->flops = sk_node_flops(plan->graph, node);
    return SK_OK;
}

/* b^T in the plan's memory: the kernel wants rows of b. */
static sk_status transposed_weights(cpu_plan *plan, sk_value b, const float **out, sk_error *err)
{
    const sk_shape *s = cpu_shape(plan, b);
    const float *from = sk_value_tensor(plan->graph, b).data;
    float *to = sk_arena_alloc(plan->arena, (size_t)sk_shape_count(s) * sizeof *to);
    if (!to)
        return sk_fail_memory(err, (size_t)sk_shape_count(s) * sizeof *to);
    for (int64_t n = 0; n < s->dim[0]; n++)
        for (int64_t k = 0; k < s->dim[1]; k++)
            to[k * s->dim[0] + n] = from[n * s->dim[1] + k];
    *out = to;
    return SK_OK;
}

/* a [m][k] or transposed, b [k][n] or a transposed constant, c absent or one row; the rest is the reference
 * executor's. */
sk_status cpu_build_dense_gemm(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *a = cpu_shape(plan, node->in[0]), *b = cpu_shape(plan, node->in[1]);
    const sk_shape *y = cpu_shape(plan, node->out[0]);
    sk_value c = node->n_in > 2 ? node->in[2] : SK_VALUE_NONE;
    cpu_step *step;
    *done = cpu_all_f32(plan, node) && a->rank == 2 && b->rank == 2 &&
            (!node->a.gemm.transpose_b || sk_value_is_constant(plan->graph, node->in[1])) &&
            node->a.gemm.alpha == 1.0f && (c == SK_VALUE_NONE || node->a.gemm.beta == 1.0f) &&
            sk_shape_count(y) > 0 && sk_shape_count(a) < INT32_MAX && sk_shape_count(b) < INT32_MAX &&
            sk_shape_count(y) < INT32_MAX &&
            (c == SK_VALUE_NONE || (sk_shape_count(cpu_shape(plan, c)) == y->dim[1] &&
                                    cpu_shape(plan, c)->dim[cpu_shape(plan, c)->rank - 1] == y->dim[1]));
    if (!*done)
        return SK_OK;
    SK_TRY(cpu_add_dense(plan, node, sizeof(product), run_product, &step, err));
    product *m = step->data;
    const bool flip = node->a.gemm.transpose_a != 0;
    *m = (product){.a = node->in[0], .b = node->in[1], .y = node->out[0], .bias = c, .batches = 1};
    m->p = (sk_gemm_f32){.m = (int32_t)y->dim[0],
                         .n = (int32_t)y->dim[1],
                         .k = (int32_t)b->dim[node->a.gemm.transpose_b ? 1 : 0]};
    if (node->a.gemm.transpose_b)
        SK_TRY(transposed_weights(plan, m->b, &m->weights, err));
    m->p.a_row = flip ? 1 : m->p.k;
    m->p.a_col = flip ? m->p.m : 1;
    m->p.b_row = m->p.c_row = m->p.n;
    step->flops = sk_node_flops(plan->graph, node);
    return SK_OK;
}
