/* SPDX-License-Identifier: Apache-2.0 */
/* The overlay of a run in parts: which files there are after each step, what of them counts when it goes on, and how many frames the
 * whole has. */
#include "overlay_frames.h"

#include "app/overlay_run.h"
#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sk_error err;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, in order; "" where it is not there or empty. */
static const char *names_in(const char *folder)
{
    static char text[2048];
    char *names[64];
    size_t n = 0;
    text[0] = '\0';
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && n < 64)
            names[n++] = strdup(e->d_name);
    if (d)
        closedir(d);
    qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "", names[i]);
        free(names[i]);
    }
    return text;
}

#define PART(id, n) "part-00000000000000" id "-000000000" n ".mp4"

static uint8_t pixels[64 * 48 * 3 + 64];

static sk_frame frame_of(int64_t index)
{
    sk_frame f = {
        .format = SK_PIXEL_RGB, .width = 64, .height = 48, .stride = 64 * 3, .data = pixels, .index = index};
    f.time_ns = index * 50000000;
    memset(pixels, 40 + (int)(index % 10) * 20, sizeof pixels);
    return f;
}

static const sk_instances nobody = {0};

static void write_frames(sk_overlay_run *run, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        const sk_frame f = frame_of(i);
        assert_ok(sk_overlay_run_write(run, &f, "v.mp4", &nobody, NULL, &err), &err);
        if (sk_overlay_run_part_is_full(run))
            assert_ok(sk_overlay_run_end_part(run, &err), &err);
    }
}

static sk_overlay_run *open_run(const char *folder, uint64_t id, bool pictures, uint32_t what, float line,
                                bool gpu)
{
    sk_overlay_run *run = NULL;
    sk_overlay_settings s;
    sk_overlay_defaults(&s);
    s.what = what;
    s.line_width = line;
    const sk_overlay_place place = {.folder = folder, .id = id, .pictures = pictures, .rate = 20, .gpu = gpu};
    assert_ok(sk_overlay_run_open(&place, &s, &run, &err), &err);
    return run;
}

static void skip_without_video(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    skip();
#endif
}

static void a_video_in_parts(void **state)
{
    (void)state;
    skip_without_video();
    int64_t covered = -1;
    assert_ok(sk_folder_make("run", &err), &err);
    sk_overlay_run *run = open_run("run", 0xab, false, SK_DRAW_ALL, 0, false);
    assert_string_equal(names_in("run"), ""); /* the usual style leaves no note */
    assert_false(sk_overlay_run_is_there(run));
    assert_ok(sk_overlay_run_begin(run, 0, &covered, &err), &err);
    assert_int_equal(covered, 0);
    assert_ok(sk_overlay_run_join(run, true, &err), &err); /* nothing yet */
    assert_string_equal(names_in("run"), "");
    write_frames(run, 0, 2);
    assert_false(sk_overlay_run_part_is_full(run));
    assert_string_equal(names_in("run/overlay.parts"), "unfinished.mp4");
    write_frames(run, 2, 7);
    assert_string_equal(names_in("run/overlay.parts"), PART("ab", "0") " " PART("ab", "1") " unfinished.mp4");
    sk_overlay_run_close(&run); /* killed, as it were */
    assert_null(run);
    /* goes on: two parts of three frames count, as far as the run knows their frames */
    run = open_run("run", 0xab, false, SK_DRAW_ALL, 0, false);
    assert_string_equal(names_in("run/overlay.parts"), PART("ab", "0") " " PART("ab", "1"));
    assert_ok(sk_overlay_run_begin(run, 7, &covered, &err), &err);
    assert_int_equal(covered, 6);
    assert_ok(sk_overlay_run_begin(run, 6, &covered, &err), &err);
    assert_int_equal(covered, 6);
    assert_ok(sk_overlay_run_begin(run, 5, &covered, &err), &err);
    assert_int_equal(covered, 3);
    assert_string_equal(names_in("run/overlay.parts"), PART("ab", "0"));
    write_frames(run, 3, 8);
    assert_ok(sk_overlay_run_end_part(run, &err), &err); /* two frames: it keeps its name */
    assert_string_equal(names_in("run/overlay.parts"), PART("ab", "0") " " PART("ab", "1") " unfinished.mp4");
    assert_ok(sk_overlay_run_end_part(run, &err), &err); /* and nothing more */
    assert_ok(sk_overlay_run_join(run, false, &err), &err);
    assert_string_equal(names_in("run"), "overlay.mp4 overlay.parts");
    assert_int_equal(frames_of("run/overlay.mp4", 64, 48), 8);
    assert_false(sk_overlay_run_is_there(run)); /* it was stopped: parts are there to go on with */
    sk_overlay_run_close(&run);
    run = open_run("run", 0xab, false, SK_DRAW_ALL, 0, false);
    assert_false(sk_overlay_run_is_there(run));
    assert_ok(sk_overlay_run_begin(run, 8, &covered, &err), &err);
    assert_int_equal(covered, 6);
    write_frames(run, 6, 9); /* a whole part */
    assert_ok(sk_overlay_run_end_part(run, &err), &err);
    assert_ok(sk_overlay_run_join(run, true, &err), &err);
    assert_string_equal(names_in("run"), "overlay.mp4");
    assert_int_equal(frames_of("run/overlay.mp4", 64, 48), 9);
    sk_overlay_run_close(&run);
    run = open_run("run", 0xab, false, SK_DRAW_ALL, 0, false);
    assert_true(sk_overlay_run_is_there(run));
    sk_overlay_run_close(&run);
    assert_string_equal(names_in("run"), "overlay.mp4");
}

static void put(const char *path)
{
    assert_ok(sk_file_replace(path, "x", 1, &err), &err);
}

static void what_is_not_this_runs_is_removed(void **state)
{
    (void)state;
    int64_t covered = -1;
    assert_ok(sk_folder_make("other/overlay.parts", &err), &err);
    assert_ok(sk_folder_make("other/overlay.done", &err), &err);
    put("other/overlay.done/" PART("cd", "0"));
    put("other/overlay.parts/" PART("cd", "0"));
    put("other/overlay.parts/" PART("cd", "1"));
    put("other/overlay.parts/" PART("cd", "3")); /* behind a gap */
    put("other/overlay.parts/" PART("ce", "0")); /* of another run */
    put("other/overlay.parts/part-00000000000000cd-0000000000.mp5");
    put("other/overlay.parts/joined.mp4");
    sk_overlay_run *run = open_run("other", 0xcd, false, SK_DRAW_ALL, 0, false);
    assert_string_equal(names_in("other"), "overlay.parts");
    assert_string_equal(names_in("other/overlay.parts"), PART("cd", "0") " " PART("cd", "1"));
    assert_ok(sk_overlay_run_begin(run, 100, &covered, &err), &err);
    assert_int_equal(covered, 6);
    assert_ok(sk_overlay_run_begin(run, 2, &covered, &err), &err);
    assert_int_equal(covered, 0);
    sk_overlay_run_close(&run);
    assert_string_equal(names_in("other/overlay.parts"), "");
    /* a link in the folder's place leads elsewhere */
    assert_ok(sk_folder_make("linked", &err), &err);
    assert_int_equal(symlink("../other", "linked/overlay.parts"), 0);
    sk_overlay_settings s;
    sk_overlay_defaults(&s);
    const sk_overlay_place place = {.folder = "linked", .rate = 20};
    assert_int_not_equal(sk_overlay_run_open(&place, &s, &run, &err), SK_OK);
    assert_null(run);
}

static char *style_of(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    return sk_file_read(path, 100, &text, &length, NULL) == SK_OK ? text : NULL;
}

static void another_style_is_drawn_anew(void **state)
{
    (void)state;
    assert_ok(sk_folder_make("style/overlay.parts", &err), &err);
    put("style/overlay.mp4");
    put("style/overlay.parts/" PART("01", "0"));
    sk_overlay_run *run = open_run("style", 1, false, SK_DRAW_ALL, 0, false);
    sk_overlay_run_close(&run);
    assert_string_equal(names_in("style"), "overlay.mp4 overlay.parts");
    static const struct {
        uint32_t what;
        float line;
        bool gpu;
        const char *style;
    } cases[] = {{SK_DRAW_BOXES, 0, false, "draw 1 line 0\n"},
                 {SK_DRAW_BOXES, 2.5F, false, "draw 1 line 2.5\n"},
                 {SK_DRAW_ALL, 2.5F, false, "draw 63 line 2.5\n"},
                 {SK_DRAW_ALL, 0, true, "draw 63 line 0 gpu\n"},
                 {SK_DRAW_ALL, 0, false, "draw 63 line 0\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put("style/overlay.mp4");
        assert_ok(sk_folder_make("style/overlay.parts", &err), &err);
        put("style/overlay.parts/" PART("01", "0"));
        for (int again = 0; again < 2; again++) { /* the second is as the first was */
            run = open_run("style", 1, false, cases[i].what, cases[i].line, cases[i].gpu);
            sk_overlay_run_close(&run);
            char *style = style_of("style/" SK_OVERLAY_STYLE_FILE);
            assert_string_equal(style, cases[i].style);
            sk_free(style);
            assert_int_equal(sk_file_exists("style/overlay.mp4"), again);
            assert_string_equal(names_in("style/overlay.parts"), again ? PART("01", "0") : "");
            if (!again) {
                put("style/overlay.mp4");
                assert_ok(sk_folder_make("style/overlay.parts", &err), &err);
                put("style/overlay.parts/" PART("01", "0"));
            }
        }
    }
    /* each of what makes a style a special one does so by itself, where none was noted before */
    for (size_t i = 0; i < 4; i++) {
        char folder[32], path[64];
        snprintf(folder, sizeof folder, "style%zu", i);
        assert_ok(sk_folder_make(folder, &err), &err);
        run = open_run(folder, 1, false, i == 0 ? SK_DRAW_BOXES : SK_DRAW_ALL, i == 1 ? 1 : 0, i == 2);
        sk_overlay_run_close(&run);
        snprintf(path, sizeof path, "%s/%s", folder, SK_OVERLAY_STYLE_FILE);
        assert_int_equal(sk_file_exists(path), i < 3);
    }
}

static void pictures(void **state)
{
    (void)state;
    int64_t covered = -1;
    assert_ok(sk_folder_make("pictures", &err), &err);
    sk_overlay_run *run = open_run("pictures", 1, true, SK_DRAW_ALL, 0, false);
    assert_ok(sk_overlay_run_begin(run, 9, &covered, &err), &err);
    assert_int_equal(covered, 0); /* each is asked for */
    assert_false(sk_overlay_run_has(run, "in/a.png", 0));
    sk_overlay_run_close(&run);
    run = open_run("pictures", 1, true, SK_DRAW_ALL, 0, false);
    sk_frame f = frame_of(0);
    assert_ok(sk_overlay_run_write(run, &f, "in/a.png", &nobody, NULL, &err), &err);
    f = frame_of(1);
    assert_ok(sk_overlay_run_write(run, &f, "in/b.png", &nobody, NULL, &err), &err);
    assert_string_equal(names_in("pictures/overlay"), "a.jpg b.jpg");
    assert_false(sk_overlay_run_part_is_full(run));
    assert_ok(sk_overlay_run_end_part(run, &err), &err);
    assert_ok(sk_overlay_run_join(run, true, &err), &err);
    assert_false(sk_overlay_run_is_there(run));
    assert_string_equal(names_in("pictures"), "overlay");
    sk_overlay_run_close(&run);
    run = open_run("pictures", 1, true, SK_DRAW_ALL, 0, false);
    assert_true(sk_overlay_run_has(run, "in/a.png", 0));
    assert_false(sk_overlay_run_has(run, "in/c.png", 2));
    sk_overlay_run_close(&run);
    run = open_run("pictures", 1, true, SK_DRAW_BOXES, 0, false); /* drawn otherwise: all anew */
    assert_false(sk_overlay_run_has(run, "in/a.png", 0));
    sk_overlay_run_close(&run);
    char *style = style_of("pictures/" SK_OVERLAY_STYLE_FILE);
    assert_string_equal(style, "draw 1 line 0\n");
    sk_free(style);
}

/* Frames grow and shrink; what was found is drawn into a copy, and the frame stays as it was. */
static void the_frame_stays_as_it_was(void **state)
{
    (void)state;
    sk_instances found = {0};
    assert_ok(sk_folder_make("copies", &err), &err);
    assert_ok(sk_instances_alloc(2, 0, &found, &err), &err);
    sk_found *one = sk_instances_add(&found);
    *one = (sk_found){.has = SK_HAS_BOX, .box = {8, 8, 40, 40}, .score = 0.5F};
    sk_overlay_run *run = open_run("copies", 1, true, SK_DRAW_BOXES, 0, false);
    for (int i = 0; i < 3; i++) {
        sk_frame f = frame_of(i);
        char name[16];
        f.height = i == 1 ? 48 : 44;
        snprintf(name, sizeof name, "%d.png", i);
        assert_ok(sk_overlay_run_write(run, &f, name, &found, NULL, &err), &err);
        for (size_t k = 0; k < sizeof pixels; k++)
            assert_int_equal(pixels[k], 40 + i * 20);
    }
    sk_overlay_run_close(&run);
    sk_source *source = NULL;
    sk_source_settings s = SK_SOURCE_SETTINGS_INIT;
    sk_source_defaults(&s);
    assert_ok(sk_source_open("copies/overlay", &s, &source, &err), &err);
    for (int i = 0; i < 3; i++) {
        const sk_frame *f = NULL;
        assert_ok(sk_source_next(source, &f, &err), &err);
        assert_true(f && f->height == (i == 1 ? 48 : 44));
        int drawn = 0;
        for (int x = 12; x < 36; x++) /* the box's upper side */
            drawn += abs(f->data[8 * f->stride + 3 * x] - (40 + i * 20)) > 30 ||
                     abs(f->data[8 * f->stride + 3 * x + 1] - (40 + i * 20)) > 30;
        assert_true(drawn > 18);
        sk_source_release(source, f);
    }
    sk_source_close(&source);
    sk_instances_free(&found);
    const sk_sighting s1 = {.track = 7, .detection = -1, .x = 1.5, .y = 2.5, .heading = 0.75, .major = 9};
    sk_overlay_track t = sk_overlay_track_of(&s1);
    assert_true(t.track == 7 && t.covered && t.x == 1.5F && t.y == 2.5F && t.heading == 0.75F &&
                t.reach == 4.5F);
    const sk_sighting s2 = {.detection = 0};
    assert_false(sk_overlay_track_of(&s2).covered);
}

int main(void)
{
    if (chdir(test_folder()) != 0 || setenv("SKITTER_OVERLAY_PART", "3", 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_video_in_parts),
        cmocka_unit_test(what_is_not_this_runs_is_removed),
        cmocka_unit_test(another_style_is_drawn_anew),
        cmocka_unit_test(pictures),
        cmocka_unit_test(the_frame_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
