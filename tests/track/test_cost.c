/* SPDX-License-Identifier: Apache-2.0 */
/* What a pair of animal and detection costs: each term by itself. */
#include "support/test.h"

#include "track/cost.h"

#include <math.h>
#include <string.h>

static sk_track_settings settings;
static sk_follow_rules rules;
static float points_room[64], looks_room[SK_TRACK_LOOKS];
static const sk_follower_room room = {points_room, looks_room};
static sk_keypoint pose[3];
static float appearance[SK_TRACK_LOOKS];

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-9))
        fail_msg("%.15g, not %.15g", value, wanted);
}

static sk_detection animal(double x, double y, double angle)
{
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        pose[i] = (sk_keypoint){(float)(x + 15 * (1 - i) * c), (float)(y + 15 * (1 - i) * s), 0.9f};
    return (sk_detection){.x = x,
                          .y = y,
                          .major = 40,
                          .minor = 16,
                          .angle = angle,
                          .directed = true,
                          .heading = angle,
                          .box = {x - 20, y - 20, x + 20, y + 20},
                          .score = 0.9,
                          .class_id = 1,
                          .identity = 2,
                          .identity_score = 0.8,
                          .points = pose,
                          .n_points = 3,
                          .looks = appearance};
}

/* Somebody seen some times, and what a detection costs it. */
static void meet(sk_follower *f)
{
    sk_look look;
    sk_track_defaults(&settings);
    settings.fps = 25;
    settings.weights = (sk_track_weights){1, 1, 1, 1, 1, 1, 1, 1};
    sk_follow_rules_make(&settings, &rules);
    memset(appearance, 0, sizeof appearance);
    appearance[3] = 1;
    for (int i = 0; i < 5; i++) {
        const sk_detection d = animal(100 + 2 * i, 50, 0.2);
        sk_look_make(&rules, &d, &look);
        if (i == 0) {
            sk_follower_begin(f, &rules, &look, room);
        } else {
            sk_follower_predict(f, &rules, 1);
            sk_follower_correct(f, &rules, &look, 1, room);
        }
    }
}

static double cost(const sk_follower *f, const sk_detection *d, const sk_track_weights *w)
{
    sk_look look;
    settings.weights = *w;
    sk_look_make(&rules, d, &look);
    return sk_pair_cost(&rules, f, &look, room);
}

/* A sum of terms, each as much as its weight says: none, half, whole, more than whole. */
static void terms_add_up_by_their_weights(void **state)
{
    (void)state;
    enum { TERMS = sizeof(sk_track_weights) / sizeof(double) };
    sk_follower f;
    meet(&f);
    for (int kind = 0; kind < 3; kind++) { /* turned box and pose, upright box and pose, upright box alone */
        sk_detection d = animal(117, 46, 0.5);
        sk_track_weights all = {1, 1, 1, 1, 1, 1, 1, 1}, none = {0};
        d.upright = kind > 0;
        d.points = kind == 2 ? NULL : d.points;
        d.n_points = kind == 2 ? 0 : 3;
        d.major = 44, d.minor = 15;
        appearance[3] = 0.6f, appearance[4] = 0.8f;
        near_to(cost(&f, &d, &none), 0);
        double sum = 0;
        for (int i = 0; i < TERMS; i++) {
            double by[4];
            static const double weights[4] = {0.25, 0.5, 1, 3};
            for (int k = 0; k < 4; k++) {
                sk_track_weights one = {0};
                ((double *)&one)[i] = weights[k];
                by[k] = cost(&f, &d, &one);
            }
            for (int k = 0; k < 3; k++)
                near_to(by[k] / weights[k], by[3] / weights[3]);
            if (!(kind == 2 && i == 5) && fabs(by[2]) < 1e-6)
                fail_msg("term %d says nothing of detection %d", i, kind);
            sum += by[2];
        }
        near_to(cost(&f, &d, &all), sum);
    }
    appearance[3] = 1, appearance[4] = 0;
}

static void what_is_not_known_costs_nothing(void **state)
{
    (void)state;
    sk_follower f;
    meet(&f);
    const sk_track_weights looks = {.looks = 1}, identity = {.identity = 1}, posed = {.pose = 1}, none = {0};
    sk_detection d = animal(110, 50, 0.2), bare = d;
    bare.looks = NULL, bare.identity = -1, bare.points = NULL, bare.n_points = 0;
    near_to(cost(&f, &bare, &looks), 0);
    near_to(cost(&f, &bare, &identity), 0);
    near_to(cost(&f, &bare, &posed), 0);
    near_to(cost(&f, &d, &looks), 0); /* the very same */
    sk_follower blind = f;
    blind.has_looks = false, blind.identity = -1, blind.n_points = 0;
    appearance[3] = 0, appearance[9] = 1;
    assert_true(cost(&f, &d, &looks) > 1);
    near_to(cost(&blind, &d, &looks), 0);
    near_to(cost(&blind, &d, &identity), 0);
    near_to(cost(&blind, &d, &posed), 0);
    /* the model's identity: as much for as against, by how sure both are */
    const double same = cost(&f, &d, &identity);
    d.identity = 7;
    near_to(cost(&f, &d, &identity), -same);
    near_to(same, -3 * fmin(f.identity_votes, 1) * 0.8);
    /* another class, where both have one */
    d.class_id = 0;
    near_to(cost(&f, &d, &none), 4);
    d.class_id = -1;
    near_to(cost(&f, &d, &none), 0);
    d.class_id = 0, blind.class_id = -1;
    near_to(cost(&blind, &d, &none), 0);
}

/* The farther, the more turned or the larger, the dearer; to either side alike. */
static void likelier_is_cheaper(void **state)
{
    (void)state;
    sk_follower f;
    meet(&f);
    const sk_track_weights place = {.position = 1}, heading = {.heading = 1}, overlap = {.overlap = 1},
                           area = {.area = 1}, aspect = {.aspect = 1}, posed = {.pose = 1};
    const double x = f.kalman.at[0], y = f.kalman.at[1], angle = f.heading.angle;
    double before[6] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++) {
        sk_detection near = animal(x + 4 * i, y, angle);
        double now[6] = {cost(&f, &near, &place), 0, cost(&f, &near, &overlap), 0, 0,
                         cost(&f, &near, &posed)};
        sk_detection other = animal(x - 4 * i, y, angle);
        other.directed = near.directed;
        near_to(cost(&f, &other, &place), now[0]);
        assert_true(fabs(cost(&f, &other, &overlap) - now[2]) < 1e-4);
        sk_detection turned = animal(x, y, angle + 0.25 * i), large = animal(x, y, angle), slim = large;
        now[1] = cost(&f, &turned, &heading);
        large.major *= 1 + 0.2 * i, large.minor *= 1 + 0.2 * i;
        slim.major *= 1 + 0.2 * i, slim.minor /= 1 + 0.2 * i;
        now[3] = cost(&f, &large, &area);
        now[4] = cost(&f, &slim, &aspect);
        for (int k = 0; k < 6; k++) {
            if (!(now[k] > before[k]))
                fail_msg("term %d, step %d: %g after %g", k, i, now[k], before[k]);
            before[k] = now[k];
        }
    }
    /* the head at the other end costs, and the box says nothing about it */
    sk_detection back = animal(x, y, angle);
    const double forward = cost(&f, &back, &heading);
    back.heading = angle + 3.14159265358979;
    assert_true(cost(&f, &back, &heading) > forward + 1);
    back.directed = false;
    assert_true(cost(&f, &back, &heading) <= forward + 1e-9);
}

static void how_far_is_looked(void **state)
{
    (void)state;
    sk_follower f;
    meet(&f);
    const double body = f.body;
    f.kalman.cov[0][0] = 9, f.kalman.cov[1][1] = 4, f.kalman.cov[0][1] = f.kalman.cov[1][0] = 0;
    settings.life.gate = 100;
    near_to(sk_pair_reach(&rules, &f), 0.5 * body + 15);
    f.kalman.cov[0][0] = 6.5, f.kalman.cov[1][1] = 6.5,
    f.kalman.cov[0][1] = f.kalman.cov[1][0] = 2.5; /* turned by 45° */
    near_to(sk_pair_reach(&rules, &f), 0.5 * body + 15);
    settings.life.gate = 0.6;
    near_to(sk_pair_reach(&rules, &f), 0.6 * body);
    f.pointed = true;
    near_to(sk_pair_reach(&rules, &f), 1.2 * body);
    settings.life.gate = 100;
    near_to(sk_pair_reach(&rules, &f), 2 * body + 15);
    near_to(sk_score_worse(0.9), 1);
    near_to(sk_score_worse(1), 1);
    near_to(sk_score_worse(0.45), 2);
    near_to(sk_score_worse(0), 3);
}

/* Of one who comes back: another class costs, where both have one. */
static void who_comes_back_has_its_class(void **state)
{
    (void)state;
    sk_follower lost, found;
    meet(&lost);
    lost.missed = 30;
    found = lost;
    found.missed = 0;
    const double same = sk_return_cost(&rules, &lost, &found, room, room);
    static const struct {
        int32_t lost, found;
        double more;
    } cases[] = {{0, 0, 0}, {0, 1, 4}, {1, 0, 4}, {2, 1, 4}, {-1, 1, 0}, {0, -1, 0}, {-1, -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lost.class_id = cases[i].lost;
        found.class_id = cases[i].found;
        near_to(sk_return_cost(&rules, &lost, &found, room, room), same + cases[i].more);
    }
}

/* A body's length that is given is the length, however short; else it is learnt from what is seen. */
static void a_length_that_is_given_stays(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++) {
        sk_track_settings how;
        sk_follow_rules follow;
        sk_look look;
        sk_follower f = {0};
        sk_track_defaults(&how);
        how.fps = 25;
        how.body = given ? 0.5 : 0;
        sk_follow_rules_make(&how, &follow);
        sk_detection d = {.x = 10, .y = 20, .score = 0.9, .class_id = -1, .identity = -1};
        for (int i = 0; i < 40; i++) {
            sk_detection_set_oriented(&d, i ? 60 : 40, 10, 0);
            sk_look_make(&follow, &d, &look);
            if (i)
                sk_follower_correct(&f, &follow, &look, 1, room);
            else
                sk_follower_begin(&f, &follow, &look, room);
            assert_true(given ? f.body == 0.5 : i == 0 ? f.body == 40 : f.body > 40 && f.body <= 60);
        }
        assert_true(given || f.body > 55);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_length_that_is_given_stays),
        cmocka_unit_test(terms_add_up_by_their_weights),
        cmocka_unit_test(what_is_not_known_costs_nothing),
        cmocka_unit_test(likelier_is_cheaper),
        cmocka_unit_test(how_far_is_looked),
        cmocka_unit_test(who_comes_back_has_its_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
