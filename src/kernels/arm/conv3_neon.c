/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_neon.h"

#define ROW_TILES(M, S) SK_TILES_4(M, rows, S, 1)
#define ROW_PIXELS      0, 4, 0, 0, 0

#include "kernels/arm/tables.h"
#include "kernels/simd/conv3_table_impl.h"

void sk_kernels_f32_conv3_neon(sk_kernels_f32 *table)
{
    conv3_table_fill(table);
}
