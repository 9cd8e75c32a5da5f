/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

#include <arm_neon.h>

/* Twelve independent chains cover the latency of two units of four to five cycles. */
#define CHAINS 12

double kernel_peak_neon(int64_t rounds)
{
    volatile float seed = 0.999f;
    float32x4_t a = vdupq_n_f32(seed), b = vdupq_n_f32(1e-3f), sum[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        sum[i] = vdupq_n_f32((float)i);
    for (int64_t round = 0; round < rounds; round++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sum[i] = vfmaq_f32(b, sum[i], a);
    }
    float32x4_t total = sum[0];
    for (int i = 1; i < CHAINS; i++)
        total = vaddq_f32(total, sum[i]);
    float out[4];
    vst1q_f32(out, total);
    volatile float sink = out[0];
    (void)sink;
    return 2.0 * 4 * CHAINS * (double)rounds;
}
