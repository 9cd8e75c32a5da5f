/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/dense.h"

#include <math.h>
#include <string.h>

/* Unary and binary on dense f32 tensors, with numpy's broadcasting. */

typedef struct elementwise {
    sk_value a, b, y;
    sk_act_f32 act;
    int32_t kind;
    int64_t count;
    /* binary: axes merged where all three walk alike; the last one is the run the kernels get */
    int32_t rank;
    int64_t dim[SK_MAX_RANK], stride_a[SK_MAX_RANK], stride_b[SK_MAX_RANK];
} elementwise;

/* Rare ones, in decode tails: the C library's functions, one by one. */
static float (*library_function(int32_t kind))(float)
{
    switch (kind) {
    case SK_UNARY_SIN: return sinf;
    case SK_UNARY_COS: return cosf;
    case SK_UNARY_ATAN: return atanf;
    case SK_UNARY_SQRT: return sqrtf;
    case SK_UNARY_LOG: return logf;
    case SK_UNARY_ERF: return erff;
    case SK_UNARY_FLOOR: return floorf;
    case SK_UNARY_CEIL: return ceilf;
    default: return NULL;
    }
}

static void run_library(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const elementwise *e = step->data;
    float (*function)(float) = library_function(e->act.kind);
    int64_t from, to;
    sk_pool_split(e->count, 64, part, parts, &from, &to);
    const float *a = cpu_bound_dense(frame->plan, frame, e->a);
    float *y = cpu_bound_dense(frame->plan, frame, e->y);
    for (int64_t i = from; i < to; i++)
        y[i] = function(a[i]);
}

static void run_unary(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const elementwise *e = step->data;
    int64_t from, to;
    sk_pool_split(e->count, 1024, part, parts, &from, &to);
    const float *a = cpu_bound_dense(frame->plan, frame, e->a);
    float *y = cpu_bound_dense(frame->plan, frame, e->y);
    if (from < to)
        frame->plan->kernels.unary(a + from, y + from, (size_t)(to - from), &e->act);
}

sk_status cpu_build_dense_unary(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    cpu_step *step;
    const int32_t kind = (int32_t)node->a.unary.kind;
    *done = cpu_all_f32(plan, node) && (sk_act_f32_known(kind) || library_function(kind));
    if (!*done)
        return SK_OK;
    SK_TRY(cpu_add_dense(plan, node, sizeof(elementwise), sk_act_f32_known(kind) ? run_unary : run_library,
                         &step, err));
    elementwise *e = step->data;
    *e = (elementwise){
        .a = node->in[0], .y = node->out[0], .count = sk_shape_count(cpu_shape(plan, node->out[0]))};
    e->act = (sk_act_f32){(int32_t)node->a.unary.kind, node->a.unary.alpha, node->a.unary.beta};
    return SK_OK;
}

/* One run of the last axis; a stride of 0 repeats one value. */
static void binary_run(const sk_kernels_f32 *k, int32_t kind, const float *a, int64_t stride_a,
                       const float *b, int64_t stride_b, float *y, int64_t count)
{
    enum { CHUNK = 256 };
    float same[CHUNK];
    if (stride_a && stride_b) {
        k->binary(kind, a, b, y, (size_t)count);
        return;
    }
    for (int i = 0; i < CHUNK && i < count; i++)
        same[i] = stride_a ? *b : *a;
    for (int64_t i = 0; i < count; i += CHUNK) {
        size_t n = (size_t)(count - i < CHUNK ? count - i : CHUNK);
        k->binary(kind, stride_a ? a + i : same, stride_b ? b + i : same, y + i, n);
    }
}

static void run_binary(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const elementwise *e = step->data;
    const int32_t last = e->rank - 1;
    const float *a = cpu_bound_dense(frame->plan, frame, e->a),
                *b = cpu_bound_dense(frame->plan, frame, e->b);
    float *y = cpu_bound_dense(frame->plan, frame, e->y);
    int64_t from, to, runs = e->count / e->dim[last];
    /* Few long runs are cut; many short ones are dealt out. */
    int64_t pieces = runs >= parts ? 1 : parts, length = (e->dim[last] + pieces - 1) / pieces;
    sk_pool_split(runs * pieces, 1, part, parts, &from, &to);
    for (int64_t i = from; i < to; i++) {
        int64_t rest = i / pieces, start = i % pieces * length, at_a = 0, at_b = 0;
        int64_t count = e->dim[last] - start < length ? e->dim[last] - start : length;
        for (int32_t k = last - 1; k >= 0; k--) {
            at_a += rest % e->dim[k] * e->stride_a[k];
            at_b += rest % e->dim[k] * e->stride_b[k];
            rest /= e->dim[k];
        }
        if (count > 0)
            binary_run(&frame->plan->kernels, e->kind, a + at_a + start * e->stride_a[last],
                       e->stride_a[last], b + at_b + start * e->stride_b[last], e->stride_b[last],
                       y + i / pieces * e->dim[last] + start, count);
    }
}

/* Strides of an operand along the axes of the result; 0 where it is repeated. */
static void broadcast_strides(const sk_shape *s, const sk_shape *y, int64_t *stride)
{
    int64_t step = 1;
    for (int32_t k = y->rank - 1; k >= 0; k--) {
        int32_t own = k - (y->rank - s->rank);
        int64_t d = own >= 0 ? s->dim[own] : 1;
        stride[k] = d == 1 ? 0 : step;
        step *= d;
    }
}

sk_status cpu_build_dense_binary(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    int32_t kind = (int32_t)node->a.binary.kind;
    const sk_shape *ys = cpu_shape(plan, node->out[0]);
    cpu_step *step;
    *done = cpu_all_f32(plan, node) && sk_shape_count(ys) > 0 &&
            (kind == SK_BINARY_ADD || kind == SK_BINARY_SUB || kind == SK_BINARY_MUL ||
             kind == SK_BINARY_DIV || kind == SK_BINARY_MIN || kind == SK_BINARY_MAX);
    if (!*done)
        return SK_OK;
    SK_TRY(cpu_add_dense(plan, node, sizeof(elementwise), run_binary, &step, err));
    elementwise *e = step->data;
    *e = (elementwise){
        .a = node->in[0], .b = node->in[1], .y = node->out[0], .kind = kind, .count = sk_shape_count(ys)};
    int64_t sa[SK_MAX_RANK], sb[SK_MAX_RANK];
    broadcast_strides(cpu_shape(plan, e->a), ys, sa);
    broadcast_strides(cpu_shape(plan, e->b), ys, sb);
    e->rank = 0;
    for (int32_t k = 0; k < ys->rank; k++) {
        if (ys->dim[k] == 1)
            continue;
        int32_t p = e->rank - 1;
        if (p >= 0 && e->stride_a[p] == sa[k] * ys->dim[k] && e->stride_b[p] == sb[k] * ys->dim[k]) {
            e->dim[p] *= ys->dim[k]; /* walks on without a jump */
            e->stride_a[p] = sa[k];
            e->stride_b[p] = sb[k];
        } else {
            e->dim[e->rank] = ys->dim[k];
            e->stride_a[e->rank] = sa[k];
            e->stride_b[e->rank] = sb[k];
            e->rank++;
        }
    }
    if (e->rank == 0) { /* one number each: nothing is repeated */
        e->rank = 1;
        e->dim[0] = e->stride_a[0] = e->stride_b[0] = 1;
    }
    return SK_OK;
}
