/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/agreement.h"

#include "base/memory.h"
#include "eval/keypoints.h"
#include "tasks/overlap.h"

#include <math.h>

typedef struct tally {
    double sum;
    int64_t count;
    sk_agreement *out;
} tally;

static void add(tally *t, double distance)
{
    t->sum += distance;
    t->count++;
    t->out->largest_px = fmax(t->out->largest_px, distance);
}

/* The farther of the corners, the boxes' halves turned or not: a box and itself turned by pi are the same. */
static double corner_distance(const double a[5], const double b[5])
{
    double p[8], q[8], best = INFINITY;
    sk_oriented_corners(a, p);
    sk_oriented_corners(b, q);
    for (int turn = 0; turn < 4; turn++) {
        double worst = 0;
        for (int i = 0; i < 4; i++) {
            int k = (i + turn) % 4;
            worst = fmax(worst, hypot(p[2 * i] - q[2 * k], p[2 * i + 1] - q[2 * k + 1]));
        }
        best = fmin(best, worst);
    }
    return best;
}

static void compare(const sk_annotation_set *first, const sk_annotation_set *second, const sk_annotation *a,
                    const sk_annotation *b, tally *t)
{
    t->out->largest_score = fmax(t->out->largest_score, fabs(a->score - b->score));
    if (a->has & b->has & SK_HAS_OBB)
        add(t, corner_distance(a->obb, b->obb));
    if (a->has & b->has & SK_HAS_BOX) {
        add(t, hypot(a->box[0] - b->box[0], a->box[1] - b->box[1]));
        add(t, hypot(a->box[0] + a->box[2] - b->box[0] - b->box[2],
                     a->box[1] + a->box[3] - b->box[1] - b->box[3]));
    }
    for (int32_t k = 0; (a->has & b->has & SK_HAS_KEYPOINTS) && k < first->n_keypoints; k++) {
        const sk_annotation_point *p = &first->points[a->first + (size_t)k];
        const sk_annotation_point *q = &second->points[b->first + (size_t)k];
        if (!isnan(p->x) && !isnan(q->x))
            add(t, hypot(p->x - q->x, p->y - q->y));
    }
}

static double obb_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                             bool crowd)
{
    (void)context;
    return sk_overlap_oriented(found->obb, wanted->obb, crowd);
}

static double box_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                             bool crowd)
{
    (void)context;
    return sk_overlap_boxes(found->box, wanted->box, crowd);
}

/* Pairs by boxes where there are any, else by keypoints. */
static sk_status pair(const sk_annotation_set *first, const sk_annotation_set *second,
                      const sk_pairing *pairing, sk_eval_match **matches, size_t *count, sk_error *err)
{
    uint32_t both = first->has & second->has;
    if (both & (SK_HAS_OBB | SK_HAS_BOX)) {
        bool turned = both & SK_HAS_OBB;
        sk_precision_task task = {.result = second,
                                  .truth = first,
                                  .pairing = pairing,
                                  .similarity = turned ? obb_similarity : box_similarity,
                                  .has = turned ? SK_HAS_OBB : SK_HAS_BOX,
                                  .max_det = INT32_MAX};
        sk_precision_result result;
        SK_TRY(sk_precision_run(&task, &result, err));
        *matches = result.matches;
        *count = result.n_matches;
        result.matches = NULL;
        sk_precision_free(&result);
        return SK_OK;
    }
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    settings.min_visible = 0;
    sk_keypoint_task task = {.result = second,
                             .truth = first,
                             .pairing = pairing,
                             .settings = &settings,
                             .body_from = -1,
                             .body_to = -1};
    return sk_keypoint_match(&task, matches, count, err);
}

sk_status sk_agreement_measure(const sk_annotation_set *first, const sk_annotation_set *second,
                               sk_agreement *out, sk_error *err)
{
    *out = (sk_agreement){.first = (int64_t)first->n_items, .second = (int64_t)second->n_items};
    if (!first->n_items || !second->n_items)
        return SK_OK;
    sk_pairing pairing;
    sk_eval_match *matches = NULL;
    size_t count = 0;
    SK_TRY(sk_pairing_open(second, first, false, &pairing, err));
    sk_status status = SK_OK;
    if (first->n_keypoints != second->n_keypoints) {
        status = sk_fail(err, SK_ERR_MISMATCH, "the two results have %d and %d keypoints", first->n_keypoints,
                         second->n_keypoints);
        goto done;
    }
    SK_TRY_GOTO(pair(first, second, &pairing, &matches, &count, err));
    tally t = {.out = out};
    for (size_t i = 0; i < count; i++)
        compare(first, second, &first->items[matches[i].wanted], &second->items[matches[i].found], &t);
    out->paired = (int64_t)count;
    out->mean_px = t.count ? t.sum / (double)t.count : 0;
done:
    sk_free(matches);
    sk_pairing_free(&pairing);
    return status;
}
