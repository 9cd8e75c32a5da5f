/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_slurm_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_BYTES ((size_t)256 << 20)
#define ARRAY_MOST  1001 /* SLURM's MaxArraySize where it does not say */

/* --- files --- */

const char *slurm_file(const sk_batch *b, int64_t submission, const char *ending, char *buffer)
{
    char name[64];
    snprintf(name, sizeof name, "slurm/%04lld.%s", (long long)submission, ending);
    return sk_batch_path(b, name, buffer);
}

void slurm_job_free(slurm_job *job)
{
    sk_free_all(job->tasks, job->pieces, job->begins);
    *job = (slurm_job){0};
}

static sk_status make_room(slurm_job *job, size_t pieces, size_t tasks, sk_error *err)
{
    job->pieces = sk_calloc(pieces + 1, sizeof *job->pieces);
    job->begins = sk_calloc(tasks + 1, sizeof *job->begins);
    job->tasks = sk_calloc(tasks + 1, sizeof *job->tasks);
    return job->pieces && job->begins && job->tasks ? SK_OK
                                                    : sk_fail_memory(err, pieces * sizeof *job->pieces);
}

static sk_status read_tasks(const sk_batch *b, const char *path, slurm_job *job, sk_error *err)
{
    char *text = NULL;
    size_t bytes = 0, numbers = 0, lines = 0;
    SK_TRY(sk_file_read_own(path, TASKS_BYTES, &text, &bytes, err));
    for (size_t i = 0; i < bytes; i++) {
        numbers += text[i] == ' ' || text[i] == '\n';
        lines += text[i] == '\n';
    }
    sk_status status = make_room(job, numbers, lines, err);
    int64_t n = 0;
    for (const char *at = text; status == SK_OK && at < text + bytes && job->n_tasks < (int64_t)lines;) {
        char *end;
        const long long piece = strtoll(at, &end, 10);
        if (end == at || (*end != ' ' && *end != '\n') || piece < 0 || piece >= b->pieces ||
            n >= (int64_t)numbers) {
            status = sk_fail(err, SK_ERR_FORMAT, "%s: is damaged", path);
            break;
        }
        job->pieces[n++] = piece;
        if (*end == '\n')
            job->begins[++job->n_tasks] = n;
        at = end + 1;
    }
    sk_free(text);
    return status;
}

sk_status slurm_job_read(const sk_batch *b, int64_t submission, slurm_job *job, bool *there, sk_error *err)
{
    char path[SK_BATCH_PATH], *text = NULL;
    size_t bytes = 0;
    *job = (slurm_job){.submission = submission};
    *there = sk_file_is_regular(slurm_file(b, submission, "tasks", path));
    if (!*there)
        return SK_OK;
    SK_TRY(read_tasks(b, path, job, err));
    if (sk_file_is_regular(slurm_file(b, submission, "job", path)) &&
        sk_file_read_own(path, 64, &text, &bytes, NULL) == SK_OK)
        snprintf(job->id, sizeof job->id, "%.*s", (int)strspn(text, "0123456789"), text);
    sk_free(text);
    return SK_OK;
}

sk_status sk_batch_slurm_task(const sk_batch *b, int64_t submission, int64_t task, int64_t **pieces,
                              int64_t *count, sk_error *err)
{
    slurm_job job;
    bool there;
    *pieces = NULL;
    *count = 0;
    sk_status status = slurm_job_read(b, submission, &job, &there, err);
    if (status == SK_OK && (!there || task < 0 || task >= job.n_tasks))
        status = sk_fail(err, SK_ERR_ARG, "task %lld of submission %lld: there is no such in %s",
                         (long long)task, (long long)submission, b->out);
    if (status == SK_OK) {
        const int64_t n = job.begins[task + 1] - job.begins[task];
        *pieces = sk_calloc((size_t)n + 1, sizeof **pieces);
        if (*pieces)
            memcpy(*pieces, job.pieces + job.begins[task], (size_t)n * sizeof **pieces);
        *count = n;
        status = *pieces ? SK_OK : sk_fail_memory(err, (size_t)n * sizeof **pieces);
    }
    slurm_job_free(&job);
    return status;
}

/* --- handing over --- */

#define WORDS_MOST 63

typedef struct words {
    char *items[WORDS_MOST + 1];
    int n;
    bool lacks; /* one that did not fit, or for which there was no memory */
} words;

static void add(words *w, const char *format, ...) SK_PRINTF(2, 3);
static void add(words *w, const char *format, ...)
{
    sk_text text = {0};
    va_list args;
    va_start(args, format);
    sk_text_vappendf(&text, format, args);
    va_end(args);
    if (w->n < WORDS_MOST && sk_text_take(&text, &w->items[w->n], NULL) == SK_OK)
        w->n++;
    else
        w->lacks = true;
    sk_text_free(&text);
}

/* A program that is asked with some of its words missing does something else. */
static sk_status check_words(const words *w, sk_error *err)
{
    if (!w->lacks)
        return SK_OK;
    return w->n < WORDS_MOST
               ? sk_fail_memory(err, 64)
               : sk_fail(err, SK_ERR_LIMIT, "%s: more than %d words; give fewer --sbatch options",
                         w->items[0], WORDS_MOST);
}

static void free_words(words *w)
{
    while (w->n > 0)
        sk_free(w->items[--w->n]);
}

void slurm_name(const sk_batch *b, int64_t submission, char name[64])
{
    snprintf(name, 64, "skitter-%s-%04lld", b->id, (long long)submission);
}

static void add_resources(const sk_batch *b, words *w)
{
    const sk_batch_how *h = &b->how;
    add(w, "sbatch");
    add(w, "--parsable");
    add(w, "--requeue");
    add(w, "--open-mode=append");
    add(w, "--chdir=%s", b->folder);
    if (h->partition)
        add(w, "--partition=%s", h->partition);
    if (h->time)
        add(w, "--time=%s", h->time);
    if (h->gpus)
        add(w, "--gres=gpu:%s", h->gpus);
    if (h->memory)
        add(w, "--mem=%s", h->memory);
    if (h->cpus)
        add(w, "--cpus-per-task=%s", h->cpus);
    for (size_t i = 0; h->sbatch && h->sbatch[i]; i++) {
        const char *line = h->sbatch[i];
        add(w, "%s", strncmp(line, "#SBATCH ", 8) == 0 ? line + 8 : line);
    }
}

static void fill_words(const sk_batch *b, int64_t submission, int64_t tasks, words *w)
{
    char name[64], path[SK_BATCH_PATH];
    slurm_name(b, submission, name);
    add_resources(b, w);
    add(w, "--job-name=%s", name);
    if (b->how.workers > 0)
        add(w, "--array=0-%lld%%%d", (long long)tasks - 1, b->how.workers);
    else
        add(w, "--array=0-%lld", (long long)tasks - 1);
    add(w, "--signal=B:TERM@60"); /* before the time is up: what was found is put down in order */
    add(w, "--output=%s", sk_batch_path(b, "slurm/%A_%a.log", path));
    add(w, "%s", slurm_file(b, submission, "sh", path));
}

sk_status sk_batch_slurm_words(const sk_batch *b, int64_t submission, int64_t tasks, char ***out,
                               sk_error *err)
{
    words w = {0};
    fill_words(b, submission, tasks, &w);
    sk_status status = check_words(&w, err);
    *out = status == SK_OK ? sk_calloc((size_t)w.n + 1, sizeof **out) : NULL;
    if (!*out) {
        free_words(&w);
        return status == SK_OK ? sk_fail_memory(err, 64) : status;
    }
    memcpy((void *)*out, (void *)w.items, (size_t)w.n * sizeof **out);
    return SK_OK;
}

static sk_status write_script(const sk_batch *b, const char *path, const char *what, int64_t submission,
                              sk_error *err)
{
    sk_text text = {0};
    sk_text_append(&text, "#!/bin/bash\n");
    for (size_t i = 0; b->how.modules && b->how.modules[i]; i++) {
        const char *line = b->how.modules[i]; /* "cuda/12.4", or a line of its own such as "source env.sh" */
        sk_text_appendf(&text, strpbrk(line, " \t;") ? "%s\n" : "module load %s\n", line);
    }
    sk_text_append(&text, "exec ");
    sk_text_append_shell(&text, b->program);
    sk_text_appendf(&text, " batch %s ", what);
    sk_text_append_shell(&text, b->out);
    if (submission > 0)
        sk_text_appendf(&text, " --submission=%lld", (long long)submission);
    sk_text_append(&text, "\n");
    sk_status status = sk_text_status(&text, err);
    if (status == SK_OK)
        status = sk_file_replace(path, text.data, text.length, err);
    sk_text_free(&text);
    return status;
}

/* The longest array that SLURM takes. */
static int64_t array_most(void)
{
    const char *const asked[] = {"scontrol", "show", "config", NULL};
    sk_text printed = {0}, complained = {0};
    int code = 0;
    int64_t most = ARRAY_MOST;
    if (sk_batch_ask(asked, &printed, &complained, &code, NULL) == SK_OK && code == 0) {
        const char *at = strstr(sk_text_get(&printed), "MaxArraySize");
        at = at ? strchr(at, '=') : NULL;
        const long long said = at ? strtoll(at + 1, NULL, 10) : 0;
        most = said > 1 ? said : most;
    }
    sk_text_free(&printed);
    sk_text_free(&complained);
    return most - 1; /* the largest number of a task is one less */
}

static sk_status divide(sk_batch *b, const int64_t *pieces, int64_t count, slurm_job *job, sk_error *err)
{
    const int64_t most = array_most();
    int64_t each = b->how.pieces_per_task > 0 ? b->how.pieces_per_task : (count + most - 1) / most;
    if ((count + each - 1) / each > most)
        return sk_fail(err, SK_ERR_LIMIT,
                       "%lld pieces by %lld a task are more than the %lld tasks that SLURM takes in an array "
                       "(MaxArraySize). Give a larger --pieces-per-task, or none",
                       (long long)count, (long long)each, (long long)most);
    SK_TRY(make_room(job, (size_t)count, (size_t)((count + each - 1) / each), err));
    for (int64_t i = 0; i < count; i++) {
        job->pieces[i] = pieces[i];
        if (i % each == 0)
            job->begins[job->n_tasks++] = i;
    }
    job->begins[job->n_tasks] = count;
    return SK_OK;
}

static sk_status write_tasks(const sk_batch *b, const slurm_job *job, sk_error *err)
{
    sk_text text = {0};
    char path[SK_BATCH_PATH];
    for (int64_t t = 0; t < job->n_tasks; t++)
        for (int64_t i = job->begins[t]; i < job->begins[t + 1]; i++)
            sk_text_appendf(&text, "%lld%c", (long long)job->pieces[i],
                            i + 1 < job->begins[t + 1] ? ' ' : '\n');
    sk_status status = sk_text_status(&text, err);
    if (status == SK_OK)
        status = sk_file_replace(slurm_file(b, job->submission, "tasks", path), text.data, text.length, err);
    sk_text_free(&text);
    return status;
}

/* Asks a program of SLURM's; what it refuses is an error with its words. */
static sk_status ask_or_fail(words *w, sk_text *printed, sk_error *err)
{
    sk_text complained = {0};
    int code = 0;
    SK_TRY(check_words(w, err));
    sk_status status = sk_batch_ask((const char *const *)w->items, printed, &complained, &code, err);
    if (status == SK_ERR_NOT_FOUND)
        status =
            sk_fail(err, SK_ERR_UNSUPPORTED,
                    "%s: there is no SLURM on this machine. Leave --slurm out, or log in where there is one",
                    w->items[0]);
    if (status == SK_OK && code != 0) {
        const char *said = complained.length ? sk_text_get(&complained) : "it gave no reason";
        status = sk_fail(err, SK_ERR_RUNTIME,
                         "SLURM refused: %.*s. Does '%s' work by hand here, with this partition, time and "
                         "account?",
                         (int)strcspn(said, "\n"), said, w->items[0]);
    }
    sk_text_free(&complained);
    return status;
}

/* The number that an answer begins with; "": it does not. */
static void take_id(const char *answer, slurm_job *job)
{
    snprintf(job->id, sizeof job->id, "%.*s", (int)strspn(answer, "0123456789"), answer);
}

/* A job of this name that SLURM has: sbatch was asked, and whoever asked did not hear the answer. */
sk_status slurm_find(const char *name, slurm_job *job, sk_error *err)
{
    words w = {0};
    sk_text printed = {0};
    add(&w, "squeue");
    add(&w, "-h");
    add(&w, "-t");
    add(&w, "all");
    add(&w, "--name=%s", name);
    add(&w, "-o");
    add(&w, "%%F");
    sk_status status = ask_or_fail(&w, &printed, err);
    if (status == SK_OK)
        take_id(sk_text_get(&printed), job);
    sk_text_free(&printed);
    free_words(&w);
    return status;
}

static sk_status submit_once(sk_batch *b, slurm_job *job, sk_error *err)
{
    char name[64], path[SK_BATCH_PATH];
    words w = {0};
    sk_text printed = {0};
    slurm_name(b, job->submission, name);
    fill_words(b, job->submission, job->n_tasks, &w);
    sk_status status = ask_or_fail(&w, &printed, err);
    if (status == SK_OK) {
        take_id(sk_text_get(&printed), job);
        if (!job->id[0])
            status =
                sk_fail(err, SK_ERR_RUNTIME, "sbatch gave no number of a job: %.100s", sk_text_get(&printed));
    }
    if (status == SK_OK)
        status = sk_file_replace(slurm_file(b, job->submission, "job", path), job->id, strlen(job->id), err);
    sk_text_free(&printed);
    free_words(&w);
    return status;
}

sk_status slurm_submit(sk_batch *b, int64_t submission, const int64_t *pieces, int64_t count, slurm_job *job,
                       sk_error *err)
{
    char path[SK_BATCH_PATH];
    *job = (slurm_job){.submission = submission};
    SK_TRY(divide(b, pieces, count, job, err));
    SK_TRY(write_script(b, slurm_file(b, submission, "sh", path), "work", submission, err));
    SK_TRY(write_tasks(b, job, err));
    return submit_once(b, job, err);
}

sk_status slurm_submit_close(const sk_batch *b, const slurm_job *behind, sk_error *err)
{
    char path[SK_BATCH_PATH], name[64];
    words w = {0};
    sk_text printed = {0};
    slurm_name(b, behind->submission, name);
    SK_TRY(write_script(b, slurm_file(b, behind->submission, "close.sh", path), "merge", 0, err));
    add_resources(b, &w);
    add(&w, "--job-name=%s-close", name);
    add(&w, "--dependency=afterany:%s", behind->id);
    add(&w, "--output=%s", sk_batch_path(b, "slurm/%j.close.log", path));
    add(&w, "%s", slurm_file(b, behind->submission, "close.sh", path));
    const sk_status status = ask_or_fail(&w, &printed, err);
    sk_text_free(&printed);
    free_words(&w);
    return status;
}

/* --- ending --- */

sk_status sk_batch_slurm_cancel(sk_batch *b, int64_t *cancelled, sk_error *err)
{
    *cancelled = 0;
    for (int64_t i = 1;; i++) {
        slurm_job job;
        bool there;
        sk_status status = slurm_job_read(b, i, &job, &there, err);
        if (status == SK_OK && there && !job.id[0]) {
            char name[64];
            slurm_name(b, i, name);
            status = slurm_find(name, &job, err);
        }
        if (status == SK_OK && there && job.id[0]) {
            words w = {0};
            sk_text printed = {0};
            sk_error why = {0};
            add(&w, "scancel");
            add(&w, "%s", job.id);
            status = ask_or_fail(&w, &printed, &why);
            if (status == SK_ERR_RUNTIME && strstr(why.message, "nvalid job id"))
                status = SK_OK; /* it had ended */
            else if (status == SK_OK)
                ++*cancelled;
            else
                status = sk_fail(err, status, "%s", why.message);
            sk_text_free(&printed);
            free_words(&w);
        }
        slurm_job_free(&job);
        if (status != SK_OK || !there)
            return status;
    }
}
