/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/memory_plan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX (SIZE_MAX / 4)
/* Placing is quadratic: a thousand blocks take a millisecond, this many some seconds. */
#define BLOCKS_MAX 65536

static bool alive_together(const sk_plan_block *a, const sk_plan_block *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static size_t align_up(size_t offset, size_t alignment)
{
    return alignment > 1 ? (offset + alignment - 1) & ~(alignment - 1) : offset;
}

typedef struct by_size {
    const sk_plan_block *block;
    size_t index;
} by_size;

static int larger_first(const void *x, const void *y)
{
    const by_size *a = x, *b = y;
    if (a->block->bytes != b->block->bytes)
        return a->block->bytes > b->block->bytes ? -1 : 1;
    if (a->block->first != b->block->first)
        return a->block->first < b->block->first ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* `placed` lists blocks by offset. Returns the best offset for `block` among those alive with it. */
static size_t best_offset(const sk_plan_block *block, const sk_plan_block *blocks, const size_t *placed,
                          size_t n)
{
    size_t end = 0, best = SIZE_MAX, best_gap = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        const sk_plan_block *other = &blocks[placed[i]];
        if (!alive_together(block, other))
            continue;
        size_t start = align_up(end, block->alignment);
        if (other->offset >= start && other->offset - start >= block->bytes &&
            other->offset - end < best_gap) {
            best = start;
            best_gap = other->offset - end;
        }
        if (other->offset + other->bytes > end)
            end = other->offset + other->bytes;
    }
    return best != SIZE_MAX ? best : align_up(end, block->alignment);
}

sk_status sk_memory_plan(sk_plan_block *blocks, size_t n, size_t *total, sk_error *err)
{
    SK_CHECK_ARG((blocks || n == 0) && total, err);
    *total = 0;
    size_t sum = 0;
    if (n > BLOCKS_MAX)
        return sk_fail(err, SK_ERR_LIMIT, "%zu activations; at most %d can be planned", n, BLOCKS_MAX);
    for (size_t i = 0; i < n; i++) {
        sk_plan_block *b = &blocks[i];
        if ((b->alignment & (b->alignment - 1)) || b->last < b->first)
            return sk_fail(err, SK_ERR_ARG, "block %zu: alignment %zu, alive from %d to %d", i, b->alignment,
                           b->first, b->last);
        size_t padded;
        if (!sk_add_size(b->bytes, b->alignment, &padded) || !sk_add_size(sum, padded, &sum) ||
            sum > ARENA_MAX)
            return sk_fail(err, SK_ERR_LIMIT, "the activations do not fit any memory");
    }
    by_size *order = sk_calloc(n, sizeof *order);
    size_t *placed = sk_calloc(n, sizeof *placed), n_placed = 0;
    if (!order || !placed) {
        sk_free(order);
        sk_free(placed);
        return sk_fail_memory(err, n * sizeof *order);
    }
    for (size_t i = 0; i < n; i++)
        order[i] = (by_size){&blocks[i], i};
    qsort(order, n, sizeof *order, larger_first);
    for (size_t i = 0; i < n; i++) {
        sk_plan_block *b = &blocks[order[i].index];
        b->offset = 0;
        if (b->bytes == 0)
            continue;
        b->offset = best_offset(b, blocks, placed, n_placed);
        if (b->offset + b->bytes > *total)
            *total = b->offset + b->bytes;
        size_t at = n_placed++;
        while (at > 0 && blocks[placed[at - 1]].offset > b->offset) {
            placed[at] = placed[at - 1];
            at--;
        }
        placed[at] = order[i].index;
    }
    sk_free(order);
    sk_free(placed);
    return sk_memory_plan_check(blocks, n, *total, err);
}

sk_status sk_memory_plan_check(const sk_plan_block *blocks, size_t n, size_t total, sk_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const sk_plan_block *a = &blocks[i];
        if (a->bytes == 0)
            continue;
        if (a->offset != align_up(a->offset, a->alignment) || a->offset > total ||
            total - a->offset < a->bytes)
            return sk_fail(err, SK_ERR_INTERNAL, "memory plan: block %zu lies at %zu of %zu bytes", i,
                           a->offset, total);
        for (size_t k = 0; k < i; k++) {
            const sk_plan_block *b = &blocks[k];
            if (b->bytes && alive_together(a, b) && a->offset < b->offset + b->bytes &&
                b->offset < a->offset + a->bytes)
                return sk_fail(err, SK_ERR_INTERNAL, "memory plan: blocks %zu and %zu overlap", k, i);
        }
    }
    return SK_OK;
}
