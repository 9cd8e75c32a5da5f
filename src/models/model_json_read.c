/* SPDX-License-Identifier: Apache-2.0 */
#include "models/model_json.h"

#include "formats/config.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MAX_NAMES 100000
#define MAX_SIZE  (1 << 20)

typedef struct reader {
    sk_model *model;
    const char *what;
    sk_error *err;
} reader;

static sk_status refuse(const reader *r, const char *key)
{
    return sk_fail(r->err, SK_ERR_FORMAT,
                   "%s: its skitter metadata is damaged at '%s'; export the model again", r->what, key);
}

/* An integer in a range; absent counts as 0. */
static sk_status read_int(const reader *r, const sk_config_value *map, const char *key, int64_t low,
                          int64_t high, int32_t *out)
{
    const sk_config_value *v = sk_config_get(map, key);
    int64_t value = 0;
    if ((v && !sk_config_to_int(v, &value)) || value < low || value > high)
        return refuse(r, key);
    *out = (int32_t)value;
    return SK_OK;
}

static sk_status read_float(const reader *r, const sk_config_value *v, const char *key, float *out)
{
    double value = 0;
    if ((v && !sk_config_to_real(v, &value)) || !(fabs(value) <= FLT_MAX))
        return refuse(r, key);
    *out = (float)value;
    return SK_OK;
}

static sk_status keep_text(const reader *r, const char *text, const char **out)
{
    *out = sk_arena_strdup(r->model->arena, text ? text : "");
    return *out ? SK_OK : sk_fail_memory(r->err, strlen(text ? text : ""));
}

/* A list of names: empty (*out null) or exactly `count` long; with `all`, things that exist have names. */
static sk_status read_names(const reader *r, const sk_config_value *map, const char *key, int32_t count,
                            bool all, const char *const **out)
{
    const sk_config_value *list = sk_config_get(map, key);
    size_t n = sk_config_count(list);
    *out = NULL;
    if (n == 0 && !(all && count > 0))
        return SK_OK;
    if (!sk_config_is(list, SK_CONFIG_LIST) || n != (size_t)count)
        return refuse(r, key);
    const char **names = sk_arena_alloc(r->model->arena, n * sizeof *names);
    if (!names)
        return sk_fail_memory(r->err, n * sizeof *names);
    for (size_t i = 0; i < n; i++) {
        const char *name = sk_config_text(sk_config_at(list, i));
        if (!name)
            return refuse(r, key);
        SK_TRY(keep_text(r, name, &names[i]));
    }
    *out = names;
    return SK_OK;
}

static sk_status read_pairs(const reader *r, const sk_config_value *map, const char *key, int64_t below,
                            const int32_t (**out)[2], int32_t *count)
{
    const sk_config_value *list = sk_config_get(map, key);
    size_t n = sk_config_count(list);
    *count = 0;
    if (n == 0)
        return SK_OK;
    int32_t(*pairs)[2] = n <= MAX_NAMES ? sk_arena_alloc(r->model->arena, n * sizeof *pairs) : NULL;
    if (!pairs)
        return refuse(r, key);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 2; k++) {
            int64_t value = -1;
            if (!sk_config_to_int(sk_config_at(sk_config_at(list, i), k), &value) || value < 0 ||
                value >= below)
                return refuse(r, key);
            pairs[i][k] = (int32_t)value;
        }
    *out = (const int32_t(*)[2])pairs;
    *count = (int32_t)n;
    return SK_OK;
}

static sk_status read_sizes(const reader *r, const sk_config_value *map, const char *key, int32_t out[2])
{
    const sk_config_value *list = sk_config_get(map, key);
    for (size_t i = 0; i < 2; i++) {
        int64_t value = 0;
        if (!sk_config_to_int(sk_config_at(list, i), &value) || value < 0 || value > MAX_SIZE)
            return refuse(r, key);
        out[i] = (int32_t)value;
    }
    return SK_OK;
}

static sk_status read_input(const reader *r, const sk_config_value *map)
{
    sk_input_spec *in = &r->model->input;
    int32_t dtype = 0;
    SK_TRY(read_int(r, map, "channels", 1, 64, &in->channels));
    SK_TRY(read_int(r, map, "height", 0, MAX_SIZE, &in->height));
    SK_TRY(read_int(r, map, "width", 0, MAX_SIZE, &in->width));
    SK_TRY(read_int(r, map, "stride", 0, 4096, &in->stride));
    SK_TRY(read_int(r, map, "fixed_size", 0, 1, &in->fixed_size));
    SK_TRY(read_int(r, map, "fixed_batch", 0, MAX_SIZE, &in->fixed_batch));
    SK_TRY(read_int(r, map, "rgb", 0, 1, &in->rgb));
    SK_TRY(read_int(r, map, "dtype", SK_DTYPE_F32, SK_DTYPE_U8, &dtype));
    in->dtype = (sk_dtype)dtype;
    SK_TRY(read_float(r, sk_config_get(map, "scale"), "scale", &in->scale));
    for (size_t i = 0; i < 3; i++) {
        SK_TRY(read_float(r, sk_config_at(sk_config_get(map, "mean"), i), "mean", &in->mean[i]));
        SK_TRY(read_float(r, sk_config_at(sk_config_get(map, "std"), i), "std", &in->std[i]));
    }
    return SK_OK;
}

static sk_status read_outputs(const reader *r, const sk_config_value *root)
{
    const sk_config_value *list = sk_config_get(root, "outputs");
    sk_model *model = r->model;
    size_t n = sk_config_count(list);
    if (n > sizeof model->outputs / sizeof model->outputs[0])
        return refuse(r, "outputs");
    for (size_t i = 0; i < n; i++) {
        const sk_config_value *item = sk_config_at(list, i);
        int32_t kind = 0;
        SK_TRY(read_int(r, item, "kind", SK_OUTPUT_YOLO, SK_OUTPUT_OTHER, &kind));
        model->outputs[i].kind = (sk_output_kind)kind;
        SK_TRY(keep_text(r, sk_config_text(sk_config_get(item, "name")), &model->outputs[i].name));
        SK_TRY(read_float(r, sk_config_get(item, "stride"), "stride", &model->outputs[i].stride));
    }
    model->n_outputs = (int32_t)n;
    return read_int(r, root, "outputs_nhwc", 0, 1, &model->outputs_nhwc);
}

static sk_status read_yolo(const reader *r, const sk_config_value *map)
{
    sk_yolo_spec *y = &r->model->yolo;
    const sk_config_value *strides = sk_config_get(map, "strides"), *heads = sk_config_get(map, "heads");
    size_t n_heads = sk_config_count(heads);
    if (sk_config_count(strides) > SK_MAX_LEVELS || n_heads > sizeof y->heads / sizeof y->heads[0])
        return refuse(r, "heads");
    y->n_levels = (int32_t)sk_config_count(strides);
    for (int32_t i = 0; i < y->n_levels; i++)
        SK_TRY(read_float(r, sk_config_at(strides, (size_t)i), "strides", &y->stride[i]));
    SK_TRY(read_int(r, map, "reg_max", 0, 1024, &y->reg_max));
    SK_TRY(read_int(r, map, "classes", 0, MAX_NAMES, &y->n_classes));
    SK_TRY(read_int(r, map, "keypoints", 0, MAX_NAMES, &y->n_keypoints));
    SK_TRY(read_int(r, map, "keypoint_dims", 0, 3, &y->keypoint_dims));
    SK_TRY(read_int(r, map, "end2end", 0, 1, &y->end2end));
    SK_TRY(read_int(r, map, "nms_tail", 0, 1, &y->nms_tail));
    SK_TRY(read_int(r, map, "dense_corners", 0, 1, &y->dense_corners));
    SK_TRY(read_int(r, map, "max_det", 0, MAX_SIZE, &y->max_det));
    SK_TRY(read_int(r, map, "keypoints_26", 0, 1, &y->keypoints_26));
    SK_TRY(read_int(r, map, "angle_raw", 0, 1, &y->angle_raw));
    SK_TRY(read_int(r, map, "masks", 0, MAX_SIZE, &y->n_masks));
    for (size_t i = 0; i < n_heads; i++) {
        int64_t kind = 0, level = 0;
        if (!sk_config_to_int(sk_config_at(sk_config_at(heads, i), 0), &kind) || kind < SK_HEAD_BOX ||
            kind > SK_HEAD_PROTO || !sk_config_to_int(sk_config_at(sk_config_at(heads, i), 1), &level) ||
            level < 0 || level >= SK_MAX_LEVELS)
            return refuse(r, "heads");
        y->heads[i] = (sk_head_spec){(sk_head_kind)kind, (int32_t)level};
    }
    y->n_heads = (int32_t)n_heads;
    return SK_OK;
}

static sk_status read_sleap(const reader *r, const sk_config_value *map)
{
    sk_sleap_spec *s = &r->model->sleap;
    const char *anchor = sk_config_text(sk_config_get(map, "anchor_part"));
    SK_TRY(read_sizes(r, map, "crop", s->crop_size));
    SK_TRY(read_sizes(r, map, "target", s->target_size));
    SK_TRY(read_float(r, sk_config_get(map, "input_scale"), "input_scale", &s->input_scale));
    SK_TRY(read_int(r, map, "pad_to_stride", 0, 4096, &s->pad_to_stride));
    SK_TRY(read_int(r, map, "ensure_rgb", 0, 1, &s->ensure_rgb));
    SK_TRY(read_int(r, map, "ensure_grayscale", 0, 1, &s->ensure_grayscale));
    SK_TRY(read_int(r, map, "resize_antialias", 0, 1, &s->resize_antialias));
    SK_TRY(read_int(r, map, "legacy", 0, 1, &s->legacy));
    SK_TRY(read_pairs(r, map, "edges", r->model->n_keypoints, &s->edges, &s->n_edges));
    if (anchor)
        SK_TRY(keep_text(r, anchor, &s->anchor_part));
    return read_names(r, map, "classes", r->model->n_classes, false, &s->class_names);
}

static sk_status read_facts(const reader *r, const sk_config_value *list)
{
    for (size_t i = 0; i < sk_config_count(list) && i < 256; i++) {
        const char *key = sk_config_text(sk_config_at(sk_config_at(list, i), 0));
        const char *value = sk_config_text(sk_config_at(sk_config_at(list, i), 1));
        if (!key || !value)
            return refuse(r, "facts");
        sk_model_add_fact(r->model, key, value);
    }
    return SK_OK;
}

static sk_status read_root(const reader *r, const sk_config_value *root)
{
    sk_model *model = r->model;
    int32_t version = 0, task = 0;
    SK_TRY(read_int(r, root, "version", 1, INT32_MAX, &version));
    if (version > 1)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: exported by a newer skitter (%s); update this one",
                       r->what, sk_config_text_or(root, "skitter", "unknown version"));
    SK_TRY(read_int(r, root, "task", SK_TASK_UNKNOWN, sk_task_last(), &task));
    sk_model_set_task(model, (sk_task)task);
    SK_TRY(keep_text(r, sk_config_text(sk_config_get(root, "family")), &model->architecture));
    SK_TRY(read_int(r, root, "n_classes", 0, MAX_NAMES, &model->n_classes));
    SK_TRY(read_int(r, root, "n_keypoints", 0, MAX_NAMES, &model->n_keypoints));
    SK_TRY(read_names(r, root, "classes", model->n_classes, true, &model->class_names));
    SK_TRY(read_names(r, root, "keypoints", model->n_keypoints, false, &model->keypoint_names));
    SK_TRY(read_pairs(r, root, "edges", model->n_keypoints, &model->edges, &model->n_edges));
    SK_TRY(read_input(r, sk_config_get(root, "input")));
    SK_TRY(read_outputs(r, root));
    if (model->family != SK_FAMILY_SLEAP)
        SK_TRY(read_yolo(r, sk_config_get(root, "yolo")));
    else
        SK_TRY(read_sleap(r, sk_config_get(root, "sleap")));
    return read_facts(r, sk_config_get(root, "facts"));
}

sk_status sk_model_from_json(sk_model *model, const char *text, const char *what, sk_error *err)
{
    reader r = {.model = model, .what = what, .err = err};
    sk_config *config = NULL;
    sk_status status = sk_config_open_json(text, strlen(text), what, &config, err);
    if (status == SK_OK)
        status = read_root(&r, sk_config_root(config));
    sk_config_close(&config);
    return status;
}
