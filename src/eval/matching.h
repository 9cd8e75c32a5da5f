/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_EVAL_MATCHING_H
#define SK_EVAL_MATCHING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Rows put together with columns, one with one at most, so that the sum of the pairs' weights is the largest there is. Only
 * pairs that weigh something are given: what hangs together by none is solved apart, so that frames with hundreds of animals,
 * of which few are near each other, cost little more than one pass over the pairs. */

typedef struct sk_weighted_pair {
    int32_t row, col;
    double weight; /* above 0 */
} sk_weighted_pair;

typedef struct sk_matching sk_matching;

sk_status sk_matching_open(sk_matching **out, sk_error *err) SK_MUST_CHECK;
void sk_matching_close(sk_matching **matching);

/* No row and column twice among the pairs. Writes to pair_of[rows] each row's pair, by its place among the pairs, or -1. */
sk_status sk_matching_solve(sk_matching *matching, int32_t rows, int32_t cols, const sk_weighted_pair *pairs,
                            size_t count, int32_t *pair_of, sk_error *err) SK_MUST_CHECK;

#endif
