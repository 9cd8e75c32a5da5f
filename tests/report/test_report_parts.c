/* SPDX-License-Identifier: Apache-2.0 */
#include "report/chart.h"
#include "report/report_internal.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "media/reader.h"
#include "support/fault.h"
#include "support/known.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a report is put together of: marks as pixels, colours, pictures of moments, the two halves that are made at once. */

static sk_report *open_report(void)
{
    sk_report *r = NULL;
    sk_error err = {0};
    const sk_report_settings settings = {.title = "parts", .width = 640, .height = 480, .fps = 25};
    assert_ok(sk_report_open(&settings, &r, &err), &err);
    return r;
}

/* Every kind of mark, in a corner, over the edge and in the middle, at two scales. */
static void pixels_are_known(void **state)
{
    (void)state;
    static const uint64_t hashes[] = {0xd38ceba625a8ec7b, 0x61756cec87bbbb70, 0x22e070a46fe25974};
    static uint8_t colours[12 * 9 * 3];
    for (size_t i = 0; i < sizeof colours; i++)
        colours[i] = (uint8_t)(17 * i);
    sk_frame picture = SK_FRAME_INIT;
    picture.format = SK_PIXEL_RGB, picture.width = 12, picture.height = 9, picture.stride = 36,
    picture.data = colours;
    sk_chart chart = {0};
    sk_chart_begin(&chart, 120, 80, "marks");
    sk_chart_picture(&chart, 70.5f, 40, 60, 30.2f, &picture);
    sk_chart_box(&chart, 3.3f, 4.6f, 20.2f, 9.9f, 0x123456);
    sk_chart_disc(&chart, 60, 20, 7.5f, 0xfedcba);
    sk_chart_line(&chart, (const float[]){2, 70, 30, 40, 55, 75, NAN, 0, 60, 76, 118, 79}, 6, 2.5f, 0x2a6fb0);
    sk_chart_line(&chart, (const float[]){2, 5, 9, 9}, 0, 2, 0);
    sk_chart_text(&chart, 20, 30, 12, -1, 0x333333, "left");
    sk_chart_text(&chart, 90, 30, 8, 0, 0x707478, "mid & <dle>");
    sk_chart_text(&chart, 110, 60, 20, 1, 0x333333, "R");
    sk_chart_text_up(&chart, 14, 40, 13, 0x990000, "upwards, pixels");
    sk_axes axes = {40, 10, 70, 50, -1, 3, 20, 0};
    sk_axes_draw(&chart, &axes, "x", "y");
    axes = (sk_axes){40, 10, 70, 50, 5, 5, 0, 1};
    sk_axes_draw(&chart, &axes, "none", NULL);
    sk_error err = {0};
    bool same = true;
    for (int scale = 1; scale <= 3; scale++) {
        char name[32];
        sk_frame pixels;
        snprintf(name, sizeof name, "marks.%d.rgb", scale);
        assert_ok(sk_chart_to_pixels(&chart, scale, &pixels, &err), &err);
        assert_int_equal(pixels.width, 120 * scale);
        assert_int_equal(pixels.height, 80 * scale);
        assert_int_equal(pixels.stride, 360 * scale);
        same =
            test_known(name, pixels.data, (size_t)pixels.stride * (size_t)pixels.height, hashes[scale - 1]) &&
            same;
        sk_free(pixels.data);
    }
    assert_true(same);
    sk_chart_free(&chart);
}

/* A point of which one number is missing is none: neither the stroke to it nor the one from it is drawn, in either form. */
static void strokes_break_where_a_number_is_missing(void **state)
{
    (void)state;
    for (int missing = 0; missing < 4; missing++)
        for (int which = 0; which < 2; which++) {
            float xy[] = {5, 10, 15, 10, 25, 10, 35, 10};
            sk_chart chart = {0};
            sk_text svg = {0};
            sk_frame pixels;
            sk_error err = {0};
            xy[2 * missing + which] = missing % 2 ? NAN : INFINITY;
            sk_chart_begin(&chart, 40, 20, "strokes");
            sk_chart_line(&chart, xy, 4, 4, 0xff0000);
            assert_ok(sk_chart_to_pixels(&chart, 1, &pixels, &err), &err);
            for (int stroke = 0; stroke < 3; stroke++) {
                const bool drawn = missing != stroke && missing != stroke + 1;
                assert_int_equal(pixels.data[10 * pixels.stride + 3 * (10 * stroke + 10) + 1],
                                 drawn ? 0 : 255);
            }
            assert_ok(sk_chart_to_svg(&chart, &svg, &err), &err);
            static const char *const paths[] = {
                "d=\"M15.0 10.0L25.0 10.0L35.0 10.0\"", "d=\"M5.0 10.0M25.0 10.0L35.0 10.0\"",
                "d=\"M5.0 10.0L15.0 10.0M35.0 10.0\"", "d=\"M5.0 10.0L15.0 10.0L25.0 10.0\""};
            if (!strstr(sk_text_get(&svg), paths[missing]))
                fail_msg("%s", sk_text_get(&svg));
            sk_text_free(&svg);
            sk_free(pixels.data);
            sk_chart_free(&chart);
        }
}

static void colours_are_worked_out(void **state)
{
    (void)state;
    assert_int_equal(sk_chart_heat(0), 0xffffff);
    assert_int_equal(sk_chart_heat(-1), 0xffffff);
    assert_int_equal(sk_chart_heat(1), 0x2b0a3d);
    assert_int_equal(sk_chart_heat(2), 0x2b0a3d);
    assert_int_equal(sk_chart_heat(0.5), 0x22a884);
    assert_int_equal(sk_chart_heat(0.25), sk_chart_mix(0xf7e96b, 0x7ad151, 0.5));
    assert_int_equal(sk_chart_mix(0x000000, 0xffffff, 0.5), 0x808080);
    assert_int_equal(sk_chart_mix(0x102030, 0x506070, 0.25), 0x203040);
    static const struct {
        double range;
        int most;
        double step;
    } steps[] = {{10, 10, 1}, {10.1, 10, 2}, {20, 10, 2},   {25, 10, 2.5}, {26, 10, 5},
                 {50, 10, 5}, {51, 10, 10},  {100, 10, 10}, {0.3, 3, 0.1}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_true(fabs(sk_axes_step(steps[i].range, steps[i].most) - steps[i].step) < 1e-12);
}

/* A frame whose red says the column and whose green the row. */
static sk_frame column_frame(int width, int height, sk_pixel_format format)
{
    sk_frame f = SK_FRAME_INIT;
    const int bytes = format == SK_PIXEL_GRAY ? 1 : 3;
    f.format = format, f.width = width, f.height = height, f.stride = (ptrdiff_t)bytes * width + 5;
    f.data = sk_malloc((size_t)f.stride * (size_t)height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint8_t *p = f.data + f.stride * y + (ptrdiff_t)bytes * x;
            p[0] = (uint8_t)(x / 8);
            if (bytes == 3)
                p[1] = (uint8_t)(y / 8), p[2] = 40;
        }
    return f;
}

/* Paler by six tenths, at most 800 on a side, its proportions kept. */
static void ground_is_a_pale_small_copy(void **state)
{
    (void)state;
    sk_report *r = open_report();
    sk_error err = {0};
    static const int sizes[][4] = {
        {1000, 500, 800, 400}, {600, 900, 533, 800}, {80, 60, 80, 60}, {1600, 1, 800, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sk_frame f = column_frame(sizes[i][0], sizes[i][1], SK_PIXEL_RGB);
        assert_ok(sk_report_ground(r, &f, &err), &err);
        assert_int_equal(r->ground.width, sizes[i][2]);
        assert_int_equal(r->ground.height, sizes[i][3]);
        const uint8_t *last =
            r->ground.data + r->ground.stride * (r->ground.height - 1) + 3 * (r->ground.width - 1);
        assert_in_range(last[0], lrint((sizes[i][0] / 8 - 2) * 0.4 + 255 * 0.6),
                        lrint((sizes[i][0] / 8) * 0.4 + 255 * 0.6));
        assert_int_equal(last[2], lrint(40 + 215 * 0.6));
        sk_free(f.data);
    }
    sk_report_close(&r);
}

static void jump(sk_report *r, double x, double y, double body)
{
    sk_error err = {0};
    sk_sighting s = {
        .frame = 0, .track = 0, .detection = 0, .x = x + 400, .y = y + 400, .major = body, .certainty = 1};
    assert_ok(sk_report_take(r, 0, 0, &s, 1, &err), &err);
    s.frame = 1, s.x = x, s.y = y;
    assert_ok(sk_report_take(r, 1, 0, &s, 1, &err), &err);
    sk_report_end_frames(r);
}

/* Four bodies wide, at least 32, no wider than the frame, and inside of it wherever the moment was. */
static void piece_lies_around_the_moment(void **state)
{
    (void)state;
    static const struct {
        double x, y, body;
        int side, small, left, top;
    } cases[] = {{200, 120, 20, 80, 80, 160, 80},   {10, 5, 20, 80, 80, 0, 0},
                 {630, 390, 20, 80, 80, 560, 320},  {300, 200, 2, 32, 32, 284, 184},
                 {300, 200, 65, 260, 240, 170, 70}, {300, 200, 200, 400, 240, 100, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_report *r = open_report();
        sk_error err = {0};
        char path[4200];
        sk_slot slot = {0};
        sk_frame f = column_frame(640, 400, SK_PIXEL_RGB);
        jump(r, cases[i].x, cases[i].y, cases[i].body);
        int32_t n = 0;
        sk_report_suspects(r, &n);
        assert_int_equal(n, 1);
        assert_int_equal(sk_report_picture(r, 1, &f, &err), SK_ERR_ARG);
        assert_int_equal(sk_report_picture(r, -1, &f, &err), SK_ERR_ARG);
        for (int twice = 0; twice < 2; twice++)
            assert_ok(sk_report_picture(r, 0, &f, &err), &err);
        assert_int_equal(r->pictures[0].width, cases[i].small);
        assert_int_equal(r->pictures[0].height, cases[i].small);
        snprintf(path, sizeof path, "%s/piece.jpg", test_folder());
        assert_ok(sk_file_put(path, r->pictures[0].jpeg, r->pictures[0].length, &err), &err);
        assert_ok(sk_picture_decode(path, SK_PIXEL_RGB, 0, &slot, &err), &err);
        assert_int_equal(slot.frame.width, cases[i].small);
        const uint8_t *first = slot.frame.data, *last = slot.frame.data +
                                                        slot.frame.stride * (cases[i].small - 1) +
                                                        3 * (cases[i].small - 1);
        assert_true(abs(first[0] - cases[i].left / 8) <= 2 && abs(first[1] - cases[i].top / 8) <= 3);
        assert_true(abs(last[0] - (cases[i].left + cases[i].side) / 8) <= 3 &&
                    abs(last[1] - (cases[i].top + cases[i].side) / 8) <= 3);
        sk_slot_free(&slot);
        sk_free(f.data);
        sk_report_close(&r);
    }
}

typedef struct shown {
    sk_report *report;
    int calls;
    sk_status answer;
} shown;

static sk_status show(void *context, sk_error *err)
{
    shown *s = context;
    s->calls++;
    sk_frame f = column_frame(640, 480, SK_PIXEL_GRAY);
    sk_status status = sk_report_picture(s->report, 0, &f, err);
    sk_free(f.data);
    return status != SK_OK      ? status
           : s->answer == SK_OK ? SK_OK
                                : sk_fail(err, s->answer, "no pictures today");
}

/* Pictures are asked for while drawings are made; who cannot give them is heard, and so is a folder that cannot be written. */
static void both_halves_of_a_report_may_fail(void **state)
{
    (void)state;
    shown s = {.report = open_report()};
    const sk_report_pictures pictures = {show, &s};
    sk_error err = {0};
    char folder[4200], path[4300];
    jump(s.report, 100, 100, 20);
    snprintf(folder, sizeof folder, "%s/both", test_folder());
    assert_ok(sk_report_write(s.report, folder, NULL, 0, &pictures, &err), &err);
    assert_int_equal(s.calls, 1);
    char *page = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/report.html", folder);
    assert_ok(sk_file_read(path, (size_t)1 << 24, &page, &length, &err), &err);
    assert_non_null(strstr(page, "<img alt=\"frame 1\" width=\"80\" height=\"80\""));
    const char *jpeg = strstr(page, "data:image/jpeg;base64,") + strlen("data:image/jpeg;base64,");
    const size_t letters = strspn(
        jpeg,
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="); /* a whole picture in letters */
    assert_true(letters > 400 && letters % 4 == 0 && jpeg[letters] == '"');
    assert_memory_equal(jpeg, "/9j/", 4);
    assert_null(strstr(page, "no picture<"));
    assert_null(strstr(page, "Where the time went"));
    sk_free(page);
    s.answer = SK_ERR_IO;
    assert_int_equal(sk_report_write(s.report, folder, NULL, 0, &pictures, &err), SK_ERR_IO);
    assert_non_null(strstr(err.message, "no pictures today"));
    s.answer = SK_OK;
    snprintf(path, sizeof path, "%s/wall/plots/headings.svg", test_folder());
    assert_ok(sk_folder_make(path, &err), &err); /* a folder where a drawing belongs */
    jump(s.report, 500, 100, 20);
    snprintf(folder, sizeof folder, "%s/wall", test_folder());
    for (int with = 0; with < 2; with++) {
        err = (sk_error){0};
        assert_int_equal(sk_report_write(s.report, folder, NULL, 0, with ? &pictures : NULL, &err),
                         SK_ERR_IO);
        assert_non_null(strstr(err.message, "headings.svg"));
    }
    sk_report_close(&s.report);
}

/* What is 1 of 310 walks into a small report, with every allocation failing in turn. */
static sk_status small_report(void *context, sk_error *err)
{
    sk_status status = SK_OK;
    sk_report *r = NULL;
    const sk_report_settings settings = {.title = "t", .width = 64, .height = 48, .fps = 25};
    sk_frame f = SK_FRAME_INIT;
    static uint8_t grey[48 * 64];
    f.format = SK_PIXEL_GRAY, f.width = 64, f.height = 48, f.stride = 64, f.data = grey;
    SK_TRY(sk_report_open(&settings, &r, err));
    for (int64_t i = 0; i < 3; i++) {
        const sk_sighting s[] = {
            {.frame = i, .track = 2, .x = i == 2 ? 60 : 10, .y = 5, .major = 8, .certainty = 1},
            {.frame = i, .track = 0, .x = 30, .y = 20, .major = 8, .certainty = 1}};
        SK_TRY_GOTO(sk_report_take(r, i, 0, s, 2, err));
    }
    sk_report_end_frames(r);
    SK_TRY_GOTO(sk_report_ground(r, &f, err));
    SK_TRY_GOTO(sk_report_picture(r, 0, &f, err));
    (void)context;
done:
    sk_report_close(&r);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(small_report, NULL), 12, 60);
}

static sk_status small_chart(void *context, sk_error *err)
{
    sk_chart chart = {0};
    sk_text svg = {0};
    sk_frame pixels = SK_FRAME_INIT;
    (void)context;
    sk_chart_begin(&chart, 20, 20, "small");
    sk_chart_box(&chart, 1, 1, 5, 5, 0);
    sk_chart_text(&chart, 1, 1, 10, -1, 0, "a");
    sk_chart_disc(&chart, 1, 1, 5, 5);
    sk_status status = sk_chart_to_svg(&chart, &svg, err);
    if (status == SK_OK)
        status = sk_chart_to_pixels(&chart, 1, &pixels, err);
    sk_free(pixels.data);
    sk_text_free(&svg);
    sk_chart_free(&chart);
    return status;
}

static void charts_may_run_out_of_memory(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(small_chart, NULL), 4, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_known),
        cmocka_unit_test(strokes_break_where_a_number_is_missing),
        cmocka_unit_test(colours_are_worked_out),
        cmocka_unit_test(ground_is_a_pale_small_copy),
        cmocka_unit_test(piece_lies_around_the_moment),
        cmocka_unit_test(both_halves_of_a_report_may_fail),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(charts_may_run_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
