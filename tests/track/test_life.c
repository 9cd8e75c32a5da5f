/* SPDX-License-Identifier: Apache-2.0 */
/* When followers begin, are named and end: each rule at its bound, with a tracker's insides made by hand. */
#include "support/test.h"

#include "base/memory.h"
#include "track/life.h"

#include <string.h>

enum { MOST = 8 };

static sk_following s;
static sk_follower all[MOST];
static sk_look looks[MOST];
static sk_detection found[MOST];
static int32_t free_slots[MOST], match[MOST];
static uint8_t place_taken[MOST], named[MOST];
static float points[MOST * 9], appearance[MOST * SK_TRACK_LOOKS];

static void open_life(void)
{
    sk_error err;
    memset(&s, 0, sizeof s);
    memset(all, 0, sizeof all);
    memset(place_taken, 0, sizeof place_taken);
    sk_track_defaults(&s.settings);
    s.settings.fps = 25;
    s.settings.life.birth = 0.6;
    sk_follow_rules_make(&s.settings, &s.rules);
    s.all = all;
    s.looks = looks;
    s.free_slots = free_slots;
    s.place_taken = place_taken;
    s.named = named;
    s.match = match;
    s.points = points;
    s.points_most = 3;
    s.appearance = appearance;
    s.covered = 8, s.lost = 100;
    s.start = 1;
    s.watched = 1000;
    assert_ok(sk_assign_open(&s.solver, &err), &err);
}

static void close_life(void)
{
    sk_assign_close(&s.solver);
    sk_near_free(&s.near);
    sk_free(s.pairs);
}

static void add_look(double x, double score, int32_t taken_by, bool twin)
{
    sk_detection *d = &found[s.n_looks];
    *d = (sk_detection){.x = x, .y = 100, .score = score, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(d, 40, 10, 0);
    sk_look_make(&s.rules, d, &looks[s.n_looks]);
    looks[s.n_looks].twin = twin;
    looks[s.n_looks++].taken_by = taken_by;
}

static void near_fill(void)
{
    sk_error err;
    double x[MOST], y[MOST];
    for (int i = 0; i < s.n_looks; i++)
        x[i] = found[i].x, y[i] = found[i].y;
    assert_ok(sk_near_fill(&s.near, x, y, 1, s.n_looks, &err), &err);
}

/* Does the last look begin a follower? */
static bool begins(void)
{
    const int32_t before = s.n;
    near_fill();
    sk_life_begin(&s);
    const bool begun = s.n > before;
    if (begun) {
        const sk_follower *f = &s.all[s.n - 1];
        assert_true(s.n == before + 1 && f->detection == s.n_looks - 1);
        assert_true(f->track == -1 && f->place == -1 && f->class_id == -1 && f->identity == -1);
        assert_true(f->seen == 1 && f->missed == 0 && f->age == 0 && f->gaps == 0 && f->certainty == 1);
        assert_true(f->last_x == found[s.n_looks - 1].x && f->body == 40);
    }
    return begun;
}

static void who_may_begin(void **state)
{
    (void)state;
    static const struct {
        double score, beside, apart, body;
        int32_t track; /* of the one beside */
        bool twin, begins;
    } cases[] = {{0.6, 0, 0.25, 0, 0, false, true},    {0.599, 0, 0.25, 0, 0, false, false},
                 {0.9, 0, 0.25, 0, 0, true, false},    {0.9, 9.9, 0.25, 0, 0, false, false},
                 {0.9, 10, 0.25, 0, 0, false, true},   {0.9, 9.9, 0.25, 0, 3, false, false},
                 {0.9, 9.9, 0.25, 0, -1, false, true}, {0.9, 9.9, 0, 0, 0, false, true},
                 {0.9, 9.9, 0.25, 8, 0, false, true},  {0.9, 1.9, 0.25, 8, 0, false, false},
                 {0.9, 9.9, 0.5, 20, 0, false, false}, {0.9, -9.9, 0.25, 0, 0, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_life();
        s.settings.life.apart = cases[i].apart;
        s.settings.body = cases[i].body;
        s.n = 1, s.slots = 1;
        all[0] = (sk_follower){.track = cases[i].track};
        if (cases[i].beside != 0)
            add_look(100 + cases[i].beside, 0.9, 0, false);
        add_look(100, cases[i].score, -1, cases[i].twin);
        add_look(600, 0.9, 0, false); /* given away: begins nothing */
        s.n_looks--;
        near_fill();
        const int32_t before = s.n;
        sk_life_begin(&s);
        if ((s.n > before) != cases[i].begins)
            fail_msg("case %zu", i);
        close_life();
    }
    open_life(); /* slots that were given back are used first */
    add_look(100, 0.9, -1, false);
    s.n_free = 2, free_slots[0] = 5, free_slots[1] = 7, s.slots = 3;
    assert_true(begins() && all[0].slot == 7 && s.n_free == 1 && s.slots == 3);
    s.n_looks = 0;
    add_look(300, 0.9, -1, false);
    assert_true(begins() && all[1].slot == 5 && s.n_free == 0 && s.slots == 3);
    s.n_looks = 0;
    add_look(500, 0.9, -1, false);
    assert_true(begins() && all[2].slot == 3 && s.slots == 4);
    close_life();
}

/* Where no more are found than there are animals, each of them is somebody, once that has held for long enough. */
static void counted_ones_begin_anyhow(void **state)
{
    (void)state;
    static const struct {
        int32_t animals, most;
        double watched, score;
        bool twin, begins;
    } cases[] = {{1, 1, 76, 0.9, true, true},  {1, 1, 75, 0.9, true, false}, {1, 2, 76, 0.9, true, false},
                 {0, 0, 76, 0.9, true, false}, {1, 1, 76, 0.6, true, true},  {1, 1, 76, 0.59, true, false},
                 {2, 2, 76, 0.9, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_life();
        s.settings.animals = cases[i].animals;
        s.most_looks = cases[i].most;
        s.watched = cases[i].watched;
        add_look(100, cases[i].score, -1, cases[i].twin);
        if (begins() != cases[i].begins)
            fail_msg("case %zu", i);
        close_life();
    }
}

static void when_they_end(void **state)
{
    (void)state;
    static const struct {
        int32_t track, seen, gaps, animals;
        double missed;
        bool ends;
    } cases[] = {{-1, 2, 0, 0, 0, false},  {-1, 2, 1, 0, 1, true},    {-1, 3, 1, 0, 1, false},
                 {-1, 3, 2, 0, 2, false},  {-1, 3, 3, 0, 3, true},    {-1, 1, 1, 5, 1, true},
                 {0, 9, 3, 0, 108, false}, {0, 9, 3, 0, 108.5, true}, {0, 9, 3, 1, 108.5, false},
                 {0, -1, 0, 0, 0, true},   {-1, -1, 0, 1, 0, true},   {0, 0, 0, 0, 0, false},
                 {2, 1, 5, 0, 5, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        open_life();
        s.settings.animals = cases[i].animals;
        s.n = 3, s.n_told = 2 + (cases[i].track >= 0), s.n_free = 1;
        for (int k = 0; k < 4; k++)
            place_taken[k] = 1;
        for (int k = 0; k < 3; k++)
            all[k] = (sk_follower){.track = k + 10, .place = k, .slot = 20 + k, .seen = 50};
        all[1] = (sk_follower){.track = cases[i].track,
                               .place = cases[i].track >= 0 ? 1 : -1,
                               .slot = 21,
                               .seen = cases[i].seen,
                               .gaps = cases[i].gaps,
                               .missed = cases[i].missed};
        sk_life_end(&s);
        if ((s.n == 2) != cases[i].ends)
            fail_msg("case %zu", i);
        assert_int_equal(all[0].track, 10);
        assert_int_equal(all[s.n - 1].track, 12);
        assert_int_equal(s.n_free, cases[i].ends ? 2 : 1);
        assert_true(!cases[i].ends || free_slots[1] == 21);
        assert_int_equal(s.n_told, 2 + (cases[i].track >= 0 && !cases[i].ends));
        assert_int_equal(place_taken[1], !(cases[i].ends && cases[i].track >= 0));
        assert_true(place_taken[0] && place_taken[2] && place_taken[3]);
        close_life();
    }
}

/* One that nobody who was lost could be. */
static void when_they_are_named(void **state)
{
    (void)state;
    static const struct {
        sk_follower f;
        int32_t start, animals, told;
        bool named;
    } cases[] = {{{.track = -1, .seen = 6}, 1, 0, 2, true},
                 {{.track = -1, .seen = 5}, 1, 0, 2, false},
                 {{.track = -1, .seen = 6}, 6, 0, 2, true},
                 {{.track = -1, .seen = 6}, 7, 0, 2, false},
                 {{.track = -1, .seen = 6, .missed = 1}, 1, 0, 2, false},
                 {{.track = -1, .seen = 1, .score = 0.7}, 1, 0, 2, true},
                 {{.track = -1, .seen = 1, .score = 0.699}, 1, 0, 2, false},
                 {{.track = -1, .seen = 1, .pointed = true}, 1, 0, 2, true},
                 {{.track = -1, .seen = 1, .age = 999}, 1, 0, 2, true},
                 {{.track = -1, .seen = 1, .age = 998}, 1, 0, 2, false},
                 {{.track = -1, .seen = 1}, 1, 3, 2, true},
                 {{.track = -1, .seen = 1}, 1, 2, 2, false},
                 {{.track = -1, .seen = 9}, 1, 2, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_error err;
        open_life();
        s.settings.animals = cases[i].animals;
        s.start = cases[i].start;
        s.n = 3, s.n_told = cases[i].told, s.next_track = 40;
        place_taken[0] = place_taken[2] = 1;
        all[0] = (sk_follower){.track = 10, .place = 0, .seen = 50};
        all[1] = cases[i].f;
        all[1].place = -1;
        all[2] = (sk_follower){.track = 0, .place = 2, .seen = 50};
        assert_ok(sk_life_name(&s, &err), &err);
        if ((all[1].track == 40) != cases[i].named)
            fail_msg("case %zu", i);
        assert_int_equal(all[1].track, cases[i].named ? 40 : -1);
        assert_int_equal(all[1].place, cases[i].named ? 1 : -1);
        assert_int_equal(place_taken[1], cases[i].named);
        assert_int_equal(s.n_told, cases[i].told + cases[i].named);
        assert_int_equal(s.next_track, 40 + cases[i].named);
        assert_true(all[0].track == 10 && all[2].track == 0 && !place_taken[3]);
        close_life();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_begin), cmocka_unit_test(counted_ones_begin_anyhow),
        cmocka_unit_test(when_they_end), cmocka_unit_test(when_they_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
