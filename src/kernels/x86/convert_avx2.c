/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convert.h"

#include <immintrin.h>

/* Multiply and add apart, not fused: the reference rounds after each. */
static void sk_u8_to_f32_avx2(float *dst, const uint8_t *src, size_t count, float scale, float bias)
{
    const __m256 s = _mm256_set1_ps(scale), b = _mm256_set1_ps(bias);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(src + i));
        __m256 low = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
        __m256 high = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
        _mm256_storeu_ps(dst + i, _mm256_add_ps(_mm256_mul_ps(low, s), b));
        _mm256_storeu_ps(dst + i + 8, _mm256_add_ps(_mm256_mul_ps(high, s), b));
    }
    for (; i < count; i++)
        dst[i] = (float)src[i] * scale + bias;
}

static void sk_f16_to_f32_avx2(float *dst, const uint16_t *src, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + i))));
    for (; i < count; i++)
        dst[i] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(src[i])));
}

static void sk_f32_to_f16_avx2(uint16_t *dst, const float *src, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((__m128i *)(dst + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < count; i++)
        dst[i] = (uint16_t)_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(src[i]), _MM_FROUND_TO_NEAREST_INT));
}

void sk_convert_kernels_avx2(sk_convert_kernels *kernels)
{
    kernels->u8_to_f32 = sk_u8_to_f32_avx2;
    kernels->f16_to_f32 = sk_f16_to_f32_avx2;
    kernels->f32_to_f16 = sk_f32_to_f16_avx2;
}
