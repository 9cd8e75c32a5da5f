/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_DEPTHWISE_BF16_H
#define SK_KERNELS_SIMD_DEPTHWISE_BF16_H

#include "kernels/simd/depthwise_impl.h"
#include "kernels/simd/strip_bf16.h"

/* Depthwise convolution of maps of bf16: a patch of the input becomes floats that stay in the first cache, and the sums are f32's own. */

#define DEPTH_ROWS    4 /* of the output, at once */
#define DEPTH_PIXELS  32
#define DEPTH_ROWS_IN ((DEPTH_ROWS - 1) * 2 + SK_DEPTHWISE_BF16_MOST)
#define DEPTH_WIDE_IN ((DEPTH_PIXELS - 1) * 2 + SK_DEPTHWISE_BF16_MOST)

/* What the outputs from (y, x) on read, of one block. */
static void depth_raise(const sk_conv_f32c16 *p, int32_t b, int32_t y, int32_t x, int32_t rows,
                        int32_t columns, float *out)
{
    const uint16_t *in = p->in16 + b * p->in_plane + (ptrdiff_t)y * p->stride_h * p->in_row +
                         (ptrdiff_t)x * p->stride_w * SK_BLOCK;
    for (int32_t r = 0; r < rows; r++, in += p->in_row)
        for (int32_t i = 0; i < columns; i++, out += SK_BLOCK) {
            const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(in + i * SK_BLOCK));
            _mm512_store_si512(out, _mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
        }
}

static void depthwise_bf16(const sk_conv_f32c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    _Alignas(64) float patch[DEPTH_ROWS_IN * DEPTH_WIDE_IN * SK_BLOCK];
    _Alignas(64) float kept[DEPTH_PIXELS * SK_BLOCK];
    sk_conv_f32c16 q = *p; /* over the patch */
    q.in_plane = 0;
    q.in = patch;
    for (int32_t b = b0; b < b1; b++)
        for (int32_t y = y0; y < y1; y += DEPTH_ROWS) {
            const int32_t rows = y1 - y < DEPTH_ROWS ? y1 - y : DEPTH_ROWS;
            for (int32_t x = 0; x < p->out_w; x += DEPTH_PIXELS) {
                q.out_w = p->out_w - x < DEPTH_PIXELS ? p->out_w - x : DEPTH_PIXELS;
                const int32_t columns = (q.out_w - 1) * p->stride_w + p->kernel_w;
                q.in_row = (ptrdiff_t)columns * SK_BLOCK;
                depth_raise(p, b, y, x, (rows - 1) * p->stride_h + p->kernel_h, columns, patch);
                for (int32_t r = 0; r < rows; r++) {
                    depthwise_channels(&q, b, 0, r, kept);
                    strip_out(p, kept, b, y + r, x, q.out_w);
                }
            }
        }
}

#endif
