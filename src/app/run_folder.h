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
} sk_run_folder;

/* Makes the folder and keeps every other run out of it until it is closed. */
sk_status sk_run_folder_open(const char *path, sk_run_folder *folder, sk_error *err) SK_MUST_CHECK;
/* Begins the run of this fingerprint, or goes on with it; `restart` begins anew in any case. */
sk_status sk_run_folder_begin(sk_run_folder *folder, const char *fingerprint, bool restart,
                              sk_error *err) SK_MUST_CHECK;
void sk_run_folder_close(sk_run_folder *folder);

/* What run.json says beside the header. */
typedef struct sk_run_standing {
    const char *state; /* "running", "finished", "stopped", "failed" */
    int64_t frames, instances;
    const char *decoder, *hwaccel;
    sk_source_status source;
} sk_run_standing;

sk_status sk_run_folder_note(const sk_run_folder *folder, const sk_run_header *header,
                             const sk_run_standing *standing, sk_error *err) SK_MUST_CHECK;

#endif
