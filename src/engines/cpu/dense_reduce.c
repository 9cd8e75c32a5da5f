/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/dense.h"

#include <math.h>

/* Sums, means and extremes of dense f32 tensors along neighbouring axes: [outer][count][inner] to [outer][inner]. Sums are
 * kept in double, as the reference executor keeps them. */

typedef struct reduce_op {
    sk_value x, y;
    sk_reduction kind;
    int64_t outer, count, inner;
} reduce_op;

static double sum_of(const float *x, int64_t count, int64_t step)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (double)x[i * step];
    return sum;
}

/* NaN wins, as in the reference. */
static float extreme_of(const float *x, int64_t count, int64_t step, bool largest)
{
    float best = largest ? -INFINITY : INFINITY;
    for (int64_t i = 0; i < count; i++) {
        float v = x[i * step];
        if (isnan(v) || (largest ? v > best : v < best))
            best = v;
        if (isnan(best))
            break;
    }
    return best;
}

static void run_reduce(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const reduce_op *op = step->data;
    const float *x = cpu_bound_dense(frame->plan, frame, op->x);
    float *y = cpu_bound_dense(frame->plan, frame, op->y);
    int64_t from, to;
    sk_pool_split(op->outer * op->inner, 1, part, parts, &from, &to);
    for (int64_t i = from; i < to; i++) {
        const float *at = x + i / op->inner * op->count * op->inner + i % op->inner;
        switch (op->kind) {
        case SK_REDUCE_SUM: y[i] = (float)sum_of(at, op->count, op->inner); break;
        case SK_REDUCE_MEAN: y[i] = (float)(sum_of(at, op->count, op->inner) / (double)op->count); break;
        default: y[i] = extreme_of(at, op->count, op->inner, op->kind == SK_REDUCE_MAX); break;
        }
    }
}

sk_status cpu_build_dense_reduce(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_shape *s = cpu_shape(plan, node->in[0]);
    const sk_reduction kind = node->a.reduce.kind;
    reduce_op op = {.x = node->in[0], .y = node->out[0], .kind = kind, .outer = 1, .count = 1, .inner = 1};
    bool reduced[SK_MAX_RANK] = {false};
    *done = false;
    if (!cpu_all_f32(plan, node) || sk_shape_count(s) <= 0 ||
        (kind != SK_REDUCE_SUM && kind != SK_REDUCE_MEAN && kind != SK_REDUCE_MAX && kind != SK_REDUCE_MIN))
        return SK_OK;
    for (int32_t i = 0; i < s->rank; i++)
        reduced[i] = node->a.reduce.n_axes == 0;
    for (int32_t i = 0; i < node->a.reduce.n_axes; i++) /* there are such: the shape was found by them */
        reduced[node->a.reduce.axes[i] + (node->a.reduce.axes[i] < 0 ? s->rank : 0)] = true;
    int32_t place = 0; /* 0 before, 1 among, 2 behind the reduced axes */
    for (int32_t i = 0; i < s->rank; i++) {
        if (reduced[i] && place == 2 && s->dim[i] > 1)
            return SK_OK; /* with others between them */
        if (reduced[i] && place == 0)
            place = 1;
        else if (!reduced[i] && place == 1)
            place = 2;
        *(reduced[i] ? &op.count : place == 0 ? &op.outer : &op.inner) *= s->dim[i];
    }
    *done = true;
    cpu_step *step;
    SK_TRY(cpu_add_dense(plan, node, sizeof op, run_reduce, &step, err));
    *(reduce_op *)step->data = op;
    return SK_OK;
}
