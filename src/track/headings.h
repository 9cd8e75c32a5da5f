/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_HEADINGS_H
#define SK_TRACK_HEADINGS_H

#include "track/seen_store.h"

/* Which end of every sighting is the head: decided over each whole track, so that poses and motion are heard, and reversals of at
 * most `burst` frames are not believed. `track` says of each detection whose it is (-1: nobody's); turned[i] becomes 1 where
 * a detection's heading (or long axis) is to be turned by pi. */
sk_status sk_headings_decide(sk_seen_store *store, const int32_t *track, int32_t tracks, int32_t burst,
                             uint8_t *turned, sk_error *err) SK_MUST_CHECK;
/* A detection's heading, 0 … 2 pi. */
double sk_heading_of(const sk_detection *detection, bool turned);

#endif
