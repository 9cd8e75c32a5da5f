/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a checkpoint says about itself, from the pickle alone: it works for files whose weights are cut off, too. */

static const char *const coco_keypoints[17] = {
    "nose",           "left_eye",   "right_eye",   "left_ear",   "right_ear",   "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist", "left_hip",
    "right_hip",      "left_knee",  "right_knee",  "left_ankle", "right_ankle",
};

static const int32_t coco_edges[19][2] = {
    {15, 13}, {13, 11}, {16, 14}, {14, 12}, {11, 12}, {5, 11}, {6, 12}, {5, 6}, {5, 7}, {6, 8},
    {7, 9},   {8, 10},  {1, 2},   {0, 1},   {0, 2},   {1, 3},  {2, 4},  {3, 5}, {4, 6},
};

#define MAX_EDGES 4096

/* --- facts --- */

/* Numbers, strings and short lists as text; false for anything else. */
static bool value_text(const sk_pickle_value *value, char *text, size_t room)
{
    int used = 0;
    switch (value ? value->kind : SK_PICKLE_NONE) {
    case SK_PICKLE_STRING: used = snprintf(text, room, "%s", value->u.text); break;
    case SK_PICKLE_INT: used = snprintf(text, room, "%lld", (long long)value->u.integer); break;
    case SK_PICKLE_FLOAT: used = snprintf(text, room, "%g", value->u.real); break;
    case SK_PICKLE_BOOL: used = snprintf(text, room, "%s", value->u.boolean ? "true" : "false"); break;
    case SK_PICKLE_LIST:
    case SK_PICKLE_TUPLE:
        if (value->length == 0 || value->length > 8)
            return false;
        for (size_t i = 0; i < value->length && (size_t)used < room; i++) {
            int64_t number;
            if (!sk_pickle_to_int(value->u.items[i], &number))
                return false;
            used += snprintf(text + used, room - (size_t)used, "%s%lld", i ? "x" : "", (long long)number);
        }
        break;
    default: return false;
    }
    return used > 0;
}

static void add_fact(yolo_reader *y, const char *key, const sk_pickle_value *value)
{
    char text[256];
    if (value_text(value, text, sizeof text))
        sk_model_add_fact(y->model, key, text);
}

static void add_facts(yolo_reader *y, const sk_pickle_value *checkpoint)
{
    static const char *const top[] = {"version", "date", "license", "docs", "epoch", "best_fitness"};
    static const char *const trained[] = {"task", "model", "data", "imgsz", "epochs", "batch", "optimizer"};
    static const char *const git[] = {"origin", "branch", "commit"};
    char key[64];
    for (size_t i = 0; i < sizeof top / sizeof top[0]; i++) {
        const sk_pickle_value *value = sk_pickle_get(checkpoint, top[i]);
        if (strcmp(top[i], "epoch") != 0 ||
            sk_yolo_int(checkpoint, "epoch", -1) >= 0) /* -1: training is over */
            add_fact(y, top[i], value);
    }
    const sk_pickle_value *args = sk_pickle_get(checkpoint, "train_args");
    for (size_t i = 0; i < sizeof trained / sizeof trained[0]; i++) {
        snprintf(key, sizeof key, "train.%s", trained[i]);
        add_fact(y, key, sk_pickle_get(args, trained[i]));
    }
    for (size_t i = 0; i < sizeof git / sizeof git[0]; i++) {
        snprintf(key, sizeof key, "git.%s", git[i]);
        add_fact(y, key, sk_pickle_get(sk_pickle_get(checkpoint, "git"), git[i]));
    }
    const sk_pickle_value *ema = sk_pickle_get(checkpoint, "ema");
    sk_model_add_fact(y->model, "weights", ema && ema->kind == SK_PICKLE_OBJECT ? "ema" : "model");
}

/* --- family: "11/yolo11n-pose.yaml" is yolo11, scale n --- */

static void read_family(yolo_reader *y)
{
    const sk_pickle_value *yaml = sk_pickle_get(y->root, "yaml");
    const char *file = sk_pickle_text(sk_pickle_get(yaml, "yaml_file"));
    const char *scale = sk_pickle_text(sk_pickle_get(yaml, "scale"));
    char name[64] = "ultralytics yolo";
    if (file && strlen(file) < sizeof name) {
        const char *base = strrchr(file, '/');
        snprintf(name, sizeof name, "%s", base ? base + 1 : file);
        char *end = strstr(name, ".y");
        if (end)
            *end = '\0';
        static const char *const tasks[] = {"-pose", "-obb", "-seg", "-cls"};
        for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
            char *at = strstr(name, tasks[i]);
            if (at)
                memmove(at, at + strlen(tasks[i]), strlen(at + strlen(tasks[i])) + 1);
        }
        size_t n = strlen(name);
        if (scale && strlen(scale) == 1 && n > 1 && name[n - 1] == scale[0] && name[n - 2] >= '0' &&
            name[n - 2] <= '9')
            name[n - 1] = '\0';
    }
    y->model->architecture = sk_arena_strdup(y->model->arena, name);
    if (scale && scale[0])
        sk_model_add_fact(y->model, "scale", scale);
}

/* --- classes and keypoints --- */

static const char *name_at(const sk_pickle_value *names, int64_t index)
{
    const sk_pickle_value *name = names && names->kind == SK_PICKLE_DICT ? sk_pickle_get_int(names, index)
                                                                         : sk_pickle_at(names, (size_t)index);
    return sk_pickle_text(name) ? name->u.text : "";
}

static sk_status copy_names(yolo_reader *y, const sk_pickle_value *names, int32_t count,
                            const char *const **out, sk_error *err)
{
    const char **list = sk_arena_alloc(y->model->arena, (size_t)count * sizeof *list);
    if (!list)
        return sk_fail_memory(err, (size_t)count * sizeof *list);
    for (int32_t i = 0; i < count; i++) {
        list[i] = sk_arena_strdup(y->model->arena, name_at(names, i));
        if (!list[i])
            return sk_fail_memory(err, 64);
    }
    *out = list;
    return SK_OK;
}

static sk_status read_classes(yolo_reader *y, sk_error *err)
{
    const sk_pickle_value *names = sk_pickle_get(y->root, "names");
    int64_t count = sk_yolo_int(y->head, "nc", -1);
    if (count < 0)
        count = sk_yolo_int(sk_yolo_find(y->head, "linear"), "out_features", -1); /* classify */
    if (count < 0 && names && (names->kind == SK_PICKLE_DICT || names->kind == SK_PICKLE_LIST))
        count = (int64_t)names->length;
    if (count < 1 || count > 100000)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the model has %lld classes", y->path, (long long)count);
    y->model->n_classes = y->model->yolo.n_classes = (int32_t)count;
    return copy_names(y, names, (int32_t)count, &y->model->class_names, err);
}

static bool is_coco_person(const yolo_reader *y)
{
    return y->model->yolo.n_keypoints == 17 && y->model->yolo.keypoint_dims == 3 &&
           y->model->n_classes == 1 && strcmp(y->model->class_names[0], "person") == 0;
}

/* Pairs of keypoints to join by lines, where the file names them: [[0, 1], …]. Only for drawing, so that a pair that
 * makes no sense leaves them out and refuses nothing. */
static sk_status read_skeleton(yolo_reader *y, sk_error *err)
{
    sk_model *model = y->model;
    const sk_pickle_value *pairs = sk_pickle_get(y->root, "skeleton");
    if (!pairs || (pairs->kind != SK_PICKLE_LIST && pairs->kind != SK_PICKLE_TUPLE) || pairs->length == 0 ||
        pairs->length > MAX_EDGES)
        return SK_OK;
    int32_t(*edges)[2] = sk_arena_alloc(model->arena, pairs->length * sizeof *edges);
    if (!edges)
        return sk_fail_memory(err, pairs->length * sizeof *edges);
    for (size_t i = 0; i < pairs->length; i++)
        for (size_t k = 0; k < 2; k++) {
            int64_t point;
            if (!sk_pickle_to_int(sk_pickle_at(pairs->u.items[i], k), &point) || point < 0 ||
                point >= model->n_keypoints)
                return SK_OK;
            edges[i][k] = (int32_t)point;
        }
    model->edges = (const int32_t(*)[2])edges;
    model->n_edges = (int32_t)pairs->length;
    return SK_OK;
}

static sk_status read_keypoints(yolo_reader *y, sk_error *err)
{
    sk_model *model = y->model;
    const sk_pickle_value *shape = sk_pickle_get(y->head, "kpt_shape");
    if (!sk_pickle_at(shape, 1))
        shape = sk_pickle_get(y->root, "kpt_shape");
    if (!sk_pickle_at(shape, 1))
        shape = sk_pickle_get(sk_pickle_get(y->root, "yaml"), "kpt_shape");
    int64_t count = 0, dims = 0;
    if (!sk_pickle_to_int(sk_pickle_at(shape, 0), &count) ||
        !sk_pickle_to_int(sk_pickle_at(shape, 1), &dims) || count < 1 || count > 10000 ||
        (dims != 2 && dims != 3))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: a pose model whose keypoint shape is missing or broken (a count and 2 "
                       "or 3 numbers each)",
                       y->path);
    model->n_keypoints = model->yolo.n_keypoints = (int32_t)count;
    model->yolo.keypoint_dims = (int32_t)dims;
    const sk_pickle_value *names = sk_pickle_get(y->root, "kpt_names"); /* {class: [names]}, or one list */
    if (names && names->kind == SK_PICKLE_DICT)
        names = sk_pickle_get_int(names, 0);
    if (sk_pickle_at(names, (size_t)count - 1)) {
        SK_TRY(copy_names(y, names, (int32_t)count, &model->keypoint_names, err));
        return read_skeleton(y, err);
    }
    if (is_coco_person(y)) {
        model->keypoint_names = coco_keypoints;
        model->edges = coco_edges;
        model->n_edges = (int32_t)(sizeof coco_edges / sizeof coco_edges[0]);
    }
    return SK_OK;
}

/* --- input --- */

static bool plausible_size(int64_t size)
{
    return size >= 8 && size <= 16384;
}

static void read_input(yolo_reader *y, const sk_pickle_value *checkpoint)
{
    sk_input_spec *input = &y->model->input;
    bool classify = y->model->task == SK_TASK_CLASSIFY;
    const sk_pickle_value *yaml = sk_pickle_get(y->root, "yaml");
    int64_t channels = sk_yolo_int(yaml, "channels", sk_yolo_int(yaml, "ch", 3));
    *input = (sk_input_spec){.channels = channels >= 1 && channels <= 64 ? (int32_t)channels : 3,
                             .scale = 1.0f / 255.0f,
                             .std = {1, 1, 1},
                             .rgb = 1,
                             .dtype = SK_DTYPE_F32,
                             .stride = 32};
    input->height = input->width = classify ? 224 : 640;
    int64_t size[2];
    if ((sk_yolo_pair(sk_pickle_get(checkpoint, "train_args"), "imgsz", size) ||
         sk_yolo_pair(sk_pickle_get(y->root, "args"), "imgsz", size)) &&
        plausible_size(size[0]) && plausible_size(size[1])) {
        input->height = (int32_t)size[0];
        input->width = (int32_t)size[1];
    }
}

sk_status sk_yolo_meta(yolo_reader *y, const sk_pickle_value *checkpoint, sk_error *err)
{
    y->model->format = SK_FORMAT_ULTRALYTICS;
    sk_model_set_task(y->model, sk_yolo_head_task(sk_pickle_class(y->head, NULL)));
    read_family(y);
    SK_TRY(read_classes(y, err));
    if (y->model->task == SK_TASK_POSE)
        SK_TRY(read_keypoints(y, err));
    read_input(y, checkpoint);
    add_facts(y, checkpoint);
    return SK_OK;
}
