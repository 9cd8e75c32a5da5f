/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model.h"
#include "models/model_check.h"

#include "base/file.h"
#include "base/object.h"
#include "formats/skq.h"
#include "models/onnx_meta.h"
#include "models/sleap.h"

#include <stdio.h>
#include <string.h>

#define MAX_FACTS 256

/* --- making --- */

sk_status sk_model_create(sk_model **out, sk_error *err)
{
    *out = NULL;
    sk_model *model = sk_calloc(1, sizeof *model);
    if (!model)
        return sk_fail_memory(err, sizeof *model);
    model->path = model->architecture = "";
    model->self = model;
    atomic_init(&model->holders, 1);
    sk_status status = sk_arena_open(0, &model->arena, err);
    return SK_HAND_OVER(status, model, out, sk_model_close);
}

void sk_model_close(sk_model **model)
{
    SK_TAKE_OR_RETURN(m, model);
    if (atomic_fetch_sub_explicit(&m->holders, 1, memory_order_acq_rel) > 1)
        return;
    sk_graph_close(&m->graph);
    sk_arena_close(&m->arena);
    sk_free(m);
}

sk_model *sk_model_hold(const sk_model *model)
{
    atomic_fetch_add_explicit(&model->self->holders, 1, memory_order_relaxed);
    return model->self;
}

bool sk_model_held_alone(const sk_model *model)
{
    return atomic_load_explicit(&model->self->holders, memory_order_acquire) == 1;
}

void sk_model_forget_network(sk_model *model)
{
    if (model->in_memory)
        return;
    model->forgotten = model->forgotten || model->graph != NULL; /* twice is as good as once */
    sk_graph_close(&model->graph);
    sk_memory_give_back();
}

/* Facts are for reading by people: one that finds no memory or comes after MAX_FACTS others is left out. */
void sk_model_add_fact(sk_model *model, const char *key, const char *value)
{
    if (!model->facts)
        model->facts = sk_arena_alloc(model->arena, MAX_FACTS * sizeof *model->facts);
    if (!model->facts || model->n_facts >= MAX_FACTS)
        return;
    const char *kept_key = sk_arena_strdup(model->arena, key);
    const char *kept_value = sk_arena_strdup(model->arena, value);
    if (!kept_key || !kept_value)
        return;
    model->facts[model->n_facts][0] = kept_key;
    model->facts[model->n_facts][1] = kept_value;
    model->n_facts++;
}

/* --- opening: what is at this path? Contents first, names second --- */

static sk_status refuse_folder(const char *path, sk_error *err)
{
    static const char *const places[] = {"weights/best.pt", "best.pt", "weights/last.pt"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *inside = sk_path_join(path, places[i]);
        bool there = inside && sk_file_is_regular(inside);
        sk_free(inside);
        if (there)
            return sk_fail(err, SK_ERR_FORMAT,
                           "%s: an Ultralytics training folder. Give the checkpoint in it: %s/%s", path, path,
                           places[i]);
    }
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s: a folder without training_config.json or training_config.yaml, so no SLEAP "
                   "model. Give the folder that holds one of them, or a .pt or .onnx file",
                   path);
}

static sk_status first_bytes(const char *path, unsigned char *bytes, size_t room, size_t *n, sk_error *err)
{
    *n = 0;
    FILE *file;
    SK_TRY(sk_file_open_stream(path, &file, err));
    *n = fread(bytes, 1, room, file);
    fclose(file);
    return SK_OK;
}

static bool is_zip(const unsigned char *bytes, size_t n)
{
    return n >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

/* An ONNX file is a protobuf message whose first field is the IR version (a small number). */
static bool is_onnx(const unsigned char *bytes, size_t n)
{
    return n >= 2 && bytes[0] == 0x08 && bytes[1] >= 1 && bytes[1] <= 32;
}

static sk_status read_file(const char *path, sk_model *model, sk_error *err)
{
    unsigned char bytes[16];
    size_t n;
    SK_TRY(first_bytes(path, bytes, sizeof bytes, &n, err));
    if (sk_path_has_extension(path, ".engine") || sk_path_has_extension(path, ".plan"))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a TensorRT engine fits one GPU and one library version only. Give "
                       "the .pt or .onnx file it was made from",
                       path);
    if (is_zip(bytes, n))
        return sk_model_read_ultralytics(path, model, err);
    if (sk_skq_is(bytes, n) || sk_path_has_extension(path, SK_SKQ_EXTENSION))
        return sk_model_read_skq(path, model, err);
    if (is_onnx(bytes, n) || sk_path_has_extension(path, ".onnx"))
        return sk_model_read_onnx(path, model, err);
    return sk_model_read_ultralytics(path, model, err); /* its refusals name what the file is instead */
}

/* What `sleap-nn export` writes: model.onnx with its description, and a training configuration beside them. */
static sk_status is_onnx_folder(const char *path, bool *is, sk_error *err)
{
    char *model = sk_path_join(path, "model.onnx"), *description = sk_path_join(path, "export_metadata.json");
    sk_status status = model && description ? SK_OK : sk_fail_memory(err, strlen(path));
    *is = status == SK_OK && sk_file_is_regular(model) && sk_file_is_regular(description);
    sk_free(model);
    sk_free(description);
    return status;
}

static sk_status read_path(const char *path, sk_model *model, sk_error *err)
{
    if (!sk_file_exists(path))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no such file or folder", path);
    int sleap_format;
    bool onnx_folder;
    SK_TRY(is_onnx_folder(path, &onnx_folder, err));
    if (onnx_folder)
        return sk_model_read_onnx(path, model, err);
    SK_TRY(sk_sleap_format_of(path, &sleap_format, err));
    switch (sleap_format) {
    case SK_FORMAT_SLEAP_NN: return sk_model_read_sleap_nn(path, model, err);
    case SK_FORMAT_SLEAP_KERAS: return sk_model_read_sleap_keras(path, model, err);
    default: return sk_file_is_directory(path) ? refuse_folder(path, err) : read_file(path, model, err);
    }
}

/* Has the model the heads that were asked for? An ONNX file has one copy, and so has a fused checkpoint. */
static sk_status check_heads(const sk_model *model, sk_error *err)
{
    if (model->family != SK_FAMILY_YOLO || model->truncated || model->wanted_heads == SK_HEADS_AUTO)
        return SK_OK;
    bool one_to_one = model->yolo.end2end && !model->yolo.nms_tail;
    if (model->wanted_heads == SK_HEADS_ONE_TO_ONE && !one_to_one)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: has no one-to-one heads, so its boxes need suppression (NMS); YOLOv10 and YOLO26 "
                       "checkpoints have them, unless they were fused or exported without",
                       model->path);
    if (model->wanted_heads == SK_HEADS_ONE_TO_MANY && one_to_one)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: has only its one-to-one heads, which need no suppression (NMS): it was fused or "
                       "exported so. Give the checkpoint it was made from",
                       model->path);
    return SK_OK;
}

sk_status sk_model_open(const char *path, sk_model **out, sk_error *err)
{
    return sk_model_open_heads(path, SK_HEADS_AUTO, out, err);
}

sk_status sk_model_open_heads(const char *path, sk_heads heads, sk_model **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(path && heads >= SK_HEADS_AUTO && heads <= SK_HEADS_ONE_TO_ONE, err);
    sk_model *model = NULL;
    SK_TRY(sk_model_create(&model, err));
    model->path = sk_arena_strdup(model->arena, path);
    model->wanted_heads = heads;
    sk_status status = model->path ? read_path(path, model, err) : sk_fail_memory(err, strlen(path));
    if (status == SK_OK)
        status = sk_model_check(model, err);
    if (status == SK_OK)
        status = check_heads(model, err);
    return SK_HAND_OVER(status, model, out, sk_model_close);
}

static sk_status read_given(sk_model *model, const char *name, sk_error *err)
{
    int sleap_format = 0;
    if (is_zip(model->given, model->given_length))
        SK_TRY(sk_sleap_format_of_given(model, &sleap_format, err));
    switch (sleap_format) {
    case SK_FORMAT_SLEAP_NN: return sk_model_read_sleap_nn(name, model, err);
    case SK_FORMAT_SLEAP_KERAS: return sk_model_read_sleap_keras(name, model, err);
    default: break;
    }
    if (sk_skq_is(model->given, model->given_length))
        return sk_skq_read_model(model->given, model->given_length, name, model, err);
    if (!is_zip(model->given, model->given_length) &&
        (is_onnx(model->given, model->given_length) || sk_path_has_extension(name, ".onnx")))
        return sk_onnx_read_model(model->given, model->given_length, name, NULL, model, err);
    return sk_model_read_ultralytics_memory(model->given, model->given_length, name, model, err);
}

sk_status sk_model_open_bytes(const void *bytes, size_t length, const char *name, sk_heads heads,
                              sk_model **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(bytes && heads >= SK_HEADS_AUTO && heads <= SK_HEADS_ONE_TO_ONE, err);
    sk_model *model = NULL;
    name = name && name[0] ? name : "model in memory";
    SK_TRY(sk_model_create(&model, err));
    model->path = sk_arena_strdup(model->arena, name);
    model->wanted_heads = heads;
    model->in_memory = 1;
    model->given = bytes;
    model->given_length = length;
    sk_status status = model->path ? read_given(model, name, err) : sk_fail_memory(err, strlen(name));
    if (status == SK_OK)
        status = sk_model_check(model, err);
    if (status == SK_OK)
        status = check_heads(model, err);
    model->given = NULL;
    model->given_length = 0;
    return SK_HAND_OVER(status, model, out, sk_model_close);
}

/* --- reading --- */

sk_task sk_model_task(const sk_model *model)
{
    return model ? model->task : SK_TASK_UNKNOWN;
}

int32_t sk_model_class_count(const sk_model *model)
{
    return model ? model->n_classes : 0;
}

static const char *name_at(const char *const *names, int32_t count, int32_t index)
{
    return names && index >= 0 && index < count && names[index] ? names[index] : "";
}

const char *sk_model_class_name(const sk_model *model, int32_t index)
{
    return model ? name_at(model->class_names, model->n_classes, index) : "";
}

int32_t sk_model_keypoint_count(const sk_model *model)
{
    return model ? model->n_keypoints : 0;
}

const char *sk_model_keypoint_name(const sk_model *model, int32_t index)
{
    return model ? name_at(model->keypoint_names, model->n_keypoints, index) : "";
}
