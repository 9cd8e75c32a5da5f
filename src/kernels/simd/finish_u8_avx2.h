/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_FINISH_U8_AVX2_H
#define SK_KERNELS_SIMD_FINISH_U8_AVX2_H

#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"
#include "kernels/simd/compiler.h"

#include <immintrin.h>
#include <string.h>

/* What follows the sums, eight or sixteen at once; conv_u8_impl.h says what each word is. */

#define SUM_COUNT 8
typedef __m256i sum_vec;

SK_INLINE sum_vec sum_start(const int32_t *sums, int32_t by)
{
    return _mm256_mullo_epi32(_mm256_loadu_si256((const __m256i *)(const void *)sums), _mm256_set1_epi32(by));
}
SK_INLINE sum_vec sum_add(sum_vec sum, const int32_t *p)
{
    return _mm256_add_epi32(sum, _mm256_loadu_si256((const __m256i *)(const void *)p));
}
SK_INLINE void sum_store(sum_vec sum, int32_t *out)
{
    _mm256_storeu_si256((__m256i *)(void *)out, sum);
}
SK_INLINE __m256 sum_scaled(sum_vec sum, const float *scale, const float *bias)
{
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(scale), _mm256_loadu_ps(bias));
}
SK_INLINE void sum_to_x(sum_vec sum, const float *scale, const float *bias, int16_t *out)
{
    __m256i x = _mm256_cvtps_epi32(sum_scaled(sum, scale, bias));
    _mm_storeu_si128((__m128i *)(void *)out,
                     _mm_packs_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)));
}
SK_INLINE void sum_to_f32(sum_vec sum, const float *scale, const float *bias, float *out)
{
    _mm256_storeu_ps(out, sum_scaled(sum, scale, bias));
}
SK_INLINE sum_vec sum_multiply_add(sum_vec sum, const uint8_t *p, const int32_t *w)
{
    __m256i x = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)p));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, _mm256_loadu_si256((const __m256i *)(const void *)w)));
}

/* Level and slope of 16 pieces. */
SK_INLINE void finish_pieces(const sk_act_i16 *act, __m256i i, __m256i *level, __m256i *slope)
{
    const __m256i a =
        _mm256_i32gather_epi32(act->pieces, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(i)), 4);
    const __m256i b =
        _mm256_i32gather_epi32(act->pieces, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(i, 1)), 4);
    const __m256i low = _mm256_set1_epi32(0xffff);
    *level = _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_and_si256(a, low), _mm256_and_si256(b, low)),
                                      0xd8);
    *slope = _mm256_permute4x64_epi64(_mm256_packs_epi32(_mm256_srai_epi32(a, 16), _mm256_srai_epi32(b, 16)),
                                      0xd8);
}

SK_INLINE __m256i finish_act(const sk_act_i16 *act, __m256i x)
{
    if (!act->relu)
        return x;
    __m256i y = _mm256_max_epi16(x, _mm256_setzero_si256()), level, slope;
    if (!act->folded)
        return _mm256_min_epi16(y, _mm256_set1_epi16(act->high));
    const __m256i a = _mm256_abs_epi16(x), gain = _mm256_set1_epi16((short)act->gain);
    const __m256i i = _mm256_min_epu16(_mm256_mulhi_epu16(a, gain), _mm256_set1_epi16(SK_I16_SEGMENTS - 1));
    const __m256i f = _mm256_srli_epi16(_mm256_mullo_epi16(a, gain), 1);
    finish_pieces(act, i, &level, &slope);
    return _mm256_subs_epi16(y, _mm256_adds_epi16(level, _mm256_mulhrs_epi16(slope, f)));
}

SK_INLINE __m128i finish_16(const sk_finish_u8 *f, __m256i x, const uint8_t *residual)
{
    const int offset = (f->shift ? 1 << (f->shift - 1) : 0) + (f->zero << f->shift);
    __m256i r = _mm256_setzero_si256();
    if (residual) {
        r = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)residual));
        r = _mm256_slli_epi16(_mm256_sub_epi16(r, _mm256_set1_epi16((short)f->residual_zero)), 7);
        r = _mm256_mulhrs_epi16(r, _mm256_set1_epi16(f->residual_gain));
        if (f->residual_first)
            x = _mm256_adds_epi16(x, r);
    }
    __m256i y = finish_act(f->act, x);
    if (residual && !f->residual_first)
        y = _mm256_adds_epi16(y, r);
    y = _mm256_sra_epi16(_mm256_adds_epi16(y, _mm256_set1_epi16((short)offset)), _mm_cvtsi32_si128(f->shift));
    return _mm_packus_epi16(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
}

static void finish_row(const sk_finish_u8 *f, const int16_t *x, const uint8_t *residual, uint8_t *out,
                       size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm_storeu_si128((__m128i *)(void *)(out + i),
                         finish_16(f, _mm256_loadu_si256((const __m256i *)(const void *)(x + i)),
                                   residual ? residual + i : NULL));
    if (i < count) {
        int16_t last[16] = {0};
        uint8_t rest[16] = {0}, done[16];
        memcpy(last, x + i, (count - i) * sizeof *x);
        if (residual)
            memcpy(rest, residual + i, count - i);
        _mm_storeu_si128(
            (__m128i *)(void *)done,
            finish_16(f, _mm256_loadu_si256((const __m256i *)(const void *)last), residual ? rest : NULL));
        memcpy(out + i, done, count - i);
    }
}

SK_INLINE __m256i quantise_8(__m256 x, __m256 scale, __m256i zero)
{
    x = _mm256_and_ps(_mm256_div_ps(x, scale), _mm256_cmp_ps(x, x, _CMP_ORD_Q));
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_set1_ps(-512.0f)), _mm256_set1_ps(512.0f));
    return _mm256_add_epi32(_mm256_cvtps_epi32(x), zero);
}

static void quantise(const float *in, uint8_t *out, size_t count, float scale, int32_t zero)
{
    const __m256 by = _mm256_set1_ps(scale);
    const __m256i add = _mm256_set1_epi32(zero);
    for (size_t i = 0; i < count; i += 8) {
        float values[8] = {0};
        const size_t n = count - i < 8 ? count - i : 8;
        memcpy(values, in + i, n * sizeof *values);
        const __m256i q = quantise_8(_mm256_loadu_ps(values), by, add);
        const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
        const __m128i bytes = _mm_packus_epi16(words, words);
        memcpy(out + i, &bytes, n);
    }
}

static void dequantise(const uint8_t *in, float *out, size_t count, float scale, int32_t zero)
{
    const __m256 by = _mm256_set1_ps(scale);
    const __m256i off = _mm256_set1_epi32(zero);
    for (size_t i = 0; i < count; i += 8) {
        uint8_t bytes[8] = {0};
        float values[8];
        const size_t n = count - i < 8 ? count - i : 8;
        memcpy(bytes, in + i, n);
        const __m256i q = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)bytes));
        _mm256_storeu_ps(values, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(q, off)), by));
        memcpy(out + i, values, n * sizeof *values);
    }
}

#endif
