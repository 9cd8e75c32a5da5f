/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak.h"

#include "base/cpu.h"

double sk_f32_peak_ref(int64_t rounds, float *sink)
{
    float value[16];
    for (int i = 0; i < 16; i++)
        value[i] = (float)i;
    for (int64_t r = 0; r < rounds; r++)
        for (int i = 0; i < 16; i++)
            value[i] = value[i] * 0.999f + 0.001f;
    float sum = 0;
    for (int i = 0; i < 16; i++)
        sum += value[i];
    *sink = sum;
    return (double)rounds * 16 * 2;
}

sk_peak_loop sk_f32_peak_choose(uint32_t cpu_flags)
{
#if defined(__x86_64__)
    if (cpu_flags & SK_CPU_AVX512)
        return sk_f32_peak_avx512;
    if (cpu_flags & SK_CPU_AVX2)
        return sk_f32_peak_avx2;
    if (cpu_flags & SK_CPU_SSE42)
        return sk_f32_peak_sse42;
#elif defined(__aarch64__)
    if (cpu_flags & SK_CPU_NEON)
        return sk_f32_peak_neon;
#endif
    (void)cpu_flags;
    return sk_f32_peak_ref;
}
