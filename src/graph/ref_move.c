/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ref.h"

#include <string.h>

/* Copies `count` elements of 1, 2, 4 or 8 bytes whose sources lie `step` elements apart. */
static void copy_run(unsigned char *to, const unsigned char *from, int64_t step, int64_t count, size_t each)
{
    if (step == 1) {
        memcpy(to, from, (size_t)count * each);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)i * each, from + i * step * (int64_t)each, each);
}

/* Fills a dense array of `dims` from a source walked with `strides` (in elements, any sign, 0 repeats).
 * Slices, transpositions, expansions, tiles and block shuffles are all this. */
static void copy_strided(unsigned char *to, const int64_t *dims, int rank, const unsigned char *from,
                         const int64_t *strides, int64_t offset, size_t each)
{
    int64_t index[2 * SK_MAX_RANK] = {0};
    int rows = rank ? rank - 1 : 0;
    int64_t n = rank ? dims[rank - 1] : 1, step = rank ? strides[rank - 1] : 1;
    for (int d = 0; d < rank; d++)
        if (dims[d] == 0)
            return;
    do {
        int64_t at = offset;
        for (int d = 0; d < rows; d++)
            at += index[d] * strides[d];
        copy_run(to, from + at * (int64_t)each, step, n, each);
        to += (size_t)n * each;
    } while (sk_index_next(index, dims, rows));
}

sk_status sk_ref_copy(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    size_t bytes = sk_tensor_bytes(&outs[0]);
    if (bytes)
        memcpy(outs[0].data, ins[0].data, bytes);
    return SK_OK;
}

sk_status sk_ref_concat(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, length, inner, before = 0;
    SK_TRY(sk_axis_resolve(node, node->a.axis, outs[0].shape.rank, &axis, err));
    sk_shape_around(&outs[0].shape, axis, &outer, &length, &inner);
    size_t row = (size_t)(length * inner) * sk_dtype_bytes(outs[0].dtype);
    unsigned char *to = outs[0].data;
    for (int i = 0; i < node->n_in; i++) {
        size_t part = (size_t)(ins[i].shape.dim[axis] * inner) * sk_dtype_bytes(outs[0].dtype);
        for (int64_t o = 0; o < outer && part; o++)
            memcpy(to + (size_t)o * row + (size_t)before,
                   (const unsigned char *)ins[i].data + (size_t)o * part, part);
        before += (int64_t)part;
    }
    return SK_OK;
}

sk_status sk_ref_split(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    int axis;
    int64_t outer, length, inner, before = 0;
    SK_TRY(sk_axis_resolve(node, node->a.split.axis, ins[0].shape.rank, &axis, err));
    sk_shape_around(&ins[0].shape, axis, &outer, &length, &inner);
    size_t row = (size_t)(length * inner) * sk_dtype_bytes(ins[0].dtype);
    const unsigned char *from = ins[0].data;
    for (int i = 0; i < node->n_out; i++) {
        size_t part = (size_t)(outs[i].shape.dim[axis] * inner) * sk_dtype_bytes(ins[0].dtype);
        for (int64_t o = 0; o < outer && part; o++)
            memcpy((unsigned char *)outs[i].data + (size_t)o * part, from + (size_t)o * row + (size_t)before,
                   part);
        before += (int64_t)part;
    }
    return SK_OK;
}

sk_status sk_ref_slice(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_slice_range ranges[SK_MAX_RANK];
    bool known;
    SK_TRY(sk_slice_resolve(node, ins, ranges, &known, err));
    int64_t strides[SK_MAX_RANK], offset = 0;
    sk_shape_strides(&ins[0].shape, strides);
    for (int d = 0; d < ins[0].shape.rank; d++) {
        if (ranges[d].count == 0)
            return SK_OK;
        offset += ranges[d].start * strides[d];
        strides[d] *=
            ranges[d].count > 1 ? ranges[d].step : 0; /* a huge step over one element goes nowhere */
    }
    copy_strided(outs[0].data, outs[0].shape.dim, outs[0].shape.rank, ins[0].data, strides, offset,
                 sk_dtype_bytes(ins[0].dtype));
    return SK_OK;
}

sk_status sk_ref_transpose(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    int64_t own[SK_MAX_RANK], strides[SK_MAX_RANK];
    sk_shape_strides(&ins[0].shape, own);
    for (int d = 0; d < ins[0].shape.rank; d++)
        strides[d] = own[node->a.perm[d]];
    copy_strided(outs[0].data, outs[0].shape.dim, outs[0].shape.rank, ins[0].data, strides, 0,
                 sk_dtype_bytes(ins[0].dtype));
    return SK_OK;
}

sk_status sk_ref_expand(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    int64_t strides[SK_MAX_RANK];
    sk_broadcast_strides(&ins[0].shape, &outs[0].shape, strides);
    copy_strided(outs[0].data, outs[0].shape.dim, outs[0].shape.rank, ins[0].data, strides, 0,
                 sk_dtype_bytes(ins[0].dtype));
    return SK_OK;
}

/* Each dimension becomes two: the repeats (stride 0) and itself. */
sk_status sk_ref_tile(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)node;
    (void)err;
    const sk_shape *x = &ins[0].shape;
    int64_t own[SK_MAX_RANK], dims[2 * SK_MAX_RANK], strides[2 * SK_MAX_RANK];
    sk_shape_strides(x, own);
    for (int d = 0; d < x->rank; d++) {
        dims[2 * d] = x->dim[d] ? outs[0].shape.dim[d] / x->dim[d] : 0;
        dims[2 * d + 1] = x->dim[d];
        strides[2 * d] = 0;
        strides[2 * d + 1] = own[d];
    }
    copy_strided(outs[0].data, dims, 2 * x->rank, ins[0].data, strides, 0, sk_dtype_bytes(ins[0].dtype));
    return SK_OK;
}

/* Depth to space: channels are [b][b][c] (or [c][b][b] in column-row-depth order) over b x b blocks of
 * pixels. Space to depth is [b][b][c] the other way round. */
sk_status sk_ref_blocks(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    (void)err;
    int64_t b = node->a.blocks.block, n = ins[0].shape.dim[0];
    size_t each = sk_dtype_bytes(ins[0].dtype);
    if (node->op == SK_OP_DEPTH_TO_SPACE) {
        int64_t c = outs[0].shape.dim[1], h = ins[0].shape.dim[2], w = ins[0].shape.dim[3];
        int64_t plane = h * w, block = node->a.blocks.crd ? plane : c * plane;
        int64_t dims[6] = {n, c, h, b, w, b};
        int64_t strides[6] = {
            c * b * b * plane, node->a.blocks.crd ? b * b * plane : plane, w, b * block, 1, block};
        copy_strided(outs[0].data, dims, 6, ins[0].data, strides, 0, each);
    } else {
        int64_t c = ins[0].shape.dim[1], h = outs[0].shape.dim[2], w = outs[0].shape.dim[3];
        int64_t row = w * b, plane = h * b * row;
        int64_t dims[6] = {n, b, b, c, h, w};
        int64_t strides[6] = {c * plane, row, 1, plane, b * row, b};
        copy_strided(outs[0].data, dims, 6, ins[0].data, strides, 0, each);
    }
    return SK_OK;
}

/* Source position of padded position i along an axis of `size`; -1: the padding value. */
static int64_t pad_source(int mode, int64_t i, int64_t size)
{
    if (i >= 0 && i < size)
        return i;
    if (mode == 1)
        return i < 0 ? 0 : size - 1;
    if (mode == 2)
        return i < 0 ? -i : 2 * (size - 1) - i;
    return -1;
}

sk_status sk_ref_pad(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const sk_tensor *value = sk_node_input(node, ins, 2);
    const sk_shape *x = &ins[0].shape, *y = &outs[0].shape;
    int64_t pads[2 * SK_MAX_RANK], own[SK_MAX_RANK], index[SK_MAX_RANK] = {0};
    int n;
    SK_TRY(sk_integers_read(node, &ins[1], "the pads", pads, 2 * SK_MAX_RANK, &n, err));
    sk_shape_strides(x, own);
    size_t each = sk_dtype_bytes(ins[0].dtype);
    unsigned char *to = outs[0].data;
    if (sk_shape_count(y) == 0)
        return SK_OK;
    do {
        int64_t at = 0;
        for (int d = 0; d < y->rank && at >= 0; d++) {
            int64_t from = pad_source(node->a.pad.mode, index[d] - pads[d], x->dim[d]);
            at = from < 0 ? -1 : at + from * own[d];
        }
        if (at >= 0)
            memcpy(to, (const unsigned char *)ins[0].data + (size_t)at * each, each);
        else if (value)
            memcpy(to, value->data, each);
        else
            memset(to, 0, each);
        to += each;
    } while (sk_index_next(index, y->dim, y->rank));
    return SK_OK;
}
