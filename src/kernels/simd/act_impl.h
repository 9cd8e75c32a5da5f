/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_SIMD_ACT_IMPL_H
#define SK_KERNELS_SIMD_ACT_IMPL_H

#include "graph/graph.h"
#include "kernels/kernels.h"

#include <math.h>

/* Activations on vectors, for epilogues and for sk_unary. Include after a vec_<isa>.h. */

#define VEC_PER_BLOCK      (SK_BLOCK / VEC_FLOATS)
#define SK_PASTE3(a, b, c) a##b##_##c
#define SK_PASTE2(a, b, c) SK_PASTE3(a, b, c)
/* SK_NAME(conv) is sk_f32c16_conv_avx512 in the AVX-512 files. */
#define SK_NAME(thing) SK_PASTE2(sk_f32c16_, thing, VEC_ISA)

#define SK_LOG2_E      1.44269504088896341f

/* e^x; below -87 it is as small as a normal float gets, above 87 as large. */
SK_INLINE vec vec_exp(vec x)
{
    vec t = vec_mul(x, vec_set1(SK_LOG2_E));
    return vec_exp2(vec_max(vec_set1(-126.0f), vec_min(vec_set1(126.0f), t))); /* no number stays none */
}
/* 1 / (1 + e^-x), absolute error 2e-7: for x * sigmoid(x). The exponent is held below 126 so that the sum stays finite; the
 * other end underflows to 1 + 0. */
SK_INLINE vec vec_gate(vec x)
{
    vec t = vec_mul(x, vec_set1(-SK_LOG2_E));
#if VEC_FLOATS < 16
    t = vec_max(t, vec_set1(-126.0f)); /* scalef needs no lower bound */
#endif
    vec e = vec_exp2(vec_min(t, vec_set1(126.0f)));
    return vec_reciprocal(vec_add(vec_set1(1.0f), e));
}
SK_INLINE vec vec_silu(vec x)
{
    return vec_mul(x, vec_gate(x));
}
/* The probability itself: e^-|x| / (1 + e^-|x|), or 1 less that. So it stays below 1 as long as a float can say so, and
 * two that are nearly sure can still be told apart. */
SK_INLINE vec vec_sigmoid(vec x)
{
    vec t = vec_mul(vec_abs(x), vec_set1(-SK_LOG2_E));
#if VEC_FLOATS < 16
    t = vec_max(t, vec_set1(-126.0f));
#endif
    vec e = vec_exp2(t), low = vec_mul(e, vec_reciprocal(vec_add(vec_set1(1.0f), e)));
    return vec_if_positive(x, vec_sub(vec_set1(1.0f), low), low);
}
SK_INLINE vec vec_tanh(vec x)
{
    /* 1 - 2 / (1 + e^2|x|), with x's sign; absolute error 2e-7. */
    vec e = vec_exp(vec_mul(vec_abs(x), vec_set1(2.0f)));
    return vec_copysign(vec_fnma(vec_set1(2.0f), vec_reciprocal(vec_add(e, vec_set1(1.0f))), vec_set1(1.0f)),
                        x);
}
/* Abramowitz and Stegun 7.1.26, absolute error 1.5e-7. */
SK_INLINE vec vec_erf(vec x)
{
    vec a = vec_abs(x), t = vec_reciprocal(vec_fma(a, vec_set1(0.3275911f), vec_set1(1.0f)));
    vec p = vec_set1(1.061405429f);
    p = vec_fma(p, t, vec_set1(-1.453152027f));
    p = vec_fma(p, t, vec_set1(1.421413741f));
    p = vec_fma(p, t, vec_set1(-0.284496736f));
    p = vec_fma(p, t, vec_set1(0.254829592f));
    vec tail = vec_mul(vec_mul(p, t), vec_exp(vec_mul(vec_mul(a, a), vec_set1(-1.0f))));
    return vec_copysign(vec_sub(vec_set1(1.0f), tail), x);
}
SK_INLINE vec vec_gelu(vec x)
{
    vec half = vec_mul(x, vec_set1(0.5f));
    return vec_fma(half, vec_erf(vec_mul(x, vec_set1(0.70710678118654752f))), half);
}
SK_INLINE vec vec_gelu_tanh(vec x)
{
    vec half = vec_mul(x, vec_set1(0.5f)), cube = vec_mul(vec_mul(x, x), x);
    vec inner = vec_mul(vec_fma(cube, vec_set1(0.044715f), x), vec_set1(0.79788456080286536f));
    return vec_fma(half, vec_tanh(inner), half);
}
SK_INLINE vec vec_mish(vec x)
{
    /* tanh(log(1 + e)) = (e² + 2e) / (e² + 2e + 2); from 20 on that is 1. */
    vec e = vec_exp(vec_min(x, vec_set1(20.0f))), n = vec_mul(e, vec_add(e, vec_set1(2.0f)));
    return vec_mul(x, vec_mul(n, vec_reciprocal(vec_add(n, vec_set1(2.0f)))));
}
SK_INLINE vec vec_clamp(vec x, float low, float high)
{
    return vec_min(vec_max(x, vec_set1(low)), vec_set1(high));
}

/* Applies EXPRESSION in x to each vector of a run; the switch stands outside the loop. */
#define SK_ACT_CASES(APPLY)                                                                                  \
    switch (act->kind) {                                                                                     \
    case SK_UNARY_SILU: APPLY(vec_silu(x)); break;                                                           \
    case SK_UNARY_RELU: APPLY(vec_max(x, vec_set1(0.0f))); break;                                            \
    case SK_UNARY_SIGMOID: APPLY(vec_sigmoid(x)); break;                                                     \
    case SK_UNARY_LEAKY: APPLY(vec_if_positive(x, x, vec_mul(x, vec_set1(act->alpha)))); break;              \
    case SK_UNARY_RELU6: APPLY(vec_clamp(x, 0.0f, 6.0f)); break;                                             \
    case SK_UNARY_GELU: APPLY(vec_gelu(x)); break;                                                           \
    case SK_UNARY_GELU_TANH: APPLY(vec_gelu_tanh(x)); break;                                                 \
    case SK_UNARY_TANH: APPLY(vec_tanh(x)); break;                                                           \
    case SK_UNARY_ELU:                                                                                       \
        APPLY(vec_if_positive(x, x, vec_mul(vec_sub(vec_exp(x), vec_set1(1.0f)), vec_set1(act->alpha))));    \
        break;                                                                                               \
    case SK_UNARY_HARD_SIGMOID:                                                                              \
        APPLY(vec_clamp(vec_fma(x, vec_set1(act->alpha), vec_set1(act->beta)), 0.0f, 1.0f));                 \
        break;                                                                                               \
    case SK_UNARY_HARD_SWISH:                                                                                \
        APPLY(vec_mul(x, vec_clamp(vec_fma(x, vec_set1(1.0f / 6.0f), vec_set1(0.5f)), 0.0f, 1.0f)));         \
        break;                                                                                               \
    case SK_UNARY_MISH: APPLY(vec_mish(x)); break;                                                           \
    case SK_UNARY_EXP: APPLY(vec_exp(x)); break;                                                             \
    case SK_UNARY_NEG: APPLY(vec_sub(vec_set1(0.0f), x)); break;                                             \
    case SK_UNARY_ABS: APPLY(vec_abs(x)); break;                                                             \
    default: break;                                                                                          \
    }

/* In place over `vectors` consecutive vectors. Not inlined: it is long, and a call a tile is nothing. */
static __attribute__((noinline)) void sk_act_run(float *data, ptrdiff_t vectors, const sk_act_f32 *act)
{
    float *const end = data + vectors * VEC_FLOATS;
#define SK_APPLY(EXPRESSION)                                                                                 \
    do {                                                                                                     \
        for (; end - data >= 4 * VEC_FLOATS; data += 4 * VEC_FLOATS) {                                       \
            vec y[4];                                                                                        \
            SK_UNROLL                                                                                        \
            for (int k = 0; k < 4; k++) {                                                                    \
                vec x = vec_load(data + k * VEC_FLOATS);                                                     \
                y[k] = (EXPRESSION);                                                                         \
            }                                                                                                \
            SK_UNROLL                                                                                        \
            for (int k = 0; k < 4; k++)                                                                      \
                vec_store(data + k * VEC_FLOATS, y[k]);                                                      \
        }                                                                                                    \
        for (; data < end; data += VEC_FLOATS) {                                                             \
            vec x = vec_load(data);                                                                          \
            vec_store(data, (EXPRESSION));                                                                   \
        }                                                                                                    \
    } while (0)
    SK_ACT_CASES(SK_APPLY)
#undef SK_APPLY
}

#endif
