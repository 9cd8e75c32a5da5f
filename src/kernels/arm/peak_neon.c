/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak.h"

#include <arm_neon.h>

/* Sixteen independent sums: four cycles' latency on up to four pipes. */
#define CHAINS 16

double sk_f32_peak_neon(int64_t rounds, float *sink)
{
    float32x4_t a[CHAINS];
    const float32x4_t scale = vdupq_n_f32(0.999f), shift = vdupq_n_f32(0.001f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = vdupq_n_f32((float)i);
    for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++)
            a[i] = vfmaq_f32(shift, a[i], scale);
    }
    *sink = 0;
    for (int i = 0; i < CHAINS; i++)
        *sink += vgetq_lane_f32(a[i], 0);
    return (double)rounds * CHAINS * 4 * 2;
}
