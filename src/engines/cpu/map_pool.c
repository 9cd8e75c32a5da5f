/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"
#include "engines/cpu/map_ops.h"

/* The largest or the mean under a window. */

static void run_pool(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const map_op *op = step->data;
    sk_pool_f32c16 p = op->pool;
    int64_t at, to;
    share(&op->out, 1, part, parts, &at, &to);
    for (rows r; next_rows(&op->out, 1, &at, to, &r);) {
        p.in = row_at(&op->in, &r, 0);
        p.out = row_at(&op->out, &r, 0);
        (op->kind == SK_OP_MAX_POOL ? frame->plan->kernels.max_pool
                                    : frame->plan->kernels.avg_pool)(&p, r.y, r.y + r.count);
    }
}

static void run_pool_u8(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const map_op *op = step->data;
    const sk_pool_f32c16 *f = &op->pool;
    sk_pool_u8c16 p = {.in_row = f->in_row,
                       .in_h = f->in_h,
                       .in_w = f->in_w,
                       .out_row = f->out_row,
                       .out_w = f->out_w,
                       .kernel_h = f->kernel_h,
                       .kernel_w = f->kernel_w,
                       .stride_h = f->stride_h,
                       .stride_w = f->stride_w,
                       .pad_top = f->pad_top,
                       .pad_left = f->pad_left,
                       .dilation_h = f->dilation_h,
                       .dilation_w = f->dilation_w};
    int64_t at, to;
    share(&op->out, 1, part, parts, &at, &to);
    for (rows r; next_rows(&op->out, 1, &at, to, &r);) {
        p.in = op->in.bytes + r.n * op->in.image + r.b * op->in.plane;
        p.out = op->out.bytes + r.n * op->out.image + r.b * op->out.plane;
        frame->plan->kernels_u8.max_pool(&p, r.y, r.y + r.count);
    }
}

/* bf16, halved: pads and windows that hang over are f32's. */
static void run_halve(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const map_op *op = step->data;
    const uint16_t *in = (const uint16_t *)(const void *)op->in.bytes;
    uint16_t *out = (uint16_t *)(void *)op->out.bytes;
    int64_t at, to;
    share(&op->out, 1, part, parts, &at, &to);
    for (rows r; next_rows(&op->out, 1, &at, to, &r);)
        for (int32_t y = r.y; y < r.y + r.count; y++) {
            const uint16_t *top =
                in + r.n * op->in.image + r.b * op->in.plane + (ptrdiff_t)2 * y * op->in.row;
            frame->plan->kernels.halve_bf16(
                top, top + op->in.row,
                out + r.n * op->out.image + r.b * op->out.plane + (ptrdiff_t)y * op->out.row, op->out.w);
        }
}

bool cpu_is_halving(const cpu_plan *plan, const sk_node *node)
{
    const sk_window *w = &node->a.pool.window;
    if (node->op != SK_OP_MAX_POOL)
        return false;
    const int64_t *in = cpu_shape(plan, node->in[0])->dim, *out = cpu_shape(plan, node->out[0])->dim;
    return w->kernel[0] == 2 && w->kernel[1] == 2 && w->stride[0] == 2 && w->stride[1] == 2 &&
           w->pad[0] == 0 && w->pad[1] == 0 && w->dilation[0] <= 1 && w->dilation[1] <= 1 &&
           2 * out[2] <= in[2] && 2 * out[3] <= in[3];
}

sk_status cpu_build_pool(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    const sk_window *w = &node->a.pool.window;
    sk_value x = node->in[0], y = node->out[0];
    const bool low = node->op == SK_OP_MAX_POOL && (plan->low == CPU_LOW_U8 || cpu_is_halving(plan, node)) &&
                     cpu_low_input(plan, node, &x, &y);
    SK_TRY(cpu_need_blocked(plan, x, err));
    SK_TRY(cpu_make_like(plan, y, x, err));
    const int64_t *in = cpu_shape(plan, x)->dim, *out = cpu_shape(plan, y)->dim;
    map_op op = {.a = x, .b = SK_VALUE_NONE, .y = y, .kind = node->op};
    op.pool = (sk_pool_f32c16){.in_h = (int32_t)in[2],
                               .in_w = (int32_t)in[3],
                               .out_h = (int32_t)out[2],
                               .out_w = (int32_t)out[3],
                               .kernel_h = w->kernel[0],
                               .kernel_w = w->kernel[1],
                               .stride_h = w->stride[0],
                               .stride_w = w->stride[1],
                               .pad_top = w->pad[0],
                               .pad_left = w->pad[1],
                               .dilation_h = w->dilation[0] ? w->dilation[0] : 1,
                               .dilation_w = w->dilation[1] ? w->dilation[1] : 1,
                               .count_pad = node->a.pool.count_include_pad,
                               .pad_bottom = w->pad[2],
                               .pad_right = w->pad[3]};
    return cpu_add_map_op(plan, &op,
                          !low                      ? run_pool
                          : plan->low == CPU_LOW_U8 ? run_pool_u8
                                                    : run_halve,
                          node->op == SK_OP_MAX_POOL ? "max pool" : "average pool", err);
}

/* Mean or maximum over height and width, kept as 1x1. */
sk_status cpu_build_global(cpu_plan *plan, const sk_node *node, sk_error *err)
{
    sk_value x = node->in[0], y = node->out[0];
    SK_TRY(cpu_need_blocked(plan, x, err));
    SK_TRY(cpu_make_like(plan, y, x, err));
    const int64_t *in = cpu_shape(plan, x)->dim;
    map_op op = {.a = x,
                 .b = SK_VALUE_NONE,
                 .y = y,
                 .kind = node->a.reduce.kind == SK_REDUCE_MAX ? SK_OP_MAX_POOL : SK_OP_AVG_POOL};
    op.pool = (sk_pool_f32c16){.in_h = (int32_t)in[2],
                               .in_w = (int32_t)in[3],
                               .out_h = 1,
                               .out_w = 1,
                               .kernel_h = (int32_t)in[2],
                               .kernel_w = (int32_t)in[3],
                               .stride_h = 1,
                               .stride_w = 1,
                               .dilation_h = 1,
                               .dilation_w = 1};
    return cpu_add_map_op(plan, &op, run_pool, node->a.reduce.kind == SK_REDUCE_MAX ? "maximum" : "mean",
                          err);
}
