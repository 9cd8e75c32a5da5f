/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/instances.h"
#include "track/track.h"

#include <math.h>

#define PI 3.14159265358979323846

static void near_to(double value, double wanted)
{
    if (!(fabs(value - wanted) < 1e-5))
        fail_msg("%.9g, not %.9g", value, wanted);
}

/* Whatever the convention, the long side's angle comes out, 0 … pi. */
static void turned_boxes_come_in_every_convention(void **state)
{
    (void)state;
    const struct {
        double w, h, angle, major, minor, wanted;
    } cases[] = {
        {40, 10, 0, 40, 10, 0},
        {40, 10, PI, 40, 10, 0},
        {40, 10, PI / 2, 40, 10, PI / 2},
        {10, 40, 0, 40, 10, PI / 2},
        {10, 40, PI / 2, 40, 10, 0},
        {10, 40, PI, 40, 10, PI / 2},
        {40, 10, -PI / 4, 40, 10, 3 * PI / 4},
        {10, 40, -PI / 2, 40, 10, 0},
        {40, 10, 2 * PI + 0.1, 40, 10, 0.1},
        {20, 20, 0.3, 20, 20, 0.3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_detection d = {0};
        sk_detection_set_oriented(&d, cases[i].w, cases[i].h, cases[i].angle);
        near_to(d.major, cases[i].major);
        near_to(d.minor, cases[i].minor);
        assert_true(d.angle >= 0 && d.angle < PI);
        near_to(fabs(remainder(d.angle - cases[i].wanted, PI)), 0);
    }
}

static sk_instances list;

static sk_found *fresh(void)
{
    sk_error err;
    assert_ok(sk_instances_alloc(1, 3, &list, &err), &err);
    sk_found *f = sk_instances_add(&list);
    f->score = 0.5f;
    return f;
}

static const int32_t head[] = {0}, tail[] = {2};
static const sk_pose_axis axis = {head, tail, 1, 1};

static void a_pose_points_to_the_head(void **state)
{
    (void)state;
    sk_detection d;
    sk_found *f = fresh();
    f->has = SK_HAS_OBB | SK_HAS_KEYPOINTS;
    const float obb[5] = {100, 50, 40, 10, 0.1f};
    for (int i = 0; i < 5; i++)
        f->obb[i] = obb[i];
    sk_keypoint *p = &list.keypoints[f->first_keypoint];
    p[0] = (sk_keypoint){85, 49, 1}; /* the nose to the left */
    p[2] = (sk_keypoint){115, 51, 1};
    assert_true(sk_detection_of(&list, 0, &axis, &d));
    near_to(d.angle, 0.1);
    assert_true(d.directed && !d.upright);
    near_to(d.heading, 0.1 + PI);
    assert_int_equal(d.n_points, 3);
    p[0] = (sk_keypoint){100, 65, 1}; /* across the box: that cannot be */
    p[2] = (sk_keypoint){100, 35, 1};
    assert_true(sk_detection_of(&list, 0, &axis, &d));
    assert_false(d.directed);
    p[0].x = NAN; /* no nose, no heading */
    assert_true(sk_detection_of(&list, 0, &axis, &d));
    assert_false(d.directed);
    assert_true(sk_detection_of(&list, 0, NULL, &d));
    assert_false(d.directed);
    sk_instances_free(&list);
}

static void boxes_and_keypoints_alone_are_detections(void **state)
{
    (void)state;
    sk_detection d;
    sk_found *f = fresh();
    f->has = SK_HAS_BOX;
    f->box[0] = 10;
    f->box[1] = 20;
    f->box[2] = 30;
    f->box[3] = 80;
    f->track_id = 4;
    f->tracking_score = 0.75f;
    assert_true(sk_detection_of(&list, 0, &axis, &d));
    assert_true(d.upright && !d.directed);
    near_to(d.x, 20);
    near_to(d.y, 50);
    near_to(d.major, 60);
    near_to(d.angle, PI / 2);
    assert_int_equal(d.identity, 4);
    near_to(d.identity_score, 0.75);
    f->has = SK_HAS_KEYPOINTS;
    sk_keypoint *p = &list.keypoints[f->first_keypoint];
    for (int i = 0; i < 3; i++)
        p[i] = (sk_keypoint){(float)(10 * i), (float)(10 * i), 1};
    assert_true(sk_detection_of(&list, 0, &axis, &d));
    near_to(d.x, 10);
    near_to(d.angle, PI / 4);
    near_to(d.heading, 5 * PI / 4);
    near_to(d.major, sqrt(800));
    near_to(d.box[2] - d.box[0], sqrt(800) * (1 + 0.2) * sqrt(0.5));
    f->has = 0;
    assert_false(sk_detection_of(&list, 0, &axis, &d));
    assert_false(sk_detection_of(&list, 1, &axis, &d));
    for (int i = 0; i < 3; i++)
        p[i].x = NAN;
    f->has = SK_HAS_KEYPOINTS;
    assert_false(sk_detection_of(&list, 0, &axis, &d));
    sk_instances_free(&list);
}

/* A single number that is none, or has no end, and it is no detection. */
static void what_is_no_number_is_no_detection(void **state)
{
    (void)state;
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 5; i++) {
            sk_detection d;
            sk_found *f = fresh();
            const float obb[5] = {100, 50, 40, 10, 0.1f};
            f->has = SK_HAS_OBB;
            for (int j = 0; j < 5; j++)
                f->obb[j] = j == i ? bad[k] : obb[j];
            assert_false(sk_detection_of(&list, 0, &axis, &d));
            f->obb[i] = obb[i];
            assert_true(sk_detection_of(&list, 0, &axis, &d));
            sk_instances_free(&list);
        }
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++) {
            sk_detection d;
            sk_found *f = fresh();
            const float box[4] = {10, 20, 30, 80};
            f->has = SK_HAS_BOX;
            for (int j = 0; j < 4; j++)
                f->box[j] = j == i ? bad[k] : box[j];
            assert_false(sk_detection_of(&list, 0, &axis, &d));
            sk_instances_free(&list);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_no_number_is_no_detection),
                                       cmocka_unit_test(turned_boxes_come_in_every_convention),
                                       cmocka_unit_test(a_pose_points_to_the_head),
                                       cmocka_unit_test(boxes_and_keypoints_alone_are_detections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
