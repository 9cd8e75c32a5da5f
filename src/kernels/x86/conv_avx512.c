/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx512.h"

#define TAP_TILES(M, S)                                                                                      \
    SK_TILES_20(M, taps, S, 1) SK_TILES_14(M, taps, S, 2) SK_TILES_9(M, taps, S, 3) SK_TILES_6(M, taps, S, 4)
#define TAP_PIXELS 0, 20, 14, 9, 6

#include "kernels/x86/tables.h"
#include "kernels/simd/conv_table_impl.h"

void sk_kernels_f32_conv_avx512(sk_kernels_f32 *table)
{
    conv_table_fill(table);
}
