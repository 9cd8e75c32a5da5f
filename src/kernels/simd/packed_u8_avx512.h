/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_PACKED_U8_AVX512_H
#define SK_KERNELS_SIMD_PACKED_U8_AVX512_H

/* Included by conv_u8_impl.h: its tiles with a packed last block. */

#define packed_dot sum_dot
#include "kernels/simd/packed_avx512.h"

SK_INLINE __m512 packed_floats(const float *p, const int pack)
{
    return pack == 2 ? _mm512_broadcast_f32x8(_mm256_loadu_ps(p)) : _mm512_broadcast_f32x4(_mm_loadu_ps(p));
}

/* What each of `pack` pixels adds to its sums. */
SK_INLINE sum_vec packed_add_half(const u8_tile *t, sum_vec sum, const int at, const int pixel,
                                  const int pack)
{
    __m512i half;
    SK_UNROLL
    for (int i = 0; i < pack; i++) {
        const __m512i one = packed_load(u8_half_at(t, pixel + i) + at * t->half_plane, pack);
        half = i ? _mm512_mask_mov_epi32(half, packed_part(i, pack), one) : one;
    }
    return _mm512_add_epi32(sum, half);
}

/* Sums of `pack` pixels to x, floats or as they are; the outputs that are not used become 0, as from weights of 0. */
SK_INLINE void packed_store(const u8_tile *t, sum_vec sum, const int at, const int pixel, const int pack)
{
    if (t->out_sums) {
        int32_t *out = t->out_sums + at * t->out_plane + pixel * t->out_pixel;
        for (int i = 0; i < pack; i++)
            sum_store(_mm512_maskz_compress_epi32(packed_part(i, pack), sum), out + i * t->out_pixel);
        return;
    }
    const __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), packed_floats(t->scale + at * SK_BLOCK, pack),
                                     packed_floats(t->bias + at * SK_BLOCK, pack));
    if (!t->x) {
        float *out = t->out + at * t->out_plane + pixel * t->out_pixel;
        for (int i = 0; i < pack; i++) {
            const __m512 one = _mm512_maskz_compress_ps(packed_part(i, pack), y);
            _mm512_storeu_ps(out + i * t->out_pixel, one);
        }
        return;
    }
    int16_t *x = t->x + at * t->out_plane + pixel * SK_BLOCK;
    const __m256i all = _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(y));
    const __m128i half[2] = {_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)};
    SK_UNROLL
    for (int i = 0; i < pack; i++) {
        const __m128i one = pack == 2    ? half[i]
                            : i % 2 == 0 ? _mm_move_epi64(half[i / 2])
                                         : _mm_srli_si128(half[i / 2], 8);
        _mm256_storeu_si256((__m256i *)(void *)(x + i * SK_BLOCK), _mm256_zextsi128_si256(one));
    }
}

SK_INLINE void packed_run(const u8_tile *t, const int step, const int pixels, const int full, const int pack)
{
    enum { MOST = 20 };
    sum_vec acc[MOST][4], rest[MOST / 2];
    SK_UNROLL
    for (int j = 0; j < full; j++) {
        sum_vec start = sum_start(t->sums + j * SUM_COUNT, t->start_by);
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            acc[p][j] = start;
    }
    const sum_vec start =
        _mm512_mullo_epi32(packed_load(t->sums + full * SUM_COUNT, pack), _mm512_set1_epi32(t->start_by));
    SK_UNROLL
    for (int q = 0; q < pixels / pack; q++)
        rest[q] = start;
    const packed_map map = {t->in,   t->plane,  t->row_step, t->column_step, t->pixel_step,
                            t->fill, t->blocks, t->kernel_h, t->kernel_w,    (const uint8_t *)t->weights};
    packed_sums(&map, acc, rest, 4, step, pixels, full, pack);
    if (t->half) {
        u8_tile_add_half(t, acc, pixels, full);
        SK_UNROLL
        for (int q = 0; q < pixels / pack; q++)
            rest[q] = packed_add_half(t, rest[q], full, q * pack, pack);
    }
    u8_tile_store(t, acc, pixels, full);
    SK_UNROLL
    for (int q = 0; q < pixels / pack; q++)
        packed_store(t, rest[q], full, q * pack, pack);
}

#define PACKED_DEFINE(K, S, P, W)                                                                            \
    static void packed_##K##_##S##_##P##x##W(const u8_tile *t)                                               \
    {                                                                                                        \
        packed_run(t, S, P, W - 1, K);                                                                       \
    }
#define PACKED_ENTRY(K, S, P, W) [K / 4][W * 32 + P] = packed_##K##_##S##_##P##x##W,
PACKED_2(PACKED_DEFINE, 0)
PACKED_2(PACKED_DEFINE, 16)
PACKED_2(PACKED_DEFINE, 32)
PACKED_4(PACKED_DEFINE, 0)
PACKED_4(PACKED_DEFINE, 16)
PACKED_4(PACKED_DEFINE, 32)
static const u8_tile_fn packed_any[2][5 * 32] = {PACKED_2(PACKED_ENTRY, 0) PACKED_4(PACKED_ENTRY, 0)};
static const u8_tile_fn packed_16[2][5 * 32] = {PACKED_2(PACKED_ENTRY, 16) PACKED_4(PACKED_ENTRY, 16)};
static const u8_tile_fn packed_32[2][5 * 32] = {PACKED_2(PACKED_ENTRY, 32) PACKED_4(PACKED_ENTRY, 32)};

/* 1 where the group's last block has more outputs than are packed. */
static int32_t packed_count(const sk_conv_u8c16 *p, int32_t blocks_before)
{
    return packed_pack(blocks_before == p->out_blocks ? p->last_outputs : 0);
}

static const u8_tile_fn *packed_tiles(ptrdiff_t pixel_step, int32_t pack)
{
    return (pixel_step == 16 ? packed_16 : pixel_step == 32 ? packed_32 : packed_any)[pack / 4];
}

#endif
