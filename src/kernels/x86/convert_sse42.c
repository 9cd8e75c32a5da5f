/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convert.h"

#include <nmmintrin.h>
#include <string.h>

static void sk_u8_to_f32_sse42(float *dst, const uint8_t *src, size_t count, float scale, float bias)
{
    const __m128 s = _mm_set1_ps(scale), b = _mm_set1_ps(bias);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        int four;
        memcpy(&four, src + i, sizeof four);
        __m128 x = _mm_cvtepi32_ps(_mm_cvtepu8_epi32(_mm_cvtsi32_si128(four)));
        _mm_storeu_ps(dst + i, _mm_add_ps(_mm_mul_ps(x, s), b));
    }
    for (; i < count; i++)
        dst[i] = (float)src[i] * scale + bias;
}

void sk_convert_kernels_sse42(sk_convert_kernels *kernels)
{
    kernels->u8_to_f32 = sk_u8_to_f32_sse42;
}
