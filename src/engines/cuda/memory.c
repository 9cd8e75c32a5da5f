/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include <string.h>

/* Which steps must wait for which, where buffers lie so that independent steps never share memory, and on which stream of
 * the capture each step runs. Steps are in an order that works one after the other; branches that do not depend on each
 * other run side by side. */

enum { ALIGN = 256, MANY = 4096 /* above so many steps everything runs one after the other */ };

typedef struct order {
    gpu_plan *plan;
    size_t n, words;
    uint64_t *before; /* [n][words]: bit j of row i: step j is finished before step i begins */
    bool serial;
} order;

static bool comes_before(const order *o, size_t j, size_t i)
{
    return o->serial ? j < i : (o->before[i * o->words + j / 64] >> (j % 64) & 1) != 0;
}

static bool overlap(const gpu_ref *a, const gpu_ref *b)
{
    if (a->buffer < 0 || a->buffer != b->buffer)
        return false;
    if (a->to == 0 || b->to == 0)
        return true;
    return a->from < b->to && b->from < a->to;
}

/* Reference k of a step is written? Pool chains write three, steps by the reference executor are looked at as a whole. */
static bool writes(const gpu_step *step, int32_t k)
{
    return k == 0 || (step->kind == GPU_POOL_CHAIN && k >= 2);
}

/* Steps by the reference executor touch the dense buffers of their node's values. */
static bool touches_buffer(const gpu_plan *plan, const gpu_step *step, int32_t buffer)
{
    for (int32_t i = 0; i < step->node->n_in; i++)
        if (step->node->in[i] != SK_VALUE_NONE && plan->values[step->node->in[i]].dense == buffer)
            return true;
    for (int32_t i = 0; i < step->node->n_out; i++)
        if (plan->values[step->node->out[i]].dense == buffer)
            return true;
    return false;
}

static bool conflict(const gpu_plan *plan, const gpu_step *a, const gpu_step *b)
{
    if (a->kind == GPU_BY_REFERENCE || b->kind == GPU_BY_REFERENCE)
        return true; /* the host is one thread: in order */
    (void)plan;
    for (int32_t i = 0; i < a->n_refs; i++)
        for (int32_t k = 0; k < b->n_refs; k++)
            if ((writes(a, i) || writes(b, k)) && overlap(&a->refs[i], &b->refs[k]))
                return true;
    return false;
}

/* Dependencies by what is read and written; only those not implied by others are kept. */
static sk_status find_order(order *o, sk_error *err)
{
    gpu_plan *plan = o->plan;
    int32_t found[64];
    o->n = plan->n_steps;
    o->words = (o->n + 63) / 64;
    o->serial = o->n > MANY || plan->n_by_reference > 0;
    if (o->serial)
        return SK_OK;
    o->before = sk_calloc(o->n * o->words + 1, sizeof *o->before);
    if (!o->before)
        return sk_fail_memory(err, o->n * o->words * sizeof *o->before);
    for (size_t i = 0; i < o->n; i++) {
        gpu_step *step = &plan->steps[i];
        int32_t count = 0;
        for (size_t back = 1; back <= i; back++) {
            const size_t j = i - back;
            if (comes_before(o, j, i) || !conflict(plan, &plan->steps[j], step))
                continue;
            for (size_t w = 0; w < o->words; w++)
                o->before[i * o->words + w] |= o->before[j * o->words + w];
            o->before[i * o->words + j / 64] |= (uint64_t)1 << (j % 64);
            if (count < 64)
                found[count] = (int32_t)j;
            count++;
        }
        if (count > 64)
            return sk_fail(err, SK_ERR_LIMIT, "%s depends on %d other steps", step->name, count);
        step->n_after = count;
        step->after = sk_arena_alloc(plan->arena, ((size_t)count + 1) * sizeof *step->after);
        if (!step->after)
            return sk_fail_memory(err, sizeof *step->after);
        memcpy(step->after, found, (size_t)count * sizeof *found);
    }
    return SK_OK;
}

/* --- memory --- */

typedef struct life {
    int32_t buffer;
    size_t bytes;
    int32_t n_users, *users; /* steps, in order */
} life;

/* May b lie where a lay? Every step that touches a must be over before the first that touches b begins. */
static bool follows(const order *o, const life *a, const life *b)
{
    for (int32_t k = 0; k < b->n_users; k++)
        for (int32_t i = 0; i < a->n_users; i++)
            if (!comes_before(o, (size_t)a->users[i], (size_t)b->users[k]))
                return false;
    return true;
}

static bool uses_buffer(const gpu_plan *plan, const gpu_step *step, int32_t buffer)
{
    if (step->kind == GPU_BY_REFERENCE)
        return touches_buffer(plan, step, buffer);
    for (int32_t k = 0; k < step->n_refs; k++)
        if (step->refs[k].buffer == buffer)
            return true;
    return false;
}

static sk_status find_lives(const order *o, life *lives, size_t *count, sk_error *err)
{
    gpu_plan *plan = o->plan;
    for (size_t b = 0; b < plan->n_buffers; b++) {
        if (plan->buffers[b].per_slot)
            continue;
        life *l = &lives[(*count)++];
        *l = (life){.buffer = (int32_t)b, .bytes = (plan->buffers[b].bytes + ALIGN - 1) / ALIGN * ALIGN};
        for (int pass = 0; pass < 2; pass++) {
            int32_t n = 0;
            for (size_t i = 0; i < plan->n_steps; i++)
                if (uses_buffer(plan, &plan->steps[i], (int32_t)b)) {
                    if (pass == 1)
                        l->users[n] = (int32_t)i;
                    n++;
                }
            l->n_users = n;
            if (pass == 0) {
                l->users = sk_arena_alloc(plan->arena, ((size_t)n + 1) * sizeof *l->users);
                if (!l->users)
                    return sk_fail_memory(err, sizeof *l->users);
            }
        }
    }
    return SK_OK;
}

/* The lowest place where nothing alive at the same time lies. */
static size_t find_place(const order *o, const life *placed, size_t n, const life *l)
{
    const gpu_buffer *buffers = o->plan->buffers;
    size_t at = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < n; i++) {
            const size_t from = buffers[placed[i].buffer].offset, to = from + placed[i].bytes;
            if (at < to && from < at + l->bytes && !follows(o, &placed[i], l) && !follows(o, l, &placed[i])) {
                at = to;
                moved = true;
            }
        }
    }
    return at;
}

static sk_status place_buffers(const order *o, sk_error *err)
{
    gpu_plan *plan = o->plan;
    life *lives = sk_calloc(plan->n_buffers + 1, sizeof *lives);
    size_t n = 0;
    if (!lives)
        return sk_fail_memory(err, plan->n_buffers * sizeof *lives);
    sk_status status = find_lives(o, lives, &n, err);
    for (size_t i = 0; status == SK_OK && i < n; i++) { /* largest first; few hundred: selection is enough */
        size_t largest = i;
        for (size_t k = i + 1; k < n; k++)
            if (lives[k].bytes > lives[largest].bytes)
                largest = k;
        const life swap = lives[i];
        lives[i] = lives[largest];
        lives[largest] = swap;
        const size_t at = find_place(o, lives, i, &lives[i]);
        plan->buffers[lives[i].buffer].offset = at;
        if (at + lives[i].bytes > plan->memory_bytes)
            plan->memory_bytes = at + lives[i].bytes;
    }
    for (size_t b = 0; b < plan->n_buffers; b++)
        if (plan->buffers[b].per_slot) {
            plan->buffers[b].offset = plan->slot_bytes;
            plan->slot_bytes += (plan->buffers[b].bytes + ALIGN - 1) / ALIGN * ALIGN;
        }
    sk_free(lives);
    return status;
}

/* --- streams --- */

/* A step goes on where one of its dependencies was the last; else on a stream whose last step it need not wait for long:
 * any free one. Continuing the latest dependency keeps chains together. */
static void choose_streams(const order *o)
{
    gpu_plan *plan = o->plan;
    int32_t last[GPU_MAX_STREAMS];
    plan->n_streams = 1;
    for (int i = 0; i < GPU_MAX_STREAMS; i++)
        last[i] = -1;
    for (size_t i = 0; i < o->n; i++) {
        gpu_step *step = &plan->steps[i];
        int32_t stream = -1;
        if (o->serial) {
            step->stream = 0;
            step->chained =
                i > 0 && step->kind != GPU_BY_REFERENCE && plan->steps[i - 1].kind != GPU_BY_REFERENCE;
            continue;
        }
        for (int32_t k = 0; k < step->n_after && stream < 0; k++) { /* latest first */
            const int32_t s = plan->steps[step->after[k]].stream;
            if (last[s] == step->after[k])
                stream = s;
        }
        for (int32_t s = 0; s < GPU_MAX_STREAMS && stream < 0;
             s++) /* one that is over for this step anyway */
            if (last[s] < 0 || comes_before(o, (size_t)last[s], i))
                stream = s;
        if (stream < 0) { /* more branches than streams: behind something unrelated, which is only slower */
            stream = (int32_t)(i % GPU_MAX_STREAMS);
        }
        step->stream = stream;
        step->chained = step->n_after == 1 && last[stream] == step->after[0];
        for (int32_t k = 0; k < step->n_after; k++)
            if (plan->steps[step->after[k]].stream != stream)
                plan->steps[step->after[k]].recorded = 1;
        last[stream] = (int32_t)i;
        if (stream + 1 > plan->n_streams)
            plan->n_streams = stream + 1;
    }
}

sk_status gpu_order_steps(gpu_plan *plan, sk_error *err)
{
    order o = {.plan = plan};
    sk_status status;
    SK_TRY_GOTO(find_order(&o, err));
    SK_TRY_GOTO(place_buffers(&o, err));
    choose_streams(&o);
done:
    sk_free(o.before);
    return status;
}
