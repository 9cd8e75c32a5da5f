/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"
#include "graph/quantise_plan.h"
#include "graph/ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Other runtimes compute a convolution in eight bits where all its ends are: ONNX Runtime folds DequantizeLinear, Conv and
 * QuantizeLinear into one operation only where nothing lies between them, and both want biases as i32. So what goes into an
 * activation is put in eight bits, too, and biases are rounded: a second rounding, which our own engines do without. */

typedef struct rebuild {
    sk_graph *graph;
    const sk_quantise_reach *reach;
    int32_t n_reach;
    int32_t *uses, *reader; /* of each value: how many nodes read it, and the last of them */
    sk_value *reads;
    size_t n_known; /* values before */
    sk_error *err;
} rebuild;

static double act(const sk_node *node, double x)
{
    return sk_ref_activate((int)node->a.unary.kind, (double)node->a.unary.alpha, (double)node->a.unary.beta,
                           x);
}

/* Where the function, which grows from 0 on, reaches y. */
static double inverse(const sk_node *node, double y)
{
    double low = 0, high = y + 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (act(node, middle) < y)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Which inputs an activation needs for these outputs; beyond them it says the same to half a step. */
static bool before_activation(const sk_node *node, double low, double high, double *from, double *to)
{
    double half = (high - low) / 510;
    switch (node->a.unary.kind) {
    case SK_UNARY_RELU:
    case SK_UNARY_RELU6:
        *from = 0;
        *to = high;
        return true;
    case SK_UNARY_LEAKY:
        *from = node->a.unary.alpha > 0 ? low / (double)node->a.unary.alpha : 0;
        *to = high;
        return true;
    case SK_UNARY_SILU:
    case SK_UNARY_GELU:
    case SK_UNARY_HARD_SWISH:
    case SK_UNARY_MISH:
        *to = inverse(node, high > 0 ? high : 0);
        for (*from = -1.5; *from > -16 && fabs(act(node, *from)) > half; *from -= 0.125)
            ;
        return true;
    default: return false;
    }
}

/* What the activation gives: as it was seen, or as far as the eight bits reach that it is put in. */
static bool known_reach(const rebuild *r, const sk_node *conv, const sk_node *unary, double *low,
                        double *high)
{
    for (int32_t i = 0; i < r->n_reach; i++)
        if (strcmp(r->reach[i].name, conv->name) == 0) {
            *low = (double)r->reach[i].low;
            *high = (double)r->reach[i].high;
            return *high > *low;
        }
    sk_value v = unary->out[0];
    const sk_node *narrow = r->uses[v] == 1 && r->reader[v] >= 0 ? &r->graph->nodes[r->reader[v]] : NULL;
    if (!narrow || narrow->op != SK_OP_QUANTIZE)
        return false;
    sk_tensor scale = sk_value_tensor(r->graph, narrow->in[1]),
              zero = sk_value_tensor(r->graph, narrow->in[2]);
    if (zero.dtype != SK_DTYPE_U8 || sk_shape_count(&scale.shape) != 1)
        return false;
    *low = -(double)sk_tensor_int_at(&zero, 0) * sk_tensor_at(&scale, 0);
    *high = (255 - (double)sk_tensor_int_at(&zero, 0)) * sk_tensor_at(&scale, 0);
    return true;
}

/* The bias as i32 in steps of the sums. One that does not fit stays as it is. */
static sk_status add_bias(rebuild *r, sk_node *conv, const sk_quantisation *x, const sk_quantisation *w)
{
    if (conv->n_in < 3 || conv->in[2] == SK_VALUE_NONE || !sk_value_is_constant(r->graph, conv->in[2]))
        return SK_OK;
    sk_tensor bias = sk_value_tensor(r->graph, conv->in[2]);
    const int64_t n = sk_shape_count(&bias.shape);
    const sk_shape list = {.rank = 1, .dim = {n}};
    if (bias.dtype != SK_DTYPE_F32 || n != w->n_scales)
        return SK_OK;
    sk_status status = SK_OK;
    int32_t *sums = sk_calloc((size_t)n, sizeof *sums);
    float *scales = sk_calloc((size_t)n, sizeof *scales);
    sk_value in[2], out;
    sk_attrs a;
    bool fits = true;
    memset(&a, 0, sizeof a);
    if (!sums || !scales) {
        status = sk_fail_memory(r->err, (size_t)n * sizeof *sums);
        goto done;
    }
    for (int64_t i = 0; i < n; i++) {
        scales[i] = x->scale * w->scales[i];
        double steps = nearbyint((double)((const float *)bias.data)[i] / (double)scales[i]);
        fits = fits && scales[i] > 0 && fabs(steps) < 2e9;
        sums[i] = fits ? (int32_t)steps : 0;
    }
    if (!fits)
        goto done;
    SK_TRY_GOTO(sk_graph_add_copy(r->graph, SK_DTYPE_I32, &list, sums, &in[0], r->err));
    SK_TRY_GOTO(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &list, scales, &in[1], r->err));
    char text[160];
    snprintf(text, sizeof text, "%.120s/bias", conv->name);
    SK_TRY_GOTO(sk_graph_add_node(r->graph, SK_OP_DEQUANTIZE, &a, in, 2, 1, text, &out, r->err));
    conv->in[2] = out;
done:
    sk_free_all(sums, scales);
    return status;
}

static sk_status add_pair(rebuild *r, const sk_node *conv, sk_quantise_scale s)
{
    const sk_shape one = {.rank = 0};
    uint8_t zero = (uint8_t)s.zero;
    sk_value in[3] = {conv->out[0]}, bytes;
    sk_attrs a;
    char text[160];
    memset(&a, 0, sizeof a);
    a.quantise.axis = 1;
    SK_TRY(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &one, &s.scale, &in[1], r->err));
    SK_TRY(sk_graph_add_copy(r->graph, SK_DTYPE_U8, &one, &zero, &in[2], r->err));
    snprintf(text, sizeof text, "%.120s/sum/quantise", conv->name);
    SK_TRY(sk_graph_add_node(r->graph, SK_OP_QUANTIZE, &a, in, 3, 1, text, &bytes, r->err));
    in[0] = bytes;
    snprintf(text, sizeof text, "%.120s/sum/dequantise", conv->name);
    return sk_graph_add_node(r->graph, SK_OP_DEQUANTIZE, &a, in, 3, 1, text, &r->reads[conv->out[0]], r->err);
}

/* The scale for what goes from this convolution into its activation; false: there is none, or nothing is known of it. */
static bool sum_scale(const rebuild *r, const sk_node *nodes, const sk_node *conv, sk_quantise_scale *out)
{
    double low, high, from, to;
    sk_value v = conv->out[0];
    if (conv->a.conv.act.kind || r->uses[v] != 1 || r->reader[v] < 0)
        return false;
    const sk_node *unary = &nodes[r->reader[v]];
    if (unary->op != SK_OP_UNARY || !known_reach(r, conv, unary, &low, &high) ||
        !before_activation(unary, low, high, &from, &to))
        return false;
    *out = sk_quantise_scale_of(from, to);
    return true;
}

static sk_status count_readers(rebuild *r)
{
    const sk_graph *g = r->graph;
    r->n_known = g->n_values;
    r->uses = sk_graph_count_uses(g);
    r->reader = sk_calloc(g->n_values + 1, sizeof *r->reader);
    r->reads = sk_calloc(g->n_values + 1, sizeof *r->reads);
    if (!r->uses || !r->reader || !r->reads)
        return sk_fail_memory(r->err, g->n_values * sizeof *r->reads);
    for (size_t v = 0; v < g->n_values; v++) {
        r->reader[v] = -1;
        r->reads[v] = (sk_value)v;
    }
    for (size_t n = 0; n < g->n_nodes; n++)
        for (int i = 0; i < g->nodes[n].n_in; i++)
            if (g->nodes[n].in[i] >= 0)
                r->reader[g->nodes[n].in[i]] = (int32_t)n;
    return SK_OK;
}

/* What is asked of the graph is asked before its nodes are taken apart. */
typedef struct found_layer {
    bool narrow, sum;
    sk_quantisation x, w;
    sk_quantise_scale scale;
} found_layer;

sk_status sk_quantise_for_runtimes(sk_graph *graph, const sk_quantise_reach *reach, int32_t n_reach,
                                   sk_error *err)
{
    SK_CHECK_ARG(graph && (reach || n_reach == 0), err);
    if (!sk_graph_is_quantised(graph))
        return SK_OK;
    SK_TRY(sk_graph_fuse_silu(graph, err));
    rebuild r = {.graph = graph, .reach = reach, .n_reach = n_reach, .err = err};
    sk_status status;
    sk_node *old = NULL;
    size_t n_old = graph->n_nodes;
    found_layer *found = sk_calloc(n_old + 1, sizeof *found);
    if (!found)
        return sk_fail_memory(err, n_old * sizeof *found);
    SK_TRY_GOTO(count_readers(&r));
    for (size_t n = 0; n < n_old; n++) {
        const sk_node *node = &graph->nodes[n];
        found[n].narrow =
            node->op == SK_OP_CONV && sk_graph_quantisation_of(graph, node->in[0], &found[n].x) &&
            sk_graph_quantisation_of(graph, node->in[1], &found[n].w) && found[n].x.n_scales == 1 &&
            found[n].w.real == SK_VALUE_NONE && found[n].w.dtype == SK_DTYPE_I8;
        found[n].sum = found[n].narrow && sum_scale(&r, graph->nodes, node, &found[n].scale);
    }
    old = graph->nodes;
    graph->nodes = NULL;
    graph->n_nodes = graph->nodes_capacity = 0;
    for (size_t n = 0; n < n_old; n++) {
        sk_node *node = &old[n];
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] >= 0 && (size_t)node->in[i] < r.n_known)
                node->in[i] = r.reads[node->in[i]];
        if (found[n].narrow)
            SK_TRY_GOTO(add_bias(&r, node, &found[n].x, &found[n].w));
        SK_TRY_GOTO(sk_graph_push_node(r.graph, node, r.err));
        if (found[n].sum)
            SK_TRY_GOTO(add_pair(&r, node, found[n].scale));
    }
    status = sk_graph_verify(graph, err);
done:
    sk_free_all(old, found, r.uses, r.reader, r.reads);
    return status;
}
