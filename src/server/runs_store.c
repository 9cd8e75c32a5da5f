/* SPDX-License-Identifier: Apache-2.0 */
#include "server/runs_inside.h"

#include "base/file.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST ((size_t)8 << 20)

char *sk_runs_path(const sk_runs *runs, const char *id, const char *ending)
{
    char name[64];
    snprintf(name, sizeof name, "%.24s%.16s", id, ending);
    return sk_path_join(runs->server->state, name);
}

static void put_run(sk_json *j, const sk_page_run *run)
{
    sk_json_object(j);
    sk_json_key_strings(j, {"id", run->id}, {"command", run->wish.command}, {"source", run->wish.source},
                        {"folder", run->wish.folder}, {"state", sk_page_state_name(run->state)},
                        {"message", run->told.message});
    sk_json_key_ints(j, {"created", run->created_ms}, {"started", run->started_ms}, {"ended", run->ended_ms},
                     {"pid", run->pid}, {"pid_start", run->pid_start});
    sk_json_key_array(j, "words");
    for (int32_t i = 0; i < run->wish.n_words; i++)
        sk_json_string(j, run->wish.words[i]);
    sk_json_close(j);
    sk_json_close(j);
}

void sk_runs_save(sk_runs *runs)
{
    sk_text text = {0};
    sk_error err = {0};
    char *path = sk_path_join(runs->server->state, "runs.json");
    sk_json j = sk_json_to_text(&text, 1);
    sk_json_object(&j);
    sk_json_key_int(&j, "last_id", runs->last_id);
    sk_json_key_array(&j, "runs");
    for (int32_t i = 0; i < runs->count; i++)
        put_run(&j, runs->items[i]);
    sk_json_close(&j);
    sk_json_close(&j);
    sk_status status = sk_json_end(&j, &err);
    if (status == SK_OK && path)
        status = sk_file_replace(path, sk_text_get(&text), text.length, &err);
    if (status != SK_OK)
        sk_log(SK_LOG_WARN, "the list of runs was not kept: %s", err.message);
    sk_text_free(&text);
    sk_free(path);
}

/* --- reading it again --- */

static bool is_id(const char *id)
{
    return id && id[0] && strlen(id) < 20 && strspn(id, "0123456789") == strlen(id);
}

static sk_page_state state_of(const char *name)
{
    for (int s = SK_PAGE_QUEUED; s <= SK_PAGE_DONE; s++)
        if (name && strcmp(sk_page_state_name((sk_page_state)s), name) == 0)
            return (sk_page_state)s;
    return SK_PAGE_STOPPED;
}

static char *text_of(const sk_config_value *map, const char *key)
{
    const char *text = sk_config_text(sk_config_get(map, key));
    return text ? sk_strdup(text) : NULL;
}

static sk_page_run *read_run(const sk_config_value *map)
{
    const char *id = sk_config_text(sk_config_get(map, "id"));
    const sk_config_value *words = sk_config_get(map, "words");
    sk_page_run *run = is_id(id) ? sk_calloc(1, sizeof *run) : NULL;
    if (!run)
        return NULL;
    sk_page_run_forget(run);
    snprintf(run->id, sizeof run->id, "%s", id);
    run->wish.command = text_of(map, "command");
    run->wish.source = text_of(map, "source");
    run->wish.folder = text_of(map, "folder");
    run->state = state_of(sk_config_text(sk_config_get(map, "state")));
    run->created_ms = sk_config_int_or(map, "created", 0);
    run->started_ms = sk_config_int_or(map, "started", 0);
    run->ended_ms = sk_config_int_or(map, "ended", 0);
    run->pid = sk_config_int_or(map, "pid", 0);
    run->pid_start = sk_config_int_or(map, "pid_start", 0);
    sk_status status = run->wish.command ? SK_OK : SK_ERR_FORMAT;
    for (size_t i = 0; i < sk_config_count(words) && status == SK_OK; i++) {
        const char *word = sk_config_text(sk_config_at(words, i));
        status = word ? sk_wish_add(&run->wish, NULL, "%s", word) : SK_ERR_FORMAT;
    }
    if (status == SK_OK)
        status = sk_wish_write_line(&run->wish, NULL);
    if (status == SK_OK)
        return run;
    sk_page_run_free(run);
    return NULL;
}

/* What became of it since: still on, or over. */
static void catch_up(sk_runs *runs, sk_page_run *run, const char *message)
{
    int unknown;
    if (run->state == SK_PAGE_QUEUED) {
        run->state = SK_PAGE_STOPPED;
        snprintf(run->told.message, sizeof run->told.message,
                 "it waited for its turn when the server ended\nContinue begins it");
        return;
    }
    (void)sk_page_run_hear(runs, run);
    if (!sk_page_state_is_on(run->state)) {
        if (message && !run->told.message[0])
            sk_text_shorten(message, run->told.message, sizeof run->told.message);
        return;
    }
    if (!sk_page_run_is_alive(run, &unknown))
        sk_page_run_conclude(runs, run, -1);
}

void sk_runs_load(sk_runs *runs)
{
    char *path = sk_path_join(runs->server->state, "runs.json"), *text = NULL;
    size_t bytes = 0;
    sk_config *config = NULL;
    if (path && sk_file_read_own(path, FILE_MOST, &text, &bytes, NULL) == SK_OK &&
        sk_config_open_json(text, bytes, path, &config, NULL) == SK_OK) {
        const sk_config_value *list = sk_config_get(sk_config_root(config), "runs");
        runs->last_id = sk_config_int_or(sk_config_root(config), "last_id", 0);
        for (size_t i = 0; i < sk_config_count(list) && runs->count < SK_RUNS_MOST; i++) {
            const sk_config_value *map = sk_config_at(list, i);
            sk_page_run *run = read_run(map);
            if (!run)
                continue;
            const int64_t id = strtoll(run->id, NULL, 10);
            runs->last_id = id > runs->last_id ? id : runs->last_id;
            runs->items[runs->count++] = run;
            catch_up(runs, run, sk_config_text(sk_config_get(map, "message")));
        }
    }
    sk_config_close(&config);
    sk_free_all(path, text);
}
