/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_SLURM_H
#define SK_APP_BATCH_SLURM_H

#include "app/batch_status.h"

/* A batch on SLURM: pieces are handed over as arrays of tasks, and those that come back undone are handed over again.
 *
 *     .batch/slurm/0001.tasks   the pieces of each task, a line a task; written before sbatch is called
 *     .batch/slurm/0001.job     the job's number; written when it has answered
 *     .batch/slurm/12_3.log     what a task said */

/* The pieces of a task of a submission; *pieces is ended by sk_free. */
sk_status sk_batch_slurm_task(const sk_batch *batch, int64_t submission, int64_t task, int64_t **pieces,
                              int64_t *count, sk_error *err) SK_MUST_CHECK;

/* The words of sbatch for so many tasks, ended by null; ended by sk_batch_words_free. */
sk_status sk_batch_slurm_words(const sk_batch *batch, int64_t submission, int64_t tasks, char ***words,
                               sk_error *err) SK_MUST_CHECK;

/* Ends all of the batch's tasks: *cancelled jobs. */
sk_status sk_batch_slurm_cancel(sk_batch *batch, int64_t *cancelled, sk_error *err) SK_MUST_CHECK;

typedef struct sk_batch_slurm_watch {
    bool (*interrupted)(void *context);
    void (*changed)(void *context, const sk_batch_status *status);
    void (*say)(void *context, const char *text);
    void *context;
    bool detach; /* hand over, with a job that closes the batch, and return */
} sk_batch_slurm_watch;

/* Hands over what is to be done, and unless it is to detach stays until nothing is left that may be tried. *stopped: interrupted;
 * tasks go on, and the same command looks after them again. */
sk_status sk_batch_slurm_run(sk_batch *batch, const sk_batch_slurm_watch *watch, bool *stopped,
                             sk_error *err) SK_MUST_CHECK;

/* --- asking programs (batch_ask.c) --- */

/* Runs a program and hears what it prints, for at most a minute. SK_ERR_NOT_FOUND: there is no such program. */
sk_status sk_batch_ask(const char *const *words, sk_text *printed, sk_text *complained, int *code,
                       sk_error *err) SK_MUST_CHECK;

#endif
