/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_slurm_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What SLURM says of its tasks. */

static slurm_state state_of(const char *word)
{
    static const char *const waits[] = {"PENDING",      "REQUEUED",     "REQUEUE_FED",
                                        "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
    static const char *const runs[] = {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                                       "STOPPED", "SIGNALING",   "STAGE_OUT",  "RESIZING"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (!*word || strcmp(word, waits[i]) == 0) /* nothing is said of it yet */
            return SLURM_WAITS;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(word, runs[i]) == 0)
            return SLURM_RUNS;
    return SLURM_ENDED;
}

/* "12_3 NODE_FAIL node1"; separated by blanks, or by bars. */
static void hear_task(slurm_job *job, const char *line)
{
    const size_t id = strlen(job->id);
    char *end;
    if (strncmp(line, job->id, id) != 0 || line[id] != '_')
        return;
    const long long task = strtoll(line + id + 1, &end, 10);
    if (end == line + id + 1 || task < 0 || task >= job->n_tasks)
        return;
    slurm_task *t = &job->tasks[task];
    const char *word = end + strspn(end, " |");
    const size_t n = strcspn(word, " |\n+");
    snprintf(t->word, sizeof t->word, "%.*s", (int)(n < sizeof t->word ? n : sizeof t->word - 1), word);
    const char *node = word + strcspn(word, "|\n");
    if (*node != '|') /* "RUNNING+": a word that was cut off */
        node = word + strcspn(word, " \n");
    node += strspn(node, " |");
    const size_t m = strcspn(node, " |\n");
    if (m > 0)
        snprintf(t->node, sizeof t->node, "%.*s", (int)(m < sizeof t->node ? m : sizeof t->node - 1), node);
    t->state = (unsigned char)state_of(t->word);
}

static void hear_tasks(slurm_job *job, const char *text)
{
    for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
        hear_task(job, at);
}

sk_status slurm_ask(slurm_job *job, const sk_batch *b, bool *reached, char why[256], sk_error *err)
{
    char name[64], path[SK_BATCH_PATH];
    sk_text printed = {0}, complained = {0};
    int code = 0;
    *reached = false;
    why[0] = '\0';
    if (!job->id[0]) {
        sk_error problem = {0};
        slurm_name(b, job->submission, name);
        if (slurm_find(name, job, &problem) != SK_OK) {
            snprintf(why, 256, "%.250s", problem.message);
            return SK_OK;
        }
        if (!job->id[0]) /* it never came so far: it is as if it had ended */
            for (int64_t i = 0; i < job->n_tasks; i++)
                job->tasks[i].state = SLURM_ENDED;
        *reached = true;
        if (!job->id[0])
            return SK_OK;
        SK_TRY(sk_file_replace(slurm_file(b, job->submission, "job", path), job->id, strlen(job->id), err));
    }
    const char *const asked[] = {"squeue", "-h", "-r", "-t", "all", "-j", job->id, "-o", "%i %T %N", NULL};
    sk_status status = sk_batch_ask(asked, &printed, &complained, &code, err);
    if (status == SK_ERR_TIMEOUT) {
        snprintf(why, 256, "squeue does not answer");
        status = SK_OK;
    } else if (status == SK_OK) {
        const bool forgotten = code != 0 && strstr(sk_text_get(&complained), "nvalid job id");
        *reached = code == 0 || forgotten;
        for (int64_t i = 0; *reached && i < job->n_tasks; i++)
            job->tasks[i].state = SLURM_ENDED; /* those that it does not name any more */
        if (code == 0)
            hear_tasks(job, sk_text_get(&printed));
        else if (!forgotten)
            snprintf(why, 256, "%.*s", (int)strcspn(sk_text_get(&complained), "\n"),
                     sk_text_get(&complained));
    }
    sk_text_free(&printed);
    sk_text_free(&complained);
    return status;
}

void slurm_account(slurm_job *job)
{
    const char *const asked[] = {"sacct", "-n", "-X", "-P", "-D", "-j", job->id, "-o", "JobID,State,NodeList",
                                 NULL};
    sk_text printed = {0}, complained = {0};
    int code = 0;
    if (job->id[0] && sk_batch_ask(asked, &printed, &complained, &code, NULL) == SK_OK && code == 0) {
        unsigned char *states = sk_malloc((size_t)job->n_tasks + 1);
        for (int64_t i = 0; states && i < job->n_tasks; i++)
            states[i] = job->tasks[i].state;
        hear_tasks(job, sk_text_get(&printed));
        for (int64_t i = 0; states && i < job->n_tasks; i++)
            job->tasks[i].state = states[i]; /* squeue knows better how it is, the accounting how it was */
        sk_free(states);
    }
    sk_text_free(&printed);
    sk_text_free(&complained);
}
