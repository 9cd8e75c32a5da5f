/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_SMOOTH_H
#define SK_TRACK_SMOOTH_H

#include "track/seen_store.h"

/* Smoothed places and headings: a parabola through the sightings of `frames` frames around each (Savitzky-Golay, for sightings that
 * may be missing). Chosen over a Kalman smoother: it needs no model of the noise, keeps the height of turns, and looks at
 * a window only, so that memory does not grow with the video. */
typedef struct sk_smoothed {
    float dx, dy; /* from the detection, pixels */
    float turn;   /* of the heading, radians */
} sk_smoothed;

/* A column of the store, one for each detection; `frames` is the whole window. */
sk_status sk_smooth(sk_seen_store *store, const int32_t *track, const uint8_t *turned, int32_t tracks,
                    double frames, sk_smoothed **out, sk_error *err) SK_MUST_CHECK;
void sk_smoothed_apply(const sk_smoothed *smoothed, sk_sighting *sighting);

#endif
