/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <immintrin.h>

/* Twelve independent chains cover the latency of two units of four to five cycles. */
#define CHAINS 12

double kernel_peak_avx2(int64_t rounds)
{
    volatile float seed = 0.999f;
    __m256 a = _mm256_set1_ps(seed), b = _mm256_set1_ps(1e-3f), sum[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sum[i] = _mm256_set1_ps((float)i);
    for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sum[i] = _mm256_fmadd_ps(sum[i], a, b);
    }
    __m256 total = sum[0];
    for (int i = 1; i < CHAINS; i++)
        total = _mm256_add_ps(total, sum[i]);
    float out[8];
    _mm256_storeu_ps(out, total);
    volatile float sink = out[0];
    (void)sink;
    return 2.0 * 8 * CHAINS * (double)rounds;
}
