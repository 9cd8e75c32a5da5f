/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_CONV_IMPL_H
#define SK_KERNELS_SIMD_CONV_IMPL_H

#include "kernels/simd/act_impl.h"
#include "kernels/simd/tiles.h"

/* Direct convolution on f32c16. A register tile is `pixels` neighbouring output pixels times `width` output blocks;
 * every input channel costs one weight load a block vector, one broadcast a pixel and pixels * width multiply-adds.
 * AVX-512 has 32 registers: 14 pixels x 2 blocks or 6 x 4 leave room for weights and one broadcast. */

/* What the innermost kernel needs: one tile. */
typedef struct conv_tile {
    const float *in;
    ptrdiff_t plane, row_step, column_step; /* from tap to tap, dilation included */
    ptrdiff_t pixel_step;                   /* floats between neighbouring outputs' inputs: 16 * stride */
    const uint8_t *fill;
    int32_t blocks, kernel_h, kernel_w;
    const float *weights, *bias;
    float *out;
    ptrdiff_t out_plane, out_pixel;
    const float *residual; /* where the sums start, besides the bias; null = none */
    ptrdiff_t residual_plane;
    int32_t residual_shift, residual_odd; /* pixel i reads (odd + i) >> shift */
} conv_tile;

typedef void (*conv_tile_fn)(const conv_tile *t);

SK_INLINE void tile_store(const conv_tile *t, vec acc[][4 * VEC_PER_BLOCK], const int pixels, const int width)
{
    SK_UNROLL
    for (int p = 0; p < pixels; p++) {
        SK_UNROLL
        for (int j = 0; j < width * VEC_PER_BLOCK; j++)
            vec_store(t->out + (j / VEC_PER_BLOCK) * t->out_plane + p * t->out_pixel +
                          (j % VEC_PER_BLOCK) * VEC_FLOATS,
                      acc[p][j]);
    }
}

SK_INLINE void tile_bias(const conv_tile *t, vec acc[][4 * VEC_PER_BLOCK], const int pixels, const int width)
{
    SK_UNROLL
    for (int j = 0; j < width * VEC_PER_BLOCK; j++) {
        vec b = vec_load(t->bias + j * VEC_FLOATS);
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            acc[p][j] = b;
    }
    if (!t->residual)
        return;
    SK_UNROLL
    for (int p = 0; p < pixels; p++) {
        const float *r = t->residual + (ptrdiff_t)((t->residual_odd + p) >> t->residual_shift) * SK_BLOCK;
        SK_UNROLL
        for (int j = 0; j < width * VEC_PER_BLOCK; j++)
            acc[p][j] = vec_add(acc[p][j], vec_load(r + (j / VEC_PER_BLOCK) * t->residual_plane +
                                                    (j % VEC_PER_BLOCK) * VEC_FLOATS));
    }
}

/* Tap by tap. stride 0: taken from the tile; 1 and 2 make every address a constant offset. */
SK_INLINE void tile_taps(const conv_tile *t, const int stride, const int pixels, const int width)
{
    enum { MOST = 28 };
    vec acc[MOST][4 * VEC_PER_BLOCK];
    tile_bias(t, acc, pixels, width);
    const ptrdiff_t step = stride ? stride * SK_BLOCK : t->pixel_step;
    const float *w = t->weights, *plane = t->in;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane) {
        int32_t channels = t->fill[b];
        for (int32_t ky = 0; ky < t->kernel_h; ky++)
            for (int32_t kx = 0; kx < t->kernel_w; kx++) {
                const float *x = plane + ky * t->row_step + kx * t->column_step;
                for (const float *end = x + channels; x < end; x++, w += width * SK_BLOCK) {
                    vec wv[4 * VEC_PER_BLOCK];
                    SK_UNROLL
                    for (int j = 0; j < width * VEC_PER_BLOCK; j++)
                        wv[j] = vec_load(w + j * VEC_FLOATS);
                    SK_UNROLL
                    for (int p = 0; p < pixels; p++) {
                        vec v = vec_set1(x[p * step]);
                        SK_UNROLL
                        for (int j = 0; j < width * VEC_PER_BLOCK; j++)
                            acc[p][j] = vec_fma(wv[j], v, acc[p][j]);
                    }
                }
            }
    }
    tile_store(t, acc, pixels, width);
}

/* Three columns at once: each broadcast serves all taps of its row that use it, so stride 1 loads a third of the
 * inputs. Costs two more weight vectors a block. */
SK_INLINE void tile_rows(const conv_tile *t, const int stride, const int pixels, const int width)
{
    enum { MOST = 28 };
    vec acc[MOST][4 * VEC_PER_BLOCK];
    tile_bias(t, acc, pixels, width);
    const float *w = t->weights, *plane = t->in;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane) {
        int32_t channels = t->fill[b];
        for (int32_t ky = 0; ky < t->kernel_h; ky++) {
            const float *x = plane + ky * t->row_step;
            for (const float *end = x + channels; x < end; x++, w += 3 * width * SK_BLOCK) {
                vec wv[3][4 * VEC_PER_BLOCK];
                SK_UNROLL
                for (int k = 0; k < 3; k++) {
                    SK_UNROLL
                    for (int j = 0; j < width * VEC_PER_BLOCK; j++)
                        wv[k][j] = vec_load(w + k * width * SK_BLOCK + j * VEC_FLOATS);
                }
                SK_UNROLL
                for (int c = 0; c < (pixels - 1) * stride + 3; c++) {
                    vec v = vec_set1(x[c * SK_BLOCK]);
                    SK_UNROLL
                    for (int k = 0; k < 3; k++) {
                        const int p = (c - k) / stride;
                        if (c >= k && (c - k) % stride == 0 && p < pixels) {
                            SK_UNROLL
                            for (int j = 0; j < width * VEC_PER_BLOCK; j++)
                                acc[p][j] = vec_fma(wv[k][j], v, acc[p][j]);
                        }
                    }
                }
            }
        }
    }
    tile_store(t, acc, pixels, width);
}

SK_INLINE void finish_add(float *out, const float *residual)
{
    for (int k = 0; k < SK_BLOCK; k += VEC_FLOATS)
        vec_store(out + k, vec_add(vec_load(out + k), vec_load(residual + k)));
}

/* Activation of a row of pixels; neighbours are done together where they touch. */
SK_INLINE void finish_act(const sk_conv_f32c16 *p, float *out, int32_t pixels)
{
    if (p->act.kind && p->out_pixel == SK_BLOCK)
        sk_act_run(out, (ptrdiff_t)pixels * VEC_PER_BLOCK, &p->act);
    else if (p->act.kind)
        for (int32_t i = 0; i < pixels; i++)
            sk_act_run(out + i * p->out_pixel, VEC_PER_BLOCK, &p->act);
}

/* Residual and activation on a finished tile, still in L1. */
SK_INLINE void tile_finish(const sk_conv_f32c16 *p, float *out, int32_t block, int32_t width, int32_t y,
                           int32_t x, int32_t pixels)
{
    for (int32_t j = 0; j < width; j++, out += p->out_plane) {
        if (!p->residual) {
            finish_act(p, out, pixels);
            continue;
        }
        const float *r =
            p->residual + (block + j) * p->residual_plane + (y >> p->residual_shift) * p->residual_row;
        if (!p->residual_first)
            finish_act(p, out, pixels);
        for (int32_t i = 0; i < pixels; i++)
            finish_add(out + i * p->out_pixel, r + ((x + i) >> p->residual_shift) * SK_BLOCK);
        if (p->residual_first)
            finish_act(p, out, pixels);
    }
}

/* One row of one group, cut into tiles of nearly equal length, none above p->tile. */
SK_INLINE void conv_row(const sk_conv_f32c16 *p, conv_tile *t, const conv_tile_fn *tiles, int32_t g,
                        int32_t y)
{
    int32_t block = g * p->width;
    int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
    int32_t count = (p->out_w + p->tile - 1) / p->tile, x = 0;
    float *out = p->out + block * p->out_plane + y * p->out_row;
    const float *in = p->in + (ptrdiff_t)y * p->stride_h * p->in_row;
    const float *early = NULL; /* a residual that comes before the activation is where the sums start */
    if (p->residual && p->residual_first)
        early = p->residual + block * p->residual_plane + (y >> p->residual_shift) * p->residual_row;
    t->weights = p->weights + g * p->group_weights;
    t->bias = p->bias + block * SK_BLOCK;
    for (int32_t i = 0; i < count; i++) {
        int32_t pixels = (p->out_w - x) / (count - i);
        t->in = in + x * t->pixel_step;
        t->out = out + x * p->out_pixel;
        if (early) {
            t->residual = early + (x >> p->residual_shift) * SK_BLOCK;
            t->residual_odd = p->residual_shift ? x & 1 : 0;
        }
        tiles[width * 32 + pixels](t);
        if (early)
            for (int32_t j = 0; j < width; j++)
                finish_act(p, t->out + j * p->out_plane, pixels);
        else if (p->act.kind || p->residual)
            tile_finish(p, t->out, block, width, y, x, pixels);
        x += pixels;
    }
}

SK_INLINE void conv_rows(const sk_conv_f32c16 *p, const conv_tile_fn *tiles, int32_t g0, int32_t g1,
                         int32_t y0, int32_t y1)
{
    conv_tile t = {.plane = p->in_plane,
                   .row_step = p->dilation_h * p->in_row,
                   .column_step = p->dilation_w * SK_BLOCK,
                   .pixel_step = p->stride_w * SK_BLOCK,
                   .fill = p->fill,
                   .blocks = p->in_blocks,
                   .kernel_h = p->kernel_h,
                   .kernel_w = p->kernel_w,
                   .out_plane = p->out_plane,
                   .out_pixel = p->out_pixel,
                   .residual_plane = p->residual_plane,
                   .residual_shift = p->residual_shift};
    if (p->groups_outer) {
        for (int32_t g = g0; g < g1; g++)
            for (int32_t y = y0; y < y1; y++)
                conv_row(p, &t, tiles, g, y);
    } else {
        for (int32_t y = y0; y < y1; y++)
            for (int32_t g = g0; g < g1; g++)
                conv_row(p, &t, tiles, g, y);
    }
}

#define SK_TILE_DEFINE(K, S, P, W)                                                                           \
    static void K##_##S##_##P##x##W(const conv_tile *t)                                                      \
    {                                                                                                        \
        tile_##K(t, S, P, W);                                                                                \
    }
#define SK_TILE_ENTRY(K, S, P, W) [W * 32 + P] = K##_##S##_##P##x##W,

#endif
