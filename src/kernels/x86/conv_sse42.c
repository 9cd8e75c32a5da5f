/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_sse42.h"

#define TAP_TILES(M, S) SK_TILES_2(M, taps, S, 1)
#define TAP_PIXELS      0, 2, 0, 0, 0

#include "kernels/x86/tables.h"
#include "kernels/simd/conv_table_impl.h"

void sk_kernels_f32_conv_sse42(sk_kernels_f32 *table)
{
    conv_table_fill(table);
}
