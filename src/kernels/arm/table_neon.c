/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_neon.h"

#include "kernels/simd/table_impl.h"
#include "kernels/arm/tables.h"

void sk_kernels_f32_neon(sk_kernels_f32 *table)
{
    table->isa = "neon";
    table_fill(table);
    sk_kernels_f32_conv_neon(table);
    sk_kernels_f32_conv3_neon(table);
}
