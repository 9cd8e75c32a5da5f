/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/text.h"
#include "formats/config.h"
#include "formats/hdf5_file.h"
#include "formats/bag_file.h"
#include "formats/ros_messages.h"
#include "results/annotations.h"
#include "results/journal.h"
#include "results/sink.h"
#include "results/track_names.h"
#include "support/test.h"

#include "video_header.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static bool tracked; /* the run follows animals */

static sk_run_header header(void)
{
    sk_run_header h = video_header();
    h.n_models = 1;
    h.model_paths[0] = "m.pt";
    h.model_hashes[0] = "0123456789abcdef0123";
    h.tracked = tracked;
    return h;
}

static bool followed; /* instances belong to tracks */
/* Frame i has i instances with numbers that depend on both. */
static const sk_result_frame *frame_number(int i)
{
    static sk_found items[8];
    static sk_keypoint points[16];
    static sk_instances all;
    static sk_result_frame frame;
    all = (sk_instances){.count = i, .capacity = 8, .items = items, .n_keypoints = 2, .keypoints = points};
    for (int k = 0; k < i; k++) {
        float v = (float)(10 * i + k);
        items[k] = (sk_found){.has = SK_HAS_BOX | SK_HAS_KEYPOINTS,
                              .class_id = k & 1,
                              .score = 0.5f,
                              .box = {v, v + 1, v + 2, v + 3},
                              .first_keypoint = 2 * k,
                              .track_id = followed ? k : -1};
        points[2 * k] = (sk_keypoint){v, v + 0.5f, 0.9f};
        points[2 * k + 1] = (sk_keypoint){NAN, NAN, 0};
    }
    frame = (sk_result_frame){
        .source = "in.mp4", .index = i, .time = i * 0.04, .width = 640, .height = 480, .instances = &all};
    return &frame;
}

static char *slurp(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char text[1 << 16];
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static const char *write_all(const char *name)
{
    static char path[4400];
    sk_error err = {0};
    const sk_sink_kind *kind = sk_sink_find(name);
    assert_non_null(kind);
    snprintf(path, sizeof path, "%s/%s", test_folder(), kind->file);
    sk_run_header h = header();
    sk_sink *sink = NULL;
    assert_ok(kind->open(path, &h, &sink, &err), &err);
    for (int i = 0; i < 3; i++) {
        assert_ok(sink->write(sink, frame_number(i), &err), &err);
        assert_ok(sink->flush(sink, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
    return path;
}

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

static void slp_has_every_table(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *path = write_all("slp");
    sk_hdf5_file *file = NULL;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    double format = 0;
    assert_ok(sk_hdf5_attribute_real(file, "metadata", "format_id", &format, &err), &err);
    assert_true(format == 1.2);
    char *json = NULL;
    assert_ok(sk_hdf5_attribute_text(file, "metadata", "json", &json, &err), &err);
    assert_non_null(strstr(json, "\"name\":\"head\""));
    assert_non_null(strstr(json, "sleap.skeleton.EdgeType"));
    sk_free(json);
    const char *const tables[] = {"frames",      "instances",   "points",          "pred_points",
                                  "videos_json", "tracks_json", "suggestions_json"};
    const int64_t rows[] = {3, 3, 0, 6, 1, 0, 0};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        sk_dtype dtype;
        sk_shape shape;
        assert_true(sk_hdf5_exists(file, tables[i]));
        assert_ok(sk_hdf5_dataset_info(file, tables[i], &dtype, &shape, &err), &err);
        assert_int_equal(shape.dim[0], rows[i]);
    }
    sk_hdf5_close(&file);
}

/* Readers take "filename" for a path and "filenames" for the list of all pictures. */
static void slp_of_pictures_lists_them(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    h.source = "pictures/*.png";
    h.source_kind = "pictures";
    char path[4300];
    snprintf(path, sizeof path, "%s/pictures.slp", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("slp")->open(path, &h, &sink, &err), &err);
    for (int i = 0; i < 2; i++) {
        sk_result_frame frame = *frame_number(1);
        frame.source = i ? "b.png" : "a.png";
        assert_ok(sink->write(sink, &frame, &err), &err);
    }
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_hdf5_texts texts = {0};
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_texts(file, "videos_json", &texts, &err), &err);
    const char *entry = sk_hdf5_text_at(&texts, 0);
    assert_non_null(strstr(entry, "\"filename\":\"a.png\""));
    assert_non_null(strstr(entry, "\"filenames\":[\"a.png\",\"b.png\"]"));
    assert_non_null(strstr(entry, "\"shape\":[2,480,640,3]"));
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
}

static char *text_in(const char *path, const char *dataset, int64_t *rows)
{
    sk_error err = {0};
    sk_hdf5_file *file = NULL;
    sk_hdf5_texts texts = {0};
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_texts(file, dataset, &texts, &err), &err);
    if (rows)
        *rows = (int64_t)texts.count;
    char *first = texts.count ? sk_strdup(sk_hdf5_text_at(&texts, 0)) : NULL;
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
    return first;
}

/* A labels file is opened from anywhere; what is no file (a stream) keeps its name. */
static void slp_names_the_video_from_the_root(void **state)
{
    (void)state;
    sk_error err = {0};
    char here[4200], path[4300];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(test_folder()), 0);
    assert_ok(sk_file_replace("here.mp4", "x", 1, &err), &err);
    for (int live = 0; live < 2; live++) {
        sk_run_header h = header();
        h.source = "./here.mp4";
        h.source_kind = live ? "live" : "video";
        const char *const formats[] = {"slp", "analysis"}, *const datasets[] = {"videos_json", "video_path"};
        for (int i = 0; i < 2; i++) {
            sk_sink *sink = NULL;
            assert_ok(sk_sink_find(formats[i])->open("place.h5", &h, &sink, &err), &err);
            assert_ok(sink->write(sink, frame_number(1), &err), &err);
            assert_ok(sink->close(sink, &err), &err);
            char *said = text_in("place.h5", datasets[i], NULL);
            snprintf(path, sizeof path, "%s/here.mp4", test_folder());
            assert_true((strstr(said, path) != NULL) == !live);
            assert_non_null(strstr(said, "here.mp4"));
            sk_free(said);
        }
    }
    assert_int_equal(chdir(here), 0);
}

static void rows_without_tracks_are_no_tracks(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/names.analysis.h5", test_folder());
    for (int instances = 1; instances <= 2; instances++) {
        sk_run_header h = header();
        sk_sink *sink = NULL;
        assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
        assert_ok(sink->write(sink, frame_number(instances), &err), &err);
        assert_ok(sink->close(sink, &err), &err);
        int64_t rows = -1;
        char *first = text_in(path, "track_names", &rows);
        assert_int_equal(rows, instances == 1 ? 0 : 2);
        if (instances == 2)
            assert_string_equal(first, "instance_0");
        sk_free(first);
        first = text_in(path, "edge_names", &rows);
        assert_string_equal(first, "head");
        assert_int_equal(rows, 2);
        sk_free(first);
    }
}

/* A model that tells individuals apart names them, as SLEAP's own files do; a second track of one has its number behind. */
static void tracks_are_called_as_the_individuals(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    static const char *const formats[][2] = {{"analysis", "track_names"}, {"slp", "tracks_json"}};
    for (int i = 0; i < 2; i++) {
        sk_run_header h = header();
        sk_sink *sink = NULL;
        int64_t rows = -1;
        h.tracked = h.identities = followed = true;
        snprintf(path, sizeof path, "%s/individuals.%s", test_folder(), formats[i][0]);
        assert_ok(sk_sink_find(formats[i][0])->open(path, &h, &sink, &err), &err);
        assert_ok(sink->write(sink, frame_number(3), &err), &err);
        assert_ok(sink->close(sink, &err), &err);
        char *first = text_in(path, formats[i][1], &rows);
        assert_string_equal(first, i ? "[3,\"fly, \\\"small\\\"\"]" : h.class_names[0]);
        assert_int_equal(rows, 3);
        sk_free(first);
        followed = false;
    }
    sk_track_names names;
    sk_run_header h = header();
    char text[SK_TRACK_NAME], second[200];
    h.tracked = h.identities = true;
    assert_true(sk_track_names_open(&names, &h));
    sk_track_names_note(&names, 0, 1);
    sk_track_names_note(&names, 3, 1);
    sk_track_names_note(&names, 4, h.n_classes); /* there is none */
    snprintf(second, sizeof second, "%s_3", h.class_names[1]);
    assert_string_equal(sk_track_names_get(&names, 0, text), h.class_names[1]);
    assert_string_equal(sk_track_names_get(&names, 2, text), "track_2");
    assert_string_equal(sk_track_names_get(&names, 3, text), second);
    assert_string_equal(sk_track_names_get(&names, 9, text), "track_9");
    sk_track_names_close(&names);
}

/* Formats that are one text file, and which nothing here reads (eval, overlay), are named in this list. */
static bool is_read_back(const sk_sink_kind *kind)
{
    static const char *const not_read[] = {"mcap", "db3", "rosbag2", NULL};
    for (const char *const *name = not_read; *name; name++)
        if (strcmp(*name, kind->name) == 0)
            return false;
    return true;
}

static bool is_bag(const sk_sink_kind *kind)
{
    return strcmp(kind->name, "mcap") == 0 || strcmp(kind->name, "db3") == 0;
}

static void expect_utf8(sk_msg_text text)
{
    for (size_t at = 0, step; at < text.length; at += step) {
        step = sk_text_utf8(text.data + at, text.length - at);
        assert_true(step > 0);
    }
}

/* Three frames of a pose model, all texts UTF-8. */
static void check_bag(const char *path)
{
    sk_error err = {0};
    sk_bag_file *file = NULL;
    sk_bag_entries entries = {0};
    sk_arena *arena = NULL;
    assert_ok(sk_arena_open(4096, &arena, &err), &err);
    assert_ok(strstr(path, "db3") ? sk_bag_file_open_db3(path, &file, &err)
                                  : sk_bag_file_open_mcap(path, &file, &err),
              &err);
    assert_string_equal(file->problem, "");
    for (size_t t = 0; t < file->n_topics; t++) {
        assert_int_equal(file->topics[t].messages, 3);
        if (strcmp(file->topics[t].name, "/skitter/keypoints") == 0)
            assert_ok(file->list(file, t, &entries, &err), &err);
        for (size_t i = 0; i < entries.count; i++) {
            sk_msg_instance_array poses;
            const uint8_t *bytes;
            size_t count;
            assert_ok(file->read(file, t, &entries.items[i], &bytes, &count, &err), &err);
            assert_ok(sk_msg_decode(&sk_msg_instance_array_layout, bytes, count, arena, &poses, &err), &err);
            assert_int_equal(poses.skeleton_names.count, 2);
            expect_utf8(poses.skeleton_names.items[0]);
            for (size_t k = 0; k < poses.instances.count; k++)
                expect_utf8(poses.instances.items[k].class_name);
        }
        if (entries.count)
            break;
    }
    assert_int_equal(entries.count, 3);
    sk_free(entries.items);
    sk_arena_close(&arena);
    file->close(file);
}

/* Names as nobody should give them: not UTF-8, with escape codes, beginning with #. Every file stays valid. */
static void strange_names_give_valid_files(void **state)
{
    (void)state;
    sk_error err = {0};
    static const char *const strange_classes[] = {"#1 \xff\x1b[31m", "=cmd()"};
    static const char *const strange_points[] = {"he\xc3", "#tail"};
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        char path[4300];
        snprintf(path, sizeof path, "%s/strange.%s", test_folder(), (*kind)->name);
        followed = tracked = strcmp((*kind)->name, "mot") == 0;
        sk_run_header h = header();
        h.class_names = strange_classes;
        h.keypoint_names = strange_points;
        h.identities = strcmp((*kind)->name, "slp") == 0;
        h.source = "#\xfe.mp4";
        sk_sink *sink = NULL;
        assert_ok((*kind)->open(path, &h, &sink, &err), &err);
        for (int i = 0; i < 3; i++) {
            sk_result_frame frame = *frame_number(i);
            frame.source = h.source;
            assert_ok(sink->write(sink, &frame, &err), &err);
        }
        assert_ok(sink->close(sink, &err), &err);
        if ((*kind)->file[strlen((*kind)->file) - 1] == '/')
            continue;
        if (is_bag(*kind)) {
            check_bag(path);
            continue;
        }
        if (strstr((*kind)->file, ".h5") || strstr((*kind)->file, ".slp")) {
            char *said = text_in(path, h.identities ? "tracks_json" : "node_names", NULL);
            assert_non_null(strstr(said, "\xEF\xBF\xBD"));
            sk_free(said);
            continue;
        }
        const char *text = slurp(path);
        for (size_t left = strlen(text); left > 0;) {
            size_t step = sk_text_utf8(text, left);
            assert_true(step > 0);
            text += step, left -= step;
        }
        if (!is_read_back(*kind))
            continue;
        sk_annotation_set set = {0};
        assert_ok(sk_annotations_read(path, &set, &err), &err);
        assert_int_equal(set.n_items, 3);
        sk_annotations_free(&set);
    }
    followed = tracked = false;
}

/* Rows are frame numbers, whatever frame came first, and what is told of the run is JSON. */
static void analysis_counts_from_the_first_frame(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    char path[4300];
    snprintf(path, sizeof path, "%s/range.analysis.h5", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
    sk_result_frame frame = *frame_number(2);
    frame.index = 5;
    assert_ok(sink->write(sink, &frame, &err), &err);
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_dtype dtype;
    sk_shape shape;
    sk_hdf5_texts texts = {0};
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_info(file, "tracks", &dtype, &shape, &err), &err);
    assert_true(shape.rank == 4 && shape.dim[0] == 2 && shape.dim[2] == 2 && shape.dim[3] == 6);
    assert_ok(sk_hdf5_dataset_texts(file, "provenance", &texts, &err), &err);
    assert_memory_equal(sk_hdf5_text_at(&texts, 0), "{\"skitter\":\"", 12);
    sk_free(texts.bytes);
    sk_hdf5_close(&file);
}

/* Tracks may come in any order, with gaps: each stands in the row of its number, and rows of others stay empty. */
static void analysis_has_a_row_a_track(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_run_header h = header();
    char path[4300];
    snprintf(path, sizeof path, "%s/tracks.analysis.h5", test_folder());
    sk_sink *sink = NULL;
    assert_ok(sk_sink_find("analysis")->open(path, &h, &sink, &err), &err);
    static const int32_t tracks[] = {3, 4, 1, 6};
    const sk_result_frame *frame = frame_number(4);
    for (int i = 0; i < 4; i++)
        frame->instances->items[i].track_id = tracks[i];
    assert_ok(sink->write(sink, frame, &err), &err);
    assert_ok(sink->close(sink, &err), &err);
    sk_hdf5_file *file = NULL;
    sk_shape shape;
    sk_blob *places = NULL, *present = NULL;
    assert_ok(sk_hdf5_open(path, &file, &err), &err);
    assert_ok(sk_hdf5_dataset_read(file, "tracks", SK_DTYPE_F64, 1 << 20, &places, &shape, &err), &err);
    assert_true(shape.dim[0] == 7 && shape.dim[3] == 5);
    assert_ok(sk_hdf5_dataset_read(file, "track_occupancy", SK_DTYPE_F64, 1 << 20, &present, &shape, &err),
              &err);
    for (int t = 0; t < 7; t++) {
        int instance = -1;
        for (int i = 0; i < 4; i++)
            instance = tracks[i] == t ? i : instance;
        const double x = ((const double *)sk_blob_data(places))[((t * 2) * 2) * 5 + 4];
        assert_true(instance < 0 || x == 40 + instance); /* chunks never written are read as 0 here */
        assert_true(((const double *)sk_blob_data(present))[4 * 7 + t] == (instance >= 0));
    }
    sk_blob_unref(&places);
    sk_blob_unref(&present);
    sk_hdf5_close(&file);
}

typedef struct visited {
    int count;
    float sum;
} visited;

static sk_status visit(void *context, const sk_result_frame *frame, sk_error *err)
{
    (void)err;
    visited *v = context;
    assert_int_equal(frame->index, v->count);
    assert_int_equal(frame->instances->count, v->count % 8);
    for (int32_t i = 0; i < frame->instances->count; i++)
        v->sum += frame->instances->items[i].box[0];
    v->count++;
    return SK_OK;
}

static const sk_result_frame *journal_frame(int i)
{
    static sk_result_frame frame;
    frame = *frame_number(i % 8);
    frame.index = i;
    return &frame;
}

static void journal_survives_any_cut(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/journal", test_folder());
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "run A", "now", true, &journal, &other, &err), &err);
    for (int i = 0; i < 20; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    sk_journal_close(&journal);
    FILE *file = fopen(path, "rb");
    static char whole[1 << 16];
    size_t length = fread(whole, 1, sizeof whole, file);
    fclose(file);
    int64_t last = 0;
    for (size_t cut = 49; cut <= length;
         cut += cut + 40 < length ? 7 : 1) { /* 8 magic, 32 stamp, 4 length, 5 fingerprint */
        file = fopen(path, "wb");
        fwrite(whole, 1, cut, file);
        fclose(file);
        assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
        int64_t count = sk_journal_count(journal);
        assert_true(count >= last && count <= 20);
        last = count;
        visited v = {0};
        assert_ok(sk_journal_replay(journal, visit, &v, &err), &err);
        assert_int_equal(v.count, count);
        /* and goes on from there */
        assert_ok(sk_journal_append(journal, journal_frame((int)count), &err), &err);
        v = (visited){0};
        assert_ok(sk_journal_replay(journal, visit, &v, &err), &err);
        assert_int_equal(v.count, count + 1);
        sk_journal_close(&journal);
    }
    assert_int_equal(last, 20);
}

static void journal_knows_its_run(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[4300];
    snprintf(path, sizeof path, "%s/journal2", test_folder());
    sk_journal *journal = NULL;
    char *other = NULL;
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    for (int i = 0; i < 5; i++)
        assert_ok(sk_journal_append(journal, journal_frame(i), &err), &err);
    assert_ok(sk_journal_finish(journal, &err), &err);
    sk_journal_close(&journal);
    assert_int_equal(sk_journal_open(path, "run B", "now", false, &journal, &other, &err), SK_ERR_MISMATCH);
    assert_string_equal(other, "run A"); /* what it is, for whoever says what differs */
    sk_free(other);
    assert_ok(sk_journal_open(path, "run A", "now", false, &journal, &other, &err), &err);
    assert_true(sk_journal_finished(journal));
    assert_int_equal(sk_journal_count(journal), 5);
    assert_ok(sk_journal_truncate(journal, 3, &err), &err);
    assert_false(sk_journal_finished(journal));
    assert_int_equal(sk_journal_count(journal), 3);
    sk_journal_close(&journal);
    assert_ok(sk_journal_open(path, "run B", "now", true, &journal, &other, &err), &err);
    assert_int_equal(sk_journal_count(journal), 0);
    sk_journal_close(&journal);
}

/* A link that somebody put into the folder does not lead results elsewhere. */
static void links_are_not_written_through(void **state)
{
    (void)state;
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        char victim[4300], link[4300];
        sk_error err = {0};
        sk_run_header h = header();
        h.tracked = true;
        sk_sink *sink = NULL;
        bool folder = (*kind)->file[strlen((*kind)->file) - 1] == '/';
        snprintf(victim, sizeof victim, "%s/victim-%s", test_folder(), (*kind)->name);
        snprintf(link, sizeof link, folder ? "%s/in_2.txt" : "%s/planted-%s", test_folder(), (*kind)->name);
        if (strcmp((*kind)->name, "rosbag2") == 0) /* the file in it is called after the folder */
            snprintf(link, sizeof link, "%s/%s_0.mcap", test_folder(), sk_path_name(test_folder()));
        assert_ok(sk_file_replace(victim, "precious", 8, &err), &err);
        unlink(link);
        assert_int_equal(symlink(victim, link), 0);
        sk_status status = (*kind)->open(folder ? test_folder() : link, &h, &sink, &err);
        if (folder && strcmp((*kind)->name, "rosbag2") != 0) {
            assert_ok(status, &err);
            status = sink->write(sink, frame_number(1), &err);
            assert_ok(sink->close(sink, NULL), &err);
        }
        assert_int_equal(status, SK_ERR_IO);
        assert_string_equal(slurp(victim), "precious");
    }
}

/* Files that may not grow stand in for a full disk: every format says so, and ends without a crash. */
static void full_disks_are_told(void **state)
{
    (void)state;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        if ((*kind)->file[strlen((*kind)->file) - 1] == '/')
            continue; /* a folder of files, each of which is small */
        followed = tracked = strcmp((*kind)->name, "mot") == 0;
        for (rlim_t room = 0; room <= 20000; room += 2000) {
            char path[4300];
            snprintf(path, sizeof path, "%s/full", test_folder());
            sk_error err = {0};
            sk_run_header h = header();
            sk_sink *sink = NULL;
            small = before;
            small.rlim_cur = room;
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
            sk_status status = (*kind)->open(path, &h, &sink, &err);
            for (int i = 0; i < 2000 && status == SK_OK; i++)
                status = sink->write(sink, frame_number(7), &err);
            if (sink) {
                sk_status closed = sink->close(sink, status == SK_OK ? &err : NULL);
                status = status != SK_OK ? status : closed;
            }
            assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
            assert_int_equal(status, SK_ERR_IO);
            assert_non_null(strstr(err.message, path));
            unlink(path);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_has_a_row_an_instance),
        cmocka_unit_test(mot_has_a_line_a_track),
        cmocka_unit_test(jsonl_has_a_line_a_frame),
        cmocka_unit_test(coco_is_a_dataset_and_a_list),
        cmocka_unit_test(labels_are_relative),
        cmocka_unit_test(labels_of_poses_have_a_box),
        cmocka_unit_test(every_picture_has_its_own_label_file),
        cmocka_unit_test(slp_names_the_video_from_the_root),
        cmocka_unit_test(rows_without_tracks_are_no_tracks),
        cmocka_unit_test(tracks_are_called_as_the_individuals),
        cmocka_unit_test(strange_names_give_valid_files),
        cmocka_unit_test(slp_has_every_table),
        cmocka_unit_test(slp_of_pictures_lists_them),
        cmocka_unit_test(analysis_counts_from_the_first_frame),
        cmocka_unit_test(analysis_has_a_row_a_track),
        cmocka_unit_test(journal_survives_any_cut),
        cmocka_unit_test(journal_knows_its_run),
        cmocka_unit_test(links_are_not_written_through),
        cmocka_unit_test(full_disks_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
