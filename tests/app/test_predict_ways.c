/* SPDX-License-Identifier: Apache-2.0 */
/* The ways frames take through a run: on how many devices, played several times, of a video, of a file that stands for one, of a file that
 * holds fewer than it promised. */
#include "predict_fixture.h"

#include "app/predict_internal.h"
#include "app/predict_many.h"
#include "formats/rosbag.h"
#include "formats/ros_messages.h"
#include "skitter/log.h"

#include <unistd.h>

static sk_predict_report r; /* large */
static char warned[512];
static int warnings;

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level != SK_LOG_WARN)
        return;
    warnings++;
    snprintf(warned, sizeof warned, "%s", message);
}

/* --- devices --- */

static void devices_for_many_frames(void **state)
{
    (void)state;
    put_pictures("nine", 9);
    static const struct {
        const char *source, *runtime, *devices;
        int32_t threads, batch;
        int64_t first, last;
        int32_t loop;
        const char *wanted;
    } rows[] = {
        {"v.mp4", "cpu", NULL, 0, 1, 0, -1, 1, "auto"},
        {"v.mp4", "cpu", "cpu:0", 0, 1, 0, -1, 1, "cpu:0"},
        {"v.mp4", "cpu", NULL, 1, 1, 0, -1, 1, NULL},
        {"v.mp4", "cpu", NULL, 0, 2, 0, -1, 1, NULL},
        {"v.mp4", "reference", NULL, 0, 1, 0, -1, 1, NULL},
        {"v.mp4", "onnx_cpu", NULL, 0, 1, 0, -1, 1, NULL},
        {"rtsp://h/s", "cpu", NULL, 0, 1, 0, -1, 1, NULL},
        {"nine/000.png", "cpu", NULL, 0, 1, 0, -1, 1, NULL},
        {"nine", "cpu", NULL, 0, 1, 0, -1, 1, "auto"},
        {"v.mp4", "cpu", NULL, 0, 1, 0, 15, 1, NULL},
        {"v.mp4", "cpu", NULL, 0, 1, 0, 16, 1, "auto"},
        {"v.mp4", "cpu", NULL, 0, 1, 1, 16, 1, NULL},
        {"v.mp4", "cpu", NULL, 0, 1, 0, 1, 2, "auto"},
        {"v.mp4", "cpu", "cpu", 4, 8, 0, 1, 1, "cpu"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_predict_settings s = quick(rows[i].source, "x");
        s.detector.runtime = rows[i].runtime;
        s.devices = rows[i].devices;
        s.detector.threads = rows[i].threads;
        s.detector.batch = rows[i].batch;
        s.media.first = rows[i].first, s.media.last = rows[i].last, s.media.loop = rows[i].loop;
        const char *got = predict_devices_of(&s);
        if ((got != NULL) != (rows[i].wanted != NULL) || (got && strcmp(got, rows[i].wanted) != 0))
            fail_msg("row %zu: %s", i, got ? got : "none");
    }
}

/* --- are they there? --- */

static void frames_that_are_asked_for(void **state)
{
    (void)state;
    static const struct {
        bool exact;
        int64_t frames, total, last;
        int32_t loop;
        sk_status status;
        const char *says;
    } rows[] = {
        {true, 9, 9, -1, 1, SK_OK, ""},
        {true, 9, 9, 9, 1, SK_OK, ""},
        {true, 9, 9, 10, 1, SK_OK,
         "v.mp4: --frames 0:10 asks for 10 frames, and 9 of them are there: it has 9"},
        {true, 18, 9, 9, 2, SK_OK, ""},
        {true, 18, 9, 10, 2, SK_OK,
         "v.mp4: --frames 0:10 asks for 10 frames, and 9 of them are there: it has 9"},
        {false, 9, 9, 10, 1, SK_OK, ""},
        {true, -1, -1, 10, 1, SK_OK, ""},
        {true, 0, 9, 10, 1, SK_ERR_NOT_FOUND,
         "v.mp4: has 9 frames, 0 to 8, and none of them is in --frames 0:10"},
        {true, 0, 0, -1, 1, SK_OK, ""},
        {true, 0, 1, 10, 1, SK_ERR_NOT_FOUND,
         "v.mp4: has 1 frames, 0 to 0, and none of them is in --frames 0:10"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_predict_settings s = quick("v.mp4", "x");
        sk_source_info info = SK_SOURCE_INFO_INIT;
        info.exact = rows[i].exact, info.frames = rows[i].frames, info.total = rows[i].total;
        s.media.last = rows[i].last, s.media.loop = rows[i].loop;
        warned[0] = err.message[0] = '\0';
        const sk_status status = predict_check_frames(&s, &info, &err);
        const char *says = status == SK_OK ? warned : err.message;
        if (status != rows[i].status || strcmp(says, rows[i].says) != 0)
            fail_msg("row %zu: %s", i, says);
    }
}

static void frames_that_came(void **state)
{
    (void)state;
    static const struct {
        int64_t done, first, last;
        bool find_only, exact;
        sk_source_kind kind;
        int32_t loop;
        sk_status status;
        const char *says;
    } rows[] = {
        {0, 0, -1, false, true, SK_SOURCE_VIDEO, 1, SK_ERR_NOT_FOUND, "v.mp4: no frame came of it"},
        {0, 5, -1, false, true, SK_SOURCE_VIDEO, 1, SK_ERR_NOT_FOUND,
         "v.mp4: no frame came of it: --frames begins after its end"},
        {0, 0, 4, false, true, SK_SOURCE_VIDEO, 1, SK_ERR_NOT_FOUND,
         "v.mp4: no frame came of it: --frames begins after its end"},
        {0, 5, -1, true, true, SK_SOURCE_VIDEO, 1, SK_OK, ""},
        {1, 0, 4, true, true, SK_SOURCE_VIDEO, 1, SK_OK, ""},
        {3, 0, 4, false, false, SK_SOURCE_VIDEO, 1, SK_OK,
         "v.mp4: --frames 0:4 asks for 4 frames, and 3 of them are there: it has about 7"},
        {4, 0, 4, false, false, SK_SOURCE_VIDEO, 1, SK_OK, ""},
        {3, 0, 4, false, false, SK_SOURCE_VIDEO, 2, SK_OK, ""},
        {3, 0, 4, false, false, SK_SOURCE_LIVE, 1, SK_OK, ""},
        {3, 0, 4, false, true, SK_SOURCE_VIDEO, 1, SK_OK, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_predict_settings s = quick("v.mp4", "x");
        predict_run run = {.settings = &s};
        run.info.exact = rows[i].exact, run.info.kind = rows[i].kind, run.info.total = 7;
        run.progress.done = rows[i].done;
        s.find_only = rows[i].find_only;
        s.media.first = rows[i].first, s.media.last = rows[i].last, s.media.loop = rows[i].loop;
        warned[0] = err.message[0] = '\0';
        const sk_status status = predict_check_done(&run, &err);
        const char *says = status == SK_OK ? warned : err.message;
        if (status != rows[i].status || strcmp(says, rows[i].says) != 0)
            fail_msg("row %zu: %s", i, says);
    }
}

/* --- several times --- */

static bool stop_at(void *context, const sk_predict_progress *p)
{
    return p->done == *(int64_t *)context;
}

static void assert_same_lines(const char *a, const char *b)
{
    char *x = text_of(a, "results.jsonl"), *y = text_of(b, "results.jsonl");
    if (strcmp(x, y) != 0)
        fail_msg("%s and %s are not the same", a, b);
    sk_free(x);
    sk_free(y);
}

/* Stopped in the first and in the second round, it goes on behind what it has. */
static void played_twice_in_parts(void **state)
{
    (void)state;
    put_pictures("four", 4);
    sk_predict_settings s = quick("four", "twice");
    s.media.loop = 2;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 8 && r.instances == 24);
    assert_int_equal(count_of("twice", "results.jsonl", "/003.png"), 2);
    s.out = "twice_in_parts";
    for (int64_t at = 3; at < 8; at += 3) {
        assert_ok(sk_predict_run(&s, stop_at, &at, &r, &err), &err);
        assert_true(r.stopped && r.frames == 3 && r.total_frames == at);
    }
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(!r.stopped && r.frames == 2 && r.total_frames == 8 && r.instances == 24);
    assert_same_lines("twice", "twice_in_parts");
    /* some of a picture's rounds cannot be read: they are left out as often, and told once */
    assert_ok(sk_file_replace("four/001.png", "no picture", 10, &err), &err);
    s.out = "holes_at_once";
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    const int64_t whole = r.total_frames, unreadable = r.unreadable;
    assert_true(whole == 6 && unreadable >= 1);
    s.out = "holes_in_parts";
    for (int64_t at = 3; at < 6; at += 2)
        assert_ok(sk_predict_run(&s, stop_at, &at, &r, &err), &err);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.total_frames == whole && r.unreadable == unreadable);
    assert_same_lines("holes_at_once", "holes_in_parts");
}

/* --- videos --- */

static void skip_without_video(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    skip();
#endif
}

static void put_video(const char *path, int count)
{
    sk_video_sink *sink = NULL;
    assert_ok(sk_video_sink_open(path, 48, 40, 25, &sink, &err), &err);
    for (int i = 0; i < count; i++) {
        sk_frame f = make_frame(48, 40, i / 2);
        assert_ok(sk_video_sink_write(sink, &f, &err), &err);
        free(f.data);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
}

static void a_video_in_parts(void **state)
{
    (void)state;
    skip_without_video();
    put_video("v.mp4", 12);
    sk_predict_settings s = quick("v.mp4", "video");
    s.formats[s.n_formats++] = "slp";
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 12 && r.total_frames == 12 && r.instances == 36 && r.decode > 0 && !r.live);
    char *told = text_of("video", "run.json");
    assert_true(strstr(told, "\"source_kind\": \"video\"") && strstr(told, "\"width\": 48"));
    sk_free(told);
    s.out = "video_in_parts";
    for (int64_t at = 5; at < 12; at += 5)
        assert_ok(sk_predict_run(&s, stop_at, &at, &r, &err), &err);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 2 && r.total_frames == 12);
    assert_same_lines("video", "video_in_parts");
    s.n_formats = 2;
    s.media.first = 3, s.media.step = 4; /* 3, 7, 11; and gone on with */
    s.out = "video_some";
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 3 && count_of("video_some", "results.jsonl", "\"frame\":11,") == 1);
    int64_t one = 1;
    s.out = "video_some_in_parts";
    assert_ok(sk_predict_run(&s, stop_at, &one, &r, &err), &err);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_int_equal(r.frames, 2);
    assert_same_lines("video_some", "video_some_in_parts");
    s = quick("v.mp4", "video_twice");
    s.media.loop = 2;
    for (int64_t at = 7; at < 24; at += 8)
        assert_ok(sk_predict_run(&s, stop_at, &at, &r, &err), &err);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.total_frames == 24 && r.frames == 1 && r.instances == 72);
    /* labels stand for the video that they are of */
    s = quick("video/results.slp", "by_labels");
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 12 && r.instances == 36);
    assert_true(count_of("by_labels", "results.jsonl", "v.mp4\"") == 12 &&
                count_of("by_labels", "results.jsonl", ".slp") == 0);
    /* more is asked for than there is */
    s = quick("v.mp4", "more_than_all");
    s.media.last = 20;
    warnings = 0;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 12 && warnings == 1 &&
                strstr(warned, "--frames 0:20 asks for 20 frames, and 12"));
}

/* --- promises --- */

/* A bag of four pictures that says it had nine. */
static void put_promise(const char *folder, int says)
{
    char path[600], was[] = "message_count: 4", is[] = "message_count: 9", *text = NULL;
    size_t length = 0, topic = 0;
    sk_bag_writer *writer = NULL;
    sk_cdr_writer cdr = {0};
    is[strlen(is) - 1] = (char)('0' + says);
    assert_ok(sk_bag_writer_open(folder, SK_BAG_FOLDER, &writer, &err), &err);
    assert_ok(sk_bag_writer_topic(writer, "/image", sk_msg_type_find("sensor_msgs/msg/Image"), &topic, &err),
              &err);
    for (int i = 0; i < 4; i++) {
        sk_frame f = make_frame(48, 40, i);
        const int64_t at = (int64_t)1700000000 * 1000000000 + (int64_t)i * 1000000;
        const sk_msg_image image = {.header = {sk_msg_time_of(at), sk_msg_text_of("eye")},
                                    .height = 40,
                                    .width = 48,
                                    .encoding = sk_msg_text_of("rgb8"),
                                    .step = (uint32_t)f.stride,
                                    .data = {f.data, (uint32_t)((size_t)f.stride * 40)}};
        assert_ok(sk_msg_encode(&sk_msg_image_layout, &image, &cdr, &err), &err);
        assert_ok(sk_bag_writer_write(writer, topic, at, cdr.data, cdr.length, &err), &err);
        free(f.data);
    }
    assert_ok(sk_bag_writer_finish(&writer, &err), &err);
    sk_cdr_writer_free(&cdr);
    snprintf(path, sizeof path, "%s/metadata.yaml", folder);
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    for (char *at = text; (at = strstr(at, was)); at++)
        memcpy(at, is, strlen(is));
    assert_ok(sk_file_replace(path, text, length, &err), &err);
    sk_free(text);
}

static void fewer_than_promised(void **state)
{
    (void)state;
    char nine[] = "says_nine", five[] = "says_five", four[] = "says_four";
    put_promise(nine, 9);
    put_promise(five, 5);
    put_promise(four, 4);
    sk_predict_settings s = quick("says_nine", "lacks_five");
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.missing == 5 && r.frames == 4 && r.total_frames == 4 && !r.stopped && !r.nothing_to_do);
    char *told = text_of("lacks_five", "run.json");
    assert_true(strstr(told, "\"state\": \"incomplete\"") && strstr(told, "\"missing\": 5"));
    sk_free(told);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err); /* it may have grown since: looked at again */
    assert_true(!r.nothing_to_do && r.frames == 0 && r.total_frames == 4);
    sk_source_item items[] = {
        {.source = nine, .name = nine}, {.source = five, .name = five}, {.source = four, .name = four}};
    const sk_source_list list = {.items = items, .count = 3, .many = true};
    const sk_predict_many_watch watch = {0};
    sk_predict_many_report many;
    s = quick(NULL, "promised");
    assert_ok(sk_predict_many(&s, &list, &watch, &many, &err), &err);
    assert_true(many.sources == 3 && many.done == 1 && many.incomplete == 2 && many.failed == 0 &&
                !many.stopped);
    assert_true(many.frames == 12 && many.instances == 36);
    int64_t two = 2; /* who is stopped is missing nothing */
    s = quick("says_nine", "stopped_early");
    assert_ok(sk_predict_run(&s, stop_at, &two, &r, &err), &err);
    assert_true(r.stopped && r.missing == 0);
    told = text_of("stopped_early", "run.json");
    assert_non_null(strstr(told, "\"state\": \"stopped\""));
    sk_free(told);
}

int main(void)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true};
    sk_log_listener *listener = NULL;
    if (chdir(test_folder()) != 0 || sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err) != SK_OK)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&pose, "pose.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_for_many_frames), cmocka_unit_test(frames_that_are_asked_for),
        cmocka_unit_test(frames_that_came),        cmocka_unit_test(played_twice_in_parts),
        cmocka_unit_test(a_video_in_parts),        cmocka_unit_test(fewer_than_promised),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    sk_log_unlisten(&listener);
    return failed;
}
