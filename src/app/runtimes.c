/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"

#include "base/file.h"
#include "base/memory.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>

sk_capabilities sk_runtimes_can(const sk_runtimes_view *view, sk_runtime runtime)
{
    sk_capabilities can = *sk_engine_can(sk_runtime_name(runtime));
    if (view->rows[runtime].precisions)
        can.precisions &= view->rows[runtime].precisions;
    return can;
}

void sk_runtimes_look(uint32_t pipelines, bool fresh, sk_runtimes_view *out)
{
    out->pipelines = pipelines;
    sk_probe_all(fresh, out->rows);
    sk_probe_facts(out->rows, &out->facts);
    sk_runtime_gate_make(pipelines, &out->facts, &out->gate);
}

static sk_status new_view(sk_runtimes_view **out, sk_error *err)
{
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(err, sizeof **out);
}

sk_work sk_runtimes_work(const sk_model *model)
{
    switch (model->family) {
    case SK_FAMILY_SLEAP: return SK_WORK_SLEAP_POSE;
    case SK_FAMILY_YOLO:
        return model->task == SK_TASK_OBB    ? SK_WORK_YOLO_OBB_DETECTION
               : model->task == SK_TASK_POSE ? SK_WORK_YOLO_POSE
                                             : SK_WORK_YOLO_DETECTION;
    case SK_FAMILY_CLASSIFY:
    case SK_FAMILY_GIVEN:
    case SK_FAMILY_NONE: break;
    }
    return SK_WORK_GENERIC;
}

/* The pipelines that these models switch on, as bits; *importable: could the graphs of all be built? */
static sk_status look_at_models(const char *const *models, int32_t n_models, uint32_t *pipelines,
                                bool *importable, sk_error *err)
{
    *pipelines = 0;
    *importable = true;
    for (int32_t i = 0; i < n_models; i++) {
        sk_model *model = NULL;
        SK_TRY(sk_model_open(models[i], &model, err));
        *pipelines |= 1u << sk_runtimes_work(model);
        *importable = *importable && model->graph && !model->truncated;
        sk_model_close(&model);
    }
    return SK_OK;
}

sk_status sk_runtimes_look_for(const char *const *models, int32_t n_models, uint32_t more,
                               sk_runtimes_view *out, sk_error *err)
{
    uint32_t pipelines = 0;
    bool importable = true;
    SK_TRY(look_at_models(models, n_models, &pipelines, &importable, err));
    pipelines |= more;
    out->pipelines = pipelines;
    sk_probe_all(false, out->rows);
    sk_probe_facts(out->rows, &out->facts);
    out->facts.graph_importable = importable;
    sk_runtime_gate_make(pipelines, &out->facts, &out->gate);
    return SK_OK;
}

/* The engine that others are checked against: not one of the runtimes people choose from. */
static bool is_for_checking(const char *name)
{
    return sk_engine_can(name)->for_checking;
}

static bool is_processor(const char *name)
{
    sk_runtime runtime;
    return sk_runtime_find(name, &runtime) && runtime == SK_RUNTIME_CPU;
}

/* --execution-provider says something about the runtime, too. *out: what the command line means, and `where` it does. */
static sk_status of_provider(const sk_runtimes_wish *wish, const char **out, char *where, size_t capacity,
                             sk_error *err)
{
    const char *command = wish->runtime, *provider = wish->provider;
    *out = command;
    snprintf(where, capacity, "%s", wish->parameters ? "compute_runtime" : "--runtime");
    if (!provider || !provider[0])
        return SK_OK;
    const char *its = NULL;
    SK_TRY(sk_engine_of_provider(provider, &its, err));
    if (!command || sk_runtime_is_open(command)) {
        *out = its;
        snprintf(where, capacity, "%s %.64s",
                 wish->parameters ? "execution_provider" : "--execution-provider", provider);
    }
    return SK_OK;
}

sk_status sk_runtimes_choose(const char *const *models, int32_t n_models, const sk_runtimes_wish *wish,
                             sk_runtime_choice *out, char engine[32], sk_error *err)
{
    sk_runtime_settings settings;
    const char *command = NULL;
    char where[sizeof settings.level[0].where];
    SK_TRY(of_provider(wish, &command, where, sizeof where, err));
    SK_TRY(sk_runtime_settings_read(command, &settings, err));
    if (command)
        snprintf(settings.level[SK_SETTING_COMMAND].where, sizeof where, "%s", where);
    if (wish->parameters)
        settings.remedy = "compute_runtime:=cpu works everywhere";
    const sk_runtime_setting *s = &settings.level[settings.effective];
    if (is_for_checking(s->value) && settings.effective >= SK_SETTING_ENVIRONMENT) {
        /* not one of the runtimes people choose from, but what the others are checked against */
        *out = (sk_runtime_choice){.level = settings.effective, .runtime = SK_RUNTIME_CPU};
        snprintf(out->requested, sizeof out->requested, "%s", s->value);
        snprintf(out->where, sizeof out->where, "%s", s->where);
        snprintf(engine, 32, "%s", s->value);
        return SK_OK;
    }
    sk_runtimes_view *view = NULL;
    SK_TRY(new_view(&view, err));
    sk_runtime plain;
    sk_runtime_match match = sk_runtime_normalise(s->value, NULL, &plain);
    /* nothing to ask: the processor is always there, and a word that nobody knows needs no probe to be refused */
    bool is_cpu = match == SK_RUNTIME_EXACT && plain == SK_RUNTIME_CPU;
    bool is_wrong = match == SK_RUNTIME_NO_MATCH && settings.effective >= SK_SETTING_ENVIRONMENT;
    sk_status status = SK_OK;
    if (is_cpu || is_wrong)
        sk_runtime_gate_make(0, &view->facts, &view->gate);
    else
        status = sk_runtimes_look_for(models, n_models, 0, view, err);
    if (status == SK_OK)
        status = sk_runtime_choose(&settings, &view->gate, &view->facts, wish->allow_fallback, out, err);
    if (status == SK_OK)
        snprintf(engine, 32, "%s", sk_runtime_name(out->runtime));
    sk_free(view);
    return status;
}

sk_status sk_runtimes_hold(const char *name, sk_run_lock **out, char notice[SK_RUNTIMES_NOTICE],
                           sk_error *err)
{
    sk_error problem = {0};
    sk_status status = sk_run_lock_open(name, out, &problem);
    notice[0] = '\0';
    if (status != SK_ERR_IO && status != SK_ERR_NOT_FOUND) {
        if (status != SK_OK && err)
            *err = problem;
        return status;
    }
    snprintf(notice, SK_RUNTIMES_NOTICE, "the compute runtime could be changed during this run: %.400s",
             problem.message);
    return SK_OK;
}

/* Where a new value goes. */
static sk_status target_file(bool project, char path[512], sk_error *err)
{
    char *file = NULL;
    SK_TRY(project ? sk_runtime_setting_project_path(&file, err) : sk_runtime_setting_user_path(&file, err));
    snprintf(path, 512, "%s", file);
    bool fits = strlen(file) < 512;
    sk_free(file);
    return fits ? SK_OK : sk_fail(err, SK_ERR_LIMIT, "%s…: the path of the settings file is too long", path);
}

sk_status sk_runtimes_set(const char *value, bool project, sk_runtime *out, char path[512], sk_error *err)
{
    char list[SK_RUNTIME_LIST];
    sk_runtimes_view *view = NULL;
    SK_TRY(new_view(&view, err));
    sk_status status = SK_OK;
    sk_runtimes_look(0, false, view);
    sk_runtime_devices devices = sk_runtime_facts_devices(&view->facts);
    if (sk_runtime_normalise(value, &devices, out) == SK_RUNTIME_NO_MATCH)
        status = sk_fail(err, SK_ERR_ARG, "no compute runtime is called '%s'\nthere are %s", value,
                         sk_runtime_list(list, sizeof list));
    else if (!view->gate.is_allowed[*out])
        status =
            sk_fail(err, SK_ERR_UNSUPPORTED,
                    "the compute runtime '%s' cannot be used here: %s\n'skitter doctor' says what would help",
                    sk_runtime_name(*out), view->gate.because[*out]);
    if (status == SK_OK)
        status = target_file(project, path, err);
    if (status == SK_OK)
        status = sk_runtime_setting_save(path, *out, err);
    sk_free(view);
    return status;
}

sk_status sk_runtimes_import(const char *file, bool project, sk_runtimes_imported *out, sk_error *err)
{
    sk_runtimes_view *view = NULL;
    SK_TRY(new_view(&view, err));
    sk_status status;
    *out = (sk_runtimes_imported){0};
    sk_runtimes_look(0, false, view);
    SK_TRY_GOTO(sk_runtime_import_file(file, &view->facts, &out->file, err));
    sk_runtime_gate_make(out->file.pipelines, &view->facts, &view->gate);
    (void)sk_runtime_reset(sk_runtime_name(out->file.runtime), &view->gate, &view->facts, &out->saved,
                           out->notice);
    SK_TRY_GOTO(target_file(project, out->path, err));
    status = sk_runtime_setting_save(out->path, out->saved, err);
done:
    sk_free(view);
    return status;
}

sk_status sk_runtimes_export(const char *file, sk_runtime *out, char **json, sk_error *err)
{
    sk_runtime_settings settings;
    char list[SK_RUNTIME_LIST];
    *json = NULL;
    if (file && !sk_path_has_extension(file, ".json"))
        return sk_fail(err, SK_ERR_ARG, "%s: settings are exported as JSON; give a name that ends in .json",
                       file);
    SK_TRY(sk_runtime_settings_read(NULL, &settings, err));
    const sk_runtime_setting *s = &settings.level[settings.effective];
    sk_runtimes_view *view = NULL;
    SK_TRY(new_view(&view, err));
    if (sk_runtime_normalise(s->value, NULL, out) != SK_RUNTIME_EXACT)
        sk_runtimes_look(0, false, view); /* "onnx" means what this machine has */
    sk_runtime_devices devices = sk_runtime_facts_devices(&view->facts);
    sk_runtime_match match = sk_runtime_normalise(s->value, &devices, out);
    sk_free(view);
    if (match == SK_RUNTIME_NO_MATCH)
        return sk_fail(err, SK_ERR_ARG, "%s: no compute runtime is called '%s'\nthere are %s", s->where,
                       s->value, sk_runtime_list(list, sizeof list));
    SK_TRY(sk_runtime_export_text(*out, file, json, err));
    if (!file)
        return SK_OK;
    sk_status status = sk_file_replace_linked(file, *json, strlen(*json), err);
    if (status != SK_OK) {
        sk_free(*json);
        *json = NULL;
    }
    return status;
}

/* One level's value under the gate. */
static sk_runtimes_standing stand(const sk_runtime_setting *s, sk_setting_level level,
                                  const sk_runtimes_view *view)
{
    sk_runtimes_standing out = {.usable = true};
    sk_runtime_devices devices = sk_runtime_facts_devices(&view->facts);
    sk_runtime meant;
    if (level >= SK_SETTING_ENVIRONMENT && is_for_checking(s->value))
        return out;
    if (sk_runtime_normalise(s->value, &devices, &meant) == SK_RUNTIME_NO_MATCH)
        snprintf(out.because, sizeof out.because, "no compute runtime is called '%s'", s->value);
    else
        snprintf(out.because, sizeof out.because, "%s", view->gate.because[meant]);
    out.usable = !out.because[0];
    return out;
}

sk_status sk_runtimes_settings_look(sk_runtimes_settings *out, sk_error *err)
{
    *out = (sk_runtimes_settings){0};
    SK_TRY(sk_runtime_settings_read(NULL, &out->read, err));
    sk_runtimes_view *view = NULL;
    SK_TRY(new_view(&view, err));
    bool plain = true; /* the processor needs no probe */
    for (int i = 0; i < SK_SETTING_LEVELS; i++)
        plain = plain && (!out->read.level[i].given || is_processor(out->read.level[i].value));
    if (plain)
        sk_runtime_gate_make(0, &view->facts, &view->gate);
    else
        sk_runtimes_look(0, false, view);
    for (int i = 0; i < SK_SETTING_LEVELS; i++)
        if (out->read.level[i].given)
            out->standing[i] = stand(&out->read.level[i], (sk_setting_level)i, view);
    const sk_runtime_setting *winner = &out->read.level[out->read.effective];
    char notice[SK_RUNTIME_NOTICE];
    sk_runtime runs;
    if (!out->standing[out->read.effective].usable && out->read.effective >= SK_SETTING_ENVIRONMENT) {
        out->runs[0] = '\0';
    } else if (is_for_checking(winner->value)) {
        snprintf(out->runs, sizeof out->runs, "%s", winner->value);
    } else {
        (void)sk_runtime_reset(winner->value, &view->gate, &view->facts, &runs, notice);
        snprintf(out->runs, sizeof out->runs, "%s", sk_runtime_name(runs));
    }
    sk_free(view);
    return SK_OK;
}
