/* SPDX-License-Identifier: Apache-2.0 */
#include "app/export.h"

#include "base/clock.h"
#include "base/file.h"
#include "runtime/artifact.h"

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
        return sk_fail(err, SK_ERR_LIMIT, "%s: the path is too long", given);
    return SK_OK;
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

/* What a person exported is the person's: no sidecar of a former artifact may claim it. */
static void forget_artifact(const char *path)
{
    char side[4096 + sizeof SK_ARTIFACT_SIDECAR];
    snprintf(side, sizeof side, "%s%s", path, SK_ARTIFACT_SIDECAR);
    unlink(side);
}

sk_status sk_export_run(const sk_export_settings *settings, sk_export_report *report, sk_error *err)
{
    sk_model *model = NULL;
    sk_status status = SK_OK;
    memset(report, 0, sizeof *report);
    int64_t begin = sk_clock_ns();
    SK_TRY_GOTO(sk_model_open(settings->model, &model, err));
    if (model->truncated || !model->graph) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off and cannot be exported; fetch it again",
                         model->path);
        goto done;
    }
    if (settings->path)
        snprintf(report->path, sizeof report->path, "%s", settings->path);
    else
        SK_TRY_GOTO(default_path(model, report->path, sizeof report->path, err));
    if (sk_file_exists(report->path) && !settings->overwrite) {
        status = sk_fail(err, SK_ERR_BUSY,
                         "%s: is there already; --overwrite replaces it, --output names another file",
                         report->path);
        goto done;
    }
    SK_TRY_GOTO(sk_model_export_onnx(model, &settings->onnx, report->path, err));
    forget_artifact(report->path);
    SK_TRY_GOTO(look_back(report, err));
    report->bytes = sk_file_size(report->path);
    report->seconds = (double)(sk_clock_ns() - begin) * 1e-9;
done:
    sk_model_close(&model);
    return status;
}
