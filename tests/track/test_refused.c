/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused, by name, and what just passes; and detections of a whole video, read in any order. */
#include "support/fault.h"
#include "support/recorded.h"
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "track/assign.h"
#include "track/corrections.h"
#include "track/hydra_settings.h"
#include "track/offline.h"
#include "track/seen_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SETTING(field, least, most)                                                                          \
    {                                                                                                        \
#field, offsetof(sk_track_settings, field), false, least, most                                       \
    }
#define WHOLE(field, least, most)                                                                            \
    {                                                                                                        \
#field, offsetof(sk_track_settings, field), true, least, most                                        \
    }

static const struct {
    const char *name;
    size_t offset;
    bool whole;
    double least, most;
} bounds[] = {
    SETTING(fps, 0, 1e6),
    SETTING(body, 0, 1e6),
    WHOLE(steady, 0, 1),
    WHOLE(animals, 0, 65536),
    SETTING(filter.score, 0, 1e6),
    SETTING(filter.area_least, 0, 1e12),
    SETTING(filter.area_most, 0, 1e12),
    SETTING(filter.aspect_least, 0, 1e9),
    SETTING(filter.aspect_most, 0, 1e9),
    SETTING(filter.overlap, 0, 1),
    WHOLE(filter.most, 0, 65536),
    SETTING(motion.process_noise, 0, 1e6),
    SETTING(motion.longitudinal_noise, 0, 1e6),
    SETTING(motion.lateral_noise, 0, 1e6),
    SETTING(motion.measurement_noise, 0, 1e6),
    SETTING(motion.damping, 0, 1),
    SETTING(motion.maturity, 0, 1e6),
    SETTING(motion.young_retention, 0, 1),
    SETTING(motion.most_speed, 0, 1e6),
    SETTING(weights.position, 0, 1e6),
    SETTING(weights.heading, 0, 1e6),
    SETTING(weights.overlap, 0, 1e6),
    SETTING(weights.area, 0, 1e6),
    SETTING(weights.aspect, 0, 1e6),
    SETTING(weights.pose, 0, 1e6),
    SETTING(weights.looks, 0, 1e6),
    SETTING(weights.identity, 0, 1e6),
    SETTING(life.gate, 0, 1e6),
    SETTING(life.strong, 0, 1e6),
    SETTING(life.birth, 0, 1e6),
    SETTING(life.start, 0, 1e6),
    SETTING(life.covered, 0, 1e6),
    SETTING(life.lost, 0, 1e9),
    SETTING(life.recovery, 0, 1e6),
    SETTING(life.apart, 0, 1e6),
    SETTING(boxes.strong, 0, 1e6),
    SETTING(boxes.match, 0, 0.9999),
    SETTING(boxes.overlap, 0, 1),
    SETTING(boxes.kept, 0, 1e4),
    SETTING(boxes.inertia, 0, 1e3),
    WHOLE(boxes.span, 1, 30),
    WHOLE(boxes.hits, 0, 1e6),
};

static void set(sk_track_settings *s, size_t i, double value)
{
    char *at = (char *)s + bounds[i].offset;
    if (bounds[i].whole)
        memcpy(at, &(int32_t){(int32_t)value}, sizeof(int32_t));
    else
        memcpy(at, &value, sizeof value);
}

static void every_setting_has_its_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        for (int k = 0; k < 5; k++) {
            const double least = bounds[i].least, most = bounds[i].most;
            const double step = bounds[i].whole ? 1 : 1e-9 * fmax(most, 1);
            const double values[5] = {least, most, least - step, most + step, NAN};
            sk_track_settings s;
            sk_tracker *tracker = NULL;
            sk_error err = {0};
            char wanted[200];
            if (k == 4 && bounds[i].whole)
                continue;
            sk_track_defaults(&s);
            set(&s, i, values[k]);
            const sk_status status = sk_tracker_open(&s, &tracker, &err);
            if (k < 2) {
                assert_ok(status, &err);
                sk_tracker_close(&tracker);
                continue;
            }
            snprintf(wanted, sizeof wanted, "%s is %g; it must be between %g and %g", bounds[i].name,
                     values[k], least, most);
            assert_int_equal(status, SK_ERR_ARG);
            assert_null(tracker);
            if (!strstr(err.message, wanted))
                fail_msg("'%s' instead of '%s'", err.message, wanted);
        }
}

static void defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    sk_offline_settings s;
    memset(&s, 0x55, sizeof s);
    sk_offline_defaults(&s);
    assert_true(s.backward && !s.upstream && s.stitch_gap == 4 && s.method == SK_INTERPOLATION_LINEAR);
    assert_true(s.interpolate_gap == 0.5 && s.flip_burst == 5 && s.shortest == 0.33 && s.velocity_limit == 0);
    assert_true(s.smoothing == 0 && !s.told && !s.stop && !s.context);
    assert_string_equal(s.track.method, "skitter");
    assert_true(!s.track.tell_covered && !s.track.tell_lost && !s.track.filter.region && !s.track.boxes.weak);
    static const double usual[] = {0,    0,    1,    0,    0.1, 0, 0,    0,   0,   1,   0, 0.03, 5, 0.1,
                                   0.04, 0.95, 0.17, 0,    2,   1, 0.75, 2,   2,   1,   2, 1,    4, 2,
                                   0.5,  0.6,  0,    0.33, 10,  0, 0.25, 0.6, 0.9, 0.3, 1, 0.1,  3, 3};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const char *at = (const char *)&s.track + bounds[i].offset;
        double value;
        int32_t number;
        memcpy(&value, at, sizeof value);
        memcpy(&number, at, sizeof number);
        if ((bounds[i].whole ? number : value) != usual[i])
            fail_msg("%s is %g by default, not %g", bounds[i].name, bounds[i].whole ? number : value,
                     usual[i]);
    }
}

static sk_detection at(double x, double y)
{
    sk_detection d = {.x = x, .y = y, .score = 0.9, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(&d, 40, 10, 0);
    sk_detection_set_box(&d);
    return d;
}

static void callers_mistakes_are_refused(void **state)
{
    (void)state;
    sk_error err;
    sk_track_settings s;
    sk_tracker *tracker = NULL;
    const sk_sighting *out;
    int32_t n;
    const sk_detection d = at(5, 5);
    sk_track_defaults(&s);
    assert_int_equal(sk_tracker_open(&s, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_tracker_open(NULL, &tracker, &err), SK_ERR_ARG);
    s.method = NULL;
    assert_int_equal(sk_tracker_open(&s, &tracker, &err), SK_ERR_ARG);
    s.method = "skitter";
    assert_ok(sk_tracker_open(&s, &tracker, &err), &err);
    assert_int_equal(sk_tracker_step(NULL, 0, 0, &d, 1, &out, &n, &err), SK_ERR_ARG);
    assert_int_equal(sk_tracker_step(tracker, 0, 0, &d, 1, NULL, &n, &err), SK_ERR_ARG);
    assert_int_equal(sk_tracker_step(tracker, 0, 0, &d, 1, &out, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_tracker_step(tracker, 0, 0, &d, -1, &out, &n, &err), SK_ERR_ARG);
    assert_int_equal(sk_tracker_step(tracker, 0, 0, NULL, 1, &out, &n, &err), SK_ERR_ARG);
    assert_ok(sk_tracker_step(tracker, 0, 0, NULL, 0, &out, &n, &err), &err);
    assert_int_equal(sk_tracker_step(tracker, 0, 0, &d, 1, &out, &n, &err),
                     SK_ERR_ARG); /* the same frame again */
    assert_string_equal(err.message, "frame 0 comes after frame 0: frames are tracked in order");
    assert_ok(sk_tracker_step(tracker, 1, 0.04, &d, 1, &out, &n, &err), &err);
    sk_tracker_close(&tracker);
    sk_tracker_close(&tracker);
    sk_tracker_close(NULL);
    assert_true(sk_track_method_counts("skitter"));
    assert_false(sk_track_method_counts("bytetrack") || sk_track_method_counts("ocsort") ||
                 sk_track_method_counts("hope"));
    sk_assign *assign = NULL;
    int32_t column[2];
    const sk_assign_pair pair = {0, 0, -1};
    assert_int_equal(sk_assign_open(NULL, &err), SK_ERR_ARG);
    assert_ok(sk_assign_open(&assign, &err), &err);
    assert_int_equal(sk_assign_solve(NULL, 1, 1, &pair, 1, NULL, column, &err), SK_ERR_ARG);
    assert_int_equal(sk_assign_solve(assign, -1, 1, &pair, 0, NULL, column, &err), SK_ERR_ARG);
    assert_int_equal(sk_assign_solve(assign, 1, -1, &pair, 0, NULL, column, &err), SK_ERR_ARG);
    assert_int_equal(sk_assign_solve(assign, 1, 1, &pair, -1, NULL, column, &err), SK_ERR_ARG);
    assert_int_equal(sk_assign_solve(assign, 1, 1, NULL, 1, NULL, column, &err), SK_ERR_ARG);
    assert_int_equal(sk_assign_solve(assign, 1, 1, &pair, 1, NULL, NULL, &err), SK_ERR_ARG);
    assert_ok(sk_assign_solve(assign, 0, 1, NULL, 0, NULL, NULL, &err), &err);
    static const sk_assign_pair outside[] = {{-1, 0, -1}, {1, 0, -1}, {0, -1, -1}, {0, 2, -1}};
    for (int i = 0; i < 4; i++) {
        char wanted[100];
        assert_int_equal(sk_assign_solve(assign, 1, 2, &outside[i], 1, NULL, column, &err), SK_ERR_ARG);
        snprintf(wanted, sizeof wanted, "pair 0 of row %d and column %d, of 1 x 2", outside[i].row,
                 outside[i].column);
        assert_non_null(strstr(err.message, wanted));
    }
    const double endless[2] = {0, INFINITY};
    assert_int_equal(sk_assign_solve(assign, 2, 1, &pair, 1, endless, column, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "staying apart costs row 1 inf"));
    sk_assign_close(&assign);
}

static void offline_mistakes_are_refused(void **state)
{
    (void)state;
    sk_error err;
    sk_offline_settings s;
    sk_offline *o = NULL;
    const sk_sighting *out;
    int64_t frame;
    int32_t n;
    const sk_detection d = at(5, 5);
    sk_offline_defaults(&s);
    s.track.life.gate = -1;
    assert_int_equal(sk_offline_open(&s, NULL, &o, &err), SK_ERR_ARG);
    assert_null(o);
    sk_offline_defaults(&s);
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    assert_int_equal(sk_offline_add(o, 0, 0, &d, -1, &err), SK_ERR_ARG);
    assert_int_equal(sk_offline_read(o, 0, &frame, &out, &n, &err), SK_ERR_ARG);
    assert_ok(sk_offline_add(o, 4, 0, &d, 1, &err), &err);
    assert_int_equal(sk_offline_add(o, 4, 0.1, &d, 1, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "frame 4 comes after frame 4");
    assert_int_equal(sk_offline_add(o, 5, 0.1, &d, 65537, &err), SK_ERR_LIMIT);
    assert_string_equal(err.message, "frame 5 has 65537 detections; at most 65536 can be tracked");
    assert_ok(sk_offline_add(o, 5, 0.1, &d, 1, &err), &err);
    assert_ok(sk_offline_finish(o, &err), &err);
    assert_int_equal(sk_offline_finish(o, &err), SK_ERR_ARG);
    assert_int_equal(sk_offline_add(o, 6, 0.2, &d, 1, &err), SK_ERR_ARG);
    assert_ok(sk_offline_read(o, 1, &frame, &out, &n, &err), &err);
    assert_int_equal(frame, 5);
    assert_int_equal(sk_offline_read(o, 2, &frame, &out, &n, &err), SK_ERR_ARG);
    assert_int_equal(sk_offline_read(o, -1, &frame, &out, &n, &err), SK_ERR_ARG);
    sk_offline_close(&o);
    assert_null(o);
}

static bool at_once(void *context)
{
    ++*(int *)context;
    return true;
}

static void a_stop_is_heard(void **state)
{
    (void)state;
    sk_error err;
    sk_offline_settings s;
    sk_offline *o = NULL;
    int asked = 0;
    sk_offline_defaults(&s);
    s.stop = at_once;
    s.context = &asked;
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    for (int frame = 0; frame < 600; frame++) {
        const sk_detection d = at(5 + frame, 5);
        assert_ok(sk_offline_add(o, frame, frame / 25.0, &d, 1, &err), &err);
    }
    assert_int_equal(sk_offline_finish(o, &err), SK_ERR_CANCELLED);
    assert_true(asked > 0);
    sk_offline_close(&o);
}

/* --- the store --- */

static int32_t fill_frame(int at_frame, sk_detection *all, sk_keypoint *points, float *looks)
{
    /* from none to more than a whole window of the file */
    const int32_t n = at_frame == 9 ? 1600 : at_frame == 14 ? 420 : at_frame % 13 * 9;
    for (int32_t i = 0; i < n; i++) {
        all[i] = (sk_detection){.x = at_frame, .y = i, .score = 0.5, .class_id = i % 7};
        if (i % 3 == 1) {
            all[i].points = points;
            all[i].n_points = 2;
        }
        if (i % 5 == 2)
            all[i].looks = looks;
    }
    points[0] = (sk_keypoint){(float)at_frame, 1, 2};
    points[1] = (sk_keypoint){3, (float)at_frame, 4};
    for (int i = 0; i < SK_TRACK_LOOKS; i++)
        looks[i] = (float)(at_frame + i);
    return n;
}

static void check_frame(sk_seen_store *store, int at_frame, int64_t first)
{
    static sk_detection all[1600];
    sk_keypoint points[2];
    float looks[SK_TRACK_LOOKS];
    sk_error err;
    sk_stored_frame f;
    const int32_t n = fill_frame(at_frame, all, points, looks);
    assert_ok(sk_seen_store_read(store, at_frame, &f, &err), &err);
    assert_true(f.frame == 2 * at_frame && f.time == 0.5 * at_frame && f.n == n && f.first == first);
    for (int32_t i = 0; i < n; i++) {
        assert_true(f.detections[i].x == at_frame && f.detections[i].y == i &&
                    f.detections[i].class_id == i % 7);
        assert_true((f.detections[i].points != NULL) == (i % 3 == 1) &&
                    (f.detections[i].looks != NULL) == (i % 5 == 2));
        if (i % 3 == 1)
            assert_memory_equal(f.detections[i].points, points, sizeof points);
        if (i % 5 == 2)
            assert_memory_equal(f.detections[i].looks, looks, sizeof looks);
    }
}

static void what_was_stored_is_read_in_any_order(void **state)
{
    (void)state;
    enum { N = 140 };
    static sk_detection all[1600];
    static int64_t first[N + 1];
    sk_keypoint points[2];
    float looks[SK_TRACK_LOOKS];
    sk_error err;
    char path[4200];
    snprintf(path, sizeof path, "%s/store", test_folder());
    for (int in_file = 0; in_file < 2; in_file++) {
        sk_seen_store *store = NULL, *reader = NULL;
        assert_ok(sk_seen_store_open(in_file ? path : NULL, &store, &err), &err);
        assert_false(sk_file_exists(path)); /* it has no name */
        for (int i = 0; i < N; i++) {
            const int32_t n = fill_frame(i, all, points, looks);
            assert_ok(sk_seen_store_add(store, 2 * i, 0.5 * i, all, n, &err), &err);
            first[i + 1] = first[i] + n;
            if (i == 70)
                check_frame(store, 70, first[70]); /* before all is written */
        }
        assert_int_equal(sk_seen_store_frames(store), N);
        assert_int_equal(sk_seen_store_detections(store), first[N]);
        assert_ok(sk_seen_store_reader(store, &reader, &err), &err);
        for (int k = 0; k < 2; k++) {
            sk_seen_store *from = k ? reader : store;
            for (int i = 0; i < N; i++)
                check_frame(from, i, first[i]);
            for (int i = N; i-- > 0;)
                check_frame(from, i, first[i]);
            for (int i = 0; i < N; i++)
                check_frame(from, i * 57 % N, first[i * 57 % N]);
        }
        sk_stored_frame f;
        assert_int_equal(sk_seen_store_read(store, N, &f, &err), SK_ERR_ARG);
        assert_int_equal(sk_seen_store_read(store, -1, &f, &err), SK_ERR_ARG);
        void *columns[9];
        for (int i = 0; i < 8; i++) {
            columns[i] = sk_seen_store_column(store, 4, &err);
            assert_non_null(columns[i]);
            for (int64_t k = 0; k < first[N]; k++)
                assert_true(((int32_t *)columns[i])[k] == 0);
            memset(columns[i], 1, (size_t)first[N] * 4);
        }
        assert_null(sk_seen_store_column(store, 4, &err)); /* more than there may be */
        assert_non_null(strstr(err.message, "more than 8 columns"));
        sk_seen_store_drop_column(store, columns[3]);
        sk_seen_store_drop_column(store, NULL);
        columns[3] = sk_seen_store_column(store, 4, &err);
        assert_non_null(columns[3]);
        assert_true(((int32_t *)columns[3])[first[N] - 1] == 0 && ((int32_t *)columns[4])[5] == 0x01010101);
        sk_seen_store_close(&reader);
        sk_seen_store_close(&store);
        assert_null(store);
        sk_seen_store_close(&store);
    }
    sk_seen_store *store = NULL;
    assert_int_not_equal(sk_seen_store_open(test_missing("store"), &store, &err), SK_OK);
    assert_null(store);
}

/* --- files of others --- */

static sk_text said;

static const char *say_corrections(const unsigned char *bytes, size_t length)
{
    sk_corrections list = {0}, other = {0};
    const char *line = (const char *)bytes, *end = line + length;
    sk_text_free(&said);
    said = (sk_text){0};
    sk_text_append(&said, "ok ");
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        const size_t n = stop ? (size_t)(stop - line) : (size_t)(end - line);
        sk_error err = {0};
        if (sk_corrections_read(&list, line, n, "in", &err) != SK_OK)
            sk_text_appendf(&said, "%d %s; ", (int)err.code, recorded_own_words(err.message));
        line += n + 1;
        if (!stop)
            break;
    }
    sk_text_appendf(&said, "%zu, %zu undone; ", list.count, list.undone);
    for (int64_t frame = 0; frame < 200; frame += 25) {
        int32_t tracks[6] = {0, 1, 2, 3, 9, 10};
        sk_corrections_apply(&list, frame, tracks, 6);
        for (int i = 0; i < 6; i++)
            sk_text_appendf(&said, "%d ", tracks[i]);
    }
    sk_error err = {0};
    for (size_t i = 0; i < list.count; i++) {
        sk_text written = {0};
        sk_json json = sk_json_to_text(&written, 0);
        const char *name = sk_corrections_name(&list, list.items[i].a);
        sk_text_appendf(&said, "%s; ", name ? name : "-");
        sk_correction_describe(&list.items[i], &said);
        sk_correction_write(SK_STEP_ADD, &list.items[i], i % 2 ? "now" : NULL, &json);
        assert_ok(sk_json_end(&json, &err), &err);
        sk_text_appendf(&said, " %s; ", sk_text_get(&written));
        const char *text = sk_text_get(&written);
        assert_ok(sk_corrections_read(&other, text, strlen(text), "own", &err), &err);
        sk_text_free(&written);
        assert_true(i + 1 == list.count || !sk_corrections_same(&list, &other));
    }
    other.undone = list.undone;
    if (!list.undone)
        assert_true(sk_corrections_same(&list, &other)); /* written and read they are the same */
    other.undone = 0;
    sk_corrections_free(&list);
    sk_corrections_free(&other);
    return sk_text_get(&said);
}

static const char *say_hydra(const unsigned char *bytes, size_t length)
{
    sk_hydra_config *config = NULL;
    sk_region *region = NULL;
    sk_error err = {0};
    sk_offline_settings s;
    sk_offline_defaults(&s);
    sk_text_free(&said);
    said = (sk_text){0};
    sk_status status = sk_hydra_config_open((const char *)bytes, length, "in", &config, &err);
    if (status == SK_OK) {
        status = sk_hydra_settings(config, "in", &s, &region, &err);
        sk_text_appendf(&said, "ok unknown '%s' ", sk_hydra_unknown(config));
    }
    if (status != SK_OK)
        sk_text_appendf(&said, "%d %s", (int)status, recorded_own_words(err.message));
    for (size_t i = 0; status == SK_OK && i < sizeof bounds / sizeof *bounds; i++) {
        const char *place = (const char *)&s.track + bounds[i].offset;
        double value;
        int32_t number;
        memcpy(&value, place, sizeof value);
        memcpy(&number, place, sizeof number);
        sk_text_appendf(&said, "%.9g ", bounds[i].whole ? number : value);
    }
    if (status == SK_OK)
        sk_text_appendf(&said, "%d %d %.9g %d %.9g %d %.9g %.9g %.9g", s.backward, s.upstream, s.stitch_gap,
                        (int)s.method, s.interpolate_gap, s.flip_burst, s.shortest, s.velocity_limit,
                        s.smoothing);
    for (int i = 0; region && i < 36; i++)
        sk_text_appendf(&said, "%d", sk_region_holds(region, 100.0 * (i % 6) + 50, 100.0 * i / 6 + 20));
    sk_region_close(&region);
    sk_hydra_config_close(&config);
    return sk_text_get(&said);
}

static void seeds_are_read_as_ever(void **state)
{
    (void)state;
    recorded_replay("tests/fixtures/track/recorded/corrections.txt", "fuzz/seeds/corrections",
                    say_corrections);
    recorded_replay("tests/fixtures/track/recorded/hydra_config.txt", "fuzz/seeds/hydra_config", say_hydra);
    sk_text_free(&said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_setting_has_its_bounds),
                                       cmocka_unit_test(defaults_are_those_of_the_manual),
                                       cmocka_unit_test(callers_mistakes_are_refused),
                                       cmocka_unit_test(offline_mistakes_are_refused),
                                       cmocka_unit_test(a_stop_is_heard),
                                       cmocka_unit_test(what_was_stored_is_read_in_any_order),
                                       cmocka_unit_test(seeds_are_read_as_ever)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
