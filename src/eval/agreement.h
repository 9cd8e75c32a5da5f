/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_AGREEMENT_H
#define SK_EVAL_AGREEMENT_H

#include "results/annotations.h"

/* How far two results of the same frames say the same: two runtimes, two versions. */
typedef struct sk_agreement {
    int64_t first, second,
        paired; /* detections of each, and those both have: of one class, overlapping by half */
    double largest_px, mean_px; /* between corners or keypoints of the paired ones; 0 where there is none */
    double largest_score;       /* difference of confidences */
} sk_agreement;

sk_status sk_agreement_measure(const sk_annotation_set *first, const sk_annotation_set *second,
                               sk_agreement *out, sk_error *err) SK_MUST_CHECK;

#endif
