/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_MEMORY_PLAN_H
#define SK_GRAPH_MEMORY_PLAN_H

#include "base/memory.h"

#include <stdint.h>

/* Where activations live: every block gets an offset in one arena, and blocks whose lifetimes overlap
 * never share a byte. Engines plan once when a session opens. */
typedef struct sk_plan_block {
    size_t bytes;        /* 0 is allowed and takes no room */
    size_t alignment;    /* power of two, 0 means 1 */
    int32_t first, last; /* alive from step `first` to step `last`, both included */
    size_t offset;       /* filled in */
} sk_plan_block;

/* Largest block first, each into the smallest gap that holds it. *total is the arena's size; its base must
 * be aligned to the largest alignment. Checked with sk_memory_plan_check before it returns. */
sk_status sk_memory_plan(sk_plan_block *blocks, size_t n, size_t *total, sk_error *err) SK_MUST_CHECK;

/* SK_ERR_INTERNAL when a block is misaligned, lies outside of `total` or overlaps another alive at the
 * same time. */
sk_status sk_memory_plan_check(const sk_plan_block *blocks, size_t n, size_t total,
                               sk_error *err) SK_MUST_CHECK;

#endif
