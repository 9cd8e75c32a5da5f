/* SPDX-License-Identifier: Apache-2.0 */
#include "track/whole_choice.h"

#include "base/memory.h"

#include <math.h>

#define ROOM  8192 /* pairs that are made room for at once, and 8 for each row and column */
#define APART 1e3  /* what staying apart costs: more than any pair */

void sk_whole_choice_free(sk_whole_choice *c)
{
    sk_free_all(c->row_best, c->column_best, c->row_next, c->column_next, c->settled, c->column_taken);
    *c = (sk_whole_choice){0};
}

static sk_status reserve(sk_whole_choice *c, sk_box_pairs *p, int32_t rows, int32_t columns, sk_error *err)
{
    const size_t r = 2 * ((size_t)rows + (size_t)columns) + 16, k = r; /* few frames have twice as many */
    SK_BOXES_RESERVE(c->row_best, c->rb_room, r);
    SK_BOXES_RESERVE(c->row_next, c->rn_room, r);
    SK_BOXES_RESERVE(c->settled, c->settled_room, r);
    SK_BOXES_RESERVE(c->column_best, c->cb_room, k);
    SK_BOXES_RESERVE(c->column_next, c->cn_room, k);
    SK_BOXES_RESERVE(c->column_taken, c->taken_room, k);
    SK_BOXES_RESERVE(p->match, p->match_room, r);
    const size_t most = ROOM + 8 * (r + k);
    SK_BOXES_RESERVE(p->pairs, p->pairs_room, most);
    SK_BOXES_RESERVE(p->apart, p->apart_room, r);
    return sk_assign_reserve(p->solver, (int32_t)r, (int32_t)k, (int32_t)most, err);
}

/* Has every row and every column at most one partner that overlaps by more than `least`, and somebody one? Then they are matched. */
static bool take_plain(sk_whole_choice *c, sk_box_pairs *p, int32_t rows, int32_t columns, double least)
{
    int32_t most = 0;
    for (int32_t i = 0; i < rows; i++)
        p->match[i] = -1;
    for (int32_t j = 0; j < columns; j++)
        c->column_taken[j] = 0;
    for (int32_t k = 0; k < p->n; k++) {
        const sk_assign_pair *q = &p->pairs[k];
        if (!(q->cost > least))
            continue;
        if (p->match[q->row] >= 0 || c->column_taken[q->column])
            return false;
        p->match[q->row] = q->column;
        c->column_taken[q->column] = 1;
        most = 1;
    }
    return most == 1;
}

static void rank(double worth, double *best, double *next)
{
    if (worth > *best) {
        *next = *best;
        *best = worth;
    } else if (worth > *next) {
        *next = worth;
    }
}

/* Costs become minus worths. A pair (i, j) is settled if it is worth at least what the best others of i and of j are worth together
 * and `bonus` more: were i with k and j with l, exchanging them would lose nothing, as l and k are worth -bonus or more. */
static void settle(sk_whole_choice *c, sk_box_pairs *p, int32_t rows, int32_t columns, double bonus)
{
    for (int32_t i = 0; i < rows; i++) {
        c->row_best[i] = c->row_next[i] = bonus; /* as much as one that does not overlap may be worth */
        c->settled[i] = -1;
    }
    for (int32_t j = 0; j < columns; j++) {
        c->column_best[j] = c->column_next[j] = bonus;
        c->column_taken[j] = 0;
    }
    for (int32_t k = 0; k < p->n; k++) {
        const sk_assign_pair *q = &p->pairs[k];
        rank(-q->cost, &c->row_best[q->row], &c->row_next[q->row]);
        rank(-q->cost, &c->column_best[q->column], &c->column_next[q->column]);
    }
    for (int32_t k = 0; k < p->n; k++) {
        const sk_assign_pair *q = &p->pairs[k];
        const double worth = -q->cost;
        if (worth < c->row_best[q->row] || worth < c->column_best[q->column] ||
            worth < bonus + c->row_next[q->row] + c->column_next[q->column])
            continue;
        c->settled[q->row] = q->column;
        c->column_taken[q->column] = 1;
    }
}

sk_status sk_whole_choice_make(sk_whole_choice *c, sk_box_pairs *p, const sk_box *rows, int32_t n_rows,
                               const sk_box *columns, int32_t n_columns, double least, double bonus,
                               sk_pair_worth worth, const void *context, sk_error *err)
{
    SK_TRY(reserve(c, p, n_rows, n_columns, err));
    if (take_plain(c, p, n_rows, n_columns, least))
        return SK_OK;
    for (int32_t k = 0; k < p->n; k++) {
        sk_assign_pair *q = &p->pairs[k];
        q->cost = -worth(context, q->row, q->column, q->cost);
    }
    settle(c, p, n_rows, n_columns, bonus);
    p->n = 0;
    for (int32_t i = 0; i < n_rows; i++)
        for (int32_t j = 0; j < n_columns && c->settled[i] < 0; j++) {
            if (c->column_taken[j])
                continue;
            SK_BOXES_RESERVE(p->pairs, p->pairs_room, (size_t)p->n + 1);
            const double cost = -worth(context, i, j, sk_box_overlap(&rows[i], &columns[j]));
            p->pairs[p->n++] = (sk_assign_pair){i, j, cost};
        }
    SK_TRY(sk_box_pairs_solve(p, n_rows, n_columns, APART, err));
    for (int32_t i = 0; i < n_rows; i++)
        if (c->settled[i] >= 0)
            p->match[i] = c->settled[i];
    return SK_OK;
}
