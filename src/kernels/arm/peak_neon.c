/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_neon.h"

/* Four cycles' latency on up to four pipes. */
#define CHAINS 16

#include "kernels/simd/peak_impl.h"

double sk_f32_peak_neon(int64_t rounds, float *sink)
{
    return peak_loop(rounds, sink);
}
