/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "track/offline.h"
#include "track/steady.h"
#include "track/votes.h"

#include <math.h>
#include <string.h>

/* What is told of tracks beside who they are: boxes and classes, online and offline. */

#define FRAMES  240
#define ANIMALS 3

static double noise(void)
{
    static uint64_t bits = 7;
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(bits >> 11) / 9007199254740992.0 - 0.5;
    }
    return sum * sqrt(3.0); /* nearly normal, variance 1 */
}

/* Swims in a circle of its own; `jitter` of the sides. */
static sk_detection animal(int who, int frame, double jitter, bool upright)
{
    const double t = frame * 0.03 + who, c = cos(t), s = sin(t);
    sk_detection d = {.x = 200 + 300 * who + 100 * c + 60 * jitter * noise(),
                      .y = 200 + 100 * s + 20 * jitter * noise(),
                      .score = 0.9,
                      .class_id = -1,
                      .identity = -1};
    sk_detection_set_oriented(&d, 60 * (1 + jitter * noise()), 20 * (1 + jitter * noise()),
                              t + 1.570796 + 1.5 * jitter * noise());
    sk_detection_set_box(&d);
    for (int i = 0; i < 4; i++)
        d.box[i] += jitter * 40 * noise();
    if (upright) {
        d.x = (d.box[0] + d.box[2]) / 2, d.y = (d.box[1] + d.box[3]) / 2;
        sk_detection_set_oriented(&d, d.box[2] - d.box[0], d.box[3] - d.box[1], 0);
        d.upright = true;
    }
    return d;
}

/* Mean distance of corners (upright), and of the turned box's numbers, from the truth. */
typedef struct off {
    double upright, turned;
} off;

static off off_of(const sk_told_box *box, const sk_detection *truth)
{
    off o = {0, 0};
    for (int i = 0; i < 4; i++)
        o.upright += fabs(box->upright[i] - truth->box[i]) / 4;
    const double t[4] = {truth->x, truth->y, truth->major, truth->minor};
    for (int i = 0; i < 4; i++)
        o.turned += fabs(box->turned[i] - t[i]) / 5;
    o.turned += 20 * fabs(remainder(box->turned[4] - truth->angle, M_PI)) / 5;
    return o;
}

static void add(off *sum, off more)
{
    sum->upright += more.upright;
    sum->turned += more.turned;
}

static sk_track_settings usual(bool steady)
{
    sk_track_settings s;
    sk_track_defaults(&s);
    s.fps = 30;
    s.steady = steady;
    return s;
}

/* How far off what is told is, online. */
static off follow(double jitter, bool steady, bool upright)
{
    const sk_track_settings settings = usual(steady);
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    off sum = {0, 0};
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    for (int f = 0; f < FRAMES; f++) {
        sk_detection d[ANIMALS];
        const sk_sighting *seen;
        int32_t n;
        for (int k = 0; k < ANIMALS; k++)
            d[k] = animal(k, f, jitter, upright);
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, d, ANIMALS, &seen, &n, &err), &err);
        for (int k = 0; k < n && f > 60; k++) {
            assert_true(seen[k].detection >= 0);
            const sk_detection truth = animal(seen[k].detection, f, 0, upright);
            add(&sum, off_of(&seen[k].box, &truth));
            if (!steady)
                assert_memory_equal(seen[k].box.upright, d[seen[k].detection].box, 4 * sizeof(double));
        }
    }
    sk_tracker_close(&tracker);
    return sum;
}

static void boxes_online_jitter_less(void **state)
{
    (void)state;
    const off raw = follow(0.03, false, false), told = follow(0.03, true, false);
    assert_true(told.upright < 0.8 * raw.upright);
    assert_true(told.turned < 0.8 * raw.turned);
    assert_true(follow(0.03, true, true).upright < 0.8 * follow(0.03, false, true).upright);
}

/* A detector without jitter: what is told hardly lags. */
static void boxes_that_do_not_jitter_stay(void **state)
{
    (void)state;
    const off told = follow(0, true, false);
    const double looks = (FRAMES - 61) * ANIMALS;
    assert_true(told.upright / looks < 0.15); /* pixels, of sides of 60; it moves by 3 a frame */
    assert_true(told.turned / looks < 0.15);
}

static off settle(double jitter, bool steady, bool upright, sk_error *err)
{
    sk_offline_settings s;
    sk_offline *o = NULL;
    off sum = {0, 0};
    sk_offline_defaults(&s);
    s.track = usual(steady);
    assert_ok(sk_offline_open(&s, NULL, &o, err), err);
    for (int f = 0; f < FRAMES; f++) {
        sk_detection d[ANIMALS];
        int n = 0;
        for (int k = 0; k < ANIMALS; k++)
            if ((f + 9 * k) % 31 > 1) /* two frames of 31 are missed */
                d[n++] = animal(k, f, jitter, upright);
        assert_ok(sk_offline_add(o, f, f / 30.0, d, n, err), err);
    }
    assert_ok(sk_offline_finish(o, err), err);
    assert_int_equal(sk_offline_tracks(o), ANIMALS);
    for (int f = 40; f < FRAMES - 40; f++) {
        const sk_sighting *seen;
        int64_t frame;
        int32_t n;
        assert_ok(sk_offline_read(o, f, &frame, &seen, &n, err), err);
        assert_int_equal(n, ANIMALS);
        for (int k = 0; k < n; k++) {
            const int who = (int)floor((seen[k].x - 50) / 300);
            const sk_detection truth = animal(who, f, 0, upright);
            add(&sum, off_of(&seen[k].box, &truth));
        }
    }
    sk_offline_close(&o);
    return sum;
}

static void boxes_offline_jitter_much_less(void **state)
{
    (void)state;
    sk_error err = {0};
    const off raw = settle(0.03, false, false, &err), told = settle(0.03, true, false, &err);
    assert_true(told.upright < 0.6 * raw.upright);
    assert_true(told.turned < 0.6 * raw.turned);
    assert_true(settle(0.03, true, true, &err).upright < 0.6 * settle(0.03, false, true, &err).upright);
    const double looks = (FRAMES - 80) * ANIMALS;
    assert_true(settle(0, true, false, &err).upright / looks < 0.15);
}

/* Nearly round boxes whose long side is now the one, now the other. */
static void round_boxes_do_not_spin(void **state)
{
    (void)state;
    const sk_track_settings settings = usual(true);
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    for (int f = 0; f < 90; f++) {
        const sk_sighting *seen;
        int32_t n;
        sk_detection d = {.x = 100 + f, .y = 100, .score = 0.9, .class_id = -1, .identity = -1};
        sk_detection_set_oriented(&d, f % 2 ? 41 : 40, f % 2 ? 40 : 41, 0.3);
        sk_detection_set_box(&d);
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, &d, 1, &seen, &n, &err), &err);
        if (f < 30)
            continue;
        assert_int_equal(n, 1);
        assert_true(fabs(remainder(seen->box.turned[4] - 0.3, M_PI / 2)) < 0.05);
        assert_true(fabs(seen->box.turned[2] - 40.5) < 1 && fabs(seen->box.turned[3] - 40.5) < 1);
        assert_true(seen->box.turned[2] >= seen->box.turned[3]);
    }
    sk_tracker_close(&tracker);
}

/* A covered one's box goes on as it went. */
static void covered_boxes_go_on(void **state)
{
    (void)state;
    sk_track_settings settings = usual(true);
    settings.tell_covered = true;
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    for (int f = 0; f < 66; f++) {
        const sk_sighting *seen;
        int32_t n;
        sk_detection d = {.x = 100 + 4 * f, .y = 100, .score = 0.9, .class_id = 3, .identity = -1};
        sk_detection_set_oriented(&d, 60, 20, 0);
        sk_detection_set_box(&d);
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, &d, f < 60, &seen, &n, &err), &err);
        assert_int_equal(n, 1);
        assert_int_equal(seen->class_id, 3);
        assert_true(f < 20 || fabs(seen->box.upright[0] - (d.x - 30)) < 4);
    }
    sk_tracker_close(&tracker);
}

/* Every third detection is called something else, and one of those loudly. */
static int32_t said(int frame)
{
    return frame == 0 ? 5 : frame % 3 ? 2 : 7;
}

static sk_detection named(int frame)
{
    sk_detection d = animal(0, frame, 0, false);
    d.class_id = said(frame);
    return d;
}

static void a_track_has_one_class(void **state)
{
    (void)state;
    const sk_track_settings settings = usual(true);
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    assert_ok(sk_tracker_open(&settings, &tracker, &err), &err);
    for (int f = 0; f < 60; f++) {
        const sk_sighting *seen;
        int32_t n;
        const sk_detection d = named(f);
        assert_ok(sk_tracker_step(tracker, f, f / 30.0, &d, 1, &seen, &n, &err), &err);
        for (int32_t k = 0; k < n; k++)
            assert_int_equal(seen[k].class_id, f < 2 ? 5 : 2); /* what most have said so far */
    }
    sk_tracker_close(&tracker);
    sk_offline_settings s;
    sk_offline *o = NULL;
    sk_offline_defaults(&s);
    s.track = settings;
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    for (int f = 0; f < 60; f++) {
        const sk_detection d = named(f);
        assert_ok(sk_offline_add(o, f, f / 30.0, &d, f % 20 != 11, &err), &err);
    }
    assert_ok(sk_offline_finish(o, &err), &err);
    for (int f = 0; f < 60; f++) {
        const sk_sighting *seen;
        int64_t frame;
        int32_t n;
        assert_ok(sk_offline_read(o, f, &frame, &seen, &n, &err), &err);
        assert_int_equal(n, 1);
        assert_int_equal(seen->class_id, 2); /* from the first frame on, in gaps too */
    }
    sk_offline_close(&o);
}

static void votes_find_who_has_most(void **state)
{
    (void)state;
    sk_votes v = {0};
    assert_int_equal(sk_votes_best(&v), -1);
    sk_votes_add(&v, -1, 1);
    sk_votes_add(&v, 4, 0);
    assert_int_equal(sk_votes_best(&v), -1);
    for (int i = 0; i < 3000; i++) /* more names than there is room for */
        sk_votes_add(&v, i % 3 == 0 ? 42 : 100 + i, 0.5);
    assert_int_equal(sk_votes_best(&v), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_online_jitter_less),
        cmocka_unit_test(boxes_that_do_not_jitter_stay),
        cmocka_unit_test(boxes_offline_jitter_much_less),
        cmocka_unit_test(round_boxes_do_not_spin),
        cmocka_unit_test(covered_boxes_go_on),
        cmocka_unit_test(a_track_has_one_class),
        cmocka_unit_test(votes_find_who_has_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
