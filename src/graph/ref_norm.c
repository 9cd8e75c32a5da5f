/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <math.h>

sk_status sk_ref_batch_norm(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    int64_t outer, channels, inner;
    sk_shape_around(&ins[0].shape, 1, &outer, &channels, &inner);
    const float *x = ins[0].data, *scale = ins[1].data, *shift = ins[2].data, *mean = ins[3].data,
                *variance = ins[4].data;
    float *y = outs[0].data;
    for (int64_t i = 0; i < outer * channels; i++) {
        int64_t c = i % channels;
        double factor = (double)scale[c] / sqrt((double)variance[c] + (double)node->a.norm.epsilon);
        for (int64_t j = 0; j < inner; j++)
            y[i * inner + j] =
                (float)(((double)x[i * inner + j] - (double)mean[c]) * factor + (double)shift[c]);
    }
    return SK_OK;
}

/* (x - mean) / sqrt(variance + epsilon) of one row; returns nothing but fills y in double precision steps. */
static void normalise_row(const float *x, float *y, int64_t n, double epsilon, const float *scale,
                          const float *shift, int64_t step)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i];
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += ((double)x[i] - mean) * ((double)x[i] - mean);
    double factor = 1 / sqrt(squares / (double)n + epsilon);
    for (int64_t i = 0; i < n; i++) {
        double v = ((double)x[i] - mean) * factor;
        if (scale)
            v *= (double)scale[i * step];
        if (shift)
            v += (double)shift[i * step];
        y[i] = (float)v;
    }
}

sk_status sk_ref_layer_norm(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape;
    const sk_tensor *scale = sk_node_input(node, ins, 1), *shift = sk_node_input(node, ins, 2);
    int axis;
    SK_TRY(sk_axis_resolve(node, node->a.norm.axis, x->rank, &axis, err));
    int64_t rows = 1, n = 1;
    for (int d = 0; d < x->rank; d++)
        *(d < axis ? &rows : &n) *= x->dim[d];
    for (int64_t i = 0; i < rows && n > 0; i++)
        normalise_row((const float *)ins[0].data + i * n, (float *)outs[0].data + i * n, n,
                      (double)node->a.norm.epsilon, scale ? scale->data : NULL, shift ? shift->data : NULL,
                      1);
    return SK_OK;
}

sk_status sk_ref_instance_norm(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    const sk_tensor *scale = sk_node_input(node, ins, 1), *shift = sk_node_input(node, ins, 2);
    int64_t outer, channels, inner;
    sk_shape_around(&ins[0].shape, 1, &outer, &channels, &inner);
    for (int64_t i = 0; i < outer * channels && inner > 0; i++)
        normalise_row((const float *)ins[0].data + i * inner, (float *)outs[0].data + i * inner, inner,
                      (double)node->a.norm.epsilon, scale ? (const float *)scale->data + i % channels : NULL,
                      shift ? (const float *)shift->data + i % channels : NULL, 0);
    return SK_OK;
}

sk_status sk_ref_softmax(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, length, inner;
    SK_TRY(sk_axis_resolve(node, node->a.axis, ins[0].shape.rank, &axis, err));
    sk_shape_around(&ins[0].shape, axis, &outer, &length, &inner);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner && length > 0; i++) {
            const float *x = (const float *)ins[0].data + o * length * inner + i;
            float *y = (float *)outs[0].data + o * length * inner + i;
            float best = -INFINITY; /* as double, gcc 12 for aarch64 fails on this loop */
            double sum = 0;
            for (int64_t l = 0; l < length; l++)
                best = fmaxf(best, x[l * inner]);
            for (int64_t l = 0; l < length; l++)
                sum += exp((double)x[l * inner] - (double)best);
            for (int64_t l = 0; l < length; l++) {
                double v = (double)x[l * inner] - (double)best;
                y[l * inner] = (float)(node->op == SK_OP_SOFTMAX ? exp(v) / sum : v - log(sum));
            }
        }
    return SK_OK;
}
