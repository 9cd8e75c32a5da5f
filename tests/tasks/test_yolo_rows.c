/* SPDX-License-Identifier: Apache-2.0 */
/* The original's dense output in, the original's rows out: five models of Ultralytics 8.3.63 on one
 * picture. */
#include "support/test.h"

#include "npy_test.h"
#include "old_rules.h"
#include "base/instances.h"
#include "tasks/yolo_post.h"

#include <math.h>

typedef struct model_case {
    const char *name;
    sk_task task;
    int size, classes, keypoints;
} model_case;

static const model_case cases[] = {
    {"yolo11n-pose", SK_TASK_POSE, 640, 1, 17},     {"yolov8t-pose", SK_TASK_POSE, 320, 2, 5},
    {"yolo11t-detect", SK_TASK_DETECT, 320, 80, 0}, {"yolo11t-obb", SK_TASK_OBB, 640, 15, 0},
    {"yolov8t-obb", SK_TASK_OBB, 320, 3, 0},
};

static void check_row(const model_case *c, const float *row, const sk_found *item, const sk_keypoint *points)
{
    if (c->task == SK_TASK_OBB) {
        float obb[4] = {item->obb[0], item->obb[1], item->obb[2], item->obb[3]};
        clip_as_before(obb, 810, 1080);
        for (int k = 0; k < 4; k++)
            assert_true(fabsf(row[k] - obb[k]) < 0.05f);
        assert_true(fabsf(row[4] - item->obb[4]) < 1e-3f);
        assert_true(fabsf(row[5] - item->score) < 1e-3f);
        assert_int_equal((int)row[6], item->class_id);
        return;
    }
    for (int k = 0; k < 4; k++)
        assert_true(fabsf(row[k] - item->box[k]) < 0.05f);
    assert_true(fabsf(row[4] - item->score) < 1e-3f);
    assert_int_equal((int)row[5], item->class_id);
    for (int k = 0; k < c->keypoints; k++) {
        assert_true(fabsf(row[6 + 3 * k] - points[item->first_keypoint + k].x) < 0.05f);
        assert_true(fabsf(row[7 + 3 * k] - points[item->first_keypoint + k].y) < 0.05f);
        assert_true(fabsf(row[8 + 3 * k] - points[item->first_keypoint + k].score) < 1e-3f);
    }
}

static void rows_equal_the_original(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_error err;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const model_case *c = &cases[i];
        char path[256];
        snprintf(path, sizeof path, "yolo/%s/bus_output0.npy", c->name);
        npy dense = npy_load(test_data(path));
        snprintf(path, sizeof path, "yolo/%s/bus_detections.npy", c->name);
        npy rows = npy_load(test_data(path));
        sk_yolo_spec spec = {.n_levels = 3,
                             .stride = {8, 16, 32},
                             .reg_max = 16,
                             .n_classes = c->classes,
                             .n_keypoints = c->keypoints,
                             .keypoint_dims = c->keypoints ? 3 : 0};
        sk_yolo_post *post;
        assert_ok(sk_yolo_post_open(&spec, c->task, NULL, c->size, c->size, &post, &err), &err);
        sk_letterbox_geometry geometry;
        assert_ok(sk_letterbox_fit(810, 1080, c->size, c->size, 0, &geometry, &err), &err);
        sk_instances found;
        assert_ok(sk_instances_alloc(300, c->keypoints, &found, &err), &err);
        sk_map map = sk_map_planar(dense.data, (int)dense.dim[1], 1, (int)dense.dim[2]);
        uint64_t before = sk_memory_allocations();
        assert_ok(sk_yolo_post_run(post, SK_YOLO_DENSE, &map, 1, &geometry, &found, &err), &err);
        assert_int_equal(sk_memory_allocations(), before);
        print_message("%s: %d rows, %d expected\n", c->name, (int)found.count, (int)rows.dim[0]);
        assert_int_equal(found.count, rows.dim[0]);
        for (int32_t r = 0; r < found.count; r++)
            check_row(c, (const float *)rows.data + r * rows.dim[1], &found.items[r], found.keypoints);
        sk_instances_free(&found);
        sk_yolo_post_close(&post);
        free(dense.data);
        free(rows.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_equal_the_original)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
