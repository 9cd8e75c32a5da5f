/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_SMOOTH_H
#define SK_TRACK_SMOOTH_H

#include "track/seen_store.h"
#include "track/steady.h"

/* Smoothed sightings: a parabola through those around each (Savitzky-Golay, for sightings that may be missing). Chosen over a
 * Kalman smoother: it needs no model of the noise, keeps the height of turns, and looks at a window only, so that memory does
 * not grow with the video.
 *
 * Places and headings are smoothed over as many frames as were asked for. Boxes are smoothed over as many as fit this video:
 * of several windows the one is taken by which a sighting is told best from the others around it (each is left out in turn). */

typedef struct sk_smooth_settings {
    double
        frames; /* the whole window of places and headings, and then of boxes, too; 0: they are not smoothed */
    bool boxes;
    double fps;
} sk_smooth_settings;

typedef struct sk_smoothed {
    float dx, dy; /* from the detection, pixels */
    float turn;   /* of the heading, radians */
    float box[SK_STEADY_VALUES];
} sk_smoothed;

/* A column of the store, one for each detection. */
sk_status sk_smooth(sk_seen_store *store, const int32_t *track, const uint8_t *turned, int32_t tracks,
                    const sk_smooth_settings *settings, sk_smoothed **out, sk_error *err) SK_MUST_CHECK;
/* To the sighting of that detection. */
void sk_smoothed_apply(const sk_smoothed *smoothed, const sk_smooth_settings *settings,
                       const sk_detection *detection, sk_sighting *sighting);

#endif
