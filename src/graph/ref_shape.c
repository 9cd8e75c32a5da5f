/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <string.h>

sk_status sk_ref_shape(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    memcpy(outs[0].data, ins[0].shape.dim, (size_t)ins[0].shape.rank * sizeof(int64_t));
    return SK_OK;
}

sk_status sk_ref_size(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    *(int64_t *)outs[0].data = sk_shape_count(&ins[0].shape);
    return SK_OK;
}

static void store(sk_tensor *t, int64_t at, double value)
{
    sk_convert(SK_DTYPE_F64, &value, t->dtype, (char *)t->data + (size_t)at * sk_dtype_bytes(t->dtype), 1);
}

sk_status sk_ref_range(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    int64_t n = outs[0].shape.dim[0];
    if (outs[0].dtype == SK_DTYPE_I64) { /* exact beyond 2^53 */
        uint64_t value = (uint64_t)sk_tensor_int_at(&ins[0], 0),
                 delta = (uint64_t)sk_tensor_int_at(&ins[2], 0);
        for (int64_t i = 0; i < n; i++, value += delta)
            ((int64_t *)outs[0].data)[i] = (int64_t)value;
        return SK_OK;
    }
    double start = sk_tensor_at(&ins[0], 0), delta = sk_tensor_at(&ins[2], 0);
    for (int64_t i = 0; i < n; i++)
        store(&outs[0], i, start + (double)i * delta);
    return SK_OK;
}

sk_status sk_ref_constant_of_shape(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)ins;
    (void)err;
    int64_t n = sk_shape_count(&outs[0].shape);
    size_t each = sk_dtype_bytes(outs[0].dtype);
    if (n > 0)
        store(&outs[0], 0, node->a.fill.value);
    for (int64_t i = 1; i < n; i++)
        memcpy((char *)outs[0].data + (size_t)i * each, outs[0].data, each);
    return SK_OK;
}

/* values[1] where the position along the new axis is the index, values[0] elsewhere. */
sk_status sk_ref_one_hot(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, depth, inner;
    SK_TRY(sk_axis_resolve(node, node->a.axis, outs[0].shape.rank, &axis, err));
    sk_shape_around(&outs[0].shape, axis, &outer, &depth, &inner);
    size_t each = sk_dtype_bytes(outs[0].dtype);
    for (int64_t o = 0; o < outer; o++)
        for (int64_t d = 0; d < depth; d++)
            for (int64_t i = 0; i < inner; i++) {
                int64_t index = sk_tensor_int_at(&ins[0], o * inner + i);
                bool hot = index == d || (index < 0 && index >= -depth && index + depth == d);
                memcpy((char *)outs[0].data + (size_t)((o * depth + d) * inner + i) * each,
                       (const char *)ins[2].data + (hot ? each : 0), each);
            }
    return SK_OK;
}

/* Ones on the k-th diagonal, k in a.fill.value. */
sk_status sk_ref_eye_like(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)ins;
    (void)err;
    int64_t rows = outs[0].shape.dim[0], columns = outs[0].shape.dim[1];
    memset(outs[0].data, 0, sk_tensor_bytes(&outs[0]));
    for (int64_t r = 0; r < rows; r++) {
        double c = (double)r + node->a.fill.value;
        if (c >= 0 && c < (double)columns)
            store(&outs[0], r * columns + (int64_t)c, 1);
    }
    return SK_OK;
}

/* Cell centres in grid units, level after level, row by row: centres [1][2][A] hold all x, then all y. */
sk_status sk_ref_anchors(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    int64_t total = outs[0].shape.dim[2], at = 0;
    float *centres = outs[0].data, *strides = outs[1].data;
    for (int level = 0; level < node->n_in; level++)
        for (int64_t y = 0; y < ins[level].shape.dim[2]; y++)
            for (int64_t x = 0; x < ins[level].shape.dim[3]; x++, at++) {
                centres[at] = (float)x + 0.5f;
                centres[total + at] = (float)y + 0.5f;
                strides[at] = node->a.anchors.stride[level];
            }
    return SK_OK;
}
