/* SPDX-License-Identifier: Apache-2.0 */
/* The stages around a network on arbitrary bytes: outputs of any bit pattern, frames and inputs of any small
 * size. */
#include "fuzz.h"

#include "base/instances.h"
#include "tasks/stage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    const uint8_t *data;
    size_t size, at;
} bytes;

static uint8_t take(bytes *b)
{
    return b->size ? b->data[b->at++ % b->size] : 0;
}

static float take_float(bytes *b)
{
    uint8_t raw[4] = {take(b), take(b), take(b), take(b)};
    float v;
    memcpy(&v, raw, sizeof v);
    return v;
}

/* Values around those a network gives, and now and then any bits at all. */
static void fill(bytes *b, float *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t v = take(b);
        out[i] = v == 255 ? take_float(b) : ((float)v - 100) / 16;
    }
}

static void check_instances(const sk_instances *found)
{
    SK_FUZZ_CHECK(found->count >= 0 && found->count <= found->capacity);
    for (int32_t i = 0; i < found->count; i++) {
        const sk_found *item = &found->items[i];
        SK_FUZZ_CHECK(item->first_keypoint == i * found->n_keypoints);
        for (int k = 0; k < 4 && item->has & SK_HAS_BOX; k++)
            SK_FUZZ_CHECK(isfinite(item->box[k]));
        for (int32_t k = 0; k < found->n_keypoints; k++)
            SK_FUZZ_CHECK(!isnan(found->keypoints[item->first_keypoint + k].score));
    }
}

static void fuzz_yolo(bytes *b)
{
    static const sk_task tasks[3] = {SK_TASK_DETECT, SK_TASK_POSE, SK_TASK_OBB};
    uint8_t flags = take(b);
    sk_task task = tasks[take(b) % 3];
    sk_yolo_spec spec = {.n_levels = 3, .stride = {8, 16, 32}, .reg_max = flags & 1 ? 16 : 1};
    spec.n_classes = 1 + take(b) % 6;
    spec.n_keypoints = task == SK_TASK_POSE ? 1 + take(b) % 4 : 0;
    spec.keypoint_dims = spec.n_keypoints ? 2 + (flags >> 1 & 1) : 0;
    spec.end2end = flags >> 2 & 1;
    spec.keypoints_26 = spec.angle_raw = flags >> 3 & 1;
    spec.max_det = 1 + take(b) % 40;
    static float values[16384];
    sk_map maps[9];
    size_t used = 0;
    for (int l = 0; l < 3; l++) {
        int32_t side = 64 / (8 << l), extra = spec.n_keypoints * spec.keypoint_dims;
        int32_t channels[3] = {4 * spec.reg_max, spec.n_classes, task == SK_TASK_OBB ? 1 : extra};
        for (int k = 0; k < 3; k++) {
            if (!channels[k])
                continue;
            size_t count = (size_t)(channels[k] * side * side);
            fill(b, values + used, count);
            sk_head_kind kind = k == 0   ? SK_HEAD_BOX
                                : k == 1 ? SK_HEAD_CLASS
                                         : (task == SK_TASK_OBB ? SK_HEAD_ANGLE : SK_HEAD_KEYPOINTS);
            maps[spec.n_heads] = flags >> 4 & 1 ? sk_map_interleaved(values + used, channels[k], side, side)
                                                : sk_map_planar(values + used, channels[k], side, side);
            spec.heads[spec.n_heads++] = (sk_head_spec){kind, l};
            used += count;
        }
    }
    sk_yolo_settings s = sk_yolo_settings_defaults();
    s.confidence = (float)take(b) / 255;
    s.iou = (double)take(b) / 255;
    s.max_det = 1 + take(b) % 50;
    s.agnostic = flags >> 5 & 1;
    sk_error err;
    sk_yolo_post *post;
    sk_letterbox_geometry g;
    sk_instances found;
    if (sk_letterbox_fit(1 + take(b), 1 + take(b), 64, 64, 0, &g, &err) != SK_OK ||
        sk_instances_alloc(s.max_det, spec.n_keypoints, &found, &err) != SK_OK)
        return;
    if (sk_yolo_post_open(&spec, task, &s, 64, 64, &post, &err) == SK_OK) {
        SK_FUZZ_CHECK(sk_yolo_post_run(post, SK_YOLO_HEADS, maps, spec.n_heads, &g, &found, &err) == SK_OK);
        check_instances(&found);
        int32_t extra = spec.n_keypoints * spec.keypoint_dims + (task == SK_TASK_OBB);
        sk_map dense = sk_map_planar(values, 4 + spec.n_classes + extra, 1, 84);
        sk_map rows = sk_map_interleaved(values, 6 + extra, 1, 30);
        SK_FUZZ_CHECK(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, &found, &err) == SK_OK);
        check_instances(&found);
        SK_FUZZ_CHECK(sk_yolo_post_run(post, SK_YOLO_FOUND, &rows, 1, &g, &found, &err) == SK_OK);
        check_instances(&found);
        sk_yolo_post_close(&post);
    }
    sk_instances_free(&found);
}

static void fuzz_sleap(bytes *b)
{
    static const sk_task tasks[4] = {SK_TASK_SINGLE_INSTANCE, SK_TASK_CENTROID, SK_TASK_BOTTOMUP,
                                     SK_TASK_MULTICLASS_BOTTOMUP};
    static const sk_output_kind second[4] = {SK_OUTPUT_OFFSETS, SK_OUTPUT_OFFSETS, SK_OUTPUT_PAFS,
                                             SK_OUTPUT_CLASS_MAPS};
    enum { NODES = 3, W = 14, H = 9 };
    int t = take(b) % 4, nodes = t == 1 ? 1 : NODES;
    int32_t edges[3][2];
    for (int e = 0; e < 3; e++)
        for (int k = 0; k < 2; k++)
            edges[e][k] = take(b) % NODES;
    sk_model m = {.task = tasks[t], .n_keypoints = NODES, .n_classes = t == 3 ? 2 : 0};
    m.sleap = (sk_sleap_spec){.input_scale = (float)(1 + take(b)) / 128,
                              .n_edges = 3,
                              .edges = (const int32_t(*)[2])edges,
                              .legacy = take(b) & 1};
    m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    m.outputs[m.n_outputs++] = (sk_output_spec){second[t], "more", 4};
    static float maps[NODES * W * H], more[6 * W * H];
    fill(b, maps, sizeof maps / sizeof maps[0]);
    fill(b, more, sizeof more / sizeof more[0]);
    sk_map in[2] = {sk_map_planar(maps, nodes, H, W), sk_map_planar(more,
                                                                    t < 2    ? 2 * nodes
                                                                    : t == 2 ? 6
                                                                             : 2,
                                                                    t < 2 ? H : 5, t < 2 ? W : 7)};
    sk_sleap_settings s = sk_sleap_settings_defaults();
    s.peak_threshold = take_float(b);
    s.refinement = (sk_refinement)(take(b) % 3);
    s.max_instances = take(b) % 5;
    s.paf.max_peaks_per_node = 1 + take(b) % 9;
    s.paf.min_line_score = (float)take(b) / 128 - 1;
    s.keep_empty = take(b) & 1;
    sk_error err;
    sk_sleap_geometry g;
    sk_sleap_post *post;
    sk_instances found;
    if (sk_sleap_sizes(&m.sleap, 200, 100, &g, &err) != SK_OK ||
        sk_sleap_post_open(&m, &s, &post, &err) != SK_OK)
        return;
    if (sk_instances_alloc(sk_sleap_post_capacity(post), sk_sleap_post_keypoints(post), &found, &err) ==
        SK_OK) {
        SK_FUZZ_CHECK(sk_sleap_post_run(post, in, 2, &g, &found, &err) == SK_OK);
        check_instances(&found);
        sk_instances_free(&found);
    }
    sk_sleap_post_close(&post);
}

/* Frames of any small shape; buffers end where the last row does, so that a sanitizer sees the first byte too
 * many. */
static void fuzz_frames(bytes *b)
{
    sk_frame frame = {
        .format = (sk_pixel_format)(1 + take(b) % 3), .width = 1 + take(b) % 70, .height = 1 + take(b) % 50};
    int32_t row = frame.width * (frame.format == SK_PIXEL_GRAY ? 1 : 3), gap = take(b) % 7;
    frame.stride = row + gap;
    size_t size = (size_t)(frame.stride * (frame.height - 1) + row);
    frame.data = malloc(size);
    for (size_t i = 0; frame.data && i < size; i++)
        frame.data[i] = take(b);
    sk_error err;
    sk_letterbox_geometry g;
    sk_letterbox *box;
    int32_t nw = 1 + take(b) % 90, nh = 1 + take(b) % 90, stride = take(b) & 1 ? 8 : 0;
    if (sk_letterbox_fit(frame.width, frame.height, nw, nh, stride, &g, &err) == SK_OK &&
        sk_letterbox_open(&g, frame.format, 1, &box, &err) == SK_OK) {
        uint8_t *out = malloc((size_t)(g.width * g.height * 3));
        SK_FUZZ_CHECK(out && sk_letterbox_run(box, &frame, out, &err) == SK_OK);
        free(out);
        sk_letterbox_close(&box);
    }
    sk_sleap_spec spec = {.input_scale = (float)(1 + take(b) % 40) / 16,
                          .pad_to_stride = take(b) % 20,
                          .legacy = take(b),
                          .target_size = {take(b) % 60, take(b) % 60},
                          .crop_size = {1 + take(b) % 30, 1 + take(b) % 30}};
    spec.ensure_grayscale = spec.legacy >> 1 & 1;
    spec.legacy &= 1;
    int32_t channels = take(b) & 1 ? 3 : 1;
    sk_sleap_geometry sg;
    sk_sleap_pre *pre = NULL;
    sk_sleap_crop_geometry cg;
    sk_sleap_crop *crop = NULL;
    const uint8_t *sized;
    if (sk_sleap_sizes(&spec, frame.width, frame.height, &sg, &err) == SK_OK &&
        sk_sleap_pre_open(&spec, channels, &sg, &pre, &err) == SK_OK) {
        float *input = malloc(sizeof(float) * (size_t)(sg.width * sg.height * channels));
        SK_FUZZ_CHECK(input && sk_sleap_pre_size(pre, &frame, &sized, &err) == SK_OK);
        SK_FUZZ_CHECK(sk_sleap_pre_f32(pre, input, &err) == SK_OK);
        free(input);
        if (sk_sleap_crop_sizes(&spec, 0, &cg, &err) == SK_OK &&
            sk_sleap_crop_open(&spec, &cg, take(b) & 1 ? 3 : channels, sg.sized_width, sg.sized_height,
                               channels, &crop, &err) == SK_OK) {
            uint8_t *out = malloc((size_t)(cg.width * cg.height * 3));
            sk_sleap_crop_begin(crop, sized, sk_sleap_pre_channels(pre));
            for (int i = 0; out && i < 4; i++) {
                const float x = i ? take_float(b) : take(b), y = i ? take_float(b) : take(b);
                const sk_crop place = sk_sleap_crop_around(crop, x, y);
                sk_sleap_crop_u8(crop, &place, out);
            }
            free(out);
            sk_sleap_crop_close(&crop);
        }
    }
    sk_sleap_pre_close(&pre);
    free(frame.data);
}

SK_FUZZ(tasks, data, size)
{
    bytes b = {data, size, 0};
    switch (take(&b) % 3) {
    case 0: fuzz_yolo(&b); break;
    case 1: fuzz_sleap(&b); break;
    default: fuzz_frames(&b); break;
    }
}
