/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/kernels.h"

#include "base/cpu.h"
#include "graph/graph.h"
#if defined(__x86_64__)
#include "kernels/x86/tables.h"
#endif

void sk_kernels_f32_fill(sk_kernels_f32 *table, uint32_t flags)
{
    *table = (sk_kernels_f32){0};
    sk_kernels_f32_ref(table);
#if defined(__x86_64__)
    if (flags & SK_CPU_SSE42)
        sk_kernels_f32_sse42(table);
    if (flags & SK_CPU_AVX2)
        sk_kernels_f32_avx2(table);
    if (flags & SK_CPU_AVX512)
        sk_kernels_f32_avx512(table);
    if ((flags & SK_CPU_AVX512) && (flags & SK_CPU_AVXVNNI)) /* two vectors of products a cycle */
        table->winograd2_from = 32;
    if (flags & SK_CPU_AVX512BF16)
        sk_kernels_f32_avx512bf16(table);
    if ((flags & SK_CPU_AVX512BF16) && (flags & SK_CPU_AVX512VNNI))
        sk_kernels_f32_words_avx512bf16(table, flags);
    if ((flags & SK_CPU_AVX512BF16) && (flags & SK_CPU_AMX))
        sk_kernels_f32_amx(table);
#elif defined(__aarch64__)
    if (flags & SK_CPU_NEON)
        sk_kernels_f32_neon(table);
#else
    (void)flags;
#endif
}

int sk_act_f32_known(int32_t kind)
{
    switch (kind) {
    case 0:
    case SK_UNARY_SILU:
    case SK_UNARY_RELU:
    case SK_UNARY_SIGMOID:
    case SK_UNARY_LEAKY:
    case SK_UNARY_RELU6:
    case SK_UNARY_GELU:
    case SK_UNARY_GELU_TANH:
    case SK_UNARY_TANH:
    case SK_UNARY_ELU:
    case SK_UNARY_HARD_SIGMOID:
    case SK_UNARY_HARD_SWISH:
    case SK_UNARY_MISH:
    case SK_UNARY_EXP:
    case SK_UNARY_NEG:
    case SK_UNARY_ABS: return 1;
    default: return 0;
    }
}
