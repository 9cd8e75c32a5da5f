/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_TABLE_IMPL_H
#define SK_KERNELS_SIMD_TABLE_IMPL_H

#include "kernels/simd/attention_impl.h"
#include "kernels/simd/depthwise_impl.h"
#include "kernels/simd/first_impl.h"
#include "kernels/simd/maps_impl.h"
#include "kernels/simd/rows_impl.h"

/* Everything but the dense convolutions, as functions of one instruction set. */
static void depthwise(const sk_conv_f32c16 *p, int32_t b0, int32_t b1, int32_t y0, int32_t y1)
{
    depthwise_rows(p, b0, b1, y0, y1);
}
static void first(const sk_first_f32c16 *p)
{
    first_groups(p);
}
static void row_u8(const uint8_t *in, float *out, int32_t count, const float *gain, const float *shift)
{
    first_row_u8(in, out, count, gain, shift);
}
static void max_pool(const sk_pool_f32c16 *p, int32_t y0, int32_t y1)
{
    pool_max_rows(p, y0, y1);
}
static void avg_pool(const sk_pool_f32c16 *p, int32_t y0, int32_t y1)
{
    pool_avg_rows(p, y0, y1);
}
static void unary(const float *in, float *out, size_t count, const sk_act_f32 *act)
{
    maps_unary(in, out, count, act);
}
static void binary(int32_t kind, const float *a, const float *b, float *out, size_t count)
{
    maps_binary(kind, a, b, out, count);
}
static void binary16(int32_t kind, const float *a, const float *b16, float *out, size_t count, int32_t flip)
{
    maps_binary16(kind, a, b16, out, count, flip);
}
static void upsample2(const float *in, float *out0, float *out1, int32_t width)
{
    maps_upsample2(in, out0, out1, width);
}
static void bilinear(const sk_bilinear_f32c16 *p)
{
    maps_bilinear(p);
}
static void softmax(const float *in, float *out, size_t count)
{
    rows_softmax(in, out, count);
}
static void softmax_blocked(float *data, ptrdiff_t plane, int32_t blocks, int32_t last, int32_t pixels,
                            float scale)
{
    rows_softmax_blocked(data, plane, blocks, last, pixels, scale);
}
static void gemm(const sk_gemm_f32 *p, int32_t m0, int32_t m1)
{
    rows_gemm(p, m0, m1);
}
static void layer_norm(const float *in, float *out, size_t count, const float *scale, const float *shift,
                       float epsilon)
{
    rows_layer_norm(in, out, count, scale, shift, epsilon);
}
static void attention(const sk_attention_f32 *p)
{
    attention_queries(p);
}

static void table_fill(sk_kernels_f32 *table)
{
    table->winograd2_from = 32;
    table->rows_stride2 = 0;
    table->depthwise = depthwise;
    table->first = first;
    table->row_u8 = row_u8;
    table->max_pool = max_pool;
    table->avg_pool = avg_pool;
    table->unary = unary;
    table->binary = binary;
    table->binary16 = binary16;
    table->upsample2 = upsample2;
    table->bilinear = bilinear;
    table->softmax = softmax;
    table->softmax_blocked = softmax_blocked;
    table->gemm = gemm;
    table->layer_norm = layer_norm;
    table->attention = attention;
}

#endif
