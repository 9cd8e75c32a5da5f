/* SPDX-License-Identifier: Apache-2.0 */
#include "app/quantize_internal.h"

#include "tasks/overlap.h"

#include <math.h>
#include <stdlib.h>

/* Two lists of what was found in the same frame, and how far they differ over many frames. */

#define LEAST_CORRELATED 16 /* of two or three numbers (a crop's classes) a correlation says nothing */

static sk_status add(sk_quantize_sample *s, double v, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->items, &s->capacity, s->count + 1, sizeof *s->items, (size_t)1 << 28,
                            err));
    s->items[s->count++] = v;
    return SK_OK;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void summarise(sk_quantize_sample *s, double *median, double *most)
{
    *median = *most = 0;
    if (s->count) {
        qsort(s->items, s->count, sizeof *s->items, compare);
        *median = s->items[s->count / 2];
        *most = fmax(*median, s->items[(size_t)((double)(s->count - 1) * 0.95)]); /* of two the first */
    }
    sk_free(s->items);
}

/* The farthest two points' distance: how large a pose is. */
static double extent(const sk_keypoint *p, int32_t n)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int32_t i = 0; i < n; i++) {
        if (isnan(p[i].x))
            continue;
        low[0] = fmin(low[0], (double)p[i].x);
        low[1] = fmin(low[1], (double)p[i].y);
        high[0] = fmax(high[0], (double)p[i].x);
        high[1] = fmax(high[1], (double)p[i].y);
    }
    double size = hypot(high[0] - low[0], high[1] - low[1]);
    return isfinite(size) && size > 10 ? size : 10;
}

/* Poses without boxes: how near their points are, in tenths of the pose. */
static double nearness(const sk_instances *a, const sk_found *x, const sk_instances *b, const sk_found *y)
{
    const sk_keypoint *p = a->keypoints + x->first_keypoint, *q = b->keypoints + y->first_keypoint;
    double size = extent(p, a->n_keypoints), sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < a->n_keypoints; i++) {
        if (isnan(p[i].x) && isnan(q[i].x))
            continue;
        n++;
        if (!isnan(p[i].x) && !isnan(q[i].x))
            sum += fmax(0, 1 - hypot((double)(p[i].x - q[i].x), (double)(p[i].y - q[i].y)) / (0.1 * size));
    }
    return n ? sum / n : 1;
}

/* `given`: boxes are those of somebody else, who found what both looked at. */
static double similarity(const sk_instances *a, const sk_found *x, const sk_instances *b, const sk_found *y,
                         bool given)
{
    uint32_t both = x->has & y->has;
    if (given && a->n_keypoints > 0 && x->class_id == y->class_id)
        return (x->has ^ y->has) & SK_HAS_KEYPOINTS ? 0 : nearness(a, x, b, y);
    if (x->class_id != y->class_id)
        return 0;
    if (both & SK_HAS_OBB) {
        double p[5], q[5];
        for (int i = 0; i < 5; i++) {
            p[i] = (double)x->obb[i];
            q[i] = (double)y->obb[i];
        }
        return sk_overlap_oriented(p, q, false);
    }
    if (both & SK_HAS_BOX) {
        double p[4] = {(double)x->box[0], (double)x->box[1], (double)(x->box[2] - x->box[0]),
                       (double)(x->box[3] - x->box[1])};
        double q[4] = {(double)y->box[0], (double)y->box[1], (double)(y->box[2] - y->box[0]),
                       (double)(y->box[3] - y->box[1])};
        return sk_overlap_boxes(p, q, false);
    }
    if (both & SK_HAS_KEYPOINTS)
        return nearness(a, x, b, y);
    return 1; /* of whole pictures: the class is all there is */
}

static sk_status add_boxes(sk_quantize_tally *t, const sk_found *x, const sk_found *y, sk_error *err)
{
    if (x->has & y->has & SK_HAS_OBB)
        return add(&t->boxes, hypot((double)(x->obb[0] - y->obb[0]), (double)(x->obb[1] - y->obb[1])), err);
    if (!(x->has & y->has & SK_HAS_BOX))
        return SK_OK;
    for (int i = 0; i < 4; i += 2)
        SK_TRY(add(&t->boxes, hypot((double)(x->box[i] - y->box[i]), (double)(x->box[i + 1] - y->box[i + 1])),
                   err));
    return SK_OK;
}

static sk_status add_points(sk_quantize_tally *t, const sk_instances *a, const sk_found *x,
                            const sk_instances *b, const sk_found *y, sk_error *err)
{
    if (!(x->has & y->has & SK_HAS_KEYPOINTS))
        return SK_OK;
    const sk_keypoint *p = a->keypoints + x->first_keypoint, *q = b->keypoints + y->first_keypoint;
    for (int32_t i = 0; i < a->n_keypoints; i++)
        if (!isnan(p[i].x) && !isnan(q[i].x))
            SK_TRY(add(&t->points, hypot((double)(p[i].x - q[i].x), (double)(p[i].y - q[i].y)), err));
    return SK_OK;
}

/* Each of f32's instances, best first, with the most similar of the other's that is left and overlaps by half. */
sk_status sk_quantize_compare(sk_quantize_tally *t, const sk_instances *a, const sk_instances *b,
                              sk_error *err)
{
    uint8_t *taken = sk_calloc((size_t)b->count + 1, 1);
    sk_status status = taken ? SK_OK : sk_fail_memory(err, (size_t)b->count);
    int32_t paired = 0;
    for (int32_t i = 0; i < a->count && status == SK_OK; i++) {
        int32_t best = -1;
        double most = 0.5;
        for (int32_t k = 0; k < b->count; k++) {
            double s = taken[k] ? 0 : similarity(a, &a->items[i], b, &b->items[k], t->given);
            if (s >= most) {
                most = s;
                best = k;
            }
        }
        if (best < 0)
            continue;
        const sk_found *x = &a->items[i], *y = &b->items[best];
        taken[best] = 1;
        paired++;
        t->agreement += most;
        status = add(&t->scores, fabs((double)(x->score - y->score)), err);
        if (status == SK_OK)
            status = add_boxes(t, x, y, err);
        if (status == SK_OK)
            status = add_points(t, a, x, b, y, err);
    }
    t->loss->frames++;
    t->loss->instances += a->count;
    t->loss->lost += a->count - paired;
    t->loss->added += b->count - paired;
    t->counted += a->count + b->count - paired;
    sk_free(taken);
    return status;
}

static double correlation(const sk_tensor *a, const sk_tensor *b)
{
    const float *x = a->data, *y = b->data;
    double n = (double)sk_shape_count(&a->shape), sx = 0, sy = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t i = 0; i < sk_shape_count(&a->shape); i++) {
        sx += (double)x[i];
        sy += (double)y[i];
        xx += (double)x[i] * (double)x[i];
        yy += (double)y[i] * (double)y[i];
        xy += (double)x[i] * (double)y[i];
    }
    double vx = xx - sx * sx / n, vy = yy - sy * sy / n;
    return vx > 0 && vy > 0 ? (xy - sx * sy / n) / sqrt(vx * vy) : 1;
}

void sk_quantize_compare_heads(sk_quantize_tally *t, const sk_tensor *a, const sk_tensor *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (a[i].dtype == SK_DTYPE_F32 && sk_shape_equal(&a[i].shape, &b[i].shape) &&
            sk_shape_count(&a[i].shape) >= LEAST_CORRELATED)
            t->heads_pcc = fmin(t->heads_pcc, correlation(&a[i], &b[i]));
}

void sk_quantize_tally_end(sk_quantize_tally *t)
{
    sk_loss *loss = t->loss;
    loss->percent = t->counted > 0 ? fmax(0, 100 * (1 - t->agreement / (double)t->counted)) : 0;
    summarise(&t->boxes, &loss->box_px, &loss->box_px_95);
    summarise(&t->points, &loss->keypoint_px, &loss->keypoint_px_95);
    summarise(&t->scores, &loss->score, &loss->score_95);
}
