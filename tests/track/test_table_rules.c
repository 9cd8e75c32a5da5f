/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of tables of sightings at their bounds, by cases that are worked out by hand (docs/tracking_offline.md). */
#include "support/test.h"

#include "track/pieces.h"
#include "track/sightings.h"

#include <math.h>

static void add_standing(sk_tracklets *list, int from, int to, double x, double y, int64_t detection)
{
    sk_error err;
    sk_tracklet one = {.id = (int64_t)list->count};
    for (int frame = from; frame <= to; frame++) {
        const sk_seen seen = {.frame = frame,
                              .detection = detection < 0 ? SK_SEEN_NO_DETECTION : detection + frame,
                              .x = x,
                              .y = y,
                              .heading = 1,
                              .columns = SK_SEEN_DETECTION | SK_SEEN_STATE};
        assert_ok(sk_tracklet_append(&one, &seen, &err), &err);
    }
    assert_ok(sk_tracklets_take(list, &one, &err), &err);
}

/* --- stitching --- */

/* One that stands still ends in frame 4 and begins again in frame 6, 15 pixels to the right: within 2 D, not within D. Are there two
 * others near, it must be nearer than that. */
static size_t left_with_others(const double others[2][2], int from, int to, int far_away)
{
    sk_error err;
    sk_tracklets list = {0};
    sk_resolve_settings s;
    sk_resolve_defaults(&s);
    s.agreement = 10;
    for (int i = 0; i < far_away; i++)
        add_standing(&list, 0, 3, 5000 + 300 * i, 5000, -1);
    for (int i = 0; i < 2; i++)
        add_standing(&list, from, to, 207.5 + others[i][0], 200 + others[i][1], -1);
    add_standing(&list, 0, 4, 200, 200, -1);
    add_standing(&list, 6, 10, 215, 200, -1);
    assert_ok(sk_tracklets_stitch_near(&list, &s, &err), &err);
    const size_t n = list.count;
    sk_tracklets_free(&list);
    return n - (size_t)far_away;
}

static void a_crowd_is_two_within_ten_distances(void **state)
{
    (void)state;
    static const struct {
        double others[2][2];
        int from, to;
        bool crowd;
    } cases[] = {{{{99, 0}, {-99, 0}}, 0, 10, true},
                 {{{0, 99}, {0, -99}}, 0, 10, true},
                 {{{70, 70}, {-70, 70}}, 0, 10, true},
                 {{{100, 0}, {0, 100}}, 0, 10, true},
                 {{{101, 0}, {0, 50}}, 0, 10, false},
                 {{{50, 0}, {-101, 0}}, 0, 10, false},
                 {{{0, 101}, {0, 50}}, 0, 10, false},
                 {{{0, 50}, {0, -101}}, 0, 10, false},
                 {{{72, 72}, {50, 0}}, 0, 10, false},
                 {{{-72, -72}, {50, 0}}, 0, 10, false},
                 {{{50, 0}, {0, 50}}, 4, 4, true},
                 {{{50, 0}, {0, 50}}, 0, 4, true}, /* they left when it did, or before */
                 {{{50, 0}, {0, 50}}, 0, 3, false},
                 {{{50, 0}, {0, 50}}, 6, 10, true},
                 {{{50, 0}, {0, 50}}, 7, 10, false},
                 {{{50, 0}, {0, 50}}, 5, 5, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int far_away = 0; far_away < 8; far_away++) /* how many others there are changes nothing */
            if (left_with_others(cases[i].others, cases[i].from, cases[i].to, far_away) !=
                (cases[i].crowd ? 4u : 3u))
                fail_msg("case %zu: it is %s", i, cases[i].crowd ? "a crowd" : "none");
}

static size_t stitched(int frames, double way, const sk_resolve_settings *s)
{
    sk_error err;
    sk_tracklets list = {0};
    add_standing(&list, 0, 4, 200, 200, -1);
    add_standing(&list, 4 + frames, 8 + frames, 200, 200 + way, -1);
    assert_ok(sk_tracklets_stitch_near(&list, s, &err), &err);
    const size_t n = list.count;
    sk_tracklets_free(&list);
    return n;
}

static void gaps_and_ways_have_bounds(void **state)
{
    (void)state;
    sk_resolve_settings s;
    sk_resolve_defaults(&s);
    s.agreement = 10;
    assert_int_equal(stitched(1, 5, &s), 1);
    assert_int_equal(stitched(3, 5, &s), 1);
    assert_int_equal(stitched(4, 5, &s), 2);
    assert_int_equal(stitched(0, 5, &s), 2);
    assert_int_equal(stitched(2, 20, &s), 1); /* 2 D */
    assert_int_equal(stitched(2, 20.1, &s), 2);
    s.stitch_gap = 0;
    assert_int_equal(stitched(1, 5, &s), 2);
    s.stitch_gap = 1;
    assert_int_equal(stitched(1, 5, &s), 1);
    assert_int_equal(stitched(2, 5, &s), 2);
}

/* --- pairs of both directions --- */

/* A forward and a backward tracklet of frames 0 to 9, of which the first `agreeing` lie within D: are they a pair? */
static bool is_pair(int agreeing, int64_t overlap)
{
    sk_error err;
    sk_tracklets forward = {0}, backward = {0}, out = {0};
    sk_resolve_settings s;
    sk_resolve_defaults(&s);
    s.agreement = 10;
    s.overlap = overlap;
    s.shortest = 2;
    s.stitch_gap = 0;
    add_standing(&forward, 0, 9, 200, 200, 1000);
    add_standing(&backward, 0, 9, 200, 300, 2000);
    for (int i = 0; i < agreeing; i++)
        backward.items[0].items[i].y = 205;
    assert_ok(sk_tracklets_resolve(&forward, &backward, &s, &out, &err), &err);
    bool alone = false; /* without a partner the forward one stays as it is */
    for (size_t i = 0; i < out.count; i++)
        alone |= out.items[i].count == 10 && out.items[i].items[0].y == 200;
    sk_tracklets_free(&forward);
    sk_tracklets_free(&backward);
    sk_tracklets_free(&out);
    return !alone;
}

static void so_many_frames_must_agree(void **state)
{
    (void)state;
    assert_true(is_pair(5, 5) && is_pair(7, 7) && is_pair(9, 9));
    assert_false(is_pair(4, 5) || is_pair(6, 7) || is_pair(8, 9));
    assert_true(is_pair(5, 2)); /* half of those that both have */
    assert_false(is_pair(4, 2));
}

static sk_tracklets pair_of_passes(int same, int common)
{
    sk_tracklets list = {0};
    add_standing(&list, 0, common - 1, 200, 200, 1000);
    add_standing(&list, 0, common - 1, 200, 230, 2000);
    for (int i = 0; i < same; i++) {
        list.items[1].items[i].detection = list.items[0].items[i].detection;
        list.items[1].items[i].y = 206;
    }
    return list;
}

/* Detections that both have say more than places: half of the overlap is enough, from two on. */
static void common_detections_say_more(void **state)
{
    (void)state;
    static const struct {
        int64_t overlap;
        int same;
        bool pair;
    } cases[] = {{5, 2, true},  {5, 1, false}, {6, 3, true},  {6, 2, false}, {8, 4, true},
                 {8, 3, false}, {9, 4, true},  {9, 3, false}, {10, 5, true}, {10, 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err;
        sk_resolve_settings s;
        sk_resolve_defaults(&s);
        s.agreement = 10;
        s.overlap = cases[i].overlap;
        s.shortest = 1;
        s.stitch_gap = 0;
        sk_tracklets list = pair_of_passes(cases[i].same, 12);
        /* within one list */
        assert_ok(sk_tracklets_join_overlaps(&list, &s, &err), &err);
        const bool joined = list.items[0].items[0].y == 203;
        if (joined != cases[i].pair)
            fail_msg("overlap %lld, %d common: %s", (long long)cases[i].overlap, cases[i].same,
                     joined ? "joined" : "left apart");
        sk_tracklets_free(&list);
        /* between the two directions */
        list = pair_of_passes(cases[i].same, 12);
        sk_tracklets forward = {.items = &list.items[0], .count = 1},
                     backward = {.items = &list.items[1], .count = 1}, out = {0};
        assert_ok(sk_tracklets_resolve(&forward, &backward, &s, &out, &err), &err);
        bool averaged = false;
        for (size_t k = 0; k < out.count; k++)
            averaged |= out.items[k].items[0].y == 203;
        assert_int_equal(averaged, cases[i].pair);
        sk_tracklets_free(&out);
        sk_tracklets_free(&list);
    }
}

/* --- filling --- */

/* What has no hole keeps its headings as they are written, beyond a turn as well, and its states. */
static void what_is_whole_stays_as_it_is(void **state)
{
    (void)state;
    for (int hole = 0; hole < 2; hole++) {
        sk_error err;
        sk_tracklets list = {0};
        sk_interpolate_settings s;
        sk_interpolate_defaults(&s);
        add_standing(&list, 0, 5, 10, 20, -1);
        sk_tracklet *t = &list.items[0];
        for (int i = 0; i < 6; i++) {
            t->items[i].heading = 7;
            t->items[i].state = SK_SEEN_UNTOLD;
        }
        if (hole)
            t->items[3].x = NAN;
        assert_ok(sk_tracklet_interpolate(t, &s, &err), &err);
        assert_int_equal(t->count, 6);
        for (int i = 0; i < 6; i++) {
            assert_true(hole ? fabs(t->items[i].heading - (7 - 2 * M_PI)) < 1e-12 : t->items[i].heading == 7);
            assert_int_equal(t->items[i].state, hole ? SK_SEEN_COVERED : SK_SEEN_UNTOLD);
            assert_true(t->items[i].x == 10 && t->items[i].y == 20);
        }
        sk_tracklets_free(&list);
    }
}

/* --- pieces --- */

/* One animal is always seen, the other up to frame `last` and again from 300 on: how many pieces the other has. */
static int pieces_of_one_that_was_away(int last, bool by_backward)
{
    enum { FRAMES = 310 };
    sk_error err;
    sk_seen_store *store;
    sk_pieces pieces = {0};
    assert_ok(sk_seen_store_open(NULL, &store, &err), &err);
    for (int frame = 0; frame < FRAMES; frame++) {
        sk_detection d[2] = {{.x = 50, .y = 60, .score = 0.9, .class_id = -1, .identity = -1},
                             {.x = 350, .y = 60, .score = 0.9, .class_id = -1, .identity = -1}};
        for (int i = 0; i < 2; i++) {
            sk_detection_set_oriented(&d[i], 40, 12, 0);
            sk_detection_set_box(&d[i]);
            d[i].pointed = by_backward;
        }
        assert_ok(sk_seen_store_add(store, frame, frame, d, frame <= last || frame >= 300 ? 2 : 1, &err),
                  &err);
    }
    const int64_t n = sk_seen_store_detections(store);
    int32_t *forward = sk_seen_store_column(store, sizeof *forward, &err),
            *backward = sk_seen_store_column(store, sizeof *backward, &err),
            *piece = sk_seen_store_column(store, sizeof *piece, &err);
    for (int64_t i = 0, frame = 0; frame < FRAMES; frame++)
        for (int k = 0; k < (frame <= last || frame >= 300 ? 2 : 1); k++, i++) {
            assert_true(i < n);
            forward[i] = by_backward && k ? -1 : k;
            backward[i] = k;
        }
    assert_ok(
        sk_pieces_make(store, forward, by_backward ? backward : NULL, 1, 0, NULL, 2, piece, &pieces, &err),
        &err);
    const int of_it = (int)pieces.count - 1;
    sk_pieces_free(&pieces);
    sk_seen_store_close(&store);
    return of_it;
}

/* Looked at in frame 255: what was not seen for more than 30 s, here 30 frames, is not gone on with. */
static void tracks_that_were_away_for_long_begin_anew(void **state)
{
    (void)state;
    for (int by_backward = 0; by_backward < 2; by_backward++) {
        assert_int_equal(pieces_of_one_that_was_away(225, by_backward), 1);
        assert_int_equal(pieces_of_one_that_was_away(224, by_backward), 2);
        assert_int_equal(pieces_of_one_that_was_away(0, by_backward), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_crowd_is_two_within_ten_distances),
                                       cmocka_unit_test(gaps_and_ways_have_bounds),
                                       cmocka_unit_test(so_many_frames_must_agree),
                                       cmocka_unit_test(common_detections_say_more),
                                       cmocka_unit_test(what_is_whole_stays_as_it_is),
                                       cmocka_unit_test(tracks_that_were_away_for_long_begin_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
