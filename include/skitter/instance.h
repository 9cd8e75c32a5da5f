/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_INSTANCE_H
#define SKITTER_INSTANCE_H

#include "skitter/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was found in one frame. Coordinates are pixels of the original frame, x to the right and y down; YOLO's have
 * pixel edges at integers, SLEAP's have pixel centres at integers, each as the original program gives them. */

typedef struct sk_keypoint {
    float x, y;  /* NaN: not found */
    float score; /* 0..1; 1 where the model gives none */
} sk_keypoint;

#define SK_HAS_BOX       1u /* box is set */
#define SK_HAS_OBB       2u /* obb is set */
#define SK_HAS_KEYPOINTS 4u /* keypoints are set */

typedef struct sk_instance {
    uint32_t has;           /* SK_HAS_… */
    int32_t class_id;       /* index into the model's classes; -1 none */
    float score;            /* the detection's or the instance's score */
    float box[4];           /* x1, y1, x2, y2 */
    float obb[5];           /* cx, cy, w, h, angle in radians */
    int32_t first_keypoint; /* index into sk_instances.keypoints; n_keypoints of them */
    int32_t track_id;       /* -1 none */
    float tracking_score;   /* class probability of multi-class models, or the tracker's; 0 none */
} sk_instance;

/* A fixed-capacity list, allocated once and filled anew for every frame. */
typedef struct sk_instances {
    int32_t count, capacity;
    sk_instance *items;
    int32_t n_keypoints;    /* of each instance; 0 for models without */
    sk_keypoint *keypoints; /* capacity * n_keypoints */
} sk_instances;

/* Room for `capacity` instances of `n_keypoints` each; count 0. */
SK_API sk_status sk_instances_alloc(int32_t capacity, int32_t n_keypoints, sk_instances *out,
                                    sk_error *err) SK_MUST_CHECK;
SK_API void sk_instances_free(sk_instances *instances);

#ifdef __cplusplus
}
#endif
#endif
