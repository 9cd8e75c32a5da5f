/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"
#include "graph/quantise.h"

#include <stdio.h>
#include <string.h>

/* Convolution steps: what the node says, which kernel, and this thread's share of the work. */

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
            fn(&p, (int32_t)from, (int32_t)to, 0, p.out_h);
            p.in += c->in_image;
            p.out += c->out_image;
            p.residual = p.residual ? p.residual + c->residual_image : NULL;
        }
        return;
    }
    sk_pool_split((int64_t)c->n * p.out_h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to;) {
        int32_t n = (int32_t)(at / p.out_h), y = (int32_t)(at % p.out_h);
        int32_t rows = (int32_t)(to - at < p.out_h - y ? to - at : p.out_h - y);
        p.in = c->p.in + n * c->in_image;
        p.out = c->p.out + n * c->out_image;
        p.residual = c->p.residual ? c->p.residual + n * c->residual_image : NULL;
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
        p.in = c->p.in ? c->p.in + n * c->in_image : NULL;
        p.in16 = c->p.in16 ? c->p.in16 + n * c->in_image : NULL;
        p.out = c->p.out ? c->p.out + n * c->out_image : NULL;
        p.out16 = c->p.out16 ? c->p.out16 + n * c->out_image : NULL;
        p.residual = c->p.residual ? c->p.residual + n * c->residual_image : NULL;
        p.residual16 = c->p.residual16 ? c->p.residual16 + n * c->residual_image : NULL;
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
    case CPU_CONV_DEPTHWISE: run_rows(c, frame, k->depthwise, c->p.out_blocks, part, parts); break;
    case CPU_CONV_WINOGRAD: run_winograd(c, frame, part, parts); break;
    case CPU_CONV_BF16: run_bf16(c, frame, part, parts); break;
    case CPU_CONV_FIRST: cpu_conv_run_first(c, frame, part, parts); break;
    default: break;
    }
}

size_t cpu_conv_scratch(const cpu_plan *plan, const cpu_conv *c, const cpu_conv_choice *choice)
{
    if (c->u8)
        return cpu_conv_scratch_u8(plan, c);
    if (choice->form == CPU_CONV_WINOGRAD)
        return sk_winograd_scratch(c->stride_h, plan->values[c->x].blocks, cpu_blocks(c->weights.cout),
                                   choice->batch_tiles);
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
    ptrdiff_t inner = (ptrdiff_t)c->weights.cin * p->width * SK_BLOCK;
    if (c->choice.form == CPU_CONV_WINOGRAD) {
        p->group_weights = inner;
        p->point_weights = (ptrdiff_t)c->weights.cin * p->out_blocks * SK_BLOCK;
    } else {
        if (c->choice.form == CPU_CONV_BF16) { /* two channels a float, each block by itself */
            inner = 0;
            for (int32_t b = 0; b < p->in_blocks; b++)
                inner += (ptrdiff_t)((p->fill[b] + 1) / 2) * p->width * SK_BLOCK;
        }
        p->group_weights = inner * c->kernel_h * c->kernel_w;
        p->point_weights = 0;
    }
}

static sk_status bind_conv(cpu_plan *plan, cpu_step *step, sk_error *err)
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
    p->out = out.size == 2 ? NULL : out.data + at;
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
    static const char *const form[] = {"?", "taps", "rows", "winograd4", "depthwise", "first", "bf16"};
    const cpu_conv *c = step->data;
    const cpu_conv_choice *k = &c->choice;
    char detail[24] = "";
    if (k->form == CPU_CONV_WINOGRAD)
        snprintf(detail, sizeof detail, " b%d", k->batch_tiles);
    snprintf(step->kernel, sizeof step->kernel, "conv %s %dx%d%s%s%s %s", form[k->form <= 6 ? k->form : 0],
             k->tile, k->width, detail, k->groups_outer ? " go" : "", k->split_groups ? " gs" : "",
             c->u8 ? plan->kernels_u8.isa : plan->kernels.isa);
}

/* The border around x that this window reads. */
static void ask_border(cpu_plan *plan, const cpu_conv *c)
{
    const int64_t *d = cpu_shape(plan, c->x)->dim;
    int32_t border[4] = {c->pad_top, c->pad_left, 0, 0};
    border[2] =
        (c->out_h - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation_h - c->pad_top - (int32_t)d[2] + 1;
    border[3] =
        (c->out_w - 1) * c->stride_w + (c->kernel_w - 1) * c->dilation_w - c->pad_left - (int32_t)d[3] + 1;
    cpu_need_border(plan, c->x, border);
}

/* Adds the step for a filled cpu_conv; y's blocked form is there already. */
static sk_status add_conv(cpu_plan *plan, const cpu_conv *filled, double flops, sk_error *err)
{
    cpu_conv conv = *filled;
    const bool depthwise = conv.weights.groups > 1 && conv.weights.groups == conv.weights.cin &&
                           conv.weights.groups == conv.weights.cout;
    if (depthwise)
        conv.choice = (cpu_conv_choice){.form = CPU_CONV_DEPTHWISE, .width = 1, .tile = 4};
    else if (conv.u8 && cpu_conv_can_first_u8(plan, &conv))
        conv.choice = cpu_conv_default_first_u8(plan, &conv);
    else if (!conv.u8 && cpu_conv_can_first(plan, &conv))
        conv.choice =
            (cpu_conv_choice){.form = CPU_CONV_FIRST, .width = conv.weights.cout > SK_BLOCK ? 2 : 1};
    if (conv.choice.form != CPU_CONV_FIRST) {
        SK_TRY(cpu_need_blocked(plan, conv.x, err));
        ask_border(plan, &conv);
    }
    cpu_step *step;
    SK_TRY(cpu_add_step(plan, sizeof conv, &step, err));
    *(cpu_conv *)step->data = conv;
    cpu_conv *c = step->data;
    c->row_floats = !c->u8 && c->choice.form == CPU_CONV_FIRST ? cpu_conv_first_row(plan, c) : 0;
    if (c->choice.form == 0)
        c->choice = cpu_conv_default(plan, c);
    step->run = cpu_conv_run;
    step->bind = bind_conv;
    step->flops = flops;
    snprintf(step->shape, sizeof step->shape, "%d->%d %dx%d s%d %dx%d", c->weights.cin, c->weights.cout,
             c->kernel_h, c->kernel_w, c->stride_h, c->out_h, c->out_w);
    sk_value maps[3] = {c->y, c->residual, c->x};
    if (c->residual == SK_VALUE_NONE) {
        maps[1] = c->x;
        return cpu_step_uses(plan, step, maps, c->choice.form == CPU_CONV_FIRST ? 1 : 2, NULL, 0, err);
    }
    return cpu_step_uses(plan, step, maps, 3, NULL, 0, err);
}

/* Constants the kernels read must be f32; the graph's passes leave nothing else. */
static const float *constant_f32(const cpu_plan *plan, sk_value v)
{
    if (v == SK_VALUE_NONE || !sk_value_is_constant(plan->graph, v) ||
        plan->graph->values[v].dtype != SK_DTYPE_F32)
        return NULL;
    return sk_value_tensor(plan->graph, v).data;
}

static sk_value input_at(const sk_node *node, int32_t i)
{
    return i < node->n_in ? node->in[i] : SK_VALUE_NONE;
}

bool cpu_conv_is_known(const cpu_plan *plan, const sk_node *node)
{
    sk_value bias = input_at(node, 2);
    sk_quantisation q;
    return (constant_f32(plan, node->in[1]) ||
            (sk_graph_quantisation_of(plan->graph, node->in[1], &q) && q.real == SK_VALUE_NONE)) &&
           cpu_can_block(plan, node->in[0]) && cpu_can_block(plan, node->out[0]) &&
           sk_act_f32_known(node->a.conv.act.kind) && (bias == SK_VALUE_NONE || constant_f32(plan, bias));
}

/* Weights in eight bits whose convolution is computed in f32 after all. */
static sk_status need_f32(cpu_plan *plan, const sk_node *node, cpu_conv *c, sk_error *err)
{
    cpu_conv_to_bf16(plan, node, c);
    if (!c->weights.data) {
        SK_TRY(cpu_fold_weights(plan, node->in[1], err));
        c->weights.data = constant_f32(plan, node->in[1]) + c->weights.offset;
    }
    return c->residual == SK_VALUE_NONE ? SK_OK : cpu_need_blocked(plan, c->residual, err);
}

sk_status cpu_build_conv(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_window *win = &node->a.conv.window;
    sk_value x = node->in[0], y = node->out[0], bias = input_at(node, 2), residual = input_at(node, 3);
    const float *w = constant_f32(plan, node->in[1]);
    *done = cpu_conv_is_known(plan, node);
    if (!*done)
        return SK_OK;
    plan->values[node->in[1]].packed = true;
    const sk_shape *ws = cpu_shape(plan, node->in[1]), *xs = cpu_shape(plan, x), *ys = cpu_shape(plan, y);
    const bool depthwise =
        node->a.conv.groups > 1 && node->a.conv.groups == xs->dim[1] && xs->dim[1] == ys->dim[1];
    const bool half = residual != SK_VALUE_NONE && cpu_read_at_half(plan, residual);
    if (half)
        residual = plan->graph->nodes[plan->graph->values[residual].producer].in[0];
    cpu_conv c = {.x = x,
                  .y = y,
                  .residual = residual,
                  .kernel_h = win->kernel[0],
                  .kernel_w = win->kernel[1],
                  .stride_h = win->stride[0],
                  .stride_w = win->stride[1],
                  .dilation_h = win->dilation[0],
                  .dilation_w = win->dilation[1],
                  .pad_top = win->pad[0],
                  .pad_left = win->pad[1],
                  .out_h = (int32_t)ys->dim[2],
                  .out_w = (int32_t)ys->dim[3],
                  .step_y = 1,
                  .step_x = 1,
                  .residual_shift = half,
                  .residual_first = node->a.conv.residual_before_act};
    c.act = (sk_act_f32){node->a.conv.act.kind, node->a.conv.act.alpha, node->a.conv.act.beta};
    ptrdiff_t kx = 1, ky = win->kernel[1], ci = ky * win->kernel[0], co = ci * (ptrdiff_t)ws->dim[1];
    c.weights = (cpu_weights){.data = w,
                              .co = co,
                              .ci = ci,
                              .ky = ky,
                              .kx = kx,
                              .groups = node->a.conv.groups,
                              .cin = (int32_t)xs->dim[1],
                              .cout = (int32_t)ys->dim[1],
                              .kernel_h = win->kernel[0],
                              .kernel_w = win->kernel[1],
                              .bias = constant_f32(plan, bias)};
    c.weights.bf16 = plan->bf16;
    bool low;
    SK_TRY(cpu_conv_to_u8(plan, node, &c, &low, err));
    if (!low)
        SK_TRY(need_f32(plan, node, &c, err));
    if (depthwise) { /* block by block: the output's blocks are filled as the input's are */
        SK_TRY(cpu_need_blocked(plan, c.x, err));
        SK_TRY(cpu_make_like(plan, c.y, c.x, err));
    } else {
        SK_TRY(cpu_make_blocked(plan, c.y, err));
    }
    return add_conv(plan, &c, sk_node_flops(plan->graph, node), err);
}

/* One axis of one phase of a transposed convolution: outputs r, r + s, r + 2s … are an ordinary convolution with
 * every s-th tap, read backwards. */
typedef struct phase {
    int32_t taps, first_tap, pad, count;
} phase;

static phase phase_of(int32_t r, int32_t kernel, int32_t stride, int32_t pad, int64_t out)
{
    phase p = {0};
    int32_t k0 = (r + pad) % stride;
    p.taps = k0 < kernel ? (kernel - 1 - k0) / stride + 1 : 0;
    p.first_tap = p.taps ? k0 + stride * (p.taps - 1) : 0;
    p.pad = p.taps - 1 - (r + pad - k0) / stride;
    p.count = out > r ? (int32_t)((out - r + stride - 1) / stride) : 0;
    return p;
}

sk_status cpu_build_conv_transpose(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_window *win = &node->a.conv_transpose.window;
    sk_value x = node->in[0], y = node->out[0], bias = input_at(node, 2);
    const float *w = constant_f32(plan, node->in[1]);
    sk_quantisation q;
    *done = false;
    if ((!w && !(sk_graph_quantisation_of(plan->graph, node->in[1], &q) && q.real == SK_VALUE_NONE)) ||
        !cpu_can_block(plan, x) || !cpu_can_block(plan, y) || node->a.conv_transpose.groups != 1 ||
        win->dilation[0] != 1 || win->dilation[1] != 1 ||
        !sk_act_f32_known(node->a.conv_transpose.act.kind) ||
        (bias != SK_VALUE_NONE && !constant_f32(plan, bias)))
        return SK_OK;
    *done = true;
    plan->values[node->in[1]].packed = true;
    const sk_shape *xs = cpu_shape(plan, x), *ys = cpu_shape(plan, y);
    bool made = false;
    const int32_t kh = win->kernel[0], kw = win->kernel[1], sh = win->stride[0], sw = win->stride[1];
    for (int32_t ry = 0; ry < sh; ry++)
        for (int32_t rx = 0; rx < sw; rx++) {
            phase v = phase_of(ry, kh, sh, win->pad[0], ys->dim[2]),
                  h = phase_of(rx, kw, sw, win->pad[1], ys->dim[3]);
            if (v.count == 0 || h.count == 0)
                continue;
            cpu_conv c = {.x = x,
                          .y = y,
                          .residual = SK_VALUE_NONE,
                          .kernel_h = v.taps,
                          .kernel_w = h.taps,
                          .stride_h = 1,
                          .stride_w = 1,
                          .dilation_h = 1,
                          .dilation_w = 1,
                          .pad_top = v.pad,
                          .pad_left = h.pad,
                          .out_h = v.count,
                          .out_w = h.count,
                          .step_y = sh,
                          .step_x = sw,
                          .from_y = ry,
                          .from_x = rx};
            c.act = (sk_act_f32){node->a.conv_transpose.act.kind, node->a.conv_transpose.act.alpha,
                                 node->a.conv_transpose.act.beta};
            ptrdiff_t co = (ptrdiff_t)kh * kw, ci = co * (ptrdiff_t)ys->dim[1];
            const ptrdiff_t offset = v.first_tap * kw + h.first_tap;
            c.weights = (cpu_weights){.data = w ? w + offset : NULL,
                                      .offset = offset,
                                      .co = co,
                                      .ci = ci,
                                      .ky = -(ptrdiff_t)sh * kw,
                                      .kx = -(ptrdiff_t)sw,
                                      .groups = 1,
                                      .cin = (int32_t)xs->dim[1],
                                      .cout = (int32_t)ys->dim[1],
                                      .kernel_h = v.taps,
                                      .kernel_w = h.taps,
                                      .bias = constant_f32(plan, bias)};
            c.weights.bf16 = plan->bf16;
            bool low;
            SK_TRY(cpu_conv_to_u8(plan, node, &c, &low, err));
            if (!low)
                SK_TRY(need_f32(plan, node, &c, err));
            SK_TRY(cpu_need_blocked(plan, c.x, err));
            if (!made) /* all phases fill one map */
                SK_TRY(cpu_make_blocked(plan, c.y, err));
            made = true;
            SK_TRY(add_conv(plan, &c, sk_node_flops(plan->graph, node) / (sh * sw), err));
        }
    return SK_OK;
}
