/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx512.h"

#include "kernels/simd/winograd_impl.h"
#include "kernels/x86/tables.h"

/* Register tiles, tap by tap: width * pixels sums, width weight vectors and one broadcast must fit. */
#define TAP_TILES(M, S)                                                                                      \
    SK_TILES_20(M, taps, S, 1) SK_TILES_14(M, taps, S, 2) SK_TILES_9(M, taps, S, 3) SK_TILES_6(M, taps, S, 4)

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

void sk_kernels_f32_conv_avx512(sk_kernels_f32 *table)
{
    static const int8_t tile[5] = {0, 20, 14, 9, 6};
    for (int i = 0; i < 5; i++)
        table->conv_tile[i] = tile[i];
    table->conv = conv;
    table->winograd = winograd;
}
