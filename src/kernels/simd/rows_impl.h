/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_ROWS_IMPL_H
#define SK_KERNELS_SIMD_ROWS_IMPL_H

#include "kernels/simd/act_impl.h"

#include <string.h>

/* Rows of dense memory: softmax, layer norm, matrix product. */

SK_INLINE void rows_softmax(const float *in, float *out, size_t count)
{
    size_t i = 0;
    vec top = vec_set1(-INFINITY);
    float best = -INFINITY, total = 0.0f;
    for (; i + VEC_FLOATS <= count; i += VEC_FLOATS)
        top = vec_max(top, vec_load(in + i));
    if (i)
        best = vec_highest(top);
    for (; i < count; i++)
        best = in[i] > best ? in[i] : best;
    vec sum = vec_set1(0.0f);
    for (i = 0; i + VEC_FLOATS <= count; i += VEC_FLOATS) {
        vec e = vec_exp(vec_sub(vec_load(in + i), vec_set1(best)));
        sum = vec_add(sum, e);
        vec_store(out + i, e);
    }
    total = vec_sum(sum);
    for (; i < count; i++) {
        out[i] = expf(in[i] - best);
        total += out[i];
    }
    const float scale = 1.0f / total;
    for (i = 0; i + VEC_FLOATS <= count; i += VEC_FLOATS)
        vec_store(out + i, vec_mul(vec_load(out + i), vec_set1(scale)));
    for (; i < count; i++)
        out[i] *= scale;
}

/* Vector b of a pixel, with the channels that do not exist at `fill_value`. */
SK_INLINE void softmax_edge(float *at, int32_t from, float fill_value)
{
    for (int32_t channel = from; channel < SK_BLOCK; channel++)
        at[channel] = fill_value;
}

SK_INLINE void rows_softmax_blocked(float *data, ptrdiff_t plane, int32_t blocks, int32_t last,
                                    int32_t pixels, float scale)
{
    for (int32_t x = 0; x < pixels; x++) {
        float *pixel = data + (ptrdiff_t)x * SK_BLOCK;
        softmax_edge(pixel + (blocks - 1) * plane, last, -INFINITY);
        vec top = vec_set1(-INFINITY), sum = vec_set1(0.0f);
        for (int32_t b = 0; b < blocks; b++)
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS)
                top = vec_max(top, vec_load(pixel + b * plane + channel));
        const vec best = vec_set1(vec_highest(top)), gain = vec_set1(scale);
        softmax_edge(pixel + (blocks - 1) * plane, last, -1e30f);
        for (int32_t b = 0; b < blocks; b++)
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS) {
                float *at = pixel + b * plane + channel;
                vec e = vec_exp(vec_mul(vec_sub(vec_load(at), best), gain));
                vec_store(at, e);
                sum = vec_add(sum, e);
            }
        const vec norm = vec_set1(1.0f / vec_sum(sum));
        for (int32_t b = 0; b < blocks; b++)
            for (int channel = 0; channel < SK_BLOCK; channel += VEC_FLOATS)
                vec_store(pixel + b * plane + channel, vec_mul(vec_load(pixel + b * plane + channel), norm));
        softmax_edge(pixel + (blocks - 1) * plane, last, 0.0f);
    }
}

SK_INLINE void rows_layer_norm(const float *in, float *out, size_t count, const float *scale,
                               const float *shift, float epsilon)
{
    /* Two passes in double: the mean of a long row must not lose the deviations. */
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += in[i];
    const float mean = (float)(sum / (double)count);
    for (size_t i = 0; i < count; i++)
        square += (double)(in[i] - mean) * (in[i] - mean);
    const float gain = (float)(1.0 / sqrt(square / (double)count + epsilon));
    size_t i = 0;
    for (; i + VEC_FLOATS <= count; i += VEC_FLOATS) {
        vec v = vec_mul(vec_sub(vec_load(in + i), vec_set1(mean)), vec_set1(gain));
        if (scale)
            v = vec_mul(v, vec_load(scale + i));
        if (shift)
            v = vec_add(v, vec_load(shift + i));
        vec_store(out + i, v);
    }
    for (; i < count; i++)
        out[i] = (in[i] - mean) * gain * (scale ? scale[i] : 1.0f) + (shift ? shift[i] : 0.0f);
}

/* rows x vectors of c at once. */
SK_INLINE void gemm_tile(const sk_gemm_f32 *p, int32_t m, int32_t n, const int rows, const int vectors)
{
    vec acc[8][3];
    SK_UNROLL
    for (int j = 0; j < vectors; j++) {
        vec b = p->bias ? vec_load(p->bias + n + j * VEC_FLOATS) : vec_set1(0.0f);
        SK_UNROLL
        for (int i = 0; i < rows; i++)
            acc[i][j] = b;
    }
    const float *a = p->a + m * p->a_row, *b = p->b + n;
    for (int32_t k = 0; k < p->k; k++, a += p->a_col, b += p->b_row) {
        vec bv[3];
        SK_UNROLL
        for (int j = 0; j < vectors; j++)
            bv[j] = vec_load(b + j * VEC_FLOATS);
        SK_UNROLL
        for (int i = 0; i < rows; i++) {
            vec v = vec_set1(a[i * p->a_row]);
            SK_UNROLL
            for (int j = 0; j < vectors; j++)
                acc[i][j] = vec_fma(bv[j], v, acc[i][j]);
        }
    }
    SK_UNROLL
    for (int i = 0; i < rows; i++) {
        SK_UNROLL
        for (int j = 0; j < vectors; j++)
            vec_store(p->c + (m + i) * p->c_row + n + j * VEC_FLOATS, acc[i][j]);
    }
}

#define SK_GEMM_ROWS    (VEC_FLOATS == 16 ? 8 : 4)
#define SK_GEMM_VECTORS (VEC_FLOATS == 16 ? 3 : 2)

SK_INLINE void gemm_column(const sk_gemm_f32 *p, int32_t m0, int32_t m1, int32_t n, const int vectors)
{
    int32_t m = m0;
    for (; m + SK_GEMM_ROWS <= m1; m += SK_GEMM_ROWS)
        gemm_tile(p, m, n, SK_GEMM_ROWS, vectors);
    for (; m < m1; m++)
        gemm_tile(p, m, n, 1, vectors);
}

SK_INLINE void rows_gemm(const sk_gemm_f32 *p, int32_t m0, int32_t m1)
{
    int32_t n = 0;
    for (; n + SK_GEMM_VECTORS * VEC_FLOATS <= p->n; n += SK_GEMM_VECTORS * VEC_FLOATS)
        gemm_column(p, m0, m1, n, SK_GEMM_VECTORS);
    for (; n + VEC_FLOATS <= p->n; n += VEC_FLOATS)
        gemm_column(p, m0, m1, n, 1);
    for (; n < p->n; n++)
        for (int32_t m = m0; m < m1; m++) {
            float sum = p->bias ? p->bias[n] : 0.0f;
            for (int32_t k = 0; k < p->k; k++)
                sum += p->a[m * p->a_row + k * p->a_col] * p->b[k * p->b_row + n];
            p->c[m * p->c_row + n] = sum;
        }
}

#endif
