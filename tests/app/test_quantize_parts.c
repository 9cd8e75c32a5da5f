/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of making eight bits of a model, by hand: which frames are taken, what is counted, how it scores, what the report says. */
#include "support/fault.h"

#include "app/quantize_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *name, const char *text)
{
    assert_ok(sk_file_replace(name, text, strlen(text), &err), &err);
}

/* Frames that a file has detections in, each once, spread over all; crowds and what has no number are no frames. */
static void frames_of_detections(void **state)
{
    (void)state;
    sk_quantize_job job = {0};
    sk_frame_range *ranges = NULL;
    int32_t count = -1;
    sk_text csv = {0};
    sk_text_append(&csv, "frame,x1,y1,x2,y2,crowd\n");
    for (int i = 9; i >= 0; i--) /* backwards, each twice: 100, 103 … 127 */
        sk_text_appendf(&csv, "%d,1,1,9,9,0\n%d,11,1,19,9,0\n%d,1,1,9,9,1\n", 100 + 3 * i, 100 + 3 * i,
                        101 + 3 * i);
    assert_ok(sk_annotations_parse("csv", sk_text_get(&csv), csv.length, &job.file.set, &err), &err);
    static const struct {
        int64_t wanted;
        int32_t count;
        int64_t frames[10];
    } cases[] = {{10, 10, {100, 103, 106, 109, 112, 115, 118, 121, 124, 127}},
                 {12, 10, {100, 103, 106, 109, 112, 115, 118, 121, 124, 127}},
                 {5, 5, {100, 106, 112, 118, 124}},
                 {3, 3, {100, 109, 118}},
                 {1, 1, {100}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(sk_quantize_finder_frames(&job, cases[i].wanted, &ranges, &count, &err), &err);
        assert_int_equal(count, cases[i].count);
        for (int32_t k = 0; k < count; k++) {
            assert_int_equal(ranges[k].first, cases[i].frames[k]);
            assert_int_equal(ranges[k].last, cases[i].frames[k] + 1);
            assert_int_equal(ranges[k].step, 1);
        }
        sk_free(ranges);
    }
    sk_annotations_free(&job.file.set);
    sk_text_free(&csv);
}

/* A frame counts once, whether it has one detection or five; the first frame of a video is one, too. */
static sk_status spread_detections(void *context, sk_error *why)
{
    sk_frame_range *ranges = NULL;
    int32_t count = -1;
    const sk_status status = sk_quantize_finder_frames(context, 10, &ranges, &count, why);
    const bool right = count == 4 && ranges && ranges[0].first == 0 && ranges[1].first == 2 &&
                       ranges[2].first == 7 && ranges[3].first == 9;
    sk_free(ranges);
    return status == SK_OK && !right ? SK_ERR_INTERNAL : status;
}

static void frames_count_once(void **state)
{
    (void)state;
    static const char csv[] = "frame,x1,y1,x2,y2\n9,1,1,9,9\n0,1,1,9,9\n7,1,1,9,9\n7,2,2,9,9\n7,3,3,9,9\n"
                              "2,1,1,9,9\n2,2,2,9,9\n";
    sk_quantize_job job = {0};
    assert_ok(sk_annotations_parse("csv", csv, strlen(csv), &job.file.set, &err), &err);
    assert_int_equal(test_every_allocation(spread_detections, &job), 2);
    sk_annotations_free(&job.file.set);
}

/* Evenly over all of a source, also where it has less than twice as many as are wanted. */
static void frames_of_a_source(void **state)
{
    (void)state;
    static const struct {
        int64_t frames, wanted, first[6];
    } cases[] = {{9, 5, {0, 1, 3, 5, 7}},
                 {6, 5, {0, 1, 2, 3, 4}},
                 {1100, 5, {0, 220, 440, 660, 880}},
                 {(int64_t)1 << 50, 4, {0, (int64_t)1 << 48, (int64_t)1 << 49, (int64_t)3 << 48}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_frame_range *ranges = NULL;
        int32_t count = -1;
        assert_ok(sk_quantize_spread(cases[i].frames, cases[i].wanted, &ranges, &count, &err), &err);
        assert_int_equal(count, cases[i].wanted);
        for (int32_t k = 0; k < count; k++) {
            assert_int_equal(ranges[k].first, cases[i].first[k]);
            assert_int_equal(ranges[k].last, cases[i].first[k] + 1);
            assert_int_equal(ranges[k].step, 1);
        }
        sk_free(ranges);
    }
}

static void counts(void **state)
{
    (void)state;
    sk_quantize_frame taken[] = {{.held = false}, {.held = true}, {.held = false}, {.held = false}};
    sk_quantize_input inputs[] = {{NULL, true}, {NULL, true}, {NULL, false}};
    const sk_quantize_job job = {.frames = taken, .n_frames = 4, .inputs = inputs, .n_inputs = 3};
    assert_int_equal(sk_quantize_count(&job, false), 3);
    assert_int_equal(sk_quantize_count(&job, true), 1);
    assert_int_equal(sk_quantize_inputs(&job, false), 1);
    assert_int_equal(sk_quantize_inputs(&job, true), 2);
}

/* Scores by hand: of two boxes in one picture f32 finds both, eight bits one of them, and one too many. */
static void scores_of_truth(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly", "bee"};
    sk_quantize_settings s;
    sk_quantize_defaults(&s);
    sk_quantize_job job = {.s = &s};
    sk_quantize_truth *t = (void *)&job;
    sk_quantize_report r = {0};
    assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
    assert_null(t); /* there is none */
    job.gives.n_classes = 2;
    job.gives.class_names = classes;
    s.truth = "truth.csv";
    put("truth.csv", "frame,name,x1,y1,x2,y2\n4,fly,10,10,50,30\n4,bee,60,10,100,30\n9,fly,0,0,10,10\n");
    assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
    sk_instances found = {0};
    assert_ok(sk_instances_alloc(4, 0, &found, &err), &err);
    static const float boxes[3][4] = {{10, 10, 50, 30}, {60, 10, 100, 30}, {200, 200, 240, 220}};
    const sk_quantize_frame frame = {.index = 4};
    for (int which = 0; which < 2; which++) {
        found.count = 0;
        for (int i = which; i < 2 + which; i++) {
            sk_found *one = sk_instances_add(&found);
            one->has = SK_HAS_BOX;
            one->class_id = i == 1;
            one->score = 0.9F - 0.1F * (float)i;
            memcpy(one->box, boxes[i], sizeof boxes[i]);
        }
        assert_ok(sk_quantize_truth_add(t, which, &frame, &found, &err), &err);
    }
    assert_ok(sk_quantize_truth_measure(t, &r, &err), &err);
    assert_string_equal(r.truth_of, "boxes");
    assert_true(fabs(r.truth[0].ap - 1) < 1e-9 && fabs(r.truth[0].precision - 1) < 1e-9 &&
                fabs(r.truth[0].recall - 1) < 1e-9);
    assert_true(fabs(r.truth[1].recall - 0.5) < 1e-9 && fabs(r.truth[1].precision - 0.5) < 1e-9);
    assert_true(fabs(r.truth[1].ap50 - 0.5) < 0.01 && r.truth[0].median_px == -1);
    sk_quantize_truth_close(&t);
    assert_null(t);
    sk_quantize_truth_close(&t);
    sk_instances_free(&found);
    /* a class that is wrong is not found, where the model tells classes */
    put("truth.csv", "frame,name,x1,y1,x2,y2\n4,fly,10,10,50,30\n");
    assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
    assert_ok(sk_instances_alloc(1, 0, &found, &err), &err);
    sk_found *wrong = sk_instances_add(&found);
    wrong->has = SK_HAS_BOX;
    wrong->score = 0.9F;
    memcpy(wrong->box, boxes[0], sizeof boxes[0]);
    for (int which = 0; which < 2; which++) {
        wrong->class_id = which;
        assert_ok(sk_quantize_truth_add(t, which, &frame, &found, &err), &err);
    }
    assert_ok(sk_quantize_truth_measure(t, &r, &err), &err);
    assert_true(r.truth[0].recall == 1 && r.truth[1].recall == 0);
    sk_quantize_truth_close(&t);
    sk_instances_free(&found);
    /* poses of pictures, of a model that tells no classes */
    char nose[] = "nose", tail[] = "tail", *names[] = {nose, tail};
    job.gives = (sk_task_description){.n_keypoints = 2, .keypoint_names = names};
    put("truth.csv", "source,frame,name,x1,y1,x2,y2,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n"
                     "p/a.png,0,mouse,10,10,50,30,12,12,1,48,28,1\n");
    assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
    assert_ok(sk_instances_alloc(1, 2, &found, &err), &err);
    sk_found *one = sk_instances_add(&found);
    one->has = SK_HAS_BOX | SK_HAS_KEYPOINTS;
    one->class_id = -1;
    one->score = 0.5F;
    memcpy(one->box, boxes[0], sizeof boxes[0]);
    char name[] = "p/a.png";
    const sk_quantize_frame picture = {.index = 3, .name = name};
    for (int which = 0; which < 2; which++) {
        found.keypoints[0] = (sk_keypoint){12, 12 + 2 * (float)which, 1};
        found.keypoints[1] = (sk_keypoint){48, 28 + 2 * (float)which, 1};
        assert_ok(sk_quantize_truth_add(t, which, &picture, &found, &err), &err);
    }
    assert_ok(sk_quantize_truth_measure(t, &r, &err), &err);
    assert_string_equal(r.truth_of, "poses (OKS)");
    assert_true(r.truth[0].median_px == 0 && fabs(r.truth[1].median_px - 2) < 1e-6 && r.truth[0].recall == 1);
    sk_quantize_truth_close(&t);
    sk_instances_free(&found);
}

/* Turned boxes: a middle that is off by half its length is none of the truth's, whichever way it is off. */
static void scores_of_turned_boxes(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly"};
    static const float off[2][2] = {{20, 0}, {0, 10}};
    for (int way = 0; way < 2; way++) {
        sk_quantize_settings s = {.truth = "turned.csv"};
        sk_quantize_job job = {.s = &s, .gives = {.n_classes = 1, .class_names = classes}};
        sk_quantize_truth *t = NULL;
        sk_quantize_report r = {0};
        sk_instances found = {0};
        const sk_quantize_frame frame = {.index = 0};
        put("turned.csv", "frame,name,cx,cy,w,h,angle\n0,fly,100,50,40,20,0.25\n");
        assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
        assert_ok(sk_instances_alloc(1, 0, &found, &err), &err);
        sk_found *one = sk_instances_add(&found);
        *one = (sk_found){.has = SK_HAS_OBB, .score = 0.9F, .obb = {100, 50, 40, 20, 0.25F}};
        assert_ok(sk_quantize_truth_add(t, 0, &frame, &found, &err), &err);
        one->obb[0] += off[way][0];
        one->obb[1] += off[way][1];
        assert_ok(sk_quantize_truth_add(t, 1, &frame, &found, &err), &err);
        assert_ok(sk_quantize_truth_measure(t, &r, &err), &err);
        assert_string_equal(r.truth_of, "oriented boxes");
        assert_true(fabs(r.truth[0].ap - 1) < 1e-9 && r.truth[1].ap < 0.5 && r.truth[0].median_px == -1);
        sk_quantize_truth_close(&t);
        sk_instances_free(&found);
    }
}

/* A model that tells no classes finds whatever there is; one that tells a single one finds that. */
static void classes_of_the_truth(void **state)
{
    (void)state;
    static const char *const classes[] = {"fly"};
    put("two.csv", "frame,name,x1,y1,x2,y2\n4,fly,10,10,50,30\n4,bee,60,10,100,30\n");
    for (int32_t n = 0; n < 2; n++) {
        sk_quantize_settings s = {.truth = "two.csv"};
        sk_quantize_job job = {.s = &s, .gives = {.n_classes = n, .class_names = n ? classes : NULL}};
        sk_quantize_truth *t = NULL;
        sk_quantize_report r = {0};
        sk_instances found = {0};
        const sk_quantize_frame frame = {.index = 4};
        assert_ok(sk_quantize_truth_open(&job, &t, &err), &err);
        assert_ok(sk_instances_alloc(2, 0, &found, &err), &err);
        for (int i = 0; i < 2; i++)
            *sk_instances_add(&found) = (sk_found){.has = SK_HAS_BOX,
                                                   .class_id = n ? 0 : -1,
                                                   .score = 0.9F,
                                                   .box = {i ? 60 : 10, 10, i ? 100 : 50, 30}};
        for (int which = 0; which < 2; which++)
            assert_ok(sk_quantize_truth_add(t, which, &frame, &found, &err), &err);
        assert_ok(sk_quantize_truth_measure(t, &r, &err), &err);
        assert_true(fabs(r.truth[0].recall - (n ? 0.5 : 1)) < 1e-9);
        assert_true(fabs(r.truth[0].precision - (n ? 0.5 : 1)) < 1e-9);
        sk_quantize_truth_close(&t);
        sk_instances_free(&found);
    }
}

/* --- whether there is a truth of what is measured on --- */

static char pictures[6][8] = {"p0.png", "p1.png", "p2.png", "p3.png", "p4.png", "p5.png"};

static sk_status check_truth(void *context, sk_error *why)
{
    sk_quantize_job *job = context;
    const sk_status status = sk_quantize_truth_open(job, &job->truth, why);
    const sk_status checked = status == SK_OK ? sk_quantize_truth_check(job, why) : status;
    if (status != SK_OK && job->truth)
        return SK_ERR_INTERNAL;
    sk_quantize_truth_close(&job->truth);
    return checked;
}

static void truth_of_what_is_held(void **state)
{
    (void)state;
    static const struct {
        const char *held, *rows, *words; /* which are held; null: all is well */
    } cases[] = {
        {"0", "p0.png,0,1,1,9,9\n", NULL}, /* the first frame, and the first of the truth */
        {"0", "p1.png,0,1,1,9,9\np0.png,0,1,1,9,9\n", NULL},
        {"5", "p5.png,0,1,1,9,9\n", NULL}, /* the last */
        {"0", "p1.png,0,1,1,9,9\nq.png,0,1,1,9,9\n", "(p0.png)"},
        {"02", "p1.png,0,1,1,9,9\nq.png,0,1,1,9,9\n", "(p0.png, p2.png)"},
        {"024", "p1.png,0,1,1,9,9\nq.png,0,1,1,9,9\n", "(p0.png, p2.png, p4.png)"},
        {"0245", "p1.png,0,1,1,9,9\nq.png,0,1,1,9,9\n", "(p0.png, p2.png, p4.png …)"},
        {"12345", "p0.png,0,1,1,9,9\nq.png,0,1,1,9,9\n", "(p1.png, p2.png, p3.png …)"},
    };
    sk_quantize_settings s = {.truth = "held.csv", .data = "folder"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_quantize_frame taken[7] = {{0}};
        sk_quantize_job job = {.s = &s, .frames = taken, .n_frames = 6};
        char text[256];
        for (int k = 0; k < 6; k++)
            taken[k] =
                (sk_quantize_frame){.index = k, .name = pictures[k], .held = strchr(cases[i].held, '0' + k)};
        taken[6] = (sk_quantize_frame){.name = pictures[1], .held = true}; /* behind the last */
        snprintf(text, sizeof text, "source,frame,x1,y1,x2,y2\n%s", cases[i].rows);
        put("held.csv", text);
        const sk_status status = check_truth(&job, &err);
        if ((status == SK_OK) != !cases[i].words)
            fail_msg("case %zu: %d", i, status);
        if (cases[i].words && !strstr(err.message, cases[i].words))
            fail_msg("'%s' is not in '%s'", cases[i].words, err.message);
        if (!cases[i].words)
            assert_true(test_every_allocation(check_truth, &job) > 5);
    }
    /* frames of a video are called by their numbers */
    sk_quantize_frame frames[2] = {{.index = 40, .held = true}, {.index = 44, .held = true}};
    sk_quantize_job job = {.s = &s, .frames = frames, .n_frames = 2};
    put("held.csv", "frame,x1,y1,x2,y2\n39,1,1,9,9\n");
    assert_int_equal(check_truth(&job, &err), SK_ERR_MISMATCH);
    assert_non_null(
        strstr(err.message, "held.csv: --truth says nothing of the frames of folder (--data) that"));
    assert_non_null(strstr(err.message, "(40, 44)"));
    put("held.csv", "frame,x1,y1,x2,y2\n44,1,1,9,9\n");
    assert_ok(check_truth(&job, &err), &err);
}

/* What is told of a loss names the settings that there are: with who finds animals also theirs. */
static void notices(void **state)
{
    (void)state;
    for (int who = 0; who < 3; who++) {
        sk_quantize_settings s;
        sk_quantize_defaults(&s);
        s.output = "m.skq";
        s.data = "v.mp4";
        s.finder = who == 1 ? "f.pt" : NULL;
        s.detections = who == 2 ? "d.csv" : NULL;
        sk_quantize_report r = {.missing = 1, .about = {.loss = {.frames = 9}}};
        sk_quantize_judge(&s, &r);
        assert_int_equal(r.n_notices, 2);
        assert_string_equal(r.notices[0],
                            "v.mp4: cut off: 1 of the frames its header promises are not in the file. The "
                            "model is made from what is there");
        assert_true((strstr(r.notices[1], "or a lower --conf or --peak-threshold") != NULL) == (who > 0));
        assert_non_null(strstr(r.notices[1], "or a lower --conf"));
    }
}

static void as_json(void **state)
{
    (void)state;
    sk_text text = {0};
    sk_quantize_row rows[] = {{"conv1", true, 0.25, 0.5, -1, 2, 0},
                              {"conv2", false, 0.125, 0.0625, -3, 4, 0.75}};
    sk_quantize_report r = {.about = {.precision = "i8",
                                      .source = "m.pt",
                                      .source_sha256 = "abc",
                                      .data = "v.mp4",
                                      .frames = 8,
                                      .layers = 5,
                                      .kept = 1,
                                      .made_by = "0",
                                      .measured = true,
                                      .measured_by = "cpu, i8",
                                      .height = 320,
                                      .width = 640,
                                      .loss = {2, 10, 1, 2, 0.5, 1.5, 0.25, 2.5, 0.01, 0.02, 3.5}},
                            .n_rows = 2,
                            .rows = rows,
                            .correlation = 0.75,
                            .asked = 9,
                            .missing = 3,
                            .unsure = 4};
    for (int i = 0; i < 3; i++) {
        sk_json json = sk_json_to_text(&text, 2);
        if (i) {
            snprintf(r.truth_of, sizeof r.truth_of, "boxes");
            r.truth[0] = (sk_quantize_score){0.5, 0.625, 0.75, 0.875, i == 2 ? 1.25 : -1};
            r.truth[1] = (sk_quantize_score){0.25, 0.3125, 0.375, 0.4375, i == 2 ? 0 : -1};
        }
        sk_quantize_report_json(&r, &json);
        assert_ok(sk_json_end(&json, &err), &err);
    }
    test_text_is("tests/app/told/quantize_json.txt", sk_text_get(&text));
    sk_text_free(&text);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_detections),
        cmocka_unit_test(frames_count_once),
        cmocka_unit_test(frames_of_a_source),
        cmocka_unit_test(counts),
        cmocka_unit_test(scores_of_truth),
        cmocka_unit_test(scores_of_turned_boxes),
        cmocka_unit_test(classes_of_the_truth),
        cmocka_unit_test(truth_of_what_is_held),
        cmocka_unit_test(notices),
        cmocka_unit_test(as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
