/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_RUN_FOLDER_H
#define SK_APP_RUN_FOLDER_H

#include "base/lock.h"
#include "results/sink.h"
#include "skitter/pipeline.h"
#include "skitter/source.h"

/* The folder a run writes into: who is at it (.skitter.lock), what was done so far (journal.skj) and where the run
 * stands (run.json). Every door that keeps results has one, and nobody else touches these three files.
 *
 *     open     the folder is made and held: nobody else writes here. Nothing in it was touched
 *     begin    the run's journal is open: a new one, or that of the run that goes on. A folder that holds something else
 *              is refused and stays as it is
 *     append   a frame that is done; what is appended and flushed survives kill -9
 *     note     run.json says where the run stands; any number of times
 *     finish   the run has reached its end; there is nothing left to go on with
 *     close    lets go
 *     abandon  lets go after a failure: where no frame is done, a folder that the run had made is not left behind
 *
 * A folder without a path is that of results on standard output: it takes the same calls and keeps nothing. */

typedef struct sk_run_folder sk_run_folder;

typedef enum sk_run_stage {
    SK_RUN_HELD = 0, /* ours, and untouched */
    SK_RUN_BEGUN,    /* the journal is this run's, new or continued */
    SK_RUN_COMPLETE  /* it had reached its end before, or has now */
} sk_run_stage;

/* Makes the folder and keeps every other run out of it until it is closed. `path` null: nothing is kept. */
sk_status sk_run_folder_open(const char *path, sk_run_folder **out, sk_error *err) SK_MUST_CHECK;
void sk_run_folder_close(sk_run_folder **folder);
void sk_run_folder_abandon(sk_run_folder **folder);
/* The lock alone, for a folder of folders of runs (a demo's): makes the folder and holds it until sk_lock_close.
 * SK_ERR_BUSY: *holder says who does. */
sk_status sk_run_folder_hold(const char *path, sk_lock **out, sk_lock_holder *holder,
                             sk_error *err) SK_MUST_CHECK;
/* Has a run begun in the folder of this path, whichever it was? */
bool sk_run_folder_is_used(const char *path);

/* How a run begins, or goes on. */
typedef struct sk_run_begin {
    const char *identity;     /* sk_run_identity.text: only the same run goes on. Borrowed until close */
    const char *source;       /* as the user gave it */
    const char *const *files; /* what it will write, ended by null; a folder ends in '/' */
    bool restart;             /* begin anew in any case: what an earlier run left is removed */
    bool overwrite;           /* also over files that no run wrote */
    bool once;     /* a camera, stream or pipe gives its frames once: a run that has some cannot go on */
    bool pictures; /* those that were looked at must be as they were; from one that could not be read and was
                      changed since, the run is done again */
    bool strict;   /* … and from one that could not be read in any case */
} sk_run_begin;
sk_status sk_run_folder_begin(sk_run_folder *folder, const sk_run_begin *how, sk_error *err) SK_MUST_CHECK;

const char *sk_run_folder_path(const sk_run_folder *folder); /* null: nothing is kept */
sk_run_stage sk_run_folder_stage(const sk_run_folder *folder);
const char *sk_run_folder_started(const sk_run_folder *folder); /* when the run's first part did */
uint64_t sk_run_folder_id(const sk_run_folder *folder); /* of this run alone: a new one for every beginning */
int64_t sk_run_folder_known(const sk_run_folder *folder); /* frames done, with pictures that were left out */
int64_t sk_run_folder_last_index(const sk_run_folder *folder); /* of the last of them; -1: there is none */

sk_status sk_run_folder_append(sk_run_folder *folder, const sk_result_frame *frame,
                               sk_error *err) SK_MUST_CHECK;
/* Hands what was appended to the operating system; with `durable` also to the disk. */
sk_status sk_run_folder_flush(sk_run_folder *folder, bool durable, sk_error *err) SK_MUST_CHECK;
/* Every frame that is done, in order. One that cannot be of a run with this header ends it with an error. */
typedef sk_status (*sk_run_visit)(void *context, const sk_result_frame *known, sk_error *err);
sk_status sk_run_folder_retell(sk_run_folder *folder, const sk_run_header *header, sk_run_visit visit,
                               void *context, sk_error *err) SK_MUST_CHECK;
sk_status sk_run_folder_finish(sk_run_folder *folder, sk_error *err) SK_MUST_CHECK;

/* A picture that was left out, for run.json's list; how many there are, and why the first was ("" when there is none). */
sk_status sk_run_folder_leave_out(sk_run_folder *folder, const sk_result_frame *picture,
                                  sk_error *err) SK_MUST_CHECK;
int64_t sk_run_folder_left_out(const sk_run_folder *folder);
const char *sk_run_folder_first_problem(const sk_run_folder *folder);

/* Which files computed in the models' places, over all parts of the run and by this runner (null: none yet): put into the
 * header, which borrows them. */
void sk_run_folder_computed_by(sk_run_folder *folder, sk_pipeline *pipeline, sk_run_header *header);

typedef enum sk_run_state {
    SK_RUN_RUNNING,
    SK_RUN_FINISHED,
    SK_RUN_INCOMPLETE, /* the source was cut off */
    SK_RUN_STOPPED,    /* by the person */
    SK_RUN_FAILED
} sk_run_state;

/* What run.json says beside the header. */
typedef struct sk_run_standing {
    sk_run_state state;
    bool
        nothing_to_do; /* the run was complete before: a run.json that says so stays, it knows what computed */
    int64_t frames, instances;
    int64_t part_frames; /* of `frames`, those of the part that ran last */
    double part_seconds; /* … and what it took, as its progress and summary say */
    const char *decoder, *hwaccel;
    const char *hwaccel_refused; /* "" or null: it was not */
    sk_source_status source;
} sk_run_standing;

/* Nothing before the run has begun. */
sk_status sk_run_folder_note(const sk_run_folder *folder, const sk_run_header *header,
                             const sk_run_standing *standing, sk_error *err) SK_MUST_CHECK;

#endif
