/* SPDX-License-Identifier: Apache-2.0 */
#include "report/movement.h"
#include "report/report_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Short walks whose numbers are worked out by hand: what is measured of them, what the page tells, which drawings there are. */

static sk_sighting at(int64_t frame, int32_t track, double x, double y)
{
    return (sk_sighting){.frame = frame,
                         .track = track,
                         .detection = 0,
                         .state = SK_TRACK_ACTIVE,
                         .x = x,
                         .y = y,
                         .major = 20,
                         .certainty = 1};
}

static void take(sk_movement *m, int64_t frame, double time, sk_sighting s)
{
    sk_error err = {0};
    s.frame = frame;
    assert_ok(sk_movement_take(m, frame, time, &s, 1, &err), &err);
}

/* Steps of a fifth of a second, half a frame more or less; after more than a second the way between is not known. */
static void steps_are_neither_too_short_nor_too_long(void **state)
{
    (void)state;
    static const struct {
        double fps, seconds; /* between two sightings 10 pixels apart */
        bool counts;
    } cases[] = {{10, 0.1, false},  {10, 0.14, false}, {10, 0.16, true},  {10, 0.2, true},  {10, 1.0, true},
                 {10, 1.01, false}, {50, 0.18, false}, {50, 0.195, true}, {10, -0.5, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_movement *m = sk_calloc(1, sizeof *m);
        sk_movement_begin(m, 100, 100, cases[i].fps);
        take(m, 3, 2, at(3, 0, 10, 10));
        take(m, 4, 2 + cases[i].seconds, at(4, 0, 16, 18));
        const sk_movement_track *t = &m->tracks[0];
        if ((t->distance > 0) != cases[i].counts)
            fail_msg("%g s at %g frames a second: %g pixels", cases[i].seconds, cases[i].fps, t->distance);
        if (cases[i].counts) {
            const double speed = 10 / cases[i].seconds;
            assert_true(t->distance == 10 && fabs(t->seconds - cases[i].seconds) < 1e-9);
            assert_true(fabs(t->top_speed - speed) < 1e-6);
            assert_true(m->bins[1].n_speed == 1 && fabs(m->bins[1].speed - speed) < 1e-6);
            assert_true(m->bins[0].n_speed == 0 && isfinite(sk_movement_speed(t, 0.5)));
        } else {
            assert_true(t->seconds == 0 && isnan(sk_movement_speed(t, 0.5)));
        }
        sk_movement_free(m);
        sk_free(m);
    }
}

/* Classes are quarters of a power of two; within one, time is spread evenly. */
static void speeds_are_told_by_parts_of_the_time(void **state)
{
    (void)state;
    static sk_movement_track t;
    t = (sk_movement_track){.top_speed = 77};
    assert_true(isnan(sk_movement_speed(&t, 0.5)));
    t.speeds[8] = 6;
    t.speeds[10] = 2;
    static const struct {
        double part, class;
    } cases[] = {{0, 0}, {0.25, 8 + 2.0 / 6}, {0.5, 8 + 4.0 / 6}, {0.75, 9}, {0.875, 10.5}, {1, 11}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double speed = 0.125 * exp2(cases[i].class / 4);
        if (fabs(sk_movement_speed(&t, cases[i].part) - speed) > 1e-9)
            fail_msg("%g of the time: %g", cases[i].part, sk_movement_speed(&t, cases[i].part));
    }
    assert_true(sk_movement_speed(&t, 1.5) == 77); /* more than all of it */
    static const struct {
        double speed;
        int class;
    } speeds[] = {{0, 0},    {0.1, 0},   {0.125, 0}, {0.14, 0},  {0.15, 1},   {0.25 * 1.0001, 4},
                  {8.1, 24}, {16.1, 28}, {6000, 62}, {6900, 63}, {100000, 63}};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
        sk_movement *m = sk_calloc(1, sizeof *m);
        sk_movement_begin(m, 100, 100, 4);
        take(m, 0, 1, at(0, 0, 10, 10));
        take(m, 1, 1.25, at(1, 0, 10 + speeds[i].speed / 4, 10));
        for (int k = 0; k < SK_MOVEMENT_SPEEDS; k++)
            if (m->tracks[0].speeds[k] != (k == speeds[i].class))
                fail_msg("%g pixels a second: class %d has %lld", speeds[i].speed, k,
                         (long long)m->tracks[0].speeds[k]);
        sk_movement_free(m);
        sk_free(m);
    }
}

/* Half a second unseen breaks a path; a shorter time is drawn through. */
static void paths_break_after_half_a_second(void **state)
{
    (void)state;
    for (int64_t gap = 11; gap <= 14; gap++) {
        sk_movement *m = sk_calloc(1, sizeof *m);
        sk_movement_begin(m, 100, 100, 25);
        take(m, 0, 0, at(0, 0, 1, 2));
        take(m, gap, (double)gap / 25, at(0, 0, 3, 4));
        const sk_movement_track *t = &m->tracks[0];
        assert_int_equal(t->n_path, gap > 12 ? 3 : 2);
        assert_true(gap <= 12 || (isnan(t->path[2]) && isnan(t->path[3])));
        assert_true(t->path[0] == 1 && t->path[1] == 2);
        assert_true(t->path[2 * t->n_path - 2] == 3 && t->path[2 * t->n_path - 1] == 4);
        assert_true(t->gaps == 1 && t->longest_gap == gap - 1);
        sk_movement_free(m);
        sk_free(m);
    }
}

/* Of a path that is full every second point goes; a break stays one break wherever points stay around it, none stands at the beginning,
 * and a path of single points is not made shorter: its end is left out. */
static void full_paths_get_thinner(void **state)
{
    (void)state;
    static const int patterns[][4] = {{9999}, {1}, {2}, {3}, {1, 2}, {3, 1, 2}, {1, 1, 4}, {5, 1, 1, 1}};
    static float wanted[SK_MOVEMENT_PATH + 2], thin[SK_MOVEMENT_PATH + 2];
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
        sk_movement *m = sk_calloc(1, sizeof *m);
        int64_t frame = 50;
        size_t n = 0;
        bool full = false;
        sk_movement_begin(m, 5000, 100, 25);
        for (int piece = 0; !full; piece++) {
            int points = patterns[p][piece % 4];
            for (int i = 0; i < 4 && points == 0; i++) /* shorter ones begin again */
                points = patterns[p][++piece % 4];
            for (int i = 0; i < points && !full; i++) {
                frame += i == 0 ? 20 : 1;
                for (int k = i || !n; k < 2; k++) { /* a break and a point, or a point */
                    const float entry = k ? (float)(frame % 4999) : NAN;
                    size_t kept = 0;
                    for (size_t j = 0; n == SK_MOVEMENT_PATH && j < n; j++)
                        if (isnan(wanted[j]) ? kept && !isnan(thin[kept - 1]) : j % 2 == 0)
                            thin[kept++] = wanted[j];
                    if (n == SK_MOVEMENT_PATH) {
                        full = true;
                        memcpy(wanted, thin, kept * sizeof *thin);
                        n = kept;
                    }
                    if (n < SK_MOVEMENT_PATH)
                        wanted[n++] = entry;
                }
                take(m, frame, (double)frame / 25, at(0, 0, (double)(frame % 4999), 7));
            }
        }
        const sk_movement_track *t = &m->tracks[0];
        assert_int_equal(t->n_path, n);
        for (size_t i = 0; i < n; i++)
            if (isnan(wanted[i]) ? !isnan(t->path[2 * i]) || !isnan(t->path[2 * i + 1])
                                 : t->path[2 * i] != wanted[i] || t->path[2 * i + 1] != 7)
                fail_msg("pattern %zu, point %zu of %zu: %g, not %g", p, i, n, (double)t->path[2 * i],
                         (double)wanted[i]);
        assert_true(t->path_every > 1);
        sk_movement_free(m);
        sk_free(m);
    }
}

/* Cells of the occupancy at the frame's edges; what lies beyond is in none. */
static void places_fall_into_cells(void **state)
{
    (void)state;
    static const struct {
        double x, y;
        int column, row; /* -1: none */
    } cases[] = {{0, 0, 0, 0},       {127.9, 63.9, 63, 31}, {128, 10, -1, -1}, {10, 64, -1, -1},
                 {-0.1, 10, -1, -1}, {10, -0.1, -1, -1},    {2, 1.9, 1, 0},    {1.9, 2, 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_movement *m = sk_calloc(1, sizeof *m);
        sk_movement_begin(m, 128, 64, 25);
        assert_true(m->columns == 64 && m->rows == 32);
        take(m, 0, 0, at(0, 0, cases[i].x, cases[i].y));
        for (int k = 0; k < SK_MOVEMENT_SIDE * SK_MOVEMENT_SIDE; k++)
            assert_int_equal(m->occupancy[k], cases[i].row >= 0 && k == cases[i].row * 64 + cases[i].column);
        sk_movement_free(m);
        sk_free(m);
    }
}

/* Directions are counted in ten degrees each, all the way round, whichever way they are told. */
static void headings_fall_into_directions(void **state)
{
    (void)state;
    static const int degrees[][2] = {{5, 0}, {15, 1}, {355, 35}, {-5, 35}, {365, 0}, {-185, 17}, {90, 9}};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        sk_movement *m = sk_calloc(1, sizeof *m);
        sk_movement_begin(m, 0, 0, 25);
        sk_sighting s = at(0, 0, 5, 5);
        s.heading = (degrees[i][0] + 0.01) * M_PI / 180;
        take(m, 0, 0, s);
        s.heading = NAN;
        take(m, 1, 0, s);
        for (int k = 0; k < SK_MOVEMENT_HEADINGS; k++)
            assert_int_equal(m->tracks[0].headings[k], k == degrees[i][1]);
        sk_movement_free(m);
        sk_free(m);
    }
}

static sk_report *open_report(double fps)
{
    sk_report *r = NULL;
    sk_error err = {0};
    const sk_report_settings settings = {.title = "t", .width = 64, .height = 48, .fps = fps};
    assert_ok(sk_report_open(&settings, &r, &err), &err);
    return r;
}

static char *written(sk_report *r, const char *folder)
{
    sk_error err = {0};
    char path[4300], *page = NULL;
    size_t length = 0;
    sk_report_end_frames(r);
    assert_ok(sk_report_write(r, folder, NULL, 0, NULL, &err), &err);
    snprintf(path, sizeof path, "%s/report.html", folder);
    assert_ok(sk_file_read(path, (size_t)1 << 24, &page, &length, &err), &err);
    return page;
}

/* Four frames of a fifth of a second: two that walk a pixel a frame, one of them there for two frames and seen in one. */
static void page_tells_the_numbers(void **state)
{
    (void)state;
    sk_report *r = open_report(5);
    sk_error err = {0};
    char folder[4200];
    for (int64_t f = 10; f < 14; f++) {
        sk_sighting s[] = {at(f, 0, (double)f, 10), at(f, 3, 50, 40)};
        s[1].detection = f == 12 ? 0 : -1;
        assert_ok(sk_report_take(r, f, (double)f / 5, s, f < 12 ? 1 : 2, &err), &err);
    }
    snprintf(folder, sizeof folder, "%s/numbers", test_folder());
    char *page = written(r, folder);
    static const char *const expected[] = {
        "<b>2</b><span>identities<",
        "<b>4</b><span>frames<",
        "<b>1.2</b><span>seen in a frame, on average<",
        "<b>83.3 %</b><span>of an identity's life it was seen<",
        "<b>5.0</b><span>mean speed, pixels/s<", /* 3 pixels in 0.6 s */
        "<b>0</b><span>moments to look at<",
        "<td>0</td><td>0.00</td><td>0.80</td><td>100.0 %</td><td>0</td><td>0.00</td><td>3</td><td>5.0</td>",
        ("<td>3</td><td>0.40</td><td>0.80</td><td>50.0 %</td><td>0</td><td>0.00</td><td>0</td><td>–</td>"
         "<td>–</td><td>–</td><td>20.0</td>"),
        "<p>No moment stands out.</p>"};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (!strstr(page, expected[i]))
            fail_msg("the page does not say %s", expected[i]);
    sk_free(page);
    sk_report_close(&r);
}

/* What cannot be shown is not drawn, in no form, and the page does not speak of it. */
static void only_what_can_be_shown_is_drawn(void **state)
{
    (void)state;
    static const struct {
        int tracks;
        int64_t frames;
        const char
            *drawn; /* the first letter of each, "S" for how many were seen, "e" for the speed of each */
    } cases[] = {{0, 0, ""}, {0, 1, ""}, {1, 1, "pohSP"}, {1, 9, "poshSPe"}, {2, 9, "poshnSPde"}};
    static const char letters[] = "posehndSP"; /* in the order of sk_report_plots */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_report *r = open_report(10);
        sk_error err = {0};
        char folder[4200], path[4400];
        for (int64_t f = 0; f < cases[i].frames; f++) {
            const sk_sighting s[] = {at(f, 0, 10 + (double)f, 10), at(f, 1, 30, 30)};
            assert_ok(sk_report_take(r, f, (double)f / 10, s, cases[i].tracks, &err), &err);
        }
        snprintf(folder, sizeof folder, "%s/case %zu", test_folder(), i);
        char *page = written(r, folder);
        for (int k = 0; sk_report_plots[k]; k++) {
            const bool drawn = strchr(cases[i].drawn, letters[k / 2]) != NULL;
            snprintf(path, sizeof path, "%s/%s", folder, sk_report_plots[k]);
            if (sk_file_exists(path) != drawn)
                fail_msg("case %zu: %s", i, sk_report_plots[k]);
            snprintf(path, sizeof path, "<a href=\"%s\">", sk_report_plots[k]);
            assert_true((strstr(page, path) != NULL) == drawn);
        }
        sk_free(page);
        sk_report_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_neither_too_short_nor_too_long),
        cmocka_unit_test(speeds_are_told_by_parts_of_the_time),
        cmocka_unit_test(paths_break_after_half_a_second),
        cmocka_unit_test(full_paths_get_thinner),
        cmocka_unit_test(places_fall_into_cells),
        cmocka_unit_test(headings_fall_into_directions),
        cmocka_unit_test(page_tells_the_numbers),
        cmocka_unit_test(only_what_can_be_shown_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
