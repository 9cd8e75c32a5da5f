/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_INSTANCE_H
#define SKITTER_INSTANCE_H

#include "skitter/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was found in one frame: a list, read through functions, so that later versions can say more about an instance
 * without breaking programs of today.
 *
 * Coordinates are pixels of the original frame, x to the right and y down. YOLO's have pixel edges at integers (a box
 * around the whole frame is 0, 0, width, height), SLEAP's have pixel centres at integers, each as the original program
 * gives them.
 *
 *     sk_instance animal = SK_INSTANCE_INIT;
 *     for (int32_t i = 0; i < sk_instances_count(list); i++) {
 *         sk_instances_get(list, i, &animal);
 *         const sk_keypoint *points = sk_instances_keypoints(list, i);
 *     }
 *
 * Threads: a list may be read from any number of threads; nobody changes it while it can be seen. */
typedef struct sk_instances sk_instances;

/* A point of a pose. This struct never changes its size: they lie in arrays. */
typedef struct sk_keypoint {
    /* pixels; NaN: not found */
    float x, y;
    /* 0 … 1; 1 where the model gives none */
    float score;
} sk_keypoint;

/* What of an instance is set: bits of sk_instance.has. */
#define SK_HAS_BOX       1u /* box */
#define SK_HAS_OBB       2u /* obb */
#define SK_HAS_KEYPOINTS 4u /* sk_instances_keypoints */

/* One instance, best first in the list of a YOLO model. Fields may be added at the end. */
typedef struct sk_instance {
    /* sizeof(sk_instance), by SK_INSTANCE_INIT */
    uint32_t size;
    /* SK_HAS_… */
    uint32_t has;
    /* index into the model's classes; -1: none */
    int32_t class_id;
    /* of the detection or the whole instance, 0 … 1 (SLEAP: sums may pass 1) */
    float score;
    /* x1, y1, x2, y2 */
    float box[4];
    /* cx, cy, width, height, angle in radians, clockwise on the screen */
    float obb[5];
    /* -1: not tracked */
    int32_t track_id;
    /* class probability of multi-class models, or the tracker's; 0: none */
    float tracking_score;
} sk_instance;

/* The only way to begin one that sk_instances_get is to fill. */
#define SK_INSTANCE_INIT SK_INIT_BY_SIZE(sk_instance)

/* How many there are; 0 for a null list. */
SK_API int32_t sk_instances_count(const sk_instances *list);
/* Points of each instance; 0: the model gives none. */
SK_API int32_t sk_instances_keypoint_count(const sk_instances *list);
/* Copies instance `index` (0 … count-1) as far as out->size reaches. An index out of range, or a size of 0, gives false
 * and leaves *out alone. */
SK_API bool sk_instances_get(const sk_instances *list, int32_t index, sk_instance *out);
/* Its points, sk_instances_keypoint_count of them, borrowed from the list; null: none, or the index is out of range. */
SK_API const sk_keypoint *sk_instances_keypoints(const sk_instances *list, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
