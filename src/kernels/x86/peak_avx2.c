/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx2.h"

/* A latency of 4 to 6 cycles on two ports. */
#define CHAINS 12

#include "kernels/simd/peak_impl.h"

double sk_f32_peak_avx2(int64_t rounds, float *sink)
{
    return peak_loop(rounds, sink);
}
