/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/keypoints.h"

#include "base/clock.h"
#include "base/memory.h"
#include "eval/by_image.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const sk_annotation_point *truth_point(const sk_keypoint_task *t, const sk_annotation *a, int32_t k)
{
    return &t->truth->points[a->first + (size_t)t->pairing->truth_point[k]];
}

static const sk_annotation_point *found_point(const sk_keypoint_task *t, const sk_annotation *a, int32_t k)
{
    return &t->result->points[a->first + (size_t)t->pairing->result_point[k]];
}

/* --- similarity --- */

double sk_keypoint_box_area(const sk_keypoint_task *t, const sk_annotation *a)
{
    if (a->has & SK_HAS_BOX)
        return a->box[2] * a->box[3];
    if (a->has & SK_HAS_OBB)
        return a->obb[2] * a->obb[3];
    double x1 = INFINITY, y1 = INFINITY, x2 = -INFINITY, y2 = -INFINITY;
    for (int32_t k = 0; k < t->truth->n_keypoints; k++) {
        const sk_annotation_point *p = &t->truth->points[a->first + (size_t)k];
        if (p->visible > 0) {
            x1 = fmin(x1, p->x), x2 = fmax(x2, p->x);
            y1 = fmin(y1, p->y), y2 = fmax(y2, p->y);
        }
    }
    return x2 > x1 && y2 > y1 ? (x2 - x1) * (y2 - y1) : 0;
}

/* COCO wants the silhouette's area, which only COCO files give; the box's is what others have. */
double sk_keypoint_area(const sk_keypoint_task *t, const sk_annotation *a)
{
    return isnan(a->area) ? sk_keypoint_box_area(t, a) : a->area;
}

/* Truth without a labelled keypoint: distance to its box made three times as large. */
static double outside(double value, double begin, double length)
{
    return fmax(0, begin - length - value) + fmax(0, value - (begin + length * 2));
}

double sk_keypoint_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                              bool crowd)
{
    const sk_keypoint_task *t = context;
    (void)crowd;
    double area = sk_keypoint_area(t, wanted) + DBL_EPSILON, shift = t->settings->shift, sum = 0;
    int32_t labelled = 0, n = t->pairing->n_keypoints;
    for (int32_t k = 0; k < n; k++)
        labelled += truth_point(t, wanted, k)->visible > 0;
    for (int32_t k = 0; k < n; k++) {
        const sk_annotation_point *w = truth_point(t, wanted, k), *f = found_point(t, found, k);
        if (labelled && w->visible <= 0)
            continue;
        if (isnan(f->x) || isnan(f->y))
            continue; /* not found: infinitely far */
        double dx = labelled ? f->x + shift - w->x : outside(f->x + shift, wanted->box[0], wanted->box[2]);
        double dy = labelled ? f->y + shift - w->y : outside(f->y + shift, wanted->box[1], wanted->box[3]);
        double spread = 2 * t->sigmas[k];
        sum += exp(-((dx * dx + dy * dy) / (spread * spread) / area / 2));
    }
    int32_t counted = labelled ? labelled : n;
    return counted ? sum / counted : 0;
}

/* --- the body's length --- */

static double length_of(const sk_keypoint_task *t, const sk_annotation *a)
{
    const sk_annotation_point *points = t->truth->points + a->first;
    if (t->body_from >= 0) {
        const sk_annotation_point *p = &points[t->body_from], *q = &points[t->body_to];
        return p->visible > 0 && q->visible > 0 ? hypot(p->x - q->x, p->y - q->y) : NAN;
    }
    if (!isnan(a->length))
        return a->length;
    if (a->has & SK_HAS_OBB)
        return fmax(a->obb[2], a->obb[3]);
    double longest = 0;
    for (int32_t i = 0; i < t->truth->n_keypoints; i++)
        for (int32_t k = 0; k < i; k++)
            if (points[i].visible > 0 && points[k].visible > 0)
                longest = fmax(longest, hypot(points[i].x - points[k].x, points[i].y - points[k].y));
    return longest > 0 ? longest : NAN;
}

/* --- matching by distance --- */

/* Mean distance over the labelled keypoints that were found; infinite when there is none. */
static double distance(const sk_keypoint_task *t, const sk_annotation *found, const sk_annotation *wanted)
{
    double sum = 0, shift = t->settings->shift;
    int32_t n = 0;
    for (int32_t k = 0; k < t->pairing->n_keypoints; k++) {
        const sk_annotation_point *w = truth_point(t, wanted, k), *f = found_point(t, found, k);
        if (w->visible <= 0 || isnan(f->x) || isnan(f->y))
            continue;
        sum += hypot(f->x + shift - w->x, f->y + shift - w->y);
        n++;
    }
    return n ? sum / n : INFINITY;
}

static void match_one(const sk_keypoint_task *t, const sk_by_image *found, const sk_by_image *wanted,
                      size_t n_wanted, bool *taken, sk_eval_match *matches, size_t *count)
{
    const sk_annotation *f = &t->result->items[found->index];
    double best = INFINITY;
    size_t match = n_wanted;
    for (size_t i = 0; i < n_wanted; i++) {
        const sk_annotation *w = &t->truth->items[wanted[i].index];
        if (taken[i] || t->pairing->truth_class[w->class_id] != t->pairing->result_class[f->class_id])
            continue;
        double d = distance(t, f, w), limit = length_of(t, w) / 2;
        if (d < best && d <= limit) {
            best = d;
            match = i;
        }
    }
    if (match < n_wanted) {
        taken[match] = true;
        matches[(*count)++] = (sk_eval_match){found->index, wanted[match].index};
    }
}

sk_status sk_keypoint_match(const sk_keypoint_task *t, sk_eval_match **matches, size_t *count, sk_error *err)
{
    *matches = NULL;
    *count = 0;
    size_t n_found = 0, n_wanted = 0;
    sk_by_image *found = sk_calloc(t->result->n_items + 1, sizeof *found);
    sk_by_image *wanted = sk_calloc(t->truth->n_items + 1, sizeof *wanted);
    bool *taken = sk_calloc(t->truth->n_items + 1, sizeof *taken);
    *matches = sk_calloc(t->truth->n_items + 1, sizeof **matches);
    sk_status status = SK_OK;
    if (!found || !wanted || !taken || !*matches) {
        status = sk_fail_memory(err, t->truth->n_items * sizeof *wanted);
        sk_free(*matches);
        *matches = NULL;
        goto done;
    }
    for (size_t i = 0; i < t->result->n_items; i++) {
        const sk_annotation *a = &t->result->items[i];
        if ((a->has & SK_HAS_KEYPOINTS) && a->score >= t->settings->confidence &&
            t->pairing->image[a->image] >= 0)
            found[n_found++] = (sk_by_image){t->pairing->image[a->image], a->score, i};
    }
    for (size_t i = 0; i < t->truth->n_items; i++) {
        const sk_annotation *a = &t->truth->items[i];
        if ((a->has & SK_HAS_KEYPOINTS) && !sk_annotation_is_crowd(a, t->settings->min_visible))
            wanted[n_wanted++] = (sk_by_image){a->image, 0, i};
    }
    sk_by_image_sort(found, n_found);
    sk_by_image_sort(wanted, n_wanted);
    for (size_t i = 0, begin = 0; i < n_found; i++) {
        while (begin < n_wanted && wanted[begin].image < found[i].image)
            begin++;
        size_t end = begin;
        while (end < n_wanted && wanted[end].image == found[i].image)
            end++;
        match_one(t, &found[i], &wanted[begin], end - begin, &taken[begin], *matches, count);
    }
done:
    sk_free_all(found, wanted, taken);
    return status;
}

/* --- distances --- */

typedef struct samples {
    double *pixels, *percent; /* percent NaN: the length is not known */
    int32_t *class_id, *keypoint;
    size_t count;
} samples;

/* Statistics of the samples of one class (-1: all) and keypoint (-1: all). `wanted` was counted before. */
static void summarize(const samples *s, int32_t class_id, int32_t keypoint, const sk_eval_settings *settings,
                      double *pixels, double *percent, sk_eval_errors *e)
{
    size_t n = 0, m = 0;
    int64_t within[SK_EVAL_MAX_PCK] = {0};
    for (size_t i = 0; i < s->count; i++) {
        if ((class_id >= 0 && s->class_id[i] != class_id) || (keypoint >= 0 && s->keypoint[i] != keypoint))
            continue;
        pixels[n++] = s->pixels[i];
        if (isnan(s->percent[i]))
            continue;
        percent[m++] = s->percent[i];
        for (int32_t k = 0; k < settings->n_pck; k++)
            within[k] += s->percent[i] <= 100 * settings->pck[k];
    }
    sk_samples_summary px = sk_samples_summarize(pixels, n), pc = sk_samples_summarize(percent, m);
    e->measured = (int64_t)n;
    e->median = n ? px.median : -1, e->mean = n ? px.mean : -1, e->p90 = n ? px.p90 : -1;
    e->median_percent = m ? pc.median : -1, e->mean_percent = m ? pc.mean : -1;
    e->p90_percent = m ? pc.p90 : -1;
    for (int32_t k = 0; k < settings->n_pck; k++)
        e->pck[k] = e->wanted ? (double)within[k] / (double)e->wanted : -1;
}

static void count_wanted(const sk_keypoint_task *t, sk_eval_report *report)
{
    for (size_t i = 0; i < t->truth->n_items; i++) {
        const sk_annotation *a = &t->truth->items[i];
        if (!(a->has & SK_HAS_KEYPOINTS) || sk_annotation_is_crowd(a, t->settings->min_visible))
            continue;
        int32_t c = t->pairing->truth_class[a->class_id];
        for (int32_t k = 0; k < t->pairing->n_keypoints; k++)
            if (truth_point(t, a, k)->visible > 0) {
                report->all.points.wanted++;
                report->classes[c].points.wanted++;
                report->keypoints[k].points.wanted++;
            }
    }
}

static void measure(const sk_keypoint_task *t, const sk_eval_match *matches, size_t count, samples *s)
{
    double shift = t->settings->shift;
    for (size_t i = 0; i < count; i++) {
        const sk_annotation *f = &t->result->items[matches[i].found],
                            *w = &t->truth->items[matches[i].wanted];
        if (!(f->has & w->has & SK_HAS_KEYPOINTS))
            continue;
        double length = length_of(t, w);
        for (int32_t k = 0; k < t->pairing->n_keypoints; k++) {
            const sk_annotation_point *p = truth_point(t, w, k), *q = found_point(t, f, k);
            if (p->visible <= 0 || isnan(q->x) || isnan(q->y))
                continue;
            double d = hypot(q->x + shift - p->x, q->y + shift - p->y);
            s->pixels[s->count] = d;
            s->percent[s->count] = length > 0 ? 100 * d / length : NAN;
            s->class_id[s->count] = t->pairing->truth_class[w->class_id];
            s->keypoint[s->count++] = k;
        }
    }
}

sk_status sk_keypoint_errors(const sk_keypoint_task *t, const sk_eval_match *matches, size_t count,
                             sk_eval_report *report, sk_error *err)
{
    size_t most = count * (size_t)t->pairing->n_keypoints + 1;
    samples s = {.pixels = sk_calloc(most, sizeof(double)),
                 .percent = sk_calloc(most, sizeof(double)),
                 .class_id = sk_calloc(most, sizeof(int32_t)),
                 .keypoint = sk_calloc(most, sizeof(int32_t))};
    double *pixels = sk_calloc(most, sizeof *pixels), *percent = sk_calloc(most, sizeof *percent);
    sk_status status = SK_OK;
    if (!s.pixels || !s.percent || !s.class_id || !s.keypoint || !pixels || !percent) {
        status = sk_fail_memory(err, most * sizeof(double));
        goto done;
    }
    count_wanted(t, report);
    measure(t, matches, count, &s);
    summarize(&s, -1, -1, t->settings, pixels, percent, &report->all.points);
    for (size_t c = 0; c < report->n_classes; c++)
        summarize(&s, (int32_t)c, -1, t->settings, pixels, percent, &report->classes[c].points);
    for (int32_t k = 0; k < report->n_keypoints; k++)
        summarize(&s, -1, k, t->settings, pixels, percent, &report->keypoints[k].points);
done:
    sk_free_all(s.pixels, s.percent, s.class_id, s.keypoint, pixels, percent);
    return status;
}
