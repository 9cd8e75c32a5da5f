/* SPDX-License-Identifier: Apache-2.0 */
/* SLEAP's labels read back: instances by hand and by a model, and damage of every kind. */
#include "base/file.h"
#include "base/memory.h"
#include "results/annotations.h"
#include "results/sink.h"
#include "support/test.h"

#include "video_header.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_annotation_set set;
static sk_error err;
static char path[4300];

/* Three frames (5, 6, 7) with no, one and two instances of two keypoints. */
static void write_slp(void)
{
    snprintf(path, sizeof path, "%s/changed.slp", test_folder());
    sk_run_header h = video_header();
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("slp")->open(path, &h, &sink, &err), &err);
    for (int f = 0; f < 3; f++) {
        sk_found items[2] = {0};
        sk_keypoint points[4] = {{1, 2, 0.5f}, {NAN, NAN, 0}, {3, 4, 0.75f}, {5, 6, 1}};
        for (int i = 0; i < f; i++)
            items[i] = (sk_found){
                .has = SK_HAS_KEYPOINTS, .score = 0.25f, .first_keypoint = 2 * i, .track_id = i ? -1 : 3};
        sk_instances all = {.count = f, .capacity = 2, .items = items, .n_keypoints = 2, .keypoints = points};
        const sk_result_frame frame = {
            .source = "in.mp4", .index = f + 5, .width = 640, .height = 480, .instances = &all};
        assert_ok(sink->write(sink, &frame, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
}

/* A column of a table of that file, all its rows. */
static void change(const char *table, const char *column, hid_t type, const void *values)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), dataset = H5Dopen2(file, table, H5P_DEFAULT);
    hid_t part = H5Tcreate(H5T_COMPOUND, H5Tget_size(type));
    assert_true(H5Tinsert(part, column, 0, type) >= 0);
    assert_true(H5Dwrite(dataset, part, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Tclose(part);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void change_whole(const char *table, const char *column, const int64_t *values)
{
    change(table, column, H5T_NATIVE_INT64, values);
}

/* Points by hand: so many rows, x from 10 on, y from 20 on, every second one hidden, the last not there. */
static void add_hand_points(hsize_t rows)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), dataset = H5Dopen2(file, "points", H5P_DEFAULT);
    assert_true(H5Dset_extent(dataset, &rows) >= 0);
    H5Dclose(dataset);
    H5Fclose(file);
    double x[8], y[8];
    int8_t visible[8];
    for (int i = 0; i < 8; i++) {
        x[i] = i + 1 < (int)rows ? 10 + i : NAN;
        y[i] = 20 + i;
        visible[i] = i % 2 == 0;
    }
    change("points", "x", H5T_NATIVE_DOUBLE, x);
    change("points", "y", H5T_NATIVE_DOUBLE, y);
    hid_t boolean = H5Tenum_create(H5T_NATIVE_INT8);
    int8_t value = 0;
    H5Tenum_insert(boolean, "FALSE", &value);
    value = 1;
    H5Tenum_insert(boolean, "TRUE", &value);
    change("points", "visible", boolean, visible);
    H5Tclose(boolean);
}

static void set_format(double format)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t space = H5Screate(H5S_SCALAR);
    assert_true(H5Adelete_by_name(file, "metadata", "format_id", H5P_DEFAULT) >= 0);
    hid_t attribute = H5Acreate_by_name(file, "metadata", "format_id", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &format) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Fclose(file);
}

static void expect_damage(const char *why)
{
    const sk_status status = sk_annotations_read(path, &set, &err);
    if (status != SK_ERR_FORMAT || !strstr(err.message, why))
        fail_msg("%s, not '%s'", status == SK_OK ? "read" : err.message, why);
}

static void predictions_come_back(void **state)
{
    (void)state;
    write_slp();
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_true(set.n_images == 3 && set.n_items == 3 && set.n_points == 6 && set.has == SK_HAS_KEYPOINTS);
    assert_true(set.every_frame && set.rate == 0 && set.n_sources == 1);
    assert_string_equal(set.format, "SLEAP labels");
    assert_string_equal(sk_text_get(&set.notes), "");
    for (int i = 0; i < 3; i++) {
        const sk_annotation *a = &set.items[i];
        assert_true(a->image == (i ? 2 : 1) && set.images[a->image].frame == (i ? 7 : 6));
        assert_true(a->score == 0.25 && a->track == (i == 2 ? -1 : 3) && a->has == SK_HAS_KEYPOINTS);
        assert_int_equal(set.classes[a->class_id].number, -1);
    }
    const sk_annotation_point *p = set.points;
    assert_true(p[0].x == 1 && p[0].y == 2 && p[0].score == 0.5 && p[0].visible == 2);
    assert_true(isnan(p[1].x) && isnan(p[1].y) && p[1].score == 0 && p[1].visible == 0);
    assert_true(p[4].x == 3 && p[4].y == 4 && p[4].score == 0.75 && p[5].x == 5 && p[5].score == 1);
    sk_annotations_free(&set);
    static const double formats[] = {1.0, 1.0999, 1.1, 1.3};
    for (int i = 0; i < 4; i++) { /* before 1.1 places were those of corners of pixels */
        set_format(formats[i]);
        assert_ok(sk_annotations_read(path, &set, &err), &err);
        assert_true(set.points[0].x == (i < 2 ? 0.5 : 1) && set.points[0].y == (i < 2 ? 1.5 : 2));
        sk_annotations_free(&set);
    }
}

static void what_was_made_by_hand_counts(void **state)
{
    (void)state;
    write_slp();
    add_hand_points(4);
    change_whole("instances", "instance_type", (const int64_t[]){1, 1, 0});
    change_whole("instances", "point_id_start", (const int64_t[]){0, 2, 2});
    change_whole("instances", "point_id_end", (const int64_t[]){2, 4, 4});
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_int_equal(set.n_items, 2); /* the prediction of the frame before, and the one by hand */
    const sk_annotation_point *p = &set.points[set.items[1].first];
    assert_true(set.items[1].score == 1 && set.items[0].score == 0.25);
    assert_true(p[0].x == 12 && p[0].y == 22 && p[0].score == 1 && p[0].visible == 2);
    assert_true(isnan(p[1].x) && isnan(p[1].y) && p[1].visible == 0);
    assert_string_equal(sk_text_get(&set.notes),
                        "1 predictions beside instances made by hand were not used\n");
    sk_annotations_free(&set);
    change_whole("instances", "point_id_start", (const int64_t[]){0, 2, 0});
    change_whole("instances", "point_id_end", (const int64_t[]){2, 4, 2});
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    p = &set.points[set.items[1].first];
    assert_true(p[1].x == 11 && p[1].y == 21 && p[1].visible == 1); /* said to be hidden */
    sk_annotations_free(&set);
    change_whole("instances", "point_id_start", (const int64_t[]){0, 2, 3});
    change_whole("instances", "point_id_end", (const int64_t[]){2, 4, 5});
    expect_damage("an instance's points are not there");
    change_whole("instances", "skeleton", (const int64_t[]){0, 1, 2});
    change_whole("instances", "instance_type", (const int64_t[]){1, 1, 1});
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_int_equal(set.n_items, 1);
    assert_string_equal(sk_text_get(&set.notes), "2 instances of other skeletons were not used\n");
    sk_annotations_free(&set);
}

static void tracks_and_scores(void **state)
{
    (void)state;
    write_slp();
    change_whole("instances", "track", (const int64_t[]){0, 999999999, 1000000000});
    change("instances", "score", H5T_NATIVE_DOUBLE, (const double[]){INFINITY, NAN, 0.5});
    change("pred_points", "score", H5T_NATIVE_DOUBLE, (const double[]){NAN, 0, 1, INFINITY, 0.125, 1});
    change("pred_points", "y", H5T_NATIVE_DOUBLE, (const double[]){2, 2, INFINITY, 2, 2, 2});
    assert_ok(sk_annotations_read(path, &set, &err), &err);
    assert_true(set.items[0].track == 0 && set.items[1].track == 999999999 && set.items[2].track == -1);
    assert_true(set.items[0].score == 1 && set.items[1].score == 1 && set.items[2].score == 0.5);
    assert_true(set.points[0].score == 1 && set.points[3].score == 1 && set.points[4].score == 0.125);
    assert_true(isnan(set.points[2].x) && set.points[2].visible == 0 && set.points[0].x == 1);
    sk_annotations_free(&set);
}

static void frames_that_are_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *table, *column;
        int64_t values[3];
        const char *why; /* null: none */
    } cases[] = {
        {"frames", "frame_idx", {0, 1, 9000000000000000}, NULL},
        {"frames", "frame_idx", {0, 1, 9000000000000002}, "a frame's instances are not there"},
        {"frames", "instance_id_start", {0, 0, 3}, NULL},
        {"frames", "instance_id_start", {0, 0, 4}, "a frame's instances are not there"},
        {"frames", "instance_id_start", {0, 2, 1}, "a frame's instances are not there"},
        {"frames", "instance_id_end", {0, 1, 4}, "a frame's instances are not there"},
        {"frames", "instance_id_end", {0, 2, 3}, "several frames have the same instances"},
        {"frames", "instance_id_end", {0, 0, 3}, NULL},
        {"instances", "point_id_end", {2, 4, 7}, "an instance's points are not there"},
        {"instances", "point_id_end", {2, 3, 6}, "an instance's points are not there"},
        {"instances", "point_id_start", {0, 2, 5}, "an instance's points are not there"},
        {"instances", "point_id_start", {1, 2, 4}, "an instance's points are not there"},
        {"frames", "video", {0, 0, 1}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_slp();
        change_whole(cases[i].table, cases[i].column, cases[i].values);
        if (cases[i].why) {
            expect_damage(cases[i].why);
            continue;
        }
        assert_ok(sk_annotations_read(path, &set, &err), &err);
        assert_int_equal(set.n_images, 3);
        assert_int_equal(set.images[2].source, 0);
        sk_annotations_free(&set);
    }
}

/* The list of videos, each as JSON. */
static void set_videos(const char *const *texts, size_t count)
{
    char rows[4][128] = {{0}};
    for (size_t i = 0; i < count; i++)
        snprintf(rows[i], sizeof rows[i], "%s", texts[i]);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, sizeof rows[0]);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    const hsize_t n = count;
    hid_t space = H5Screate_simple(1, &n, NULL);
    assert_true(H5Ldelete(file, "videos_json", H5P_DEFAULT) >= 0);
    hid_t dataset = H5Dcreate2(file, "videos_json", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
}

/* A video is called by its file, wherever that stands, or by its number; two of one name stay two. The first says the rate. */
static void videos_have_names_and_a_rate(void **state)
{
    (void)state;
    static const struct {
        const char *videos[3], *names[3];
        double rate;
    } cases[] = {
        {{"{\"backend\": {\"filename\": \"a.mp4\", \"fps\": 29.5}}",
          "{\"backend\": {\"filename\": \"b.mp4\", \"fps\": 10}}"},
         {"a.mp4", "b.mp4"},
         29.5},
        {{"{\"filename\": \"c.mp4\", \"backend\": {\"fps\": 1000000}}", "{}"}, {"c.mp4", "video 1"}, 1e6},
        {{"{\"backend\": {\"filename\": \"a.mp4\", \"fps\": 1000001}}",
          "{\"backend\": {\"filename\": \"a.mp4\", \"fps\": 5}}"},
         {"a.mp4", "video 1"},
         0},
        {{"{\"backend\": {\"fps\": 0.5}}", "{\"filename\": \"d\", \"backend\": {\"filename\": \"e\"}}", "{}"},
         {"video 0", "e", "video 2"},
         0.5},
        {{"{\"backend\": {\"fps\": -1}}"}, {"video 0"}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = 0;
        while (n < 3 && cases[i].videos[n])
            n++;
        write_slp();
        set_videos(cases[i].videos, n);
        assert_ok(sk_annotations_read(path, &set, &err), &err);
        assert_int_equal(set.n_sources, n);
        for (size_t k = 0; k < n; k++)
            assert_string_equal(set.sources[k], cases[i].names[k]);
        if (set.rate != cases[i].rate)
            fail_msg("case %zu: %g", i, set.rate);
        sk_annotations_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(videos_have_names_and_a_rate), cmocka_unit_test(predictions_come_back),
        cmocka_unit_test(what_was_made_by_hand_counts), cmocka_unit_test(tracks_and_scores),
        cmocka_unit_test(frames_that_are_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
