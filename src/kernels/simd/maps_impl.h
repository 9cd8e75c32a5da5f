/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_MAPS_IMPL_H
#define SK_KERNELS_SIMD_MAPS_IMPL_H

#include "kernels/simd/act_impl.h"

#include <string.h>

/* Everything on maps that is not a convolution: pools, upsampling, elementwise. */

/* The part of a window that lies inside the map: taps [*k0, *k1). */
SK_INLINE void pool_clip(int32_t at, int32_t size, int32_t kernel, int32_t dilation, int32_t *k0, int32_t *k1)
{
    int32_t first = at < 0 ? (-at + dilation - 1) / dilation : 0;
    int32_t last = at < size ? (size - 1 - at) / dilation + 1 : 0;
    *k0 = first;
    *k1 = last < kernel ? last : kernel;
}

SK_INLINE vec pool_max_at(const sk_pool_f32c16 *p, const float *in, int32_t ky0, int32_t ky1, int32_t kx0,
                          int32_t kx1)
{
    vec best = vec_set1(-INFINITY);
    for (int32_t ky = ky0; ky < ky1; ky++) {
        const float *row = in + ky * p->dilation_h * p->in_row;
        for (int32_t kx = kx0; kx < kx1; kx++)
            best = vec_max(best, vec_load(row + kx * p->dilation_w * SK_BLOCK));
    }
    return best;
}

SK_INLINE void pool_max_rows(const sk_pool_f32c16 *p, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++) {
        int32_t top = y * p->stride_h - p->pad_top, ky0, ky1;
        pool_clip(top, p->in_h, p->kernel_h, p->dilation_h, &ky0, &ky1);
        for (int32_t x = 0; x < p->out_w; x++) {
            int32_t left = x * p->stride_w - p->pad_left, kx0, kx1;
            pool_clip(left, p->in_w, p->kernel_w, p->dilation_w, &kx0, &kx1);
            const float *in = p->in + top * p->in_row + left * SK_BLOCK;
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS)
                vec_store(p->out + y * p->out_row + x * SK_BLOCK + channel,
                          pool_max_at(p, in + channel, ky0, ky1, kx0, kx1));
        }
    }
}

/* How many taps count: all that lie in the map or, with count_pad, in the map and its pads. */
SK_INLINE int32_t pool_count(int32_t at, int32_t size, int32_t kernel, int32_t dilation, int32_t pad_before,
                             int32_t pad_after, int32_t count_pad)
{
    int32_t k0, k1;
    if (count_pad)
        pool_clip(at + pad_before, size + pad_before + pad_after, kernel, dilation, &k0, &k1);
    else
        pool_clip(at, size, kernel, dilation, &k0, &k1);
    return k1 > k0 ? k1 - k0 : 1;
}

SK_INLINE void pool_avg_rows(const sk_pool_f32c16 *p, int32_t y0, int32_t y1)
{
    for (int32_t y = y0; y < y1; y++) {
        int32_t top = y * p->stride_h - p->pad_top, ky0, ky1;
        pool_clip(top, p->in_h, p->kernel_h, p->dilation_h, &ky0, &ky1);
        int32_t rows =
            pool_count(top, p->in_h, p->kernel_h, p->dilation_h, p->pad_top, p->pad_bottom, p->count_pad);
        for (int32_t x = 0; x < p->out_w; x++) {
            int32_t left = x * p->stride_w - p->pad_left, kx0, kx1;
            pool_clip(left, p->in_w, p->kernel_w, p->dilation_w, &kx0, &kx1);
            int32_t columns = pool_count(left, p->in_w, p->kernel_w, p->dilation_w, p->pad_left, p->pad_right,
                                         p->count_pad);
            const float *in = p->in + top * p->in_row + left * SK_BLOCK;
            const vec scale = vec_set1(1.0f / ((float)rows * (float)columns));
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
                vec sum = vec_set1(0.0f);
                for (int32_t ky = ky0; ky < ky1; ky++)
                    for (int32_t kx = kx0; kx < kx1; kx++)
                        sum = vec_add(sum, vec_load(in + ky * p->dilation_h * p->in_row +
                                                    kx * p->dilation_w * SK_BLOCK + channel));
                vec_store(p->out + y * p->out_row + x * SK_BLOCK + channel, vec_mul(sum, scale));
            }
        }
    }
}

SK_INLINE void maps_upsample2(const float *in, float *out0, float *out1, int32_t width)
{
    for (int32_t x = 0; x < width; x++)
        for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
            vec v = vec_load(in + x * SK_BLOCK + channel);
            float *a = out0 + 2 * x * SK_BLOCK + channel, *b = out1 + 2 * x * SK_BLOCK + channel;
            vec_store(a, v);
            vec_store(a + SK_BLOCK, v);
            vec_store(b, v);
            vec_store(b + SK_BLOCK, v);
        }
}

SK_INLINE void maps_bilinear(const sk_bilinear_f32c16 *p)
{
    const vec down = vec_set1(p->weight_bottom);
    for (int32_t x = 0; x < p->width; x++) {
        const ptrdiff_t l = (ptrdiff_t)p->left[x] * SK_BLOCK, r = (ptrdiff_t)p->right[x] * SK_BLOCK;
        const vec side = vec_set1(p->weight_right[x]);
        for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
            vec tl = vec_load(p->top + l + channel), bl = vec_load(p->bottom + l + channel);
            vec top = vec_fma(vec_sub(vec_load(p->top + r + channel), tl), side, tl);
            vec bottom = vec_fma(vec_sub(vec_load(p->bottom + r + channel), bl), side, bl);
            vec_store(p->out + x * SK_BLOCK + channel, vec_fma(vec_sub(bottom, top), down, top));
        }
    }
}

SK_INLINE void maps_unary(const float *in, float *out, size_t count, const sk_act_f32 *act)
{
    size_t i = 0;
    enum { CHUNK = 1024 };
    while (i + VEC_FLOATS <= count) {
        size_t n = count - i < CHUNK ? (count - i) / VEC_FLOATS * VEC_FLOATS : CHUNK;
        if (out != in)
            memcpy(out + i, in + i, n * sizeof(float));
        sk_act_run(out + i, (int32_t)(n / VEC_FLOATS), act);
        i += n;
    }
    if (i < count) {
        float rest[VEC_FLOATS] = {0};
        memcpy(rest, in + i, (count - i) * sizeof(float));
        sk_act_run(rest, 1, act);
        memcpy(out + i, rest, (count - i) * sizeof(float));
    }
}

#define SK_BINARY_LOOP(EXPRESSION, SCALAR)                                                                   \
    do {                                                                                                     \
        for (; i + VEC_FLOATS <= count; i += VEC_FLOATS) {                                                   \
            vec x = vec_load(a + i), y = vec_load(b + i);                                                    \
            vec_store(out + i, (EXPRESSION));                                                                \
        }                                                                                                    \
        for (; i < count; i++)                                                                               \
            out[i] = (SCALAR);                                                                               \
    } while (0)

SK_INLINE void maps_binary(int32_t kind, const float *a, const float *b, float *out, size_t count)
{
    size_t i = 0;
    switch (kind) {
    case SK_BINARY_ADD: SK_BINARY_LOOP(vec_add(x, y), a[i] + b[i]); break;
    case SK_BINARY_SUB: SK_BINARY_LOOP(vec_sub(x, y), a[i] - b[i]); break;
    case SK_BINARY_MUL: SK_BINARY_LOOP(vec_mul(x, y), a[i] * b[i]); break;
    case SK_BINARY_DIV: SK_BINARY_LOOP(vec_div(x, y), a[i] / b[i]); break;
    case SK_BINARY_MIN: SK_BINARY_LOOP(vec_min(x, y), a[i] < b[i] ? a[i] : b[i]); break;
    case SK_BINARY_MAX: SK_BINARY_LOOP(vec_max(x, y), a[i] > b[i] ? a[i] : b[i]); break;
    default: break;
    }
}

#define SK_BINARY16_LOOP(EXPRESSION)                                                                         \
    for (size_t i = 0; i < count; i += SK_BLOCK)                                                             \
        for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {                                   \
            vec x = vec_load(a + i + channel), y = vec_load(b16 + channel);                                  \
            vec_store(out + i + channel, (EXPRESSION));                                                      \
        }

SK_INLINE void maps_binary16(int32_t kind, const float *a, const float *b16, float *out, size_t count,
                             int32_t flip)
{
    switch (kind) {
    case SK_BINARY_ADD: SK_BINARY16_LOOP(vec_add(x, y)) break;
    case SK_BINARY_SUB: SK_BINARY16_LOOP(flip ? vec_sub(y, x) : vec_sub(x, y)) break;
    case SK_BINARY_MUL: SK_BINARY16_LOOP(vec_mul(x, y)) break;
    case SK_BINARY_DIV: SK_BINARY16_LOOP(flip ? vec_div(y, x) : vec_div(x, y)) break;
    case SK_BINARY_MIN: SK_BINARY16_LOOP(vec_min(x, y)) break;
    case SK_BINARY_MAX: SK_BINARY16_LOOP(vec_max(x, y)) break;
    default: break;
    }
}

#endif
