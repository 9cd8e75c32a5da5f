/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/plan.h"

#include <string.h>

/* Which buffers hold a value, in which form. */

static sk_status new_buffer(cpu_plan *plan, const cpu_buffer *what, int32_t *out, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&plan->buffers, &plan->buffers_capacity, plan->n_buffers + 1,
                            sizeof plan->buffers[0], SK_GRAPH_MAX_VALUES, err));
    *out = (int32_t)plan->n_buffers;
    plan->buffers[plan->n_buffers] = *what;
    plan->buffers[plan->n_buffers].parent = -1;
    plan->n_buffers++;
    return SK_OK;
}

sk_status cpu_new_map(cpu_plan *plan, int32_t n, int32_t blocks, int32_t h, int32_t w, int32_t *out,
                      sk_error *err)
{
    const cpu_buffer map = {
        .blocked = true, .n = n, .blocks = blocks, .h = h, .w = w, .size = (int32_t)sizeof(float)};
    return new_buffer(plan, &map, out, err);
}

sk_status cpu_new_dense(cpu_plan *plan, size_t bytes, int32_t *out, sk_error *err)
{
    return new_buffer(plan, &(cpu_buffer){.bytes = bytes}, out, err);
}

bool cpu_can_block(const cpu_plan *plan, sk_value v)
{
    const sk_value_info *info = &plan->graph->values[v];
    if (info->dtype != SK_DTYPE_F32 || info->shape.rank != 4)
        return false;
    for (int i = 0; i < 4; i++)
        if (info->shape.dim[i] < 1 || info->shape.dim[i] > (1 << 20))
            return false;
    return true;
}

sk_status cpu_make_blocked(cpu_plan *plan, sk_value v, sk_error *err)
{
    const int64_t *d = cpu_shape(plan, v)->dim;
    cpu_value *value = &plan->values[v];
    value->blocks = cpu_blocks(d[1]);
    value->block = 0;
    uint8_t *fill = sk_arena_alloc(plan->arena, (size_t)value->blocks + 1);
    if (!fill)
        return sk_fail_memory(err, (size_t)value->blocks);
    memset(fill, SK_BLOCK, (size_t)value->blocks);
    if (d[1] % SK_BLOCK)
        fill[value->blocks - 1] = (uint8_t)(d[1] % SK_BLOCK);
    value->fill = fill;
    SK_TRY(cpu_new_map(plan, (int32_t)d[0], value->blocks, (int32_t)d[2], (int32_t)d[3], &value->map, err));
    if (cpu_is_low(plan, v)) {
        plan->buffers[value->map].size = plan->low == CPU_LOW_U8 ? 1 : 2;
        plan->buffers[value->map].border_byte = (uint8_t)value->zero;
    }
    return SK_OK;
}

sk_status cpu_make_like(cpu_plan *plan, sk_value v, sk_value a, sk_error *err)
{
    SK_TRY(cpu_make_blocked(plan, v, err));
    plan->values[v].fill = plan->values[a].fill;
    plan->values[v].blocks = plan->values[a].blocks;
    plan->buffers[plan->values[v].map].blocks = plan->values[a].blocks;
    return SK_OK;
}

sk_status cpu_make_dense(cpu_plan *plan, sk_value v, sk_error *err)
{
    const sk_value_info *info = &plan->graph->values[v];
    int64_t count = sk_shape_count(&info->shape);
    if (count < 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: the size of its result depends on the data",
                       plan->node_name);
    size_t bytes;
    if (!sk_mul_size((size_t)count, sk_dtype_bytes(info->dtype), &bytes))
        return sk_fail(err, SK_ERR_LIMIT, "%s: the result is too large", plan->node_name);
    return cpu_new_dense(plan, bytes ? bytes : 1, &plan->values[v].dense, err);
}

static bool has_dense(const cpu_value *v)
{
    return v->dense >= 0 || v->constant || v->input >= 0;
}

sk_status cpu_need_blocked(cpu_plan *plan, sk_value v, sk_error *err)
{
    if (plan->values[v].map >= 0)
        return SK_OK;
    if (!cpu_is_low(plan, v) && plan->values[cpu_low(plan, v)].map >= 0)
        return cpu_add_raise(plan, v, err);
    if (!has_dense(&plan->values[v]))
        return sk_fail(err, SK_ERR_INTERNAL, "%s: its input was not made yet", plan->node_name);
    SK_TRY(cpu_make_blocked(plan, v, err));
    return cpu_add_to_blocked(plan, v, err);
}

sk_status cpu_need_dense(cpu_plan *plan, sk_value v, sk_error *err)
{
    if (has_dense(&plan->values[v]))
        return SK_OK;
    if (plan->values[v].map < 0 && plan->values[cpu_low(plan, v)].map >= 0)
        SK_TRY(cpu_add_raise(plan, v, err));
    else if (plan->values[v].map < 0 && plan->low == CPU_LOW_U8 && cpu_is_weights(plan, v))
        return cpu_fold_weights(plan, v, err); /* of a convolution that is nobody's here */
    if (plan->values[v].map < 0)
        return sk_fail(err, SK_ERR_INTERNAL, "%s: its input was not made yet", plan->node_name);
    SK_TRY(cpu_make_dense(plan, v, err));
    return cpu_add_from_blocked(plan, v, err);
}

bool cpu_same_fill(const cpu_value *a, const cpu_value *b)
{
    return a->blocks == b->blocks && memcmp(a->fill, b->fill, (size_t)a->blocks) == 0;
}

bool cpu_usual_fill(const cpu_value *v)
{
    for (int32_t b = 0; b + 1 < v->blocks; b++)
        if (v->fill[b] != SK_BLOCK)
            return false;
    return true;
}

/* The buffer that stands alone, and where `block` of `map` lies in it. */
static int32_t find_root(const cpu_plan *plan, int32_t map, int32_t *block)
{
    while (plan->buffers[map].parent >= 0) {
        *block += plan->buffers[map].delta;
        map = plan->buffers[map].parent;
    }
    return map;
}

static void widen_border(cpu_buffer *buffer, const int32_t border[4])
{
    for (int i = 0; i < 4; i++)
        if (buffer->border[i] < border[i])
            buffer->border[i] = border[i];
}

void cpu_need_border(cpu_plan *plan, sk_value v, const int32_t border[4])
{
    int32_t block = 0;
    widen_border(&plan->buffers[find_root(plan, plan->values[v].map, &block)], border);
}

/* Would every block of `root`, moved by `delta`, land where the concatenation wants exactly that block? */
static bool fits_whole(const cpu_plan *plan, const sk_value *parts, int32_t count, int32_t root,
                       int32_t delta)
{
    int32_t covered = 0, at = 0;
    for (int32_t i = 0; i < count; i++) {
        const cpu_value *part = &plan->values[parts[i]];
        int32_t block = part->block;
        if (find_root(plan, part->map, &block) == root && block + delta == at)
            covered += part->blocks;
        at += part->blocks;
    }
    return covered == plan->buffers[root].blocks;
}

void cpu_merge_parts(cpu_plan *plan, sk_value whole, const sk_value *parts, int32_t count, bool *copied)
{
    int32_t target = plan->values[whole].map, at = 0;
    for (int32_t i = 0; i < count; i++) {
        const cpu_value *part = &plan->values[parts[i]];
        int32_t block = part->block, root = find_root(plan, part->map, &block);
        copied[i] = false;
        if (root == target) {
            copied[i] = block != at;
        } else if (fits_whole(plan, parts, count, root, at - block)) {
            plan->buffers[root].parent = target;
            plan->buffers[root].delta = at - block;
            widen_border(&plan->buffers[target], plan->buffers[root].border);
        } else {
            copied[i] = true;
        }
        at += part->blocks;
    }
}

cpu_map cpu_bound_map(const cpu_plan *plan, sk_value v)
{
    const cpu_value *value = &plan->values[v];
    int32_t block = value->block, root = find_root(plan, value->map, &block);
    const cpu_buffer *b = &plan->buffers[root];
    cpu_map map = {.size = b->size,
                   .image = b->image,
                   .plane = b->plane,
                   .row = b->row,
                   .n = b->n,
                   .blocks = value->blocks,
                   .h = b->h,
                   .w = b->w,
                   .fill = value->fill};
    map.bytes = plan->memory + b->offset +
                (block * b->plane + b->border[0] * b->row + b->border[1] * SK_BLOCK) * b->size;
    map.data = (float *)(void *)map.bytes;
    return map;
}

void *cpu_bound_dense(const cpu_plan *plan, const cpu_frame *frame, sk_value v)
{
    const cpu_value *value = &plan->values[v];
    if (value->constant)
        return (void *)(uintptr_t)value->constant;
    if (value->dense >= 0)
        return plan->memory + plan->buffers[value->dense].offset;
    return (void *)(uintptr_t)frame->inputs[value->input].data;
}
