/* SPDX-License-Identifier: Apache-2.0 */
/* Raw heads of a YOLO network: all that a task needs, each of its size, for each level. */
#include "support/test.h"

#include "tasks/stage.h"
#include "tasks/yolo_heads.h"

#include <math.h>
#include <string.h>

enum { LEVELS = 2, MOST = 8 };

static float values[4096];
static sk_yolo_heads bound;
static sk_error err;

/* Two levels of 4 x 6 and 2 x 3 places, each with a box, classes, and what the task has more. */
static sk_yolo_spec spec_of(sk_task task, sk_map maps[MOST])
{
    sk_yolo_spec s = {.n_levels = LEVELS, .stride = {8, 16}, .reg_max = 2, .n_classes = 3};
    s.n_keypoints = task == SK_TASK_POSE ? 2 : 0;
    s.keypoint_dims = 3;
    for (int l = 0; l < LEVELS; l++) {
        const int h = l ? 2 : 4, w = l ? 3 : 6;
        maps[s.n_heads] = sk_map_planar(values, 8, h, w);
        s.heads[s.n_heads++] = (sk_head_spec){SK_HEAD_BOX, l};
        maps[s.n_heads] = sk_map_planar(values, 3, h, w);
        s.heads[s.n_heads++] = (sk_head_spec){SK_HEAD_CLASS, l};
        if (task == SK_TASK_DETECT)
            continue;
        maps[s.n_heads] = sk_map_planar(values, task == SK_TASK_POSE ? 6 : 1, h, w);
        s.heads[s.n_heads++] = (sk_head_spec){task == SK_TASK_POSE ? SK_HEAD_KEYPOINTS : SK_HEAD_ANGLE, l};
    }
    return s;
}

static sk_status bind(const sk_yolo_spec *s, sk_task task, const sk_map *maps, int32_t n, int32_t most)
{
    memset(&bound, 0x55, sizeof bound);
    return sk_yolo_heads_bind(&bound, s, task, maps, n, most, &err);
}

static void refused(sk_status status, const char *why)
{
    if (status != SK_ERR_MISMATCH || !strstr(err.message, why))
        fail_msg("%s, not '%s'", status == SK_OK ? "taken" : err.message, why);
}

static const sk_task tasks[] = {SK_TASK_DETECT, SK_TASK_POSE, SK_TASK_OBB};

static void levels_lie_one_behind_the_other(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        sk_map maps[MOST];
        const sk_yolo_spec s = spec_of(tasks[t], maps);
        assert_ok(bind(&s, tasks[t], maps, s.n_heads, 30), &err);
        assert_ok(bind(&s, tasks[t], maps, s.n_heads + 1, 30), &err); /* more than it needs */
        assert_true(bound.levels[0].first == 0 && bound.levels[0].places == 24 && bound.levels[0].width == 6);
        assert_true(bound.levels[1].first == 24 && bound.levels[1].places == 6 && bound.levels[1].width == 3);
        assert_true(bound.levels[0].stride == 8 && bound.levels[1].stride == 16);
        for (int32_t place = 0; place < 30; place++)
            assert_ptr_equal(sk_yolo_heads_level(&bound, place), &bound.levels[place >= 24]);
        refused(bind(&s, tasks[t], maps, s.n_heads, 29), "the network gave 30 anchors");
        refused(bind(&s, tasks[t], maps, s.n_heads - 1, 30), "raw heads are expected");
    }
}

static void every_head_is_needed(void **state)
{
    (void)state;
    for (int t = 0; t < 3; t++) {
        sk_map maps[MOST];
        const sk_yolo_spec whole = spec_of(tasks[t], maps);
        for (int32_t i = 0; i < whole.n_heads; i++) {
            sk_yolo_spec s = whole;
            s.heads[i].kind = SK_HEAD_MASK; /* which nobody looks at */
            refused(bind(&s, tasks[t], maps, s.n_heads, 30), i < whole.n_heads / 2
                                                                 ? "level 0 lacks a raw head of its task"
                                                                 : "level 1 lacks a raw head of its task");
            s.heads[i].kind = SK_HEAD_PROTO;
            refused(bind(&s, tasks[t], maps, s.n_heads, 30), "lacks a raw head of its task");
            s = whole;
            s.heads[i].level = -1;
            refused(bind(&s, tasks[t], maps, s.n_heads, 30), "belongs to level -1 of 2");
            s.heads[i].level = LEVELS;
            refused(bind(&s, tasks[t], maps, s.n_heads, 30), "belongs to level 2 of 2");
            sk_map kept = maps[i];
            maps[i].channels++;
            refused(bind(&whole, tasks[t], maps, whole.n_heads, 30), "channels; ");
            maps[i].channels -= 2;
            refused(bind(&whole, tasks[t], maps, whole.n_heads, 30), "channels; ");
            maps[i] = kept;
            maps[i].width++;
            refused(bind(&whole, tasks[t], maps, whole.n_heads, 30), "differ in size");
            maps[i] = kept;
            maps[i].height--;
            refused(bind(&whole, tasks[t], maps, whole.n_heads, 30), "differ in size");
            maps[i] = kept;
        }
        sk_yolo_spec none = whole;
        none.n_levels = 0;
        refused(bind(&none, tasks[t], maps, none.n_heads, 30), "raw heads are expected");
        /* what another task needs may lie there, too, or not */
        sk_map detect[MOST];
        const sk_yolo_spec plain = spec_of(SK_TASK_DETECT, detect);
        if (t)
            refused(bind(&plain, tasks[t], detect, plain.n_heads, 30), "lacks a raw head of its task");
    }
}

/* A model that says that its second output holds what was found, and a network that gave one. */
static void the_output_that_holds_detections(void **state)
{
    (void)state;
    sk_model m = {
        .n_classes = 2, .n_outputs = 2, .input = {.channels = 3, .height = 64, .width = 64, .rgb = 1}};
    m.yolo = (sk_yolo_spec){.n_levels = 3, .stride = {8, 16, 32}, .reg_max = 16, .n_classes = 2};
    m.outputs[0] = (sk_output_spec){.kind = SK_OUTPUT_OTHER, .name = "other"};
    m.outputs[1] = (sk_output_spec){.kind = SK_OUTPUT_YOLO, .name = "output0"};
    sk_model_set_task(&m, SK_TASK_DETECT);
    sk_task_stage *stage = NULL;
    sk_instances out;
    memset(values, 0, sizeof values);
    for (int i = 0; i < 4; i++)
        values[84 * i + 5] = 20; /* x, y, w, h of the sixth place */
    values[84 * 5 + 5] = 0.9f;
    const sk_tensor t[2] = {{SK_DTYPE_F32, sk_shape_of(3, (int64_t)1, (int64_t)9, (int64_t)84), values},
                            {SK_DTYPE_F32, sk_shape_of(3, (int64_t)1, (int64_t)6, (int64_t)84), values}};
    assert_ok(sk_task_stage_open(&m, NULL, 64, 64, &stage, &err), &err);
    assert_ok(sk_instances_alloc(sk_task_stage_plan(stage)->capacity, 0, &out, &err), &err);
    assert_ok(sk_task_stage_result(stage, t, 2, 0, SK_OUTPUTS_WHOLE, &out, &err), &err);
    assert_int_equal(out.count, 1);
    assert_true(out.items[0].class_id == 1 && out.items[0].box[0] == 10 && out.items[0].box[3] == 30);
    refused(sk_task_stage_result(stage, t, 1, 0, SK_OUTPUTS_WHOLE, &out, &err),
            "none of the 1 outputs holds detections");
    m.n_outputs = 1; /* more than the model tells of */
    refused(sk_task_stage_result(stage, t, 2, 0, SK_OUTPUTS_WHOLE, &out, &err),
            "none of the 2 outputs holds detections");
    sk_instances_free(&out);
    sk_task_stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_lie_one_behind_the_other),
        cmocka_unit_test(every_head_is_needed),
        cmocka_unit_test(the_output_that_holds_detections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
