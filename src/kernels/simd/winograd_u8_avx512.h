/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_WINOGRAD_U8_AVX512_H
#define SK_KERNELS_SIMD_WINOGRAD_U8_AVX512_H

/* Winograd F(4x4, 3x3) on bytes, exactly: 36 products of words where tap by tap takes 144 of bytes, and an instruction does
 * half as many words as bytes. Included by the file that has conv_u8_impl.h; kernels_u8.h says why the sums come out right.
 *
 * `batch_tiles` tiles go together: V = B^T d B in words of all input blocks, then, one group of output blocks after the
 * other, M = U V at each of the 36 points, and A^T M A, which is 576 times the sums. A last block of few outputs is packed as in
 * packed_avx512.h: a vector holds two or four tiles.
 * V and M as in words_avx512.h, X [row][4 * tile + column][16] words. */

#include "kernels/simd/words_avx512.h"

#define WINO_POINTS 36

/* --- bytes to V --- */

/* Two of the six points along one axis: 1 and 2, 3 and 4, or 0 and 5. All 36 words of a patch do not fit the registers; two
 * columns of points do. */
SK_INLINE void words_bt(const __m256i d[6], const int which, __m256i *first, __m256i *second)
{
    if (which == 1) {
        const __m256i t0 = _mm256_sub_epi16(d[4], _mm256_slli_epi16(d[2], 2));
        const __m256i t1 = _mm256_sub_epi16(d[3], _mm256_slli_epi16(d[1], 2));
        *first = _mm256_add_epi16(t0, t1);
        *second = _mm256_sub_epi16(t0, t1);
    } else if (which == 3) {
        const __m256i t2 = _mm256_sub_epi16(d[4], d[2]), t3 = _mm256_sub_epi16(d[3], d[1]);
        const __m256i twice = _mm256_add_epi16(t3, t3);
        *first = _mm256_add_epi16(t2, twice);
        *second = _mm256_sub_epi16(t2, twice);
    } else {
        *first = _mm256_add_epi16(_mm256_slli_epi16(_mm256_sub_epi16(d[0], d[2]), 2),
                                  _mm256_sub_epi16(d[4], d[2]));
        *second = _mm256_add_epi16(_mm256_slli_epi16(_mm256_sub_epi16(d[1], d[3]), 2),
                                   _mm256_sub_epi16(d[5], d[3]));
    }
}

SK_INLINE void words_columns(const uint8_t *in, ptrdiff_t row, int16_t *v, size_t step, const int which)
{
    const int other = which ? which + 1 : 5;
    __m256i b[2][6];
    SK_UNROLL
    for (int y = 0; y < 6; y++) {
        __m256i d[6];
        SK_UNROLL
        for (int x = 0; x < 6; x++)
            d[x] = _mm256_cvtepu8_epi16(
                _mm_loadu_si128((const __m128i *)(const void *)(in + y * row + x * SK_BLOCK)));
        words_bt(d, which, &b[0][y], &b[1][y]);
    }
    SK_UNROLL
    for (int i = 0; i < 2; i++) {
        int16_t *to = v + (size_t)(i ? other : which) * step;
        SK_UNROLL
        for (int k = 0; k < 5; k += 2) { /* 0, 2, 4: points 0 and 5, 1 and 2, 3 and 4 */
            const int at = k ? k - 1 : 0, next = k ? k : 5;
            __m256i first, second;
            words_bt(b[i], at, &first, &second);
            _mm256_storeu_si256((__m256i *)(void *)(to + (size_t)(6 * at) * step), first);
            _mm256_storeu_si256((__m256i *)(void *)(to + (size_t)(6 * next) * step), second);
        }
    }
}

/* One patch of one block; points are `step` words apart. */
SK_INLINE void words_input_tile(const uint8_t *in, ptrdiff_t row, int16_t *v, size_t step)
{
    words_columns(in, row, v, step, 0);
    words_columns(in, row, v, step, 1);
    words_columns(in, row, v, step, 3);
}

static void words_input(const sk_conv_u8c16 *p, int32_t columns, int32_t t0, int32_t count, int16_t *v)
{
    const size_t step = (size_t)words_step(p->in_blocks, p->batch_tiles);
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t i = 0; i < count; i++) {
            const int32_t y = (t0 + i) / columns * 4, x = (t0 + i) % columns * 4;
            const uint8_t *in = p->in + b * p->in_plane + y * p->in_row + (ptrdiff_t)x * SK_BLOCK;
            int16_t *to = v + ((size_t)b * (size_t)p->batch_tiles + (size_t)i) * SK_BLOCK;
            /* what may be read: a row and a column more on each side than there are outputs */
            const int32_t rows = p->out_h + 2 - y, pixels = p->out_w + 2 - x;
            if (rows >= 6 && pixels >= 6) {
                words_input_tile(in, p->in_row, to, step);
                continue;
            }
            uint8_t patch[6 * 6 * SK_BLOCK] = {0};
            for (int32_t r = 0; r < (rows < 6 ? rows : 6); r++)
                __builtin_memcpy(patch + r * 6 * SK_BLOCK, in + r * p->in_row,
                                 (size_t)(pixels < 6 ? pixels : 6) * SK_BLOCK);
            words_input_tile(patch, 6 * SK_BLOCK, to, step);
        }
}

/* --- M to X --- */

SK_INLINE void words_at(const __m512i m[6], __m512i o[4])
{
    const __m512i a = _mm512_add_epi32(m[1], m[2]), b = _mm512_sub_epi32(m[1], m[2]);
    const __m512i c = _mm512_add_epi32(m[3], m[4]), e = _mm512_sub_epi32(m[3], m[4]);
    o[0] = _mm512_add_epi32(_mm512_add_epi32(m[0], a), c);
    o[1] = _mm512_add_epi32(b, _mm512_add_epi32(e, e));
    o[2] = _mm512_add_epi32(a, _mm512_slli_epi32(c, 2));
    o[3] = _mm512_add_epi32(b, _mm512_slli_epi32(_mm512_add_epi32(m[5], _mm512_slli_epi32(e, 2)), 1));
}

/* What becomes of 576 times a sum. */
typedef struct words_end {
    __m512i start;
    __m512 scale, bias;
} words_end;

SK_INLINE __m256i words_to_x(const words_end *e, __m512i v)
{
    const __m512i ninth = _mm512_set1_epi32((int32_t)SK_NINTH);
    const __m512i sum = _mm512_add_epi32(_mm512_srai_epi32(_mm512_mullo_epi32(v, ninth), 6), e->start);
    const __m512 y = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), e->scale, e->bias);
    return _mm512_cvtsepi32_epi16(_mm512_cvtps_epi32(y));
}

SK_INLINE void words_put(int16_t *x, __m256i all, const int pack)
{
    const __m128i half[2] = {_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)};
    if (pack == 1) {
        _mm256_storeu_si256((__m256i *)(void *)x, all);
        return;
    }
    SK_UNROLL
    for (int i = 0; i < pack; i++) {
        const __m128i one = pack == 2    ? half[i]
                            : i % 2 == 0 ? _mm_move_epi64(half[i / 2])
                                         : _mm_srli_si128(half[i / 2], 8);
        _mm256_storeu_si256((__m256i *)(void *)(x + i * 4 * SK_BLOCK), _mm256_zextsi128_si256(one));
    }
}

/* One vector's 4x4 outputs: of a tile, or of as many as are packed. */
SK_INLINE void words_output_tile(const int32_t *m, size_t step, const words_end *e, int16_t *x, ptrdiff_t row,
                                 const int pack)
{
    __m512i b[4][6];
    SK_UNROLL
    for (int i = 0; i < 6; i++) {
        __m512i d[6], o[4];
        SK_UNROLL
        for (int y = 0; y < 6; y++)
            d[y] = _mm512_loadu_si512(m + (size_t)(y * 6 + i) * step);
        words_at(d, o);
        SK_UNROLL
        for (int y = 0; y < 4; y++)
            b[y][i] = o[y];
    }
    SK_UNROLL
    for (int y = 0; y < 4; y++) {
        __m512i o[4];
        words_at(b[y], o);
        SK_UNROLL
        for (int i = 0; i < 4; i++)
            words_put(x + y * row + i * SK_BLOCK, words_to_x(e, o[i]), pack);
    }
}

SK_INLINE void words_outputs(const int32_t *m, size_t step, const words_end *e, int16_t *x, ptrdiff_t row,
                             int32_t count, const int pack)
{
    for (int32_t i = 0; i < count; i += pack)
        words_output_tile(m + (ptrdiff_t)(i / pack) * SK_BLOCK, step, e, x + (ptrdiff_t)i * 4 * SK_BLOCK, row,
                          pack);
}

/* Bytes of one block: rows of X, as far as tiles lie side by side. */
static void words_bytes(const sk_conv_u8c16 *p, int32_t columns, int32_t t0, int32_t count, int32_t block,
                        const int16_t *x)
{
    for (int32_t i = 0, n; i < count; i += n) {
        const int32_t y = (t0 + i) / columns * 4, column = (t0 + i) % columns;
        n = columns - column < count - i ? columns - column : count - i;
        const int32_t from = column * 4, left = p->out_w - from, pixels = left < n * 4 ? left : n * 4;
        for (int32_t r = 0; r < 4 && y + r < p->out_h; r++) {
            const ptrdiff_t at = (ptrdiff_t)from * SK_BLOCK;
            finish_row(&p->finish, x + (ptrdiff_t)(r * p->batch_tiles + i) * 4 * SK_BLOCK,
                       p->residual ? p->residual + block * p->residual_plane + (y + r) * p->residual_row + at
                                   : NULL,
                       p->out + block * p->out_plane + (y + r) * p->out_row + at, (size_t)pixels * SK_BLOCK);
        }
    }
}

static void words_block(const sk_conv_u8c16 *p, int32_t columns, int32_t t0, int32_t count, int32_t block,
                        int32_t pack, const int32_t *m, size_t step, int16_t *x)
{
    const int32_t *sums = p->sums + block * SK_BLOCK;
    const float *scale = p->scale + block * SK_BLOCK, *bias = p->bias + block * SK_BLOCK;
    const ptrdiff_t row = (ptrdiff_t)p->batch_tiles * 4 * SK_BLOCK;
    const __m512i by = _mm512_set1_epi32(-p->in_zero);
    words_end e = {_mm512_mullo_epi32(pack > 1 ? packed_load(sums, pack) : _mm512_loadu_si512(sums), by),
                   pack > 1 ? packed_floats(scale, pack) : _mm512_loadu_ps(scale),
                   pack > 1 ? packed_floats(bias, pack) : _mm512_loadu_ps(bias)};
    if (pack == 1)
        words_outputs(m, step, &e, x, row, count, 1);
    else if (pack == 2)
        words_outputs(m, step, &e, x, row, count, 2);
    else
        words_outputs(m, step, &e, x, row, count, 4);
    words_bytes(p, columns, t0, count, block, x);
}

static void u8_winograd(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t t0, int32_t t1, void *scratch)
{
    const int32_t columns = (p->out_w + 3) / 4, batch = p->batch_tiles;
    const words_set set = {(const int16_t *)(const void *)p->weights,
                           p->point_weights / 2,
                           p->group_weights / 2,
                           p->fill,
                           p->in_blocks,
                           p->tile,
                           batch,
                           WINO_POINTS};
    int16_t *v = scratch, *x = v + WINO_POINTS * words_step(p->in_blocks, batch);
    int32_t *m = (int32_t *)(void *)(x + (ptrdiff_t)16 * batch * SK_BLOCK);
    for (int32_t first = t0; first < t1; first += batch) {
        const int32_t count = t1 - first < batch ? t1 - first : batch;
        words_input(p, columns, first, count, v);
        for (int32_t g = g0; g < g1; g++) {
            const int32_t block = g * p->width;
            const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
            const int32_t pack = packed_count(p, block + width);
            words_products(&set, g, width, count, pack, v, m);
            for (int32_t j = 0; j < width; j++)
                words_block(p, columns, first, count, block + j, j + 1 == width ? pack : 1,
                            m + (ptrdiff_t)j * batch * SK_BLOCK, (size_t)sums_step(width, batch), x);
        }
    }
}

#endif
