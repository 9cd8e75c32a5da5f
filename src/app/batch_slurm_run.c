/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_internal.h"
#include "app/batch_slurm_internal.h"
#include "app/batch_work.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MS 10000 /* between two looks; SKITTER_BATCH_INTERVAL_MS for tests */
#define SLEEP_MS    100
#define JOBS_MOST   10000

typedef struct place {
    int32_t job, task; /* where the piece was handed over last; job -1: never */
    int32_t times;
} place;

typedef struct looking_after {
    sk_batch *b;
    const sk_batch_slurm_watch *watch;
    sk_batch_watcher *watcher;
    const sk_batch_status *status;
    slurm_job *jobs;
    size_t n_jobs, capacity;
    place *places;
    int64_t *again; /* pieces to hand over */
    int64_t n_again;
    int64_t n_idle, idle; /* pieces whose tasks end before they begin; one of them */
    bool unreachable;
} looking_after;

static void say(const looking_after *l, const char *format, ...) SK_PRINTF(2, 3);
static void say(const looking_after *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    batch_say(l->watch->say, l->watch->context, format, args);
    va_end(args);
}

/* --- what was handed over --- */

static void note_places(looking_after *l, size_t at)
{
    const slurm_job *job = &l->jobs[at];
    for (int64_t t = 0; t < job->n_tasks; t++)
        for (int64_t i = job->begins[t]; i < job->begins[t + 1]; i++) {
            place *p = &l->places[job->pieces[i]];
            *p = (place){(int32_t)at, (int32_t)t, p->times + 1};
        }
}

static sk_status keep_job(looking_after *l, const slurm_job *job, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&l->jobs, &l->capacity, l->n_jobs + 1, sizeof *l->jobs, JOBS_MOST, err));
    l->jobs[l->n_jobs++] = *job;
    note_places(l, l->n_jobs - 1);
    return SK_OK;
}

static sk_status recall_jobs(looking_after *l, sk_error *err)
{
    for (int64_t i = 1;; i++) {
        slurm_job job;
        bool there;
        sk_status status = slurm_job_read(l->b, i, &job, &there, err);
        if (status == SK_OK && there)
            status = keep_job(l, &job, err);
        if (status != SK_OK || !there) {
            slurm_job_free(&job);
            return status;
        }
    }
}

static sk_status hand_over(looking_after *l, sk_error *err)
{
    slurm_job job;
    sk_status status = slurm_submit(l->b, (int64_t)l->n_jobs + 1, l->again, l->n_again, &job, err);
    if (status == SK_OK)
        say(l, "SLURM job %s: %lld pieces in %lld tasks", job.id, (long long)l->n_again,
            (long long)job.n_tasks);
    if (status == SK_OK)
        status = keep_job(l, &job, err);
    if (status != SK_OK)
        slurm_job_free(&job);
    l->n_again = 0;
    return status;
}

/* --- how it is --- */

/* Which tasks have ended. False: SLURM does not answer, and nothing may be concluded. */
static sk_status ask_all(looking_after *l, bool *reached, sk_error *err)
{
    char why[256];
    *reached = true;
    for (size_t j = 0; j < l->n_jobs && *reached; j++) {
        slurm_job *job = &l->jobs[j];
        if (job->ended)
            continue;
        SK_TRY(slurm_ask(job, l->b, reached, why, err));
        bool ended = *reached;
        for (int64_t t = 0; *reached && t < job->n_tasks; t++) {
            slurm_task *task = &job->tasks[t];
            task->seen =
                task->state == SLURM_ENDED ? (unsigned char)(task->seen < 9 ? task->seen + 1 : 9) : 0;
            ended = ended && task->seen >= 3;
        }
        job->ended = ended;
    }
    if (!*reached && !l->unreachable)
        say(l, "SLURM does not answer (%s); what runs goes on, and is looked after once it does", why);
    else if (*reached && l->unreachable)
        say(l, "SLURM answers again");
    l->unreachable = !*reached;
    return SK_OK;
}

static bool is_in_hand(const looking_after *l, int64_t piece)
{
    const place *p = &l->places[piece];
    return p->job >= 0 && l->jobs[p->job].tasks[p->task].seen <
                              2; /* once more: files may be seen later than the task's end */
}

/* Is the merge to be made by whoever does one of its parts? */
static bool parts_in_hand(const looking_after *l, const sk_batch_piece *merge)
{
    for (int64_t i = merge->number - merge->parts; i < merge->number; i++)
        if (is_in_hand(l, i))
            return true;
    return false;
}

/* Its task has ended, and it neither: that is put down with SLURM's reason. */
static sk_status bury(looking_after *l, const sk_batch_piece *piece, const sk_batch_look *look, sk_error *err)
{
    const place *p = &l->places[piece->number];
    const bool claimed = look->state == SK_PIECE_RUNNING || look->state == SK_PIECE_GONE;
    if (p->job < 0 || !claimed)
        return SK_OK;
    slurm_job *job = &l->jobs[p->job];
    char own[64];
    snprintf(own, sizeof own, "%.24s_%d", job->id, p->task);
    if (strcmp(own, look->holder.slurm) != 0)
        return SK_OK; /* somebody else's: its own signs of life tell */
    const slurm_task *task = &job->tasks[p->task];
    char why[256];
    snprintf(why, sizeof why, "SLURM task %s ended: %s%s%s", own, task->word[0] ? task->word : "gone",
             task->node[0] ? " on " : "", task->node);
    return sk_batch_put_lost(l->b, piece->number, look, why, err);
}

/* What is to be handed over (again); *open: pieces that are neither done nor given up. */
static sk_status find_undone(looking_after *l, int64_t *open, sk_error *err)
{
    bool asked = false;
    *open = 0;
    l->n_again = l->n_idle = 0;
    for (int64_t i = 0; i < l->b->pieces; i++) {
        const sk_batch_piece *piece = sk_batch_piece_of(l->b, i, err);
        sk_batch_look look;
        if (!piece)
            return sk_batch_piece_lacking(err);
        const bool mine = is_in_hand(l, i);
        if (mine || (piece->kind == SK_BATCH_MERGE && parts_in_hand(l, piece))) {
            *open += l->b->seen[i] != SK_BATCH_SEEN_DONE;
            continue;
        }
        sk_batch_look_at(l->b, piece, &look);
        if (look.state == SK_PIECE_DONE || look.state == SK_PIECE_GIVEN_UP || look.state == SK_PIECE_BLOCKED)
            continue;
        if (!asked)
            for (size_t j = 0; j < l->n_jobs; j++)
                slurm_account(&l->jobs[j]);
        asked = true;
        SK_TRY(bury(l, piece, &look, err));
        sk_batch_look_at(l->b, piece, &look);
        if (look.state == SK_PIECE_RUNNING)
            ++*open;
        else if (look.state != SK_PIECE_GIVEN_UP &&
                 l->places[i].times <= l->b->how.retries + l->b->how.losses)
            l->again[l->n_again++] = i;
        else if (look.state != SK_PIECE_GIVEN_UP && look.attempts == 0 && l->places[i].job >= 0 &&
                 l->n_idle++ == 0)
            l->idle = i;
    }
    *open += l->n_again;
    return SK_OK;
}

/* A task that dies before skitter begins (it is not there, a module is not) leaves no word but in its own log. */
static void tell_idle(const looking_after *l)
{
    const place *p = &l->places[l->idle];
    if (l->n_idle > 0)
        say(l,
            "%lld pieces were handed to SLURM %d times, and their tasks ended before they began: "
            "%s/" SK_BATCH_FOLDER "/slurm/%s_%d.log says why",
            (long long)l->n_idle, p->times, l->b->out, l->jobs[p->job].id, p->task);
}

static bool wait_interval(const looking_after *l)
{
    const char *wish = getenv("SKITTER_BATCH_INTERVAL_MS");
    const long ms = wish ? strtol(wish, NULL, 10) : INTERVAL_MS;
    for (long waited = 0; waited < ms; waited += SLEEP_MS) {
        if (l->watch->interrupted && l->watch->interrupted(l->watch->context))
            return true;
        sk_clock_sleep_ns((int64_t)SLEEP_MS * 1000000);
    }
    return false;
}

static sk_status look_after(looking_after *l, bool *stopped, sk_error *err)
{
    for (;;) {
        bool reached = true;
        int64_t open = 1;
        SK_TRY(sk_batch_refresh(l->b, err));
        SK_TRY(ask_all(l, &reached, err));
        if (reached) {
            SK_TRY(find_undone(l, &open, err));
            if (l->n_again > 0 && !sk_batch_is_cancelled(l->b)) {
                const sk_status status = hand_over(l, err);
                if (status != SK_OK && (l->n_jobs == 0 || status != SK_ERR_RUNTIME))
                    return status; /* a controller that is away comes back */
            }
        }
        if (l->watch->detach && l->n_jobs > 0)
            return slurm_submit_close(l->b, &l->jobs[l->n_jobs - 1], err);
        SK_TRY(sk_batch_watch_look(l->watcher, &l->status, err));
        if (l->watch->changed)
            l->watch->changed(l->watch->context, l->status);
        if (open == 0 || (reached && sk_batch_is_cancelled(l->b))) {
            tell_idle(l);
            return SK_OK;
        }
        *stopped = wait_interval(l);
        if (*stopped)
            return SK_OK;
    }
}

sk_status sk_batch_slurm_run(sk_batch *b, const sk_batch_slurm_watch *watch, bool *stopped, sk_error *err)
{
    looking_after l = {.b = b, .watch = watch};
    *stopped = false;
    l.places = sk_calloc((size_t)b->pieces + 1, sizeof *l.places);
    l.again = sk_calloc((size_t)b->pieces + 1, sizeof *l.again);
    sk_status status =
        l.places && l.again ? SK_OK : sk_fail_memory(err, (size_t)b->pieces * sizeof *l.places);
    for (int64_t i = 0; status == SK_OK && i < b->pieces; i++)
        l.places[i].job = -1;
    if (status == SK_OK)
        status = sk_batch_watch_open(b, &l.watcher, err);
    if (status == SK_OK)
        status = recall_jobs(&l, err);
    for (int64_t i = 0; status == SK_OK && i < b->pieces; i++)
        l.places[i].times = 0; /* how often is counted anew with every start by a person */
    if (status == SK_OK)
        status = look_after(&l, stopped, err);
    for (size_t i = 0; i < l.n_jobs; i++)
        slurm_job_free(&l.jobs[i]);
    sk_batch_watch_close(&l.watcher);
    sk_free_all(l.jobs, l.places, l.again);
    return status;
}
