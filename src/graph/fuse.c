/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"

#include <math.h>

/* Recognising activations that files spell out in small steps, and letting convolutions carry what follows
 * them. Nothing is fused across the border of the decode tail, so that the tail can still be cut. */

static const sk_node *maker(const sk_graph *graph, sk_value v)
{
    int32_t index = v >= 0 ? graph->values[v].producer : -1;
    return index >= 0 ? &graph->nodes[index] : NULL;
}

static const sk_node *made_by_unary(const sk_graph *graph, sk_value v, sk_unary kind)
{
    const sk_node *node = maker(graph, v);
    return node && node->op == SK_OP_UNARY && node->a.unary.kind == kind ? node : NULL;
}

static const sk_node *made_by_binary(const sk_graph *graph, sk_value v, sk_binary kind)
{
    const sk_node *node = maker(graph, v);
    return node && node->op == SK_OP_BINARY && node->a.binary.kind == kind ? node : NULL;
}

/* A constant of one element that is `value`, as closely as its type can say. */
static bool is_number(const sk_graph *graph, sk_value v, double value)
{
    if (!sk_value_is_constant(graph, v) || sk_shape_count(&graph->values[v].shape) != 1 ||
        graph->values[v].shape.rank > 1)
        return false;
    sk_tensor t = sk_value_tensor(graph, v);
    double tolerance = t.dtype == SK_DTYPE_F32 || t.dtype == SK_DTYPE_F64 ? 1e-6 : 1e-3;
    return sk_dtype_is_float(t.dtype) && fabs(sk_tensor_at(&t, 0) - value) <= tolerance * fabs(value);
}

/* --- x * f(x) --- */

/* What x * other is, if other is a function of x; 0 otherwise. */
static int gate_kind(const sk_graph *graph, sk_value x, sk_value other, uint32_t flags)
{
    const sk_node *gate = maker(graph, other);
    if (!gate || gate->op != SK_OP_UNARY || gate->flags != flags)
        return 0;
    if (gate->a.unary.kind == SK_UNARY_SIGMOID && gate->in[0] == x)
        return SK_UNARY_SILU;
    if (gate->a.unary.kind == SK_UNARY_HARD_SIGMOID && gate->in[0] == x &&
        fabsf(gate->a.unary.alpha - 1.0f / 6) < 1e-6f && gate->a.unary.beta == 0.5f)
        return SK_UNARY_HARD_SWISH;
    if (gate->a.unary.kind == SK_UNARY_TANH) {
        const sk_node *inner = made_by_unary(graph, gate->in[0], SK_UNARY_SOFTPLUS);
        if (inner && inner->in[0] == x && inner->flags == flags)
            return SK_UNARY_MISH;
    }
    return 0;
}

/* --- gelu: the product of x, 0.5 and 1 + erf(x / sqrt 2), in any grouping --- */

/* x if v is 1 + erf(x / sqrt 2), SK_VALUE_NONE otherwise. */
static sk_value gelu_argument(const sk_graph *graph, sk_value v, uint32_t flags)
{
    const sk_node *add = made_by_binary(graph, v, SK_BINARY_ADD);
    if (!add || add->flags != flags)
        return SK_VALUE_NONE;
    int one = is_number(graph, add->in[0], 1) ? 0 : 1;
    const sk_node *erf_node = made_by_unary(graph, add->in[!one], SK_UNARY_ERF);
    if (!is_number(graph, add->in[one], 1) || !erf_node || erf_node->flags != flags)
        return SK_VALUE_NONE;
    const sk_node *scaled = maker(graph, erf_node->in[0]);
    if (!scaled || scaled->op != SK_OP_BINARY || scaled->flags != flags)
        return SK_VALUE_NONE;
    if (scaled->a.binary.kind == SK_BINARY_DIV && is_number(graph, scaled->in[1], sqrt(2)))
        return scaled->in[0];
    if (scaled->a.binary.kind == SK_BINARY_MUL)
        for (int i = 0; i < 2; i++)
            if (is_number(graph, scaled->in[i], sqrt(0.5)))
                return scaled->in[!i];
    return SK_VALUE_NONE;
}

/* The factors of a product of products; more than three do not interest. */
static int collect_factors(const sk_graph *graph, const sk_node *root, const int32_t *uses, sk_value *factors)
{
    int n = 0;
    for (int i = 0; i < 2; i++) {
        const sk_node *inner = made_by_binary(graph, root->in[i], SK_BINARY_MUL);
        bool open = inner && uses[root->in[i]] == 1 && inner->flags == root->flags;
        for (int k = 0; k < (open ? 2 : 1); k++) {
            if (n == 3)
                return 4;
            factors[n++] = open ? inner->in[k] : root->in[i];
        }
    }
    return n;
}

static sk_value match_gelu(const sk_graph *graph, const sk_node *root, const int32_t *uses)
{
    sk_value factors[3];
    if (collect_factors(graph, root, uses, factors) != 3)
        return SK_VALUE_NONE;
    for (int h = 0; h < 3; h++) {
        if (!is_number(graph, factors[h], 0.5))
            continue;
        for (int i = 0; i < 2; i++) {
            sk_value x = factors[(h + 1 + i) % 3], gate = factors[(h + 2 - i) % 3];
            if (gelu_argument(graph, gate, root->flags) == x)
                return x;
        }
    }
    return SK_VALUE_NONE;
}

static void become_unary(sk_node *node, int kind, sk_value x)
{
    node->op = SK_OP_UNARY;
    node->a.unary.kind = (sk_unary)kind;
    node->a.unary.alpha = node->a.unary.beta = 0;
    node->in[0] = x;
    node->n_in = 1;
}

sk_status sk_graph_fuse_silu(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    int32_t *uses = sk_graph_count_uses(graph);
    if (!uses)
        return sk_fail_memory(err, graph->n_values * sizeof *uses);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        sk_node *node = &graph->nodes[n];
        if (node->op != SK_OP_BINARY || node->a.binary.kind != SK_BINARY_MUL)
            continue;
        int kind = gate_kind(graph, node->in[0], node->in[1], node->flags);
        sk_value x = node->in[0];
        if (!kind) {
            kind = gate_kind(graph, node->in[1], node->in[0], node->flags);
            x = node->in[1];
        }
        if (!kind) {
            x = match_gelu(graph, node, uses);
            kind = x >= 0 ? SK_UNARY_GELU : 0;
        }
        if (kind)
            become_unary(node, kind, x);
    }
    sk_free(uses);
    return sk_graph_remove_dead(graph, err);
}

/* --- into convolutions --- */

/* The activation a node is, with its numbers; kind 0 where it is none that kernels fuse. */
static sk_fused_act activation_of(const sk_node *node)
{
    sk_fused_act none = {0};
    if (node->op == SK_OP_CLIP && node->a.clip.low == 0 && node->a.clip.high == 6)
        return (sk_fused_act){.kind = SK_UNARY_RELU6};
    if (node->op != SK_OP_UNARY)
        return none;
    switch (node->a.unary.kind) {
    case SK_UNARY_SIGMOID:
    case SK_UNARY_SILU:
    case SK_UNARY_RELU:
    case SK_UNARY_GELU:
    case SK_UNARY_GELU_TANH:
    case SK_UNARY_LEAKY:
    case SK_UNARY_ELU:
    case SK_UNARY_RELU6:
    case SK_UNARY_HARD_SIGMOID:
    case SK_UNARY_HARD_SWISH:
    case SK_UNARY_MISH:
    case SK_UNARY_SOFTPLUS:
    case SK_UNARY_TANH:
        return (sk_fused_act){
            .kind = (int32_t)node->a.unary.kind, .alpha = node->a.unary.alpha, .beta = node->a.unary.beta};
    default: return none;
    }
}

/* The convolution that makes v and is read by nobody else; -1 otherwise. */
static int32_t private_conv(const sk_graph *graph, sk_value v, const int32_t *uses, uint32_t flags)
{
    int32_t index = v >= 0 ? graph->values[v].producer : -1;
    if (index < 0 || uses[v] != 1 || graph->nodes[index].flags != flags)
        return -1;
    sk_op op = graph->nodes[index].op;
    return op == SK_OP_CONV || op == SK_OP_CONV_TRANSPOSE ? index : -1;
}

static bool has_residual(const sk_node *conv)
{
    return conv->op == SK_OP_CONV && conv->n_in > 3 && conv->in[3] != SK_VALUE_NONE;
}

sk_status sk_graph_fuse_activation(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    int32_t *uses = sk_graph_count_uses(graph);
    if (!uses)
        return sk_fail_memory(err, graph->n_values * sizeof *uses);
    for (size_t n = 0; n < graph->n_nodes; n++) {
        sk_node *node = &graph->nodes[n];
        sk_fused_act act = activation_of(node);
        int32_t index = act.kind ? private_conv(graph, node->in[0], uses, node->flags) : -1;
        if (index < 0)
            continue;
        sk_node *conv = &graph->nodes[index];
        sk_fused_act *slot = conv->op == SK_OP_CONV ? &conv->a.conv.act : &conv->a.conv_transpose.act;
        if (slot->kind)
            continue;
        *slot = act;
        if (conv->op == SK_OP_CONV)
            conv->a.conv.residual_before_act = has_residual(conv);
        sk_value out = node->out[0];
        sk_node_remove(graph, n);
        graph->values[conv->out[0]].producer = -1;
        conv->out[0] = out;
        graph->values[out].producer = index;
    }
    sk_free(uses);
    sk_graph_sweep(graph);
    return sk_graph_remove_dead(graph, err);
}

/* The convolution moves to the place of the addition: its residual may be made after it. */
static sk_status take_residual(sk_graph *graph, int32_t conv_index, size_t add_index, sk_value residual,
                               sk_error *err)
{
    sk_node conv = graph->nodes[conv_index];
    sk_value *list = sk_arena_alloc(graph->arena, 5 * sizeof *list);
    if (!list)
        return sk_fail_memory(err, 5 * sizeof *list);
    list[0] = conv.in[0];
    list[1] = conv.in[1];
    list[2] = conv.n_in > 2 ? conv.in[2] : SK_VALUE_NONE;
    list[3] = residual;
    list[4] = graph->nodes[add_index].out[0];
    conv.in = list;
    conv.n_in = 4;
    conv.out = list + 4;
    conv.a.conv.residual_before_act = 0;
    sk_node_remove(graph, (size_t)conv_index);
    graph->nodes[add_index] = conv;
    return SK_OK;
}

sk_status sk_graph_fuse_residual(sk_graph *graph, sk_error *err)
{
    SK_CHECK_ARG(graph != NULL, err);
    int32_t *uses = sk_graph_count_uses(graph);
    if (!uses)
        return sk_fail_memory(err, graph->n_values * sizeof *uses);
    sk_status status = SK_OK;
    for (size_t n = 0; n < graph->n_nodes && status == SK_OK; n++) {
        const sk_node *node = &graph->nodes[n];
        if (node->op != SK_OP_BINARY || node->a.binary.kind != SK_BINARY_ADD)
            continue;
        const sk_value_info *a = &graph->values[node->in[0]], *b = &graph->values[node->in[1]];
        if (!sk_shape_known(&a->shape) || !sk_shape_equal(&a->shape, &b->shape) || a->dtype != b->dtype ||
            node->in[0] == node->in[1])
            continue;
        int32_t chosen = -1;
        int side = 0;
        for (int i = 0; i < 2; i++) {
            int32_t index = private_conv(graph, node->in[i], uses, node->flags);
            /* of two convolutions the later one: the other is complete by then */
            if (index > chosen && graph->nodes[index].op == SK_OP_CONV &&
                !has_residual(&graph->nodes[index])) {
                chosen = index;
                side = i;
            }
        }
        if (chosen >= 0)
            status = take_residual(graph, chosen, n, node->in[!side], err);
    }
    sk_free(uses);
    sk_graph_sweep(graph);
    return status == SK_OK ? sk_graph_remove_dead(graph, err) : status;
}
