/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx2.h"

#include "kernels/simd/table_impl.h"
#include "kernels/x86/tables.h"

void sk_kernels_f32_avx2(sk_kernels_f32 *table)
{
    table->isa = "avx2";
    table_fill(table);
    sk_kernels_f32_conv_avx2(table);
    sk_kernels_f32_conv3_avx2(table);
}
