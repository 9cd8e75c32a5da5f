/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_EVAL_H
#define SK_EVAL_EVAL_H

#include "base/json_write.h"
#include "eval/tracking.h"
#include "eval/yolo_score.h"

/* How good a result is, measured against the truth: boxes, oriented boxes and poses by COCO's rules, keypoints by
 * distance. docs/eval.md defines every number. */

#define SK_EVAL_MAX_PCK 8

typedef struct sk_eval_settings {
    double confidence;    /* detections below do not count; default 0: all there are */
    double min_visible;   /* truth seen less than this is neither wanted nor wrong; default 0.3 */
    bool any_class;       /* classes do not matter */
    int32_t box_max_det;  /* a frame and class; default 100 */
    int32_t pose_max_det; /* default 20 */
    const double *sigmas; /* of the keypoints both name, or one for all; null: 0.05; borrowed */
    int32_t n_sigmas;
    const char *body_from,
        *body_to;                /* keypoints whose distance is the body's length; null: see docs/eval.md */
    double pck[SK_EVAL_MAX_PCK]; /* parts of the body's length; default 0.05, 0.1, 0.2 */
    int32_t n_pck;
    bool covered_only; /* frames of the truth that the result does not have are left out */
    double
        distance; /* tracks: centres this many pixels apart, or more, are not similar; 0: a body's length */
    double shift; /* added to the result's keypoints; 0.5 brings SLEAP's pixel centres to pixel edges */
} sk_eval_settings;

void sk_eval_defaults(sk_eval_settings *settings);

extern const double sk_eval_coco_sigmas[17]; /* of COCO's person */

/* Distances between keypoints that were found and where they are. Numbers are -1 where there is nothing to measure. */
typedef struct sk_eval_errors {
    int64_t wanted;                                   /* labelled keypoints of truth that should be found */
    int64_t measured;                                 /* of which the result has one, on an animal it found */
    double median, mean, p90;                         /* pixels */
    double median_percent, mean_percent, p90_percent; /* of the body's length */
    double pck
        [SK_EVAL_MAX_PCK]; /* part of `wanted` that lies within pck * length; what was not found does not */
} sk_eval_errors;

typedef struct sk_eval_row {
    char name[96];
    sk_eval_score box, obb, pose;
    sk_eval_errors points;
} sk_eval_row;

/* How similar animals of a frame are, for tracks: overlap of boxes and of turned boxes, distance of centres, OKS. */
typedef enum sk_tracks_kind {
    SK_TRACKS_BOX,
    SK_TRACKS_OBB,
    SK_TRACKS_POINT,
    SK_TRACKS_POSE,
    SK_TRACKS_KINDS
} sk_tracks_kind;

typedef struct sk_eval_tracks {
    bool measured; /* both sides have tracks, and what is compared */
    sk_track_score all, *classes;
} sk_eval_tracks;

typedef struct sk_eval_report {
    size_t frames;     /* of the truth */
    size_t covered;    /* of which the result has something to say */
    uint32_t compared; /* SK_HAS_…: what both have */
    sk_eval_row all;
    size_t n_classes;
    sk_eval_row *classes;
    int32_t n_keypoints;
    sk_eval_row *keypoints; /* only name and points */
    int32_t n_pck;
    double pck[SK_EVAL_MAX_PCK];
    /* Truth that names the class of whole pictures: of how many, and the share whose class is the best, and among the five
     * best. Then nothing else is measured but the confusion. */
    int64_t classified; /* 0: something else was measured */
    double top1, top5;
    /* As `yolo val` counts, and what was taken for what: by oriented boxes where both have them, else by boxes. */
    sk_yolo_score yolo_box, yolo_obb, yolo_pose;
    sk_confusion confusion;
    sk_eval_tracks tracks[SK_TRACKS_KINDS];
    double track_distance; /* pixels: centres so far apart are not similar at all; 0: not known */
    const char *length;    /* what the body's length was taken from */
    const char *matched;   /* how poses were put together for the distances */
    sk_text notes;         /* what was left out and why, a line each */
} sk_eval_report;

/* The report is ended by sk_eval_free. */
sk_status sk_eval_run(const sk_annotation_set *result, const sk_annotation_set *truth,
                      const sk_eval_settings *settings, sk_eval_report *out, sk_error *err) SK_MUST_CHECK;
void sk_eval_free(sk_eval_report *report);

/* Writes the report as one object. */
void sk_eval_to_json(const sk_eval_report *report, sk_json *json);
/* Every class's curves, point by point, as one object. */
void sk_eval_curves_to_json(const sk_eval_report *report, sk_json *json);

/* Pictures of the report as SVG, one after the other: BoxPR_curve.svg, BoxF1_curve.svg, BoxP_curve.svg, BoxR_curve.svg,
 * the same for OBB and Pose, confusion_matrix.svg and confusion_matrix_normalized.svg. False when there is no i-th one. */
bool sk_eval_plot(const sk_eval_report *report, int i, char name[64], sk_text *svg);

#endif
