/* SPDX-License-Identifier: Apache-2.0 */
/* Result files that are text: what stands in them, byte for byte. */
#include "base/file.h"
#include "base/text.h"
#include "formats/config.h"
#include "results/annotations.h"
#include "results/sink.h"
#include "support/test.h"

#include "written.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void mot_has_a_line_a_track(void **state)
{
    (void)state;
    sk_error err = {0};
    followed = tracked = true;
    char *text = slurp(write_all("mot"));
    assert_string_equal(text, "2,1,10,11,2,2,0.5,0,-1,-1,10,10.5,0.9,nan,nan,0\n"
                              "3,1,20,21,2,2,0.5,0,-1,-1,20,20.5,0.9,nan,nan,0\n"
                              "3,2,21,22,2,2,0.5,1,-1,-1,21,21.5,0.9,nan,nan,0\n");
    sk_annotation_set set;
    assert_ok(sk_annotations_parse("results.mot.txt", text, strlen(text), &set, &err), &err);
    assert_int_equal(set.n_items, 3);
    assert_int_equal(set.has, SK_HAS_BOX | SK_HAS_KEYPOINTS);
    assert_int_equal(set.images[set.items[2].image].frame, 2);
    assert_int_equal(set.classes[set.items[2].class_id].number, 1);
    sk_annotations_free(&set);
    followed = false;
    assert_string_equal(slurp(write_all("mot")), ""); /* of no track */
    sk_run_header h = header();
    sk_sink *sink = NULL;
    h.tracked = tracked = false;
    assert_int_equal(sk_sink_find("mot")->open("unused", &h, &sink, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "'skitter track' does"));
}

static void csv_has_a_row_an_instance(void **state)
{
    (void)state;
    char *text = slurp(write_all("csv"));
    assert_string_equal(text,
                        "source,frame,time,instance,track,class,name,score,x1,y1,x2,y2,head_x,head_y,head_"
                        "score,tail_x,tail_y,tail_score\n"
                        "in.mp4,1,0.040000,0,,0,\"fly, \"\"small\"\"\",0.5,10,11,12,13,10,10.5,0.9,,,0\n"
                        "in.mp4,2,0.080000,0,,0,\"fly, \"\"small\"\"\",0.5,20,21,22,23,20,20.5,0.9,,,0\n"
                        "in.mp4,2,0.080000,1,,1,mouse,0.5,21,22,23,24,21,21.5,0.9,,,0\n");
}

static void jsonl_has_a_line_a_frame(void **state)
{
    (void)state;
#define LINE(frame, time)                                                                                    \
    "{\"source\":\"in.mp4\",\"frame\":" frame ",\"time\":" time                                              \
    ",\"keypoint_names\":[\"head\",\"tail\"],\"edges\":[[0,1]],\"instances\":["
    assert_string_equal(
        slurp(write_all("jsonl")),
        LINE("0", "0.000000") "]}\n" LINE(
            "1", "0.040000") "{\"class\":0,"
                             "\"name\":\"fly, \\\"small\\\"\",\"score\":0.5,"
                             "\"box\":[10,11,12,13],\"keypoints\":[[10,10.5,0.9],[null,null,0]]}]}\n" LINE(
                                 "2", "0.080000") "{\"class\":0,"
                                                  "\"name\":\"fly, \\\"small\\\"\",\"score\":0.5,"
                                                  "\"box\":[20,21,22,23],\"keypoints\":[[20,20.5,0.9],[null,"
                                                  "null,0]]},{\"class\":1,"
                                                  "\"name\":\"mouse\",\"score\":0.5,"
                                                  "\"box\":[21,22,23,24],\"keypoints\":[[21,21.5,0.9],[null,"
                                                  "null,0]]}]}\n");
}

/* An image a frame, each with a name of its own, and the list that COCO's evaluator loads against them. */
static void coco_is_a_dataset_and_a_list(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *dataset = write_all("coco");
    char *list = sk_path_with_extension(dataset, "_results.json");
    sk_config *whole = NULL, *results = NULL;
    char *text = slurp(dataset);
    assert_ok(sk_config_open_json(text, strlen(text), dataset, &whole, &err), &err);
    const sk_config_value *images = sk_config_get(sk_config_root(whole), "images");
    assert_int_equal(sk_config_count(images), 3);
    assert_string_equal(sk_config_text_or(sk_config_at(images, 2), "file_name", ""), "in_3.jpg");
    assert_string_equal(sk_config_text_or(sk_config_at(images, 2), "video", ""), "in.mp4");
    assert_int_equal(sk_config_int_or(sk_config_at(images, 2), "frame", -1), 2);
    assert_int_equal(sk_config_count(sk_config_get(sk_config_root(whole), "annotations")), 3);
    text = slurp(list);
    assert_ok(sk_config_open_json(text, strlen(text), list, &results, &err), &err);
    assert_int_equal(sk_config_count(sk_config_root(results)), 3);
    const sk_config_value *last = sk_config_at(sk_config_root(results), 2);
    assert_int_equal(sk_config_int_or(last, "image_id", -1), 3);
    assert_int_equal(sk_config_int_or(last, "category_id", -1), 2);
    assert_int_equal(sk_config_count(sk_config_get(last, "bbox")), 4);
    assert_int_equal(sk_config_count(sk_config_get(last, "keypoints")), 6);
    sk_config_close(&whole);
    sk_config_close(&results);
    sk_free(list);
}

static void labels_are_relative(void **state)
{
    (void)state;
    char path[4500];
    snprintf(path, sizeof path, "%s/in_3.txt", write_all("labels"));
    double numbers[11];
    char *line = strchr(slurp(path), '\n') + 1;
    for (int i = 0; i < 11; i++)
        numbers[i] = strtod(line, &line);
    assert_int_equal((int)numbers[0], 1);
    assert_float_equal((float)numbers[1], 22.0f / 640, 1e-6f);
    assert_float_equal((float)numbers[2], 23.0f / 480, 1e-6f);
    assert_float_equal((float)numbers[3], 2.0f / 640, 1e-6f);
    assert_float_equal((float)numbers[6], 21.5f / 480, 1e-6f);
    assert_int_equal((int)numbers[10], 0);
}

/* The line of a pose begins with a box, also where the model gives none. */
static void labels_of_poses_have_a_box(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    char folder[4300], path[4600];
    snprintf(folder, sizeof folder, "%s/sleap-labels", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("labels")->open(folder, &h, &sink, &err), &err);
    sk_keypoint points[3] = {{64, 48, 1}, {128, 240, 0.5f}, {NAN, NAN, 0}};
    sk_found item = {.has = SK_HAS_KEYPOINTS, .class_id = -1, .score = 1, .track_id = -1};
    sk_instances all = {.count = 1, .capacity = 1, .items = &item, .n_keypoints = 3, .keypoints = points};
    sk_result_frame frame = *frame_number(1);
    frame.instances = &all;
    assert_ok(sink->write(sink, &frame, &err), &err);
    assert_ok(sink->close(sink, &err), &err);
    snprintf(path, sizeof path, "%s/in_2.txt", folder);
    assert_string_equal(slurp(path), "0 0.15 0.3 0.1 0.4 0.1 0.1 1 0.2 0.5 0.5 0 0 0\n");
}

/* a.jpg, a.png and another folder's a.png are three pictures, and pages of one are told apart. */
static void every_picture_has_its_own_label_file(void **state)
{
    (void)state;
    sk_error err = {0};
    static const struct {
        const char *source;
        int64_t frame;
        const char *file;
    } pictures[] = {{"x/a.jpg", 0, "a"},        {"x/a.png", 1, "a.png"}, {"y/a.png", 2, "a.png_2"},
                    {"x/b.tif", 3, "b"},        {"x/b.tif", 4, "b_5"},   {"x/c.png", 5, "c"},
                    {"x/.hidden", 6, ".hidden"}};
    for (int again = 0; again < 2; again++) { /* a continued run comes to the same names */
        sk_run_header h = header();
        h.source_kind = "pictures";
        char folder[4300], path[4600];
        snprintf(folder, sizeof folder, "%s/own-labels-%d", test_folder(), again);
        sk_sink *sink = NULL;
        assert_ok(sk_sink_find("labels")->open(folder, &h, &sink, &err), &err);
        for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
            sk_result_frame frame = *frame_number(again || i != 1 ? 1 : 0);
            frame.source = pictures[i].source;
            frame.index = pictures[i].frame;
            assert_ok(sink->write(sink, &frame, &err), &err);
            snprintf(path, sizeof path, "%s/%s.txt", folder, pictures[i].file);
            assert_true(sk_file_exists(path) == (again || i != 1));
        }
        assert_ok(sink->close(sink, &err), &err);
    }
}

/* Frames a second: what is given counts before what the file says, but for live sources. */
static void the_rate_is_the_one_that_was_given(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        double file, given, want;
    } cases[] = {{"video", 25, 30, 30},  {"video", 25, 0, 25},  {"video", 0, 12, 12},
                 {"video", 25, NAN, 25}, {"video", 25, -5, 25}, {"pictures", 0, 10, 10},
                 {"pictures", 0, 0, 0},  {"live", 25, 30, 25},  {"live", 0, 30, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int follows = 0; follows < 2; follows++) {
            sk_run_header h = header();
            h.source_kind = cases[i].kind;
            h.rate = cases[i].file;
            h.tracked = follows;
            sk_run_header_rate(&h, cases[i].given);
            if (h.rate != cases[i].want)
                fail_msg("%s of %g, %g given: %g", cases[i].kind, cases[i].file, cases[i].given, h.rate);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_the_one_that_was_given),
        cmocka_unit_test(mot_has_a_line_a_track),
        cmocka_unit_test(csv_has_a_row_an_instance),
        cmocka_unit_test(jsonl_has_a_line_a_frame),
        cmocka_unit_test(coco_is_a_dataset_and_a_list),
        cmocka_unit_test(labels_are_relative),
        cmocka_unit_test(labels_of_poses_have_a_box),
        cmocka_unit_test(every_picture_has_its_own_label_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
