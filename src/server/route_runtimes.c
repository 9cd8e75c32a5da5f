/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "models/model.h"
#include "server/routes.h"
#include "server/runs.h"

#include <stdio.h>
#include <string.h>

#define RUNS_SHOWN 16

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

/* The pipelines that the page has switched on: by their names, and by models. */
static sk_status read_pipelines(sk_server *server, const sk_request *r, uint32_t *pipelines, sk_error *err)
{
    SK_TRY(sk_works_parse(sk_request_query(r, "pipelines"), pipelines, err));
    for (int32_t i = 0; i < r->n_query; i++) {
        if (strcmp(r->query[i].name, "model") != 0 || !r->query[i].value[0])
            continue;
        char *path = NULL;
        sk_model *model = NULL;
        SK_TRY(sk_roots_resolve(&server->roots, r->query[i].value, &path, err));
        sk_status status = sk_model_open(path, &model, err);
        if (status == SK_OK)
            *pipelines |= 1u << sk_runtimes_work(model);
        sk_model_close(&model);
        sk_free(path);
        SK_TRY(status);
    }
    return SK_OK;
}

/* The same in a body: a text of names, or a list of them. */
static sk_status body_pipelines(const sk_config_value *root, uint32_t *pipelines, sk_error *err)
{
    const sk_config_value *given = sk_config_get(root, "pipelines");
    if (!sk_config_is(given, SK_CONFIG_LIST))
        return sk_works_parse(sk_config_text(given), pipelines, err);
    *pipelines = 0;
    for (size_t i = 0; i < sk_config_count(given); i++) {
        uint32_t one = 0;
        SK_TRY(sk_works_parse(sk_config_text(sk_config_at(given, i)), &one, err));
        *pipelines |= one;
    }
    return SK_OK;
}

static void put_holder(sk_json *j, sk_runs *runs, const sk_run_info *run)
{
    char since[SK_CLOCK_TEXT], id[24];
    sk_runs_of_process(runs, run->holder.pid, id);
    sk_json_object(j);
    sk_json_key_strings(j, {"name", run->name[0] ? run->name : run->holder.command},
                        {"command", run->holder.command}, {"host", run->holder.host},
                        {"since", sk_clock_text(run->holder.since_ms, since, sizeof since)});
    sk_json_key_int(j, "pid", run->holder.pid);
    sk_json_key_string(j, "run", text_or_null(id));
    sk_json_close(j);
}

/* Who keeps the setting as it is: every run of this user, wherever it was started. */
static void put_lock(sk_json *j, sk_server *server)
{
    sk_run_info rows[RUNS_SHOWN];
    int32_t count = 0;
    sk_json_key_array(j, "locked_by");
    if (sk_run_list(rows, RUNS_SHOWN, &count, NULL) == SK_OK)
        for (int32_t i = 0; i < count && i < RUNS_SHOWN; i++)
            if (rows[i].holder.pid != atomic_load(&server->testing_pid))
                put_holder(j, server->runs, &rows[i]);
    sk_json_close(j);
}

static void put_rows(sk_json *j, const sk_runtimes_view *view)
{
    sk_json_key_array(j, "runtimes");
    for (int i = 0; i < SK_RUNTIME_COUNT; i++) {
        const sk_probe_row *row = &view->rows[i];
        const bool allowed = view->gate.is_allowed[i];
        sk_json_object(j);
        sk_json_key_strings(j, {"name", sk_runtime_name((sk_runtime)i)},
                            {"label", sk_runtime_label((sk_runtime)i)},
                            {"meaning", sk_runtime_meaning((sk_runtime)i)});
        sk_json_key_bools(j, {"allowed", allowed}, {"available", row->available});
        sk_json_key_strings(j, {"because", allowed ? NULL : view->gate.because[i]},
                            {"remedy", allowed ? NULL : text_or_null(row->remedy)}, {"probe", row->reason},
                            {"library", text_or_null(row->library)}, {"version", text_or_null(row->version)});
        sk_json_key_array(j, "devices");
        for (int32_t d = 0; d < row->n_devices; d++)
            sk_json_string(j, row->devices[d]);
        sk_json_close(j);
        sk_json_close(j);
    }
    sk_json_close(j);
}

/* What is saved, where, and what a run that begins now would take. */
static void put_choice(sk_json *j, const sk_runtime_settings *settings, const sk_runtimes_view *view)
{
    const sk_runtime_setting *s = &settings->level[settings->effective];
    char notice[SK_RUNTIME_NOTICE] = "";
    sk_runtime effective;
    const bool reset = sk_runtime_reset(s->value, &view->gate, &view->facts, &effective, notice);
    const bool refused =
        reset && settings->effective >= SK_SETTING_ENVIRONMENT; /* said now: never replaced */
    if (refused)
        snprintf(notice, sizeof notice,
                 "%s asks for '%.60s', which cannot be used here: runs are refused until it is unset",
                 s->where, s->value);
    sk_json_key_strings(j, {"saved", s->value}, {"saved_by", sk_setting_level_name(settings->effective)},
                        {"saved_where", text_or_null(s->where)},
                        {"effective", refused ? s->value : sk_runtime_name(effective)});
    sk_json_key_string(j, "notice", reset ? notice : NULL);
    sk_json_key_array(j, "levels");
    for (int i = SK_SETTING_LEVELS - 1; i >= 0; i--)
        if (settings->level[i].given) {
            sk_json_object(j);
            sk_json_key_strings(j, {"level", sk_setting_level_name((sk_setting_level)i)},
                                {"value", settings->level[i].value},
                                {"where", text_or_null(settings->level[i].where)});
            sk_json_close(j);
        }
    sk_json_close(j);
}

static sk_status put_runtimes(sk_json *j, sk_server *server, const sk_runtimes_view *view, int64_t at_wall_ms,
                              sk_error *err)
{
    sk_runtime_settings settings;
    char at[SK_CLOCK_TEXT];
    SK_TRY(sk_runtime_settings_read(NULL, &settings, err));
    sk_json_key_string(j, "probed", sk_clock_text(at_wall_ms, at, sizeof at));
    sk_json_key_array(j, "pipelines");
    for (int i = 0; i < SK_WORK_COUNT; i++)
        if (view->pipelines & 1u << i)
            sk_json_string(j, sk_work_name((sk_work)i));
    sk_json_close(j);
    put_rows(j, view);
    put_choice(j, &settings, view);
    put_lock(j, server);
    return SK_OK;
}

/* The runtimes under these pipelines, as a reply. */
static sk_status reply_runtimes(sk_server *server, uint32_t pipelines, bool fresh, const char *announced,
                                sk_reply *reply, sk_error *err)
{
    int64_t at = 0;
    sk_runtimes_view *view = sk_calloc(1, sizeof *view);
    if (!view)
        return sk_fail_memory(err, sizeof *view);
    sk_probes_look(&server->probes, pipelines, fresh, view, &at);
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_status status = put_runtimes(&j, server, view, at, err);
    if (announced)
        sk_json_key_string(&j, "announced", text_or_null(announced));
    sk_json_close(&j);
    sk_free(view);
    return status == SK_OK ? sk_json_end(&j, err) : status;
}

sk_status sk_serve_runtimes(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    uint32_t pipelines = 0;
    SK_TRY(read_pipelines(server, r, &pipelines, err));
    return reply_runtimes(server, pipelines, false, NULL, reply, err);
}

sk_status sk_serve_doctor(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *fresh = sk_request_query(r, "fresh"); /* Try again */
    return reply_runtimes(server, 0, fresh && strcmp(fresh, "1") == 0, NULL, reply, err);
}

/* A value that a person chose must be usable by the pipelines; no value asks for what a saved one is reset to. */
static sk_status settle(const sk_runtimes_view *view, const char *value, sk_runtime *out, char *notice,
                        sk_error *err)
{
    char list[SK_RUNTIME_LIST];
    sk_runtime_settings settings;
    const sk_runtime_devices devices = sk_runtime_facts_devices(&view->facts);
    notice[0] = '\0';
    if (!value) {
        SK_TRY(sk_runtime_settings_read(NULL, &settings, err));
        (void)sk_runtime_reset(settings.level[settings.effective].value, &view->gate, &view->facts, out,
                               notice);
        return SK_OK;
    }
    if (sk_runtime_normalise(value, &devices, out) == SK_RUNTIME_NO_MATCH)
        return sk_fail(err, SK_ERR_ARG, "no compute runtime is called '%.60s'\nthere are %s", value,
                       sk_runtime_list(list, sizeof list));
    if (!view->gate.is_allowed[*out])
        return sk_fail(err, SK_ERR_UNSUPPORTED, "the compute runtime '%s' cannot be used here: %s\n%s",
                       sk_runtime_name(*out), view->gate.because[*out],
                       view->rows[*out].remedy[0] ? view->rows[*out].remedy
                                                  : "the doctor's page says what would help");
    return SK_OK;
}

static void tell(sk_server *server, sk_runtime runtime, const char *notice)
{
    sk_text text = {0};
    sk_json j = sk_json_to_text(&text, 0);
    sk_json_object(&j);
    sk_json_key_strings(&j, {"value", sk_runtime_name(runtime)}, {"notice", text_or_null(notice)});
    sk_json_close(&j);
    if (sk_json_end(&j, NULL) == SK_OK)
        sk_events_tell(server->events, "runtimes", sk_text_get(&text));
    sk_text_free(&text);
}

/* With `reset` whatever is saved is kept where it is allowed; else the body's value is taken. */
static sk_status change(sk_server *server, const sk_request *r, bool reset, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL;
    sk_status status;
    uint32_t pipelines = 0;
    sk_runtime runtime = SK_RUNTIME_CPU;
    sk_runtime_settings settings;
    char notice[SK_RUNTIME_NOTICE] = "";
    sk_runtimes_view *view = sk_calloc(1, sizeof *view);
    if (!view)
        return sk_fail_memory(err, sizeof *view);
    SK_TRY_GOTO(sk_request_json(r, &body, err));
    const char *value = reset ? NULL : sk_config_text(sk_config_get(sk_config_root(body), "value"));
    if (!reset && !value) {
        status = sk_fail(err, SK_ERR_ARG, "\"value\" names the compute runtime");
        goto done;
    }
    SK_TRY_GOTO(body_pipelines(sk_config_root(body), &pipelines, err));
    sk_probes_look(&server->probes, pipelines, false, view, NULL);
    SK_TRY_GOTO(settle(view, value, &runtime, notice, err));
    SK_TRY_GOTO(sk_runtime_settings_read(NULL, &settings, err));
    const sk_runtime_setting *strongest = &settings.level[settings.effective];
    const bool ours =
        settings.effective <= SK_SETTING_USER; /* a project's file is shared with other machines */
    if (value && !ours) {
        status = sk_fail(err, SK_ERR_ARG,
                         "the compute runtime is '%.60s' by %.300s, which counts more than what is chosen "
                         "here\nchange it there",
                         strongest->value, strongest->where);
        goto done;
    }
    if (ours && (value || notice[0])) { /* else what is saved is right as it is */
        SK_TRY_GOTO(sk_runtime_setting_save(NULL, runtime, err));
        tell(server, runtime, notice);
    }
    status = reply_runtimes(server, pipelines, false, notice, reply, err);
done:
    sk_config_close(&body);
    sk_free(view);
    return status;
}

sk_status sk_serve_runtime_put(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return change(server, r, false, reply, err);
}

sk_status sk_serve_runtime_reset(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    return change(server, r, true, reply, err);
}
