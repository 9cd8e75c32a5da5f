/* SPDX-License-Identifier: Apache-2.0 */
/* Small parts of runs, each with figures that can be worked out by hand: sources, events, scenes' truth, given frames, models. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/describe.h"
#include "app/given_classes.h"
#include "app/given_frames.h"
#include "app/quantize.h"
#include "app/run_events.h"
#include "app/scene_truth.h"
#include "app/source_list.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* --- sources --- */

static const char *listed(const char *const *given, size_t count)
{
    static sk_text out;
    sk_source_list list = {0};
    sk_text_clear(&out);
    if (given == NULL) {
        sk_text_free(&out);
        return NULL;
    }
    if (sk_source_list_make(given, count, &list, &err) == SK_OK) {
        sk_text_append(&out, list.many ? "many" : "one");
        for (size_t i = 0; i < list.count; i++)
            sk_text_appendf(&out, "; %s: %s", list.items[i].name,
                            list.items[i].source ? list.items[i].source : "pictures");
        for (size_t i = 0; i < list.n_pictures; i++)
            sk_text_appendf(&out, " + %s", list.pictures[i]);
    } else {
        sk_text_appendf(&out, "error: %s", err.message);
    }
    sk_source_list_free(&list);
    return sk_text_get(&out);
}

#define LISTED(expected, ...)                                                                                \
    do {                                                                                                     \
        const char *const given_[] = {__VA_ARGS__};                                                          \
        assert_string_equal(listed(given_, sizeof given_ / sizeof *given_), expected);                       \
    } while (0)

static void sources(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("day", &err), &err);
    assert_ok(sk_folder_make("mixed", &err), &err);
    assert_ok(sk_folder_make("none", &err), &err);
    static const char *const files[] = {
        "day/v10.mp4", "day/v2.mp4", "day/.hidden.mp4", "day/note.txt", "mixed/a.avi", "mixed/b.png", "a.mp4",
        "a.avi",       "p.png",      "q.jpg",           "one.mp4",      "-x.mp4",      "ä b.mp4"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        put(files[i], "x");
    LISTED("one; a: a.mp4", "a.mp4");
    LISTED("one; p: p.png + p.png", "p.png");
    LISTED("one; pictures: pictures + p.png + q.jpg", "p.png", "q.jpg");
    LISTED("many; v2: day/v2.mp4; v10: day/v10.mp4", "day"); /* as people count */
    LISTED("many; a: mixed/a.avi; mixed: mixed", "mixed");   /* its pictures are a source, too */
    LISTED("one; none: none", "none");
    LISTED("one; none: none/", "none/");
    LISTED("many; a.mp4: a.mp4; a.avi: a.avi", "a.mp4", "a.avi");
    LISTED("many; a.avi: a.avi; mixed_a.avi: mixed/a.avi", "a.avi", "mixed/a.avi");
    LISTED("many; a.mp4-1: a.mp4; a.mp4-2: a.mp4", "a.mp4", "a.mp4");
    LISTED("one; _x: -x.mp4", "-x.mp4");
    LISTED("one; ä b: ä b.mp4", "ä b.mp4");
    LISTED("many; v2: day/v2.mp4; v10: day/v10.mp4", "day/*.mp4");
    LISTED("one; stdin: -", "-");
    LISTED("one; rtsp___x_1_a_b: rtsp://x/1?a&b", "rtsp://x/1?a&b");
    LISTED("one; missing: missing.mp4", "missing.mp4");
    LISTED("one; f__05d: f_%05d.png", "f_%05d.png");
    put("list.txt", "# videos\na.mp4\n\nday\n");
    LISTED("many; a: a.mp4; v2: day/v2.mp4; v10: day/v10.mp4", "list.txt");
    put("pictures.txt", "p.png\nq.jpg\n");
    LISTED("one; pictures: pictures.txt", "pictures.txt");
    put("single.txt", "a.mp4\n");
    LISTED("many; a: a.mp4", "single.txt");
    put("l5.txt", "a.mp4\n");
    put("l4.txt", "l5.txt\n");
    put("l3.txt", "l4.txt\n");
    put("l2.txt", "l3.txt\n");
    put("l1.txt", "l2.txt\n");
    LISTED("many; a: a.mp4", "l2.txt");
    LISTED("error: l5.txt: lists that name lists, 4 deep", "l1.txt");
    const char *two[] = {"a.mp4", "rtsp://x"}, *cameras[] = {"a.mp4", "2"};
    assert_non_null(
        strstr(listed(two, 2), "error: rtsp://x: cameras, streams and pipes are read one at a time"));
    assert_non_null(strstr(listed(two, 2), "start skitter once for each of them"));
    assert_non_null(
        strstr(listed(cameras, 2), "a number is a camera; an option's list is written with commas"));
    char name[400] = "";
    for (int i = 0; i < 200; i++)
        strcat(name, "n");
    strcat(name, ".mp4");
    const char *longest[] = {name};
    assert_true(strlen(listed(longest, 1)) <= strlen("one; : ") + 120 + 204);
    (void)listed(NULL, 0);
}

/* --- events --- */

static char *next_line(int file, char *line, size_t capacity)
{
    size_t n = 0;
    while (n + 1 < capacity && read(file, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
    return line;
}

static void events(void **state)
{
    (void)state;
    int ends[2];
    char line[8192];
    sk_run_events *e = NULL;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(sk_run_events_open(ends[0], &e, &err), SK_ERR_ARG); /* the end that is read */
    assert_null(e);
    assert_int_equal(sk_run_events_open(999, &e, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "--events 999: this descriptor is not open for writing");
    assert_ok(sk_run_events_open(ends[1], &e, &err), &err);
    sk_run_events_begin(e, "v.mp4", "out", 2, 5, "cuda");
    assert_string_equal(next_line(ends[0], line, sizeof line),
                        "{\"event\":\"begin\",\"source\":\"v.mp4\",\"out\":\"out\",\"runtime_requested\":"
                        "\"cuda\",\"number\":2,\"count\":5}");
    static const char *const steps[] = {"waiting", "making", "checking", "writing", "done"};
    static const sk_artifact_step all[] = {SK_ARTIFACT_WAITING, SK_ARTIFACT_MAKING, SK_ARTIFACT_CHECKING,
                                           SK_ARTIFACT_WRITING, SK_ARTIFACT_DONE};
    for (int i = 0; i < 5; i++) {
        char wanted[160];
        sk_run_events_export(e, all[i], "m.onnx", i ? "" : "note", i == 1 ? 0.5 : -1);
        snprintf(wanted, sizeof wanted,
                 "{\"event\":\"export\",\"step\":\"%s\",\"path\":\"m.onnx\",\"note\":%s,\"part\":%s}",
                 steps[i], i ? "null" : "\"note\"", i == 1 ? "0.5" : "null");
        assert_string_equal(next_line(ends[0], line, sizeof line), wanted);
    }
    sk_run_events_export(e, SK_ARTIFACT_MAKING, "m", NULL, 0);
    assert_non_null(strstr(next_line(ends[0], line, sizeof line), "\"note\":null,\"part\":0}"));
    sk_run_events_notice(e, "look");
    assert_string_equal(next_line(ends[0], line, sizeof line), "{\"event\":\"notice\",\"text\":\"look\"}");
    sk_run_events_preview(e, 7);
    assert_string_equal(next_line(ends[0], line, sizeof line), "{\"event\":\"preview\",\"frame\":7}");
    /* progress: at once, then not for a quarter of a second, but always at the end */
    sk_predict_progress p = {.done = 10, .total = 100, .instances = 20, .continued = 4, .seconds = 2};
    sk_run_events_progress(e, &p);
    next_line(ends[0], line, sizeof line);
    assert_non_null(strstr(
        line,
        "{\"event\":\"progress\",\"frame\":10,\"total\":100,\"continued\":4,\"instances\":20,\"memory\":"));
    assert_true(strtoll(strstr(line, "\"memory\":") + 9, NULL, 10) > 100000);
    assert_non_null(
        strstr(line, ",\"seconds\":2,\"fps\":3,\"seconds_left\":30,\"stages\":[],\"queues\":[]}"));
    p.done = 11;
    sk_run_events_progress(e, &p);
    assert_string_equal(next_line(ends[0], line, sizeof line), "");
    p.done = 100;
    p.seconds = 0;
    sk_run_events_progress(e, &p);
    assert_non_null(strstr(next_line(ends[0], line, sizeof line), "\"frame\":100,"));
    assert_non_null(strstr(line, "\"seconds\":0,\"fps\":0,\"seconds_left\":null,"));
    sk_run_events_begin(e, "w.mp4", NULL, 3, 5, NULL); /* a new source begins anew */
    assert_non_null(
        strstr(next_line(ends[0], line, sizeof line), "\"out\":null,\"runtime_requested\":null,"));
    p = (sk_predict_progress){.done = 1, .total = -1, .seconds = 1};
    sk_run_events_progress(e, &p);
    assert_non_null(strstr(next_line(ends[0], line, sizeof line), "\"total\":-1,"));
    assert_non_null(strstr(line, "\"fps\":1,\"seconds_left\":null,"));
    sk_predict_report *r = sk_calloc(1, sizeof *r);
    *r = (sk_predict_report){.total_frames = 9,
                             .frames = 5,
                             .instances = 8,
                             .seconds = 1.5,
                             .runtime = "cpu",
                             .device = "d",
                             .precision = "f32",
                             .n_files = 2,
                             .files = {"a", "b"}};
    sk_run_events_result(e, "finished", "out", r);
    assert_string_equal(next_line(ends[0], line, sizeof line),
                        "{\"event\":\"result\",\"state\":\"finished\",\"out\":\"out\",\"runtime\":\"cpu\","
                        "\"device\":\"d\",\"precision\":\"f32\","
                        "\"frames\":9,\"instances\":8,\"seconds\":1.5,\"files\":[\"a\",\"b\"]}");
    sk_free(r);
    const sk_error wrong = {.code = SK_ERR_IO, .message = "full"};
    sk_run_events_end(e, SK_OK, &wrong);
    assert_string_equal(next_line(ends[0], line, sizeof line),
                        "{\"event\":\"end\",\"status\":0,\"message\":null}");
    sk_run_events_end(e, SK_ERR_IO, &wrong);
    assert_non_null(strstr(next_line(ends[0], line, sizeof line), ",\"message\":\"full\"}"));
    /* a line is whole or not at all: nobody reads, and nothing waits */
    for (int i = 0; i < 3000; i++)
        sk_run_events_notice(e, "a line that is written again and again until the pipe is full");
    int lines = 0;
    while (next_line(ends[0], line, sizeof line)[0]) {
        assert_string_equal(line, "{\"event\":\"notice\",\"text\":\"a line that is written again and again "
                                  "until the pipe is full\"}");
        lines++;
    }
    assert_true(lines > 100 && lines < 3000);
    sk_run_events_notice(e, "again"); /* who reads on is told on */
    assert_string_equal(next_line(ends[0], line, sizeof line), "{\"event\":\"notice\",\"text\":\"again\"}");
    close(ends[0]);
    sk_run_events_notice(e, "nobody"); /* is no reason to die */
    sk_run_events_notice(e, "nobody");
    sigset_t waiting;
    assert_true(sigpending(&waiting) == 0 && !sigismember(&waiting, SIGPIPE));
    sk_run_events_close(&e);
    close(ends[1]);
    sk_run_events_begin(NULL, "", "", 0, 0, "");
    sk_run_events_export(NULL, SK_ARTIFACT_DONE, "", "", 0);
    sk_run_events_notice(NULL, "");
    sk_run_events_preview(NULL, 0);
    sk_run_events_progress(NULL, &p);
    sk_run_events_result(NULL, "", "", NULL);
    sk_run_events_end(NULL, SK_OK, NULL);
}

/* --- scenes --- */

static void put_scene(sk_text *all, const char *title, FILE *file)
{
    char text[8192];
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    sk_text_appendf(all, "--- %s\n%s", title, text);
}

static void truth_of_scenes(void **state)
{
    (void)state;
    sk_scene_animal animals[4];
    for (int i = 0; i < 4; i++) {
        animals[i] = (sk_scene_animal){.track = 10 + i,
                                       .species = i % 3,
                                       .box = {1.5F, 2.25F, 31.5F, 22.25F},
                                       .obb = {20.5F, 15.25F, 30, 10, 0.5F},
                                       .visible = 0.25F * (float)(i + 1),
                                       .length = 33.5F};
        for (int k = 0; k < SK_SCENE_KEYPOINTS; k++) {
            animals[i].points[k][0] = 3 + 10 * (float)k;
            animals[i].points[k][1] = 4 + (float)k;
            animals[i].seen[k] = (i + k) % 3;
        }
    }
    animals[0].visible = (float)SK_SCENE_COUNTS_VISIBLE; /* just enough to count */
    animals[1].visible = SK_SCENE_LABEL_VISIBLE;
    animals[2].visible = 0.05F;
    animals[3].obb[0] = -100; /* beyond the picture */
    sk_text all = {0};
    FILE *file = tmpfile();
    sk_scene_truth_header(file);
    sk_scene_truth_rows(file, "a,b.mp4", 7, 0.25, animals, 4);
    put_scene(&all, "truth", file);
    file = tmpfile();
    sk_scene_mot_rows(file, 7, animals, 4);
    put_scene(&all, "mot", file);
    static const sk_scene_labels kinds[] = {SK_SCENE_LABELS_POSE, SK_SCENE_LABELS_OBB, SK_SCENE_LABELS_BOX};
    for (int i = 0; i < 3; i++) {
        file = tmpfile();
        sk_scene_label_rows(file, kinds[i], 64, 48, animals, 4);
        put_scene(&all, "labels", file);
        file = tmpfile();
        sk_scene_dataset(file, kinds[i]);
        put_scene(&all, "data.yaml", file);
    }
    test_text_is("tests/app/told/scene_truth.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* --- given frames --- */

static sk_status open_given(const char *text, sk_annotation_set *set, sk_given_classes *classes,
                            sk_given_frames **out)
{
    put("given.csv", text);
    *set = (sk_annotation_set){0};
    *classes = (sk_given_classes){0};
    *out = NULL;
    assert_ok(sk_annotations_read("given.csv", set, &err), &err);
    assert_ok(sk_given_classes_of(set, classes, &err), &err);
    return sk_given_frames_open("given.csv", set, classes->number, out, &err);
}

static void close_given(sk_annotation_set *set, sk_given_classes *classes, sk_given_frames **f)
{
    sk_given_frames_close(f);
    sk_given_classes_free(classes);
    sk_annotations_free(set);
}

static void frames_of_a_file(void **state)
{
    (void)state;
    sk_annotation_set set;
    sk_given_classes classes;
    sk_given_frames *f = NULL;
    int64_t from = 0, to = 0;
    sk_result_frame frame;
    /* every fifth frame from 10 on; 25 to 40 is the widest gap; rows are out of order */
    assert_ok(open_given("source,frame,class,name,score,x1,y1,x2,y2,nose_x,nose_y,nose_score\n"
                         "v.mp4,25,2,bee,0.5,1,2,11,22,5,6,0.25\nv.mp4,10,1,fly,0.75,0,0,4,4,1,1,1\nv.mp4,40,"
                         "1,fly,0.25,0,0,9,9,2,2,1\n"
                         "v.mp4,25,1,fly,1,3,4,13,24,7,8,1\nv.mp4,20,1,fly,1,3,4,13,24,7,8,1\n",
                         &set, &classes, &f),
              &err);
    assert_int_equal(sk_given_frames_count(f), 7); /* 10, 15 … 40 */
    assert_int_equal(sk_given_frames_first(f), 10);
    sk_given_frames_gap(f, &from, &to);
    assert_true(from == 25 && to == 40);
    assert_true(sk_given_frames_number(f, 10) == 0 && sk_given_frames_number(f, 15) == 1 &&
                sk_given_frames_number(f, 40) == 6);
    assert_true(sk_given_frames_number(f, 9) == -1 && sk_given_frames_number(f, 5) == -1 &&
                sk_given_frames_number(f, 11) == -1 && sk_given_frames_number(f, 45) == -1);
    assert_string_equal(sk_given_frames_source(f), "v.mp4");
    assert_ok(sk_given_frames_get(f, 3, &frame, &err), &err);
    assert_true(frame.index == 25 && frame.instances->count == 2);
    const sk_found *a = &frame.instances->items[0]; /* of one frame in the file's order */
    assert_true(a->class_id == 2 && a->score == 0.5F && a->box[0] == 1 && a->box[1] == 2 && a->box[2] == 11 &&
                a->box[3] == 22);
    assert_true(frame.instances->keypoints[a->first_keypoint].x == 5 &&
                frame.instances->keypoints[a->first_keypoint].score == 0.25F);
    assert_true(frame.instances->items[1].class_id == 1 && frame.instances->items[1].box[2] == 13);
    assert_ok(sk_given_frames_get(f, 1, &frame, &err), &err); /* back, and one without */
    assert_true(frame.index == 15 && frame.instances->count == 0);
    for (int round = 0; round < 2; round++)
        for (int64_t i = 0; i < 7; i++) {
            assert_ok(sk_given_frames_get(f, i, &frame, &err), &err);
            assert_int_equal(frame.instances->count, i == 3 ? 2 : i == 0 || i == 2 || i == 6);
        }
    assert_int_equal(sk_given_frames_get(f, 7, &frame, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "there are 7 frames, and none numbered 7");
    assert_int_equal(sk_given_frames_get(f, -1, &frame, &err), SK_ERR_ARG);
    close_given(&set, &classes, &f);
    /* one frame; none */
    assert_ok(open_given("frame,x1,y1,x2,y2\n3,0,0,1,1\n", &set, &classes, &f), &err);
    assert_true(sk_given_frames_count(f) == 1 && sk_given_frames_first(f) == 3);
    assert_true(sk_given_frames_number(f, 3) == 0 && sk_given_frames_number(f, 4) == -1);
    close_given(&set, &classes, &f);
    assert_ok(open_given("frame,x1,y1,x2,y2\n", &set, &classes, &f), &err);
    assert_int_equal(sk_given_frames_count(f), 0);
    close_given(&set, &classes, &f);
    /* several videos are refused, several pictures are frames */
    assert_int_equal(
        open_given("source,frame,x1,y1,x2,y2\na.mp4,0,0,0,1,1\nb.mp4,0,0,0,1,1\na.mp4,1,0,0,1,1\n", &set,
                   &classes, &f),
        SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "is about 2 videos, 'a.mp4' and 'b.mp4' among them"));
    close_given(&set, &classes, &f);
    assert_ok(open_given("source,frame,x1,y1,x2,y2\na.png,0,0,0,1,1\nb.png,0,0,0,2,2\nc.png,0,0,0,3,3\n",
                         &set, &classes, &f),
              &err);
    assert_int_equal(sk_given_frames_count(f), 3);
    assert_ok(sk_given_frames_get(f, 2, &frame, &err), &err);
    assert_true(frame.index == 2 && frame.instances->items[0].box[2] == 3);
    close_given(&set, &classes, &f);
}

static void classes_of_a_file(void **state)
{
    (void)state;
    static const struct {
        int64_t numbers[4];
        int32_t wanted[4], count, changed;
    } rows[] = {{{0, 1, 2, 3}, {0, 1, 2, 3}, 4, 0},
                {{3, 2, 1, 0}, {3, 2, 1, 0}, 4, 0},
                {{-1, -1, 0, 2}, {1, 3, 0, 2}, 4, 0},
                {{5, 5, 0, 1}, {5, 2, 0, 1}, 6, 1},
                {{65535, 65536, 0, 1}, {65535, 2, 0, 1}, 65536, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char texts[4][8] = {"a", "b", "c", "d"};
        sk_annotation_class classes[4];
        for (int k = 0; k < 4; k++)
            classes[k] = (sk_annotation_class){rows[i].numbers[k], texts[k]};
        sk_annotation_set set = {.format = "CSV", .classes = classes, .n_classes = 4};
        sk_given_classes given = {0};
        assert_ok(sk_given_classes_of(&set, &given, &err), &err);
        for (int k = 0; k < 4; k++) {
            if (given.number[k] != rows[i].wanted[k])
                fail_msg("row %zu: class %d is %d", i, k, given.number[k]);
            assert_string_equal(given.names[given.number[k]], texts[k]);
        }
        assert_int_equal(given.count, rows[i].count);
        assert_int_equal(given.changed, rows[i].changed);
        sk_given_classes_free(&given);
        if (i == 0) { /* COCO counts from one */
            set.format = "COCO dataset";
            for (int k = 0; k < 4; k++)
                classes[k].number = k + 1;
            assert_ok(sk_given_classes_of(&set, &given, &err), &err);
            assert_true(given.number[0] == 0 && given.number[3] == 3 && given.count == 4);
            sk_given_classes_free(&given);
        }
    }
}

/* --- models --- */

static void put_model(sk_text *all, const char *path, const sk_describe_settings *settings)
{
    sk_model *model = NULL;
    char *text = NULL;
    const char *source = getenv("SKITTER_TEST_SOURCE");
    assert_ok(sk_model_open(path, &model, &err), &err);
    assert_ok(sk_describe_model(model, settings, &text, &err), &err);
    const char *at = source && strncmp(text, source, strlen(source)) == 0 ? text + strlen(source) + 1 : text;
    sk_text_append(all, "---\n");
    for (const char *line = at; *line;) {
        const size_t n = strcspn(line, "\n");
        if (strncmp(line, "  \"path\"", 8) != 0) /* where the tree lies */
            sk_text_appendf(all, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    sk_free(text);
    sk_model_close(&model);
}

static void models_are_described(void **state)
{
    (void)state;
    sk_text all = {0};
    static const char *const models[] = {
        "share/models/demo-pose.pt", "share/models/demo-bottomup", "share/models/onnx/demo-obb.onnx",
        "tests/fixtures/sleap_nn/unet_stem", "tests/fixtures/sleap_keras/vectors"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s", test_source(models[i]));
        if (!sk_file_exists(path))
            continue;
        put_model(&all, path, &(sk_describe_settings){.layers = i == 3});
        put_model(&all, path,
                  &(sk_describe_settings){
                      .json = true, .layers = i == 3, .height = i == 0 ? 100 : 0, .width = i == 0 ? 200 : 0});
    }
    test_text_is("tests/app/told/models.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* --- what eight bits lost --- */

static sk_quantize_report report;
static int32_t held = 5; /* frames measured on */

/* The first of what is told, "": nothing. */
static const char *judged(double percent, bool measured, int32_t frames, sk_quantize_precision precision)
{
    sk_quantize_settings s;
    sk_quantize_defaults(&s);
    s.precision = precision;
    s.output = "m.skq";
    s.data = "v.mp4";
    s.truth = "t.csv";
    report.about = (sk_quantised){.measured = measured, .frames = frames};
    report.about.loss = (sk_loss){.percent = percent, .frames = held, .instances = 8, .lost = 1, .added = 2};
    report.n_notices = 3;
    sk_quantize_judge(&s, &report);
    return report.n_notices ? report.notices[0] : "";
}

/* A large loss is told with what helps, a small one is not. */
static void losses_are_judged(void **state)
{
    (void)state;
    assert_string_equal(judged(0, true, 100, SK_QUANTIZE_I8), "");
    assert_string_equal(judged(10, true, 100, SK_QUANTIZE_I8), "");
    const char *much = judged(10.1, true, 12, SK_QUANTIZE_I8);
    assert_non_null(
        strstr(much, "m.skq: results differ from f32's by 10.1 % (1 of 8 lost, 2 new, others moved)"));
    assert_non_null(strstr(much, "from 12 frames"));
    assert_non_null(strstr(much, "(--frames 100)"));
    assert_non_null(strstr(much, "--precision mixed"));
    much = judged(80, true, 99, SK_QUANTIZE_MIXED);
    assert_true(strstr(much, "(--frames 100)") && !strstr(much, "mixed"));
    assert_non_null(strstr(judged(80, true, 100, SK_QUANTIZE_I8), "(--frames 200)"));
    much = judged(0, false, 100, SK_QUANTIZE_I8);
    assert_true(strstr(much, "not known") && strstr(much, "the 5 frames") && strstr(much, "--conf"));
    held = 1;
    assert_non_null(strstr(judged(0, false, 100, SK_QUANTIZE_I8), "in the 1 frame it"));
    assert_int_equal(report.n_notices, 1);
    /* few to measure on */
    assert_non_null(
        strstr(judged(1, true, 100, SK_QUANTIZE_I8), "m.skq: its loss was measured on 1 frame alone"));
    held = 4;
    assert_non_null(strstr(judged(1, true, 100, SK_QUANTIZE_I8), "on 4 frames alone"));
    (void)judged(11, true, 100, SK_QUANTIZE_I8);
    assert_int_equal(report.n_notices, 2);
    held = 5;
}

/* Animals near the threshold are no matter of frames. */
static void losses_at_the_threshold(void **state)
{
    (void)state;
    report.unsure = 3;
    report.unsure_part = 0.5;
    assert_non_null(strstr(judged(11, true, 100, SK_QUANTIZE_I8), "--frames 200"));
    report.unsure_part = 0.51;
    const char *much = judged(11, true, 100, SK_QUANTIZE_I8);
    assert_non_null(strstr(much, "Most of that comes from 3 animals near --conf 0.25 that one"));
    assert_true(strstr(much, "(1 lost, 2 new)") && strstr(much, "do not help") && !strstr(much, "--frames"));
    report.by_peaks = true;
    report.unsure = 1;
    assert_non_null(
        strstr(judged(11, true, 100, SK_QUANTIZE_I8), "1 animal near --peak-threshold 0.2 that one"));
    assert_string_equal(judged(10, true, 100, SK_QUANTIZE_I8), "");
    report.unsure_part = 0;
}

static void frames_and_truth_are_judged(void **state)
{
    (void)state;
    report.missing = 6;
    assert_string_equal(
        judged(1, true, 100, SK_QUANTIZE_I8),
        "v.mp4: cut off: 6 of the frames its header promises are not in the file. The model is "
        "made from what is there");
    assert_int_equal(report.n_notices, 1);
    report.missing = 0;
    snprintf(report.truth_of, sizeof report.truth_of, "boxes");
    assert_non_null(
        strstr(judged(1, true, 100, SK_QUANTIZE_I8), "t.csv: nothing that f32 finds in v.mp4 is there"));
    report.truth[0].ap = 0.001;
    assert_string_equal(judged(1, true, 100, SK_QUANTIZE_I8), "");
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources),
        cmocka_unit_test(events),
        cmocka_unit_test(truth_of_scenes),
        cmocka_unit_test(frames_of_a_file),
        cmocka_unit_test(classes_of_a_file),
        cmocka_unit_test(losses_are_judged),
        cmocka_unit_test(losses_at_the_threshold),
        cmocka_unit_test(frames_and_truth_are_judged),
        cmocka_unit_test(models_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
