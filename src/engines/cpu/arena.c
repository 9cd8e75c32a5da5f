/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include <stdlib.h>
#include <string.h>

/* Places for buffers in one arena. Buffers whose lifetimes do not overlap may share a place. Blocked buffers with the
 * same size and border form a class with a region of its own, counted in whole planes: so a border stays a border.
 * All plain buffers form one class, counted in cache lines. */

#define LINE 64

typedef struct item {
    int32_t buffer;
    size_t units, at; /* planes or lines */
    int32_t first, last;
} item;

static int32_t root_of(const cpu_plan *plan, int32_t b)
{
    while (plan->buffers[b].parent >= 0)
        b = plan->buffers[b].parent;
    return b;
}

static void find_lifetimes(cpu_plan *plan)
{
    for (size_t i = 0; i < plan->n_buffers; i++) {
        plan->buffers[i].first = INT32_MAX;
        plan->buffers[i].last = -1;
    }
    for (size_t s = 0; s < plan->n_steps; s++)
        for (int32_t k = 0; k < plan->steps[s].n_buffers; k++) {
            cpu_buffer *b = &plan->buffers[root_of(plan, plan->steps[s].buffers[k])];
            if (b->first > (int32_t)s)
                b->first = (int32_t)s;
            if (b->last < (int32_t)s)
                b->last = (int32_t)s;
        }
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (plan->buffers[i].keep)
            plan->buffers[root_of(plan, (int32_t)i)].last = INT32_MAX;
}

static void set_strides(cpu_buffer *b)
{
    b->row = (ptrdiff_t)(b->w + b->border[1] + b->border[3]) * SK_BLOCK;
    b->plane = b->row * (b->h + b->border[0] + b->border[2]);
    /* Planes a multiple of 4 KiB apart would fall into the same cache sets. */
    if (b->plane * (ptrdiff_t)sizeof(float) % 4096 == 0)
        b->plane += 4 * SK_BLOCK;
    b->image = b->plane * b->blocks;
}

static bool same_class(const cpu_buffer *a, const cpu_buffer *b)
{
    if (!a->blocked || !b->blocked)
        return a->blocked == b->blocked;
    return a->h == b->h && a->w == b->w && memcmp(a->border, b->border, sizeof a->border) == 0;
}

static int larger_first(const void *x, const void *y)
{
    const item *a = x, *b = y;
    if (a->units != b->units)
        return a->units < b->units ? 1 : -1;
    return a->buffer < b->buffer ? -1 : 1;
}

static bool overlap(const item *a, const item *b)
{
    return a->first <= b->last && b->first <= a->last;
}

/* First fit, largest first: the lowest place where no living neighbour is. Returns units used in all. */
static size_t place_class(item *items, size_t count)
{
    size_t top = 0;
    qsort(items, count, sizeof *items, larger_first);
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t k = 0; k < i; k++)
                if (overlap(&items[i], &items[k]) && at < items[k].at + items[k].units &&
                    items[k].at < at + items[i].units) {
                    at = items[k].at + items[k].units;
                    moved = true;
                }
        }
        items[i].at = at;
        top = at + items[i].units > top ? at + items[i].units : top;
    }
    return top;
}

/* Collects the class of buffer `first` and sets its members' strides. */
static size_t gather_class(cpu_plan *plan, size_t first, item *items, bool *placed)
{
    size_t count = 0;
    for (size_t k = first; k < plan->n_buffers; k++) {
        cpu_buffer *c = &plan->buffers[k];
        if (c->parent >= 0 || c->last < 0 || !same_class(&plan->buffers[first], c))
            continue;
        placed[k] = true;
        if (c->blocked)
            set_strides(c);
        size_t units = c->blocked ? (size_t)c->n * (size_t)c->blocks : (c->bytes + LINE - 1) / LINE;
        items[count++] = (item){.buffer = (int32_t)k, .units = units, .first = c->first, .last = c->last};
    }
    return count;
}

sk_status cpu_place_buffers(cpu_plan *plan, sk_error *err)
{
    sk_status status = SK_OK;
    item *items = sk_calloc(plan->n_buffers + 1, sizeof *items);
    bool *placed = sk_calloc(plan->n_buffers + 1, sizeof *placed);
    if (!items || !placed) {
        status = sk_fail_memory(err, plan->n_buffers * sizeof *items);
        goto done;
    }
    find_lifetimes(plan);
    size_t end = 0;
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const cpu_buffer *b = &plan->buffers[i];
        if (placed[i] || b->parent >= 0 || b->last < 0)
            continue;
        size_t count = gather_class(plan, i, items, placed);
        size_t unit = b->blocked ? (size_t)b->plane * sizeof(float) : LINE;
        size_t used = place_class(items, count);
        for (size_t k = 0; k < count; k++)
            plan->buffers[items[k].buffer].offset = end + items[k].at * unit;
        end += (used * unit + LINE - 1) / LINE * LINE;
    }
    plan->memory_bytes = end;
done:
    sk_free(items);
    sk_free(placed);
    return status;
}
