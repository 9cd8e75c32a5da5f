/* SPDX-License-Identifier: Apache-2.0 */
#include "server/runs_inside.h"

#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES 65536
#define LINE_MOST  ((size_t)256 << 10)

void sk_page_run_forget(sk_page_run *run)
{
    sk_config_close(&run->told.progress);
    sk_text_free(&run->told.part);
    sk_text_free(&run->told.log_part);
    run->told =
        (sk_run_told){.preview = -1, .export_part = -1, .part.limit = LINE_MOST, .log_part.limit = LINE_MOST};
}

/* --- the log --- */

void sk_page_run_add_log(sk_runs *runs, sk_page_run *run, const char *line, size_t length)
{
    const size_t kept = length < SK_RUN_LOG_LINE ? length : SK_RUN_LOG_LINE;
    char *raw = sk_strndup(line, kept);
    char *text = raw ? sk_text_printable(raw, "\t") : NULL;
    sk_free(raw);
    if (!text)
        return;
    const int32_t at = (run->log_first + run->log_count) % SK_RUN_LOG_LINES;
    if (run->log_count == SK_RUN_LOG_LINES) {
        sk_free(run->log[at]);
        run->log_first = (run->log_first + 1) % SK_RUN_LOG_LINES;
    } else {
        run->log_count++;
    }
    run->log[at] = text;
    sk_text json = {0};
    sk_json j = sk_json_to_text(&json, 0);
    sk_json_object(&j);
    sk_json_key_strings(&j, {"id", run->id}, {"line", text});
    sk_json_close(&j);
    if (sk_json_end(&j, NULL) == SK_OK)
        sk_events_tell(runs->server->events, "log", sk_text_get(&json));
    sk_text_free(&json);
}

/* --- events --- */

static void copy(char *to, size_t capacity, const sk_config_value *from)
{
    const char *text = sk_config_text(from);
    if (text)
        sk_text_shorten(text, to, capacity);
}

static void take_export(sk_run_told *t, const sk_config_value *e)
{
    copy(t->export_step, sizeof t->export_step, sk_config_get(e, "step"));
    copy(t->export_path, sizeof t->export_path, sk_config_get(e, "path"));
    t->export_part = sk_config_real_or(e, "part", -1);
    if (strcmp(t->export_step, "done") == 0)
        t->export_step[0] = '\0';
}

static void take_event(sk_page_run *run, const char *line, size_t length)
{
    sk_run_told *t = &run->told;
    sk_config *config = NULL;
    if (sk_config_open_json(line, length, "an event", &config, NULL) != SK_OK)
        return;
    const sk_config_value *e = sk_config_root(config);
    const char *kind = sk_config_text_or(e, "event", "");
    if (strcmp(kind, "progress") == 0) {
        copy(t->runtime, sizeof t->runtime, sk_config_get(e, "runtime"));
        copy(t->device, sizeof t->device, sk_config_get(e, "device"));
        sk_config_close(&t->progress);
        t->progress = config;
        config = NULL;
        t->export_step[0] = '\0';
    } else if (strcmp(kind, "begin") == 0) {
        copy(t->runtime_requested, sizeof t->runtime_requested, sk_config_get(e, "runtime_requested"));
        t->result[0] = '\0'; /* that was the source before */
    } else if (strcmp(kind, "export") == 0) {
        take_export(t, e);
    } else if (strcmp(kind, "notice") == 0) {
        copy(t->notice, sizeof t->notice, sk_config_get(e, "text"));
    } else if (strcmp(kind, "preview") == 0) {
        t->preview = sk_config_int_or(e, "frame", t->preview);
    } else if (strcmp(kind, "result") == 0) {
        copy(t->runtime, sizeof t->runtime, sk_config_get(e, "runtime"));
        copy(t->device, sizeof t->device, sk_config_get(e, "device"));
        copy(t->result, sizeof t->result, sk_config_get(e, "state"));
        t->frames = sk_config_int_or(e, "frames", 0);
    } else if (strcmp(kind, "end") == 0) {
        t->ended = true;
        t->end_status = (int)sk_config_int_or(e, "status", SK_ERR_INTERNAL);
        copy(t->message, sizeof t->message, sk_config_get(e, "message"));
    }
    sk_config_close(&config);
}

/* --- reading on --- */

/* New bytes of a file behind *at, into `part`; whole lines are handed out. True: something came. */
static bool read_on(sk_runs *runs, sk_page_run *run, const char *ending, int64_t *at, sk_text *part,
                    bool events)
{
    char buffer[READ_BYTES];
    char *path = sk_runs_path(runs, run->id, ending);
    int file = -1;
    bool any = false;
    if (!path || sk_file_open_own(path, O_RDONLY, &file, NULL) != SK_OK) {
        sk_free(path);
        return false;
    }
    sk_free(path);
    for (ssize_t n; (n = pread(file, buffer, sizeof buffer, (off_t)*at)) > 0;) {
        *at += n;
        any = true;
        for (ssize_t begin = 0; begin < n;) {
            const char *newline = memchr(buffer + begin, '\n', (size_t)(n - begin));
            const ssize_t end = newline ? newline - buffer : n;
            sk_text_append_bytes(part, buffer + begin, (size_t)(end - begin));
            if (newline) {
                if (part->failed == SK_OK && events)
                    take_event(run, sk_text_get(part), part->length);
                else if (part->failed == SK_OK)
                    sk_page_run_add_log(runs, run, sk_text_get(part), part->length);
                sk_text_clear(part);
                part->failed = SK_OK; /* a line that was too long is left out */
            }
            begin = end + 1;
        }
    }
    close(file);
    return any;
}

bool sk_page_run_hear(sk_runs *runs, sk_page_run *run)
{
    sk_run_told *t = &run->told;
    bool any = read_on(runs, run, ".log", &t->log_at, &t->log_part, false);
    if (read_on(runs, run, ".events", &t->events_at, &t->part, true))
        any = run->changed = true;
    return any;
}

/* --- the end --- */

static const char *last_line(const sk_page_run *run)
{
    for (int32_t i = run->log_count - 1; i >= 0; i--) {
        const char *text = strstr(run->log[(run->log_first + i) % SK_RUN_LOG_LINES], "error: ");
        if (text && text[strlen("error: ")])
            return text + strlen("error: ");
    }
    return "";
}

void sk_page_run_conclude(sk_runs *runs, sk_page_run *run, int exit_status)
{
    sk_run_told *t = &run->told;
    (void)sk_page_run_hear(runs, run);
    run->pid = run->pid_start = 0;
    const bool stopped = t->ended && t->end_status == SK_ERR_CANCELLED;
    if (t->ended && t->end_status == SK_OK) {
        run->state = SK_PAGE_DONE;
    } else if (stopped || (!t->ended && run->state == SK_PAGE_STOPPING)) {
        run->state = SK_PAGE_STOPPED;
    } else if (t->ended) {
        run->state = SK_PAGE_FAILED;
    } else if (exit_status >= 0 && WIFSIGNALED(exit_status)) {
        run->state = SK_PAGE_FAILED;
        snprintf(t->message, sizeof t->message,
                 "the run's process was ended by signal %d (%s)\nContinue goes on from the last frame that "
                 "is written",
                 WTERMSIG(exit_status), strsignal(WTERMSIG(exit_status)));
    } else if (exit_status == 0) { /* it could not tell, as on a full disk; its exit code does */
        run->state = SK_PAGE_DONE;
    } else if (exit_status > 0) {
        run->state = SK_PAGE_FAILED;
        if (last_line(run)[0])
            snprintf(t->message, sizeof t->message, "%.900s", last_line(run));
        else
            snprintf(t->message, sizeof t->message, "the run's process ended with code %d; its log says more",
                     WEXITSTATUS(exit_status));
    } else {
        run->state = SK_PAGE_STOPPED;
        snprintf(t->message, sizeof t->message,
                 "the run ended while nobody watched\nContinue goes on from the last frame that is written");
    }
    run->changed = true;
}
