/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_REPORT_REPORT_H
#define SK_REPORT_REPORT_H

#include "report/suspects.h"
#include "skitter/frame.h"

/* What a video's tracks look like to a person: one HTML file that asks nothing of the network, and its drawings as SVG and PNG to
 * put on a slide. Fed with the final sightings, frame by frame; then with pictures for what it wants to show; then written.
 *
 *     open, take (each frame, in order), end_frames
 *     ground (any frame of the video), suspects → picture (the frame of each)
 *     write
 *
 * One thread at a time. Memory grows with the number of tracks, not with the video's length. */

typedef struct sk_report sk_report;

/* Where the time went; any number of lines. */
typedef struct sk_report_time {
    const char *name;
    double seconds;
} sk_report_time;

typedef struct sk_report_settings {
    const char *title;     /* of the page: the video's name */
    const char *source;    /* its path as given */
    const char *made_by;   /* "skitter 0.2.0; runtime cpu; model …" */
    const char *method;    /* "skitter, offline" */
    int32_t width, height; /* of the frames; 0: not known */
    double fps;            /* 0: not known, 25 is taken */
    const char *animal;    /* what one is called; "animal" where null */
} sk_report_settings;

/* Texts are copied. */
sk_status sk_report_open(const sk_report_settings *settings, sk_report **out, sk_error *err) SK_MUST_CHECK;
void sk_report_close(sk_report **report);
/* The next frame's sightings, those seen and those predicted; frame numbers rise. */
sk_status sk_report_take(sk_report *report, int64_t frame, double time, const sk_sighting *sightings,
                         int32_t n, sk_error *err) SK_MUST_CHECK;
/* No more frames come. */
void sk_report_end_frames(sk_report *report);

/* The picture behind the paths: a frame of the video, RGB, BGR or grey in host memory; a small copy is kept. */
sk_status sk_report_ground(sk_report *report, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;
/* Moments at which identities may have been swapped, the most doubtful first; after end_frames. */
const sk_suspect *sk_report_suspects(const sk_report *report, int32_t *count);
/* What the video shows at suspect i's frame (sk_suspect.frame): a piece around it is kept. */
sk_status sk_report_picture(sk_report *report, int32_t i, const sk_frame *frame, sk_error *err) SK_MUST_CHECK;

/* Gives the pictures of moments (sk_report_picture, not the ground), called once, while drawings are made. */
typedef struct sk_report_pictures {
    sk_status (*show)(void *context, sk_error *err);
    void *context;
} sk_report_pictures;

/* Writes FOLDER/report.html and FOLDER/plots/…svg, …png. `times` and `pictures` may be null. */
sk_status sk_report_write(sk_report *report, const char *folder, const sk_report_time *times, int32_t n_times,
                          const sk_report_pictures *pictures, sk_error *err) SK_MUST_CHECK;
/* What it writes beside the page, ended by null: "plots/paths.svg" … */
extern const char *const sk_report_plots[];

#endif
