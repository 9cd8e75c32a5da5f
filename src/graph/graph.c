/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include "base/object.h"
#include "graph/ops.h"

#include <string.h>

/* More inputs or outputs than this on one node are no network but an attack. */
#define NODE_LIST_MAX (1 << 16)

sk_status sk_graph_open(sk_graph **out, sk_error *err)
{
    SK_CHECK_ARG(out != NULL, err);
    *out = NULL;
    sk_graph *graph = sk_calloc(1, sizeof *graph);
    if (!graph)
        return sk_fail_memory(err, sizeof *graph);
    sk_status status = sk_arena_open(0, &graph->arena, err);
    return SK_HAND_OVER(status, graph, out, sk_graph_close);
}

void sk_graph_close(sk_graph **graph)
{
    SK_TAKE_OR_RETURN(g, graph);
    for (size_t v = 0; v < g->n_values; v++)
        sk_blob_unref(&g->values[v].blob);
    sk_free_all(g->values, g->nodes);
    sk_arena_close(&g->arena);
    sk_free(g);
}

/* Empty names are common and need no memory of their own. */
static const char *keep_name(sk_graph *graph, const char *name)
{
    return name && name[0] ? sk_arena_strdup(graph->arena, name) : "";
}

sk_status sk_graph_add_value(sk_graph *graph, const char *name, sk_dtype dtype, const sk_shape *shape,
                             sk_value *out, sk_error *err)
{
    SK_CHECK_ARG(graph && out, err);
    *out = SK_VALUE_NONE;
    const sk_shape own =
        shape ? *shape : (sk_shape){.rank = -1}; /* it may be that of another value, which moves */
    SK_TRY(sk_array_reserve((void **)&graph->values, &graph->values_capacity, graph->n_values + 1,
                            sizeof *graph->values, SK_GRAPH_MAX_VALUES, err));
    const char *kept = keep_name(graph, name);
    if (!kept)
        return sk_fail_memory(err, strlen(name) + 1);
    graph->values[graph->n_values] = (sk_value_info){
        .name = kept,
        .dtype = dtype,
        .shape = own,
        .producer = -1,
    };
    *out = (sk_value)graph->n_values++;
    return SK_OK;
}

sk_status sk_graph_add_constant(sk_graph *graph, const char *name, sk_dtype dtype, const sk_shape *shape,
                                sk_blob *blob, size_t offset, sk_value *out, sk_error *err)
{
    SK_CHECK_ARG(graph && shape && blob && out, err);
    *out = SK_VALUE_NONE;
    const char *shown = name && name[0] ? name : "(unnamed)";
    size_t each = sk_dtype_bytes(dtype), bytes, end;
    int64_t count = sk_shape_count(shape);
    if (each == 0 || count < 0)
        return sk_fail(err, SK_ERR_FORMAT, "constant '%.120s' has no type or no full shape", shown);
    if (!sk_mul_size((size_t)count, each, &bytes) || !sk_add_size(offset, bytes, &end) ||
        end > sk_blob_bytes(blob))
        return sk_fail(err, SK_ERR_FORMAT, "constant '%.120s' reaches beyond its data of %zu bytes", shown,
                       sk_blob_bytes(blob));
    sk_blob *kept = sk_blob_ref(blob);
    if (((uintptr_t)sk_blob_data(blob) + offset) % each) {
        /* elements lie across their natural boundary in the file: kernels get a copy that does not */
        sk_blob_unref(&kept);
        SK_TRY(sk_blob_alloc(bytes, &kept, err));
        memcpy(sk_blob_data(kept), (const unsigned char *)sk_blob_data(blob) + offset, bytes);
        offset = 0;
    }
    sk_status status = sk_graph_add_value(graph, name, dtype, shape, out, err);
    if (status != SK_OK) {
        sk_blob_unref(&kept);
        return status;
    }
    graph->values[*out].blob = kept;
    graph->values[*out].offset = offset;
    return SK_OK;
}

sk_status sk_graph_add_node(sk_graph *graph, sk_op op, const sk_attrs *attrs, const sk_value *in,
                            int32_t n_in, int32_t n_out, const char *name, sk_value *outs, sk_error *err)
{
    SK_CHECK_ARG(graph && outs && n_in >= 0 && n_out >= 1 && (in || n_in == 0), err);
    sk_node node = {.op = op, .n_in = n_in, .n_out = n_out, .name = name ? name : ""};
    if (n_in > NODE_LIST_MAX || n_out > NODE_LIST_MAX)
        return sk_node_fail(&node, err, SK_ERR_LIMIT, "has %d inputs and %d outputs; at most %d are possible",
                            n_in, n_out, NODE_LIST_MAX);
    for (int32_t i = 0; i < n_in; i++)
        if (in[i] != SK_VALUE_NONE && (in[i] < 0 || (size_t)in[i] >= graph->n_values))
            return sk_node_fail(&node, err, SK_ERR_ARG, "input %d is value %d, which does not exist", i,
                                in[i]);
    SK_TRY(sk_array_reserve((void **)&graph->nodes, &graph->nodes_capacity, graph->n_nodes + 1,
                            sizeof *graph->nodes, SK_GRAPH_MAX_NODES, err));
    size_t lists = ((size_t)n_in + (size_t)n_out) * sizeof(sk_value);
    node.in = sk_arena_alloc(graph->arena, lists);
    node.name = keep_name(graph, name);
    if (!node.in || !node.name)
        return sk_fail_memory(err, lists);
    if (n_in)
        memcpy(node.in, in, (size_t)n_in * sizeof *in);
    node.out = node.in + n_in;
    if (attrs)
        node.a = *attrs;
    size_t first = graph->n_values;
    for (int32_t i = 0; i < n_out; i++) {
        sk_status status = sk_graph_add_value(graph, NULL, SK_DTYPE_NONE, NULL, &node.out[i], err);
        if (status != SK_OK) {
            graph->n_values = first; /* half a node leaves no values behind */
            return status;
        }
        graph->values[node.out[i]].producer = (int32_t)graph->n_nodes;
        outs[i] = node.out[i];
    }
    graph->nodes[graph->n_nodes++] = node;
    return SK_OK;
}

sk_tensor sk_value_tensor(const sk_graph *graph, sk_value v)
{
    if (v < 0 || (size_t)v >= graph->n_values)
        return (sk_tensor){.shape.rank = -1};
    const sk_value_info *info = &graph->values[v];
    sk_tensor tensor = {.dtype = info->dtype, .shape = info->shape};
    if (info->blob)
        tensor.data = (unsigned char *)sk_blob_data(info->blob) + info->offset;
    return tensor;
}

static sk_status clone_node(sk_graph *copy, const sk_node *node, sk_error *err)
{
    sk_node twin = *node;
    size_t lists = ((size_t)node->n_in + (size_t)node->n_out) * sizeof(sk_value);
    twin.in = sk_arena_alloc(copy->arena, lists);
    twin.name = keep_name(copy, node->name);
    if (!twin.in || !twin.name)
        return sk_fail_memory(err, lists);
    twin.out = twin.in + node->n_in;
    if (node->n_in)
        memcpy(twin.in, node->in, (size_t)node->n_in * sizeof *node->in);
    memcpy(twin.out, node->out, (size_t)node->n_out * sizeof *node->out);
    copy->nodes[copy->n_nodes++] = twin;
    return SK_OK;
}

sk_status sk_graph_clone(const sk_graph *graph, sk_graph **out, sk_error *err)
{
    SK_CHECK_ARG(graph && out, err);
    sk_graph *copy = NULL;
    *out = NULL;
    sk_status status = sk_graph_open(&copy, err);
    if (status != SK_OK)
        return status;
    SK_TRY_GOTO(sk_array_reserve((void **)&copy->values, &copy->values_capacity, graph->n_values,
                                 sizeof *copy->values, SK_GRAPH_MAX_VALUES, err));
    SK_TRY_GOTO(sk_array_reserve((void **)&copy->nodes, &copy->nodes_capacity, graph->n_nodes,
                                 sizeof *copy->nodes, SK_GRAPH_MAX_NODES, err));
    for (size_t v = 0; v < graph->n_values; v++) {
        sk_value_info info = graph->values[v];
        info.name = keep_name(copy, info.name);
        if (!info.name) {
            status = sk_fail_memory(err, strlen(graph->values[v].name) + 1);
            goto done;
        }
        info.blob = sk_blob_ref(info.blob);
        copy->values[copy->n_values++] = info;
    }
    for (size_t n = 0; n < graph->n_nodes; n++)
        SK_TRY_GOTO(clone_node(copy, &graph->nodes[n], err));
    memcpy(copy->inputs, graph->inputs, sizeof copy->inputs);
    memcpy(copy->outputs, graph->outputs, sizeof copy->outputs);
    copy->n_inputs = graph->n_inputs;
    copy->n_outputs = graph->n_outputs;
    copy->specialised = graph->specialised;
done:
    return SK_HAND_OVER(status, copy, out, sk_graph_close);
}
