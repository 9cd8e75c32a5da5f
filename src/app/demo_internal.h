/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_DEMO_INTERNAL_H
#define SK_APP_DEMO_INTERNAL_H

#include "app/demo.h"

/* Between demo.c, demo_state.c, demo_tracks.c, demo_summary.c, demo_figures.c and demo_page.c. */

/* --- demo_state.c: what a folder holds, in demo.json --- */

typedef enum sk_demo_stage {
    SK_DEMO_EMPTY = 0,
    SK_DEMO_BEGUN,    /* the scene is not complete */
    SK_DEMO_DRAWN,    /* the scene and its truth are there */
    SK_DEMO_FINISHED, /* all is */
} sk_demo_stage;

/* The folder of the models, and their paths; SK_ERR_NOT_FOUND says what to do. */
sk_status sk_demo_find_models(const char *asked, char paths[SK_DEMO_PARTS][512], sk_error *err) SK_MUST_CHECK;
/* Everything that shapes the result, as one line. */
sk_status sk_demo_fingerprint(const sk_demo_settings *settings, char paths[SK_DEMO_PARTS][512], char *out,
                              size_t capacity, sk_error *err) SK_MUST_CHECK;
/* How far an earlier demo got; one with another fingerprint is refused. */
sk_status sk_demo_read_state(const sk_demo_settings *settings, const char *fingerprint, sk_demo_stage *stage,
                             sk_error *err) SK_MUST_CHECK;
sk_status sk_demo_write_state(const sk_demo_settings *settings, const char *fingerprint, sk_demo_stage stage,
                              const sk_demo_report *report, sk_error *err) SK_MUST_CHECK;

/* The scene that lies in the folder, a video or else a folder of pictures; ended by sk_free, null: no memory. */
char *sk_demo_scene(const char *out);

/* --- demo_summary.c: the table people see --- */
void sk_demo_summarize(const sk_demo_settings *settings, sk_demo_report *report);

/* --- the page --- */

/* The annotations behind the figures: boxes, poses, truth. */
typedef struct sk_demo_sets {
    sk_annotation_set found[SK_DEMO_PARTS], tracks, truth;
} sk_demo_sets;

/* demo_figures.c: drawings, appended to the page. */
void sk_demo_figure_stages(const sk_demo_report *report, sk_text *page);
void sk_demo_figure_errors(const sk_demo_report *report, sk_text *page);
/* Frames of the scene with boxes and poses drawn in, as pictures inside the page. */
sk_status sk_demo_figure_frames(const sk_demo_settings *settings, const sk_demo_report *report,
                                const sk_demo_sets *sets, sk_text *page, sk_error *err) SK_MUST_CHECK;

/* --- demo_tracks.c: who is who --- */

/* Follows what boxes/results.csv holds, or in pictures what `model` finds, into tracks/. */
sk_status sk_demo_track(const sk_demo_settings *settings, const char *scene, const char *model, bool restart,
                        sk_predict_watch watch, void *context, sk_demo_tracks *out,
                        sk_error *err) SK_MUST_CHECK;
sk_status sk_demo_measure_tracks(const sk_demo_sets *sets, sk_demo_tracks *out, sk_error *err) SK_MUST_CHECK;
/* By turned boxes where there are some; null: nothing was followed. */
const sk_track_score *sk_demo_track_score(const sk_demo_tracks *tracks);
void sk_demo_summarize_tracks(const sk_demo_report *report, sk_text *text);
void sk_demo_tracks_to_json(const sk_demo_tracks *tracks, sk_json *json);
void sk_demo_page_identities(const sk_demo_settings *settings, const sk_demo_report *report, sk_text *page);
void sk_demo_figure_tracks(const sk_demo_settings *settings, const sk_demo_sets *sets, sk_text *page);

/* demo_page.c: report.html, complete in itself. */
sk_status sk_demo_write_page(const sk_demo_settings *settings, const sk_demo_report *report,
                             const sk_demo_sets *sets, sk_error *err) SK_MUST_CHECK;

#endif
