/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_WORDS_AVX512_H
#define SK_KERNELS_SIMD_WORDS_AVX512_H

#include "kernels/simd/packed_avx512.h"
#include "kernels/simd/tiles.h"

/* The products of Winograd's transforms as words, M = U V at every point, in 32-bit sums: an instruction adds two channels'.
 * V [point][block][tile][16] words, M [point][block][tile][16] sums, weights [point][group][block][channel / 2][16 * width][2]. A
 * last block of few outputs is packed as in packed_avx512.h: a vector holds two or four tiles. */

typedef struct words_set {
    const int16_t *weights;
    ptrdiff_t point_weights, group_weights; /* in words */
    const uint8_t *fill;
    int32_t blocks, tile, batch; /* of the input; tiles in registers; tiles of a round */
    int32_t points;
} words_set;

/* Words, and sums, from point to point: an odd number of cache lines, or all points would fall on a few places of the cache. */
SK_INLINE ptrdiff_t words_step(int32_t blocks, int32_t batch)
{
    return (ptrdiff_t)(blocks * batch / 2 | 1) * 32;
}
SK_INLINE ptrdiff_t sums_step(int32_t width, int32_t batch)
{
    return (ptrdiff_t)(width * batch | 1) * 16;
}

typedef struct words_tile {
    const int16_t *v; /* of the first tile, at one point */
    ptrdiff_t plane;
    const uint8_t *fill;
    int32_t blocks;
    const int16_t *weights;
    int32_t *m, *last; /* last: where the packed block's sums go */
    ptrdiff_t m_plane;
} words_tile;

typedef void (*words_tile_fn)(const words_tile *t);

/* Written out, as the other dot products are: the sums stay in registers. */
#define words_dot(sum, words, weights) __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(words), "v"(weights))

/* `tiles` tiles of `full` blocks, and where pack is not 1, of a packed one. */
SK_INLINE void words_run(const words_tile *t, const int tiles, const int full, const int pack)
{
    __m512i acc[20][4], rest[10];
    SK_UNROLL
    for (int p = 0; p < tiles; p++) {
        SK_UNROLL
        for (int j = 0; j < full; j++)
            acc[p][j] = _mm512_setzero_si512();
    }
    if (pack > 1) {
        SK_UNROLL
        for (int q = 0; q < tiles / pack; q++)
            rest[q] = _mm512_setzero_si512();
    }
    const uint8_t *w = (const uint8_t *)t->weights, *plane = (const uint8_t *)t->v;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane * 2) {
        const uint8_t *x = plane;
        for (const uint8_t *end = x + (t->fill[b] + 1) / 2 * 4; x < end;
             x += 4, w += (full + (pack > 1)) * SK_BLOCK * 4) {
            __m512i wv[4], last = _mm512_setzero_si512(), several = last;
            SK_UNROLL
            for (int j = 0; j < full; j++)
                wv[j] = _mm512_loadu_si512(w + j * SK_BLOCK * 4);
            if (pack > 1)
                last = packed_load(w + full * SK_BLOCK * 4, pack);
            SK_UNROLL
            for (int p = 0; p < tiles; p++) {
                const __m512i v = packed_spread(x + p * SK_BLOCK * 2);
                SK_UNROLL
                for (int j = 0; j < full; j++)
                    words_dot(acc[p][j], v, wv[j]);
                if (pack > 1) {
                    several = p % pack ? _mm512_mask_mov_epi32(several, packed_part(p % pack, pack), v) : v;
                    if (p % pack == pack - 1)
                        words_dot(rest[p / pack], several, last);
                }
            }
        }
    }
    SK_UNROLL
    for (int j = 0; j < full; j++) {
        SK_UNROLL
        for (int p = 0; p < tiles; p++)
            _mm512_storeu_si512(t->m + j * t->m_plane + p * SK_BLOCK, acc[p][j]);
    }
    if (pack > 1) {
        SK_UNROLL
        for (int q = 0; q < tiles / pack; q++)
            _mm512_storeu_si512(t->last + q * SK_BLOCK, rest[q]);
    }
}

#define WORDS_TILES(M)                                                                                       \
    SK_TILES_20(M, words, 0, 1)                                                                              \
    SK_TILES_14(M, words, 0, 2) SK_TILES_9(M, words, 0, 3) SK_TILES_6(M, words, 0, 4)
#define WORDS_DEFINE(K, S, P, W)                                                                             \
    static void words_1_##P##x##W(const words_tile *t)                                                       \
    {                                                                                                        \
        words_run(t, P, W, 1);                                                                               \
    }
#define WORDS_ENTRY(K, S, P, W) [W * 32 + P] = words_1_##P##x##W,
#define WORDS_PACKED_DEFINE(K, S, P, W)                                                                      \
    static void words_##K##_##P##x##W(const words_tile *t)                                                   \
    {                                                                                                        \
        words_run(t, P, W - 1, K);                                                                           \
    }
#define WORDS_PACKED_ENTRY(K, S, P, W) [K / 4][W * 32 + P] = words_##K##_##P##x##W,
WORDS_TILES(WORDS_DEFINE)
PACKED_2(WORDS_PACKED_DEFINE, 0)
PACKED_4(WORDS_PACKED_DEFINE, 0)
static const words_tile_fn words_whole[5 * 32] = {WORDS_TILES(WORDS_ENTRY)};
static const words_tile_fn words_packed[2][5 * 32] = {PACKED_2(WORDS_PACKED_ENTRY, 0)
                                                          PACKED_4(WORDS_PACKED_ENTRY, 0)};

/* All points of one group. */
static void words_products(const words_set *s, int32_t g, int32_t width, int32_t count, int32_t pack,
                           const int16_t *v, int32_t *m)
{
    const ptrdiff_t batch = (ptrdiff_t)s->batch * SK_BLOCK;
    const words_tile_fn *fns = pack > 1 ? words_packed[pack / 4] : words_whole;
    words_tile t = {.plane = batch, .fill = s->fill, .blocks = s->blocks, .m_plane = batch};
    const int32_t all = (count + pack - 1) / pack * pack, parts = (all + s->tile - 1) / s->tile;
    for (int32_t k = 0; k < s->points;
         k++, v += words_step(s->blocks, s->batch), m += sums_step(width, s->batch)) {
        t.weights = s->weights + k * s->point_weights + g * s->group_weights;
        for (int32_t i = 0, at = 0; at < all; i++) {
            const int32_t n = pack > 1 ? packed_next(all - at, pack, width) : (all - at) / (parts - i);
            t.v = v + (ptrdiff_t)at * SK_BLOCK;
            t.m = m + (ptrdiff_t)at * SK_BLOCK;
            t.last = m + (width - 1) * batch + (ptrdiff_t)(at / pack) * SK_BLOCK;
            fns[width * 32 + n](&t);
            at += n;
        }
    }
}

#endif
