/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/precision.h"

#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T         SK_EVAL_THRESHOLDS
#define RECALLS   101
#define MOST_AREA 1e10 /* COCO's range "all" */

bool sk_annotation_is_crowd(const sk_annotation *a, double min_visible)
{
    return a->crowd || a->visible < min_visible;
}

/* --- who stands where --- */

typedef struct entry {
    int32_t class_id, rank; /* rank of the image */
    size_t index;           /* into the set's items */
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->class_id != y->class_id)
        return x->class_id < y->class_id ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int compare_verdicts(const void *a, const void *b)
{
    const sk_verdict *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

typedef struct run {
    const sk_precision_task *task;
    sk_precision_result *out;
    entry *found, *wanted;
    size_t n_found, n_wanted;
    sk_verdict *verdicts; /* of the current class */
    size_t n_verdicts, verdicts_capacity;
    double *similar; /* detections x truth of one image */
    size_t similar_capacity;
    struct candidate {
        double score;
        size_t order;
        const sk_annotation *a;
        size_t index;
    } * dets;
    size_t dets_capacity;
    struct target {
        const sk_annotation *a;
        size_t index;
        bool ignored, crowd;
    } * gts;
    size_t gts_capacity;
    bool *taken;
    size_t taken_capacity;
    size_t *near, *near_first; /* of detection d: near[near_first[d]] to near[near_first[d + 1]] */
    size_t near_capacity, near_first_capacity;
    double curve[RECALLS];
} run;

static double area_of(const sk_annotation *a)
{
    if (!isnan(a->area))
        return a->area;
    return a->has & SK_HAS_BOX ? a->box[2] * a->box[3] : a->has & SK_HAS_OBB ? a->obb[2] * a->obb[3] : 0;
}

static bool in_range(double area)
{
    return !(area < 0 || area > MOST_AREA);
}

static bool is_ignored(const run *r, const sk_annotation *a)
{
    if (sk_annotation_is_crowd(a, r->task->min_visible))
        return true;
    if (!in_range(area_of(a)))
        return true;
    if (!r->task->need_labels)
        return false;
    if (a->labelled >= 0)
        return a->labelled == 0;
    for (int32_t k = 0; k < r->task->truth->n_keypoints; k++)
        if (r->task->truth->points[a->first + (size_t)k].visible > 0)
            return false;
    return true;
}

static sk_status collect(run *r, sk_error *err)
{
    const sk_precision_task *t = r->task;
    r->found = sk_calloc(t->result->n_items + 1, sizeof *r->found);
    r->wanted = sk_calloc(t->truth->n_items + 1, sizeof *r->wanted);
    if (!r->found || !r->wanted)
        return sk_fail_memory(err, (t->result->n_items + t->truth->n_items) * sizeof *r->found);
    for (size_t i = 0; i < t->result->n_items; i++) {
        const sk_annotation *a = &t->result->items[i];
        int32_t image = t->pairing->image[a->image];
        if (image >= 0 && (a->has & t->has) && a->score >= t->confidence)
            r->found[r->n_found++] =
                (entry){t->pairing->result_class[a->class_id], t->pairing->rank[image], i};
    }
    for (size_t i = 0; i < t->truth->n_items; i++) {
        const sk_annotation *a = &t->truth->items[i];
        if (a->has & t->has)
            r->wanted[r->n_wanted++] =
                (entry){t->pairing->truth_class[a->class_id], t->pairing->rank[a->image], i};
    }
    qsort(r->found, r->n_found, sizeof *r->found, compare_entries);
    qsort(r->wanted, r->n_wanted, sizeof *r->wanted, compare_entries);
    return SK_OK;
}

/* --- one image --- */

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The truth this detection takes at a threshold, or -1: the most similar free one of its `near`; ignored truth, which stands
 * last, only when no other is similar enough. */
static ptrdiff_t best_target(const run *r, const double *similar, size_t first, size_t end, double threshold)
{
    double best = fmin(threshold, 1 - 1e-10);
    ptrdiff_t match = -1;
    for (size_t i = first; i < end; i++) {
        size_t g = r->near[i];
        if (r->taken[g] && !r->gts[g].crowd)
            continue;
        if (match >= 0 && !r->gts[match].ignored && r->gts[g].ignored)
            break;
        if (similar[g] < best)
            continue;
        best = similar[g];
        match = (ptrdiff_t)g;
    }
    return match;
}

static double threshold_at(int t)
{
    static const double step = (0.95 - 0.5) / (T - 1); /* as numpy's linspace(.5, .95, 10) rounds */
    return t == T - 1 ? 0.95 : (double)t * step + 0.5;
}

/* Which truth is similar enough to a detection at the lowest threshold: few of many. */
static sk_status find_near(run *r, size_t n_dets, size_t n_gts, sk_error *err)
{
    size_t n = 0;
    SK_TRY(sk_array_reserve((void **)&r->near_first, &r->near_first_capacity, n_dets + 1,
                            sizeof *r->near_first, SIZE_MAX / 64, err));
    for (size_t d = 0; d < n_dets; d++) {
        r->near_first[d] = n;
        SK_TRY(sk_array_reserve((void **)&r->near, &r->near_capacity, n + n_gts + 1, sizeof *r->near,
                                SIZE_MAX / 64, err));
        for (size_t g = 0; g < n_gts; g++)
            if (!(r->similar[d * n_gts + g] < threshold_at(0)))
                r->near[n++] = g;
    }
    r->near_first[n_dets] = n;
    return SK_OK;
}

static sk_status match_image(run *r, size_t n_dets, size_t n_gts, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&r->taken, &r->taken_capacity, n_gts + 1, sizeof *r->taken,
                            SIZE_MAX / 64, err));
    SK_TRY(find_near(r, n_dets, n_gts, err));
    sk_verdict *v = &r->verdicts[r->n_verdicts];
    for (size_t d = 0; d < n_dets; d++)
        v[d] = (sk_verdict){.score = r->dets[d].score, .order = r->n_verdicts + d};
    for (int t = 0; t < T; t++) {
        memset(r->taken, 0, n_gts * sizeof *r->taken);
        for (size_t d = 0; d < n_dets; d++) {
            ptrdiff_t g = best_target(r, &r->similar[d * n_gts], r->near_first[d], r->near_first[d + 1],
                                      threshold_at(t));
            if (g < 0) {
                if (!in_range(area_of(r->dets[d].a)))
                    v[d].ignored |= (uint16_t)(1u << t);
                continue;
            }
            r->taken[g] = true;
            if (r->gts[g].ignored)
                v[d].ignored |= (uint16_t)(1u << t);
            else
                v[d].right |= (uint16_t)(1u << t);
            if (t == 0 && !r->gts[g].ignored) {
                sk_precision_result *out = r->out;
                SK_TRY(sk_array_reserve((void **)&out->matches, &out->matches_capacity, out->n_matches + 1,
                                        sizeof *out->matches, SIZE_MAX / 64, err));
                out->matches[out->n_matches++] = (sk_eval_match){r->dets[d].index, r->gts[g].index};
            }
        }
    }
    r->n_verdicts += n_dets;
    return SK_OK;
}

static sk_status run_image(run *r, const entry *found, size_t n_found, const entry *wanted, size_t n_wanted,
                           sk_error *err)
{
    const sk_precision_task *t = r->task;
    SK_TRY(sk_array_reserve((void **)&r->dets, &r->dets_capacity, n_found + 1, sizeof *r->dets, SIZE_MAX / 64,
                            err));
    SK_TRY(sk_array_reserve((void **)&r->gts, &r->gts_capacity, n_wanted + 1, sizeof *r->gts, SIZE_MAX / 64,
                            err));
    for (size_t i = 0; i < n_found; i++) {
        const sk_annotation *a = &t->result->items[found[i].index];
        r->dets[i] = (struct candidate){a->score, i, a, found[i].index};
    }
    qsort(r->dets, n_found, sizeof *r->dets, compare_candidates);
    size_t n_dets = n_found < (size_t)t->max_det ? n_found : (size_t)t->max_det, n_gts = 0;
    for (int last = 0; last < 2; last++) /* what is ignored stands last, else in the file's order */
        for (size_t i = 0; i < n_wanted; i++) {
            const sk_annotation *a = &t->truth->items[wanted[i].index];
            if (is_ignored(r, a) == (bool)last)
                r->gts[n_gts++] =
                    (struct target){a, wanted[i].index, last, sk_annotation_is_crowd(a, t->min_visible)};
        }
    SK_TRY(sk_array_reserve((void **)&r->similar, &r->similar_capacity, n_dets * n_gts + 1,
                            sizeof *r->similar, SIZE_MAX / 64, err));
    SK_TRY(sk_array_reserve((void **)&r->verdicts, &r->verdicts_capacity, r->n_verdicts + n_dets + 1,
                            sizeof *r->verdicts, SIZE_MAX / 64, err));
    for (size_t d = 0; d < n_dets; d++)
        for (size_t g = 0; g < n_gts; g++)
            r->similar[d * n_gts + g] = t->similarity(t->context, r->dets[d].a, r->gts[g].a, r->gts[g].crowd);
    return match_image(r, n_dets, n_gts, err);
}

/* --- one class --- */

/* Precision at the 101 recalls, their mean and the last recall, at one threshold. */
static void read_curve(run *r, int t, int64_t wanted, double *ap, double *recall)
{
    int64_t right = 0, wrong = 0;
    size_t kept = 0;
    uint16_t bit = (uint16_t)(1u << t);
    /* Points of the curve in place: (right, precision) behind the verdicts' own data. */
    double *precision = r->similar;
    double *reached = r->similar + r->n_verdicts;
    for (size_t i = 0; i < r->n_verdicts; i++) {
        const sk_verdict *v = &r->verdicts[i];
        right += (v->right & bit) != 0;
        wrong += !((v->right | v->ignored) & bit);
        reached[kept] = (double)right / (double)wanted;
        precision[kept++] = (double)right / ((double)wrong + (double)right + DBL_EPSILON);
    }
    *recall = kept ? reached[kept - 1] : 0;
    for (size_t i = kept; i-- > 1;)
        if (precision[i] > precision[i - 1])
            precision[i - 1] = precision[i];
    double sum = 0;
    size_t at = 0;
    for (int k = 0; k < RECALLS; k++) {
        double level = k == RECALLS - 1 ? 1 : (double)k * 0.01;
        while (at < kept && reached[at] < level)
            at++;
        if (at < kept)
            sum += precision[at];
    }
    *ap = sum / RECALLS;
}

static void count_at_half(run *r, sk_eval_score *s)
{
    int64_t right = 0, wrong = 0;
    s->best_f1 = s->best_confidence = -1;
    for (size_t i = 0; i < r->n_verdicts; i++) {
        const sk_verdict *v = &r->verdicts[i];
        right += v->right & 1;
        wrong += !((v->right | v->ignored) & 1);
        bool last = i + 1 == r->n_verdicts || r->verdicts[i + 1].score < v->score;
        double f1 = 2 * (double)right / (double)(right + wrong + s->wanted);
        if (last && s->wanted > 0 && f1 > s->best_f1) {
            s->best_f1 = f1;
            s->best_confidence = v->score;
        }
    }
    s->right = right;
    s->wrong = wrong;
}

static void divide(sk_eval_score *s)
{
    s->found = s->right + s->wrong;
    s->missed = s->wanted - s->right;
    s->precision = s->found ? (double)s->right / (double)s->found : -1;
    s->recall = s->wanted ? (double)s->right / (double)s->wanted : -1;
    s->f1 = s->found + s->wanted ? 2 * (double)s->right / (double)(s->found + s->wanted) : -1;
}

static sk_status run_class(run *r, int32_t class_id, size_t *at_found, size_t *at_wanted, sk_error *err)
{
    sk_eval_score *s = &r->out->classes[class_id];
    r->n_verdicts = 0;
    for (;;) {
        const entry *f = &r->found[*at_found], *w = &r->wanted[*at_wanted];
        bool more_found = *at_found < r->n_found && f->class_id == class_id;
        bool more_wanted = *at_wanted < r->n_wanted && w->class_id == class_id;
        if (!more_found && !more_wanted)
            break;
        int32_t rank = !more_wanted || (more_found && f->rank < w->rank) ? f->rank : w->rank;
        size_t n_found = 0, n_wanted = 0;
        while (*at_found + n_found < r->n_found && f[n_found].class_id == class_id && f[n_found].rank == rank)
            n_found++;
        for (; *at_wanted + n_wanted < r->n_wanted && w[n_wanted].class_id == class_id &&
               w[n_wanted].rank == rank;
             n_wanted++) {
            bool ignored = is_ignored(r, &r->task->truth->items[w[n_wanted].index]);
            s->ignored += ignored;
            s->wanted += !ignored;
        }
        SK_TRY(run_image(r, f, n_found, w, n_wanted, err));
        *at_found += n_found;
        *at_wanted += n_wanted;
    }
    if (r->n_verdicts)
        qsort(r->verdicts, r->n_verdicts, sizeof *r->verdicts, compare_verdicts);
    SK_TRY(sk_array_reserve((void **)&r->similar, &r->similar_capacity, 2 * r->n_verdicts + 1,
                            sizeof *r->similar, SIZE_MAX / 64, err));
    if (r->task->observe)
        SK_TRY(r->task->observe(r->task->observer, class_id, r->verdicts, r->n_verdicts, s->wanted, err));
    count_at_half(r, s);
    divide(s);
    s->ap = s->ap50 = s->ap75 = s->ar = -1;
    if (s->wanted == 0)
        return SK_OK;
    double ap = 0, ar = 0;
    for (int t = 0; t < T; t++) {
        double one, recall;
        read_curve(r, t, s->wanted, &one, &recall);
        ap += one;
        ar += recall;
        if (t == 0)
            s->ap50 = one;
        if (t == 5)
            s->ap75 = one;
    }
    s->ap = ap / T;
    s->ar = ar / T;
    return SK_OK;
}

/* Means over the classes that have truth; counts over all. */
static void sum_up(sk_precision_result *out, int32_t n_classes)
{
    sk_eval_score *all = &out->all;
    double ap = 0, ap50 = 0, ap75 = 0, ar = 0;
    int32_t counted = 0;
    for (int32_t c = 0; c < n_classes; c++) {
        const sk_eval_score *s = &out->classes[c];
        all->wanted += s->wanted;
        all->ignored += s->ignored;
        all->right += s->right;
        all->wrong += s->wrong;
        if (s->wanted == 0)
            continue;
        counted++;
        ap += s->ap, ap50 += s->ap50, ap75 += s->ap75, ar += s->ar;
    }
    divide(all);
    all->ap = counted ? ap / counted : -1;
    all->ap50 = counted ? ap50 / counted : -1;
    all->ap75 = counted ? ap75 / counted : -1;
    all->ar = counted ? ar / counted : -1;
    all->best_f1 = all->best_confidence = -1;
    if (n_classes == 1) {
        all->best_f1 = out->classes[0].best_f1;
        all->best_confidence = out->classes[0].best_confidence;
    }
}

sk_status sk_precision_run(const sk_precision_task *task, sk_precision_result *out, sk_error *err)
{
    *out = (sk_precision_result){0};
    run r = {.task = task, .out = out};
    sk_status status = SK_OK;
    int32_t n = task->pairing->n_classes;
    out->classes = sk_calloc((size_t)n + 1, sizeof *out->classes);
    if (!out->classes) {
        status = sk_fail_memory(err, (size_t)n * sizeof *out->classes);
        goto done;
    }
    SK_TRY_GOTO(collect(&r, err));
    size_t at_found = 0, at_wanted = 0;
    for (int32_t c = 0; c < n; c++)
        SK_TRY_GOTO(run_class(&r, c, &at_found, &at_wanted, err));
    sum_up(out, n);
done:
    sk_free_all(r.found, r.wanted, r.verdicts, r.similar, r.dets, r.gts, r.taken, r.near, r.near_first);
    if (status != SK_OK)
        sk_precision_free(out);
    return status;
}

void sk_precision_free(sk_precision_result *result)
{
    sk_free(result->classes);
    sk_free(result->matches);
    *result = (sk_precision_result){0};
}
