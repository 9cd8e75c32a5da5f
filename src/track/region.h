/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_REGION_H
#define SK_TRACK_REGION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where animals are looked for: inside of any including shape (everywhere, where there is none), outside of all excluding
 * ones, and on a mask's pixels that are not 0. A point on the edge of a shape is inside of it: corners count. */
typedef struct sk_region sk_region;

sk_status sk_region_open(sk_region **out, sk_error *err) SK_MUST_CHECK;
void sk_region_close(sk_region **region);

/* A polygon of at least three corners x, y, x, y …, in any direction; where it crosses itself, even-odd. Copied. */
sk_status sk_region_add_polygon(sk_region *region, bool include, const double *xy, int32_t corners,
                                sk_error *err) SK_MUST_CHECK;
sk_status sk_region_add_circle(sk_region *region, bool include, double x, double y, double radius,
                               sk_error *err) SK_MUST_CHECK;
/* A picture of the frame's size; `values` begins at the upper left pixel, rows `stride` bytes apart. Copied; a second one is
 * refused. Outside of the picture is outside of the region. */
sk_status sk_region_set_mask(sk_region *region, const uint8_t *values, int32_t width, int32_t height,
                             size_t stride, sk_error *err) SK_MUST_CHECK;

/* Refuses frames of another size than the mask's, of which it would take the wrong part. */
sk_status sk_region_fits(const sk_region *region, const char *source, int32_t width, int32_t height,
                         sk_error *err) SK_MUST_CHECK;

/* A shape that was added: x, y of its corners, or of a circle (0 corners) x, y, radius; lent. False past the last. */
typedef struct sk_region_shape {
    bool include;
    int32_t corners;
    const double *xy;
} sk_region_shape;
bool sk_region_shape_at(const sk_region *region, size_t index, sk_region_shape *out);

/* Pixels, pixel edges at whole numbers. */
bool sk_region_holds(const sk_region *region, double x, double y);

#endif
