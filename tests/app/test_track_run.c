/* SPDX-License-Identifier: Apache-2.0 */
/* Detections of a file followed into a folder: every file it writes, what its settings change, going on, refusals. */
#include "track_fixture.h"

#include "skitter/log.h"

#include <stdlib.h>
#include <unistd.h>

static const char *const usual[] = {"csv", "jsonl", "tracks", NULL};

static void files_of_a_run(void **state)
{
    (void)state;
    static track_trial t;
    static const char *const all_formats[] = {"tracks", "final", "raw",    "csv", "jsonl",
                                              "mot",    "slp",   "labels", NULL};
    sk_text all = {.limit = 1 << 22};
    put_mice("mice.csv", 16);
    trial_defaults(&t, "mice.csv", "whole", all_formats);
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.frames == 16 && t.report.total_frames == 16 && t.report.instances == 45);
    assert_false(t.report.stopped || t.report.nothing_to_do);
    assert_true(t.figures.found == 45 && t.figures.tracks == 3 && t.figures.poseless == 0);
    assert_true(t.figures.sightings == 45 + t.figures.covered && t.figures.covered >= 0 &&
                t.figures.seconds > 0);
    static const char *const files[] = {"results.csv",      "results.jsonl",      "tracks.csv",
                                        "tracks_final.csv", "tracks_forward.csv", "tracks_backward.csv",
                                        "results.mot.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        tell_file(&all, "whole", files[i]);
    test_text_is("tests/app/told/track_run.txt", sk_text_get(&all));
    sk_text_free(&all);
    assert_true(sk_file_size("whole/results.slp") > 100 && sk_file_is_directory("whole/labels"));
    assert_false(sk_file_exists("whole/report.html"));
    assert_int_equal(t.report.n_files >= 9, 1);
    trial_defaults(&t, "mice.csv", "whole", all_formats); /* once more: there is nothing to do */
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.nothing_to_do && t.report.frames == 0 && t.report.total_frames == 16);
}

static bool stop_at_five(void *context, const sk_predict_progress *p)
{
    (*(int *)context)++;
    assert_true(p->total == 16);
    return p->done == 5;
}

static void goes_on_where_it_was_stopped(void **state)
{
    (void)state;
    static track_trial t;
    int calls = 0;
    put_mice("mice.csv", 16);
    trial_defaults(&t, "mice.csv", "at_once", usual);
    assert_ok(trial_run(&t), &err);
    trial_defaults(&t, "mice.csv", "in_parts", usual);
    t.watch = stop_at_five;
    t.context = &calls;
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.stopped && t.report.frames == 5 && calls == 5);
    char *told = text_of("in_parts", "run.json");
    assert_non_null(strstr(told, "\"stopped\""));
    sk_free(told);
    t.watch = NULL;
    assert_ok(trial_run(&t), &err);
    assert_true(!t.report.stopped && t.report.frames == 11 && t.report.total_frames == 16 &&
                t.report.instances == 45);
    for (int i = 0; i < 3; i++)
        assert_same_file("at_once", "in_parts",
                         i == 0   ? "results.csv"
                         : i == 1 ? "results.jsonl"
                                  : "tracks.csv");
    t.wish.track.fps = 10; /* other settings are another run */
    assert_int_equal(trial_run(&t), SK_ERR_MISMATCH);
    t.settings.restart = true;
    assert_ok(trial_run(&t), &err);
    assert_int_equal(t.report.frames, 16);
}

static int lines_in(const char *folder, const char *name, const char *word)
{
    char *text = text_of(folder, name);
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    sk_free(text);
    return n;
}

static void what_settings_change(void **state)
{
    (void)state;
    static track_trial t;
    put_mice("mice.csv", 16);
    trial_defaults(&t, "mice.csv", "online", usual);
    t.wish.online = true;
    assert_ok(trial_run(&t), &err);
    assert_int_equal(t.figures.found, 45);
    assert_int_equal(lines_in("online", "results.jsonl", "\"frame\":"), 16);
    trial_defaults(&t, "mice.csv", "own_boxes", usual);
    t.wish.track.steady = false; /* boxes as they were found, and those of the track where nothing was */
    assert_ok(trial_run(&t), &err);
    assert_int_equal(lines_in("own_boxes", "results.csv", ",30,12,0.1\n"), 16);
    trial_defaults(&t, "mice.csv", "some", usual);
    t.settings.media.first = 4;
    t.settings.media.step = 1;
    t.settings.media.last = 14;
    assert_ok(trial_run(&t), &err);
    assert_int_equal(t.report.total_frames, 10);
    char *told = text_of("some", "results.csv");
    assert_true(strstr(told, "v.mp4,4,") && strstr(told, "v.mp4,6,") && strstr(told, "v.mp4,13,"));
    assert_true(!strstr(told, "v.mp4,3,") && !strstr(told, "v.mp4,14,") && !strstr(told, "v.mp4,2,"));
    sk_free(told);
    /* frames without animals are told, unless they shall not be */
    sk_text gap = {0}, told_lines = {0};
    sk_text_append(&gap, "frame,class,score,x1,y1,x2,y2\n");
    for (int f = 0; f < 16; f++)
        if (f != 7 && f != 8)
            sk_text_appendf(&gap, "%d,0,0.9,%d,0,%d,30\n", f, f, 30 + f);
    put("gap.csv", sk_text_get(&gap));
    sk_text_free(&gap);
    for (int without = 0; without < 2; without++) {
        trial_defaults(&t, "gap.csv", without ? "gap1" : "gap0", usual);
        t.settings.no_empty = without;
        t.wish.online = true;
        t.wish.track.tell_covered = false;
        assert_ok(trial_run(&t), &err);
        assert_int_equal(t.report.total_frames, 16);
        sk_text_appendf(&told_lines, "%s %d\n", t.out, lines_in(t.out, "results.jsonl", "\"frame\":"));
    }
    assert_string_equal(sk_text_get(&told_lines), "gap0 16\ngap1 14\n");
    sk_text_free(&told_lines);
    sk_text all = {.limit = 1 << 22};
    static const char *const folders[] = {"online", "own_boxes", "some", "gap0", "gap1"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        tell_file(&all, folders[i], "tracks.csv");
        tell_file(&all, folders[i], "results.jsonl");
    }
    test_text_is("tests/app/told/track_settings.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* To standard output nothing is kept; lines come as frames pass. */
static void refusals(void **state)
{
    (void)state;
    static track_trial t;
    put_mice("mice.csv", 16);
    trial_defaults(&t, "mice.csv", "drawn", usual);
    t.settings.overlay = true;
    assert_int_equal(trial_run(&t), SK_ERR_ARG);
    assert_string_equal(
        err.message,
        "an overlay needs the video, too: skitter track VIDEO --detections mice.csv --save-overlay");
    trial_defaults(&t, "nothing.csv", "none", usual);
    assert_int_equal(trial_run(&t), SK_ERR_NOT_FOUND);
    put("empty.csv", "");
    trial_defaults(&t, "empty.csv", "empty", usual);
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.total_frames == 0 && t.figures.tracks == 0);
    put("far.csv",
        "frame,class,score,x1,y1,x2,y2\n0,0,0.9,0,0,30,30\n1,0,0.9,1,0,31,30\n6000000,0,0.9,4,0,34,30\n");
    trial_defaults(&t, "far.csv", "far", usual);
    assert_int_equal(trial_run(&t), SK_ERR_LIMIT);
    assert_string_equal(err.message,
                        "far.csv: is about 3 frames, but their numbers reach over 6000001: there is nothing "
                        "between frames 1 and 6000000. If that number is wrong, mend it; for a part of them "
                        "give --frames, such as --frames 0:2");
    t.settings.media.last = 2;
    assert_ok(trial_run(&t), &err);
    assert_int_equal(t.report.total_frames, 2);
}

static char warned[2048];

static void hear(void *cookie, sk_log_level level, const char *message)
{
    (void)cookie;
    if (level == SK_LOG_WARN)
        snprintf(warned + strlen(warned), sizeof warned - strlen(warned), "%s\n", message);
}

/* What cannot be seen from the tracks is said: that there is nothing, that nothing tells the rate, that classes got other numbers. */
static void warnings(void **state)
{
    (void)state;
    static track_trial t;
    sk_log_listener *listener = NULL;
    static const char *const usual_warning = "nothing says how many frames a second there are; 25 are taken";
    assert_ok(sk_log_listen(SK_LOG_WARN, hear, NULL, &listener, &err), &err);
    put_mice("mice.csv", 4);
    put("empty.csv", "");
    for (int i = 0; i < 4; i++) {
        static const char *const outs[] = {"w0", "w1", "w2", "w3"};
        put("classes.csv", "frame,class,name,score,x1,y1,x2,y2\n0,1,a,0.9,0,0,30,30\n0,1,b,0.9,50,0,80,30\n");
        trial_defaults(&t, i == 2 ? "empty.csv" : i == 3 ? "classes.csv" : "mice.csv", outs[i], usual);
        t.wish.track.fps = i == 0 || i == 2 ? 0 : 20;
        warned[0] = '\0';
        assert_ok(trial_run(&t), &err);
        assert_int_equal(strstr(warned, usual_warning) != NULL, i == 0);
        assert_int_equal(strstr(warned, "there is no detection in it, so there are no tracks") != NULL,
                         i == 2);
        assert_int_equal(strstr(warned, "have numbers that others have too") != NULL, i == 3);
    }
    sk_log_unlisten(&listener);
}

/* Poses of which some are specks in their boxes, or missing. */
static void poses(void **state)
{
    (void)state;
    static track_trial t;
    sk_text csv = {0};
    sk_text_append(&csv, "frame,class,score,x1,y1,x2,y2,nose_x,nose_y,nose_score,tail_x,tail_y,tail_score\n");
    for (int f = 0; f < 12; f++) {
        const int x = 10 + 3 * f;
        sk_text_appendf(&csv, "%d,0,0.9,%d,10,%d,30,%d,20,0.9,%d,20,0.9\n", f, x, x + 40, x + 38, x + 2);
        if (f < 3) /* a speck of 11 and of 12 pixels in a box of 40: less than three tenths, and as much */
            sk_text_appendf(&csv, "%d,0,0.9,%d,100,%d,120,%d,110,0.9,%d,110,0.9\n", f, x, x + 40, x + 20,
                            x + 20 +
                                (f == 0   ? 11
                                 : f == 1 ? 12
                                          : 13));
        else
            sk_text_appendf(&csv, "%d,0,0.9,%d,100,%d,120,,,,,,\n", f, x, x + 40);
    }
    put("poses.csv", sk_text_get(&csv));
    sk_text_free(&csv);
    trial_defaults(&t, "poses.csv", "poses", usual);
    assert_ok(trial_run(&t), &err);
    sk_text all = {.limit = 1 << 22};
    sk_text_appendf(&all, "found %lld poseless %lld tracks %lld sightings %lld covered %lld\n",
                    (long long)t.figures.found, (long long)t.figures.poseless, (long long)t.figures.tracks,
                    (long long)t.figures.sightings, (long long)t.figures.covered);
    tell_file(&all, "poses", "tracks.csv");
    tell_file(&all, "poses", "results.csv");
    snprintf(t.wish.head_points, sizeof t.wish.head_points, "tail"); /* the other way round */
    snprintf(t.wish.tail_points, sizeof t.wish.tail_points, "nose");
    t.out = t.settings.out = "turned";
    assert_ok(trial_run(&t), &err);
    tell_file(&all, "turned", "tracks.csv");
    test_text_is("tests/app/told/track_poses.txt", sk_text_get(&all));
    sk_text_free(&all);
}

/* Settings that differ in their last digits are others: a folder's run is not gone on with. */
static void the_last_digit_counts(void **state)
{
    (void)state;
    static track_trial t;
    put_mice("mice.csv", 4);
    trial_defaults(&t, "mice.csv", "digits", usual);
    t.wish.track.filter.area_least = 0.123456789012342;
    assert_ok(trial_run(&t), &err);
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.nothing_to_do);
    t.wish.track.filter.area_least = 0.123456789012344;
    assert_int_equal(trial_run(&t), SK_ERR_MISMATCH);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_a_run),
        cmocka_unit_test(goes_on_where_it_was_stopped),
        cmocka_unit_test(what_settings_change),
        cmocka_unit_test(refusals),
        cmocka_unit_test(poses),
        cmocka_unit_test(warnings),
        cmocka_unit_test(the_last_digit_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
