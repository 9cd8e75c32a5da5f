/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "cases_test.h"
#include "tasks/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Least cost over all matchings with the most pairs, by trying them all. */
typedef struct best {
    int pairs;
    double cost;
} best;

static best try_all(const double *cost, int rows, int cols, int row, unsigned used)
{
    if (row == rows)
        return (best){0, 0};
    best b = try_all(cost, rows, cols, row + 1, used);
    for (int c = 0; c < cols; c++) {
        if (used >> c & 1 || !isfinite(cost[row * cols + c]))
            continue;
        best t = try_all(cost, rows, cols, row + 1, used | 1u << c);
        t.pairs++;
        t.cost += cost[row * cols + c];
        if (t.pairs > b.pairs || (t.pairs == b.pairs && t.cost < b.cost))
            b = t;
    }
    return b;
}

static void least_cost_is_found(void **state)
{
    (void)state;
    sk_error err;
    sk_assignment *a;
    assert_ok(sk_assignment_open(7, 7, &a, &err), &err);
    uint32_t seed = 1;
    uint64_t before = sk_memory_allocations();
    for (int trial = 0; trial < 600; trial++) {
        int rows = 1 + trial % 6, cols = 1 + trial / 6 % 6;
        double cost[49];
        int32_t column_of[7];
        for (int i = 0; i < rows * cols; i++) {
            /* Few distinct values make ties; some pairs are forbidden in three ways. */
            cost[i] = trial % 2 ? case_random(&seed) * 10 - 5 : floorf(case_random(&seed) * 4);
            if (trial % 3 == 0 && case_random(&seed) < 0.4f)
                cost[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
        }
        int32_t pairs = sk_assignment_solve(a, cost, rows, cols, column_of);
        double sum = 0;
        unsigned used = 0;
        int count = 0;
        for (int r = 0; r < rows; r++) {
            if (column_of[r] < 0)
                continue;
            assert_true(column_of[r] < cols && !(used >> column_of[r] & 1));
            used |= 1u << column_of[r];
            assert_true(isfinite(cost[r * cols + column_of[r]]));
            sum += cost[r * cols + column_of[r]];
            count++;
        }
        best b = try_all(cost, rows, cols, 0, 0);
        assert_int_equal(pairs, count);
        assert_int_equal(count, b.pairs);
        assert_true(fabs(sum - b.cost) < 1e-9);
    }
    assert_int_equal(sk_memory_allocations(), before);
    int32_t none[7];
    double one = 1;
    assert_int_equal(sk_assignment_solve(a, &one, 0, 5, none), 0);
    assert_int_equal(sk_assignment_solve(a, &one, 8, 1, none), -1);
    sk_assignment_close(&a);
}

/* A sum of a row part and a column part: every complete matching is optimal and the duals must balance
 * exactly; large problems also end in bounded time. */
static void large_problems_are_solved(void **state)
{
    (void)state;
    enum { N = 400 };
    sk_error err;
    sk_assignment *a;
    assert_ok(sk_assignment_open(N, N, &a, &err), &err);
    double *cost = malloc(sizeof(double) * N * N);
    int32_t column_of[N];
    uint32_t seed = 9;
    /* The diagonal of a shuffled matrix is made cheaper than anything else could be. */
    int32_t shuffle[N];
    for (int i = 0; i < N; i++)
        shuffle[i] = i;
    for (int i = N - 1; i > 0; i--) {
        int j = (int)(case_random(&seed) * (float)(i + 1));
        int32_t t = shuffle[i];
        shuffle[i] = shuffle[j];
        shuffle[j] = t;
    }
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++)
            cost[r * N + c] = shuffle[r] == c ? -1.0 : case_random(&seed);
    clock_t start = clock();
    assert_int_equal(sk_assignment_solve(a, cost, N, N, column_of), N);
    assert_memory_equal(column_of, shuffle, sizeof shuffle);
    for (int i = 0; i < N * N; i++)
        cost[i] = case_random(&seed);
    assert_int_equal(sk_assignment_solve(a, cost, N, N, column_of), N);
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    free(cost);
    sk_assignment_close(&a);
}

static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    sk_error err;
    for (uint64_t n = 1; n <= 6; n++) {
        int64_t live = sk_memory_live_bytes();
        sk_assignment *a = NULL;
        sk_memory_fail_nth(n);
        sk_status status = sk_assignment_open(5, 9, &a, &err);
        sk_memory_fail_nth(0);
        assert_int_equal(status, n <= 5 ? SK_ERR_MEMORY : SK_OK);
        sk_assignment_close(&a);
        assert_int_equal(sk_memory_live_bytes(), live);
    }
}

static void sizes_are_checked(void **state)
{
    (void)state;
    static const int32_t bad[][2] = {{0, 1}, {1, 0}, {-1, 1}, {1, -1}, {16385, 1}, {1, 16385}};
    sk_error err = {0};
    sk_assignment *a = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(sk_assignment_open(bad[i][0], bad[i][1], &a, &err), SK_ERR_ARG);
    assert_int_equal(sk_assignment_open(1, 1, NULL, &err), SK_ERR_ARG);
    assert_ok(sk_assignment_open(1, 16384, &a, &err), &err);
    sk_assignment_close(&a);
    assert_ok(sk_assignment_open(1, 1, &a, &err), &err);
    sk_assignment_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_checked), cmocka_unit_test(least_cost_is_found),
        cmocka_unit_test(large_problems_are_solved), cmocka_unit_test(failing_memory_leaves_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
