/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/nms_internal.h"

#include "base/object.h"
#include "tasks/order.h"
#include "tasks/overlap_formula.h"

#include <math.h>

sk_status sk_nms_open(int32_t capacity, int32_t max_det, sk_nms **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(capacity >= 1 && max_det >= 1 && max_det <= 1 << 20, err);
    sk_nms *n = sk_calloc(1, sizeof *n);
    if (!n)
        return sk_fail_memory(err, sizeof *n);
    n->capacity = capacity;
    n->max_det = max_det;
    size_t rows = (size_t)(capacity > max_det ? capacity : max_det) + SK_NMS_BLOCK;
    rows = (rows + 15) & ~(size_t)15;
    n->order = sk_calloc((size_t)capacity, sizeof *n->order);
    n->keys = sk_calloc((size_t)capacity * 2, sizeof *n->keys);
    n->columns[0] = sk_aligned_calloc(64, rows * SK_NMS_COLUMNS * sizeof(float));
    if (!n->order || !n->keys || !n->columns[0]) {
        sk_nms_close(&n);
        return sk_fail_memory(err, rows * SK_NMS_COLUMNS * sizeof(float));
    }
    for (int k = 1; k < SK_NMS_COLUMNS; k++)
        n->columns[k] = n->columns[0] + (size_t)k * rows;
    *out = n;
    return SK_OK;
}

void sk_nms_close(sk_nms **nms)
{
    SK_TAKE_OR_RETURN(n, nms);
    sk_free_all(n->order, n->keys, n->columns[0], n);
}

int32_t sk_nms_rank(sk_nms *n, const sk_candidates *c)
{
    int32_t count = c->count < n->capacity ? c->count : n->capacity;
    sk_order_descending(c->score, count, n->order, n->keys);
    return count < SK_NMS_MOST ? count : SK_NMS_MOST;
}

/* The largest float not above v: `x > v` and `x > floor_to_float(v)` agree for every float x. */
static float floor_to_float(double v)
{
    float f = (float)v;
    return (double)f > v ? nextafterf(f, -INFINITY) : f;
}

void sk_nms_rules(double iou, int rotated, int agnostic, float *limit, float *reach, float *offset,
                  int32_t *most)
{
    *limit = rotated ? (float)iou : floor_to_float(iou);
    *reach = rotated ? sk_nms_reach(iou) : 0;
    *offset = agnostic ? 0 : SK_NMS_OFFSET;
    *most = SK_NMS_MOST;
}

/* 1 when one of the boxes kept[0 .. count) overlaps `b` by more than `limit`. */
static int overlaps_any(float *const *kept, int32_t count, const float b[4], float area, float limit)
{
    const float *restrict kx1 = kept[0], *restrict ky1 = kept[1], *restrict kx2 = kept[2],
                          *restrict ky2 = kept[3];
    const float *restrict ka = kept[4];
    for (int32_t i = 0; i < count; i += SK_NMS_BLOCK) {
        int32_t hits = 0;
        for (int32_t j = i; j < i + SK_NMS_BLOCK; j++) {
            float shared = sk_box_shared(kx1[j], ky1[j], kx2[j], ky2[j], b[0], b[1], b[2], b[3]);
            hits += shared / sk_box_joined(ka[j], area, shared) > limit;
        }
        if (hits)
            return 1;
    }
    return 0;
}

int32_t sk_nms_greedy(sk_nms *n, const sk_candidates *c, double iou, int agnostic, int32_t *keep)
{
    int32_t count = sk_nms_rank(n, c), kept = 0;
    float limit = floor_to_float(iou);
    for (int32_t r = 0; r < count && kept < n->max_det; r++) {
        int32_t i = n->order[r];
        float offset = agnostic ? 0 : sk_class_shift(c->class_id[i], SK_NMS_OFFSET), b[4];
        for (int k = 0; k < 4; k++)
            b[k] = c->box[k][i] + offset;
        float area = sk_box_area(b[0], b[1], b[2], b[3]);
        if (overlaps_any(n->columns, kept, b, area, limit))
            continue;
        /* Rows beyond the last one hold a box no other can overlap, so blocks may run past the end. */
        for (int32_t j = kept % SK_NMS_BLOCK ? kept : kept + SK_NMS_BLOCK; j-- > kept;) {
            n->columns[0][j] = n->columns[1][j] = INFINITY;
            n->columns[2][j] = n->columns[3][j] = -INFINITY;
            n->columns[4][j] = 1;
        }
        for (int k = 0; k < 4; k++)
            n->columns[k][kept] = b[k];
        n->columns[4][kept] = area;
        keep[kept++] = i;
    }
    return kept;
}
