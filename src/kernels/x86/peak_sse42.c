/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak.h"

#include <nmmintrin.h>

#define CHAINS 12

/* No fused multiply-add at this level: a product and a sum. */
double sk_f32_peak_sse42(int64_t rounds, float *sink)
{
    __m128 a[CHAINS];
    const __m128 scale = _mm_set1_ps(0.999f), shift = _mm_set1_ps(0.001f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = _mm_set1_ps((float)i);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm_add_ps(_mm_mul_ps(a[i], scale), shift);
    }
    *sink = 0;
    for (int i = 0; i < CHAINS; i++)
        *sink += _mm_cvtss_f32(a[i]);
    return (double)rounds * CHAINS * 4 * 2;
}
