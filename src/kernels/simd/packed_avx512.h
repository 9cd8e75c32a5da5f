/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_PACKED_AVX512_H
#define SK_KERNELS_SIMD_PACKED_AVX512_H

#include "kernels/kernels.h"
#include "kernels/simd/compiler.h"

#include <immintrin.h>

/* Convolution whose last output block has eight or four outputs in use: the other half or three quarters of every dot product
 * hold the same outputs of the next pixel, or of the next three. `pack` pixels are one vector of sums; their
 * inputs are put together from the broadcasts that the full blocks need anyway. packed_sums is there where the file that includes it has said
 *   packed_dot(sum, inputs, weights)  sums of four bytes, or of two bf16
 * and reads its maps and weights as bytes. */

typedef struct packed_map {
    const uint8_t *in;
    ptrdiff_t plane, row_step, column_step, pixel_step; /* in bytes */
    const uint8_t *fill;
    int32_t blocks, kernel_h, kernel_w;
    const uint8_t *weights;
} packed_map;

/* 64 bytes whose used part stands there for every pixel of a vector. */
SK_INLINE __m512i packed_load(const void *p, const int pack)
{
    return pack == 2 ? _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p))
                     : _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}
SK_INLINE __mmask16 packed_part(const int i, const int pack)
{
    return (__mmask16)(pack == 2 ? 0xff << 8 * i : 0xf << 4 * i);
}
SK_INLINE __m512i packed_spread(const uint8_t *p)
{
    __m512i v;
    __asm__("vpbroadcastd %1, %0" : "=v"(v) : "m"(*(const int32_t(*)[1])(const void *)p));
    return v;
}

#ifdef packed_dot
/* per: channels of a dot product; step: bytes from pixel to pixel, 0: taken from the map; full: blocks before the last. */
SK_INLINE void packed_sums(const packed_map *t, __m512i acc[][4], __m512i *rest, const int per,
                           const int step, const int pixels, const int full, const int pack)
{
    const ptrdiff_t next = step ? step : t->pixel_step;
    const uint8_t *w = t->weights, *plane = t->in;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane) {
        const int32_t bytes = (t->fill[b] + per - 1) / per * 4;
        for (int32_t ky = 0; ky < t->kernel_h; ky++) {
            const uint8_t *tap = plane + ky * t->row_step;
            for (int32_t kx = 0; kx < t->kernel_w; kx++, tap += t->column_step) {
                const uint8_t *x = tap;
                for (const uint8_t *end = x + bytes; x < end; x += 4, w += (full + 1) * SK_BLOCK * 4) {
                    __m512i wv[4];
                    SK_UNROLL
                    for (int j = 0; j < full; j++)
                        wv[j] = _mm512_loadu_si512(w + j * SK_BLOCK * 4);
                    const __m512i last = packed_load(w + full * SK_BLOCK * 4, pack);
                    SK_UNROLL
                    for (int q = 0; q < pixels / pack; q++) {
                        __m512i several;
                        SK_UNROLL
                        for (int i = 0; i < pack; i++) {
                            const int p = q * pack + i;
                            __m512i v = packed_spread(x + p * next);
                            SK_UNROLL
                            for (int j = 0; j < full; j++)
                                packed_dot(acc[p][j], v, wv[j]);
                            several = i ? _mm512_mask_mov_epi32(several, packed_part(i, pack), v) : v;
                        }
                        packed_dot(rest[q], several, last);
                    }
                }
            }
        }
    }
}

#endif

/* Pixels of a tile, by pack and group width: sums, weights and two vectors of bytes are at most 32. */
#define PACKED_2_TO_6(M, S, W)  M(2, S, 2, W) M(2, S, 4, W) M(2, S, 6, W)
#define PACKED_2_TO_10(M, S, W) PACKED_2_TO_6(M, S, W) M(2, S, 8, W) M(2, S, 10, W)
#define PACKED_2_TO_16(M, S, W) PACKED_2_TO_10(M, S, W) M(2, S, 12, W) M(2, S, 14, W) M(2, S, 16, W)
#define PACKED_4_TO_8(M, S, W)  M(4, S, 4, W) M(4, S, 8, W)
#define PACKED_4_TO_12(M, S, W) PACKED_4_TO_8(M, S, W) M(4, S, 12, W)
#define PACKED_4_TO_20(M, S, W) PACKED_4_TO_12(M, S, W) M(4, S, 16, W) M(4, S, 20, W)
#define PACKED_2(M, S)                                                                                       \
    PACKED_2_TO_16(M, S, 1) PACKED_2_TO_16(M, S, 2) PACKED_2_TO_10(M, S, 3) PACKED_2_TO_6(M, S, 4)
#define PACKED_4(M, S)                                                                                       \
    PACKED_4_TO_20(M, S, 1) PACKED_4_TO_20(M, S, 2) PACKED_4_TO_12(M, S, 3) PACKED_4_TO_8(M, S, 4)
static const int8_t packed_pixels[5][5] = {[2] = {0, 16, 16, 10, 6}, [4] = {0, 20, 20, 12, 8}};

/* Pixels that a vector of a block with so many outputs in use holds; 0: all of them. */
SK_INLINE int32_t packed_pack(int32_t used)
{
    return used == 0 || used > 8 ? 1 : used > 4 ? 2 : 4;
}

/* How many of the `left` pixels of a row the next tile takes: as equal as multiples of `pack` allow; 0: fewer than that are left. */
static int32_t packed_next(int32_t left, int32_t pack, int32_t width)
{
    const int32_t most = packed_pixels[pack][width], count = (left + most - 1) / most;
    const int32_t even = (left / count + pack - 1) / pack * pack;
    return even <= left ? (even < most ? even : most) : left / pack * pack;
}

#endif
