/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_DEPTHWISE_U8_AVX512_H
#define SK_KERNELS_SIMD_DEPTHWISE_U8_AVX512_H

/* Included behind conv_u8_impl.h: depthwise 3x3 with stride 1 by dot products of bytes, four pixels of two rows at once. Four rows of
 * bytes are interleaved, so that the four above each other are one factor; with weights (w0, w1, w2, 0) the dot product is a column
 * of the upper window, with (0, w0, w1, w2) of the lower. A vector of sums is four channels of four pixels, one pixel a quarter,
 * which is the order that packing them to bytes leaves. */

#define CHANNEL_QUADS 4
#define ACROSS        4 /* pixels of a vector */

typedef struct u8_columns {
    __m512i weights[2][3][CHANNEL_QUADS]; /* [upper or lower row][column][channels] */
    __m512i start[CHANNEL_QUADS];
    __m512 scale[CHANNEL_QUADS], bias[CHANNEL_QUADS];
} u8_columns;

/* Four of sixteen channels' numbers, for every pixel. */
SK_INLINE __m512i quad_of(__m512i all, int32_t quad)
{
    const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3);
    return _mm512_permutexvar_epi32(_mm512_add_epi32(first, _mm512_set1_epi32(4 * quad)), all);
}

static void find_columns(const sk_conv_u8c16 *p, int32_t block, u8_columns *c)
{
    const int32_t *w = (const int32_t *)(const void *)p->weights + (ptrdiff_t)block * 9 * SK_BLOCK;
    const __m512i start = sum_start(p->sums + block * SK_BLOCK, -p->in_zero);
    const __m512i scale = _mm512_loadu_si512(p->scale + block * SK_BLOCK),
                  bias = _mm512_loadu_si512(p->bias + block * SK_BLOCK);
    for (int32_t q = 0; q < CHANNEL_QUADS; q++) {
        c->start[q] = quad_of(start, q);
        c->scale[q] = _mm512_castsi512_ps(quad_of(scale, q));
        c->bias[q] = _mm512_castsi512_ps(quad_of(bias, q));
        for (int32_t x = 0; x < 3; x++) {
            __m512i column = _mm512_setzero_si512();
            for (int32_t y = 3; y-- > 0;) {
                const __m512i tap = _mm512_loadu_si512(w + (3 * y + x) * SK_BLOCK);
                column = _mm512_or_si512(_mm512_slli_epi32(column, 8),
                                         _mm512_and_si512(tap, _mm512_set1_epi32(255)));
            }
            c->weights[0][x][q] = quad_of(column, q);
            c->weights[1][x][q] = _mm512_slli_epi32(c->weights[0][x][q], 8);
        }
    }
}

/* Four pixels of one row: sums to bytes. */
SK_INLINE void quads_to_bytes(const u8_columns *c, const finish_set *s, const sum_vec *sums,
                              const uint8_t *residual, uint8_t *out, const int first, const int relu,
                              const int folded)
{
    const __m512i none = _mm512_setzero_si512();
    __m512i x[CHANNEL_QUADS], low = none, high = none;
    SK_UNROLL
    for (int q = 0; q < CHANNEL_QUADS; q++)
        x[q] = _mm512_cvtps_epi32(_mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[q]), c->scale[q], c->bias[q]));
    if (residual) {
        const __m512i r = _mm512_loadu_si512(residual);
        low = _mm512_unpacklo_epi8(r, none);
        high = _mm512_unpackhi_epi8(r, none);
    }
    const __m512i a = finish_32(s, _mm512_packs_epi32(x[0], x[1]), low, residual != NULL, first, relu,
                                folded),
                  b = finish_32(s, _mm512_packs_epi32(x[2], x[3]), high, residual != NULL, first, relu,
                                folded);
    _mm512_storeu_si512(out, _mm512_packus_epi16(a, b));
}

/* Sums of four pixels of `rows` rows; of one row the fourth row of bytes has no weight, and is not looked at. */
SK_INLINE void column_sums(const u8_columns *c, const uint8_t *in, ptrdiff_t row,
                           sum_vec acc[2][CHANNEL_QUADS], const int rows)
{
    SK_UNROLL
    for (int r = 0; r < rows; r++) {
        SK_UNROLL
        for (int q = 0; q < CHANNEL_QUADS; q++)
            acc[r][q] = c->start[q];
    }
    SK_UNROLL
    for (int x = 0; x < 3; x++) {
        const __m512i a = _mm512_loadu_si512(in + x * SK_BLOCK),
                      b = _mm512_loadu_si512(in + x * SK_BLOCK + row),
                      d = _mm512_loadu_si512(in + x * SK_BLOCK + 2 * row),
                      e = rows > 1 ? _mm512_loadu_si512(in + x * SK_BLOCK + 3 * row) : _mm512_setzero_si512();
        const __m512i ab[2] = {_mm512_unpacklo_epi8(a, b), _mm512_unpackhi_epi8(a, b)},
                      de[2] = {_mm512_unpacklo_epi8(d, e), _mm512_unpackhi_epi8(d, e)};
        SK_UNROLL
        for (int q = 0; q < CHANNEL_QUADS; q++) {
            const __m512i four = q % 2 ? _mm512_unpackhi_epi16(ab[q / 2], de[q / 2])
                                       : _mm512_unpacklo_epi16(ab[q / 2], de[q / 2]);
            SK_UNROLL
            for (int r = 0; r < rows; r++)
                __asm__("vpdpbusd %2, %1, %0" : "+v"(acc[r][q]) : "v"(four), "m"(c->weights[r][x][q]));
        }
    }
}

/* Rows y and, of two, y + 1 of a block; what is left over at the end of a row is done with pixels that were done before, to the same
 * bytes. */
SK_INLINE void column_rows(const sk_conv_u8c16 *p, const u8_columns *c, const finish_set *s, int32_t block,
                           int32_t y, const int rows, const int with_residual, const int first,
                           const int relu, const int folded)
{
    const finish_set set = *s;
    const uint8_t *in = p->in + block * p->in_plane + y * p->in_row;
    const uint8_t *residual =
        with_residual ? p->residual + block * p->residual_plane + y * p->residual_row : NULL;
    uint8_t *out = p->out + block * p->out_plane + y * p->out_row;
    for (int32_t x = 0; x < p->out_w; x += ACROSS) {
        sum_vec acc[2][CHANNEL_QUADS];
        x = x + ACROSS <= p->out_w ? x : p->out_w - ACROSS;
        const ptrdiff_t at = (ptrdiff_t)x * SK_BLOCK;
        column_sums(c, in + at, p->in_row, acc, rows);
        SK_UNROLL
        for (int r = 0; r < rows; r++)
            quads_to_bytes(c, &set, acc[r], with_residual ? residual + r * p->residual_row + at : NULL,
                           out + r * p->out_row + at, first, relu, folded);
    }
}

SK_INLINE void column_blocks(const sk_conv_u8c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1,
                             const int with_residual, const int first, const int relu, const int folded)
{
    const finish_set set = finish_set_of(&p->finish);
    for (int32_t b = b0; b < b1; b++) {
        u8_columns c;
        int32_t y = y0;
        find_columns(p, b, &c);
        for (; y + 2 <= y1; y += 2)
            column_rows(p, &c, &set, b, y, 2, with_residual, first, relu, folded);
        if (y < y1)
            column_rows(p, &c, &set, b, y, 1, with_residual, first, relu, folded);
    }
}

static void u8_depthwise_columns(const sk_conv_u8c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    const sk_act_i16 *act = p->finish.act;
    if (p->kernel_h != 3 || p->kernel_w != 3 || p->stride_h != 1 || p->stride_w != 1 || p->dilation_h != 1 ||
        p->dilation_w != 1 || p->out_w < ACROSS || !p->out || p->out_pixel != SK_BLOCK)
        u8_depthwise(p, b0, b1, y0, y1);
    else if (act->folded && !p->residual)
        column_blocks(p, b0, b1, y0, y1, 0, 0, 1, 1);
    else if (!p->residual)
        column_blocks(p, b0, b1, y0, y1, 0, 0, act->relu, 0);
    else
        column_blocks(p, b0, b1, y0, y1, 1, p->finish.residual_first, act->relu, act->folded);
}

#endif
