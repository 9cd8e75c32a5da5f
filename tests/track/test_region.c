/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "track/region.h"

#include <math.h>
#include <string.h>

static const double square[] = {10, 10, 50, 10, 50, 50, 10, 50};

static void corners_and_edges_are_inside(void **state)
{
    (void)state;
    sk_error err;
    sk_region *r;
    assert_ok(sk_region_open(&r, &err), &err);
    assert_true(sk_region_holds(r, -5, 1e9)); /* nothing said: everywhere */
    assert_ok(sk_region_add_polygon(r, true, square, 4, &err), &err);
    for (int i = 0; i < 4; i++) {
        assert_true(sk_region_holds(r, square[2 * i], square[2 * i + 1]));
        assert_true(sk_region_holds(r, (square[2 * i] + square[(2 * i + 2) % 8]) / 2,
                                    (square[2 * i + 1] + square[(2 * i + 3) % 8]) / 2));
    }
    assert_true(sk_region_holds(r, 30, 30));
    assert_false(sk_region_holds(r, 9.999, 30));
    assert_false(sk_region_holds(r, 50.001, 30));
    assert_false(sk_region_holds(r, 30, 10 - 1e-9));
    assert_false(sk_region_holds(r, NAN, 30));
    sk_region_close(&r);
}

/* A dented polygon, either way around. */
static void a_dent_is_outside(void **state)
{
    (void)state;
    sk_error err;
    const double way[] = {0, 0, 40, 0, 40, 40, 20, 10, 0, 40}, back[] = {0, 40, 20, 10, 40, 40, 40, 0, 0, 0};
    for (int turn = 0; turn < 2; turn++) {
        sk_region *r;
        assert_ok(sk_region_open(&r, &err), &err);
        assert_ok(sk_region_add_polygon(r, true, turn ? back : way, 5, &err), &err);
        assert_true(sk_region_holds(r, 20, 5));
        assert_true(sk_region_holds(r, 3, 30));
        assert_false(sk_region_holds(r, 20, 30));
        assert_true(sk_region_holds(r, 20, 10));
        assert_false(sk_region_holds(r, 60, 40)); /* level with corners */
        assert_false(sk_region_holds(r, -1, 0));
        sk_region_close(&r);
    }
}

static void shapes_and_a_mask_go_together(void **state)
{
    (void)state;
    sk_error err;
    sk_region *r;
    assert_ok(sk_region_open(&r, &err), &err);
    assert_ok(sk_region_add_circle(r, false, 30, 30, 5, &err),
              &err); /* excluded before anything is included */
    assert_ok(sk_region_add_polygon(r, true, square, 4, &err), &err);
    assert_ok(sk_region_add_circle(r, true, 70, 30, 10, &err), &err);
    assert_false(sk_region_holds(r, 33, 34));
    assert_true(sk_region_holds(r, 33, 36));
    assert_true(sk_region_holds(r, 80, 30));
    assert_false(sk_region_holds(r, 80.1, 30));
    uint8_t mask[60 * 64];
    memset(mask, 1, sizeof mask);
    mask[20 * 64 + 15] = 0;
    assert_ok(sk_region_set_mask(r, mask, 60, 60, 64, &err), &err);
    assert_false(sk_region_holds(r, 15, 20));
    assert_false(sk_region_holds(r, 15.99, 20.99));
    assert_true(sk_region_holds(r, 16, 20));
    assert_ok(sk_region_fits(r, "a video", 60, 60, &err), &err);
    assert_int_equal(sk_region_fits(r, "a video", 60, 120, &err), SK_ERR_ARG);
    assert_false(sk_region_holds(r, 70, 30)); /* beside the picture */
    assert_int_equal(sk_region_set_mask(r, mask, 60, 60, 64, &err), SK_ERR_ARG);
    sk_region_close(&r);
}

static void what_is_no_shape_is_refused(void **state)
{
    (void)state;
    sk_error err;
    sk_region *r;
    assert_ok(sk_region_open(&r, &err), &err);
    assert_int_equal(sk_region_add_polygon(r, true, square, 2, &err), SK_ERR_ARG);
    assert_int_equal(sk_region_add_polygon(r, true, (double[]){0, 0, 1, NAN, 2, 2}, 3, &err), SK_ERR_ARG);
    assert_int_equal(sk_region_add_circle(r, true, 0, 0, 0, &err), SK_ERR_ARG);
    assert_int_equal(sk_region_set_mask(r, (const uint8_t *)"", 0, 5, 1, &err), SK_ERR_ARG);
    sk_region_close(&r);
}

static sk_status all_of_it(void *context, sk_error *err)
{
    (void)context;
    sk_region *r;
    SK_TRY(sk_region_open(&r, err));
    sk_status status;
    SK_TRY_GOTO(sk_region_add_polygon(r, true, square, 4, err));
    SK_TRY_GOTO(sk_region_add_circle(r, true, 0, 0, 1, err));
    SK_TRY_GOTO(sk_region_set_mask(r, (const uint8_t *)"1234", 2, 2, 2, err));
done:
    sk_region_close(&r);
    return status;
}

static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    assert_true(test_every_allocation(all_of_it, NULL) >= 4);
}

/* Shapes can be asked for one by one, as they were added. */
static void shapes_are_told_in_their_order(void **state)
{
    (void)state;
    static const double corners[] = {0, 0, 10, 0, 10, 20};
    sk_error err;
    sk_region *region;
    sk_region_shape shape;
    assert_ok(sk_region_open(&region, &err), &err);
    assert_false(sk_region_shape_at(region, 0, &shape));
    assert_ok(sk_region_add_circle(region, true, 5, 6, 7, &err), &err);
    assert_ok(sk_region_add_polygon(region, false, corners, 3, &err), &err);
    assert_true(sk_region_shape_at(region, 0, &shape));
    assert_true(shape.include && shape.corners == 0);
    assert_true(shape.xy[0] == 5 && shape.xy[1] == 6 && shape.xy[2] == 7);
    assert_true(sk_region_shape_at(region, 1, &shape));
    assert_true(!shape.include && shape.corners == 3);
    assert_memory_equal(shape.xy, corners, sizeof corners);
    assert_false(sk_region_shape_at(region, 2, &shape));
    assert_false(sk_region_shape_at(NULL, 0, &shape));
    sk_region_close(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_are_told_in_their_order),
                                       cmocka_unit_test(corners_and_edges_are_inside),
                                       cmocka_unit_test(a_dent_is_outside),
                                       cmocka_unit_test(shapes_and_a_mask_go_together),
                                       cmocka_unit_test(what_is_no_shape_is_refused),
                                       cmocka_unit_test(failing_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
