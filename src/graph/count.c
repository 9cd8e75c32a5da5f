/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"
#include "graph/quantise.h"

/* Counts for people: weights and floating-point operations. */

static double count_of(const sk_graph *graph, sk_value v)
{
    int64_t count = v >= 0 ? sk_shape_count(&graph->values[v].shape) : -1;
    return count < 0 ? 0 : (double)count;
}

static double bytes_of(const sk_graph *graph, sk_value v)
{
    return count_of(graph, v) * (double)sk_dtype_bytes(graph->values[v].dtype);
}

double sk_node_flops(const sk_graph *graph, const sk_node *node)
{
    switch (node->op) {
    case SK_OP_CONV: {
        const sk_shape *w = &graph->values[node->in[1]].shape;
        if (!sk_shape_known(w) || w->rank != 4)
            return 0;
        return 2 * count_of(graph, node->out[0]) * (double)w->dim[1] * (double)w->dim[2] * (double)w->dim[3];
    }
    case SK_OP_CONV_TRANSPOSE: {
        const sk_shape *w = &graph->values[node->in[1]].shape;
        if (!sk_shape_known(w) || w->rank != 4)
            return 0;
        return 2 * count_of(graph, node->in[0]) * (double)w->dim[1] * (double)w->dim[2] * (double)w->dim[3];
    }
    case SK_OP_MATMUL:
    case SK_OP_GEMM: {
        const sk_shape *a = &graph->values[node->in[0]].shape;
        if (!sk_shape_known(a) || a->rank < 1)
            return 0;
        bool transposed = node->op == SK_OP_GEMM && node->a.gemm.transpose_a;
        return 2 * count_of(graph, node->out[0]) * (double)a->dim[transposed ? 0 : a->rank - 1];
    }
    default: return 0;
    }
}

double sk_graph_flops(const sk_graph *graph)
{
    double sum = 0;
    for (size_t n = 0; n < graph->n_nodes; n++)
        sum += sk_node_flops(graph, &graph->nodes[n]);
    return sum;
}

/* Inputs of a node that are weights in the sense people count: not a batch norm's running statistics. */
static int weight_inputs(const sk_node *node)
{
    switch (node->op) {
    case SK_OP_CONV:
    case SK_OP_CONV_TRANSPOSE:
    case SK_OP_MATMUL:
    case SK_OP_GEMM:
    case SK_OP_BATCH_NORM:
    case SK_OP_LAYER_NORM:
    case SK_OP_INSTANCE_NORM: return node->n_in < 3 ? node->n_in : 3;
    default: return 0;
    }
}

int64_t sk_graph_parameters(const sk_graph *graph)
{
    int64_t sum = 0;
    /* shared weights count once; without memory for that list they count as often as they are used */
    bool *seen = sk_calloc(graph->n_values + 1, sizeof *seen);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        for (int i = 0; i < weight_inputs(node); i++) {
            sk_value v = node->in[i];
            sk_quantisation q;
            if (v >= 0 && sk_graph_quantisation_of(graph, v, &q) && q.real == SK_VALUE_NONE)
                v = q.bytes; /* weights in eight bits */
            if (!sk_value_is_constant(graph, v) || (seen && seen[v]))
                continue;
            sum += (int64_t)count_of(graph, v);
            if (seen)
                seen[v] = true;
        }
    }
    sk_free(seen);
    return sum;
}

double sk_graph_peak_bytes(const sk_graph *graph)
{
    size_t *last =
        sk_calloc(graph->n_values + 1, sizeof *last); /* one past the last node that reads the value */
    double alive = 0, peak = 0;
    if (!last)
        return 0;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (int i = 0; i < graph->nodes[n].n_in; i++)
            if (graph->nodes[n].in[i] >= 0)
                last[graph->nodes[n].in[i]] = n + 1;
    for (int32_t i = 0; i < graph->n_outputs; i++)
        last[graph->outputs[i]] = graph->n_nodes + 1;
    for (int32_t i = 0; i < graph->n_inputs; i++)
        alive += bytes_of(graph, graph->inputs[i]);
    peak = alive;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        for (int i = 0; i < node->n_out; i++)
            alive += bytes_of(graph, node->out[i]);
        peak = alive > peak ? alive : peak;
        for (int i = 0; i < node->n_in; i++) {
            sk_value v = node->in[i];
            if (v >= 0 && last[v] == n + 1 && !sk_value_is_constant(graph, v)) {
                alive -= bytes_of(graph, v);
                last[v] = 0; /* a node may read a value twice */
            }
        }
        for (int i = 0; i < node->n_out; i++)
            if (last[node->out[i]] == 0) /* nobody reads it */
                alive -= bytes_of(graph, node->out[i]);
    }
    sk_free(last);
    return peak;
}
