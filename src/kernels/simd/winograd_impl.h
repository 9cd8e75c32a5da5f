/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_WINOGRAD_IMPL_H
#define SK_KERNELS_SIMD_WINOGRAD_IMPL_H

#include "kernels/simd/conv_impl.h"

/* Winograd: 4x4 outputs at a time, Y = A^T [ (G g G^T) . (B^T d B) ] A. G g G^T is in the packed weights.
 *
 * Stride 1, F(4, 3): from 6x6 inputs with 36 multiplications a channel pair instead of 144; points 0, 1, -1, 2, -2.
 * Stride 2: from 9x9 inputs with 81. Along each axis the two outer taps see every second input, which is F(4, 2) with
 * points 0, 1, -1, 2; the middle tap sees the inputs between, which stay as they are: 5 + 4 values instead of 12.
 *
 * `batch_tiles` tiles go together: V = B^T d B of all input blocks, then as many small matrix products M = U V as there
 * are points, by the 1x1 tile kernels, then A^T M A with bias, residual and activation.
 * V [point][block][tile][16], M [point][block][tile][16], both in the thread's scratch. */

/* Inputs, and points, along one axis of a tile. */
#define SK_WINO_SIDE(stride) ((stride) == 1 ? 6 : 9)

SK_INLINE void winograd_bt(vec d[6])
{
    const vec four = vec_set1(4.0f), five = vec_set1(5.0f), two = vec_set1(2.0f);
    vec t0 = vec_fnma(four, d[2], d[4]), t1 = vec_fnma(four, d[1], d[3]);
    vec t2 = vec_sub(d[4], d[2]), t3 = vec_sub(d[3], d[1]);
    vec o0 = vec_fma(four, d[0], vec_fnma(five, d[2], d[4]));
    vec o5 = vec_fma(four, d[1], vec_fnma(five, d[3], d[5]));
    d[0] = o0;
    d[1] = vec_add(t0, t1);
    d[2] = vec_sub(t0, t1);
    d[3] = vec_fma(two, t3, t2);
    d[4] = vec_fnma(two, t3, t2);
    d[5] = o5;
}

SK_INLINE void winograd_at(const vec m[6], vec o[4])
{
    vec a = vec_add(m[1], m[2]), b = vec_sub(m[1], m[2]), c = vec_add(m[3], m[4]), e = vec_sub(m[3], m[4]);
    o[0] = vec_add(vec_add(m[0], a), c);
    o[1] = vec_fma(vec_set1(2.0f), e, b);
    o[2] = vec_fma(vec_set1(4.0f), c, a);
    o[3] = vec_add(vec_fma(vec_set1(8.0f), e, b), m[5]);
}

/* The same for stride 2: five points of the inputs 0, 2, 4, 6, 8, then 1, 3, 5, 7 as they are. */
SK_INLINE void winograd_bt_2(vec d[9])
{
    const vec two = vec_set1(2.0f);
    vec s = vec_sub(d[6], d[2]), e0 = d[1], e1 = d[3], e2 = d[5], e3 = d[7];
    vec p0 = vec_fma(two, vec_sub(d[0], d[4]), s);
    vec p1 = vec_sub(s, vec_add(d[2], d[4]));
    vec p2 = vec_fnma(vec_set1(3.0f), d[4], vec_fma(two, d[2], d[6]));
    vec p4 = vec_fnma(two, s, vec_sub(d[8], d[4]));
    d[0] = p0;
    d[1] = p1;
    d[2] = p2;
    d[3] = s;
    d[4] = p4;
    d[5] = e0;
    d[6] = e1;
    d[7] = e2;
    d[8] = e3;
}

SK_INLINE void winograd_at_2(const vec m[9], vec o[4])
{
    vec a = vec_add(m[1], m[2]), b = vec_sub(m[1], m[2]);
    o[0] = vec_add(vec_add(m[0], m[3]), vec_add(a, m[5]));
    o[1] = vec_fma(vec_set1(2.0f), m[3], vec_add(b, m[6]));
    o[2] = vec_fma(vec_set1(4.0f), m[3], vec_add(a, m[7]));
    o[3] = vec_fma(vec_set1(8.0f), m[3], vec_add(vec_add(b, m[4]), m[8]));
}

/* One patch of one block; v: where point 0 goes, points are `step` floats apart. */
SK_INLINE void winograd_input_tile(const float *in, ptrdiff_t row, float *v, size_t step, const int stride)
{
    const int side = SK_WINO_SIDE(stride);
    for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
        vec b[9][9];
        SK_UNROLL
        for (int x = 0; x < side; x++) {
            vec d[9];
            SK_UNROLL
            for (int y = 0; y < side; y++)
                d[y] = vec_load(in + y * row + x * SK_BLOCK + channel);
            if (stride == 1)
                winograd_bt(d);
            else
                winograd_bt_2(d);
            SK_UNROLL
            for (int y = 0; y < side; y++)
                b[y][x] = d[y];
        }
        SK_UNROLL
        for (int y = 0; y < side; y++) {
            if (stride == 1)
                winograd_bt(b[y]);
            else
                winograd_bt_2(b[y]);
            SK_UNROLL
            for (int x = 0; x < side; x++)
                vec_store(v + (size_t)(y * side + x) * step + channel, b[y][x]);
        }
    }
}

/* A patch that reaches beyond the readable area, completed with zeros. */
SK_INLINE const float *winograd_edge(const sk_conv_f32c16 *p, const float *in, int32_t y0, int32_t x0,
                                     float *patch, const int side)
{
    for (int32_t y = 0; y < side; y++)
        for (int32_t x = 0; x < side; x++) {
            bool inside = y0 + y < p->in_h && x0 + x < p->in_w;
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS)
                vec_store(patch + (y * side + x) * SK_BLOCK + channel,
                          inside ? vec_load(in + y * p->in_row + x * SK_BLOCK + channel) : vec_set1(0.0f));
        }
    return patch;
}

SK_INLINE void winograd_input(const sk_conv_f32c16 *p, int32_t columns, int32_t t0, int32_t count, float *v,
                              float *patch, const int stride)
{
    const size_t step = (size_t)p->in_blocks * (size_t)p->batch_tiles * SK_BLOCK;
    const int side = SK_WINO_SIDE(stride);
    for (int32_t b = 0; b < p->in_blocks; b++)
        for (int32_t i = 0; i < count; i++) {
            int32_t y = (t0 + i) / columns * 4 * stride, x = (t0 + i) % columns * 4 * stride;
            const float *in = p->in + b * p->in_plane + y * p->in_row + x * SK_BLOCK;
            float *at = v + ((size_t)b * (size_t)p->batch_tiles + (size_t)i) * SK_BLOCK;
            if (y + side <= p->in_h && x + side <= p->in_w)
                winograd_input_tile(in, p->in_row, at, step, stride);
            else
                winograd_input_tile(winograd_edge(p, in, y, x, patch, side), side * SK_BLOCK, at, step,
                                    stride);
        }
}

/* 4x4 outputs of one block; bias added. */
SK_INLINE void winograd_output_tile(const float *m, size_t step, const float *bias, float *out, ptrdiff_t row,
                                    const int stride)
{
    const int side = SK_WINO_SIDE(stride);
    for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
        vec b[4][9];
        SK_UNROLL
        for (int x = 0; x < side; x++) {
            vec d[9], o[4];
            SK_UNROLL
            for (int y = 0; y < side; y++)
                d[y] = vec_load(m + (size_t)(y * side + x) * step + channel);
            if (stride == 1)
                winograd_at(d, o);
            else
                winograd_at_2(d, o);
            SK_UNROLL
            for (int y = 0; y < 4; y++)
                b[y][x] = o[y];
        }
        vec shift = vec_load(bias + channel);
        SK_UNROLL
        for (int y = 0; y < 4; y++) {
            vec o[4];
            if (stride == 1)
                winograd_at(b[y], o);
            else
                winograd_at_2(b[y], o);
            SK_UNROLL
            for (int x = 0; x < 4; x++)
                vec_store(out + y * row + x * SK_BLOCK + channel, vec_add(o[x], shift));
        }
    }
}

SK_INLINE void winograd_output(const sk_conv_f32c16 *p, int32_t columns, int32_t t0, int32_t count,
                               int32_t block0, int32_t blocks, const float *m, float *patch, const int stride)
{
    const size_t step = (size_t)blocks * (size_t)p->batch_tiles * SK_BLOCK;
    for (int32_t b = 0; b < blocks; b++)
        for (int32_t i = 0; i < count; i++) {
            int32_t y = (t0 + i) / columns * 4, x = (t0 + i) % columns * 4;
            const float *at = m + ((size_t)b * (size_t)p->batch_tiles + (size_t)i) * SK_BLOCK;
            const float *bias = p->bias + (block0 + b) * SK_BLOCK;
            float *out = p->out + (block0 + b) * p->out_plane + y * p->out_row + x * SK_BLOCK;
            int32_t rows = p->out_h - y < 4 ? p->out_h - y : 4, pixels = p->out_w - x < 4 ? p->out_w - x : 4;
            bool whole = rows == 4 && pixels == 4;
            winograd_output_tile(at, step, bias, whole ? out : patch, whole ? p->out_row : 4 * SK_BLOCK,
                                 stride);
            for (int32_t r = 0; r < rows; r++) {
                float *to = out + r * p->out_row;
                if (!whole)
                    for (int32_t k = 0; k < pixels * SK_BLOCK; k += VEC_FLOATS)
                        vec_store(to + k, vec_load(patch + r * 4 * SK_BLOCK + k));
                if (p->act.kind || p->residual)
                    tile_finish(p, to, block0 + b, 1, y + r, x, pixels);
            }
        }
}

SK_INLINE void winograd_tiles(const sk_conv_f32c16 *p, const conv_tile_fn *tiles, int32_t g0, int32_t g1,
                              int32_t t0, int32_t t1, float *scratch, const int stride)
{
    static const float zero[4 * SK_BLOCK] __attribute__((aligned(64)));
    const int points = SK_WINO_SIDE(stride) * SK_WINO_SIDE(stride);
    const int32_t columns = (p->out_w + 3) / 4, batch = p->batch_tiles;
    const int32_t block0 = g0 * p->width;
    const int32_t block1 = g1 * p->width < p->out_blocks ? g1 * p->width : p->out_blocks;
    const ptrdiff_t v_step = (ptrdiff_t)p->in_blocks * batch * SK_BLOCK;
    const ptrdiff_t m_step = (ptrdiff_t)(block1 - block0) * batch * SK_BLOCK;
    float *patch = scratch, *v = scratch + points * SK_BLOCK, *m = v + points * v_step;
    conv_tile t = {.plane = (ptrdiff_t)batch * SK_BLOCK,
                   .pixel_step = SK_BLOCK,
                   .fill = p->fill,
                   .blocks = p->in_blocks,
                   .kernel_h = 1,
                   .kernel_w = 1,
                   .bias = zero,
                   .out_plane = (ptrdiff_t)batch * SK_BLOCK,
                   .out_pixel = SK_BLOCK};
    for (int32_t first = t0; first < t1; first += batch) {
        int32_t count = t1 - first < batch ? t1 - first : batch, parts = (count + p->tile - 1) / p->tile;
        winograd_input(p, columns, first, count, v, patch, stride);
        for (int32_t k = 0; k < points; k++)
            for (int32_t g = g0; g < g1; g++) {
                int32_t block = g * p->width;
                int32_t width = p->out_blocks - block < p->width ? p->out_blocks - block : p->width;
                t.weights = p->weights + k * p->point_weights + g * p->group_weights;
                for (int32_t i = 0, at = 0; i < parts; i++) {
                    int32_t n = (count - at) / (parts - i);
                    t.in = v + k * v_step + at * SK_BLOCK;
                    t.out = m + k * m_step + (ptrdiff_t)(block - block0) * batch * SK_BLOCK + at * SK_BLOCK;
                    tiles[width * 32 + n](&t);
                    at += n;
                }
            }
        winograd_output(p, columns, first, count, block0, block1 - block0, m, patch, stride);
    }
}

#endif
