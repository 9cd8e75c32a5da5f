/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/memory.h"
#include "results/annotations.h"
#include "results/sink.h"
#include "support/fault.h"
#include "support/test.h"

#include "video_header.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What skitter writes it reads back; what others write is read or refused with a reason. */

static const char *write_results(const char *format)
{
    static char path[4400];
    sk_error err = {0};
    const sk_sink_kind *kind = sk_sink_find(format);
    assert_non_null(kind);
    snprintf(path, sizeof path, "%s/%s", test_folder(), kind->file);
    sk_run_header h = video_header();
    h.has |= SK_HAS_OBB;
    h.settings = "conf 0.25; frames 0:-1:1";
    sk_sink *sink = NULL;
    assert_ok(kind->open(path, &h, &sink, &err), &err);
    for (int f = 0; f < 3; f++) {
        sk_found items[2] = {0};
        sk_keypoint points[4] = {{12.25f, 13.5f, 0.75f}, {NAN, NAN, 0}, {30, 40, 1}, {31, 41, 0.5f}};
        for (int i = 0; i < f; i++)
            items[i] = (sk_found){.has = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS,
                                  .class_id = i,
                                  .score = 0.5f,
                                  .box = {10, 11, 40, 31},
                                  .obb = {25, 21, 30, 20, 0.25f},
                                  .first_keypoint = 2 * i,
                                  .track_id = i == 0 ? 7 : -1};
        sk_instances all = {.count = f, .capacity = 2, .items = items, .n_keypoints = 2, .keypoints = points};
        sk_result_frame frame = {.source = "in.mp4",
                                 .index = f + 5,
                                 .time = f * 0.04,
                                 .width = 640,
                                 .height = 480,
                                 .instances = &all};
        assert_ok(sink->write(sink, &frame, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
    return path;
}

static void check_back(const char *format, size_t images, bool boxes)
{
    sk_error err = {0};
    sk_annotation_set set;
    assert_ok(sk_annotations_read(write_results(format), &set, &err), &err);
    assert_int_equal(set.n_images, images);
    assert_int_equal(set.n_items, 3);
    assert_int_equal(set.n_keypoints, 2);
    assert_string_equal(set.sources[0], "in.mp4");
    const sk_annotation *a = &set.items[2]; /* the second of the last frame */
    assert_int_equal(set.images[a->image].frame, 7);
    assert_string_equal(set.keypoint_names[1], "tail");
    if (boxes) {
        assert_string_equal(set.classes[a->class_id].name, "mouse");
        assert_int_equal(a->has, SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS);
        assert_true(a->box[0] == 10 && a->box[1] == 11 && a->box[2] == 30 && a->box[3] == 20);
        assert_true(a->obb[0] == 25 && a->obb[2] == 30 && a->obb[4] == 0.25);
    }
    assert_true(set.points[a->first].x == 30 && set.points[a->first + 1].y == 41);
    assert_true(set.points[a->first + 1].visible == 2);
    const sk_annotation_point *absent = &set.points[set.items[0].first + 1];
    assert_true(isnan(absent->x) && absent->visible == 0);
    assert_true(set.points[set.items[0].first].x == 12.25 && a->score == 0.5);
    assert_int_equal(set.items[0].track, 7);
    assert_int_equal(a->track, -1);
    sk_annotations_free(&set);
    assert_int_equal(set.n_items, 0);
}

static void reads_what_it_writes(void **state)
{
    (void)state;
    check_back("csv", 2, true); /* a frame without animals has no row */
    check_back("jsonl", 3, true);
    check_back("coco", 3, true);
    check_back("slp", 3, false);
}

static void a_folder_stands_for_its_results(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set set;
    char folder[4300];
    snprintf(folder, sizeof folder, "%s/nothing", test_folder());
    assert_ok(sk_folder_make(folder, &err), &err);
    assert_int_equal(sk_annotations_read(folder, &set, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "no result file"));
    write_results("csv");
    assert_ok(sk_annotations_read(test_folder(), &set, &err), &err);
    assert_string_equal(set.format, "CSV");
    sk_annotations_free(&set);
}

static sk_status parse(const char *text, sk_annotation_set *set, sk_error *err)
{
    return sk_annotations_parse("t", text, strlen(text), set, err);
}

/* Files of the first release: a comment above the heading, no names of keypoints in JSON lines. And names that begin with #,
 * quoted or, as that release wrote them, not. */
static void old_files_and_names_with_hashes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set set;
    assert_ok(parse("# skitter 0.1.0; it's \"one\nsource,frame,name,x1,y1,x2,y2\n"
                    "#1.mp4,0,#a,1,2,3,4\n# a remark, by hand\n\"#1.mp4\",1,\"#a\",1,2,3,4\n",
                    &set, &err),
              &err);
    assert_int_equal(set.n_items, 2);
    assert_int_equal(set.n_sources, 1);
    assert_string_equal(set.sources[0], "#1.mp4");
    assert_string_equal(set.classes[set.items[0].class_id].name, "#a");
    sk_annotations_free(&set);
    assert_ok(parse("{\"source\":\"a\",\"frame\":0,\"instances\":[{\"class\":0,\"keypoints\":[[1,2,1]]}]}\n",
                    &set, &err),
              &err);
    assert_int_equal(set.n_keypoints, 1);
    assert_null(set.keypoint_names);
    sk_annotations_free(&set);
}

static void truth_adds_columns(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_annotation_set set;
    assert_ok(parse("# skitter scene; frames 4; seed 1\r\n"
                    "frame,x1,y1,x2,y2,visible,area,length,crowd,head_x,head_y,head_visible,colour\r\n"
                    "1,0,0,10,20,0.25,150,22.5,0,3,4,1,red\r\n"
                    "\r\n"
                    "3,0,0,10,20,,,,1,,,0,\"a, \"\"b\"\"\"\r\n",
                    &set, &err),
              &err);
    assert_int_equal(set.n_items, 2);
    assert_int_equal(set.n_images, 4);
    assert_true(set.every_frame);
    assert_true(set.items[0].visible == 0.25 && set.items[0].area == 150 && set.items[0].length == 22.5);
    assert_int_equal(set.points[set.items[0].first].visible, 1);
    assert_true(set.items[1].crowd && isnan(set.items[1].area) && set.items[1].visible == 1);
    assert_int_equal(set.items[1].has, SK_HAS_BOX | SK_HAS_KEYPOINTS);
    assert_int_equal(set.points[set.items[1].first].visible, 0);
    assert_non_null(strstr(sk_text_get(&set.notes), "colour"));
    sk_annotations_free(&set);
}

static void refuses(const char *text, const char *why)
{
    sk_error err = {0};
    sk_annotation_set set;
    sk_status status = parse(text, &set, &err);
    if (status == SK_OK || !strstr(err.message, why))
        fail_msg("'%s' for: %.60s (wanted '%s')", status == SK_OK ? "accepted" : err.message, text, why);
    assert_null(set.items);
}

static void foreign_and_damaged_files_are_refused_with_a_reason(void **state)
{
    (void)state;
    refuses("", "empty");
    refuses("  \n", "empty");
    refuses("hello\nworld\n", "'frame'");
    refuses("# only a comment\n", "no line");
    refuses("frame,score\n1,2\n", "no box");
    refuses("frame,x1,y1,x2,y2\n1,2,3\n0,0,0,1,1,9\n", "line 3 has 6 cells");
    refuses("frame,x1,y1,x2,y2\n1,two,3,4,5\n", "line 2, column 2: 'two'");
    refuses("frame,x1,y1,x2,y2\n1.5,2,3,4,5\n", "whole number");
    refuses("frame,x1,y1,x2,y2\n,2,3,4,5\n", "no frame");
    refuses("frame,x1,y1,x2,y2\n1,\"2,3,4,5\n", "not closed");
    refuses("frame,x1,y1,x2,y2\n1,1e999,3,4,5\n", "line 2");
    refuses("[1,2", "image_id");
    refuses("[{\"image_id\":1}", "cut short");
    refuses("[{\"image_id\":\"a\"}]", "image_id");
    refuses("[{\"image_id\":1,\"keypoints\":[1,2]}]", "x, y");
    refuses("[{\"image_id\":1,\"keypoints\":[1,2,2]},{\"image_id\":1,\"keypoints\":[1,2,2,1,2,2]}]",
            "one skeleton");
    refuses("{\"a\":1}", "neither a COCO dataset");
    refuses("{\"annotations\":[{\"image_id\":1}],\"images\":[{}]}", "without an id");
    refuses("{\"annotations\":[]} x", "follows the end");
    refuses("{\"annotations\" []}", "colon");
    refuses("{\"frame\":0,\"instances\":[]}\n{\"frame\":1}\n", "line 2");
    refuses("{\"frame\":0,\"instances\":[{\"keypoints\":[[1,2]]}]}\n", "x, y and score");
    refuses("{\"frame\":0,\"instances\":[3]}\n", "object");
    refuses("{\"frame\":0,\"instances\":[]}\n{\"frame\":", "line 2");
    sk_error err = {0};
    sk_annotation_set set;
    assert_int_equal(sk_annotations_read("/no/such/file", &set, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(sk_annotations_parse("t", "a\0b", 3, &set, &err), SK_ERR_FORMAT);
    assert_int_equal(sk_annotations_parse("t", "\x89HDF\r\n\x1a\n", 8, &set, &err), SK_ERR_FORMAT);
}

static uint64_t word_at(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/* Frames that all claim every instance: small in the file, without end in memory. */
static void instances_of_several_frames_are_refused(void **state)
{
    (void)state;
    enum { ROW = 36 }; /* of the table of frames: … number, first instance, one past the last */
    sk_annotation_set set;
    sk_error err = {0};
    char *bytes = NULL, *rows = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(write_results("slp"), 1 << 24, &bytes, &length, &err), &err);
    for (char *at = bytes; !rows && at + 3 * ROW < bytes + length; at++)
        if (word_at(at + ROW) == word_at(at) + 1 && word_at(at) < 100 &&
            word_at(at + 8) <= word_at(at + 16) && word_at(at + ROW + 8) == word_at(at + 16) &&
            word_at(at + ROW + 16) > word_at(at + ROW + 8) && word_at(at + ROW + 16) < 1000)
            rows = at;
    assert_non_null(rows);
    assert_ok(sk_annotations_parse("x.slp", bytes, length, &set, &err), &err);
    size_t items = set.n_items;
    assert_true(items > 1);
    sk_annotations_free(&set);
    const uint64_t first = 0, end = items;
    for (int i = 0; i < 2; i++) {
        memcpy(rows + i * ROW + 8, &first, 8);
        memcpy(rows + i * ROW + 16, &end, 8);
    }
    assert_int_equal(sk_annotations_parse("x.slp", bytes, length, &set, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the same instances"));
    sk_free(bytes);
}

/* As many points as there are keypoints, but behind the end of the table of points. */
static void instances_without_their_points_are_refused(void **state)
{
    (void)state;
    enum { KEYPOINTS = 2 };
    sk_annotation_set set;
    sk_error err = {0};
    char *bytes = NULL, *first = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(write_results("slp"), 1 << 24, &bytes, &length, &err), &err);
    for (char *at = bytes; !first && at + 200 < bytes + length; at++)
        for (size_t row = 40; !first && row < 80 && word_at(at) == 0 && word_at(at + 8) == KEYPOINTS; row++)
            if (word_at(at + row) == KEYPOINTS && word_at(at + row + 8) == 2 * KEYPOINTS &&
                word_at(at + 2 * row) == 2 * KEYPOINTS && word_at(at + 2 * row + 8) == 3 * KEYPOINTS)
                first = at;
    assert_non_null(first);
    static const uint64_t ranges[][2] = {{5, 7}, {1000, 1002}, {2, 0}, {0, 1}, {0, 3}, {0, 2}, {4, 6}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        const bool good = i >= 5;
        memcpy(first, ranges[i], sizeof ranges[i]);
        if (good) {
            assert_ok(sk_annotations_parse("x.slp", bytes, length, &set, &err), &err);
            sk_annotations_free(&set);
        } else {
            assert_int_equal(sk_annotations_parse("x.slp", bytes, length, &set, &err), SK_ERR_FORMAT);
            assert_non_null(strstr(err.message, "points are not there"));
        }
    }
    sk_free(bytes);
}

static void every_cut_of_a_slp_is_refused_or_read(void **state)
{
    (void)state;
    sk_error err = {0};
    char *bytes;
    size_t length;
    assert_ok(sk_file_read(write_results("slp"), 1 << 24, &bytes, &length, &err), &err);
    sk_annotation_set set;
    assert_ok(sk_annotations_parse("whole", bytes, length, &set, &err), &err);
    sk_annotations_free(&set);
    for (size_t cut = 8; cut < length; cut += 97) {
        err.message[0] = '\0';
        if (sk_annotations_parse("cut", bytes, cut, &set, &err) == SK_OK)
            sk_annotations_free(&set);
        else
            assert_true(err.message[0]);
    }
    sk_free(bytes);
}

static void sleaps_own_files_are_read(void **state)
{
    (void)state;
    test_data_or_skip();
    sk_error err = {0};
    sk_annotation_set set;
    assert_ok(sk_annotations_read(test_data("slp/clip.predictions.slp"), &set, &err), &err);
    assert_int_equal(set.n_images, 1500);
    assert_int_equal(set.n_items, 2948);
    assert_int_equal(set.n_keypoints, 2);
    assert_true(set.items[0].score > 0 && set.items[0].track >= 0);
    assert_true(isfinite(set.points[0].x) && set.points[0].visible == 2);
    sk_annotations_free(&set);
    assert_ok(sk_annotations_read(test_data("slp/minimal_instance.slp"), &set, &err), &err);
    assert_int_equal(set.n_items, 2);
    assert_int_equal(set.n_points, 4);
    sk_annotations_free(&set);
}

static sk_status read_all(void *context, sk_error *err)
{
    sk_annotation_set set;
    SK_TRY(sk_annotations_read(context, &set, err));
    sk_annotations_free(&set);
    return SK_OK;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    assert_true(test_every_allocation(read_all, (void *)write_results("csv")) > 5);
    assert_true(test_every_allocation(read_all, (void *)write_results("jsonl")) > 5);
    assert_true(test_every_allocation(read_all, (void *)write_results("slp")) > 5);
    assert_true(test_every_allocation(read_all, (void *)write_results("coco")) > 5);
    assert_true(test_every_allocation(read_all, (void *)test_folder()) > 5); /* in which they all lie */
    sk_annotation_set set;
    sk_error err = {0};
    assert_int_equal(sk_annotations_parse(NULL, "", 0, &set, &err), SK_ERR_ARG);
    assert_int_equal(sk_annotations_parse("x", NULL, 0, &set, &err), SK_ERR_ARG);
    assert_int_equal(sk_annotations_parse("x", "", 0, NULL, &err), SK_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_it_writes),
        cmocka_unit_test(a_folder_stands_for_its_results),
        cmocka_unit_test(old_files_and_names_with_hashes),
        cmocka_unit_test(truth_adds_columns),
        cmocka_unit_test(foreign_and_damaged_files_are_refused_with_a_reason),
        cmocka_unit_test(instances_without_their_points_are_refused),
        cmocka_unit_test(every_cut_of_a_slp_is_refused_or_read),
        cmocka_unit_test(instances_of_several_frames_are_refused),
        cmocka_unit_test(sleaps_own_files_are_read),
        cmocka_unit_test(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
