/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/instances.h"
#include "track/offline.h"
#include "track/pieces.h"
#include "track/points.h"

#include <math.h>

/* Animals of which only two keypoints are known, as noisy models find them: points are missing, hop to the other animal, whole
 * poses jump for a frame. */

enum { FRAMES = 400 };

static const float none = NAN;

/* The pose of one of two animals, about 40 pixels long and 150 apart. */
static void pose(int who, int frame, float p[4])
{
    const double t = 0.01 * frame, x = 200 + 150 * who + 40 * sin(t), y = 200 + 60 * cos(0.7 * t + who);
    p[0] = (float)x;
    p[1] = (float)y;
    p[2] = (float)(x + 40 * cos(t + who));
    p[3] = (float)(y + 40 * sin(t + who));
}

/* What the model says of it. */
static void found(int who, int frame, float p[4])
{
    pose(who, frame, p);
    const int turn = (frame + 9 * who) % 37;
    float other[4];
    pose(1 - who, frame, other);
    if (turn == 5 || turn == 6) { /* one point hopped to the other animal, for two frames */
        p[2] = other[2] + 3;
        p[3] = other[3];
    } else if (turn == 12) { /* far away */
        p[0] += 270;
    } else if (turn == 20) {
        p[2] = p[3] = none;
    } else if (turn == 27) { /* the whole pose, for a frame */
        for (int i = 0; i < 4; i++)
            p[i] += i & 1 ? 30 : who ? 220 : -220;
    }
}

static bool is_missing(int who, int frame)
{
    return who == 1 && (frame % 53 == 30 || (frame >= 255 && frame < 275));
}

/* A frame's detections, in changing order; who[i]: whose. */
static int32_t make(int frame, sk_instances *list, sk_detection *out, int *who)
{
    sk_error err;
    int32_t n = 0;
    assert_ok(sk_instances_alloc(2, 2, list, &err), &err);
    for (int k = 0; k < 2; k++) {
        const int animal = (frame / 3 + k) % 2;
        float p[4];
        if (is_missing(animal, frame))
            continue;
        found(animal, frame, p);
        sk_found *f = sk_instances_add(list);
        f->score = frame % 11 ? 0.7f : 0.3f;
        f->has = SK_HAS_KEYPOINTS;
        sk_keypoint *points = &list->keypoints[f->first_keypoint];
        for (int i = 0; i < 2; i++)
            points[i] = (sk_keypoint){.x = p[2 * i], .y = p[2 * i + 1], .score = isnan(p[2 * i]) ? 0 : 0.8f};
        who[n++] = animal;
    }
    for (int32_t i = 0; i < n; i++)
        assert_true(sk_detection_of(list, i, NULL, &out[i]));
    return n;
}

static sk_offline_settings two_animals(void)
{
    sk_offline_settings s;
    sk_offline_defaults(&s);
    s.track.fps = 25;
    s.track.animals = 2;
    return s;
}

static void online_all_are_used_and_nobody_is_swapped(void **state)
{
    (void)state;
    const sk_offline_settings s = two_animals();
    sk_error err;
    sk_tracker *tracker;
    assert_ok(sk_tracker_open(&s.track, &tracker, &err), &err);
    for (int frame = 0; frame < FRAMES; frame++) {
        sk_instances list;
        sk_detection d[2];
        int who[2];
        const int32_t n = make(frame, &list, d, who);
        const sk_sighting *seen;
        int32_t count;
        assert_ok(sk_tracker_step(tracker, frame, frame / 25.0, d, n, &seen, &count, &err), &err);
        assert_int_equal(count, n);
        for (int32_t i = 0; i < count; i++) {
            if (seen[i].track != who[seen[i].detection])
                fail_msg("frame %d: %d is taken for %d", frame, who[seen[i].detection], seen[i].track);
            if (frame > 10 &&
                !(seen[i].major > 30 && seen[i].major < 50)) /* the usual size, not this pose's */
                fail_msg("frame %d: %g pixels long", frame, seen[i].major);
        }
        sk_instances_free(&list);
    }
    sk_tracker_close(&tracker);
}

static void offline_all_are_used_and_nobody_is_swapped(void **state)
{
    (void)state;
    const sk_offline_settings s = two_animals();
    sk_error err;
    sk_offline *o;
    sk_instances list;
    sk_detection d[2];
    int who[2];
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    for (int frame = 0; frame < FRAMES; frame++) {
        const int32_t n = make(frame, &list, d, who);
        assert_ok(sk_offline_add(o, frame, frame / 25.0, d, n, &err), &err);
        sk_instances_free(&list);
    }
    assert_ok(sk_offline_finish(o, &err), &err);
    assert_int_equal(sk_offline_tracks(o), 2);
    for (int frame = 0; frame < FRAMES; frame++) {
        const int32_t n = make(frame, &list, d, who);
        sk_instances_free(&list);
        const sk_sighting *seen;
        int64_t at;
        int32_t count, used = 0;
        assert_ok(sk_offline_read(o, frame, &at, &seen, &count, &err), &err);
        for (int32_t i = 0; i < count; i++)
            if (seen[i].detection >= 0) {
                assert_int_equal(seen[i].track, who[seen[i].detection]);
                used++;
            }
        assert_int_equal(used, n);
    }
    sk_offline_close(&o);
}

/* Nobody says how many there are: few are made of these jumps all the same. */
static void without_a_number_few_tracks_are_made(void **state)
{
    (void)state;
    sk_offline_settings s = two_animals();
    s.track.animals = 0;
    sk_error err;
    sk_tracker *tracker;
    int32_t most = 0, found = 0, told = 0;
    assert_ok(sk_tracker_open(&s.track, &tracker, &err), &err);
    for (int frame = 0; frame < FRAMES; frame++) {
        sk_instances list;
        sk_detection d[2];
        int who[2];
        const int32_t n = make(frame, &list, d, who);
        const sk_sighting *seen;
        int32_t count;
        assert_ok(sk_tracker_step(tracker, frame, frame / 25.0, d, n, &seen, &count, &err), &err);
        found += n;
        for (int32_t i = 0; i < count; i++) {
            most = seen[i].track >= most ? seen[i].track + 1 : most;
            told += seen[i].detection >= 0;
        }
        sk_instances_free(&list);
    }
    sk_tracker_close(&tracker);
    if (most < 2 || most > 6)
        fail_msg("%d tracks of two animals", most);
    if (told < found * 9 / 10)
        fail_msg("%d of %d detections are told", told, found);
}

/* Boxes of a detector that never found more than there are animals: one that jumps is somebody all the same. */
static void a_box_that_jumps_is_used(void **state)
{
    (void)state;
    const sk_offline_settings s = two_animals();
    sk_error err;
    sk_tracker *tracker;
    assert_ok(sk_tracker_open(&s.track, &tracker, &err), &err);
    for (int frame = 0; frame < 200; frame++) {
        sk_detection d[2] = {{.x = 100 + frame, .y = 100}, {.x = frame % 30 == 29 ? 700 : 400, .y = 300}};
        for (int i = 0; i < 2; i++) {
            d[i].score = 0.9;
            d[i].class_id = d[i].identity = -1;
            sk_detection_set_oriented(&d[i], 40, 12, 0);
            sk_detection_set_box(&d[i]);
        }
        const sk_sighting *seen;
        int32_t n;
        assert_ok(sk_tracker_step(tracker, frame, frame / 25.0, d, 2, &seen, &n, &err), &err);
        for (int32_t i = 0; i < n; i++)
            assert_int_equal(seen[i].track, seen[i].detection);
        if (frame > 80)
            assert_int_equal(n, 2);
    }
    sk_tracker_close(&tracker);
}

/* Single points hop, and stay where they hopped to: the animal is said to be where its points are, and is found there. */
static void a_place_goes_with_its_points(void **state)
{
    (void)state;
    sk_offline_settings s = two_animals();
    s.track.animals = 0;
    sk_tracker *tracker = NULL;
    sk_error err = {0};
    assert_ok(sk_tracker_open(&s.track, &tracker, &err), &err);
    for (int frame = 0; frame < 300; frame++) {
        const float far =
            60 * (float)(frame / 30); /* one point goes ahead, the other follows a frame later */
        const float before = frame % 30 == 0 && frame ? far - 60 : far;
        const sk_keypoint points[] = {{.x = 100 + far, .y = 100, .score = 0.8f},
                                      {.x = 140 + before, .y = 100, .score = 0.8f}};
        sk_instances list = {0};
        sk_detection d;
        assert_ok(sk_instances_alloc(1, 2, &list, &err), &err);
        sk_found *f = sk_instances_add(&list);
        f->score = 0.8f;
        f->has = SK_HAS_KEYPOINTS;
        for (int i = 0; i < 2; i++)
            list.keypoints[f->first_keypoint + i] = points[i];
        assert_true(sk_detection_of(&list, 0, NULL, &d));
        const sk_sighting *seen;
        int32_t n;
        assert_ok(sk_tracker_step(tracker, frame, frame / 25.0, &d, 1, &seen, &n, &err), &err);
        for (int32_t i = 0; i < n; i++)
            assert_int_equal(seen[i].track, 0);
        if (frame % 30 == 29) {
            assert_int_equal(n, 1);
            assert_true(fabs(seen[0].x - 120 - (double)far) < 20);
        }
        sk_instances_free(&list);
    }
    sk_tracker_close(&tracker);
}

/* A pass followed the points to another piece: what the other pass alone says of the first one is not that piece any more. */
static void a_piece_that_a_pass_has_left_does_not_go_on(void **state)
{
    (void)state;
    sk_seen_store *store = NULL;
    sk_error err = {0};
    int32_t forward[24], backward[24], of[24];
    sk_pieces p;
    assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
    for (int f = 0; f < 24; f++) {
        const sk_keypoint points[2] = {{.x = 100, .y = 100, .score = 1}, {.x = 140, .y = 100, .score = 1}};
        const sk_detection d = {.x = 120,
                                .y = 100,
                                .major = 40,
                                .minor = 20,
                                .score = 0.9,
                                .class_id = -1,
                                .identity = -1,
                                .pointed = true,
                                .points = points,
                                .n_points = 2};
        assert_ok(sk_seen_store_add(store, f, f / 25.0, &d, 1, &err), &err);
        forward[f] = f < 14 ? 0 : -1;
        backward[f] = f < 10 ? 1 : f < 14 ? 2 : 1;
    }
    assert_ok(sk_pieces_make(store, forward, backward, 25, 0, NULL, 1, of, &p, &err), &err);
    assert_int_not_equal(of[10], of[9]);
    assert_int_not_equal(of[14], of[9]);
    assert_int_equal(of[23], of[14]);
    sk_pieces_free(&p);
    sk_seen_store_close(&store);
}

static sk_piece piece(int64_t first, int64_t last, const float points[4])
{
    sk_piece p = {.first = first,
                  .last = last,
                  .n = (int32_t)(last - first + 1),
                  .score = 0.8 * (double)(last - first + 1),
                  .body = 40,
                  .class_id = -1,
                  .identity = -1,
                  .from = {0, -1},
                  .to = {0, -1}};
    p.start.x = (double)(points[0] + points[2]) / 2;
    p.start.y = (double)(points[1] + points[3]) / 2;
    p.start.n_points = 2;
    for (int i = 0; i < 4; i++)
        p.start.points[i] = points[i];
    p.end = p.start;
    return p;
}

static int32_t tracks_of(const float before[4], const float behind[4])
{
    sk_piece items[2] = {piece(0, 60, before), piece(61, 120, behind)};
    sk_pieces p = {.items = items, .count = 2, .capacity = 2, .body = 40, .speed = 1e-4};
    const sk_stitch_settings s = {.fps = 25, .gap = 4, .prior = 6};
    sk_error err = {0};
    int32_t tracks = 0;
    assert_ok(sk_pieces_stitch(&p, &s, &tracks, &err), &err);
    return tracks;
}

/* One point stays, the other hops far away: one animal, though the middle is elsewhere. Head and tail exchanged: one, too. All
 * points elsewhere: two. */
static void pieces_are_linked_by_the_points_that_fit(void **state)
{
    (void)state;
    const float before[4] = {500, 460, 540, 460}, hopped[4] = {502, 460, 800, 470},
                turned[4] = {540, 461, 501, 460}, away[4] = {800, 460, 840, 460};
    assert_int_equal(tracks_of(before, before), 1);
    assert_int_equal(tracks_of(before, hopped), 1);
    assert_int_equal(tracks_of(before, turned), 1);
    assert_int_equal(tracks_of(before, away), 2);
    const sk_points_fit as_it_is = sk_points_between(before, before, 2, 11),
                        exchanged = sk_points_between(before, turned, 2, 11);
    assert_true(as_it_is.alike > exchanged.alike && exchanged.alike > 0.5);
}

/* How far a pose reaches from its middle, and how near its nearest point is to where the follower's was. */
static void how_far_points_are(void **state)
{
    (void)state;
    sk_keypoint points[3] = {{10, 24, 1}, {none, none, 0}, {10.5f, 20, 1}};
    sk_detection d = {.x = 10, .y = 20, .points = points, .n_points = 3};
    assert_true(sk_points_widest(&d) == 4);
    points[0].x = 13;
    assert_true(sk_points_widest(&d) == 5);
    points[0].y = none; /* half of a point is none */
    assert_true(sk_points_widest(&d) == 0.5);
    d.n_points = 0;
    assert_true(sk_points_widest(&d) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(how_far_points_are),
        cmocka_unit_test(online_all_are_used_and_nobody_is_swapped),
        cmocka_unit_test(offline_all_are_used_and_nobody_is_swapped),
        cmocka_unit_test(without_a_number_few_tracks_are_made),
        cmocka_unit_test(a_box_that_jumps_is_used),
        cmocka_unit_test(a_place_goes_with_its_points),
        cmocka_unit_test(a_piece_that_a_pass_has_left_does_not_go_on),
        cmocka_unit_test(pieces_are_linked_by_the_points_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
