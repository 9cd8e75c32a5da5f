/* SPDX-License-Identifier: Apache-2.0 */
/* What methods that pair boxes tell of their tracks: numbers and places, states at their bounds, boxes and headings; and the filter of
 * one coordinate beside the matrices of the textbook. */
#include "support/test.h"

#include "track/boxes.h"
#include "track/even.h"

#include <math.h>
#include <string.h>

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9 * (1 + fabs(wanted))))
        fail_msg("%.15g, not %.15g", value, wanted);
}

static void numbers_and_places(void **state)
{
    (void)state;
    sk_error err;
    sk_box_list list = {0};
    sk_box_track t[6];
    assert_ok(sk_box_list_reserve(&list, 3, &err), &err);
    for (int i = 0; i < 6; i++)
        t[i] = (sk_box_track){.track = -1, .place = -1};
    sk_box_list_leave(&list, &t[5]); /* was never told of */
    for (int i = 0; i < 3; i++) {
        sk_box_list_enter(&list, &t[i]);
        assert_true(t[i].track == i && t[i].place == i);
    }
    sk_box_list_enter(&list, &t[0]); /* stays who it is */
    assert_true(t[0].track == 0 && t[0].place == 0 && list.next_track == 3);
    sk_box_list_leave(&list, &t[0]); /* free places are given again, the lowest first; numbers never */
    sk_box_list_leave(&list, &t[1]);
    sk_box_list_enter(&list, &t[3]);
    sk_box_list_enter(&list, &t[4]);
    assert_true(t[3].track == 3 && t[3].place == 0 && t[4].track == 4 && t[4].place == 1);
    assert_ok(sk_box_list_reserve(&list, 200, &err), &err);
    sk_box_list_enter(&list, &t[5]);
    assert_true(t[5].track == 5 && t[5].place == 3);
    sk_box_list_close(&list);
    assert_true(!list.taken && !list.taken_room);
}

static void states_at_their_bounds(void **state)
{
    (void)state;
    sk_error err;
    sk_box_list list = {0};
    sk_track_settings s;
    sk_track_defaults(&s);
    s.fps = 10, s.life.covered = 0.4;
    struct {
        sk_box_track told;
        double more;
    } t[6];
    memset(t, 0, sizeof t);
    static const int32_t missed[] = {0, 1, 4, 5, 0, 0}, places[] = {4, 2, 0, 5, -1, 1};
    for (int i = 0; i < 6; i++)
        t[i].told = (sk_box_track){.track = 10 + i, .place = places[i], .missed = missed[i], .detection = -1};
    t[5].told.untold = true;
    assert_ok(sk_box_list_reserve(&list, 6, &err), &err);
    static const struct {
        int32_t track;
        sk_track_state state;
    } all[] = {{12, SK_TRACK_COVERED}, {11, SK_TRACK_COVERED}, {10, SK_TRACK_ACTIVE}, {13, SK_TRACK_LOST}};
    for (int k = 0; k < 4; k++) {
        s.tell_covered = k & 1, s.tell_lost = k & 2;
        const int32_t n = sk_box_list_tell(&list, t, sizeof *t, 6, 77, &s);
        int32_t at = 0;
        for (int i = 0; i < 4; i++) {
            if ((all[i].state == SK_TRACK_COVERED && !s.tell_covered) ||
                (all[i].state == SK_TRACK_LOST && !s.tell_lost))
                continue;
            assert_true(at < n && list.sightings[at].track == all[i].track);
            assert_true(list.sightings[at].state == all[i].state && list.sightings[at].frame == 77);
            at++;
        }
        assert_int_equal(at, n);
    }
    assert_int_equal(sk_box_list_tell(&list, t, sizeof *t, 0, 78, &s), 0);
    sk_box_list_close(&list);
}

static void what_is_told_of_one(void **state)
{
    (void)state;
    sk_error err;
    sk_box_list list = {0};
    sk_track_settings s;
    sk_track_defaults(&s);
    s.fps = 10;
    assert_ok(sk_box_list_reserve(&list, 6, &err), &err);
    static const double boxes[][3] = {/* w, h, angle */ {40, 10, 0.5},
                                      {10, 40, 0.5},
                                      {10, 40, 2},
                                      {40, 10, -0.5},
                                      {20, 20, 0.25},
                                      {40, 10, 3.5}};
    static const double told[][3] = {{40, 10, 0.5},        {40, 10, 0.5 + M_PI / 2}, {40, 10, 2 - M_PI / 2},
                                     {40, 10, M_PI - 0.5}, {20, 20, 0.25},           {40, 10, 3.5 - M_PI}};
    for (int i = 0; i < 6; i++) {
        const sk_box_track t = {.track = 3,
                                .place = 2,
                                .detection = i == 0 ? -1 : i - 1,
                                .box = sk_box_make(7, 8, boxes[i][0], boxes[i][1], boxes[i][2], true),
                                .certainty = 0.75,
                                .uncertainty = 1.5,
                                .heading = {.angle = 4}};
        assert_int_equal(sk_box_list_tell(&list, &t, sizeof t, 1, 5, &s), 1);
        const sk_sighting *g = list.sightings;
        assert_true(g->track == 3 && g->place == 2 && g->detection == t.detection && g->x == 7 && g->y == 8);
        assert_true(g->heading == 4 && isnan(g->score) && g->certainty == (i ? 0.75 : 0));
        assert_true(g->uncertainty == 1.5 && g->state == SK_TRACK_ACTIVE);
        near_to(g->major, told[i][0]), near_to(g->minor, told[i][1]), near_to(g->angle, told[i][2]);
    }
    sk_box_list_close(&list);
}

/* A look sets what is told, and the heading hears the pose, the axis, the way. */
static void looks_at_a_track(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        const sk_detection d = {.angle = 0.5, .heading = 4, .major = 50, .directed = k & 1, .upright = k & 2};
        sk_box_track t = {.missed = 4, .detection = -1, .vx = k & 4 ? -8 : 0, .vy = k & 4 ? -3 : 0};
        sk_heading want = {0};
        for (int round = 0; round < 3; round++) {
            sk_box_track_seen(&t, &d, round, 0.25);
            assert_true(t.detection == round && t.missed == 0 && t.certainty == 0.25);
            sk_heading_predict(&want, 1, 0.95, 0.02);
            if (k & 1)
                sk_heading_correct(&want, 4, true, 0.02, 1);
            else if (!(k & 2))
                sk_heading_correct(&want, 0.5, false, 0.02, 1);
            sk_heading_moved(&want, k & 4 ? -4 : 0, k & 4 ? -1.5 : 0); /* bodies a second of 25 frames */
            near_to(t.heading.angle, want.angle), near_to(t.heading.surety, want.surety);
            near_to(t.heading.variance, want.variance), near_to(t.heading.rate, want.rate);
            assert_int_equal(t.heading.known, want.known);
        }
    }
}

static void boxes_of_detections(void **state)
{
    (void)state;
    const sk_detection d = {.x = 1, .y = 2, .major = 30, .minor = 12, .angle = 0.3, .box = {10, 20, 16, 40}};
    const sk_box turned = sk_box_of(&d, true), upright = sk_box_of(&d, false);
    assert_true(turned.x == 1 && turned.y == 2 && turned.w == 30 && turned.h == 12 && turned.angle == 0.3);
    assert_true(turned.turned == 1 && turned.c == cos(0.3) && turned.s == sin(0.3));
    assert_true(upright.x == 13 && upright.y == 30 && upright.w == 6 && upright.h == 20);
    assert_true(upright.angle == 0 && upright.turned == 0 && upright.c == 1 && upright.s == 0);
}

static void pairs_that_cost_least(void **state)
{
    (void)state;
    sk_error err;
    sk_box_pairs p = {0};
    assert_ok(sk_box_pairs_open(&p, &err), &err);
    sk_box rows[3], columns[3];
    for (int i = 0; i < 3; i++) {
        rows[i] = sk_box_make(100 * i, 0, 10, 10, 0, false);
        columns[i] = sk_box_make(100 * (2 - i) + 5, 0, 10, 10, 0, false); /* overlap 1 / 3 */
    }
    assert_ok(sk_box_pairs_find(&p, rows, 3, columns, 3, &err), &err);
    assert_int_equal(p.n, 3);
    for (int k = 0; k < 3; k++) {
        near_to(p.pairs[k].cost, 1.0 / 3);
        p.pairs[k].cost = p.pairs[k].row + 1;
    }
    assert_ok(sk_box_pairs_solve(&p, 3, 3, 2, &err), &err); /* what costs as much as staying apart is made */
    assert_true(p.match[0] == 2 && p.match[1] == 1 && p.match[2] == -1);
    assert_ok(sk_box_pairs_find(&p, rows, 0, columns, 3, &err), &err);
    assert_int_equal(p.n, 0);
    assert_ok(sk_box_pairs_find(&p, rows, 3, columns, 3, &err), &err);
    assert_ok(sk_box_pairs_find(&p, rows, 3, columns, 0, &err), &err);
    assert_int_equal(p.n, 0);
    sk_box_pairs_close(&p);
}

static void a_number_that_changes_evenly(void **state)
{
    (void)state;
    sk_even e = {.at = 3, .rate = 0.5, .aa = 2, .ar = 0.25, .rr = 0.75};
    double x[2] = {3, 0.5}, P[2][2] = {{2, 0.25}, {0.25, 0.75}};
    for (int round = 0; round < 20; round++) {
        const double z = 3 + 0.7 * round + (round % 3), q = 0.1 * round, r = 0.02, noise = 0.5 + round % 2;
        sk_even_predict(&e, q, r);
        const double a = P[0][0] + P[0][1] + P[1][0] + P[1][1] + q, b = P[0][1] + P[1][1];
        x[0] += x[1];
        P[0][0] = a, P[0][1] = P[1][0] = b, P[1][1] += r;
        sk_even_correct(&e, z, noise);
        const double gain[2] = {P[0][0] / (P[0][0] + noise), P[1][0] / (P[0][0] + noise)}, off = z - x[0];
        const double top[2] = {P[0][0], P[0][1]};
        for (int i = 0; i < 2; i++) {
            x[i] += gain[i] * off;
            for (int k = 0; k < 2; k++)
                P[i][k] -= gain[i] * top[k];
        }
        near_to(e.at, x[0]), near_to(e.rate, x[1]);
        near_to(e.aa, P[0][0]), near_to(e.ar, P[0][1]), near_to(e.rr, P[1][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_places),          cmocka_unit_test(states_at_their_bounds),
        cmocka_unit_test(what_is_told_of_one),         cmocka_unit_test(looks_at_a_track),
        cmocka_unit_test(boxes_of_detections),         cmocka_unit_test(pairs_that_cost_least),
        cmocka_unit_test(a_number_that_changes_evenly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
