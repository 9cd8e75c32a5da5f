/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_ASSIGN_H
#define SK_TRACK_ASSIGN_H

#include "base/error.h"

#include <stdint.h>

/* The linear assignment problem of trackers: few of all pairs can be made, and staying apart has a cost of its own. Gives the
 * cheapest matching exactly: the sum of the costs of its pairs and, for every row that stays apart, of its staying apart
 * (columns stay apart for nothing). Shortest augmenting paths over the pairs there are; a search touches only what it reaches,
 * so every connected group of rows and columns costs what it would alone.
 *
 * The dense solver (tasks/assignment.h) is another one on purpose: it makes as many pairs as can be, over full matrices, and
 * of equally good matchings gives the one that SLEAP's grouping gives. */
typedef struct sk_assign sk_assign;

typedef struct sk_assign_pair {
    int32_t row, column;
    double cost;
} sk_assign_pair;

sk_status sk_assign_open(sk_assign **out, sk_error *err) SK_MUST_CHECK;
void sk_assign_close(sk_assign **assign);

/* Room for a problem of this size, so that solving one allocates nothing. */
sk_status sk_assign_reserve(sk_assign *assign, int32_t rows, int32_t columns, int32_t pairs,
                            sk_error *err) SK_MUST_CHECK;

/* `pairs` in any order; one whose cost is not finite, or above its row's cost of staying apart, is never made; one given twice
 * counts at its cheapest. apart[rows]: finite; null: 0 for all (then only pairs that cost at most 0 are made). Writes to
 * column_of[rows] each row's column or -1. Deterministic, also among equally good matchings. Allocates only for a problem
 * larger than all before it. A row or column that is out of range is refused. */
sk_status sk_assign_solve(sk_assign *assign, int32_t rows, int32_t columns, const sk_assign_pair *pairs,
                          int32_t n_pairs, const double *apart, int32_t *column_of,
                          sk_error *err) SK_MUST_CHECK;

#endif
