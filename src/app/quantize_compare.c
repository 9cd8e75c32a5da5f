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
    *median = *most = NAN;
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

static double similarity(const sk_instances *a, const sk_found *x, const sk_instances *b, const sk_found *y)
{
    uint32_t both = x->has & y->has;
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

static sk_status add_pair(sk_quantize_tally *t, const sk_instances *a, const sk_found *x,
                          const sk_instances *b, const sk_found *y, double similar, sk_error *err)
{
    t->agreement += similar;
    if (!t->given || t->peaks) /* YOLO's crops keep those of who found them, and boxes */
        SK_TRY(add(&t->scores, fabs((double)(x->score - y->score)), err));
    if (!t->given)
        SK_TRY(add_boxes(t, x, y, err));
    return add_points(t, a, x, b, y, err);
}

/* Of SLEAP's poses the points' mean, as the threshold is that of peaks. */
static double sureness(const sk_quantize_tally *t, const sk_instances *list, const sk_found *item)
{
    double sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; t->peaks && (item->has & SK_HAS_KEYPOINTS) && i < list->n_keypoints; i++) {
        const sk_keypoint *p = &list->keypoints[item->first_keypoint + i];
        if (isnan(p->x))
            continue;
        sum += (double)p->score;
        n++;
    }
    return n ? sum / n : (double)item->score;
}

/* Found by one of the two alone. */
static void add_alone(sk_quantize_tally *t, const sk_instances *list, const sk_found *item, int64_t *count)
{
    ++*count;
    t->counted++;
    t->unsure += sureness(t, list, item) <= (double)t->threshold + SK_QUANTIZE_UNSURE;
}

/* Each of f32's instances, best first, with the most similar of the other's that is left and overlaps by half; -1: none. */
static int32_t partner(const sk_instances *a, const sk_found *x, const sk_instances *b, const uint8_t *taken,
                       double *similar)
{
    int32_t best = -1;
    *similar = 0.5;
    for (int32_t k = 0; k < b->count; k++) {
        double s = taken[k] ? 0 : similarity(a, x, b, &b->items[k]);
        if (s >= *similar) {
            *similar = s;
            best = k;
        }
    }
    return best;
}

static bool is_posed(const sk_instances *list, const sk_found *item)
{
    for (int32_t i = 0; (item->has & SK_HAS_KEYPOINTS) && i < list->n_keypoints; i++)
        if (!isnan(list->keypoints[item->first_keypoint + i].x))
            return true;
    return false;
}

/* What was made of the same crop, however far its points lie; a pose that one of the two has is none of the other's. */
static int32_t same_crop(const sk_instances *a, const sk_found *x, const sk_instances *b,
                         const uint8_t *taken, double *similar)
{
    for (int32_t k = 0; k < b->count; k++) {
        const sk_found *y = &b->items[k];
        if (taken[k] || y->track_id != x->track_id || y->class_id != x->class_id)
            continue;
        *similar = nearness(a, x, b, y);
        return k;
    }
    return -1;
}

sk_status sk_quantize_compare(sk_quantize_tally *t, const sk_instances *a, const sk_instances *b,
                              sk_error *err)
{
    const bool crops = t->given && a->n_keypoints > 0;
    uint8_t *taken = sk_calloc((size_t)b->count + 1, 1);
    sk_status status = taken ? SK_OK : sk_fail_memory(err, (size_t)b->count);
    for (int32_t i = 0; i < a->count && status == SK_OK; i++) {
        const sk_found *x = &a->items[i];
        double similar = 0;
        const int32_t k = crops ? same_crop(a, x, b, taken, &similar) : partner(a, x, b, taken, &similar);
        const sk_found *y = k >= 0 ? &b->items[k] : NULL;
        if (y)
            taken[k] = 1;
        if (crops && y && is_posed(a, x) != is_posed(b, y)) {
            if (is_posed(a, x))
                add_alone(t, a, x, &t->loss->lost);
            else
                add_alone(t, b, y, &t->loss->added);
        } else if (y) {
            t->counted++;
            status = add_pair(t, a, x, b, y, similar, err);
        } else {
            add_alone(t, a, x, &t->loss->lost);
        }
    }
    for (int32_t k = 0; k < b->count && status == SK_OK; k++)
        if (!taken[k])
            add_alone(t, b, &b->items[k], &t->loss->added);
    t->loss->frames++;
    t->loss->instances += a->count;
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
    t->unsure_part = t->unsure > 0 ? (double)t->unsure / fmax((double)t->counted - t->agreement, 1e-9) : 0;
    summarise(&t->boxes, &loss->box_px, &loss->box_px_95);
    summarise(&t->points, &loss->keypoint_px, &loss->keypoint_px_95);
    summarise(&t->scores, &loss->score, &loss->score_95);
}
