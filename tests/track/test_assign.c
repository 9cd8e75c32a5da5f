/* SPDX-License-Identifier: Apache-2.0 */
#include "support/test.h"

#include "base/memory.h"
#include "tasks/assignment.h"
#include "track/assign.h"

#include <math.h>
#include <stdlib.h>

static uint64_t bits = 1;

static double unit(void)
{
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    return (double)(bits >> 11) / 9007199254740992.0;
}

typedef struct problem {
    int32_t rows, columns, n;
    sk_assign_pair pairs[64];
    double apart[8];
} problem;

/* Whole numbers make ties; some pairs are missing, forbidden or given twice. */
static void make(problem *p, int32_t most, int trial)
{
    const int whole = trial % 2, sparse = trial % 3;
    *p = (problem){.rows = (int32_t)(unit() * (most + 1)), .columns = (int32_t)(unit() * (most + 1))};
    for (int32_t i = 0; i < p->rows; i++) {
        p->apart[i] = trial % 5 == 0 ? 0 : whole ? floor(unit() * 6) : unit() * 10 - 3;
        for (int32_t j = 0; j < p->columns; j++) {
            if (sparse && unit() < 0.3 * sparse)
                continue;
            double cost = whole ? floor(unit() * 8) - 3 : unit() * 12 - 5;
            if (unit() < 0.03)
                cost = unit() < 0.5 ? NAN : INFINITY;
            p->pairs[p->n++] = (sk_assign_pair){i, j, cost};
            if (p->n < 60 && unit() < 0.03)
                p->pairs[p->n++] = (sk_assign_pair){i, j, cost + 1};
        }
    }
    for (int32_t k = p->n - 1; k > 0; k--) { /* in any order */
        const int32_t other = (int32_t)(unit() * (k + 1));
        const sk_assign_pair swap = p->pairs[k];
        p->pairs[k] = p->pairs[other];
        p->pairs[other] = swap;
    }
}

/* The cheapest of all there are: each row in turn stays apart or takes any column left. */
static double try_all(const problem *p, int32_t row, unsigned used)
{
    if (row == p->rows)
        return 0;
    double best = p->apart[row] + try_all(p, row + 1, used);
    for (int32_t k = 0; k < p->n; k++)
        if (p->pairs[k].row == row && isfinite(p->pairs[k].cost) && !(used >> p->pairs[k].column & 1))
            best = fmin(best, p->pairs[k].cost + try_all(p, row + 1, used | 1u << p->pairs[k].column));
    return best;
}

/* The same, each set of columns looked at once. */
static double try_sets(const problem *p)
{
    double best[2][128];
    int now = 0;
    for (int u = 0; u < 128; u++)
        best[0][u] = u ? INFINITY : 0;
    for (int32_t row = 0; row < p->rows; row++, now = !now) {
        for (int u = 0; u < 128; u++)
            best[!now][u] = best[now][u] + p->apart[row];
        for (int32_t k = 0; k < p->n; k++)
            for (int u = 0; p->pairs[k].row == row && isfinite(p->pairs[k].cost) && u < 128; u++)
                if (!(u >> p->pairs[k].column & 1)) {
                    double *to = &best[!now][u | 1 << p->pairs[k].column];
                    *to = fmin(*to, best[now][u] + p->pairs[k].cost);
                }
    }
    double least = INFINITY;
    for (int u = 0; u < 128; u++)
        least = fmin(least, best[now][u]);
    return least;
}

/* What a matching costs; checks that it is one, of pairs there are. */
static double total(const problem *p, const int32_t *column_of)
{
    double sum = 0;
    unsigned used = 0;
    for (int32_t i = 0; i < p->rows; i++) {
        double cost = column_of[i] < 0 ? p->apart[i] : INFINITY;
        for (int32_t k = 0; k < p->n; k++)
            if (p->pairs[k].row == i && p->pairs[k].column == column_of[i] && isfinite(p->pairs[k].cost))
                cost = fmin(cost, p->pairs[k].cost);
        assert_true(isfinite(cost));
        if (column_of[i] >= 0) {
            assert_false(used >> column_of[i] & 1);
            used |= 1u << column_of[i];
        }
        sum += cost;
    }
    return sum;
}

static void the_cheapest_of_all_matchings_is_found(void **state)
{
    (void)state;
    sk_error err;
    sk_assign *a;
    assert_ok(sk_assign_open(&a, &err), &err);
    for (int trial = 0; trial < 40000; trial++) {
        problem p;
        int32_t column_of[8], again[8];
        const int every = trial < 4000;
        make(&p, every ? 5 : 7, trial);
        assert_ok(sk_assign_solve(a, p.rows, p.columns, p.pairs, p.n, p.apart, column_of, &err), &err);
        const double least = every ? try_all(&p, 0, 0) : try_sets(&p);
        if (fabs(total(&p, column_of) - least) > 1e-9)
            fail_msg("trial %d: %.17g, the least is %.17g", trial, total(&p, column_of), least);
        assert_ok(sk_assign_solve(a, p.rows, p.columns, p.pairs, p.n, p.apart, again, &err), &err);
        for (int32_t i = 0; i < p.rows; i++)
            assert_int_equal(column_of[i], again[i]);
    }
    for (int trial = 0; trial < 20; trial++) { /* all permutations of the largest ones */
        problem p;
        int32_t column_of[8];
        do
            make(&p, 7, trial);
        while (p.rows < 7 || p.columns < 7);
        assert_ok(sk_assign_solve(a, p.rows, p.columns, p.pairs, p.n, p.apart, column_of, &err), &err);
        assert_float_equal(total(&p, column_of), try_all(&p, 0, 0), 1e-9);
    }
    sk_assign_close(&a);
    assert_null(a);
}

/* Animals in a plane, each with candidates near it: totals equal those of the dense solver. */
static void large_problems_cost_what_the_dense_solver_finds(void **state)
{
    (void)state;
    enum { MOST = 160 };
    sk_error err;
    sk_assign *a;
    sk_assignment *dense;
    assert_ok(sk_assign_open(&a, &err), &err);
    assert_ok(sk_assignment_open(MOST, 2 * MOST, &dense, &err), &err);
    double *cost = malloc(sizeof *cost * MOST * 2 * MOST);
    sk_assign_pair *pairs = malloc(sizeof *pairs * MOST * MOST);
    assert_true(cost && pairs);
    for (int trial = 0; trial < 30; trial++) {
        const int32_t rows = 20 + (int32_t)(unit() * (MOST - 20)),
                      columns = 20 + (int32_t)(unit() * (MOST - 20));
        const double gate = 1.5 * (0.02 + 0.3 * unit()), step = trial % 2 ? 0.05 : 1e-9;
        const int32_t wide = rows + columns;
        double at[2 * MOST][2];
        int32_t n = 0, sparse[MOST], full[MOST];
        for (int32_t i = 0; i < rows + columns; i++)
            at[i][0] = unit(), at[i][1] = unit();
        for (int32_t i = 0; i < rows; i++)
            for (int32_t j = 0; j < wide; j++) {
                cost[i * wide + j] = j == columns + i ? 0 : INFINITY;
                if (j >= columns)
                    continue;
                const double far = hypot(at[i][0] - at[rows + j][0], at[i][1] - at[rows + j][1]);
                if (far > gate)
                    continue;
                cost[i * wide + j] = round((far - gate) / step) * step;
                pairs[n++] = (sk_assign_pair){i, j, cost[i * wide + j]};
            }
        assert_ok(sk_assign_solve(a, rows, columns, pairs, n, NULL, sparse, &err), &err);
        assert_true(sk_assignment_solve(dense, cost, rows, wide, full) == rows);
        double ours = 0, theirs = 0;
        for (int32_t i = 0; i < rows; i++) {
            ours += sparse[i] < 0 ? 0 : cost[i * wide + sparse[i]];
            theirs += cost[i * wide + full[i]];
        }
        if (fabs(ours - theirs) > 1e-9 * rows)
            fail_msg("trial %d, %d x %d, %d pairs: %.12g, dense %.12g", trial, rows, columns, n, ours,
                     theirs);
    }
    free(cost);
    free(pairs);
    sk_assignment_close(&dense);
    sk_assign_close(&a);
}

static void nothing_is_allocated_for_problems_no_larger(void **state)
{
    (void)state;
    sk_error err;
    sk_assign *a;
    problem p;
    int32_t column_of[8];
    double apart[8] = {0};
    sk_assign_pair all[49];
    assert_ok(sk_assign_open(&a, &err), &err);
    for (int32_t k = 0; k < 49; k++)
        all[k] = (sk_assign_pair){k / 7, k % 7, 1};
    assert_ok(sk_assign_solve(a, 7, 7, all, 49, apart, column_of, &err), &err);
    const uint64_t before = sk_memory_allocations();
    for (int trial = 0; trial < 100; trial++) {
        make(&p, 7, trial);
        assert_ok(sk_assign_solve(a, p.rows, p.columns, p.pairs, p.n, p.apart, column_of, &err), &err);
    }
    assert_int_equal(sk_memory_allocations(), before);
    sk_assign_close(&a);
}

static void what_is_out_of_range_is_refused(void **state)
{
    (void)state;
    sk_error err;
    sk_assign *a;
    int32_t column_of[2];
    const double never[2] = {0, INFINITY};
    assert_ok(sk_assign_open(&a, &err), &err);
    assert_ok(sk_assign_solve(a, 0, 0, NULL, 0, NULL, NULL, &err), &err); /* the first problem of all */
    const sk_assign_pair outside[] = {{0, 2, -1}, {2, 0, -1}, {-1, 0, -1}, {0, -1, -1}};
    for (int k = 0; k < 4; k++)
        assert_int_equal(sk_assign_solve(a, 2, 2, &outside[k], 1, NULL, column_of, &err), SK_ERR_ARG);
    assert_int_equal(sk_assign_solve(a, 2, 2, NULL, 0, never, column_of, &err), SK_ERR_ARG);
    assert_ok(sk_assign_solve(a, 0, 0, NULL, 0, NULL, NULL, &err), &err);
    assert_ok(sk_assign_solve(a, 2, 0, NULL, 0, NULL, column_of, &err), &err);
    assert_int_equal(column_of[0], -1);
    sk_assign_close(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_of_all_matchings_is_found),
        cmocka_unit_test(large_problems_cost_what_the_dense_solver_finds),
        cmocka_unit_test(nothing_is_allocated_for_problems_no_larger),
        cmocka_unit_test(what_is_out_of_range_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
