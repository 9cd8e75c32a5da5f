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

/* Numbers have seven digits in every format, six in label text: no fewer, no more. */
static void digits_of_every_format(void **state)
{
    (void)state;
    static const char *const formats[] = {"csv", "jsonl", "coco", "mot", "labels"};
    static const struct {
        const char *seven, *in; /* c csv, j jsonl, o coco, m mot */
    } wanted[] = {{"1.234568", "cj"},    {"2.345679", "cj"},    {"11.23457", "cj"},   {"32.34568", "cj"},
                  {"10", "o"},           {"20.12346", "cjom"},  {"5.123457", "cjom"}, {"0.1234568", "cjom"},
                  {"0.7654321", "cjom"}, {"123.4568", "cjom"},  {"234.5679", "cjom"}, {"7.654321", "cjom"},
                  {"3.333333", "cjom"},  {"0.3456789", "cjom"}, {"44.44444", "cj"},   {"55.55556", "cj"},
                  {"1.111111", "cj"},    {"0.6666667", "c"},    {"9.876543", "cj"}};
    const sk_sighting seen = {.track = 3,
                              .x = 44.44444444,
                              .y = 55.55555555,
                              .heading = 1.1111111,
                              .certainty = 0.66666666,
                              .uncertainty = 9.87654321};
    sk_keypoint points[2] = {{123.456789f, 234.567891f, 0.765432123f}, {NAN, NAN, 0}};
    sk_found item = {.has = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS,
                     .score = 0.123456789f,
                     .box = {1.23456789f, 2.34567891f, 11.2345678f, 32.3456789f},
                     .obb = {20.1234567f, 5.12345678f, 7.65432109f, 3.33333333f, 0.345678912f},
                     .track_id = 3};
    sk_instances all = {.count = 1, .capacity = 1, .items = &item, .n_keypoints = 2, .keypoints = points};
    const sk_result_frame frame = {.source = "in.mp4",
                                   .index = 0,
                                   .time = 1.23456789,
                                   .width = 640,
                                   .height = 480,
                                   .instances = &all,
                                   .sightings = &seen};
    for (int f = 0; f < 5; f++) {
        sk_error err = {0};
        sk_run_header h = header();
        sk_sink *sink = NULL;
        char path[4400], beside[4500] = "", whole[1 << 14];
        h.tracked = true;
        h.has |= SK_HAS_OBB;
        snprintf(path, sizeof path, "%s/digits-%s", test_folder(), formats[f]);
        assert_ok(sk_sink_find(formats[f])->open(path, &h, &sink, &err), &err);
        assert_ok(sink->write(sink, &frame, &err), &err);
        assert_ok(sink->close(sink, &err), &err);
        if (f == 4) {
            strcat(path, "/in_1.txt");
            assert_string_equal(slurp(path), "0 0.0361867 0.0166423 0.0379515 0.0101087 0.0266991 0.00470542 "
                                             "0.0249343 0.0112391 0.192901 0.488683 0.765432 0 0 0 3\n");
            continue;
        }
        strncpy(whole, slurp(path), sizeof whole - 1);
        whole[sizeof whole - 1] = '\0';
        if (f == 2) {
            char *list = sk_path_with_extension(path, "_results.json");
            snprintf(beside, sizeof beside, "%s", list);
            sk_free(list);
            strncat(whole, slurp(beside), sizeof whole - strlen(whole) - 1);
        }
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            if (!strchr(wanted[i].in, "cjom"[f]))
                continue;
            const char *at = strstr(whole, wanted[i].seven);
            if (!at || (at[strlen(wanted[i].seven)] >= '0' && at[strlen(wanted[i].seven)] <= '9'))
                fail_msg("%s lacks %s: %s", formats[f], wanted[i].seven, whole);
        }
        if (f < 2)
            assert_non_null(strstr(whole, "1.234568")); /* seconds, to a millionth */
    }
}

/* The line that says what ran: models, what computed in their place, on one line whatever a path holds, and cut where room ends. */
static void the_line_of_a_run(void **state)
{
    (void)state;
    sk_run_header h = header();
    char line[2048], small[300];
    h.n_models = 2;
    h.model_paths[1] = "two\nlines\r.pt";
    h.model_hashes[1] = "fedcba9876543210ffff";
    h.n_files = 2;
    h.files[0] = (sk_run_file){0, "m.engine", "00112233445566778899"};
    h.files[1] = (sk_run_file){1, "", "aabbccddeeff00112233"};
    const char *whole =
        "skitter 0; 2026-01-01T00:00:00Z; runtime cpu (requested cpu); device test; precision f32; "
        "conf 0.25; model m.pt sha256 0123456789abcdef; model two lines .pt sha256 "
        "fedcba9876543210; computed by m.engine sha256 0011223344556677; computed by a file in "
        "memory sha256 aabbccddeeff0011";
    assert_string_equal(sk_run_header_line(&h, line, sizeof line), whole);
    for (size_t room = 1; room < sizeof small; room++) {
        memset(small, 'x', sizeof small);
        assert_ptr_equal(sk_run_header_line(&h, small, room), small);
        assert_int_equal(strlen(small), room - 1 < strlen(whole) ? room - 1 : strlen(whole));
        assert_memory_equal(small, whole, strlen(small));
    }
}

/* A frame that is read back is of this run where its numbers can be. */
static void frames_that_fit(void **state)
{
    (void)state;
    sk_run_header h = header();
    sk_result_frame frame = *frame_number(1);
    sk_found *in = &frame.instances->items[0];
    assert_true(sk_run_header_fits(&h, &frame));
    static const struct {
        int32_t number;
        bool fits;
    } numbers[] = {{-2, false}, {-1, true}, {0, true}, {1 << 24, true}, {(1 << 24) + 1, false}};
    for (int i = 0; i < 5; i++) {
        in->class_id = numbers[i].number;
        assert_int_equal(sk_run_header_fits(&h, &frame), numbers[i].fits);
        in->class_id = 0;
        in->track_id = numbers[i].number;
        assert_int_equal(sk_run_header_fits(&h, &frame), numbers[i].fits);
        in->track_id = -1;
    }
    frame.width = -1;
    assert_false(sk_run_header_fits(&h, &frame));
    frame.width = 0, frame.height = -1;
    assert_false(sk_run_header_fits(&h, &frame));
    frame.height = 0;
    assert_true(sk_run_header_fits(&h, &frame));
    frame.index = -1;
    assert_false(sk_run_header_fits(&h, &frame));
    frame.index = 0;
    h.n_keypoints = 3;
    assert_false(sk_run_header_fits(&h, &frame));
    frame = *frame_number(0);
    assert_true(sk_run_header_fits(&h, &frame)); /* of nobody, no keypoints are missing */
}

/* What each format is: which file, which may go to standard output, which wait for each other, which need no shapes. */
static void what_formats_are(void **state)
{
    (void)state;
    static const struct {
        const char *name, *file, *beside;
        bool lines, takes_turns, no_shapes;
    } wanted[] = {{"csv", "results.csv", NULL, true, false, true},
                  {"jsonl", "results.jsonl", NULL, true, false, true},
                  {"slp", "results.slp", NULL, false, true, false},
                  {"analysis", "results.analysis.h5", NULL, false, true, false},
                  {"coco", "results.coco.json", "results.coco_results.json", false, false, false},
                  {"labels", "labels/", NULL, false, false, true},
                  {"labels-conf", "labels-conf/", NULL, false, false, true},
                  {"mot", "results.mot.txt", NULL, true, false, false},
                  {"mcap", "results.mcap", NULL, false, false, false},
                  {"db3", "results.db3", NULL, false, false, false},
                  {"rosbag2", "rosbag2/", NULL, false, false, false},
                  {"tracks", "tracks.csv", NULL, false, false, true},
                  {"final", "tracks_final.csv", NULL, false, false, true},
                  {"raw", NULL, NULL, false, false, true}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const sk_sink_kind *kind = sk_sink_find(wanted[i].name);
        assert_non_null(kind);
        if (wanted[i].file)
            assert_string_equal(kind->file, wanted[i].file);
        if (wanted[i].beside)
            assert_string_equal(kind->beside, wanted[i].beside);
        assert_true(kind->lines == wanted[i].lines && kind->takes_turns == wanted[i].takes_turns &&
                    kind->no_shapes == wanted[i].no_shapes && kind->help[0]);
    }
}

static void formats_are_found_by_name(void **state)
{
    (void)state;
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++)
        assert_ptr_equal(sk_sink_find((*kind)->name), *kind);
    for (const sk_sink_kind *const *kind = sk_sink_track_kinds; *kind; kind++)
        assert_ptr_equal(sk_sink_find((*kind)->name), *kind);
    assert_null(sk_sink_find("cs"));
    assert_null(sk_sink_find(""));
    sk_run_header h = header();
    sk_error err = {0};
    assert_ok(sk_run_header_needs_shapes(&h, "x", &err), &err);
    h.has = 0;
    assert_int_equal(sk_run_header_needs_shapes(&h, "x", &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "format x holds boxes or keypoints, and this model says what whole "
                                        "pictures show; there are csv, jsonl, labels, labels-conf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_the_one_that_was_given),
        cmocka_unit_test(digits_of_every_format),
        cmocka_unit_test(the_line_of_a_run),
        cmocka_unit_test(frames_that_fit),
        cmocka_unit_test(what_formats_are),
        cmocka_unit_test(formats_are_found_by_name),
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
