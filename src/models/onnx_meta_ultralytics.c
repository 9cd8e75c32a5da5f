/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_meta.h"

#include "formats/python_literal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_NAMES 100000

bool sk_onnx_is_ultralytics(const sk_onnx_model *onnx)
{
    return sk_onnx_metadata(onnx, "task") && sk_onnx_metadata(onnx, "names");
}

/* Opens the Python literal under a key; *out stays null when the key is absent. */
static sk_status open_literal(sk_onnx_reading *r, const char *key, sk_config **out)
{
    char what[300];
    const char *text = sk_onnx_metadata(r->onnx, key);
    *out = NULL;
    if (!text || !*text)
        return SK_OK;
    snprintf(what, sizeof what, "%.200s: metadata '%s'", r->path, key);
    return sk_python_literal_open(text, strlen(text), what, out, r->err);
}

static sk_status damaged(sk_onnx_reading *r, const char *key)
{
    return sk_fail(r->err, SK_ERR_FORMAT, "%s: the metadata '%s' make no sense: %.120s", r->path, key,
                   sk_onnx_metadata(r->onnx, key));
}

static sk_status keep_names(sk_onnx_reading *r, const char *key, const sk_config_value *list, size_t count,
                            const char *const **out)
{
    const char **names = sk_arena_alloc(r->model->arena, (count + 1) * sizeof *names);
    if (!names)
        return sk_fail_memory(r->err, count * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        const sk_config_value *value = sk_config_at(list, i);
        if (sk_config_is(list, SK_CONFIG_MAP)) { /* {0: 'fly', 1: 'mouse'} */
            int64_t index = -1;
            value = list->u.pairs[i].value;
            if (!sk_config_to_int(list->u.pairs[i].key, &index) || index < 0 || (size_t)index >= count ||
                names[index])
                return damaged(r, key);
            at = (size_t)index;
        }
        const char *text = sk_config_text(value);
        names[at] = text ? sk_arena_strdup(r->model->arena, text) : NULL;
        if (!names[at])
            return text ? sk_fail_memory(r->err, strlen(text)) : damaged(r, key);
    }
    *out = names;
    return SK_OK;
}

sk_status sk_onnx_read_classes(sk_onnx_reading *r)
{
    sk_config *config = NULL;
    SK_TRY(open_literal(r, "names", &config));
    size_t count = sk_config_count(sk_config_root(config));
    sk_status status = count == 0 || count > MAX_NAMES
                           ? damaged(r, "names")
                           : keep_names(r, "names", sk_config_root(config), count, &r->model->class_names);
    if (status == SK_OK)
        r->model->n_classes = (int32_t)count;
    sk_config_close(&config);
    return status;
}

/* [[0, 1], …]: which keypoints to join by lines; for drawing only, so what makes no sense is left out. */
static sk_status read_skeleton(sk_onnx_reading *r)
{
    sk_config *config = NULL;
    sk_status status = open_literal(r, "skeleton", &config);
    if (status == SK_ERR_FORMAT)
        return SK_OK;
    const sk_config_value *pairs = sk_config_root(config);
    size_t count = status == SK_OK && sk_config_is(pairs, SK_CONFIG_LIST) ? sk_config_count(pairs) : 0;
    int32_t(*edges)[2] = NULL;
    if (count > 0 && count <= MAX_NAMES) {
        edges = sk_arena_alloc(r->model->arena, count * sizeof *edges);
        if (!edges)
            status = sk_fail_memory(r->err, count * sizeof *edges);
    }
    bool fine = edges != NULL;
    for (size_t i = 0; fine && i < 2 * count; i++) {
        int64_t point;
        fine = sk_config_to_int(sk_config_at(sk_config_at(pairs, i / 2), i % 2), &point) && point >= 0 &&
               point < r->model->n_keypoints;
        edges[i / 2][i % 2] = fine ? (int32_t)point : 0;
    }
    if (fine) {
        r->model->edges = (const int32_t(*)[2])edges;
        r->model->n_edges = (int32_t)count;
    }
    sk_config_close(&config);
    return status;
}

/* [K, D], and the names of the first class' keypoints where the file has them. */
static sk_status read_keypoints(sk_onnx_reading *r)
{
    sk_config *shape = NULL, *names = NULL;
    int64_t count = 0, dims = 0;
    SK_TRY(open_literal(r, "kpt_shape", &shape));
    bool fine = sk_config_to_int(sk_config_at(sk_config_root(shape), 0), &count) && count >= 1 &&
                count <= MAX_NAMES && sk_config_to_int(sk_config_at(sk_config_root(shape), 1), &dims) &&
                (dims == 2 || dims == 3);
    sk_config_close(&shape);
    if (!fine)
        return sk_onnx_metadata(r->onnx, "kpt_shape")
                   ? damaged(r, "kpt_shape")
                   : sk_fail(r->err, SK_ERR_FORMAT, "%s: a pose model without 'kpt_shape'", r->path);
    r->model->n_keypoints = r->model->yolo.n_keypoints = (int32_t)count;
    r->model->yolo.keypoint_dims = (int32_t)dims;
    sk_status status = open_literal(r, "kpt_names", &names);
    const sk_config_value *root = sk_config_root(names);
    if (status == SK_OK && sk_config_is(root, SK_CONFIG_MAP) && root->length > 0)
        root = root->u.pairs[0].value;
    if (status == SK_OK && sk_config_is(root, SK_CONFIG_LIST) && sk_config_count(root) == (size_t)count)
        status = keep_names(r, "kpt_names", root, (size_t)count, &r->model->keypoint_names);
    sk_config_close(&names);
    return status == SK_OK ? read_skeleton(r) : status;
}

static sk_task task_of(const char *name)
{
    static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_POSE, SK_TASK_OBB, SK_TASK_SEGMENT,
                                    SK_TASK_CLASSIFY};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++)
        if (strcmp(name, sk_task_name(tasks[i])) == 0)
            return tasks[i];
    return SK_TASK_UNKNOWN;
}

/* Sizes and stride; a static file's own shape has been noted already and wins. */
static sk_status read_input(sk_onnx_reading *r)
{
    sk_input_spec *in = &r->model->input;
    sk_config *imgsz = NULL;
    const char *stride = sk_onnx_metadata(r->onnx, "stride");
    int64_t side[] = {0, 0};
    SK_TRY(open_literal(r, "imgsz", &imgsz));
    const sk_config_value *root = sk_config_root(imgsz);
    bool fine = !root || (sk_config_to_int(sk_config_at(root, 0), &side[0]) &&
                          sk_config_to_int(sk_config_at(root, 1), &side[1]) && side[0] > 0 && side[1] > 0 &&
                          side[0] <= 1 << 16 && side[1] <= 1 << 16);
    sk_config_close(&imgsz);
    if (!fine)
        return damaged(r, "imgsz");
    if (!in->fixed_size && side[0]) {
        in->height = (int32_t)side[0];
        in->width = (int32_t)side[1];
    }
    in->stride = r->model->task == SK_TASK_CLASSIFY ? 1 : 32;
    if (stride) {
        char *end;
        long value = strtol(stride, &end, 10);
        if (end == stride || value < 1 || value > 4096)
            return damaged(r, "stride");
        in->stride = (int32_t)value;
    }
    return SK_OK;
}

/* "Ultralytics YOLO11n-pose model trained on …" → "yolo11": the name without the scale's letter and what
 * follows. */
static sk_status read_family(sk_onnx_reading *r)
{
    const char *text = sk_onnx_metadata(r->onnx, "description");
    const char *start = text ? strstr(text, "YOLO") : NULL;
    char name[32];
    size_t n = 0;
    for (const char *c = start; c && *c && n + 1 < sizeof name; c++) {
        bool digit = isdigit((unsigned char)*c) != 0;
        if (!digit && n > 4 && isdigit((unsigned char)name[n - 1]))
            break;
        if (!isalnum((unsigned char)*c))
            break;
        name[n++] = (char)tolower((unsigned char)*c);
    }
    name[n] = '\0';
    r->model->architecture = sk_arena_strdup(r->model->arena, n > 4 ? name : "yolo");
    return r->model->architecture ? SK_OK : sk_fail_memory(r->err, sizeof name);
}

static bool literal_true(sk_onnx_reading *r, const char *key, const char *path)
{
    sk_config *config = NULL;
    sk_error ignored;
    sk_error *err = r->err;
    r->err = &ignored;
    bool value = false;
    if (open_literal(r, key, &config) == SK_OK && config) {
        if (path)
            value = sk_config_bool_or(sk_config_root(config), path, false);
        else
            sk_config_to_bool(sk_config_root(config), &value);
    }
    r->err = err;
    sk_config_close(&config);
    return value;
}

/* Levels from 8 (or 4) up to the stride, whichever the anchors add up to; 8, 16, … where neither does. The
 * heads themselves are not to be seen in such a file: reg_max stays at what most models have. */
void sk_onnx_read_levels(sk_onnx_reading *r, int64_t anchors)
{
    const sk_input_spec *in = &r->model->input;
    sk_yolo_spec *y = &r->model->yolo;
    y->reg_max = 16;
    for (int32_t first = 4; first <= 8; first *= 2) {
        int64_t total = 0;
        y->n_levels = 0;
        for (int32_t s = first; s <= in->stride && y->n_levels < SK_MAX_LEVELS; s *= 2) {
            y->stride[y->n_levels++] = (float)s;
            total += (int64_t)(in->height / s) * (in->width / s);
        }
        if (total == anchors)
            return;
    }
}

/* What output0 is, told by the shape it has at the default size. */
static sk_status read_output0(sk_onnx_reading *r)
{
    sk_model *model = r->model;
    sk_yolo_spec *y = &model->yolo;
    const sk_shape *s = &r->shapes[0];
    char text[SK_SHAPE_TEXT];
    int64_t extra = model->task == SK_TASK_POSE      ? (int64_t)y->n_keypoints * y->keypoint_dims
                    : model->task == SK_TASK_OBB     ? 1
                    : model->task == SK_TASK_SEGMENT ? y->n_masks
                                                     : 0;
    if (model->task == SK_TASK_CLASSIFY && s->rank == 2 && s->dim[1] == model->n_classes) {
        model->outputs[0].kind = SK_OUTPUT_CLASS_SCORES;
        return SK_OK;
    }
    if (s->rank == 3 && s->dim[1] == 4 + model->n_classes + extra && model->task != SK_TASK_CLASSIFY) {
        model->outputs[0].kind = SK_OUTPUT_YOLO;
        sk_onnx_read_levels(r, s->dim[2]);
        return SK_OK;
    }
    if (s->rank == 3 && s->dim[2] == 6 + extra && model->task != SK_TASK_CLASSIFY) {
        model->outputs[0].kind = SK_OUTPUT_YOLO_END2END;
        y->end2end = 1;
        y->max_det = (int32_t)s->dim[1];
        int64_t anchors = 0;
        SK_TRY(sk_onnx_find_nms(r, 4 + model->n_classes + extra, &anchors));
        y->nms_tail = anchors > 0;
        sk_onnx_read_levels(r, anchors);
        return SK_OK;
    }
    return sk_fail(r->err, SK_ERR_MISMATCH,
                   "%s: '%s' has the shape %s, which does not fit a %s model with %d classes and "
                   "%d keypoints; is it an export of Ultralytics YOLO (v5u, v8 or later)?",
                   r->path, model->outputs[0].name, sk_shape_text(s, text, sizeof text),
                   sk_task_name(model->task), model->n_classes, model->n_keypoints);
}

/* Heads whose rows we know. Others may look alike and mean something else: RT-DETR's rows are relative to
 * the picture. */
static bool head_is_known(sk_onnx_reading *r)
{
    static const char *const known[] = {
        "Detect", "v10Detect", "WorldDetect", "YOLOEDetect",  "Pose",           "Pose26",  "OBB",
        "OBB26",  "Segment",   "Segment26",   "YOLOESegment", "YOLOESegment26", "Classify"};
    const char *head = sk_onnx_metadata(r->onnx, "head");
    const char *description = sk_onnx_metadata(r->onnx, "description");
    for (size_t i = 0; head && i < sizeof known / sizeof *known; i++)
        if (strcmp(head, known[i]) == 0)
            return true;
    /* files of before 2026 do not name it */
    return !head && !(description && strcasestr(description, "rtdetr"));
}

static sk_status read_outputs(sk_onnx_reading *r)
{
    sk_model *model = r->model;
    if (!head_is_known(r)) {
        const char *head = sk_onnx_metadata(r->onnx, "head");
        sk_model_add_fact(model, "head", head ? head : "RT-DETR");
        sk_model_add_fact(model, "undecoded",
                          "what this head's outputs mean is not known here: the network can be "
                          "run, but nothing predicted with it");
        return SK_OK;
    }
    SK_TRY(sk_onnx_learn_shapes(r));
    if (!r->shapes_known)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED,
                       "%s: an Ultralytics export has one image as its input; this has %d "
                       "inputs",
                       r->path, model->graph->n_inputs);
    if (model->task == SK_TASK_SEGMENT && model->n_outputs > 1 && r->shapes[1].rank == 4) {
        model->outputs[1].kind = SK_OUTPUT_YOLO_PROTO;
        model->yolo.n_masks = (int32_t)r->shapes[1].dim[1];
    }
    return read_output0(r);
}

sk_status sk_onnx_read_ultralytics(sk_onnx_reading *r)
{
    static const char *const facts[] = {"description", "author", "date", "version",
                                        "license",     "docs",   "args"};
    const char *task = sk_onnx_metadata(r->onnx, "task");
    sk_model_set_task(r->model, task_of(task));
    if (r->model->task == SK_TASK_UNKNOWN)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: the task '%.60s' is not supported", r->path, task);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = sk_onnx_metadata(r->onnx, facts[i]);
        if (value && *value)
            sk_model_add_fact(r->model, facts[i], value);
    }
    SK_TRY(read_family(r));
    SK_TRY(sk_onnx_read_classes(r));
    r->model->yolo.n_classes = r->model->n_classes;
    if (r->model->task == SK_TASK_POSE)
        SK_TRY(read_keypoints(r));
    SK_TRY(read_input(r));
    SK_TRY(read_outputs(r));
    if (literal_true(r, "args", "nms"))
        sk_model_add_fact(r->model, "nms",
                          r->model->yolo.nms_tail
                              ? "inside the network; left out for predict, which suppresses overlaps itself"
                              : "inside the network: its own thresholds apply");
    return SK_OK;
}
