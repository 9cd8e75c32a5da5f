/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_attempt.h"

#include "app/batch_internal.h"
#include "app/batch_work.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/spawn.h"
#include "formats/config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PRINTED_MOST ((size_t)1 << 20)

/* --- starting --- */

/* What an attempt before had found, so that it is not computed again: after a failure only once, as what is kept may be why. */
static void go_on_from(const sk_batch *b, int64_t number, const sk_batch_look *look, const char *work)
{
    static const char *const files[] = {"journal.skj", "run.json"};
    char from[SK_BATCH_PATH], path[SK_BATCH_PATH + 16], to[SK_BATCH_PATH + 16];
    if (look->failures > 1)
        return;
    for (int32_t i = look->attempts; i > 0; i--) {
        sk_batch_work_path(b, number, i, from);
        snprintf(path, sizeof path, "%s/%s", from, files[0]);
        if (!sk_file_is_regular(path))
            continue;
        for (int k = 0; k < 2; k++) {
            char *data = NULL;
            size_t bytes = 0;
            snprintf(path, sizeof path, "%s/%s", from, files[k]);
            snprintf(to, sizeof to, "%s/%s", work, files[k]);
            if (sk_file_read_own(path, (size_t)4 << 30, &data, &bytes, NULL) == SK_OK)
                (void)!sk_file_replace(to, data, bytes, NULL);
            sk_free(data);
        }
        return;
    }
}

/* Who had it is gone: that is put down, once, and what it had started is ended. */
static sk_status bury(const sk_batch *b, int64_t number, const sk_batch_look *look, sk_error *err)
{
    if (look->state != SK_PIECE_GONE)
        return SK_OK;
    sk_claim_end_orphan(&look->holder);
    return sk_batch_put_lost(b, number, look, look->why_gone, err);
}

static sk_status open_pipe(int ends[2], sk_error *err)
{
    int high = -1;
    if (pipe2(ends, O_CLOEXEC) == 0 && (high = fcntl(ends[1], F_DUPFD_CLOEXEC, 10)) >= 0) {
        close(ends[1]); /* what is given to a child must not have the number of one of its places */
        ends[1] = high;
        (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
        return SK_OK;
    }
    return sk_fail(err, SK_ERR_IO, "a pipe cannot be opened: %s", strerror(errno));
}

static sk_status start_process(sk_batch *b, sk_batch_attempt *a, char **words, sk_error *err)
{
    int events[2] = {-1, -1}, summary[2] = {-1, -1}, log = -1, code = 0;
    char path[SK_BATCH_PATH];
    pid_t pid = 0;
    sk_status status = open_pipe(events, err);
    if (status == SK_OK)
        status = open_pipe(summary, err);
    if (status == SK_OK)
        status = sk_file_open_own(sk_batch_file(b, a->piece->number, a->attempt, "log", path),
                                  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, &log, err);
    if (status == SK_OK) {
        const int high = fcntl(log, F_DUPFD_CLOEXEC, 10);
        const sk_spawn wish = {.program = words[0],
                               .words = words,
                               .files = {SK_SPAWN_NULL, summary[1], high, events[1]},
                               .own_session = true};
        code = high < 0 ? errno : sk_spawn_start(&wish, &pid);
        if (high >= 0)
            close(high);
        if (code)
            status = sk_fail(err, SK_ERR_RUNTIME, "%s could not be started: %s", words[0], strerror(code));
    }
    const int ours[] = {events[1], summary[1], log};
    for (int i = 0; i < 3; i++)
        if (ours[i] >= 0)
            close(ours[i]);
    a->events = events[0];
    a->summary = summary[0];
    a->pid = pid;
    a->claim.holder.child = pid;
    return status;
}

static void let_go(sk_batch_attempt *a)
{
    if (a->events >= 0)
        close(a->events);
    if (a->summary >= 0)
        close(a->summary);
    sk_claim_close(&a->claim);
    sk_text_free(&a->heard);
    sk_text_free(&a->printed);
    *a = (sk_batch_attempt){.events = -1, .summary = -1, .claim = {.file = -1}};
}

sk_status sk_batch_attempt_start(sk_batch *b, const sk_batch_piece *piece, const sk_batch_look *look,
                                 int32_t slot, sk_batch_attempt *a, sk_error *err)
{
    char path[SK_BATCH_PATH], **words = NULL;
    *a = (sk_batch_attempt){.piece = piece,
                            .attempt = look->attempts + 1,
                            .events = -1,
                            .summary = -1,
                            .total = piece->frames_expected,
                            .begun_ns = sk_clock_ns(),
                            .begun_ms = sk_clock_wall_ms(),
                            .claim = {.file = -1}};
    sk_status status =
        sk_claim_take(sk_batch_file(b, piece->number, a->attempt, "claim", path), b->round, &a->claim, err);
    if (status != SK_OK) {
        let_go(a);
        return status;
    }
    if (b->seen && b->seen[piece->number] == SK_BATCH_SEEN_NOTHING)
        b->seen[piece->number] = SK_BATCH_SEEN_CLAIM;
    sk_batch_done done;
    if (sk_batch_done_read(b, piece->number,
                           &done)) { /* NFS may not have shown it before: our claim made it look again */
        let_go(a);
        return sk_fail(err, SK_ERR_BUSY, "piece %lld is done", (long long)piece->number);
    }
    status = bury(b, piece->number, look, err);
    sk_batch_work_path(b, piece->number, a->attempt, path);
    if (status == SK_OK)
        status = sk_folder_make(path, err);
    if (status == SK_OK)
        go_on_from(b, piece->number, look, path);
    if (status == SK_OK)
        status = sk_batch_words(b, piece, a->attempt, slot, &words, err);
    if (status == SK_OK)
        status = start_process(b, a, words, err);
    sk_batch_words_free(words);
    if (status == SK_OK) {
        sk_claim_beat(&a->claim);
        return SK_OK;
    }
    sk_batch_done end = {0};
    if (err)
        snprintf(a->message, sizeof a->message, "%.500s", err->message);
    (void)!sk_batch_attempt_finish(b, a, -1, NULL, &end, NULL);
    return status;
}

/* --- listening --- */

static void hear_line(sk_batch_attempt *a, const char *line, size_t length)
{
    sk_config *config = NULL;
    if (sk_config_open_json(line, length, "event", &config, NULL) != SK_OK)
        return;
    const sk_config_value *root = sk_config_root(config);
    const char *event = sk_config_text_or(root, "event", "");
    if (strcmp(event, "progress") == 0) {
        a->frames = sk_config_int_or(root, "frame", a->frames);
        const int64_t total = sk_config_int_or(root, "total", -1);
        a->total = total > 0 ? total : a->total;
        a->instances = sk_config_int_or(root, "instances", a->instances);
    } else if (strcmp(event, "result") == 0) {
        a->frames = sk_config_int_or(root, "frames", a->frames);
        a->instances = sk_config_int_or(root, "instances", a->instances);
    } else if (strcmp(event, "end") == 0) {
        sk_text_shorten(sk_config_text_or(root, "message", ""), a->message, sizeof a->message);
        a->heard_end = true;
    }
    a->claim.holder.frames = a->frames;
    a->claim.holder.total = a->total;
    sk_config_close(&config);
}

static bool read_into(int *file, sk_text *text)
{
    char bytes[8192];
    ssize_t n = 0;
    if (*file < 0)
        return false;
    while ((n = read(*file, bytes, sizeof bytes)) > 0)
        if (text->length < PRINTED_MOST)
            sk_text_append_bytes(text, bytes, (size_t)n);
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(*file);
        *file = -1;
    }
    return true;
}

bool sk_batch_attempt_listen(sk_batch_attempt *a, int *exit_status)
{
    const pid_t got =
        waitpid((pid_t)a->pid, exit_status, WNOHANG); /* before reading: then nothing comes behind it */
    read_into(&a->summary, &a->printed);
    read_into(&a->events, &a->heard);
    const char *text = sk_text_get(&a->heard), *at = text, *end;
    while ((end = strchr(at, '\n'))) {
        hear_line(a, at, (size_t)(end - at));
        at = end + 1;
    }
    if (at > text) {
        sk_text rest = {0};
        sk_text_append(&rest, at);
        sk_text_free(&a->heard);
        a->heard = rest;
    }
    if (got < 0 && errno != EINTR)
        *exit_status = -1;
    return got == a->pid || (got < 0 && errno != EINTR);
}

void sk_batch_attempt_stop(sk_batch_attempt *a)
{
    const int64_t now = sk_clock_ns();
    if (a->pid <= 0 || (a->asked && now - a->told_ns < (int64_t)15000000000))
        return;
    (void)kill((pid_t)a->pid, a->asked == 0 ? SIGINT : SIGKILL);
    a->asked++;
    a->told_ns = now;
}

/* --- ending --- */

/* The last words of its log, where it said nothing else. */
static void last_line(const sk_batch *b, const sk_batch_attempt *a, char *out, size_t capacity)
{
    char path[SK_BATCH_PATH], *text = NULL;
    size_t bytes = 0;
    if (sk_file_read_own(sk_batch_file(b, a->piece->number, a->attempt, "log", path), (size_t)64 << 20, &text,
                         &bytes, NULL) != SK_OK)
        return;
    while (bytes > 0 && text[bytes - 1] == '\n')
        text[--bytes] = '\0';
    const char *line = strrchr(text, '\n');
    char *printable = sk_text_printable(line ? line + 1 : text, "");
    if (printable && *printable)
        sk_text_shorten(printable, out, capacity);
    sk_free(printable);
    sk_free(text);
}

static void judge(const sk_batch *b, const sk_batch_attempt *a, int status, const char *stopped,
                  sk_batch_done *e)
{
    const int code = status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    e->outcome = code == 0                ? SK_BATCH_FINISHED
                 : code == 4              ? SK_BATCH_INCOMPLETE
                 : stopped                ? SK_BATCH_STOPPED
                 : code == 130            ? SK_BATCH_STOPPED
                 : code == 2 || code == 3 ? SK_BATCH_REFUSED
                                          : SK_BATCH_FAILED;
    if (e->outcome == SK_BATCH_FINISHED)
        return;
    if (e->outcome == SK_BATCH_STOPPED)
        snprintf(e->reason, sizeof e->reason, "%s", stopped ? stopped : "interrupted");
    else if (status >= 0 && WIFSIGNALED(status))
        snprintf(e->reason, sizeof e->reason, "ended by signal %d (%s)%s", WTERMSIG(status),
                 strsignal(WTERMSIG(status)), WTERMSIG(status) == SIGKILL ? ": out of memory?" : "");
    else if (a->message[0])
        snprintf(e->reason, sizeof e->reason, "%s", a->message);
    else
        last_line(b, a, e->reason, sizeof e->reason);
    if (!e->reason[0])
        snprintf(e->reason, sizeof e->reason, "exit code %d", code);
}

/* What the summary that it printed says. */
static void read_printed(const sk_batch_attempt *a, sk_batch_done *e)
{
    sk_config *config = NULL;
    const char *text = sk_text_get(&a->printed);
    if (sk_config_open_json(text, strlen(text), "summary", &config, NULL) != SK_OK)
        return;
    const sk_config_value *root = sk_config_root(config);
    e->frames = sk_config_int_or(root, "total_frames", sk_config_int_or(root, "frames", e->frames));
    e->instances = sk_config_int_or(root, "instances", sk_config_int_or(root, "detections", e->instances));
    e->tracks = sk_config_int_or(root, "tracks", -1);
    sk_config_close(&config);
}

static void remove_attempts(const sk_batch *b, const sk_batch_piece *piece, int32_t last)
{
    char path[SK_BATCH_PATH];
    for (int32_t i = 1; i <= last; i++)
        batch_remove_tree(sk_batch_work_path(b, piece->number, i, path));
}

sk_status sk_batch_settle(sk_batch *b, const sk_batch_piece *piece, sk_error *err)
{
    char work[SK_BATCH_PATH], place[SK_BATCH_PATH];
    sk_batch_done done;
    if (!sk_batch_done_read(b, piece->number, &done))
        return SK_OK;
    remove_attempts(b, piece, done.attempt - 1); /* whoever put it down may have been killed before */
    if (piece->kind == SK_BATCH_PART)
        return SK_OK;
    sk_batch_work_path(b, piece->number, done.attempt, work);
    sk_batch_result_path(b, piece, place);
    if (sk_file_is_directory(work) && rename(work, place) != 0 &&
        errno != ENOENT) /* that: somebody has just done it */
        return sk_fail(err, SK_ERR_IO,
                       "%s: the result (%s) cannot be put there: %s. Make way, and start again", place, work,
                       strerror(errno));
    for (int64_t i = piece->number - (piece->kind == SK_BATCH_MERGE ? piece->parts : 0); i < piece->number;
         i++) {
        sk_batch_done part;
        if (sk_batch_done_read(b, i, &part))
            batch_remove_tree(sk_batch_work_path(b, i, part.attempt, work));
    }
    return SK_OK;
}

sk_status sk_batch_attempt_finish(sk_batch *b, sk_batch_attempt *a, int status, const char *stopped,
                                  sk_batch_done *e, sk_error *err)
{
    char path[SK_BATCH_PATH];
    const sk_batch_piece *piece = a->piece;
    const int32_t attempt = a->attempt;
    *e = (sk_batch_done){.attempt = attempt,
                         .round = b->round,
                         .frames = a->frames,
                         .instances = a->instances,
                         .tracks = -1,
                         .seconds = 1e-9 * (double)(sk_clock_ns() - a->begun_ns),
                         .started_ms = a->begun_ms,
                         .ended_ms = sk_clock_wall_ms()};
    snprintf(e->host, sizeof e->host, "%s", a->claim.holder.host);
    snprintf(e->slurm, sizeof e->slurm, "%s", a->claim.holder.slurm);
    judge(b, a, status, stopped, e);
    read_printed(a, e);
    const bool done = e->outcome == SK_BATCH_FINISHED || e->outcome == SK_BATCH_INCOMPLETE;
    sk_status result = sk_batch_end_put(b, piece->number, e, done, err);
    if (result == SK_ERR_BUSY) { /* somebody who thought us dead was first: theirs counts */
        snprintf(e->reason, sizeof e->reason, "another attempt was first");
        batch_remove_tree(sk_batch_work_path(b, piece->number, attempt, path));
        result = SK_OK;
    } else if (result == SK_OK && done) {
        if (b->seen && b->seen[piece->number] != SK_BATCH_SEEN_DONE) {
            b->seen[piece->number] = SK_BATCH_SEEN_DONE;
            b->seen_done[piece->number / SK_BATCH_SHARD]++;
        }
        result = sk_batch_settle(b, piece, err);
    }
    if (done && sk_file_size(sk_batch_file(b, piece->number, attempt, "log", path)) == 0)
        (void)unlink(path);
    let_go(a);
    return result;
}
