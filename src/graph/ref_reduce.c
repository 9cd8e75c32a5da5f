/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <math.h>

/* Element strides of the output as seen from each input dimension: 0 along the reduced ones. */
static sk_status output_strides(const sk_node *node, const sk_shape *x, int64_t *strides, sk_error *err)
{
    bool reduced[SK_MAX_RANK] = {false};
    for (int i = 0; i < node->a.reduce.n_axes; i++) {
        int axis;
        SK_TRY(sk_axis_resolve(node, node->a.reduce.axes[i], x->rank, &axis, err));
        reduced[axis] = true;
    }
    int64_t stride = 1;
    for (int d = x->rank - 1; d >= 0; d--) {
        bool gone = reduced[d] || node->a.reduce.n_axes == 0;
        strides[d] = gone ? 0 : stride;
        if (!gone)
            stride *= x->dim[d];
    }
    return SK_OK;
}

static double start_float(sk_reduction kind)
{
    switch (kind) {
    case SK_REDUCE_MAX:
    case SK_REDUCE_LOG_SUM_EXP: return -INFINITY; /* the first pass of log-sum-exp looks for the maximum */
    case SK_REDUCE_MIN: return INFINITY;
    case SK_REDUCE_PROD: return 1;
    default: return 0;
    }
}

static double step_float(sk_reduction kind, double acc, double v)
{
    switch (kind) {
    case SK_REDUCE_LOG_SUM_EXP:
    case SK_REDUCE_MAX: return isnan(v) || v > acc ? v : acc;
    case SK_REDUCE_MIN: return isnan(v) || v < acc ? v : acc;
    case SK_REDUCE_PROD: return acc * v;
    case SK_REDUCE_L1: return acc + fabs(v);
    case SK_REDUCE_L2:
    case SK_REDUCE_SUM_SQUARE: return acc + v * v;
    default: return acc + v;
    }
}

/* Walks the input once: acc[place] = step(acc[place], x). `peak` non-null: acc += exp(x - peak) instead. */
static void walk_floats(sk_reduction kind, const sk_tensor *x, const int64_t *strides, double *acc,
                        const double *peak)
{
    const sk_shape *s = &x->shape;
    int64_t index[SK_MAX_RANK] = {0}, i = 0;
    int rows = s->rank ? s->rank - 1 : 0;
    int64_t n = s->rank ? s->dim[s->rank - 1] : 1, step = s->rank ? strides[s->rank - 1] : 0;
    do {
        int64_t place = 0;
        for (int d = 0; d < rows; d++)
            place += index[d] * strides[d];
        for (int64_t j = 0; j < n; j++, i++, place += step) {
            double v =
                x->dtype == SK_DTYPE_F32 ? (double)((const float *)x->data)[i] : ((const double *)x->data)[i];
            if (peak)
                acc[place] += exp(v - (isinf(peak[place]) ? 0 : peak[place]));
            else
                acc[place] = step_float(kind, acc[place], v);
        }
    } while (sk_index_next(index, s->dim, rows));
}

static sk_status reduce_floats(const sk_node *node, const sk_tensor *x, sk_tensor *out,
                               const int64_t *strides, sk_error *err)
{
    sk_reduction kind = node->a.reduce.kind;
    int64_t n = sk_shape_count(&out->shape), total = sk_shape_count(&x->shape);
    double *acc = sk_calloc((size_t)n, sizeof *acc), *sums = NULL;
    sk_status status = SK_OK;
    if (!acc) {
        status = sk_fail_memory(err, (size_t)n * sizeof *acc);
        goto done;
    }
    for (int64_t i = 0; i < n; i++)
        acc[i] = start_float(kind);
    if (total > 0)
        walk_floats(kind, x, strides, acc, NULL);
    if (kind == SK_REDUCE_LOG_SUM_EXP) {
        sums = sk_calloc((size_t)n, sizeof *sums);
        if (!sums) {
            status = sk_fail_memory(err, (size_t)n * sizeof *sums);
            goto done;
        }
        if (total > 0)
            walk_floats(kind, x, strides, sums, acc);
    }
    for (int64_t i = 0; i < n; i++) {
        double v = acc[i];
        if (kind == SK_REDUCE_MEAN)
            v /= (double)(total / n);
        else if (kind == SK_REDUCE_L2)
            v = sqrt(v);
        else if (kind == SK_REDUCE_LOG_SUM_EXP)
            v = log(sums[i]) + (isinf(v) ? 0 : v);
        if (out->dtype == SK_DTYPE_F32)
            ((float *)out->data)[i] = (float)v;
        else
            ((double *)out->data)[i] = v;
    }
done:
    sk_free(sums);
    sk_free(acc);
    return status;
}

static int64_t step_integer(sk_reduction kind, int64_t acc, int64_t v)
{
    switch (kind) {
    case SK_REDUCE_MAX: return v > acc ? v : acc;
    case SK_REDUCE_MIN: return v < acc ? v : acc;
    case SK_REDUCE_PROD: return (int64_t)((uint64_t)acc * (uint64_t)v);
    case SK_REDUCE_L1: return (int64_t)((uint64_t)acc + (v < 0 ? 0 - (uint64_t)v : (uint64_t)v));
    case SK_REDUCE_L2:
    case SK_REDUCE_SUM_SQUARE: return (int64_t)((uint64_t)acc + (uint64_t)v * (uint64_t)v);
    default: return (int64_t)((uint64_t)acc + (uint64_t)v);
    }
}

static void reduce_integers(const sk_node *node, const sk_tensor *x, sk_tensor *out, const int64_t *strides)
{
    sk_reduction kind = node->a.reduce.kind;
    int64_t n = sk_shape_count(&out->shape), total = sk_shape_count(&x->shape);
    int64_t *acc = out->data, index[SK_MAX_RANK] = {0}, i = 0;
    for (int64_t k = 0; k < n; k++)
        acc[k] = kind == SK_REDUCE_MAX   ? INT64_MIN
                 : kind == SK_REDUCE_MIN ? INT64_MAX
                                         : kind == SK_REDUCE_PROD;
    if (total > 0) {
        do {
            int64_t place = 0;
            for (int d = 0; d < x->shape.rank; d++)
                place += index[d] * strides[d];
            acc[place] = step_integer(kind, acc[place], ((const int64_t *)x->data)[i++]);
        } while (sk_index_next(index, x->shape.dim, x->shape.rank));
    }
    for (int64_t k = 0; k < n; k++) {
        if (kind == SK_REDUCE_MEAN && total)
            acc[k] /= total / n;
        else if (kind == SK_REDUCE_L2)
            acc[k] = (int64_t)sqrt((double)acc[k]);
    }
}

sk_status sk_ref_reduce(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int64_t strides[SK_MAX_RANK];
    SK_TRY(output_strides(node, &ins[0].shape, strides, err));
    if (sk_shape_count(&outs[0].shape) == 0)
        return SK_OK;
    if (ins[0].dtype != SK_DTYPE_I64)
        return reduce_floats(node, &ins[0], &outs[0], strides, err);
    if (node->a.reduce.kind == SK_REDUCE_LOG_SUM_EXP)
        return sk_node_fail(node, err, SK_ERR_UNSUPPORTED, "log-sum-exp of integers; a cast before it helps");
    reduce_integers(node, &ins[0], &outs[0], strides);
    return SK_OK;
}

sk_status sk_ref_cum_sum(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int64_t wanted = 0, outer, length, inner;
    int n, axis;
    SK_TRY(sk_integers_read(node, &ins[1], "the axis", &wanted, 1, &n, err));
    SK_TRY(sk_axis_resolve(node, wanted, ins[0].shape.rank, &axis, err));
    sk_shape_around(&ins[0].shape, axis, &outer, &length, &inner);
    bool exclusive = node->a.cum_sum.exclusive, reverse = node->a.cum_sum.reverse;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            double sum = 0;
            uint64_t whole = 0;
            for (int64_t l = 0; l < length; l++) {
                int64_t at = (o * length + (reverse ? length - 1 - l : l)) * inner + i;
                double before = sum;
                uint64_t whole_before = whole;
                if (ins[0].dtype == SK_DTYPE_I64) {
                    whole += (uint64_t)((const int64_t *)ins[0].data)[at];
                    ((int64_t *)outs[0].data)[at] = (int64_t)(exclusive ? whole_before : whole);
                    continue;
                }
                sum += sk_tensor_at(&ins[0], at);
                double v = exclusive ? before : sum;
                if (ins[0].dtype == SK_DTYPE_F32)
                    ((float *)outs[0].data)[at] = (float)v;
                else
                    ((double *)outs[0].data)[at] = v;
            }
        }
    return SK_OK;
}
