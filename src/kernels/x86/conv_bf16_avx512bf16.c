/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/halve_bf16.h"
#include "kernels/simd/conv_bf16_impl.h"
#include "kernels/simd/depthwise_bf16.h"
#include "kernels/x86/tables.h"

void sk_kernels_f32_avx512bf16(sk_kernels_f32 *table)
{
    table->conv_bf16 = conv_bf16;
    table->bf16_native = 1;
    table->to_bf16 = to_bf16;
    table->silu_to_bf16 = silu_to_bf16;
    table->depthwise_bf16 = depthwise_bf16;
    table->from_bf16 = from_bf16;
    table->halve_bf16 = halve_bf16;
}
