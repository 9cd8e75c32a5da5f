/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_sse42.h"

/* No fused multiply-add at this level: a product and a sum. */
#define CHAINS 12

#include "kernels/simd/peak_impl.h"

double sk_f32_peak_sse42(int64_t rounds, float *sink)
{
    return peak_loop(rounds, sink);
}
