/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_order.h"

#include "models/onnx_names.h"

#include <string.h>

typedef struct sorter {
    const sk_onnx_node *nodes;
    int32_t n_nodes;
    sk_onnx_scope *makers; /* value name → node */
    int32_t *needs;        /* per node: edges into it not yet satisfied */
    size_t *first;         /* per node: where its edges begin in `to`; n_nodes + 1 entries */
    int32_t *to;           /* edges, grouped by maker */
    bool in_order;
} sorter;

/* Called for every (maker, user) pair. */
typedef void (*edge_function)(sorter *s, int32_t maker, int32_t user);

static void visit_name(sorter *s, const char *name, int32_t user, edge_function edge)
{
    int32_t maker;
    if (*name && sk_onnx_scope_find_here(s->makers, name, &maker))
        edge(s, maker, user);
}

/* The reader bounds how deep graphs nest. */
static void visit_node(sorter *s, const sk_onnx_node *node, int32_t user, edge_function edge)
{
    for (int32_t i = 0; i < node->n_in; i++)
        visit_name(s, node->in[i], user, edge);
    for (int32_t a = 0; a < node->n_attrs; a++) {
        const sk_onnx_graph *graph = node->attrs[a].graph;
        for (int32_t i = 0; graph && i < graph->n_nodes; i++)
            visit_node(s, &graph->nodes[i], user, edge);
        for (int32_t i = 0; graph && i < graph->n_outputs; i++)
            visit_name(s, graph->outputs[i].name, user, edge);
    }
}

static void count_edge(sorter *s, int32_t maker, int32_t user)
{
    s->first[maker + 1]++;
    s->needs[user]++;
    s->in_order = s->in_order && maker < user;
}

/* `first[maker]` moves on while filling and ends where the next one begins. */
static void fill_edge(sorter *s, int32_t maker, int32_t user)
{
    s->to[s->first[maker]++] = user;
}

static const char *node_name(const sk_onnx_node *node)
{
    return *node->name ? node->name : node->n_out ? node->out[0] : node->op;
}

static sk_status list_makers(sorter *s, const char *what, sk_error *err)
{
    for (int32_t n = 0; n < s->n_nodes; n++)
        for (int32_t i = 0; i < s->nodes[n].n_out; i++) {
            const char *name = s->nodes[n].out[i];
            int32_t other;
            if (!*name)
                continue;
            if (sk_onnx_scope_find_here(s->makers, name, &other))
                return sk_fail(err, SK_ERR_FORMAT,
                               "%s: '%.120s' is made twice, by the nodes '%.120s' and '%.120s'", what, name,
                               node_name(&s->nodes[other]), node_name(&s->nodes[n]));
            SK_TRY(sk_onnx_scope_add(s->makers, name, n, err));
        }
    return SK_OK;
}

/* Kahn's algorithm; `order` doubles as its queue. */
static sk_status sort(sorter *s, const char *what, int32_t *order, sk_error *err)
{
    int32_t ready = 0;
    for (int32_t n = 0; n < s->n_nodes; n++)
        s->first[n + 1] += s->first[n];
    s->to = sk_malloc(s->first[s->n_nodes] * sizeof *s->to);
    if (!s->to)
        return sk_fail_memory(err, s->first[s->n_nodes] * sizeof *s->to);
    for (int32_t n = 0; n < s->n_nodes; n++)
        visit_node(s, &s->nodes[n], n, fill_edge);
    for (int32_t n = 0; n < s->n_nodes; n++)
        if (s->needs[n] == 0)
            order[ready++] = n;
    for (int32_t done = 0; done < ready; done++) {
        int32_t n = order[done];
        for (size_t e = n ? s->first[n - 1] : 0; e < s->first[n]; e++)
            if (--s->needs[s->to[e]] == 0)
                order[ready++] = s->to[e];
    }
    for (int32_t n = 0; ready < s->n_nodes && n < s->n_nodes; n++)
        if (s->needs[n] > 0)
            return sk_fail(
                err, SK_ERR_FORMAT,
                "%s: the graph has a cycle: %s node '%.160s' needs what is made from its own result", what,
                s->nodes[n].op, node_name(&s->nodes[n]));
    return SK_OK;
}

sk_status sk_onnx_order(const sk_onnx_node *nodes, int32_t n_nodes, const char *what, int32_t **order,
                        sk_error *err)
{
    sorter s = {.nodes = nodes, .n_nodes = n_nodes, .in_order = true};
    sk_status status = SK_OK;
    *order = sk_malloc((size_t)n_nodes * sizeof **order);
    s.needs = sk_calloc((size_t)n_nodes + 1, sizeof *s.needs);
    s.first = sk_calloc((size_t)n_nodes + 2, sizeof *s.first);
    if (!*order || !s.needs || !s.first) {
        status = sk_fail_memory(err, (size_t)n_nodes * sizeof **order);
        goto done;
    }
    SK_TRY_GOTO(sk_onnx_scope_open(NULL, &s.makers, err));
    SK_TRY_GOTO(list_makers(&s, what, err));
    for (int32_t n = 0; n < n_nodes; n++) {
        (*order)[n] = n;
        visit_node(&s, &nodes[n], n, count_edge);
    }
    if (!s.in_order)
        status = sort(&s, what, *order, err);
done:
    sk_onnx_scope_close(&s.makers);
    sk_free_all(s.needs, s.first, s.to);
    if (status != SK_OK) {
        sk_free(*order);
        *order = NULL;
    }
    return status;
}
