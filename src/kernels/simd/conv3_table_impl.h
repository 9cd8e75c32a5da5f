/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_CONV3_TABLE_IMPL_H
#define SK_KERNELS_SIMD_CONV3_TABLE_IMPL_H

/* 3x3 convolution, three columns at once. The file that includes it has said which vectors (vec_….h) and which register
 * tiles its instruction set has room for: width * pixels sums, 3 * width weight vectors and one broadcast.
 *   ROW_TILES(M, S)   the tiles
 *   ROW_PIXELS        pixels of the largest, by width */

#include "kernels/simd/conv_impl.h"

ROW_TILES(SK_TILE_DEFINE, 1)
ROW_TILES(SK_TILE_DEFINE, 2)

static const conv_tile_fn rows_1[5 * 32] = {ROW_TILES(SK_TILE_ENTRY, 1)};
static const conv_tile_fn rows_2[5 * 32] = {ROW_TILES(SK_TILE_ENTRY, 2)};

static void conv3(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    conv_rows(p, p->stride_w == 1 ? rows_1 : rows_2, g0, g1, y0, y1);
}

static void conv3_table_fill(sk_kernels_f32 *table)
{
    static const int8_t tile[5] = {ROW_PIXELS};
    for (int i = 0; i < 5; i++)
        table->conv3_tile[i] = tile[i];
    table->conv3 = conv3;
}

#endif
