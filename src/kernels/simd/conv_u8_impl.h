/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_CONV_U8_IMPL_H
#define SK_KERNELS_SIMD_CONV_U8_IMPL_H

#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"
#include "kernels/simd/compiler.h"

/* Convolution on u8c16. A register tile is `pixels` neighbouring output pixels times `width` output blocks; four input
 * channels cost one weight load a block vector, one broadcast of four bytes a pixel and pixels * width dot products.
 *
 * The file that includes it has said, for its instruction set:
 *   SUM_COUNT                        outputs of a vector of sums: 16, 8 or 4
 *   sum_vec, byte_vec, weight_vec    its types
 *   BYTE_SHIFT                       what byte_spread takes off every byte: 0, or 128 where both factors are signed
 *   byte_spread(p)                   four bytes at p, everywhere
 *   weight_load(p)                   4 * SUM_COUNT weights
 *   sum_dot(sum, bytes, weights)     sum += the four products of each output
 *   sum_start(sums, by)              SUM_COUNT sums, each times `by`
 *   sum_add(sum, p), sum_store(sum, p)  with SUM_COUNT sums at p
 *   sum_to_x(sum, scale, bias, out)  i16, as kernels_u8.h has it
 *   sum_to_f32(sum, scale, bias, out)
 *   finish_row(f, x, residual, out, count)
 *   SUM_TILES(M, S), SUM_PIXELS      the register tiles, as in conv_table_impl.h
 *   SUM_PACKED                       defined: a last block with few outputs is packed (packed_u8_avx512.h) */

#define SUM_PER_BLOCK (SK_BLOCK / SUM_COUNT)
#define STRIP         64 /* pixels whose x are kept before they become bytes */
#define LONGEST       20 /* no tile has more pixels */

typedef struct u8_tile {
    const uint8_t *in;
    ptrdiff_t plane, row_step, column_step, pixel_step;
    const uint8_t *fill;
    int32_t blocks, kernel_h, kernel_w, start_by;
    const int8_t *weights;
    const int32_t *sums;
    const float *scale, *bias;
    int16_t *x; /* null: floats, or sums */
    float *out;
    int32_t *out_sums;
    ptrdiff_t out_plane, out_pixel; /* of any, in elements */
    const int32_t *half;            /* what is added to the first pixel's sums; null: nothing */
    ptrdiff_t half_plane, half_odd; /* half_odd: from there to what is added to the second pixel's */
} u8_tile;

typedef void (*u8_tile_fn)(const u8_tile *t);

/* Two neighbours share a pixel of the map at half the size; which two, half_odd says. */
SK_INLINE const int32_t *u8_half_at(const u8_tile *t, const int pixel)
{
    return t->half + pixel / 2 * SK_BLOCK + (pixel % 2 ? t->half_odd : 0);
}

SK_INLINE void u8_tile_add_half(const u8_tile *t, sum_vec acc[][4 * SUM_PER_BLOCK], const int pixels,
                                const int width)
{
    SK_UNROLL
    for (int j = 0; j < width * SUM_PER_BLOCK; j++) {
        const ptrdiff_t at = (j / SUM_PER_BLOCK) * t->half_plane + (j % SUM_PER_BLOCK) * SUM_COUNT;
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            acc[p][j] = sum_add(acc[p][j], u8_half_at(t, p) + at);
    }
}

SK_INLINE void u8_tile_store(const u8_tile *t, sum_vec acc[][4 * SUM_PER_BLOCK], const int pixels,
                             const int width)
{
    if (t->x) {
        SK_UNROLL
        for (int j = 0; j < width * SUM_PER_BLOCK; j++) {
            int16_t *x = t->x + (j / SUM_PER_BLOCK) * t->out_plane + (j % SUM_PER_BLOCK) * SUM_COUNT;
            const float *scale = t->scale + j * SUM_COUNT, *bias = t->bias + j * SUM_COUNT;
            SK_UNROLL
            for (int p = 0; p < pixels; p++)
                sum_to_x(acc[p][j], scale, bias, x + p * SK_BLOCK);
        }
        return;
    }
    if (t->out_sums) {
        SK_UNROLL
        for (int j = 0; j < width * SUM_PER_BLOCK; j++) {
            int32_t *out = t->out_sums + (j / SUM_PER_BLOCK) * t->out_plane + (j % SUM_PER_BLOCK) * SUM_COUNT;
            SK_UNROLL
            for (int p = 0; p < pixels; p++)
                sum_store(acc[p][j], out + p * t->out_pixel);
        }
        return;
    }
    SK_UNROLL
    for (int j = 0; j < width * SUM_PER_BLOCK; j++) {
        float *out = t->out + (j / SUM_PER_BLOCK) * t->out_plane + (j % SUM_PER_BLOCK) * SUM_COUNT;
        const float *scale = t->scale + j * SUM_COUNT, *bias = t->bias + j * SUM_COUNT;
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            sum_to_f32(acc[p][j], scale, bias, out + p * t->out_pixel);
    }
}

/* step: bytes from pixel to pixel; 0: taken from the tile. */
SK_INLINE void u8_tile_run(const u8_tile *t, const int step, const int pixels, const int width)
{
    enum { MOST = 28 };
    sum_vec acc[MOST][4 * SUM_PER_BLOCK];
    SK_UNROLL
    for (int j = 0; j < width * SUM_PER_BLOCK; j++) {
        sum_vec start = sum_start(t->sums + j * SUM_COUNT, t->start_by);
        SK_UNROLL
        for (int p = 0; p < pixels; p++)
            acc[p][j] = start;
    }
    const ptrdiff_t next = step ? step : t->pixel_step;
    const int8_t *w = t->weights;
    const uint8_t *plane = t->in;
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane) {
        const int32_t bytes = (t->fill[b] + 3) & ~3;
        for (int32_t ky = 0; ky < t->kernel_h; ky++) {
            const uint8_t *tap = plane + ky * t->row_step;
            for (int32_t kx = 0; kx < t->kernel_w; kx++, tap += t->column_step) {
                const uint8_t *x = tap;
                for (const uint8_t *end = x + bytes; x < end; x += 4, w += width * SK_BLOCK * 4) {
                    weight_vec wv[4 * SUM_PER_BLOCK];
                    SK_UNROLL
                    for (int j = 0; j < width * SUM_PER_BLOCK; j++)
                        wv[j] = weight_load(w + j * SUM_COUNT * 4);
                    SK_UNROLL
                    for (int p = 0; p < pixels; p++) {
                        byte_vec v = byte_spread(x + p * next);
                        SK_UNROLL
                        for (int j = 0; j < width * SUM_PER_BLOCK; j++)
                            sum_dot(acc[p][j], v, wv[j]);
                    }
                }
            }
        }
    }
    if (t->half)
        u8_tile_add_half(t, acc, pixels, width);
    u8_tile_store(t, acc, pixels, width);
}

#define U8_TILE_DEFINE(K, S, P, W)                                                                           \
    static void K##_##S##_##P##x##W(const u8_tile *t)                                                        \
    {                                                                                                        \
        u8_tile_run(t, S, P, W);                                                                             \
    }
#define U8_TILE_ENTRY(K, S, P, W) [W * 32 + P] = K##_##S##_##P##x##W,

SUM_TILES(U8_TILE_DEFINE, 0)
SUM_TILES(U8_TILE_DEFINE, 16)
SUM_TILES(U8_TILE_DEFINE, 32)
static const u8_tile_fn u8_any[5 * 32] = {SUM_TILES(U8_TILE_ENTRY, 0)};
static const u8_tile_fn u8_16[5 * 32] = {SUM_TILES(U8_TILE_ENTRY, 16)};
static const u8_tile_fn u8_32[5 * 32] = {SUM_TILES(U8_TILE_ENTRY, 32)};

#ifdef SUM_PACKED
#include "kernels/simd/packed_u8_avx512.h"
#else
SK_INLINE int32_t packed_count(const sk_conv_u8c16 *p, int32_t blocks_before)
{
    (void)p;
    (void)blocks_before;
    return 1;
}
SK_INLINE const u8_tile_fn *packed_tiles(ptrdiff_t pixel_step, int32_t pack)
{
    (void)pixel_step;
    (void)pack;
    return NULL;
}
SK_INLINE int32_t packed_next(int32_t left, int32_t pack, int32_t width)
{
    (void)left;
    (void)pack;
    (void)width;
    return 0;
}
#endif

/* Bytes of one block and strip, from x0 on. */
static void u8_strip_out(const sk_conv_u8c16 *p, const int16_t *x, int32_t block, int32_t y, int32_t x0,
                         int32_t pixels)
{
    uint8_t *out = p->out + block * p->out_plane + y * p->out_row + x0 * p->out_pixel;
    const uint8_t *residual =
        p->residual ? p->residual + block * p->residual_plane + y * p->residual_row + (ptrdiff_t)x0 * SK_BLOCK
                    : NULL;
    if (p->out_pixel == SK_BLOCK) {
        finish_row(&p->finish, x, residual, out, (size_t)pixels * SK_BLOCK);
        return;
    }
    uint8_t row[STRIP * SK_BLOCK];
    finish_row(&p->finish, x, residual, row, (size_t)pixels * SK_BLOCK);
    for (int32_t i = 0; i < pixels; i++)
        __builtin_memcpy(out + i * p->out_pixel, row + i * SK_BLOCK, SK_BLOCK);
}

SK_INLINE void u8_row(const sk_conv_u8c16 *p, u8_tile *t, const u8_tile_fn *tiles, int32_t g, int32_t y)
{
    _Alignas(64) int16_t kept[4 * STRIP * SK_BLOCK];
    const int32_t block = g * p->width;
    const int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
    const int32_t count = (p->out_w + p->tile - 1) / p->tile, pack = packed_count(p, block + width);
    const u8_tile_fn *packed = packed_tiles(t->pixel_step, pack);
    const uint8_t *in = p->in + (ptrdiff_t)y * p->stride_h * p->in_row;
    const ptrdiff_t out = block * p->out_plane + y * p->out_row,
                    half = block * p->half_plane + y / 2 * p->half_row;
    t->weights = p->weights + g * p->group_weights;
    t->sums = p->sums + block * SK_BLOCK;
    t->scale = p->scale + block * SK_BLOCK;
    t->bias = p->bias + block * SK_BLOCK;
    for (int32_t i = 0, x = 0, from = 0; x < p->out_w; i++) {
        const int32_t several = pack > 1 ? packed_next(p->out_w - x, pack, width) : 0;
        const int32_t pixels = several     ? several
                               : pack == 1 ? (p->out_w - x) / (count - i)
                                           : 1; /* fewer than are packed: one by one */
        t->in = in + x * t->pixel_step;
        t->x = p->out ? kept + (x - from) * SK_BLOCK : NULL;
        t->out = p->out_f32 ? p->out_f32 + out + x * p->out_pixel : NULL;
        t->out_sums = p->out_sums ? p->out_sums + out + x * p->out_pixel : NULL;
        t->half = p->half_sums ? p->half_sums + half + x / 2 * SK_BLOCK : NULL;
        t->half_odd = x % 2 * SK_BLOCK;
        (several ? packed : tiles)[width * 32 + pixels](t);
        x += pixels;
        if (!p->out || (x < p->out_w && x - from + LONGEST <= STRIP))
            continue;
        for (int32_t j = 0; j < width; j++)
            u8_strip_out(p, kept + j * STRIP * SK_BLOCK, block + j, y, from, x - from);
        from = x;
    }
}

typedef void (*u8_row_fn)(const sk_conv_u8c16 *p, u8_tile *t, const u8_tile_fn *tiles, int32_t g, int32_t y);

/* All rows of some groups, in the order asked for. */
SK_INLINE void u8_walk(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1, u8_row_fn row)
{
    u8_tile t = {.plane = p->in_plane,
                 .row_step = p->dilation_h * p->in_row,
                 .column_step = p->dilation_w * p->in_pixel,
                 .pixel_step = p->stride_w * p->in_pixel,
                 .fill = p->fill,
                 .blocks = p->in_blocks,
                 .kernel_h = p->kernel_h,
                 .kernel_w = p->kernel_w,
                 .start_by = BYTE_SHIFT - p->in_zero,
                 .out_plane = p->out ? STRIP * SK_BLOCK : p->out_plane,
                 .out_pixel = p->out_pixel,
                 .half_plane = p->half_plane};
    const u8_tile_fn *tiles = t.pixel_step == 16 ? u8_16 : t.pixel_step == 32 ? u8_32 : u8_any;
    if (p->groups_outer) {
        for (int32_t g = g0; g < g1; g++)
            for (int32_t y = y0; y < y1; y++)
                row(p, &t, tiles, g, y);
    } else {
        for (int32_t y = y0; y < y1; y++)
            for (int32_t g = g0; g < g1; g++)
                row(p, &t, tiles, g, y);
    }
}

static void u8_conv(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    u8_walk(p, g0, g1, y0, y1, u8_row);
}

/* --- depthwise: sums of 16 channels side by side; mul_add(sum, 16 bytes' SUM_COUNT at p, weights at w) --- */

SK_INLINE void u8_depthwise_pixels(const sk_conv_u8c16 *p, const uint8_t *in, const int32_t *w,
                                   const sum_vec start, sum_vec *acc, const int pixels)
{
    const ptrdiff_t step = p->stride_w * SK_BLOCK;
    SK_UNROLL
    for (int i = 0; i < pixels; i++)
        acc[i] = start;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const uint8_t *row = in + ky * p->dilation_h * p->in_row;
        for (int32_t kx = 0; kx < p->kernel_w; kx++, w += SK_BLOCK, row += p->dilation_w * SK_BLOCK) {
            SK_UNROLL
            for (int i = 0; i < pixels; i++)
                acc[i] = sum_multiply_add(acc[i], row + i * step, w);
        }
    }
}

static void u8_depthwise(const sk_conv_u8c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    _Alignas(64) int16_t kept[STRIP * SK_BLOCK];
    const int32_t taps = p->kernel_h * p->kernel_w;
    for (int32_t b = b0; b < b1; b++) {
        const int32_t *w = (const int32_t *)(const void *)p->weights + (ptrdiff_t)b * taps * SK_BLOCK;
        for (int32_t y = y0; y < y1; y++)
            for (int32_t x = 0, from = 0; x < p->out_w;) {
                const int32_t pixels = p->out_w - x >= 4 ? 4 : 1;
                const uint8_t *in = p->in + b * p->in_plane + (ptrdiff_t)y * p->stride_h * p->in_row +
                                    (ptrdiff_t)x * p->stride_w * SK_BLOCK;
                for (int j = 0; j < SK_BLOCK; j += SUM_COUNT) {
                    const float *scale = p->scale + b * SK_BLOCK + j, *bias = p->bias + b * SK_BLOCK + j;
                    const sum_vec start = sum_start(p->sums + b * SK_BLOCK + j, -p->in_zero);
                    sum_vec acc[4];
                    if (pixels == 4)
                        u8_depthwise_pixels(p, in + j, w + j, start, acc, 4);
                    else
                        u8_depthwise_pixels(p, in + j, w + j, start, acc, 1);
                    for (int32_t i = 0; i < pixels; i++) {
                        if (p->out)
                            sum_to_x(acc[i], scale, bias, kept + (x - from + i) * SK_BLOCK + j);
                        else
                            sum_to_f32(acc[i], scale, bias,
                                       p->out_f32 + b * p->out_plane + y * p->out_row +
                                           (x + i) * p->out_pixel + j);
                    }
                }
                x += pixels;
                if (!p->out || (x < p->out_w && x - from + 4 <= STRIP))
                    continue;
                u8_strip_out(p, kept, b, y, from, x - from);
                from = x;
            }
    }
}

#endif
