/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cpu/conv.h"

#include <string.h>

/* The first convolution reads the caller's picture or tensor itself: rows are converted into this thread's scratch as
 * they are needed, kernel_h of them in turn, with zeros on both sides for the pads. */

bool cpu_conv_can_first(const cpu_plan *plan, const cpu_conv *c)
{
    return plan->values[c->x].input >= 0 && plan->values[c->x].map < 0 && c->weights.cin <= 4 &&
           c->weights.groups == 1 && c->kernel_h <= 16 && c->dilation_h == 1 && c->dilation_w == 1 &&
           c->pad_left >= 0 && c->residual == SK_VALUE_NONE && c->step_x == 1 && c->step_y == 1;
}

static bool from_pictures(const cpu_plan *plan)
{
    return plan->settings.input == SK_INPUT_U8_HWC;
}

/* Floats of one converted row: all that the window touches, and all that the picture has. */
int32_t cpu_conv_first_row(const cpu_plan *plan, const cpu_conv *c)
{
    int32_t need = (c->out_w - 1) * c->stride_w + c->kernel_w;
    int32_t have = c->pad_left + (int32_t)cpu_shape(plan, c->x)->dim[3];
    return ((need > have ? need : have) * c->weights.cin + 31) / 16 * 16;
}

/* bf16 is rounded with its SiLU, which is quicker than both. */
static bool rounds_silu(const cpu_conv *c)
{
    return c->p.out16 && c->act.kind == SK_UNARY_SILU;
}

void cpu_conv_bind_first(cpu_plan *plan, cpu_conv *c)
{
    const sk_session_settings *s = &plan->settings;
    const int32_t channels = c->weights.cin;
    for (int i = 0; i < 64; i++) {
        int k = i % 48 % channels;
        c->gain[i] = from_pictures(plan) ? s->scale / s->std[k] : 1.0f;
        c->shift[i] = from_pictures(plan) ? s->mean[k] / s->std[k] : 0.0f;
    }
    c->first = (sk_first_f32c16){.channels = channels,
                                 .kernel_h = c->kernel_h,
                                 .kernel_w = c->kernel_w,
                                 .stride_w = c->stride_w,
                                 .out_plane = c->p.out_plane,
                                 .out_w = c->out_w,
                                 .out_blocks = c->p.out_blocks,
                                 .width = c->choice.width,
                                 .act = rounds_silu(c) ? (sk_act_f32){0} : c->act};
}

/* Input row y of image n as interleaved floats; a row outside the picture is zeros. */
static void convert_row(const cpu_conv *c, const cpu_frame *frame, int32_t n, int32_t y, float *out)
{
    const sk_session_input *in = &frame->inputs[frame->plan->values[c->x].input];
    const int64_t *d = cpu_shape(frame->plan, c->x)->dim;
    const int32_t channels = c->weights.cin, width = (int32_t)d[3], lead = c->pad_left * channels;
    const int32_t tail = c->row_floats - lead - width * channels;
    if (y < 0 || y >= d[2]) {
        memset(out, 0, (size_t)c->row_floats * sizeof(float));
        return;
    }
    memset(out, 0, (size_t)lead * sizeof(float));
    memset(out + lead + width * channels, 0, (size_t)tail * sizeof(float));
    out += lead;
    if (from_pictures(frame->plan)) {
        ptrdiff_t row = in->row_bytes ? in->row_bytes : (ptrdiff_t)width * channels;
        ptrdiff_t picture = in->picture_bytes ? in->picture_bytes : row * (ptrdiff_t)d[2];
        frame->plan->kernels.row_u8((const uint8_t *)in->data + n * picture + y * row, out, width * channels,
                                    c->gain, c->shift);
        return;
    }
    const float *from = (const float *)in->data + ((int64_t)n * channels * d[2] + y) * width;
    frame->plan->kernels.row_planes(from, (ptrdiff_t)(d[2] * d[3]), channels, out, width);
}

/* A block's row, from floats to what the map holds. */
static void put_row(const cpu_conv *c, const cpu_plan *plan, const float *row, ptrdiff_t at, size_t count)
{
    if (c->out8)
        plan->kernels_u8.quantise(row, c->out8 + at, count, c->out_scale, c->out_zero);
    else if (rounds_silu(c))
        plan->kernels.silu_to_bf16(row, c->p.out16 + at, count);
    else
        plan->kernels.to_bf16(row, c->p.out16 + at, count);
}

void cpu_conv_run_first(const cpu_conv *c, const cpu_frame *frame, int32_t part, int32_t parts)
{
    float *rows = frame->scratch;
    sk_first_f32c16 p = c->first;
    int64_t from, to;
    int32_t image = -1, converted = 0; /* rows below `converted` are in scratch, at row % kernel_h */
    p.weights = c->p.weights;
    p.bias = c->p.bias;
    sk_pool_split((int64_t)c->n * c->out_h, 1, part, parts, &from, &to);
    for (int64_t at = from; at < to; at++) {
        int32_t n = (int32_t)(at / c->out_h), y = (int32_t)(at % c->out_h),
                top = y * c->stride_h - c->pad_top;
        if (n != image || converted < top) {
            image = n;
            converted = top;
        }
        for (; converted < top + c->kernel_h; converted++)
            convert_row(c, frame, n, converted,
                        rows + (size_t)((converted + c->pad_top) % c->kernel_h) * (size_t)c->row_floats);
        for (int32_t k = 0; k < c->kernel_h; k++)
            p.rows[k] = rows + (size_t)((top + k + c->pad_top) % c->kernel_h) * (size_t)c->row_floats;
        const ptrdiff_t to_row = n * c->out_image + y * c->p.out_row;
        if (c->p.out) {
            p.out = c->p.out + to_row;
            frame->plan->kernels.first(&p);
            continue;
        }
        const size_t count = (size_t)c->out_w * SK_BLOCK; /* by way of floats that stay in the cache */
        p.out = rows + (size_t)c->kernel_h * (size_t)c->row_floats;
        p.out_plane = (ptrdiff_t)count;
        frame->plan->kernels.first(&p);
        for (int32_t b = 0; b < c->p.out_blocks; b++)
            put_row(c, frame->plan, p.out + b * p.out_plane, to_row + b * c->p.out_plane, count);
    }
}

void cpu_conv_first_to_u8(cpu_plan *plan, const sk_node *node, cpu_conv *c)
{
    if (!cpu_conv_can_first(plan, c) || !cpu_quantised_next(plan, node->out[0], &c->out_scale, &c->out_zero))
        return;
    c->y = cpu_low(plan, c->y);
    plan->values[c->y].scale = c->out_scale;
    plan->values[c->y].zero = c->out_zero;
}
