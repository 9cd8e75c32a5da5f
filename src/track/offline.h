/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_OFFLINE_H
#define SK_TRACK_OFFLINE_H

#include "track/sightings.h"
#include "track/track.h"

/* Tracks of a video whose end is known: detections of all frames in, then one pass forward and one backward, what both agree on,
 * stitched over gaps by one decision over the whole video, gaps filled, headings mended. docs/tracking_offline.md has the
 * rules. Memory does not grow with the video: what is kept of it lies in a file without a name. */

typedef enum sk_offline_pass { SK_PASS_FORWARD, SK_PASS_BACKWARD } sk_offline_pass;

typedef struct sk_offline_settings {
    sk_track_settings track;
    bool backward;           /* a pass from the end, too; true */
    bool upstream;           /* passes become tracks by hydra-suite's rules (track/upstream.h); false */
    double stitch_gap;       /* s: longest gap that is stitched over; 4; 0: none */
    sk_interpolation method; /* of positions in gaps; linear */
    double interpolate_gap;  /* s: longest gap that is filled; 0.5; 0: none */
    int32_t flip_burst;      /* frames: shorter reversals of the heading are mended; 5 */
    double shortest;         /* s: tracks with fewer sightings go; 0.33 */
    double velocity_limit;   /* pixels a frame: faster is no animal, tracks are cut there; 0: off */
    double
        smoothing; /* s: positions, headings and boxes are smoothed over so long, 0: boxes alone are, over as
                              * long as fits the video, where track.steady asks for it */
    /* What each pass saw, as it goes; null: nobody asks. Frames of the backward pass fall. */
    sk_status (*told)(void *context, sk_offline_pass pass, const sk_sighting *sightings, int32_t n,
                      sk_error *err);
    /* Asked now and then: true stops (SK_ERR_CANCELLED). null: nobody does. */
    bool (*stop)(void *context);
    void *context;
} sk_offline_settings;
void sk_offline_defaults(sk_offline_settings *settings);

typedef struct sk_offline sk_offline;

/* `spill`: path of the file that is made for detections (in the run's folder) and has no name while it is used; null: they stay
 * in memory. Settings are copied (not the region). */
sk_status sk_offline_open(const sk_offline_settings *settings, const char *spill, sk_offline **out,
                          sk_error *err) SK_MUST_CHECK;
void sk_offline_close(sk_offline **offline);

/* The next frame's detections, copied; frame numbers rise, time is in seconds. */
sk_status sk_offline_add(sk_offline *offline, int64_t frame, double time, const sk_detection *detections,
                         int32_t n, sk_error *err) SK_MUST_CHECK;
/* All frames were added: decides. Once. */
sk_status sk_offline_finish(sk_offline *offline, sk_error *err) SK_MUST_CHECK;

int64_t sk_offline_frames(const sk_offline *offline); /* that were added */
int32_t
sk_offline_tracks(const sk_offline *offline); /* final identities, numbered from 0 by their first frames */
/* The final sightings of the `at`-th frame added, by track; valid until the next call. `detection` is the index among
 * the detections given for that frame, -1 in a gap that was filled (state covered). `place` is the track. */
sk_status sk_offline_read(sk_offline *offline, int64_t at, int64_t *frame, const sk_sighting **sightings,
                          int32_t *n, sk_error *err) SK_MUST_CHECK;

#endif
