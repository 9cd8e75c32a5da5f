/* SPDX-License-Identifier: Apache-2.0 */
/* Made-up scenes on disk: which files there are, that they are the same everywhere, and where a watcher stops them. */
#include "support/test.h"

#include "app/scene_run.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "skitter/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static sk_scene_run_settings small(void)
{
    sk_scene_run_settings s;
    sk_scene_run_defaults(&s);
    s.scene.width = 96;
    s.scene.height = 64;
    s.scene.animals = 2;
    s.scene.rate = 20;
    s.scene.seed = 5;
    s.frames = 4;
    return s;
}

static void defaults(void **state)
{
    (void)state;
    sk_scene_run_settings s;
    sk_scene_run_defaults(&s);
    assert_int_equal(s.frames, 120);
    assert_string_equal(s.extension, ".jpg");
    assert_true(s.pictures == 0 && !s.sequence && !s.output && !s.truth && !s.mot);
}

static char *text_of(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    assert_ok(sk_file_read(path, 1 << 22, &text, &length, &err), &err);
    return text;
}

static void tell_text(sk_text *all, const char *path)
{
    char *text = text_of(path);
    sk_text_appendf(all, "--- %s\n%s", path, text);
    sk_free(text);
}

/* Every picture of a folder by its pixels. */
static void tell_pictures(sk_text *all, const char *path)
{
    sk_source *source = NULL;
    sk_source_settings media = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&media);
    assert_ok(sk_source_open(path, &media, &source, &err), &err);
    for (const sk_frame *f = NULL;;) {
        assert_ok(sk_source_next(source, &f, &err), &err);
        if (!f)
            break;
        uint64_t h = 0;
        for (int y = 0; y < f->height; y++)
            h = sk_hash_xxh3(f->data + y * f->stride, 3 * (size_t)f->width, h);
        sk_text_appendf(all, "%s %dx%d %016llx\n", sk_path_name(sk_source_frame_name(source, f)), f->width,
                        f->height, (unsigned long long)h);
        sk_source_release(source, f);
    }
    sk_source_close(&source);
}

static void files_of_scenes(void **state)
{
    (void)state;
    sk_text all = {.limit = 1 << 22};
    sk_scene_report r;
    sk_scene_run_settings s = small();
    s.truth = "truth.csv"; /* not drawn: truth alone, of a video that would be called so */
    s.mot = "mot.txt";
    assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 4 && r.instances == 8 && !r.stopped && r.seconds > 0);
    tell_text(&all, "truth.csv");
    tell_text(&all, "mot.txt");
    assert_non_null(strstr(sk_text_get(&all), "\ntruth.mp4,3,0.15"));
    s.truth = NULL;
    s.mot = "alone.txt";
    assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
    char *one = text_of("mot.txt"), *other = text_of("alone.txt");
    assert_string_equal(one, other);
    sk_free(one);
    sk_free(other);
    s = small();
    s.output = "sequence";
    s.sequence = true;
    s.truth = "sequence.csv";
    s.scene.width = 97; /* pictures may be odd */
    assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
    tell_text(&all, "sequence.csv");
    tell_pictures(&all, "sequence");
    static const char *const folders[] = {"poses", "turned", "boxes"};
    static const sk_scene_labels labels[] = {SK_SCENE_LABELS_POSE, SK_SCENE_LABELS_OBB, SK_SCENE_LABELS_BOX};
    for (int i = 0; i < 3; i++) {
        char path[64];
        s = small();
        s.output = folders[i];
        s.pictures = 3;
        s.labels = labels[i];
        s.extension = i ? ".png" : ".jpg";
        s.scene.animals = 4;
        s.scene.species = i == 1 ? SK_SPECIES_FLY : SK_SPECIES_MIXED;
        s.truth = i == 2 ? "elsewhere.csv" : NULL;
        assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
        assert_true(r.frames == 3 && r.instances >= 3 && r.instances <= 12);
        snprintf(path, sizeof path, "%s/data.yaml", folders[i]);
        tell_text(&all, path);
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "%s/labels/%06d.txt", folders[i], k);
            tell_text(&all, path);
        }
        snprintf(path, sizeof path, "%s/truth.csv", folders[i]);
        assert_int_equal(sk_file_exists(path), i < 2);
        tell_text(&all, i == 2 ? "elsewhere.csv" : path);
        snprintf(path, sizeof path, "%s/images", folders[i]);
        if (i)
            tell_pictures(&all, path);
        assert_true(sk_file_exists(i ? "turned/images/000002.png" : "poses/images/000002.jpg"));
    }
    test_text_is("tests/app/told/scene_run.txt", sk_text_get(&all));
    sk_text_free(&all);
}

static bool stop_at_two(void *context, int64_t done, int64_t total)
{
    assert_int_equal(total, *(int64_t *)context);
    return done == 2;
}

static void where_it_is_stopped(void **state)
{
    (void)state;
    sk_scene_report r;
    int64_t total = 4;
    for (int i = 0; i < 4; i++) {
        sk_scene_run_settings s = small();
        s.truth = "stopped.csv";
        s.output = i == 0 ? NULL : i == 1 ? "stopped" : i == 2 ? "labelled" : "stopped.mp4";
        s.sequence = i == 1;
        s.pictures = i == 2 ? 4 : 0;
#ifndef SKITTER_HAVE_FFMPEG
        if (i == 3)
            break;
#endif
        assert_ok(sk_scene_run(&s, stop_at_two, &total, &r, &err), &err);
        assert_true(r.stopped && r.frames == 2);
    }
    assert_true(sk_file_exists("stopped/000001.png") && !sk_file_exists("stopped/000002.png"));
    assert_true(sk_file_exists("labelled/images/000001.jpg") &&
                !sk_file_exists("labelled/images/000002.jpg"));
#ifdef SKITTER_HAVE_FFMPEG
    sk_scene_run_settings s = small();
    s.output = "scene.mp4";
    s.truth = "scene.csv";
    assert_ok(sk_scene_run(&s, NULL, NULL, &r, &err), &err);
    assert_true(r.frames == 4 && r.instances == 8);
    sk_text drawn = {0};
    tell_pictures(&drawn, "scene.mp4");
    int lines = 0;
    for (const char *at = sk_text_get(&drawn); *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 4);
    sk_text_free(&drawn);
    char *truth = text_of("scene.csv");
    assert_non_null(strstr(truth, "\nscene.mp4,3,0.15"));
    sk_free(truth);
#endif
}

static void refusals(void **state)
{
    (void)state;
    sk_scene_report r;
    sk_scene_run_settings s = small();
    assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG); /* nowhere to write */
    s.output = "x.mp4";
    s.scene.width = 97;
    assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "a video's sides must be even, not 97x64");
    s = small();
    s.output = "x.mp4";
    s.scene.height = 65;
    assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "a video's sides must be even, not 96x65");
    s = small();
    s.output = "x";
    s.pictures = 2;
    s.mot = "m.txt";
    assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG); /* pictures follow nobody */
    s = small();
    s.pictures = 2;
    s.truth = "t.csv";
    assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
    s = small();
    s.truth = "nowhere/t.csv";
    assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
    assert_int_equal(r.frames, 0);
    s = small();
    s.truth = "t.csv";
    s.scene.animals = 0;
    assert_int_not_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_OK);
    assert_false(sk_file_exists("t.csv") || sk_file_exists("x.mp4") || sk_file_exists("m.txt"));
    char *path = sk_malloc(4002);
    memset(path, 'p', 4001);
    path[4001] = '\0';
    for (int i = 0; i < 2; i++) {
        s = small();
        s.output = path;
        s.sequence = i == 0;
        s.pictures = i;
        assert_int_equal(sk_scene_run(&s, NULL, NULL, &r, &err), SK_ERR_ARG);
        assert_non_null(strstr(err.message, "ppp…: the path is too long"));
    }
    sk_free(path);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(files_of_scenes),
        cmocka_unit_test(where_it_is_stopped),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
