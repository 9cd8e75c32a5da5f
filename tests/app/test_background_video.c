/* SPDX-License-Identifier: Apache-2.0 */
/* Animals on a still background of a video: what its run says of it, and what was found is kept for another tracking, which pictures are
 * not. */
#include "track_fixture.h"

#include "app/track_background.h"
#include "media/draw.h"
#include "media/video_sink.h"

#include <unistd.h>

#define WIDTH  96
#define HEIGHT 64
#define FRAMES 20

static const char *const formats[] = {"csv", "jsonl", NULL};

/* One ellipse that goes right by 2 a frame, on grey; as a video of 20 frames a second, and as pictures. */
static void put_sources(void)
{
    static uint8_t pixels[WIDTH * HEIGHT * 3 + 64];
    sk_video_sink *sink = NULL;
    assert_ok(sk_folder_make("pictures", &err), &err);
    assert_ok(sk_video_sink_open("v.mp4", WIDTH, HEIGHT, 20, &sink, &err), &err);
    for (int i = 0; i < FRAMES; i++) {
        char path[64];
        sk_frame f = {.size = sizeof f,
                      .format = SK_PIXEL_RGB,
                      .width = WIDTH,
                      .height = HEIGHT,
                      .stride = WIDTH * 3,
                      .data = pixels,
                      .index = i,
                      .time_ns = (int64_t)i * 50000000};
        memset(pixels, 200, sizeof pixels);
        for (int k = -5; k <= 5; k++)
            sk_draw_disc(&f, 20 + 2 * (float)i + (float)k, 30, 5, 0x202020);
        snprintf(path, sizeof path, "pictures/%03d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        assert_ok(sk_video_sink_write(sink, &f, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
}

static void begin(track_trial *t, const char *source, const char *out)
{
    trial_defaults(t, "", out, formats);
    t->settings.source = source;
    t->wish.cache = "kept";
    t->wish.cached = true;
    t->wish.track.fps = 0; /* as the source says */
}

static sk_status run_background(track_trial *t)
{
    sk_track_run *run = NULL;
    sk_status status = sk_track_run_open(&t->wish, &run, &err);
    if (status != SK_OK)
        return status;
    const sk_track_background given = {&t->settings, run};
    status = sk_track_background_run(&given, t->watch, t->context, &t->report, &err);
    t->figures = *sk_track_run_figures(run);
    sk_track_run_close(&run);
    return status;
}

static void says(const char *folder, const char *words)
{
    char *text = text_of(folder, "run.json");
    if (!strstr(text, words))
        fail_msg("%s is not in %s", words, text);
    sk_free(text);
}

static void what_is_kept(void **state)
{
    (void)state;
    static track_trial t;
    for (int i = 0; i < 4; i++) { /* twice a video, twice pictures */
        static const char *const outs[] = {"first", "second", "third", "fourth"};
        begin(&t, i < 2 ? "v.mp4" : "pictures", outs[i]);
        t.wish.track.fps = i < 2 ? 0 : 20;
        assert_ok(run_background(&t), &err);
        assert_int_equal(t.report.frames, FRAMES);
        assert_int_equal(t.report.cached, i == 1 ? FRAMES : 0);
        assert_int_equal(t.figures.tracks, 1);
        if (i < 2) /* nothing is read of the video where all is known */
            assert_int_equal(t.report.source.decoded > 0, i == 0);
    }
    assert_same_file("first", "second", "results.csv");
    begin(&t, "v.mp4", "fifth"); /* … unless that is not wanted */
    t.wish.cached = false;
    assert_ok(run_background(&t), &err);
    assert_int_equal(t.report.cached, 0);
    assert_true(t.report.source.decoded >= FRAMES);
    assert_same_file("first", "fifth", "results.csv");
    begin(&t, "v.mp4", "sixth"); /* other frames are another thing */
    t.settings.media.first = 3;
    assert_ok(run_background(&t), &err);
    assert_true(t.report.cached == 0 && t.report.frames == FRAMES - 3);
}

static void what_it_says(void **state)
{
    (void)state;
    static const char *const all[] = {"\"source\": \"v.mp4\"",
                                      "\"source_kind\": \"video\"",
                                      "\"width\": 96",
                                      "\"height\": 64",
                                      "\"rate\": 20",
                                      "\"frames\": 20",
                                      "\"task\": \"background\"",
                                      "\"classes\": [\n    \"animal\"\n  ]",
                                      "\"runtime_requested\": \"none\"",
                                      "\"runtime\": \"none\"",
                                      "\"device\": \"none\"",
                                      "\"precision\": \"none\"",
                                      "\"settings\": \"detector background\"",
                                      "\"state\": \"finished\"",
                                      "\"detector\": \"background\"",
                                      "\"loop\": \"1\"",
                                      "\"topic\": \"\"",
                                      "\"frames\": \"all\""};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        says("first", all[i]);
    char *text = text_of("first", "run.json"), time[32];
    assert_null(strstr(text, "\"stamped\""));
    sk_free(text);
    /* what was read of the video; nothing where all was known */
    char decoded[64];
    snprintf(decoded, sizeof decoded, "\"source_status\": {\n    \"decoded\": %d,", FRAMES);
    says("first", decoded);
    says("second", "\"source_status\": {\n    \"decoded\": 0,");
    /* rows have the video's times, and boxes of both kinds */
    text = text_of("first", "results.csv");
    for (int i = 2; i < FRAMES - 2; i++) {
        snprintf(time, sizeof time, "\nv.mp4,%d,%.6f,", i, i / 20.0);
        if (!strstr(text, time))
            fail_msg("there is no %s in %s", time + 1, text);
    }
    assert_non_null(strstr(text, ",animal,"));
    sk_free(text);
    says("third", "\"source_kind\": \"pictures\"");
    says("third", "\"width\": 96");
    says("sixth", "\"frames\": \"3:\"");
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    return 77;
#endif
    if (chdir(test_folder()) != 0)
        return 1;
    put_sources();
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_kept), cmocka_unit_test(what_it_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
