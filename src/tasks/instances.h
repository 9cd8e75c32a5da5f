/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_INSTANCES_H
#define SK_TASKS_INSTANCES_H

#include "base/error.h"
#include "skitter/instance.h"

/* Room for `capacity` instances of `n_keypoints` each; count 0. */
sk_status sk_instances_alloc(int32_t capacity, int32_t n_keypoints, sk_instances *out,
                             sk_error *err) SK_MUST_CHECK;
void sk_instances_free(sk_instances *instances);

/* Appends an empty instance: nothing set, class and track -1, keypoints NaN with score 0. Null when full. */
sk_instance *sk_instances_add(sk_instances *instances);

#endif
