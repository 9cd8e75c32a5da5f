/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_VIEW_H
#define SK_APP_RUN_VIEW_H

#include "app/run_record.h"
#include "report/movement.h"
#include "report/suspects.h"
#include "track/corrections.h"

/* A run's folder, looked at: of predict or track, finished, stopped, failed or at work. Nothing in it is changed, its lock is not
 * taken, links in it are not followed. What a view tells is as the folder's corrections (corrections.jsonl) have it.
 *
 * Frames of tracks come from results.jsonl, others from journal.skj, which grows with the run. A frame is read where it lies;
 * tables and plots are made of 32 bytes a sighting that the first question for them gathers.
 *
 * One thread at a time. */
typedef struct sk_run_view sk_run_view;

/* What is no folder of a run is refused, with what helps. */
sk_status sk_run_view_open(const char *folder, sk_run_view **out, sk_error *err) SK_MUST_CHECK;
void sk_run_view_close(sk_run_view **view);
/* Looks for frames, a state and corrections that came since. */
sk_status sk_run_view_refresh(sk_run_view *view, sk_error *err) SK_MUST_CHECK;

/* All borrowed until the next refresh. */
typedef struct sk_run_view_info {
    const char *folder;
    const sk_run_header *header;
    const char *state;   /* "running", "finished", "incomplete", "stopped", "failed" */
    bool tracked;        /* frames carry tracks; of a run that tracks, once it has made them */
    const char *told_by; /* the file that frames come from: "results.jsonl" */
    int64_t tracks;      /* -1: not counted yet, by sk_run_view_movement */
    int64_t frames;      /* that are there */
    int64_t first, last; /* their numbers; -1: there are none */
    const sk_corrections *corrections;
    const char *notice; /* why corrections that lie there do not count; "" */
} sk_run_view_info;
void sk_run_view_get_info(const sk_run_view *view, sk_run_view_info *info);
const sk_run_record *sk_run_view_record(const sk_run_view *view);

/* What is in the frame, borrowed until the next call. SK_ERR_NOT_FOUND for one that the run did not look at, or not yet. */
sk_status sk_run_view_frame(sk_run_view *view, int64_t frame, sk_result_frame *out,
                            sk_error *err) SK_MUST_CHECK;
/* The number of the frame at this place among those that are there; -1 past the end. */
int64_t sk_run_view_number(const sk_run_view *view, int64_t place);
/* The place of the first frame with this number or a larger one. */
int64_t sk_run_view_place(const sk_run_view *view, int64_t frame);

/* How tracks moved, and moments that deserve a look; borrowed until the next refresh or correction. Without tracks: of none. */
sk_status sk_run_view_movement(sk_run_view *view, const sk_movement **movement, const sk_suspects **suspects,
                               sk_error *err) SK_MUST_CHECK;

/* One track in one frame. */
typedef struct sk_run_seen {
    int32_t track;
    float x, y, heading, major;
    float certainty, score;
    int32_t state; /* sk_track_state */
} sk_run_seen;
/* The sightings of the frame at this place, as corrected, in *out of at least SK_RUN_SEEN_MOST; they are gathered first. */
#define SK_RUN_SEEN_MOST 65536
sk_status sk_run_view_seen(sk_run_view *view, int64_t place, sk_run_seen *out, int32_t *n, double *time,
                           sk_error *err) SK_MUST_CHECK;

/* A track's way, for plots: at most `most` points of the frames from `from` to `to` (-1: the last), evenly; not a number where
 * it is not there. `other` -1: none. */
typedef struct sk_run_point {
    int64_t frame;
    double time;
    double x, y, heading; /* radians */
    double speed;         /* pixels a second, since the frame before */
    double distance;      /* from the other, pixels */
    int32_t state;        /* sk_track_state; -1: it is not there */
} sk_run_point;
typedef struct sk_run_series {
    int32_t track, other;
    int64_t from, to;
    int32_t most; /* 1 … 100000 */
} sk_run_series;
sk_status sk_run_view_series(sk_run_view *view, const sk_run_series *which, sk_run_point *out, int32_t *n,
                             sk_error *err) SK_MUST_CHECK;

/* Frames that have both tracks, as corrected so far: how many, and in `words` the first stretches of them, "100-140, 300". */
sk_status sk_run_view_both(sk_run_view *view, int32_t a, int32_t b, int64_t *count, char *words,
                           size_t capacity, sk_error *err) SK_MUST_CHECK;
/* Is the track in any frame from `from` to `to` (-1: the last)? */
sk_status sk_run_view_has(sk_run_view *view, int32_t track, int64_t from, int64_t to, bool *out,
                          sk_error *err) SK_MUST_CHECK;

#endif
