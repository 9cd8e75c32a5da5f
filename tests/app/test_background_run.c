/* SPDX-License-Identifier: Apache-2.0 */
/* Animals on a still background, followed without a model: dark discs that go their ways over pictures; whole and in parts it is the
 * same, and what is given counts. */
#include "track_fixture.h"

#include "app/track_background.h"
#include "media/draw.h"
#include "media/video_sink.h"

#include <dirent.h>
#include <unistd.h>

#define WIDTH  160
#define HEIGHT 120
#define FRAMES 24

/* Two ellipses of 20 x 10 pixels: one to the right by 4 a frame, one down by 3 in a column of its own. */
static void put_pictures(const char *folder, int32_t width, int32_t column)
{
    char path[64];
    uint8_t *pixels = sk_malloc((size_t)width * HEIGHT * 3);
    sk_frame f = {.format = SK_PIXEL_RGB,
                  .width = width,
                  .height = HEIGHT,
                  .stride = 3 * (ptrdiff_t)width,
                  .data = pixels};
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < FRAMES; i++) {
        memset(pixels, 200, (size_t)width * HEIGHT * 3);
        for (int k = -5; k <= 5; k++) {
            sk_draw_disc(&f, 20 + 4 * (float)i + (float)k, 30, 5, 0x202020);
            sk_draw_disc(&f, (float)column, 20 + 3 * (float)i + (float)k, 5, 0x202020);
        }
        snprintf(path, sizeof path, "%s/%03d.png", folder, i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
    }
    sk_free(pixels);
}

static const char *const formats[] = {"csv", "jsonl", NULL};

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

static void begin(track_trial *t, const char *source, const char *out)
{
    trial_defaults(t, "", out, formats);
    t->settings.source = source;
    t->wish.track.fps = 10;
    t->wish.cached = false;
}

static bool stop_at_nine(void *context, const sk_predict_progress *p)
{
    (void)context;
    assert_int_equal(p->total, FRAMES);
    return p->done == 9;
}

static void followed(void **state)
{
    (void)state;
    static track_trial t;
    put_pictures("pictures", WIDTH, 120);
    begin(&t, "pictures", "whole");
    assert_ok(run_background(&t), &err);
    assert_true(t.report.frames == FRAMES && t.report.total_frames == FRAMES && !t.report.stopped);
    assert_int_equal(t.figures.tracks, 2);
    assert_true(t.figures.found >= 2 * FRAMES - 4 && t.figures.found <= 2 * FRAMES + 4);
    sk_text all = {.limit = 1 << 22};
    tell_file(&all, "whole", "results.csv");
    test_text_is("tests/app/told/background_run.txt", sk_text_get(&all));
    sk_text_free(&all);
    char *told = text_of("whole", "run.json");
    assert_true(strstr(told, "\"task\": \"background\"") && strstr(told, "\"source_kind\": \"pictures\"") &&
                strstr(told, "\"width\": 160") && strstr(told, "\"height\": 120"));
    sk_free(told);
    begin(&t, "pictures", "parts");
    t.watch = stop_at_nine;
    assert_ok(run_background(&t), &err);
    assert_true(t.report.stopped && t.report.frames == 9);
    t.watch = NULL;
    assert_ok(run_background(&t), &err);
    assert_true(t.report.frames == FRAMES - 9 && t.report.total_frames == FRAMES);
    assert_same_file("whole", "parts", "results.csv");
    assert_same_file("whole", "parts", "results.jsonl");
    assert_ok(run_background(&t), &err);
    assert_true(t.report.nothing_to_do);
}

static void settings_count(void **state)
{
    (void)state;
    static track_trial t;
    begin(&t, "pictures", "lighter");
    t.wish.background.ground =
        (sk_background_ground)1; /* animals are lighter than the ground: there are none */
    assert_ok(run_background(&t), &err);
    assert_int_equal(t.figures.found, 0);
    begin(&t, "pictures", "some");
    t.settings.media.first = 2;
    t.settings.media.last = 14;
    t.wish.looks = true;
    assert_ok(run_background(&t), &err);
    assert_int_equal(t.report.total_frames, 12);
    char *told = text_of("some", "results.csv");
    assert_true(!strstr(told, "pictures,1,") && strstr(told, "pictures,5,") && !strstr(told, "pictures,14,"));
    sk_free(told);
    begin(&t, "pictures", "some");
    t.settings.media.first = 2;
    t.settings.media.last = 14;
    assert_int_equal(run_background(&t), SK_ERR_MISMATCH); /* what animals look like was counted before */
    begin(&t, "nowhere", "none");
    assert_int_equal(run_background(&t), SK_ERR_NOT_FOUND);
    begin(&t, "pictures", "behind");
    t.settings.media.first = FRAMES;
    assert_int_equal(run_background(&t), SK_ERR_NOT_FOUND);
    begin(&t, "pictures", "wrong");
    t.wish.background.gamma = -1;
    assert_int_not_equal(run_background(&t), SK_OK);
}

static int count_of(const char *text, const char *what)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

/* The page with pictures of the source, and every picture drawn on, once all tracks are known. */
static void report_and_overlay(void **state)
{
    (void)state;
    static track_trial t;
    begin(&t, "pictures", "reported");
    t.wish.report = true;
    t.settings.overlay = true;
    assert_ok(run_background(&t), &err);
    static const char *const files[] = {"reported/results.csv", "reported/results.jsonl",
                                        "reported/overlay/",    "reported/report.html",
                                        "reported/plots/",      "reported/run.json"};
    assert_int_equal(t.report.n_files, 6);
    for (int i = 0; i < 6; i++)
        assert_string_equal(t.report.files[i], files[i]);
    char *page = text_of("reported", "report.html"), path[64];
    assert_true(strstr(page, "<title>pictures") && strstr(page, "data:image/jpeg;base64,"));
    assert_true(strstr(page, "background") && strstr(page, "skitter, offline") && strstr(page, "tracking"));
    const int with = count_of(page, "data:image/");
    sk_free(page);
    int drawn = 0;
    DIR *folder = opendir("reported/overlay");
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        snprintf(path, sizeof path, "reported/overlay/%.40s", entry->d_name);
        drawn += entry->d_name[0] != '.' && sk_file_size(path) > 300;
    }
    closedir(folder);
    assert_int_equal(drawn, FRAMES);
    begin(&t, "pictures", "online"); /* no overlay of a run that was stopped */
    t.wish.report = t.wish.online = true;
    t.settings.overlay = true;
    t.watch = stop_at_nine;
    assert_ok(run_background(&t), &err);
    assert_false(sk_file_exists("online/overlay"));
    page = text_of("online", "report.html");
    assert_non_null(strstr(page, "skitter, online"));
    assert_true(count_of(page, "data:image/") <= with);
    sk_free(page);
}

/* A folder that is played twice is as one that holds its pictures twice; so are the pictures of the page. */
static void played_twice(void **state)
{
    (void)state;
    static track_trial t;
    char from[64], to[64];
    /* they meet in frames 4 and 28 */
    put_pictures("once/x", WIDTH, 40);
    put_pictures("twice/x", WIDTH, 40);
    for (int i = 0; i < FRAMES; i++) {
        snprintf(from, sizeof from, "../../once/x/%03d.png", i);
        snprintf(to, sizeof to, "twice/x/%03d.png", FRAMES + i);
        assert_int_equal(symlink(from, to), 0);
    }
    char *pages[2];
    for (int i = 0; i < 2; i++) {
        begin(&t, i ? "twice/x" : "once/x", i ? "listed" : "played");
        t.wish.report = true;
        t.settings.media.loop = i ? 1 : 2;
        assert_ok(run_background(&t), &err);
        assert_int_equal(t.report.total_frames, 2 * FRAMES);
        pages[i] = text_of(t.out, "report.html");
    }
    const int shown = count_of(pages[1], "base64,");
    if (shown < 2 || count_of(pages[0], "base64,") != shown)
        fail_msg("%d pictures, %d played twice", shown, count_of(pages[0], "base64,"));
    const char *a = pages[0], *b = pages[1];
    for (int i = 0; i < shown; i++) {
        a = strstr(a, "base64,") + 7;
        b = strstr(b, "base64,") + 7;
        const size_t n = strcspn(a, "\"");
        assert_int_equal(n, strcspn(b, "\""));
        assert_memory_equal(a, b, n);
    }
    sk_free(pages[0]);
    sk_free(pages[1]);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(followed), cmocka_unit_test(settings_count),
                                       cmocka_unit_test(report_and_overlay), cmocka_unit_test(played_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
