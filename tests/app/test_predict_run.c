/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs of a tiny network over pictures: whole and in parts they write the same, whatever the way; what the report counts; what is
 * refused. */
#include "predict_fixture.h"

#include "app/run_events.h"

#include <math.h>
#include <unistd.h>

static char second[4300];
static sk_predict_report r; /* large */

static void assert_same(const char *a, const char *b)
{
    static const char *const files[] = {"results.csv", "results.jsonl"};
    for (int i = 0; i < 2; i++) {
        char *x = text_of(a, files[i]), *y = text_of(b, files[i]);
        char *p = strchr(x, '\n'), *q = strchr(y, '\n'); /* the first line may say when and where */
        assert_true(p && q);
        if (strcmp(p, q) != 0)
            fail_msg("%s differs in %s and %s", files[i], a, b);
        sk_free(x);
        sk_free(y);
    }
}

static void defaults(void **state)
{
    (void)state;
    sk_predict_settings s;
    sk_predict_defaults(&s);
    assert_true(s.n_formats == 2 && strcmp(s.formats[0], "csv") == 0 && strcmp(s.formats[1], "jsonl") == 0);
    assert_true(s.draw == 63 && strcmp(s.runtime_requested, "cpu") == 0 && s.media.size == sizeof s.media);
    assert_true(!s.overlay && !s.crops && !s.no_empty && !s.restart && !s.strict && !s.find_only &&
                s.depth == 0);
    assert_false(sk_overlay_on_gpu(&s));
    s.overlay_gpu = SK_CHOICE_ON;
    assert_true(sk_overlay_on_gpu(&s));
    s.overlay_gpu = SK_CHOICE_OFF;
    assert_false(sk_overlay_on_gpu(&s));
}

static void a_whole_run(void **state)
{
    (void)state;
    sk_predict_settings s = quick("nine", "whole");
    s.crops = s.overlay = true;
    put_pictures("nine", 9);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 9 && r.total_frames == 9 && r.instances == 27 && r.cached == 0 &&
                r.unreadable == 0);
    assert_false(r.stopped || r.nothing_to_do || r.live || r.missing);
    assert_true(r.seconds > 0 && r.pre > 0 && r.network > 0 && r.post > 0 && r.write > 0 && r.decode > 0);
    assert_true(r.overlay > 0 && r.crops > 0 && r.pre + r.network + r.post < 60);
    assert_string_equal(r.runtime, "cpu");
    assert_string_equal(r.precision, "f32");
    assert_true(r.device[0] && r.notice[0] == '\0' && r.hwaccel[0] == '\0');
    static const char *const files[] = {"whole/results.csv", "whole/results.jsonl", "whole/overlay/",
                                        "whole/crops/", "whole/run.json"};
    assert_int_equal(r.n_files, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(r.files[i], files[i]);
    assert_int_equal(count_of("whole", "results.jsonl", "\"frame\":"), 9);
    assert_true(sk_file_exists("whole/overlay/008.jpg"));
    char *told = text_of("whole", "run.json");
    assert_true(strstr(told, "\"state\": \"finished\"") && strstr(told, "\"frames\": 9") &&
                strstr(told, "\"instances\": 27"));
    sk_free(told);
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err); /* again: nothing is left to do */
    assert_true(r.nothing_to_do && r.frames == 0 && r.total_frames == 9 && r.instances == 27 &&
                r.seconds == 0);
    assert_true(r.pre == 0 && r.network == 0 && r.post == 0);
}

static bool stop_at(void *context, const sk_predict_progress *p)
{
    assert_true(p->total == 9 || p->total == -1);
    assert_true(p->seconds >= 0 && p->pipeline && p->source);
    return p->done == *(int64_t *)context;
}

static void parts_are_as_the_whole(void **state)
{
    (void)state;
    put_pictures("nine", 9);
    sk_predict_settings s = quick("nine", "plain");
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    /* stopped twice, gone on with */
    s = quick("nine", "parts");
    for (int64_t at = 2; at < 9; at += 3) {
        assert_ok(sk_predict_run(&s, stop_at, &at, &r, &err), &err);
        assert_true(r.stopped && r.total_frames == at && r.frames == (at == 2 ? 2 : 3));
        char *told = text_of("parts", "run.json");
        assert_non_null(strstr(told, "\"state\": \"stopped\""));
        sk_free(told);
    }
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(!r.stopped && r.frames == 1 && r.total_frames == 9 && r.instances == 27);
    assert_same("plain", "parts");
    /* several instances, deeper, begun anew */
    s.devices = "cpu,cpu";
    s.detector.threads = 0;
    s.depth = 3;
    s.restart = true;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_int_equal(r.frames, 9);
    assert_same("plain", "parts");
    /* found in two ranges, then taken */
    static const char *const folders[] = {"found0", "found1"}, *const swapped[] = {"found1", "found0"};
    for (int i = 0; i < 2; i++) {
        s = quick("nine", folders[i]);
        s.find_only = true;
        s.media.first = i ? 4 : 0;
        s.media.last = i ? 9 : 4;
        assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
        assert_int_equal(r.frames, i ? 5 : 4);
        assert_false(sk_file_exists(i ? "found1/results.csv" : "found0/results.csv"));
    }
    s = quick("nine", "taken");
    s.found = swapped;
    s.n_found = 2;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.total_frames == 9 && r.frames == 0 && r.instances == 27);
    assert_same("plain", "taken");
    /* of one part alone the rest is computed; what begins behind a gap does not count */
    for (int i = 0; i < 2; i++) {
        s = quick("nine", i ? "taken1" : "taken0");
        s.found = &folders[i];
        s.n_found = 1;
        assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
        assert_true(r.total_frames == 9 && r.frames == (i ? 9 : 5));
        assert_same("plain", i ? "taken1" : "taken0");
    }
    s = quick("nine", "taken2");
    s.found = folders;
    s.n_found = 2;
    s.detector.confidence = 0.02F;
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "was found with other settings than these"));
    static const char *const nowhere[] = {"nine"};
    s = quick("nine", "taken3");
    s.found = nowhere;
    s.n_found = 1;
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message,
                        "nine: --found needs the folder of a run with --find-only, and no run was here");
}

/* What was found before counts only for frames that are asked for, once, and as far as it goes. */
static void found_before(void **state)
{
    (void)state;
    static const char *const all[] = {"found_all"}, *const both[] = {"found_few", "found_all"},
                             *const few[] = {"found_few"}, *const torn[] = {"found_torn"};
    int64_t two = 2;
    put_pictures("nine", 9);
    sk_predict_settings s = quick("nine", "found_all");
    s.find_only = true;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    s.out = "found_torn"; /* it was stopped */
    assert_ok(sk_predict_run(&s, stop_at, &two, &r, &err), &err);
    s.out = "found_few";
    s.media.last = 4;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    for (int i = 0; i < 2; i++) { /* every other frame */
        s = quick("nine", i ? "every_found" : "every");
        s.media.step = 2;
        s.found = all;
        s.n_found = i;
        assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
        assert_true(r.total_frames == 5 && r.instances == 15 && r.frames == (i ? 0 : 5));
    }
    assert_same("every", "every_found");
    s = quick("nine", "whole_again");
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    static const struct {
        const char *out, *const *found;
        int32_t n, frames;
        bool begun; /* two frames were computed before */
    } rows[] = {{"overlapping", both, 2, 0, false},
                {"unfinished", torn, 1, 7, false},
                {"few", few, 1, 5, false},
                {"gone_on", all, 1, 0, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        s = quick("nine", rows[i].out);
        if (rows[i].begun)
            assert_ok(sk_predict_run(&s, stop_at, &two, &r, &err), &err);
        s.found = rows[i].found;
        s.n_found = rows[i].n;
        assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
        if (r.total_frames != 9 || r.frames != rows[i].frames)
            fail_msg("%s: %lld of %lld computed", rows[i].out, (long long)r.frames,
                     (long long)r.total_frames);
        assert_same("whole_again", rows[i].out);
    }
    const sk_frame_range ranges[] = {{0, 2, 1}, {5, 7, 1}};
    s = quick("nine", "found_ranges");
    s.find_only = true;
    s.media.ranges = ranges;
    s.media.n_ranges = 2;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_int_equal(r.frames, 4);
    static const char *const ranged[] = {"found_ranges"};
    s = quick("nine", "of_ranges");
    s.found = ranged;
    s.n_found = 1;
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "found_ranges: found frames 0:2,5:7; --found takes one range a folder");
}

static void some_frames(void **state)
{
    (void)state;
    put_pictures("nine", 9);
    sk_predict_settings s = quick("nine", "some");
    s.media.first = 1;
    s.media.step = 3;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 3 && count_of("some", "results.jsonl", "/001.png") == 1 &&
                count_of("some", "results.jsonl", "/007.png") == 1 &&
                count_of("some", "results.jsonl", "/002.png") == 0);
    s = quick("nine", "behind");
    s.media.first = 9;
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "nine: has 9 frames, 0 to 8, and none of them is in --frames 9:");
    s = quick("nine", "empty");
    s.detector.confidence = 0.9999F;
    s.no_empty = true;
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 9 && r.instances == 0 && count_of("empty", "results.jsonl", "\"frame\":") == 0);
    s = quick("nine/004.png", "single");
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_int_equal(r.frames, 1);
}

static void pictures_that_cannot_be_read(void **state)
{
    (void)state;
    put_pictures("holes", 5);
    assert_ok(sk_file_replace("holes/001.png", "no picture", 10, &err), &err);
    assert_ok(sk_file_replace("holes/004.png", "no picture", 10, &err), &err);
    sk_predict_settings s = quick("holes", "left_out");
    assert_ok(sk_predict_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.unreadable == 2 && r.total_frames == 3 && r.frames == 3 && r.instances == 9);
    char *told = text_of("left_out", "run.json");
    assert_true(strstr(told, "001.png") && strstr(told, "004.png") && !strstr(told, "003.png"));
    sk_free(told);
    s = quick("holes", "strict");
    s.strict = true;
    assert_int_not_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_OK);
    assert_non_null(strstr(err.message, "001.png"));
    told = text_of("strict", "run.json");
    assert_non_null(strstr(told, "\"state\": \"failed\""));
    sk_free(told);
    assert_ok(sk_folder_make("none", &err), &err);
    assert_ok(sk_file_replace("none/a.png", "no picture", 10, &err), &err);
    assert_ok(sk_file_replace("none/b.png", "no picture", 10, &err), &err);
    s = quick("none", "nothing");
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "none: none of its 2 pictures can be read: "));
}

static void refusals(void **state)
{
    (void)state;
    put_pictures("nine", 9);
    sk_predict_settings s = quick("nine", "refused");
    s.formats[1] = "nonsense";
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "no result format is called 'nonsense'");
    s = quick("nine", NULL);
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG); /* two formats */
    assert_string_equal(
        err.message, "standard output takes one format that is written line by line, jsonl or csv, and not "
                     "'csv'. Name a folder with --out for the others");
    s = quick("nine", NULL);
    s.n_formats = 1;
    s.formats[0] = "slp";
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    for (int i = 0; i < 2; i++) {
        s = quick("nine", NULL);
        s.n_formats = 1;
        s.overlay = i;
        s.crops = !i;
        assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
        assert_string_equal(
            err.message,
            "pictures cannot go to standard output: name a folder with --out for overlays and crops");
    }
    static const char *const found[] = {"nine"};
    s = quick("nine", NULL);
    s.n_formats = 0;
    s.found = found;
    s.n_found = 1;
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "--found needs a folder: name one with --out");
    s = quick("nowhere", "refused");
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_NOT_FOUND);
    s = quick("nine", "refused");
    s.models[0] = "nothing.pt";
    assert_int_equal(sk_predict_run(&s, NULL, NULL, &r, &err), SK_ERR_NOT_FOUND);
    assert_false(sk_file_exists("refused/results.csv"));
}

static bool tell_progress(void *context, const sk_predict_progress *p)
{
    sk_run_events_progress(context, p);
    return false;
}

/* What is told of a run as it goes: each stage's own speed, at least that of the whole, and how full the queue is. */
static void events_of_a_run(void **state)
{
    (void)state;
    int ends[2];
    char text[16384];
    sk_run_events *e = NULL;
    put_pictures("nine", 9);
    assert_int_equal(pipe(ends), 0);
    assert_ok(sk_run_events_open(ends[1], &e, &err), &err);
    sk_predict_settings s = quick("nine", "told");
    assert_ok(sk_predict_run(&s, tell_progress, e, &r, &err), &err);
    sk_run_events_close(&e);
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n + 1 < sizeof text && (got = read(ends[0], text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = '\0';
    close(ends[0]);
    const char *last = strstr(text, "\"frame\":9,\"total\":9,");
    assert_non_null(last);
    const char *at = strstr(last, "\"fps\":"), *const stages[] = {"decode", "pre", "network", "post"};
    const double rate = strtod(at + 6, NULL);
    assert_true(rate > 0);
    at = strstr(last, "\"stages\":[");
    assert_non_null(at);
    for (int i = 0; i < 4; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "{\"name\":\"%s\",\"ms\":", stages[i]);
        at = strstr(at, wanted);
        assert_non_null(at);
        const double ms = strtod(at + strlen(wanted), NULL), fps = strtod(strstr(at, "\"fps\":") + 6, NULL);
        assert_true(ms > 0 && ms < 60000 && fps >= rate * 0.999 &&
                    (fps <= rate * 1.001 || fabs(fps * ms / 1000 - 1) < 0.01));
    }
    at = strstr(at, "],\"queues\":[{\"name\":\"frames on their way\",\"fill\":");
    assert_non_null(at);
    const long fill = strtol(strstr(at, "\"fill\":") + 7, NULL, 10),
               capacity = strtol(strstr(at, "\"capacity\":") + 11, NULL, 10);
    assert_true(fill >= 0 && capacity >= 1 && fill <= capacity);
}

/* Of two models the one that finds stays. */
static void who_finds(void **state)
{
    (void)state;
    sk_predict_settings s = quick("nine", "x");
    for (int turned = 0; turned < 2; turned++) {
        s.n_models = 2;
        s.models[turned] = second; /* finds boxes */
        s.models[1 - turned] = network;
        assert_ok(sk_predict_keep_finder(&s, &err), &err);
        assert_true(s.n_models == 1 && strcmp(s.models[0], second) == 0);
    }
    s.n_models = 2;
    s.models[0] = network;
    s.models[1] = "nothing.pt";
    assert_int_equal(sk_predict_keep_finder(&s, &err), SK_ERR_NOT_FOUND);
}

int main(void)
{
    const yolo_fixture pose = {.head = "Pose", .f32 = true}, detect = {.head = "Detect", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&pose, "pose.pt"));
    snprintf(second, sizeof second, "%s", yolo_save(&detect, "detect.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(a_whole_run),
        cmocka_unit_test(parts_are_as_the_whole),
        cmocka_unit_test(found_before),
        cmocka_unit_test(some_frames),
        cmocka_unit_test(pictures_that_cannot_be_read),
        cmocka_unit_test(refusals),
        cmocka_unit_test(who_finds),
        cmocka_unit_test(events_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
