/* SPDX-License-Identifier: Apache-2.0 */
/* Which options mean something for which sources, and where results go: asked before anything is opened. What is not refused ends
 * at the name of the results' folder, which is a file's. */
#include "said.h"

#include "base/file.h"
#include "support/yolo_writer.h"

#include <sys/stat.h>

static said s;
static sk_error err;
static char model[4300];

enum { LOOP = 1, HWACCEL = 2, TOPIC = 4, RECONNECT = 8 };

static void options_and_sources(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        const char *lacks; /* as it is told where it is refused */
    } options[] = {{"--loop 2", "is a camera or stream, which cannot be played again"},
                   {"--hwaccel auto", "is not a video"},
                   {"--topic /camera", "is no bag of ROS 2, for which this is"},
                   {"--reconnect 5", "is no camera and no stream, for which this is"}};
    static const struct {
        const char *source, *told;
        int means; /* bits: which of these mean something */
    } sources[] = {
        {"film.mp4", "film.mp4", LOOP | HWACCEL},
        {"pictures/*.png", "pictures/*.png", LOOP},
        {"1.png 2.png", "2.png", LOOP},
        {"bag.mcap", "bag.mcap", LOOP | TOPIC},
        {"rtsp://camera/1", "rtsp://camera/1", HWACCEL | RECONNECT},
        {"/dev/video0", "/dev/video0", HWACCEL | RECONNECT},
        {"http://there/film.mp4", "http://there/film.mp4", LOOP | HWACCEL | RECONNECT},
        {"HTTPS://there/film.mp4", "HTTPS://there/film.mp4", LOOP | HWACCEL | RECONNECT},
        {"pipe", "pipe", HWACCEL},
        {"film.mp4 bag.mcap", "none of these sources", LOOP | HWACCEL | TOPIC},
        {"film.mp4 other.mp4", "none of these sources", LOOP | HWACCEL},
    };
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            said_run(&s, "predict %s -m %s -o x.csv %s", sources[i].source, model, options[k].words);
            const bool means = sources[i].means >> k & 1;
            char text[512];
            snprintf(text, sizeof text, "%.*s means nothing here: %s %s", (int)strcspn(options[k].words, " "),
                     options[k].words, sources[i].told, options[k].lacks);
            if (s.status != SK_ERR_ARG ||
                !strstr(s.error.message, means ? "--out x.csv: results go into a folder" : text))
                fail_msg("%s %s: %s", sources[i].source, options[k].words, s.error.message);
        }
}

static void where_results_go(void **state)
{
    (void)state;
    SAID_REFUSES(&s, SK_ERR_ARG,
                 "--json and '--out -' both want standard output\nleave --json out, or name a folder",
                 "predict film.mp4 -m %s -o - --json", model);
    SAID_REFUSES(&s, SK_ERR_ARG,
                 "results go into a folder, and this is the name of a file\nwrite '--out a/x --format slp'",
                 "predict film.mp4 -m %s -o a/x.slp", model);
    /* a number is not used up by a run that failed, and the folder of all goes with the last */
    said_run(&s, "track --detections none.csv -q");
    assert_int_not_equal(s.status, SK_OK);
    assert_false(sk_file_exists("runs"));
    assert_int_equal(mkdir("runs", 0700), 0);
    assert_int_equal(mkdir("runs/track1", 0700), 0);
    said_run(&s, "track --detections none.csv -q");
    assert_int_not_equal(s.status, SK_OK);
    assert_true(sk_file_exists("runs/track1") && !sk_file_exists("runs/track2"));
    SAID_REFUSES(&s, SK_ERR_ARG, "track needs a video: skitter track VIDEO --model M", "track -m %s -o x",
                 model);
    /* a list is a source */
    assert_ok(sk_file_replace("list.txt", "bag.mcap\n", 9, &err), &err);
    SAID_REFUSES(&s, SK_ERR_ARG, "--out x.csv: results go into a folder",
                 "track --video-list list.txt -m %s -o x.csv --topic /camera", model);
    SAID_REFUSES(&s, SK_ERR_ARG, "--out x.csv: results go into a folder",
                 "track film.mp4 --video-list list.txt -m %s -o x.csv --topic /camera", model);
    SAID_REFUSES(&s, SK_ERR_ARG, "--topic means nothing here: film.mp4 is no bag",
                 "track film.mp4 -m %s -o x.csv --topic /camera", model);
}

int main(void)
{
    static const char *const files[] = {"film.mp4", "other.mp4", "bag.mcap",
                                        "1.png",    "2.png",     "pictures/1.png"};
    if (chdir(test_folder()) != 0 || mkdir("pictures", 0700) != 0 || mkfifo("pipe", 0600) != 0)
        return 1;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (sk_file_replace(files[i], "x", 1, &err) != SK_OK)
            return 1;
    unsetenv("SKITTER_PROGRAM");
    unsetenv("SKITTER_COMPUTE_RUNTIME");
    setenv("SKITTER_CACHE_DIR", "cache", 1);
    setenv("SKITTER_CONFIG_DIR", test_folder(), 1);
    const yolo_fixture fixture = {.head = "Detect", .f32 = true, .imgsz = 32};
    snprintf(model, sizeof model, "%s", yolo_save(&fixture, "m.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(options_and_sources),
                                       cmocka_unit_test(where_results_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
