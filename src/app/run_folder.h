/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_FOLDER_H
#define SK_APP_RUN_FOLDER_H

#include "app/predict.h"
#include "base/clock.h"
#include "base/lock.h"
#include "media/reader.h"
#include "results/journal.h"

/* The folder a run writes into: who is at it (.skitter.lock), what was done so far (journal.skj) and where the run
 * stands (run.json). Starts as {0}; ended by sk_run_folder_close. */
typedef struct sk_run_folder {
    char *path;
    sk_lock *lock;
    sk_journal *journal;         /* null until begun */
    char started[SK_CLOCK_TEXT]; /* when the run's first part did */
    sk_text unreadable;          /* run.json's list of pictures that were left out, as it grows */
    int64_t n_unreadable;
} sk_run_folder;

/* Makes the folder and keeps every other run out of it until it is closed. */
sk_status sk_run_folder_open(const char *path, sk_run_folder *folder, sk_error *err) SK_MUST_CHECK;
/* How a run begins, or goes on. */
typedef struct sk_run_begin {
    const char *identity;     /* sk_run_identity.text: only the same run goes on */
    const char *const *files; /* what it will write, ended by null; a folder ends in '/' */
    bool restart;             /* begin anew in any case: what an earlier run left is removed */
    bool overwrite;           /* also over files that no run wrote */
} sk_run_begin;
sk_status sk_run_folder_begin(sk_run_folder *folder, const sk_run_begin *how, sk_error *err) SK_MUST_CHECK;
const char *sk_run_folder_first_problem(const sk_run_folder *folder); /* of those; "" when there is none */
/* Is there a run.json of a run that had finished? */
bool sk_run_folder_says_finished(const sk_run_folder *folder);
/* A picture that was left out. */
sk_status sk_run_folder_unreadable(sk_run_folder *folder, int64_t index, const char *name,
                                   const char *problem, sk_error *err) SK_MUST_CHECK;
void sk_run_folder_close(sk_run_folder *folder);

/* What run.json says beside the header. */
typedef struct sk_run_standing {
    const char *state;    /* "running", "finished", "incomplete", "stopped", "failed" */
    const char *identity; /* sk_run_identity.text */
    int64_t frames, instances;
    int64_t part_frames; /* of `frames`, those of the part that ran last */
    double part_seconds; /* … and what it took, as its progress and summary say */
    const char *decoder, *hwaccel;
    sk_source_status source;
} sk_run_standing;

sk_status sk_run_folder_note(const sk_run_folder *folder, const sk_run_header *header,
                             const sk_run_standing *standing, sk_error *err) SK_MUST_CHECK;

#endif
