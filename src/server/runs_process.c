/* SPDX-License-Identifier: Apache-2.0 */
#include "server/runs_inside.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A fresh file of the run's, to be appended to. */
static int open_file(sk_runs *runs, const char *id, const char *ending, sk_status *status, sk_error *err)
{
    char *path = sk_runs_path(runs, id, ending);
    int file = -1;
    if (*status == SK_OK)
        *status = path ? sk_file_open_own(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, &file, err)
                       : sk_fail_memory(err, 64);
    sk_free(path);
    return file;
}

sk_status sk_page_run_start(sk_runs *runs, sk_page_run *run, sk_error *err)
{
    sk_status status = SK_OK;
    sk_wish words = {0}; /* the run's own, and what is told to us */
    pid_t pid = 0;
    int log = -1, events = -1, high = -1;
    char *picture = sk_runs_path(runs, run->id, ".jpg");
    sk_page_run_forget(run);
    if (picture &&
        run->started_ms == 0) /* of one that goes on, a page may be asking for the last one just now */
        (void)unlink(picture);
    SK_TRY_GOTO(picture ? sk_wish_add(&words, err, "skitter") : sk_fail_memory(err, 64));
    SK_TRY_GOTO(sk_wish_add(&words, err, "%s", run->wish.command));
    for (int32_t i = 0; i < run->wish.n_words; i++)
        SK_TRY_GOTO(sk_wish_add(&words, err, "%s", run->wish.words[i]));
    SK_TRY_GOTO(sk_wish_add(&words, err, "--events=3"));
    SK_TRY_GOTO(sk_wish_add(&words, err, "--preview=%s", picture));
    log = open_file(runs, run->id, ".log", &status, err);
    events = open_file(runs, run->id, ".events", &status, err);
    if (status != SK_OK)
        goto done;
    high = fcntl(events, F_DUPFD_CLOEXEC, 10); /* dup2 onto itself would leave it closed by exec */
    const sk_spawn wish = {.program = runs->program,
                           .words = words.words,
                           .files = {SK_SPAWN_NULL, log, log, high},
                           .own_session = true};
    const int code = high < 0 ? errno : sk_spawn_start(&wish, &pid);
    if (code) {
        status = sk_fail(err, SK_ERR_RUNTIME, "the run could not be started: %s", strerror(code));
        goto done;
    }
    run->state = SK_PAGE_RUNNING;
    run->pid = pid;
    run->pid_start = sk_process_started(pid);
    run->child = true;
    run->started_ms = sk_clock_wall_ms();
    run->ended_ms = 0;
done:
    if (log >= 0)
        close(log);
    if (events >= 0)
        close(events);
    if (high >= 0)
        close(high);
    sk_wish_free(&words);
    sk_free(picture);
    return status;
}

bool sk_page_run_is_alive(sk_page_run *run, int *exit_status)
{
    *exit_status = -1;
    if (!run->pid)
        return false;
    if (!run->child)
        return sk_process_started(run->pid) == run->pid_start && run->pid_start != 0;
    const pid_t got = waitpid((pid_t)run->pid, exit_status, WNOHANG);
    if (got != 0)
        run->child = false; /* reaped: the number may be another's from here on */
    if (got < 0)
        *exit_status = -1;
    return got == 0;
}

void sk_page_run_interrupt(sk_page_run *run)
{
    /* the number of a child is its own until it is waited for; others are compared */
    if (run->pid > 0 && (run->child || sk_process_started(run->pid) == run->pid_start))
        (void)kill((pid_t)run->pid, SIGINT);
}
