/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_IMPORTER_H
#define SK_MODELS_ONNX_IMPORTER_H

#include "formats/onnx.h"
#include "graph/builder.h"
#include "models/onnx_names.h"

/* What the import handlers (onnx_import_*.c) work with: one node at a time, its inputs resolved to values,
 * its outputs to be bound. The first failure sticks (b.status); handlers need not check in between. */

typedef struct sk_importer sk_importer;

/* One line of the operator table. */
typedef struct sk_onnx_op {
    const char *name;
    void (*import)(sk_importer *m);
    int kind;   /* for handlers that serve several operators: sk_unary, sk_binary, … */
    int min_in; /* inputs that must be present */
} sk_onnx_op;

/* A function being inlined: where its attribute references are looked up. */
typedef struct sk_onnx_frame {
    const struct sk_onnx_frame *caller;
    const sk_onnx_node *node; /* the call */
    const sk_onnx_function *function;
} sk_onnx_frame;

struct sk_importer {
    sk_builder b;
    const sk_onnx_model *model;
    const char *what;
    sk_onnx_scope *scope;
    const sk_onnx_frame *frame; /* null outside functions */
    const sk_onnx_node *node;
    const sk_onnx_op *op;
    int64_t opset;
    int depth;        /* of functions and subgraphs */
    int64_t imported; /* nodes so far, against functions that multiply */
    int64_t folded;   /* elements computed so far, against files that multiply those */
    bool own;         /* our own export: tail nodes are known by their names */
};

/* Null when we do not have the operator. */
const sk_onnx_op *sk_onnx_find_op(const char *name);

/* Name of the node for people and for the graph: its own, or its first output's. */
const char *sk_im_name(const sk_importer *m);
/* Fails with the node's name and operator in front. Returns SK_VALUE_NONE. */
sk_value sk_im_fail(sk_importer *m, sk_status code, const char *format, ...) SK_PRINTF(3, 4);

/* Inputs. */
bool sk_im_has(const sk_importer *m, int index);
sk_value sk_im_in(sk_importer *m, int index); /* SK_VALUE_NONE when left out */
/* The input as i64, converted where the file uses another integer type. */
sk_value sk_im_in_i64(sk_importer *m, int index);
/* The input's constant value; false when it is absent or cannot be known before the network runs. */
bool sk_im_constant(sk_importer *m, int index, sk_tensor *out);
/* A constant list of integers from an input or, failing that, an attribute. Returns the count, -1 when
 * there is neither. Fails when it is not constant or longer than `capacity`. */
int sk_im_ints(sk_importer *m, int index, const char *attr, int64_t *values, int capacity);

/* Attributes, references resolved; the fallback when absent or of another type. */
const sk_onnx_attr *sk_im_attr(const sk_importer *m, const char *name);
int64_t sk_im_int(const sk_importer *m, const char *name, int64_t fallback);
int32_t sk_im_int32(sk_importer *m, const char *name, int32_t fallback); /* fails when out of range */
float sk_im_float(const sk_importer *m, const char *name, float fallback);
const char *sk_im_text(const sk_importer *m, const char *name, const char *fallback);

/* Adds a node, or, where all inputs are small constants, computes it at once and adds the result. */
sk_value sk_im_node(sk_importer *m, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in);
void sk_im_node_n(sk_importer *m, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in,
                  sk_value *outs, int n_out);
sk_value sk_im_unary(sk_importer *m, sk_unary kind, sk_value x);
sk_value sk_im_binary(sk_importer *m, sk_binary kind, sk_value x, sk_value y);
sk_value sk_im_cast(sk_importer *m, sk_value x, sk_dtype to);

/* Binds an output's name to a value. Outputs not bound are errors where they are used. */
void sk_im_out(sk_importer *m, int index, sk_value value);
/* True when output `index` is named, i.e. may be used. */
bool sk_im_wants(const sk_importer *m, int index);

/* The wire number of an element type as the graph gets it: halves become f32. SK_DTYPE_NONE when
 * unsupported. */
sk_dtype sk_im_dtype(int64_t wire);
/* A constant from a file's tensor, halves widened. */
sk_value sk_im_tensor(sk_importer *m, const sk_onnx_tensor *tensor);

/* Handlers, by file. */
void sk_import_conv(sk_importer *m); /* onnx_import_window.c */
void sk_import_conv_transpose(sk_importer *m);
void sk_import_pool(sk_importer *m);        /* kind: sk_op */
void sk_import_global_pool(sk_importer *m); /* kind: sk_reduction */
void sk_import_resize(sk_importer *m);
void sk_import_upsample(sk_importer *m);
void sk_import_grid_sample(sk_importer *m);
void sk_import_matmul(sk_importer *m);
void sk_import_gemm(sk_importer *m);
void sk_import_einsum(sk_importer *m);
void sk_import_norm(sk_importer *m); /* kind: sk_op */

void sk_import_unary(sk_importer *m); /* onnx_import_math.c; kind: sk_unary */
void sk_import_gelu(sk_importer *m);
void sk_import_selu(sk_importer *m);
void sk_import_softsign(sk_importer *m);
void sk_import_prelu(sk_importer *m);
void sk_import_is_inf(sk_importer *m);
void sk_import_binary(sk_importer *m);   /* kind: sk_binary */
void sk_import_variadic(sk_importer *m); /* kind: sk_binary; 0 = mean */
void sk_import_mod(sk_importer *m);
void sk_import_clip(sk_importer *m);
void sk_import_cast(sk_importer *m);
void sk_import_cast_like(sk_importer *m);
void sk_import_where(sk_importer *m);
void sk_import_softmax(sk_importer *m); /* kind: sk_op */
void sk_import_reduce(sk_importer *m);  /* kind: sk_reduction; 0 = log of the sum */
void sk_import_arg(sk_importer *m);     /* kind: sk_op */
void sk_import_top_k(sk_importer *m);
void sk_import_cum_sum(sk_importer *m);
void sk_import_non_zero(sk_importer *m);
void sk_import_non_max_suppression(sk_importer *m);
void sk_import_trilu(sk_importer *m);

void sk_import_quantise(sk_importer *m); /* onnx_quantise.c; kind: sk_op */

void sk_import_constant(sk_importer *m); /* onnx_import_shape.c */
void sk_import_identity(sk_importer *m);
void sk_import_concat(sk_importer *m);
void sk_import_split(sk_importer *m);
void sk_import_slice(sk_importer *m);
void sk_import_reshape(sk_importer *m);
void sk_import_transpose(sk_importer *m);
void sk_import_squeeze(sk_importer *m); /* kind: sk_op */
void sk_import_flatten(sk_importer *m);
void sk_import_expand(sk_importer *m); /* kind: sk_op, also Tile */
void sk_import_pad(sk_importer *m);
void sk_import_gather(sk_importer *m);  /* kind: sk_op */
void sk_import_scatter(sk_importer *m); /* kind: sk_op */
void sk_import_blocks(sk_importer *m);  /* kind: sk_op */
void sk_import_shape(sk_importer *m);
void sk_import_size(sk_importer *m);
void sk_import_range(sk_importer *m);
void sk_import_constant_of_shape(sk_importer *m);
void sk_import_one_hot(sk_importer *m);
void sk_import_eye_like(sk_importer *m);
void sk_import_if(sk_importer *m); /* onnx_import.c */

#endif
