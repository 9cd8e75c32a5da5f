/* SPDX-License-Identifier: Apache-2.0 */
#include "track/assign.h"

#include "base/memory.h"

#include <math.h>

/* Dual numbers u (rows) and v (columns) keep cost - u - v at least 0 for all pairs and at 0 for those made; u never passes the
 * cost of staying apart, and v is 0 for free columns. A matching with such numbers is the cheapest. Rows join one after the other: most
 * by their cheapest column, if it is free, the others by the cheapest alternating path, found as Dijkstra does, to a free column
 * or to a row that had rather stay apart. (Jonker and Volgenant 1987, with rows of the pairs there are.) */

enum { UNTOUCHED = -1, DONE = -2 };

struct sk_assign {
    size_t row_room, column_room, pair_room;
    /* of rows */
    int32_t *first; /* [rows + 1] index of a row's first pair */
    double *u, *apart;
    int32_t *left; /* rows whose cheapest column was taken */
    /* of pairs, row by row */
    int32_t *column;
    double *cost;
    /* of columns */
    double *v, *distance;             /* infinite: not reached */
    int32_t *row_of, *parent, *place; /* the row of a column; by which it was reached; where in the heap */
    int32_t *heap, *done, *touched;
    int32_t n_heap, n_done, n_touched;
};

sk_status sk_assign_open(sk_assign **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = sk_calloc(1, sizeof **out);
    return *out ? SK_OK : sk_fail_memory(err, sizeof **out);
}

static void release(sk_assign *a)
{
    void *const all[] = {a->first,    a->u,      a->left,   a->apart, a->column, a->cost, a->v,
                         a->distance, a->row_of, a->parent, a->place, a->heap,   a->done, a->touched};
    sk_free_blocks(all, sizeof all / sizeof *all);
    *a = (sk_assign){0};
}

void sk_assign_close(sk_assign **assign)
{
    if (!assign || !*assign)
        return;
    release(*assign);
    sk_free(*assign);
    *assign = NULL;
}

static size_t room_of(int32_t wanted, size_t room)
{
    return (size_t)wanted < room ? room : (size_t)wanted + (size_t)wanted / 2 + 32;
}

/* Nothing lives from one problem to the next: what is too small is made anew, with room to spare. */
sk_status sk_assign_reserve(sk_assign *a, int32_t rows, int32_t columns, int32_t pairs, sk_error *err)
{
    if (a->first && (size_t)rows <= a->row_room && (size_t)columns <= a->column_room &&
        (size_t)pairs <= a->pair_room)
        return SK_OK;
    const size_t r = room_of(rows, a->row_room), c = room_of(columns, a->column_room),
                 p = room_of(pairs, a->pair_room);
    release(a);
    a->first = sk_calloc(r + 2, sizeof *a->first);
    a->u = sk_calloc(r, sizeof *a->u);
    a->apart = sk_calloc(r, sizeof *a->apart);
    a->left = sk_calloc(r, sizeof *a->left);
    a->column = sk_calloc(p, sizeof *a->column);
    a->cost = sk_calloc(p, sizeof *a->cost);
    a->v = sk_calloc(c, sizeof *a->v);
    a->distance = sk_calloc(c, sizeof *a->distance);
    a->row_of = sk_calloc(c, sizeof *a->row_of);
    a->parent = sk_calloc(c, sizeof *a->parent);
    a->place = sk_calloc(c, sizeof *a->place);
    a->heap = sk_calloc(c, sizeof *a->heap);
    a->done = sk_calloc(c, sizeof *a->done);
    a->touched = sk_calloc(c, sizeof *a->touched);
    if (!a->first || !a->u || !a->apart || !a->left || !a->column || !a->cost || !a->v || !a->distance ||
        !a->row_of || !a->parent || !a->place || !a->heap || !a->done || !a->touched) {
        release(a);
        return sk_fail_memory(err, (r + c + p) * sizeof(double));
    }
    a->row_room = r;
    a->column_room = c;
    a->pair_room = p;
    return SK_OK;
}

static int usable(const sk_assign *a, const sk_assign_pair *pair)
{
    return isfinite(pair->cost) && pair->cost <= a->apart[pair->row];
}

/* Sorts the pairs by row; within a row they keep their order. */
static sk_status take(sk_assign *a, int32_t rows, int32_t columns, const sk_assign_pair *pairs, int32_t n,
                      const double *apart, sk_error *err)
{
    for (int32_t i = 0; i < rows; i++) {
        a->apart[i] = apart ? apart[i] : 0;
        if (!isfinite(a->apart[i]))
            return sk_fail(err, SK_ERR_ARG, "assignment: staying apart costs row %d %g", i, a->apart[i]);
    }
    for (int32_t i = 0; i < rows + 2; i++)
        a->first[i] = 0;
    for (int32_t k = 0; k < n; k++) {
        if (pairs[k].row < 0 || pairs[k].row >= rows || pairs[k].column < 0 || pairs[k].column >= columns)
            return sk_fail(err, SK_ERR_ARG, "assignment: pair %d of row %d and column %d, of %d x %d", k,
                           pairs[k].row, pairs[k].column, rows, columns);
        if (usable(a, &pairs[k]))
            a->first[pairs[k].row + 2]++;
    }
    for (int32_t i = 2; i < rows + 2; i++)
        a->first[i] += a->first[i - 1];
    for (int32_t k = 0; k < n; k++)
        if (usable(a, &pairs[k])) {
            const int32_t at = a->first[pairs[k].row + 1]++;
            a->column[at] = pairs[k].column;
            a->cost[at] = pairs[k].cost;
        }
    return SK_OK;
}

/* --- the heap of columns by distance; of equally far ones a free one first, then the lower number --- */

static int nearer(const sk_assign *a, int32_t p, int32_t q)
{
    if (a->distance[p] != a->distance[q])
        return a->distance[p] < a->distance[q];
    const int p_free = a->row_of[p] < 0, q_free = a->row_of[q] < 0;
    return p_free != q_free ? p_free : p < q;
}

static void rise(sk_assign *a, int32_t at)
{
    const int32_t column = a->heap[at];
    for (; at > 0 && nearer(a, column, a->heap[(at - 1) / 2]); at = (at - 1) / 2) {
        a->heap[at] = a->heap[(at - 1) / 2];
        a->place[a->heap[at]] = at;
    }
    a->heap[at] = column;
    a->place[column] = at;
}

static int32_t pop(sk_assign *a)
{
    const int32_t top = a->heap[0], last = a->heap[--a->n_heap];
    int32_t at = 0;
    while (2 * at + 1 < a->n_heap) {
        int32_t child = 2 * at + 1;
        if (child + 1 < a->n_heap && nearer(a, a->heap[child + 1], a->heap[child]))
            child++;
        if (!nearer(a, a->heap[child], last))
            break;
        a->heap[at] = a->heap[child];
        a->place[a->heap[at]] = at;
        at = child;
    }
    if (a->n_heap > 0) {
        a->heap[at] = last;
        a->place[last] = at;
    }
    a->place[top] = DONE;
    a->done[a->n_done++] = top;
    return top;
}

/* --- paths --- */

/* Reaches the columns of a row that lies `from` away; what is farther than `most` is of no use. */
static void reach(sk_assign *a, int32_t row, double from, double most)
{
    for (int32_t k = a->first[row]; k < a->first[row + 1]; k++) {
        const int32_t j = a->column[k];
        if (a->place[j] == DONE)
            continue;
        double far = from + (a->cost[k] - a->u[row] - a->v[j]);
        far = far > from ? far : from; /* rounding */
        if (far > most || far >= a->distance[j])
            continue;
        a->distance[j] = far;
        a->parent[j] = row;
        if (a->place[j] == UNTOUCHED) {
            a->touched[a->n_touched++] = j;
            a->place[j] = a->n_heap;
            a->heap[a->n_heap++] = j;
        }
        rise(a, a->place[j]);
    }
}

/* Joins a row by the cheapest path from it. */
static void join(sk_assign *a, int32_t row, int32_t *column_of)
{
    double least = INFINITY, at = 0;
    int32_t leaver = -1, sink = -1, i = row;
    a->n_heap = a->n_done = a->n_touched = 0;
    for (;;) {
        if (at + (a->apart[i] - a->u[i]) < least) {
            least = at + (a->apart[i] - a->u[i]);
            leaver = i;
        }
        reach(a, i, at, least);
        if (!a->n_heap || a->distance[a->heap[0]] > least)
            break; /* somebody leaves */
        const int32_t j = pop(a);
        at = a->distance[j];
        i = a->row_of[j];
        if (i < 0) {
            sink = j;
            least = at;
            break;
        }
    }
    a->u[row] += least;
    for (int32_t k = 0; k < a->n_done; k++) {
        const int32_t j = a->done[k];
        const double by = least - a->distance[j];
        if (a->row_of[j] >= 0 && by > 0) {
            a->u[a->row_of[j]] += by;
            a->v[j] -= by;
        }
    }
    int32_t j = sink;
    if (sink < 0) {
        j = column_of[leaver];
        column_of[leaver] = -1;
    }
    while (j >= 0) {
        i = a->parent[j];
        const int32_t next = column_of[i];
        column_of[i] = j;
        a->row_of[j] = i;
        j = i == row ? -1 : next;
    }
    for (int32_t k = 0; k < a->n_touched; k++) {
        a->distance[a->touched[k]] = INFINITY;
        a->place[a->touched[k]] = UNTOUCHED;
    }
}

/* The cheapest column of a row, a free one if there is one; true: nothing more is to be done for the row. */
static int join_at_once(sk_assign *a, int32_t row, int32_t *column_of)
{
    double least = a->apart[row];
    int32_t best = -1;
    for (int32_t k = a->first[row]; k < a->first[row + 1]; k++) {
        const int32_t j = a->column[k];
        if (a->cost[k] < least || best < 0 ||
            (a->cost[k] == least && a->row_of[best] >= 0 && a->row_of[j] < 0)) {
            least = a->cost[k];
            best = j;
        }
    }
    a->u[row] = least;
    if (best >= 0 && a->row_of[best] >= 0)
        return 0;
    if (best >= 0) {
        column_of[row] = best;
        a->row_of[best] = row;
    }
    return 1;
}

sk_status sk_assign_solve(sk_assign *a, int32_t rows, int32_t columns, const sk_assign_pair *pairs, int32_t n,
                          const double *apart, int32_t *column_of, sk_error *err)
{
    SK_CHECK_ARG(a && rows >= 0 && columns >= 0 && n >= 0 && (pairs || !n) && (column_of || !rows), err);
    SK_TRY(sk_assign_reserve(a, rows, columns, n, err));
    SK_TRY(take(a, rows, columns, pairs, n, apart, err));
    for (int32_t j = 0; j < columns; j++) {
        a->v[j] = 0;
        a->row_of[j] = -1;
        a->distance[j] = INFINITY;
        a->place[j] = UNTOUCHED;
    }
    int32_t n_left = 0;
    for (int32_t i = 0; i < rows; i++) {
        column_of[i] = -1;
        if (!join_at_once(a, i, column_of))
            a->left[n_left++] = i;
    }
    for (int32_t k = 0; k < n_left; k++)
        join(a, a->left[k], column_of);
    return SK_OK;
}
