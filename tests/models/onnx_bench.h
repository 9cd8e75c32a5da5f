/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_ONNX_BENCH_H
#define SK_TESTS_ONNX_BENCH_H

/* Small ONNX models written down in place, read and run. */
#include "support/test.h"

#include "base/memory.h"
#include "graph/reference.h"
#include "models/onnx_import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- ONNX trees written down in place --- */

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof *(array)))
#define NAMES(...)                                                                                           \
    COUNT(((const char *[]){__VA_ARGS__})), (const char *const[])                                            \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

static inline sk_onnx_attr attr_int(const char *name, int64_t value)
{
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_INT, .ref = "", .s = "", .i = value};
}

static inline sk_onnx_attr attr_float(const char *name, float value)
{
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_FLOAT, .ref = "", .s = "", .f = value};
}

static inline sk_onnx_attr attr_text(const char *name, const char *value)
{
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_STRING, .ref = "", .s = value};
}

static inline sk_onnx_attr attr_graph(const char *name, const sk_onnx_graph *graph)
{
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_GRAPH, .ref = "", .s = "", .graph = graph};
}

#define attr_ints(n, ...)                                                                                    \
    ((sk_onnx_attr){.name = (n),                                                                             \
                    .type = SK_ONNX_INTS,                                                                    \
                    .ref = "",                                                                               \
                    .s = "",                                                                                 \
                    .count = COUNT(((int64_t[]){__VA_ARGS__})),                                              \
                    .ints = (int64_t[]){__VA_ARGS__}})
#define attr_floats(n, ...)                                                                                  \
    ((sk_onnx_attr){.name = (n),                                                                             \
                    .type = SK_ONNX_FLOATS,                                                                  \
                    .ref = "",                                                                               \
                    .s = "",                                                                                 \
                    .count = COUNT(((float[]){__VA_ARGS__})),                                                \
                    .floats = (float[]){__VA_ARGS__}})

static inline sk_onnx_node node(const char *op, int32_t n_in, const char *const *in, const char *const *out)
{
    return (sk_onnx_node){.op = op, .domain = "", .name = "", .n_in = n_in, .n_out = 1, .in = in, .out = out};
}

static inline sk_onnx_node node_with(const char *op, int32_t n_in, const char *const *in,
                                     const char *const *out, int32_t n_attrs, const sk_onnx_attr *attrs)
{
    sk_onnx_node n = node(op, n_in, in, out);
    n.n_attrs = n_attrs;
    n.attrs = attrs;
    return n;
}

#define OUT(name) ((const char *const[]){name})
#define ATTRS(...)                                                                                           \
    COUNT(((sk_onnx_attr[]){__VA_ARGS__})), (sk_onnx_attr[])                                                 \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* A model under construction; `x` is the only input, `y` the only output. */
typedef struct bench {
    sk_onnx_model *model;
    sk_onnx_opset opset;
    sk_onnx_tensor tensors[16];
    sk_onnx_value input, output;
} bench;

static inline void bench_open(bench *t, int64_t opset, const sk_onnx_node *nodes, int32_t n_nodes)
{
    sk_error err;
    memset(t, 0, sizeof *t);
    assert_ok(sk_onnx_create(&t->model, &err), &err);
    t->opset = (sk_onnx_opset){"", opset};
    t->model->opsets = &t->opset;
    t->model->n_opsets = 1;
    t->model->ir_version = 8;
    t->input = (sk_onnx_value){"x", SK_DTYPE_F32, {.rank = 4, .dim = {1, 2, 2, 3}}, {"", "", "", ""}};
    t->output = (sk_onnx_value){.name = "y", .dtype = SK_DTYPE_F32, .shape = {.rank = -1}};
    t->model->graph = (sk_onnx_graph){.name = "g",
                                      .n_nodes = n_nodes,
                                      .nodes = nodes,
                                      .initializers = t->tensors,
                                      .n_inputs = 1,
                                      .inputs = &t->input,
                                      .n_outputs = 1,
                                      .outputs = &t->output};
}

static inline void bench_weight(bench *t, const char *name, sk_dtype dtype, int rank, const int64_t *dims,
                                const void *data)
{
    sk_error err;
    sk_blob *blob = NULL;
    sk_onnx_tensor *w = &t->tensors[t->model->graph.n_initializers++];
    *w = (sk_onnx_tensor){.name = name, .dtype = dtype, .shape = {.rank = rank}};
    for (int i = 0; i < rank; i++)
        w->shape.dim[i] = dims[i];
    sk_tensor view = {dtype, w->shape, NULL};
    assert_ok(sk_blob_alloc(sk_tensor_bytes(&view), &blob, &err), &err);
    memcpy(sk_blob_data(blob), data, sk_tensor_bytes(&view));
    assert_ok(sk_onnx_keep_blob(t->model, blob, &err), &err);
    w->blob = blob;
}

static inline void weight_i64(bench *t, const char *name, int count, const int64_t *values)
{
    bench_weight(t, name, SK_DTYPE_I64, 1, (int64_t[]){count}, values);
}

/* 0.5, -1, 1.5, -2, … over 1x2x2x3. */
static inline void fill_input(float data[12])
{
    for (int i = 0; i < 12; i++)
        data[i] = (float)(i + 1) * (i % 2 ? -0.5f : 0.5f);
}

/* Imports and runs; the result is the caller's to sk_free. */
static inline sk_tensor bench_run(bench *t)
{
    sk_error err;
    sk_graph *graph = NULL, *fixed = NULL;
    float data[12];
    sk_shape shape = t->input.shape;
    sk_tensor in = {SK_DTYPE_F32, shape, data}, out;
    fill_input(data);
    assert_ok(sk_onnx_import(t->model, "test.onnx", &graph, &err), &err);
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = (int64_t[]){1, 2, 2, 3}[i];
    in.shape = shape;
    assert_ok(sk_graph_specialise(graph, &shape, 1, &fixed, &err), &err);
    assert_ok(sk_reference_run(fixed, &in, 1, &out, 1, &err), &err);
    sk_graph_close(&fixed);
    sk_graph_close(&graph);
    sk_onnx_close(&t->model);
    return out;
}

static inline void expect(sk_tensor out, int rank, const int64_t *dims, int count, const double *values)
{
    assert_int_equal(out.shape.rank, rank);
    for (int i = 0; i < rank; i++)
        assert_int_equal(out.shape.dim[i], dims[i]);
    for (int i = 0; i < count; i++)
        if (fabs(sk_tensor_at(&out, i) - values[i]) > 1e-5)
            fail_msg("element %d is %g, not %g", i, sk_tensor_at(&out, i), values[i]);
    sk_free(out.data);
}

#define DIMS(...)                                                                                            \
    COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[])                                                           \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define VALUES(...)                                                                                          \
    COUNT(((double[]){__VA_ARGS__})), (double[])                                                             \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

/* One node from x to y. */
static inline sk_tensor run_one(int64_t opset, const char *op, int32_t n_attrs, const sk_onnx_attr *attrs)
{
    bench t;
    sk_onnx_node n = node_with(op, NAMES("x"), OUT("y"), n_attrs, attrs);
    bench_open(&t, opset, &n, 1);
    return bench_run(&t);
}

#endif
