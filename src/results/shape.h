/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_SHAPE_H
#define SK_RESULTS_SHAPE_H

#include "base/instances.h"

/* Where an instance is, in the forms that files want. Pixels of the frame. */

/* Four corners, x and y of each, in the order Ultralytics gives them. */
void sk_obb_corners(const float obb[5], double xy[8]);
/* The smallest turned rectangle around four points (x, y in turn): cx, cy, w, h, radians. */
void sk_obb_of_corners(const double corners[8], double obb[5]);
/* x, y, width, height: the box, or the smallest one around the oriented box or the keypoints that were found; zeros where
 * there is nothing. */
void sk_instance_bounds(const sk_instances *all, const sk_found *in, double box[4]);

#endif
