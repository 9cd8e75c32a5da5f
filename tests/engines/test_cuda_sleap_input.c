/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that the cuda engine fits in by SLEAP's rules are what tasks/sleap_pre makes of them, bit for bit. */
#include "framed_sleap.h"
#include "support/test.h"

extern const sk_engine gpu_engine;
extern int64_t gpu_emulate_live;

static void test_frames(void **state)
{
    (void)state;
    framed f = {.engine = &gpu_engine, .random = {17}};
    for (int round = 0; round < 96; round++)
        if (!framed_round(&f, round, 70, 52))
            fail_msg("round %d: %s", round, f.problem);
    assert_true(f.compared > 60);
    assert_int_equal(gpu_emulate_live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
