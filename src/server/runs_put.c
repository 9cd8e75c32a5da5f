/* SPDX-License-Identifier: Apache-2.0 */
#include "server/runs_inside.h"

#include "base/clock.h"
#include "base/file.h"
#include "runtime/setting_file.h"

#include <stdio.h>
#include <string.h>

const char *sk_page_state_name(sk_page_state state)
{
    static const char *const names[] = {"queued", "running", "stopping", "stopped", "failed", "done"};
    return names[state];
}

static const char *text_or_null(const char *text)
{
    return text && text[0] ? text : NULL;
}

static void put_time(sk_json *j, const char *key, int64_t ms)
{
    char at[SK_CLOCK_TEXT];
    sk_json_key_string(j, key, ms ? sk_clock_text(ms, at, sizeof at) : NULL);
}

/* The message's first line, and behind it what helps. */
static void put_message(sk_json *j, const char *message)
{
    const size_t first = strcspn(message, "\n");
    sk_json_key(j, "message");
    first ? sk_json_string_bytes(j, message, first) : sk_json_null(j);
    sk_json_key_string(j, "hint", message[first] ? text_or_null(message + first + 1) : NULL);
}

static void put_export(sk_json *j, const sk_run_told *t)
{
    sk_json_key(j, "export");
    if (!t->export_step[0]) {
        sk_json_null(j);
        return;
    }
    sk_json_object(j);
    sk_json_key_strings(j, {"runtime", text_or_null(t->runtime_requested)}, {"step", t->export_step},
                        {"text", t->export_path});
    sk_json_key(j, "share");
    t->export_part >= 0 ? sk_json_float(j, t->export_part) : sk_json_null(j);
    sk_json_close(j);
}

static void put_progress(sk_json *j, const sk_run_told *t)
{
    const bool over = t->frames > 0 && strcmp(t->result, "finished") == 0;
    const char *const but[] = {"event", "runtime", "device", over ? "frame" : NULL, "total", NULL};
    sk_json_key(j, "progress");
    if (!t->progress) {
        sk_json_null(j);
        return;
    }
    sk_json_object(j);
    if (over) /* a source may have fewer frames than it promised, and the last line of progress is a moment old */
        sk_json_key_ints(j, {"frame", t->frames}, {"total", t->frames});
    sk_setting_write_others(j, sk_config_root(t->progress), but);
    sk_json_close(j);
}

static void put_log(sk_json *j, const sk_page_run *run)
{
    sk_json_key_array(j, "log");
    for (int32_t i = 0; i < run->log_count; i++)
        sk_json_string(j, run->log[(run->log_first + i) % SK_RUN_LOG_LINES]);
    sk_json_close(j);
}

void sk_runs_put_run(const sk_page_run *run, bool log, sk_json *j)
{
    const sk_run_told *t = &run->told;
    const char *source = run->wish.source ? run->wish.source : run->wish.folder;
    sk_json_object(j);
    sk_json_key_strings(
        j, {"id", run->id}, {"command", run->wish.command},
        {"title", source ? sk_path_name(source) : run->id}, {"state", sk_page_state_name(run->state)},
        {"folder", run->wish.folder}, {"source", run->wish.source}, {"command_line", run->wish.line},
        {"runtime_requested", text_or_null(t->runtime_requested)}, {"runtime", text_or_null(t->runtime)},
        {"device", text_or_null(t->device)}, {"notice", text_or_null(t->notice)});
    sk_json_key_bool(j, "own", true);
    sk_json_key(j, "pid");
    run->pid ? sk_json_int(j, run->pid) : sk_json_null(j);
    put_time(j, "created", run->created_ms);
    put_time(j, "started", run->started_ms);
    put_time(j, "ended", run->ended_ms);
    sk_json_key(j, "preview");
    t->preview >= 0 ? sk_json_int(j, t->preview) : sk_json_null(j);
    put_progress(j, t);
    put_export(j, t);
    put_message(j, t->message);
    if (log)
        put_log(j, run);
    sk_json_close(j);
}

void sk_runs_put_elsewhere(const sk_run_info *run, sk_json *j)
{
    char id[32], command[32] = "";
    /* "build/skitter track …": the second word */
    const char *second = strchr(run->holder.command, ' ');
    if (second)
        snprintf(command, sizeof command, "%.*s", (int)strcspn(second + 1, " "), second + 1);
    snprintf(id, sizeof id, "pid-%lld", (long long)run->holder.pid);
    sk_json_object(j);
    sk_json_key_strings(j, {"id", id}, {"command", command[0] ? command : "run"},
                        {"title", run->name[0] ? run->name : run->holder.command}, {"state", "running"},
                        {"folder", NULL}, {"source", NULL}, {"command_line", run->holder.command},
                        {"runtime_requested", NULL}, {"runtime", NULL}, {"device", NULL}, {"notice", NULL});
    sk_json_key_bool(j, "own", false);
    sk_json_key_int(j, "pid", run->holder.pid);
    put_time(j, "created", run->holder.since_ms);
    put_time(j, "started", run->holder.since_ms);
    put_time(j, "ended", 0);
    sk_json_key_strings(j, {"preview", NULL}, {"progress", NULL}, {"export", NULL}, {"message", NULL},
                        {"hint", NULL});
    sk_json_close(j);
}

sk_status sk_runs_put_one(sk_runs *runs, const char *id, sk_json *json, sk_error *err)
{
    sk_status status = SK_ERR_NOT_FOUND;
    pthread_mutex_lock(&runs->lock);
    const sk_page_run *run = sk_runs_find(runs, id);
    if (run) {
        sk_runs_put_run(run, true, json);
        status = SK_OK;
    }
    for (int32_t i = 0; i < runs->n_elsewhere && status != SK_OK; i++) {
        char other[32];
        snprintf(other, sizeof other, "pid-%lld", (long long)runs->elsewhere[i].holder.pid);
        if (strcmp(other, id) != 0)
            continue;
        sk_runs_put_elsewhere(&runs->elsewhere[i], json);
        status = SK_OK;
    }
    pthread_mutex_unlock(&runs->lock);
    return status == SK_OK ? SK_OK : sk_fail(err, SK_ERR_NOT_FOUND, "there is no run %.24s", id);
}

void sk_runs_put_all(sk_runs *runs, sk_json *json)
{
    pthread_mutex_lock(&runs->lock);
    for (int32_t i = 0; i < runs->count; i++)
        sk_runs_put_run(runs->items[i], false, json);
    for (int32_t i = 0; i < runs->n_elsewhere; i++)
        sk_runs_put_elsewhere(&runs->elsewhere[i], json);
    pthread_mutex_unlock(&runs->lock);
}

const char *sk_runs_program(const sk_runs *runs)
{
    return runs->program;
}

void sk_runs_of_process(sk_runs *runs, int64_t pid, char id[24])
{
    id[0] = '\0';
    pthread_mutex_lock(&runs->lock);
    for (int32_t i = 0; i < runs->count && pid; i++)
        if (runs->items[i]->pid == pid)
            snprintf(id, 24, "%s", runs->items[i]->id);
    pthread_mutex_unlock(&runs->lock);
}

sk_status sk_runs_preview(sk_runs *runs, const char *id, char **path, sk_error *err)
{
    pthread_mutex_lock(&runs->lock);
    const bool known = sk_runs_find(runs, id);
    pthread_mutex_unlock(&runs->lock);
    *path = known ? sk_runs_path(runs, id, ".jpg") : NULL;
    if (!known)
        return sk_fail(err, SK_ERR_NOT_FOUND, "there is no run %.24s", id);
    return *path ? SK_OK : sk_fail_memory(err, strlen(id));
}
