/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/instances.h"
#include "results/ros_result.h"

#include <math.h>
#include <stdio.h>

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

/* Instance i of a list: of every fourth kind, each with numbers of its own. */
static void fill_instance(sk_instances *list, int i)
{
    sk_found *f = sk_instances_add(list);
    sk_keypoint *p = &list->keypoints[f->first_keypoint];
    const float v = (float)i;
    f->has = i % 4 == 0   ? SK_HAS_BOX
             : i % 4 == 1 ? SK_HAS_OBB
             : i % 4 == 2 ? SK_HAS_KEYPOINTS
                          : SK_HAS_BOX | SK_HAS_KEYPOINTS;
    f->class_id = i % 5 - 1;
    f->score = v / 64;
    f->track_id = i % 3 - 1;
    for (int k = 0; k < 4; k++)
        f->box[k] = v + (float)(10 * k + (k > 1 ? 5 : 0));
    for (int k = 0; k < 5; k++)
        f->obb[k] = 2 * v + (float)k;
    p[0] = (sk_keypoint){v + 1, v + 2, 0.5F};
    p[1] = i % 8 == 3 ? (sk_keypoint){NAN, NAN, 0} : (sk_keypoint){v + 5, v + 10, 0.25F};
}

static void check_box(const sk_msg_bounding_box *b, int i)
{
    const double v = i;
    if (i % 4 == 1) {
        assert_true(b->center.position.x == 2 * v && b->center.position.y == 2 * v + 1 &&
                    b->size_x == 2 * v + 2 && b->size_y == 2 * v + 3 && b->center.theta == 2 * v + 4);
    } else if (i % 4 == 2) { /* around its keypoints */
        assert_true(b->center.position.x == v + 3 && b->center.position.y == v + 6 && b->size_x == 4 &&
                    b->size_y == 8 && b->center.theta == 0);
    } else { /* v, v + 10, v + 25, v + 35 */
        assert_true(b->center.position.x == v + 12.5 && b->center.position.y == v + 22.5 && b->size_x == 25 &&
                    b->size_y == 25 && b->center.theta == 0);
    }
}

static void check_class(sk_msg_text text, int i)
{
    static const char *const names[] = {"", "fly", "1", "2", "3"}; /* the second has none; there are two */
    assert_true(sk_msg_text_is(text, names[i % 5]));
}

static void check_instance(const sk_msg_instance *m, int i)
{
    assert_true(m->class_id == i % 5 - 1 && m->score == (float)i / 64 && m->track == i % 3 - 1);
    check_class(m->class_name, i);
    check_box(&m->box, i);
    assert_int_equal(m->keypoints.count, i % 4 >= 2 ? 2 : 0);
    for (size_t k = 0; k < m->keypoints.count; k++) {
        const sk_msg_keypoint *p = &m->keypoints.items[k];
        const bool there = k == 0 || i % 8 != 3;
        assert_true(sk_msg_text_is(p->name, points[k]));
        assert_true(p->visible == there && p->score == (k == 0 ? 0.5F : there ? 0.25F : 0));
        assert_true(there ? p->x == i + (k ? 5 : 1) && p->y == i + (k ? 10 : 2) : isnan(p->x) && isnan(p->y));
    }
}

/* Few, then many, then few again: as many as were found, each with all that is its own. */
static void every_field_of_every_instance(void **state)
{
    (void)state;
    static const int counts[] = {2, 16, 17, 18, 40, 100, 0, 3};
    sk_ros_result *result = NULL;
    sk_cdr_writer writer = {0};
    sk_error err = {0};
    assert_ok(sk_ros_result_open(&header, &result, &err), &err);
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        const int n = counts[c];
        static sk_sighting sightings[100];
        sk_arena *arena = NULL;
        sk_instances list;
        sk_msg_detection_array d;
        sk_msg_instance_array m;
        sk_msg_track_array t;
        assert_ok(sk_arena_open(4096, &arena, &err), &err);
        assert_ok(sk_instances_alloc(n + 1, 2, &list, &err), &err);
        for (int i = 0; i < n; i++) {
            fill_instance(&list, i);
            sightings[i] = (sk_sighting){.track = 3 * i,
                                         .detection = i % 2 ? i : -1,
                                         .state = (sk_track_state)(i % 3),
                                         .x = i + 0.5,
                                         .y = i + 0.25,
                                         .heading = i / 100.0,
                                         .certainty = i / 128.0};
        }
        for (int tracked = 0; tracked < 2; tracked++) { /* of those that are followed, every second is seen */
            const sk_result_frame frame = {.instances = &list, .sightings = tracked ? sightings : NULL};
            const size_t seen = (size_t)(tracked ? n / 2 : n);
            assert_ok(sk_ros_result_detections(result, &stamp, &frame, &writer, &err), &err);
            assert_ok(
                sk_msg_decode(&sk_msg_detection_array_layout, writer.data, writer.length, arena, &d, &err),
                &err);
            assert_int_equal(d.detections.count, seen);
            assert_true(d.header.stamp.sec == 7 && d.header.stamp.nanosec == 8);
            for (size_t k = 0; k < seen; k++) {
                const sk_msg_detection *one = &d.detections.items[k];
                const int i = (int)(tracked ? 2 * k + 1 : k);
                char id[12] = "";
                if (i % 3)
                    snprintf(id, sizeof id, "%d", i % 3 - 1);
                assert_true(sk_msg_text_is(one->id, id) && one->header.stamp.sec == 7 &&
                            sk_msg_text_is(one->header.frame_id, "lens") && one->results.count == 1);
                check_box(&one->bbox, i);
                check_class(one->results.items[0].hypothesis.class_id, i);
                assert_true(one->results.items[0].hypothesis.score == i / 64.0 &&
                            one->results.items[0].pose.pose.orientation.w == 1);
            }
            assert_ok(sk_ros_result_instances(result, &stamp, &frame, &writer, &err), &err);
            assert_ok(
                sk_msg_decode(&sk_msg_instance_array_layout, writer.data, writer.length, arena, &m, &err),
                &err);
            assert_true(m.instances.count == seen && m.header.stamp.nanosec == 8);
            assert_true(m.skeleton_names.count == 2 && sk_msg_text_is(m.skeleton_names.items[0], "head") &&
                        m.skeleton_edges.count == 2 && m.skeleton_edges.items[0] == 0 &&
                        m.skeleton_edges.items[1] == 1);
            for (size_t k = 0; k < seen; k++)
                check_instance(&m.instances.items[k], (int)(tracked ? 2 * k + 1 : k));
            assert_ok(sk_ros_result_tracks(result, &stamp, &frame, &writer, &err), &err);
            assert_ok(sk_msg_decode(&sk_msg_track_array_layout, writer.data, writer.length, arena, &t, &err),
                      &err);
            assert_int_equal(t.tracks.count, tracked ? n : 0);
            for (int i = 0; i < (int)t.tracks.count; i++) {
                static const char *const states[] = {"active", "covered", "lost"};
                const sk_msg_track *one = &t.tracks.items[i];
                assert_true(one->id == 3 * i && sk_msg_text_is(one->state, states[i % 3]));
                assert_true(one->x == i + 0.5 && one->y == i + 0.25 && one->heading == i / 100.0 &&
                            one->certainty == (float)i / 128);
                check_instance(&one->instance, i);
            }
        }
        sk_instances_free(&list);
        sk_arena_close(&arena);
    }
    sk_ros_result_close(&result);
    sk_cdr_writer_free(&writer);
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
        cmocka_unit_test(every_field_of_every_instance),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
