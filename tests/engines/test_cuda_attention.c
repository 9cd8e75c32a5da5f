/* SPDX-License-Identifier: Apache-2.0 */
/* Attention in the cuda engine, on the GPU of loops: what is found in a graph, and what becomes of it. */
#include "support/test.h"

#include "attention_cases.h"

/* Input, convolution for q, k and v, attention, convolution, output: nothing else is launched, however the graph moves things. */
static void test_one_kernel(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof attention_cases / sizeof attention_cases[0]; i++) {
        attention_case c = attention_cases[i];
        int steps, attending;
        c.batch = c.batch > 2 ? 2 : c.batch; /* loops are slow */
        c.h = c.h > 8 ? 8 : c.h;
        c.w = c.w > 9 ? 9 : c.w;
        for (int brain = 0; brain < 2; brain++) {
            const double d =
                try_attention(&c, false, brain ? SK_PRECISION_BF16 : SK_PRECISION_F16, &steps, &attending);
            if (!(d < (brain ? BRAIN_LIMIT : TILE_LIMIT)) || attending != 1 || steps != 5)
                fail_msg("case %zu, bf16 %d: distance %.2e, %d steps, %d of them attention", i, brain, d,
                         steps, attending);
        }
    }
}

/* What only looks like it, or has no kernel, is computed operation by operation, and right. */
static void test_not_ours(void **state)
{
    (void)state;
    static const attention_case others[] = {{2, 24, 32, 1, 3, 1, 5, 4, false, 0, false},
                                            {2, 32, 32, 2, 3, 1, 4, 4, false, 0, false},
                                            {1, 32, 64, 1, 5, 2, 4, 3, true, 0, false}};
    int steps, attending;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_true(try_attention(&others[i], false, SK_PRECISION_F16, &steps, &attending) < TILE_LIMIT);
        assert_int_equal(attending, i > 0); /* the convolution of v is a step of its own then */
        assert_true(i == 0 || steps == 6);
    }
    const attention_case two = {2, 32, 32, 2, 0, 1, 4, 4, false, 0, false};
    assert_true(try_attention(&two, true, SK_PRECISION_F16, &steps, &attending) < TILE_LIMIT);
    assert_int_equal(attending, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_kernel), cmocka_unit_test(test_not_ours)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
