/* SPDX-License-Identifier: Apache-2.0 */
/* A run's folder at the ends of what it can say: classes with and without a name, the first track's name, places that are half known,
 * speeds where nobody knows the time, as many tracks and points as a plot takes; and what a second look keeps. */
#include "support/test.h"

#include "app/correct.h"
#include "app/run_view.h"
#include "app/run_view_json.h"
#include "base/file.h"
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sk_error err;

static void put(const char *folder, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_ok(sk_file_replace(path, text, strlen(text), &err), &err);
}

static void put_record(const char *folder, double rate)
{
    char text[1024];
    assert_ok(sk_folder_make(folder, &err), &err);
    snprintf(
        text, sizeof text,
        "{\"skitter\":\"1\",\"started\":\"2026\",\"state\":\"finished\",\"source\":\"v.mp4\","
        "\"source_kind\":\"video\",\"width\":64,\"height\":48,\"rate\":%g,\"frames\":3,\"task\":"
        "\"pose\",\"classes\":[\"fly\",\"bee\"],\"keypoints\":[],\"identity\":{\"tracker\":\"skitter\"}}",
        rate);
    put(folder, "run.json", text);
}

static void add(sk_text *all, int class_id, int track, double x, double y, double heading)
{
    const char last = all->length ? all->data[all->length - 1] : '[';
    sk_text_appendf(all,
                    "%s{\"class\":%d,\"score\":0.5,\"box\":[1,2,5,10],\"track\":%d,\"tracking_score\":1,"
                    "\"state\":\"active\",\"x\":%g,\"y\":%g,\"heading\":%g,\"uncertainty\":1}",
                    last == '[' ? "" : ",", class_id, track, x, y, heading);
}

static void add_frame(sk_text *all, int frame, double time)
{
    sk_text_appendf(all, "{\"source\":\"v.mp4\",\"frame\":%d,\"time\":%g,\"instances\":[", frame, time);
}

static sk_run_view *look(const char *folder, sk_text *lines)
{
    sk_run_view *v = NULL;
    put(folder, "results.jsonl", sk_text_get(lines));
    sk_text_free(lines);
    assert_ok(sk_run_view_open(folder, &v, &err), &err);
    return v;
}

typedef enum question { FRAMES, TRACKS, PLOT } question;

/* Static text. */
static const char *ask(sk_run_view *v, question what, const sk_run_plot *plot)
{
    static char out[1 << 16];
    sk_text text = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&text, 0);
    assert_ok(what == FRAMES   ? sk_run_view_json_frames(v, 0, 99, 99, &j, &err)
              : what == TRACKS ? sk_run_view_json_tracks(v, &j, &err)
                               : sk_run_view_json_plot(v, plot, &j, &err),
              &err);
    assert_ok(sk_json_end(&j, &err), &err);
    snprintf(out, sizeof out, "%s", sk_text_get(&text));
    sk_text_free(&text);
    return out;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

static void classes_names_and_sizes(void **state)
{
    (void)state;
    sk_text lines = {.limit = 1 << 20};
    put_record("classes", 10);
    add_frame(&lines, 0, 0);
    add(&lines, -1, 5, 10, 10, 0);
    add(&lines, 0, 2, 20, 10, 0);
    add(&lines, 1, 0, 30, 10, 0);
    add(&lines, 2, 7, 40, 10, 0);
    sk_text_append(&lines, "]}\n");
    sk_run_view *v = look("classes", &lines);
    const sk_correction name = {
        .kind = SK_CORRECTION_RENAME, .a = 0, .b = -1, .from = 0, .to = -1, .prefer = -1, .name = "Al"};
    assert_ok(sk_correct_step(v, SK_STEP_ADD, &name, &err), &err);
    const char *told = ask(v, FRAMES, NULL);
    assert_non_null(strstr(told, "{\"track\":5,\"class\":-1,\"score\":0.5,\"box\":[3,6,4,8,0],"));
    assert_non_null(strstr(told, "{\"track\":2,\"class\":0,\"label\":\"fly\",\"score\":0.5,"));
    assert_non_null(
        strstr(told, "{\"track\":0,\"name\":\"Al\",\"class\":1,\"label\":\"bee\",\"score\":0.5,"));
    assert_non_null(strstr(told, "{\"track\":7,\"class\":2,\"score\":0.5,"));
    assert_non_null(strstr(told, "\"width\":64,\"height\":48,"));
    assert_null(strstr(told, "\"source\""));
    assert_non_null(strstr(told, "],\"next\":null}"));
    /* tracks by their numbers; who was seen once has no speed */
    told = ask(v, TRACKS, NULL);
    const char *at[4] = {strstr(told, "{\"id\":0,\"name\":\"Al\",\"first\":0,\"last\":0,\"seen\":1,"
                                      "\"covered\":0,\"gaps\":0,\"longest_gap\":0,"),
                         strstr(told, "{\"id\":2,\"name\":\"\","), strstr(told, "{\"id\":5,\"name\":\"\","),
                         strstr(told, "{\"id\":7,\"name\":\"\",")};
    assert_true(at[0] && at[1] > at[0] && at[2] > at[1] && at[3] > at[2]);
    assert_int_equal(count(told, "\"id\":"), 4);
    assert_int_equal(count(told, "\"seconds\":0,\"speed\":null,"), 4);
    assert_non_null(strstr(told, "],\"frames\":1}"));
    sk_run_view_close(&v);
}

/* 5 pixels in a step: of the frames' times where those differ, of the rate where not, of a 25th of a second where there is none. */
static void speeds_without_times(void **state)
{
    (void)state;
    static const struct {
        double rate, step, speed;
    } rows[] = {{10, 0, 50}, {0, 0, 125}, {10, 0.5, 10}, {10, -1, 50}, {1, 0, 5}, {0.5, 0, 2.5}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_text lines = {.limit = 1 << 20};
        sk_run_point points[4];
        int32_t n = 0;
        put_record("speeds", rows[i].rate);
        for (int f = 0; f < 3; f++) {
            add_frame(&lines, f, 4 + rows[i].step * f);
            add(&lines, 0, 3, 10 + 3 * f, 10 + 4 * f, 6);
            sk_text_append(&lines, "]}\n");
        }
        sk_run_view *v = look("speeds", &lines);
        const sk_run_series whole = {.track = 3, .other = -1, .from = 0, .to = -1, .most = 100000};
        assert_ok(sk_run_view_series(v, &whole, points, &n, &err), &err);
        assert_true(n == 3 && isnan(points[0].speed) && fabs(points[1].speed - rows[i].speed) < 1e-3 &&
                    fabs(points[2].speed - rows[i].speed) < 1e-3);
        const sk_run_series begun = {.track = 3, .other = -1, .from = 0, .to = 0, .most = 4};
        assert_ok(sk_run_view_series(v, &begun, points, &n, &err), &err);
        assert_true(n == 1 && points[0].frame == 0); /* to the first one, not to the end */
        /* 6 radians are 343.8 degrees, 16.2 before a whole turn */
        const sk_run_plot plot = {.kind = "heading", .points = 1, .from = 2, .to = 2};
        const char *told = ask(v, PLOT, &plot);
        const char *value = strstr(told, "\"value\":[");
        assert_true(value && fabs(strtod(value + 9, NULL) + 16.2253) < 1e-3);
        assert_non_null(strstr(told, "{\"unit\":\"°\",\"series\":[{\"id\":3,\"frame\":[2],"));
        sk_run_view_close(&v);
    }
}

static void as_much_as_a_plot_takes(void **state)
{
    (void)state;
    enum { N = 14 };
    sk_text lines = {.limit = 1 << 20};
    int32_t tracks[SK_RUN_PLOT_TRACKS + 1];
    put_record("plots", 10);
    for (int f = 0; f < 3; f++) {
        add_frame(&lines, f, 0.1 * f);
        for (int i = 0; i < N; i++)
            add(&lines, 0, i, 10 * i, f, 0);
        sk_text_append(&lines, "]}\n");
    }
    for (int i = 0; i <= SK_RUN_PLOT_TRACKS; i++)
        tracks[i] = i;
    sk_run_view *v = look("plots", &lines);
    sk_run_plot plot = {.kind = "speed", .points = 100000, .to = -1};
    const char *told = ask(v, PLOT, &plot);
    assert_int_equal(count(told, "\"id\":"), 12);
    assert_non_null(
        strstr(told, "{\"unit\":\"px/s\",\"series\":[{\"id\":0,\"frame\":[0,1,2],\"value\":[null,"));
    plot.kind = "distance";
    told = ask(v, PLOT, &plot);
    assert_int_equal(count(told, "\"a\":"), 28);
    assert_int_equal(count(told, "\"a\":0,"), 7);
    assert_int_equal(count(told, "\"a\":6,\"b\":7,\"frame\":[0,1,2],\"value\":[10,10,10]}"), 1);
    assert_int_equal(count(told, "\"b\":8,"), 0);
    assert_non_null(strstr(told, "{\"unit\":\"px\",\"series\":[{\"a\":0,\"b\":1,"));
    plot.tracks = tracks, plot.n_tracks = 3;
    assert_int_equal(count(ask(v, PLOT, &plot), "\"a\":"), 3);
    plot.n_tracks = 1; /* no pair */
    assert_string_equal(ask(v, PLOT, &plot), "{\"unit\":\"px\",\"series\":[]}\n");
    plot.kind = "trajectory", plot.n_tracks = SK_RUN_PLOT_TRACKS, plot.points = 1;
    told = ask(v, PLOT, &plot);
    assert_int_equal(count(told, "\"id\":"), SK_RUN_PLOT_TRACKS);
    assert_non_null(strstr(told, "{\"series\":[{\"id\":0,\"frame\":[0],\"x\":[0],\"y\":[0]},"));
    assert_non_null(strstr(told, "{\"id\":63,\"frame\":[0],\"x\":[null],\"y\":[null]}]}"));
    sk_text unused = {.limit = 1 << 20};
    sk_json j = sk_json_to_text(&unused, 0);
    plot.n_tracks++;
    assert_int_equal(sk_run_view_json_plot(v, &plot, &j, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "65 tracks in one plot: at most 64");
    static const int32_t wrong[] = {0, -1, 100001};
    plot.n_tracks = 1;
    for (int i = 0; i < 3; i++) {
        char words[64];
        plot.points = wrong[i];
        assert_int_equal(sk_run_view_json_plot(v, &plot, &j, &err), SK_ERR_ARG);
        snprintf(words, sizeof words, "%d points: 1 to 100000 can be had", wrong[i]);
        assert_string_equal(err.message, words);
    }
    sk_text_free(&unused);
    sk_run_view_close(&v);
}

static int64_t tracks_counted(const sk_run_view *v)
{
    sk_run_view_info info;
    sk_run_view_get_info(v, &info);
    return info.tracks;
}

/* What was summed up stays while nothing has changed; not once frames have come, or corrections of somebody else. */
static void a_second_look(void **state)
{
    (void)state;
    const sk_movement *m = NULL;
    const sk_suspects *suspects = NULL;
    sk_text lines = {.limit = 1 << 20};
    sk_run_view *other = NULL;
    put_record("again", 10);
    add_frame(&lines, 0, 0);
    add(&lines, 0, 0, 10, 10, 0);
    add(&lines, 0, 1, 30, 10, 0);
    sk_text_append(&lines, "]}\n");
    sk_run_view *v = look("again", &lines);
    assert_int_equal(tracks_counted(v), -1);
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_int_equal(tracks_counted(v), 2);
    assert_ok(sk_run_view_refresh(v, &err), &err);
    assert_int_equal(tracks_counted(v), 2);
    FILE *f = fopen("again/results.jsonl", "a");
    assert_non_null(f);
    add_frame(&lines, 1, 0.1);
    add(&lines, 0, 4, 12, 10, 0);
    sk_text_append(&lines, "]}\n");
    assert_true(fputs(sk_text_get(&lines), f) >= 0 && fclose(f) == 0);
    sk_text_free(&lines);
    assert_ok(sk_run_view_refresh(v, &err), &err);
    assert_int_equal(tracks_counted(v), -1);
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_true(m->n_tracks == 3 && m->frames == 2);
    assert_ok(sk_run_view_open("again", &other, &err), &err);
    const sk_correction gone = {
        .kind = SK_CORRECTION_DELETE, .a = 1, .b = -1, .from = 0, .to = -1, .prefer = -1};
    assert_ok(sk_correct_step(other, SK_STEP_ADD, &gone, &err), &err);
    sk_run_view_close(&other);
    assert_ok(sk_run_view_refresh(v, &err), &err);
    assert_int_equal(tracks_counted(v), -1);
    assert_ok(sk_run_view_movement(v, &m, &suspects, &err), &err);
    assert_true(m->n_tracks == 2 && m->tracks[0].track == 0 && m->tracks[1].track == 4);
    bool has = true;
    assert_ok(sk_run_view_has(v, 4, 0, 0, &has, &err), &err);
    assert_false(has);
    assert_ok(sk_run_view_has(v, 4, 0, 1, &has, &err), &err);
    assert_true(has);
    sk_result_frame frame;
    assert_ok(sk_run_view_frame(v, 0, &frame, &err), &err);
    assert_true(frame.instances->count == 1 && frame.instances->items[0].track_id == 0 &&
                frame.sightings[0].track == 0 && frame.sightings[0].place == 0 && frame.width == 64);
    sk_run_view_close(&v);
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_names_and_sizes), cmocka_unit_test(speeds_without_times),
        cmocka_unit_test(as_much_as_a_plot_takes), cmocka_unit_test(a_second_look)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
