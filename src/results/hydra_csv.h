/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RESULTS_HYDRA_CSV_H
#define SK_RESULTS_HYDRA_CSV_H

#include "skitter/instance.h"
#include "track/track.h"

/* Tracks as tables with hydra-suite's names and digits, for what people have already written around it.
 *
 *   raw    what one pass saw, in the order of frames: TrackID (the place), TrajectoryID, Index (the place's how-manieth row), X, Y,
 *          Theta, FrameID from 0, State, DetectionConfidence, AssignmentConfidence, PositionUncertainty, DetectionID, nine
 *          columns of identity. Without a detection: nan, confidences 0.
 *   final  the finished tracks, one after another: as raw without TrackID and Index; X and Y are whole pixels; cells without a
 *          value are empty. With keypoints PoseKpt_<name>_X, _Y, _Conf follow.
 *   user   the finished tracks, for reading: id, frame, time_s, x, y, heading_deg, state, detection_confidence, with
 *          individuals identity, identity_id, identity_confidence, identity_source, with keypoints <name>_x, _y, _conf.
 *
 * Numbers have the digits that tell them from every other number, as Python writes them. */
/* Raw tables in the folder of a run, of the pass from the start and of that from the end. */
#define SK_HYDRA_FORWARD  "tracks_forward.csv"
#define SK_HYDRA_BACKWARD "tracks_backward.csv"

typedef enum sk_hydra_table { SK_HYDRA_RAW, SK_HYDRA_FINAL, SK_HYDRA_USER } sk_hydra_table;

typedef struct sk_hydra_csv_header {
    double fps;      /* 0: unknown, time_s stays empty */
    bool identities; /* a model tells individuals apart: the user table has them */
    int32_t n_keypoints;
    const char *const *keypoint_names;
} sk_hydra_csv_header;

/* What belongs to a sighting besides. */
typedef struct sk_hydra_more {
    const sk_keypoint *points; /* n_keypoints of the header; null: none */
    int32_t identity;          /* of the model, -1: none */
    const char *label;         /* its name; null: none */
    double identity_score;
} sk_hydra_more;

typedef struct sk_hydra_csv sk_hydra_csv;

/* The file appears at `path` when it is finished. Until then rows of final and user tables, which go by tracks, lie in a file
 * without a name beside it: memory does not grow with them. */
sk_status sk_hydra_csv_open(const char *path, sk_hydra_table table, const sk_hydra_csv_header *header,
                            sk_hydra_csv **out, sk_error *err) SK_MUST_CHECK;
/* Sightings of one frame, frames in order (rising, or falling in a raw table of a pass backward). more: n of them, or null. */
sk_status sk_hydra_csv_add(sk_hydra_csv *csv, const sk_sighting *sightings, const sk_hydra_more *more,
                           int32_t n, sk_error *err) SK_MUST_CHECK;
/* Puts the file in its place. The writer is ended either way. */
sk_status sk_hydra_csv_finish(sk_hydra_csv **csv, sk_error *err) SK_MUST_CHECK;
void sk_hydra_csv_close(sk_hydra_csv **csv); /* without a file */

/* frame * 10000 + index; from the 10000th detection of a frame on 2^52 + frame * 65536 + index, so that no two of a video are the
 * same (upstream's would be the next frame's). */
int64_t sk_hydra_detection_id(int64_t frame, int32_t index);

#endif
