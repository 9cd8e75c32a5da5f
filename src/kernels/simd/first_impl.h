/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_FIRST_IMPL_H
#define SK_KERNELS_SIMD_FIRST_IMPL_H

#include "kernels/simd/act_impl.h"

/* The first layer reads pictures of 1 to 4 channels: rows of interleaved floats [x][channel], with the pads on both
 * sides. A tap row is kernel_w * channels consecutive samples, and neighbouring pixels are stride * channels apart. */

/* samples: from pixel to pixel, where it is known, so that addresses are; else 0. */
SK_INLINE void first_tile(const sk_first_f32c16 *p, const float *w, const float *bias, int32_t x, float *out,
                          const int pixels, const int width, const int samples)
{
    enum { MOST = 20 };
    const ptrdiff_t step = samples ? samples : (ptrdiff_t)p->stride_w * p->channels;
    const int32_t taps = p->kernel_w * p->channels;
    vec acc[MOST][2 * VEC_PER_BLOCK];
    SK_UNROLL
    for (int i = 0; i < pixels; i++) {
        SK_UNROLL
        for (int j = 0; j < width * VEC_PER_BLOCK; j++)
            acc[i][j] = vec_load(bias + j * VEC_FLOATS);
    }
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const float *row = p->rows[ky] + x * step;
        for (int32_t t = 0; t < taps; t++, w += width * SK_BLOCK, row++) {
            vec k[2 * VEC_PER_BLOCK];
            SK_UNROLL
            for (int j = 0; j < width * VEC_PER_BLOCK; j++)
                k[j] = vec_load(w + j * VEC_FLOATS);
            SK_UNROLL
            for (int i = 0; i < pixels; i++) {
                vec v = vec_set1(row[i * step]);
                SK_UNROLL
                for (int j = 0; j < width * VEC_PER_BLOCK; j++)
                    acc[i][j] = vec_fma(k[j], v, acc[i][j]);
            }
        }
    }
    SK_UNROLL
    for (int i = 0; i < pixels; i++) {
        SK_UNROLL
        for (int j = 0; j < width * VEC_PER_BLOCK; j++)
            vec_store(out + (j / VEC_PER_BLOCK) * p->out_plane + i * SK_BLOCK +
                          (j % VEC_PER_BLOCK) * VEC_FLOATS,
                      acc[i][j]);
    }
}

/* The shape nearly every network begins with: 3 channels, 3 columns, stride 2; each broadcast serves both taps that
 * use it. WIDE = pixels a tile. */
SK_INLINE void first_tile_3s2(const sk_first_f32c16 *p, const float *w, const float *bias, int32_t x,
                              float *out, const int pixels)
{
    enum { MOST = 20 };
    for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
        vec acc[MOST];
        SK_UNROLL
        for (int i = 0; i < pixels; i++)
            acc[i] = vec_load(bias + channel);
        for (int32_t ky = 0; ky < p->kernel_h; ky++)
            for (int32_t c = 0; c < 3; c++) {
                const float *row = p->rows[ky] + x * 6 + c, *k = w + (ky * 9 + c) * SK_BLOCK + channel;
                vec k0 = vec_load(k), k1 = vec_load(k + 3 * SK_BLOCK), k2 = vec_load(k + 6 * SK_BLOCK);
                acc[0] = vec_fma(k0, vec_set1(row[0]), acc[0]);
                SK_UNROLL
                for (int i = 0; i < pixels; i++) {
                    acc[i] = vec_fma(k1, vec_set1(row[i * 6 + 3]), acc[i]);
                    vec v = vec_set1(row[i * 6 + 6]);
                    acc[i] = vec_fma(k2, v, acc[i]);
                    if (i + 1 < pixels)
                        acc[i + 1] = vec_fma(k0, v, acc[i + 1]);
                }
            }
        SK_UNROLL
        for (int i = 0; i < pixels; i++)
            vec_store(out + i * SK_BLOCK + channel, acc[i]);
    }
}

/* WIDE pixels at a time, then one at a time. */
#define SK_FIRST_ROW(WIDE, WIDTH)                                                                            \
    do {                                                                                                     \
        int32_t x = 0;                                                                                       \
        for (; x + (WIDE) <= p->out_w; x += (WIDE)) {                                                        \
            if ((WIDTH) == 1 && p->channels == 3 && p->kernel_w == 3 && p->stride_w == 2)                    \
                first_tile_3s2(p, w, bias, x, out + x * SK_BLOCK, WIDE);                                     \
            else if (p->channels == 3 && p->stride_w == 2)                                                   \
                first_tile(p, w, bias, x, out + x * SK_BLOCK, WIDE, WIDTH, 6);                               \
            else if (p->channels == 1 && p->stride_w == 1)                                                   \
                first_tile(p, w, bias, x, out + x * SK_BLOCK, WIDE, WIDTH, 1);                               \
            else                                                                                             \
                first_tile(p, w, bias, x, out + x * SK_BLOCK, WIDE, WIDTH, 0);                               \
            for (int j = 0; j < (WIDTH); j++)                                                                \
                sk_act_run(out + j * p->out_plane + x * SK_BLOCK, (WIDE)*VEC_PER_BLOCK, &p->act);            \
        }                                                                                                    \
        for (; x < p->out_w; x++) {                                                                          \
            first_tile(p, w, bias, x, out + x * SK_BLOCK, 1, WIDTH, 0);                                      \
            for (int j = 0; j < (WIDTH); j++)                                                                \
                sk_act_run(out + j * p->out_plane + x * SK_BLOCK, VEC_PER_BLOCK, &p->act);                   \
        }                                                                                                    \
    } while (0)

/* One group of `width` (1 or 2) blocks of one row. */
SK_INLINE void first_row(const sk_first_f32c16 *p, int32_t block, int32_t width, const float *w)
{
    const float *bias = p->bias + block * SK_BLOCK;
    float *out = p->out + block * p->out_plane;
    if (width == 1)
        SK_FIRST_ROW(VEC_FLOATS == 16 ? 16 : 4, 1);
    else
        SK_FIRST_ROW(VEC_FLOATS == 16 ? 10 : 2, 2);
}

SK_INLINE void first_groups(const sk_first_f32c16 *p)
{
    const ptrdiff_t taps = (ptrdiff_t)p->kernel_h * p->kernel_w * p->channels;
    for (int32_t block = 0; block < p->out_blocks; block += p->width) {
        int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
        first_row(p, block, width, p->weights + block * taps * SK_BLOCK);
    }
}

SK_INLINE void first_row_u8(const uint8_t *in, float *out, int32_t count, const float *gain,
                            const float *shift)
{
    int32_t i = 0, phase = 0;
    for (; i + 16 <= count; i += 16) {
        vec v[VEC_PER_BLOCK];
        vec_u8x16(in + i, v);
        SK_UNROLL
        for (int k = 0; k < VEC_PER_BLOCK; k++)
            vec_store(out + i + k * VEC_FLOATS,
                      vec_sub(vec_mul(v[k], vec_load(gain + phase + k * VEC_FLOATS)),
                              vec_load(shift + phase + k * VEC_FLOATS)));
        phase = phase == 32 ? 0 : phase + 16;
    }
    for (; i < count; i++, phase++)
        out[i] = (float)in[i] * gain[phase] - shift[phase];
}

#endif
