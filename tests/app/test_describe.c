/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_head_tells_its_work),
                                       cmocka_unit_test(skeletons)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
