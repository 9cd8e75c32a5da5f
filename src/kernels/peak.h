/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_PEAK_H
#define SK_KERNELS_PEAK_H

#include <stdint.h>

/* Fused multiply-adds and nothing else, as many in flight as the processor takes: what "% of peak" is measured
 * against. Each runs `rounds` rounds and returns the floating-point operations it did; *sink keeps the compiler from
 * removing them. */
typedef double (*sk_peak_loop)(int64_t rounds, float *sink);

double sk_f32_peak_ref(int64_t rounds, float *sink);
double sk_f32_peak_sse42(int64_t rounds, float *sink);
double sk_f32_peak_avx2(int64_t rounds, float *sink);
double sk_f32_peak_avx512(int64_t rounds, float *sink);
double sk_f32_peak_neon(int64_t rounds, float *sink);

/* The best one for these CPU flags (base/cpu.h). */
sk_peak_loop sk_f32_peak_choose(uint32_t cpu_flags);

#endif
