/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <string.h>

/* Indices are data, so they are checked here; negative ones count from the end. */
static sk_status index_at(const sk_node *node, const sk_tensor *indices, int64_t at, int64_t size,
                          int64_t *out, sk_error *err)
{
    int64_t i = sk_tensor_int_at(indices, at);
    if (i < -size || i >= size)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "index %lld is outside of %lld elements",
                            (long long)i, (long long)size);
    *out = i < 0 ? i + size : i;
    return SK_OK;
}

sk_status sk_ref_gather(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, length, inner, count = sk_shape_count(&ins[1].shape);
    SK_TRY(sk_axis_resolve(node, node->a.axis, ins[0].shape.rank, &axis, err));
    sk_shape_around(&ins[0].shape, axis, &outer, &length, &inner);
    size_t run = (size_t)inner * sk_dtype_bytes(ins[0].dtype);
    unsigned char *to = outs[0].data;
    const unsigned char *from = ins[0].data;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0;
        SK_TRY(index_at(node, &ins[1], i, length, &at, err));
        for (int64_t o = 0; o < outer && run; o++)
            memcpy(to + (size_t)(o * count + i) * run, from + (size_t)(o * length + at) * run, run);
    }
    return SK_OK;
}

/* Visits every index: the place in data that it names, and its own place. */
static sk_status each_element(const sk_node *node, const sk_tensor *data, const sk_tensor *indices,
                              unsigned char *to, const unsigned char *from, bool scatter, sk_error *err)
{
    int axis;
    int64_t strides[SK_MAX_RANK], index[SK_MAX_RANK] = {0}, place = 0;
    size_t each = sk_dtype_bytes(data->dtype);
    SK_TRY(sk_axis_resolve(node, node->a.axis, data->shape.rank, &axis, err));
    sk_shape_strides(&data->shape, strides);
    if (sk_shape_count(&indices->shape) == 0)
        return SK_OK;
    do {
        int64_t named = 0, at = 0;
        SK_TRY(index_at(node, indices, place, data->shape.dim[axis], &named, err));
        for (int d = 0; d < data->shape.rank; d++)
            at += (d == axis ? named : index[d]) * strides[d];
        memcpy(to + (size_t)(scatter ? at : place) * each, from + (size_t)(scatter ? place : at) * each,
               each);
        place++;
    } while (sk_index_next(index, indices->shape.dim, indices->shape.rank));
    return SK_OK;
}

sk_status sk_ref_gather_elements(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    return each_element(node, &ins[0], &ins[1], outs[0].data, ins[0].data, false, err);
}

sk_status sk_ref_scatter_elements(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    size_t bytes = sk_tensor_bytes(&ins[0]);
    if (bytes)
        memcpy(outs[0].data, ins[0].data, bytes);
    return each_element(node, &ins[0], &ins[1], outs[0].data, ins[2].data, true, err);
}

/* The place (in elements) that index row `row` of `depth` numbers names below dimension `first`. */
static sk_status nd_place(const sk_node *node, const sk_tensor *data, const sk_tensor *indices, int64_t row,
                          int first, int depth, int64_t *place, sk_error *err)
{
    int64_t strides[SK_MAX_RANK];
    sk_shape_strides(&data->shape, strides);
    *place = 0;
    for (int d = 0; d < depth; d++) {
        int64_t at = 0;
        SK_TRY(index_at(node, indices, row * depth + d, data->shape.dim[first + d], &at, err));
        *place += at * strides[first + d];
    }
    return SK_OK;
}

sk_status sk_ref_gather_nd(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *at = &ins[1].shape;
    int batch = node->a.axis, depth = (int)at->dim[at->rank - 1];
    int64_t rows = 1, batches = 1, run = 1, batch_size = 1;
    for (int d = 0; d < at->rank - 1; d++)
        rows *= at->dim[d];
    for (int d = 0; d < x->rank; d++)
        *(d < batch ? &batches : &batch_size) *= x->dim[d];
    for (int d = batch + depth; d < x->rank; d++)
        run *= x->dim[d];
    size_t bytes = (size_t)run * sk_dtype_bytes(ins[0].dtype);
    for (int64_t r = 0; r < rows; r++) {
        int64_t place = 0;
        SK_TRY(nd_place(node, &ins[0], &ins[1], r, batch, depth, &place, err));
        place += r / (rows / batches) * batch_size;
        if (bytes)
            memcpy((unsigned char *)outs[0].data + (size_t)r * bytes,
                   (const unsigned char *)ins[0].data + (size_t)place * sk_dtype_bytes(ins[0].dtype), bytes);
    }
    return SK_OK;
}

sk_status sk_ref_scatter_nd(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_shape *x = &ins[0].shape, *at = &ins[1].shape;
    int depth = (int)at->dim[at->rank - 1];
    int64_t rows = 1, run = 1;
    for (int d = 0; d < at->rank - 1; d++)
        rows *= at->dim[d];
    for (int d = depth; d < x->rank; d++)
        run *= x->dim[d];
    size_t each = sk_dtype_bytes(ins[0].dtype), bytes = (size_t)run * each, all = sk_tensor_bytes(&ins[0]);
    if (all)
        memcpy(outs[0].data, ins[0].data, all);
    for (int64_t r = 0; r < rows; r++) {
        int64_t place = 0;
        SK_TRY(nd_place(node, &ins[0], &ins[1], r, 0, depth, &place, err));
        if (bytes)
            memcpy((unsigned char *)outs[0].data + (size_t)place * each,
                   (const unsigned char *)ins[2].data + (size_t)r * bytes, bytes);
    }
    return SK_OK;
}
