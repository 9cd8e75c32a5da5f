/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_OVERLAP_H
#define SK_TASKS_OVERLAP_H

#include <stdbool.h>

/* How much two shapes share: intersection over union, or over the first one's own area where the second is a crowd, as
 * COCO counts. 0 for shapes without area. */

/* x, y, width, height */
double sk_overlap_boxes(const double found[4], const double truth[4], bool crowd);
/* cx, cy, w, h, radians: the exact polygons */
double sk_overlap_oriented(const double found[5], const double truth[5], bool crowd);

/* The four corners, (x, y) in turn. */
void sk_oriented_corners(const double obb[5], double corners[8]);

#endif
