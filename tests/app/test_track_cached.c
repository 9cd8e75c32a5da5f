/* SPDX-License-Identifier: Apache-2.0 */
/* What models found in a video is kept: another tracking of it computes nothing, and says what it says without. */
#include "predict_fixture.h"

#include "app/inference_cache.h"
#include "app/track.h"

#include <unistd.h>

enum { FRAMES = 3 };

static sk_predict_report r; /* large */

typedef struct trial {
    sk_track_wish wish;
    sk_predict_settings settings;
    int64_t stop_at; /* frames done; 0: to the end */
} trial;

static void begin(trial *t, const char *source, const char *out)
{
    *t = (trial){.settings = quick(source, out)};
    sk_track_wish_defaults(&t->wish);
    t->wish.report = false;
    t->wish.online = true;
    t->wish.cached = true;
    t->wish.cache = "cache";
    t->wish.track.fps = 10;
    /* what a network without training finds is followed, too */
    static const char *const low[] = {"min_score", "strong_score", "birth_score", "apart", "shortest"};
    for (size_t i = 0; i < sizeof low / sizeof *low; i++)
        assert_ok(sk_track_setting_set(sk_track_setting_find(low[i]), 0, &t->wish, &err), &err);
}

static bool watch(void *context, const sk_predict_progress *p)
{
    assert_true(p->total == FRAMES || p->total == -1);
    return p->done == *(const int64_t *)context;
}

static sk_status run(trial *t)
{
    sk_track_run *track = NULL;
    sk_status status = sk_track_run_open(&t->wish, &track, &err);
    if (status != SK_OK)
        return status;
    t->settings.more = sk_track_run_more(track);
    status = sk_predict_run(&t->settings, t->stop_at ? watch : NULL, &t->stop_at, &r, &err);
    sk_track_run_close(&track);
    return status;
}

/* The same from the first line on that names no run. */
static void same(const char *a, const char *b)
{
    static const char *const files[] = {"results.csv", "results.jsonl"};
    for (int i = 0; i < 2; i++) {
        char *x = text_of(a, files[i]), *y = text_of(b, files[i]);
        if (strcmp(strchr(x, '\n'), strchr(y, '\n')) != 0)
            fail_msg("%s differs in %s and %s", files[i], a, b);
        sk_free(x);
        sk_free(y);
    }
}

static void put_video(const char *name)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    skip();
#endif
    char *bytes = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(test_source("tests/fixtures/colours/bt709.mp4"), 1 << 24, &bytes, &length, &err),
              &err);
    assert_ok(sk_file_replace(name, bytes, length, &err), &err);
    sk_free(bytes);
}

static size_t caches(int *complete)
{
    sk_inference_row *rows = NULL;
    size_t count = 0;
    assert_ok(sk_inference_cache_list("cache", &rows, &count, &err), &err);
    *complete = 0;
    for (size_t i = 0; i < count; i++)
        *complete += rows[i].complete;
    sk_inference_cache_list_free(rows, count);
    return count;
}

static void nothing_is_computed_twice(void **state)
{
    (void)state;
    int complete = 0;
    trial t;
    put_video("v.mp4");
    put_video("copy.mp4");
    begin(&t, "v.mp4", "alone");
    t.wish.cached = false;
    t.wish.track.fps = 20;
    assert_ok(run(&t), &err);
    assert_true(r.frames == FRAMES && r.cached == 0 && r.instances == 3 * FRAMES);
    assert_false(sk_file_exists("cache"));
    begin(&t, "v.mp4", "first");
    assert_ok(run(&t), &err);
    assert_true(r.frames == FRAMES && r.cached == 0 && r.network > 0 && r.decode > 0);
    assert_true(caches(&complete) == 1 && complete == 1);
    begin(&t, "v.mp4", "second"); /* followed otherwise */
    t.wish.track.fps = 20;
    assert_ok(run(&t), &err);
    assert_true(r.frames == FRAMES && r.cached == FRAMES && r.total_frames == FRAMES && !r.stopped);
    assert_true(r.instances == 3 * FRAMES && r.seconds > 0);
    assert_true(r.network == 0 && r.pre == 0 && r.post == 0);
    assert_true(caches(&complete) == 1 && complete == 1);
    same("alone", "second");
    assert_ok(run(&t), &err);
    assert_true(r.nothing_to_do && r.cached == 0);
    t.wish.track.fps = 40; /* the folder holds another tracking */
    assert_int_equal(run(&t), SK_ERR_MISMATCH);
    begin(&t, "copy.mp4", "renamed"); /* the same bytes by another name, which the results say */
    assert_ok(run(&t), &err);
    assert_int_equal(r.cached, FRAMES);
    assert_true(count_of("renamed", "results.csv", "copy.mp4,") > 0 &&
                count_of("renamed", "results.csv", "v.mp4,") == 0);
    /* other settings of the model, or what animals look like: found anew */
    begin(&t, "v.mp4", "surer");
    t.settings.detector.confidence = 0.02F;
    assert_ok(run(&t), &err);
    assert_int_equal(r.cached, 0);
    begin(&t, "v.mp4", "looks");
    t.wish.looks = true;
    assert_ok(run(&t), &err);
    assert_int_equal(r.cached, 0);
    assert_true(caches(&complete) == 3 && complete == 3);
    begin(&t, "v.mp4", "looks_again");
    t.wish.looks = true;
    assert_ok(run(&t), &err);
    assert_int_equal(r.cached, FRAMES);
    same("looks", "looks_again");
}

/* Stopped while frames come out of the cache, or while they go in: each counts once. */
static void parts(void **state)
{
    (void)state;
    trial t;
    put_video("v.mp4");
    begin(&t, "v.mp4", "whole");
    t.wish.cache = "other_cache";
    assert_ok(run(&t), &err);
    begin(&t, "v.mp4", "in_parts");
    t.wish.cache = "other_cache";
    t.stop_at = 1;
    assert_ok(run(&t), &err);
    assert_true(r.stopped && r.frames == 1 && r.cached == 1 && r.total_frames == 1);
    t.stop_at = 0;
    assert_ok(run(&t), &err);
    assert_true(!r.stopped && r.frames == 2 && r.cached == 2 && r.total_frames == FRAMES);
    same("whole", "in_parts");
    begin(&t, "v.mp4", "half");
    t.wish.cache = "half_cache";
    t.stop_at = 2;
    assert_ok(run(&t), &err);
    assert_true(r.stopped && r.cached == 0 && r.frames == 2);
    begin(&t, "v.mp4", "rest"); /* two are there, one is computed */
    t.wish.cache = "half_cache";
    assert_ok(run(&t), &err);
    assert_true(r.cached == 2 && r.frames == FRAMES && r.total_frames == FRAMES && r.network > 0);
    same("whole", "rest");
    /* the same without a folder: each frame is told once */
    begin(&t, "v.mp4", "quarter");
    t.wish.cache = "quarter_cache";
    t.stop_at = 2;
    assert_ok(run(&t), &err);
    begin(&t, "v.mp4", NULL);
    t.wish.cache = "quarter_cache";
    t.settings.formats[0] = "jsonl";
    t.settings.n_formats = 1;
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    assert_non_null(freopen("told.jsonl", "w", stdout));
    const sk_status status = run(&t);
    fflush(stdout);
    assert_true(dup2(kept, STDOUT_FILENO) >= 0);
    close(kept);
    assert_ok(status, &err);
    assert_true(r.cached == 2 && r.frames == FRAMES);
    for (int i = 0; i < FRAMES; i++) {
        char word[32];
        snprintf(word, sizeof word, "\"frame\":%d,", i);
        assert_int_equal(count_of(".", "told.jsonl", word), 1);
    }
    begin(&t, "v.mp4", "rest_again");
    t.wish.cache = "half_cache";
    assert_ok(run(&t), &err);
    assert_int_equal(r.cached, FRAMES);
}

int main(void)
{
    const yolo_fixture detect = {.head = "Detect", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&detect, "detect.pt"));
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_computed_twice), cmocka_unit_test(parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
