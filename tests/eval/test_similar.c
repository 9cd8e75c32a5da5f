/* SPDX-License-Identifier: Apache-2.0 */
/* Where an animal is, how far it reaches, how similar two are and how long a body is, by hand. */
#include "eval/tracks.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { POINTS = 3 };

/* Three animals: one with all there is, one with keypoints alone of which one is missing, one of which nothing was seen. */
typedef struct scene {
    sk_annotation_point points[3 * POINTS];
    sk_annotation items[3];
    sk_annotation_set set;
} scene;

static void make(scene *s)
{
    memset(s, 0, sizeof *s);
    static const double xy[3 * POINTS][2] = {{10, 20},  {16, 28},   {13, 20},   {100, 50}, {NAN, 7},
                                             {104, 80}, {NAN, NAN}, {NAN, NAN}, {5, NAN}};
    for (int i = 0; i < 3 * POINTS; i++)
        s->points[i].x = xy[i][0], s->points[i].y = xy[i][1];
    for (int i = 0; i < 3; i++) {
        s->items[i].has = SK_HAS_KEYPOINTS;
        s->items[i].first = (size_t)(i * POINTS);
        s->items[i].length = NAN;
    }
    s->items[0].has |= SK_HAS_BOX | SK_HAS_OBB;
    const double box[4] = {1, 2, 10, 30}, obb[5] = {40, 60, 20, 8, 0};
    memcpy(s->items[0].box, box, sizeof box);
    memcpy(s->items[0].obb, obb, sizeof obb);
    s->set.points = s->points;
    s->set.n_keypoints = POINTS;
    s->set.items = s->items;
    s->set.n_items = 3;
    s->set.has = SK_HAS_BOX | SK_HAS_OBB | SK_HAS_KEYPOINTS;
}

static void where_it_is(void **state)
{
    (void)state;
    static scene found, truth;
    make(&found);
    make(&truth);
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    settings.shift = 0.5;
    sk_tracks_task task = {.result = &found.set, .truth = &truth.set, .settings = &settings};
    static const struct {
        uint32_t centre;
        int item;
        double x, y; /* NaN: nowhere */
    } cases[] = {{0, 0, 40, 60},
                 {SK_HAS_OBB, 0, 40, 60},
                 {SK_HAS_BOX, 0, 6, 17},
                 {SK_HAS_KEYPOINTS, 0, 13, 24},
                 {SK_HAS_KEYPOINTS, 1, 102, 65},
                 {0, 1, 102, 65},
                 {SK_HAS_BOX, 1, 102, 65}, /* what it has not does not help */
                 {0, 2, NAN, NAN},
                 {SK_HAS_KEYPOINTS, 2, NAN, NAN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double at[2];
        const bool somewhere = !isnan(cases[i].x);
        task.centre = cases[i].centre;
        assert_int_equal(sk_tracks_centre(&task, &truth.set, &truth.items[cases[i].item], at), somewhere);
        if (somewhere)
            assert_true(at[0] == cases[i].x && at[1] == cases[i].y);
        /* a result with keypoints is shifted */
        assert_int_equal(sk_tracks_centre(&task, &found.set, &found.items[cases[i].item], at), somewhere);
        if (somewhere)
            assert_true(at[0] == cases[i].x + 0.5 && at[1] == cases[i].y + 0.5);
    }
    found.items[0].has = SK_HAS_BOX;
    double at[2];
    task.centre = 0;
    assert_true(sk_tracks_centre(&task, &found.set, &found.items[0], at) && at[0] == 6 && at[1] == 17);
}

static void is_reach(sk_reach r, double x1, double y1, double x2, double y2, int32_t place)
{
    assert_true(fabs(r.x1 - x1) < 1e-9 && fabs(r.y1 - y1) < 1e-9);
    assert_true(fabs(r.x2 - x2) < 1e-9 && fabs(r.y2 - y2) < 1e-9);
    assert_int_equal(r.place, place);
}

static void how_far_it_reaches(void **state)
{
    (void)state;
    static scene s;
    make(&s);
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    settings.shift = 0;
    sk_tracks_task task = {.result = &s.set, .truth = &s.set, .settings = &settings, .distance = 12};
    task.kind = SK_TRACKS_BOX;
    is_reach(sk_tracks_reach(&task, &s.items[0], true, 4), 1, 2, 11, 32, 4);
    task.kind = SK_TRACKS_OBB;
    is_reach(sk_tracks_reach(&task, &s.items[0], true, 5), 30, 56, 50, 64, 5);
    s.items[0].obb[4] = M_PI / 2;
    is_reach(sk_tracks_reach(&task, &s.items[0], false, 5), 36, 50, 44, 70, 5);
    task.kind = SK_TRACKS_POINT;
    is_reach(sk_tracks_reach(&task, &s.items[0], true, 6), 28, 48, 52, 72, 6);
    is_reach(sk_tracks_reach(&task, &s.items[0], false, 6), 40, 60, 40, 60, 6);
}

static void how_near_centres_are(void **state)
{
    (void)state;
    static scene found, truth;
    make(&found);
    make(&truth);
    sk_eval_settings settings;
    sk_eval_defaults(&settings);
    settings.shift = 0;
    const sk_tracks_task task = {.result = &found.set,
                                 .truth = &truth.set,
                                 .settings = &settings,
                                 .kind = SK_TRACKS_POINT,
                                 .distance = 20};
    static const double offs[][3] = {{0, 0, 1},   {5, 0, 0.75}, {0, -5, 0.75},
                                     {6, 8, 0.5}, {12, 16, 0},  {30, 0, 0}};
    for (size_t i = 0; i < sizeof offs / sizeof *offs; i++) {
        found.items[0].obb[0] = 40 + offs[i][0];
        found.items[0].obb[1] = 60 + offs[i][1];
        assert_true(fabs(sk_tracks_similarity(&task, &found.items[0], &truth.items[0]) - offs[i][2]) < 1e-12);
    }
    assert_true(sk_tracks_similarity(&task, &found.items[2], &truth.items[1]) == 0);
    assert_true(sk_tracks_similarity(&task, &found.items[1], &truth.items[2]) == 0);
}

static double body(const scene *truth, const scene *found)
{
    sk_error err = {0};
    sk_eval_settings settings;
    double out = -1;
    sk_eval_defaults(&settings);
    const sk_tracks_task task = {.result = &found->set, .truth = &truth->set, .settings = &settings};
    assert_ok(sk_tracks_body(&task, &out, &err), &err);
    return out;
}

/* Its length where the file says one, else the oriented box's longer side, the farthest two keypoints, the box's longer side. */
static void how_long_a_body_is(void **state)
{
    (void)state;
    static scene s, nothing;
    make(&nothing);
    nothing.set.n_items = 0;
    make(&s);
    s.set.n_items = 1;
    assert_true(body(&s, &nothing) == 20);
    s.items[0].obb[3] = 33;
    assert_true(body(&s, &nothing) == 33);
    s.items[0].length = 7;
    assert_true(body(&s, &nothing) == 7);
    s.items[0].length = NAN;
    s.items[0].has = SK_HAS_KEYPOINTS | SK_HAS_BOX;
    assert_true(body(&s, &nothing) == 10); /* 6 and 8 */
    s.items[0].has = SK_HAS_BOX;
    assert_true(body(&s, &nothing) == 30);
    s.items[0].box[2] = 44;
    assert_true(body(&s, &nothing) == 44);
    make(&s);
    s.set.items = &s.items[1];
    s.set.n_items = 1;
    assert_true(fabs(body(&s, &nothing) - hypot(4, 30)) < 1e-12); /* the one that is missing says nothing */
    s.set.items = &s.items[2];
    assert_true(body(&s, &nothing) == 0);
    static scene other;
    make(&other);
    other.set.n_items = 1;
    assert_true(body(&s, &other) == 20); /* the result's, where the truth knows none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(where_it_is), cmocka_unit_test(how_far_it_reaches),
                                       cmocka_unit_test(how_near_centres_are),
                                       cmocka_unit_test(how_long_a_body_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
