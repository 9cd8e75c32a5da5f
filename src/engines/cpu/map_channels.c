/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include <stdio.h>
#include <string.h>

/* Channels put side by side and taken apart again: ranges of blocks, in f32 or as low forms. */

typedef struct copy_map {
    sk_value from, to;
    int32_t block; /* of `to`, from which on it goes */
    cpu_map in, out;
} copy_map;

static sk_status bind_copy(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    copy_map *c = step->data;
    c->in = cpu_bound_map(plan, c->from);
    c->out = cpu_bound_map(plan, c->to);
    return SK_OK;
}

/* Work is split over (image, block, row). */
static void run_copy(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    (void)frame;
    const copy_map *c = step->data;
    const cpu_map *in = &c->in, *out = &c->out;
    int64_t from, to;
    sk_pool_split((int64_t)in->n * in->blocks * in->h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to; at++) {
        const ptrdiff_t y = at % in->h, b = at / in->h % in->blocks, n = at / in->h / in->blocks;
        memcpy(out->bytes + (n * out->image + (b + c->block) * out->plane + y * out->row) * out->size,
               in->bytes + (n * in->image + b * in->plane + y * in->row) * in->size,
               (size_t)in->w * SK_BLOCK * (size_t)in->size);
    }
}

static sk_status add_copy(cpu_plan *plan, sk_value from, sk_value to, int32_t block, sk_error *err)
{
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof(copy_map), &step, err));
    *(copy_map *)step->data = (copy_map){.from = from, .to = to, .block = block};
    step->run = run_copy;
    step->bind = bind_copy;
    snprintf(step->kernel, sizeof step->kernel, "copy");
    return cpu_step_uses(plan, step, (const sk_value[]){from, to}, 2, NULL, 0, err);
}

bool cpu_all_low(const cpu_plan *plan, const sk_node *node)
{
    if (plan->low == CPU_LOW_NONE)
        return false;
    const cpu_value *first = &plan->values[cpu_low(plan, node->in[0])];
    for (int32_t i = 0; i < node->n_in; i++) {
        const cpu_value *v = &plan->values[cpu_low(plan, node->in[i])];
        if (v->map < 0 || v->scale != first->scale || v->zero != first->zero)
            return false;
    }
    return true;
}

/* The form of `in` and `out` a node is built on: low where its data input is. */
static sk_value form_of(const cpu_plan *plan, sk_value v, bool low)
{
    return low ? cpu_low(plan, v) : v;
}

static bool can_concat(const cpu_plan *plan, const sk_node *node)
{
    const int32_t axis = node->a.axis < 0 ? node->a.axis + 4 : node->a.axis;
    bool any = false;
    if (axis != 1 || !cpu_can_block(plan, node->out[0]) || node->n_in > 64)
        return false;
    for (int32_t i = 0; i < node->n_in; i++) {
        if (!cpu_can_block(plan, node->in[i]))
            return false;
        any |= plan->values[node->in[i]].map >= 0 || plan->values[cpu_low(plan, node->in[i])].map >= 0;
    }
    return any;
}

sk_status cpu_build_concat(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = can_concat(plan, node);
    if (!*done)
        return SK_OK;
    bool low = cpu_all_low(plan, node);
    for (int32_t i = 0; i < node->n_in && plan->low == CPU_LOW_BF16; i++) /* one in bf16: all of them */
        low |= plan->values[cpu_low(plan, node->in[i])].map >= 0;
    const sk_value y = form_of(plan, node->out[0], low);
    sk_value parts[64];
    int32_t blocks = 0;
    for (int32_t i = 0; i < node->n_in; i++) {
        parts[i] = form_of(plan, node->in[i], low);
        if (low && plan->low == CPU_LOW_BF16)
            SK_TRY(cpu_need_low_bf16(plan, node->in[i], err));
        SK_TRY(cpu_need_blocked(plan, parts[i], err));
        blocks += plan->values[parts[i]].blocks;
    }
    uint8_t *fill = sk_arena_alloc(plan->arena, (size_t)blocks + 1);
    if (!fill)
        return sk_fail_memory(err, (size_t)blocks);
    plan->values[y].scale = plan->values[parts[0]].scale;
    plan->values[y].zero = plan->values[parts[0]].zero;
    SK_TRY(cpu_make_blocked(plan, y, err));
    plan->values[y].fill = fill;
    plan->values[y].blocks = blocks;
    plan->buffers[plan->values[y].map].blocks = blocks;
    for (int32_t i = 0, at = 0; i < node->n_in; at += plan->values[parts[i]].blocks, i++)
        memcpy(fill + at, plan->values[parts[i]].fill, (size_t)plan->values[parts[i]].blocks);
    bool copied[64];
    cpu_merge_parts(plan, y, parts, node->n_in, copied);
    for (int32_t i = 0, at = 0; i < node->n_in; at += plan->values[parts[i]].blocks, i++)
        if (copied[i])
            SK_TRY(add_copy(plan, parts[i], y, at, err));
    return SK_OK;
}

/* Channels [start, end) of x as a range of its blocks; false when they do not lie on block boundaries. */
static bool block_range(const cpu_value *x, int64_t start, int64_t end, int32_t *b0, int32_t *b1)
{
    int64_t at = 0;
    *b0 = *b1 = -1;
    for (int32_t b = 0; b <= x->blocks; b++) {
        if (at == start && *b0 < 0)
            *b0 = b;
        if (at == end && *b1 < 0)
            *b1 = b;
        at += b < x->blocks ? x->fill[b] : 0;
    }
    return *b0 >= 0 && *b1 > *b0;
}

static void make_view(cpu_plan *plan, sk_value y, sk_value x, int32_t b0, int32_t b1)
{
    const cpu_value *from = &plan->values[x];
    cpu_value *to = &plan->values[y];
    to->map = from->map;
    to->block = from->block + b0;
    to->blocks = b1 - b0;
    to->fill = from->fill + b0;
    to->scale = from->scale;
    to->zero = from->zero;
}

/* Has x a low form? Then views are of that; its f32 form, where there is one, was made for somebody else. */
static bool view_low(const cpu_plan *plan, sk_value x)
{
    return plan->low != CPU_LOW_NONE && plan->values[cpu_low(plan, x)].map >= 0;
}

void cpu_build_split(cpu_plan *plan, const sk_node *node, bool *done)
{
    const bool low = view_low(plan, node->in[0]);
    const sk_value x = form_of(plan, node->in[0], low);
    int32_t axis = node->a.split.axis < 0 ? node->a.split.axis + 4 : node->a.split.axis, b0, b1;
    *done = false;
    if (axis != 1 || plan->values[x].map < 0)
        return;
    int64_t at = 0;
    for (int32_t i = 0; i < node->n_out; at += cpu_shape(plan, node->out[i])->dim[1], i++)
        if (!block_range(&plan->values[x], at, at + cpu_shape(plan, node->out[i])->dim[1], &b0, &b1))
            return;
    *done = true;
    at = 0;
    for (int32_t i = 0; i < node->n_out; at += cpu_shape(plan, node->out[i])->dim[1], i++) {
        block_range(&plan->values[x], at, at + cpu_shape(plan, node->out[i])->dim[1], &b0, &b1);
        make_view(plan, form_of(plan, node->out[i], low), x, b0, b1);
    }
}

/* The single constant of a slice input; false when it is not one constant number. */
static bool single_constant(const cpu_plan *plan, const sk_node *node, int32_t i, int64_t otherwise,
                            int64_t *out)
{
    *out = otherwise;
    if (i >= node->n_in || node->in[i] == SK_VALUE_NONE)
        return true;
    if (!sk_value_is_constant(plan->graph, node->in[i]) || sk_shape_count(cpu_shape(plan, node->in[i])) != 1)
        return false;
    sk_tensor t = sk_value_tensor(plan->graph, node->in[i]);
    *out = sk_tensor_int_at(&t, 0);
    return true;
}

void cpu_build_slice(cpu_plan *plan, const sk_node *node, bool *done)
{
    const bool low = view_low(plan, node->in[0]);
    const sk_value x = form_of(plan, node->in[0], low), y = form_of(plan, node->out[0], low);
    int64_t start, end, axis, step, channels = cpu_shape(plan, x)->dim[1];
    int32_t b0, b1;
    *done = false;
    if (plan->values[x].map < 0 || !single_constant(plan, node, 1, 0, &start) ||
        !single_constant(plan, node, 2, 0, &end) || !single_constant(plan, node, 3, 0, &axis) ||
        !single_constant(plan, node, 4, 1, &step))
        return;
    axis += axis < 0 ? 4 : 0;
    start += start < 0 ? channels : 0;
    if (axis != 1 || step != 1 || start < 0 ||
        !block_range(&plan->values[x], start, start + cpu_shape(plan, y)->dim[1], &b0, &b1))
        return;
    *done = true;
    make_view(plan, y, x, b0, b1);
}
