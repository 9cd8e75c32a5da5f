/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_PRECISION_H
#define SK_EVAL_PRECISION_H

#include "eval/pairing.h"

/* Precision and recall as COCO's evaluator defines them: detections by falling score, each taking the best free truth
 * of its image and class that is similar enough; crowds and ignored truth neither help nor hurt; precision read at 101
 * recalls; the mean over ten thresholds of similarity, 0.50 to 0.95. */

#define SK_EVAL_THRESHOLDS 10

/* How similar annotation `found` of the result is to annotation `wanted` of the truth, 0..1. */
typedef double (*sk_similarity)(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                                bool crowd);

/* One detection after all images of its class were looked at. */
typedef struct sk_verdict {
    double score;
    size_t order;            /* among equal scores, the earlier comes first */
    uint16_t right, ignored; /* a bit for every threshold */
} sk_verdict;

typedef struct sk_precision_task {
    const sk_annotation_set *result, *truth;
    const sk_pairing *pairing;
    sk_similarity similarity;
    const void *context;
    uint32_t has;       /* the SK_HAS_… part that is compared; annotations without it do not exist */
    int32_t max_det;    /* best detections of an image and class that count */
    double confidence;  /* detections below do not exist */
    double min_visible; /* truth seen less than this is a crowd */
    bool need_labels;   /* truth without a labelled keypoint is ignored */
    /* Sees every class's detections, best first, and how many were wanted; null: nobody does. */
    sk_status (*observe)(void *observer, int32_t class_id, const sk_verdict *verdicts, size_t count,
                         int64_t wanted, sk_error *err);
    void *observer;
} sk_precision_task;

/* What holds for one class, or for all. Ratios are -1 where there is nothing to divide by. */
typedef struct sk_eval_score {
    int64_t wanted;               /* truth that should be found */
    int64_t ignored;              /* truth that need not */
    int64_t found;                /* detections that count */
    int64_t right, wrong, missed; /* at similarity 0.5 */
    double precision, recall, f1; /* at similarity 0.5, of all detections there are */
    double ap, ap50, ap75;        /* ap: the mean over the ten thresholds */
    double ar;                    /* recall, the mean over the ten thresholds */
    double best_f1, best_confidence;
} sk_eval_score;

/* A detection and the truth it took at similarity 0.5. */
typedef struct sk_eval_match {
    size_t found, wanted;
} sk_eval_match;

typedef struct sk_precision_result {
    sk_eval_score all;
    sk_eval_score *classes; /* pairing->n_classes of them */
    size_t n_matches, matches_capacity;
    sk_eval_match *matches;
} sk_precision_result;

sk_status sk_precision_run(const sk_precision_task *task, sk_precision_result *out,
                           sk_error *err) SK_MUST_CHECK;
void sk_precision_free(sk_precision_result *result);

/* Truth that need not be found. */
bool sk_annotation_is_crowd(const sk_annotation *a, double min_visible);

#endif
