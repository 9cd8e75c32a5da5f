/* SPDX-License-Identifier: Apache-2.0 */
#include "app/artifacts.h"

#include "base/clock.h"
#include "base/file.h"
#include "runner/network.h"
#include "runner/session_settings.h"

#include <stdio.h>
#include <string.h>

static void fill(const sk_model_artifact *a, sk_artifacts_exported *out)
{
    const sk_artifact *k = &a->kept;
    snprintf(out->path, sizeof out->path, "%s", k->path);
    snprintf(out->notice, sizeof out->notice, "%s", k->notice);
    out->bytes = (int64_t)sk_blob_bytes(k->bytes);
    out->made = k->made;
    out->users = k->users;
    out->check = k->check;
}

sk_status sk_artifacts_make(const sk_artifacts_export *wish, sk_artifacts_exported *out, sk_error *err)
{
    const sk_engine *engine = NULL;
    sk_model *model = NULL;
    sk_model_artifact *artifact = NULL;
    sk_engine_probe probe = {0};
    sk_artifact_options options = {
        .must_keep = true, .anew = wish->anew, .dynamic_batch = wish->dynamic_batch};
    sk_session_settings settings;
    const sk_network_wish how = {.precision = wish->precision, .options = wish->engine_options};
    int64_t begin = sk_clock_ns();
    sk_status status;
    memset(out, 0, sizeof *out);
    SK_TRY_GOTO(sk_net_engine(wish->runtime, &engine, err));
    SK_TRY_GOTO(engine->probe(&probe, err));
    snprintf(out->runtime, sizeof out->runtime, "%s", engine->name);
    snprintf(out->library, sizeof out->library, "%s", probe.version);
    if (!engine->form) {
        status =
            sk_fail(err, SK_ERR_ARG,
                    "the compute runtime '%s' runs models as they are: there is nothing to export for it",
                    engine->name);
        goto done;
    }
    SK_TRY_GOTO(sk_model_open_heads(wish->model, wish->heads, &model, err));
    if (model->truncated || !model->graph) {
        status = sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off and cannot be exported; fetch it again",
                         model->path);
        goto done;
    }
    SK_TRY_GOTO(sk_session_settings_of(engine, &how, &settings, err));
    out->batch = wish->batch ? wish->batch : model->input.fixed_batch ? model->input.fixed_batch : 1;
    out->height = wish->height ? wish->height : model->input.height;
    out->width = wish->width ? wish->width : model->input.width;
    SK_TRY_GOTO(sk_net_check_size(model, out->batch, out->height, out->width, err));
    SK_TRY_GOTO(sk_model_artifact_open(model, engine, out->batch, out->height, out->width, &settings,
                                       &options, &artifact, err));
    if (!artifact) {
        status = sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: nothing can be kept for '%s': SKITTER_ARTIFACTS is 'none', or the file's ends differ "
            "from the model's",
            model->path, engine->name);
        goto done;
    }
    fill(artifact, out);
    sk_precision used = sk_precision_settle(&engine->can, settings.precision);
    snprintf(out->precision, sizeof out->precision, "%s", sk_precision_name(used));
    out->seconds = (double)(sk_clock_ns() - begin) * 1e-9;
done:
    sk_model_artifact_close(&artifact);
    sk_model_close(&model);
    return status;
}

static sk_status hash_model(const char *path, char hash[65], sk_error *err)
{
    sk_model *model = NULL;
    SK_TRY(sk_model_open(path, &model, err));
    snprintf(hash, 65, "%s", model->content_hash);
    sk_model_close(&model);
    return SK_OK;
}

/* Does it compute what the model computes? Of models that carry their heads twice, with either. SK_ERR_NOT_FOUND: the model
 * cannot be asked. */
static sk_status compare(const char *path, const char *onnx, sk_error *err)
{
    static const sk_heads heads[] = {SK_HEADS_AUTO, SK_HEADS_ONE_TO_ONE};
    sk_error problem = {0};
    sk_status status = SK_ERR_NOT_FOUND;
    for (int i = 0; i < 2 && status != SK_OK && status != SK_ERR_MEMORY; i++) {
        sk_model *model = NULL;
        if (sk_model_open_heads(path, heads[i], &model, &problem) != SK_OK)
            break;
        status = sk_model_artifact_compare(model, onnx, i == 0 ? err : &problem);
        sk_model_close(&model);
    }
    return status;
}

/* Nothing says what somebody else's file was made from, and a record without our seal may say anything; but the file can be
 * asked what it computes. */
static void judge_stranger(sk_artifact_row *row)
{
    bool theirs = row->state == SK_ARTIFACT_USER && row->beside[0];
    bool doubtful = row->state == SK_ARTIFACT_FRESH && !row->record.sealed && !row->orphan &&
                    strcmp(row->record.key.precision, "f32") == 0;
    sk_error problem = {0};
    if (!(theirs || doubtful) || !sk_path_has_extension(row->path, ".onnx"))
        return;
    const char *model = theirs ? row->beside : row->record.model;
    sk_status status = compare(model, row->path, &problem);
    row->stranger = status != SK_OK && status != SK_ERR_MEMORY && status != SK_ERR_NOT_FOUND;
    if (row->stranger)
        snprintf(row->why, sizeof row->why, "%s%.340s", doubtful ? "its record is not true: " : "",
                 problem.message);
    else if (status == SK_OK && theirs)
        snprintf(row->why, sizeof row->why, "it has no record, but computes what %.200s computes", model);
    if (row->stranger)
        row->state = SK_ARTIFACT_USER;
}

sk_status sk_artifacts_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_row **rows,
                            int32_t *count, sk_error *err)
{
    SK_TRY(sk_artifact_list(places, n_places, deep, hash_model, rows, count, err));
    for (int32_t i = 0; deep && i < *count; i++)
        judge_stranger(&(*rows)[i]);
    return SK_OK;
}

bool sk_artifacts_useless(const sk_artifact_row *row)
{
    return row->stranger || (row->state != SK_ARTIFACT_USER &&
                             (row->state != SK_ARTIFACT_FRESH || row->orphan || row->unread));
}
