/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/simd/finish_u8_avx512.h"
#include "kernels/simd/tiles.h"

#define SUM_TILES(M, S) SK_TILES_14(M, u8, S, 1) SK_TILES_14(M, u8, S, 2)
#define SUM_PIXELS      0, 14, 14, 0, 0
#define SUM_PACKED
#include "kernels/simd/conv_u8_impl.h"
#include "kernels/simd/pool_u8_impl.h"
#include "kernels/simd/table_u8_impl.h"

#include <stdbool.h>

/* Convolution by tiles: 16 pixels by 16 outputs of sums are one register. A step takes the 16 channels of one tap and one block of
 * 16 or 32 pixels and of two output blocks; the weights lie as the instruction wants them. Blocks that are not full, rows' ends and
 * single output blocks go by vectors, to the same sums. */

#define TILE 16 /* pixels, outputs and channels of a tile */

typedef struct tile_config {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} tile_config;

/* 0 … 3: sums; 4, 5: pixels; 6, 7: weights, four channels a row. */
static void tiles_open(void)
{
    tile_config c = {.palette = 1};
    for (int i = 0; i < 8; i++) {
        c.row_bytes[i] = i == 4 || i == 5 ? TILE : 4 * TILE;
        c.rows[i] = i >= 6 ? TILE / 4 : TILE;
    }
    __asm__ volatile(""
                     :
                     : "r"(&c)
                     : "memory"); /* all of it is read, not only the first bytes that the compiler knows of */
    _tile_loadconfig(&c);
}

/* Sums of 16 or 32 pixels (`both`) and two output blocks, written as [pixel tile][block][pixel][16]. */
SK_INLINE void tile_sums(const u8_tile *t, int32_t (*sums)[TILE * TILE], const int both)
{
    const uint8_t *plane = t->in;
    const int8_t *w = t->weights;
    _tile_zero(0);
    _tile_zero(1);
    if (both) {
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int32_t b = 0; b < t->blocks; b++, plane += t->plane)
        for (int32_t ky = 0; ky < t->kernel_h; ky++) {
            const uint8_t *x = plane + ky * t->row_step;
            for (int32_t kx = 0; kx < t->kernel_w; kx++, x += t->column_step, w += TILE / 4 * 2 * 4 * TILE) {
                _tile_loadd(6, w, 2 * 4 * TILE);
                _tile_loadd(7, w + 4 * TILE, 2 * 4 * TILE);
                _tile_loadd(4, x, t->pixel_step);
                _tile_dpbusd(0, 4, 6);
                _tile_dpbusd(1, 4, 7);
                if (both) {
                    _tile_loadd(5, x + TILE * t->pixel_step, t->pixel_step);
                    _tile_dpbusd(2, 5, 6);
                    _tile_dpbusd(3, 5, 7);
                }
            }
        }
    _tile_stored(0, sums[0], 4 * TILE);
    _tile_stored(1, sums[1], 4 * TILE);
    if (both) {
        _tile_stored(2, sums[2], 4 * TILE);
        _tile_stored(3, sums[3], 4 * TILE);
    }
}

/* `pixels` (16 or 32) from t->in on, to t->x or t->out. */
static void tile_pixels(const u8_tile *t, int32_t pixels)
{
    _Alignas(64) int32_t sums[4][TILE * TILE];
    if (pixels == 2 * TILE)
        tile_sums(t, sums, 1);
    else
        tile_sums(t, sums, 0);
    for (int j = 0; j < 2; j++) {
        const sum_vec start = sum_start(t->sums + j * TILE, t->start_by);
        const float *scale = t->scale + j * TILE, *bias = t->bias + j * TILE;
        for (int32_t p = 0; p < pixels; p++) {
            const sum_vec sum =
                _mm512_add_epi32(start, _mm512_load_si512(sums[p / TILE * 2 + j] + p % TILE * TILE));
            if (t->x)
                sum_to_x(sum, scale, bias, t->x + j * t->out_plane + p * SK_BLOCK);
            else
                sum_to_f32(sum, scale, bias, t->out + j * t->out_plane + p * t->out_pixel);
        }
    }
}

/* One row of two output blocks; u8_row's way with other tiles. */
static void tile_row(const sk_conv_u8c16 *p, u8_tile *t, const u8_tile_fn *tiles, int32_t g, int32_t y)
{
    _Alignas(64) int16_t kept[2 * STRIP * SK_BLOCK];
    const int32_t block = g * 2;
    const uint8_t *in = p->in + (ptrdiff_t)y * p->stride_h * p->in_row;
    float *out = p->out ? NULL : p->out_f32 + block * p->out_plane + y * p->out_row;
    t->weights = p->weights + g * p->group_weights;
    t->sums = p->sums + block * SK_BLOCK;
    t->scale = p->scale + block * SK_BLOCK;
    t->bias = p->bias + block * SK_BLOCK;
    for (int32_t x = 0, from = 0; x < p->out_w;) {
        const int32_t left = p->out_w - x;
        const int32_t pixels = left >= 2 * TILE ? 2 * TILE : left >= TILE ? TILE : left > 14 ? 8 : left;
        t->in = in + x * t->pixel_step;
        t->x = p->out ? kept + (x - from) * SK_BLOCK : NULL;
        t->out = p->out ? NULL : out + x * p->out_pixel;
        if (pixels >= TILE)
            tile_pixels(t, pixels);
        else
            tiles[2 * 32 + pixels](t);
        x += pixels;
        if (!p->out || (x < p->out_w && x - from + 2 * TILE <= STRIP))
            continue;
        for (int32_t j = 0; j < 2; j++)
            u8_strip_out(p, kept + j * STRIP * SK_BLOCK, block + j, y, from, x - from);
        from = x;
    }
}

static bool all_full(const sk_conv_u8c16 *p)
{
    for (int32_t b = 0; b < p->in_blocks; b++)
        if (p->fill[b] != SK_BLOCK)
            return false;
    return p->in_pixel == SK_BLOCK && p->width == 2 && p->out_w >= TILE;
}

static void tile_conv(const sk_conv_u8c16 *p, int32_t g0, int32_t g1, int32_t y0, int32_t y1)
{
    const int32_t whole = p->out_blocks / 2 < g1 ? p->out_blocks / 2 : g1; /* groups of two blocks */
    if (!all_full(p) || whole <= g0) {
        u8_conv(p, g0, g1, y0, y1);
        return;
    }
    tiles_open();
    u8_walk(p, g0, whole, y0, y1, tile_row);
    _tile_release();
    if (whole < g1)
        u8_conv(p, whole, g1, y0, y1);
}

void sk_kernels_u8_amx(sk_kernels_u8 *table)
{
    table_u8_fill(table, "amx");
    table->conv = tile_conv;
}
