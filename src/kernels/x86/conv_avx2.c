/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx2.h"

#define TAP_TILES(M, S) SK_TILES_6(M, taps, S, 1) SK_TILES_3(M, taps, S, 2)
#define TAP_PIXELS      0, 6, 3, 0, 0

#include "kernels/x86/tables.h"
#include "kernels/simd/conv_table_impl.h"

void sk_kernels_f32_conv_avx2(sk_kernels_f32 *table)
{
    conv_table_fill(table);
}
