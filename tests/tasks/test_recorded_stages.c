/* SPDX-License-Identifier: Apache-2.0 */
/* Stages of every kind of model, alone and in twos, with every setting: what they plan, what they make of frames and of outputs,
 * and what they refuse. */
#include "support/recorded.h"
#include "support/test.h"

#include "base/instances.h"
#include "base/memory.h"
#include "cases_test.h"
#include "tasks/arrange.h"
#include "tasks/stage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const animals[2] = {"mouse", "rat"}, *const nodes[3] = {"nose", "", "tail"};
static const int32_t bones[2][2] = {{0, 1}, {1, 2}};

static sk_model model_for(sk_task task)
{
    sk_model m = {.path = sk_task_name(task),
                  .n_classes = 2,
                  .class_names = animals,
                  .input = {.channels = 3, .height = 64, .width = 64, .stride = 32, .rgb = 1}};
    sk_model_set_task(&m, task);
    m.n_outputs = 1;
    if (sk_family_is_ultralytics(m.family)) {
        m.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 2};
        m.outputs[0] = (sk_output_spec){
            .kind = task == SK_TASK_CLASSIFY ? SK_OUTPUT_CLASS_SCORES : SK_OUTPUT_YOLO, .name = "output0"};
        if (task == SK_TASK_POSE)
            m.n_keypoints = m.yolo.n_keypoints = 2, m.yolo.keypoint_dims = 3;
        return m;
    }
    m.input.channels = 1;
    m.n_keypoints = 3;
    m.keypoint_names = nodes;
    m.n_edges = 2;
    m.edges = bones;
    m.sleap = (sk_sleap_spec){
        .input_scale = 1, .pad_to_stride = 16, .crop_size = {32, 32}, .n_edges = 2, .edges = bones};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    if (task == SK_TASK_MULTICLASS_TOPDOWN)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_VECTORS, "vectors", 0};
    if (task == SK_TASK_MULTICLASS_BOTTOMUP)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_CLASS_MAPS, "classes", 4};
    if (task == SK_TASK_BOTTOMUP)
        m.outputs[m.n_outputs++] = (sk_output_spec){SK_OUTPUT_PAFS, "fields", 4};
    return m;
}

static const sk_task all[] = {SK_TASK_UNKNOWN,
                              SK_TASK_DETECT,
                              SK_TASK_POSE,
                              SK_TASK_OBB,
                              SK_TASK_SEGMENT,
                              SK_TASK_CLASSIFY,
                              SK_TASK_CENTROID,
                              SK_TASK_CENTERED_INSTANCE,
                              SK_TASK_SINGLE_INSTANCE,
                              SK_TASK_BOTTOMUP,
                              SK_TASK_MULTICLASS_BOTTOMUP,
                              SK_TASK_MULTICLASS_TOPDOWN};
enum { N_ALL = sizeof all / sizeof *all, CASES = 14 };

/* Models and settings that are somewhat other than usual. */
static void vary(int how, sk_model *m, sk_task_settings *s)
{
    switch (how) {
    case 1: s->net_height = 100, s->net_width = 70; break;
    case 2: s->rect = 0; break;
    case 3: m->input.fixed_size = 1; break;
    case 4: m->input.fixed_size = 1, s->net_width = 96; break;
    case 5: m->input.rgb = 0, m->sleap.legacy = 1; break;
    case 6: m->input.channels = 4 - m->input.channels, m->sleap.input_scale = 0.5f; break;
    case 7: m->input.scale = 0.01f, m->input.mean[1] = 0.5f, m->input.std[2] = 0.25f; break;
    case 8: s->net_height = 20000; break;
    case 9: m->yolo.end2end = 1, m->sleap.target_size[0] = 50, m->sleap.target_size[1] = 70; break;
    case 10:
        m->yolo.n_heads = 1, m->yolo.nms_tail = 1, m->sleap.crop_size[0] = m->sleap.crop_size[1] = 0;
        break;
    case 11: m->input.height = m->input.width = 0, m->input.stride = 0, m->sleap.pad_to_stride = 0; break;
    case 12: s->max_crops = 0, s->yolo.max_det = 7, s->sleap.max_instances = 3; break;
    case 13:
        s->crop_size = 40, s->max_crops = 5, m->sleap.crop_size[0] = 0, m->sleap.ensure_grayscale = 1;
        break;
    default: break;
    }
}

static void say_plan(const sk_task_stage *s)
{
    const sk_task_plan *p = sk_task_stage_plan(s);
    recorded_say(
        "  %d: %d x %d x %d, u8 %d, %.6g, %.6g %.6g %.6g, %.6g %.6g %.6g, i420 %d, cut %d, %d of %d; %s",
        p->takes_crops, p->width, p->height, p->channels, p->u8, (double)p->scale, (double)p->mean[0],
        (double)p->mean[1], (double)p->mean[2], (double)p->std[0], (double)p->std[1], (double)p->std[2],
        p->i420, p->cut_tail, p->capacity, p->n_keypoints, p->steps);
    sk_task_fit fit;
    memset(&fit, 0, sizeof fit);
    if (sk_task_stage_fit(s, &fit))
        recorded_say("  fit %d bgr %d legacy %d grey %d, %d x %d, %d x %d", (int)fit.rule, fit.bgr,
                     fit.legacy, (int)fit.grey, fit.box.width, fit.box.resized_height, fit.sizes.width,
                     fit.sizes.sized_height);
    const sk_yolo_settings *rules = sk_task_stage_found_rules(s);
    if (rules)
        recorded_say("  rules %.6g %.6g %d", (double)rules->confidence, rules->iou, rules->max_det);
    sk_peak_wish wish;
    memset(&wish, 0, sizeof wish);
    if (sk_task_stage_peaks(s, &wish))
        recorded_say("  peaks %d %.6g %d", wish.local, (double)wish.threshold, wish.n_channels);
    const sk_crop_form *f = sk_task_stage_crop_form(s);
    if (f)
        recorded_say("  crops %d, %d x %d x %d u8 %d of %d x %d, swap %d, fitted %d x %d, sized %d x %d, "
                     "grey %d %d, %d x "
                     "%d, %d x %d, %.6g, masks %d",
                     (int)f->rule, f->width, f->height, f->channels, f->u8, f->frame_width, f->frame_height,
                     f->swap, f->fitted_width, f->fitted_height, f->sized_width, f->sized_height, f->grey,
                     f->old_sizing, f->crop_width, f->crop_height, f->scaled_width, f->scaled_height,
                     (double)f->input_scale, f->masks);
}

enum { W = 90, H = 60 };
static uint8_t pixels[W * H * 4];
static float input[700 * 700 * 3];

static sk_frame frame_of(sk_pixel_format format)
{
    sk_frame f = SK_FRAME_INIT;
    f.format = format;
    f.width = W;
    f.height = H;
    f.stride = W * (format == SK_PIXEL_GRAY ? 1 : format == SK_PIXEL_RGBA ? 4 : 3);
    f.data = pixels;
    return f;
}

static double sum_of_floats(const float *v, size_t n)
{
    recorded_sum sum = {0};
    for (size_t i = 0; i < n; i++)
        recorded_add(&sum, (double)v[i]);
    return sum.sum;
}

static void say_input(sk_task_stage *s, const sk_frame *frame)
{
    const sk_task_plan *p = sk_task_stage_plan(s);
    const size_t n = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    sk_error err = {0};
    if (n > sizeof input / sizeof *input)
        return;
    sk_status status = sk_task_stage_input(s, frame, SK_TASK_INPUT_F32, input, &err);
    recorded_say("  frame %d as floats %.8g %s", (int)frame->format,
                 status == SK_OK ? sum_of_floats(input, n) : 0, status == SK_OK ? "" : err.message);
    status = sk_task_stage_input(s, frame, SK_TASK_INPUT_U8, input, &err);
    recorded_say("  frame %d as bytes #%llx %s", (int)frame->format,
                 status == SK_OK ? (unsigned long long)case_hash((const uint8_t *)input, n) : 0,
                 status == SK_OK ? "" : err.message);
}

static void stages_of_whole_frames(void **state)
{
    (void)state;
    case_noise(pixels, sizeof pixels, 3);
    for (int i = 0; i < N_ALL; i++)
        for (int how = 0; how < CASES; how++) {
            sk_model m = model_for(all[i]);
            sk_task_settings s = sk_task_settings_defaults();
            sk_task_stage *stage = NULL;
            sk_error err = {0};
            int32_t w = 0, h = 0;
            vary(how, &m, &s);
            recorded_say("%s %d", sk_task_name(all[i]), how);
            if (sk_task_input_size(&m, &s, W, H, &w, &h))
                recorded_say("  input %d x %d", w, h);
            if (sk_task_i420_above(&m, &s, &w, &h))
                recorded_say("  i420 above %d x %d", w, h);
            if (sk_task_stage_open(&m, &s, W, H, &stage, &err) != SK_OK) {
                recorded_say("  refused: %s", err.message);
                assert_null(stage);
                continue;
            }
            say_plan(stage);
            for (int format = 0; format < 3; format++) {
                static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY};
                const sk_frame frame = frame_of(formats[format]);
                if (how % 3 == 0 || format == how % 3)
                    say_input(stage, &frame);
            }
            const sk_frame wide = frame_of(SK_PIXEL_RGBA);
            if (how == 0)
                say_input(stage, &wide);
            sk_frame wrong = frame_of(SK_PIXEL_RGB);
            wrong.width--;
            assert_int_not_equal(sk_task_stage_input(stage, &wrong, SK_TASK_INPUT_F32, input, &err), SK_OK);
            wrong.data = NULL;
            assert_int_equal(sk_task_stage_input(stage, &wrong, SK_TASK_INPUT_F32, input, &err), SK_ERR_ARG);
            assert_int_equal(sk_task_stage_input(stage, NULL, SK_TASK_INPUT_F32, input, &err), SK_ERR_ARG);
            wrong = frame_of(SK_PIXEL_RGB);
            assert_int_equal(sk_task_stage_input(stage, &wrong, (sk_task_input)9, input, &err), SK_ERR_ARG);
            assert_int_equal(sk_task_stage_input(stage, &wrong, SK_TASK_INPUT_U8, NULL, &err), SK_ERR_ARG);
            sk_task_stage_close(&stage);
        }
    static const int32_t sizes[][2] = {{0, 5}, {5, 0}, {65537, 5}, {5, 65537}, {65536, 1}};
    for (int i = 0; i < 5; i++) {
        sk_model m = model_for(SK_TASK_DETECT);
        sk_task_stage *stage = NULL;
        sk_error err = {0};
        const sk_status status = sk_task_stage_open(&m, NULL, sizes[i][0], sizes[i][1], &stage, &err);
        recorded_say("%d x %d: %s", sizes[i][0], sizes[i][1], status == SK_OK ? "opens" : err.message);
        sk_task_stage_close(&stage);
    }
    recorded_check("tests/fixtures/tasks/recorded/stages.txt");
}

static void say_found(const char *what, const sk_instances *list)
{
    recorded_sum sum = {0}, points = {0};
    for (int32_t i = 0; i < list->count; i++) {
        const sk_found *f = &list->items[i];
        recorded_add(&sum, f->has + 0.1 * f->class_id + (double)f->score + f->track_id);
        for (int k = 0; k < 4 && f->has & SK_HAS_BOX; k++)
            recorded_add(&sum, (double)f->box[k]);
        for (int k = 0; k < 5 && f->has & SK_HAS_OBB; k++)
            recorded_add(&sum, (double)f->obb[k]);
        for (int32_t k = 0; k < list->n_keypoints && f->has & SK_HAS_KEYPOINTS; k++) {
            recorded_add(&points, (double)list->keypoints[f->first_keypoint + k].x);
            recorded_add(&points, (double)list->keypoints[f->first_keypoint + k].y);
            recorded_add(&points, (double)list->keypoints[f->first_keypoint + k].score);
        }
    }
    recorded_say("  %s %d: %.7g %.7g", what, list->count, sum.sum, points.sum);
}

/* Outputs of a batch of two, image by image; with a table of peaks behind them, one that says nothing, one that says that the maps
 * are whole, one of another form. */
static void outputs_of_whole_frames(void **state)
{
    (void)state;
    static float data[2 * 12 * 24 * 24];
    static int32_t table[2 * 40000];
    unsigned dice = 5;
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        data[i] = (float)recorded_between(&dice, 0, 1);
    for (int i = 1; i < N_ALL; i++) {
        sk_model m = model_for(all[i]);
        sk_task_settings s = sk_task_settings_defaults();
        sk_task_stage *stage = NULL;
        sk_instances out;
        sk_error err = {0};
        s.sleap.peak_threshold = 0.6f;
        s.keep.min_visible_nodes = 3;
        if (sk_task_stage_open(&m, &s, W, H, &stage, &err) != SK_OK)
            continue;
        const sk_task_plan *plan = sk_task_stage_plan(stage);
        sk_tensor t[4];
        for (int k = 0; k < m.n_outputs; k++) {
            const int64_t channels = m.outputs[k].kind == SK_OUTPUT_PAFS         ? 4
                                     : m.outputs[k].kind == SK_OUTPUT_CLASS_MAPS ? 2
                                     : all[i] == SK_TASK_CENTROID                ? 1
                                                                                 : 3;
            t[k] = (sk_tensor){SK_DTYPE_F32, sk_shape_of(4, (int64_t)2, channels, (int64_t)24, (int64_t)24),
                               data};
            if (m.outputs[k].kind == SK_OUTPUT_YOLO)
                t[k].shape = sk_shape_of(3, (int64_t)2,
                                         (int64_t)(4 + 2 + 3 * plan->n_keypoints + (all[i] == SK_TASK_OBB)),
                                         (int64_t)30);
            if (m.outputs[k].kind == SK_OUTPUT_CLASS_SCORES)
                t[k].shape = sk_shape_of(2, (int64_t)2, (int64_t)2);
        }
        assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &out, &err), &err);
        for (int image = -1; image < 3; image++) {
            const sk_status status =
                sk_task_stage_result(stage, t, m.n_outputs, image, SK_OUTPUTS_WHOLE, &out, &err);
            recorded_say("%s image %d: %s", sk_task_name(all[i]), image, status == SK_OK ? "" : err.message);
            if (status == SK_OK) {
                say_found("found", &out);
                sk_task_stage_keep(stage, &out);
                say_found("kept", &out);
            }
        }
        sk_peak_wish wish;
        memset(&wish, 0, sizeof wish);
        if (sk_task_stage_peaks(stage, &wish)) {
            const int32_t words = sk_peak_layout_of(&wish).words;
            assert_true(2 * words <= (int32_t)(sizeof table / sizeof *table));
            for (int how = 0; how < 3; how++) {
                memset(table, 0, sizeof table);
                table[words] = how == 1 ? SK_PEAK_WHOLE : SK_PEAK_COMPLETE;
                t[m.n_outputs] = (sk_tensor){
                    SK_DTYPE_I32, sk_shape_of(2, (int64_t)2, (int64_t)(words - (how == 2))), table};
                for (int image = 0; image < 3; image++) {
                    const sk_status status =
                        sk_task_stage_result(stage, t, m.n_outputs + 1, image, SK_OUTPUTS_WHOLE, &out, &err);
                    recorded_say("  table %d image %d: %s, whole %d", how, image,
                                 status == SK_OK ? "" : err.message,
                                 image < 2 && sk_task_outputs_whole(t, m.n_outputs + 1, image));
                    if (status == SK_OK)
                        say_found("found", &out);
                }
            }
        }
        sk_instances_free(&out);
        sk_task_stage_close(&stage);
    }
    recorded_check("tests/fixtures/tasks/recorded/outputs.txt");
}

/* A crop's outputs as its network would give them, of chance. */
static sk_status decode_crop(sk_task_stage *second, const sk_model *m, int32_t crop, unsigned *dice,
                             sk_instances *out, sk_error *err)
{
    static float maps[3 * 16 * 16], vectors[2], table[4 * 12];
    if (m->family == SK_FAMILY_YOLO) {
        for (int i = 0; i < 48; i++) {
            const int c = i % 12;
            table[i] = (float)recorded_between(dice,
                                               c < 2   ? 0
                                               : c < 4 ? 30
                                                       : 0,
                                               c < 2    ? 20
                                               : c < 4  ? 60
                                               : c == 4 ? 1
                                               : c == 5 ? 0
                                                        : 60);
        }
        const sk_tensor t = {SK_DTYPE_F32, sk_shape_of(3, (int64_t)1, (int64_t)4, (int64_t)12), table};
        return sk_task_stage_crop_result(second, crop, &t, 1, 0, SK_OUTPUTS_FOUND, out, err);
    }
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        maps[i] = (float)recorded_between(dice, 0, 0.9);
    vectors[0] = (float)recorded_chance(dice);
    vectors[1] = 1 - vectors[0];
    const sk_tensor t[2] = {
        {SK_DTYPE_F32, sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)16, (int64_t)16), maps},
        {SK_DTYPE_F32, sk_shape_of(2, (int64_t)1, (int64_t)2), vectors}};
    return sk_task_stage_crop_result(second, crop, t, m->n_outputs, 0, SK_OUTPUTS_WHOLE, out, err);
}

static void run_pair(sk_task_stage *first, sk_task_stage *second, const sk_model *a, const sk_model *b)
{
    unsigned dice = 21;
    sk_error err = {0};
    sk_instances found, out;
    const sk_task_plan *p = sk_task_stage_plan(second);
    assert_ok(sk_instances_alloc(sk_task_stage_plan(first)->capacity, 1, &found, &err), &err);
    assert_ok(sk_instances_alloc(p->capacity, p->n_keypoints, &out, &err), &err);
    for (int i = 0; i < 7; i++) {
        sk_found *f = sk_instances_add(&found);
        if (!f)
            break;
        const float x = (float)recorded_between(&dice, -5, 70), y = (float)recorded_between(&dice, -5, 45);
        f->class_id = i % 2;
        f->score = 0.5f + 0.05f * (float)i;
        f->has = a->family == SK_FAMILY_YOLO ? SK_HAS_BOX : SK_HAS_KEYPOINTS;
        f->has |= a->task == SK_TASK_OBB ? SK_HAS_OBB : 0;
        f->box[0] = x, f->box[1] = y, f->box[2] = x + 22, f->box[3] = y + (i == 3 ? 0 : 15);
        f->obb[0] = x + 11, f->obb[1] = y + 7, f->obb[2] = 24, f->obb[3] = 10, f->obb[4] = 0.4f * (float)i;
        found.keypoints[f->first_keypoint] = (sk_keypoint){i == 4 ? NAN : x + 11, y + 7, 1};
    }
    for (int format = 0; format < 2; format++) {
        const sk_frame frame = frame_of(format ? SK_PIXEL_GRAY : SK_PIXEL_RGB);
        int32_t n = 0;
        const size_t bytes = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
        sk_crop_list list;
        assert_ok(sk_task_stage_find_crops(second, &found, &out, &list, &err), &err);
        recorded_sum places = {0};
        for (int32_t i = 0; i < list.count; i++)
            recorded_add(&places,
                         (double)(list.items[i].left + 2 * list.items[i].top + 3 * list.items[i].width +
                                  5 * list.items[i].height + 7 * list.items[i].angle) +
                             11 * list.items[i].turned);
        recorded_say("  %d places %.7g, masks %d", list.count, places.sum, list.masks != NULL);
        assert_ok(sk_task_stage_crops(second, &frame, &found, &out, &n, &err), &err);
        assert_int_equal(n, list.count);
        assert_true(bytes <= sizeof input / sizeof *input);
        recorded_sum sum = {0};
        for (int32_t i = 0; i < n; i++) {
            assert_ok(sk_task_stage_crop_input(second, i, SK_TASK_INPUT_F32, input, &err), &err);
            recorded_add(&sum, sum_of_floats(input, bytes));
            if (p->u8)
                assert_ok(sk_task_stage_crop_input(second, i, SK_TASK_INPUT_U8, input, &err), &err);
            assert_ok(decode_crop(second, b, i, &dice, &out, &err), &err);
        }
        assert_int_equal(sk_task_stage_crop_input(second, n, SK_TASK_INPUT_F32, input, &err), SK_ERR_ARG);
        assert_int_equal(sk_task_stage_crop_input(second, -1, SK_TASK_INPUT_F32, input, &err), SK_ERR_ARG);
        assert_ok(sk_task_stage_crops_end(second, &out, &err), &err);
        sk_task_stage_keep(second, &out);
        recorded_say("  pixels ~%.7g", sum.sum);
        say_found("found", &out);
    }
    sk_instances_free(&found);
    sk_instances_free(&out);
}

static void stages_in_twos(void **state)
{
    (void)state;
    case_noise(pixels, sizeof pixels, 3);
    for (int i = 0; i < N_ALL; i++)
        for (int j = 0; j < N_ALL; j++)
            for (int how = 0; how < 6; how++) {
                sk_model a = model_for(all[i]), b = model_for(all[j]);
                sk_task_settings s = sk_task_settings_defaults();
                sk_task_stage *first = NULL, *second = NULL;
                sk_error err = {0};
                if (sk_task_stage_open(&a, &s, W, H, &first, &err) != SK_OK)
                    continue;
                static const sk_choice choices[] = {SK_CHOICE_OFF, SK_CHOICE_AUTO, SK_CHOICE_ON};
                s.crop_turned = choices[how % 3];
                s.mask_neighbours = choices[(how + how / 3) % 3];
                s.max_crops = how == 4 ? 3 : how == 5 ? 1025 : s.max_crops;
                s.crop_margin = how == 2 ? 0.3f : s.crop_margin;
                if (sk_task_stage_open_second(&b, first, &s, &second, &err) != SK_OK) {
                    if (how == 0 || how == 5)
                        recorded_say("%s, %s: %s", sk_task_name(all[i]), sk_task_name(all[j]), err.message);
                } else {
                    recorded_say("%s, %s, %d", sk_task_name(all[i]), sk_task_name(all[j]), how);
                    say_plan(second);
                    run_pair(first, second, &a, &b);
                    const sk_frame frame = frame_of(SK_PIXEL_RGB);
                    assert_int_equal(sk_task_stage_input(second, &frame, SK_TASK_INPUT_U8, input, &err),
                                     SK_ERR_ARG);
                }
                sk_task_stage_close(&second);
                sk_task_stage_close(&first);
            }
    recorded_check("tests/fixtures/tasks/recorded/twos.txt");
}

/* What arranged models give together, what they wish, and why others do not go together. */
static void arranged(void **state)
{
    (void)state;
    for (int i = 0; i < N_ALL; i++)
        for (int j = -1; j < N_ALL; j++) {
            sk_model a = model_for(all[i]), b = model_for(j < 0 ? SK_TASK_UNKNOWN : all[j]),
                     *models[2] = {&a, &b};
            const int32_t n = j < 0 ? 1 : 2;
            sk_error err = {0};
            if (sk_task_arrange(models, n, &err) != SK_OK) {
                recorded_say("%s %s: %s", sk_task_name(all[i]), j < 0 ? "" : sk_task_name(all[j]),
                             err.message);
                continue;
            }
            const sk_task_settings s = sk_task_settings_defaults();
            sk_task_description d;
            assert_ok(sk_task_describe((const sk_model *const *)models, n, &s, &d, &err), &err);
            recorded_say("%s %s: %s, %d classes, %d, %d keypoints '%s' '%s', %d edges, has %x, %d, heads %d, "
                         "colours %d, %d %d "
                         "%d",
                         sk_task_name(models[0]->task), n > 1 ? sk_task_name(models[1]->task) : "",
                         sk_task_name(d.task), d.n_classes, d.identities, d.n_keypoints,
                         d.n_keypoints ? d.keypoint_names[0] : "",
                         d.n_keypoints ? d.keypoint_names[d.n_keypoints - 1] : "", d.n_edges, d.has,
                         d.capacity, (int)d.heads, (int)d.colours, d.rectangles, d.fits_all, d.takes_nv12);
            sk_task_description_free(&d);
            for (int wish = 0; wish < 9; wish++)
                for (int fixed = 0; fixed < 2; fixed++) {
                    static const sk_heads heads[] = {SK_HEADS_AUTO, SK_HEADS_ONE_TO_MANY,
                                                     SK_HEADS_ONE_TO_ONE};
                    static const sk_rect rects[] = {SK_RECT_AUTO, SK_RECT_OFF, SK_RECT_ON};
                    models[0]->input.fixed_size = fixed;
                    models[0]->yolo.end2end = wish % 2;
                    const sk_status status = sk_task_check_wishes((const sk_model *const *)models, n,
                                                                  heads[wish % 3], rects[wish / 3], &err);
                    if (status != SK_OK)
                        recorded_say("  %d %d: %s", wish, fixed, err.message);
                }
        }
    recorded_check("tests/fixtures/tasks/recorded/arranged.txt");
}

/* What a person's settings mean for the stages. */
static void settings_reach_the_stages(void **state)
{
    (void)state;
    sk_detector_settings d;
    sk_detector_defaults(&d);
    for (int how = 0; how < 2; how++) {
        const int32_t classes[2] = {1, 3};
        if (how) {
            d.height = 100, d.width = 200, d.rect = SK_RECT_OFF, d.confidence = 0.5f, d.iou = 0.25,
            d.max_det = 9;
            d.agnostic = true, d.classes = classes, d.n_classes = 2, d.peak_threshold = 0.75f,
            d.max_instances = 4;
            d.crop_turned = SK_CHOICE_ON, d.mask_neighbours = SK_CHOICE_AUTO, d.obb_quarter = true;
            d.sleap.min_visible_nodes = 2, d.sleap.min_instance_score = 0.5f;
        }
        const sk_task_settings s = sk_task_settings_of(&d);
        recorded_say("%d: %.6g %.6g %d %d %d %d, %.6g %.6g %d %d %d, %.6g %d %d %.6g, %d x %d rect %d, %d "
                     "%.6g %d, %d %d, %d "
                     "%.6g",
                     how, (double)s.yolo.confidence, s.yolo.iou, s.yolo.max_det, s.yolo.agnostic,
                     s.yolo.n_classes, (int)s.yolo.obb_form, (double)s.sleap.peak_threshold,
                     (double)s.sleap.centroid_threshold, (int)s.sleap.refinement, s.sleap.patch,
                     s.sleap.max_instances, (double)s.sleap.centroid_nms, s.sleap.nms_size,
                     s.sleap.keep_empty, (double)s.sleap.min_instance_peaks, s.net_width, s.net_height,
                     s.rect, s.crop_size, (double)s.crop_margin, s.max_crops, (int)s.crop_turned,
                     (int)s.mask_neighbours, s.keep.min_visible_nodes, (double)s.keep.min_instance_score);
        recorded_say("  %d %.6g %.6g %.6g %d %d", s.sleap.paf.n_points,
                     (double)s.sleap.paf.max_edge_length_ratio, (double)s.sleap.paf.dist_penalty_weight,
                     (double)s.sleap.paf.min_line_score, s.sleap.paf.min_instance_peaks,
                     s.sleap.paf.max_peaks_per_node);
    }
    recorded_check("tests/fixtures/tasks/recorded/settings.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stages_of_whole_frames),
                                       cmocka_unit_test(stages_in_twos),
                                       cmocka_unit_test(outputs_of_whole_frames), cmocka_unit_test(arranged),
                                       cmocka_unit_test(settings_reach_the_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
