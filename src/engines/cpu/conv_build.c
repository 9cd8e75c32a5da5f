/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv_u8.h"
#include "graph/quantise.h"

#include <stdio.h>

/* From a node to convolution steps: an ordinary convolution is one, a transposed one a step for each output phase. */

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

/* What lives as long as the step runs. */
static sk_status conv_uses(cpu_plan *plan, cpu_step *step, const cpu_conv *c, sk_error *err)
{
    sk_value maps[4] = {c->y};
    int32_t count = 1;
    if (c->residual != SK_VALUE_NONE)
        maps[count++] = c->residual;
    if (c->choice.form != CPU_CONV_FIRST)
        maps[count++] = c->x;
    if (c->u8 && c->u8->half != SK_VALUE_NONE)
        maps[count++] = c->u8->half;
    return cpu_step_uses(plan, step, maps, count, NULL, 0, err);
}

sk_status cpu_add_conv(cpu_plan *plan, const cpu_conv *filled, double flops, sk_error *err)
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
    step->bind = cpu_conv_bind;
    step->flops = flops;
    snprintf(step->shape, sizeof step->shape, "%d->%d %dx%d s%d %dx%d", c->weights.cin, c->weights.cout,
             c->kernel_h, c->kernel_w, c->stride_h, c->out_h, c->out_w);
    return conv_uses(plan, step, c, err);
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
    cpu_conv_first_to_u8(plan, node, c);
    if (!c->weights.data) {
        SK_TRY(cpu_fold_weights(plan, node->in[1], err));
        c->weights.data = constant_f32(plan, node->in[1]) + c->weights.offset;
    }
    return c->residual == SK_VALUE_NONE ? SK_OK : cpu_need_blocked(plan, c->residual, err);
}

/* Bytes where its values and weights are, else bf16 or f32. */
static sk_status settle_form(cpu_plan *plan, const sk_node *node, cpu_conv *c, sk_error *err)
{
    bool low;
    c->weights.bf16 = plan->bf16;
    SK_TRY(cpu_conv_to_u8(plan, node, c, &low, err));
    return low ? SK_OK : need_f32(plan, node, c, err);
}

/* Kernels add the residual block by block. One that is filled otherwise than the output, as a concatenation of parts is that fill no
 * block, is put in the output's order first. */
static sk_status order_residual(cpu_plan *plan, cpu_conv *c, sk_value out, sk_error *err)
{
    if (c->residual == SK_VALUE_NONE || cpu_same_fill(&plan->values[c->y], &plan->values[c->residual]))
        return SK_OK;
    const sk_value again = cpu_reordered(plan, out);
    const int64_t *d = cpu_shape(plan, c->residual)->dim; /* half the output's where it is read at half */
    SK_TRY(cpu_need_dense(plan, c->residual, err));
    SK_TRY(cpu_make_like(plan, again, c->y, err));
    plan->values[again].dense = plan->values[c->residual].dense;
    plan->values[again].constant = plan->values[c->residual].constant;
    plan->values[again].input = plan->values[c->residual].input;
    plan->buffers[plan->values[again].map].h = (int32_t)d[2];
    plan->buffers[plan->values[again].map].w = (int32_t)d[3];
    c->residual = again;
    return cpu_add_to_blocked(plan, again, err);
}

sk_status cpu_build_conv(cpu_plan *plan, const sk_node *node, bool *done, sk_error *err)
{
    const sk_window *win = &node->a.conv.window;
    sk_value x = node->in[0], y = node->out[0], bias = input_at(node, 2), residual = input_at(node, 3);
    const float *w = constant_f32(plan, node->in[1]);
    const double flops = sk_node_flops(plan->graph, node);
    *done = cpu_conv_is_known(plan, node);
    if (!*done)
        return SK_OK;
    if (cpu_conv_is_few(plan, node))
        return cpu_build_few(plan, node, err);
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
    SK_TRY(settle_form(plan, node, &c, err));
    SK_TRY(cpu_conv_split_join(plan, &c, flops, err));
    if (depthwise) { /* block by block: the output's blocks are filled as the input's are */
        SK_TRY(cpu_need_blocked(plan, c.x, err));
        SK_TRY(cpu_make_like(plan, c.y, c.x, err));
    } else {
        SK_TRY(cpu_make_blocked(plan, c.y, err));
    }
    SK_TRY(order_residual(plan, &c, y, err));
    return cpu_add_conv(plan, &c, flops * c.weights.cin / (double)xs->dim[1], err);
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
            if (plan->values[cpu_low(plan, x)].map <
                0) /* before the form is settled: it never reads the caller's */
                SK_TRY(cpu_need_blocked(plan, x, err));
            SK_TRY(settle_form(plan, node, &c, err));
            if (!made) /* all phases fill one map */
                SK_TRY(cpu_make_blocked(plan, c.y, err));
            made = true;
            SK_TRY(cpu_add_conv(plan, &c, sk_node_flops(plan->graph, node) / (sh * sw), err));
        }
    return SK_OK;
}
