/* SPDX-License-Identifier: Apache-2.0 */
#include "yolo_writer.h"

#include "module_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    const yolo_fixture *f;
    tw_pickle *p;
    char scope[128];
    uint32_t seed;
    float gain;
} writer;

static float next_value(writer *w)
{
    w->seed = w->seed * 1664525u + 1013904223u;
    return ((float)(w->seed >> 8) / (float)(1 << 24) - 0.5f) * w->gain;
}

static bool here(const writer *w, const char *at)
{
    return at && strcmp(at, w->scope) == 0;
}

static size_t enter(writer *w, const char *name)
{
    size_t mark = strlen(w->scope);
    snprintf(w->scope + mark, sizeof w->scope - mark, "%s%s", mark ? "." : "", name);
    return mark;
}

static void leave(writer *w, size_t mark)
{
    w->scope[mark] = '\0';
}

/* --- modules --- */

static void begin(writer *w, const char *module, const char *class_name)
{
    char flat[64];
    if (w->f->flat_paths && strncmp(module, "ultralytics.nn.modules.", 23) == 0) {
        snprintf(flat, sizeof flat, "ultralytics.nn.modules");
        module = flat;
    }
    tw_object_begin(w->p, module, here(w, w->f->rename) ? "Mystery" : class_name);
    tw_text(w->p, "training");
    tw_bool(w->p, false);
}

static void section(writer *w, const char *name)
{
    tw_text(w->p, name);
    if (w->f->plain_dicts)
        tw_dict_begin(w->p);
    else
        tw_ordered_begin(w->p);
}

/* A child: false (and nothing written) when it is to be left out. */
static bool child(writer *w, const char *name, size_t *mark)
{
    *mark = enter(w, name);
    if (here(w, w->f->drop)) {
        leave(w, *mark);
        return false;
    }
    tw_text(w->p, name);
    return true;
}

static void integer(writer *w, const char *name, int64_t value)
{
    tw_text(w->p, name);
    tw_int(w->p, value);
}

static void pair(writer *w, const char *name, int64_t value)
{
    tw_text(w->p, name);
    tw_ints(w->p, (const int64_t[]){value, value}, 2);
}

enum { NORMAL, POSITIVE, COUNTING };

static void tensor(writer *w, const char *name, const sk_shape *shape, int kind, bool spoil)
{
    size_t count = (size_t)sk_shape_count(shape);
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = kind == COUNTING ? (float)i : kind == POSITIVE ? 1 + next_value(w) * 0.2f : next_value(w);
    if (spoil)
        values[count / 2] = NAN;
    tw_text(w->p, name);
    tw_tensor(w->p, w->f->f32 ? SK_DTYPE_F32 : SK_DTYPE_F16, shape, values, true);
    free(values);
}

static void conv2d(writer *w, int in, int out, int k, int stride, int groups, bool bias)
{
    begin(w, "torch.nn.modules.conv", "Conv2d");
    section(w, "_parameters");
    sk_shape shape = sk_shape_of(4, out, in / groups, k, k);
    if (here(w, w->f->bad_shape_at))
        shape.dim[1]++;
    w->gain = 2.0f / sqrtf((float)(in / groups * k * k));
    tensor(w, "weight", &shape, strstr(w->scope, "dfl") ? COUNTING : NORMAL, here(w, w->f->nan_at));
    w->gain = 1;
    if (bias) {
        tensor(w, "bias", &(sk_shape){.rank = 1, .dim = {out}}, NORMAL, false);
    } else {
        tw_text(w->p, "bias");
        tw_none(w->p);
    }
    tw_dict_end(w->p);
    integer(w, "in_channels", in);
    integer(w, "out_channels", out);
    integer(w, "groups", groups);
    pair(w, "kernel_size", k);
    pair(w, "stride", stride);
    pair(w, "padding", k / 2);
    pair(w, "dilation", 1);
    tw_text(w->p, "padding_mode");
    tw_text(w->p, "zeros");
    tw_object_end(w->p);
}

static void norm(writer *w, int channels)
{
    begin(w, "torch.nn.modules.batchnorm", "BatchNorm2d");
    const sk_shape shape = {.rank = 1, .dim = {channels}};
    section(w, "_parameters");
    tensor(w, "weight", &shape, POSITIVE, here(w, w->f->nan_at));
    tensor(w, "bias", &shape, NORMAL, false);
    tw_dict_end(w->p);
    section(w, "_buffers");
    tensor(w, "running_mean", &shape, NORMAL, false);
    tensor(w, "running_var", &shape, POSITIVE, false);
    tw_dict_end(w->p);
    tw_text(w->p, "eps");
    tw_real(w->p, 0.001);
    tw_object_end(w->p);
}

static void empty_module(writer *w, const char *module, const char *class_name)
{
    begin(w, module, class_name);
    tw_object_end(w->p);
}

/* Ultralytics' Conv */
static void conv_parts(writer *w, int in, int out, int k, int stride, int groups)
{
    size_t mark;
    section(w, "_modules");
    if (child(w, "conv", &mark)) {
        conv2d(w, in, out, k, stride, groups, w->f->fused);
        leave(w, mark);
    }
    if (!w->f->fused && child(w, "bn", &mark)) {
        norm(w, out);
        leave(w, mark);
    }
    if (child(w, "act", &mark)) {
        empty_module(w, "torch.nn.modules.activation", "SiLU");
        leave(w, mark);
    }
    tw_dict_end(w->p);
}

static void conv(writer *w, const char *name, int in, int out, int k)
{
    size_t mark;
    if (!child(w, name, &mark))
        return;
    begin(w, "ultralytics.nn.modules.conv", "Conv");
    conv_parts(w, in, out, k, 1, 1);
    tw_object_end(w->p);
    leave(w, mark);
}

static void layer_numbers(writer *w, int index, const int64_t *from, int n)
{
    integer(w, "i", index);
    tw_text(w->p, "f");
    if (n == 1) {
        tw_int(w->p, from[0]);
        return;
    }
    tw_list_begin(w->p);
    for (int i = 0; i < n; i++)
        tw_int(w->p, from[i]);
    tw_list_end(w->p);
}

static const int64_t previous[1] = {-1};

static void conv_layer(writer *w, int index, int in, int out)
{
    begin(w, "ultralytics.nn.modules.conv", "Conv");
    conv_parts(w, in, out, 3, 2, 1);
    layer_numbers(w, index, previous, 1);
    tw_object_end(w->p);
}

static void c2f_layer(writer *w, int index)
{
    size_t mark, inner;
    if (w->f->block) {
        module_write(w->p, w->f->block, "i=2 f=-1", 1);
        return;
    }
    begin(w, "ultralytics.nn.modules.block", "C2f");
    section(w, "_modules");
    conv(w, "cv1", 8, 8, 1);
    conv(w, "cv2", 12, 8, 1);
    if (child(w, "m", &mark)) {
        begin(w, "torch.nn.modules.container", "ModuleList");
        section(w, "_modules");
        if (child(w, "0", &inner)) {
            begin(w, "ultralytics.nn.modules.block", "Bottleneck");
            section(w, "_modules");
            conv(w, "cv1", 4, 4, 3);
            conv(w, "cv2", 4, 4, 3);
            tw_dict_end(w->p);
            tw_text(w->p, "add");
            tw_bool(w->p, true);
            tw_object_end(w->p);
            leave(w, inner);
        }
        tw_dict_end(w->p);
        tw_object_end(w->p);
        leave(w, mark);
    }
    tw_dict_end(w->p);
    layer_numbers(w, index, previous, 1);
    tw_object_end(w->p);
}

static void sppf_layer(writer *w, int index)
{
    size_t mark;
    if (w->f->next_block) {
        module_write(w->p, w->f->next_block, w->f->next_more, 2);
        return;
    }
    begin(w, "ultralytics.nn.modules.block", "SPPF");
    section(w, "_modules");
    conv(w, "cv1", 8, 4, 1);
    conv(w, "cv2", 16, 8, 1);
    if (child(w, "m", &mark)) {
        begin(w, "torch.nn.modules.pooling", "MaxPool2d");
        integer(w, "kernel_size", 5);
        integer(w, "stride", 1);
        integer(w, "padding", 2);
        integer(w, "dilation", 1);
        tw_object_end(w->p);
        leave(w, mark);
    }
    tw_dict_end(w->p);
    layer_numbers(w, index, previous, 1);
    tw_object_end(w->p);
}

static void upsample_layer(writer *w, int index)
{
    begin(w, "torch.nn.modules.upsampling", "Upsample");
    tw_text(w->p, "scale_factor");
    tw_real(w->p, 2);
    tw_text(w->p, "mode");
    tw_text(w->p, "nearest");
    layer_numbers(w, index, previous, 1);
    tw_object_end(w->p);
}

static void concat_layer(writer *w, int index)
{
    begin(w, "ultralytics.nn.modules.conv", "Concat");
    integer(w, "d", 1);
    layer_numbers(w, index, (const int64_t[]){-1, 0}, 2);
    tw_object_end(w->p);
}

/* --- head --- */

/* A list with one branch: Conv, Conv2d; or a bare Conv2d, or Convs alone. */
static void branch(writer *w, const char *name, int in, int hidden, int out)
{
    size_t mark, item, part;
    if (!child(w, name, &mark))
        return;
    begin(w, "torch.nn.modules.container", "ModuleList");
    section(w, "_modules");
    if (child(w, "0", &item)) {
        if (hidden == 0) {
            conv2d(w, in, out, 1, 1, 1, true);
        } else {
            begin(w, "torch.nn.modules.container", "Sequential");
            section(w, "_modules");
            conv(w, "0", in, hidden, 3);
            if (out && child(w, "1", &part)) {
                conv2d(w, hidden, out, 1, 1, 1, true);
                leave(w, part);
            }
            tw_dict_end(w->p);
            tw_object_end(w->p);
        }
        leave(w, item);
    }
    tw_dict_end(w->p);
    tw_object_end(w->p);
    leave(w, mark);
}

static bool is(const writer *w, const char *head)
{
    return strcmp(w->f->head ? w->f->head : "Detect", head) == 0;
}

static int points(const writer *w)
{
    return w->f->keypoints ? w->f->keypoints : 3;
}

static int dims(const writer *w)
{
    return w->f->dims ? w->f->dims : 3;
}

static void branches(writer *w, const char *prefix, int reg_max)
{
    const int pose = points(w) * dims(w);
    char name[32];
    snprintf(name, sizeof name, "%scv2", prefix);
    branch(w, name, 16, 8, 4 * reg_max);
    snprintf(name, sizeof name, "%scv3", prefix);
    branch(w, name, 16, 8, w->f->only_class ? 1 : 2);
    snprintf(name, sizeof name, "%scv4", prefix);
    const bool masks = is(w, "Segment") || is(w, "Segment26");
    if (is(w, "Pose") || is(w, "OBB") || is(w, "OBB26") || masks)
        branch(w, name, 16, 4, is(w, "Pose") ? pose : masks ? 5 : 1);
    if (is(w, "Pose26")) {
        branch(w, name, 16, 4, 0);
        snprintf(name, sizeof name, "%scv4_kpts", prefix);
        branch(w, name, 4, 0, pose);
    }
}

static void proto(writer *w)
{
    size_t mark, part;
    if (!child(w, "proto", &mark))
        return;
    begin(w, "ultralytics.nn.modules.block", is(w, "Segment26") ? "Proto26" : "Proto");
    section(w, "_modules");
    if (is(w, "Segment26"))
        conv(w, "feat_fuse", 16, 16, 3);
    conv(w, "cv1", 16, 4, 3);
    if (child(w, "upsample", &part)) {
        begin(w, "torch.nn.modules.conv", "ConvTranspose2d");
        section(w, "_parameters");
        tensor(w, "weight", &(sk_shape){.rank = 4, .dim = {4, 4, 2, 2}}, NORMAL, false);
        tensor(w, "bias", &(sk_shape){.rank = 1, .dim = {4}}, NORMAL, false);
        tw_dict_end(w->p);
        integer(w, "in_channels", 4);
        integer(w, "out_channels", 4);
        integer(w, "groups", 1);
        pair(w, "kernel_size", 2);
        pair(w, "stride", 2);
        pair(w, "padding", 0);
        pair(w, "dilation", 1);
        pair(w, "output_padding", 0);
        tw_object_end(w->p);
        leave(w, part);
    }
    conv(w, "cv2", 4, 4, 3);
    conv(w, "cv3", 4, 5, 1);
    tw_dict_end(w->p);
    tw_object_end(w->p);
    leave(w, mark);
}

static void classify_layer(writer *w, int index)
{
    size_t mark;
    begin(w, "ultralytics.nn.modules.head", "Classify");
    section(w, "_modules");
    conv(w, "conv", 16, 4, 1);
    if (child(w, "linear", &mark)) {
        begin(w, "torch.nn.modules.linear", "Linear");
        section(w, "_parameters");
        tensor(w, "weight", &(sk_shape){.rank = 2, .dim = {2, 4}}, NORMAL, false);
        tensor(w, "bias", &(sk_shape){.rank = 1, .dim = {2}}, NORMAL, false);
        tw_dict_end(w->p);
        integer(w, "in_features", 4);
        integer(w, "out_features", w->f->classes_said ? w->f->classes_said : 2);
        tw_object_end(w->p);
        leave(w, mark);
    }
    tw_dict_end(w->p);
    integer(w, "f", -1);
    integer(w, "i", index);
    tw_object_end(w->p);
}

static void head_layer(writer *w, int index)
{
    size_t mark, inner;
    if (is(w, "Classify")) {
        classify_layer(w, index);
        return;
    }
    int reg_max = w->f->reg_max ? w->f->reg_max : 4;
    bool twice = is(w, "v10Detect") || is(w, "Pose26") || is(w, "OBB26") || is(w, "Segment26");
    begin(w, "ultralytics.nn.modules.head", w->f->head ? w->f->head : "Detect");
    section(w, "_modules");
    branches(w, "", reg_max);
    if (twice)
        branches(w, "one2one_", reg_max);
    if (child(w, "dfl", &mark)) {
        if (reg_max == 1) {
            empty_module(w, "torch.nn.modules.linear", "Identity");
        } else {
            begin(w, "ultralytics.nn.modules.block", "DFL");
            section(w, "_modules");
            if (child(w, "conv", &inner)) {
                conv2d(w, reg_max, 1, 1, 1, 1, false);
                leave(w, inner);
            }
            tw_dict_end(w->p);
            tw_object_end(w->p);
        }
        leave(w, mark);
    }
    if (is(w, "Segment") || is(w, "Segment26"))
        proto(w);
    tw_dict_end(w->p);
    integer(w, "nc", w->f->only_class ? 1 : 2);
    integer(w, "reg_max", reg_max);
    integer(w, "nm", 5);
    tw_text(w->p, "stride");
    tw_tensor(w->p, SK_DTYPE_F32, &(sk_shape){.rank = 1, .dim = {1}},
              (const float[]){w->f->stride ? w->f->stride : 2}, false);
    if (is(w, "Pose") || is(w, "Pose26")) {
        tw_text(w->p, "kpt_shape");
        tw_ints(w->p, (const int64_t[]){points(w), dims(w)}, 2);
    }
    tw_text(w->p, "f");
    tw_list_begin(w->p);
    tw_int(w->p, index - 1);
    tw_list_end(w->p);
    integer(w, "i", index);
    tw_object_end(w->p);
}

/* --- model and checkpoint --- */

static void layers(writer *w)
{
    static void (*const plain[])(writer *, int) = {c2f_layer, sppf_layer, upsample_layer, concat_layer,
                                                   head_layer};
    begin(w, "torch.nn.modules.container", "Sequential");
    section(w, "_modules");
    for (int i = 0; i < 7; i++) {
        char name[16];
        size_t mark;
        snprintf(name, sizeof name, "%d", i);
        if (!child(w, name, &mark))
            continue;
        if (i < 2)
            conv_layer(w, i, i ? 8 : 3, 8);
        else
            plain[i - 2](w, i);
        leave(w, mark);
    }
    tw_dict_end(w->p);
    tw_object_end(w->p);
}

static void keypoint_names(writer *w)
{
    tw_text(w->p, "kpt_names");
    if (w->f->plain_dicts) {
        tw_dict_begin(w->p);
        tw_int(w->p, 0);
    }
    tw_list_begin(w->p);
    for (int i = 0; i < points(w); i++)
        tw_text(w->p, (const char[]){(char)('a' + i), '\0'});
    tw_list_end(w->p);
    if (w->f->plain_dicts)
        tw_dict_end(w->p);
    tw_text(w->p, "skeleton");
    tw_list_begin(w->p);
    for (int i = 0; i < w->f->n_skeleton; i++)
        tw_ints(w->p, w->f->skeleton[i], 2);
    tw_list_end(w->p);
}

static void model(writer *w)
{
    size_t mark;
    const char *class_name = w->f->model_class;
    if (!class_name)
        class_name = is(w, "Pose") || is(w, "Pose26") ? "PoseModel"
                     : is(w, "OBB")                   ? "OBBModel"
                     : is(w, "Classify")              ? "ClassificationModel"
                                                      : "DetectionModel";
    begin(w, w->f->model_module ? w->f->model_module : "ultralytics.nn.tasks", class_name);
    section(w, "_modules");
    if (child(w, "model", &mark)) {
        layers(w);
        leave(w, mark);
    }
    tw_dict_end(w->p);
    tw_text(w->p, "names");
    tw_dict_begin(w->p);
    tw_int(w->p, 0);
    tw_text(w->p, w->f->only_class ? w->f->only_class : "mouse");
    if (!w->f->only_class) {
        tw_int(w->p, 1);
        tw_text(w->p, "fly");
    }
    tw_dict_end(w->p);
    if (w->f->named_keypoints)
        keypoint_names(w);
    tw_text(w->p, "yaml");
    tw_dict_begin(w->p);
    tw_text(w->p, "yaml_file");
    tw_text(w->p, "v8/yolov8n-pose.yaml");
    tw_text(w->p, "scale");
    tw_text(w->p, "n");
    integer(w, "ch", 3);
    tw_dict_end(w->p);
    tw_object_end(w->p);
}

/* A value of each kind, and some that are no facts. */
static void more_of_the_training(writer *w)
{
    integer(w, "epoch", w->f->epoch);
    tw_text(w->p, "best_fitness");
    tw_real(w->p, 0.625);
    tw_text(w->p, "docs");
    tw_bool(w->p, true);
    tw_text(w->p, "license");
    tw_bool(w->p, false);
    tw_text(w->p, "git");
    tw_dict_begin(w->p);
    tw_text(w->p, "branch");
    tw_text(w->p, "main");
    tw_text(w->p, "commit");
    tw_text(w->p, ""); /* says nothing */
    tw_dict_end(w->p);
}

static void more_arguments(writer *w)
{
    static const int64_t nine[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    tw_text(w->p, "batch");
    tw_ints(w->p, nine, 3);
    tw_text(w->p, "model");
    tw_ints(w->p, nine, 8);
    tw_text(w->p, "optimizer");
    tw_ints(w->p, nine, 9); /* too many to be read by anybody */
    tw_text(w->p, "task");
    tw_list_begin(w->p); /* none */
    tw_list_end(w->p);
}

void yolo_write(const yolo_fixture *fixture, tw_pickle *p)
{
    writer w = {.f = fixture, .p = p, .seed = 7, .gain = 1};
    tw_start(p);
    if (fixture->bare) {
        model(&w);
    } else {
        tw_dict_begin(p);
        tw_text(p, "version");
        tw_text(p, "8.3.63");
        tw_text(p, "model");
        if (fixture->in_ema) {
            tw_none(p);
            tw_text(p, "ema");
        }
        model(&w);
        tw_text(p, "train_args");
        tw_dict_begin(p);
        integer(&w, "imgsz", fixture->imgsz ? fixture->imgsz : 100);
        integer(&w, "epochs", 5);
        if (fixture->epoch)
            more_arguments(&w);
        tw_text(p, "data");
        tw_text(p, "mice.yaml");
        tw_dict_end(p);
        if (fixture->epoch)
            more_of_the_training(&w);
        tw_dict_end(p);
    }
    tw_stop(p);
}

const char *yolo_save(const yolo_fixture *fixture, const char *name)
{
    tw_pickle p = {0};
    tw_zip zip = {0};
    yolo_write(fixture, &p);
    tw_checkpoint(&zip, "best", &p);
    const char *path = tw_save(&zip, name);
    tw_zip_free(&zip);
    tw_pickle_free(&p);
    return path;
}
