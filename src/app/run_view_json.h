/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_VIEW_JSON_H
#define SK_APP_RUN_VIEW_JSON_H

#include "app/run_view.h"
#include "base/json_write.h"

/* What a view tells, as one JSON value each, for every door alike: the page's Results, 'skitter correct --json'. docs/corrections.md
 * has the members. Numbers that are not there are null. */

/* `readable`: the door may open the video, and it is there. */
void sk_run_view_json_info(const sk_run_view *view, bool readable, sk_json *json);
/* The same, for an object that is begun already and has more members. */
void sk_run_view_json_members(const sk_run_view *view, bool readable, sk_json *json);
/* Where the video is that the run looked at; borrowed from the view. */
const char *sk_run_view_source(const sk_run_view *view);
/* The corrections that hold, in words and as steps, and whether one can be undone or done again. */
void sk_run_view_json_corrections(const sk_run_view *view, sk_json *json);
/* {"frames": […]}: those from `from` to `to` that are there, at most `most`; "next" is the number to go on with, null at the end. */
sk_status sk_run_view_json_frames(sk_run_view *view, int64_t from, int64_t to, int32_t most, sk_json *json,
                                  sk_error *err) SK_MUST_CHECK;
sk_status sk_run_view_json_tracks(sk_run_view *view, sk_json *json, sk_error *err) SK_MUST_CHECK;
sk_status sk_run_view_json_suspects(sk_run_view *view, sk_json *json, sk_error *err) SK_MUST_CHECK;

typedef struct sk_run_plot {
    const char *kind; /* "trajectory", "speed", "heading", "distance" (of each pair), "occupancy" */
    const int32_t *tracks;
    int32_t n_tracks; /* 0: the first twelve */
    int32_t points;   /* at most, of each; 1 … 100000 */
    int64_t from, to; /* frames; to -1: to the end */
} sk_run_plot;
#define SK_RUN_PLOT_TRACKS 64
/* SK_ERR_ARG for a kind that is none. */
sk_status sk_run_view_json_plot(sk_run_view *view, const sk_run_plot *plot, sk_json *json,
                                sk_error *err) SK_MUST_CHECK;

/* "they touched, one was not seen": why a moment deserves a look. Returns buffer. */
const char *sk_suspect_words(const sk_suspect *suspect, char *buffer, size_t capacity);

#endif
