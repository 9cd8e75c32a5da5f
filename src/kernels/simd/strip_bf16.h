/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_STRIP_BF16_H
#define SK_KERNELS_SIMD_STRIP_BF16_H

#include "kernels/simd/act_impl.h"

/* What follows the sums of a convolution whose maps may be bf16: pixels of one block as floats that stay in the first cache. Include
 * after vec_avx512.h. */

/* Residual of `pixels` pixels from x on, added to floats. */
static void add_residual(const sk_conv_f32c16 *p, float *row, int32_t block, int32_t y, int32_t x,
                         int32_t pixels)
{
    const ptrdiff_t from = block * p->residual_plane + (y >> p->residual_shift) * p->residual_row;
    for (int32_t i = 0; i < pixels; i++) {
        const ptrdiff_t at = from + ((x + i) >> p->residual_shift) * SK_BLOCK;
        vec r;
        if (p->residual16)
            r = (vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(
                                           (const __m256i *)(const void *)(p->residual16 + at))),
                                       16);
        else
            r = vec_load(p->residual + at);
        vec_store(row + i * SK_BLOCK, vec_add(vec_load(row + i * SK_BLOCK), r));
    }
}

/* SiLU as far as bf16 can tell: 2^f to 7.5e-5 and a reciprocal of 14 bits, where a last bit is worth 4e-3 to 8e-3. Two thirds of the time
 * of vec_silu. */
SK_INLINE vec silu_for_bf16(vec x)
{
    const vec t = vec_min(vec_mul(x, vec_set1(-SK_LOG2_E)), vec_set1(126.0f)), f = _mm512_reduce_ps(t, 0x01);
    vec e = vec_fma(vec_set1(7.802452e-2f), f, vec_set1(2.2606716e-1f));
    e = vec_fma(e, f, vec_set1(6.9583354e-1f));
    e = vec_fma(e, f, vec_set1(9.9992522e-1f));
    return vec_mul(x, _mm512_rcp14_ps(vec_add(vec_set1(1.0f), _mm512_scalef_ps(e, t))));
}

static void strip_silu(const float *row, uint16_t *out, int32_t pixels, ptrdiff_t out_pixel)
{
    for (int32_t k = 0; k < pixels; k++)
        _mm256_storeu_si256((__m256i *)(void *)(out + k * out_pixel),
                            (__m256i)_mm512_cvtneps_pbh(silu_for_bf16(vec_load(row + k * SK_BLOCK))));
}

/* What follows the sums of `pixels` pixels of one block, kept as floats in the first cache: to p->out or p->out16, from x on. */
static void strip_out(const sk_conv_f32c16 *p, float *row, int32_t block, int32_t y, int32_t x,
                      int32_t pixels)
{
    const bool residual = p->residual || p->residual16;
    const ptrdiff_t to = block * p->out_plane + y * p->out_row + x * p->out_pixel;
    if (residual && p->residual_first)
        add_residual(p, row, block, y, x, pixels);
    if (p->act.kind == SK_UNARY_SILU && p->out16 && (!residual || p->residual_first)) {
        strip_silu(row, p->out16 + to, pixels, p->out_pixel);
        return;
    }
    if (p->act.kind)
        sk_act_run(row, pixels, &p->act);
    if (residual && !p->residual_first)
        add_residual(p, row, block, y, x, pixels);
    for (int32_t k = 0; k < pixels; k++) {
        if (p->out16)
            _mm256_storeu_si256((__m256i *)(void *)(p->out16 + to + k * p->out_pixel),
                                (__m256i)_mm512_cvtneps_pbh(vec_load(row + k * SK_BLOCK)));
        else
            vec_store(p->out + to + k * p->out_pixel, vec_load(row + k * SK_BLOCK));
    }
}

#endif
