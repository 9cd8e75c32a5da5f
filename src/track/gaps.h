/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_GAPS_H
#define SK_TRACK_GAPS_H

#include "track/track.h"

/* Frames without a sighting between two of one track, found as the sightings go by, and what is told of them. */

typedef struct sk_gap {
    int64_t from, to; /* places of the frames on both sides */
    sk_sighting before, after;
    double bend_before[2], bend_after[2]; /* of x and y: second derivatives; 0: straight */
} sk_gap;

typedef struct sk_gaps {
    sk_gap *items; /* once finished: by the frame they end at */
    size_t count, capacity;
    int64_t longest; /* frames between: longer ones are left */
    struct sk_gap_track *tracks;
    int32_t n_tracks;
} sk_gaps;

/* `curved`: a natural cubic spline through the positions of each track; 16 on each side of a gap are looked at, the rest changes
 * a position by less than 1e-8 of what it bends. */
sk_status sk_gaps_open(sk_gaps *gaps, int32_t tracks, int64_t longest, bool curved,
                       sk_error *err) SK_MUST_CHECK;
/* The next sighting, of the at-th frame; frames rise. */
sk_status sk_gaps_add(sk_gaps *gaps, int64_t at, const sk_sighting *seen, sk_error *err) SK_MUST_CHECK;
void sk_gaps_finish(sk_gaps *gaps);
/* The first gap that ends behind the at-th frame. */
size_t sk_gaps_behind(const sk_gaps *gaps, int64_t at);
/* The covered sighting in it. */
sk_sighting sk_gap_at(const sk_gap *gap, int64_t frame);
void sk_gaps_free(sk_gaps *gaps);

#endif
