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

/* What follows the sums of `pixels` pixels of one block, kept as floats in the first cache: to p->out or p->out16, from x on. */
static void strip_out(const sk_conv_f32c16 *p, float *row, int32_t block, int32_t y, int32_t x,
                      int32_t pixels)
{
    const bool residual = p->residual || p->residual16;
    const ptrdiff_t to = block * p->out_plane + y * p->out_row + x * p->out_pixel;
    if (residual && p->residual_first)
        add_residual(p, row, block, y, x, pixels);
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
