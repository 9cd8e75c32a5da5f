/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/dense.h"

#include <string.h>

/* Moving elements: transposes, concatenations, splits and slices are boxes copied between strided arrays. */

typedef struct box {
    sk_value from, to;
    int32_t rank;
    int64_t dim[SK_MAX_RANK], stride_from[SK_MAX_RANK], stride_to[SK_MAX_RANK]; /* in elements */
    int64_t start_from, start_to;
    size_t element;
} box;

typedef struct move {
    int32_t n_boxes;
    box *boxes;
} move;

/* Square pieces, so that both sides stay in cache whichever way they run. */
static void copy_plane_4(const uint32_t *from, int64_t from_row, int64_t from_column, uint32_t *to,
                         int64_t to_row, int64_t to_column, int64_t rows, int64_t columns)
{
    enum { SIDE = 16 };
    for (int64_t r0 = 0; r0 < rows; r0 += SIDE)
        for (int64_t c0 = 0; c0 < columns; c0 += SIDE)
            for (int64_t r = r0; r < rows && r < r0 + SIDE; r++)
                for (int64_t c = c0; c < columns && c < c0 + SIDE; c++)
                    to[r * to_row + c * to_column] = from[r * from_row + c * from_column];
}

/* The two innermost axes of a box. */
static void copy_plane(const box *b, const uint8_t *from, uint8_t *to)
{
    const int32_t c = b->rank - 1, r = b->rank - 2;
    if (b->stride_from[c] == 1 && b->stride_to[c] == 1) {
        for (int64_t i = 0; i < b->dim[r]; i++)
            memcpy(to + (size_t)(i * b->stride_to[r]) * b->element,
                   from + (size_t)(i * b->stride_from[r]) * b->element, (size_t)b->dim[c] * b->element);
    } else if (b->element == 4) {
        copy_plane_4((const uint32_t *)(const void *)from, b->stride_from[r], b->stride_from[c],
                     (uint32_t *)(void *)to, b->stride_to[r], b->stride_to[c], b->dim[r], b->dim[c]);
    } else {
        for (int64_t i = 0; i < b->dim[r]; i++)
            for (int64_t k = 0; k < b->dim[c]; k++)
                memcpy(to + (size_t)(i * b->stride_to[r] + k * b->stride_to[c]) * b->element,
                       from + (size_t)(i * b->stride_from[r] + k * b->stride_from[c]) * b->element,
                       b->element);
    }
}

static void run_move(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const move *m = step->data;
    for (int32_t i = 0; i < m->n_boxes; i++) {
        const box *b = &m->boxes[i];
        const uint8_t *from = cpu_bound_dense(frame->plan, frame, b->from);
        uint8_t *to = cpu_bound_dense(frame->plan, frame, b->to);
        int64_t planes = 1, first, last;
        for (int32_t k = 0; k < b->rank - 2; k++)
            planes *= b->dim[k];
        box piece = *b;
        int64_t cuts = planes >= parts ? 1 : parts, rows = (b->dim[b->rank - 2] + cuts - 1) / cuts;
        sk_pool_split(planes * cuts, 1, part, parts, &first, &last);
        for (int64_t p = first; p < last; p++) {
            int64_t rest = p / cuts, at_from = b->start_from, at_to = b->start_to, row = p % cuts * rows;
            for (int32_t k = b->rank - 3; k >= 0; k--) {
                at_from += rest % b->dim[k] * b->stride_from[k];
                at_to += rest % b->dim[k] * b->stride_to[k];
                rest /= b->dim[k];
            }
            piece.dim[b->rank - 2] = b->dim[b->rank - 2] - row < rows ? b->dim[b->rank - 2] - row : rows;
            at_from += row * b->stride_from[b->rank - 2];
            at_to += row * b->stride_to[b->rank - 2];
            if (piece.dim[b->rank - 2] > 0)
                copy_plane(&piece, from + (size_t)at_from * b->element, to + (size_t)at_to * b->element);
        }
    }
}

static void strides_of(const sk_shape *s, int64_t *stride)
{
    int64_t step = 1;
    for (int32_t k = s->rank - 1; k >= 0; k--) {
        stride[k] = step;
        step *= s->dim[k];
    }
}

/* At least two axes, neighbours merged where both sides walk on without a jump. */
static void normalise(box *b)
{
    box out = *b;
    out.rank = 0;
    for (int32_t k = 0; k < b->rank; k++) {
        if (b->dim[k] == 1)
            continue;
        int32_t p = out.rank - 1;
        if (p >= 0 && out.stride_from[p] == b->stride_from[k] * b->dim[k] &&
            out.stride_to[p] == b->stride_to[k] * b->dim[k]) {
            out.dim[p] *= b->dim[k];
        } else {
            p = out.rank++;
            out.dim[p] = b->dim[k];
        }
        out.stride_from[p] = b->stride_from[k];
        out.stride_to[p] = b->stride_to[k];
    }
    while (out.rank < 2) { /* lead with axes of one */
        memmove(out.dim + 1, out.dim, (size_t)out.rank * sizeof out.dim[0]);
        memmove(out.stride_from + 1, out.stride_from, (size_t)out.rank * sizeof out.dim[0]);
        memmove(out.stride_to + 1, out.stride_to, (size_t)out.rank * sizeof out.dim[0]);
        out.dim[0] = 1;
        out.stride_from[0] = out.stride_to[0] = out.rank ? 0 : 1;
        out.rank++;
    }
    *b = out;
}

/* A box with the shape of `small`, lying in `large` from `at` along `axis`; into: small -> large. */
static box part_box(const cpu_plan *plan, sk_value small, sk_value large, int32_t axis, int64_t at, bool into)
{
    const sk_shape *s = cpu_shape(plan, small), *l = cpu_shape(plan, large);
    box b = {.from = into ? small : large,
             .to = into ? large : small,
             .rank = s->rank,
             .element = sk_dtype_bytes(plan->graph->values[small].dtype)};
    int64_t own[SK_MAX_RANK], other[SK_MAX_RANK];
    strides_of(s, own);
    strides_of(l, other);
    for (int32_t k = 0; k < s->rank; k++) {
        b.dim[k] = s->dim[k];
        b.stride_from[k] = into ? own[k] : other[k];
        b.stride_to[k] = into ? other[k] : own[k];
    }
    *(into ? &b.start_to : &b.start_from) = at * other[axis];
    normalise(&b);
    return b;
}

static bool slice_box(const cpu_plan *plan, const sk_node *node, box *b)
{
    const sk_shape *x = cpu_shape(plan, node->in[0]), *y = cpu_shape(plan, node->out[0]);
    sk_tensor t[5] = {{0}};
    for (int32_t i = 1; i < node->n_in && i < 5; i++)
        if (node->in[i] != SK_VALUE_NONE) {
            if (!sk_value_is_constant(plan->graph, node->in[i]))
                return false;
            t[i] = sk_value_tensor(plan->graph, node->in[i]);
        }
    *b = (box){.from = node->in[0],
               .to = node->out[0],
               .rank = x->rank,
               .element = sk_dtype_bytes(plan->graph->values[node->in[0]].dtype)};
    strides_of(x, b->stride_from);
    strides_of(y, b->stride_to);
    for (int32_t k = 0; k < x->rank; k++)
        b->dim[k] = y->dim[k];
    int64_t count = sk_shape_count(&t[1].shape);
    for (int64_t i = 0; i < count; i++) {
        int64_t axis = t[3].data ? sk_tensor_int_at(&t[3], i) : i,
                step = t[4].data ? sk_tensor_int_at(&t[4], i) : 1;
        int64_t start = sk_tensor_int_at(&t[1], i);
        axis += axis < 0 ? x->rank : 0;
        if (axis < 0 || axis >= x->rank || step < 1) /* backwards: the reference executor's */
            return false;
        start += start < 0 ? x->dim[axis] : 0;
        start = start < 0 ? 0 : start > x->dim[axis] ? x->dim[axis] : start;
        b->start_from += start * b->stride_from[axis];
        b->stride_from[axis] *= step;
    }
    normalise(b);
    return true;
}

static bool make_boxes(const cpu_plan *plan, const sk_node *node, move *m)
{
    int32_t rank = cpu_shape(plan, node->in[0])->rank;
    m->n_boxes = 1;
    if (node->op == SK_OP_TRANSPOSE) {
        box *b = m->boxes;
        *b = (box){.from = node->in[0],
                   .to = node->out[0],
                   .rank = rank,
                   .element = sk_dtype_bytes(plan->graph->values[node->in[0]].dtype)};
        int64_t from[SK_MAX_RANK];
        strides_of(cpu_shape(plan, node->in[0]), from);
        strides_of(cpu_shape(plan, node->out[0]), b->stride_to);
        for (int32_t k = 0; k < rank; k++) {
            b->dim[k] = cpu_shape(plan, node->out[0])->dim[k];
            b->stride_from[k] = from[node->a.perm[k]];
        }
        normalise(b);
        return true;
    }
    if (node->op == SK_OP_SLICE)
        return slice_box(plan, node, m->boxes);
    const bool concat = node->op == SK_OP_CONCAT;
    int32_t axis = concat ? node->a.axis : node->a.split.axis;
    axis += axis < 0 ? rank : 0;
    m->n_boxes = concat ? node->n_in : node->n_out;
    int64_t at = 0;
    for (int32_t i = 0; i < m->n_boxes; i++) {
        sk_value small = concat ? node->in[i] : node->out[i];
        m->boxes[i] = part_box(plan, small, concat ? node->out[0] : node->in[0], axis, at, concat);
        at += cpu_shape(plan, small)->dim[axis];
    }
    return true;
}

sk_status cpu_build_dense_move(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    cpu_step *step;
    *done = false;
    if (node->n_in + node->n_out > 64)
        return SK_OK;
    for (int32_t i = 0; i < node->n_out; i++)
        if (sk_shape_count(cpu_shape(plan, node->out[i])) == 0)
            return SK_OK;
    size_t boxes = (size_t)(node->n_in > node->n_out ? node->n_in : node->n_out);
    move m = {.boxes = sk_arena_alloc(plan->arena, boxes * sizeof(box))};
    if (!m.boxes)
        return sk_fail_memory(err, boxes * sizeof(box));
    if (!make_boxes(plan, node, &m))
        return SK_OK;
    *done = true;
    SK_TRY(cpu_add_dense(plan, node, sizeof m, run_move, &step, err));
    *(move *)step->data = m;
    return SK_OK;
}
