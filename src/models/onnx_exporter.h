/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_EXPORTER_H
#define SK_MODELS_ONNX_EXPORTER_H

#include "formats/onnx.h"
#include "graph/graph.h"
#include "models/onnx_names.h"

/* Our graph → ONNX nodes. What the writers of single operations (onnx_export_*.c) work with: names in,
 * names out. The first failure sticks. */

#define SK_ONNX_OPSET_MIN 13
#define SK_ONNX_OPSET_MAX 18
#define SK_ONNX_OPSET_F8  19 /* the first with float8e4m3fn; written for networks in fp8 alone */

typedef struct sk_exporter {
    sk_onnx_model *model; /* owns everything made here */
    const sk_graph *graph;
    int32_t opset;
    bool half; /* every float32 is written as float16 */
    sk_status status;
    sk_error error;
    const char **names; /* per value; null until used, for constants */
    sk_dtype *types;    /* per value, as the graph has it (before `half`) */
    sk_onnx_node *nodes;
    size_t n_nodes, nodes_capacity;
    sk_onnx_tensor *tensors;
    size_t n_tensors, tensors_capacity;
    sk_onnx_scope *value_names, *node_names; /* taken already */
    const sk_node *node;                     /* being written */
    int32_t fresh;
} sk_exporter;

/* Fills model->graph's nodes and initializers. Input i is written as input_names[i], output i as
 * output_names[i]. The graph may be specialised or not. */
sk_status sk_onnx_from_graph(const sk_graph *graph, int32_t opset, bool half, const char *const *input_names,
                             const char *const *output_names, sk_onnx_model *model,
                             sk_error *err) SK_MUST_CHECK;
/* The same in float16 between ends that stay float32; the names are those of the model's described inputs and outputs. */
sk_status sk_onnx_from_graph_half(const sk_graph *graph, int32_t opset, sk_onnx_model *model,
                                  sk_error *err) SK_MUST_CHECK;
/* How a type of the graph is written. */
sk_dtype sk_onnx_written_type(sk_dtype dtype, bool half);
/* Types of all values of a graph that may not be specialised; `types` has room for n_values. */
void sk_onnx_types(const sk_graph *graph, sk_dtype *types);

void sk_ex_fail(sk_exporter *e, sk_status code, const char *format, ...) SK_PRINTF(3, 4);
/* Name of the node's i-th input, "" when it is left out. Constants are written when first asked for. */
const char *sk_ex_in(sk_exporter *e, int i);
/* The same for lists: a constant scalar is written as a list of one. */
const char *sk_ex_in_list(sk_exporter *e, int i);
/* The i-th input's constant; data null when it is none. */
sk_tensor sk_ex_constant(const sk_exporter *e, int i);
sk_dtype sk_ex_type(const sk_exporter *e, int i); /* of the i-th input, as the graph has it */
const char *sk_ex_out(const sk_exporter *e, int i);

/* Adds a node; out null makes a fresh name. Returns the (first) output's name; "" after a failure. */
const char *sk_ex_emit(sk_exporter *e, const char *op, const char *const *in, int n_in,
                       const sk_onnx_attr *attrs, int n_attrs, const char *out);
void sk_ex_emit_n(sk_exporter *e, const char *op, const char *const *in, int n_in, const sk_onnx_attr *attrs,
                  int n_attrs, const char *const *outs, int n_out);
/* Shorthands without attributes. */
const char *sk_ex_1(sk_exporter *e, const char *op, const char *x, const char *out);
const char *sk_ex_2(sk_exporter *e, const char *op, const char *x, const char *y, const char *out);

/* Constants. `type` is the graph's; `half` is applied here. */
const char *sk_ex_scalar(sk_exporter *e, sk_dtype type, double value);
const char *sk_ex_ints(sk_exporter *e, const int64_t *values, int count); /* i64 [count] */
const char *sk_ex_int(sk_exporter *e, int64_t value);                     /* i64, rank 0 */
const char *sk_ex_floats(sk_exporter *e, const float *values, int count); /* always float32 [count] */

sk_onnx_attr sk_ex_attr_int(const char *name, int64_t value);
sk_onnx_attr sk_ex_attr_float(const char *name, float value);
/* The text is copied: it may be a node's, and the graph goes before the bytes are made. */
sk_onnx_attr sk_ex_attr_text(sk_exporter *e, const char *name, const char *value);
sk_onnx_attr sk_ex_attr_ints(sk_exporter *e, const char *name, const int32_t *values, int count);
sk_onnx_attr sk_ex_attr_tensor(sk_exporter *e, const char *name, sk_dtype type, double value); /* shape [1] */

/* y = act(x); `out` may be null. type: of x. */
const char *sk_ex_unary(sk_exporter *e, int32_t kind, float alpha, float beta, const char *x, sk_dtype type,
                        const char *out);
/* A reduction over these axes. */
const char *sk_ex_reduce(sk_exporter *e, sk_reduction kind, const char *x, const int32_t *axes, int n_axes,
                         bool keep_dims, const char *out);

/* Writers, by file; each writes e->node. */
void sk_export_conv(sk_exporter *e); /* onnx_export_window.c */
void sk_export_conv_transpose(sk_exporter *e);
void sk_export_pool(sk_exporter *e);
void sk_export_resize(sk_exporter *e);
void sk_export_grid_sample(sk_exporter *e);
void sk_export_gemm(sk_exporter *e);
void sk_export_einsum(sk_exporter *e);
void sk_export_norm(sk_exporter *e);
void sk_export_anchors(sk_exporter *e);

void sk_export_unary(sk_exporter *e); /* onnx_export_math.c */
void sk_export_binary(sk_exporter *e);
void sk_export_clip(sk_exporter *e);
void sk_export_cast(sk_exporter *e);
void sk_export_axis(sk_exporter *e); /* operations whose only attribute is the axis */
void sk_export_reduce(sk_exporter *e);
void sk_export_arg(sk_exporter *e);
void sk_export_top_k(sk_exporter *e);
void sk_export_cum_sum(sk_exporter *e);
void sk_export_nms(sk_exporter *e);

void sk_export_plain(sk_exporter *e); /* onnx_export_shape.c; no attributes */
void sk_export_lists(sk_exporter *e); /* the same, inputs after the first are lists */
void sk_export_split(sk_exporter *e);
void sk_export_transpose(sk_exporter *e);
void sk_export_pad(sk_exporter *e);
void sk_export_gather_nd(sk_exporter *e);
void sk_export_blocks(sk_exporter *e);
void sk_export_range(sk_exporter *e);
void sk_export_constant_of_shape(sk_exporter *e);
void sk_export_one_hot(sk_exporter *e);
void sk_export_eye_like(sk_exporter *e);

void sk_export_quantise(sk_exporter *e); /* onnx_quantise.c */

#endif
