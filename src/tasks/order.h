/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_ORDER_H
#define SK_TASKS_ORDER_H

#include <stdint.h>

/* Ranks scores without allocating: order[0 .. count-1] become the indices of `scores` from the highest to the
 * lowest; equal scores keep their order, NaN comes last. `keys` is scratch for 2 * count elements. */
void sk_order_descending(const float *scores, int32_t count, int32_t *order, uint64_t *keys);

#endif
