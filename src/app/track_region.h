/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_REGION_H
#define SK_APP_TRACK_REGION_H

#include "base/text.h"
#include "track/region.h"

/* Regions as people write them. Each is added to *region, which is opened for the first (null before), and to `identity`: the
 * same region is the same text. */

/* "x1,y1,x2,y2,x3,y3,…": a polygon; two corners: an upright rectangle; "circle:x,y,radius". With '!' in front it is left out of
 * the region, as with `exclude`. */
sk_status sk_track_region_add(const char *text, bool exclude, sk_region **region, sk_text *identity,
                              sk_error *err) SK_MUST_CHECK;
/* A picture of the frame's size: what is not black belongs to the region. */
sk_status sk_track_region_mask(const char *path, sk_region **region, sk_text *identity,
                               sk_error *err) SK_MUST_CHECK;

/* The region's shape as such a text, added to `out`; false past the last. */
bool sk_track_region_text(const sk_region *region, size_t index, sk_text *out);

#endif
