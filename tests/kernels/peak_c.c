/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"

/* What plain C reaches: independent sums the compiler may keep in registers and widen as its base level allows. */
double kernel_peak_c(int64_t rounds)
{
    volatile float sink;
    float sum[32];
    for (int i = 0; i < 32; i++)
        sum[i] = (float)i * 1e-3f;
    volatile float seed = 0.999f;
    float a = seed, b = 1e-3f;
    for (int64_t round = 0; round < rounds; round++) {
        for (int i = 0; i < 32; i++)
            sum[i] = sum[i] * a + b;
    }
    float total = 0;
    for (int i = 0; i < 32; i++)
        total += sum[i];
    sink = total;
    (void)sink;
    return 2.0 * 32 * (double)rounds;
}
