/* SPDX-License-Identifier: Apache-2.0 */
#include "app/runtimes.h"

#include "base/memory.h"
#include "models/model.h"

#include <stdio.h>
#include <string.h>

void sk_runtimes_look(uint32_t pipelines, bool fresh, sk_runtimes_view *out)
{
    sk_probe_all(fresh, out->rows);
    sk_probe_facts(out->rows, &out->facts);
    sk_runtime_gate_make(pipelines, &out->facts, &out->gate);
}

static sk_status new_view(sk_runtimes_view **out, sk_error *err)
{
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(err, sizeof **out);
}

sk_pipeline sk_runtimes_pipeline(sk_task task)
{
    switch (task) {
    case SK_TASK_OBB: return SK_PIPELINE_YOLO_OBB_DETECTION;
    case SK_TASK_POSE: return SK_PIPELINE_YOLO_POSE;
    case SK_TASK_DETECT:
    case SK_TASK_SEGMENT: return SK_PIPELINE_YOLO_DETECTION;
    case SK_TASK_SINGLE_INSTANCE:
    case SK_TASK_CENTROID:
    case SK_TASK_CENTERED_INSTANCE:
    case SK_TASK_BOTTOMUP:
    case SK_TASK_MULTICLASS_BOTTOMUP:
    case SK_TASK_MULTICLASS_TOPDOWN: return SK_PIPELINE_SLEAP_POSE;
    case SK_TASK_UNKNOWN:
    case SK_TASK_CLASSIFY: break;
    }
    return SK_PIPELINE_GENERIC;
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
        *pipelines |= 1u << sk_runtimes_pipeline(model->task);
        *importable = *importable && model->graph && !model->truncated;
        sk_model_close(&model);
    }
    return SK_OK;
}

/* The same for models at hand. */
static sk_status look_for(const char *const *models, int32_t n_models, sk_runtimes_view *out, sk_error *err)
{
    uint32_t pipelines = 0;
    bool importable = true;
    SK_TRY(look_at_models(models, n_models, &pipelines, &importable, err));
    sk_probe_all(false, out->rows);
    sk_probe_facts(out->rows, &out->facts);
    out->facts.graph_importable = importable;
    sk_runtime_gate_make(pipelines, &out->facts, &out->gate);
    return SK_OK;
}

sk_status sk_runtimes_choose(const char *command, bool allow_fallback, sk_runtime_choice *out,
                             char engine[32], sk_error *err)
{
    return sk_runtimes_choose_for(NULL, 0, command, allow_fallback, out, engine, err);
}

sk_status sk_runtimes_choose_for(const char *const *models, int32_t n_models, const char *command,
                                 bool allow_fallback, sk_runtime_choice *out, char engine[32], sk_error *err)
{
    sk_runtime_settings settings;
    SK_TRY(sk_runtime_settings_read(command, &settings, err));
    const sk_runtime_setting *s = &settings.level[settings.effective];
    if (strcmp(s->value, "reference") == 0 && settings.effective >= SK_SETTING_ENVIRONMENT) {
        /* not one of the runtimes people choose from, but what the others are checked against */
        *out = (sk_runtime_choice){
            .level = settings.effective, .runtime = SK_RUNTIME_CPU, .requested = "reference"};
        snprintf(out->where, sizeof out->where, "%s", s->where);
        snprintf(engine, 32, "reference");
        return SK_OK;
    }
    sk_runtimes_view *view = NULL;
    SK_TRY(new_view(&view, err));
    sk_runtime plain;
    bool is_cpu = sk_runtime_normalise(s->value, NULL, &plain) == SK_RUNTIME_EXACT && plain == SK_RUNTIME_CPU;
    sk_status status = SK_OK;
    if (is_cpu) /* nothing to ask: the processor is always there */
        sk_runtime_gate_make(0, &view->facts, &view->gate);
    else
        status = look_for(models, n_models, view, err);
    if (status == SK_OK)
        status = sk_runtime_choose(&settings, &view->gate, &view->facts, allow_fallback, out, err);
    if (status == SK_OK)
        snprintf(engine, 32, "%s", sk_runtime_name(out->runtime));
    sk_free(view);
    return status;
}

sk_status sk_runtimes_of_provider(const char *command, const char *provider, const char **out, sk_error *err)
{
    *out = command;
    if (!provider || !provider[0])
        return SK_OK;
    const char *its = sk_engine_of_provider(provider);
    if (!its)
        return sk_fail(
            err, SK_ERR_ARG,
            "no execution provider is called '%s'; there are CPU, CUDA, TensorRT, ROCm, MIGraphX, OpenVINO, "
            "CoreML",
            provider);
    if (!command || strcmp(command, "onnx") == 0 || strcmp(command, "onnxruntime") == 0 ||
        strcmp(command, "onnx_gpu") == 0)
        *out = its;
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
