/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/yolo_score.h"

#include "base/memory.h"
#include "eval/eval.h"
#include "eval/keypoints.h"
#include "tasks/nms.h"

#include <math.h>
#include <string.h>

#define POINTS  SK_YOLO_POINTS
#define RECALLS 101
#define SMOOTH  101 /* points of the box that F1 is smoothed with */
#define TINY    1e-16

double sk_yolo_obb_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                              bool crowd)
{
    (void)context;
    (void)crowd;
    float a[5], b[5];
    for (int i = 0; i < 5; i++) {
        a[i] = (float)wanted->obb[i];
        b[i] = (float)found->obb[i];
    }
    return (double)sk_probiou(a, b);
}

double sk_yolo_pose_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                               bool crowd)
{
    const sk_keypoint_task *t = context;
    const sk_pairing *p = t->pairing;
    (void)crowd;
    double area = sk_keypoint_box_area(t, wanted) * 0.53, shift = t->settings->shift, sum = 0;
    int32_t seen = 0;
    for (int32_t k = 0; k < p->n_keypoints; k++) {
        const sk_annotation_point *w = &t->truth->points[wanted->first + (size_t)p->truth_point[k]];
        const sk_annotation_point *f = &t->result->points[found->first + (size_t)p->result_point[k]];
        if (w->visible == 0)
            continue;
        seen++;
        double sigma = p->n_keypoints == 17 ? sk_eval_coco_sigmas[k] : 1.0 / p->n_keypoints;
        double dx = f->x + shift - w->x, dy = f->y + shift - w->y;
        if (!isnan(dx) && !isnan(dy))
            sum += exp(-(dx * dx + dy * dy) / (8 * sigma * sigma * (area + 1e-7)));
    }
    return sum / (seen + 1e-7);
}

/* --- curves --- */

/* The value at x of the line through the points (xs, ys), xs rising, the first at or before x; of several points with one x the last
 * counts, as numpy's interp has it. */
static double between(const double *xs, const double *ys, size_t n, double x)
{
    size_t low = 1, high = n; /* the last point at or before x is in [low - 1, high) */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (xs[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    size_t i = low - 1;
    if (i + 1 == n || xs[i] == x)
        return ys[i];
    return (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]) * (x - xs[i]) + ys[i];
}

static double grid(int i, int n)
{
    return i == n - 1 ? 1 : (double)i * (1.0 / (n - 1));
}

typedef struct measure {
    sk_yolo_score *score;
    size_t capacity;
    double *xs, *ys, *zs; /* scratch for curves, each of `capacity` */
} measure;

static sk_status make_room(measure *m, size_t count, sk_error *err)
{
    if (count <= m->capacity)
        return SK_OK;
    sk_free(m->xs);
    m->xs = sk_calloc(count, 3 * sizeof(double));
    m->capacity = m->xs ? count : 0;
    if (!m->xs)
        return sk_fail_memory(err, count * 3 * sizeof(double));
    m->ys = m->xs + count;
    m->zs = m->ys + count;
    return SK_OK;
}

/* Precision and recall after each detection, at one threshold; returns how many there are. */
static size_t walk(measure *m, const sk_verdict *v, size_t n, int threshold, int64_t wanted, double *recall,
                   double *precision)
{
    int64_t right = 0, seen = 0;
    size_t kept = 0;
    uint16_t bit = (uint16_t)(1u << threshold);
    for (size_t i = 0; i < n; i++) {
        if (!(v[i].right & bit) && (v[i].ignored & bit))
            continue;
        right += (v[i].right & bit) != 0;
        seen++;
        m->zs[kept] = -v[i].score;
        recall[kept] = (double)right / ((double)wanted + TINY);
        precision[kept++] = (double)right / (double)seen;
    }
    return kept;
}

/* The area below precision over recall: from (0, 1), made falling, to the last recall and then nothing. */
static double area_below(double *recall, double *precision, size_t n, double *curve)
{
    /* recall[0] and [n + 1] are the ends; the points stand between */
    recall[0] = 0;
    precision[0] = 1;
    recall[n + 1] = n ? recall[n] : 1;
    precision[n + 1] = 0;
    for (size_t i = n + 1; i-- > 0;)
        precision[i] = fmax(precision[i], precision[i + 1]);
    double area = 0, before = 0;
    for (int i = 0; i < RECALLS; i++) {
        double here = between(recall, precision, n + 2, grid(i, RECALLS));
        area += i ? (here + before) / 2 * (grid(i, RECALLS) - grid(i - 1, RECALLS)) : 0;
        before = here;
    }
    for (int i = 0; curve && i < POINTS; i++)
        curve[i] = between(recall, precision, n + 2, grid(i, POINTS));
    return area;
}

static sk_status take_class(void *context, int32_t class_id, const sk_verdict *v, size_t n, int64_t wanted,
                            sk_error *err)
{
    measure *m = context;
    sk_yolo_score *s = m->score;
    sk_yolo_row *row = &s->classes[class_id];
    row->instances = wanted;
    if (wanted == 0)
        return SK_OK;
    double *p = s->precision + (size_t)class_id * POINTS, *r = s->recall + (size_t)class_id * POINTS;
    SK_TRY(make_room(m, n + 2, err));
    size_t kept = walk(m, v, n, 0, wanted, m->xs, m->ys);
    if (kept == 0)
        return SK_OK;
    for (int i = 0; i < POINTS; i++) {
        double x = -grid(i, POINTS);
        bool above = x < m->zs[0]; /* a confidence that none has */
        r[i] = above ? 0 : between(m->zs, m->xs, kept, x);
        p[i] = above ? 1 : between(m->zs, m->ys, kept, x);
    }
    for (int t = 0; t < SK_EVAL_THRESHOLDS; t++) {
        kept = walk(m, v, n, t, wanted, m->xs + 1, m->ys + 1);
        double area = area_below(m->xs, m->ys, kept, t ? NULL : s->curve + (size_t)class_id * POINTS);
        row->ap += area / SK_EVAL_THRESHOLDS;
        if (t == 0)
            row->ap50 = area;
    }
    return SK_OK;
}

double sk_yolo_curve(const sk_yolo_score *s, int32_t c, int which, int i)
{
    size_t at = (size_t)c * POINTS + (size_t)i;
    double p = s->precision[at], r = s->recall[at];
    return which == 0 ? s->curve[at] : which == 1 ? 2 * p * r / (p + r + TINY) : which == 2 ? p : r;
}

/* Where the mean of F1 over the classes, smoothed, is largest. */
static int best_point(const sk_yolo_score *s)
{
    double mean[POINTS] = {0}, best = -1;
    int at = 0;
    for (int i = 0; i < POINTS; i++)
        for (int32_t c = 0; c < s->n_classes; c++)
            if (s->classes[c].instances > 0)
                mean[i] += sk_yolo_curve(s, c, 1, i);
    for (int i = 0; i < POINTS; i++) {
        double sum = 0;
        for (int k = i - SMOOTH / 2; k <= i + SMOOTH / 2; k++)
            sum += mean[k < 0 ? 0 : k >= POINTS ? POINTS - 1 : k];
        if (sum > best * (1 + 1e-12)) { /* of equal ones the first */
            best = sum;
            at = i;
        }
    }
    return at;
}

static sk_status count_images(const sk_precision_task *t, sk_yolo_score *s, sk_error *err)
{
    size_t n = (size_t)s->n_classes, images = t->truth->n_images;
    size_t bytes = (n * images + 7) / 8;
    uint8_t *seen = sk_calloc(1, bytes + 1);
    if (!seen)
        return sk_fail_memory(err, bytes);
    for (size_t i = 0; i < t->truth->n_items; i++) {
        const sk_annotation *a = &t->truth->items[i];
        if (!(a->has & t->has) || sk_annotation_is_crowd(a, t->min_visible))
            continue;
        size_t at = (size_t)a->image * n + (size_t)t->pairing->truth_class[a->class_id];
        if (!(seen[at / 8] >> (at % 8) & 1))
            s->classes[t->pairing->truth_class[a->class_id]].images++;
        seen[at / 8] |= (uint8_t)(1u << (at % 8));
    }
    sk_free(seen);
    return SK_OK;
}

static void sum_up(const sk_precision_task *t, sk_yolo_score *s)
{
    int point = best_point(s), counted = 0;
    s->confidence = grid(point, POINTS);
    s->all.images = (int64_t)t->truth->n_images;
    for (int32_t c = 0; c < s->n_classes; c++) {
        sk_yolo_row *row = &s->classes[c];
        if (row->instances == 0)
            continue;
        row->precision = s->precision[(size_t)c * POINTS + (size_t)point];
        row->recall = s->recall[(size_t)c * POINTS + (size_t)point];
        s->all.instances += row->instances;
        s->all.precision += row->precision;
        s->all.recall += row->recall;
        s->all.ap50 += row->ap50;
        s->all.ap += row->ap;
        counted++;
    }
    if (counted) {
        s->all.precision /= counted;
        s->all.recall /= counted;
        s->all.ap50 /= counted;
        s->all.ap /= counted;
    }
}

sk_status sk_yolo_score_run(const sk_precision_task *task, sk_yolo_score *out, sk_error *err)
{
    *out = (sk_yolo_score){.measured = true, .n_classes = task->pairing->n_classes};
    size_t n = (size_t)out->n_classes;
    measure m = {.score = out};
    sk_precision_result unused = {0};
    sk_status status = SK_OK;
    out->classes = sk_calloc(n + 1, sizeof *out->classes);
    out->precision = sk_calloc(n * POINTS + 1, sizeof(double));
    out->recall = sk_calloc(n * POINTS + 1, sizeof(double));
    out->curve = sk_calloc(n * POINTS + 1, sizeof(double));
    if (!out->classes || !out->precision || !out->recall || !out->curve) {
        status = sk_fail_memory(err, n * POINTS * 3 * sizeof(double));
        goto done;
    }
    sk_precision_task own = *task;
    own.observe = take_class;
    own.observer = &m;
    SK_TRY_GOTO(sk_precision_run(&own, &unused, err));
    SK_TRY_GOTO(count_images(task, out, err));
    sum_up(task, out);
done:
    sk_precision_free(&unused);
    sk_free(m.xs);
    if (status != SK_OK)
        sk_yolo_score_free(out);
    return status;
}

void sk_yolo_score_free(sk_yolo_score *s)
{
    sk_free_all(s->classes, s->precision, s->recall, s->curve);
    *s = (sk_yolo_score){0};
}
