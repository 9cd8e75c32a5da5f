/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_DEPTHWISE_IMPL_H
#define SK_KERNELS_SIMD_DEPTHWISE_IMPL_H

#include "kernels/simd/conv_impl.h"

/* Depthwise: 16 channels side by side, each with its own window. The 3x3 form keeps the nine weights in registers. */

/* Pixels at once: enough sums that none waits for the one before. */
#define SK_DEPTHWISE_PIXELS (VEC_FLOATS == 16 ? 8 : 4)

SK_INLINE void depthwise_pixels(const sk_conv_f32c16 *p, const float *in, const float *w, vec bias,
                                float *out, const int pixels)
{
    const ptrdiff_t step = p->stride_w * SK_BLOCK;
    vec acc[SK_DEPTHWISE_PIXELS];
    SK_UNROLL
    for (int i = 0; i < pixels; i++)
        acc[i] = bias;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const float *row = in + ky * p->dilation_h * p->in_row;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, w += SK_BLOCK, row += p->dilation_w * SK_BLOCK) {
            vec k = vec_load(w);
            SK_UNROLL
            for (int i = 0; i < pixels; i++)
                acc[i] = vec_fma(k, vec_load(row + i * step), acc[i]);
        }
    }
    SK_UNROLL
    for (int i = 0; i < pixels; i++)
        vec_store(out + i * SK_BLOCK, acc[i]);
}

SK_INLINE void depthwise_3x3(const sk_conv_f32c16 *p, const float *in, const vec k[9], vec bias, float *out,
                             const int pixels)
{
    const ptrdiff_t step = p->stride_w * SK_BLOCK;
    vec acc[SK_DEPTHWISE_PIXELS];
    SK_UNROLL
    for (int i = 0; i < pixels; i++)
        acc[i] = bias;
    SK_UNROLL
    for (int ky = 0; ky < 3; ky++) {
        SK_UNROLL
        for (int kx = 0; kx < 3; kx++) {
            SK_UNROLL
            for (int i = 0; i < pixels; i++)
                acc[i] =
                    vec_fma(k[ky * 3 + kx], vec_load(in + ky * p->in_row + kx * SK_BLOCK + i * step), acc[i]);
        }
    }
    SK_UNROLL
    for (int i = 0; i < pixels; i++)
        vec_store(out + i * SK_BLOCK, acc[i]);
}

SK_INLINE void depthwise_channels(const sk_conv_f32c16 *p, int32_t block, int channel, int32_t y, float *out)
{
    const int32_t taps = p->kernel_h * p->kernel_w;
    const float *in = p->in + block * p->in_plane + (ptrdiff_t)y * p->stride_h * p->in_row + channel;
    const float *w = p->weights + (ptrdiff_t)block * taps * SK_BLOCK + channel;
    const vec bias = vec_load(p->bias + block * SK_BLOCK + channel);
    const ptrdiff_t step = p->stride_w * SK_BLOCK;
    int32_t x = 0;
    if (p->kernel_h == 3 && p->kernel_w == 3 && p->dilation_h == 1 && p->dilation_w == 1) {
        vec k[9];
        SK_UNROLL
        for (int i = 0; i < 9; i++)
            k[i] = vec_load(w + i * SK_BLOCK);
        for (; x + SK_DEPTHWISE_PIXELS <= p->out_w; x += SK_DEPTHWISE_PIXELS)
            depthwise_3x3(p, in + x * step, k, bias, out + x * SK_BLOCK + channel, SK_DEPTHWISE_PIXELS);
        for (; x + 4 <= p->out_w; x += 4)
            depthwise_3x3(p, in + x * step, k, bias, out + x * SK_BLOCK + channel, 4);
        for (; x < p->out_w; x++)
            depthwise_3x3(p, in + x * step, k, bias, out + x * SK_BLOCK + channel, 1);
        return;
    }
    for (; x + SK_DEPTHWISE_PIXELS <= p->out_w; x += SK_DEPTHWISE_PIXELS)
        depthwise_pixels(p, in + x * step, w, bias, out + x * SK_BLOCK + channel, SK_DEPTHWISE_PIXELS);
    for (; x + 4 <= p->out_w; x += 4)
        depthwise_pixels(p, in + x * step, w, bias, out + x * SK_BLOCK + channel, 4);
    for (; x < p->out_w; x++)
        depthwise_pixels(p, in + x * step, w, bias, out + x * SK_BLOCK + channel, 1);
}

SK_INLINE void depthwise_rows(const sk_conv_f32c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    for (int32_t b = b0; b < b1; b++)
        for (int32_t y = y0; y < y1; y++) {
            float *out = p->out + b * p->out_plane + y * p->out_row;
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS)
                depthwise_channels(p, b, channel, y, out);
            if (p->act.kind || p->residual)
                tile_finish(p, out, b, 1, y, 0, p->out_w);
        }
}

#endif
