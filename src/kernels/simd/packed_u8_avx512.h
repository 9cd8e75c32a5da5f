/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_PACKED_U8_AVX512_H
#define SK_KERNELS_SIMD_PACKED_U8_AVX512_H

/* Included by conv_u8_impl.h. A last output block of which eight or four outputs are used would leave half or three
 * quarters of every dot product's lanes idle: here they hold the same outputs of the next pixel, or of the next three. `pack` pixels are
 * one vector of sums; their bytes are put together from the broadcasts that the full blocks need anyway. */

/* The used weights of the last block, again for every pixel of a vector. */
SK_INLINE weight_vec packed_weights(const int8_t *w, const int pack)
{
    return pack == 2 ? _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(const void *)w))
                     : _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)w));
}
SK_INLINE __mmask16 packed_lanes(const int i, const int pack)
{
    return (__mmask16)(pack == 2 ? 0xff << 8 * i : 0xf << 4 * i);
}
SK_INLINE __m512 packed_floats(const float *p, const int pack)
{
    return pack == 2 ? _mm512_broadcast_f32x8(_mm256_loadu_ps(p)) : _mm512_broadcast_f32x4(_mm_loadu_ps(p));
}

/* Sums of `pack` pixels to x or floats; the outputs that are not used become 0, as from weights of 0. */
SK_INLINE void packed_store(const u8_tile *t, sum_vec sum, const int at, const int pixel, const int pack)
{
    const __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), packed_floats(t->scale + at * SK_BLOCK, pack),
                                     packed_floats(t->bias + at * SK_BLOCK, pack));
    if (!t->x) {
        float *out = t->out + at * t->out_plane + pixel * t->out_pixel;
        for (int i = 0; i < pack; i++) {
            const __m512 one = _mm512_maskz_compress_ps(packed_lanes(i, pack), y);
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
    const sum_vec start = _mm512_mullo_epi32(
        packed_weights((const int8_t *)(t->sums + full * SUM_COUNT), pack), _mm512_set1_epi32(t->start_by));
    SK_UNROLL
    for (int q = 0; q < pixels / pack; q++)
        rest[q] = start;
    const ptrdiff_t next = step ? step : t->pixel_step;
    const int8_t *w = t->weights;
    const uint8_t *plane = t->in;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane) {
        const int32_t bytes = (t->fill[b] + 3) & ~3;
        for (int32_t ky = 0; ky < t->kernel_h; ky++) {
            const uint8_t *tap = plane + ky * t->row_step;
            for (int32_t kx = 0; kx < t->kernel_w; kx++, tap += t->column_step) {
                const uint8_t *x = tap;
                for (const uint8_t *end = x + bytes; x < end; x += 4, w += (full + 1) * SK_BLOCK * 4) {
                    weight_vec wv[4];
                    SK_UNROLL
                    for (int j = 0; j < full; j++)
                        wv[j] = weight_load(w + j * SK_BLOCK * 4);
                    const weight_vec last = packed_weights(w + full * SK_BLOCK * 4, pack);
                    SK_UNROLL
                    for (int q = 0; q < pixels / pack; q++) {
                        byte_vec several;
                        SK_UNROLL
                        for (int i = 0; i < pack; i++) {
                            const int p = q * pack + i;
                            byte_vec v = byte_spread(x + p * next);
                            SK_UNROLL
                            for (int j = 0; j < full; j++)
                                sum_dot(acc[p][j], v, wv[j]);
                            several = i ? _mm512_mask_mov_epi32(several, packed_lanes(i, pack), v) : v;
                        }
                        sum_dot(rest[q], several, last);
                    }
                }
            }
        }
    }
    SK_UNROLL
    for (int j = 0; j < full; j++) {
        SK_UNROLL
        for (int p = 0; p < pixels; p++) {
            if (t->x)
                sum_to_x(acc[p][j], t->scale + j * SK_BLOCK, t->bias + j * SK_BLOCK,
                         t->x + j * t->out_plane + p * SK_BLOCK);
            else
                sum_to_f32(acc[p][j], t->scale + j * SK_BLOCK, t->bias + j * SK_BLOCK,
                           t->out + j * t->out_plane + p * t->out_pixel);
        }
    }
    SK_UNROLL
    for (int q = 0; q < pixels / pack; q++)
        packed_store(t, rest[q], full, q * pack, pack);
}

/* Pixels of a tile, by pack and group width: sums, weights and two vectors of bytes are at most 32. */
#define PACKED_2(M, S)                                                                                       \
    M(2, S, 2, 1)                                                                                            \
    M(2, S, 4, 1) M(2, S, 6, 1) M(2, S, 8, 1) M(2, S, 10, 1) M(2, S, 12, 1) M(2, S, 14, 1) M(2, S, 16, 1)    \
        M(2, S, 2, 2) M(2, S, 4, 2) M(2, S, 6, 2) M(2, S, 8, 2) M(2, S, 10, 2) M(2, S, 12, 2) M(2, S, 14, 2) \
            M(2, S, 16, 2) M(2, S, 2, 3) M(2, S, 4, 3) M(2, S, 6, 3) M(2, S, 8, 3) M(2, S, 10, 3)            \
                M(2, S, 2, 4) M(2, S, 4, 4) M(2, S, 6, 4)
#define PACKED_4(M, S)                                                                                       \
    M(4, S, 4, 1)                                                                                            \
    M(4, S, 8, 1) M(4, S, 12, 1) M(4, S, 16, 1) M(4, S, 20, 1) M(4, S, 4, 2) M(4, S, 8, 2) M(4, S, 12, 2)    \
        M(4, S, 16, 2) M(4, S, 20, 2) M(4, S, 4, 3) M(4, S, 8, 3) M(4, S, 12, 3) M(4, S, 4, 4) M(4, S, 8, 4)
static const int8_t packed_pixels[5][5] = {[2] = {0, 16, 16, 10, 6}, [4] = {0, 20, 20, 12, 8}};

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

/* Pixels a vector of the group's last block holds: 1 where that is not so few outputs. */
static int32_t packed_count(const sk_conv_u8c16 *p, int32_t blocks_before)
{
    const int32_t used = blocks_before == p->out_blocks ? p->last_outputs : 0;
    return used == 0 || used > 8 ? 1 : used > 4 ? 2 : 4;
}

static const u8_tile_fn *packed_tiles(ptrdiff_t pixel_step, int32_t pack)
{
    return (pixel_step == 16 ? packed_16 : pixel_step == 32 ? packed_32 : packed_any)[pack / 4];
}

/* How many of the `left` pixels of a row the next tile takes: as equal as multiples of `pack` allow; 0: fewer than that are left. */
static int32_t packed_next(int32_t left, int32_t pack, int32_t width)
{
    const int32_t most = packed_pixels[pack][width], count = (left + most - 1) / most;
    const int32_t even = (left / count + pack - 1) / pack * pack;
    return even <= left ? (even < most ? even : most) : left / pack * pack;
}

#endif
