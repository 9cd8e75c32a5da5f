/* SPDX-License-Identifier: Apache-2.0 */
/* What track tells of runs without a model, and with which code it ends: the runs are played, not made. */
#include "said.h"

#include "app/track_background.h"
#include "app/track_detections.h"
#include "base/file.h"

static said s;
static sk_error err;

/* --- the play: in place of app/track_background.c and app/track_detections.c --- */

static struct play {
    sk_status status[3];
    sk_predict_report report[3];
    sk_track_figures figures;
    int at;
    char sources[3][64], outs[3][64];
} play;

static sk_status act(const sk_predict_settings *settings, sk_track_run *run, sk_predict_watch watch,
                     void *context, sk_predict_report *report, sk_error *problem)
{
    const int i = play.at++;
    snprintf(play.sources[i], sizeof play.sources[i], "%s", settings->source ? settings->source : "");
    snprintf(play.outs[i], sizeof play.outs[i], "%s", settings->out ? settings->out : "-");
    *(sk_track_figures *)(uintptr_t)sk_track_run_figures(run) = play.figures;
    const sk_predict_progress p = {.done = 1, .total = 2};
    assert_false(watch(context, &p));
    *report = play.report[i];
    return play.status[i] == SK_OK ? SK_OK : sk_fail(problem, play.status[i], "number %d is broken", i);
}

sk_status sk_track_background_run(const sk_track_background *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *problem)
{
    return act(wish->settings, wish->run, watch, context, report, problem);
}

sk_status sk_track_detections_run(const sk_track_detections *wish, sk_predict_watch watch, void *context,
                                  sk_predict_report *report, sk_error *problem)
{
    return act(wish->settings, wish->run, watch, context, report, problem);
}

static void begin(void)
{
    play =
        (struct play){.figures = {.found = 40, .tracks = 3, .sightings = 38, .covered = 2, .seconds = 0.25}};
    for (int i = 0; i < 3; i++)
        play.report[i] = (sk_predict_report){.frames = 10,
                                             .total_frames = 10 + i,
                                             .instances = 40 + i,
                                             .seconds = 1.5,
                                             .n_files = 2,
                                             .files = {"out/tracks.csv", "out/run.json"}};
}

static void ends_with(sk_status status, const char *message)
{
    assert_int_equal(s.status, status);
    assert_string_equal(s.error.message, message);
    play.at = 0;
}

#define FIGURES "3 tracks, 38 sightings (2 without a detection), tracked in 0.25 s\n"
#define FILES   "out/tracks.csv\nout/run.json\n"

static void detections(void **state)
{
    (void)state;
    begin();
    said_run(&s, "track film.mp4 --detections d.csv -o out");
    ends_with(SK_OK, "");
    assert_string_equal(s.out, FIGURES "10 frames, 40 detections, 1.50 s\n" FILES);
    assert_string_equal(s.err, "");
    assert_string_equal(play.sources[0], "film.mp4");
    said_run(&s, "track --detections d.csv -o -");
    ends_with(SK_OK, "");
    assert_string_equal(s.out, "");
    assert_string_equal(s.err, FIGURES "10 frames, 40 detections, 1.50 s\n" FILES);
    assert_string_equal(play.outs[0], "-");
    said_run(&s, "track --detections d.csv -o out -q");
    ends_with(SK_OK, "");
    assert_string_equal(s.out, "");
    said_run(&s, "track --detections d.csv -o out --json");
    ends_with(SK_OK, "");
    assert_string_equal(
        s.out, "{\n  \"frames\": 10,\n  \"detections\": 40,\n  \"tracks\": 3,\n  \"sightings\": 38,\n  "
               "\"covered\": 2,\n  \"tracking_seconds\": 0.25\n}\n");
    play.report[0].cached = 10;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    said_has(s.out, "\n10 frames, 40 detections, 1.50 s, from the cache\n");
    play.report[0].cached = 9;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    said_has(s.out, "\n10 frames, 40 detections, 1.50 s, some of them from the cache\n");
    play.report[0].nothing_to_do = true;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    said_has(s.out, "\nThis run had finished already: 10 frames, 40 detections. --restart does it again.\n");
    begin();
    play.report[0].source.damaged = 4;
    play.figures.tracks = 1;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    said_has(s.out, "1 track, 38 sightings");
    said_has(s.out, "source: 4 damaged, 0 dropped, ");
    assert_string_equal(s.err, "");
    play.figures.tracks = 0; /* somebody was there, and nobody was followed */
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    said_has(s.err, "warning: 40 animals were found, and none was followed: --roi");
    play.figures.found = 1;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    said_has(s.err, "warning: 1 animals were found");
    play.figures.found = 0;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_OK, "");
    assert_string_equal(s.err, "");
    begin();
    play.report[0].stopped = true;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_ERR_CANCELLED, "interrupted after 10 frames; the same command goes on from there");
    said_has(s.out, "\nStopped: 10 frames, ");
    play.report[0].missing = 1;
    said_run(&s, "track film.mp4 --detections d.csv -o out");
    assert_int_equal(s.status, SK_ERR_INCOMPLETE);
    said_has(s.error.message,
             "film.mp4: cut off: 1 of the frames its header promises are not in the file. The 10 ");
    begin();
    play.status[0] = SK_ERR_FORMAT;
    said_run(&s, "track --detections d.csv -o out");
    ends_with(SK_ERR_FORMAT, "number 0 is broken");
    assert_string_equal(s.out, "");
}

static void one_background(void **state)
{
    (void)state;
    begin();
    said_run(&s, "track a.mp4 --detector background -o out");
    ends_with(SK_OK, "");
    assert_string_equal(s.out, FIGURES "10 frames, 40 detections, 1.50 s\n" FILES);
    assert_string_equal(play.sources[0], "a.mp4");
    assert_string_equal(play.outs[0], "out");
    play.status[0] = SK_ERR_FORMAT;
    said_run(&s, "track a.mp4 --detector background -o out");
    ends_with(SK_ERR_FORMAT, "number 0 is broken");
    assert_string_equal(s.err, "");
    begin();
    play.report[0].missing = 2;
    said_run(&s, "track a.mp4 --detector background -o out");
    assert_int_equal(s.status, SK_ERR_INCOMPLETE);
    said_has(s.error.message, "a.mp4: cut off: 2 of the frames");
    begin();
    play.report[0].stopped = true;
    said_run(&s, "track a.mp4 --detector background -o out");
    ends_with(SK_ERR_CANCELLED, "interrupted after 10 frames; the same command goes on from there");
    begin();
    said_run(&s, "track 1.png 2.png --detector background -o out"); /* two pictures are no video */
    ends_with(SK_ERR_ARG, "a background needs a video, or a folder of its frames");
    assert_string_equal(play.sources[0], "");
}

static void several_backgrounds(void **state)
{
    (void)state;
    begin();
    said_run(&s, "track a.mp4 b.mp4 c.mp4 --detector background -o out");
    ends_with(SK_OK, "");
    for (int i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "%c.mp4", 'a' + i);
        assert_string_equal(play.sources[i], text);
        snprintf(text, sizeof text, "out/%c", 'a' + i);
        assert_int_equal(strncmp(play.outs[i], text, strlen(text)), 0);
        snprintf(text, sizeof text, "%d frames, %d detections, 1.50 s\n", 10 + i, 40 + i);
        said_has(s.out, text);
    }
    said_run(&s, "track a.mp4 b.mp4 c.mp4 --detector background -o - -f csv");
    ends_with(SK_OK, "");
    assert_string_equal(play.outs[2], "-");
    /* one fails and one is cut off: the third is done all the same */
    play.status[0] = SK_ERR_FORMAT;
    play.report[1].missing = 5;
    said_run(&s, "track a.mp4 b.mp4 c.mp4 --detector background -o out");
    assert_string_equal(play.sources[2], "c.mp4");
    ends_with(SK_ERR_IO, "1 of 3 videos failed");
    said_has(s.err, "skitter: error: number 0 is broken\nskitter: error: b.mp4: cut off: 5 of the frames");
    play.status[0] = SK_OK;
    said_run(&s, "track a.mp4 b.mp4 c.mp4 --detector background -o out");
    assert_string_equal(play.sources[2], "c.mp4");
    ends_with(SK_ERR_INCOMPLETE,
              "1 of 3 videos are cut off: frames that their headers promise are not in the files. "
              "With whole files, begin anew: --restart");
    play.status[0] = play.status[2] = SK_ERR_IO;
    said_run(&s, "track a.mp4 b.mp4 c.mp4 --detector background -o out");
    ends_with(SK_ERR_IO, "2 of 3 videos failed");
    /* an interruption ends them all */
    begin();
    play.report[1].stopped = true;
    said_run(&s, "track a.mp4 b.mp4 c.mp4 --detector background -o out");
    assert_int_equal(play.at, 2);
    ends_with(SK_ERR_CANCELLED, "interrupted after 11 frames; the same command goes on from there");
}

/* The events of a line, in order, each by its first words. */
static const char *heard(const char *line)
{
    static char all[SAID_MOST];
    FILE *file = tmpfile();
    assert_non_null(file);
    said_run(&s, "%s --events %d", line, fileno(file));
    rewind(file);
    all[fread(all, 1, sizeof all - 1, file)] = '\0';
    fclose(file);
    play.at = 0;
    return all;
}

static void in_order(const char *all, const char *const *parts)
{
    const char *at = all;
    for (; *parts; parts++) {
        at = strstr(at, *parts);
        if (!at)
            fail_msg("'%s' is not in its place in: %s", *parts, all);
        at += strlen(*parts);
    }
}

/* What a program that started it hears: of every video, how it began, how far it is, how it ended. */
static void events(void **state)
{
    (void)state;
    static const char *const one[] = {"{\"event\":\"begin\",\"source\":\"d.csv\"",
                                      "\"out\":\"out\"",
                                      "\"number\":0,\"count\":1}\n",
                                      "{\"event\":\"progress\",\"frame\":1,\"total\":2,",
                                      "{\"event\":\"result\",\"state\":\"finished\",\"out\":\"out\",",
                                      "{\"event\":\"end\",\"status\":0,\"message\":null}\n",
                                      NULL};
    static const char *const three[] = {"\"begin\",\"source\":\"a.mp4\"",
                                        "\"number\":0,\"count\":3}",
                                        "\"progress\"",
                                        "\"state\":\"finished\"",
                                        "\"begin\",\"source\":\"b.mp4\"",
                                        "\"number\":1,\"count\":3}",
                                        "\"state\":\"incomplete\"",
                                        "\"begin\",\"source\":\"c.mp4\"",
                                        "\"number\":2,\"count\":3}",
                                        "\"state\":\"stopped\"",
                                        "\"end\",\"status\":",
                                        NULL};
    begin();
    in_order(heard("track --detections d.csv -o out -q"), one);
    play.figures.tracks = 0; /* a warning is heard, and one that is quiet, too */
    static const char *const warned[] = {"\"begin\"", "40 animals were found, and none was followed",
                                         "\"result\"", "\"end\"", NULL};
    in_order(heard("track --detections d.csv -o out"), warned);
    begin();
    play.report[1].missing = 4;
    play.report[2].stopped = true;
    in_order(heard("track a.mp4 b.mp4 c.mp4 --detector background -o out -q"), three);
    assert_int_equal(s.status, SK_ERR_CANCELLED);
    begin();
    play.status[0] = SK_ERR_FORMAT;
    const char *all = heard("track a.mp4 --detector background -o out -q");
    said_lacks(all, "\"result\"");
    said_has(all, "\"message\":\"number 0 is broken\"}\n");
    /* none is told where none is asked for, also after a run that asked */
    begin();
    said_run(&s, "track --detections d.csv -o out -q");
    play.at = 0;
    assert_int_equal(s.status, SK_OK);
}

int main(void)
{
    static const char *const files[] = {"film.mp4", "a.mp4", "b.mp4", "c.mp4", "d.csv", "1.png", "2.png"};
    if (chdir(test_folder()) != 0)
        return 1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (sk_file_replace(files[i], "x", 1, &err) != SK_OK)
            return 1;
    unsetenv("SKITTER_PROGRAM");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(detections), cmocka_unit_test(one_background),
                                       cmocka_unit_test(several_backgrounds), cmocka_unit_test(events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
