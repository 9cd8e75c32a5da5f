/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_INSTANCES_H
#define SK_BASE_INSTANCES_H

#include "base/error.h"
#include "skitter/instance.h"

/* The insides of a list of instances, for whoever fills, filters and writes them. Callers of the library see it through
 * skitter/instance.h. */

/* One instance as it lies in the list: sk_instance, and where its points are. */
typedef struct sk_found {
    uint32_t has; /* SK_HAS_… */
    int32_t class_id;
    float score;
    float box[4];
    float obb[5];
    int32_t first_keypoint; /* index into sk_instances.keypoints; n_keypoints of them */
    int32_t track_id;
    float tracking_score;
} sk_found;

/* A fixed-capacity list, allocated once and filled anew for every frame. */
struct sk_instances {
    int32_t count, capacity;
    sk_found *items;
    int32_t n_keypoints;    /* of each instance; 0 for models without */
    sk_keypoint *keypoints; /* capacity * n_keypoints */
};

/* Room for `capacity` instances of `n_keypoints` each; count 0. */
sk_status sk_instances_alloc(int32_t capacity, int32_t n_keypoints, sk_instances *out,
                             sk_error *err) SK_MUST_CHECK;
void sk_instances_free(sk_instances *instances);
/* Appends an empty instance: nothing set, class and track -1, keypoints NaN with score 0. Null when full. */
sk_found *sk_instances_add(sk_instances *instances);

#endif
