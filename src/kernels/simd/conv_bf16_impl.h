/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_CONV_BF16_IMPL_H
#define SK_KERNELS_SIMD_CONV_BF16_IMPL_H

#include "kernels/simd/vec_avx512.h"

#include "kernels/simd/conv_impl.h"
#include "kernels/simd/strip_bf16.h"

/* Convolution with products of bf16 pairs. Of a map in f32 the input rows of a few output rows are rounded into the thread's
 * scratch, [row][block][column][16] as bf16, and read from there. */

#define ROWS_AT_ONCE 4 /* output rows */

#define PIXEL        (SK_BLOCK / 2) /* a pixel of 16 bf16, counted in floats */

/* Written out, as in conv_u8_avx512vnni.c: the sums stay in registers. */
#define dot_pairs(sum, pairs, weights) __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(pairs), "v"(weights))

SK_INLINE void tile_pairs(const conv_tile *t, const int stride, const int pixels, const int width)
{
    enum { MOST = 28 };
    vec acc[MOST][4];
    tile_bias(t, acc, pixels, width);
    const ptrdiff_t step = stride ? stride * PIXEL : t->pixel_step;
    const float *w = t->weights, *plane = t->in;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane) {
        const int32_t pairs = (t->fill[b] + 1) / 2;
        for (int32_t ky = 0; ky < t->kernel_h; ky++)
            for (int32_t kx = 0; kx < t->kernel_w; kx++) {
                const float *x = plane + ky * t->row_step + kx * t->column_step;
                for (const float *end = x + pairs; x < end; x++, w += width * SK_BLOCK) {
                    vec wv[4];
                    SK_UNROLL
                    for (int j = 0; j < width; j++)
                        wv[j] = vec_load(w + j * SK_BLOCK);
                    SK_UNROLL
                    for (int p = 0; p < pixels; p++) {
                        vec v = vec_set1(x[p * step]);
                        SK_UNROLL
                        for (int j = 0; j < width; j++)
                            dot_pairs(acc[p][j], v, wv[j]);
                    }
                }
            }
    }
    tile_store(t, acc, pixels, width);
}

#define PAIR_TILES(M, S)                                                                                     \
    SK_TILES_20(M, pairs, S, 1)                                                                              \
    SK_TILES_14(M, pairs, S, 2) SK_TILES_9(M, pairs, S, 3) SK_TILES_6(M, pairs, S, 4)
PAIR_TILES(SK_TILE_DEFINE, 0)
PAIR_TILES(SK_TILE_DEFINE, 1)
PAIR_TILES(SK_TILE_DEFINE, 2)
static const conv_tile_fn pairs_any[5 * 32] = {PAIR_TILES(SK_TILE_ENTRY, 0)};
static const conv_tile_fn pairs_1[5 * 32] = {PAIR_TILES(SK_TILE_ENTRY, 1)};
static const conv_tile_fn pairs_2[5 * 32] = {PAIR_TILES(SK_TILE_ENTRY, 2)};

#define packed_dot dot_pairs
#include "kernels/simd/packed_avx512.h"

/* The same with a last block of few outputs; the outputs that are not used become 0. */
SK_INLINE void packed_pairs(const conv_tile *t, const int step, const int pixels, const int full,
                            const int pack)
{
    enum { MOST = 20 };
    __m512i acc[MOST][4], rest[MOST / 2];
    SK_UNROLL
    for (int j = 0; j < full; j++) {
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            acc[p][j] = _mm512_loadu_si512(t->bias + j * SK_BLOCK);
    }
    SK_UNROLL
    for (int q = 0; q < pixels / pack; q++)
        rest[q] = packed_load(t->bias + full * SK_BLOCK, pack);
    const packed_map map = {(const uint8_t *)t->in,
                            t->plane * 4,
                            t->row_step * 4,
                            t->column_step * 4,
                            t->pixel_step * 4,
                            t->fill,
                            t->blocks,
                            t->kernel_h,
                            t->kernel_w,
                            (const uint8_t *)t->weights};
    packed_sums(&map, acc, rest, 2, step, pixels, full, pack);
    SK_UNROLL
    for (int j = 0; j < full; j++) {
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            _mm512_storeu_si512(t->out + j * t->out_plane + p * t->out_pixel, acc[p][j]);
    }
    SK_UNROLL
    for (int p = 0; p < pixels; p++)
        _mm512_storeu_si512(t->out + full * t->out_plane + p * t->out_pixel,
                            _mm512_maskz_compress_epi32(packed_part(p % pack, pack), rest[p / pack]));
}

#define PACKED_DEFINE(K, S, P, W)                                                                            \
    static void packed_##K##_##S##_##P##x##W(const conv_tile *t)                                             \
    {                                                                                                        \
        packed_pairs(t, S, P, W - 1, K);                                                                     \
    }
#define PACKED_ENTRY(K, S, P, W) [K / 4][W * 32 + P] = packed_##K##_##S##_##P##x##W,
PACKED_2(PACKED_DEFINE, 0)
PACKED_2(PACKED_DEFINE, 32)
PACKED_4(PACKED_DEFINE, 0)
PACKED_4(PACKED_DEFINE, 32)
static const conv_tile_fn packed_any[2][5 * 32] = {PACKED_2(PACKED_ENTRY, 0) PACKED_4(PACKED_ENTRY, 0)};
static const conv_tile_fn packed_1[2][5 * 32] = {PACKED_2(PACKED_ENTRY, 32) PACKED_4(PACKED_ENTRY, 32)};

/* `pixels` pixels of one block; channels above the fill become 0, so that what lies there cannot matter. */
SK_INLINE void round_row(const float *in, float *out, int32_t pixels, int32_t fill)
{
    const __mmask16 used = (__mmask16)((1u << fill) - 1u);
    for (int32_t x = 0; x < pixels; x++) {
        const __m256bh v = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(used, in + x * SK_BLOCK));
        _mm256_storeu_si256((__m256i *)(void *)(out + x * PIXEL), (__m256i)v);
    }
}

static void from_bf16(const uint16_t *in, float *out, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 valid = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1u);
        const __m512i v = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(valid, in + i));
        _mm512_mask_storeu_epi32(out + i, valid, _mm512_slli_epi32(v, 16));
    }
}

static void to_bf16(const float *in, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count; i += 16) {
        const __mmask16 valid = count - i >= 16 ? 0xffff : (__mmask16)((1u << (count - i)) - 1u);
        _mm256_mask_storeu_epi16(out + i, valid,
                                 (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(valid, in + i)));
    }
}

/* Whole pixels of a block. */
static void silu_to_bf16(const float *in, uint16_t *out, size_t count)
{
    strip_silu(in, out, (int32_t)(count / SK_BLOCK), SK_BLOCK);
}

#define STRIP   64 /* pixels that are kept as floats before they are rounded */
#define LONGEST 20 /* no tile has more pixels */

/* One row of one group, by way of floats that stay in the first cache. */
static void row_by_strips(const sk_conv_f32c16 *p, conv_tile *t, const conv_tile_fn *tiles, const float *in,
                          int32_t g, int32_t y)
{
    _Alignas(64) float kept[4][STRIP * SK_BLOCK];
    const int32_t block = g * p->width, count = (p->out_w + p->tile - 1) / p->tile;
    const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
    const int32_t pack = packed_pack(block + width == p->out_blocks ? p->last_outputs : 0);
    const conv_tile_fn *packed = (t->pixel_step == PIXEL ? packed_1 : packed_any)[pack / 4];
    t->weights = p->weights + g * p->group_weights;
    t->bias = p->bias + block * SK_BLOCK;
    t->out_plane = STRIP * SK_BLOCK;
    t->out_pixel = SK_BLOCK;
    for (int32_t i = 0, x = 0, from = 0; x < p->out_w; i++) {
        const int32_t several = pack > 1 ? packed_next(p->out_w - x, pack, width) : 0;
        const int32_t pixels = several     ? several
                               : pack == 1 ? (p->out_w - x) / (count - i)
                                           : 1; /* fewer than are packed: one by one */
        t->in = in + x * t->pixel_step;
        t->out = kept[0] + (x - from) * SK_BLOCK;
        (several ? packed : tiles)[width * 32 + pixels](t);
        x += pixels;
        if (x < p->out_w && x - from + LONGEST <= STRIP)
            continue;
        for (int32_t j = 0; j < width; j++)
            strip_out(p, kept[j], block + j, y, from, x - from);
        from = x;
    }
}

/* The input rows of `rows` output rows from y on, rounded into scratch: [row][block][column][16]. */
static void round_rows(const sk_conv_f32c16 *p, int32_t y, int32_t rows, float *scratch)
{
    const int32_t columns = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    const int32_t used = (rows - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
    for (int32_t i = 0; i < used; i++)
        for (int32_t b = 0; b < p->in_blocks; b++, scratch += (ptrdiff_t)columns * PIXEL)
            round_row(p->in + b * p->in_plane + ((ptrdiff_t)y * p->stride_h + i) * p->in_row, scratch,
                      columns, p->fill[b]);
}

static void conv_bf16(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1, float *scratch)
{
    const int32_t columns = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    conv_tile t = {.plane = (ptrdiff_t)columns * PIXEL,
                   .row_step = (ptrdiff_t)p->dilation_h * p->in_blocks * columns * PIXEL,
                   .column_step = p->dilation_w * PIXEL,
                   .pixel_step = p->stride_w * PIXEL,
                   .fill = p->fill,
                   .blocks = p->in_blocks,
                   .kernel_h = p->kernel_h,
                   .kernel_w = p->kernel_w,
                   .out_plane = p->out_plane,
                   .out_pixel = p->out_pixel,
                   .residual_plane = p->residual_plane,
                   .residual_shift = p->residual_shift};
    const conv_tile_fn *tiles = p->stride_w == 1 ? pairs_1 : p->stride_w == 2 ? pairs_2 : pairs_any;
    const ptrdiff_t row = (ptrdiff_t)p->in_blocks * columns * PIXEL;
    if (p->in16) { /* two of its elements are a float here */
        t.plane = p->in_plane / 2;
        t.row_step = p->dilation_h * p->in_row / 2;
        const float *in = (const float *)(const void *)p->in16;
        for (int32_t y = y0; y < y1; y++)
            for (int32_t g = g0; g < g1; g++)
                row_by_strips(p, &t, tiles, in + (ptrdiff_t)y * p->stride_h * p->in_row / 2, g, y);
        return;
    }
    for (int32_t y = y0; y < y1; y += ROWS_AT_ONCE) {
        const int32_t rows = y1 - y < ROWS_AT_ONCE ? y1 - y : ROWS_AT_ONCE;
        round_rows(p, y, rows, scratch);
        /* conv_row finds output row k's inputs at k * stride_h rows from `in` */
        sk_conv_f32c16 rounded = *p;
        rounded.in = scratch - (ptrdiff_t)y * p->stride_h * row;
        rounded.in_row = row;
        for (int32_t g = g0; g < g1; g++)
            for (int32_t k = y; k < y + rows; k++) {
                if (p->out16 || p->residual16 || packed_pack(p->last_outputs) > 1)
                    row_by_strips(p, &t, tiles, scratch + (ptrdiff_t)(k - y) * p->stride_h * row, g, k);
                else
                    conv_row(&rounded, &t, tiles, g, k);
            }
    }
}

#endif
