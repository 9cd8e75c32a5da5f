/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ONNX_H
#define SK_FORMATS_ONNX_H

#include "graph/tensor.h"

/* An ONNX file as plain structs: what the bytes say, checked, and nothing of what it means. The reader
 * makes such a tree from bytes, the writer makes bytes from such a tree. Strings are never null; lists are
 * null when empty. Everything is owned by the model's arena except tensor data, which lives in blobs the
 * model holds references on. */

typedef struct sk_onnx_graph sk_onnx_graph;

typedef struct sk_onnx_tensor {
    const char *name;
    sk_dtype dtype;
    sk_shape shape;
    sk_blob *blob; /* the elements, dense, in this machine's byte order … */
    size_t offset; /* … begin here */
} sk_onnx_tensor;

/* The values are the wire format's. */
typedef enum sk_onnx_attr_type {
    SK_ONNX_FLOAT = 1,
    SK_ONNX_INT = 2,
    SK_ONNX_STRING = 3,
    SK_ONNX_TENSOR = 4,
    SK_ONNX_GRAPH = 5,
    SK_ONNX_FLOATS = 6,
    SK_ONNX_INTS = 7,
    SK_ONNX_STRINGS = 8
} sk_onnx_attr_type;

typedef struct sk_onnx_attr {
    const char *name;
    sk_onnx_attr_type type;
    const char *ref; /* inside a function: the caller's attribute that stands here; "" otherwise */
    float f;
    int64_t i;
    const char *s;
    int32_t count; /* of floats, ints or strings */
    const float *floats;
    const int64_t *ints;
    const char *const *strings;
    const sk_onnx_tensor *tensor;
    const sk_onnx_graph *graph;
} sk_onnx_attr;

typedef struct sk_onnx_node {
    const char *op, *domain, *name; /* domain "" is ONNX's own ("ai.onnx" is read as "") */
    int32_t n_in, n_out, n_attrs;
    const char *const *in; /* "": optional input left out */
    const char *const *out;
    const sk_onnx_attr *attrs;
} sk_onnx_node;

/* A graph's input or output. */
typedef struct sk_onnx_value {
    const char *name;
    sk_dtype dtype;                 /* SK_DTYPE_NONE when the file does not say */
    sk_shape shape;                 /* rank -1 or dimensions of -1 where not said */
    const char *param[SK_MAX_RANK]; /* names of the free dimensions ("batch"); "" where unnamed */
} sk_onnx_value;

struct sk_onnx_graph {
    const char *name;
    int32_t n_nodes, n_initializers, n_inputs, n_outputs;
    const sk_onnx_node *nodes;
    const sk_onnx_tensor *initializers;
    const sk_onnx_value *inputs, *outputs; /* inputs without those that only name an initializer (IR < 4) */
};

typedef struct sk_onnx_opset {
    const char *domain;
    int64_t version;
} sk_onnx_opset;

typedef struct sk_onnx_function {
    const char *domain, *name;
    int32_t n_in, n_out, n_nodes, n_defaults, n_opsets;
    const char *const *in;
    const char *const *out;
    const sk_onnx_node *nodes;
    const sk_onnx_attr *defaults; /* attributes with a default value */
    const sk_onnx_opset *opsets;
} sk_onnx_function;

typedef struct sk_onnx_model {
    sk_arena *arena;
    sk_blob **blobs; /* one reference each */
    size_t n_blobs, blobs_capacity;
    int64_t ir_version;
    const char *producer, *producer_version, *doc;
    int32_t n_opsets, n_metadata, n_functions;
    const sk_onnx_opset *opsets;
    const char *(*metadata)[2];
    const sk_onnx_function *functions;
    sk_onnx_graph graph;
} sk_onnx_model;

/* An empty model, to be filled for writing. */
sk_status sk_onnx_create(sk_onnx_model **out, sk_error *err) SK_MUST_CHECK;
void sk_onnx_close(sk_onnx_model **model);
/* Hands a reference to the model. The caller's reference goes over to the model, also on failure. */
sk_status sk_onnx_keep_blob(sk_onnx_model *model, sk_blob *blob, sk_error *err) SK_MUST_CHECK;

/* Lenient lookups: null when absent. */
const char *sk_onnx_metadata(const sk_onnx_model *model, const char *key);
const sk_onnx_attr *sk_onnx_find_attr(const sk_onnx_node *node, const char *name);
/* The version of a domain's operator set; 0 when not imported. */
int64_t sk_onnx_opset_version(const sk_onnx_opset *opsets, int32_t n_opsets, const char *domain);

/* Wire number of an element type; 0 when ONNX has none. */
int32_t sk_onnx_type_of(sk_dtype dtype);

/* Bytes → checked tree. `what` names the source in errors; `folder` is where external data may lie (only
 * inside it), null when there is none. The bytes are not needed afterwards. Bounded: depth 64, 4 Mi
 * messages, memory twice the file plus 256 MiB. */
sk_status sk_onnx_read(const void *bytes, size_t length, const char *what, const char *folder,
                       sk_onnx_model **out, sk_error *err) SK_MUST_CHECK;

/* Tree → bytes; *out is ended with sk_free. Above protobuf's 2 GiB: SK_ERR_LIMIT. */
sk_status sk_onnx_write(const sk_onnx_model *model, uint8_t **out, size_t *length,
                        sk_error *err) SK_MUST_CHECK;

#endif
