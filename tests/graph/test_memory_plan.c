/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "graph/memory_plan.h"

#include <string.h>

static uint32_t seed = 12345;

static uint32_t next(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

/* A chain a -> b -> c … needs room for two neighbours only. */
static void a_chain_shares(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_plan_block blocks[10];
    for (int i = 0; i < 10; i++)
        blocks[i] = (sk_plan_block){.bytes = 1000, .alignment = 64, .first = i, .last = i + 1};
    size_t total;
    assert_ok(sk_memory_plan(blocks, 10, &total, &err), &err);
    assert_int_equal(total, 1024 + 1000);
}

static void gaps_are_used_best_fit(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_plan_block blocks[5] = {
        {.bytes = 400, .alignment = 4, .first = 0, .last = 1}, /* frees 0 .. 400 */
        {.bytes = 300, .alignment = 4, .first = 0, .last = 9}, /* 400 .. 700, stays */
        {.bytes = 100, .alignment = 4, .first = 0, .last = 1}, /* 700 .. 800, frees */
        {.bytes = 90, .alignment = 4, .first = 0, .last = 9},  /* 800 .. 890, stays */
        {.bytes = 80, .alignment = 4, .first = 2, .last = 3},  /* fits both gaps: the small one */
    };
    size_t total;
    assert_ok(sk_memory_plan(blocks, 5, &total, &err), &err);
    assert_int_equal(total, 890);
    assert_int_equal(blocks[4].offset, 700);
}

/* Large ones are placed first, whenever they begin: a small one that stays does not stand in the middle. */
static void large_ones_come_first(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_plan_block blocks[3] = {{.bytes = 20, .alignment = 1, .first = 0, .last = 0},
                               {.bytes = 10, .alignment = 1, .first = 0, .last = 3},
                               {.bytes = 25, .alignment = 1, .first = 1, .last = 2}};
    size_t total;
    assert_ok(sk_memory_plan(blocks, 3, &total, &err), &err);
    assert_int_equal(total, 35);
    assert_true(blocks[0].offset == 0 && blocks[1].offset == 25 && blocks[2].offset == 0);
}

static void random_plans_hold(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int round = 0; round < 200; round++) {
        sk_plan_block blocks[60];
        size_t n = 1 + next(60), total, peak = 0;
        for (size_t i = 0; i < n; i++) {
            int32_t first = (int32_t)next(40);
            blocks[i] = (sk_plan_block){.bytes = next(3) ? next(100000) : 0,
                                        .alignment = (size_t)1 << next(9),
                                        .first = first,
                                        .last = first + (int32_t)next(8)};
        }
        assert_ok(sk_memory_plan(blocks, n, &total, &err), &err); /* checks itself */
        for (int32_t step = 0; step < 50; step++) {
            size_t alive = 0;
            for (size_t i = 0; i < n; i++)
                if (blocks[i].first <= step && step <= blocks[i].last)
                    alive += blocks[i].bytes;
            peak = alive > peak ? alive : peak;
        }
        assert_true(total >= peak);
        assert_true(total <= 2 * peak + 60 * 256);
    }
}

static void bad_plans_are_seen(void **state)
{
    (void)state;
    sk_error err = {0};
    size_t total;
    sk_plan_block blocks[2] = {{.bytes = 100, .alignment = 64, .first = 0, .last = 1},
                               {.bytes = 100, .alignment = 64, .first = 1, .last = 2}};
    assert_ok(sk_memory_plan(blocks, 2, &total, &err), &err);
    blocks[1].offset = 64;
    blocks[0].offset = 0;
    assert_int_equal(sk_memory_plan_check(blocks, 2, total, &err), SK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "overlap"));
    blocks[1].offset = 130;
    assert_int_equal(sk_memory_plan_check(blocks, 2, total, &err), SK_ERR_INTERNAL);
    blocks[1].offset = 1 << 20;
    assert_int_equal(sk_memory_plan_check(blocks, 2, total, &err), SK_ERR_INTERNAL);
    blocks[0].alignment = 48;
    assert_int_equal(sk_memory_plan(blocks, 2, &total, &err), SK_ERR_ARG);
    blocks[0].alignment = 64;
    blocks[0].last = -1;
    assert_int_equal(sk_memory_plan(blocks, 2, &total, &err), SK_ERR_ARG);
    blocks[0].last = 1;
    blocks[0].bytes = SIZE_MAX - 10;
    assert_int_equal(sk_memory_plan(blocks, 2, &total, &err), SK_ERR_LIMIT);
    assert_ok(sk_memory_plan(NULL, 0, &total, &err), &err);
    assert_int_equal(total, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_shares),        cmocka_unit_test(gaps_are_used_best_fit),
        cmocka_unit_test(large_ones_come_first), cmocka_unit_test(random_plans_hold),
        cmocka_unit_test(bad_plans_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
