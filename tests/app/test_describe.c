/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/yolo_writer.h"

#include "app/describe.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* What `info` says: the work of one picture at the model's own size and, of models that take any, at the usual ones. */
static void every_head_tells_its_work(void **state)
{
    (void)state;
    static const char *const heads[] = {"Detect", "Pose", "OBB", "Segment"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const yolo_fixture fixture = {.head = heads[i], .f32 = true};
        const sk_describe_settings settings = {0};
        sk_error err = {0};
        sk_model *model = NULL;
        char *text = NULL;
        assert_ok(sk_model_open(yolo_save(&fixture, "head.pt"), &model, &err), &err);
        assert_ok(sk_describe_model(model, &settings, &text, &err), &err);
        static const char *const sizes[] = {"at 320x320", "at 640x640", "at 1024x1024"};
        assert_non_null(strstr(text, "GFLOPs"));
        for (int k = 0; k < 3; k++)
            if (!strstr(text, sizes[k]))
                fail_msg("%s: nothing %s:\n%s", heads[i], sizes[k], text);
        sk_free(text);
        sk_model_close(&model);
    }
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

/* Keypoints and their skeleton: by their names, or by their numbers where there are none; long ones are cut. */
static void skeletons(void **state)
{
    (void)state;
    static const char *const names[] = {"nose", "neck", "tail"};
    static const int32_t edges[9][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 2}, {1, 0},
                                        {2, 1}, {0, 0}, {1, 1}, {2, 2}};
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    const sk_describe_settings settings = {0}, as_json = {.json = true};
    static const struct {
        bool named;
        int32_t edges;
        const char *keypoints, *skeleton; /* null: none is told */
    } rows[] = {
        {true, 2, "keypoints    3: nose, neck, tail\n", "skeleton     2 edges: nose-neck, neck-tail\n"},
        {false, 2, "keypoints    3, unnamed\n", "skeleton     2 edges: 0-1, 1-2\n"},
        {true, 0, "keypoints    3: nose, neck, tail\n", NULL},
        {false, 8, "unnamed\n", "skeleton     8 edges: 0-1, 1-2, 2-0, 0-2, 1-0, 2-1, 0-0, 1-1\n"},
        {false, 9, "unnamed\n", "skeleton     9 edges: 0-1, 1-2, 2-0, 0-2, 1-0, 2-1, 0-0, 1-1, …\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_error err = {0};
        sk_model *model = NULL;
        char *text = NULL;
        assert_ok(sk_model_open(yolo_save(&fixture, "pose.pt"), &model, &err), &err);
        const sk_model before = *model;
        model->n_keypoints = 3;
        model->keypoint_names = rows[i].named ? names : NULL;
        model->n_edges = rows[i].edges;
        model->edges = edges;
        assert_ok(sk_describe_model(model, &settings, &text, &err), &err);
        has(text, rows[i].keypoints);
        if (rows[i].skeleton)
            has(text, rows[i].skeleton);
        else
            assert_null(strstr(text, "skeleton"));
        sk_free(text);
        assert_ok(sk_describe_model(model, &as_json, &text, &err), &err);
        has(text, "\"n_keypoints\": 3");
        has(text, rows[i].named ? "\"neck\"" : "\"keypoints\": []");
        sk_free(text);
        model->n_keypoints = before.n_keypoints;
        model->keypoint_names = before.keypoint_names;
        model->n_edges = before.n_edges;
        model->edges = before.edges;
        sk_model_close(&model);
    }
}

static void lacks(const char *text, const char *part)
{
    if (strstr(text, part))
        fail_msg("'%s' is in:\n%s", part, text);
}

/* What a file leaves out, or says of something that it does not have: no name is an empty one, a point without a name is its number. */
static void what_is_not_there(void **state)
{
    (void)state;
    static const char *const names[] = {"nose", NULL, "tail"};
    static const int32_t edges[3][2] = {{0, 2}, {0, 7}, {9, 2}};
    const yolo_fixture fixture = {.head = "Pose", .f32 = true, .imgsz = 64};
    const sk_describe_settings settings = {0}, as_json = {.json = true};
    sk_error err = {0};
    sk_model *model = NULL;
    char *text = NULL;
    assert_ok(sk_model_open(yolo_save(&fixture, "holes.pt"), &model, &err), &err);
    const sk_model before = *model;
    model->n_keypoints = model->n_edges = 3;
    model->keypoint_names = names;
    model->edges = edges;
    model->class_names = NULL;
    model->n_classes = 2;
    assert_ok(sk_describe_model(model, &settings, &text, &err), &err);
    has(text, "classes      2: , \n");
    has(text, "keypoints    3: nose, , tail\n");
    has(text, "skeleton     3 edges: nose-tail, 0-7, 9-2\n");
    sk_free(text);
    /* an output's stride is told where it has one, of 1 as well */
    sk_output_spec outputs[8] = {0};
    assert_true(model->n_outputs >= 1 && model->n_outputs <= 8);
    memcpy(outputs, model->outputs, (size_t)model->n_outputs * sizeof *outputs);
    for (int stride = 0; stride < 2; stride++) {
        for (int32_t i = 0; i < model->n_outputs; i++)
            outputs[i].stride = (float)stride;
        memcpy(model->outputs, outputs, (size_t)model->n_outputs * sizeof *outputs);
        assert_ok(sk_describe_model(model, &as_json, &text, &err), &err);
        (stride ? has : lacks)(text, "\"stride\": 1.0");
        sk_free(text);
    }
    *model = before;
    sk_model_close(&model);
}

/* Sizes are rounded up to what the network takes: one pixel more is a whole step more. */
static void steps_of_sizes(void **state)
{
    (void)state;
    static const struct {
        int32_t stride, asked;
        const char *shown;
    } rows[] = {{32, 64, " at 64x64\n"}, {32, 65, " at 96x96\n"}, {32, 63, " at 64x64\n"},
                {32, 96, " at 96x96\n"}, {1, 64, " at 64x64\n"},  {1, 60, " at 60x60\n"},
                {0, 68, " at 68x68\n"}};
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 64};
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(yolo_save(&fixture, "steps.pt"), &model, &err), &err);
    const int32_t before = model->input.stride;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = NULL;
        const sk_describe_settings settings = {.height = rows[i].asked, .width = rows[i].asked};
        model->input.stride = rows[i].stride;
        assert_ok(sk_describe_model(model, &settings, &text, &err), &err);
        has(text, rows[i].shown);
        has(text, " at 320x320\n");
        has(text, " at 640x640\n");
        has(text, " at 1024x1024\n");
        sk_free(text);
    }
    model->input.stride = before;
    sk_model_close(&model);
}

static sk_status describe(void *context, sk_error *why)
{
    char *text = NULL;
    sk_status status = SK_OK;
    for (int json = 0; json < 2 && status == SK_OK; json++) {
        const sk_describe_settings settings = {.json = json, .layers = true};
        status = sk_describe_model(context, &settings, &text, why);
        if ((status == SK_OK) != (text != NULL))
            status = SK_ERR_INTERNAL;
        sk_free(text);
    }
    return status;
}

/* Where memory ends there is no text, and what was made for it is given back. */
static void without_memory(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 64};
    sk_error err = {0};
    sk_model *model = NULL;
    assert_ok(sk_model_open(yolo_save(&fixture, "memory.pt"), &model, &err), &err);
    assert_true(model->n_facts > 0);
    model->input.fixed_size = 1; /* its own size alone */
    assert_true(test_every_allocation(describe, model) > 20);
    test_leaves_nothing(describe, model);
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_head_tells_its_work),
                                       cmocka_unit_test(skeletons), cmocka_unit_test(what_is_not_there),
                                       cmocka_unit_test(steps_of_sizes), cmocka_unit_test(without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
