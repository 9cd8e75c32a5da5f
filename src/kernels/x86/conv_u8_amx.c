/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/finish_u8_avx512.h"
#include "kernels/simd/tiles.h"

#define SUM_TILES(M, S) SK_TILES_14(M, u8, S, 1) SK_TILES_14(M, u8, S, 2)
#define SUM_PIXELS      0, 14, 14, 0, 0
#define SUM_PACKED
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/depthwise_u8_avx512.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/table_u8_impl.h"

#define TILE_PIXEL_BYTES                SK_BLOCK
#define tile_dot(sums, pixels, weights) _tile_dpbusd(sums, pixels, weights)
#include "kernels/simd/tiles_amx.h"

/* Convolution of bytes by tiles (tiles_amx.h). Blocks that are not full and narrow maps go by vectors, to the same sums. */

/* Sums of `pixels` neighbouring pixels, four at a time, to bytes. What packing puts in turns, four channels of each pixel, one
 * exchange at the end puts in order. */
SK_INLINE void sums_to_bytes(const finish_set *s, const int32_t *sums, const float *scale, const float *bias,
                             const uint8_t *residual, uint8_t *out, int32_t pixels, const int first,
                             const int relu, const int folded)
{
    const __m512i none = _mm512_setzero_si512();
    const finish_set set = *s;
    for (int32_t i = 0; i < pixels; i += 4, sums += 4 * TILE) {
        __m512i x[4], low = none, high = none;
        SK_UNROLL
        for (int k = 0; k < 4; k++)
            x[k] = _mm512_cvtps_epi32(sum_scaled(_mm512_load_si512(sums + k * TILE), scale, bias));
        if (residual) {
            const __m512i r = in_order(_mm512_loadu_si512(residual + i * SK_BLOCK));
            low = _mm512_unpacklo_epi8(r, none);
            high = _mm512_unpackhi_epi8(r, none);
        }
        const __m512i a = finish_32(&set, _mm512_packs_epi32(x[0], x[1]), low, residual != NULL, first, relu,
                                    folded),
                      b = finish_32(&set, _mm512_packs_epi32(x[2], x[3]), high, residual != NULL, first, relu,
                                    folded);
        _mm512_storeu_si512(out + i * SK_BLOCK, in_order(_mm512_packus_epi16(a, b)));
    }
}

/* Pixel beside pixel. */
static void tile_bytes(const sk_conv_u8c16 *p, const finish_set *s, const int32_t *sums, int32_t block,
                       const uint8_t *residual, uint8_t *out, int32_t pixels)
{
    const float *scale = p->scale + block * SK_BLOCK, *bias = p->bias + block * SK_BLOCK;
    const sk_act_i16 *act = p->finish.act;
    if (act->folded && !residual)
        sums_to_bytes(s, sums, scale, bias, NULL, out, pixels, 0, 1, 1);
    else if (act->folded && !p->finish.residual_first)
        sums_to_bytes(s, sums, scale, bias, residual, out, pixels, 0, 1, 1);
    else if (!residual)
        sums_to_bytes(s, sums, scale, bias, NULL, out, pixels, 0, act->relu, 0);
    else
        sums_to_bytes(s, sums, scale, bias, residual, out, pixels, p->finish.residual_first, act->relu,
                      act->folded);
}

/* What the map at half the size adds to the sums of one block, from pixel x on. */
static void tile_add_half(const sk_conv_u8c16 *p, int32_t *sums, int32_t block, int32_t y, int32_t x,
                          int32_t pixels)
{
    const int32_t *half = p->half_sums + block * p->half_plane + y / 2 * p->half_row;
    for (int32_t i = 0; i < pixels; i++) {
        const sum_vec sum = sum_add(_mm512_load_si512(sums + i * TILE), half + (x + i) / 2 * SK_BLOCK);
        sum_store(sum, sums + i * TILE);
    }
}

/* What follows the sums of one block: to bytes or floats, from pixel x on; or nothing. */
static void tile_out(const sk_conv_u8c16 *p, const finish_set *s, const int32_t *sums, int32_t block,
                     int32_t y, int32_t x, int32_t pixels)
{
    _Alignas(64) int16_t kept[TILE_STRIP * SK_BLOCK];
    const float *scale = p->scale + block * SK_BLOCK, *bias = p->bias + block * SK_BLOCK;
    if (p->out && p->out_pixel == SK_BLOCK) {
        const uint8_t *residual = p->residual ? p->residual + block * p->residual_plane +
                                                    y * p->residual_row + (ptrdiff_t)x * SK_BLOCK
                                              : NULL;
        tile_bytes(p, s, sums, block, residual,
                   p->out + block * p->out_plane + y * p->out_row + (ptrdiff_t)x * SK_BLOCK, pixels);
        return;
    }
    if (p->out_sums) {
        int32_t *out = p->out_sums + block * p->out_plane + y * p->out_row + x * p->out_pixel;
        for (int32_t i = 0; i < pixels; i++)
            sum_store(_mm512_load_si512(sums + i * TILE), out + i * p->out_pixel);
        return;
    }
    if (!p->out) {
        float *out = p->out_f32 + block * p->out_plane + y * p->out_row + x * p->out_pixel;
        for (int32_t i = 0; i < pixels; i++)
            sum_to_f32(_mm512_load_si512(sums + i * TILE), scale, bias, out + i * p->out_pixel);
        return;
    }
    for (int32_t i = 0; i < pixels; i++)
        sum_to_x(_mm512_load_si512(sums + i * TILE), scale, bias, kept + i * SK_BLOCK);
    u8_strip_out(p, kept, block, y, x, pixels);
}

static void tile_row(const sk_conv_u8c16 *p, const tile_walk *t, int32_t g0, int32_t g1, int32_t y)
{
    _Alignas(64) uint8_t gathered[TILE_GATHERED];
    _Alignas(64) int32_t sums[2][TILE_STRIP * TILE], start[2 * TILE];
    const finish_set finish = p->out ? finish_set_of(&p->finish) : (finish_set){0};
    const uint8_t *row = p->in + (ptrdiff_t)y * p->stride_h * p->in_row;
    const int32_t last = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    for (int32_t x = 0, pixels; (pixels = tile_strip(p->out_w, &x)) > 0; x += pixels) {
        const uint8_t *in = row + (ptrdiff_t)x * p->stride_w * SK_BLOCK;
        if (t->gathered) {
            tile_gather(in, p->in_plane, (ptrdiff_t)p->stride_w * SK_BLOCK, p->in_blocks, t->depth, pixels,
                        gathered);
            in = gathered;
        }
        for (int32_t block = g0 * p->width; block < last;) {
            const int32_t g = block / p->width, end = (g + 1) * p->width < last ? (g + 1) * p->width : last;
            const int32_t blocks = end - block < 2 ? 1 : 2;
            tile_walk walk = *t; /* a narrower last group has narrower rows */
            walk.weight_row = 64 * (end - g * p->width);
            for (int32_t j = 0; j < blocks; j++)
                _mm512_store_si512(start + j * TILE, sum_start(p->sums + (block + j) * TILE, -p->in_zero));
            tile_sums_of(&walk, in,
                         (const uint8_t *)p->weights + g * p->group_weights + (block - g * p->width) * 64,
                         start, sums, sizeof sums[0], pixels, blocks);
            for (int32_t j = 0; j < blocks; j++) {
                if (p->half_sums)
                    tile_add_half(p, sums[j], block + j, y, x, pixels);
                tile_out(p, &finish, sums[j], block + j, y, x, pixels);
            }
            block += blocks;
        }
    }
}

static bool by_tiles(const sk_conv_u8c16 *p)
{
    for (int32_t b = 0; b < p->in_blocks; b++)
        if (p->fill[b] != SK_BLOCK)
            return false;
    return p->in_pixel == SK_BLOCK && p->out_w >= TILE;
}

static void tile_conv(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    if (!by_tiles(p)) {
        u8_conv(p, g0, g1, y0, y1);
        return;
    }
    const tile_walk walk =
        tile_walk_of(p->in_blocks, p->kernel_h, p->kernel_w, p->in_plane, p->dilation_h * p->in_row,
                     (ptrdiff_t)p->dilation_w * SK_BLOCK, (ptrdiff_t)p->stride_w * SK_BLOCK, p->width);
    tiles_open(walk.depth);
    if (p->groups_outer) {
        for (int32_t g = g0; g < g1; g++)
            for (int32_t y = y0; y < y1; y++)
                tile_row(p, &walk, g, g + 1, y);
    } else {
        for (int32_t y = y0; y < y1; y++)
            tile_row(p, &walk, g0, g1, y);
    }
    _tile_release();
}

void sk_kernels_u8_amx(sk_kernels_u8 *table)
{
    table_u8_fill(table, "amx");
    table->depthwise = u8_depthwise_columns;
    table->conv = tile_conv;
    table->whole_blocks = 1;
    table->winograd = NULL; /* tiles of bytes are quicker than words */
}
