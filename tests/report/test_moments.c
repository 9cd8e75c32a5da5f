/* SPDX-License-Identifier: Apache-2.0 */
#include "report/suspects.h"

#include "base/memory.h"
#include "support/test.h"

#include <math.h>

/* Two animals of a known length at known places: from which distance on a moment begins, how long it goes on, what speaks for a swap
 * and how much it weighs, worked out by hand. */

enum { BODY = 20 };

static sk_sighting at(int64_t frame, int32_t track, double x, double y)
{
    return (sk_sighting){.frame = frame,
                         .track = track,
                         .detection = 0,
                         .state = SK_TRACK_ACTIVE,
                         .x = x,
                         .y = y,
                         .major = BODY,
                         .certainty = 1};
}

/* Frame by frame: how far the second is from the first (below 0: it is not there), whether it was seen, how certain it is. */
typedef struct step {
    double far;
    bool unseen;
    double certainty;
} step;

static sk_suspects *watch(const step *steps, int n)
{
    sk_suspects *s = sk_calloc(1, sizeof *s);
    sk_error err = {0};
    for (int i = 0; i < n; i++) {
        sk_sighting now[] = {at(7 + i, 4, 100, 50), at(7 + i, 2, 100 + steps[i].far, 50)};
        now[1].detection = steps[i].unseen ? -1 : 0;
        now[1].certainty = steps[i].certainty;
        assert_ok(sk_suspects_take(s, now, steps[i].far < 0 ? 1 : 2, &err), &err);
    }
    sk_suspects_end(s);
    return s;
}

static void distances_begin_and_end_a_moment(void **state)
{
    (void)state;
    static const struct {
        int n;
        step steps[6];
        int64_t count, first, last, frame;
        double distance, certainty, weight;
        uint32_t why;
    } cases[] = {
        /* eight tenths of a body are near enough, more is not */
        {1, {{16, true, 1}}, 1, 7, 7, 7, 16, 1, 0.25 * 0.2 + 0.3, SK_SUSPECT_UNSEEN},
        {1, {{16.01, true, 1}}, 0, 0, 0, 0, 0, 0, 0, 0},
        /* nearer than half a body: they touch */
        {1, {{10, true, 1}}, 1, 7, 7, 7, 10, 1, 0.25 * 0.5 + 0.3, SK_SUSPECT_UNSEEN},
        {1, {{9, true, 1}}, 1, 7, 7, 7, 9, 1, 0.25 * 0.55 + 0.3, SK_SUSPECT_UNSEEN | SK_SUSPECT_TOUCHED},
        /* seen and certain: they only passed by */
        {3, {{16, false, 1}, {3, false, 1}, {16, false, 1}}, 0, 0, 0, 0, 0, 0, 0, 0},
        {1, {{10, false, 0.5}}, 0, 0, 0, 0, 0, 0, 0, 0},
        {1, {{10, false, 0.4}}, 1, 7, 7, 7, 10, 0.4, 0.25 * 0.5 + 0.2 * 0.6, SK_SUSPECT_UNSURE},
        /* how certain one was that nobody saw is not asked */
        {1, {{10, true, 0.1}}, 1, 7, 7, 7, 10, 1, 0.25 * 0.5 + 0.3, SK_SUSPECT_UNSEEN},
        /* it goes on up to twelve tenths; the nearest frame is the one to look at, the first of equals */
        {5,
         {{15, false, 1}, {12, false, 0.25}, {24, false, 1}, {12, true, 1}, {24.01, false, 1}},
         1,
         7,
         10,
         8,
         12,
         0.25,
         0.25 * 0.4 + 0.3 + 0.2 * 0.75,
         SK_SUSPECT_UNSEEN | SK_SUSPECT_UNSURE},
        /* one that goes away ends it, too: the second moment is the nearer one */
        {4,
         {{12, true, 1}, {-1, false, 1}, {-1, false, 1}, {4, true, 1}},
         2,
         10,
         10,
         10,
         4,
         1,
         0.25 * 0.8 + 0.3,
         SK_SUSPECT_UNSEEN | SK_SUSPECT_TOUCHED},
        /* what was near twice with too much between is two moments */
        {3,
         {{2, true, 1}, {24.01, false, 1}, {16, true, 1}},
         2,
         7,
         7,
         7,
         2,
         1,
         0.25 * 0.9 + 0.3,
         SK_SUSPECT_UNSEEN | SK_SUSPECT_TOUCHED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_suspects *s = watch(cases[i].steps, cases[i].n);
        if (s->count != cases[i].count || s->n_worst != cases[i].count)
            fail_msg("case %zu: %lld moments", i, (long long)s->count);
        const sk_suspect *m = &s->worst[0];
        if (s->count) {
            assert_true(m->a == 2 && m->b == 4); /* the lower number first */
            assert_int_equal(m->first, cases[i].first);
            assert_int_equal(m->last, cases[i].last);
            assert_int_equal(m->frame, cases[i].frame);
            assert_int_equal(m->why, cases[i].why);
            assert_true(m->body == BODY && m->distance == cases[i].distance &&
                        m->certainty == cases[i].certainty);
            assert_true(m->x == 100 + cases[i].distance / 2 && m->y == 50); /* half-way between them */
            if (fabs(m->weight - cases[i].weight) > 1e-12)
                fail_msg("case %zu weighs %.6f", i, m->weight);
        }
        sk_suspects_free(s);
        sk_free(s);
    }
}

/* Nobody walks more than one and a half bodies a frame; whoever was not seen for a while may have. */
static void jumps_are_farther_than_anybody_walks(void **state)
{
    (void)state;
    static const struct {
        int64_t frames; /* that passed since it was seen */
        double far;
        bool jumped;
    } cases[] = {{1, 30, false},  {1, 30.5, true}, {2, 60, false},
                 {2, 60.5, true}, {5, 150, false}, {5, 151, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_suspects *s = sk_calloc(1, sizeof *s);
        sk_error err = {0};
        sk_sighting one = at(0, 0, 10, 10);
        assert_ok(sk_suspects_take(s, &one, 1, &err), &err);
        one.detection = -1, one.x = 4000; /* where it is thought to be does not count */
        for (one.frame = 1; one.frame < cases[i].frames; one.frame++)
            assert_ok(sk_suspects_take(s, &one, 1, &err), &err);
        one.detection = 0, one.x = 10, one.y = 10 + cases[i].far, one.certainty = 0.75;
        assert_ok(sk_suspects_take(s, &one, 1, &err), &err);
        sk_suspects_end(s);
        if (s->count != cases[i].jumped)
            fail_msg("%g pixels in %lld frames", cases[i].far, (long long)cases[i].frames);
        const sk_suspect *m = &s->worst[0];
        if (s->count) {
            const bool unseen = cases[i].frames > 1;
            assert_true(m->a == 0 && m->b == -1 && m->first == 0 && m->last == one.frame);
            assert_true(m->frame == one.frame && m->x == 10 && m->y == one.y && m->body == BODY);
            assert_int_equal(m->why, SK_SUSPECT_JUMPED | (unseen ? SK_SUSPECT_UNSEEN : 0));
            assert_true(fabs(m->weight - (0.25 + (unseen ? 0.3 : 0) + 0.2 * 0.25)) < 1e-12);
        }
        sk_suspects_free(s);
        sk_free(s);
    }
}

/* Pairs are found wherever they stand in the list and on the picture, and the longer body counts. */
static void pairs_are_found_among_many(void **state)
{
    (void)state;
    sk_suspects *s = sk_calloc(1, sizeof *s);
    sk_error err = {0};
    sk_sighting now[] = {at(0, 0, 500, 10), at(0, 1, 100, 300), at(0, 2, 300, 90),
                         at(0, 3, 100, 10), at(0, 4, 332, 90),  at(0, 5, 505, 13),
                         at(0, 6, 100, 27), at(0, 7, 900, 900), at(0, 8, 300, 106.5)};
    now[4].major = 40; /* reaches 32 pixels, as far as the one at 300 is */
    for (int i = 0; i < 9; i++)
        now[i].certainty = 0.25;
    assert_ok(sk_suspects_take(s, now, 9, &err), &err);
    assert_int_equal(s->n_open, 2);
    sk_suspects_end(s);
    assert_int_equal(s->n_open, 0);
    assert_int_equal(s->count, 2);
    assert_true(s->worst[0].a == 0 && s->worst[0].b == 5); /* the nearer ones deserve the first look */
    assert_true(s->worst[1].a == 2 && s->worst[1].b == 4 && s->worst[1].body == 40);
    sk_suspects_free(s);
    sk_free(s);
    s = sk_calloc(1, sizeof *s);
    now[0].track = -1;
    assert_int_equal(sk_suspects_take(s, now, 1, &err), SK_ERR_ARG);
    assert_ok(sk_suspects_take(s, NULL, 0, &err), &err);
    sk_suspects_free(s);
    sk_free(s);
}

/* A frame in which nobody is told of ends nothing: the next one says who is still near. */
static void empty_frames_are_passed_over(void **state)
{
    (void)state;
    sk_suspects *s = sk_calloc(1, sizeof *s);
    sk_error err = {0};
    for (int64_t f = 0; f < 3; f++) {
        sk_sighting now[] = {at(f, 0, 100, 50), at(f, 1, 106, 50)};
        now[0].detection = -1;
        assert_ok(sk_suspects_take(s, now, f == 1 ? 0 : 2, &err), &err);
        assert_int_equal(s->n_open, 1);
    }
    sk_suspects_end(s);
    assert_int_equal(s->count, 1);
    assert_true(s->worst[0].first == 0 && s->worst[0].last == 2);
    sk_suspects_free(s);
    sk_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_begin_and_end_a_moment),
        cmocka_unit_test(jumps_are_farther_than_anybody_walks),
        cmocka_unit_test(pairs_are_found_among_many),
        cmocka_unit_test(empty_frames_are_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
