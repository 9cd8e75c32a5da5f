/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_YOLO_POST_H
#define SK_TASKS_YOLO_POST_H

#include "tasks/letterbox.h"
#include "tasks/scale_back.h"
#include "tasks/yolo_decode.h"

/* From a YOLO network's outputs for one image to instances in the frame: decode, suppress, scale back.
 * Detect, pose and oriented boxes; of segmentation models the boxes. */

typedef struct sk_yolo_settings {
    uint32_t size;          /* sizeof, for growth */
    float confidence;       /* keep score > this; default 0.25 */
    double iou;             /* suppress overlap above this; default 0.7 */
    int32_t max_det;        /* most instances an image; default 300 */
    int32_t agnostic;       /* 1: boxes of different classes suppress each other; default 0 */
    const int32_t *classes; /* only these; null = all. Copied. */
    int32_t n_classes;
    sk_obb_form obb_form; /* default SK_OBB_LONG_SIDE */
} sk_yolo_settings;

sk_yolo_settings sk_yolo_settings_defaults(void);

typedef struct sk_yolo_post sk_yolo_post;

/* For images whose network input is at most max_width x max_height. */
sk_status sk_yolo_post_open(const sk_yolo_spec *spec, sk_task task, const sk_yolo_settings *settings,
                            int32_t max_width, int32_t max_height, sk_yolo_post **out,
                            sk_error *err) SK_MUST_CHECK;
void sk_yolo_post_close(sk_yolo_post **post);

/* Fills `out` anew, best first; it must hold max_det instances of the model's keypoints. Allocates
 * nothing. */
sk_status sk_yolo_post_run(sk_yolo_post *post, sk_yolo_form form, const sk_map *maps, int32_t n_maps,
                           const sk_letterbox_geometry *geometry, sk_instances *out,
                           sk_error *err) SK_MUST_CHECK;

#endif
