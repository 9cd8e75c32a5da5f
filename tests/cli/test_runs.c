/* SPDX-License-Identifier: Apache-2.0 */
/* predict and track as they are typed, with a network of a few weights: what is told of one source and of several, of failures, and how
 * runs end. */
#include "said.h"

#include "base/file.h"

#include <sys/stat.h>

static said s;
static char model[4096], picture[4096], video[4096];

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void copy(const char *from, const char *to)
{
    char *text = NULL;
    size_t length = 0;
    sk_error err = {0};
    assert_ok(sk_file_read(from, 1 << 24, &text, &length, &err), &err);
    assert_ok(sk_file_replace(to, text, length, &err), &err);
    sk_free(text);
}

static void one_source(void **state)
{
    (void)state;
    SAID_OK(&s, "predict %s -m %s -o one --threads 1 -f csv", picture, model);
    said_has(s.out, "1 frames, ");
    said_has(s.out, " frames/s\nruntime cpu, f32, ");
    said_has(s.out, "\na frame every ");
    said_has(s.out, "\none/results.csv\none/run.json\n");
    said_has(s.err, "predict: 1 frames in ");
    SAID_OK(&s, "predict %s -m %s -o one --threads 1 -f csv", picture, model);
    said_has(s.out, "This run had finished already: 1 frames, ");
    SAID_OK(&s, "predict %s -m %s -o quiet --threads 1 -f csv -q", picture, model);
    assert_string_equal(s.out, "");
    assert_string_equal(s.err, "");
    SAID_OK(&s, "predict %s -m %s -o json --threads 1 -f csv --json", picture, model);
    said_has(s.out, "{\n  \"frames\": 1,\n  \"total_frames\": 1,\n");
    said_has(s.out, "  \"files\": [\n    \"json/results.csv\",\n    \"json/run.json\"\n  ]\n}\n");
    SAID_OK(&s, "predict %s -m %s -o - --threads 1", picture,
            model); /* lines on standard output, the rest beside it */
    said_has(s.out, "{\"source\":");
    said_has(s.err, "\nruntime cpu, f32, ");
    SAID_REFUSES(&s, SK_ERR_ARG, "--json and '--out -' both want standard output",
                 "predict %s -m %s -o - --json", picture, model);
    said_run(&s, "predict none.png -m %s -o gone", model);
    assert_int_not_equal(s.status, SK_OK);
    said_has(s.error.message, "none.png");
    assert_string_equal(s.out, "");
    said_run(&s, "predict %s -m none.pt -o gone", picture);
    assert_int_not_equal(s.status, SK_OK);
    assert_false(sk_file_exists("gone"));
    /* without --out: the next number; a run that fails before its first frame uses none up */
    SAID_OK(&s, "predict %s -m %s --threads 1 -f csv -q", picture, model);
    assert_true(sk_file_exists("runs/predict1/results.csv"));
    said_run(&s, "predict %s -m none.pt -q", picture);
    assert_false(sk_file_exists("runs/predict2"));
    /* what this source or runtime has no use for */
    SAID_REFUSES(&s, SK_ERR_ARG, "--reconnect means nothing here: ", "predict %s -m %s -o x --reconnect 5",
                 picture, model);
    SAID_REFUSES(&s, SK_ERR_ARG, "--hwaccel means nothing here: ", "predict %s -m %s -o x --hwaccel auto",
                 picture, model);
    SAID_REFUSES(&s, SK_ERR_ARG, "--topic means nothing here: ", "predict %s -m %s -o x --topic /x", picture,
                 model);
    SAID_REFUSES(&s, SK_ERR_ARG, "--loop means nothing here: rtsp://x",
                 "predict rtsp://x -m %s -o x --loop 2", model);
    SAID_REFUSES(&s, SK_ERR_ARG, "--no-winograd means nothing here: reference",
                 "predict %s -m %s -o x -r reference --no-winograd", picture, model);
    SAID_OK(&s, "export %s -o m.onnx", model);
    said_has(s.out, "m.onnx: ");
    said_has(s.out, ", outputs SingleInstanceConfmapsHead, ");
    SAID_OK(&s, "export %s -o m.onnx --overwrite --json", model);
    said_has(s.out, "{\n  \"path\": \"m.onnx\",\n  \"bytes\": ");
    said_has(s.out, "\"outputs\": \"SingleInstanceConfmapsHead\"\n}");
    SAID_REFUSES(&s, SK_ERR_NOT_FOUND, "--preview no/p.jpg: there is no folder no",
                 "predict %s -m %s -o x --preview no/p.jpg", picture, model);
}

static void several_sources(void **state)
{
    (void)state;
    mkdir("set", 0700);
    mkdir("set/a", 0700);
    mkdir("set/b", 0700);
    copy(picture, "set/a/1.png");
    copy(picture, "set/a/2.png");
    copy(picture, "set/b/1.png");
    SAID_OK(&s, "predict set/a set/b -m %s -o many --threads 1 -f csv", model);
    said_has(s.err, "[1/2] set/a\n");
    said_has(s.err, "[2/2] set/b\n");
    said_has(s.out, "set/a: finished, 2 frames, ");
    said_has(s.out, " s: many/a\n");
    said_has(s.out, "set/b: finished, 1 frames, ");
    said_has(s.out, "2 of 2 sources finished: 3 frames, ");
    said_has(s.out, " instances; in many\n");
    SAID_OK(&s, "predict set/a set/b -m %s -o many --threads 1 -f csv", model);
    said_has(s.out, "set/a: finished already, 2 frames, ");
    SAID_OK(&s, "predict set/a set/b -m %s -o many2 --threads 1 -f csv --json", model);
    said_has(s.out, "{\n  \"sources\": [\n    {\n      \"source\": \"set/a\",\n      \"out\": "
                    "\"many2/a\",\n      \"state\": "
                    "\"finished\",\n      \"frames\": 2,\n");
    said_has(s.out, "  ],\n  \"frames\": 3,\n  \"instances\": ");
    said_has(s.out, "  \"failed\": 0,\n  \"incomplete\": 0\n}\n");
    said_lacks(s.out, "\"error\"");
    /* one of them cannot be read: the others are done all the same */
    write_file("broken.mp4", "no video");
    SAID_REFUSES(&s, SK_ERR_IO,
                 "1 of 2 sources failed; the same command tries them again and leaves the others as they are",
                 "predict set/a broken.mp4 -m %s -o some --threads 1 -f csv", model);
    said_has(s.err, "skitter: error: broken.mp4: ");
    said_has(s.out, "set/a: finished, 2 frames, ");
    said_has(s.out, "1 of 2 sources finished: 2 frames, ");
    SAID_REFUSES(&s, SK_ERR_IO, "1 of 2 sources failed",
                 "predict set/a broken.mp4 -m %s -o some2 --threads 1 -f csv --json", model);
    said_has(s.out, "\"source\": \"broken.mp4\",\n      \"out\": \"some2/broken\",\n      \"state\": "
                    "\"failed\",\n      \"error\": \"broken.mp4: ");
    said_has(s.out, "  \"failed\": 1,\n");
    SAID_REFUSES(&s, SK_ERR_IO, "1 of 2 sources failed",
                 "predict set/a broken.mp4 -m %s -o some3 --threads 1 -f csv -q", model);
    assert_string_equal(s.out, "");
    /* pictures that cannot be read are left out and noted */
    write_file("set/a/3.png", "no picture");
    SAID_OK(&s, "predict set/a -m %s -o noted --threads 1 -f csv", model);
    said_has(s.out, "1 picture could not be read and was left out; run.json lists it\n");
    said_run(&s, "predict set/a -m %s -o strict --threads 1 -f csv --strict", model);
    assert_int_not_equal(s.status, SK_OK);
}

static void backgrounds_refused(void **state)
{
    (void)state;
    write_file("broken.mp4", "no video");
    said_run(&s, "track broken.mp4 --detector background -o alone --no-report -f csv -q");
    assert_int_not_equal(s.status, SK_OK);
    assert_int_not_equal(s.status, SK_ERR_IO);
    said_has(s.error.message, "broken.mp4: ");
    SAID_REFUSES(&s, SK_ERR_ARG, "a background needs a video, or a folder of its frames",
                 "track %s %s --detector background -o p", picture, picture);
}

static void backgrounds(void **state)
{
    (void)state;
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without video\n");
    skip();
#endif
    write_file("broken.mp4", "no video");
    copy(video, "v.mp4");
    copy(video, "w.mp4");
    SAID_OK(&s, "track v.mp4 --detector background -o still --no-report -f csv");
    said_has(s.out, "0 tracks, 0 sightings (0 without a detection), tracked in ");
    said_lacks(s.err, "none was followed"); /* nobody was found */
    said_has(s.out, "\n3 frames, 0 detections, ");
    said_has(s.out, "\nstill/results.csv\nstill/run.json\n");
    SAID_OK(&s, "track v.mp4 w.mp4 --detector background -o both --no-report -f csv -q");
    assert_true(sk_file_exists("both/v/results.csv") && sk_file_exists("both/w/results.csv"));
    SAID_REFUSES(&s, SK_ERR_IO, "1 of 2 videos failed",
                 "track broken.mp4 v.mp4 --detector background -o fails --no-report -f csv -q");
    said_has(s.err, "skitter: error: broken.mp4: ");
    assert_true(sk_file_exists("fails/v/results.csv"));
    /* a model behind it looks at crops: it is run over frames, and tells how it went */
    SAID_OK(&s, "track v.mp4 --detector background -m %s -o crops --no-report -f csv --threads 1", model);
    said_has(s.out, "\nruntime cpu, f32, ");
    said_has(s.out, "3 frames, 0 instances");
    write_file("d.csv", "frame,x1,y1,x2,y2\n0,5,5,30,30\n1,5,5,30,30\n2,5,5,30,30\n");
    SAID_OK(&s, "track v.mp4 --detections d.csv -m %s -o given --no-report -f csv --threads 1", model);
    said_has(s.out, "\nruntime cpu, f32, ");
    said_has(s.out, "1 track, 3 sightings");
    char *json = NULL;
    size_t length = 0;
    sk_error err = {0};
    assert_ok(sk_file_read("given/run.json", 1 << 20, &json, &length, &err), &err);
    said_has(json, "\"detections\": \""); /* by what is in them: others are another run */
    said_lacks(json, "\"detections\": \"d.csv\"");
    sk_free(json);
    assert_ok(sk_file_read("still/run.json", 1 << 20, &json, &length, &err), &err);
    char size[64];
    snprintf(size, sizeof size, "\"source_size\": \"%lld\"", (long long)sk_file_size("v.mp4"));
    said_has(json, size);
    sk_free(json);
    SAID_OK(&s, "track v.mp4 -m %s -o plain --no-report -f csv --threads 1 --no-cache", model);
    said_has(s.out, " tracks, ");
    SAID_OK(&s, "track v.mp4 -m %s -o find --find-only --threads 1 --no-cache",
            model); /* nothing is followed, and nothing told of it */
    said_lacks(s.out, "sightings");
}

/* What a run is known by: every setting that shapes results stands in it, as it was given. */
static void identities(void **state)
{
    (void)state;
    static const char *const given[] = {
        "",
        "--peak-threshold 0.5",
        "--max-instances 3",
        "--refinement local",
        "--refinement none",
        "--integral-patch-size 7",
        "--filter-overlapping",
        "--filter-overlapping --filter-overlapping-method oks --filter-overlapping-threshold 0.5",
        "--filter-min-visible-nodes 1",
        "--filter-min-visible-node-fraction 0.25",
        "--filter-min-mean-node-score 0.125",
        "--filter-min-instance-score 0.0625",
        "--batch 2",
        "--threads 2",
        "--no-winograd",
        "--imgsz 64x96",
        "--frames 0:1",
        "--devices cpu",
        "--precision f32",
        "--engine-option tune=off",
        "--no-empty",
        "-r reference"};
    char text[1 << 16] = "";
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        char *json = NULL, path[64];
        size_t length = 0;
        sk_error err = {0};
        SAID_OK(&s, "predict %s -m %s -o id%zu -f csv,jsonl,coco -q %s", picture, model, i, given[i]);
        snprintf(path, sizeof path, "id%zu/run.json", i);
        assert_ok(sk_file_read(path, 1 << 20, &json, &length, &err), &err);
        snprintf(text + strlen(text), sizeof text - strlen(text), "--- %s\n", given[i]);
        static char first[8192];
        char *begin = strstr(json, "\"identity\""), *end = strstr(begin, "}");
        *end = '\0';
        if (i == 0)
            snprintf(first, sizeof first, "%s", begin);
        for (char *rest = NULL, *line = strtok_r(begin, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest)) {
            static const char *const own[] = {"\"skitter\"", "\"source", "\"models\"", "\"model\"",
                                              "modified",    "sample",   "time",       "place"};
            bool out = strstr(first, line); /* as without it */
            for (size_t k = 0; k < sizeof own / sizeof *own; k++)
                out = out || strstr(line, own[k]);
            if (!out)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", line);
        }
        sk_free(json);
    }
    said_is("identities", text);
}

/* What a program that started a run hears. */
static void events(void **state)
{
    (void)state;
    char name[64] = "events.jsonl", *text = NULL;
    size_t length = 0;
    sk_error err = {0};
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    SAID_OK(&s, "predict %s -m %s -o told --threads 1 -f csv -q --events %d", picture, model, fileno(file));
    SAID_REFUSES(&s, SK_ERR_ARG, "means nothing here", "predict %s -m %s -o told2 --conf 0.5 -q --events %d",
                 picture, model, fileno(file));
    fclose(file);
    assert_ok(sk_file_read(name, 1 << 20, &text, &length, &err), &err);
    said_has(text, "{\"event\":\"begin\",\"source\":\"");
    said_has(text, "\"out\":\"told\",\"runtime_requested\":\"cpu\",\"number\":0,\"count\":1}\n");
    said_has(text, "{\"event\":\"progress\",\"frame\":1,\"total\":1,");
    said_has(text, "{\"event\":\"result\",\"state\":\"finished\",\"out\":\"told\",");
    said_has(text, "{\"event\":\"end\",\"status\":0,\"message\":null}\n");
    said_has(text, "{\"event\":\"end\",\"status\":1,\"message\":\"--conf means nothing here");
    sk_free(text);
}

int main(void)
{
    snprintf(model, sizeof model, "%s", test_source("tests/fixtures/sleap_nn/unet_single_kernel5_convs3"));
    snprintf(picture, sizeof picture, "%s", test_source("tests/fixtures/grey_64x48.png"));
    snprintf(video, sizeof video, "%s", test_source("tests/fixtures/colours/bt709.mp4"));
    if (chdir(test_folder()) != 0)
        return 1;
    unsetenv("SKITTER_PROGRAM"); /* other runtimes are not asked for: that takes long */
    setenv("SKITTER_CACHE_DIR", test_folder(), 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_source),          cmocka_unit_test(several_sources),
        cmocka_unit_test(backgrounds_refused), cmocka_unit_test(backgrounds),
        cmocka_unit_test(identities),          cmocka_unit_test(events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
