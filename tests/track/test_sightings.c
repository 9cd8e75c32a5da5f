/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of sightings: their index, means and ends; cutting and duplicates at the bounds of each rule. */
#include "support/test.h"

#include "base/memory.h"
#include "track/sightings.h"

#include <math.h>
#include <string.h>

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9) && !(isnan(value) && isnan(wanted)))
        fail_msg("%.15g, not %.15g", value, wanted);
}

/* Frames from the list; the x of the k-th is k. */
static sk_tracklet of_frames(const int *frames, int n)
{
    sk_error err;
    sk_tracklet t = {.id = 3};
    for (int i = 0; i < n; i++) {
        const sk_seen seen = {.frame = frames[i], .x = i % 4 == 3 ? NAN : i, .columns = 1u << i % 3};
        assert_ok(sk_tracklet_append(&t, &seen, &err), &err);
    }
    return t;
}

static void one_a_frame_in_order(void **state)
{
    (void)state;
    sk_error err;
    static const int frames[] = {5, 2, 2, 2, 9, 5, 2, 7};
    sk_tracklet t = of_frames(frames, 8); /* x: 0 1 2 NaN 4 5 6 NaN */
    static const struct {
        sk_seen_pick pick;
        int n, frame[4], item[4];
    } want[] = {{SK_SEEN_FIRST, 4, {2, 5, 7, 9}, {1, 0, 7, 4}},
                {SK_SEEN_LAST, 4, {2, 5, 7, 9}, {6, 5, 7, 4}},
                {SK_SEEN_LAST_VALID, 3, {2, 5, 9}, {6, 5, 4}}};
    for (int k = 0; k < 3; k++) {
        sk_seen_index index;
        assert_ok(sk_seen_index_make(&t, want[k].pick, &index, &err), &err);
        assert_int_equal(index.count, want[k].n);
        assert_int_equal(index.columns, 7);
        for (int i = 0; i < want[k].n; i++)
            assert_true(index.items[i] == &t.items[want[k].item[i]]);
        for (int frame = 0; frame < 12; frame++) {
            const sk_seen *found = NULL;
            for (int i = 0; i < want[k].n; i++)
                found = want[k].frame[i] == frame ? &t.items[want[k].item[i]] : found;
            assert_true(sk_seen_find(&index, frame) == found);
        }
        sk_seen_index_free(&index);
        assert_true(!index.items && !index.count);
    }
    sk_tracklet_free(&t);
    assert_true(!t.items && !t.count);
    static const int two[][2] = {{5, 2}, {2, 5}}; /* the first two alone are in no order */
    for (int k = 0; k < 2; k++) {
        sk_seen_index index;
        t = of_frames(two[k], 2);
        assert_ok(sk_seen_index_make(&t, SK_SEEN_FIRST, &index, &err), &err);
        assert_true(index.count == 2 && index.items[0]->frame == 2 && index.items[1]->frame == 5);
        sk_seen_index_free(&index);
        sk_tracklet_free(&t);
    }
}

static void the_mean_of_two(void **state)
{
    (void)state;
    const sk_seen a = {.frame = 4,
                       .detection = 8,
                       .x = 10,
                       .y = 20,
                       .heading = 0.1,
                       .score = 0.4,
                       .certainty = 0.9,
                       .uncertainty = 3,
                       .state = SK_SEEN_LOST};
    sk_seen b = {.frame = 4,
                 .detection = 9,
                 .x = 14,
                 .y = 30,
                 .heading = 6.2,
                 .score = 0.6,
                 .certainty = 0.2,
                 .uncertainty = 1,
                 .state = SK_SEEN_ACTIVE};
    sk_seen m = sk_seen_average(&a, 31, &b, 31);
    assert_true(m.x == 12 && m.y == 25 && m.score == 0.6 && m.certainty == 0.9 && m.uncertainty == 1);
    assert_true(m.state == SK_SEEN_ACTIVE && m.detection == 8 && m.frame == 4 && m.columns == 31);
    near_to(m.heading, (0.1 + 6.2 - 2 * M_PI) / 2);
    m = sk_seen_average(&b, 31, &a, 31);
    assert_true(m.x == 12 && m.score == 0.6 && m.certainty == 0.9 && m.uncertainty == 1 && m.detection == 9);
    near_to(m.heading, (0.1 + 6.2 - 2 * M_PI) / 2);
    for (uint32_t columns = 0; columns < 32; columns++) /* only what both tables have is made of both */
        for (int side = 0; side < 2; side++) {
            m = side ? sk_seen_average(&a, columns, &b, 31) : sk_seen_average(&a, 31, &b, columns);
            assert_true(m.score == (columns & SK_SEEN_SCORE ? 0.6 : 0.4) && m.certainty == 0.9);
            assert_true(m.uncertainty == (columns & SK_SEEN_UNCERTAINTY ? 1 : 3));
            assert_int_equal(m.columns, side ? columns : 31);
            m = side ? sk_seen_average(&b, columns, &a, 31) : sk_seen_average(&b, 31, &a, columns);
            assert_true(m.certainty == (columns & SK_SEEN_CERTAINTY ? 0.9 : 0.2) && m.score == 0.6);
        }
    static const double headings[][3] = {{0, 1, 0.5},
                                         {0, M_PI, 0}, /* the other end is the head */
                                         {0, M_PI + 0.4, 0.2},
                                         {0.1, M_PI - 0.3, 2 * M_PI - 0.1},
                                         {1, 1 + 0.49 * M_PI, 1 + 0.245 * M_PI},
                                         {1, 1 + 0.51 * M_PI, 1 - 0.245 * M_PI},
                                         {-1, 6.5, (5.5 - 2 * M_PI) / 2},
                                         {NAN, 2, 2},
                                         {2, NAN, 2},
                                         {NAN, NAN, NAN}};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        sk_seen p = a, q = b;
        p.heading = headings[i][0], q.heading = headings[i][1];
        const double heading = sk_seen_average(&p, 31, &q, 31).heading;
        if (isnan(headings[i][2]))
            assert_true(isnan(heading));
        else
            near_to(remainder(heading - headings[i][2], 2 * M_PI), 0);
    }
    sk_seen none = a;
    none.x = none.y = none.score = none.certainty = none.uncertainty = NAN;
    b.state = SK_SEEN_COVERED;
    for (int side = 0; side < 2; side++) {
        m = side ? sk_seen_average(&none, 31, &b, 31) : sk_seen_average(&b, 31, &none, 31);
        assert_true(m.x == 14 && m.y == 30 && m.score == 0.6 && m.certainty == 0.2 && m.uncertainty == 1);
        assert_int_equal(m.state, side ? SK_SEEN_LOST : SK_SEEN_COVERED);
    }
    assert_true(isnan(sk_seen_distance(&none, &b)) && sk_seen_distance(&a, &b) == sqrt(116));
    assert_false(sk_seen_same_detection(&a, &b));
    b.detection = 8;
    assert_true(sk_seen_same_detection(&a, &b));
    none.detection = b.detection = SK_SEEN_NO_DETECTION;
    assert_false(sk_seen_same_detection(&none, &b));
}

/* 'a' active, 'c' covered, 'l' lost, 'u' untold. */
static sk_tracklet of_states(const char *states)
{
    sk_error err;
    sk_tracklet t = {0};
    for (int i = 0; states[i]; i++) {
        const char c = states[i];
        const sk_seen seen = {.frame = i,
                              .state = c == 'a'   ? SK_SEEN_ACTIVE
                                       : c == 'c' ? SK_SEEN_COVERED
                                       : c == 'l' ? SK_SEEN_LOST
                                                  : SK_SEEN_UNTOLD};
        assert_ok(sk_tracklet_append(&t, &seen, &err), &err);
    }
    return t;
}

static void ends_that_were_not_seen_go(void **state)
{
    (void)state;
    static const struct {
        const char *states;
        size_t first, n;
    } cases[] = {{"a", 0, 1},     {"c", 0, 0},   {"clcl", 0, 0}, {"caac", 1, 2}, {"llacalc", 2, 3},
                 {"uacau", 0, 5}, {"cuc", 1, 1}, {"aac", 0, 2},  {"laa", 1, 2},  {"", 0, 0}};
    sk_error err;
    sk_tracklets list = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_tracklet t = of_states(cases[i].states);
        sk_tracklet_trim(&t);
        assert_int_equal(t.count, cases[i].n);
        for (size_t k = 0; k < t.count; k++)
            assert_int_equal(t.items[k].frame, cases[i].first + k);
        sk_tracklet_free(&t);
        t = of_states(cases[i].states);
        t.id = (int64_t)i;
        assert_ok(sk_tracklets_take(&list, &t, &err), &err);
        assert_true(!t.items && !t.count);
    }
    sk_tracklets_trim(&list, 2);
    static const int64_t two[] = {3, 4, 5, 7, 8};
    assert_int_equal(list.count, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(list.items[i].id, two[i]);
    sk_tracklets_trim(&list, 4);
    assert_true(list.count == 1 && list.items[0].id == 5);
    sk_tracklets_free(&list);
    sk_tracklet empty = of_states("cc"); /* nothing is left out of nothing */
    assert_ok(sk_tracklets_take(&list, &empty, &err), &err);
    sk_tracklets_trim(&list, 0);
    assert_int_equal(list.count, 0);
    sk_tracklets_free(&list);
}

typedef struct seen_at {
    int frame;
    double x;
    char state;
} seen_at;

static void cut(const sk_clean_settings *s, const seen_at *seen, int n, const int *lengths)
{
    sk_error err;
    sk_tracklets list = {0};
    sk_tracklet t = {.id = 9};
    for (int i = 0; i < n; i++) {
        const sk_seen one = {.frame = seen[i].frame,
                             .x = seen[i].x,
                             .state = seen[i].state == 'c'   ? SK_SEEN_COVERED
                                      : seen[i].state == 'l' ? SK_SEEN_LOST
                                                             : SK_SEEN_ACTIVE};
        assert_ok(sk_tracklet_append(&t, &one, &err), &err);
    }
    assert_ok(sk_tracklets_take(&list, &t, &err), &err);
    assert_ok(sk_tracklets_clean(&list, s, &err), &err);
    size_t count = 0;
    for (; lengths[count]; count++) {
        assert_true(count < list.count);
        assert_int_equal(list.items[count].count, lengths[count]);
        assert_int_equal(list.items[count].id, count);
    }
    assert_int_equal(list.count, count);
    sk_tracklets_free(&list);
}

#define CUT(s, seen, ...) cut(s, seen, sizeof(seen) / sizeof *(seen), (const int[]){__VA_ARGS__, 0})

static void where_tracklets_are_cut(void **state)
{
    (void)state;
    sk_clean_settings s;
    sk_clean_defaults(&s);
    assert_true(s.shortest == 10 && s.velocity_limit == 100 && s.outlier == 0 && s.outlier_window == 10 &&
                s.outlier_least == 2 && s.covered_gap == 30);
    s.shortest = 1, s.velocity_limit = 8, s.covered_gap = 2;
    /* as fast as may be is not too fast; more is, over a gap too */
    static const seen_at fast[] = {{0, 0, 'a'},    {1, 8, 'a'},  {3, 24, 'a'},
                                   {4, 32.5, 'a'}, {6, 49, 'a'}, {7, 50, 'a'}};
    CUT(&s, fast, 3, 1, 2);
    s.shortest = 2; /* of these the middle one is too short */
    CUT(&s, fast, 3, 2);
    s.shortest = 3;
    CUT(&s, fast, 3);
    s.shortest = 1;
    /* covered for two frames is no end, for three is; not to be seen at all does not count */
    static const seen_at covered[] = {{0, 0, 'a'}, {1, 9, 'c'}, {2, 9, 'l'}, {3, 0, 'a'}, {4, 0, 'c'},
                                      {5, 0, 'c'}, {6, 0, 'c'}, {7, 0, 'a'}, {20, 0, 'a'}};
    CUT(&s, covered, 4, 2);
    s.covered_gap = 3;
    CUT(&s, covered, 9);
    s.covered_gap = 0; /* never */
    CUT(&s, covered, 9);
    /* from the last known place on: 8 a frame over four frames, and a little more */
    static const seen_at far[] = {{0, 0, 'a'}, {1, 0, 'c'}, {4, 32, 'a'}, {5, 0, 'c'}, {8, 64.1, 'a'}};
    CUT(&s, far, 3, 1);
    /* next to each other what has no velocity is not compared: frame 1 has none */
    static const seen_at hidden[] = {{0, 0, 'a'}, {1, NAN, 'a'}, {2, 16, 'a'}, {3, NAN, 'a'}, {4, 32.1, 'a'}};
    CUT(&s, hidden, 4, 1);
    static const seen_at alone[] = {{3, 5, 'a'}};
    CUT(&s, alone, 1);
}

static void what_is_an_outlier(void **state)
{
    (void)state;
    sk_clean_settings s;
    sk_clean_defaults(&s);
    s.shortest = 1, s.outlier_window = 4, s.outlier = 3, s.outlier_least = 2;
    seen_at seen[8];
    /* velocities 1 2 3 2: mean 2, deviation sqrt(2 / 3); with 0.25 * 2 beside it, three of them are 2 + 3.9495 */
    static const double steps[] = {1, 2, 3, 2};
    const double bound = 2 + 3 * (sqrt(2.0 / 3) + 0.5);
    for (int k = 0; k < 2; k++) {
        seen[0] = (seen_at){0, 0, 'a'};
        for (int i = 1; i < 6; i++)
            seen[i] =
                (seen_at){i, seen[i - 1].x + (i < 5 ? steps[i - 1] : bound + (k ? 0.001 : -0.001)), 'a'};
        cut(&s, seen, 6, k ? (const int[]){5, 1, 0} : (const int[]){6, 0});
        s.outlier_least = bound + 0.002; /* slow ones are none */
        cut(&s, seen, 6, (const int[]){6, 0});
        s.outlier_least = 2;
        cut(&s, seen + 1, 5, (const int[]){5, 0}); /* too few before it */
    }
    /* standing is no measure once three have moved by a quarter of the least: 0.5 counts, 0.49 does not */
    static const double still[][4] = {{0.5, 0.5, 0.5, 0}, {0.49, 0.5, 0.5, 0}, {0, 0, 0, 0}};
    for (int k = 0; k < 3; k++) {
        double sum = 0, square = 0;
        const int n = k ? 4 : 3;
        for (int i = 0; i < n; i++)
            sum += still[k][i];
        for (int i = 0; i < n; i++)
            square += (still[k][i] - sum / n) * (still[k][i] - sum / n);
        const double most = sum / n + 3 * (sqrt(square / (n - 1)) + 0.5);
        s.outlier_least = 2;
        for (int over = 0; over < 2; over++) {
            seen[0] = (seen_at){0, 0, 'a'};
            for (int i = 1; i < 6; i++)
                seen[i] = (seen_at){
                    i, seen[i - 1].x + (i < 5 ? still[k][i - 1] : most + 0.001 * (2 * over - 1)), 'a'};
            const bool slow = most + 0.001 * (2 * over - 1) < 2;
            cut(&s, seen, 6, over && !slow ? (const int[]){5, 1, 0} : (const int[]){6, 0});
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_a_frame_in_order), cmocka_unit_test(the_mean_of_two),
        cmocka_unit_test(ends_that_were_not_seen_go), cmocka_unit_test(where_tracklets_are_cut),
        cmocka_unit_test(what_is_an_outlier)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
