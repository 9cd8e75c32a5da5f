/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_FOLDER_INTERNAL_H
#define SK_APP_RUN_FOLDER_INTERNAL_H

#include "app/run_files.h"
#include "app/run_folder.h"
#include "base/clock.h"
#include "base/text.h"
#include "results/journal.h"

/* Between run_folder.c, run_leftovers.c and run_json.c. */

struct sk_run_folder {
    char *path; /* null: nothing is kept */
    size_t
        made; /* as many bytes of the path name the outermost folder that was made for this run; 0: none was */
    sk_run_stage stage;
    sk_lock *lock;
    sk_journal *journal; /* null until begun, and where nothing is kept */
    const char *identity;
    char started[SK_CLOCK_TEXT];
    sk_text left_out; /* pictures: frame, path and problem, each ended by a zero */
    int64_t n_left_out;
    sk_run_files files;
};

/* --- run_leftovers.c: what lies in a folder before a run begins in it --- */

/* Files that were about to be put in place when a run was killed; nobody else is writing here. */
void run_remove_halves(const char *path);
/* A folder in which no run began may hold somebody's files: one that would be replaced is an error. */
sk_status run_check_foreign(const char *path, const sk_run_begin *how, sk_error *err) SK_MUST_CHECK;
/* What an earlier run left, of whatever formats: a new one must not be mixed with it. */
void run_remove_results(const char *path);
/* The folder itself and its parents, up to the one that the first `made` bytes name; what is not empty stays. */
void run_remove_made(const char *path, size_t made);

#endif
