/* SPDX-License-Identifier: Apache-2.0 */
/* What track tells of runs with models: who finds, who looks at crops, and when a word about the poses is due. The runs are played. */
#include "said.h"

#include "app/predict_many.h"
#include "app/preview.h"
#include "app/track.h"
#include "base/file.h"
#include "base/memory.h"
#include "support/yolo_writer.h"

static said s;
static sk_error err;
static char boxes[4300], poses[4300];

/* --- the play: in place of app/predict_many.c --- */

static struct play {
    sk_track_figures figures;
    int started;
    int32_t models;
    bool finds_otherwise, find_only, fell_back;
    char runtime[32], requested[32], out[64], provider[32], precision[32], options[64], preview[64];
    bool throughput;
    int32_t n_formats;
    size_t sources;
} play;

sk_status sk_predict_fresh_folder(const char *command, char **out, sk_error *problem)
{
    *out = sk_strdup(command);
    return *out ? SK_OK : sk_fail_memory(problem, strlen(command));
}

sk_status sk_predict_many(const sk_predict_settings *settings, const sk_source_list *list,
                          const sk_predict_many_watch *watch, sk_predict_many_report *report,
                          sk_error *problem)
{
    (void)problem;
    play.started++;
    play.models = settings->n_models;
    play.finds_otherwise = settings->finder != NULL;
    play.find_only = settings->find_only;
    play.fell_back = settings->runtime_fell_back;
    play.sources = list->count;
    play.throughput = settings->detector.openvino_throughput;
    play.n_formats = settings->n_formats;
    snprintf(play.provider, sizeof play.provider, "%s",
             settings->detector.provider ? settings->detector.provider : "-");
    snprintf(play.precision, sizeof play.precision, "%s", settings->detector.precision);
    snprintf(play.options, sizeof play.options, "%s",
             settings->detector.engine_options ? settings->detector.engine_options : "-");
    snprintf(play.preview, sizeof play.preview, "%s", settings->preview ? settings->preview->path : "-");
    snprintf(play.runtime, sizeof play.runtime, "%s", settings->detector.runtime);
    snprintf(play.requested, sizeof play.requested, "%s", settings->runtime_requested);
    snprintf(play.out, sizeof play.out, "%s", settings->out ? settings->out : "-");
    if (settings->more) /* track's */
        *(sk_track_figures *)(uintptr_t)sk_track_run_figures(settings->more->context) = play.figures;
    static sk_predict_item item;
    item = (sk_predict_item){.source = "film.mp4",
                             .out = "out",
                             .count = 1,
                             .report = {.frames = 10,
                                        .total_frames = 10,
                                        .instances = 40,
                                        .seconds = 2,
                                        .runtime = "cpu",
                                        .device = "a processor",
                                        .precision = "f32"}};
    watch->begin(watch->context, &item);
    if (settings->preview)
        settings->preview->made(settings->preview->context, 7);
    watch->end(watch->context, &item);
    *report = (sk_predict_many_report){.sources = 1, .done = 1, .frames = 10, .instances = 40};
    return SK_OK;
}

static void begin(int64_t found, int64_t poseless)
{
    play = (struct play){.figures = {.found = found,
                                     .poseless = poseless,
                                     .tracks = 3,
                                     .sightings = 38,
                                     .covered = 2,
                                     .seconds = 0.25}};
}

#define FIGURES "3 tracks, 38 sightings (2 without a detection), tracked in 0.25 s\n"

static void who_finds(void **state)
{
    (void)state;
    begin(40, 0);
    SAID_OK(&s, "track film.mp4 -m %s -o out", boxes);
    assert_true(play.started == 1 && play.models == 1 && !play.finds_otherwise && !play.find_only);
    assert_string_equal(play.runtime, "cpu");
    assert_string_equal(play.requested, "cpu");
    assert_string_equal(play.out, "out");
    assert_int_equal(strncmp(s.out, FIGURES "10 frames, 40 instances, 2.00 s, 5.0 frames/s\n",
                             strlen(FIGURES "10 frames, 40 instances, 2.00 s, 5.0 frames/s\n")),
                     0);
    SAID_OK(&s, "track film.mp4 -m %s -m %s", boxes, poses);
    assert_true(play.models == 2 && !play.finds_otherwise);
    assert_string_equal(play.out, "track");
    SAID_OK(&s, "track film.mp4 -m %s -m %s -o out --pose off", boxes, poses);
    assert_true(play.models == 1 && !play.finds_otherwise);
    SAID_OK(&s, "track film.mp4 -m %s -o out --detector background", poses);
    assert_true(play.models == 1 && play.finds_otherwise);
    SAID_OK(&s, "track film.mp4 -m %s -o out --detections d.csv", poses);
    assert_true(play.models == 1 && play.finds_otherwise);
    SAID_OK(&s, "track film.mp4 -m %s -o - --find-only -f csv", boxes); /* nothing is followed: no figures */
    assert_true(play.find_only);
    assert_string_equal(play.out, "-");
    said_lacks(s.err, "sightings");
    SAID_OK(&s, "track film.mp4 -m %s -o out --json", boxes);
    said_has(s.out, "  \"tracks\": 3,\n  \"sightings\": 38,\n  \"covered\": 2,\n  \"tracking_seconds\": "
                    "0.25\n}\n");
    SAID_OK(&s, "track film.mp4 -m %s -o out --json --find-only", boxes);
    said_lacks(s.out, "sightings");
}

/* Half of the animals or more, of at least twenty, where a model looks at crops. */
static void poses_that_are_none(void **state)
{
    (void)state;
    static const struct {
        int64_t found, poseless;
        bool told;
    } cases[] = {{19, 19, false}, {20, 9, false}, {20, 10, true}, {21, 10, false},
                 {21, 11, true},  {20, 20, true}, {40, 14, false}};
    char words[128];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].found, cases[i].poseless);
        snprintf(words, sizeof words,
                 "skitter: warning: %lld of %lld animals have no pose, or one that is a ",
                 (long long)cases[i].poseless, (long long)cases[i].found);
        SAID_OK(&s, "track film.mp4 -m %s -m %s -o out", boxes, poses);
        if (cases[i].told)
            said_has(s.err, words);
        else
            assert_string_equal(s.err, "");
        SAID_OK(&s, "track film.mp4 -m %s -o out --detector background", poses);
        assert_int_equal(strstr(s.err, words) != NULL, cases[i].told);
        SAID_OK(&s, "track film.mp4 -m %s -o out", poses); /* one that sees whole frames */
        assert_string_equal(s.err, "");
        SAID_OK(&s, "track film.mp4 -m %s -m %s -o out -q", boxes, poses);
        assert_string_equal(s.err, "");
    }
}

static void runtimes(void **state)
{
    (void)state;
    static const char *const commands[] = {"predict", "track"};
    for (int i = 0; i < 2; i++) {
        begin(40, 0);
        SAID_OK(&s, "%s film.mp4 -m %s -o out --precision f32 --engine-option winograd=off --preview p.jpg",
                commands[i], boxes);
        assert_string_equal(play.provider, "-");
        assert_string_equal(play.precision, "f32");
        assert_string_equal(play.options, "winograd=off");
        assert_string_equal(play.preview, "p.jpg");
        assert_true(!play.throughput && !play.fell_back);
        SAID_OK(&s, "%s film.mp4 other.mp4 -m %s -o out -r reference", commands[i], boxes);
        assert_string_equal(play.runtime, "reference");
        assert_string_equal(play.requested, "reference");
        assert_string_equal(play.options, "-");
        assert_string_equal(play.preview, "-");
        assert_int_equal(play.sources, 2);
        SAID_OK(&s, "%s film.mp4 -m %s -o -", commands[i], boxes); /* one format is for standard output */
        assert_int_equal(play.n_formats, 1);
        SAID_OK(&s, "%s film.mp4 -m %s -o - -f csv,jsonl", commands[i], boxes);
        assert_int_equal(play.n_formats, 2);
        /* what cannot be used here is replaced where that is allowed, and what was asked of it goes with it */
        setenv("SKITTER_COMPUTE_RUNTIME", "onnx_rocm", 1);
        play.started = 0;
        said_run(&s, "%s film.mp4 -m %s -o out", commands[i], boxes);
        assert_true(s.status != SK_OK && play.started == 0);
        SAID_OK(&s, "%s film.mp4 -m %s -o out --allow-fallback --execution-provider rocm", commands[i],
                boxes);
        assert_true(play.fell_back);
        assert_string_equal(play.runtime, "cpu");
        assert_string_equal(play.requested, "onnx_rocm");
        assert_string_equal(play.provider, "-");
        said_has(s.err, "skitter: warning: ");
        said_has(s.err, "onnx_rocm");
        unsetenv("SKITTER_COMPUTE_RUNTIME");
    }
}

/* Numbers of the tracker, and words that are none. */
static void numbers(void **state)
{
    (void)state;
    char name[80];
    begin(40, 0);
    for (int letters = 62; letters < 66; letters++) {
        memset(name, 'n', sizeof name);
        name[letters] = '\0';
        SAID_REFUSES(&s, SK_ERR_ARG,
                     letters < 64 ? "the tracker has no such setting; there are "
                                  : "write it as NAME=NUMBER, such as gate=3",
                     "track film.mp4 -m %s -o out --set %s=1", boxes, name);
    }
    SAID_REFUSES(&s, SK_ERR_ARG, "--set gate: write it as NAME=NUMBER",
                 "track film.mp4 -m %s -o out --set gate", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "--set gate=: '' is no number",
                 "track film.mp4 -m %s -o out --set gate=", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "--set gate=3x: '3x' is no number",
                 "track film.mp4 -m %s -o out --set gate=3x", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "--set gate=-1: ", "track film.mp4 -m %s -o out --set gate=-1", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "--cache and --no-cache cannot both be meant",
                 "track film.mp4 -m %s -o out --cache c --no-cache", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "--online is without the steps that --offline-steps chooses",
                 "track film.mp4 -m %s -o out --online --offline-steps upstream", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "--looks on needs pictures of the animals",
                 "track --detections d.csv -o out --looks on");
    assert_int_equal(play.started, 0);
    SAID_OK(&s, "track film.mp4 -m %s -o out --detections d.csv --looks on", poses);
    SAID_OK(&s, "track film.mp4 -m %s -o out --set gate=3 --set gate=4", boxes);
    assert_int_equal(play.started, 2);
}

static void events(void **state)
{
    (void)state;
    static char all[8192];
    static const char *const parts[] = {"{\"event\":\"begin\",\"source\":\"film.mp4\"",
                                        "{\"event\":\"preview\",\"frame\":7", "10 of 20 animals have no pose",
                                        "{\"event\":\"end\",\"status\":0,\"message\":null}\n"};
    begin(20, 10);
    FILE *file = tmpfile();
    assert_non_null(file);
    SAID_OK(&s, "track film.mp4 -m %s -m %s -o out --preview p.jpg --events %d", boxes, poses, fileno(file));
    rewind(file);
    all[fread(all, 1, sizeof all - 1, file)] = '\0';
    fclose(file);
    const char *at = all;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        at = strstr(at, parts[i]);
        if (!at)
            fail_msg("'%s' is not in its place in: %s", parts[i], all);
    }
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "--preview no/p.jpg: there is no folder no",
                 "predict film.mp4 -m %s -o out --preview no/p.jpg", boxes);
}

/* Where no model computes, no runtime is asked for, and none can be wrong. */
static void runtimes_of_none(void **state)
{
    (void)state;
    begin(40, 0);
    setenv("SKITTER_COMPUTE_RUNTIME", "nonsense", 1);
    SAID_REFUSES(&s, SK_ERR_ARG, "nonsense", "track film.mp4 -m %s -o out", boxes);
    SAID_REFUSES(&s, SK_ERR_ARG, "nonsense", "track film.mp4 -m %s -o out --detector background", poses);
    SAID_REFUSES(&s, SK_ERR_ARG, "nonsense", "track film.mp4 -m %s -o out --detections d.csv", poses);
    assert_int_equal(play.started, 0);
    SAID_OK(&s, "track --detections d.csv -o given -q --no-report -f csv");
    said_run(&s, "track film.mp4 --detector background -o seen"); /* which is no video */
    assert_int_not_equal(s.status, SK_OK);
    said_lacks(s.error.message, "nonsense");
    assert_int_equal(play.started, 0);
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    /* what only some runtimes or sources have is not refused either */
    SAID_REFUSES(&s, SK_ERR_ARG, "--topic means nothing here: film.mp4",
                 "track film.mp4 -m %s -o out --detector background --topic /a", poses);
}

int main(void)
{
    static const char detections[] = "frame,name,score,x1,y1,x2,y2\n0,fly,0.9,1,1,9,9\n1,fly,0.9,2,1,10,9\n";
    if (chdir(test_folder()) != 0 || sk_file_replace("film.mp4", "x", 1, &err) != SK_OK ||
        sk_file_replace("other.mp4", "x", 1, &err) != SK_OK ||
        sk_file_replace("d.csv", detections, strlen(detections), &err) != SK_OK)
        return 1;
    unsetenv("SKITTER_PROGRAM");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const yolo_fixture fixtures[] = {{.head = "Detect", .f32 = true, .imgsz = 32},
                                     {.head = "Pose", .f32 = true, .imgsz = 32}};
    snprintf(boxes, sizeof boxes, "%s", yolo_save(&fixtures[0], "boxes.pt"));
    snprintf(poses, sizeof poses, "%s", yolo_save(&fixtures[1], "poses.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_finds), cmocka_unit_test(poses_that_are_none),
                                       cmocka_unit_test(runtimes),  cmocka_unit_test(events),
                                       cmocka_unit_test(numbers),   cmocka_unit_test(runtimes_of_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
