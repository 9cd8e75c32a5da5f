/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_SCALE_BACK_H
#define SK_TASKS_SCALE_BACK_H

#include "skitter/instance.h"
#include "tasks/letterbox.h"

/* From network input pixels back to the frame, by the rules of Ultralytics 8.3. Boxes undo the border
 * rounded to whole pixels, keypoints the border as it is; both are clipped to the frame. */

void sk_scale_back_box(const sk_letterbox_geometry *geometry, float box[4]);
void sk_scale_back_keypoints(const sk_letterbox_geometry *geometry, sk_keypoint *keypoints, int32_t count);
/* Which of the equivalent descriptions of an oriented box is used. */
typedef enum sk_obb_form {
    SK_OBB_LONG_SIDE = 0, /* Ultralytics 8.3.63: w >= h, angle in [0, pi) */
    SK_OBB_QUARTER = 1    /* newer Ultralytics: angle in [0, pi/2), w and h as they fall */
} sk_obb_form;

/* cx, cy, w, h, angle; the angle stays. 8.3 clips centre and sides to the frame like corners of a box,
 * newer versions do not; so do the two forms. */
void sk_scale_back_obb(const sk_letterbox_geometry *geometry, sk_obb_form form, float obb[5]);

void sk_obb_normalise(sk_obb_form form, float obb[5]);
/* The upright rectangle around an oriented box: x1, y1, x2, y2. */
void sk_obb_bounds(const float obb[5], float box[4]);

#endif
