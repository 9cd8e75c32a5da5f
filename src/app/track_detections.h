/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_TRACK_DETECTIONS_H
#define SK_APP_TRACK_DETECTIONS_H

#include "app/track.h"

/* Tracks from detections that exist already: results of skitter or of anybody, in every format that sk_annotations_read reads.
 * No model is opened, and no video read unless something is to be drawn. */
typedef struct sk_track_detections {
    const char *path; /* the file, or folder of label text */
    const sk_predict_settings
        *settings; /* of it: out, formats, overlay, restart, overwrite, no_empty, media's frames;
                                            `source` is the video they were found in, null: none is there */
    sk_track_run *run;
} sk_track_detections;

/* As sk_predict_run: a folder, a journal, gone on with after a stop or a kill. */
sk_status sk_track_detections_run(const sk_track_detections *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *err) SK_MUST_CHECK;

#endif
