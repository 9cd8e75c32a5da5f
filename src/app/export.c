/* SPDX-License-Identifier: Apache-2.0 */
#include "app/export.h"

#include "app/output_place.h"
#include "base/clock.h"
#include "base/file.h"
#include "graph/quantise.h"
#include "runtime/model_artifact.h"
#include "skitter/version.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where an export goes by itself. */
static sk_status default_path(const sk_model *model, char *path, size_t capacity, sk_error *err)
{
    const char *given = model->path;
    size_t length = strlen(given);
    while (length > 1 && given[length - 1] == '/')
        length--;
    int used;
    if (sk_file_is_directory(given)) {
        char folder[4096];
        used = snprintf(folder, sizeof folder, "%.*s.onnx", (int)length, given);
        if (used > 0 && (size_t)used < sizeof folder)
            SK_TRY(sk_folder_make(folder, err));
        used = snprintf(path, capacity, "%.*s.onnx/model.onnx", (int)length, given);
    } else {
        char *onnx = sk_path_with_extension(given, ".onnx");
        if (!onnx)
            return sk_fail_memory(err, length);
        used = snprintf(path, capacity, "%s", onnx);
        sk_free(onnx);
    }
    if (used < 0 || (size_t)used >= capacity)
        return sk_fail(err, SK_ERR_LIMIT, "%.80s…: the path is too long", given);
    return SK_OK;
}

/* In a SLEAP model's folder no .onnx is read, so that an earlier export there may be replaced. */
static sk_status check_place(const sk_model *model, const char *path, bool overwrite, sk_error *err)
{
    const sk_output_read read = {.name = "the model",
                                 .path = model->path,
                                 .inside =
                                     model->format == SK_FORMAT_ONNX || !sk_path_has_extension(path, ".onnx"),
                                 .model = true};
    const sk_output_place place = {.path = path,
                                   .option = "output",
                                   .overwrite = overwrite,
                                   .written = "an ONNX file",
                                   .extension = ".onnx",
                                   .reads = &read,
                                   .n_reads = 1};
    return sk_output_place_check(&place, err);
}

/* Opens what was written as any user would, and tells its outputs. */
static sk_status look_back(sk_export_report *report, sk_error *err)
{
    sk_model *written = NULL;
    SK_TRY(sk_model_open(report->path, &written, err));
    report->n_outputs = written->graph->n_outputs;
    for (int32_t i = 0; i < written->n_outputs; i++) {
        size_t used = strlen(report->outputs);
        snprintf(report->outputs + used, sizeof report->outputs - used, "%s%s", i ? ", " : "",
                 written->outputs[i].name);
    }
    sk_model_close(&written);
    return SK_OK;
}

/* No record of a former file may claim this one. */
static void forget_record(const char *path)
{
    char side[4096 + sizeof SK_ARTIFACT_SIDECAR];
    snprintf(side, sizeof side, "%s%s", path, SK_ARTIFACT_SIDECAR);
    unlink(side);
}

/* The record beside the file: which model it was made from, so that runs know when that has changed. */
static sk_status write_record(const sk_model *model, const sk_onnx_settings *s, const char *path,
                              sk_error *err)
{
    sk_artifact_key key = {.batch = s->dynamic_batch           ? 0
                                    : s->batch                 ? s->batch
                                    : model->input.fixed_batch ? model->input.fixed_batch
                                                               : 1,
                           .height = s->height ? s->height : model->input.height,
                           .width = s->width ? s->width : model->input.width,
                           .dynamic_batch = s->dynamic_batch != 0,
                           .dynamic_size = s->dynamic_size != 0,
                           .opset = s->opset};
    snprintf(key.source, sizeof key.source, "%s", model->content_hash);
    snprintf(key.form, sizeof key.form, "onnx");
    snprintf(key.precision, sizeof key.precision, "%s",
             s->half                               ? "f16"
             : sk_graph_is_f8(model->graph)        ? "fp8"
             : sk_graph_is_quantised(model->graph) ? "i8"
                                                   : "f32");
    snprintf(key.heads, sizeof key.heads, "%s", sk_model_artifact_heads(model));
    snprintf(key.version, sizeof key.version, "%.30s", sk_version_text());
    return sk_artifact_record_export(path, model->path, &key, err);
}

sk_status sk_export_run(const sk_export_settings *settings, sk_export_report *report, sk_error *err)
{
    sk_model *model = NULL;
    sk_status status = SK_OK;
    memset(report, 0, sizeof *report);
    int64_t begin = sk_clock_ns();
    SK_TRY_GOTO(sk_model_open_heads(settings->model, settings->heads, &model, err));
    if (model->truncated || !model->graph) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off and cannot be exported; fetch it again",
                         model->path);
        goto done;
    }
    if (settings->onnx.half && sk_graph_is_quantised(model->graph)) {
        status =
            sk_fail(err, SK_ERR_UNSUPPORTED,
                    "%s: is in eight bits and cannot be written in float16 as well; leave --half out, or "
                    "export the model it was made from",
                    model->path);
        goto done;
    }
    if (settings->path)
        snprintf(report->path, sizeof report->path, "%s", settings->path);
    else
        SK_TRY_GOTO(default_path(model, report->path, sizeof report->path, err));
    SK_TRY_GOTO(check_place(model, report->path, settings->overwrite, err));
    forget_record(report->path);
    SK_TRY_GOTO(sk_model_export_onnx(model, &settings->onnx, report->path, err));
    SK_TRY_GOTO(look_back(report, err));
    SK_TRY_GOTO(write_record(model, &settings->onnx, report->path, err));
    sk_artifact_remember(report->path);
    report->bytes = sk_file_size(report->path);
    report->seconds = (double)(sk_clock_ns() - begin) * 1e-9;
done:
    sk_model_close(&model);
    return status;
}
