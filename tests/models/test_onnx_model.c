/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/file.h"
#include "graph/builder.h"
#include "graph/reference.h"
#include "models/model_json.h"
#include "models/onnx_export.h"
#include "models/onnx_import.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- small models, made here --- */

static const char *const classes[] = {"fly", "it's \\ a mouse\n"}, *const parts[] = {"head", "tail"};
static const int32_t edges[][2] = {{0, 1}};

static sk_value weights(sk_builder *b, int64_t out, int64_t in, int64_t kernel)
{
    sk_shape shape = {.rank = 4, .dim = {out, in, kernel, kernel}};
    static float data[8192];
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        data[i] = (float)((i * 7919 + out * 31) % 201 - 100) / 400.0f;
    return sk_b_constant(b, "weight", SK_DTYPE_F32, &shape, data);
}

static sk_value conv(sk_builder *b, sk_value x, int out, int in, int kernel, int stride, const char *name)
{
    sk_window w = {.kernel = {kernel, kernel}, .stride = {stride, stride}, .dilation = {1, 1}};
    return sk_b_conv(b, x, weights(b, out, in, kernel), SK_VALUE_NONE, &w, 1, name);
}

/* Two classes, two keypoints of two values, levels 8, 16, 32: boxes as xywh in pixels, sigmoid scores, raw
 * points. */
static void build_yolo(sk_builder *b)
{
    sk_shape open = {.rank = 4, .dim = {-1, 3, -1, -1}};
    sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &open), level[3], heads[3], map[3], grid[2], part[3],
             corner[2];
    level[0] = sk_b_unary(b, SK_UNARY_SILU, conv(b, x, 8, 3, 8, 8, "stem"));
    level[1] = sk_b_max_pool(b, level[0], 2, 2, 0, "down1");
    level[2] = sk_b_max_pool(b, level[1], 2, 2, 0, "down2");
    for (int i = 0; i < 3; i++) {
        sk_value box = conv(b, level[i], 4, 8, 1, 1, "box"), cls = conv(b, level[i], 2, 8, 1, 1, "cls");
        sk_value points = conv(b, level[i], 4, 8, 1, 1, "points");
        b->node_flags = SK_NODE_TAIL;
        heads[i] = sk_b_concat(b, (sk_value[]){box, cls, points}, 3, 1);
        map[i] = sk_b_reshape(b, heads[i], (int64_t[]){0, 10, -1}, 3);
        b->node_flags = 0;
    }
    b->node_flags = SK_NODE_TAIL;
    sk_value all = sk_b_concat(b, map, 3, 2);
    sk_attrs a = {.anchors = {.n_levels = 3, .stride = {8, 16, 32}}};
    sk_b_node_n(b, SK_OP_ANCHORS, &a, heads, 3, "anchors", grid, 2);
    sk_b_split(b, all, 1, (int64_t[]){4, 2, 4}, 3, part);
    sk_b_split(b, part[0], 1, NULL, 2, corner);
    sk_value low = sk_b_sub(b, grid[0], corner[0]), high = sk_b_add(b, grid[0], corner[1]);
    sk_value centre = sk_b_mul(b, sk_b_add(b, low, high), sk_b_f32(b, 0.5f)), size = sk_b_sub(b, high, low);
    sk_value box = sk_b_mul(b, sk_b_concat(b, (sk_value[]){centre, size}, 2, 1), grid[1]);
    sk_value out[3] = {box, sk_b_unary(b, SK_UNARY_SIGMOID, part[1]), part[2]};
    sk_b_output(b, sk_b_concat(b, out, 3, 1), "output0");
    b->node_flags = 0;
}

static void build_sleap(sk_builder *b)
{
    sk_shape open = {.rank = 4, .dim = {-1, 1, -1, -1}};
    sk_value x = sk_b_input(b, "image", SK_DTYPE_F32, &open);
    sk_value deep = sk_b_unary(b, SK_UNARY_RELU, conv(b, x, 4, 1, 4, 4, "down"));
    sk_attrs up = {.conv_transpose = {.window = {.kernel = {3, 3}, .stride = {2, 2}, .dilation = {1, 1}},
                                      .same_output = 1,
                                      .groups = 1}};
    sk_value wide = sk_b_node(b, SK_OP_CONV_TRANSPOSE, &up, (sk_value[]){deep, weights(b, 4, 4, 3)}, 2, "up");
    sk_b_output(b, conv(b, wide, 2, 4, 1, 1, "confmaps"), "MultiInstanceConfmapsHead_0");
    sk_b_output(b, conv(b, deep, 2, 4, 1, 1, "pafs"), "PartAffinityFieldsHead_0");
}

static sk_model *make_model(void (*build)(sk_builder *))
{
    sk_error err;
    sk_model *m = NULL;
    sk_builder b;
    assert_ok(sk_model_create(&m, &err), &err);
    assert_ok(sk_graph_open(&m->graph, &err), &err);
    sk_builder_init(&b, m->graph);
    build(&b);
    assert_ok(b.status, &b.error);
    m->path = "made here";
    m->n_classes = 2;
    m->class_names = classes;
    m->n_keypoints = 2;
    m->keypoint_names = parts;
    m->n_edges = 1;
    m->edges = edges;
    m->input = (sk_input_spec){.channels = 3,
                               .height = 64,
                               .width = 96,
                               .stride = 32,
                               .scale = 1.0f / 255,
                               .rgb = 1,
                               .std = {1, 1, 1},
                               .dtype = SK_DTYPE_F32};
    sk_model_add_fact(m, "version", "8.3.63");
    return m;
}

static sk_model *make_yolo(void)
{
    sk_model *m = make_model(build_yolo);
    m->format = SK_FORMAT_ULTRALYTICS;
    m->task = SK_TASK_POSE;
    m->family = "yolo11";
    m->n_outputs = 1;
    m->outputs[0] = (sk_output_spec){SK_OUTPUT_YOLO, "output0", 0};
    m->yolo = (sk_yolo_spec){.n_levels = 3,
                             .stride = {8, 16, 32},
                             .reg_max = 1,
                             .n_classes = 2,
                             .n_keypoints = 2,
                             .keypoint_dims = 2,
                             .max_det = 300,
                             .keypoints_26 = 1,
                             .n_heads = 9};
    for (int i = 0; i < 9; i++)
        m->yolo.heads[i] = (sk_head_spec){(sk_head_kind)(SK_HEAD_BOX + i % 3), i / 3};
    return m;
}

static sk_model *make_sleap(void)
{
    sk_model *m = make_model(build_sleap);
    m->format = SK_FORMAT_SLEAP_KERAS;
    m->task = SK_TASK_BOTTOMUP;
    m->family = "sleap unet";
    m->input.channels = 1;
    m->input.stride = 4;
    m->n_outputs = 2;
    m->outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "MultiInstanceConfmapsHead_0", 2};
    m->outputs[1] = (sk_output_spec){SK_OUTPUT_PAFS, "PartAffinityFieldsHead_0", 4};
    m->outputs_nhwc = 1;
    m->n_classes = 0;
    m->class_names = NULL;
    m->sleap = (sk_sleap_spec){.crop_size = {0, 0},
                               .input_scale = 0.5f,
                               .target_size = {384, 400},
                               .pad_to_stride = 4,
                               .ensure_grayscale = 1,
                               .anchor_part = "head",
                               .n_edges = 1,
                               .edges = edges,
                               .legacy = 1};
    return m;
}

/* --- comparing --- */

static void compare_names(const char *const *a, const char *const *b, int32_t count)
{
    assert_true((a == NULL) == (b == NULL));
    for (int32_t i = 0; a && i < count; i++)
        assert_string_equal(a[i], b[i]);
}

static void compare_edges(const int32_t (*a)[2], int32_t n_a, const int32_t (*b)[2], int32_t n_b)
{
    assert_int_equal(n_a, n_b);
    if (n_a)
        assert_memory_equal(a, b, (size_t)n_a * sizeof *a);
}

static void compare_models(const sk_model *a, const sk_model *b)
{
    assert_int_equal(a->task, b->task);
    assert_string_equal(a->family, b->family);
    assert_int_equal(a->n_classes, b->n_classes);
    compare_names(a->class_names, b->class_names, a->n_classes);
    assert_int_equal(a->n_keypoints, b->n_keypoints);
    compare_names(a->keypoint_names, b->keypoint_names, a->n_keypoints);
    compare_edges(a->edges, a->n_edges, b->edges, b->n_edges);
    assert_int_equal(a->input.channels, b->input.channels);
    assert_int_equal(a->input.stride, b->input.stride);
    assert_true(a->input.scale == b->input.scale && a->input.std[1] == b->input.std[1]);
    assert_int_equal(a->input.dtype, b->input.dtype);
    assert_int_equal(a->n_outputs, b->n_outputs);
    assert_int_equal(a->outputs_nhwc, b->outputs_nhwc);
    for (int32_t i = 0; i < a->n_outputs; i++) {
        assert_int_equal(a->outputs[i].kind, b->outputs[i].kind);
        assert_string_equal(a->outputs[i].name, b->outputs[i].name);
        assert_true(a->outputs[i].stride == b->outputs[i].stride);
    }
    if (a->task < SK_TASK_SINGLE_INSTANCE) {
        assert_memory_equal(&a->yolo, &b->yolo, sizeof a->yolo);
        return;
    }
    const sk_sleap_spec *s = &a->sleap, *t = &b->sleap;
    assert_memory_equal(s->crop_size, t->crop_size, sizeof s->crop_size);
    assert_memory_equal(s->target_size, t->target_size, sizeof s->target_size);
    assert_true(s->input_scale == t->input_scale);
    assert_int_equal(s->pad_to_stride, t->pad_to_stride);
    assert_int_equal(s->ensure_rgb * 2 + s->ensure_grayscale, t->ensure_rgb * 2 + t->ensure_grayscale);
    assert_int_equal(s->legacy * 2 + s->resize_antialias, t->legacy * 2 + t->resize_antialias);
    assert_true((s->anchor_part == NULL) == (t->anchor_part == NULL));
    if (s->anchor_part)
        assert_string_equal(s->anchor_part, t->anchor_part);
    compare_edges(s->edges, s->n_edges, t->edges, t->n_edges);
    compare_names(s->class_names, t->class_names, a->n_classes);
}

/* The same results for the same frame; `limit` relative to 1. */
static void compare_results(const sk_model *a, const sk_model *b, int64_t batch, int64_t h, int64_t w,
                            double limit)
{
    sk_error err;
    const sk_model *models[2] = {a, b};
    sk_tensor outs[2][32];
    sk_shape shape = {.rank = 4, .dim = {batch, a->input.channels, h, w}};
    float *data = malloc((size_t)sk_shape_count(&shape) * sizeof *data);
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        data[i] = (float)((i * 2654435761u >> 7) % 256) / 255.0f;
    for (int m = 0; m < 2; m++) {
        sk_graph *fixed = NULL;
        sk_tensor in = {SK_DTYPE_F32, shape, data};
        assert_ok(sk_graph_specialise(models[m]->graph, &shape, 1, &fixed, &err), &err);
        assert_ok(sk_reference_run(fixed, &in, 1, outs[m], fixed->n_outputs, &err), &err);
        sk_graph_close(&fixed);
    }
    for (int32_t i = 0; i < a->n_outputs; i++) {
        assert_true(sk_shape_equal(&outs[0][i].shape, &outs[1][i].shape));
        for (int64_t k = 0; k < sk_shape_count(&outs[0][i].shape); k++) {
            double p = sk_tensor_at(&outs[0][i], k), q = sk_tensor_at(&outs[1][i], k);
            if (!(fabs(p - q) <= limit * fmax(1, fabs(p))))
                fail_msg("output %d, element %lld: %g and %g", i, (long long)k, p, q);
        }
        sk_free(outs[0][i].data);
        sk_free(outs[1][i].data);
    }
    free(data);
}

static const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static sk_model *export_and_open(const sk_model *model, const sk_onnx_settings *settings)
{
    sk_error err;
    sk_model *again = NULL;
    const char *path = in_folder("again.onnx");
    assert_ok(sk_model_export_onnx(model, settings, path, &err), &err);
    assert_ok(sk_model_open(path, &again, &err), &err);
    return again;
}

/* --- our own exports come back --- */

static void models_come_back(void **state)
{
    (void)state;
    sk_model *(*const makers[])(void) = {make_yolo, make_sleap};
    for (int i = 0; i < 2; i++)
        for (int variant = 0; variant < 6; variant++) {
            sk_model *model = makers[i]();
            sk_onnx_settings s = sk_onnx_defaults();
            s.dynamic_batch = variant == 1 || variant == 3;
            s.dynamic_size = variant == 2 || variant == 3;
            s.half = variant >= 4;
            s.half_io = variant == 5;
            s.batch = 2;
            sk_model *again = export_and_open(model, &s);
            compare_models(model, again);
            assert_int_equal(again->format, SK_FORMAT_ONNX);
            assert_int_equal(again->input.fixed_size, !s.dynamic_size);
            assert_int_equal(again->input.fixed_batch, s.dynamic_batch ? 0 : 2);
            assert_int_equal(strlen(again->content_hash), 64);
            compare_results(model, again, s.dynamic_batch ? 3 : 2, s.dynamic_size ? 128 : 64, 96,
                            s.half ? 2e-2 : 1e-5);
            sk_model_close(&again);
            sk_model_close(&model);
        }
}

/* The tail can still be cut off, and the heads are the ones the specification lists. */
static void the_tail_comes_back(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_model *model = make_yolo(), *again;
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        s.dynamic_batch = s.dynamic_size = dynamic;
        again = export_and_open(model, &s);
        assert_ok(sk_graph_cut_tail(again->graph, &err), &err);
        assert_int_equal(again->graph->n_outputs, 9);
        sk_model_close(&again);
    }
    s.with_tail = 0;
    again = export_and_open(model, &s);
    assert_int_equal(again->n_outputs, 9);
    assert_string_equal(again->outputs[0].name, "box0");
    assert_string_equal(again->outputs[5].name, "keypoints1");
    assert_int_equal(again->outputs[8].kind, SK_OUTPUT_OTHER);
    sk_model_close(&again);
    sk_model_close(&model);
}

static void refuses_settings(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_model *model = make_yolo();
    const char *path = in_folder("never.onnx");
    s.opset = 12;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_ARG);
    s.opset = 19;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_ARG);
    s = sk_onnx_defaults();
    model->input.fixed_size = 1;
    s.dynamic_size = 1;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_UNSUPPORTED);
    model->input.fixed_size = 0;
    model->input.fixed_batch = 4;
    s = sk_onnx_defaults();
    s.batch = 2;
    assert_int_equal(sk_model_export_onnx(model, &s, path, &err), SK_ERR_UNSUPPORTED);
    assert_false(sk_file_exists(path));
    s = sk_onnx_defaults();
    assert_int_equal(sk_model_export_onnx(model, &s, "/no/such/folder/x.onnx", &err), SK_ERR_NOT_FOUND);
    sk_model_close(&model);
}

/* --- Ultralytics' metadata --- */

typedef struct change {
    const char *key, *value; /* value null: removed */
} change;

/* Our export without our own key and with changes, opened. */
static sk_status open_changed(sk_model *from, const change *changes, int n, sk_model **out, sk_error *err)
{
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    const char *path = in_folder("changed.onnx");
    const char *kept[40][2];
    int32_t count = 0;
    sk_error ignored;
    assert_ok(sk_model_to_onnx(from, &s, &onnx, &ignored), &ignored);
    for (int32_t i = 0; i < onnx->n_metadata; i++) {
        const char *key = onnx->metadata[i][0], *value = onnx->metadata[i][1];
        for (int c = 0; c < n; c++)
            if (strcmp(changes[c].key, key) == 0)
                value = changes[c].value;
        if (strcmp(key, SK_ONNX_OWN_KEY) == 0 || !value)
            continue;
        kept[count][0] = key;
        kept[count++][1] = value;
    }
    onnx->metadata = kept;
    onnx->n_metadata = count;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &ignored), &ignored);
    assert_ok(sk_file_replace(path, bytes, length, &ignored), &ignored);
    sk_free(bytes);
    sk_onnx_close(&onnx);
    return sk_model_open(path, out, err);
}

static void reads_ultralytics_metadata(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    change described = {"description", "Ultralytics YOLOv8n-pose model trained on flies"};
    assert_ok(open_changed(model, &described, 1, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_POSE);
    assert_string_equal(again->family, "yolov8");
    compare_names(again->class_names, classes, 2);
    compare_names(again->keypoint_names, parts, 2);
    assert_int_equal(again->yolo.keypoint_dims, 2);
    assert_int_equal(again->outputs[0].kind, SK_OUTPUT_YOLO);
    assert_int_equal(again->yolo.n_levels, 3);
    assert_true(again->yolo.stride[2] == 32);
    assert_true(again->yolo.reg_max >= 1); /* what the decoder asks for */
    assert_int_equal(again->input.height, 64);
    assert_int_equal(again->input.width, 96);
    assert_int_equal(again->input.fixed_size, 1);
    assert_int_equal(again->input.stride, 32);
    compare_results(model, again, 1, 64, 96, 1e-5);
    sk_model_close(&again);
    sk_model_close(&model);
}

static void explains_bad_metadata(void **state)
{
    (void)state;
    static const struct {
        change change;
        sk_status status;
        const char *says;
    } cases[] = {
        {{"names", "{0: 'fly', 1: "}, SK_ERR_FORMAT, "names"},
        {{"names", "{0: 'fly', 7: 'mouse'}"}, SK_ERR_FORMAT, "names"},
        {{"names", "{0: 'fly', 0.5: 'mouse'}"}, SK_ERR_FORMAT, "names"},
        {{"names", "{}"}, SK_ERR_FORMAT, "names"},
        {{"names", "{0: 'a', 1: 'b', 2: 'c'}"}, SK_ERR_MISMATCH, "does not fit"},
        {{"kpt_shape", "[3, 3]"}, SK_ERR_MISMATCH, "does not fit"},
        {{"kpt_shape", "[3]"}, SK_ERR_FORMAT, "kpt_shape"},
        {{"kpt_shape", NULL}, SK_ERR_FORMAT, "kpt_shape"},
        {{"imgsz", "[0, 64]"}, SK_ERR_FORMAT, "imgsz"},
        {{"stride", "many"}, SK_ERR_FORMAT, "stride"},
        {{"task", "juggle"}, SK_ERR_UNSUPPORTED, "juggle"},
    };
    sk_model *model = make_yolo(), *again = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err = {0};
        assert_int_equal(open_changed(model, &cases[i].change, 1, &again, &err), cases[i].status);
        assert_null(again);
        if (!strstr(err.message, cases[i].says) || !strstr(err.message, "changed.onnx"))
            fail_msg("\"%s\" does not say \"%s\"", err.message, cases[i].says);
    }
    sk_model_close(&model);
}

static const char *fact(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return "";
}

/* RT-DETR's rows look like end-to-end ones and mean something else. */
static void does_not_decode_unknown_heads(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    change described = {"description", "Ultralytics rtdetr-l model"};
    assert_ok(open_changed(model, &described, 1, &again, &err), &err);
    assert_int_equal(again->outputs[0].kind, SK_OUTPUT_OTHER);
    assert_string_not_equal(fact(again, "undecoded"), "");
    sk_model_close(&again);
    sk_model_close(&model);
}

static void guesses_and_says_so(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    const change none[] = {{"task", NULL}, {"names", NULL}};
    assert_ok(open_changed(model, none, 2, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_DETECT);
    assert_int_equal(again->n_classes, 6);
    assert_string_equal(sk_model_class_name(again, 3), "");
    assert_non_null(strstr(fact(again, "guess"), "taken for detect"));
    sk_model_close(&again);
    sk_model_close(&model);
    model = make_sleap();
    assert_ok(open_changed(model, NULL, 0, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_UNKNOWN);
    assert_int_equal(again->outputs[1].kind, SK_OUTPUT_OTHER);
    sk_model_close(&again);
    sk_model_close(&model);
}

/* Dense rows, and behind them something whose size depends on the picture, as an exporter's suppression of overlaps. */
static bool nms_corners, nms_strange;
static void build_nms(sk_builder *b)
{
    sk_shape fixed = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &fixed), map[3], part[3], corner[2];
    for (int i = 0; i < 3; i++) {
        sk_value cells = conv(b, sk_b_max_pool(b, x, 4 << i, 4 << i, 0, "pool"), 10, 3, 2, 2, "head");
        map[i] = sk_b_reshape(b, cells, (int64_t[]){1, 10, -1}, 3);
    }
    sk_b_split(b, sk_b_concat(b, map, 3, 2), 1, (int64_t[]){4, 2, 4}, 3, part);
    sk_b_split(b, part[0], 1, NULL, 2, corner);
    sk_value low = sk_b_sub(b, sk_b_f32(b, 3), corner[0]), high = sk_b_add(b, sk_b_f32(b, 3), corner[1]);
    sk_value centre = sk_b_mul(b, sk_b_add(b, low, high), sk_b_f32(b, 0.5f)), size = sk_b_sub(b, high, low);
    sk_value corners[2] = {low, nms_strange ? low : high}, centres[2] = {centre, size};
    sk_value box = sk_b_mul(b, sk_b_concat(b, nms_corners ? corners : centres, 2, 1), sk_b_f32(b, 8));
    sk_value out[3] = {box, sk_b_unary(b, SK_UNARY_SIGMOID, part[1]), part[2]};
    sk_value rows = sk_b_transpose(b, sk_b_concat(b, out, 3, 1), (int[]){0, 2, 1}, 3);
    sk_value found = sk_b_node(b, SK_OP_NON_ZERO, NULL, &rows, 1, "found");
    sk_attrs to = {.cast = {SK_DTYPE_F32}};
    sk_value real = sk_b_node(b, SK_OP_CAST, &to, &found, 1, "real");
    sk_value sum = sk_b_reduce(b, SK_REDUCE_SUM, real, (int[]){0, 1}, 2, false);
    sk_value all = sk_b_add(b, rows, sk_b_mul(b, sum, sk_b_f32(b, 0)));
    sk_b_output(b, sk_b_reshape(b, all, (int64_t[]){1, 126, 10}, 3), "output0");
}

static void leaves_suppression_to_predict(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        sk_error err = {0};
        nms_corners = k > 0;
        nms_strange = k == 2; /* boxes made in a way nobody knows: nothing is cut off */
        sk_model *model = make_yolo(), *again = NULL, *plain = make_model(build_nms);
        sk_graph_close(&model->graph);
        model->graph = plain->graph;
        plain->graph = NULL;
        sk_model_close(&plain);
        model->input.fixed_size = 1;
        model->outputs[0].kind = SK_OUTPUT_YOLO_END2END;
        assert_ok(open_changed(model, NULL, 0, &again, &err), &err);
        assert_int_equal(again->outputs[0].kind, SK_OUTPUT_YOLO_END2END);
        assert_int_equal(again->yolo.nms_tail, k < 2);
        if (k < 2) {
            sk_graph *fixed = NULL;
            sk_shape shape = sk_shape_of(4, 1, 3, 64, 96);
            assert_int_equal(again->yolo.dense_corners, k);
            assert_int_equal(again->yolo.n_levels, 3);
            assert_ok(sk_graph_specialise(again->graph, &shape, 1, &fixed, &err), &err);
            assert_ok(sk_graph_cut_tail(fixed, &err), &err);
            const sk_shape *s = &fixed->values[fixed->outputs[0]].shape;
            assert_int_equal(fixed->n_outputs, 1);
            assert_true(s->rank == 3 && s->dim[1] == 10 && s->dim[2] == 126);
            sk_graph_close(&fixed);
        }
        sk_model_close(&again);
        sk_model_close(&model);
    }
}

/* The original YOLOv5: [B][A][x y w h objectness classes …], three anchors a cell. */
static void build_yolov5(sk_builder *b)
{
    sk_shape open = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_value x = sk_b_input(b, "images", SK_DTYPE_F32, &open), rows[3];
    for (int i = 0; i < 3; i++) {
        sk_value map = conv(b, sk_b_max_pool(b, x, 4 << i, 4 << i, 0, "pool"), 21, 3, 2, 2, "head");
        sk_value cells = sk_b_reshape(b, map, (int64_t[]){1, 3, 7, -1}, 4);
        rows[i] = sk_b_reshape(b, sk_b_transpose(b, cells, (int[]){0, 1, 3, 2}, 4), (int64_t[]){1, -1, 7}, 3);
    }
    sk_b_output(b, sk_b_unary(b, SK_UNARY_SIGMOID, sk_b_concat(b, rows, 3, 1)), "output");
}

static void reads_the_original_yolov5(void **state)
{
    (void)state;
    sk_error err;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    sk_model *model = make_model(build_yolov5), *again = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    static const char *metadata[][2] = {{"stride", "32"}, {"names", "['fly', 'mouse']"}};
    model->n_outputs = 1;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "output", 0};
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    onnx->metadata = metadata;
    onnx->n_metadata = 2;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    assert_ok(sk_file_replace(in_folder("yolov5.onnx"), bytes, length, &err), &err);
    assert_ok(sk_model_open(in_folder("yolov5.onnx"), &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_DETECT);
    assert_int_equal(again->outputs[0].kind, SK_OUTPUT_YOLO);
    assert_int_equal(again->n_classes, 2);
    assert_string_equal(sk_model_class_name(again, 1), "mouse");
    sk_shape shape = {.rank = 4, .dim = {1, 3, 64, 96}};
    sk_graph *fixed[2] = {NULL, NULL};
    sk_tensor in = {SK_DTYPE_F32, shape, sk_calloc(3 * 64 * 96, sizeof(float))}, rows, dense;
    for (int i = 0; i < 3 * 64 * 96; i++)
        ((float *)in.data)[i] = (float)(i % 251) / 250;
    assert_ok(sk_graph_specialise(model->graph, &shape, 1, &fixed[0], &err), &err);
    assert_ok(sk_graph_specialise(again->graph, &shape, 1, &fixed[1], &err), &err);
    assert_ok(sk_reference_run(fixed[0], &in, 1, &rows, 1, &err), &err);
    assert_ok(sk_reference_run(fixed[1], &in, 1, &dense, 1, &err), &err);
    int64_t n = rows.shape.dim[1];
    assert_true(sk_shape_equal(&dense.shape, &(sk_shape){3, {1, 6, n}}));
    for (int64_t i = 0; i < n; i++) {
        double objectness = sk_tensor_at(&rows, i * 7 + 4);
        for (int64_t c = 0; c < 6; c++) {
            double expected = sk_tensor_at(&rows, i * 7 + (c < 4 ? c : c + 1)) * (c < 4 ? 1 : objectness);
            assert_true(fabs(sk_tensor_at(&dense, c * n + i) - expected) < 1e-5);
        }
    }
    sk_free(in.data);
    sk_free(rows.data);
    sk_free(dense.data);
    sk_free(bytes);
    sk_graph_close(&fixed[0]);
    sk_graph_close(&fixed[1]);
    sk_onnx_close(&onnx);
    sk_model_close(&again);
    sk_model_close(&model);
}

/* --- sleap-nn's exports: a folder, uint8 in, peaks out --- */

static void build_peaks(sk_builder *b)
{
    sk_shape open = {.rank = 4, .dim = {-1, 1, -1, -1}};
    sk_value x = sk_b_input(b, "image", SK_DTYPE_U8, &open);
    sk_attrs cast = {.cast.to = SK_DTYPE_F32}, arg = {.arg = {.axis = 1}};
    sk_value f = sk_b_node(b, SK_OP_CAST, &cast, &x, 1, "cast");
    sk_value half = sk_b_max_pool(b, f, 2, 2, 0, "pool");
    /* up again and beside the input: sizes must be even */
    sk_value map = sk_b_concat(b, (sk_value[]){f, sk_b_upsample_nearest(b, half, 2)}, 2, 1);
    sk_value flat = sk_b_reshape(b, map, (int64_t[]){0, -1}, 2);
    sk_b_output(b, sk_b_node(b, SK_OP_ARG_MAX, &arg, &flat, 1, "peaks"), "peaks");
}

static void reads_sleap_export_folders(void **state)
{
    (void)state;
    static const char json[] =
        "{\"model_type\": \"bottomup\", \"n_nodes\": 2, \"node_names\": [\"A\", \"B\"], \"edge_inds\": [[0, "
        "1]], "
        "\"input_scale\": 0.5, \"crop_size\": null, \"output_stride\": 2, \"sleap_nn_version\": \"0.3.5\"}";
    sk_error err;
    sk_model *model = make_model(build_peaks), *again = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    sk_onnx_model *onnx = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    char folder[3000], path[4096];
    snprintf(folder, sizeof folder, "%s/export", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    model->input.channels = 1;
    model->input.dtype = SK_DTYPE_U8;
    model->n_outputs = 1;
    model->outputs[0] = (sk_output_spec){SK_OUTPUT_OTHER, "peaks", 0};
    s.dynamic_batch = s.dynamic_size = 1;
    assert_ok(sk_model_to_onnx(model, &s, &onnx, &err), &err);
    onnx->n_metadata = 0;
    assert_ok(sk_onnx_write(onnx, &bytes, &length, &err), &err);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    assert_ok(sk_file_replace(path, bytes, length, &err), &err);
    snprintf(path, sizeof path, "%s/export_metadata.json", folder);
    assert_ok(sk_file_replace(path, json, sizeof json - 1, &err), &err);
    assert_ok(sk_model_open(folder, &again, &err), &err);
    assert_int_equal(again->task, SK_TASK_BOTTOMUP);
    assert_int_equal(again->n_keypoints, 2);
    assert_int_equal(again->n_edges, 1);
    assert_int_equal(again->input.dtype, SK_DTYPE_U8);
    assert_true(again->input.scale == 1 && again->sleap.input_scale == 1);
    assert_int_equal(again->input.stride, 2);
    assert_string_equal(again->outputs[0].name, "peaks");
    assert_string_equal(fact(again, "sleap_nn_version"), "0.3.5");
    sk_model_close(&again);
    static const char bad[] =
        "{\"model_type\": \"bottomup\", \"node_names\": [\"A\"], \"edge_inds\": [[0, 1]]}";
    assert_ok(sk_file_replace(path, bad, sizeof bad - 1, &err), &err);
    assert_int_equal(sk_model_open(folder, &again, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "edge_inds"));
    sk_free(bytes);
    sk_onnx_close(&onnx);
    sk_model_close(&model);
}

/* --- damage --- */

static void refuses_damaged_json(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_sleap(), *again = NULL;
    char *json = NULL;
    assert_ok(sk_model_to_json(model, &json, &err), &err);
    size_t length = strlen(json), refused = 0;
    for (size_t cut = 0; cut + 2 < length; cut += 7) {
        char *part = strndup(json, cut);
        assert_ok(sk_model_create(&again, &err), &err);
        refused += sk_model_from_json(again, part, "m.onnx", &err) != SK_OK;
        sk_model_close(&again);
        free(part);
    }
    assert_int_equal(refused, (length - 2 + 6) / 7);
    /* numbers made absurd, one at a time */
    for (size_t i = 0, n = 0; i < length; i++) {
        if (json[i] < '0' || json[i] > '9' || json[i - 1] != ':')
            continue;
        char *changed = NULL;
        assert_true(asprintf(&changed, "%.*s-99%s", (int)i, json, json + i) > 0);
        assert_ok(sk_model_create(&again, &err), &err);
        if (sk_model_from_json(again, changed, "m.onnx", &err) == SK_OK)
            n++;
        assert_true(n <= 5); /* scales and strides may be any number */
        sk_model_close(&again);
        free(changed);
    }
    sk_free(json);
    sk_model_close(&model);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    sk_error err;
    sk_model *model = make_yolo(), *again = NULL;
    sk_onnx_settings s = sk_onnx_defaults();
    const char *path = in_folder("memory.onnx");
    int64_t before = sk_memory_live_bytes();
    size_t n = 1;
    for (;; n += 1 + n / 40) {
        sk_memory_fail_nth(n);
        sk_status status = sk_model_export_onnx(model, &s, path, &err);
        sk_memory_fail_nth(0);
        assert_int_equal(sk_memory_live_bytes(), before);
        if (status == SK_OK)
            break;
    }
    assert_true(n > 50);
    for (n = 1;; n += 1 + n / 40) {
        sk_memory_fail_nth(n);
        sk_status status = sk_model_open(path, &again, &err);
        sk_memory_fail_nth(0);
        if (status == SK_OK)
            break;
        assert_null(again);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    sk_model_close(&again);
    sk_model_close(&model);
}

/* --- people's models --- */

static int check_folder(const char *folder, const char *suffix)
{
    DIR *dir = opendir(test_data(folder));
    int count = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char relative[1024];
        sk_error err;
        sk_model *model = NULL, *again;
        sk_onnx_settings s = sk_onnx_defaults();
        if (*suffix)
            snprintf(relative, sizeof relative, "%s/%.200s/%.200s%s", folder, entry->d_name, entry->d_name,
                     suffix);
        else
            snprintf(relative, sizeof relative, "%s/%.200s", folder, entry->d_name);
        if (entry->d_name[0] == '.' ||
            (*suffix ? !sk_file_is_regular(test_data(relative)) : !sk_file_is_directory(test_data(relative))))
            continue;
        assert_ok(sk_model_open(test_data(relative), &model, &err), &err);
        s.dynamic_batch = s.dynamic_size = count % 2;
        s.height = s.width = 64;
        if (!s.dynamic_size && model->input.fixed_size)
            s.height = s.width = 0;
        if (model->input.fixed_size)
            s.dynamic_size = 0;
        again = export_and_open(model, &s);
        compare_models(model, again);
        compare_results(model, again, 1, again->input.height, again->input.width, 1e-4);
        sk_model_close(&again);
        sk_model_close(&model);
        count++;
    }
    closedir(dir);
    return count;
}

static void real_models_come_back(void **state)
{
    (void)state;
    test_data_or_skip();
    assert_true(check_folder("yolo", ".pt") >= 1);
    assert_true(check_folder("sleap/legacy", "") >= 1);
    assert_true(check_folder("sleap/nn", "") >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back),
        cmocka_unit_test(the_tail_comes_back),
        cmocka_unit_test(refuses_settings),
        cmocka_unit_test(reads_ultralytics_metadata),
        cmocka_unit_test(explains_bad_metadata),
        cmocka_unit_test(does_not_decode_unknown_heads),
        cmocka_unit_test(leaves_suppression_to_predict),
        cmocka_unit_test(guesses_and_says_so),
        cmocka_unit_test(reads_the_original_yolov5),
        cmocka_unit_test(reads_sleap_export_folders),
        cmocka_unit_test(refuses_damaged_json),
        cmocka_unit_test(survives_every_failed_allocation),
        cmocka_unit_test(real_models_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
