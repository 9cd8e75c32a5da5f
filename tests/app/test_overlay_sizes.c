/* SPDX-License-Identifier: Apache-2.0 */
/* How large an overlay's video is, how few frames it may have, and where tracks are drawn. */
#include "overlay_frames.h"

#include "app/overlay_run.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;
static const sk_instances nobody = {0};

static sk_status draw(const sk_overlay_place *place, int frames, sk_error *error)
{
    static uint8_t pixels[32 * 24 * 3 + 64];
    sk_overlay_run *run = NULL;
    sk_overlay_settings s;
    int64_t covered = 0;
    sk_overlay_defaults(&s);
    SK_TRY(sk_overlay_run_open(place, &s, &run, error));
    sk_status status = sk_overlay_run_begin(run, 0, &covered, error);
    for (int i = 0; i < frames && status == SK_OK; i++) {
        const sk_frame f = {.size = sizeof f,
                            .format = SK_PIXEL_RGB,
                            .width = 32,
                            .height = 24,
                            .stride = 96,
                            .data = pixels,
                            .index = i,
                            .time_ns = (int64_t)i * 50000000};
        memset(pixels, 40 + 20 * i, sizeof pixels);
        status = sk_overlay_run_write(run, &f, "v.mp4", &nobody, NULL, error);
        if (status == SK_OK && sk_overlay_run_part_is_full(run))
            status = sk_overlay_run_end_part(run, error);
    }
    if (status == SK_OK)
        status = sk_overlay_run_end_part(run, error);
    if (status == SK_OK)
        status = sk_overlay_run_join(run, true, error);
    sk_overlay_run_close(&run);
    return status;
}

static void sizes(void **state)
{
    (void)state;
    static const int32_t rows[][4] = {{64, 48, 64, 48}, {0, 0, 32, 24}, {64, 0, 32, 24}, {0, 48, 32, 24}};
    for (size_t i = 0; i < 4; i++) {
        char folder[32], path[64];
        snprintf(folder, sizeof folder, "size%zu", i);
        snprintf(path, sizeof path, "%s/overlay.mp4", folder);
        assert_ok(sk_folder_make(folder, &err), &err);
        const sk_overlay_place place = {
            .folder = folder, .id = 7, .rate = 20, .width = rows[i][0], .height = rows[i][1]};
        assert_ok(draw(&place, 2, &err), &err);
        assert_int_equal(frames_of(path, rows[i][2], rows[i][3]), 2);
    }
}

/* One frame alone, one behind whole parts, and whole parts alone. */
static void few_frames(void **state)
{
    (void)state;
    static const int frames[] = {1, 3, 4, 6};
    for (size_t i = 0; i < 4; i++) {
        char folder[32], path[64];
        snprintf(folder, sizeof folder, "few%zu", i);
        snprintf(path, sizeof path, "%s/overlay.mp4", folder);
        assert_ok(sk_folder_make(folder, &err), &err);
        const sk_overlay_place place = {.folder = folder, .id = 7, .rate = 20};
        assert_ok(draw(&place, frames[i], &err), &err);
        assert_int_equal(frames_of(path, 32, 24), frames[i]);
        snprintf(path, sizeof path, "%s/overlay.parts", folder);
        assert_false(sk_file_exists(path));
        snprintf(path, sizeof path, "%s/overlay.done", folder);
        assert_false(sk_file_exists(path));
    }
}

/* As many frames a part as tests say, where that is a number above 0; else five hundred. */
static void frames_a_part(void **state)
{
    (void)state;
    static uint8_t pixels[32 * 24 * 3 + 64];
    static const struct {
        const char *said;
        int wanted;
    } rows[] = {{"1", 1}, {"2", 2}, {"0", 500}, {"-3", 500}, {"x", 500}, {NULL, 500}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[32];
        int64_t covered = 0;
        sk_overlay_run *run = NULL;
        sk_overlay_settings s;
        sk_overlay_defaults(&s);
        snprintf(folder, sizeof folder, "part%zu", i);
        assert_ok(sk_folder_make(folder, &err), &err);
        assert_int_equal(rows[i].said ? setenv("SKITTER_OVERLAY_PART", rows[i].said, 1)
                                      : unsetenv("SKITTER_OVERLAY_PART"),
                         0);
        const sk_overlay_place place = {.folder = folder, .id = 7, .rate = 20};
        assert_ok(sk_overlay_run_open(&place, &s, &run, &err), &err);
        assert_ok(sk_overlay_run_begin(run, 0, &covered, &err), &err);
        const int frames = rows[i].wanted < 500 || !rows[i].said ? rows[i].wanted : 4;
        for (int k = 0; k < frames; k++) {
            const sk_frame f = {.size = sizeof f,
                                .format = SK_PIXEL_RGB,
                                .width = 32,
                                .height = 24,
                                .stride = 96,
                                .data = pixels,
                                .index = k,
                                .time_ns = (int64_t)k * 50000000};
            assert_false(sk_overlay_run_part_is_full(run));
            assert_ok(sk_overlay_run_write(run, &f, "v.mp4", &nobody, NULL, &err), &err);
        }
        assert_int_equal(sk_overlay_run_part_is_full(run), frames == rows[i].wanted);
        sk_overlay_run_close(&run);
    }
    assert_int_equal(setenv("SKITTER_OVERLAY_PART", "3", 1), 0);
}

static void where_tracks_are_drawn(void **state)
{
    (void)state;
    const sk_sighting seen = {
        .track = 5, .detection = 0, .x = 10.5, .y = 20.25, .heading = 0.5, .major = 30, .minor = 12};
    sk_overlay_track t = sk_overlay_track_of(&seen);
    assert_true(t.track == 5 && !t.covered && t.x == 10.5F && t.y == 20.25F && t.heading == 0.5F &&
                t.reach == 15);
    sk_sighting covered = seen;
    covered.detection = -1;
    t = sk_overlay_track_of(&covered);
    assert_true(t.covered && t.track == 5);
}

int main(void)
{
#ifndef SKITTER_HAVE_FFMPEG
    print_message("skipped: built without FFmpeg\n");
    return 77;
#endif
    if (chdir(test_folder()) != 0 || setenv("SKITTER_OVERLAY_PART", "3", 1) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(few_frames),
        cmocka_unit_test(frames_a_part),
        cmocka_unit_test(where_tracks_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
