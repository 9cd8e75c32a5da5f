/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "track/filter.h"

#include <math.h>

static sk_detection box(double x, double w, double h, double score)
{
    sk_detection d = {.x = x, .y = 50, .score = score, .class_id = -1, .identity = -1};
    sk_detection_set_oriented(&d, w, h, 0);
    return d;
}

static void expect(const sk_track_filter *filter, const sk_detection *d, int32_t n, const int32_t *wanted,
                   int32_t count)
{
    int32_t kept[16];
    assert_int_equal(sk_track_filter_apply(filter, d, n, kept), count);
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(kept[i], wanted[i]);
}

static void each_filter_has_its_bounds(void **state)
{
    (void)state;
    const sk_detection d[] = {box(10, 20, 10, 0.9), box(60, 20, 10, 0.25), box(110, 10, 20, 0.2499),
                              box(160, 30, 10, 0.5), box(210, 2, 1, 0.9)};
    sk_track_filter f = {.score = 0.25, .overlap = 1};
    expect(&f, d, 5, (int32_t[]){0, 1, 3, 4}, 4);
    f.area_least = 200;
    expect(&f, d, 5, (int32_t[]){0, 1, 3}, 3);
    f.area_most = 299;
    expect(&f, d, 5, (int32_t[]){0, 1}, 2);
    f.area_most = 300;
    f.aspect_most = 3;
    expect(&f, d, 5, (int32_t[]){0, 1, 3}, 3);
    f.aspect_least = 2.5;
    expect(&f, d, 5, (int32_t[]){3}, 1);
}

static void what_is_no_box_is_left_out(void **state)
{
    (void)state;
    sk_detection d[] = {box(10, 20, 10, 0.9), box(NAN, 20, 10, 0.9), box(10, INFINITY, 10, 0.9),
                        box(10, 20, 0, 0.9),  box(10, 20, 10, NAN),  box(10, 20, -10, 0.9)};
    const sk_track_filter f = {.overlap = 1};
    expect(&f, d, 6, (int32_t[]){0}, 1);
}

/* Score, size, aspect and region come before the suppression, that before the number; the largest stay, not the best. */
static void the_order_is_kept(void **state)
{
    (void)state;
    sk_error err;
    sk_region *region;
    assert_ok(sk_region_open(&region, &err), &err);
    assert_ok(sk_region_add_polygon(region, true, (double[]){0, 0, 300, 0, 300, 100, 0, 100}, 4, &err), &err);
    const sk_detection d[] = {
        box(10, 20, 10, 0.50),  box(11, 20, 10, 0.99),  /* 1 covers 0 … */
        box(12, 40, 20, 0.10),                          /* too weak to cover anybody */
        box(100, 30, 20, 0.30), box(400, 90, 90, 0.99), /* the largest of all lies outside */
        box(200, 60, 20, 0.26), box(250, 10, 9, 0.98)};
    sk_track_filter f = {.score = 0.25, .region = region, .overlap = 0.5, .most = 3};
    expect(&f, d, 7, (int32_t[]){1, 3, 5}, 3);
    f.most = 0;
    expect(&f, d, 7, (int32_t[]){1, 3, 5, 6}, 4);
    f.overlap = 1;
    expect(&f, d, 7, (int32_t[]){0, 1, 3, 5, 6}, 5);
    f.most = 1;
    expect(&f, d, 7, (int32_t[]){5}, 1);
    sk_region_close(&region);
}

static void of_equals_the_first_stays(void **state)
{
    (void)state;
    const sk_detection d[] = {box(10, 20, 10, 0.9), box(10, 20, 10, 0.9), box(90, 20, 10, 0.9),
                              box(160, 20, 10, 0.9)};
    sk_track_filter f = {.overlap = 0.7, .most = 2};
    expect(&f, d, 4, (int32_t[]){0, 2}, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_filter_has_its_bounds), cmocka_unit_test(what_is_no_box_is_left_out),
        cmocka_unit_test(the_order_is_kept), cmocka_unit_test(of_equals_the_first_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
