/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/quantise_plan.h"

#include "base/object.h"
#include "graph/edit.h"

#include <stdio.h>
#include <string.h>

/* Channels of pictures; a layer that reads them is left to kernels that take pictures as they come. */
#define PICTURE_CHANNELS 4

sk_status sk_quantise_prepare(const sk_graph *graph, sk_graph **out, sk_error *err)
{
    SK_CHECK_ARG(graph && out, err);
    sk_graph *copy = NULL;
    sk_status status;
    *out = NULL;
    SK_TRY_GOTO(sk_graph_verify(graph, err));
    SK_TRY_GOTO(sk_graph_clone(graph, &copy, err));
    if (sk_graph_is_quantised(copy)) {
        status = sk_fail(err, SK_ERR_UNSUPPORTED,
                         "the network is in eight bits already; give the model it was made from");
        goto done;
    }
    SK_TRY_GOTO(sk_graph_optimise(copy, err));
done:
    return SK_HAND_OVER(status, copy, out, sk_graph_close);
}

/* --- what may be --- */

typedef struct planner {
    const sk_graph *graph;
    const uint8_t *stays;
    bool *last;    /* a value: only results are made of it */
    bool *kept8;   /* a value: in eight bits */
    sk_value *set; /* union-find over values */
    uint8_t *layer;
} planner;

static const sk_node *maker(const sk_graph *graph, sk_value v)
{
    int32_t index = v >= 0 ? graph->values[v].producer : -1;
    return index >= 0 ? &graph->nodes[index] : NULL;
}

/* Operations that only move eight-bit values, or mix them within their range. */
static bool moves(const sk_node *node)
{
    switch (node->op) {
    case SK_OP_MAX_POOL:
    case SK_OP_CONCAT:
    case SK_OP_SPLIT:
    case SK_OP_SLICE: return true;
    case SK_OP_RESIZE: return node->a.resize.mode != SK_RESIZE_CUBIC;
    default: return false;
    }
}

static bool convolves(const sk_node *node)
{
    return node->op == SK_OP_CONV || node->op == SK_OP_CONV_TRANSPOSE;
}

/* Who may make an input of a layer: what lies there as a map of channels. */
static bool makes_maps(const planner *p, sk_value v)
{
    const sk_node *node = maker(p->graph, v);
    if (!node || (node->flags & SK_NODE_TAIL))
        return false;
    return moves(node) || convolves(node) || node->op == SK_OP_UNARY || node->op == SK_OP_BINARY ||
           node->op == SK_OP_AVG_POOL || node->op == SK_OP_CLIP;
}

int64_t sk_quantise_channels_read(const sk_graph *graph, const sk_node *conv)
{
    const sk_shape *w = &graph->values[conv->in[1]].shape;
    return conv->op == SK_OP_CONV_TRANSPOSE ? w->dim[0] : w->dim[1] * conv->a.conv.groups;
}

static bool may_be_layer(const planner *p, size_t index)
{
    const sk_node *node = &p->graph->nodes[index];
    if (!convolves(node) || (node->flags & SK_NODE_TAIL) || (p->stays && p->stays[index]) ||
        (node->op == SK_OP_CONV_TRANSPOSE && node->a.conv_transpose.groups != 1))
        return false;
    const sk_value_info *w = &p->graph->values[node->in[1]];
    bool bias_known =
        node->n_in < 3 || node->in[2] == SK_VALUE_NONE ||
        (sk_value_is_constant(p->graph, node->in[2]) && p->graph->values[node->in[2]].dtype == SK_DTYPE_F32);
    return sk_value_is_constant(p->graph, node->in[1]) && w->dtype == SK_DTYPE_F32 && w->shape.rank == 4 &&
           sk_shape_count(&w->shape) > 0 && bias_known &&
           sk_quantise_channels_read(p->graph, node) > PICTURE_CHANNELS && !p->last[node->out[0]] &&
           makes_maps(p, node->in[0]);
}

/* Values that only the tail or the graph's outputs read. */
static void find_last(planner *p)
{
    for (size_t v = 0; v < p->graph->n_values; v++)
        p->last[v] = true;
    for (size_t n = 0; n < p->graph->n_nodes; n++) {
        const sk_node *node = &p->graph->nodes[n];
        for (int i = 0; i < node->n_in && !(node->flags & SK_NODE_TAIL); i++)
            if (node->in[i] >= 0)
                p->last[node->in[i]] = false;
    }
}

static sk_value root(sk_value *set, sk_value v)
{
    while (set[v] != v) {
        set[v] = set[set[v]];
        v = set[v];
    }
    return v;
}

static void join(planner *p, sk_value a, sk_value b)
{
    a = root(p->set, a);
    b = root(p->set, b);
    if (a != b)
        p->set[a > b ? a : b] = a > b ? b : a;
}

/* What a moved value is made of is in eight bits too, and of one scale with it; so are its twins. One walk from the end is
 * enough: nodes are in order. */
static void spread(planner *p)
{
    for (size_t n = p->graph->n_nodes; n-- > 0;) {
        const sk_node *node = &p->graph->nodes[n];
        bool any = false;
        for (int i = 0; i < node->n_out; i++)
            any = any || p->kept8[node->out[i]];
        if (!any || !moves(node))
            continue;
        int inputs = node->op == SK_OP_CONCAT ? node->n_in : 1;
        for (int i = 0; i < node->n_out; i++) {
            p->kept8[node->out[i]] = true;
            join(p, node->out[0], node->out[i]);
        }
        for (int i = 0; i < inputs; i++) {
            p->kept8[node->in[i]] = true;
            join(p, node->out[0], node->in[i]);
        }
    }
}

/* --- written down --- */

static sk_status list_layers(const planner *p, sk_quantise_plan *plan, sk_error *err)
{
    for (size_t n = 0; n < p->graph->n_nodes; n++)
        plan->n_layers += p->layer[n];
    if (plan->n_layers == 0)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "no convolution of this network can be computed in eight bits (the first and last stay in f32)");
    plan->layers = sk_calloc((size_t)plan->n_layers, sizeof *plan->layers);
    if (!plan->layers)
        return sk_fail_memory(err, (size_t)plan->n_layers * sizeof *plan->layers);
    int32_t at = 0;
    for (size_t n = 0; n < p->graph->n_nodes; n++) {
        const sk_node *node = &p->graph->nodes[n];
        plan->n_kept += convolves(node) && !(node->flags & SK_NODE_TAIL) && !p->layer[n];
        if (!p->layer[n])
            continue;
        sk_quantise_layer *layer = &plan->layers[at++];
        layer->node = (int32_t)n;
        layer->input = node->in[0];
        snprintf(layer->name, sizeof layer->name, "%.63s", node->name[0] ? node->name : "conv");
    }
    return SK_OK;
}

static sk_status list_values(const planner *p, sk_quantise_plan *plan, sk_error *err)
{
    const size_t all = p->graph->n_values;
    for (size_t v = 0; v < all; v++)
        plan->n_values += p->kept8[v];
    plan->values = sk_calloc((size_t)plan->n_values, sizeof *plan->values);
    plan->group_of = sk_calloc((size_t)plan->n_values, sizeof *plan->group_of);
    plan->moved = sk_calloc((size_t)plan->n_values, sizeof *plan->moved);
    int32_t *number = sk_calloc(all + 1, sizeof *number);
    if (!plan->values || !plan->group_of || !plan->moved || !number) {
        sk_free(number);
        return sk_fail_memory(err, all * sizeof *number);
    }
    int32_t at = 0;
    for (size_t v = 0; v < all; v++) {
        if (!p->kept8[v])
            continue;
        sk_value top = root(p->set, (sk_value)v);
        if (!number[top])
            number[top] = ++plan->n_groups;
        const sk_node *node = maker(p->graph, (sk_value)v);
        plan->values[at] = (sk_value)v;
        plan->moved[at] = node && moves(node);
        plan->group_of[at++] = number[top] - 1;
    }
    sk_free(number);
    return SK_OK;
}

sk_status sk_quantise_plan_open(const sk_graph *graph, const uint8_t *stays, sk_quantise_plan **out,
                                sk_error *err)
{
    SK_CHECK_ARG(graph && out, err);
    *out = NULL;
    sk_status status = SK_OK;
    sk_quantise_plan *plan = sk_calloc(1, sizeof *plan);
    planner p = {.graph = graph,
                 .stays = stays,
                 .last = sk_calloc(graph->n_values + 1, sizeof *p.last),
                 .kept8 = sk_calloc(graph->n_values + 1, sizeof *p.kept8),
                 .set = sk_calloc(graph->n_values + 1, sizeof *p.set),
                 .layer = sk_calloc(graph->n_nodes + 1, sizeof *p.layer)};
    if (!plan || !p.last || !p.kept8 || !p.set || !p.layer) {
        status = sk_fail_memory(err, graph->n_values * sizeof *p.set);
        goto done;
    }
    for (size_t v = 0; v < graph->n_values; v++)
        p.set[v] = (sk_value)v;
    find_last(&p);
    for (size_t n = 0; n < graph->n_nodes; n++)
        if (may_be_layer(&p, n)) {
            p.layer[n] = 1;
            p.kept8[graph->nodes[n].in[0]] = true;
        }
    spread(&p);
    SK_TRY_GOTO(list_layers(&p, plan, err));
    SK_TRY_GOTO(list_values(&p, plan, err));
done:
    sk_free_all(p.last, p.kept8, p.set, p.layer);
    return SK_HAND_OVER(status, plan, out, sk_quantise_plan_close);
}

void sk_quantise_plan_close(sk_quantise_plan **plan)
{
    SK_TAKE_OR_RETURN(p, plan);
    sk_free_all(p->layers, p->values, p->group_of, p->moved);
    sk_free(p);
}
