/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "base/memory.h"
#include "track/headings.h"
#include "track/offline.h"
#include "track/pieces.h"
#include "track/seen_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The offline chain on made-up walks whose truth is known. */

#define ANIMALS 4
#define TURN    (2 * M_PI)

/* Everybody swims a lemniscate of its own, so that paths cross. */
static sk_detection animal(int who, int frame)
{
    const double t = frame * 0.02 + who * 1.7;
    const double x = 300 + 200 * cos(t) + 20 * who, y = 240 + 150 * sin(t) * cos(t) - 15 * who;
    const double dx = -200 * sin(t), dy = 150 * cos(2 * t);
    sk_detection d = {.x = x, .y = y, .score = 0.9, .class_id = -1, .identity = -1};
    d.directed = true;
    d.heading = fmod(atan2(dy, dx) + TURN, TURN);
    sk_detection_set_oriented(&d, 30 + who, 10, fmod(d.heading, M_PI));
    d.box[0] = x - 15, d.box[1] = y - 15, d.box[2] = x + 15, d.box[3] = y + 15;
    return d;
}

/* Whether the animal is hidden in this frame: a short gap now and then, one long one each. */
static bool is_hidden(int who, int frame)
{
    return (frame + 17 * who) % 50 < 2 || (frame >= 100 + 40 * who && frame < 112 + 40 * who);
}

/* order[i]: whose the i-th detection of the frame is. */
static int make_frame(int frame, sk_detection *out, int *order)
{
    int n = 0;
    for (int k = 0; k < ANIMALS; k++) {
        const int who = (k + frame) % ANIMALS; /* not always in the same order */
        if (is_hidden(who, frame))
            continue;
        out[n] = animal(who, frame);
        order[n++] = who;
    }
    return n;
}

static sk_status feed(sk_offline *o, int frames, sk_error *err)
{
    for (int f = 0; f < frames; f++) {
        sk_detection d[ANIMALS];
        int order[ANIMALS];
        const int n = make_frame(f, d, order);
        SK_TRY(sk_offline_add(o, f, f / 25.0, d, n, err));
    }
    return sk_offline_finish(o, err);
}

static sk_offline *run(const sk_offline_settings *settings, const char *spill, int frames)
{
    sk_offline *o = NULL;
    sk_error err = {0};
    assert_ok(sk_offline_open(settings, spill, &o, &err), &err);
    assert_ok(feed(o, frames, &err), &err);
    return o;
}

static sk_offline_settings usual(void)
{
    sk_offline_settings s;
    sk_offline_defaults(&s);
    s.track.fps = 25;
    return s;
}

static void everybody_stays_who_they_are(void **state)
{
    (void)state;
    const sk_offline_settings s = usual();
    sk_offline *o = run(&s, NULL, 300);
    sk_error err = {0};
    assert_int_equal(sk_offline_tracks(o), ANIMALS);
    assert_int_equal(sk_offline_frames(o), 300);
    int who_is[ANIMALS] = {-1, -1, -1, -1}, filled = 0;
    for (int at = 0; at < 300; at++) {
        sk_detection d[ANIMALS];
        int order[ANIMALS], n = make_frame(at, d, order);
        const sk_sighting *seen = NULL;
        int64_t frame = 0;
        int32_t count = 0;
        assert_ok(sk_offline_read(o, at, &frame, &seen, &count, &err), &err);
        assert_int_equal(frame, at);
        for (int i = 0; i < count; i++) {
            assert_true(i == 0 || seen[i].track > seen[i - 1].track);
            if (seen[i].detection < 0) { /* in a gap: near the truth of whoever it is */
                const sk_detection truth = animal(who_is[seen[i].track], at);
                assert_int_equal(seen[i].state, SK_TRACK_COVERED);
                assert_true(isnan(seen[i].score));
                assert_true(hypot(truth.x - seen[i].x, truth.y - seen[i].y) < 8);
                filled++;
                continue;
            }
            assert_true(seen[i].detection < n);
            const int who = order[seen[i].detection];
            if (who_is[seen[i].track] < 0)
                who_is[seen[i].track] = who;
            assert_int_equal(who_is[seen[i].track], who);
            assert_true(fabs(remainder(seen[i].heading - d[seen[i].detection].heading, TURN)) < 1e-6);
        }
    }
    assert_true(filled > 50);
    sk_offline_close(&o);
}

static void a_file_or_memory_is_the_same(void **state)
{
    (void)state;
    sk_offline_settings s = usual();
    s.smoothing = 0.3;
    char spill[4096];
    snprintf(spill, sizeof spill, "%s/spill", test_folder());
    sk_offline *a = run(&s, NULL, 200), *b = run(&s, spill, 200);
    sk_error err = {0};
    for (int at = 199; at >= 0; at--) { /* in any order */
        const sk_sighting *x, *y;
        int64_t frame;
        int32_t n, m;
        assert_ok(sk_offline_read(a, at, &frame, &x, &n, &err), &err);
        assert_ok(sk_offline_read(b, at, &frame, &y, &m, &err), &err);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, (size_t)n * sizeof *x);
    }
    assert_null(fopen(spill, "r")); /* it has no name */
    sk_offline_close(&a);
    sk_offline_close(&b);
}

static void memory_does_not_grow_with_the_video(void **state)
{
    (void)state;
    sk_offline_settings s = usual();
    s.interpolate_gap = 0;
    char spill[4096];
    snprintf(spill, sizeof spill, "%s/spill", test_folder());
    int64_t bytes[2];
    for (int k = 0; k < 2; k++) {
        const int64_t before = sk_memory_live_bytes();
        sk_offline *o = run(&s, spill, k ? 12000 : 3000);
        bytes[k] = sk_memory_live_bytes() - before;
        sk_offline_close(&o);
        assert_int_equal(sk_memory_live_bytes(), before);
    }
    /* Twelve bytes or so a frame are kept in memory; the detections of one are five hundred. */
    assert_true(bytes[1] - bytes[0] < 9000 * 40);
}

static sk_piece piece(int64_t first, int64_t last, double x, double y)
{
    sk_piece p = {.first = first, .last = last, .n = (int32_t)(last - first + 1), .body = 30, .class_id = -1};
    p.score = 0.9 * p.n;
    p.identity = p.next = p.previous = p.track = -1;
    p.start = (sk_piece_end){.x = x, .y = y, .vx = 2, .c = 1, .directed = true};
    p.end = p.start;
    p.end.x += 2 * (double)(last - first);
    if (p.n == 1)
        p.start.vx = p.end.vx = 0;
    return p;
}

static sk_pieces pieces_of(sk_piece *items, size_t count)
{
    sk_pieces p = {.items = items, .count = count, .speed = 0.005, .body = 30};
    for (int k = 0; k < SK_BRIDGES; k++)
        p.bridges[k] = (sk_bridge){.pull = 1, .place = 0.002 * (1 << k), .speed = 0.0005, .turn = 0.01};
    return p;
}

static void two_boxes_of_one_animal_do_not_break_its_track(void **state)
{
    (void)state;
    /* In frame 105 the passes took different ones of a double detection. */
    sk_piece items[4] = {piece(0, 104, 0, 0), piece(105, 105, 210, 0.5), piece(105, 105, 211, -1),
                         piece(106, 300, 212, 0)};
    sk_pieces p = pieces_of(items, 4);
    sk_error err = {0};
    int32_t tracks = 0;
    const sk_stitch_settings s = {.fps = 30, .gap = 4, .prior = 6};
    assert_ok(sk_pieces_stitch(&p, &s, &tracks, &err), &err);
    assert_int_equal(tracks, 1);
    assert_int_equal(items[0].track, items[3].track);
    assert_true(items[1].track < 0 || items[2].track < 0);
}

static void the_best_of_all_links_not_the_nearest_first(void **state)
{
    (void)state;
    /* Two animals swim side by side, hidden for six frames. The lower one's end is nearest to the upper one's start (it was
     * seen last a bit high), but then the upper one would have none. */
    sk_piece items[4] = {piece(0, 100, 0, 0), piece(0, 100, 0, 9), piece(107, 200, 214, 6),
                         piece(107, 200, 214, 16)};
    sk_pieces p = pieces_of(items, 4);
    sk_error err = {0};
    int32_t tracks = 0;
    const sk_stitch_settings s = {.fps = 30, .gap = 4, .prior = 6};
    assert_ok(sk_pieces_stitch(&p, &s, &tracks, &err), &err);
    assert_int_equal(tracks, 2);
    assert_int_equal(items[0].track, items[2].track);
    assert_int_equal(items[1].track, items[3].track);
}

static void so_many_animals_are_so_many_tracks(void **state)
{
    (void)state;
    sk_offline_settings s = usual();
    s.track.animals = 1;
    sk_offline *o = NULL;
    sk_error err = {0};
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    /* One animal that is gone for nine seconds, and comes back elsewhere. */
    for (int f = 0; f < 400; f++) {
        const sk_detection d = animal(0, f);
        assert_ok(sk_offline_add(o, f, f / 25.0, &d, f >= 80 && f < 305 ? 0 : 1, &err), &err);
    }
    assert_ok(sk_offline_finish(o, &err), &err);
    assert_int_equal(sk_offline_tracks(o), 1);
    int64_t frame;
    const sk_sighting *seen;
    int32_t n;
    assert_ok(sk_offline_read(o, 399, &frame, &seen, &n, &err), &err);
    assert_int_equal(n, 1);
    sk_offline_close(&o);
}

/* The forward pass goes on, alone, to something false elsewhere that was found some frames later. */
static void no_pass_goes_alone_over_a_gap(void **state)
{
    (void)state;
    sk_seen_store *store = NULL;
    sk_error err = {0};
    assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
    int32_t forward[64], backward[64], piece[64], n = 0;
    for (int f = 0; f < 48; f++) {
        sk_detection d = animal(0, f);
        if (f >= 20 && f < 30)
            continue;
        if (f >= 30)
            d.x += 40, d.score = 0.3;
        assert_ok(sk_seen_store_add(store, f, f / 25.0, &d, 1, &err), &err);
        forward[n] = 0;
        backward[n++] = f < 30 ? 0 : -1;
    }
    sk_pieces p;
    assert_ok(sk_pieces_make(store, forward, backward, 25, 0, NULL, 1, piece, &p, &err), &err);
    assert_int_equal(p.count, 2);
    assert_int_equal(piece[19], piece[0]);
    assert_int_not_equal(piece[20], piece[0]);
    sk_pieces_free(&p);
    for (int i = 20; i < n; i++)
        backward[i] = 0; /* both say so: one piece */
    assert_ok(sk_pieces_make(store, forward, backward, 25, 0, NULL, 1, piece, &p, &err), &err);
    assert_int_equal(p.count, 1);
    sk_pieces_free(&p);
    sk_seen_store_close(&store);
}

/* The same way, one begins 7 frames before the other ends: one animal. */
static void pieces_that_overlap_are_one(void **state)
{
    (void)state;
    sk_piece items[2] = {piece(0, 60, 100, 100), piece(54, 120, 208, 100)};
    sk_pieces p = pieces_of(items, 2);
    const sk_stitch_settings s = {.fps = 25, .gap = 4, .prior = 6};
    int32_t tracks = 0;
    sk_error err = {0};
    assert_ok(sk_pieces_stitch(&p, &s, &tracks, &err), &err);
    assert_int_equal(tracks, 1);
    items[1].start.y += 40; /* beside it: two */
    assert_ok(sk_pieces_stitch(&p, &s, &tracks, &err), &err);
    assert_int_equal(tracks, 2);
}

/* A third of a second, and never seen well: a reflection. Seen well, it is an animal. */
static void short_faint_tracks_go(void **state)
{
    (void)state;
    for (int well = 0; well < 2; well++) {
        const sk_offline_settings s = usual();
        sk_offline *o = NULL;
        sk_error err = {0};
        assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
        for (int f = 0; f < 60; f++) {
            sk_detection d[2] = {animal(0, f), animal(0, 0)};
            d[1].x += 300;
            d[1].score = well ? 0.9 : 0.65;
            assert_ok(sk_offline_add(o, f, f / 25.0, d, f >= 30 && f < 39 ? 2 : 1, &err), &err);
        }
        assert_ok(sk_offline_finish(o, &err), &err);
        assert_int_equal(sk_offline_tracks(o), 1 + well);
        sk_offline_close(&o);
    }
}

static void impossible_ways_are_cut(void **state)
{
    (void)state;
    static const struct {
        double limit; /* of a way of 40 pixels in a frame */
        int tracks;
    } cases[] = {{20, 2}, {39.5, 2}, {40, 1}, {60, 1}, {0.5, 2}, {0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_offline_settings s = usual();
        s.track.life.gate = 50;
        s.velocity_limit = cases[i].limit;
        sk_offline *o = NULL;
        sk_error err = {0};
        assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
        for (int f = 0; f < 60; f++) {
            sk_detection d = animal(0, 0);
            d.x = f < 30 ? 100 : 140;
            assert_ok(sk_offline_add(o, f, f / 25.0, &d, 1, &err), &err);
        }
        assert_ok(sk_offline_finish(o, &err), &err);
        if (sk_offline_tracks(o) != cases[i].tracks)
            fail_msg("limit %g: %d tracks", cases[i].limit, sk_offline_tracks(o));
        sk_offline_close(&o);
    }
}

static void headings_are_decided_over_the_track(void **state)
{
    (void)state;
    sk_seen_store *store = NULL;
    sk_error err = {0};
    assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
    int32_t track[100] = {0};
    uint8_t turned[100] = {0};
    for (int f = 0; f < 100; f++) {
        sk_detection d = animal(0, f);
        /* A burst of five frames that point to the tail; from 60 on no pose at all: motion decides. */
        if (f >= 20 && f < 25)
            d.heading = fmod(d.heading + M_PI, TURN);
        d.directed = f < 60;
        assert_ok(sk_seen_store_add(store, f, f / 25.0, &d, 1, &err), &err);
    }
    assert_ok(sk_headings_decide(store, track, 1, 5, turned, &err), &err);
    for (int f = 0; f < 100; f++) {
        sk_stored_frame frame;
        assert_ok(sk_seen_store_read(store, f, &frame, &err), &err);
        const double heading = sk_heading_of(&frame.detections[0], turned[f]);
        assert_true(fabs(remainder(heading - animal(0, f).heading, TURN)) < 0.01);
    }
    sk_seen_store_close(&store);
}

static void smoothing_takes_the_jitter(void **state)
{
    (void)state;
    sk_offline_settings s = usual();
    double off[2] = {0};
    for (int k = 0; k < 2; k++) {
        s.smoothing = k ? 0.4 : 0;
        sk_offline *o = NULL;
        sk_error err = {0};
        assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
        for (int f = 0; f < 200; f++) {
            sk_detection d = animal(0, f);
            d.x += f % 2 ? 1 : -1;
            assert_ok(sk_offline_add(o, f, f / 25.0, &d, 1, &err), &err);
        }
        assert_ok(sk_offline_finish(o, &err), &err);
        for (int f = 0; f < 200; f++) {
            const sk_sighting *seen;
            int64_t frame;
            int32_t n;
            assert_ok(sk_offline_read(o, f, &frame, &seen, &n, &err), &err);
            assert_int_equal(n, 1);
            off[k] += hypot(seen->x - animal(0, f).x, seen->y - animal(0, f).y) / 200;
        }
        sk_offline_close(&o);
    }
    assert_true(off[0] > 0.99 && off[1] < 0.35);
}

static void bad_frames_are_refused(void **state)
{
    (void)state;
    const sk_offline_settings s = usual();
    sk_offline *o = NULL;
    sk_error err = {0};
    const sk_detection d = animal(0, 0);
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    assert_ok(sk_offline_add(o, 7, 0, &d, 1, &err), &err);
    assert_int_equal(sk_offline_add(o, 7, 0, &d, 1, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "frame 7 comes after frame 7"));
    sk_offline_close(&o);
    assert_int_equal(sk_offline_open(&s, test_missing("spill"), &o, &err), SK_ERR_NOT_FOUND);
    assert_null(o);
}

static bool stop_at_once(void *context)
{
    (void)context;
    return true;
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    sk_offline_settings s = usual();
    s.stop = stop_at_once;
    sk_offline *o = NULL;
    sk_error err = {0};
    assert_ok(sk_offline_open(&s, NULL, &o, &err), &err);
    assert_int_equal(feed(o, 10, &err), SK_ERR_CANCELLED);
    sk_offline_close(&o);
}

static sk_status whole(void *context, sk_error *err)
{
    sk_offline_settings s = usual();
    s.smoothing = 0.3;
    sk_offline *o = NULL;
    sk_status status = sk_offline_open(&s, context, &o, err);
    if (status == SK_OK)
        status = feed(o, 30, err);
    const sk_sighting *seen;
    int64_t frame;
    int32_t n;
    if (status == SK_OK)
        status = sk_offline_read(o, 20, &frame, &seen, &n, err);
    sk_offline_close(&o);
    return status;
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    test_every_allocation(whole, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_stays_who_they_are),
        cmocka_unit_test(a_file_or_memory_is_the_same),
        cmocka_unit_test(memory_does_not_grow_with_the_video),
        cmocka_unit_test(two_boxes_of_one_animal_do_not_break_its_track),
        cmocka_unit_test(the_best_of_all_links_not_the_nearest_first),
        cmocka_unit_test(so_many_animals_are_so_many_tracks),
        cmocka_unit_test(no_pass_goes_alone_over_a_gap),
        cmocka_unit_test(pieces_that_overlap_are_one),
        cmocka_unit_test(short_faint_tracks_go),
        cmocka_unit_test(impossible_ways_are_cut),
        cmocka_unit_test(headings_are_decided_over_the_track),
        cmocka_unit_test(smoothing_takes_the_jitter),
        cmocka_unit_test(bad_frames_are_refused),
        cmocka_unit_test(it_can_be_stopped),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
