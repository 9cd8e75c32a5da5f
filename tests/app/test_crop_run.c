/* SPDX-License-Identifier: Apache-2.0 */
#include "app/crop_run.h"
#include "base/file.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A class may be called anything: its crops stay in crops/. */
static void crops_stay_in_their_folder(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const names[] = {"../up", "", "a\nb", "/etc", "mouse"};
    static const char *const folders[] = {"_._up", "class_1", "a_b", "_etc", "mouse", "."};
    const sk_run_header header = {.source_kind = "video", .n_classes = 5, .class_names = names};
    static uint8_t pixels[32 * 32 * 3];
    const sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = 32, .height = 32, .stride = 32 * 3, .data = pixels};
    sk_found items[7] = {0};
    for (int32_t i = 0; i < 6; i++)
        items[i] = (sk_found){.has = i % 2 ? SK_HAS_OBB : SK_HAS_BOX,
                              .class_id = i < 5 ? i : -1,
                              .box = {4, 4, 20, 20},
                              .obb = {16, 16, 12, 6, 0.5f}};
    items[6] = (sk_found){.has = SK_HAS_BOX, .class_id = 4, .box = {100, 100, 120, 120}}; /* outside */
    const sk_instances all = {.count = 7, .capacity = 7, .items = items};
    const sk_result_frame result = {
        .source = "in.mp4", .index = 2, .width = 32, .height = 32, .instances = &all};
    sk_crop_run *run = NULL;
    bool there = true;
    assert_ok(sk_crop_run_open(test_folder(), &header, &run, &err), &err);
    assert_ok(sk_crop_run_has(run, &result, &there, &err), &err);
    assert_false(there);
    assert_ok(sk_crop_run_write(run, &frame, &result, &err), &err);
    for (int i = 0; i < 6; i++) {
        char path[4600];
        snprintf(path, sizeof path, "%s/crops/%s/in_3_%d.jpg", test_folder(), folders[i], i);
        assert_true(sk_file_is_regular(path));
    }
    sk_crop_run_close(&run);
}

/* Of an animal without a box: what its keypoints span. Who lies nowhere is not cut out. */
static void poses_are_cut_out(void **state)
{
    (void)state;
    static const struct {
        sk_keypoint points[2];
        bool there;
    } rows[] = {
        {{{5, 6, 1}, {20, 18, 1}}, true},        {{{NAN, NAN, 0}, {20, 18, 1}}, true},
        {{{7, 0, 1}, {7, 0, 1}}, true},          {{{0, 7, 1}, {0, 7, 1}}, true},
        {{{0, 0, 1}, {0, 9, 1}}, true},          {{{0, 0, 1}, {9, 0, 1}}, true},
        {{{NAN, NAN, 0}, {NAN, NAN, 0}}, false}, {{{90, 90, 1}, {99, 99, 1}}, false},
    };
    enum { ROWS = sizeof rows / sizeof *rows };
    sk_error err = {0};
    static const char *const names[] = {"fly"};
    const sk_run_header header = {.source_kind = "video", .n_classes = 1, .class_names = names};
    static uint8_t pixels[32 * 32 * 3];
    const sk_frame frame = {
        .format = SK_PIXEL_RGB, .width = 32, .height = 32, .stride = 32 * 3, .data = pixels};
    sk_found items[ROWS] = {0};
    sk_keypoint points[2 * ROWS];
    for (int i = 0; i < ROWS; i++) {
        items[i] = (sk_found){.has = SK_HAS_KEYPOINTS, .first_keypoint = 2 * i};
        memcpy(points + 2 * i, rows[i].points, sizeof rows[i].points);
    }
    const sk_instances all = {
        .count = ROWS, .capacity = ROWS, .items = items, .keypoints = points, .n_keypoints = 2};
    const sk_result_frame result = {
        .source = "poses.mp4", .index = 0, .width = 32, .height = 32, .instances = &all};
    sk_crop_run *run = NULL;
    char path[4600];
    assert_ok(sk_crop_run_open(test_folder(), &header, &run, &err), &err);
    assert_ok(sk_crop_run_write(run, &frame, &result, &err), &err);
    for (int i = 0; i < ROWS; i++) {
        snprintf(path, sizeof path, "%s/crops/fly/poses_1_%d.jpg", test_folder(), i);
        if (sk_file_is_regular(path) != rows[i].there)
            fail_msg("%s is %sthere", path, rows[i].there ? "not " : "");
    }
    sk_crop_run_close(&run);
}

/* A file lies where a class's folder belongs. */
static void something_in_the_way(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const names[] = {"wall"};
    const sk_run_header header = {.source_kind = "video", .n_classes = 1, .class_names = names};
    static uint8_t pixels[8 * 8 * 3];
    const sk_frame frame = {.format = SK_PIXEL_RGB, .width = 8, .height = 8, .stride = 24, .data = pixels};
    sk_found item = {.has = SK_HAS_BOX, .box = {1, 1, 6, 6}};
    const sk_instances all = {.count = 1, .capacity = 1, .items = &item};
    const sk_result_frame result = {.source = "w.mp4", .width = 8, .height = 8, .instances = &all};
    sk_crop_run *run = NULL;
    char path[4600];
    assert_ok(sk_crop_run_open(test_folder(), &header, &run, &err), &err);
    snprintf(path, sizeof path, "%s/crops/wall", test_folder());
    assert_ok(sk_file_replace(path, "x", 1, &err), &err);
    assert_int_not_equal(sk_crop_run_write(run, &frame, &result, &err), SK_OK);
    assert_non_null(strstr(err.message, "crops/wall"));
    sk_crop_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(crops_stay_in_their_folder),
                                       cmocka_unit_test(poses_are_cut_out),
                                       cmocka_unit_test(something_in_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
