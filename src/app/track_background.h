/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_BACKGROUND_H
#define SK_APP_TRACK_BACKGROUND_H

#include "app/track.h"

/* Animals on a still background, found without a model (background/background.h) and followed. Frames from all over the video make
 * the background; then each frame is looked at, from the first one on, also by a run that goes on: the background follows what
 * it has seen. What was found is kept in the inference cache. */
typedef struct sk_track_background {
    const sk_predict_settings *settings; /* source, out, formats, overlay, restart, overwrite, media */
    sk_track_run *run;                   /* its wish has the background's settings */
} sk_track_background;

/* As sk_predict_run. A camera or a pipe, which cannot be read twice, has its first frame for a background. */
sk_status sk_track_background_run(const sk_track_background *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *err) SK_MUST_CHECK;

#endif
