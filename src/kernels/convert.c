/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/convert.h"

#include "base/cpu.h"

void sk_convert_kernels_fill(sk_convert_kernels *kernels, uint32_t flags)
{
    sk_convert_kernels_ref(kernels);
#if defined(__x86_64__)
    if (flags & SK_CPU_SSE42)
        sk_convert_kernels_sse42(kernels);
    if (flags & SK_CPU_AVX2)
        sk_convert_kernels_avx2(kernels);
    if (flags & SK_CPU_AVX512)
        sk_convert_kernels_avx512(kernels);
#elif defined(__aarch64__)
    if (flags & SK_CPU_NEON)
        sk_convert_kernels_neon(kernels);
#else
    (void)flags;
#endif
}
