/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/assignment.h"

#include "base/memory.h"
#include "base/object.h"

#include <math.h>

/* Crouse, "On implementing 2D rectangular assignment algorithms" (2016): dual variables u, v keep all
 * reduced costs non-negative; each row in turn is joined by the cheapest alternating path, found as
 * Dijkstra does. */
struct sk_assignment {
    int32_t max_rows, max_cols;
    double *cost;      /* [rows][cols], rows <= cols, finite */
    double *u, *v;     /* duals of rows and columns */
    double *path_cost; /* [cols] */
    int32_t *parent;   /* [cols] row from which the path reaches a column */
    int32_t *column_of, *row_of;
    int32_t *open; /* [cols] columns not yet reached */
    uint8_t *row_done, *column_done;
};

sk_status sk_assignment_open(int32_t max_rows, int32_t max_cols, sk_assignment **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(max_rows >= 1 && max_cols >= 1 && max_rows <= 16384 && max_cols <= 16384, err);
    sk_assignment *a = sk_calloc(1, sizeof *a);
    if (!a)
        return sk_fail_memory(err, sizeof *a);
    size_t side = (size_t)(max_rows > max_cols ? max_rows : max_cols);
    a->max_rows = max_rows;
    a->max_cols = max_cols;
    a->cost = sk_calloc((size_t)max_rows * (size_t)max_cols, sizeof *a->cost);
    a->u = sk_calloc(side * 3, sizeof *a->u);
    a->parent = sk_calloc(side * 4, sizeof *a->parent);
    a->row_done = sk_calloc(side * 2, 1);
    if (!a->cost || !a->u || !a->parent || !a->row_done) {
        sk_assignment_close(&a);
        return sk_fail_memory(err, (size_t)max_rows * (size_t)max_cols * sizeof(double));
    }
    a->v = a->u + side;
    a->path_cost = a->v + side;
    a->column_of = a->parent + side;
    a->row_of = a->column_of + side;
    a->open = a->row_of + side;
    a->column_done = a->row_done + side;
    *out = a;
    return SK_OK;
}

void sk_assignment_close(sk_assignment **assignment)
{
    SK_TAKE_OR_RETURN(a, assignment);
    sk_free_all(a->cost, a->u, a->parent, a->row_done, a);
}

/* The cheapest path from a free row to a free column; returns that column. */
static int32_t find_path(sk_assignment *a, int32_t rows, int32_t cols, int32_t row, double *least)
{
    int32_t n_open = cols, sink = -1, i = row;
    double reached = 0;
    for (int32_t j = 0; j < cols; j++) {
        a->open[j] = cols - 1 - j; /* from the last, so that of equal columns the first is taken */
        a->path_cost[j] = INFINITY;
        a->column_done[j] = 0;
    }
    for (int32_t r = 0; r < rows; r++)
        a->row_done[r] = 0;
    while (sink < 0) {
        int32_t pick = -1;
        double lowest = INFINITY;
        a->row_done[i] = 1;
        for (int32_t k = 0; k < n_open; k++) {
            int32_t j = a->open[k];
            double through = reached + a->cost[(size_t)i * (size_t)cols + (size_t)j] - a->u[i] - a->v[j];
            if (through < a->path_cost[j]) {
                a->path_cost[j] = through;
                a->parent[j] = i;
            }
            /* Of equally near columns a free one ends the search at once. */
            if (a->path_cost[j] < lowest || (a->path_cost[j] == lowest && a->row_of[j] < 0)) {
                lowest = a->path_cost[j];
                pick = k;
            }
        }
        reached = lowest;
        int32_t j = a->open[pick];
        if (a->row_of[j] < 0)
            sink = j;
        else
            i = a->row_of[j];
        a->column_done[j] = 1;
        a->open[pick] = a->open[--n_open];
    }
    *least = reached;
    return sink;
}

static void solve(sk_assignment *a, int32_t rows, int32_t cols)
{
    for (int32_t r = 0; r < rows; r++) {
        a->u[r] = 0;
        a->column_of[r] = -1;
    }
    for (int32_t c = 0; c < cols; c++) {
        a->v[c] = 0;
        a->row_of[c] = -1;
    }
    for (int32_t row = 0; row < rows; row++) {
        double least;
        int32_t j = find_path(a, rows, cols, row, &least);
        a->u[row] += least;
        for (int32_t r = 0; r < rows; r++)
            if (a->row_done[r] && r != row)
                a->u[r] += least - a->path_cost[a->column_of[r]];
        for (int32_t c = 0; c < cols; c++)
            if (a->column_done[c])
                a->v[c] -= least - a->path_cost[c];
        for (int32_t i = -1; i != row;) {
            i = a->parent[j];
            a->row_of[j] = i;
            int32_t next = a->column_of[i];
            a->column_of[i] = j;
            j = next;
        }
    }
}

/* Costs so large that sums of them would overflow count as forbidden too. */
static int allowed(double cost)
{
    return fabs(cost) < 1e150;
}

int32_t sk_assignment_solve(sk_assignment *a, const double *cost, int32_t rows, int32_t cols,
                            int32_t *column_of)
{
    if (rows < 0 || cols < 0 || rows > a->max_rows || cols > a->max_cols)
        return -1;
    for (int32_t r = 0; r < rows; r++)
        column_of[r] = -1;
    if (rows == 0 || cols == 0)
        return 0;
    int32_t turned = rows > cols, n = turned ? cols : rows, m = turned ? rows : cols;
    double low = INFINITY, high = -INFINITY;
    for (int32_t k = 0; k < rows * cols; k++)
        if (allowed(cost[k])) {
            low = cost[k] < low ? cost[k] : low;
            high = cost[k] > high ? cost[k] : high;
        }
    if (!(low <= high))
        return 0;
    /* A forbidden pair costs more than any set of allowed ones could save. */
    double forbidden = high + (high - low + 1) * (n + 1);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < m; j++) {
            double c = turned ? cost[(size_t)j * (size_t)cols + (size_t)i]
                              : cost[(size_t)i * (size_t)cols + (size_t)j];
            a->cost[(size_t)i * (size_t)m + (size_t)j] = allowed(c) ? c : forbidden;
        }
    solve(a, n, m);
    int32_t pairs = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t r = turned ? a->column_of[i] : i, c = turned ? i : a->column_of[i];
        if (allowed(cost[(size_t)r * (size_t)cols + (size_t)c])) {
            column_of[r] = c;
            pairs++;
        }
    }
    return pairs;
}
