/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/f8_formula.h"
#include "graph/ref.h"

#include <math.h>

/* How elements lie around the axis of the scales: [outer][scales][inner]. */
typedef struct spread {
    int64_t outer, scales, inner;
} spread;

static spread spread_of(const sk_node *node, const sk_tensor *ins)
{
    const sk_shape *x = &ins[0].shape;
    spread s = {1, sk_shape_count(&ins[1].shape), 1};
    if (s.scales == 1) {
        s.inner = sk_shape_count(x);
        return s;
    }
    int axis = node->a.quantise.axis < 0 ? node->a.quantise.axis + x->rank : node->a.quantise.axis;
    for (int d = 0; d < axis; d++)
        s.outer *= x->dim[d];
    for (int d = axis + 1; d < x->rank; d++)
        s.inner *= x->dim[d];
    return s;
}

static int64_t zero_at(const sk_node *node, const sk_tensor *ins, int64_t c)
{
    const sk_tensor *zero = sk_node_input(node, ins, 2);
    return zero ? sk_tensor_int_at(zero, c) : 0;
}

/* Of f8 the zero is 0, and what is no number stays none. */
static void quantise_f8(spread s, const float *x, const float *scale, uint8_t *y)
{
    for (int64_t o = 0; o < s.outer; o++)
        for (int64_t c = 0; c < s.scales; c++)
            for (int64_t i = 0; i < s.inner; i++)
                *y++ = sk_f8_of(*x++ / scale[c]);
}

/* The quotient in f32, as ONNX Runtime and OpenVINO have it; then half to even, and held in range before it becomes an
 * integer, so that infinities saturate. */
sk_status sk_ref_quantise(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    spread s = spread_of(node, ins);
    bool is_signed = outs[0].dtype == SK_DTYPE_I8;
    float low = is_signed ? -128.0f : 0.0f, high = is_signed ? 127.0f : 255.0f;
    const float *x = ins[0].data, *scale = ins[1].data;
    uint8_t *y = outs[0].data;
    if (outs[0].dtype == SK_DTYPE_F8) {
        quantise_f8(s, x, scale, y);
        return SK_OK;
    }
    for (int64_t o = 0; o < s.outer; o++)
        for (int64_t c = 0; c < s.scales; c++) {
            float zero = (float)zero_at(node, ins, c);
            for (int64_t i = 0; i < s.inner; i++, x++, y++) {
                float v = isnan(*x) ? zero : nearbyintf(*x / scale[c]) + zero;
                v = v < low ? low : v > high ? high : v;
                *y = is_signed ? (uint8_t)(int8_t)v : (uint8_t)v;
            }
        }
    return SK_OK;
}

sk_status sk_ref_dequantise(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    spread s = spread_of(node, ins);
    const float *scale = ins[1].data;
    float *y = outs[0].data;
    int64_t at = 0;
    for (int64_t o = 0; o < s.outer; o++)
        for (int64_t c = 0; c < s.scales; c++) {
            int64_t zero = zero_at(node, ins, c);
            for (int64_t i = 0; i < s.inner; i++, at++)
                y[at] = (ins[0].dtype == SK_DTYPE_F8 ? sk_f8_number(((const uint8_t *)ins[0].data)[at])
                                                     : (float)(sk_tensor_int_at(&ins[0], at) - zero)) *
                        scale[c];
        }
    return SK_OK;
}
