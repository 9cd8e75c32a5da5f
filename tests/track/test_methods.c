/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "track/track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1200, FRAMES = 60 };

typedef struct rows {
    sk_detection all[MOST];
    int32_t first[FRAMES + 2];
    int32_t n;
} rows;

/* tests/fixtures/track/methods: half of the picture of a scene with 20 fish, detected badly (bench/track/rows.py). */
static void read_rows(rows *r, bool turned)
{
    FILE *file = fopen(test_source("tests/fixtures/track/methods/rows.txt"), "r");
    assert_non_null(file);
    int frame, at = 0;
    double v[13];
    *r = (rows){0};
    while (fscanf(file, "%d,-1,%lf,%lf,%lf,%lf,%lf,%lf,-1,-1,%lf,%lf,%lf,%lf,%lf", &frame, v, v + 1, v + 2,
                  v + 3, v + 4, v + 5, v + 6, v + 7, v + 8, v + 9, v + 10) == 12) {
        assert_true(r->n < MOST && frame >= 1 && frame <= FRAMES);
        for (; at <= frame; at++)
            r->first[at] = r->n;
        sk_detection *d = &r->all[r->n++];
        *d = (sk_detection){.score = v[4], .class_id = 0, .identity = -1};
        d->x = turned ? v[6] : v[0] + v[2] / 2;
        d->y = turned ? v[7] : v[1] + v[3] / 2;
        d->box[0] = v[0];
        d->box[1] = v[1];
        d->box[2] = v[0] + v[2];
        d->box[3] = v[1] + v[3];
        sk_detection_set_oriented(d, turned ? v[8] : v[2], turned ? v[9] : v[3], turned ? v[10] : 0);
        d->upright = !turned;
    }
    for (; at < FRAMES + 2; at++)
        r->first[at] = r->n;
    fclose(file);
    assert_true(r->n > 500);
}

/* Every detection that boxmot 25 gave to a track is in a track of ours, and numbers go together one to one. */
static void follow_as_boxmot(const char *method, bool turned)
{
    static rows r;
    sk_error err;
    sk_track_settings settings;
    sk_tracker *tracker;
    char path[512];
    int frame, detection, track, told = 0, expected = 0;
    int ours_of[256], theirs_of[256];
    memset(ours_of, -1, sizeof ours_of);
    memset(theirs_of, -1, sizeof theirs_of);
    read_rows(&r, turned);
    sk_track_defaults(&settings);
    settings.method = method;
    settings.fps = 30;
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    snprintf(path, sizeof path, "%s/%s_%s.txt", test_source("tests/fixtures/track/methods"), method,
             turned ? "turned" : "upright");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    bool more = fscanf(file, "%d,%d,%d", &frame, &detection, &track) == 3;
    for (int f = 1; f <= FRAMES; f++) {
        const sk_sighting *out;
        int32_t n;
        int number[64];
        memset(number, -1, sizeof number);
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, r.all + r.first[f], r.first[f + 1] - r.first[f], &out,
                                  &n, &err),
                  &err);
        for (int32_t i = 0; i < n; i++) {
            assert_in_range(out[i].detection, 0, 63);
            assert_true(i == 0 || out[i].place > out[i - 1].place);
            assert_true(out[i].score == r.all[r.first[f] + out[i].detection].score && out[i].certainty > 0);
            number[out[i].detection] = out[i].track;
        }
        told += n;
        for (; more && frame == f;
             more = fscanf(file, "%d,%d,%d", &frame, &detection, &track) == 3, expected++) {
            const int mine = number[detection];
            if (mine < 0)
                fail_msg("%s frame %d: detection %d is in no track, boxmot has it in %d", path, f, detection,
                         track);
            assert_true(mine < 256 && track < 256);
            if (ours_of[track] < 0 && theirs_of[mine] < 0) {
                ours_of[track] = mine;
                theirs_of[mine] = track;
            }
            if (ours_of[track] != mine || theirs_of[mine] != track)
                fail_msg("%s frame %d: detection %d is in track %d, boxmot's %d", path, f, detection, mine,
                         track);
        }
    }
    assert_true(expected > 500);
    assert_int_equal(told, expected);
    fclose(file);
    sk_tracker_close(&tracker);
}

static void bytetrack_follows_as_boxmot_does(void **state)
{
    (void)state;
    follow_as_boxmot("bytetrack", false);
    follow_as_boxmot("bytetrack", true);
}

static void ocsort_follows_as_boxmot_does(void **state)
{
    (void)state;
    follow_as_boxmot("ocsort", false);
    follow_as_boxmot("ocsort", true);
}

static sk_detection box(double x, double y, double score)
{
    sk_detection d = {.x = x, .y = y, .score = score, .class_id = 0, .identity = -1};
    sk_detection_set_oriented(&d, 40, 20, 0);
    d.upright = true;
    d.box[0] = x - 20;
    d.box[1] = y - 10;
    d.box[2] = x + 20;
    d.box[3] = y + 10;
    return d;
}

static sk_tracker *open_method(const char *method)
{
    sk_error err;
    sk_track_settings settings;
    sk_tracker *tracker;
    sk_track_defaults(&settings);
    settings.method = method;
    settings.fps = 30;
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    return tracker;
}

/* ByteTrack's point: a covered animal's weak detections keep its track alive, and begin none. */
static void weak_detections_keep_a_track_and_begin_none(void **state)
{
    (void)state;
    sk_error err;
    sk_tracker *tracker = open_method("bytetrack");
    for (int f = 0; f < 40; f++) {
        const sk_detection d[2] = {box(100 + 2 * f, 100, f % 20 < 5 ? 0.9 : 0.3), box(400, 300, 0.3)};
        const sk_sighting *out;
        int32_t n;
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, d, 2, &out, &n, &err), &err);
        assert_int_equal(n, 1);
        assert_int_equal(out[0].track, 0);
        assert_int_equal(out[0].detection, 0);
    }
    sk_tracker_close(&tracker);
}

/* Strong is above the one threshold, weak lies between it and the other: what is exactly one of them is neither. */
static void thresholds_belong_to_nobody(void **state)
{
    (void)state;
    static const struct {
        double score;
        bool taken;
    } cases[] = {{0.3, false}, {0.31, true}, {0.59, true}, {0.6, false}, {0.61, true}};
    static const char *const methods[] = {"bytetrack", "ocsort"};
    for (int m = 0; m < 2; m++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            sk_error err;
            sk_track_settings settings;
            sk_tracker *tracker;
            const sk_sighting *out;
            int32_t n = 0;
            sk_track_defaults(&settings);
            settings.method = methods[m];
            settings.fps = 30;
            settings.filter.score = 0.3;
            settings.boxes.strong = 0.6;
            settings.boxes.weak = true;
            assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
            for (int f = 0; f < 12; f++) {
                const sk_detection d = box(100 + 2 * f, 100, f < 11 ? 0.9 : cases[i].score);
                assert_ok(sk_tracker_step(tracker, f, f / 30.0, &d, 1, &out, &n, &err), &err);
            }
            if (n != cases[i].taken)
                fail_msg("%s: a detection of %g is %s", methods[m], cases[i].score, n ? "taken" : "left");
            sk_tracker_close(&tracker);
        }
}

/* OC-SORT: one that grows goes on growing while it is hidden; how long it is beside its width stays. */
static void hidden_ones_go_on_growing(void **state)
{
    (void)state;
    sk_error err;
    sk_track_settings settings;
    sk_tracker *tracker;
    sk_track_defaults(&settings);
    settings.method = "ocsort";
    settings.fps = 30;
    settings.steady = 0;
    settings.tell_covered = true;
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    double before = 0;
    for (int f = 0; f < 44; f++) {
        sk_detection d = box(300, 300, 0.9);
        const double h = sqrt(400 + 60 * f), w = 2 * h; /* its area grows evenly */
        sk_detection_set_oriented(&d, w, h, 0);
        d.box[0] = 300 - w / 2, d.box[2] = 300 + w / 2, d.box[1] = 300 - h / 2, d.box[3] = 300 + h / 2;
        const sk_sighting *out;
        int32_t n;
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, &d, f < 40, &out, &n, &err), &err);
        if (f < 36)
            continue;
        assert_int_equal(n, 1);
        assert_true(fabs(out[0].major / out[0].minor - 2) < 0.02);
        assert_true(out[0].major > before + 0.4 && fabs(out[0].major - w) < 1);
        before = out[0].major;
    }
    sk_tracker_close(&tracker);
}

/* A gap shorter than what is kept is bridged, a longer one is not; numbers are never given twice, places are. */
static void gaps_are_bridged_while_tracks_are_kept(void **state)
{
    (void)state;
    static const char *const methods[] = {"bytetrack", "ocsort"};
    for (int m = 0; m < 2; m++) {
        sk_error err;
        sk_tracker *tracker = open_method(methods[m]);
        int32_t last = -1;
        for (int f = 0; f < 130; f++) {
            const sk_detection d = box(100 + f, 100, 0.9);
            const sk_sighting *out;
            int32_t n;
            const bool seen = f < 20 || (f >= 30 && f < 50) || f >= 100;
            assert_ok(sk_tracker_step(tracker, f, f / 30.0, &d, seen, &out, &n, &err), &err);
            assert_true(n <= seen);
            for (int32_t i = 0; i < n; i++) {
                assert_int_equal(out[i].place, 0);
                last = out[i].track;
            }
            assert_int_equal(last, f < 100 ? 0 : n ? 1 : last);
        }
        assert_int_equal(last, 1);
        sk_tracker_close(&tracker);
    }
}

/* Three animals of which each is not found for two seconds, elsewhere when it comes back, and false detections that come and go: the
 * methods number them anew each time, told are three identities, and nobody's is another's while both are seen. */
static void a_fixed_number_of_animals(void **state)
{
    (void)state;
    static const char *const methods[] = {"bytetrack", "ocsort"};
    for (int m = 0; m < 2; m++) {
        sk_error err;
        sk_track_settings settings;
        sk_tracker *tracker;
        sk_track_defaults(&settings);
        settings.method = methods[m];
        settings.fps = 30;
        settings.animals = 3;
        assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
        int of[4] = {-1, -1, -1, -1}, told = 0;
        for (int f = 0; f < 900; f++) {
            sk_detection d[4];
            int who[4], count = 0;
            const sk_sighting *out;
            int32_t n;
            for (int k = 0; k < 3; k++)
                if (f / 100 % 3 != k || f % 100 < 40 || f < 100) {
                    who[count] = k;
                    d[count++] = box(100 + 200 * k + 0.1 * f, 100 + (f >= 100 * k + 90 ? 60 : 0), 0.9);
                }
            if (f >= 150 && f % 100 > 60 && f % 100 < 70) { /* while one is missing */
                who[count] = 3;
                d[count++] = box(300, 600, 0.9);
            }
            assert_ok(sk_tracker_step(tracker, f, f / 30.0, d, count, &out, &n, &err), &err);
            for (int32_t i = 0; i < n; i++) {
                assert_in_range(out[i].track, 0, 2);
                assert_int_equal(out[i].place, out[i].track);
                assert_true(i == 0 || out[i].track > out[i - 1].track);
                const int k = who[out[i].detection];
                if (k < 3 && f > 10) {
                    assert_true(of[k] < 0 || of[k] == out[i].track);
                    of[k] = out[i].track;
                    told++;
                }
            }
        }
        assert_true(told > 2000);
        sk_tracker_close(&tracker);
    }
}

static void nothing_is_allocated_once_the_largest_frame_was_seen(void **state)
{
    (void)state;
    static const char *const methods[] = {"bytetrack", "ocsort"};
    for (int m = 0; m < 2; m++) {
        sk_error err;
        sk_tracker *tracker = open_method(methods[m]);
        uint64_t before = 0;
        for (int f = 0; f < 200; f++) {
            sk_detection d[40];
            const sk_sighting *out;
            int32_t n;
            for (int i = 0; i < 40; i++)
                d[i] = box(60 * (i % 8) + 20 * sin(0.1 * f + i), 60 * (i / 8) + 20 * cos(0.07 * f + i), 0.9);
            if (f == 60)
                before = sk_memory_allocations();
            assert_ok(sk_tracker_step(tracker, f, f / 30.0, d, f < 50 ? 40 : 30 + f % 10, &out, &n, &err),
                      &err);
        }
        assert_int_equal(sk_memory_allocations(), before);
        sk_tracker_close(&tracker);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytetrack_follows_as_boxmot_does),
        cmocka_unit_test(ocsort_follows_as_boxmot_does),
        cmocka_unit_test(weak_detections_keep_a_track_and_begin_none),
        cmocka_unit_test(thresholds_belong_to_nobody),
        cmocka_unit_test(hidden_ones_go_on_growing),
        cmocka_unit_test(gaps_are_bridged_while_tracks_are_kept),
        cmocka_unit_test(a_fixed_number_of_animals),
        cmocka_unit_test(nothing_is_allocated_once_the_largest_frame_was_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
