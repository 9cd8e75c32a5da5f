/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/map_ops.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Operations on blocked maps other than convolutions. Work is split over (image, block, row) of the output. */

static void run_unary(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const map_op *op = step->data;
    int64_t at, to;
    share(&op->out, 1, part, parts, &at, &to);
    for (rows r; next_rows(&op->out, 1, &at, to, &r);)
        for (int32_t y = r.y; y < r.y + r.count; y++)
            frame->plan->kernels.unary(row_at(&op->in, &r, y), row_at(&op->out, &r, y),
                                       (size_t)op->out.w * SK_BLOCK, &op->act);
}

static void run_binary(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const map_op *op = step->data;
    const sk_kernels_f32 *k = &frame->plan->kernels;
    const bool single = op->other.data && op->other.h == 1 && op->other.w == 1; /* one value a channel */
    int64_t at, to;
    share(&op->out, 1, part, parts, &at, &to);
    for (rows r; next_rows(&op->out, 1, &at, to, &r);) {
        const float *spread = op->spread ? op->spread + r.b * SK_BLOCK
                              : single   ? row_at(&op->other, &r, 0)
                                         : NULL;
        for (int32_t y = r.y; y < r.y + r.count; y++) {
            const float *a = row_at(&op->in, &r, y);
            float *out = row_at(&op->out, &r, y);
            size_t count = (size_t)op->out.w * SK_BLOCK;
            if (spread)
                k->binary16(op->kind, a, spread, out, count, op->flip);
            else
                k->binary(op->kind, a, row_at(&op->other, &r, y), out, count);
        }
    }
}

static void run_resize(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const map_op *op = step->data;
    const sk_kernels_f32 *k = &frame->plan->kernels;
    const int32_t grain = op->doubled ? 2 : 1;
    int64_t at, to;
    share(&op->out, grain, part, parts, &at, &to);
    for (rows r; next_rows(&op->out, grain, &at, to, &r);)
        for (int32_t y = r.y; y < r.y + r.count; y += grain) {
            float *out = row_at(&op->out, &r, y);
            const float *top = row_at(&op->in, &r, op->row0[y]);
            if (op->doubled) {
                k->upsample2(top, out, out + op->out.row, op->in.w);
            } else if (op->row1) {
                sk_bilinear_f32c16 p = {.top = top,
                                        .bottom = row_at(&op->in, &r, op->row1[y]),
                                        .weight_bottom = op->row_weight[y],
                                        .left = op->column0,
                                        .right = op->column1,
                                        .weight_right = op->column_weight,
                                        .out = out,
                                        .width = op->out.w};
                k->bilinear(&p);
            } else {
                for (int32_t x = 0; x < op->out.w; x++)
                    memcpy(out + x * SK_BLOCK, top + op->column0[x] * SK_BLOCK, SK_BLOCK * sizeof(float));
            }
        }
}

/* Nearest, of low forms: pixels are moved as they are. */
static void run_resize_low(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    (void)frame;
    const map_op *op = step->data;
    const cpu_map *in = &op->in, *out = &op->out;
    int64_t at, to;
    share(out, 1, part, parts, &at, &to);
    for (rows r; next_rows(out, 1, &at, to, &r);)
        for (int32_t y = r.y; y < r.y + r.count; y++) {
            const size_t pixel = (size_t)(SK_BLOCK * out->size);
            uint8_t *line = out->bytes + (r.n * out->image + r.b * out->plane + y * out->row) * out->size;
            const uint8_t *from =
                in->bytes + (r.n * in->image + r.b * in->plane + op->row0[y] * in->row) * in->size;
            for (int32_t x = 0; x < out->w; x++)
                memcpy(line + (size_t)x * pixel, from + (size_t)op->column0[x] * pixel, pixel);
        }
}

static sk_status bind_op(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    (void)err;
    map_op *op = step->data;
    op->in = cpu_bound_map(plan, op->a);
    op->out = cpu_bound_map(plan, op->y);
    if (op->b != SK_VALUE_NONE)
        op->other = cpu_bound_map(plan, op->b);
    op->pool.in_row = op->in.row;
    op->pool.out_row = op->out.row;
    return SK_OK;
}

sk_status cpu_add_map_op(cpu_plan *plan, const map_op *filled,
                         void (*run)(const cpu_step *, const cpu_frame *, int32_t, int32_t),
                         const char *kernel, sk_error *err)
{
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof *filled, &step, err));
    *(map_op *)step->data = *filled;
    step->run = run;
    step->bind = bind_op;
    snprintf(step->kernel, sizeof step->kernel, "%s %s", kernel, plan->kernels.isa);
    const int64_t *d = cpu_shape(plan, filled->y)->dim;
    snprintf(step->shape, sizeof step->shape, "%d %dx%d", (int)d[1], (int)d[2], (int)d[3]);
    sk_value maps[3] = {filled->a, filled->y, filled->b};
    return cpu_step_uses(plan, step, maps, filled->b == SK_VALUE_NONE ? 2 : 3, NULL, 0, err);
}

bool cpu_low_input(cpu_plan *plan, const sk_node *node, sk_value *x, sk_value *y)
{
    const cpu_value *in = &plan->values[cpu_low(plan, node->in[0])];
    if (plan->low == CPU_LOW_NONE || in->map < 0)
        return false;
    *x = cpu_low(plan, node->in[0]);
    *y = cpu_low(plan, node->out[0]);
    plan->values[*y].scale = in->scale;
    plan->values[*y].zero = in->zero;
    return true;
}

static bool is_global(const cpu_plan *plan, const sk_node *node)
{
    if (node->op != SK_OP_REDUCE ||
        (node->a.reduce.kind != SK_REDUCE_MEAN && node->a.reduce.kind != SK_REDUCE_MAX) ||
        !node->a.reduce.keep_dims || node->a.reduce.n_axes != 2 || plan->values[node->in[0]].map < 0)
        return false;
    int a = node->a.reduce.axes[0], b = node->a.reduce.axes[1];
    a += a < 0 ? 4 : 0;
    b += b < 0 ? 4 : 0;
    return a + b == 5; /* 2 and 3: no other two of four */
}

/* --- resize --- */

static double source_at(sk_resize_coords coords, int64_t i, double scale, int64_t in, int64_t out)
{
    switch (coords) {
    case SK_COORDS_ASYMMETRIC: return (double)i / scale;
    case SK_COORDS_ALIGN_CORNERS: return out > 1 ? (double)i * (double)(in - 1) / (double)(out - 1) : 0.0;
    case SK_COORDS_PYTORCH_HALF_PIXEL: return out > 1 ? ((double)i + 0.5) / scale - 0.5 : 0.0;
    case SK_COORDS_HALF_PIXEL: break;
    }
    return ((double)i + 0.5) / scale - 0.5;
}

static int64_t round_source(sk_resize_round round, double at)
{
    switch (round) {
    case SK_ROUND_PREFER_FLOOR: return (int64_t)ceil(at - 0.5);
    case SK_ROUND_PREFER_CEIL: return (int64_t)floor(at + 0.5);
    case SK_ROUND_CEIL: return (int64_t)ceil(at);
    case SK_ROUND_FLOOR: break;
    }
    return (int64_t)floor(at);
}

static int32_t clamp_index(int64_t i, int64_t size)
{
    return (int32_t)(i < 0 ? 0 : i >= size ? size - 1 : i);
}

/* Source indices along one axis; second and weight are null for nearest. */
static void resize_axis(const sk_node *node, int64_t in, int64_t out, double scale, int32_t *first,
                        int32_t *second, float *weight)
{
    for (int64_t i = 0; i < out; i++) {
        double at = source_at(node->a.resize.coords, i, scale, in, out);
        if (!second) {
            first[i] = clamp_index(round_source(node->a.resize.round, at), in);
            continue;
        }
        double clamped = at < 0 ? 0 : at > (double)(in - 1) ? (double)(in - 1) : at;
        first[i] = clamp_index((int64_t)floor(clamped), in);
        second[i] = clamp_index(first[i] + 1, in);
        weight[i] = (float)(clamped - first[i]);
    }
}

static bool can_resize(const cpu_plan *plan, const sk_node *node)
{
    return (node->a.resize.mode == SK_RESIZE_NEAREST || node->a.resize.mode == SK_RESIZE_LINEAR) &&
           !node->a.resize.antialias && cpu_can_block(plan, node->in[0]) && cpu_can_block(plan, node->out[0]);
}

static bool is_doubling(const int32_t *index, int64_t in, int64_t out)
{
    for (int64_t i = 0; i < out; i++)
        if (out != 2 * in || index[i] != i / 2)
            return false;
    return true;
}

static sk_status build_resize(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    sk_value x = node->in[0], y = node->out[0];
    const bool low = node->a.resize.mode == SK_RESIZE_NEAREST && cpu_low_input(plan, node, &x, &y);
    SK_TRY(cpu_need_blocked(plan, x, err));
    SK_TRY(cpu_make_like(plan, y, x, err));
    const int64_t *in = cpu_shape(plan, x)->dim, *out = cpu_shape(plan, y)->dim;
    const bool linear = node->a.resize.mode == SK_RESIZE_LINEAR;
    const bool sizes = node->n_in > 1 && node->in[1] != SK_VALUE_NONE;
    size_t h = (size_t)out[2], w = (size_t)out[3];
    int32_t *index = sk_arena_alloc(plan->arena, 2 * (h + w) * sizeof *index);
    float *weight = sk_arena_alloc(plan->arena, (h + w) * sizeof *weight);
    if (!index || !weight)
        return sk_fail_memory(err, 2 * (h + w) * sizeof *index);
    map_op op = {.a = x, .b = SK_VALUE_NONE, .y = y, .row0 = index, .column0 = index + h};
    if (linear) {
        op.row1 = index + h + w;
        op.column1 = op.row1 + h;
        op.row_weight = weight;
        op.column_weight = weight + h;
    }
    resize_axis(node, in[2], out[2], sizes ? (double)out[2] / (double)in[2] : (double)node->a.resize.scale[0],
                op.row0, op.row1, op.row_weight);
    resize_axis(node, in[3], out[3], sizes ? (double)out[3] / (double)in[3] : (double)node->a.resize.scale[1],
                op.column0, op.column1, op.column_weight);
    op.doubled = !linear && is_doubling(op.row0, in[2], out[2]) && is_doubling(op.column0, in[3], out[3]);
    if (low)
        return cpu_add_map_op(plan, &op, run_resize_low, "resize nearest", err);
    return cpu_add_map_op(plan, &op, run_resize,
                          op.doubled ? "upsample 2x"
                          : linear   ? "resize linear"
                                     : "resize nearest",
                          err);
}

/* --- elementwise --- */

/* A constant with one value a channel, or one in all, spread over the channels of x's blocks; null when it is not. */
static sk_status constant_spread(cpu_plan *plan, sk_value v, sk_value x, const float **out, sk_error *err)
{
    const sk_shape *s = cpu_shape(plan, v);
    const cpu_value *like = &plan->values[x];
    int64_t channels = cpu_shape(plan, x)->dim[1], count = sk_shape_count(s);
    *out = NULL;
    if (!sk_value_is_constant(plan->graph, v) || plan->graph->values[v].dtype != SK_DTYPE_F32)
        return SK_OK;
    bool per_channel = count == channels && s->rank >= 3 && s->dim[s->rank - 1] == 1 &&
                       s->dim[s->rank - 2] == 1 && s->dim[s->rank - 3] == channels;
    if (count != 1 && !per_channel)
        return SK_OK;
    const float *data = sk_value_tensor(plan->graph, v).data;
    float *spread = sk_arena_alloc(plan->arena, (size_t)like->blocks * SK_BLOCK * sizeof *spread);
    if (!spread)
        return sk_fail_memory(err, (size_t)like->blocks * SK_BLOCK * sizeof *spread);
    for (int32_t b = 0, c = 0; b < like->blocks; b++)
        for (int32_t i = 0; i < SK_BLOCK; i++) /* 1 in unused channels: no division by zero there */
            spread[b * SK_BLOCK + i] = i < like->fill[b] ? data[count == 1 ? 0 : c++] : 1.0f;
    *out = spread;
    return SK_OK;
}

static bool binary_known(int32_t kind)
{
    return kind == SK_BINARY_ADD || kind == SK_BINARY_SUB || kind == SK_BINARY_MUL || kind == SK_BINARY_DIV ||
           kind == SK_BINARY_MIN || kind == SK_BINARY_MAX;
}

static sk_status build_binary(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    sk_value a = node->in[0], b = node->in[1], y = node->out[0];
    *done = false;
    if (!binary_known((int32_t)node->a.binary.kind) || !cpu_can_block(plan, y))
        return SK_OK;
    int32_t flip = 0;
    if (plan->values[a].map < 0 || !sk_shape_equal(cpu_shape(plan, a), cpu_shape(plan, y))) {
        sk_value t = a; /* the map first */
        a = b;
        b = t;
        flip = 1;
    }
    if (plan->values[a].map < 0 || !sk_shape_equal(cpu_shape(plan, a), cpu_shape(plan, y)))
        return SK_OK;
    map_op op = {.a = a, .b = SK_VALUE_NONE, .y = y, .kind = (int32_t)node->a.binary.kind, .flip = flip};
    SK_TRY(constant_spread(plan, b, a, &op.spread, err));
    if (!op.spread) {
        if (!cpu_can_block(plan, b) || plan->values[b].map < 0 ||
            !cpu_same_fill(&plan->values[a], &plan->values[b]))
            return SK_OK;
        const sk_shape *bs = cpu_shape(plan, b), *ys = cpu_shape(plan, y);
        bool whole = sk_shape_equal(bs, ys);
        if (!whole && !(bs->dim[0] == ys->dim[0] && bs->dim[2] == 1 && bs->dim[3] == 1))
            return SK_OK;
        op.b = b;
    }
    *done = true;
    SK_TRY(cpu_make_like(plan, y, a, err));
    return cpu_add_map_op(plan, &op, run_binary, sk_binary_name(node->a.binary.kind), err);
}

static sk_status build_unary(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    SK_TRY(cpu_make_like(plan, node->out[0], node->in[0], err));
    map_op op = {.a = node->in[0], .b = SK_VALUE_NONE, .y = node->out[0]};
    op.act = (sk_act_f32){(int32_t)node->a.unary.kind, node->a.unary.alpha, node->a.unary.beta};
    return cpu_add_map_op(plan, &op, run_unary, sk_unary_name(node->a.unary.kind), err);
}

sk_status cpu_build_map_op(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    *done = false;
    if (node->op == SK_OP_UNARY || node->op == SK_OP_BINARY || node->op == SK_OP_REDUCE)
        for (int32_t i = 0; i < node->n_in; i++) /* these know f32 only */
            if (node->in[i] != SK_VALUE_NONE && plan->values[cpu_low(plan, node->in[i])].map >= 0)
                SK_TRY(cpu_need_blocked(plan, node->in[i], err));
    const bool blocked = node->n_in > 0 && node->in[0] != SK_VALUE_NONE && plan->values[node->in[0]].map >= 0;
    switch (node->op) {
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
        if (!cpu_can_block(plan, node->in[0]) || !cpu_can_block(plan, node->out[0]))
            return SK_OK;
        *done = true;
        return cpu_build_pool(plan, node, err);
    case SK_OP_RESIZE:
        if (!can_resize(plan, node))
            return SK_OK;
        *done = true;
        return build_resize(plan, node, err);
    case SK_OP_REDUCE:
        if (!is_global(plan, node))
            return SK_OK;
        *done = true;
        return cpu_build_global(plan, node, err);
    case SK_OP_UNARY:
        if (!blocked || !sk_act_f32_known((int32_t)node->a.unary.kind))
            return SK_OK;
        *done = true;
        return build_unary(plan, node, err);
    case SK_OP_BINARY: return build_binary(plan, node, done, err);
    case SK_OP_CONCAT: return cpu_build_concat(plan, node, done, err);
    case SK_OP_SPLIT: cpu_build_split(plan, node, done); return SK_OK;
    case SK_OP_SLICE: cpu_build_slice(plan, node, done); return SK_OK;
    default: return SK_OK;
    }
}
