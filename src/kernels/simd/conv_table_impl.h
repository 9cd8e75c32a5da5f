/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_CONV_TABLE_IMPL_H
#define SK_KERNELS_SIMD_CONV_TABLE_IMPL_H

/* Convolution tap by tap, and Winograd with the same tiles. The file that includes it has said which vectors (vec_….h)
 * and which register tiles its instruction set has room for: width * pixels sums, width weight vectors and one broadcast.
 *   TAP_TILES(M, S)   the tiles
 *   TAP_PIXELS        pixels of the largest, by width */

#include "kernels/simd/winograd_impl.h"

TAP_TILES(SK_TILE_DEFINE, 0)
TAP_TILES(SK_TILE_DEFINE, 1)
TAP_TILES(SK_TILE_DEFINE, 2)

static const conv_tile_fn taps_any[5 * 32] = {TAP_TILES(SK_TILE_ENTRY, 0)};
static const conv_tile_fn taps_1[5 * 32] = {TAP_TILES(SK_TILE_ENTRY, 1)};
static const conv_tile_fn taps_2[5 * 32] = {TAP_TILES(SK_TILE_ENTRY, 2)};

static void conv(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    conv_rows(p, p->stride_w == 1 ? taps_1 : p->stride_w == 2 ? taps_2 : taps_any, g0, g1, y0, y1);
}

static void winograd(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1, float *scratch)
{
    if (p->stride_w == 1)
        winograd_tiles(p, taps_1, g0, g1, t0, t1, scratch, 1);
    else
        winograd_tiles(p, taps_1, g0, g1, t0, t1, scratch, 2);
}

static void conv_table_fill(sk_kernels_f32 *table)
{
    static const int8_t tile[5] = {TAP_PIXELS};
    for (int i = 0; i < 5; i++)
        table->conv_tile[i] = tile[i];
    table->conv = conv;
    table->winograd = winograd;
}

#endif
