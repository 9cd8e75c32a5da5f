/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_BUILDER_H
#define SK_GRAPH_BUILDER_H

#include "graph/graph.h"

/* Writing a graph as one writes the network down. The first failure sticks: every later call returns
 * SK_VALUE_NONE at once, and the importer checks `b.status` where it ends. Shapes are not checked here but
 * by specialisation. */

typedef struct sk_builder {
    sk_graph *graph;
    sk_status status;
    sk_error error;
    uint32_t node_flags; /* put on every node added: SK_NODE_TAIL while writing the decode tail */
    const char *scope;   /* prefix for node names, "model.22.cv2.0"; may be null. Borrowed. */
} sk_builder;

void sk_builder_init(sk_builder *b, sk_graph *graph);
/* Records a failure the importer found itself; keeps the first. Always returns SK_VALUE_NONE. */
sk_value sk_builder_fail(sk_builder *b, sk_status code, const char *format, ...) SK_PRINTF(3, 4);

sk_value sk_b_input(sk_builder *b, const char *name, sk_dtype dtype, const sk_shape *shape);
void sk_b_output(sk_builder *b, sk_value v, const char *name);

/* Constants: copies of the bytes, or shared with a blob. */
sk_value sk_b_constant(sk_builder *b, const char *name, sk_dtype dtype, const sk_shape *shape,
                       const void *data);
sk_value sk_b_constant_blob(sk_builder *b, const char *name, sk_dtype dtype, const sk_shape *shape,
                            sk_blob *blob, size_t offset);
sk_value sk_b_f32(sk_builder *b, float value);                       /* scalar, rank 0 */
sk_value sk_b_i64(sk_builder *b, int64_t value);                     /* scalar, rank 0 */
sk_value sk_b_i64s(sk_builder *b, const int64_t *values, int count); /* rank 1 */

/* The general form: one output. */
sk_value sk_b_node(sk_builder *b, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in,
                   const char *name);
/* Several outputs. */
void sk_b_node_n(sk_builder *b, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in,
                 const char *name, sk_value *outs, int n_out);

/* Square-window shorthands. bias may be SK_VALUE_NONE. */
sk_value sk_b_conv(sk_builder *b, sk_value x, sk_value w, sk_value bias, const sk_window *window, int groups,
                   const char *name);
sk_value sk_b_max_pool(sk_builder *b, sk_value x, int kernel, int stride, int pad, const char *name);
sk_value sk_b_unary(sk_builder *b, sk_unary kind, sk_value x);
sk_value sk_b_unary_alpha(sk_builder *b, sk_unary kind, sk_value x, float alpha, float beta);
sk_value sk_b_binary(sk_builder *b, sk_binary kind, sk_value x, sk_value y);
sk_value sk_b_add(sk_builder *b, sk_value x, sk_value y);
sk_value sk_b_sub(sk_builder *b, sk_value x, sk_value y);
sk_value sk_b_mul(sk_builder *b, sk_value x, sk_value y);
sk_value sk_b_div(sk_builder *b, sk_value x, sk_value y);
sk_value sk_b_concat(sk_builder *b, const sk_value *in, int n_in, int axis);
void sk_b_split(sk_builder *b, sk_value x, int axis, const int64_t *sizes, int n,
                sk_value *outs); /* sizes null: equal */
sk_value sk_b_slice(sk_builder *b, sk_value x, int axis, int64_t start,
                    int64_t end); /* end INT64_MAX: to the end */
sk_value sk_b_reshape(sk_builder *b, sk_value x, const int64_t *dims, int rank); /* 0 copies, -1 infers */
sk_value sk_b_transpose(sk_builder *b, sk_value x, const int *perm, int rank);
sk_value sk_b_matmul(sk_builder *b, sk_value x, sk_value y);
sk_value sk_b_softmax(sk_builder *b, sk_value x, int axis);
sk_value sk_b_upsample_nearest(sk_builder *b, sk_value x, float factor); /* asymmetric + floor, as torch */
sk_value sk_b_upsample_linear(sk_builder *b, sk_value x, float factor);  /* half pixel, edges clamped */
sk_value sk_b_reduce(sk_builder *b, sk_reduction kind, sk_value x, const int *axes, int n_axes,
                     bool keep_dims);

#endif
