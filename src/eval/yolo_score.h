/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_YOLO_SCORE_H
#define SK_EVAL_YOLO_SCORE_H

#include "eval/precision.h"

/* The figures of `yolo val`, by Ultralytics' own definitions (8.4), which differ from COCO's: precision and recall at the
 * confidence where the smoothed mean of F1 over the classes is best; average precision as the area below the curve that
 * joins 101 recalls by straight lines; oriented boxes compared by probabilistic overlap; poses by a similarity with
 * 0.53 of the box's area and the same sigma, 1 / number of keypoints, for all (COCO's where there are 17). */

#define SK_YOLO_POINTS 1000 /* of a curve: confidences, or recalls, 0 to 1 */

typedef struct sk_yolo_row {
    int64_t images, instances; /* truth: pictures with one, and how many */
    double precision, recall, ap50, ap;
} sk_yolo_row;

typedef struct sk_yolo_score {
    bool measured;
    sk_yolo_row all, *classes; /* n_classes of them; means over those with truth */
    int32_t n_classes;
    double confidence; /* where precision and recall were read */
    /* n_classes x SK_YOLO_POINTS; rows of classes without truth are not used. */
    double *precision, *recall; /* by confidence */
    double *curve;              /* precision by recall, at an overlap of 0.5 */
} sk_yolo_score;

/* `task` with the similarity that Ultralytics uses. */
sk_status sk_yolo_score_run(const sk_precision_task *task, sk_yolo_score *out, sk_error *err) SK_MUST_CHECK;
void sk_yolo_score_free(sk_yolo_score *score);
/* A point of a class's curve: 0 precision by recall, 1 F1 by confidence, 2 precision and 3 recall by confidence. */
double sk_yolo_curve(const sk_yolo_score *score, int32_t class_id, int which, int point);

/* Similarities: context is a sk_keypoint_task for poses. */
double sk_yolo_obb_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                              bool crowd);
double sk_yolo_pose_similarity(const void *context, const sk_annotation *found, const sk_annotation *wanted,
                               bool crowd);

/* What was taken for what: rows are the result's classes, columns the truth's, the last of each "nothing". */
typedef struct sk_confusion {
    int32_t n_classes; /* 0: not measured */
    int64_t *counts;   /* (n_classes + 1) squared */
} sk_confusion;

/* Detections of any class, best first, take the free truth they overlap most, if by more than 0.45. */
sk_status sk_confusion_run(const sk_precision_task *task, sk_confusion *out, sk_error *err) SK_MUST_CHECK;
void sk_confusion_free(sk_confusion *confusion);

#endif
