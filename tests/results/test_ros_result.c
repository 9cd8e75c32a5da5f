/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/instances.h"
#include "results/ros_result.h"

#include <math.h>

static const char *const classes[] = {"fly", ""};
static const char *const points[] = {"head", "tail"};
static const int32_t edges[][2] = {{0, 1}};
static const sk_run_header header = {.n_classes = 2,
                                     .class_names = classes,
                                     .n_keypoints = 2,
                                     .keypoint_names = points,
                                     .n_edges = 1,
                                     .edges = edges};
static const sk_msg_header stamp = {.stamp = {7, 8}, .frame_id = {"lens", 4}};

/* An upright box, an oriented one, keypoints alone, nothing at all. */
static sk_instances found(void)
{
    sk_instances list;
    sk_error err = {0};
    assert_ok(sk_instances_alloc(4, 2, &list, &err), &err);
    sk_found *f = sk_instances_add(&list);
    f->has = SK_HAS_BOX;
    f->class_id = 0;
    f->score = 0.5F;
    f->box[0] = 10, f->box[1] = 20, f->box[2] = 30, f->box[3] = 60;
    f = sk_instances_add(&list);
    f->has = SK_HAS_BOX | SK_HAS_OBB;
    f->class_id = 1;
    f->track_id = 12;
    for (int i = 0; i < 5; i++)
        f->obb[i] = (float)i + 1;
    f = sk_instances_add(&list);
    f->has = SK_HAS_KEYPOINTS;
    sk_keypoint *p = &list.keypoints[f->first_keypoint];
    p[0] = (sk_keypoint){3, 4, 0.25F};
    p[1] = (sk_keypoint){5, 10, 0.75F};
    assert_non_null(sk_instances_add(&list));
    return list;
}

static void detections_of_every_kind(void **state)
{
    (void)state;
    sk_ros_result *result = NULL;
    sk_cdr_writer writer = {0};
    sk_arena *arena = NULL;
    sk_msg_detection_array m;
    sk_error err = {0};
    sk_instances list = found();
    const sk_result_frame frame = {.instances = &list};
    assert_ok(sk_arena_open(4096, &arena, &err), &err);
    assert_ok(sk_ros_result_open(&header, &result, &err), &err);
    assert_ok(sk_ros_result_detections(result, &stamp, &frame, &writer, &err), &err);
    assert_ok(sk_msg_decode(&sk_msg_detection_array_layout, writer.data, writer.length, arena, &m, &err),
              &err);
    assert_int_equal(m.header.stamp.sec, 7);
    assert_true(sk_msg_text_is(m.header.frame_id, "lens"));
    assert_int_equal(m.detections.count, 4);
    const sk_msg_detection *d = m.detections.items;
    assert_true(sk_msg_text_is(d[0].results.items[0].hypothesis.class_id, "fly"));
    assert_true(d[0].results.items[0].hypothesis.score == 0.5 &&
                d[0].results.items[0].pose.pose.orientation.w == 1);
    assert_true(d[0].bbox.center.position.x == 20 && d[0].bbox.center.position.y == 40 &&
                d[0].bbox.center.theta == 0);
    assert_true(d[0].bbox.size_x == 20 && d[0].bbox.size_y == 40 && sk_msg_text_is(d[0].id, ""));
    assert_true(sk_msg_text_is(d[1].results.items[0].hypothesis.class_id, "1") &&
                sk_msg_text_is(d[1].id, "12"));
    assert_true(d[1].bbox.center.position.x == 1 && d[1].bbox.size_y == 4 && d[1].bbox.center.theta == 5);
    assert_true(d[2].bbox.center.position.x == 4 && d[2].bbox.center.position.y == 7 &&
                d[2].bbox.size_y == 6);
    assert_true(sk_msg_text_is(d[2].results.items[0].hypothesis.class_id, ""));
    assert_true(isnan(d[3].bbox.center.position.x) && isnan(d[3].bbox.size_x));
    sk_ros_result_close(&result);
    sk_cdr_writer_free(&writer);
    sk_arena_close(&arena);
    sk_instances_free(&list);
}

static void instances_and_tracks(void **state)
{
    (void)state;
    sk_ros_result *result = NULL;
    sk_cdr_writer writer = {0};
    sk_arena *arena = NULL;
    sk_msg_instance_array m;
    sk_msg_track_array t;
    sk_error err = {0};
    sk_instances list = found();
    const sk_sighting sightings[] = {
        {.track = 3, .detection = 0, .x = 1, .y = 2, .heading = 3, .certainty = 0.5},
        {.track = 4, .detection = -1, .state = SK_TRACK_COVERED},
        {.track = 5, .detection = 2},
        {.track = 6, .detection = -1, .state = SK_TRACK_LOST}};
    const sk_result_frame frame = {.instances = &list},
                          followed = {.instances = &list, .sightings = sightings};
    assert_ok(sk_arena_open(4096, &arena, &err), &err);
    assert_ok(sk_ros_result_open(&header, &result, &err), &err);
    assert_ok(sk_ros_result_instances(result, &stamp, &frame, &writer, &err), &err);
    assert_ok(sk_msg_decode(&sk_msg_instance_array_layout, writer.data, writer.length, arena, &m, &err),
              &err);
    assert_int_equal(m.instances.count, 4);
    assert_true(m.skeleton_names.count == 2 && sk_msg_text_is(m.skeleton_names.items[1], "tail"));
    assert_true(m.skeleton_edges.count == 2 && m.skeleton_edges.items[1] == 1);
    assert_int_equal(m.instances.items[0].keypoints.count, 0);
    const sk_msg_instance *i = &m.instances.items[2];
    assert_true(i->keypoints.count == 2 && i->class_id == -1 && i->track == -1);
    assert_true(i->keypoints.items[1].y == 10 && i->keypoints.items[1].score == 0.75F &&
                i->keypoints.items[1].visible);
    /* who is covered is no detection, but a track */
    assert_ok(sk_ros_result_instances(result, &stamp, &followed, &writer, &err), &err);
    assert_ok(sk_msg_decode(&sk_msg_instance_array_layout, writer.data, writer.length, arena, &m, &err),
              &err);
    assert_true(m.instances.count == 2 && m.instances.items[1].keypoints.count == 2);
    assert_ok(sk_ros_result_tracks(result, &stamp, &followed, &writer, &err), &err);
    assert_ok(sk_msg_decode(&sk_msg_track_array_layout, writer.data, writer.length, arena, &t, &err), &err);
    assert_int_equal(t.tracks.count, 4);
    assert_true(t.tracks.items[0].id == 3 && t.tracks.items[0].heading == 3 &&
                t.tracks.items[0].certainty == 0.5F);
    assert_true(sk_msg_text_is(t.tracks.items[0].state, "active") &&
                sk_msg_text_is(t.tracks.items[1].state, "covered") &&
                sk_msg_text_is(t.tracks.items[3].state, "lost"));
    sk_ros_result_close(&result);
    sk_cdr_writer_free(&writer);
    sk_arena_close(&arena);
    sk_instances_free(&list);
}

static sk_status encode(void *context, sk_error *err)
{
    const sk_result_frame frame = {.instances = context};
    sk_ros_result *result = NULL;
    sk_cdr_writer writer = {0};
    SK_TRY(sk_ros_result_open(&header, &result, err));
    sk_status status = sk_ros_result_instances(result, &stamp, &frame, &writer, err);
    if (status == SK_OK)
        status = sk_ros_result_detections(result, &stamp, &frame, &writer, err);
    sk_ros_result_close(&result);
    sk_cdr_writer_free(&writer);
    return status;
}

static void survives_failing_memory(void **state)
{
    (void)state;
    sk_instances list = found();
    assert_true(test_every_allocation(encode, &list) > 0);
    sk_instances_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detections_of_every_kind),
        cmocka_unit_test(instances_and_tracks),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
