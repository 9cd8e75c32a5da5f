/* SPDX-License-Identifier: Apache-2.0 */
/* The demo with tiny networks on pictures: its steps in order, where it can be stopped and goes on, what it leaves, and that a second one
 * says what the first said. */
#include "support/test.h"
#include "support/yolo_writer.h"
#include "text_of.h"

#include "app/demo_internal.h"
#include "app/run_folder.h"
#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct watched {
    char text[1024], what[64];
    const char *stop;
    int64_t last, total;
} watched;

static bool watch(void *context, const char *what, int64_t done, int64_t total, double seconds)
{
    watched *w = context;
    assert_true(seconds >= 0 && done <= total);
    if (strcmp(what, w->what) != 0) {
        snprintf(w->text + strlen(w->text), sizeof w->text - strlen(w->text), "%s %lld; ", what,
                 (long long)total);
        snprintf(w->what, sizeof w->what, "%s", what);
        w->last = 0;
    }
    assert_true(done > w->last || strcmp(what, "following") == 0);
    w->last = done;
    w->total = total;
    return w->stop && strcmp(what, w->stop) == 0 && done == 2;
}

static sk_demo_settings tiny(const char *out)
{
    sk_demo_settings s;
    sk_demo_defaults(&s);
    s.out = out;
    s.models = "models";
    s.scene.width = s.scene.height = 64;
    s.scene.animals = 1;
    s.scene.rate = 20;
    s.seconds = 0.2;
    s.threads = 1;
    s.pictures = true;
    return s;
}

static void the_whole(void **state)
{
    (void)state;
    sk_demo_report *r = NULL;
    watched w = {0};
    sk_demo_settings s = tiny("whole");
    s.runtime_fell_back = true;
    s.runtime_requested = "cuda";
    assert_ok(sk_demo_run(&s, watch, &w, &r, &err), &err);
    assert_non_null(strstr(w.text, "drawing the scene 4; boxes on cpu 4; poses on cpu 4; "));
    assert_true(r->frames == 4 && r->n_entries == 1 && r->pictures && !r->stopped && !r->nothing_to_do &&
                !r->continued && r->scene_seconds > 0);
    assert_string_equal(r->entries[0].runtime, "cpu");
    assert_string_equal(r->models[SK_DEMO_BOXES], "models/demo-obb.pt");
    assert_string_equal(r->models[SK_DEMO_POSES], "models/demo-pose.pt");
    for (int part = 0; part < SK_DEMO_PARTS; part++)
        assert_true(r->entries[0].parts[part].frames == 4 && r->entries[0].scores[part].frames == 4);
    char *first = sk_strdup(sk_text_get(&r->summary));
    assert_non_null(strstr(first, "cpu (instead of cuda): "));
    sk_demo_free(&r);
    static const char *const files[] = {"truth.csv",         "report.html",       "summary.txt",
                                        "demo.json",         "sample.jpg",        "boxes/results.csv",
                                        "boxes/results.slp", "poses/results.csv", "poses/results.slp",
                                        "scene/000003.png"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        snprintf(path, sizeof path, "whole/%s", files[i]);
        if (!sk_file_exists(path))
            fail_msg("%s is not there", path);
    }
    assert_true(sk_file_is_directory("whole/poses/overlay") && !sk_file_exists("whole/boxes/overlay") &&
                !sk_file_exists("whole/scene.mp4"));
    /* the animals are found once more, at the scene's own rate, and nothing of that is kept for others */
    assert_true(sk_file_is_directory("whole/tracks/overlay") && sk_file_exists("whole/tracks/results.csv") &&
                sk_file_exists("whole/tracks/results.slp") && !sk_file_exists("whole/tracks/results.jsonl"));
    char *told = text_of("whole", "tracks/run.json");
    assert_true(strstr(told, "\"rate\": 20,") && strstr(told, "\"runtime_requested\": \"cuda\"") &&
                strstr(told, "conf 0.4; iou 0.5;") && strstr(told, "shape rect") &&
                strstr(told, "runtime fallback cuda -> cpu"));
    sk_free(told);
    assert_false(sk_file_exists("cache/inference"));
    told = text_of("whole", "poses/run.json");
    assert_true(strstr(told, "\"runtime_requested\": \"cuda\"") && strstr(told, "conf 0.4; iou 0.5;") &&
                strstr(told, "shape rect"));
    sk_free(told);
    told = text_of("whole", "summary.txt");
    assert_string_equal(told, first);
    sk_free(told);
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r->nothing_to_do && strcmp(sk_text_get(&r->summary), first) == 0);
    sk_demo_free(&r);
    sk_free(first);
    s.seconds = 0; /* one frame at least, and another demo: refused, unless it may be begun anew */
    assert_int_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_ERR_MISMATCH);
    assert_null(r);
    s.restart = true;
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r->frames == 1 && !r->continued && !sk_file_exists("whole/scene/000001.png"));
    sk_demo_free(&r);
}

static void stopped_anywhere(void **state)
{
    (void)state;
    static const char *const steps[] = {"drawing the scene", "boxes on cpu", "poses on cpu"};
    sk_demo_settings s = tiny("stopped");
    sk_demo_report *r = NULL;
    for (int i = 0; i < 3; i++) {
        watched w = {.stop = steps[i]};
        assert_ok(sk_demo_run(&s, watch, &w, &r, &err), &err);
        assert_true(r->stopped && !r->nothing_to_do);
        assert_string_equal(w.what, steps[i]);
        sk_demo_free(&r);
        assert_false(sk_file_exists("stopped/summary.txt"));
    }
    watched w = {0};
    assert_ok(sk_demo_run(&s, watch, &w, &r, &err), &err);
    assert_true(r->continued && !r->stopped && r->scene_seconds == 0);
    assert_null(strstr(w.text, "drawing"));
    assert_true(r->entries[0].parts[SK_DEMO_POSES].total_frames == 4 &&
                r->entries[0].parts[SK_DEMO_POSES].frames <= 2);
    sk_demo_free(&r);
    /* somebody else is at it */
    sk_lock *lock = NULL;
    sk_lock_holder holder = {0};
    assert_ok(sk_folder_make("held", &err), &err);
    assert_ok(sk_run_folder_hold("held", &lock, &holder, &err), &err);
    s = tiny("held");
    assert_int_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_ERR_BUSY);
    assert_non_null(strstr(err.message, "held: another demo is writing here: process "));
    sk_lock_close(&lock);
    s.models = "nowhere";
    assert_int_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_ERR_NOT_FOUND);
    assert_null(r);
}

static bool stop_at_once(void *context, const char *what, int64_t done, int64_t total, double seconds)
{
    assert_true(strcmp(what, "drawing the scene") == 0 && done <= total && seconds >= 0);
    *(int64_t *)context = total;
    return true;
}

/* Seconds are so many frames, rounded to the next one, and one at least. */
static void how_many_frames(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        int64_t frames;
    } rows[] = {{0.2, 4}, {0.22, 4}, {0.23, 5}, {0.01, 1}, {0, 1}, {-3, 1}, {0.08, 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_demo_settings s = tiny("frames");
        sk_demo_report *r = NULL;
        int64_t total = -1;
        s.seconds = rows[i].seconds;
        s.restart = true;
        assert_ok(sk_demo_run(&s, stop_at_once, &total, &r, &err), &err);
        assert_true(r->stopped && !r->continued && r->n_entries == 0);
        assert_true(r->frames == rows[i].frames && total == rows[i].frames);
        sk_demo_free(&r);
    }
}

/* What was begun goes on only where the scene and its truth are both still there. */
static void what_is_gone_is_drawn_anew(void **state)
{
    (void)state;
    static const char *const gone[] = {"gone/truth.csv", "gone/scene"};
    for (int i = 0; i < 2; i++) {
        sk_demo_settings s = tiny("gone");
        sk_demo_report *r = NULL;
        watched w = {.stop = "boxes on cpu"};
        s.restart = i > 0;
        assert_ok(sk_demo_run(&s, watch, &w, &r, &err), &err);
        assert_true(r->stopped);
        sk_demo_free(&r);
        if (i == 0)
            assert_int_equal(unlink(gone[i]), 0);
        else
            assert_int_equal(rename(gone[i], "elsewhere"), 0);
        s.restart = false;
        w = (watched){.stop = "poses on cpu"};
        assert_ok(sk_demo_run(&s, watch, &w, &r, &err), &err);
        assert_non_null(strstr(w.text, "drawing the scene 4; boxes on cpu 4; poses on cpu 4; "));
        assert_true(!r->continued && r->scene_seconds > 0 && r->entries[0].parts[SK_DEMO_BOXES].frames == 4);
        sk_demo_free(&r);
    }
}

static const sk_demo_entry *entry_of(const sk_demo_report *r, const char *runtime)
{
    for (int32_t i = 1; i < r->n_entries; i++)
        if (strcmp(r->entries[i].runtime, runtime) == 0)
            return &r->entries[i];
    return NULL;
}

/* Every other runtime that is here does the same, in folders of its own; the first is what it is measured against. */
static void runtimes_compared(void **state)
{
    (void)state;
    sk_demo_report *r = NULL;
    watched w = {0};
    sk_demo_settings s = tiny("compared");
    s.runtime = s.runtime_requested = "reference";
    s.compare = true;
    assert_ok(sk_demo_run(&s, watch, &w, &r, &err), &err);
    assert_true(r->n_entries >= 2 && strcmp(r->entries[0].runtime, "reference") == 0);
    const sk_demo_entry *e = entry_of(r, "cpu");
    assert_true(e && !e->failed);
    assert_non_null(strstr(w.text, "boxes on cpu 4; poses on cpu 4; "));
    for (int part = 0; part < SK_DEMO_PARTS; part++) {
        const sk_predict_report *a = &r->entries[0].parts[part], *b = &e->parts[part];
        assert_string_equal(a->runtime, "reference");
        assert_string_equal(b->runtime, "cpu");
        assert_true(b->frames == 4 && b->n_files == 2 && a->n_files >= 3);
        assert_true(e->agreement[part].first == a->instances && e->agreement[part].second == b->instances &&
                    e->agreement[part].paired == a->instances);
        assert_true(e->scores[part].frames == 4 && r->entries[0].agreement[part].first == 0);
    }
    assert_true(sk_file_exists("compared/boxes-cpu/results.csv") &&
                !sk_file_exists("compared/boxes-cpu/results.slp") &&
                !sk_file_exists("compared/poses-cpu/overlay"));
    char *told = text_of("compared", "poses-cpu/run.json");
    assert_non_null(strstr(told, "\"runtime_requested\": \"cpu\""));
    sk_free(told);
    sk_demo_free(&r);
    /* one that fails is told of, and ends nothing */
    assert_ok(sk_folder_make("failing", &err), &err);
    assert_ok(sk_file_replace("failing/boxes-cpu", "in the way", 10, &err), &err);
    s.out = "failing";
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    e = entry_of(r, "cpu");
    if (!e) {
        fail_msg("the runtime that failed is not told of");
        return;
    }
    assert_true(e->failed && !r->entries[0].failed && !r->stopped);
    assert_non_null(strstr(e->problem, "failing/boxes-cpu"));
    assert_null(strchr(e->problem, '\n'));
    assert_true(e->scores[SK_DEMO_BOXES].frames == 0 && r->entries[0].scores[SK_DEMO_BOXES].frames == 4);
    assert_true(sk_file_exists("failing/summary.txt"));
    sk_demo_free(&r);
    /* the first itself may not fail */
    assert_ok(sk_folder_make("broken", &err), &err);
    assert_ok(sk_file_replace("broken/poses-x", "", 0, &err), &err);
    s.out = "broken";
    s.runtime = "nonsense";
    assert_int_not_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_OK);
    assert_null(r);
}

int main(void)
{
    static const char *const heads[] = {"OBB", "Pose"}, *const files[] = {"models/demo-obb.pt",
                                                                          "models/demo-pose.pt"};
    if (chdir(test_folder()) != 0 || sk_folder_make("models", NULL) != SK_OK)
        return 1;
    char cache[4200];
    snprintf(cache, sizeof cache, "%s/cache", test_folder());
    if (setenv("SKITTER_CACHE_DIR", cache, 1) != 0)
        return 1;
    for (int i = 0; i < 2; i++) {
        const yolo_fixture fixture = {.head = heads[i], .f32 = true, .imgsz = 32};
        if (rename(yolo_save(&fixture, "made.pt"), files[i]) != 0)
            return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole), cmocka_unit_test(stopped_anywhere), cmocka_unit_test(how_many_frames),
        cmocka_unit_test(what_is_gone_is_drawn_anew), cmocka_unit_test(runtimes_compared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
