/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/vec_avx512.h"

#include "kernels/simd/conv_impl.h"
#include "kernels/x86/tables.h"

/* Convolution with products of bf16 pairs. Maps stay f32: the input rows of a few output rows are rounded into the thread's
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

/* `pixels` pixels of one block; channels above the fill become 0, so that what lies there cannot matter. */
SK_INLINE void round_row(const float *in, float *out, int32_t pixels, int32_t fill)
{
    const __mmask16 used = (__mmask16)((1u << fill) - 1u);
    for (int32_t x = 0; x < pixels; x++) {
        const __m256bh v = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(used, in + x * SK_BLOCK));
        _mm256_storeu_si256((__m256i *)(void *)(out + x * PIXEL), (__m256i)v);
    }
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
    for (int32_t y = y0; y < y1; y += ROWS_AT_ONCE) {
        const int32_t rows = y1 - y < ROWS_AT_ONCE ? y1 - y : ROWS_AT_ONCE;
        const int32_t used = (rows - 1) * p->stride_h + (p->kernel_h - 1) * p->dilation_h + 1;
        for (int32_t i = 0; i < used; i++)
            for (int32_t b = 0; b < p->in_blocks; b++)
                round_row(p->in + b * p->in_plane + ((ptrdiff_t)y * p->stride_h + i) * p->in_row,
                          scratch + i * row + (ptrdiff_t)b * columns * PIXEL, columns, p->fill[b]);
        /* conv_row finds output row k's inputs at k * stride_h rows from `in` */
        sk_conv_f32c16 rounded = *p;
        rounded.in = scratch - (ptrdiff_t)y * p->stride_h * row;
        rounded.in_row = row;
        for (int32_t g = g0; g < g1; g++)
            for (int32_t k = y; k < y + rows; k++)
                conv_row(&rounded, &t, tiles, g, k);
    }
}

void sk_kernels_f32_avx512bf16(sk_kernels_f32 *table)
{
    table->conv_bf16 = conv_bf16;
    table->bf16_native = 1;
}
