/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_KIND_H
#define SK_TRACK_KIND_H

#include "track/track.h"

/* A method of association, behind one table of functions. What all share is done by tracker.c: the settings are checked, the
 * filters have run, frames rise, every detection is finite with a size. */
typedef struct sk_tracker_kind {
    const char *name;
    sk_status (*open)(const sk_track_settings *settings, void **state, sk_error *err);
    /* `passed`: frames since the last step, 1 in a video of which every frame is seen. Sightings' `detection` are indices
     * into `detections`; the list is the state's own and may be changed by the caller until the next step. */
    sk_status (*step)(void *state, int64_t frame, double passed, const sk_detection *detections, int32_t n,
                      sk_sighting **out, int32_t *n_out, sk_error *err);
    void (*close)(void *state); /* null is allowed */
    bool counts;                /* a fixed number of animals is its own business */
} sk_tracker_kind;

extern const sk_tracker_kind sk_tracker_skitter, sk_tracker_bytetrack, sk_tracker_ocsort;

#endif
