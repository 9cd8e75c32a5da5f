/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_INSTANCE_FILTER_H
#define SK_TASKS_INSTANCE_FILTER_H

#include "tasks/detector_settings.h"
#include "base/instances.h"

/* Which of the poses found in a frame are kept, by the rules of sleap-nn's filters and in their order: enough nodes, a good
 * enough score, no better pose in the same place; and of centroids none too close to a better one. */

/* Is there anything to do? Not with the defaults. */
bool sk_instance_filter_on(const sk_sleap_options *options);
/* Drops what does not pass; the rest stays in its order. Allocates nothing. */
void sk_instance_filter(const sk_sleap_options *options, sk_instances *instances);

/* Overlap of the boxes around two poses' nodes; 0 where one has none. */
float sk_pose_iou(const sk_keypoint *a, const sk_keypoint *b, int32_t n);
/* Likeness of two poses by the nodes both have, measured by the box around the first. */
float sk_pose_oks(const sk_keypoint *a, const sk_keypoint *b, int32_t n);

#endif
