/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_OVERLAY_RUN_H
#define SK_APP_OVERLAY_RUN_H

#include "base/error.h"
#include "media/overlay.h"

/* The overlay of a run that may be interrupted and continued. A video is written in parts, each complete in itself and
 * named after the frames it holds; the end joins them into overlay.mp4. Pictures become one overlay picture each. */

typedef struct sk_overlay_run sk_overlay_run;

/* `folder`: the run's output folder. `pictures`: one overlay picture a frame instead of a video. */
sk_status sk_overlay_run_open(const char *folder, bool pictures, double rate,
                              const sk_overlay_settings *settings, sk_overlay_run **out,
                              sk_error *err) SK_MUST_CHECK;
/* Removes what an earlier run left. */
sk_status sk_overlay_run_clear(sk_overlay_run *run, sk_error *err) SK_MUST_CHECK;
/* How many frames, from the first, earlier runs have safely written (INT64_MAX for pictures, which stand alone). */
int64_t sk_overlay_run_covered(const sk_overlay_run *run);
/* Goes on after the first `count` frames of the run. */
sk_status sk_overlay_run_continue(sk_overlay_run *run, int64_t count, sk_error *err) SK_MUST_CHECK;

/* Draws a copy of the frame and writes it. `name`: the picture's path. */
sk_status sk_overlay_run_write(sk_overlay_run *run, const sk_frame *frame, const char *name,
                               const sk_instances *instances, sk_error *err) SK_MUST_CHECK;
/* Completes the part being written and joins all parts; `finished` also removes the parts. Ends the run. */
sk_status sk_overlay_run_close(sk_overlay_run **run, bool finished, sk_error *err) SK_MUST_CHECK;

/* "overlay.mp4" or "overlay/" */
const char *sk_overlay_run_file(const sk_overlay_run *run);

#endif
