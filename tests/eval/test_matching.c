/* SPDX-License-Identifier: Apache-2.0 */
/* Putting rows and columns together for the largest sum: against trying every way, and large parts against what is known of them. */
#include "support/test.h"

#include "base/memory.h"
#include "eval/by_image.h"
#include "eval/matching.h"
#include "eval/numbering.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;
static uint32_t noise = 1;

static int below(int n)
{
    noise = noise * 1664525u + 1013904223u;
    return (int)((noise >> 8) % (uint32_t)n);
}

/* The largest sum, by trying every way. */
static double best_sum(double w[6][6], int row, int rows, int cols, unsigned taken)
{
    if (row == rows)
        return 0;
    double best = best_sum(w, row + 1, rows, cols, taken);
    for (int c = 0; c < cols; c++)
        if (w[row][c] > 0 && !(taken & 1u << c))
            best = fmax(best, w[row][c] + best_sum(w, row + 1, rows, cols, taken | 1u << c));
    return best;
}

static double sum_of(const sk_weighted_pair *pairs, size_t count, const int32_t *pair_of, int32_t rows,
                     int32_t cols)
{
    bool *taken = calloc((size_t)cols + 1, 1);
    double sum = 0;
    for (int32_t r = 0; r < rows; r++) {
        if (pair_of[r] < 0)
            continue;
        assert_true((size_t)pair_of[r] < count);
        const sk_weighted_pair *p = &pairs[pair_of[r]];
        assert_int_equal(p->row, r);
        assert_false(taken[p->col]); /* nobody twice */
        taken[p->col] = true;
        sum += p->weight;
    }
    free(taken);
    return sum;
}

static void every_way(void **state)
{
    (void)state;
    sk_matching *m = NULL;
    assert_ok(sk_matching_open(&m, &err), &err);
    for (int round = 0; round < 4000; round++) {
        const int rows = below(7), cols = below(7), density = 1 + below(4);
        double w[6][6] = {{0}};
        sk_weighted_pair pairs[36];
        int32_t pair_of[6];
        size_t n = 0;
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < cols; c++)
                if (below(4) < density) {
                    w[r][c] = round % 2 ? 1 + below(3) : 0.01 * (1 + below(1000)); /* many of them equal */
                    pairs[n++] = (sk_weighted_pair){r, c, w[r][c]};
                }
        memset(pair_of, 0x55, sizeof pair_of);
        assert_ok(sk_matching_solve(m, rows, cols, pairs, n, pair_of, &err), &err);
        assert_true(fabs(sum_of(pairs, n, pair_of, rows, cols) - best_sum(w, 0, rows, cols, 0)) < 1e-9);
    }
    sk_matching_close(&m);
    assert_null(m);
    sk_matching_close(&m);
    int32_t none;
    assert_ok(sk_matching_open(&m, &err), &err);
    assert_int_equal(sk_matching_solve(m, -1, 2, NULL, 0, &none, &err), SK_ERR_ARG);
    assert_int_equal(sk_matching_solve(m, 2, -1, NULL, 0, &none, &err), SK_ERR_ARG);
    sk_matching_close(&m);
}

/* Of equal sums the first is taken, whoever else is there. */
static void equals(void **state)
{
    (void)state;
    sk_matching *m = NULL;
    int32_t pair_of[4];
    assert_ok(sk_matching_open(&m, &err), &err);
    const sk_weighted_pair square[] = {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 1}};
    assert_ok(sk_matching_solve(m, 2, 2, square, 4, pair_of, &err), &err);
    assert_true(pair_of[0] == 0 && pair_of[1] == 3);
    const sk_weighted_pair with_others[] = {{0, 2, 1}, {1, 1, 1}, {1, 3, 1}, {3, 1, 1}, {3, 3, 1}};
    assert_ok(sk_matching_solve(m, 4, 4, with_others, 5, pair_of, &err), &err);
    assert_true(pair_of[0] == 0 && pair_of[1] == 1 && pair_of[2] == -1 && pair_of[3] == 4);
    sk_matching_close(&m);
}

/* A chain of so many that it is solved over its pairs alone: a row has its own column, worth 1, and the next one, worth `next`. */
static void large_parts(void **state)
{
    (void)state;
    sk_matching *m = NULL;
    assert_ok(sk_matching_open(&m, &err), &err);
    for (int round = 0; round < 4; round++) {
        const int32_t n = round < 2 ? 256 : 300; /* 256 x 256 cells are a matrix still */
        const double next = round % 2 ? 3 : 0.5;
        sk_weighted_pair *pairs = sk_calloc((size_t)n * 2, sizeof *pairs);
        int32_t *pair_of = sk_calloc((size_t)n, sizeof *pair_of);
        size_t count = 0;
        for (int32_t i = 0; i < n; i++) {
            pairs[count++] = (sk_weighted_pair){i, i, 1};
            if (i + 1 < n)
                pairs[count++] = (sk_weighted_pair){i, i + 1, next};
        }
        assert_ok(sk_matching_solve(m, n, n, pairs, count, pair_of, &err), &err);
        const double sum = sum_of(pairs, count, pair_of, n, n);
        assert_true(fabs(sum - (next > 1 ? next * (n - 1) : n)) < 1e-6);
        for (int32_t i = 0; i + 1 < n; i++)
            assert_int_equal(pairs[pair_of[i]].col, next > 1 ? i + 1 : i);
        sk_free(pairs);
        sk_free(pair_of);
    }
    sk_matching_close(&m);
}

static void numbers_in_order_of_arrival(void **state)
{
    (void)state;
    sk_numbering n = {0};
    int32_t at;
    for (int twice = 0; twice < 2; twice++) {
        for (uint64_t i = 0; i < 5000; i++) {
            assert_ok(sk_numbering_get(&n, i * UINT64_C(0x9e3779b97f4a7c15), &at, &err), &err);
            assert_int_equal(at, i);
        }
        for (uint64_t i = 5000; i-- > 0;) {
            assert_ok(sk_numbering_get(&n, i * UINT64_C(0x9e3779b97f4a7c15), &at, &err), &err);
            assert_int_equal(at, i);
        }
        sk_numbering_clear(&n);
        assert_ok(sk_numbering_get(&n, 77, &at, &err), &err);
        assert_int_equal(at, 0);
        sk_numbering_clear(&n);
    }
    sk_numbering_free(&n);
}

static void by_image_and_score(void **state)
{
    (void)state;
    sk_by_image items[] = {{2, 0.5, 0}, {1, 0.5, 1}, {2, 0.9, 2}, {1, 0.5, 3}, {0, 0.1, 4}, {2, 0.5, 5}};
    static const size_t wanted[] = {4, 1, 3, 2, 0, 5};
    sk_by_image_sort(items, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(items[i].index, wanted[i]);
    sk_by_image_sort(items, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way),          cmocka_unit_test(equals),
        cmocka_unit_test(large_parts),        cmocka_unit_test(numbers_in_order_of_arrival),
        cmocka_unit_test(by_image_and_score),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
