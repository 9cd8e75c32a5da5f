/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SCALE_BACK_H
#define SK_TASKS_SCALE_BACK_H

#include "base/instances.h"
#include "tasks/letterbox.h"

/* From network input pixels back to the frame, by the rules of Ultralytics 8.4: the letterbox undone exactly, each axis
 * by itself, since each side was rounded to whole pixels by itself. Boxes and keypoints are clipped to the frame. As in
 * the original the sizes are worked out anew from the frame and the network's input: where a rectangle's border vanishes
 * they may come out a pixel smaller than the letterbox made them. */

void sk_scale_back_box(const sk_letterbox_geometry *geometry, float box[4]);
void sk_scale_back_keypoints(const sk_letterbox_geometry *geometry, sk_keypoint *keypoints, int32_t count);
/* Which of the equivalent descriptions of an oriented box is used. */
typedef enum sk_obb_form {
    SK_OBB_LONG_SIDE = 0, /* w >= h, angle in [0, pi); as Ultralytics 8.3 */
    SK_OBB_QUARTER = 1    /* angle in [0, pi/2), w and h as they fall; as early 8.4 */
} sk_obb_form;

/* cx, cy, w, h, angle; the angle stays, and nothing is clipped. To be done before a form is chosen: w goes with x and h
 * with y, whatever the angle. */
void sk_scale_back_obb(const sk_letterbox_geometry *geometry, float obb[5]);

void sk_obb_normalise(sk_obb_form form, float obb[5]);
/* The upright rectangle around an oriented box: x1, y1, x2, y2. */
void sk_obb_bounds(const float obb[5], float box[4]);

#endif
