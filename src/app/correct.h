/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_CORRECT_H
#define SK_APP_CORRECT_H

#include "app/predict.h"
#include "app/run_view.h"

/* Corrections of a run's tracks. They are kept in the run's own folder, in corrections.jsonl: one step a line, only ever added to,
 * each on the disk before the call returns. No other file of the run is changed. A corrected copy of the run, in every format, is
 * written elsewhere. */

#define SK_CORRECTIONS_FILE "corrections.jsonl"

/* Those of the view's folder; none where there is no file. What is not of this run (it was begun anew, or went on since) is
 * SK_ERR_MISMATCH. */
sk_status sk_corrections_load(const sk_run_view *view, sk_corrections *out, sk_error *err) SK_MUST_CHECK;

/* Takes a step and keeps it; the view then tells it. `correction` null: for undo and redo. Refused, by name and with nothing kept:
 * tracks that are not there, merging two that are in one frame together (without `prefer`), a run that is at work or that has no
 * tracks, and a folder where another one is at it. */
sk_status sk_correct_step(sk_run_view *view, sk_correction_step step, const sk_correction *correction,
                          sk_error *err) SK_MUST_CHECK;

/* A copy of the run with its corrections, as a run's folder of its own: journal, run.json and result files, as 'skitter track' would
 * have written them. */
typedef struct sk_correct_save {
    const char
        *out; /* folder; made if absent, refused where there is something in it that would be replaced */
    int32_t n_formats; /* 0: those of which the run has files */
    const char *formats[SK_PREDICT_MAX_FORMATS];
    bool report, overlay;
    bool without_video; /* the video is not opened: the report has no pictures of it */
    uint32_t draw;      /* SK_DRAW_… */
    float line_width;
    bool restart, overwrite;
    sk_predict_watch watch; /* may be null */
    void *context;
} sk_correct_save;
/* Made of the run's journal, with all digits, where that gives the tracks of results.jsonl; else of results.jsonl itself, with the
 * digits that it has, and report->notice says why. */
sk_status sk_correct_save_run(sk_run_view *view, const sk_correct_save *how, sk_predict_report *report,
                              sk_error *err) SK_MUST_CHECK;

#endif
