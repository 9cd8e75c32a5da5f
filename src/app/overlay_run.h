/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_OVERLAY_RUN_H
#define SK_APP_OVERLAY_RUN_H

#include "base/error.h"
#include "media/overlay.h"
#include "track/track.h"

/* The overlay of a run that may be interrupted and continued. A video is written in parts of equally many frames, each
 * complete in itself and named after the run and the frames it holds; the end joins them into overlay.mp4. What an
 * interrupted run left of its last part is drawn again, so that a continued overlay is the same bytes. Pictures become one
 * overlay picture each.
 *
 * A part is there only when the journal holds its frames on disk: sk_overlay_run_part_is_full, then the journal's flush,
 * then sk_overlay_run_end_part. */

typedef struct sk_overlay_run sk_overlay_run;

/* In the run's folder: what the overlay was drawn with. One that shall show other things is drawn anew. */
#define SK_OVERLAY_STYLE_FILE ".overlay"

typedef struct sk_overlay_place {
    const char *folder;    /* the run's */
    uint64_t id;           /* the run's: parts of others are removed */
    bool pictures;         /* one overlay picture a frame instead of a video */
    int32_t width, height; /* of the video; 0: the first frame's. Frames of other sizes are scaled */
    double rate;
    bool gpu; /* the video's encoder is the GPU's, where there is one */
} sk_overlay_place;

sk_status sk_overlay_run_open(const sk_overlay_place *place, const sk_overlay_settings *settings,
                              sk_overlay_run **out, sk_error *err) SK_MUST_CHECK;
/* A finished run's overlay, whole: nothing is to be drawn. Video only. */
bool sk_overlay_run_is_there(const sk_overlay_run *run);
/* Forgets parts beyond the first `known` frames of the run and says how many frames the rest covers: the next frame to
 * write. 0 for pictures, of which each is asked for: sk_overlay_run_has. */
sk_status sk_overlay_run_begin(sk_overlay_run *run, int64_t known, int64_t *covered,
                               sk_error *err) SK_MUST_CHECK;
/* Frames are told in order, by this or by write: names of pictures depend on who came before. */
bool sk_overlay_run_has(sk_overlay_run *run, const char *name, int64_t frame);

/* Draws a copy of the frame and writes it. `name`: the picture's path; `tracks`: one an instance, or null. */
sk_status sk_overlay_run_write(sk_overlay_run *run, const sk_frame *frame, const char *name,
                               const sk_instances *instances, const sk_overlay_track *tracks,
                               sk_error *err) SK_MUST_CHECK;
bool sk_overlay_run_part_is_full(const sk_overlay_run *run);
sk_status sk_overlay_run_end_part(sk_overlay_run *run, sk_error *err) SK_MUST_CHECK;
/* Joins all parts; `finished` also removes them. After a failure call only close. */
sk_status sk_overlay_run_join(sk_overlay_run *run, bool finished, sk_error *err) SK_MUST_CHECK;
void sk_overlay_run_close(sk_overlay_run **run);

/* What is drawn of a track in one frame. */
sk_overlay_track sk_overlay_track_of(const sk_sighting *sighting);

#endif
