/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_INFER_H
#define SK_GRAPH_INFER_H

#include "graph/ops.h"
#include "graph/reference.h"

/* Shape inference, one function a family. When one is called, arity and attributes have been checked,
 * every present input's shape is known with dimensions in 0 .. INT32_MAX, output types are set and output
 * shapes have rank -1. Where a shape depends on values that are not known (data null), it is left at rank
 * -1 or gets dimensions of -1. */
typedef sk_status (*sk_node_function)(const sk_node *node, const sk_tensor *ins, sk_tensor *outs,
                                      sk_error *err);

/* Largest tensor any graph may hold; the reference executor also limits their sum. */
#define SK_TENSOR_BYTES_MAX ((size_t)1 << 33)
#define SK_DIM_MAX          INT32_MAX

/* The input, or null where it is left out. */
static inline const sk_tensor *sk_node_input(const sk_node *node, const sk_tensor *ins, int i)
{
    return i < node->n_in && ins[i].dtype != SK_DTYPE_NONE ? &ins[i] : NULL;
}

/* Negative axes count from the end. */
sk_status sk_axis_resolve(const sk_node *node, int64_t axis, int rank, int *out, sk_error *err) SK_MUST_CHECK;

/* Reads a scalar or rank-1 integer tensor with data; more than `limit` elements is an error. */
sk_status sk_integers_read(const sk_node *node, const sk_tensor *tensor, const char *what, int64_t *values,
                           int limit, int *count, sk_error *err) SK_MUST_CHECK;

/* numpy: aligned at the end, 1 stretches. */
sk_status sk_shape_broadcast(const sk_node *node, const sk_shape *a, const sk_shape *b, sk_shape *out,
                             sk_error *err) SK_MUST_CHECK;

/* The window with explicit pads for an input of h x w. Returns false where even the padded input is too
 * small. */
sk_window sk_window_resolve(const sk_window *window, int64_t h, int64_t w);
/* Explicit pads and output padding of a transposed convolution with kernel kh x kw. */
void sk_conv_transpose_resolve(sk_attrs *a, int64_t kh, int64_t kw);

/* One dimension of SLICE. */
typedef struct sk_slice_range {
    int64_t start, step, count;
} sk_slice_range;
/* Resolves all dimensions; *known false where starts, ends, axes or steps have no data. */
sk_status sk_slice_resolve(const sk_node *node, const sk_tensor *ins, sk_slice_range *ranges, bool *known,
                           sk_error *err) SK_MUST_CHECK;

/* Labels of an einsum, at most rank 8 each. */
typedef struct sk_einsum {
    int n_labels; /* output labels first, then the summed ones */
    int n_out;
    int64_t size[2 * SK_MAX_RANK];
    int64_t stride[2][2 * SK_MAX_RANK]; /* of each label in each input, in elements */
} sk_einsum;
sk_status sk_einsum_resolve(const sk_node *node, const sk_tensor *ins, sk_einsum *plan,
                            sk_error *err) SK_MUST_CHECK;

/* infer_window.c */
sk_status sk_infer_conv(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_conv_transpose(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_pool(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_resize(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_grid_sample(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_blocks(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_anchors(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* infer_math.c */
sk_status sk_infer_matmul(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_gemm(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_einsum(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_norm(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_softmax(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_same(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_broadcast(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_reduce(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_arg(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_top_k(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_cum_sum(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_non_zero(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_nms(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_quantise(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* infer_move.c */
sk_status sk_infer_concat(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_split(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_slice(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_reshape(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_transpose(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_squeeze(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_unsqueeze(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_flatten(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_expand(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_tile(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_pad(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
/* infer_index.c */
sk_status sk_infer_gather(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_gather_elements(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_gather_nd(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_scatter_elements(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_scatter_nd(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_shape(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_size(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_range(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_constant_of_shape(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_one_hot(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);
sk_status sk_infer_eye_like(const sk_node *, const sk_tensor *, sk_tensor *, sk_error *);

#endif
