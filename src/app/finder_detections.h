/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_FINDER_DETECTIONS_H
#define SK_APP_FINDER_DETECTIONS_H

#include "app/finder.h"
#include "app/given_classes.h"
#include "app/given_frames.h"
#include "base/text.h"

/* Detections of a file (every format that sk_annotations_read reads) as what is found in the frames of their video. */

typedef struct sk_finder_detections {
    sk_annotation_set set;
    sk_given_frames *frames;
    sk_given_classes classes;
    sk_text identity;
    sk_finder finder;
} sk_finder_detections;

/* `body`: the length of an animal, for points that have no box; as of sk_track_settings. Begins as {0}; ended by
 * sk_finder_detections_close, after a failure, too. `finder` is then for sk_predict_settings. */
sk_status sk_finder_detections_open(const char *path, double body, sk_finder_detections *out,
                                    sk_error *err) SK_MUST_CHECK;
void sk_finder_detections_close(sk_finder_detections *finder);

/* sk_annotations_read, but a file without a byte has no detections. */
sk_status sk_finder_detections_read(const char *path, sk_annotation_set *out, sk_error *err) SK_MUST_CHECK;
/* The file by its content, or a folder by its name: what identities say of it. */
sk_status sk_finder_detections_identity(const char *path, sk_text *out, sk_error *err) SK_MUST_CHECK;

#endif
