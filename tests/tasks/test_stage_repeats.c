/* SPDX-License-Identifier: Apache-2.0 */
/* A stage is asked again and again, by frames of changing formats and crops of changing sizes: what it makes of one never depends on
 * those before it. */
#include "support/test.h"

#include "base/instances.h"
#include "tasks/arrange.h"
#include "tasks/resize_planar.h"
#include "tasks/stage.h"
#include "tasks/turned.h"

#include <stdlib.h>
#include <string.h>

enum { W = 150, H = 100, SIDE = 64 };

static uint8_t pixels[3 * W * H], planes[W * H * 2];
static sk_error err;

static void fill(void)
{
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
    for (size_t i = 0; i < sizeof planes; i++)
        planes[i] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
}

static const sk_pixel_format formats[] = {SK_PIXEL_RGB, SK_PIXEL_BGR, SK_PIXEL_GRAY, SK_PIXEL_I420};
enum { FORMATS = sizeof formats / sizeof *formats };

static sk_frame frame_of(sk_pixel_format format)
{
    sk_frame f = {.size = sizeof f, .format = format, .width = W, .height = H, .data = pixels};
    f.stride = format == SK_PIXEL_GRAY || format == SK_PIXEL_I420 ? W : 3 * W;
    if (format == SK_PIXEL_I420) {
        f.chroma = planes;
        f.chroma_v = planes + W / 2 * (H / 2);
        f.chroma_stride = W / 2;
    }
    return f;
}

static sk_model model_for(sk_task task)
{
    static const char *const names[2] = {"a", "b"};
    static const int32_t bones[1][2] = {{0, 1}};
    sk_model m = {.path = sk_task_name(task),
                  .n_classes = 2,
                  .class_names = names,
                  .input = {.channels = 3, .height = SIDE, .width = SIDE, .stride = 32, .rgb = 1}};
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
    m.n_keypoints = 2;
    m.keypoint_names = names;
    m.sleap = (sk_sleap_spec){
        .input_scale = 0.5f, .pad_to_stride = 16, .crop_size = {32, 32}, .n_edges = 1, .edges = bones};
    m.outputs[0] = (sk_output_spec){SK_OUTPUT_CONFMAPS, "maps", 2};
    return m;
}

static void frames_of_changing_formats(void **state)
{
    (void)state;
    static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_CLASSIFY, SK_TASK_CENTROID,
                                    SK_TASK_SINGLE_INSTANCE};
    static float alone[FORMATS][3 * 160 * 160], again[3 * 160 * 160];
    fill();
    for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
        const sk_model m = model_for(tasks[t]);
        sk_task_stage *s = NULL;
        size_t bytes = 0;
        for (int i = 0; i < FORMATS; i++) {
            const sk_frame frame = frame_of(formats[i]);
            assert_ok(sk_task_stage_open(&m, NULL, W, H, &s, &err), &err);
            const sk_task_plan *p = sk_task_stage_plan(s);
            bytes = (size_t)(p->width * p->height * p->channels) * sizeof(float);
            assert_true(bytes <= sizeof again);
            assert_ok(sk_task_stage_input(s, &frame, SK_TASK_INPUT_F32, alone[i], &err), &err);
            for (int k = 0; k < i; k++) /* they are seen as they are */
                assert_true(memcmp(alone[k], alone[i], bytes) != 0);
            sk_task_stage_close(&s);
        }
        assert_ok(sk_task_stage_open(&m, NULL, W, H, &s, &err), &err);
        for (int i = 0; i < FORMATS * FORMATS * 2; i++) { /* each after each, and twice */
            const int now = i % 2 ? i / 2 / FORMATS : i / 2 % FORMATS;
            const sk_frame frame = frame_of(formats[now]);
            memset(again, 0x7f, bytes);
            assert_ok(sk_task_stage_input(s, &frame, SK_TASK_INPUT_F32, again, &err), &err);
            assert_memory_equal(again, alone[now], bytes);
        }
        sk_task_stage_close(&s);
    }
}

/* --- crops --- */

static sk_task_stage *first, *second;
static sk_model finder, seer;

static void open_pair(sk_task task, bool turned)
{
    sk_task_settings s = sk_task_settings_defaults();
    finder = model_for(turned ? SK_TASK_OBB : SK_TASK_DETECT);
    seer = model_for(task);
    s.crop_turned = turned ? SK_CHOICE_ON : SK_CHOICE_OFF;
    s.mask_neighbours = turned ? SK_CHOICE_ON : SK_CHOICE_OFF;
    assert_ok(sk_task_stage_open(&finder, &s, W, H, &first, &err), &err);
    assert_ok(sk_task_stage_open_second(&seer, first, &s, &second, &err), &err);
}

static void close_pair(void)
{
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
}

/* Boxes of which two that follow differ in one side, in both, in place alone. */
static const float boxes[][4] = {{10, 10, 50, 40}, {10, 10, 50, 60}, {10, 10, 90, 60}, {20, 30, 100, 80},
                                 {0, 0, 150, 100}, {10, 10, 74, 74}, {5, 5, 69, 69},   {1, 2, 129, 98},
                                 {60, 60, 61, 90}, {60, 60, 90, 61}};
enum { BOXES = sizeof boxes / sizeof *boxes };

static void cut(const sk_frame *frame, int32_t from, int32_t count, float *out, size_t each)
{
    sk_instances found = {0}, result = {0};
    int32_t n = 0;
    assert_ok(sk_instances_alloc(300, 0, &found, &err), &err);
    assert_ok(sk_instances_alloc(300, seer.n_keypoints, &result, &err), &err);
    for (int32_t i = 0; i < count; i++) {
        const float *b = boxes[from + i];
        sk_found *f = sk_instances_add(&found);
        f->has = SK_HAS_BOX | (finder.task == SK_TASK_OBB ? SK_HAS_OBB : 0);
        f->score = 0.9f;
        memcpy(f->box, b, sizeof f->box);
        f->obb[0] = (b[0] + b[2]) / 2, f->obb[1] = (b[1] + b[3]) / 2;
        f->obb[2] = b[2] - b[0], f->obb[3] = b[3] - b[1], f->obb[4] = 0.3f * (float)(from + i);
    }
    assert_ok(sk_task_stage_crops(second, frame, &found, &result, &n, &err), &err);
    assert_int_equal(n, count);
    for (int32_t i = 0; i < n; i++)
        assert_ok(sk_task_stage_crop_input(second, i, SK_TASK_INPUT_F32, out + (size_t)i * each, &err), &err);
    sk_instances_free(&found);
    sk_instances_free(&result);
}

static void crops_of_changing_sizes(void **state)
{
    (void)state;
    static const sk_task tasks[] = {SK_TASK_POSE, SK_TASK_POSE, SK_TASK_CENTERED_INSTANCE};
    static float together[BOXES * 3 * SIDE * SIDE], alone[3 * SIDE * SIDE];
    fill();
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < FORMATS; i++) {
            const sk_frame frame = frame_of(formats[i]);
            const bool turned = t == 1;
            open_pair(tasks[t], turned);
            const sk_task_plan *p = sk_task_stage_plan(second);
            const size_t each = (size_t)(p->width * p->height * p->channels);
            assert_true(each <= 3 * SIDE * SIDE);
            if (turned) { /* neighbours are seen: one box a frame */
                for (int k = 0; k < BOXES; k++)
                    cut(&frame, k, 1, together + (size_t)k * each, each);
            } else {
                cut(&frame, 0, BOXES, together, each);
            }
            close_pair();
            for (int k = 0; k < BOXES; k++) {
                open_pair(tasks[t], turned);
                cut(&frame, k, 1, alone, each);
                assert_memory_equal(alone, together + (size_t)k * each, each * sizeof *alone);
                close_pair();
            }
        }
}

/* --- planes --- */

static void planes_of_changing_sizes(void **state)
{
    (void)state;
    static const int32_t sizes[][4] = {
        {100, 80, 37, 29}, {101, 80, 37, 29}, {101, 81, 37, 29}, {101, 81, 38, 29}, {101, 81, 38, 30},
        {100, 81, 38, 30}, {100, 80, 38, 30}, {100, 80, 37, 30}, {100, 80, 37, 29}, {100, 80, 37, 29}};
    static uint8_t again[3 * 40 * 40], alone[3 * 40 * 40];
    sk_resize_planar *kept = NULL, *fresh = NULL;
    fill();
    assert_ok(sk_resize_planar_open(40, 40, &kept, &err), &err);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const int32_t *z = sizes[i];
        sk_frame frame = frame_of(SK_PIXEL_I420);
        frame.width = z[0];
        frame.height = z[1];
        memset(again, 1, sizeof again);
        memset(alone, 1, sizeof alone);
        assert_ok(sk_resize_planar_open(40, 40, &fresh, &err), &err);
        assert_true(sk_resize_planar_fit(fresh, z[0], z[1], z[2], z[3]));
        assert_true(sk_resize_planar_fit(kept, z[0], z[1], z[2], z[3]));
        sk_resize_planar_rows(fresh, &frame, alone, 3 * z[2], 0, z[3]);
        sk_resize_planar_rows(kept, &frame, again, 3 * z[2], 0, z[3]);
        assert_memory_equal(alone, again, sizeof alone);
        sk_resize_planar_close(&fresh);
    }
    /* what it was not opened for, and what has rules of its own */
    assert_false(sk_resize_planar_fit(kept, 100, 80, 41, 40) || sk_resize_planar_fit(kept, 100, 80, 40, 41));
    assert_true(sk_resize_planar_fit(kept, 100, 81, 40, 40));
    assert_false(sk_resize_planar_fit(kept, 40, 30, 40, 30) || sk_resize_planar_fit(kept, 80, 60, 40, 30));
    assert_true(sk_resize_planar_fit(kept, 80, 30, 40, 30) && sk_resize_planar_fit(kept, 40, 60, 40, 30));
    sk_resize_planar_close(&kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_changing_formats),
        cmocka_unit_test(crops_of_changing_sizes),
        cmocka_unit_test(planes_of_changing_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
