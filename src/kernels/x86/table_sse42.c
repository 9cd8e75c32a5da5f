/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_sse42.h"

#include "kernels/simd/table_impl.h"
#include "kernels/x86/tables.h"

void sk_kernels_f32_sse42(sk_kernels_f32 *table)
{
    table->isa = "sse4.2";
    table_fill(table);
    sk_kernels_f32_conv_sse42(table);
    table->conv3 =
        NULL; /* three columns' weights leave no registers for sums; plain C's would be slower than taps */
    for (int i = 0; i < 5; i++)
        table->conv3_tile[i] = 0;
}
