/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"

#include <stdio.h>
#include <string.h>

/* Convolution steps: which kernel, where everything lies, and this thread's share of the work. */

static int32_t group_count(const cpu_conv *conv)
{
    return (conv->p.out_blocks + conv->choice.width - 1) / conv->choice.width;
}

bool cpu_conv_can_winograd(const cpu_plan *plan, const cpu_conv *c)
{
    return plan->winograd && !c->u8 && c->kernel_h == 3 && c->kernel_w == 3 && c->stride_h == c->stride_w &&
           (c->stride_h == 1 || c->stride_h == 2) && c->dilation_h == 1 && c->dilation_w == 1 &&
           c->step_x == 1 && c->step_y == 1 && c->weights.groups == 1 && c->weights.cin >= 8 &&
           c->out_h >= 4 && c->out_w >= 4;
}

bool cpu_conv_can_rows(const cpu_plan *plan, const cpu_conv *c)
{
    return plan->kernels.conv3 && !c->u8 && c->kernel_w == 3 && c->dilation_w == 1 &&
           (c->stride_w == 1 || c->stride_w == 2);
}

/* Maps of image n, each f32 or bf16. */
static void at_image(const cpu_conv *c, int32_t n, sk_conv_f32c16 *p)
{
    p->in = c->p.in ? c->p.in + n * c->in_image : NULL;
    p->in16 = c->p.in16 ? c->p.in16 + n * c->in_image : NULL;
    p->out = c->p.out ? c->p.out + n * c->out_image : NULL;
    p->out16 = c->p.out16 ? c->p.out16 + n * c->out_image : NULL;
    p->residual = c->p.residual ? c->p.residual + n * c->residual_image : NULL;
    p->residual16 = c->p.residual16 ? c->p.residual16 + n * c->residual_image : NULL;
}

/* Splits rows of all images; calls the kernel once an image. */
static void run_rows(const cpu_conv *c, const cpu_frame *frame, sk_conv_f32c16_fn fn, int32_t units,
                     int32_t part, int32_t parts)
{
    (void)frame;
    sk_conv_f32c16 p = c->p;
    int64_t from, to;
    if (c->choice.split_groups) {
        sk_pool_split(units, 1, part, parts, &from, &to);
        for (int32_t n = 0; n < c->n && from < to; n++) {
            at_image(c, n, &p);
            fn(&p, (int32_t)from, (int32_t)to, 0, p.out_h);
        }
        return;
    }
    sk_pool_split((int64_t)c->n * p.out_h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to;) {
        int32_t n = (int32_t)(at / p.out_h), y = (int32_t)(at % p.out_h);
        int32_t rows = (int32_t)(to - at < p.out_h - y ? to - at : p.out_h - y);
        at_image(c, n, &p);
        fn(&p, 0, units, y, y + rows);
        at += rows;
    }
}

static void run_bf16(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    sk_conv_f32c16 p = c->p;
    int64_t from, to, g0, g1;
    cpu_conv_share(c, c->groups, p.out_h, part, parts, &g0, &g1, &from, &to);
    for (int64_t at = from; at < to && g0 < g1;) {
        const int32_t n = (int32_t)(at / p.out_h), y = (int32_t)(at % p.out_h);
        const int32_t rows = (int32_t)(to - at < p.out_h - y ? to - at : p.out_h - y);
        at_image(c, n, &p);
        frame->plan->kernels.conv_bf16(&p, (int32_t)g0, (int32_t)g1, y, y + rows, frame->scratch);
        at += rows;
    }
}

static void run_winograd(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    sk_conv_f32c16 p = c->p;
    const int32_t tiles = ((p.out_w + 3) / 4) * ((p.out_h + 3) / 4);
    float *scratch = frame->scratch;
    int64_t from, to, g0, g1;
    cpu_conv_share(c, c->groups, tiles, part, parts, &g0, &g1, &from, &to);
    for (int64_t at = from; at < to && g0 < g1;) {
        int32_t n = (int32_t)(at / tiles), t = (int32_t)(at % tiles);
        int32_t count = (int32_t)(to - at < tiles - t ? to - at : tiles - t);
        p.in = c->p.in + n * c->in_image;
        p.out = c->p.out + n * c->out_image;
        p.residual = c->p.residual ? c->p.residual + n * c->residual_image : NULL;
        frame->plan->kernels.winograd(&p, (int32_t)g0, (int32_t)g1, t, t + count, scratch);
        at += count;
    }
}

static void run_words(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    sk_conv_f32c16 p = c->p;
    const int32_t tiles = ((p.out_w + 3) / 4) * ((p.out_h + 3) / 4);
    int64_t from, to, g0, g1;
    p.point_worth = p.weights + sk_winograd_points(p.stride_h) * p.point_weights / 2;
    p.channel_gain = p.point_worth + (ptrdiff_t)sk_winograd_points(p.stride_h) * p.out_blocks * SK_BLOCK;
    cpu_conv_share(c, c->groups, tiles, part, parts, &g0, &g1, &from, &to);
    for (int64_t at = from; at < to && g0 < g1;) {
        const int32_t n = (int32_t)(at / tiles), t = (int32_t)(at % tiles);
        const int32_t count = (int32_t)(to - at < tiles - t ? to - at : tiles - t);
        at_image(c, n, &p);
        frame->plan->kernels.winograd_words(&p, (int32_t)g0, (int32_t)g1, t, t + count, frame->scratch);
        at += count;
    }
}

void cpu_conv_run(const cpu_step *step, const cpu_frame *frame, int32_t part, int32_t parts)
{
    const cpu_conv *c = step->data;
    const sk_kernels_f32 *k = &frame->plan->kernels;
    if (c->u8) {
        cpu_conv_run_u8(c, frame, part, parts);
        return;
    }
    switch (c->choice.form) {
    case CPU_CONV_TAPS: run_rows(c, frame, k->conv, c->groups, part, parts); break;
    case CPU_CONV_ROWS: run_rows(c, frame, k->conv3, c->groups, part, parts); break;
    case CPU_CONV_DEPTHWISE:
        run_rows(c, frame, c->p.in16 ? k->depthwise_bf16 : k->depthwise, c->p.out_blocks, part, parts);
        break;
    case CPU_CONV_WINOGRAD: run_winograd(c, frame, part, parts); break;
    case CPU_CONV_BF16: run_bf16(c, frame, part, parts); break;
    case CPU_CONV_WORDS: run_words(c, frame, part, parts); break;
    case CPU_CONV_FIRST: cpu_conv_run_first(c, frame, part, parts); break;
    default: break;
    }
}

ptrdiff_t cpu_conv_pairs(const cpu_conv *c)
{
    ptrdiff_t pairs = 0;
    for (int32_t b = 0; b < c->p.in_blocks; b++)
        pairs += (c->p.fill[b] + 1) / 2;
    return pairs;
}

size_t cpu_conv_scratch(const cpu_plan *plan, const cpu_conv *c, const cpu_conv_choice *choice)
{
    if (c->u8)
        return cpu_conv_scratch_u8(plan, c, choice);
    if (choice->form == CPU_CONV_WINOGRAD)
        return sk_winograd_scratch(c->stride_h, plan->values[c->x].blocks, cpu_blocks(c->weights.cout),
                                   choice->batch_tiles);
    if (choice->form == CPU_CONV_WORDS)
        return sk_words_scratch(c->stride_h, plan->values[c->x].blocks, choice->width, choice->batch_tiles);
    if (choice->form == CPU_CONV_BF16) {
        const sk_conv_f32c16 p = {.in_blocks = plan->values[c->x].blocks,
                                  .kernel_h = c->kernel_h,
                                  .kernel_w = c->kernel_w,
                                  .stride_h = c->stride_h,
                                  .stride_w = c->stride_w,
                                  .dilation_h = c->dilation_h,
                                  .dilation_w = c->dilation_w,
                                  .out_w = c->out_w};
        return sk_bf16_scratch(&p);
    }
    if (choice->form == CPU_CONV_FIRST)
        return (size_t)c->row_floats * (size_t)c->kernel_h +
               (cpu_is_low(plan, c->y) ? (size_t)cpu_blocks(c->weights.cout) * (size_t)c->out_w * SK_BLOCK
                                       : 0);
    return 0;
}

void cpu_conv_apply(const cpu_plan *plan, cpu_conv *c)
{
    sk_conv_f32c16 *p = &c->p;
    (void)plan;
    p->width = c->choice.width;
    p->tile = c->choice.tile;
    p->groups_outer = c->choice.groups_outer;
    p->batch_tiles = c->choice.batch_tiles;
    c->groups = group_count(c);
    if (c->u8)
        cpu_conv_apply_u8(c);
    const ptrdiff_t width = (ptrdiff_t)p->width * SK_BLOCK, all = (ptrdiff_t)p->out_blocks * SK_BLOCK;
    p->point_weights = 0;
    if (c->choice.form == CPU_CONV_WINOGRAD) {
        p->group_weights = c->weights.cin * width;
        p->point_weights = c->weights.cin * all;
    } else if (c->choice.form == CPU_CONV_WORDS) {
        p->group_weights = 2 * cpu_conv_pairs(c) * width;
        p->point_weights = 2 * cpu_conv_pairs(c) * all;
    } else {
        const ptrdiff_t inner = c->choice.form == CPU_CONV_BF16 ? cpu_conv_pairs(c) : c->weights.cin;
        p->group_weights = inner * width * c->kernel_h * c->kernel_w;
    }
}

sk_status cpu_conv_bind(cpu_plan *plan, cpu_step *step, sk_error *err)
{
    cpu_conv *c = step->data;
    sk_conv_f32c16 *p = &c->p;
    if (c->u8) {
        SK_TRY(cpu_conv_bind_u8(plan, c, err));
        cpu_conv_apply(plan, c);
        return SK_OK;
    }
    cpu_map out = cpu_bound_map(plan, c->y);
    *p = (sk_conv_f32c16){.kernel_h = c->kernel_h,
                          .kernel_w = c->kernel_w,
                          .stride_h = c->stride_h,
                          .stride_w = c->stride_w,
                          .dilation_h = c->dilation_h,
                          .dilation_w = c->dilation_w,
                          .act = c->act,
                          .residual_first = c->residual_first,
                          .residual_shift = c->residual_shift,
                          .out_h = c->out_h,
                          .out_w = c->out_w,
                          .out_blocks = out.blocks,
                          .last_outputs = c->weights.cout - (out.blocks - 1) * SK_BLOCK};
    const ptrdiff_t at = c->from_y * out.row + c->from_x * SK_BLOCK;
    p->out = out.size == sizeof(float) ? out.data + at : NULL;
    c->out8 = out.size == 1 ? out.bytes + at : NULL;
    p->out16 = out.size == 2 ? (uint16_t *)(void *)out.bytes + at : NULL;
    p->out_plane = out.plane;
    p->out_row = out.row * c->step_y;
    p->out_pixel = (ptrdiff_t)c->step_x * SK_BLOCK;
    c->out_image = out.image;
    c->n = out.n;
    if (c->choice.form == CPU_CONV_FIRST) {
        cpu_conv_bind_first(plan, c);
    } else {
        cpu_map in = cpu_bound_map(plan, c->x);
        const ptrdiff_t corner = -c->pad_top * in.row - c->pad_left * SK_BLOCK;
        p->in = in.size == 2 ? NULL : in.data + corner;
        p->in16 = in.size == 2 ? (const uint16_t *)(const void *)in.bytes + corner : NULL;
        p->in_plane = in.plane;
        p->in_row = in.row;
        p->fill = in.fill;
        p->in_blocks = in.blocks;
        p->in_h = (c->out_h - 1) * c->stride_h + 3; /* winograd only: what the outputs need is readable */
        p->in_w = (c->out_w - 1) * c->stride_w + 3;
        c->in_image = in.image;
    }
    if (c->residual != SK_VALUE_NONE) {
        cpu_map r = cpu_bound_map(plan, c->residual);
        p->residual = r.size == 2 ? NULL : r.data;
        p->residual16 = r.size == 2 ? (const uint16_t *)(const void *)r.bytes : NULL;
        p->residual_plane = r.plane;
        p->residual_row = r.row;
        c->residual_image = r.image;
    }
    cpu_conv_apply(plan, c);
    return SK_OK;
}

void cpu_conv_describe(const cpu_plan *plan, cpu_step *step)
{
    static const char *const form[] = {"?",         "taps",  "rows", "winograd4",
                                       "depthwise", "first", "bf16", "words4"};
    const cpu_conv *c = step->data;
    const cpu_conv_choice *k = &c->choice;
    char detail[24] = "";
    if (k->form == CPU_CONV_WINOGRAD || k->form == CPU_CONV_WORDS)
        snprintf(detail, sizeof detail, " b%d", k->batch_tiles);
    snprintf(step->kernel, sizeof step->kernel, "conv %s %dx%d%s%s%s %s",
             form[k->form <= CPU_CONV_WORDS ? k->form : 0], k->tile, k->width, detail,
             k->groups_outer ? " go" : "", k->split_groups ? " gs" : "",
             c->u8 ? plan->kernels_u8.isa : plan->kernels.isa);
}
