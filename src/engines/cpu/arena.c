/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include "graph/memory_plan.h"

#include <string.h>

/* Places for buffers in one arena, by lifetime only: what is not alive at the same time may share bytes, whatever its
 * geometry. A buffer with a border whose place somebody else writes, other than at the same pixels, has its border
 * cleared in the step that begins it: writing the inside and clearing the border touch different bytes, so both are
 * shares of one step and nobody waits once more. */

#define LINE 64

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
    if (b->plane * b->size % 4096 == 0)
        b->plane += 4 * SK_BLOCK;
    b->image = b->plane * b->blocks;
}

static size_t buffer_bytes(const cpu_buffer *b)
{
    return b->blocked ? (size_t)b->n * (size_t)b->image * (size_t)b->size : b->bytes;
}

static bool has_border(const cpu_buffer *b)
{
    return b->blocked && (b->border[0] > 0 || b->border[1] > 0 || b->border[2] > 0 || b->border[3] > 0);
}

/* Do two buffers in overlapping places have their borders in the same places? Then neither ever writes the other's. */
static bool same_pixels(const cpu_buffer *a, const cpu_buffer *b)
{
    if (!a->blocked || !b->blocked || a->h != b->h || a->w != b->w || a->size != b->size ||
        a->border_byte != b->border_byte || memcmp(a->border, b->border, sizeof a->border) != 0)
        return false;
    size_t apart = a->offset > b->offset ? a->offset - b->offset : b->offset - a->offset;
    return apart % ((size_t)a->plane * (size_t)a->size) == 0;
}

static bool is_placed(const cpu_buffer *b)
{
    return b->parent < 0 && b->last >= 0;
}

static bool border_is_written(const cpu_plan *plan, const cpu_buffer *b)
{
    if (b->border_byte) /* the arena begins as zeros */
        return true;
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const cpu_buffer *c = &plan->buffers[i];
        if (c != b && is_placed(c) && c->offset < b->offset + buffer_bytes(b) &&
            b->offset < c->offset + buffer_bytes(c) && !same_pixels(b, c))
            return true;
    }
    return false;
}

/* Gives each step the list of the buffers that begin there and have a border to clear. */
static sk_status list_borders(cpu_plan *plan, sk_error *err)
{
    for (size_t i = 0; i < plan->n_buffers; i++) {
        const cpu_buffer *b = &plan->buffers[i];
        if (!is_placed(b) || !has_border(b) || !border_is_written(plan, b))
            continue;
        cpu_border *border = sk_arena_alloc(plan->arena, sizeof *border);
        if (!border)
            return sk_fail_memory(err, sizeof *border);
        border->buffer = (int32_t)i;
        border->next = plan->steps[b->first].borders;
        plan->steps[b->first].borders = border;
    }
    return SK_OK;
}

void cpu_clear_borders(const cpu_plan *plan, const cpu_step *step, int32_t part, int32_t parts)
{
    for (const cpu_border *at = step->borders; at; at = at->next) {
        const cpu_buffer *b = &plan->buffers[at->buffer];
        const size_t row = (size_t)(b->row * b->size), pixel = (size_t)(SK_BLOCK * b->size);
        const size_t left = (size_t)b->border[1] * pixel, right = (size_t)b->border[3] * pixel;
        int64_t from, to;
        sk_pool_split((int64_t)b->n * b->blocks, 1, part, parts, &from, &to);
        for (int64_t k = from; k < to; k++) {
            uint8_t *plane = plan->memory + b->offset + k * b->plane * b->size;
            uint8_t *inside = plane + (size_t)b->border[0] * row, *below = inside + (size_t)b->h * row;
            memset(plane, b->border_byte, (size_t)b->border[0] * row);
            memset(below, b->border_byte, (size_t)b->border[2] * row);
            for (int32_t y = 0; y < b->h; y++, inside += row) {
                memset(inside, b->border_byte, left);
                memset(inside + row - right, b->border_byte, right);
            }
        }
    }
}

sk_status cpu_place_buffers(cpu_plan *plan, sk_error *err)
{
    sk_status status = SK_OK;
    size_t count = 0;
    sk_plan_block *blocks = sk_calloc(plan->n_buffers + 1, sizeof *blocks);
    if (!blocks)
        return sk_fail_memory(err, plan->n_buffers * sizeof *blocks);
    find_lifetimes(plan);
    for (size_t i = 0; i < plan->n_buffers; i++) {
        cpu_buffer *b = &plan->buffers[i];
        if (!is_placed(b))
            continue;
        if (b->blocked)
            set_strides(b);
        blocks[count++] =
            (sk_plan_block){.bytes = buffer_bytes(b), .alignment = LINE, .first = b->first, .last = b->last};
    }
    SK_TRY_GOTO(sk_memory_plan(blocks, count, &plan->memory_bytes, err));
    count = 0;
    for (size_t i = 0; i < plan->n_buffers; i++)
        if (is_placed(&plan->buffers[i]))
            plan->buffers[i].offset = blocks[count++].offset;
    SK_TRY_GOTO(list_borders(plan, err));
done:
    sk_free(blocks);
    return status;
}
