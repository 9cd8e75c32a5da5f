/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ENGINES_BYTE_NETS_H
#define SK_TESTS_ENGINES_BYTE_NETS_H

#include "planned_nets.h"

/* Networks in eight bits: values that go through bytes, weights of bytes with a scale each. */

static const float step = 0.03f;

static inline sk_value in_bytes(net *n, sk_value x, float scale, int zero, sk_dtype dtype)
{
    const sk_shape one = {.rank = 0};
    const uint8_t byte = (uint8_t)(zero - (dtype == SK_DTYPE_I8 ? 128 : 0));
    sk_value s = sk_b_f32(&n->b, scale), z = sk_b_constant(&n->b, "", dtype, &one, &byte);
    sk_value q = sk_b_node(&n->b, SK_OP_QUANTIZE, NULL, (sk_value[]){x, s, z}, 3, "q");
    return sk_b_node(&n->b, SK_OP_DEQUANTIZE, NULL, (sk_value[]){q, s, z}, 3, "dq");
}

static inline sk_value byte_weights(net *n, sk_shape shape, int axis, bool one_scale)
{
    const int64_t count = sk_shape_count(&shape), outputs = one_scale ? 1 : shape.dim[axis];
    int8_t *w = malloc((size_t)count);
    float scales[256];
    for (int64_t i = 0; i < count; i++)
        w[i] = (int8_t)(random_next(&n->r) % 255 - 127);
    for (int64_t i = 0; i < outputs; i++)
        scales[i] = (1.0f + random_unit(&n->r)) * 0.012f / sqrtf((float)(count / shape.dim[axis]));
    const sk_shape list = {.rank = one_scale ? 0 : 1, .dim = {outputs}};
    const sk_attrs a = {.quantise.axis = axis};
    sk_value in[2] = {sk_b_constant(&n->b, "w", SK_DTYPE_I8, &shape, w),
                      sk_b_constant(&n->b, "s", SK_DTYPE_F32, &list, scales)};
    free(w);
    return sk_b_node(&n->b, SK_OP_DEQUANTIZE, &a, in, 2, "w");
}

/* In eight bits up to the sum; `after` says what becomes of it. */
static inline sk_value byte_conv(net *n, sk_value x, int cin, int cout, int kernel, int stride, int groups,
                                 int act)
{
    const int pad = kernel / 2;
    const sk_window window = {.kernel = {kernel, kernel},
                              .stride = {stride, stride},
                              .dilation = {1, 1},
                              .pad = {pad, pad, pad, pad}};
    sk_value w = byte_weights(n, sk_shape_of(4, cout, cin / groups, kernel, kernel), 0, cout % 2);
    sk_value y = sk_b_conv(&n->b, x, w, net_random(n, sk_shape_of(1, cout)), &window, groups, "conv");
    return act ? sk_b_unary(&n->b, (sk_unary)act, y) : y;
}

#endif
