/* SPDX-License-Identifier: Apache-2.0 */
#include "eval/matching.h"

#include "base/memory.h"
#include "tasks/assignment.h"
#include "track/assign.h"

#include <stdbool.h>
#include <string.h>

#define MOST_NODES ((size_t)1 << 30)
/* Cells of a part that is solved as a full matrix: of equal sums that gives what TrackEval's solver gives. Larger ones, whole
 * videos' tracks, are solved over their pairs alone. */
#define MOST_CELLS ((size_t)64 * 1024)

struct sk_matching {
    /* by node: rows first, then columns */
    int32_t *root, *place; /* union-find; place among the nodes of its part */
    size_t root_capacity, place_capacity;
    int32_t *alone; /* by node: the only pair it has; -1 none, -2 several */
    size_t alone_capacity;
    /* by part, in the order of their first rows */
    struct part {
        int32_t rows, cols;
        size_t first, count; /* of its pairs, in `order` */
    } * parts;
    size_t parts_capacity;
    size_t *order;
    size_t order_capacity;
    double *cost; /* of one part, rows x cols */
    int32_t *pair_at;
    size_t cost_capacity, pair_at_capacity;
    int32_t *column_of;
    size_t column_of_capacity;
    sk_assignment *solver;
    int32_t solver_rows, solver_cols;
    sk_assign *sparse;
    sk_assign_pair *costs;
    size_t costs_capacity;
};

sk_status sk_matching_open(sk_matching **out, sk_error *err)
{
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(err, sizeof **out);
}

void sk_matching_close(sk_matching **matching)
{
    if (!matching || !*matching)
        return;
    sk_matching *m = *matching;
    sk_free(m->root);
    sk_free(m->place);
    sk_free(m->alone);
    sk_free(m->parts);
    sk_free(m->order);
    sk_free(m->cost);
    sk_free(m->pair_at);
    sk_free(m->column_of);
    sk_assignment_close(&m->solver);
    sk_assign_close(&m->sparse);
    sk_free(m->costs);
    sk_free(m);
    *matching = NULL;
}

/* --- what hangs together --- */

static int32_t find_root(int32_t *root, int32_t node)
{
    while (root[node] != node) {
        root[node] = root[root[node]];
        node = root[node];
    }
    return node;
}

static void see(int32_t *alone, int32_t node, size_t pair)
{
    alone[node] = alone[node] == -1 ? (int32_t)pair : -2;
}

static sk_status reserve(sk_matching *m, size_t nodes, size_t count, sk_error *err)
{
    SK_TRY(
        sk_array_reserve((void **)&m->root, &m->root_capacity, nodes + 1, sizeof *m->root, MOST_NODES, err));
    SK_TRY(sk_array_reserve((void **)&m->place, &m->place_capacity, nodes + 1, sizeof *m->place, MOST_NODES,
                            err));
    SK_TRY(sk_array_reserve((void **)&m->alone, &m->alone_capacity, nodes + 1, sizeof *m->alone, MOST_NODES,
                            err));
    SK_TRY(sk_array_reserve((void **)&m->parts, &m->parts_capacity, nodes + 1, sizeof *m->parts, MOST_NODES,
                            err));
    return sk_array_reserve((void **)&m->order, &m->order_capacity, count + 1, sizeof *m->order, MOST_NODES,
                            err);
}

/* Numbers the parts that have more than one pair and puts their pairs together; gives how many there are. */
static size_t part_pairs(sk_matching *m, int32_t rows, int32_t nodes, const sk_weighted_pair *pairs,
                         size_t count)
{
    size_t n_parts = 0;
    for (int32_t i = 0; i < nodes; i++)
        m->place[i] = -1; /* of a root: its part's number, until nodes get their places */
    for (size_t i = 0; i < count; i++) {
        if (m->alone[pairs[i].row] >= 0 && m->alone[rows + pairs[i].col] >= 0)
            continue;
        int32_t root = find_root(m->root, pairs[i].row);
        if (m->place[root] < 0) {
            m->parts[n_parts] = (struct part){0};
            m->place[root] = (int32_t)n_parts++;
        }
        m->parts[m->place[root]].count++;
    }
    for (size_t p = 1; p < n_parts; p++)
        m->parts[p].first = m->parts[p - 1].first + m->parts[p - 1].count;
    for (size_t p = 0; p < n_parts; p++)
        m->parts[p].count = 0;
    for (size_t i = 0; i < count; i++) {
        if (m->alone[pairs[i].row] >= 0 && m->alone[rows + pairs[i].col] >= 0)
            continue;
        struct part *p = &m->parts[m->place[find_root(m->root, pairs[i].row)]];
        m->order[p->first + p->count++] = i;
    }
    /* Places in their parts, by rising row and column: of equal sums the first is taken, whoever else is in the frame. */
    for (int32_t i = 0; i < nodes; i++)
        m->alone[i] = m->alone[i] == -1 ? -1 : m->place[find_root(m->root, i)];
    for (int32_t i = 0; i < nodes; i++) {
        if (m->alone[i] < 0)
            continue;
        struct part *p = &m->parts[m->alone[i]];
        m->place[i] = i < rows ? p->rows++ : p->cols++;
    }
    return n_parts;
}

/* --- one part --- */

static sk_status open_solver(sk_matching *m, int32_t rows, int32_t cols, sk_error *err)
{
    if (m->solver && rows <= m->solver_rows && cols <= m->solver_cols)
        return SK_OK;
    sk_assignment_close(&m->solver);
    m->solver_rows = rows > m->solver_rows ? rows : m->solver_rows;
    m->solver_cols = cols > m->solver_cols ? cols : m->solver_cols;
    return sk_assignment_open(m->solver_rows, m->solver_cols, &m->solver, err);
}

static sk_status solve_large(sk_matching *m, const struct part *p, int32_t rows,
                             const sk_weighted_pair *pairs, int32_t *pair_of, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&m->costs, &m->costs_capacity, p->count, sizeof *m->costs, MOST_NODES,
                            err));
    SK_TRY(sk_array_reserve((void **)&m->column_of, &m->column_of_capacity, (size_t)p->rows,
                            sizeof *m->column_of, MOST_NODES, err));
    for (size_t i = 0; i < p->count; i++) {
        const sk_weighted_pair *pair = &pairs[m->order[p->first + i]];
        m->costs[i] = (sk_assign_pair){m->place[pair->row], m->place[rows + pair->col], -pair->weight};
    }
    if (!m->sparse)
        SK_TRY(sk_assign_open(&m->sparse, err));
    SK_TRY(
        sk_assign_solve(m->sparse, p->rows, p->cols, m->costs, (int32_t)p->count, NULL, m->column_of, err));
    for (size_t i = 0; i < p->count; i++)
        if (m->column_of[m->costs[i].row] == m->costs[i].column)
            pair_of[pairs[m->order[p->first + i]].row] = (int32_t)m->order[p->first + i];
    return SK_OK;
}

static sk_status solve_part(sk_matching *m, const struct part *p, int32_t rows, const sk_weighted_pair *pairs,
                            int32_t *pair_of, sk_error *err)
{
    size_t cells = (size_t)p->rows * (size_t)p->cols;
    if (cells > MOST_CELLS)
        return solve_large(m, p, rows, pairs, pair_of, err);
    SK_TRY(sk_array_reserve((void **)&m->cost, &m->cost_capacity, cells, sizeof *m->cost, MOST_NODES, err));
    SK_TRY(sk_array_reserve((void **)&m->pair_at, &m->pair_at_capacity, cells, sizeof *m->pair_at, MOST_NODES,
                            err));
    SK_TRY(sk_array_reserve((void **)&m->column_of, &m->column_of_capacity, (size_t)p->rows,
                            sizeof *m->column_of, MOST_NODES, err));
    memset(m->cost, 0, cells * sizeof *m->cost); /* put together without a pair: as good as apart */
    for (size_t i = 0; i < cells; i++)
        m->pair_at[i] = -1;
    for (size_t i = 0; i < p->count; i++) {
        const sk_weighted_pair *pair = &pairs[m->order[p->first + i]];
        size_t at = (size_t)m->place[pair->row] * (size_t)p->cols + (size_t)m->place[rows + pair->col];
        m->cost[at] = -pair->weight;
        m->pair_at[at] = (int32_t)m->order[p->first + i];
    }
    SK_TRY(open_solver(m, p->rows, p->cols, err));
    sk_assignment_solve(m->solver, m->cost, p->rows, p->cols, m->column_of);
    for (int32_t r = 0; r < p->rows; r++) {
        int32_t pair =
            m->column_of[r] < 0 ? -1 : m->pair_at[(size_t)r * (size_t)p->cols + (size_t)m->column_of[r]];
        if (pair >= 0)
            pair_of[pairs[pair].row] = pair;
    }
    return SK_OK;
}

sk_status sk_matching_solve(sk_matching *m, int32_t rows, int32_t cols, const sk_weighted_pair *pairs,
                            size_t count, int32_t *pair_of, sk_error *err)
{
    SK_CHECK_ARG(m && rows >= 0 && cols >= 0 && count < MOST_NODES, err);
    int32_t nodes = rows + cols;
    SK_TRY(reserve(m, (size_t)nodes, count, err));
    for (int32_t r = 0; r < rows; r++)
        pair_of[r] = -1;
    for (int32_t i = 0; i < nodes; i++) {
        m->root[i] = i;
        m->alone[i] = -1;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t row = pairs[i].row, col = rows + pairs[i].col;
        see(m->alone, row, i);
        see(m->alone, col, i);
        m->root[find_root(m->root, col)] = find_root(m->root, row);
    }
    bool parted = false;
    for (size_t i = 0; i < count; i++)
        if (m->alone[pairs[i].row] >= 0 && m->alone[rows + pairs[i].col] >= 0)
            pair_of[pairs[i].row] = (int32_t)i; /* nobody else wants either */
        else
            parted = true;
    if (!parted)
        return SK_OK;
    size_t n_parts = part_pairs(m, rows, nodes, pairs, count);
    for (size_t p = 0; p < n_parts; p++)
        SK_TRY(solve_part(m, &m->parts[p], rows, pairs, pair_of, err));
    return SK_OK;
}
