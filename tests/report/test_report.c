/* SPDX-License-Identifier: Apache-2.0 */
#include "report/chart.h"
#include "report/movement.h"
#include "report/report.h"

#include "base/file.h"
#include "base/memory.h"
#include "support/markup.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static sk_sighting at(int64_t frame, int32_t track, double x, double y)
{
    return (sk_sighting){.frame = frame,
                         .track = track,
                         .place = track,
                         .detection = 0,
                         .state = SK_TRACK_ACTIVE,
                         .x = x,
                         .y = y,
                         .major = 20,
                         .minor = 8,
                         .score = 0.9,
                         .certainty = 1};
}

static sk_sighting unseen(sk_sighting s)
{
    s.detection = -1;
    s.state = SK_TRACK_COVERED;
    s.score = NAN;
    return s;
}

/* --- movement --- */

/* 50 pixels a second to the right, for ten seconds of 25 frames: the numbers are known. */
static void straight_walk_is_measured_exactly(void **state)
{
    (void)state;
    sk_movement *m = sk_calloc(1, sizeof *m);
    sk_error err = {0};
    sk_movement_begin(m, 1000, 500, 25);
    for (int64_t f = 0; f < 250; f++) {
        const sk_sighting s[] = {at(f, 3, 100 + 2.0 * (double)f, 50), at(f, 0, 100 + 2.0 * (double)f, 80)};
        assert_ok(sk_movement_take(m, f, (double)f / 25, s, 2, &err), &err);
    }
    assert_int_equal(m->n_tracks, 2);
    const sk_movement_track *t = &m->tracks[0];
    assert_int_equal(t->track, 3);
    assert_int_equal(t->seen, 250);
    assert_int_equal(t->gaps, 0);
    assert_true(fabs(t->distance / t->seconds - 50) < 1e-9);
    assert_true(fabs(t->top_speed - 50) < 1e-6);
    assert_true(fabs(t->distance - 2 * 245) < 1e-6); /* steps of five frames from frame 0 to 245 */
    assert_true(sk_movement_speed(t, 0.5) > 40 && sk_movement_speed(t, 0.5) < 60);
    assert_int_equal(t->headings[0], 250);
    assert_true(fabs(m->pair_sum[0][1] / (double)m->pair_count[0][1] - 30) < 1e-9);
    assert_true(fabs(m->bins[7].nearest / (double)m->bins[7].n_nearest - 30) < 1e-9);
    sk_movement_free(m);
    sk_free(m);
}

/* Pictures have no times: frames a second tell them. */
static void walk_through_pictures_is_measured(void **state)
{
    (void)state;
    sk_movement *m = sk_calloc(1, sizeof *m);
    sk_error err = {0};
    sk_movement_begin(m, 1000, 500, 10);
    for (int64_t f = 0; f < 50; f++) {
        const sk_sighting s = at(f, 0, 100 + 2.0 * (double)f, 50);
        assert_ok(sk_movement_take(m, f, 0, &s, 1, &err), &err);
    }
    assert_true(fabs(m->tracks[0].distance / m->tracks[0].seconds - 20) < 1e-9);
    assert_true(m->tracks[0].distance > 90);
    sk_movement_free(m);
    sk_free(m);
}

static void gaps_are_counted_and_break_the_path(void **state)
{
    (void)state;
    sk_movement *m = sk_calloc(1, sizeof *m);
    sk_error err = {0};
    sk_movement_begin(m, 640, 480, 25);
    for (int64_t f = 0; f < 100; f++) {
        const bool gone = f >= 40 && f < 60;
        const sk_sighting s = gone ? unseen(at(f, 0, 100, 100)) : at(f, 0, f < 40 ? 100 : 300, 100);
        assert_ok(sk_movement_take(m, f, (double)f / 25, &s, 1, &err), &err);
    }
    const sk_movement_track *t = &m->tracks[0];
    assert_int_equal(t->seen, 80);
    assert_int_equal(t->gaps, 1);
    assert_int_equal(t->longest_gap, 20);
    assert_int_equal(t->n_spans, 3);
    assert_int_equal(t->spans[1].first, 40);
    assert_int_equal(t->spans[1].last, 59);
    int breaks = 0;
    for (size_t i = 0; i < t->n_path; i++)
        breaks += isnan(t->path[2 * i]);
    assert_int_equal(breaks, 1);
    sk_movement_free(m);
    sk_free(m);
}

/* An hour and a half: what is kept does not grow, and nothing is lost from the sums. */
static void memory_does_not_grow_with_the_video(void **state)
{
    (void)state;
    sk_movement *m = sk_calloc(1, sizeof *m);
    sk_error err = {0};
    sk_movement_begin(m, 640, 480, 25);
    int64_t early = 0;
    for (int64_t f = 0; f < 135000; f++) {
        const sk_sighting s = at(f, 0, 320 + 200 * sin((double)f / 300), 240 + 100 * cos((double)f / 170));
        assert_ok(sk_movement_take(m, f, (double)f / 25, &s, 1, &err), &err);
        if (f == 5000)
            early = sk_memory_live_bytes();
    }
    assert_true(sk_memory_live_bytes() == early);
    int64_t frames = 0, places = 0;
    for (int i = 0; i < SK_MOVEMENT_BINS; i++)
        frames += m->bins[i].frames;
    for (int i = 0; i < m->columns * m->rows; i++)
        places += m->occupancy[i];
    assert_int_equal(frames, 135000);
    assert_int_equal(places, 135000);
    assert_true(m->tracks[0].n_path > SK_MOVEMENT_PATH / 3 && m->tracks[0].n_path <= SK_MOVEMENT_PATH);
    sk_movement_free(m);
    sk_free(m);
}

/* --- suspects --- */

static sk_suspects *watch(const sk_sighting (*frames)[2], int n)
{
    sk_suspects *s = sk_calloc(1, sizeof *s);
    sk_error err = {0};
    for (int i = 0; i < n; i++)
        assert_ok(sk_suspects_take(s, frames[i], 2, &err), &err);
    sk_suspects_end(s);
    return s;
}

static void only_doubtful_meetings_are_told(void **state)
{
    (void)state;
    sk_sighting pass[60][2], cover[60][2];
    for (int f = 0; f < 60; f++) {
        const double x = 100 + 3 * f, y = 277 - 3 * f;
        pass[f][0] = cover[f][0] = at(f, 0, x, 100);
        pass[f][1] = cover[f][1] = at(f, 1, y, 104);
        if (f >= 27 && f <= 31)
            cover[f][1] = unseen(cover[f][1]);
    }
    sk_suspects *s = watch((const sk_sighting(*)[2])pass, 60);
    assert_int_equal(s->count, 0); /* both were seen all the time, and certain */
    sk_suspects_free(s);
    sk_free(s);
    s = watch((const sk_sighting(*)[2])cover, 60);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->worst[0].a, 0);
    assert_int_equal(s->worst[0].b, 1);
    assert_true(s->worst[0].why & SK_SUSPECT_UNSEEN && s->worst[0].why & SK_SUSPECT_TOUCHED);
    assert_true(s->worst[0].frame >= 28 && s->worst[0].frame <= 31);
    sk_suspects_free(s);
    sk_free(s);
}

static void jumps_are_told(void **state)
{
    (void)state;
    sk_sighting jump[20][2];
    for (int f = 0; f < 20; f++) {
        jump[f][0] = at(f, 0, f < 10 ? 100 : 400, 100);
        jump[f][1] = at(f, 1, 100, 400);
    }
    sk_suspects *s = watch((const sk_sighting(*)[2])jump, 20);
    assert_int_equal(s->count, 1);
    assert_int_equal(s->worst[0].a, 0);
    assert_int_equal(s->worst[0].b, -1);
    assert_int_equal(s->worst[0].frame, 10);
    sk_suspects_free(s);
    sk_free(s);
}

static void list_keeps_the_worst_in_order(void **state)
{
    (void)state;
    sk_suspects *s = sk_calloc(1, sizeof *s);
    sk_error err = {0};
    for (int64_t f = 0; f < 400; f++) { /* every jump a little less certain than the one before */
        sk_sighting one = at(f, 0, f % 2 ? 100 : 400, 100);
        one.certainty = 1 - (double)f / 400;
        assert_ok(sk_suspects_take(s, &one, 1, &err), &err);
    }
    sk_suspects_end(s);
    assert_int_equal(s->count, 399);
    assert_int_equal(s->n_worst, SK_SUSPECTS_MOST);
    assert_int_equal(s->worst[0].frame, 399);
    for (int i = 1; i < s->n_worst; i++)
        assert_true(s->worst[i].weight <= s->worst[i - 1].weight);
    sk_suspects_free(s);
    sk_free(s);
}

/* --- charts --- */

static void steps_are_round(void **state)
{
    (void)state;
    assert_true(sk_axes_step(10, 5) == 2);
    assert_true(sk_axes_step(9, 10) == 1);
    assert_true(fabs(sk_axes_step(0.07, 6) - 0.02) < 1e-12);
    assert_true(sk_axes_step(1e6, 8) == 2e5);
}

static void chart_is_the_same_in_both_forms(void **state)
{
    (void)state;
    sk_chart chart = {0};
    sk_text svg = {0};
    sk_frame pixels;
    sk_error err = {0};
    sk_chart_begin(&chart, 100, 50, "a <b> & c");
    sk_chart_box(&chart, 10, 10, 20, 20, 0xff0000);
    sk_chart_disc(&chart, 70, 25, 10, 0x0000ff);
    sk_chart_line(&chart, (const float[]){0, 45, 40, 45, NAN, NAN, 60, 45, 100, 45}, 5, 2, 0x00ff00);
    sk_chart_text(&chart, 50, 8, 7, 0, 0, "<x>");
    assert_ok(sk_chart_to_svg(&chart, &svg, &err), &err);
    assert_non_null(strstr(sk_text_get(&svg), "aria-label=\"a &lt;b&gt; &amp; c\""));
    assert_non_null(strstr(sk_text_get(&svg), "M0.0 45.0L40.0 45.0M60.0 45.0L100.0 45.0"));
    assert_non_null(strstr(sk_text_get(&svg), "&lt;x&gt;"));
    assert_ok(sk_chart_to_pixels(&chart, 2, &pixels, &err), &err);
    assert_int_equal(pixels.width, 200);
    static const struct {
        int x, y;
        uint8_t rgb[3];
    } expected[] = {{40, 40, {255, 0, 0}},
                    {140, 50, {0, 0, 255}},
                    {40, 90, {0, 255, 0}},
                    {100, 90, {255, 255, 255}},
                    {150, 90, {0, 255, 0}}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_memory_equal(pixels.data + pixels.stride * expected[i].y + 3 * expected[i].x, expected[i].rgb,
                            3);
    sk_free(pixels.data);
    sk_text_free(&svg);
    sk_chart_free(&chart);
}

/* --- the whole --- */

static void report_is_written_whole(void **state)
{
    (void)state;
    const char *folder = test_folder();
    sk_error err = {0};
    sk_report *r = NULL;
    const sk_report_settings settings = {.title = "a & b <clip>.mp4",
                                         .source = "a.mp4",
                                         .method = "skitter",
                                         .width = 320,
                                         .height = 240,
                                         .fps = 25};
    assert_ok(sk_report_open(&settings, &r, &err), &err);
    for (int64_t f = 0; f < 120; f++) {
        sk_sighting s[] = {at(f, 0, 20 + 2.0 * (double)f, 120), at(f, 1, 260 - 2.0 * (double)f, 124)};
        if (f > 55 && f < 65)
            s[1] = unseen(s[1]);
        assert_ok(sk_report_take(r, f, (double)f / 25, s, 2, &err), &err);
    }
    sk_report_end_frames(r);
    int32_t n = 0;
    const sk_suspect *list = sk_report_suspects(r, &n);
    assert_int_equal(n, 1);
    assert_true(list[0].frame > 55 && list[0].frame < 65);
    static uint8_t grey[240 * 320];
    sk_frame frame = SK_FRAME_INIT;
    frame.format = SK_PIXEL_GRAY, frame.width = 320, frame.height = 240, frame.stride = 320,
    frame.data = grey;
    assert_ok(sk_report_ground(r, &frame, &err), &err);
    assert_ok(sk_report_picture(r, 0, &frame, &err), &err);
    const sk_report_time times[] = {{"network", 1.5}};
    assert_ok(sk_report_write(r, folder, times, 1, NULL, &err), &err);
    char path[4096];
    for (int i = 0; sk_report_plots[i]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, sk_report_plots[i]);
        if (!sk_file_exists(path))
            fail_msg("%s is not there", path);
    }
    snprintf(path, sizeof path, "%s/report.html", folder);
    char *page = NULL, why[256];
    size_t length = 0;
    assert_ok(sk_file_read(path, (size_t)1 << 24, &page, &length, &err), &err);
    if (!test_markup_is_sound(page, length, why, sizeof why))
        fail_msg("report.html: %s", why);
    assert_non_null(strstr(page, "<h1>a &amp; b &lt;clip&gt;.mp4</h1>"));
    assert_non_null(strstr(page, "0 and 1: they touched, one was not seen for a while"));
    assert_non_null(strstr(page, "data:image/jpeg;base64,"));
    assert_null(strstr(page, "http://www.w3.org/2000/xlink"));
    sk_free(page);
    sk_report_close(&r);
}

/* No sightings at all, one frame, tracks without a frame's size: a page all the same. */
static void nothing_to_show_is_a_page_too(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s/%d", test_folder(), kind);
        sk_error err = {0};
        sk_report *r = NULL;
        const sk_report_settings settings = {.title = "v", .width = kind ? 64 : 0, .height = kind ? 48 : 0};
        const sk_sighting one = at(0, 0, 10, 10);
        assert_ok(sk_report_open(&settings, &r, &err), &err);
        if (kind > 0)
            assert_ok(sk_report_take(r, 0, 0, &one, kind - 1, &err), &err);
        sk_report_end_frames(r);
        assert_ok(sk_report_write(r, folder, NULL, 0, NULL, &err), &err);
        sk_report_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_walk_is_measured_exactly),
        cmocka_unit_test(walk_through_pictures_is_measured),
        cmocka_unit_test(gaps_are_counted_and_break_the_path),
        cmocka_unit_test(memory_does_not_grow_with_the_video),
        cmocka_unit_test(only_doubtful_meetings_are_told),
        cmocka_unit_test(jumps_are_told),
        cmocka_unit_test(list_keeps_the_worst_in_order),
        cmocka_unit_test(steps_are_round),
        cmocka_unit_test(chart_is_the_same_in_both_forms),
        cmocka_unit_test(report_is_written_whole),
        cmocka_unit_test(nothing_to_show_is_a_page_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
