/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_KERNELS_REF_ACT_REF_H
#define SK_KERNELS_REF_ACT_REF_H

#include "graph/graph.h"
#include "kernels/kernels.h"
#include "kernels/sigmoid_formula.h"

#include <math.h>

/* The parts of the plain C table that live in files of their own. */
void sk_kernels_f32_conv_ref(sk_kernels_f32 *table);

static inline float sk_clamp_ref(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static inline float sk_act_ref(float x, const sk_act_f32 *act)
{
    switch (act->kind) {
    case SK_UNARY_SILU: return x / (1.0f + expf(-x));
    case SK_UNARY_RELU: return x > 0.0f ? x : 0.0f;
    case SK_UNARY_SIGMOID: return sk_sigmoid(x);
    case SK_UNARY_LEAKY: return x > 0.0f ? x : x * act->alpha;
    case SK_UNARY_RELU6: return sk_clamp_ref(x, 0.0f, 6.0f);
    case SK_UNARY_GELU: return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    case SK_UNARY_GELU_TANH:
        return 0.5f * x * (1.0f + tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
    case SK_UNARY_TANH: return tanhf(x);
    case SK_UNARY_ELU: return x > 0.0f ? x : act->alpha * (expf(x) - 1.0f);
    case SK_UNARY_HARD_SIGMOID: return sk_clamp_ref(act->alpha * x + act->beta, 0.0f, 1.0f);
    case SK_UNARY_HARD_SWISH: return x * sk_clamp_ref(x / 6.0f + 0.5f, 0.0f, 1.0f);
    case SK_UNARY_MISH: return x * tanhf(x > 20.0f ? x : log1pf(expf(x)));
    case SK_UNARY_EXP: return expf(x);
    case SK_UNARY_NEG: return -x;
    case SK_UNARY_ABS: return fabsf(x);
    default: return x;
    }
}

#endif
