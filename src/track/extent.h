/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_EXTENT_H
#define SK_TRACK_EXTENT_H

#include "track/track.h"

/* How large animals are of which only keypoints are known. One pose's extent says little (a single point has none, a point that
 * hopped to another animal makes it huge): the median of all that were seen is taken. */

#define SK_EXTENT_STEPS 16 /* of an octave */
#define SK_EXTENT_BINS  (16 * SK_EXTENT_STEPS)

typedef struct sk_extents {
    uint32_t major[SK_EXTENT_BINS], minor[SK_EXTENT_BINS]; /* how many were so long, by the logarithm */
    uint32_t n;
    double score; /* the mean of all */
    uint32_t scored;
} sk_extents;

/* Counts the poses among a frame's detections, then gives each of them the usual size, around its own centre. Their scores are heights
 * or sums of peaks, on a scale of each model's own: where they are low as a rule, the usual one becomes 1, and what is lower by
 * the model's own measure stays lower. */
void sk_extents_even(sk_extents *extents, sk_detection *detections, int32_t n);

#endif
