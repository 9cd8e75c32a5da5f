/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_neon.h"

#define TAP_TILES(M, S) SK_TILES_6(M, taps, S, 1) SK_TILES_2(M, taps, S, 2)
#define TAP_PIXELS      0, 6, 2, 0, 0

#include "kernels/arm/tables.h"
#include "kernels/simd/conv_table_impl.h"

void sk_kernels_f32_conv_neon(sk_kernels_f32 *table)
{
    conv_table_fill(table);
}
