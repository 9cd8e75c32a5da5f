/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/builder.h"

#include <stdio.h>
#include <string.h>

void sk_builder_init(sk_builder *b, sk_graph *graph)
{
    *b = (sk_builder){.graph = graph, .status = SK_OK};
}

sk_value sk_builder_fail(sk_builder *b, sk_status code, const char *format, ...)
{
    if (b->status == SK_OK) {
        va_list args;
        va_start(args, format);
        vsnprintf(b->error.message, sizeof b->error.message, format, args);
        va_end(args);
        b->error.code = code;
        b->status = code;
    }
    return SK_VALUE_NONE;
}

/* Remembers the first failure of a call that wrote its text into b->error. */
static bool failed(sk_builder *b, sk_status status)
{
    if (status != SK_OK)
        b->status = status;
    return status != SK_OK;
}

sk_value sk_b_input(sk_builder *b, const char *name, sk_dtype dtype, const sk_shape *shape)
{
    sk_value v = SK_VALUE_NONE;
    if (b->status != SK_OK)
        return v;
    sk_graph *graph = b->graph;
    int limit = (int)(sizeof graph->inputs / sizeof graph->inputs[0]);
    if (graph->n_inputs >= limit)
        return sk_builder_fail(b, SK_ERR_LIMIT, "input '%.120s': a graph has at most %d inputs", name, limit);
    if (failed(b, sk_graph_add_value(graph, name, dtype, shape, &v, &b->error)))
        return SK_VALUE_NONE;
    graph->inputs[graph->n_inputs++] = v;
    return v;
}

void sk_b_output(sk_builder *b, sk_value v, const char *name)
{
    if (b->status != SK_OK)
        return;
    sk_graph *graph = b->graph;
    int limit = (int)(sizeof graph->outputs / sizeof graph->outputs[0]);
    if (v < 0 || (size_t)v >= graph->n_values) {
        sk_builder_fail(b, SK_ERR_ARG, "output '%.120s': value %d does not exist", name ? name : "", v);
        return;
    }
    if (graph->n_outputs >= limit) {
        sk_builder_fail(b, SK_ERR_LIMIT, "output '%.120s': a graph has at most %d outputs", name ? name : "",
                        limit);
        return;
    }
    if (name && name[0]) {
        const char *kept = sk_arena_strdup(graph->arena, name);
        if (!kept) {
            sk_builder_fail(b, SK_ERR_MEMORY, "out of memory naming output '%.120s'", name);
            return;
        }
        graph->values[v].name = kept;
    }
    graph->outputs[graph->n_outputs++] = v;
}

sk_value sk_b_constant_blob(sk_builder *b, const char *name, sk_dtype dtype, const sk_shape *shape,
                            sk_blob *blob, size_t offset)
{
    sk_value v = SK_VALUE_NONE;
    if (b->status != SK_OK ||
        failed(b, sk_graph_add_constant(b->graph, name, dtype, shape, blob, offset, &v, &b->error)))
        return SK_VALUE_NONE;
    return v;
}

sk_value sk_b_constant(sk_builder *b, const char *name, sk_dtype dtype, const sk_shape *shape,
                       const void *data)
{
    if (b->status != SK_OK)
        return SK_VALUE_NONE;
    int64_t count = sk_shape_count(shape);
    size_t bytes;
    if (count < 0 || !sk_mul_size((size_t)count, sk_dtype_bytes(dtype), &bytes))
        return sk_builder_fail(b, SK_ERR_FORMAT, "constant '%.120s' has no full shape", name ? name : "");
    sk_blob *blob = NULL;
    if (failed(b, sk_blob_alloc(bytes, &blob, &b->error)))
        return SK_VALUE_NONE;
    if (bytes)
        memcpy(sk_blob_data(blob), data, bytes);
    sk_value v = sk_b_constant_blob(b, name, dtype, shape, blob, 0);
    sk_blob_unref(&blob);
    return v;
}

sk_value sk_b_f32(sk_builder *b, float value)
{
    return sk_b_constant(b, NULL, SK_DTYPE_F32, &(sk_shape){.rank = 0}, &value);
}

sk_value sk_b_i64(sk_builder *b, int64_t value)
{
    return sk_b_constant(b, NULL, SK_DTYPE_I64, &(sk_shape){.rank = 0}, &value);
}

sk_value sk_b_i64s(sk_builder *b, const int64_t *values, int count)
{
    return sk_b_constant(b, NULL, SK_DTYPE_I64, &(sk_shape){.rank = 1, .dim = {count}}, values);
}

void sk_b_node_n(sk_builder *b, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in,
                 const char *name, sk_value *outs, int n_out)
{
    for (int i = 0; i < n_out; i++)
        outs[i] = SK_VALUE_NONE;
    if (b->status != SK_OK)
        return;
    char full[512];
    const char *shown = name;
    if (b->scope && b->scope[0]) {
        snprintf(full, sizeof full, "%s%s%s", b->scope, name && name[0] ? "." : "", name ? name : "");
        shown = full;
    }
    if (failed(b, sk_graph_add_node(b->graph, op, attrs, in, n_in, n_out, shown, outs, &b->error))) {
        for (int i = 0; i < n_out; i++)
            outs[i] = SK_VALUE_NONE;
        return;
    }
    b->graph->nodes[b->graph->n_nodes - 1].flags |= b->node_flags;
}

sk_value sk_b_node(sk_builder *b, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in,
                   const char *name)
{
    sk_value out = SK_VALUE_NONE;
    sk_b_node_n(b, op, attrs, in, n_in, name, &out, 1);
    return out;
}

sk_value sk_b_conv(sk_builder *b, sk_value x, sk_value w, sk_value bias, const sk_window *window, int groups,
                   const char *name)
{
    sk_attrs a = {.conv = {.window = *window, .groups = groups}};
    sk_value in[3] = {x, w, bias};
    return sk_b_node(b, SK_OP_CONV, &a, in, bias == SK_VALUE_NONE ? 2 : 3, name);
}

sk_value sk_b_max_pool(sk_builder *b, sk_value x, int kernel, int stride, int pad, const char *name)
{
    sk_attrs a = {.pool.window = {.kernel = {kernel, kernel},
                                  .stride = {stride, stride},
                                  .dilation = {1, 1},
                                  .pad = {pad, pad, pad, pad}}};
    return sk_b_node(b, SK_OP_MAX_POOL, &a, &x, 1, name);
}

sk_value sk_b_unary(sk_builder *b, sk_unary kind, sk_value x)
{
    return sk_b_unary_alpha(b, kind, x, 0, 0);
}

sk_value sk_b_unary_alpha(sk_builder *b, sk_unary kind, sk_value x, float alpha, float beta)
{
    sk_attrs a = {.unary = {.kind = kind, .alpha = alpha, .beta = beta}};
    return sk_b_node(b, SK_OP_UNARY, &a, &x, 1, NULL);
}

sk_value sk_b_binary(sk_builder *b, sk_binary kind, sk_value x, sk_value y)
{
    sk_attrs a = {.binary.kind = kind};
    sk_value in[2] = {x, y};
    return sk_b_node(b, SK_OP_BINARY, &a, in, 2, NULL);
}

sk_value sk_b_add(sk_builder *b, sk_value x, sk_value y)
{
    return sk_b_binary(b, SK_BINARY_ADD, x, y);
}

sk_value sk_b_sub(sk_builder *b, sk_value x, sk_value y)
{
    return sk_b_binary(b, SK_BINARY_SUB, x, y);
}

sk_value sk_b_mul(sk_builder *b, sk_value x, sk_value y)
{
    return sk_b_binary(b, SK_BINARY_MUL, x, y);
}

sk_value sk_b_div(sk_builder *b, sk_value x, sk_value y)
{
    return sk_b_binary(b, SK_BINARY_DIV, x, y);
}

sk_value sk_b_concat(sk_builder *b, const sk_value *in, int n_in, int axis)
{
    sk_attrs a = {.axis = axis};
    return sk_b_node(b, SK_OP_CONCAT, &a, in, n_in, NULL);
}

void sk_b_split(sk_builder *b, sk_value x, int axis, const int64_t *sizes, int n, sk_value *outs)
{
    sk_attrs a = {.split = {.axis = axis, .n_sizes = sizes ? n : 0}};
    int limit = (int)(sizeof a.split.sizes / sizeof a.split.sizes[0]);
    if (sizes && n > limit) {
        for (int i = 0; i < n; i++)
            outs[i] = SK_VALUE_NONE;
        sk_builder_fail(b, SK_ERR_LIMIT, "split into %d parts of given sizes; at most %d are possible", n,
                        limit);
        return;
    }
    for (int i = 0; i < n && sizes; i++)
        a.split.sizes[i] = sizes[i];
    sk_b_node_n(b, SK_OP_SPLIT, &a, &x, 1, NULL, outs, n);
}

sk_value sk_b_slice(sk_builder *b, sk_value x, int axis, int64_t start, int64_t end)
{
    int64_t axis64 = axis;
    sk_value in[4] = {x, sk_b_i64s(b, &start, 1), sk_b_i64s(b, &end, 1), sk_b_i64s(b, &axis64, 1)};
    return sk_b_node(b, SK_OP_SLICE, NULL, in, 4, NULL);
}

sk_value sk_b_reshape(sk_builder *b, sk_value x, const int64_t *dims, int rank)
{
    sk_value in[2] = {x, sk_b_i64s(b, dims, rank)};
    return sk_b_node(b, SK_OP_RESHAPE, NULL, in, 2, NULL);
}

sk_value sk_b_transpose(sk_builder *b, sk_value x, const int *perm, int rank)
{
    sk_attrs a = {.axis = 0};
    if (rank < 0 || rank > SK_MAX_RANK)
        return sk_builder_fail(b, SK_ERR_ARG, "transpose of %d dimensions; at most %d are possible", rank,
                               SK_MAX_RANK);
    for (int i = 0; i < rank; i++)
        a.perm[i] = perm[i];
    return sk_b_node(b, SK_OP_TRANSPOSE, &a, &x, 1, NULL);
}

sk_value sk_b_matmul(sk_builder *b, sk_value x, sk_value y)
{
    sk_value in[2] = {x, y};
    return sk_b_node(b, SK_OP_MATMUL, NULL, in, 2, NULL);
}

sk_value sk_b_softmax(sk_builder *b, sk_value x, int axis)
{
    sk_attrs a = {.axis = axis};
    return sk_b_node(b, SK_OP_SOFTMAX, &a, &x, 1, NULL);
}

sk_value sk_b_upsample_nearest(sk_builder *b, sk_value x, float factor)
{
    sk_attrs a = {.resize = {.mode = SK_RESIZE_NEAREST,
                             .coords = SK_COORDS_ASYMMETRIC,
                             .round = SK_ROUND_FLOOR,
                             .scale = {factor, factor}}};
    return sk_b_node(b, SK_OP_RESIZE, &a, &x, 1, NULL);
}

sk_value sk_b_upsample_linear(sk_builder *b, sk_value x, float factor)
{
    sk_attrs a = {
        .resize = {.mode = SK_RESIZE_LINEAR, .coords = SK_COORDS_HALF_PIXEL, .scale = {factor, factor}}};
    return sk_b_node(b, SK_OP_RESIZE, &a, &x, 1, NULL);
}

sk_value sk_b_reduce(sk_builder *b, sk_reduction kind, sk_value x, const int *axes, int n_axes,
                     bool keep_dims)
{
    sk_attrs a = {.reduce = {.kind = kind, .n_axes = n_axes, .keep_dims = keep_dims}};
    if (n_axes < 0 || n_axes > SK_MAX_RANK)
        return sk_builder_fail(b, SK_ERR_ARG, "reduction over %d axes; at most %d are possible", n_axes,
                               SK_MAX_RANK);
    for (int i = 0; i < n_axes; i++)
        a.reduce.axes[i] = axes[i];
    return sk_b_node(b, SK_OP_REDUCE, &a, &x, 1, NULL);
}
