/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <nmmintrin.h>

/* Twelve independent chains cover the latency of two units of four to five cycles. */
#define CHAINS 12

double kernel_peak_sse42(int64_t rounds)
{
    volatile float seed = 0.999f;
    __m128 a = _mm_set1_ps(seed), b = _mm_set1_ps(1e-3f), sum[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sum[i] = _mm_set1_ps((float)i);
    for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sum[i] = _mm_add_ps(_mm_mul_ps(sum[i], a), b);
    }
    __m128 total = sum[0];
    for (int i = 1; i < CHAINS; i++)
        total = _mm_add_ps(total, sum[i]);
    float out[4];
    _mm_storeu_ps(out, total);
    volatile float sink = out[0];
    (void)sink;
    return 2.0 * 4 * CHAINS * (double)rounds;
}
