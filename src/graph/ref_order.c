/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <math.h>
#include <stdlib.h>

/* Values to be ordered, with the place they came from. Whole numbers keep all their bits. */
typedef struct ranked {
    double key;
    int64_t whole;
    int64_t index;
} ranked;

static ranked ranked_at(const sk_tensor *t, int64_t at, int64_t index)
{
    ranked r = {.index = index};
    if (t->dtype == SK_DTYPE_I64)
        r.whole = ((const int64_t *)t->data)[at];
    else
        r.key =
            t->dtype == SK_DTYPE_F32 ? (double)((const float *)t->data)[at] : ((const double *)t->data)[at];
    return r;
}

/* < 0 where a is the larger. A number that is none counts as the largest, as in torch and numpy. */
static int larger_first(const ranked *a, const ranked *b)
{
    bool na = isnan(a->key), nb = isnan(b->key);
    if (na || nb)
        return (int)nb - (int)na;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    return (a->whole < b->whole) - (a->whole > b->whole);
}

static int compare_descending(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    int order = larger_first(a, b);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int compare_ascending(const void *x, const void *y)
{
    const ranked *a = x, *b = y;
    int order = larger_first(b, a);
    return order ? order : (a->index > b->index) - (a->index < b->index);
}

sk_status sk_ref_arg(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, length, inner;
    SK_TRY(sk_axis_resolve(node, node->a.arg.axis, ins[0].shape.rank, &axis, err));
    sk_shape_around(&ins[0].shape, axis, &outer, &length, &inner);
    int64_t *y = outs[0].data;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            ranked best = ranked_at(&ins[0], o * length * inner + i, 0);
            for (int64_t l = 1; l < length; l++) {
                ranked next = ranked_at(&ins[0], (o * length + l) * inner + i, l);
                int order =
                    node->op == SK_OP_ARG_MAX ? larger_first(&next, &best) : larger_first(&best, &next);
                if (order < 0 || (order == 0 && node->a.arg.select_last))
                    best = next;
            }
            y[o * inner + i] = best.index;
        }
    return SK_OK;
}

sk_status sk_ref_top_k(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, length, inner;
    SK_TRY(sk_axis_resolve(node, node->a.top_k.axis, ins[0].shape.rank, &axis, err));
    sk_shape_around(&ins[0].shape, axis, &outer, &length, &inner);
    int64_t k = outs[0].shape.dim[axis], *indices = outs[1].data;
    ranked *list = sk_calloc((size_t)length, sizeof *list);
    if (!list)
        return sk_fail_memory(err, (size_t)length * sizeof *list);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            for (int64_t l = 0; l < length; l++)
                list[l] = ranked_at(&ins[0], (o * length + l) * inner + i, l);
            qsort(list, (size_t)length, sizeof *list,
                  node->a.top_k.largest ? compare_descending : compare_ascending);
            for (int64_t l = 0; l < k; l++) {
                int64_t at = (o * k + l) * inner + i;
                indices[at] = list[l].index;
                if (ins[0].dtype == SK_DTYPE_I64)
                    ((int64_t *)outs[0].data)[at] = list[l].whole;
                else if (ins[0].dtype == SK_DTYPE_F32)
                    ((float *)outs[0].data)[at] = (float)list[l].key;
                else
                    ((double *)outs[0].data)[at] = list[l].key;
            }
        }
    sk_free(list);
    return SK_OK;
}

sk_status sk_ref_non_zero(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *s = &ins[0].shape;
    int64_t total = sk_shape_count(s), found = 0, rank = s->rank ? s->rank : 1, strides[SK_MAX_RANK] = {1};
    for (int64_t i = 0; i < total; i++)
        found += sk_tensor_at(&ins[0], i) != 0;
    if ((size_t)found > SK_TENSOR_BYTES_MAX / 8 / (size_t)rank)
        return sk_node_fail(node, err, SK_ERR_LIMIT, "%lld elements are not zero", (long long)found);
    int64_t *y = sk_calloc((size_t)(found * rank), sizeof *y);
    if (!y)
        return sk_fail_memory(err, (size_t)(found * rank) * sizeof *y);
    sk_shape_strides(s, strides);
    for (int64_t i = 0, at = 0; i < total; i++) {
        if (sk_tensor_at(&ins[0], i) == 0)
            continue;
        int64_t rest = i;
        for (int d = 0; d < s->rank; d++) {
            y[d * found + at] = rest / strides[d];
            rest %= strides[d];
        }
        at++;
    }
    outs[0].data = y;
    outs[0].shape = (sk_shape){.rank = 2, .dim = {rank, found}};
    return SK_OK;
}

/* --- non-maximum suppression, as ONNX defines it --- */

typedef struct corners {
    double x1, y1, x2, y2;
} corners;

static corners corners_of(const float *box, bool center)
{
    double a = (double)box[0], b = (double)box[1], c = (double)box[2], d = (double)box[3];
    if (center) /* x, y, width, height */
        return (corners){a - c / 2, b - d / 2, a + c / 2, b + d / 2};
    /* y1, x1, y2, x2: any two opposite corners */
    return (corners){fmin(b, d), fmin(a, c), fmax(b, d), fmax(a, c)};
}

static double overlap(const corners *a, const corners *b)
{
    double w = fmin(a->x2, b->x2) - fmax(a->x1, b->x1), h = fmin(a->y2, b->y2) - fmax(a->y1, b->y1);
    if (!(w > 0 && h > 0))
        return 0;
    double areas = (a->x2 - a->x1) * (a->y2 - a->y1) + (b->x2 - b->x1) * (b->y2 - b->y1);
    return w * h / (areas - w * h);
}

typedef struct nms_state {
    const float *boxes;
    int64_t n_boxes, limit;
    double iou, score;
    bool center;
    ranked *order;   /* [n_boxes] */
    int64_t *picked; /* of this class, [n_boxes] */
    int64_t *rows;   /* results, [n_rows][3] */
    size_t n_rows, capacity;
} nms_state;

static sk_status nms_class(nms_state *s, const float *scores, int64_t batch, int64_t class_index,
                           sk_error *err)
{
    int64_t candidates = 0, n_picked = 0;
    for (int64_t i = 0; i < s->n_boxes; i++)
        if ((double)scores[i] > s->score)
            s->order[candidates++] = (ranked){.key = (double)scores[i], .index = i};
    qsort(s->order, (size_t)candidates, sizeof *s->order, compare_descending);
    for (int64_t i = 0; i < candidates && n_picked < s->limit; i++) {
        corners box = corners_of(s->boxes + s->order[i].index * 4, s->center);
        bool covered = false;
        for (int64_t j = 0; j < n_picked && !covered; j++) {
            corners other = corners_of(s->boxes + s->picked[j] * 4, s->center);
            covered = overlap(&box, &other) > s->iou;
        }
        if (covered)
            continue;
        s->picked[n_picked++] = s->order[i].index;
        SK_TRY(sk_array_reserve((void **)&s->rows, &s->capacity, s->n_rows + 1, 3 * sizeof *s->rows,
                                (size_t)1 << 28, err));
        int64_t *row = s->rows + 3 * s->n_rows++;
        row[0] = batch;
        row[1] = class_index;
        row[2] = s->order[i].index;
    }
    return SK_OK;
}

sk_status sk_ref_nms(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *limit = sk_node_input(node, ins, 2), *iou = sk_node_input(node, ins, 3),
                    *score = sk_node_input(node, ins, 4);
    int64_t n = ins[0].shape.dim[1], classes = ins[1].shape.dim[1];
    nms_state s = {.n_boxes = n,
                   .limit = limit ? sk_tensor_int_at(limit, 0) : 0,
                   .iou = iou ? sk_tensor_at(iou, 0) : 0,
                   .score = score ? sk_tensor_at(score, 0) : -INFINITY,
                   .center = node->a.nms.center_point_box};
    sk_status status = SK_OK;
    s.order = sk_calloc((size_t)n, sizeof *s.order);
    s.picked = sk_calloc((size_t)n, sizeof *s.picked);
    if (!s.order || !s.picked) {
        status = sk_fail_memory(err, (size_t)n * sizeof *s.order);
        goto done;
    }
    for (int64_t b = 0; b < ins[0].shape.dim[0]; b++) {
        s.boxes = (const float *)ins[0].data + b * n * 4;
        for (int64_t c = 0; c < classes; c++)
            SK_TRY_GOTO(nms_class(&s, (const float *)ins[1].data + (b * classes + c) * n, b, c, err));
    }
    if (!s.rows) { /* nothing found is a tensor of no rows, not of no data */
        s.rows = sk_calloc(1, sizeof *s.rows);
        if (!s.rows) {
            status = sk_fail_memory(err, sizeof *s.rows);
            goto done;
        }
    }
    outs[0].data = s.rows;
    outs[0].shape = (sk_shape){.rank = 2, .dim = {(int64_t)s.n_rows, 3}};
    s.rows = NULL;
done:
    sk_free_all(s.rows, s.picked, s.order);
    return status;
}
