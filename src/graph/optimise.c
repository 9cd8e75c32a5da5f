/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"

#include <string.h>

static bool contains(const sk_value *list, int n, sk_value v)
{
    for (int i = 0; i < n; i++)
        if (list[i] == v)
            return true;
    return false;
}

/* A node that hands its input on unchanged and can be left out. One whose output carries the graph's
 * output name stays, and so does one between network and tail: it marks the border. */
static bool hands_on(const sk_graph *graph, const sk_node *node)
{
    bool same_cast = node->op == SK_OP_CAST && graph->values[node->in[0]].dtype == node->a.cast.to;
    if ((node->op != SK_OP_IDENTITY && !same_cast) ||
        contains(graph->outputs, graph->n_outputs, node->out[0]))
        return false;
    int32_t producer = graph->values[node->in[0]].producer;
    return producer < 0 || graph->nodes[producer].flags == node->flags;
}

static sk_status drop_identities(sk_graph *graph, sk_error *err)
{
    sk_value *alias = sk_calloc(graph->n_values + 1, sizeof *alias);
    if (!alias)
        return sk_fail_memory(err, graph->n_values * sizeof *alias);
    for (size_t v = 0; v < graph->n_values; v++)
        alias[v] = (sk_value)v;
    for (size_t n = 0; n < graph->n_nodes; n++) {
        sk_node *node = &graph->nodes[n];
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0)
                node->in[i] = alias[node->in[i]];
        if (hands_on(graph, node)) {
            alias[node->out[0]] = node->in[0];
            sk_node_remove(graph, n);
        }
    }
    sk_graph_sweep(graph);
    sk_free(alias);
    return SK_OK;
}

sk_status sk_graph_optimise(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    SK_TRY(drop_identities(graph, err));
    SK_TRY(sk_graph_fold_constants(graph, err));
    SK_TRY(sk_graph_fuse_silu(graph, err));
    SK_TRY(sk_graph_fold_batch_norm(graph, err));
    SK_TRY(sk_graph_fuse_activation(graph, err)); /* act(conv), before conv + residual is looked for … */
    SK_TRY(sk_graph_fuse_residual(graph, err));
    SK_TRY(sk_graph_fuse_activation(graph, err)); /* … and act(conv + residual) */
    return sk_graph_remove_dead(graph, err);
}

static bool in_tail(const sk_graph *graph, sk_value v)
{
    int32_t producer = graph->values[v].producer;
    return producer >= 0 && (graph->nodes[producer].flags & SK_NODE_TAIL);
}

sk_status sk_graph_cut_tail(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    sk_value cut[sizeof graph->outputs / sizeof graph->outputs[0]];
    const int limit = (int)(sizeof cut / sizeof cut[0]);
    int n = 0;
    bool found = false;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sk_node *node = &graph->nodes[i];
        if (!(node->flags & SK_NODE_TAIL))
            continue;
        found = true;
        if (sk_op_reads_shape_only(node->op))
            continue; /* looks at the maps without reading them */
        for (int k = 0; k < node->n_in; k++) {
            sk_value v = node->in[k];
            if (v < 0 || sk_value_is_constant(graph, v) || in_tail(graph, v) || contains(cut, n, v))
                continue;
            if (n == limit)
                return sk_fail(err, SK_ERR_LIMIT, "more than %d values go into the decode tail", limit);
            cut[n++] = v;
        }
    }
    if (!found || n == 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "the graph has no decode tail");
    /* outputs that never went through the tail stay, after the heads */
    for (int i = 0; i < graph->n_outputs; i++) {
        sk_value v = graph->outputs[i];
        if (in_tail(graph, v) || contains(cut, n, v))
            continue;
        if (n == limit)
            return sk_fail(err, SK_ERR_LIMIT, "more than %d outputs without the decode tail", limit);
        cut[n++] = v;
    }
    memcpy(graph->outputs, cut, (size_t)n * sizeof *cut);
    graph->n_outputs = n;
    return sk_graph_remove_dead(graph, err);
}
