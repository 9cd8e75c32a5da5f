/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"
#include "graph/infer.h"

#include <string.h>

/* One folded constant above this stays a node: it would cost more memory than it saves time. */
#define FOLD_ELEMENTS_MAX ((int64_t)1 << 24)
/* All of one graph's together: a hostile graph could ask for many, or for days. */
#define FOLD_BYTES_MAX ((size_t)1 << 30)
#define FOLD_WORK_MAX  5e9 /* element steps and floating-point operations */

bool sk_op_reads_shape_only(sk_op op)
{
    return op == SK_OP_SHAPE || op == SK_OP_SIZE || op == SK_OP_ANCHORS || op == SK_OP_EYE_LIKE;
}

void sk_node_remove(sk_graph *graph, size_t index)
{
    sk_node *node = &graph->nodes[index];
    for (int i = 0; i < node->n_out; i++)
        if (graph->values[node->out[i]].producer == (int32_t)index)
            graph->values[node->out[i]].producer = -1;
    node->op = SK_OP_NONE;
    node->n_in = node->n_out = 0;
}

void sk_graph_sweep(sk_graph *graph)
{
    size_t kept = 0;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        if (graph->nodes[n].op == SK_OP_NONE)
            continue;
        graph->nodes[kept] = graph->nodes[n];
        for (int i = 0; i < graph->nodes[kept].n_out; i++)
            graph->values[graph->nodes[kept].out[i]].producer = (int32_t)kept;
        kept++;
    }
    graph->n_nodes = kept;
}

int32_t *sk_graph_count_uses(const sk_graph *graph)
{
    int32_t *uses = sk_calloc(graph->n_values + 1, sizeof *uses);
    if (!uses)
        return NULL;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (int i = 0; i < graph->nodes[n].n_in; i++)
            if (graph->nodes[n].in[i] >= 0)
                uses[graph->nodes[n].in[i]]++;
    for (int i = 0; i < graph->n_outputs; i++)
        uses[graph->outputs[i]]++;
    return uses;
}

static double count_of(const sk_graph *graph, sk_value v)
{
    int64_t count = v >= 0 ? sk_shape_count(&graph->values[v].shape) : 0;
    return count > 0 ? (double)count : 0;
}

/* Every label's size multiplied. */
static double einsum_work(const sk_graph *graph, const sk_node *node)
{
    sk_tensor ins[2];
    sk_einsum plan;
    double work = 1;
    for (int i = 0; i < node->n_in; i++)
        ins[i] = sk_value_tensor(graph, node->in[i]);
    if (sk_einsum_resolve(node, ins, &plan, NULL) != SK_OK)
        return 0; /* executing it says why */
    for (int i = 0; i < plan.n_labels; i++)
        work *= (double)plan.size[i];
    return work;
}

/* A rough price in element steps: enough to tell shape arithmetic from an attack. */
static double fold_work(const sk_graph *graph, const sk_node *node)
{
    double in = 0, out = 0;
    for (int i = 0; i < node->n_in; i++)
        in += count_of(graph, node->in[i]);
    for (int i = 0; i < node->n_out; i++)
        out += count_of(graph, node->out[i]);
    double work = in + out + sk_node_flops(graph, node);
    if (node->op == SK_OP_EINSUM)
        work += einsum_work(graph, node);
    if (node->op == SK_OP_MAX_POOL || node->op == SK_OP_AVG_POOL)
        work += out * (double)node->a.pool.window.kernel[0] * (double)node->a.pool.window.kernel[1];
    if (node->op == SK_OP_RESIZE || node->op == SK_OP_CONV || node->op == SK_OP_CONV_TRANSPOSE)
        work += 16 * (in + out);
    return work;
}

static bool foldable(const sk_graph *graph, const sk_node *node)
{
    bool shape_only = sk_op_reads_shape_only(node->op);
    if (node->op == SK_OP_DEQUANTIZE && (node->flags & SK_NODE_WEIGHTS))
        return false;
    for (int i = 0; i < node->n_in; i++) {
        sk_value v = node->in[i];
        if (v == SK_VALUE_NONE)
            continue;
        if (!(shape_only ? sk_shape_known(&graph->values[v].shape) : sk_value_is_constant(graph, v)))
            return false;
    }
    size_t bytes = graph->folded_bytes;
    for (int i = 0; i < node->n_out; i++) {
        const sk_value_info *out = &graph->values[node->out[i]];
        int64_t count = sk_shape_count(&out->shape);
        if (count < 0 || count > FOLD_ELEMENTS_MAX)
            return false;
        bytes += (size_t)count * sk_dtype_bytes(out->dtype);
    }
    return bytes <= FOLD_BYTES_MAX && graph->folded_work + fold_work(graph, node) <= FOLD_WORK_MAX;
}

static sk_status fold(sk_graph *graph, size_t index, sk_tensor *ins, sk_tensor *outs, sk_blob **blobs,
                      sk_error *err)
{
    const sk_node *node = &graph->nodes[index];
    for (int i = 0; i < node->n_in; i++)
        ins[i] = sk_value_tensor(graph, node->in[i]);
    SK_TRY(sk_node_infer(node, ins, outs, err));
    for (int i = 0; i < node->n_out; i++) {
        SK_TRY(sk_blob_alloc(sk_tensor_bytes(&outs[i]), &blobs[i], err));
        outs[i].data = sk_blob_data(blobs[i]);
    }
    SK_TRY(sk_node_execute(node, ins, outs, err));
    for (int i = 0; i < node->n_out; i++) {
        sk_value_info *value = &graph->values[node->out[i]];
        value->dtype = outs[i].dtype;
        value->shape = outs[i].shape;
        value->blob = blobs[i];
        graph->folded_bytes += sk_blob_bytes(blobs[i]);
        value->offset = 0;
        blobs[i] = NULL;
    }
    sk_node_remove(graph, index);
    return SK_OK;
}

sk_status sk_node_fold(sk_graph *graph, size_t index, sk_error *err)
{
    const sk_node *node = &graph->nodes[index];
    if (node->op == SK_OP_NONE || !foldable(graph, node))
        return SK_OK;
    graph->folded_work += fold_work(graph, node);
    int32_t n_in = node->n_in, n_out = node->n_out;
    size_t n = (size_t)n_in + (size_t)n_out;
    sk_tensor *tensors = sk_calloc(n, sizeof *tensors);
    sk_blob **blobs = sk_calloc((size_t)n_out, sizeof *blobs);
    sk_status status = SK_OK;
    if (!tensors || !blobs)
        status = sk_fail_memory(err, n * sizeof *tensors);
    else
        status = fold(graph, index, tensors, tensors + n_in, blobs, err);
    for (int32_t i = 0; blobs && i < n_out; i++)
        sk_blob_unref(&blobs[i]);
    sk_free(blobs);
    sk_free(tensors);
    return status;
}

sk_status sk_graph_fold_constants(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    sk_status status = SK_OK;
    for (size_t n = 0; n < graph->n_nodes && status == SK_OK; n++)
        status = sk_node_fold(graph, n, err);
    sk_graph_sweep(graph);
    return status;
}

/* Marks backwards from the outputs; nodes are in order, so one walk from the end does it. */
sk_status sk_graph_remove_dead(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    bool *needed = sk_calloc(graph->n_values + 1, sizeof *needed);
    if (!needed)
        return sk_fail_memory(err, graph->n_values);
    for (int i = 0; i < graph->n_outputs; i++)
        needed[graph->outputs[i]] = true;
    for (size_t n = graph->n_nodes; n-- > 0;) {
        sk_node *node = &graph->nodes[n];
        bool alive = false;
        for (int i = 0; i < node->n_out; i++)
            alive = alive || needed[node->out[i]];
        if (!alive)
            sk_node_remove(graph, n);
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0)
                needed[node->in[i]] = true;
        for (int i = 0; i < node->n_out; i++)
            needed[node->out[i]] = true; /* a live node keeps all its outputs, read or not */
    }
    for (int i = 0; i < graph->n_inputs; i++)
        needed[graph->inputs[i]] = true;
    for (size_t v = 0; v < graph->n_values; v++) {
        if (needed[v])
            continue;
        sk_blob_unref(&graph->values[v].blob);
        graph->values[v] = (sk_value_info){.name = "", .shape.rank = -1, .producer = -1};
    }
    sk_graph_sweep(graph);
    sk_free(needed);
    return SK_OK;
}

sk_status sk_graph_push_node(sk_graph *graph, const sk_node *node, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&graph->nodes, &graph->nodes_capacity, graph->n_nodes + 1,
                            sizeof *graph->nodes, SK_GRAPH_MAX_NODES, err));
    for (int i = 0; i < node->n_out; i++)
        graph->values[node->out[i]].producer = (int32_t)graph->n_nodes;
    graph->nodes[graph->n_nodes++] = *node;
    return SK_OK;
}

sk_status sk_graph_add_copy(sk_graph *graph, sk_dtype dtype, const sk_shape *shape, const void *data,
                            sk_value *out, sk_error *err)
{
    sk_blob *blob = NULL;
    const sk_tensor view = {dtype, *shape, NULL};
    SK_TRY(sk_blob_alloc(sk_tensor_bytes(&view), &blob, err));
    memcpy(sk_blob_data(blob), data, sk_tensor_bytes(&view));
    sk_status status = sk_graph_add_constant(graph, "", dtype, shape, blob, 0, out, err);
    sk_blob_unref(&blob);
    return status;
}
