/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_COPIERS_H
#define SK_BASE_COPIERS_H

#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>

/* Threads that copy large things together: one alone copies slower than a GPU's bus takes it. Zeroed is empty. They are called
 * when the first large thing comes, as many owners never have one; if they do not come, the caller copies alone. */
typedef struct sk_copiers {
    /* Set before the first use: threads with the caller, at most `most`; 0 = a quarter of the usable cores, shared among this many. */
    int32_t threads, sharers;
    int32_t most; /* where what they do is more than copying, or all wait for it; 0 = 4 */
    sk_pool *team;
    bool alone; /* there is no team, and will be none */
} sk_copiers;

/* Runs fn(context, i, parts) for every i below `parts`, a number that follows from `bytes`, and returns when all are done. Small
 * things are done by the caller alone, and nobody waits for a thread that comes late. */
void sk_copiers_run(sk_copiers *copiers, size_t bytes, sk_pool_fn fn, void *context);

/* The same, but the caller calls first(context, others) before it takes a part itself, while the others begin. With `others` they do
 * all of it if `first` waits for that; without, there is nobody else. */
typedef void (*sk_copiers_first)(void *context, bool others);
void sk_copiers_run_beside(sk_copiers *copiers, size_t bytes, sk_pool_fn fn, sk_copiers_first first,
                           void *context);

/* How many parts sk_copiers_run makes of this at most. */
int32_t sk_copiers_parts(size_t bytes);

void sk_copiers_close(sk_copiers *copiers);

#endif
