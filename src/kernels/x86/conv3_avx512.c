/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx512.h"

#define ROW_TILES(M, S) SK_TILES_20(M, rows, S, 1) SK_TILES_12(M, rows, S, 2) SK_TILES_6(M, rows, S, 3)
#define ROW_PIXELS      0, 20, 12, 6, 0

#include "kernels/x86/tables.h"
#include "kernels/simd/conv3_table_impl.h"

void sk_kernels_f32_conv3_avx512(sk_kernels_f32 *table)
{
    conv3_table_fill(table);
}
