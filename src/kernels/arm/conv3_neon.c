/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_neon.h"

#include "kernels/simd/conv_impl.h"
#include "kernels/arm/tables.h"

/* Register tiles, three columns at once: width * pixels sums, 3 * width weight vectors and one broadcast. */
#define ROW_TILES(M, S) SK_TILES_4(M, rows, S, 1)

ROW_TILES(SK_TILE_DEFINE, 1)
ROW_TILES(SK_TILE_DEFINE, 2)

static const conv_tile_fn rows_1[5 * 32] = {ROW_TILES(SK_TILE_ENTRY, 1)};
static const conv_tile_fn rows_2[5 * 32] = {ROW_TILES(SK_TILE_ENTRY, 2)};

static void conv3(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    conv_rows(p, p->stride_w == 1 ? rows_1 : rows_2, g0, g1, y0, y1);
}

void sk_kernels_f32_conv3_neon(sk_kernels_f32 *table)
{
    static const int8_t tile[5] = {0, 4, 0, 0, 0};
    for (int i = 0; i < 5; i++)
        table->conv3_tile[i] = tile[i];
    table->conv3 = conv3;
}
