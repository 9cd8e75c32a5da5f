/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_CUDA_NUMBER_ELEMENT_H
#define SK_ENGINES_CUDA_NUMBER_ELEMENT_H

#include "args.h"
#include "bf16_element.h"
#include "graph/f8_formula.h"
#include "graph/op_kinds.h"
#include "kernels/sigmoid_formula.h"

/* Single numbers, on device and host: read from and written to maps of every type, activations and other functions of one or two, the end
 * of a convolution. Needs before it what element.h does. */

GPU_HD float gpu_load(const void *p, int64_t i, int32_t type)
{
    return type == GPU_F16    ? gpu_half_load(p, i)
           : type == GPU_BF16 ? gpu_bf16_load(p, i)
           : type == GPU_U8   ? (float)((const uint8_t *)p)[i]
           : type == GPU_F8   ? sk_f8_number(((const uint8_t *)p)[i])
                              : ((const float *)p)[i];
}
GPU_HD void gpu_store(void *p, int64_t i, int32_t type, float v)
{
    if (type == GPU_F16)
        gpu_half_store(p, i, v);
    else if (type == GPU_BF16)
        gpu_bf16_store(p, i, v);
    else if (type == GPU_U8)
        ((uint8_t *)p)[i] = (uint8_t)v;
    else if (type == GPU_F8)
        ((uint8_t *)p)[i] = sk_f8_of(v);
    else
        ((float *)p)[i] = v;
}
/* As gpu_bytes says; no number becomes 0. */
GPU_HD uint8_t gpu_byte(float v, float gain, float zero)
{
    v = v * gain + zero;
    return (uint8_t)nearbyintf(255.0f * (v > 0.0f ? v < 1.0f ? v : 1.0f : 0.0f));
}
GPU_HD uint8_t gpu_low(float v, float gain, float zero, int32_t f8)
{
    return f8 ? sk_f8_of(v * gain) : gpu_byte(v, gain, zero);
}

GPU_HD float gpu_unary(int32_t kind, float alpha, float beta, float x)
{
    float v;
    switch (kind) {
    case SK_UNARY_SIGMOID: return sk_sigmoid(x);
    case SK_UNARY_SILU: return x / (1.0f + expf(-x));
    case SK_UNARY_RELU: return x < 0 ? 0 : x;
    case SK_UNARY_GELU: return 0.5f * x * (1.0f + erff(x * 0.70710678f));
    case SK_UNARY_GELU_TANH: return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    case SK_UNARY_LEAKY: return x < 0 ? alpha * x : x;
    case SK_UNARY_ELU: return x < 0 ? alpha * expm1f(x) : x;
    case SK_UNARY_RELU6: return x < 0 ? 0 : x > 6 ? 6 : x;
    case SK_UNARY_HARD_SIGMOID: v = alpha * x + beta; return v < 0 ? 0 : v > 1 ? 1 : v;
    case SK_UNARY_HARD_SWISH: v = x / 6.0f + 0.5f; return x * (v < 0 ? 0 : v > 1 ? 1 : v);
    case SK_UNARY_MISH: return x * tanhf(x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x)));
    case SK_UNARY_SOFTPLUS: return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x));
    case SK_UNARY_TANH: return tanhf(x);
    case SK_UNARY_ERF: return erff(x);
    case SK_UNARY_EXP: return expf(x);
    case SK_UNARY_LOG: return logf(x);
    case SK_UNARY_SQRT: return sqrtf(x);
    case SK_UNARY_RECIPROCAL: return 1.0f / x;
    case SK_UNARY_NEG: return -x;
    case SK_UNARY_ABS: return fabsf(x);
    case SK_UNARY_FLOOR: return floorf(x);
    case SK_UNARY_CEIL: return ceilf(x);
    case SK_UNARY_ROUND: return nearbyintf(x);
    case SK_UNARY_SIGN: return x > 0 ? 1.0f : x < 0 ? -1.0f : x;
    case SK_UNARY_SIN: return sinf(x);
    case SK_UNARY_COS: return cosf(x);
    case SK_UNARY_ATAN: return atanf(x);
    default: return x;
    }
}

GPU_HD float gpu_binary(int32_t kind, float a, float b)
{
    switch (kind) {
    case SK_BINARY_ADD: return a + b;
    case SK_BINARY_SUB: return a - b;
    case SK_BINARY_MUL: return a * b;
    case SK_BINARY_DIV: return a / b;
    case SK_BINARY_POW: return powf(a, b);
    case SK_BINARY_MIN: return a != a || a < b ? a : b;
    case SK_BINARY_MAX: return a != a || a > b ? a : b;
    default: return a;
    }
}

GPU_HD float gpu_act(float x, int32_t act, float alpha)
{
    switch (act) {
    case GPU_ACT_SILU: return x / (1.0f + expf(-x));
    case GPU_ACT_RELU: return x < 0 ? 0 : x;
    case GPU_ACT_LEAKY: return x < 0 ? alpha * x : x;
    case GPU_ACT_SIGMOID: return sk_sigmoid(x);
    default: return x;
    }
}

/* The end of a convolution: activation, residual, and what is written to the map or as bytes. */
GPU_HD void gpu_finish_bytes(const gpu_bytes *b, void *out, int64_t to, const void *residual, int64_t from,
                             int32_t before, int32_t act, float alpha, float sum)
{
    sum = b->half ? 2.0f * sum : sum;
    const float r = !residual     ? 0.0f
                    : b->residual ? (gpu_load(residual, from, b->f8 ? GPU_F8 : GPU_U8) - b->residual_zero) *
                                        b->residual_gain
                                  : gpu_half_load(residual, from);
    sum = before ? gpu_act(sum + r, act, alpha) : gpu_act(sum, act, alpha) + r;
    if (b->out)
        ((uint8_t *)out)[to] = gpu_low(sum, b->gain, b->zero, b->f8);
    else
        gpu_half_store(out, to, sum);
}

#endif
