/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_INSTANCES_H
#define SK_TASKS_INSTANCES_H

#include "base/error.h"
#include "skitter/instance.h"

/* Appends an empty instance: nothing set, class and track -1, keypoints NaN with score 0. Null when full. */
sk_instance *sk_instances_add(sk_instances *instances);

#endif
