/* SPDX-License-Identifier: Apache-2.0 */
/* What stages make of networks' outputs, number by number: outputs of chance, in every form and with every setting. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/instances.h"
#include "base/memory.h"
#include "tasks/assignment.h"
#include "tasks/classify.h"
#include "tasks/identity.h"
#include "tasks/instance_filter.h"
#include "tasks/nms.h"
#include "tasks/order.h"
#include "tasks/overlap.h"
#include "tasks/peaks.h"
#include "tasks/scale_back.h"
#include "tasks/stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static float chance(unsigned *dice, double from, double to)
{
    return (float)(from + (to - from) * recorded_chance(dice));
}

static void fill(unsigned *dice, float *out, size_t n, double from, double to)
{
    for (size_t i = 0; i < n; i++)
        out[i] = chance(dice, from, to);
}

static void say_found(const char *what, const sk_instances *all)
{
    recorded_sum boxes = {0}, turned = {0}, scores = {0}, points = {0}, who = {0};
    for (int32_t i = 0; i < all->count; i++) {
        const sk_found *f = &all->items[i];
        recorded_add(&who, f->has + 0.1 * f->class_id + 0.01 * f->track_id);
        recorded_add(&scores, (double)f->score);
        recorded_add(&scores, (double)f->tracking_score);
        for (int k = 0; k < 4 && f->has & SK_HAS_BOX; k++)
            recorded_add(&boxes, (double)f->box[k]);
        for (int k = 0; k < 5 && f->has & SK_HAS_OBB; k++)
            recorded_add(&turned, (double)f->obb[k]);
        for (int32_t k = 0; k < all->n_keypoints && f->has & SK_HAS_KEYPOINTS; k++) {
            const sk_keypoint *p = &all->keypoints[f->first_keypoint + k];
            recorded_add(&points, (double)p->x);
            recorded_add(&points, (double)p->y);
            recorded_add(&points, (double)p->score);
        }
    }
    recorded_say("%s: %d, %.8g %.8g %.8g %.8g %.8g", what, all->count, who.sum, scores.sum, boxes.sum,
                 turned.sum, points.sum);
}

/* --- YOLO --- */

static void yolo_of_every_form(void **state)
{
    (void)state;
    static const sk_task tasks[3] = {SK_TASK_DETECT, SK_TASK_POSE, SK_TASK_OBB};
    unsigned dice = 41;
    for (int round = 0; round < 72; round++) {
        const sk_task task = tasks[round % 3];
        sk_yolo_spec spec = {.n_levels = 3, .stride = {8, 16, 32}, .reg_max = round / 3 % 2 ? 16 : 1};
        spec.n_classes = 1 + round % 4;
        spec.n_keypoints = task == SK_TASK_POSE ? 1 + round % 4 : 0;
        spec.keypoint_dims = spec.n_keypoints ? 2 + round / 6 % 2 : 0;
        spec.end2end = round / 12 % 2;
        spec.keypoints_26 = spec.angle_raw = round / 24 % 2;
        spec.max_det = 3 + round % 20;
        static float values[32768];
        sk_map maps[9];
        size_t used = 0;
        for (int l = 0; l < 3; l++) {
            const int32_t side = 64 / (8 << l), extra = spec.n_keypoints * spec.keypoint_dims;
            const int32_t channels[3] = {4 * spec.reg_max, spec.n_classes, task == SK_TASK_OBB ? 1 : extra};
            for (int k = 0; k < 3; k++) {
                if (!channels[k])
                    continue;
                const size_t count = (size_t)(channels[k] * side * side);
                fill(&dice, values + used, count, k == 1 ? -6 : -3, k == 1 ? 2.5 : 3);
                const sk_head_kind kind = k == 0 ? SK_HEAD_BOX
                                          : k == 1
                                              ? SK_HEAD_CLASS
                                              : (task == SK_TASK_OBB ? SK_HEAD_ANGLE : SK_HEAD_KEYPOINTS);
                maps[spec.n_heads] = round % 5 == 1
                                         ? sk_map_interleaved(values + used, channels[k], side, side)
                                         : sk_map_planar(values + used, channels[k], side, side);
                spec.heads[spec.n_heads++] = (sk_head_spec){kind, l};
                used += count;
            }
        }
        static const int32_t only[] = {0, 2};
        sk_yolo_settings s = sk_yolo_settings_defaults();
        s.confidence = chance(&dice, 0.1, 0.8);
        s.iou = (double)chance(&dice, 0.05, 0.9);
        s.max_det = 2 + round % 30;
        s.agnostic = round / 2 % 2;
        s.obb_form = round / 4 % 2 ? SK_OBB_QUARTER : SK_OBB_LONG_SIDE;
        s.classes = round % 7 == 6 && spec.n_classes > 2 ? only : NULL;
        s.n_classes = s.classes ? 2 : 0;
        sk_error err;
        sk_yolo_post *post;
        sk_letterbox_geometry g;
        sk_instances found;
        char what[80];
        const int32_t wide = (int32_t)chance(&dice, 20, 300);
        const int32_t high = (int32_t)chance(&dice, 20, 300);
        assert_ok(sk_letterbox_fit(wide, high, 64, 64, round % 4 == 3 ? 32 : 0, &g, &err), &err);
        assert_ok(sk_instances_alloc(s.max_det, spec.n_keypoints, &found, &err), &err);
        assert_ok(sk_yolo_post_open(&spec, task, &s, 64, 64, &post, &err), &err);
        const uint64_t before = sk_memory_allocations();
        assert_ok(sk_yolo_post_run(post, SK_YOLO_HEADS, maps, spec.n_heads, &g, &found, &err), &err);
        snprintf(what, sizeof what, "%d heads %d x %d", round, wide, high);
        say_found(what, &found);
        const int32_t extra = spec.n_keypoints * spec.keypoint_dims + (task == SK_TASK_OBB);
        const int32_t columns = 4 + spec.n_classes + extra;
        for (int32_t a = 0; a < 84; a++) /* boxes in the network, scores 0 … 1 */
            for (int32_t c = 0; c < columns; c++)
                values[c * 84 + a] = c < 2   ? chance(&dice, 0, 64)
                                     : c < 4 ? chance(&dice, 2, 30)
                                             : chance(&dice, 0, 1);
        const sk_map dense = sk_map_planar(values, columns, 1, 84);
        assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &dense, 1, &g, &found, &err), &err);
        snprintf(what, sizeof what, "%d dense", round);
        say_found(what, &found);
        for (int32_t a = 0; a < 30; a++)
            for (int32_t c = 0; c < 6 + extra; c++)
                values[a * (6 + extra) + c] = c < 2    ? chance(&dice, 0, 40)
                                              : c < 4  ? chance(&dice, 40, 64)
                                              : c == 4 ? chance(&dice, 0, 1)
                                              : c == 5 ? (float)(a % spec.n_classes)
                                                       : chance(&dice, 0, 2);
        const sk_map rows = sk_map_interleaved(values, 6 + extra, 1, 30);
        assert_ok(sk_yolo_post_run(post, SK_YOLO_FOUND, &rows, 1, &g, &found, &err), &err);
        snprintf(what, sizeof what, "%d found", round);
        say_found(what, &found);
        assert_int_equal(sk_memory_allocations(), before);
        sk_yolo_post_close(&post);
        sk_instances_free(&found);
    }
    recorded_check("tests/fixtures/tasks/recorded/yolo.txt");
}

static void yolo_refuses_what_does_not_fit(void **state)
{
    (void)state;
    sk_error err;
    sk_yolo_decoder *decoder = NULL;
    sk_candidates list;
    static float values[4096];
    sk_yolo_spec spec = {.n_levels = 1, .stride = {8}, .reg_max = 1, .n_classes = 2, .n_heads = 2};
    spec.heads[0] = (sk_head_spec){SK_HEAD_BOX, 0};
    spec.heads[1] = (sk_head_spec){SK_HEAD_CLASS, 0};
    assert_ok(sk_yolo_decoder_open(&spec, SK_TASK_DETECT, 16, &decoder, &err), &err);
    assert_ok(sk_candidates_alloc(sk_yolo_decoder_capacity(decoder), &list, &err), &err);
    struct {
        sk_yolo_form form;
        sk_map maps[2];
        int32_t n;
    } cases[] = {
        {SK_YOLO_HEADS, {sk_map_planar(values, 4, 4, 4), sk_map_planar(values, 2, 4, 4)}, 2}, /* fits */
        {SK_YOLO_HEADS, {sk_map_planar(values, 4, 4, 4), sk_map_planar(values, 2, 4, 4)}, 1},
        {SK_YOLO_HEADS, {sk_map_planar(values, 5, 4, 4), sk_map_planar(values, 2, 4, 4)}, 2},
        {SK_YOLO_HEADS, {sk_map_planar(values, 4, 4, 4), sk_map_planar(values, 3, 4, 4)}, 2},
        {SK_YOLO_HEADS, {sk_map_planar(values, 4, 4, 4), sk_map_planar(values, 2, 4, 3)}, 2},
        {SK_YOLO_HEADS, {sk_map_planar(values, 4, 4, 4), sk_map_planar(values, 2, 3, 4)}, 2},
        {SK_YOLO_HEADS,
         {sk_map_planar(values, 4, 4, 5), sk_map_planar(values, 2, 4, 5)},
         2}, /* 20 places of 16 */
        {SK_YOLO_DENSE, {sk_map_planar(values, 6, 1, 16)}, 1},
        {SK_YOLO_DENSE, {sk_map_planar(values, 6, 1, 16)}, 2},
        {SK_YOLO_DENSE, {sk_map_planar(values, 7, 1, 16)}, 1},
        {SK_YOLO_DENSE, {sk_map_planar(values, 5, 1, 16)}, 1},
        {SK_YOLO_DENSE, {sk_map_planar(values, 6, 1, 17)}, 1},
        {SK_YOLO_FOUND, {sk_map_interleaved(values, 6, 1, 16)}, 1},
        {SK_YOLO_FOUND, {sk_map_interleaved(values, 5, 1, 16)}, 1},
        {SK_YOLO_FOUND, {sk_map_interleaved(values, 7, 1, 16)}, 1},
        {SK_YOLO_FOUND, {sk_map_interleaved(values, 6, 1, 17)}, 1},
        {(sk_yolo_form)9, {sk_map_planar(values, 6, 1, 16)}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const sk_status status =
            sk_yolo_decode(decoder, cases[i].form, cases[i].maps, cases[i].n, 0.5f, NULL, &list, &err);
        recorded_say("%zu: %s", i, status == SK_OK ? "fits" : err.message);
    }
    sk_candidates_free(&list);
    sk_yolo_decoder_close(&decoder);
    recorded_check("tests/fixtures/tasks/recorded/yolo_refused.txt");
}

/* --- SLEAP --- */

enum { NODES = 3, W = 28, H = 20 };

static void bells(unsigned *dice, float *maps, int channels, int animals)
{
    fill(dice, maps, (size_t)(channels * W * H), 0, 0.05);
    for (int a = 0; a < animals; a++) {
        const float x = chance(dice, 3, W - 10);
        const float y = chance(dice, 2, H - 3);
        for (int c = 0; c < channels; c++) {
            const float cx = x + 3.3f * (float)c, cy = y + 1.2f * (float)c, high = chance(dice, 0.2, 1);
            for (int v = 0; v < H; v++)
                for (int u = 0; u < W; u++) {
                    const float dx = (float)u - cx, dy = (float)v - cy;
                    float *at = &maps[(c * H + v) * W + u];
                    *at = fmaxf(*at, high * expf(-(dx * dx + dy * dy) / 3));
                }
        }
    }
}

static void sleap_of_every_task(void **state)
{
    (void)state;
    static const sk_task tasks[4] = {SK_TASK_SINGLE_INSTANCE, SK_TASK_CENTROID, SK_TASK_BOTTOMUP,
                                     SK_TASK_MULTICLASS_BOTTOMUP};
    static const sk_output_kind second[4] = {SK_OUTPUT_OFFSETS, SK_OUTPUT_OFFSETS, SK_OUTPUT_PAFS,
                                             SK_OUTPUT_CLASS_MAPS};
    static const int32_t chain[2][2] = {{0, 1}, {1, 2}}, star[2][2] = {{1, 0}, {1, 2}};
    unsigned dice = 4;
    for (int round = 0; round < 80; round++) {
        const int t = round % 4, nodes = t == 1 ? 1 : NODES;
        sk_model m = {.n_keypoints = NODES, .n_classes = t == 3 ? 2 : 0};
        sk_model_set_task(&m, tasks[t]);
        m.sleap = (sk_sleap_spec){.input_scale = round / 8 % 2 ? 0.5f : 1,
                                  .n_edges = 2,
                                  .edges = round / 4 % 2 ? star : chain,
                                  .legacy = round / 16 % 2,
                                  .target_size = {round % 3 == 2 ? 80 : 0, round % 3 == 2 ? 96 : 0}};
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
        if (t >= 2 || round / 4 % 2)
            m.outputs[m.n_outputs++] = (sk_output_spec){second[t], "more", 4};
        static float maps[NODES * W * H], more[6 * W * H];
        bells(&dice, maps, nodes, 1 + round % 5);
        fill(&dice, more, sizeof more / sizeof *more, -0.4, 1);
        const sk_map in[2] = {sk_map_planar(maps, nodes, H, W),
                              sk_map_planar(more,
                                            t < 2    ? 2 * nodes
                                            : t == 2 ? 4
                                                     : 2,
                                            t < 2 ? H : H / 2, t < 2 ? W : W / 2)};
        sk_sleap_settings s = sk_sleap_settings_defaults();
        s.peak_threshold = chance(&dice, 0.1, 0.6);
        s.centroid_threshold = round % 5 == 1 ? 0.3f : -1;
        s.refinement = (sk_refinement)(round / 4 % 3);
        s.patch = 3 + 2 * (round % 3);
        s.max_instances = round % 6 == 5 ? 2 : 0;
        s.centroid_nms = round % 3 == 1 ? 0.2f : 0;
        s.nms_size = 12;
        s.min_instance_peaks = round % 7 == 3 ? 0.5f : round % 7 == 4 ? 2 : 0;
        s.paf.max_peaks_per_node = round % 9 == 2 ? 2 : 256;
        s.paf.min_line_score = chance(&dice, -0.5, 0.4);
        s.paf.dist_penalty_weight = round % 5 == 2 ? 0.3f : 1;
        s.paf.n_points = round % 5 == 3 ? 5 : 10;
        s.keep_empty = round % 2;
        sk_error err;
        sk_sleap_geometry g;
        sk_sleap_post *post;
        sk_instances found;
        char what[80];
        assert_ok(sk_sleap_sizes(&m.sleap, 100 + round, 90, &g, &err), &err);
        assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
        assert_ok(
            sk_instances_alloc(sk_sleap_post_capacity(post), sk_sleap_post_keypoints(post), &found, &err),
            &err);
        assert_ok(sk_sleap_post_run(post, in, m.n_outputs, &g, &found, &err), &err);
        snprintf(what, sizeof what, "%d of %d, room %d x %d", round, t, sk_sleap_post_capacity(post),
                 sk_sleap_post_keypoints(post));
        say_found(what, &found);
        sk_peak_wish wish;
        memset(&wish, 0, sizeof wish);
        if (sk_sleap_post_wish(post, &wish)) {
            const sk_peak_layout at = sk_peak_layout_of(&wish);
            recorded_say(
                "  wish %d %.6g %d, outputs %d %d %d %d, strides %g %g %g, room %d %d, %d maps %d classes %d "
                "edges %d points %.6g %.6g; %d %d %d %d %d",
                wish.local, (double)wish.threshold, wish.refinement, wish.maps, wish.offsets, wish.classes,
                wish.fields, (double)wish.maps_stride, (double)wish.classes_stride,
                (double)wish.fields_stride, wish.capacity, wish.pairs, wish.n_channels, wish.n_classes,
                wish.n_edges, wish.n_points, (double)wish.max_edge_length_ratio,
                (double)wish.dist_penalty_weight, at.counts, at.rows, at.lines, at.row_words, at.words);
        } else {
            recorded_say("  no wish");
        }
        sk_instances_free(&found);
        sk_sleap_post_close(&post);
    }
    recorded_check("tests/fixtures/tasks/recorded/sleap.txt");
}

static void sleap_on_crops(void **state)
{
    (void)state;
    unsigned dice = 14;
    for (int round = 0; round < 24; round++) {
        const bool classes = round % 2;
        sk_model m = {.n_keypoints = NODES, .n_classes = classes ? 3 : 0};
        sk_model_set_task(&m, classes ? SK_TASK_MULTICLASS_TOPDOWN : SK_TASK_CENTERED_INSTANCE);
        m.sleap = (sk_sleap_spec){.input_scale = round / 2 % 2 ? 0.5f : 1,
                                  .crop_size = {2 * H, 2 * W},
                                  .pad_to_stride = round / 4 % 2 ? 16 : 1,
                                  .legacy = round / 8 % 2};
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
        if (classes)
            m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_VECTORS, "vectors", 0};
        sk_sleap_settings s = sk_sleap_settings_defaults();
        s.peak_threshold = 0.3f;
        s.keep_empty = round / 3 % 2;
        sk_error err;
        sk_sleap_post *post;
        sk_sleap_crop_geometry cg;
        sk_sleap_crop *crop;
        sk_instances found;
        assert_ok(sk_sleap_post_open(&m, &s, &post, &err), &err);
        assert_ok(sk_sleap_crop_sizes(&m.sleap, 0, &cg, &err), &err);
        assert_ok(sk_sleap_crop_open(&m.sleap, &cg, 1, 120, 90, 1, &crop, &err), &err);
        assert_ok(sk_instances_alloc(sk_sleap_post_capacity(post), NODES, &found, &err), &err);
        sk_sleap_post_begin(post, &found);
        for (int k = 0; k < 5; k++) {
            static float maps[NODES * W * H];
            float vectors[3];
            bells(&dice, maps, NODES, 1);
            if (k == 3)
                memset(maps, 0, sizeof maps); /* nothing to be seen */
            fill(&dice, vectors, 3, 0, 1);
            const sk_map in[2] = {sk_map_planar(maps, NODES, H, W), sk_map_planar(vectors, 3, 1, 1)};
            const float x = chance(&dice, 0, 120);
            const float y = chance(&dice, 0, 90);
            const sk_sleap_centroid at = {.x = x,
                                          .y = y,
                                          .score = 0.2f * (float)k,
                                          .class_id = k - 1,
                                          .turned = round % 5 == 4,
                                          .angle = 0.4f * (float)k};
            assert_ok(sk_sleap_post_crop(post, in, m.n_outputs, crop, &at, round % 3 == 2 ? 0.75f : 1, &found,
                                         &err),
                      &err);
        }
        sk_sleap_post_end(post, &found);
        char what[80];
        snprintf(what, sizeof what, "%d, crops %d x %d, %d x %d, %d x %d", round, cg.crop_width,
                 cg.crop_height, cg.scaled_width, cg.scaled_height, cg.width, cg.height);
        say_found(what, &found);
        sk_instances_free(&found);
        sk_sleap_crop_close(&crop);
        sk_sleap_post_close(&post);
    }
    recorded_check("tests/fixtures/tasks/recorded/sleap_crops.txt");
}

/* --- which of them stay --- */

static void suppressed_by_every_rule(void **state)
{
    (void)state;
    enum { N = 60 };
    unsigned dice = 6;
    sk_error err;
    for (int round = 0; round < 40; round++) {
        sk_candidates list;
        sk_nms *nms;
        int32_t keep[N];
        const bool turned = round % 2;
        const int agnostic = round / 2 % 2, most = round % 5 == 4 ? 7 : N;
        const double iou = 0.05 + 0.9 * recorded_chance(&dice);
        assert_ok(sk_candidates_alloc(N, &list, &err), &err);
        assert_ok(sk_nms_open(N, most, &nms, &err), &err);
        list.count = N - round % 3;
        for (int32_t i = 0; i < list.count; i++) {
            const float x = chance(&dice, 0, 60), y = chance(&dice, 0, 60), w = chance(&dice, 5, 40),
                        h = chance(&dice, 5, 40);
            list.box[0][i] = x, list.box[1][i] = y;
            list.box[2][i] = turned ? w : x + w, list.box[3][i] = turned ? h : y + h;
            list.angle[i] = turned ? chance(&dice, -1, 2) : 0;
            list.score[i] = i % 9 == 5 ? 0.5f : chance(&dice, 0, 1);
            list.class_id[i] = i % 3;
        }
        const int32_t n = turned ? sk_nms_rotated(nms, &list, iou, agnostic, keep)
                                 : sk_nms_greedy(nms, &list, iou, agnostic, keep);
        recorded_sum kept = {0};
        for (int32_t i = 0; i < n; i++)
            recorded_add(&kept, keep[i]);
        float limit, reach, offset;
        int32_t part;
        sk_nms_rules(iou, turned, agnostic, &limit, &reach, &offset, &part);
        recorded_say("%d: %d, %.9g; %.7g %.7g %g %d", round, n, kept.sum, (double)limit, (double)reach,
                     (double)offset, part);
        sk_nms_close(&nms);
        sk_candidates_free(&list);
    }
    recorded_check("tests/fixtures/tasks/recorded/nms.txt");
}

static void poses_that_stay(void **state)
{
    (void)state;
    unsigned dice = 61;
    sk_error err;
    for (int round = 0; round < 60; round++) {
        sk_instances all;
        const int32_t nodes = round % 4 == 3 ? 1 : 4;
        assert_ok(sk_instances_alloc(12, nodes, &all, &err), &err);
        for (int i = 0; i < 12; i++) {
            sk_found *f = sk_instances_add(&all);
            const float x = chance(&dice, 0, 30), y = chance(&dice, 0, 30);
            f->has = SK_HAS_KEYPOINTS;
            f->score = chance(&dice, 0, 1);
            f->class_id = i;
            for (int32_t k = 0; k < nodes; k++) {
                const bool there = recorded_chance(&dice) < 0.75;
                const float px = x + chance(&dice, 0, 20), py = y + chance(&dice, 0, 20);
                all.keypoints[f->first_keypoint + k] =
                    there ? (sk_keypoint){px, py, 0.1f * (float)(i + k % 2)} : (sk_keypoint){NAN, NAN, 0};
            }
        }
        sk_sleap_options o = {.overlap_threshold = chance(&dice, 0.05, 0.6)};
        if (round % 5 == 0)
            o.min_visible_nodes = 3;
        if (round % 5 == 1)
            o.min_visible_node_fraction = 0.5f;
        if (round % 5 == 2)
            o.min_mean_node_score = 0.5f;
        if (round % 5 == 3)
            o.min_instance_score = 0.4f;
        o.overlap = round % 3 == 0 ? SK_OVERLAP_KEEP : round % 3 == 1 ? SK_OVERLAP_IOU : SK_OVERLAP_OKS;
        o.min_centroid_distance = round % 4 == 3 ? 9 : 0;
        const float iou = sk_pose_iou(all.keypoints, all.keypoints + nodes, nodes),
                    oks = sk_pose_oks(all.keypoints, all.keypoints + nodes, nodes);
        assert_true(sk_instance_filter_on(&o) || (round % 5 == 4 && round % 3 == 0 && round % 4 != 3));
        sk_instance_filter(&o, &all);
        char what[80];
        snprintf(what, sizeof what, "%d %.7g %.7g", round, (double)iou, (double)oks);
        say_found(what, &all);
        sk_instances_free(&all);
    }
    recorded_check("tests/fixtures/tasks/recorded/poses.txt");
}

/* --- who is who --- */

static double cheapest(const double *cost, int32_t rows, int32_t cols, int32_t row, unsigned taken,
                       int32_t *pairs)
{
    if (row == rows) {
        *pairs = 0;
        return 0;
    }
    double best = cheapest(cost, rows, cols, row + 1, taken, pairs);
    int32_t most = *pairs;
    for (int32_t c = 0; c < cols; c++) {
        int32_t n;
        if (taken >> c & 1 || !isfinite(cost[row * cols + c]))
            continue;
        const double sum = cost[row * cols + c] + cheapest(cost, rows, cols, row + 1, taken | 1u << c, &n);
        if (n + 1 > most || (n + 1 == most && sum < best)) {
            most = n + 1;
            best = sum;
        }
    }
    *pairs = most;
    return best;
}

/* As many pairs as there can be, and of those the cheapest: tried against all there are. */
static void assignments_are_the_cheapest(void **state)
{
    (void)state;
    unsigned dice = 2;
    sk_error err;
    sk_assignment *a;
    assert_ok(sk_assignment_open(5, 5, &a, &err), &err);
    for (int round = 0; round < 300; round++) {
        const int32_t rows = 1 + round % 5, cols = 1 + round / 5 % 5;
        double cost[25], sum = 0;
        int32_t column_of[5], pairs, used = 0;
        for (int i = 0; i < rows * cols; i++) {
            const bool forbidden = recorded_chance(&dice) < (round % 3 == 2 ? 0.3 : 0);
            cost[i] = forbidden        ? (i % 2 ? INFINITY : NAN)
                      : round % 4 == 3 ? floor(4 * recorded_chance(&dice))
                                       : recorded_chance(&dice) - 0.4;
        }
        const double least = cheapest(cost, rows, cols, 0, 0, &pairs);
        const int32_t n = sk_assignment_solve(a, cost, rows, cols, column_of);
        for (int32_t r = 0; r < rows; r++)
            if (column_of[r] >= 0) {
                assert_false(used >> column_of[r] & 1);
                used |= 1 << column_of[r];
                sum += cost[r * cols + column_of[r]];
            }
        assert_int_equal(n, pairs);
        assert_true(fabs(sum - least) < 1e-9);
    }
    int32_t column_of[6];
    const double cost[36] = {0};
    assert_int_equal(sk_assignment_solve(a, cost, 6, 5, column_of), -1);
    assert_int_equal(sk_assignment_solve(a, cost, 5, 6, column_of), -1);
    sk_assignment_close(&a);
}

static void identities_of_peaks_and_crops(void **state)
{
    (void)state;
    unsigned dice = 23;
    sk_error err;
    for (int round = 0; round < 40; round++) {
        enum { CLASSES = 3, MOST = 5 };
        sk_identity *identity;
        static float maps[CLASSES * 6 * 8];
        float values[7 * CLASSES], probability[7];
        sk_peak peaks[7];
        int32_t who[7];
        recorded_sum sums[3] = {{0}};
        const int32_t n = round % 8;
        assert_ok(sk_identity_open(MOST, CLASSES, &identity, &err), &err);
        fill(&dice, maps, sizeof maps / sizeof *maps, 0, 1);
        fill(&dice, values, sizeof values / sizeof *values, 0, 1);
        if (round % 5 == 4)
            values[3] = maps[17] = NAN;
        for (int i = 0; i < 7; i++) {
            const float x = chance(&dice, -1, 9);
            const float y = chance(&dice, -1, 7);
            peaks[i] = (sk_peak){x, y, 0.5f, 0};
        }
        const sk_map map = sk_map_planar(maps, CLASSES, 6, 8);
        for (int way = 0; way < 3; way++) {
            const int32_t answers = way == 2 ? (n < MOST ? n : MOST) : CLASSES, given = n < 7 ? n : 7;
            if (way == 0)
                sk_identity_from_maps(identity, &map, peaks, given, who, probability);
            else if (way == 1)
                sk_identity_from_values(identity, values, given, who, probability);
            else
                sk_identity_from_vectors(identity, values, answers, who, probability);
            for (int32_t i = 0; i < answers; i++) {
                recorded_add(&sums[way], who[i]);
                recorded_add(&sums[way], (double)probability[i]);
            }
        }
        recorded_say("%d: %.7g %.7g %.7g", round, sums[0].sum, sums[1].sum, sums[2].sum);
        sk_identity_close(&identity);
    }
    recorded_check("tests/fixtures/tasks/recorded/identities.txt");
}

static void order_is_that_of_scores(void **state)
{
    (void)state;
    unsigned dice = 3;
    float scores[70];
    int32_t order[70];
    uint64_t keys[140];
    for (int n = 0; n <= 70; n++) {
        for (int i = 0; i < n; i++)
            scores[i] = i % 11 == 3 ? NAN : i % 7 == 2 ? -0.0f : i % 7 == 3 ? 0.0f : chance(&dice, -1, 1);
        sk_order_descending(scores, n, order, keys);
        for (int i = 1; i < n; i++) {
            const float a = scores[order[i - 1]], b = scores[order[i]];
            assert_true(isnan(b) ? !isnan(a) || order[i - 1] < order[i]
                                 : a > b || (a == b && order[i - 1] < order[i]));
        }
    }
}

/* --- pictures' classes --- */

static void the_best_classes(void **state)
{
    (void)state;
    unsigned dice = 8;
    sk_error err;
    for (int round = 0; round < 12; round++) {
        const int64_t n = 1 + round;
        float scores[2 * 16];
        fill(&dice, scores, sizeof scores / sizeof *scores, 0, 1);
        if (round > 6)
            scores[n + 2] = scores[n + 1];
        sk_tensor tensor = {.dtype = SK_DTYPE_F32, .shape = sk_shape_of(2, (int64_t)2, n), .data = scores};
        sk_instances found;
        assert_ok(sk_instances_alloc(SK_CLASSIFY_BEST, 0, &found, &err), &err);
        assert_ok(sk_classify_result(&tensor, 1, &found, &err), &err);
        assert_int_equal(found.count, n < 5 ? n : 5);
        for (int i = 0; i < found.count; i++) {
            assert_true(found.items[i].has == 0 &&
                        found.items[i].score == scores[n + found.items[i].class_id]);
            assert_true(i == 0 || found.items[i].score < found.items[i - 1].score ||
                        found.items[i].class_id > found.items[i - 1].class_id);
        }
        for (int64_t c = 0; c < n; c++) /* nobody better was left out */
            assert_true(found.count == n || scores[n + c] <= found.items[4].score ||
                        (int)c == found.items[0].class_id || (int)c == found.items[1].class_id ||
                        (int)c == found.items[2].class_id || (int)c == found.items[3].class_id);
        sk_instances_free(&found);
    }
}

/* --- back into the frame --- */

static void boxes_back_in_the_frame(void **state)
{
    (void)state;
    unsigned dice = 19;
    sk_error err;
    for (int round = 0; round < 60; round++) {
        sk_letterbox_geometry g;
        float box[4], turned[5], bounds[4];
        sk_keypoint points[3];
        const int32_t w = (int32_t)chance(&dice, 10, 2000), h = (int32_t)chance(&dice, 10, 2000);
        assert_ok(sk_letterbox_fit(w, h, 320, round % 3 == 1 ? 256 : 320, round % 2 ? 32 : 0, &g, &err),
                  &err);
        fill(&dice, box, 4, -20, 340);
        fill(&dice, turned, 4, 2, 300);
        turned[4] = chance(&dice, -7, 7);
        for (int i = 0; i < 3; i++) {
            const float x = chance(&dice, -20, 340);
            const float y = chance(&dice, -20, 340);
            points[i] = (sk_keypoint){x, y, 0.5f};
        }
        sk_scale_back_box(&g, box);
        sk_scale_back_keypoints(&g, points, 3);
        sk_scale_back_obb(&g, turned);
        sk_obb_normalise(round / 2 % 2 ? SK_OBB_QUARTER : SK_OBB_LONG_SIDE, turned);
        sk_obb_bounds(turned, bounds);
        recorded_sum sums[4] = {{0}};
        for (int i = 0; i < 4; i++) {
            recorded_add(&sums[0], (double)box[i]);
            recorded_add(&sums[3], (double)bounds[i]);
        }
        for (int i = 0; i < 5; i++)
            recorded_add(&sums[1], (double)turned[i]);
        for (int i = 0; i < 3; i++) {
            recorded_add(&sums[2], (double)points[i].x);
            recorded_add(&sums[2], (double)points[i].y);
        }
        recorded_say("%d: %d x %d, %d x %d, %d %d %d %d, %d x %d, %.7g; %.7g %.7g %.7g %.7g", round,
                     g.frame_width, g.frame_height, g.width, g.height, g.left, g.top, g.right, g.bottom,
                     g.resized_width, g.resized_height, g.gain, sums[0].sum, sums[1].sum, sums[2].sum,
                     sums[3].sum);
    }
    recorded_check("tests/fixtures/tasks/recorded/scale_back.txt");
}

/* The exact overlap of turned boxes against counting points of a fine grid. */
static void overlaps_against_counting(void **state)
{
    (void)state;
    unsigned dice = 5;
    for (int round = 0; round < 60; round++) {
        double a[5], b[5];
        for (int i = 0; i < 5; i++) {
            a[i] = i < 2 ? 4 * recorded_chance(&dice) : 1 + 5 * recorded_chance(&dice);
            b[i] = i < 2 ? 4 * recorded_chance(&dice) : 1 + 5 * recorded_chance(&dice);
        }
        int in_a = 0, in_b = 0, both = 0;
        for (int v = 0; v < 240; v++)
            for (int u = 0; u < 240; u++) {
                const double x = -6 + u / 15.0, y = -6 + v / 15.0;
                bool in[2];
                for (int k = 0; k < 2; k++) {
                    const double *o = k ? b : a, dx = x - o[0], dy = y - o[1], c = cos(o[4]), s = sin(o[4]);
                    in[k] = fabs(dx * c + dy * s) <= o[2] / 2 && fabs(dy * c - dx * s) <= o[3] / 2;
                }
                in_a += in[0];
                in_b += in[1];
                both += in[0] && in[1];
            }
        assert_true(fabs(sk_overlap_oriented(a, b, false) - (double)both / (in_a + in_b - both)) < 0.02);
        assert_true(fabs(sk_overlap_oriented(a, b, true) - (double)both / in_a) < 0.02);
        recorded_say("%d: %.9g %.9g %.9g %.9g", round, sk_overlap_oriented(a, b, false),
                     sk_overlap_oriented(a, b, true), sk_overlap_boxes(a, b, false),
                     sk_overlap_boxes(a, b, true));
    }
    recorded_check("tests/fixtures/tasks/recorded/overlaps.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yolo_of_every_form),           cmocka_unit_test(yolo_refuses_what_does_not_fit),
        cmocka_unit_test(sleap_of_every_task),          cmocka_unit_test(sleap_on_crops),
        cmocka_unit_test(suppressed_by_every_rule),     cmocka_unit_test(poses_that_stay),
        cmocka_unit_test(assignments_are_the_cheapest), cmocka_unit_test(identities_of_peaks_and_crops),
        cmocka_unit_test(order_is_that_of_scores),      cmocka_unit_test(the_best_classes),
        cmocka_unit_test(boxes_back_in_the_frame),      cmocka_unit_test(overlaps_against_counting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
