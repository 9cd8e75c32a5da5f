/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_REF_H
#define SK_GRAPH_REF_H

#include "graph/infer.h"

/* The reference executor's families. Shapes have been inferred and outputs allocated (not necessarily zeroed)
 * before a function is called, so none of them checks what inference checks; indices that are data (gather,
 * scatter) they check themselves.
 *
 * Which element types a function sees is decided by its class in reference.c: "float" functions see f32 in
 * place of every floating type, "wide" functions see f32, f64 or i64 (all integers and bool), "raw" ones
 * see what is there. */

/* ref_conv.c (float) */
sk_status sk_ref_conv(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_conv_transpose(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_pool.c (float) */
sk_status sk_ref_max_pool(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_avg_pool(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_resize.c (float) */
sk_status sk_ref_resize(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_grid_sample(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_matmul.c (float) */
sk_status sk_ref_matmul(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_gemm(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_einsum(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_norm.c (float) */
sk_status sk_ref_batch_norm(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_layer_norm(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_instance_norm(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_softmax(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_elementwise.c (wide; cast and where raw) */
sk_status sk_ref_unary(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_clip(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_cast(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_binary(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_where(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_reduce.c (wide) */
sk_status sk_ref_reduce(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_cum_sum(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_order.c (wide; nms float). non_zero and nms allocate their output. */
sk_status sk_ref_arg(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_top_k(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_non_zero(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_nms(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_move.c (raw) */
sk_status sk_ref_concat(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_split(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_slice(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_copy(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_transpose(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_expand(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_tile(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_pad(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_blocks(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_quantise.c (float) */
sk_status sk_ref_quantise(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_dequantise(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_index.c (raw) */
sk_status sk_ref_gather(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_gather_elements(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_gather_nd(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_scatter_elements(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_scatter_nd(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* ref_shape.c (raw) */
sk_status sk_ref_shape(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_size(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_range(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_constant_of_shape(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_one_hot(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_eye_like(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_ref_anchors(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);

/* One activation in double; shared by unary nodes and what is fused into convolutions. */
double sk_ref_activate(int kind, double alpha, double beta, double x);

/* Counts an index vector up, last dimension fastest; false after the last one. */
static inline bool sk_index_next(int64_t *index, const int64_t *dims, int rank)
{
    for (int d = rank - 1; d >= 0; d--) {
        if (++index[d] < dims[d])
            return true;
        index[d] = 0;
    }
    return false;
}

/* Element strides of a dense row-major shape. */
static inline void sk_shape_strides(const sk_shape *shape, int64_t *strides)
{
    int64_t stride = 1;
    for (int d = shape->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= shape->dim[d] > 0 ? shape->dim[d] : 1;
    }
}

/* Strides that walk `shape` as if it were stretched to `out`: 0 along stretched dimensions. */
static inline void sk_broadcast_strides(const sk_shape *shape, const sk_shape *out, int64_t *strides)
{
    int64_t own[SK_MAX_RANK];
    sk_shape_strides(shape, own);
    int skip = out->rank - shape->rank;
    for (int d = 0; d < out->rank; d++)
        strides[d] = d < skip || shape->dim[d - skip] == 1 ? 0 : own[d - skip];
}

/* A tensor around `axis` as outer x length x inner. */
static inline void sk_shape_around(const sk_shape *shape, int axis, int64_t *outer, int64_t *length,
                                   int64_t *inner)
{
    *outer = *inner = 1;
    for (int d = 0; d < axis; d++)
        *outer *= shape->dim[d];
    for (int d = axis + 1; d < shape->rank; d++)
        *inner *= shape->dim[d];
    *length = shape->dim[axis];
}

#endif
