/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"

#include <math.h>

/* Plain C: what every other table must give byte for byte. */

static int16_t hold_16(int32_t x)
{
    return (int16_t)(x > 32767 ? 32767 : x < -32768 ? -32768 : x);
}

/* (a * b + 0x4000) >> 15, as pmulhrsw and sqrdmulh compute it; not asked of -32768 * -32768. */
static int32_t mul_round(int32_t a, int32_t b)
{
    return (a * b + 0x4000) >> 15;
}

static int16_t x_of(int32_t sum, float scale, float bias)
{
    return hold_16((int32_t)rintf(fmaf((float)sum, scale, bias)));
}

static int32_t act_i16(const sk_act_i16 *act, int32_t x)
{
    if (!act->relu)
        return x;
    int32_t y = x > 0 ? x : 0;
    if (!act->folded)
        return y > act->high ? act->high : y;
    const uint32_t a = (uint32_t)(x < 0 ? -x : x) * act->gain;
    const uint32_t i = a >> 16 < SK_I16_SEGMENTS - 1 ? a >> 16 : SK_I16_SEGMENTS - 1;
    return hold_16(y - hold_16(act->level[i] + mul_round(act->slope[i], (int32_t)(a & 0xffff) >> 1)));
}

static uint8_t finish_one(const sk_finish_u8 *f, int32_t x, const uint8_t *residual)
{
    const int32_t r = residual ? mul_round((*residual - f->residual_zero) * 128, f->residual_gain) : 0;
    if (residual && f->residual_first)
        x = hold_16(x + r);
    int32_t y = act_i16(f->act, x);
    if (residual && !f->residual_first)
        y = hold_16(y + r);
    const int32_t half = f->shift ? 1 << (f->shift - 1) : 0;
    y = hold_16(y + half + (f->zero << f->shift)) >> f->shift;
    return (uint8_t)(y < 0 ? 0 : y > 255 ? 255 : y);
}

static void finish(const sk_finish_u8 *f, const int16_t *x, const uint8_t *residual, uint8_t *out,
                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = finish_one(f, x[i], residual ? residual + i : NULL);
}

/* A finished sum goes where it belongs. */
static void put(const sk_conv_u8c16 *p, int32_t o, int32_t y, int32_t x, int32_t sum)
{
    const int32_t block = o / SK_BLOCK, k = o % SK_BLOCK;
    const ptrdiff_t at = block * p->out_plane + y * p->out_row + x * p->out_pixel + k;
    if (p->out_sums) {
        p->out_sums[at] = sum;
        return;
    }
    if (!p->out) {
        p->out_f32[at] = fmaf((float)sum, p->scale[o], p->bias[o]);
        return;
    }
    const uint8_t *residual = p->residual ? p->residual + block * p->residual_plane + y * p->residual_row +
                                                (ptrdiff_t)x * SK_BLOCK + k
                                          : NULL;
    p->out[at] = finish_one(&p->finish, x_of(sum, p->scale[o], p->bias[o]), residual);
}

static int32_t window_sum(const sk_conv_u8c16 *p, const uint8_t *in, const int8_t *w, int32_t outputs)
{
    int32_t sum = 0;
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t ky = 0; ky < p->kernel_h; ky++)
            for (int32_t kx = 0; kx < p->kernel_w; kx++) {
                const uint8_t *x =
                    in + b * p->in_plane + ky * p->dilation_h * p->in_row + kx * p->dilation_w * p->in_pixel;
                for (int32_t c = 0; c < p->fill[b]; c++)
                    sum += x[c] * w[(ptrdiff_t)(c / 4) * outputs * 4 + c % 4];
                w += (ptrdiff_t)((p->fill[b] + 3) / 4) * outputs * 4;
            }
    return sum;
}

static int32_t half_sum(const sk_conv_u8c16 *p, int32_t o, int32_t y, int32_t x)
{
    if (!p->half_sums)
        return 0;
    return p->half_sums[o / SK_BLOCK * p->half_plane + y / 2 * p->half_row + x / 2 * SK_BLOCK + o % SK_BLOCK];
}

static void conv(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    for (int32_t g = g0; g < g1; g++) {
        const int32_t block = g * p->width;
        const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        const int32_t outputs = width * SK_BLOCK;
        const int8_t *w = p->weights + g * p->group_weights;
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = 0; x < p->out_w; x++)
                for (int32_t i = 0; i < outputs; i++) {
                    const int32_t o = block * SK_BLOCK + i;
                    const uint8_t *in = p->in + (ptrdiff_t)y * p->stride_h * p->in_row +
                                        (ptrdiff_t)x * p->stride_w * p->in_pixel;
                    const int32_t sum = window_sum(p, in, w + 4 * i, outputs) - p->in_zero * p->sums[o];
                    put(p, o, y, x, sum + half_sum(p, o, y, x));
                }
    }
}

static void depthwise(const sk_conv_u8c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    const int32_t taps = p->kernel_h * p->kernel_w;
    for (int32_t b = b0; b < b1; b++) {
        const int32_t *w = (const int32_t *)(const void *)p->weights + (ptrdiff_t)b * taps * SK_BLOCK;
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = 0; x < p->out_w; x++)
                for (int32_t i = 0; i < SK_BLOCK; i++) {
                    const uint8_t *in = p->in + b * p->in_plane + (ptrdiff_t)y * p->stride_h * p->in_row +
                                        (ptrdiff_t)x * p->stride_w * SK_BLOCK + i;
                    int32_t sum = -p->in_zero * p->sums[b * SK_BLOCK + i];
                    for (int32_t k = 0; k < taps; k++)
                        sum += w[k * SK_BLOCK + i] * in[k / p->kernel_w * p->dilation_h * p->in_row +
                                                        k % p->kernel_w * p->dilation_w * SK_BLOCK];
                    put(p, b * SK_BLOCK + i, y, x, sum);
                }
    }
}

static void quantise(const float *in, uint8_t *out, size_t count, float scale, int32_t zero)
{
    for (size_t i = 0; i < count; i++) {
        float x = in[i] == in[i] ? in[i] / scale : 0.0f;
        x = x > -512.0f ? x : -512.0f;
        x = x < 512.0f ? x : 512.0f;
        const int32_t q = (int32_t)rintf(x) + zero;
        out[i] = (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
    }
}

static void dequantise(const uint8_t *in, float *out, size_t count, float scale, int32_t zero)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(in[i] - zero) * scale;
}

static void max_pool(const sk_pool_u8c16 *p, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = 0; x < p->out_w; x++)
            for (int32_t i = 0; i < SK_BLOCK; i++) {
                uint8_t best = 0;
                for (int32_t ky = 0; ky < p->kernel_h; ky++)
                    for (int32_t kx = 0; kx < p->kernel_w; kx++) {
                        const int32_t iy = y * p->stride_h - p->pad_top + ky * p->dilation_h;
                        const int32_t ix = x * p->stride_w - p->pad_left + kx * p->dilation_w;
                        if (iy < 0 || iy >= p->in_h || ix < 0 || ix >= p->in_w)
                            continue;
                        const uint8_t q = p->in[iy * p->in_row + (ptrdiff_t)ix * SK_BLOCK + i];
                        best = q > best ? q : best;
                    }
                p->out[y * p->out_row + (ptrdiff_t)x * SK_BLOCK + i] = best;
            }
}

void sk_kernels_u8_ref(sk_kernels_u8 *table)
{
    *table = (sk_kernels_u8){.isa = "plain c",
                             .conv_tile = {0, 8, 0, 0, 0},
                             .conv = conv,
                             .depthwise = depthwise,
                             .finish = finish,
                             .quantise = quantise,
                             .dequantise = dequantise,
                             .max_pool = max_pool};
}
