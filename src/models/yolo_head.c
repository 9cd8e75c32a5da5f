/* SPDX-License-Identifier: Apache-2.0 */
#include "models/yolo.h"

#include "base/named.h"

#include <stdio.h>
#include <string.h>

/* The heads: per level one map of boxes, one of class scores and one of the task's extra numbers. End-to-end models
 * carry every head twice; the copies named one2one_… need no suppression afterwards. */

static const struct {
    const char *name;
    sk_task task;
    int generation; /* 26: YOLO26's decode rules */
} heads[] = {
    {"Detect", SK_TASK_DETECT, 8}, {"v10Detect", SK_TASK_DETECT, 8}, {"Pose", SK_TASK_POSE, 8},
    {"OBB", SK_TASK_OBB, 8},       {"Segment", SK_TASK_SEGMENT, 8},  {"Classify", SK_TASK_CLASSIFY, 8},
    {"Pose26", SK_TASK_POSE, 26},  {"OBB26", SK_TASK_OBB, 26},       {"Segment26", SK_TASK_SEGMENT, 26},
};

sk_task sk_yolo_head_task(const char *class_name)
{
    int32_t i = SK_ROW_NAMED(heads, class_name);
    return i < 0 ? SK_TASK_UNKNOWN : heads[i].task;
}

/* The names were counted by what the file says of itself; a network of another number would look them up beyond their
 * end. */
static bool same_classes(yolo_reader *y, int64_t found)
{
    if (found == y->model->n_classes)
        return true;
    sk_yolo_fail(y, SK_ERR_MISMATCH, "the network has %lld classes, where the checkpoint says %d",
                 (long long)found, y->model->n_classes);
    return false;
}

/* --- classify --- */

static void classify(yolo_reader *y, yolo_module *head, const sk_value *x, int n)
{
    yolo_module *linear = sk_yolo_find(head, "linear");
    sk_shape shape, bias_shape;
    sk_value in[3], v = n == 1 ? x[0] : sk_b_concat(&y->b, x, n, 1);
    v = sk_yolo_child(y, head, "conv", v);
    in[0] = sk_b_reduce(&y->b, SK_REDUCE_MEAN, v, (const int[]){2, 3}, 2, false);
    if (!linear) {
        sk_yolo_fail(y, SK_ERR_FORMAT, "its part 'linear' is missing; the checkpoint is incomplete");
        return;
    }
    size_t mark = sk_yolo_enter(y, "linear");
    sk_blob *weight = sk_yolo_weights(y, linear, "weight", &shape);
    sk_blob *bias = sk_yolo_weights(y, linear, "bias", &bias_shape);
    if (weight && bias && (shape.rank != 2 || bias_shape.rank != 1 || bias_shape.dim[0] != shape.dim[0]))
        sk_yolo_fail(y, SK_ERR_MISMATCH, "weight and bias do not fit each other");
    if (sk_yolo_ok(y) && same_classes(y, shape.dim[0])) {
        in[1] = sk_b_constant_blob(&y->b, "linear.weight", SK_DTYPE_F32, &shape, weight, 0);
        in[2] = sk_b_constant_blob(&y->b, "linear.bias", SK_DTYPE_F32, &bias_shape, bias, 0);
        sk_attrs attrs = {.gemm = {.alpha = 1, .beta = 1, .transpose_b = 1}};
        v = sk_b_softmax(&y->b, sk_b_node(&y->b, SK_OP_GEMM, &attrs, in, 3, NULL), 1);
        sk_b_output(&y->b, v, "output0");
        y->model->n_outputs = 1;
        y->model->outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_CLASS_SCORES, .name = "output0"};
    }
    sk_blob_unref(&weight);
    sk_blob_unref(&bias);
    sk_yolo_leave(y, mark);
}

/* --- detection-like heads --- */

/* Which copy of the heads to run. What a file says of it (end2end, _end2end) is what was last done with it; Ultralytics
 * 8.4 does not look at it either. */
static bool wants_end2end(const yolo_reader *y, yolo_module *head)
{
    if (!sk_yolo_find(head, "one2one_cv2"))
        return false;
    if (!sk_yolo_find(head, "cv2"))
        return true; /* fused: only one copy is left */
    return y->model->wanted_heads == SK_HEADS_ONE_TO_ONE;
}

static bool read_strides(yolo_reader *y, yolo_module *head, int n)
{
    const sk_pickle_value *tensor = sk_pickle_get(head, "stride");
    sk_blob *blob = NULL;
    sk_status status = SK_OK;
    if (!tensor || tensor->kind != SK_PICKLE_TENSOR || tensor->u.tensor.shape.rank != 1 ||
        tensor->u.tensor.shape.dim[0] != n) {
        sk_yolo_fail(y, SK_ERR_FORMAT,
                     "the head's 'stride' does not give one number for each of its %d levels", n);
        return false;
    }
    status = sk_torch_file_tensor(y->file, tensor, SK_DTYPE_F32, &blob, &y->b.error);
    if (status != SK_OK) {
        y->b.status = status;
        return false;
    }
    const float *values = sk_blob_data(blob);
    float largest = 0;
    for (int i = 0; i < n; i++) {
        if (!(values[i] >= 1 && values[i] <= 1024))
            sk_yolo_fail(y, SK_ERR_FORMAT, "level %d has stride %g", i, (double)values[i]);
        y->model->yolo.stride[i] = values[i];
        largest = values[i] > largest ? values[i] : largest;
    }
    sk_blob_unref(&blob);
    if (largest > (float)y->model->input.stride && sk_yolo_ok(y))
        y->model->input.stride = (int32_t)largest;
    return sk_yolo_ok(y);
}

/* Output channels of the last convolution in a branch, so that sizes come from the weights themselves. */
static int64_t branch_channels(yolo_module *branch, int depth)
{
    if (depth > 4 || !branch)
        return -1;
    int n = sk_yolo_list_count(branch);
    const char *class_name = sk_pickle_class(branch, NULL);
    if (class_name && strcmp(class_name, "Conv2d") == 0)
        return sk_yolo_int(branch, "out_channels", -1);
    return n > 0 ? branch_channels(sk_yolo_list_at(branch, n - 1, NULL), depth + 1) : -1;
}

static bool check_channels(yolo_reader *y, yolo_module *head, const char *list, int level, int64_t wanted)
{
    int64_t found = branch_channels(sk_yolo_list_at(sk_yolo_find(head, list), level, NULL), 0);
    if (found == wanted)
        return true;
    sk_yolo_fail(y, SK_ERR_MISMATCH, "level %d of '%s' gives %lld channels where %lld are needed", level,
                 list, (long long)found, (long long)wanted);
    return false;
}

static int extra_channels(const yolo_reader *y, yolo_module *head)
{
    const sk_yolo_spec *spec = &y->model->yolo;
    switch (y->model->task) {
    case SK_TASK_POSE: return spec->n_keypoints * spec->keypoint_dims;
    case SK_TASK_OBB: return 1;
    case SK_TASK_SEGMENT: return (int)sk_yolo_int(head, "nm", 32);
    default: return 0;
    }
}

static sk_value extra_map(yolo_reader *y, yolo_module *head, const char *prefix, int level, int channels,
                          sk_value x)
{
    char list[40], last[48];
    snprintf(list, sizeof list, "%scv4", prefix);
    snprintf(last, sizeof last, "%scv4_kpts", prefix);
    if (!sk_yolo_find(head, last)) { /* one branch does it all */
        if (!check_channels(y, head, list, level, channels))
            return SK_VALUE_NONE;
        return sk_yolo_list_item(y, head, list, level, x);
    }
    if (!check_channels(y, head, last, level, channels))
        return SK_VALUE_NONE;
    return sk_yolo_list_item(y, head, last, level, sk_yolo_list_item(y, head, list, level, x));
}

/* Proto26: finer maps get the coarser ones added, then the usual prototypes. */
static sk_value prototypes(yolo_reader *y, yolo_module *head, const sk_value *x, int n)
{
    yolo_module *proto = sk_yolo_find(head, "proto");
    const char *class_name = sk_pickle_class(proto, NULL);
    if (!class_name || strcmp(class_name, "Proto26") != 0)
        return sk_yolo_child(y, head, "proto", x[0]);
    size_t mark = sk_yolo_enter(y, "proto");
    sk_value v = x[0];
    for (int i = 1; i < n; i++) {
        sk_value finer = sk_yolo_list_item(y, proto, "feat_refine", i - 1, x[i]);
        v = sk_b_add(&y->b, v, sk_b_upsample_nearest(&y->b, finer, (float)(1 << i)));
    }
    v = sk_yolo_child(y, proto, "feat_fuse", v);
    v = sk_yolo_child(y, proto, "upsample", sk_yolo_child(y, proto, "cv1", v));
    v = sk_yolo_child(y, proto, "cv3", sk_yolo_child(y, proto, "cv2", v));
    sk_yolo_leave(y, mark);
    return v;
}

static bool read_sizes(yolo_reader *y, yolo_module *head, int generation, int n)
{
    sk_yolo_spec *spec = &y->model->yolo;
    int64_t reg_max = sk_yolo_int(head, "reg_max", 16), nc = sk_yolo_int(head, "nc", -1);
    int64_t max_det = sk_yolo_int(head, "max_det", 300);
    if (n < 1 || n > SK_MAX_LEVELS || reg_max < 1 || reg_max > 64 || nc < 1 || nc > 100000 || max_det < 1 ||
        max_det > 100000) {
        sk_yolo_fail(y, SK_ERR_UNSUPPORTED, "a head with %d levels, %lld classes, %lld distance bins", n,
                     (long long)nc, (long long)reg_max);
        return false;
    }
    if (!same_classes(y, nc))
        return false;
    spec->n_levels = n;
    spec->reg_max = (int32_t)reg_max;
    spec->max_det = (int32_t)max_det;
    spec->end2end = wants_end2end(y, head);
    spec->keypoints_26 = generation == 26 && y->model->task == SK_TASK_POSE;
    spec->angle_raw = generation == 26 && y->model->task == SK_TASK_OBB;
    if (y->model->task == SK_TASK_POSE && spec->n_keypoints < 1) {
        sk_yolo_fail(y, SK_ERR_FORMAT, "a pose model without a keypoint shape");
        return false;
    }
    return read_strides(y, head, n);
}

void sk_yolo_head(yolo_reader *y, yolo_module *head, const sk_value *x, int n)
{
    int32_t kind = SK_ROW_NAMED(heads, sk_pickle_class(head, NULL));
    if (!sk_yolo_ok(y) || kind < 0)
        return;
    sk_model_set_task(y->model, heads[kind].task);
    if (heads[kind].task == SK_TASK_CLASSIFY) {
        classify(y, head, x, n);
        return;
    }
    if (!read_sizes(y, head, heads[kind].generation, n))
        return;
    sk_yolo_spec *spec = &y->model->yolo;
    const char *prefix = spec->end2end ? "one2one_" : "";
    char box[40], score[40];
    snprintf(box, sizeof box, "%scv2", prefix);
    snprintf(score, sizeof score, "%scv3", prefix);
    yolo_maps maps = {.n_levels = n, .extra_channels = extra_channels(y, head), .proto = SK_VALUE_NONE};
    maps.dfl = sk_yolo_find(head, "dfl");
    for (int i = 0; i < n && sk_yolo_ok(y); i++) {
        if (!check_channels(y, head, box, i, 4 * spec->reg_max) ||
            !check_channels(y, head, score, i, spec->n_classes))
            return;
        maps.box[i] = sk_yolo_list_item(y, head, box, i, x[i]);
        maps.score[i] = sk_yolo_list_item(y, head, score, i, x[i]);
        if (maps.extra_channels)
            maps.extra[i] = extra_map(y, head, prefix, i, maps.extra_channels, x[i]);
    }
    if (y->model->task == SK_TASK_SEGMENT) {
        spec->n_masks = maps.extra_channels;
        maps.proto = prototypes(y, head, x, n);
    }
    sk_yolo_tail(y, &maps);
}
