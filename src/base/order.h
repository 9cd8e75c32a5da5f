/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_ORDER_H
#define SK_BASE_ORDER_H

/* What qsort and bsearch ask for: below 0 where a comes first, above 0 where b does, 0 where neither does. */
#define SK_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
