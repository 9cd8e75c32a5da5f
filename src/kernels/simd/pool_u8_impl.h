/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_POOL_U8_IMPL_H
#define SK_KERNELS_SIMD_POOL_U8_IMPL_H

#include "kernels/kernels.h"
#include "kernels/kernels_u8.h"
#include "kernels/simd/compiler.h"

#include <string.h>

/* The largest byte under a window: columns first, then along the row. Plain loops that compilers turn into vectors. */

#define POOL_COLUMNS 256 /* input columns at once */

SK_INLINE void keep_largest(uint8_t *restrict into, const uint8_t *restrict from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        into[i] = into[i] > from[i] ? into[i] : from[i];
}

/* The largest of each column of input rows from `top` on, columns [x0, x0 + count); outside the map is 0. */
SK_INLINE void pool_columns(const sk_pool_u8c16 *p, int32_t top, int32_t x0, int32_t count, uint8_t *out)
{
    const int32_t from = x0 < 0 ? 0 : x0, to = x0 + count < p->in_w ? x0 + count : p->in_w;
    memset(out, 0, (size_t)count * SK_BLOCK);
    for (int32_t k = 0; k < p->kernel_h && from < to; k++) {
        const int32_t y = top + k * p->dilation_h;
        if (y >= 0 && y < p->in_h)
            keep_largest(out + (from - x0) * SK_BLOCK, p->in + y * p->in_row + (ptrdiff_t)from * SK_BLOCK,
                         (size_t)(to - from) * SK_BLOCK);
    }
}

/* Halving, the usual case: the largest of four pixels. */
static void pool_halve_u8(const sk_pool_u8c16 *p, int32_t y0, int32_t y1)
{
    enum { MOST = POOL_COLUMNS / 2 };
    uint8_t columns[POOL_COLUMNS * SK_BLOCK];
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = 0; x < p->out_w; x += MOST) {
            const int32_t n = p->out_w - x < MOST ? p->out_w - x : MOST;
            const uint8_t *restrict top = p->in + 2 * y * p->in_row + (ptrdiff_t)2 * x * SK_BLOCK,
                                    *restrict below = top + p->in_row;
            uint8_t *restrict out = p->out + y * p->out_row + (ptrdiff_t)x * SK_BLOCK;
            for (int32_t i = 0; i < 2 * n * SK_BLOCK; i++)
                columns[i] = top[i] > below[i] ? top[i] : below[i];
            const uint8_t *restrict pair = columns;
            for (int32_t i = 0; i < n; i++, pair += 2 * SK_BLOCK, out += SK_BLOCK)
                for (int k = 0; k < SK_BLOCK; k++)
                    out[k] = pair[k] > pair[k + SK_BLOCK] ? pair[k] : pair[k + SK_BLOCK];
        }
}

static void pool_max_u8(const sk_pool_u8c16 *p, int32_t y0, int32_t y1)
{
    if (p->kernel_h == 2 && p->kernel_w == 2 && p->stride_h == 2 && p->stride_w == 2 && p->pad_top == 0 &&
        p->pad_left == 0 && p->dilation_h == 1 && p->dilation_w == 1 && 2 * p->out_w <= p->in_w &&
        2 * y1 <= p->in_h) {
        pool_halve_u8(p, y0, y1);
        return;
    }
    uint8_t columns[POOL_COLUMNS * SK_BLOCK];
    const int32_t reach = (p->kernel_w - 1) * p->dilation_w + 1;
    if (reach > POOL_COLUMNS) { /* such windows are nobody's */
        sk_kernels_u8 plain;
        sk_kernels_u8_ref(&plain);
        plain.max_pool(p, y0, y1);
        return;
    }
    const int32_t most = (POOL_COLUMNS - reach) / p->stride_w + 1;
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = 0; x < p->out_w; x += most) {
            const int32_t n = p->out_w - x < most ? p->out_w - x : most;
            uint8_t *out = p->out + y * p->out_row + (ptrdiff_t)x * SK_BLOCK;
            pool_columns(p, y * p->stride_h - p->pad_top, x * p->stride_w - p->pad_left,
                         (n - 1) * p->stride_w + reach, columns);
            memset(out, 0, (size_t)n * SK_BLOCK);
            for (int32_t k = 0; k < p->kernel_w; k++) {
                const uint8_t *from = columns + (ptrdiff_t)k * p->dilation_w * SK_BLOCK;
                if (p->stride_w == 1)
                    keep_largest(out, from, (size_t)n * SK_BLOCK);
                else
                    for (int32_t i = 0; i < n; i++)
                        keep_largest(out + i * SK_BLOCK, from + (ptrdiff_t)i * p->stride_w * SK_BLOCK,
                                     SK_BLOCK);
            }
        }
}

#endif
