/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ONNX_MODEL_FIXTURE_H
#define SK_TESTS_ONNX_MODEL_FIXTURE_H

/* Small models made here, and the way through a file. */
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

static const char *const classes[] = {"fly", "it's \\ a mouse\n"}, *const parts[] = {"head", "tail"};
static const int32_t edges[][2] = {{0, 1}};

static inline sk_value weights(sk_builder *b, int64_t out, int64_t in, int64_t kernel)
{
    sk_shape shape = {.rank = 4, .dim = {out, in, kernel, kernel}};
    static float data[8192];
    for (int64_t i = 0; i < sk_shape_count(&shape); i++)
        data[i] = (float)((i * 7919 + out * 31) % 201 - 100) / 400.0f;
    return sk_b_constant(b, "weight", SK_DTYPE_F32, &shape, data);
}

static inline sk_value conv(sk_builder *b, sk_value x, int out, int in, int kernel, int stride,
                            const char *name)
{
    sk_window w = {.kernel = {kernel, kernel}, .stride = {stride, stride}, .dilation = {1, 1}};
    return sk_b_conv(b, x, weights(b, out, in, kernel), SK_VALUE_NONE, &w, 1, name);
}

/* Two classes, two keypoints of two values, levels 8, 16, 32: boxes as xywh in pixels, sigmoid scores, raw
 * points. */
static inline void build_yolo(sk_builder *b)
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

static inline sk_model *make_yolo(void)
{
    sk_model *m = make_model(build_yolo);
    m->format = SK_FORMAT_ULTRALYTICS;
    sk_model_set_task(m, SK_TASK_POSE);
    m->architecture = "yolo11";
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

static inline sk_model *make_sleap(void)
{
    sk_model *m = make_model(build_sleap);
    m->format = SK_FORMAT_SLEAP_KERAS;
    sk_model_set_task(m, SK_TASK_BOTTOMUP);
    m->architecture = "sleap unet";
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

static inline const char *in_folder(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static inline void compare_names(const char *const *a, const char *const *b, int32_t count)
{
    assert_true((a == NULL) == (b == NULL));
    for (int32_t i = 0; a && i < count; i++)
        assert_string_equal(a[i], b[i]);
}

/* The same results for the same frame; `limit` relative to 1. */
static inline void compare_results(const sk_model *a, const sk_model *b, int64_t batch, int64_t h, int64_t w,
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

#endif
