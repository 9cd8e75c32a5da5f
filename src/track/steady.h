/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_STEADY_H
#define SK_TRACK_STEADY_H

#include "track/track.h"
#include "track/votes.h"

/* What is told of tracks beside who they are: a steady box instead of the detection's own, which jitters, and the class that most
 * detections name. Works behind any method.
 *
 * Each number of a box (centre, sides, of turned ones the angle) has a filter with a place and a speed. How much to believe a
 * detection depends on the detector and the animals; so every number is filtered by several filters at once, from slow to
 * nimble, and those tell whose predictions have erred least in the last seconds, over all tracks. Boxes that do not jitter are
 * told nearly as they are. */

enum {
    SK_STEADY_VALUES =
        9, /* upright centre x, y, width, height; turned centre x, y, long and short side, angle */
    SK_STEADY_SPREADS = 4, /* values that are measured alike well share their variances */
    SK_STEADY_LEVELS = 4,
    SK_STEADY_GROUPS = 5 /* values that one choice is made for */
};

/* Variances of place and speed and what they share, of what a measurement's is. */
typedef struct sk_steady_spread {
    double place[SK_STEADY_LEVELS], both[SK_STEADY_LEVELS], speed[SK_STEADY_LEVELS];
} sk_steady_spread;

typedef struct sk_steady_track {
    int32_t track; /* who holds this place */
    bool begun, turned;
    double last; /* look, by the clock of sk_steady */
    double body; /* longest way in the box, pixels */
    sk_steady_spread spread[SK_STEADY_SPREADS];
    double at[SK_STEADY_VALUES][SK_STEADY_LEVELS], speed[SK_STEADY_VALUES][SK_STEADY_LEVELS];
    sk_votes classes;
} sk_steady_track;

/* {0} at first. */
typedef struct sk_steady {
    sk_steady_track *tracks; /* by place */
    size_t capacity;
    double clock; /* frames */
    double errors[SK_STEADY_GROUPS][SK_STEADY_LEVELS], looks;
    int32_t best[SK_STEADY_GROUPS];
} sk_steady;

void sk_steady_close(sk_steady *steady);
/* Sets box and class_id of a step's sightings; `passed` frames after the step before. */
sk_status sk_steady_step(sk_steady *steady, const sk_track_settings *settings, double passed,
                         const sk_detection *detections, sk_sighting *sightings, int32_t n,
                         sk_error *err) SK_MUST_CHECK;

/* The numbers of a box and back. `like`: the numbers before, null: none; the angle goes on from there beyond 0 … pi, and nearly
 * round boxes keep which side is the first. */
void sk_box_values(const sk_detection *detection, const double *like, double *values);
sk_told_box sk_box_from_values(const double *values, bool turned);

#endif
