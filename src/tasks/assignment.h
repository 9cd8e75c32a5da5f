/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_ASSIGNMENT_H
#define SK_TASKS_ASSIGNMENT_H

#include "base/error.h"

#include <stdint.h>

/* The linear assignment problem: pairs rows with columns so that the summed cost is least. Rectangular;
 * every row (or every column, where there are fewer) gets a partner unless all its pairs are forbidden.
 * Shortest augmenting paths, O(n^2 * m). */
typedef struct sk_assignment sk_assignment;

/* Work space for up to max_rows x max_cols. */
sk_status sk_assignment_open(int32_t max_rows, int32_t max_cols, sk_assignment **out,
                             sk_error *err) SK_MUST_CHECK;
void sk_assignment_close(sk_assignment **assignment);

/* cost[r * cols + c]; a cost that is not finite forbids the pair. Writes to column_of[rows] each row's
 * column or -1 and returns the number of pairs. Sizes beyond those opened for return -1. */
int32_t sk_assignment_solve(sk_assignment *assignment, const double *cost, int32_t rows, int32_t cols,
                            int32_t *column_of);

#endif
