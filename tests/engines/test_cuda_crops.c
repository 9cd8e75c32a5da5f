/* SPDX-License-Identifier: Apache-2.0 */
/* Crops that the cuda engine cuts from a frame on the device are what the stage's own cutter makes of it, bit for bit. */
#include "cropped.h"
#include "support/test.h"

extern const sk_engine gpu_engine;
extern int64_t gpu_emulate_live;

static void test_sleap_crops(void **state)
{
    (void)state;
    cropped c = {.engine = &gpu_engine, .random = {23}};
    for (int round = 0; round < 144; round++)
        if (!cropped_round(&c, round, 70, 52))
            fail_msg("round %d: %s", round, c.problem);
    assert_true(c.compared == 144 && c.crops > 1000);
    assert_int_equal(gpu_emulate_live, 0);
}

static void test_letterboxed_crops(void **state)
{
    (void)state;
    cropped c = {.engine = &gpu_engine, .random = {29}};
    for (int round = 0; round < 36; round++)
        if (!cropped_boxes(&c, round, 150, 110))
            fail_msg("round %d: %s", round, c.problem);
    assert_true(c.compared == 36 && c.crops > 200);
    assert_int_equal(gpu_emulate_live, 0);
}

static void test_turned_crops(void **state)
{
    (void)state;
    cropped c = {.engine = &gpu_engine, .random = {31}};
    for (int round = 0; round < 60; round++)
        if (!cropped_turned(&c, round, 130, 100))
            fail_msg("round %d: %s", round, c.problem);
    assert_true(c.compared == 60 && c.crops > 400);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sleap_crops),
                                       cmocka_unit_test(test_letterboxed_crops),
                                       cmocka_unit_test(test_turned_crops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
