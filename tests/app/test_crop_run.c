/* SPDX-License-Identifier: Apache-2.0 */
#include "app/crop_run.h"
#include "base/file.h"
#include "support/fault.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
        {{{0, 0, 1}, {0.5F, 0, 1}}, true},       {{{0, 0, 1}, {0, 0.5F, 1}}, true},
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

/* The name of the one entry of a folder. */
static char *only_entry(const char *folder)
{
    struct dirent **entries = NULL;
    char *name = NULL;
    const int n = scandir(folder, &entries, NULL, alphasort);
    assert_int_equal(n, 3); /* with . and .. */
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.')
            name = strdup(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    assert_non_null(name);
    return name;
}

typedef struct one_crop {
    sk_run_header header;
    sk_frame frame;
    sk_result_frame result;
    char folder[4300];
} one_crop;

static sk_status write_one(void *context, sk_error *why)
{
    const one_crop *one = context;
    sk_crop_run *run = NULL;
    bool all = false;
    sk_status status = sk_crop_run_open(one->folder, &one->header, &run, why);
    if (status == SK_OK)
        status = sk_crop_run_write(run, &one->frame, &one->result, why);
    sk_crop_run_close(&run);
    if (status == SK_OK) /* an earlier part of the run wrote it */
        status = sk_crop_run_open(one->folder, &one->header, &run, why);
    if (status == SK_OK)
        status = sk_crop_run_has(run, &one->result, &all, why);
    sk_crop_run_close(&run);
    return status == SK_OK && !all ? SK_ERR_INTERNAL : status;
}

/* Names of classes and of sources may be long, and hold any letter but those that end a line or a name. */
static void names_of_folders(void **state)
{
    (void)state;
    char longest[301], shortened[201];
    static uint8_t pixels[32 * 32 * 3];
    memset(longest, 'n', sizeof longest - 1);
    longest[300] = '\0';
    memcpy(shortened, longest, 200);
    shortened[200] = '\0';
    const struct {
        const char *name, *folder;
    } rows[] = {{"a mouse~", "/a mouse~"},
                {"a\x1F"
                 "b\x7F"
                 "c",
                 "/a_b_c"},
                {"\x01", "/_"},
                {".", "/_"},
                {"grön", "/grön"},
                {shortened, NULL},
                {longest, NULL},
                {"behind", ""} /* a number that is no class's: the last of them and one more */};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *const names[] = {rows[i].name};
        const bool known = i + 1 < sizeof rows / sizeof *rows;
        sk_found item = {.has = SK_HAS_OBB, .class_id = known ? 0 : 1, .obb = {16, 16, 12, 6, 0.5F}};
        const sk_instances all = {.count = 1, .capacity = 1, .items = &item};
        one_crop one = {
            .header = {.source_kind = "video", .n_classes = 1, .class_names = names},
            .frame = {.format = SK_PIXEL_RGB, .width = 32, .height = 32, .stride = 32 * 3, .data = pixels},
            .result = {.source = "v/a_video_with_a_name_that_is_longer_than_most_names_of_videos.mp4",
                       .index = 7,
                       .width = 32,
                       .height = 32,
                       .instances = &all}};
        char path[8800];
        sk_error err = {0};
        snprintf(one.folder, sizeof one.folder, "%s/names%zu", test_folder(), i);
        assert_ok(sk_folder_make(one.folder, &err), &err);
        if (rows[i].folder) {
            assert_true(test_every_allocation(write_one, &one) >= 6);
            snprintf(path, sizeof path,
                     "%s/crops%s/a_video_with_a_name_that_is_longer_than_most_names_of_videos_8_0.jpg",
                     one.folder, rows[i].folder);
            assert_true(sk_file_is_regular(path));
            continue;
        }
        /* of a name of 200 letters and more 200 bytes, the same for the same name */
        assert_ok(write_one(&one, &err), &err);
        snprintf(path, sizeof path, "%s/crops", one.folder);
        char *name = only_entry(path);
        assert_int_equal(strlen(name), 200);
        assert_int_equal(strncmp(name, longest, 190), 0);
        free(name);
    }
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crops_stay_in_their_folder), cmocka_unit_test(poses_are_cut_out),
        cmocka_unit_test(names_of_folders), cmocka_unit_test(something_in_the_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
