/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/peak.h"

/* peak.h's loop, in the words of the vec_<isa>.h included before it, which also chose CHAINS: so many independent sums
 * that they cover an instruction's latency on all ports, and still fit the registers. */
static double peak_loop(int64_t rounds, float *sink)
{
    vec a[CHAINS];
    const vec scale = vec_set1(0.999f), shift = vec_set1(0.001f);
    for (int i = 0; i < CHAINS; i++)
        a[i] = vec_set1((float)i);
    for (int64_t r = 0; r < rounds; r++) {
        SK_UNROLL
        for (int i = 0; i < CHAINS; i++)
            a[i] = vec_fma(a[i], scale, shift);
    }
    float values[VEC_FLOATS];
    *sink = 0;
    for (int i = 0; i < CHAINS; i++) {
        vec_store(values, a[i]);
        *sink += values[0];
    }
    return (double)rounds * CHAINS * VEC_FLOATS * 2;
}
