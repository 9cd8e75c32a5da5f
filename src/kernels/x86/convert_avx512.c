/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convert.h"

#include <immintrin.h>

static inline __mmask16 tail_mask(size_t left) /* left < 16 */
{
    return (__mmask16)((1u << left) - 1);
}

static void sk_u8_to_f32_avx512(float *dst, const uint8_t *src, size_t count, float scale, float bias)
{
    const __m512 s = _mm512_set1_ps(scale), b = _mm512_set1_ps(bias);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m512 x = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(src + i))));
        _mm512_storeu_ps(dst + i, _mm512_add_ps(_mm512_mul_ps(x, s), b));
    }
    if (i < count) {
        __mmask16 mask = tail_mask(count - i);
        __m512 x = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(mask, src + i)));
        _mm512_mask_storeu_ps(dst + i, mask, _mm512_add_ps(_mm512_mul_ps(x, s), b));
    }
}

static void sk_f16_to_f32_avx512(float *dst, const uint16_t *src, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(dst + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(src + i))));
    if (i < count) {
        __mmask16 mask = tail_mask(count - i);
        _mm512_mask_storeu_ps(dst + i, mask, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, src + i)));
    }
}

static void sk_f32_to_f16_avx512(uint16_t *dst, const float *src, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((__m256i *)(dst + i),
                            _mm512_cvtps_ph(_mm512_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
    if (i < count) {
        __mmask16 mask = tail_mask(count - i);
        __m256i half = _mm512_cvtps_ph(_mm512_maskz_loadu_ps(mask, src + i), _MM_FROUND_TO_NEAREST_INT);
        _mm256_mask_storeu_epi16(dst + i, mask, half);
    }
}

void sk_convert_kernels_avx512(sk_convert_kernels *kernels)
{
    kernels->u8_to_f32 = sk_u8_to_f32_avx512;
    kernels->f16_to_f32 = sk_f16_to_f32_avx512;
    kernels->f32_to_f16 = sk_f32_to_f16_avx512;
}
