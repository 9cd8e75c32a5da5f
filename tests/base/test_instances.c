/* SPDX-License-Identifier: Apache-2.0 */
#include "base/instances.h"
#include "support/test.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* The list as callers of the library see it. */

static sk_instances list;

static int set_up(void **state)
{
    (void)state;
    sk_error err = {0};
    if (sk_instances_alloc(4, 2, &list, &err) != SK_OK)
        return -1;
    for (int32_t i = 0; i < 2; i++) {
        sk_found *found = sk_instances_add(&list);
        found->has = SK_HAS_BOX | SK_HAS_KEYPOINTS;
        found->class_id = 7 + i;
        found->score = 0.5F;
        found->box[3] = 9;
        found->obb[4] = 0.25F;
        found->tracking_score = 0.75F;
        list.keypoints[found->first_keypoint + 1].x = (float)i;
    }
    /* as a filter leaves them: in another order than their points */
    sk_found swap = list.items[0];
    list.items[0] = list.items[1];
    list.items[1] = swap;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sk_instances_free(&list);
    return 0;
}

static void read_through_functions(void **state)
{
    (void)state;
    sk_instance animal = SK_INSTANCE_INIT;
    assert_int_equal(sk_instances_count(&list), 2);
    assert_int_equal(sk_instances_keypoint_count(&list), 2);
    assert_true(sk_instances_get(&list, 0, &animal));
    assert_int_equal(animal.size, sizeof animal);
    assert_int_equal(animal.class_id, 8);
    assert_int_equal(animal.track_id, -1);
    assert_true(animal.box[3] == 9 && animal.obb[4] == 0.25F && animal.tracking_score == 0.75F);
    assert_true(sk_instances_keypoints(&list, 0)[1].x == 1); /* its own points */
    assert_true(sk_instances_keypoints(&list, 1)[1].x == 0);
    assert_true(isnan(sk_instances_keypoints(&list, 1)[0].x));
}

static void out_of_range_leaves_alone(void **state)
{
    (void)state;
    sk_instance animal = SK_INSTANCE_INIT, empty = {0};
    animal.class_id = 123;
    assert_false(sk_instances_get(&list, 2, &animal));
    assert_false(sk_instances_get(&list, -1, &animal));
    assert_false(sk_instances_get(NULL, 0, &animal));
    assert_int_equal(animal.class_id, 123);
    assert_false(sk_instances_get(&list, 0, &empty));
    assert_int_equal(empty.class_id, 0);
    assert_null(sk_instances_keypoints(&list, 2));
    assert_null(sk_instances_keypoints(NULL, 0));
    assert_int_equal(sk_instances_count(NULL), 0);
    assert_int_equal(sk_instances_keypoint_count(NULL), 0);
}

/* A program built when the struct ended earlier, and one built when it will end later. */
static void other_sizes(void **state)
{
    (void)state;
    union {
        sk_instance animal;
        unsigned char bytes[2 * sizeof(sk_instance)];
    } room;
    memset(&room, 0x5a, sizeof room);
    room.animal.size = offsetof(sk_instance, box);
    assert_true(sk_instances_get(&list, 1, &room.animal));
    assert_int_equal(room.animal.size, offsetof(sk_instance, box));
    assert_int_equal(room.animal.class_id, 7);
    for (size_t i = offsetof(sk_instance, box); i < sizeof room; i++)
        assert_int_equal(room.bytes[i], 0x5a);
    room.animal.size = sizeof room;
    assert_true(sk_instances_get(&list, 1, &room.animal));
    assert_int_equal(room.animal.size, sizeof room);
    assert_true(room.animal.box[3] == 9);
    for (size_t i = sizeof(sk_instance); i < sizeof room; i++)
        assert_int_equal(room.bytes[i], 0x5a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_through_functions),
                                       cmocka_unit_test(out_of_range_leaves_alone),
                                       cmocka_unit_test(other_sizes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
