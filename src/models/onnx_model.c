/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_meta.h"

#include "base/file.h"
#include "base/hash.h"
#include "models/model_json.h"
#include "models/onnx_import.h"

#include <stdio.h>
#include <string.h>

#define MAX_METADATA_BYTES ((size_t)16 << 20)

/* --- what the file alone tells --- */

static void describe_input(sk_onnx_reading *r)
{
    const sk_graph *graph = r->model->graph;
    const sk_onnx_value *file = r->onnx->graph.n_inputs > 0 ? &r->onnx->graph.inputs[0] : NULL;
    sk_input_spec *in = &r->model->input;
    *in = (sk_input_spec){.channels = 3,
                          .height = 640,
                          .width = 640,
                          .stride = 1,
                          .scale = 1.0f / 255,
                          .rgb = 1,
                          .std = {1, 1, 1},
                          .dtype = SK_DTYPE_F32};
    if (graph->n_inputs < 1 || !file)
        return;
    const sk_value_info *value = &graph->values[graph->inputs[0]];
    in->dtype = value->dtype;
    if (value->dtype == SK_DTYPE_U8)
        in->scale = 1;
    if (value->shape.rank != 4)
        return;
    if (value->shape.dim[1] > 0 && value->shape.dim[1] <= 64)
        in->channels = (int32_t)value->shape.dim[1];
    if (value->shape.dim[0] > 0)
        in->fixed_batch = (int32_t)value->shape.dim[0];
    if (value->shape.dim[2] > 0 && value->shape.dim[3] > 0) {
        in->fixed_size = 1;
        in->height = (int32_t)value->shape.dim[2];
        in->width = (int32_t)value->shape.dim[3];
    }
    if (file->dtype == SK_DTYPE_F16)
        sk_model_add_fact(r->model, "precision", "float16 in the file, computed in float32");
}

static sk_status describe_outputs(sk_onnx_reading *r)
{
    const sk_graph *graph = r->model->graph;
    for (int32_t i = 0; i < graph->n_outputs; i++) {
        const char *name = sk_arena_strdup(r->model->arena, graph->values[graph->outputs[i]].name);
        if (!name)
            return sk_fail_memory(r->err, 1);
        r->model->outputs[i] = (sk_output_spec){.kind = SK_OUTPUT_OTHER, .name = name};
    }
    r->model->n_outputs = graph->n_outputs;
    return SK_OK;
}

static void add_file_facts(sk_onnx_reading *r)
{
    char text[32];
    snprintf(text, sizeof text, "%lld",
             (long long)sk_onnx_opset_version(r->onnx->opsets, r->onnx->n_opsets, ""));
    sk_model_add_fact(r->model, "opset", text);
    if (*r->onnx->producer) {
        char producer[128];
        snprintf(producer, sizeof producer, "%.60s %.60s", r->onnx->producer, r->onnx->producer_version);
        sk_model_add_fact(r->model, "producer", producer);
    }
}

/* What specialisation found, completed by what the file declares: with NMS inside the network, shapes
 * depend on data. */
static sk_shape merged(const sk_shape *found, const sk_shape *declared)
{
    sk_shape shape = found->rank >= 0 ? *found : *declared;
    for (int32_t i = 0; i < shape.rank && shape.rank == declared->rank; i++)
        if (shape.dim[i] < 0)
            shape.dim[i] = declared->dim[i];
    return shape;
}

sk_status sk_onnx_learn_shapes(sk_onnx_reading *r)
{
    const sk_input_spec *in = &r->model->input;
    const sk_graph *graph = r->model->graph;
    sk_graph *fixed = NULL;
    r->shapes_known = false;
    if (graph->n_inputs != 1 || graph->values[graph->inputs[0]].shape.rank != 4)
        return SK_OK;
    sk_shape shape = {.rank = 4,
                      .dim = {in->fixed_batch ? in->fixed_batch : 1, in->channels, in->height, in->width}};
    sk_status status = sk_graph_specialise(graph, &shape, 1, &fixed, r->err);
    if (status != SK_OK) {
        sk_error_prefix(r->err, "%s at %dx%d", r->path, in->width, in->height);
        return status;
    }
    for (int32_t i = 0; i < fixed->n_outputs; i++)
        r->shapes[i] = merged(&fixed->values[fixed->outputs[i]].shape, &r->onnx->graph.outputs[i].shape);
    r->shapes_known = true;
    sk_graph_close(&fixed);
    return SK_OK;
}

sk_status sk_onnx_unnamed_classes(sk_onnx_reading *r, int32_t count)
{
    const char **names = sk_arena_alloc(r->model->arena, (size_t)count * sizeof *names);
    if (!names)
        return sk_fail_memory(r->err, (size_t)count * sizeof *names);
    for (int32_t i = 0; i < count; i++)
        names[i] = "";
    r->model->class_names = names;
    r->model->n_classes = count;
    return SK_OK;
}

/* --- our own exports --- */

static sk_status read_own(sk_onnx_reading *r, const char *json)
{
    sk_model *model = r->model;
    const sk_shape *shape = &model->graph->values[model->graph->inputs[0]].shape;
    SK_TRY(sk_model_from_json(model, json, r->path, r->err));
    if (model->n_outputs != model->graph->n_outputs)
        return sk_fail(r->err, SK_ERR_MISMATCH,
                       "%s: its skitter metadata name %d outputs, the network has %d; export "
                       "the model again",
                       r->path, model->n_outputs, model->graph->n_outputs);
    if (shape->rank != 4 || shape->dim[1] != model->input.channels)
        return sk_fail(r->err, SK_ERR_MISMATCH,
                       "%s: its skitter metadata do not fit the network's input; export the "
                       "model again",
                       r->path);
    if (model->graph->values[model->graph->inputs[0]].dtype == SK_DTYPE_F32)
        model->input.dtype = SK_DTYPE_F32;
    return SK_OK;
}

/* --- the way in --- */

/* sleap-nn writes its description beside the model. */
static sk_status read_beside(sk_onnx_reading *r, const char *folder, bool *found)
{
    char *path = sk_path_join(folder, "export_metadata.json"), *json = NULL;
    size_t length = 0;
    sk_status status = SK_OK;
    *found = path && sk_file_is_regular(path);
    if (!path)
        status = sk_fail_memory(r->err, strlen(folder));
    else if (*found)
        status = sk_file_read(path, MAX_METADATA_BYTES, &json, &length, r->err);
    if (status == SK_OK && *found)
        status = sk_onnx_read_sleap(r, json, length, path);
    sk_free(json);
    sk_free(path);
    return status;
}

/* What was measured of the .skq that it was exported from. */
static sk_status read_quantised(sk_onnx_reading *r)
{
    const char *json = sk_onnx_metadata(r->onnx, SK_QUANTISED_KEY);
    if (!json)
        return SK_OK;
    sk_quantised *q = sk_arena_alloc(r->model->arena, sizeof *q);
    if (!q)
        return sk_fail_memory(r->err, sizeof *q);
    r->model->quantised = q;
    return sk_quantised_read(json, strlen(json), r->path, r->model->arena, q, r->err);
}

static sk_status describe(sk_onnx_reading *r, const char *folder)
{
    const char *own = sk_onnx_metadata(r->onnx, SK_ONNX_OWN_KEY);
    bool found = false;
    r->model->format = SK_FORMAT_ONNX;
    r->model->architecture = "onnx";
    describe_input(r);
    SK_TRY(describe_outputs(r));
    add_file_facts(r);
    SK_TRY(read_quantised(r));
    if (own)
        return read_own(r, own);
    if (sk_onnx_is_ultralytics(r->onnx))
        return sk_onnx_read_ultralytics(r);
    if (folder)
        SK_TRY(read_beside(r, folder, &found));
    return found ? SK_OK : sk_onnx_guess(r);
}

sk_status sk_onnx_read_model(const void *bytes, size_t length, const char *path, const char *folder,
                             sk_model *model, sk_error *err)
{
    sk_onnx_model *onnx = NULL;
    sk_sha256 hash;
    sk_status status = SK_OK;
    sk_hash_sha256(bytes, length, &hash);
    sk_sha256_text(&hash, model->content_hash);
    SK_TRY_GOTO(sk_onnx_read(bytes, length, path, folder, &onnx, err));
    SK_TRY_GOTO(sk_onnx_import(onnx, path, &model->graph, err));
    sk_onnx_reading reading = {.model = model, .onnx = onnx, .path = path, .err = err};
    status = describe(&reading, folder);
done:
    sk_onnx_close(&onnx);
    return status;
}

sk_status sk_model_read_onnx(const char *path, sk_model *model, sk_error *err)
{
    SK_CHECK_ARG(path && model, err);
    char *file = sk_file_is_directory(path) ? sk_path_join(path, "model.onnx") : sk_strdup(path);
    char *folder = file ? sk_path_folder(file) : NULL;
    sk_blob *bytes = NULL;
    sk_status status = folder ? sk_file_load(file, &bytes, err) : sk_fail_memory(err, strlen(path));
    if (status == SK_OK)
        status = sk_onnx_read_model(sk_blob_data(bytes), sk_blob_bytes(bytes), file, folder, model, err);
    sk_blob_unref(&bytes);
    sk_free(folder);
    sk_free(file);
    return status;
}
