/* SPDX-License-Identifier: Apache-2.0 */
/* Detections of a file with the video that they are of: its size, its rate, what is drawn on it; and a region that is a picture. */
#include "track_fixture.h"

#include "app/track_region.h"
#include "app/track_teller.h"
#include "media/video_sink.h"

#include <unistd.h>

static const char *const lines[] = {"jsonl", NULL};

static void skip_without_video(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    skip();
#endif
}

static void put_video(const char *path, int frames, double rate)
{
    static uint8_t pixels[64 * 48 * 3 + 64];
    sk_video_sink *sink = NULL;
    assert_ok(sk_video_sink_open(path, 64, 48, rate, &sink, &err), &err);
    for (int i = 0; i < frames; i++) {
        const sk_frame f = {.size = sizeof f,
                            .format = SK_PIXEL_RGB,
                            .width = 64,
                            .height = 48,
                            .stride = 64 * 3,
                            .data = pixels,
                            .index = i,
                            .time_ns = (int64_t)(1e9 * i / rate)};
        memset(pixels, 60 + 3 * i, sizeof pixels);
        assert_ok(sk_video_sink_write(sink, &f, &err), &err);
    }
    assert_ok(sk_video_sink_close(&sink, &err), &err);
}

/* One fly that goes right through thirty frames. */
static void put_fly(const char *name)
{
    sk_text csv = {0};
    sk_text_append(&csv, "frame,class,name,score,x1,y1,x2,y2\n");
    for (int f = 0; f < 30; f++)
        sk_text_appendf(&csv, "%d,0,fly,0.9,%d,10,%d,20\n", f, 2 + f, 22 + f);
    put(name, sk_text_get(&csv));
    sk_text_free(&csv);
}

static bool says(const char *folder, const char *words)
{
    char *text = text_of(folder, "run.json");
    const bool there = strstr(text, words) != NULL;
    sk_free(text);
    return there;
}

static void the_video_tells_size_and_rate(void **state)
{
    (void)state;
    skip_without_video();
    static track_trial t;
    put_fly("fly.csv");
    put_video("v.mp4", 30, 10);
    trial_defaults(&t, "fly.csv", "with", lines);
    t.wish.track.fps = 0;
    t.settings.source = "v.mp4";
    assert_ok(trial_run(&t), &err);
    assert_true(t.report.total_frames == 30 && t.report.instances == 30 && t.figures.found == 30 &&
                t.figures.tracks == 1);
    assert_true(says("with", "\"width\": 64") && says("with", "\"height\": 48") &&
                says("with", "\"rate\": 10") && says("with", "\"source\": \"v.mp4\"") &&
                says("with", "\"source_kind\": \"video\""));
    char *told = text_of("with", "results.jsonl");
    assert_true(strstr(told, "\"frame\":5,\"time\":0.500000,") && strstr(told, "\"source\":\"v.mp4\"") &&
                strstr(told, "\"track\":0,"));
    sk_free(told);
    trial_defaults(&t, "fly.csv", "faster", lines); /* who says the rate knows it */
    t.wish.track.fps = 20;
    t.settings.source = "v.mp4";
    assert_ok(trial_run(&t), &err);
    told = text_of("faster", "results.jsonl");
    assert_non_null(strstr(told, "\"frame\":5,\"time\":0.250000,"));
    sk_free(told);
    trial_defaults(&t, "fly.csv", "without", lines);
    t.wish.track.fps = 0;
    assert_ok(trial_run(&t), &err);
    told = text_of("without", "results.jsonl");
    assert_true(strstr(told, "\"frame\":5,\"time\":0.200000,") && strstr(told, "\"source\":\"\""));
    sk_free(told);
    trial_defaults(&t, "fly.csv", "nowhere", lines);
    t.settings.source = "nowhere.mp4";
    assert_int_equal(trial_run(&t), SK_ERR_NOT_FOUND);
    assert_false(sk_file_exists("nowhere"));
}

static void it_is_drawn_on_the_video(void **state)
{
    (void)state;
    skip_without_video();
    static track_trial t;
    put_fly("fly.csv");
    put_video("v.mp4", 30, 10);
    trial_defaults(&t, "fly.csv", "drawn", lines);
    t.settings.source = "v.mp4";
    t.settings.overlay = true;
    assert_ok(trial_run(&t), &err);
    assert_true(sk_file_size("drawn/overlay.mp4") > 500);
    int there = 0;
    for (int32_t i = 0; i < t.report.n_files; i++)
        there += strcmp(t.report.files[i], "drawn/overlay.mp4") == 0;
    assert_int_equal(there, 1);
    sk_source *source = NULL;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    int n = 0, changed = 0;
    sk_source_defaults(&s);
    assert_ok(sk_source_open("drawn/overlay.mp4", &s, &source, &err), &err);
    for (const sk_frame *f = NULL;; n++) {
        assert_ok(sk_source_next(source, &f, &err), &err);
        if (!f)
            break;
        assert_true(f->width == 64 && f->height == 48);
        int off = 0;
        for (int y = 0; y < 48; y++)
            for (int x = 0; x < 64; x++)
                off += abs(f->data[y * f->stride + 3 * x] - (60 + 3 * n)) > 40;
        changed += off > 20 && off < 64 * 40;
        sk_source_release(source, f);
    }
    sk_source_close(&source);
    assert_true(n == 30 && changed == 30);
}

/* --- regions that are pictures --- */

static const sk_run_header wide = {
    .source = "v.mp4", .source_kind = "video", .width = 640, .height = 480, .rate = 25, .has = SK_HAS_BOX};

static void a_region_fits_the_frames(void **state)
{
    (void)state;
    sk_region *region = NULL;
    sk_text identity = {0};
    sk_track_teller *teller = NULL;
    sk_track_wish wish;
    assert_ok(sk_track_region_mask(test_source("tests/fixtures/grey_64x48.png"), &region, &identity, &err),
              &err);
    sk_track_wish_defaults(&wish);
    wish.online = true;
    wish.track.filter.region = region;
    assert_int_equal(sk_track_teller_open(&wish, &wide, &teller, &err), SK_ERR_ARG);
    assert_string_equal(err.message,
                        "v.mp4: its frames have 640 x 480 pixels, and the mask (--roi-mask) 64 x "
                        "48: a mask is a picture of the frame's size");
    assert_null(teller);
    sk_run_header header = wide;
    header.width = 64, header.height = 48;
    assert_ok(sk_track_teller_open(&wish, &header, &teller, &err), &err);
    sk_track_teller_close(&teller);
    header.width = header.height = 0; /* nobody knows yet */
    assert_ok(sk_track_teller_open(&wish, &header, &teller, &err), &err);
    sk_track_teller_close(&teller);
    sk_region_close(&region);
    sk_text_free(&identity);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_video_tells_size_and_rate),
        cmocka_unit_test(it_is_drawn_on_the_video),
        cmocka_unit_test(a_region_fits_the_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
