/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak.h"

#include <immintrin.h>

/* Twelve independent sums cover a latency of 4 to 6 cycles on two ports and fit the registers. */
#define CHAINS 12

double sk_f32_peak_avx2(int64_t rounds, float *sink)
{
    __m256 a[CHAINS];
    const __m256 scale = _mm256_set1_ps(0.999f), shift = _mm256_set1_ps(0.001f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = _mm256_set1_ps((float)i);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            a[i] = _mm256_fmadd_ps(a[i], scale, shift);
    }
    float values[8];
    *sink = 0;
    for (int i = 0; i < CHAINS; i++) {
        _mm256_storeu_ps(values, a[i]);
        *sink += values[0];
    }
    return (double)rounds * CHAINS * 8 * 2;
}
