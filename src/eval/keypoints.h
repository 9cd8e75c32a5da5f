/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_KEYPOINTS_H
#define SK_EVAL_KEYPOINTS_H

#include "eval/eval.h"

/* Inside eval/: what is done with keypoints. */
typedef struct sk_keypoint_task {
    const sk_annotation_set *result, *truth;
    const sk_pairing *pairing;
    const sk_eval_settings *settings;
    double *sigmas;             /* pairing->n_keypoints */
    int32_t body_from, body_to; /* in the truth; -1: not asked for */
} sk_keypoint_task;

/* Of the truth's box; of the one around its keypoints where it has none (SLEAP). */
double sk_keypoint_box_area(const sk_keypoint_task *task, const sk_annotation *wanted);
/* The truth's area that OKS is measured by: as the file gives it, else the box's. */
double sk_keypoint_area(const sk_keypoint_task *task, const sk_annotation *wanted);
/* COCO's object keypoint similarity; the context is a sk_keypoint_task. */
double sk_keypoint_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                              bool crowd);

/* Puts poses together by distance where there are no boxes: detections by falling score, each with the nearest free truth
 * within half a body's length. */
sk_status sk_keypoint_match(const sk_keypoint_task *task, sk_eval_match **matches, size_t *count,
                            sk_error *err) SK_MUST_CHECK;
/* Distances of the matched ones: overall, by class and by keypoint, into the report. */
sk_status sk_keypoint_errors(const sk_keypoint_task *task, const sk_eval_match *matches, size_t count,
                             sk_eval_report *report, sk_error *err) SK_MUST_CHECK;

#endif
