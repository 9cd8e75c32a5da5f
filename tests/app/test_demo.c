/* SPDX-License-Identifier: Apache-2.0 */
#include "app/demo_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "formats/config.h"
#include "support/markup.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The whole demo on a few frames: files, page, interruption, repetition, refusals. */

static bool are_ours(void)
{
    return sk_file_is_regular(test_source("share/models/demo-obb.pt"));
}

/* skitter's own models, or stand-ins of the reference data, as a folder the demo takes; null where there is neither. */
static const char *models(void)
{
    static char folder[4300];
    static const char *const stand_ins[] = {"yolo/yolo11t-obb/yolo11t-obb.pt",
                                            "yolo/yolov8t-pose/yolov8t-pose.pt"};
    static const char *const names[] = {"demo-obb.pt", "demo-pose.pt"};
#ifndef SKITTER_HAVE_FFMPEG
    return NULL; /* no video, no scene */
#endif
    if (are_ours())
        return test_source("share/models");
    if (!test_data_folder())
        return NULL;
    sk_error err = {0};
    snprintf(folder, sizeof folder, "%s/models", test_folder());
    if (sk_file_exists(folder))
        return folder;
    assert_ok(sk_folder_make(folder, &err), &err);
    for (int i = 0; i < 2; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(symlink(test_data(stand_ins[i]), path), 0);
    }
    return folder;
}

#define models_or_skip()                                                                                     \
    do {                                                                                                     \
        if (!models()) {                                                                                     \
            print_message("skipped: there are no models, or no FFmpeg to write a scene with\n");             \
            skip();                                                                                          \
        }                                                                                                    \
    } while (0)

static char out_folder[4300];

static sk_demo_settings small(const char *name)
{
    sk_demo_settings s;
    sk_demo_defaults(&s);
    snprintf(out_folder, sizeof out_folder, "%s/%s", test_folder(), name);
    s.out = out_folder;
    s.models = models();
    s.scene.animals = 3;
    s.seconds = 0.2;
    s.threads = 1;
    return s;
}

static char *slurp(const char *name, size_t *length)
{
    char path[4400], *text;
    sk_error err = {0};
    snprintf(path, sizeof path, "%s/%s", out_folder, name);
    assert_ok(sk_file_read(path, 1 << 26, &text, length, &err), &err);
    return text;
}

static void check_page(bool followed)
{
    size_t length;
    char *page = slurp("report.html", &length), why[256] = "";
    if (!test_markup_is_sound(page, length, why, sizeof why))
        fail_msg("report.html: %s", why);
    assert_null(strstr(page, "http:")); /* nothing is fetched from anywhere */
    assert_null(strstr(page, "https:"));
    assert_null(strstr(page, "url("));
    assert_null(strstr(page, ">nan"));
    assert_null(strstr(page, "\"nan"));
    assert_non_null(strstr(page, "data:image/jpeg;base64,/9j/"));
    assert_non_null(strstr(page, "<polyline class=\"path\""));
    if (followed && are_ours())
        assert_non_null(strstr(page, "<polyline class=\"track\" stroke=\"#"));
    assert_non_null(strstr(page, "href=\"tracks/overlay.mp4\""));
    assert_non_null(strstr(page, "<a href=\"tracks/report.html\">the report"));
    assert_non_null(strstr(page, "prefers-color-scheme:dark"));
    sk_free(page);
}

static void a_page_that_is_not_sound_is_found(void **state)
{
    (void)state;
    char why[256];
    static const char *const bad[] = {"<p/>",
                                      "<!DOCTYPE html><p>",
                                      "<!DOCTYPE html><p></b>",
                                      "<!DOCTYPE html><p>a & b</p>",
                                      "<!DOCTYPE html><p a=1/>",
                                      "<!DOCTYPE html><p a=\"1\" a=\"2\"/>",
                                      "<!DOCTYPE html><p/><p/>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(test_markup_is_sound(bad[i], strlen(bad[i]), why, sizeof why));
    const char *good = "<!DOCTYPE html>\n<p a=\"1 &amp; 2\">&lt;<b/></p>\n";
    assert_true(test_markup_is_sound(good, strlen(good), why, sizeof why));
}

/* The demo is a video; a build without FFmpeg says so, which the test of `skitter scene` checks. */
static void skip_without_video(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    skip();
#endif
}

static void makes_every_file_it_names(void **state)
{
    (void)state;
    skip_without_video();
    models_or_skip();
    sk_error err = {0};
    sk_demo_settings s = small("whole");
    s.seconds = 0.4; /* what is seen for less than a third of a second is no track */
    sk_demo_report *r;
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_false(r->stopped || r->nothing_to_do);
    assert_int_equal(r->frames, 12);
    assert_int_equal(r->n_entries, 1);
    assert_int_equal(r->entries[0].parts[SK_DEMO_POSES].frames, 12);
    assert_int_equal(r->entries[0].scores[SK_DEMO_BOXES].frames, 12);
    assert_true(r->entries[0].scores[SK_DEMO_BOXES].compared & SK_HAS_OBB);
    assert_true(r->entries[0].scores[SK_DEMO_POSES].compared & SK_HAS_KEYPOINTS);
    assert_non_null(strstr(sk_text_get(&r->summary), "runtime          cpu"));
    assert_int_equal(r->tracks.run.frames, 12);
    assert_non_null(strstr(sk_text_get(&r->summary), "identities"));
    const sk_track_score *who = sk_demo_track_score(&r->tracks);
    if (are_ours()) { /* stand-ins find nothing that could be followed */
        assert_non_null(who);
        assert_int_equal(who->truth_tracks, 3);
        assert_int_equal(who->switches, 0);
        assert_true(who->mean.hota > 0.5);
    }
    sk_demo_free(&r);
    assert_null(r);
    static const char *const files[] = {"scene.mp4",          "truth.csv",          "report.html",
                                        "summary.txt",        "demo.json",          "sample.jpg",
                                        "boxes/results.csv",  "boxes/results.slp",  "tracks/results.csv",
                                        "tracks/results.slp", "tracks/overlay.mp4", "tracks/report.html",
                                        "poses/results.csv",  "poses/results.slp",  "poses/overlay.mp4"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4400];
        snprintf(path, sizeof path, "%s/%s", s.out, files[i]);
        if (sk_file_size(path) < 100)
            fail_msg("%s is not there", path);
    }
    check_page(true);
    size_t length;
    char *text = slurp("demo.json", &length);
    sk_config *json;
    assert_ok(sk_config_open_json(text, length, "demo.json", &json, &err), &err);
    assert_string_equal(sk_config_text_or(sk_config_root(json), "state", ""), "finished");
    assert_int_equal(sk_config_int_or(sk_config_root(json), "report.runtimes.0.poses.frames", 0), 12);
    assert_true(sk_config_int_or(sk_config_root(json), "report.tracks.crossings", -1) >= 0);
    sk_config_close(&json);
    sk_free(text);
}

/* A class may be called anything; the page stays a page. */
static void names_are_text_in_the_page(void **state)
{
    (void)state;
    sk_text page = {0};
    sk_text_append_markup(&page, "<script>alert('1')</script> & \"é\" \x1b[2J\xff");
    assert_string_equal(sk_text_get(&page),
                        "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;é&quot; "
                        "\\x1b[2J\\xff");
    sk_text_free(&page);
}

static bool stop_in_boxes(void *context, const char *what, int64_t done, int64_t total, double seconds)
{
    (void)total;
    (void)context;
    (void)seconds;
    return strncmp(what, "boxes", 5) == 0 && done == 3;
}

static bool stop_in_tracks(void *context, const char *what, int64_t done, int64_t total, double seconds)
{
    (void)total;
    (void)context;
    (void)seconds;
    return strcmp(what, "following") == 0 && done == 3;
}

static bool stop_in_scene(void *context, const char *what, int64_t done, int64_t total, double seconds)
{
    (void)total;
    (void)context;
    (void)seconds;
    return strstr(what, "scene") && done == 2;
}

/* The rows below the heading. */
static char *rows_of(const char *name)
{
    size_t length;
    char *text = slurp(name, &length);
    char *rows = sk_strdup(strchr(text, '\n') + 1);
    sk_free(text);
    return rows;
}

static void goes_on_after_an_interruption(void **state)
{
    (void)state;
    skip_without_video();
    models_or_skip();
    sk_error err = {0};
    sk_demo_report *r;
    sk_demo_settings s = small("broken");
    assert_ok(sk_demo_run(&s, stop_in_scene, NULL, &r, &err), &err);
    assert_true(r->stopped);
    sk_demo_free(&r);
    assert_ok(sk_demo_run(&s, stop_in_boxes, NULL, &r, &err), &err);
    assert_true(r->stopped);
    sk_demo_free(&r);
    assert_ok(sk_demo_run(&s, stop_in_tracks, NULL, &r, &err), &err);
    assert_true(r->continued && r->stopped);
    assert_int_equal(r->entries[0].parts[SK_DEMO_BOXES].total_frames, 6);
    assert_true(r->entries[0].parts[SK_DEMO_BOXES].frames < 6);
    sk_demo_free(&r);
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r->continued && !r->stopped);
    assert_int_equal(r->tracks.run.total_frames, 6);
    sk_demo_free(&r);
    check_page(false);
    char *broken = rows_of("boxes/results.csv");
    s = small("unbroken");
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    sk_demo_free(&r);
    char *whole = rows_of("boxes/results.csv");
    /* the source's path differs by the folder */
    size_t lines[2] = {0, 0};
    for (const char *c = broken; *c; c++)
        lines[0] += *c == '\n';
    for (const char *c = whole; *c; c++)
        lines[1] += *c == '\n';
    assert_int_equal(lines[0], lines[1]);
    sk_free(broken);
    sk_free(whole);
}

static void says_what_it_finds_in_its_folder(void **state)
{
    (void)state;
    skip_without_video();
    models_or_skip();
    sk_error err = {0};
    sk_demo_report *r;
    sk_demo_settings s = small("again");
    s.seconds = 0.05;
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    char *before = sk_strdup(sk_text_get(&r->summary));
    sk_demo_free(&r);
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r->nothing_to_do);
    assert_string_equal(sk_text_get(&r->summary), before);
    sk_free(before);
    sk_demo_free(&r);
    s.scene.seed++;
    assert_int_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "--restart"));
    assert_null(r);
    s.restart = true;
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_false(r->nothing_to_do);
    sk_demo_free(&r);
}

/* Where no animal is found there is nobody to follow, and the demo says so. */
static void nobody_found_is_no_failure(void **state)
{
    (void)state;
    skip_without_video();
    models_or_skip();
    if (!are_ours())
        skip();
    sk_error err = {0};
    sk_demo_report *r;
    sk_demo_settings s = small("nobody");
    s.scene.width = s.scene.height = 64;
    s.scene.animals = SK_SCENE_MAX_ANIMALS; /* of two pixels each */
    s.seconds = 0.05;
    assert_ok(sk_demo_run(&s, NULL, NULL, &r, &err), &err);
    assert_int_equal(r->entries[0].parts[SK_DEMO_BOXES].instances, 0);
    assert_non_null(strstr(sk_text_get(&r->summary), "nothing was found that could be followed"));
    assert_null(strstr(sk_text_get(&r->summary), "tracks/report.html"));
    sk_demo_free(&r);
}

static void leaves_somebody_elses_folder_alone(void **state)
{
    (void)state;
    models_or_skip();
    sk_error err = {0};
    sk_demo_report *r;
    sk_demo_settings s = small("mine");
    char path[4400];
    assert_ok(sk_folder_make(s.out, &err), &err);
    snprintf(path, sizeof path, "%s/truth.csv", s.out);
    assert_ok(sk_file_replace(path, "mine", 4, &err), &err);
    s.restart = true;
    assert_int_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "truth.csv"));
    assert_int_equal(sk_file_size(path), 4);
}

static void says_where_models_should_be(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_demo_report *r;
    sk_demo_settings s = small("none");
    s.models = test_folder();
    assert_int_equal(sk_demo_run(&s, NULL, NULL, &r, &err), SK_ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "demo-obb.pt"));
    assert_non_null(strstr(err.message, "--models"));
    assert_false(sk_file_exists(s.out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_text_in_the_page),
        cmocka_unit_test(a_page_that_is_not_sound_is_found),
        cmocka_unit_test(makes_every_file_it_names),
        cmocka_unit_test(goes_on_after_an_interruption),
        cmocka_unit_test(says_what_it_finds_in_its_folder),
        cmocka_unit_test(nobody_found_is_no_failure),
        cmocka_unit_test(leaves_somebody_elses_folder_alone),
        cmocka_unit_test(says_where_models_should_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
