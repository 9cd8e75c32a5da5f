/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/finish_u8_avx512.h"
#include "kernels/simd/tiles.h"

#define SUM_TILES(M, S)                                                                                      \
    SK_TILES_20(M, u8, S, 1) SK_TILES_14(M, u8, S, 2) SK_TILES_9(M, u8, S, 3) SK_TILES_6(M, u8, S, 4)
#define SUM_PIXELS 0, 20, 14, 9, 6
#define SUM_PACKED
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/depthwise_u8_avx512.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/winograd_u8_avx512.h"

#include "kernels/simd/table_u8_impl.h"

void sk_kernels_u8_avx512vnni(sk_kernels_u8 *table)
{
    table_u8_fill(table, "avx512vnni");
    table->depthwise = u8_depthwise_columns;
    table->winograd = u8_winograd;
}
