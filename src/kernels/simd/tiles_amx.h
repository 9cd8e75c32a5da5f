/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_TILES_AMX_H
#define SK_KERNELS_SIMD_TILES_AMX_H

#include "kernels/kernels.h"
#include "kernels/simd/compiler.h"

#include <immintrin.h>
#include <stdbool.h>
#include <string.h>

/* Convolution by AMX tiles, for maps of bytes and of bf16: 16 pixels by 16 outputs of sums are one register. A step
 * multiplies `depth` bytes of 16 or 32 pixels with those bytes' weights of one or two output blocks; a tile is 64 bytes deep, so
 *   three columns   are one run of bytes: 48 of a map of bytes, twice 48 of bf16; pixels overlap, and a tile may
 *   one column      has its blocks' channels put side by side, of 32 pixels at a time, for all output blocks
 *   other windows   go tap by tap, 16 or 32 bytes.
 * The weights lie as the instruction wants them in all of these: what stands in order is a tile.
 *
 * The file that includes it has said
 *   TILE_PIXEL_BYTES         of one block: 16 or 32
 *   tile_dot(sums, pixels, weights)  the instruction, of three registers' numbers */

#define TILE          16          /* pixels and outputs of a register */
#define TILE_STRIP    (2 * TILE)  /* pixels of a step */
#define TILE_GATHERED (64 * 1024) /* bytes of a strip that are put side by side at most */

typedef struct tile_walk {
    ptrdiff_t pixel, plane, row, part; /* bytes from one to the next */
    int32_t planes, rows, parts;
    int32_t depth; /* bytes of a step */
    ptrdiff_t
        weight_row; /* bytes from a row of weights (16 outputs, four bytes each) to the next: 64 * width */
    bool gathered;
} tile_walk;

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

/* 0 … 3: sums; 4, 5: pixels; 6, 7: weights. */
static void tiles_open(int32_t depth)
{
    tile_config c = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = (uint16_t)(i == 4 || i == 5 ? depth : 4 * TILE);
        c.rows[i] = (uint8_t)(i >= 6 ? depth / 4 : TILE);
    }
    __asm__ volatile(""
                     :
                     : "r"(&c)
                     : "memory"); /* all of it is read, not only the first bytes that the compiler knows of */
    _tile_loadconfig(&c);
}

/* How a window is walked; every block is full. Strides in bytes; `taps`: from column to column under the window. */
static tile_walk tile_walk_of(int32_t blocks, int32_t kernel_h, int32_t kernel_w, ptrdiff_t plane,
                              ptrdiff_t row, ptrdiff_t taps, ptrdiff_t pixel, int32_t width)
{
    tile_walk t = {pixel, plane, row, taps, blocks, kernel_h, kernel_w, TILE_PIXEL_BYTES, 64 * width, false};
    if (kernel_w == 3 && taps == TILE_PIXEL_BYTES) {
        t.depth = 48;
        t.parts = 3 * TILE_PIXEL_BYTES / 48;
        t.part = 48;
    } else if (kernel_h == 1 && kernel_w == 1 && blocks * TILE_PIXEL_BYTES * TILE_STRIP <= TILE_GATHERED) {
        const int32_t bytes = blocks * TILE_PIXEL_BYTES;
        t.depth = bytes % 64 == 0                             ? 64
                  : TILE_PIXEL_BYTES == 16 && bytes % 48 == 0 ? 48
                  : bytes % 32                                ? 16
                                                              : 32;
        t.gathered = t.depth > TILE_PIXEL_BYTES;
        if (t.gathered) {
            t.planes = bytes / t.depth;
            t.plane = (ptrdiff_t)TILE_STRIP * t.depth;
            t.pixel = t.depth;
        }
    }
    return t;
}

/* The channels of `pixels` pixels, a step's side by side: [step][pixel][depth]. */
static void tile_gather(const uint8_t *in, ptrdiff_t plane, ptrdiff_t pixel, int32_t blocks, int32_t depth,
                        int32_t pixels, uint8_t *out)
{
    for (int32_t b = 0; b < blocks; b++, in += plane) {
        const int32_t at = b * TILE_PIXEL_BYTES;
        uint8_t *to = out + (ptrdiff_t)(at / depth) * TILE_STRIP * depth + at % depth;
        for (int32_t x = 0; x < pixels; x++)
            memcpy(to + (ptrdiff_t)x * depth, in + x * pixel, TILE_PIXEL_BYTES);
    }
}

/* Sums of 16 or 32 pixels (two_tiles) and one or two output blocks, from `start` (16 numbers a block) on, written as
 * [pixel][16] of four bytes, `out_block` bytes from block to block. */
SK_INLINE void tile_sums(const tile_walk *t, const uint8_t *in, const uint8_t *w, const void *start,
                         void *out, ptrdiff_t out_block, const int two_tiles, const int two_blocks)
{
    const uint8_t *first = start;
    uint8_t *to = out;
    _tile_loadd(0, first, 0);
    if (two_blocks)
        _tile_loadd(1, first + 4 * TILE, 0);
    if (two_tiles)
        _tile_loadd(2, first, 0);
    if (two_tiles && two_blocks)
        _tile_loadd(3, first + 4 * TILE, 0);
    for (int32_t b = 0; b < t->planes; b++, in += t->plane)
        for (int32_t ky = 0; ky < t->rows; ky++) {
            const uint8_t *x = in + ky * t->row;
            for (int32_t k = 0; k < t->parts; k++, x += t->part, w += t->depth / 4 * t->weight_row) {
                _tile_loadd(6, w, t->weight_row);
                _tile_loadd(4, x, t->pixel);
                tile_dot(0, 4, 6);
                if (two_blocks) {
                    _tile_loadd(7, w + 4 * TILE, t->weight_row);
                    tile_dot(1, 4, 7);
                }
                if (two_tiles) {
                    _tile_loadd(5, x + TILE * t->pixel, t->pixel);
                    tile_dot(2, 5, 6);
                    if (two_blocks)
                        tile_dot(3, 5, 7);
                }
            }
        }
    _tile_stored(0, to, 4 * TILE);
    if (two_blocks)
        _tile_stored(1, to + out_block, 4 * TILE);
    if (two_tiles)
        _tile_stored(2, to + 4 * TILE * TILE, 4 * TILE);
    if (two_tiles && two_blocks)
        _tile_stored(3, to + out_block + 4 * TILE * TILE, 4 * TILE);
}

static void tile_sums_of(const tile_walk *t, const uint8_t *in, const uint8_t *w, const void *start,
                         void *out, ptrdiff_t out_block, int32_t pixels, int32_t blocks)
{
    if (pixels == TILE_STRIP && blocks == 2)
        tile_sums(t, in, w, start, out, out_block, 1, 1);
    else if (pixels == TILE_STRIP)
        tile_sums(t, in, w, start, out, out_block, 1, 0);
    else if (blocks == 2)
        tile_sums(t, in, w, start, out, out_block, 0, 1);
    else
        tile_sums(t, in, w, start, out, out_block, 0, 0);
}

/* The strips of a row of at least 16 pixels: 32 or 16 of them from *x on; what is left over at the end is done with pixels that
 * were done before, to the same values. Returns how many; 0: the row is done. */
static int32_t tile_strip(int32_t out_w, int32_t *x)
{
    const int32_t left = out_w - *x;
    if (left <= 0)
        return 0;
    if (left < TILE)
        *x = out_w - TILE;
    return left >= TILE_STRIP ? TILE_STRIP : TILE;
}

#endif
