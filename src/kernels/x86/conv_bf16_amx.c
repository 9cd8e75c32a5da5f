/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/conv_bf16_impl.h"
#include "kernels/x86/tables.h"

#define TILE_PIXEL_BYTES                (2 * SK_BLOCK)
#define tile_dot(sums, pixels, weights) _tile_dpbf16ps(sums, pixels, weights)
#include "kernels/simd/tiles_amx.h"

/* Convolution of bf16 by tiles (tiles_amx.h). Whether tiles or vectors add a convolution up follows from its shape alone, and a pixel's sum
 * has one order wherever its strip begins: threads and groups change no bit. */

/* One row; `in`: under tap (0, 0) of its first pixel. */
static void tile_row(const sk_conv_f32c16 *p, const tile_walk *t, const uint8_t *in_row, ptrdiff_t plane,
                     int32_t g0, int32_t g1, int32_t y)
{
    _Alignas(64) uint8_t gathered[TILE_GATHERED];
    _Alignas(64) float kept[2][TILE_STRIP * TILE];
    const ptrdiff_t pixel = (ptrdiff_t)p->stride_w * TILE_PIXEL_BYTES;
    const int32_t last = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    for (int32_t x = 0, pixels; (pixels = tile_strip(p->out_w, &x)) > 0; x += pixels) {
        const uint8_t *in = in_row + x * pixel;
        if (t->gathered) {
            tile_gather(in, plane, pixel, p->in_blocks, t->depth, pixels, gathered);
            in = gathered;
        }
        for (int32_t block = g0 * p->width; block < last;) {
            const int32_t g = block / p->width, end = (g + 1) * p->width < last ? (g + 1) * p->width : last;
            const int32_t blocks = end - block < 2 ? 1 : 2;
            tile_walk walk = *t; /* a narrower last group has narrower rows */
            walk.weight_row = 64 * (end - g * p->width);
            tile_sums_of(&walk, in,
                         (const uint8_t *)(p->weights + g * p->group_weights) + (block - g * p->width) * 64,
                         p->bias + block * SK_BLOCK, kept, sizeof kept[0], pixels, blocks);
            for (int32_t j = 0; j < blocks; j++)
                strip_out(p, kept[j], block + j, y, x, pixels);
            block += blocks;
        }
    }
}

static bool by_tiles(const sk_conv_f32c16 *p)
{
    for (int32_t b = 0; b < p->in_blocks; b++)
        if (p->fill[b] != SK_BLOCK)
            return false;
    return p->out_w >= TILE;
}

static void tile_conv(const sk_conv_f32c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1, float *scratch)
{
    if (!by_tiles(p)) {
        conv_bf16(p, g0, g1, y0, y1, scratch);
        return;
    }
    const ptrdiff_t columns = (p->out_w - 1) * p->stride_w + (p->kernel_w - 1) * p->dilation_w + 1;
    const ptrdiff_t plane = p->in16 ? 2 * p->in_plane : columns * TILE_PIXEL_BYTES,
                    row = p->in16 ? 2 * p->in_row : p->in_blocks * columns * TILE_PIXEL_BYTES;
    const tile_walk walk = tile_walk_of(p->in_blocks, p->kernel_h, p->kernel_w, plane, p->dilation_h * row,
                                        (ptrdiff_t)p->dilation_w * TILE_PIXEL_BYTES,
                                        (ptrdiff_t)p->stride_w * TILE_PIXEL_BYTES, p->width);
    tiles_open(walk.depth);
    for (int32_t y = y0; y < y1; y += ROWS_AT_ONCE) {
        const int32_t rows = y1 - y < ROWS_AT_ONCE ? y1 - y : ROWS_AT_ONCE;
        const uint8_t *in = (const uint8_t *)p->in16 + (ptrdiff_t)y * p->stride_h * row;
        if (!p->in16) {
            round_rows(p, y, rows, scratch);
            in = (const uint8_t *)scratch;
        }
        for (int32_t k = 0; k < rows; k++)
            tile_row(p, &walk, in + (ptrdiff_t)k * p->stride_h * row, plane, g0, g1, y + k);
    }
    _tile_release();
}

void sk_kernels_f32_amx(sk_kernels_f32 *table)
{
    table->conv_bf16 = tile_conv;
    table->bf16_native = table->bf16_tiles = 1;
    /* Not that tiles had to do with f32: the processors that have them add two vectors of products a cycle, so that weights
     * nine times as many, from beyond L2, cost more than the multiplications they save. */
    table->winograd2_from = INT16_MAX;
    table->to_bf16 = to_bf16;
    table->from_bf16 = from_bf16;
    table->silu_to_bf16 = silu_to_bf16;
}
