/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_SLURM_INTERNAL_H
#define SK_APP_BATCH_SLURM_INTERNAL_H

#include "app/batch_slurm.h"

/* Between batch_slurm.c (which hands over), batch_slurm_ask.c (which asks) and batch_slurm_run.c (which decides). */

typedef enum slurm_state { SLURM_NOT_KNOWN, SLURM_WAITS, SLURM_RUNS, SLURM_ENDED } slurm_state;

typedef struct slurm_task {
    unsigned char state; /* slurm_state */
    unsigned char seen;  /* looks in which it had ended */
    char word[20];       /* SLURM's: NODE_FAIL */
    char node[44];
} slurm_task;

typedef struct slurm_job {
    int64_t submission;
    char id[24]; /* "": sbatch was asked, and its answer is not known */
    int64_t n_tasks;
    slurm_task *tasks;
    int64_t *pieces,
        *begins; /* pieces of all tasks, one after the other; where each task's begin, and the end */
    bool ended;  /* all tasks have, and were looked at */
} slurm_job;

void slurm_job_free(slurm_job *job);
/* slurm/0001.<ending>, into a buffer of SK_BATCH_PATH. */
const char *slurm_file(const sk_batch *batch, int64_t submission, const char *ending, char *buffer);
/* What the job is called: of this batch and submission alone. */
void slurm_name(const sk_batch *batch, int64_t submission, char name[64]);
/* The number of the job of this name, "" where there is none. */
sk_status slurm_find(const char *name, slurm_job *job, sk_error *err) SK_MUST_CHECK;
/* What was handed over as number `submission`; false: nothing was. */
sk_status slurm_job_read(const sk_batch *batch, int64_t submission, slurm_job *job, bool *there,
                         sk_error *err) SK_MUST_CHECK;
/* Hands these pieces over, in as many tasks as SLURM takes. */
sk_status slurm_submit(sk_batch *batch, int64_t submission, const int64_t *pieces, int64_t count,
                       slurm_job *job, sk_error *err) SK_MUST_CHECK;
/* How its tasks are. *reached false: SLURM does not answer now, and nothing is known; `why` (256 bytes) says so. */
sk_status slurm_ask(slurm_job *job, const sk_batch *batch, bool *reached, char why[256],
                    sk_error *err) SK_MUST_CHECK;
/* Why a task ended, by the accounting, where there is one: words like NODE_FAIL go into its task. */
void slurm_account(slurm_job *job);
/* A job behind the others that merges what is left and writes the summary. */
sk_status slurm_submit_close(const sk_batch *batch, const slurm_job *behind, sk_error *err) SK_MUST_CHECK;

#endif
