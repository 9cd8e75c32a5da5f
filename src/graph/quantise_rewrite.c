/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"
#include "graph/quantise_weights.h"

#include "base/object.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct rewriter {
    sk_graph *graph;
    const sk_quantise_plan *plan;
    const sk_quantise_numbers *numbers;
    sk_node *old; /* the nodes before */
    size_t n_old;
    sk_value *reads; /* a value: what its readers read instead */
    int32_t *group;  /* a value: its group, -1 = stays f32 */
    sk_error *err;
} rewriter;

/* (x / scale, to f8 and back) * scale. */
static sk_status add_simulated_f8(rewriter *r, sk_value v, const sk_quantise_scale *s)
{
    const sk_shape one = {.rank = 0};
    sk_value scale, t = v;
    sk_attrs a[4];
    memset(a, 0, sizeof a);
    a[0].binary.kind = SK_BINARY_DIV;
    a[1].cast.to = SK_DTYPE_F8;
    a[2].cast.to = SK_DTYPE_F32;
    a[3].binary.kind = SK_BINARY_MUL;
    SK_TRY(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &one, &s->scale, &scale, r->err));
    for (int i = 0; i < 4; i++) {
        sk_value in[2] = {t, scale};
        const bool cast = i == 1 || i == 2;
        SK_TRY(sk_graph_add_node(r->graph, cast ? SK_OP_CAST : SK_OP_BINARY, &a[i], in, cast ? 1 : 2, 1,
                                 "rounded", &t, r->err));
    }
    r->reads[v] = t;
    return SK_OK;
}

/* (clip(round(x / scale))) * scale, in f32. */
static sk_status add_simulated(rewriter *r, sk_value v, const sk_quantise_scale *s)
{
    const sk_shape one = {.rank = 0};
    sk_value scale, t = v;
    sk_attrs a[4];
    memset(a, 0, sizeof a);
    a[0].binary.kind = SK_BINARY_DIV;
    a[1].unary.kind = SK_UNARY_ROUND;
    a[2].clip.low = -(double)s->zero;
    a[2].clip.high = 255 - (double)s->zero;
    a[3].binary.kind = SK_BINARY_MUL;
    static const sk_op ops[4] = {SK_OP_BINARY, SK_OP_UNARY, SK_OP_CLIP, SK_OP_BINARY};
    SK_TRY(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &one, &s->scale, &scale, r->err));
    for (int i = 0; i < 4; i++) {
        sk_value in[2] = {t, scale};
        SK_TRY(sk_graph_add_node(r->graph, ops[i], &a[i], in, ops[i] == SK_OP_BINARY ? 2 : 1, 1, "rounded",
                                 &t, r->err));
    }
    r->reads[v] = t;
    return SK_OK;
}

/* v in eight bits and back; readers of v read that. */
static sk_status add_pair(rewriter *r, sk_value v, const char *name)
{
    const sk_quantise_scale *s = &r->numbers->groups[r->group[v]];
    const sk_shape one = {.rank = 0};
    uint8_t zero = (uint8_t)s->zero;
    sk_value in[3] = {v}, bytes;
    sk_attrs a;
    char text[160];
    memset(&a, 0, sizeof a);
    a.quantise.axis = 1;
    if (r->numbers->simulate)
        return r->numbers->f8 ? add_simulated_f8(r, v, s) : add_simulated(r, v, s);
    SK_TRY(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &one, &s->scale, &in[1], r->err));
    SK_TRY(
        sk_graph_add_copy(r->graph, r->numbers->f8 ? SK_DTYPE_F8 : SK_DTYPE_U8, &one, &zero, &in[2], r->err));
    snprintf(text, sizeof text, "%.120s/quantise", name);
    SK_TRY(sk_graph_add_node(r->graph, SK_OP_QUANTIZE, &a, in, 3, 1, text, &bytes, r->err));
    in[0] = bytes;
    snprintf(text, sizeof text, "%.120s/dequantise", name);
    return sk_graph_add_node(r->graph, SK_OP_DEQUANTIZE, &a, in, 3, 1, text, &r->reads[v], r->err);
}

/* What rounding the weights adds to each output, by the mean of what they are multiplied with. `to`: what they became. */
static void correct_bias(int32_t groups, const sk_shape *w, const float *from, const float *to,
                         const float *means, float *bias)
{
    int64_t each = w->dim[1] * w->dim[2] * w->dim[3], taps = w->dim[2] * w->dim[3];
    int64_t out_group = w->dim[0] / groups;
    for (int64_t o = 0; o < w->dim[0]; o++) {
        double shift = 0;
        const float *mean = means + (out_group ? o / out_group : 0) * w->dim[1];
        for (int64_t i = 0; i < each; i++)
            shift += (double)(from[o * each + i] - to[o * each + i]) * (double)mean[i / taps];
        bias[o] += (float)shift;
    }
}

static double relative_error(const float *from, const float *to, int64_t count)
{
    double error = 0, power = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)(from[i] - to[i]);
        error += d * d;
        power += (double)from[i] * (double)from[i];
    }
    return power > 0 ? sqrt(error / power) : 0;
}

bool sk_quantise_is_depthwise(const sk_graph *graph, const sk_node *conv)
{
    const sk_shape *w = &graph->values[conv->in[1]].shape;
    return conv->op == SK_OP_CONV && w->rank == 4 && w->dim[1] == 1 && conv->a.conv.groups == w->dim[0];
}

/* [a][b][taps] as [b][a][taps], of elements of `size` bytes. */
static void exchange(const void *from, void *to, const sk_shape *w, size_t size)
{
    const size_t run = (size_t)(w->dim[2] * w->dim[3]) * size;
    for (int64_t a = 0; a < w->dim[0]; a++)
        for (int64_t b = 0; b < w->dim[1]; b++)
            memcpy((char *)to + (size_t)(b * w->dim[0] + a) * run,
                   (const char *)from + (size_t)(a * w->dim[1] + b) * run, run);
}

/* The convolution with weights in eight bits, which a DEQUANTIZE before it reads. A transposed one's lie with the outputs second:
 * they are put first, and back when they are bytes. */
static sk_status add_layer(rewriter *r, const sk_node *conv, int32_t layer)
{
    const bool transposed = conv->op == SK_OP_CONV_TRANSPOSE;
    sk_tensor w = sk_value_tensor(r->graph, conv->in[1]);
    const sk_shape given = w.shape;
    const sk_shape shape =
        transposed ? sk_shape_of(4, given.dim[1], given.dim[0], given.dim[2], given.dim[3]) : given;
    const sk_shape list = {.rank = 1, .dim = {shape.dim[0]}};
    const int64_t out = shape.dim[0], each = sk_shape_count(&shape) / out;
    const float *from = w.data;
    const bool f8 = r->numbers->f8;
    sk_status status = SK_OK;
    sk_node node = *conv;
    sk_attrs a;
    uint8_t *bytes = sk_malloc((size_t)(out * each));
    float *to = sk_malloc((size_t)(out * each) * sizeof *to);
    float *scales = sk_calloc((size_t)out, sizeof *scales), *bias = sk_calloc((size_t)out, sizeof *bias);
    float *spare = transposed ? sk_malloc((size_t)(out * each) * sizeof *spare) : NULL;
    sk_value *in = sk_arena_alloc(r->graph->arena, 4 * sizeof *in), parts[2];
    if (!bytes || !to || !scales || !bias || !in || (transposed && !spare)) {
        status = sk_fail_memory(r->err, (size_t)(out * each) * sizeof *to);
        goto done;
    }
    if (transposed) {
        exchange(from, spare, &given, sizeof *spare);
        from = spare;
    }
    for (int64_t o = 0; o < out; o++)
        scales[o] = sk_quantise_weights(from + o * each, each, shape.dim[2] * shape.dim[3], f8,
                                        bytes + o * each, to + o * each);
    if (r->numbers->weight_error)
        r->numbers->weight_error[layer] = relative_error(from, to, out * each);
    if (conv->n_in > 2 && conv->in[2] != SK_VALUE_NONE)
        memcpy(bias, sk_value_tensor(r->graph, conv->in[2]).data, (size_t)out * sizeof *bias);
    if (r->numbers->means && r->numbers->means[layer])
        correct_bias(transposed ? 1 : conv->a.conv.groups, &shape, from, to, r->numbers->means[layer], bias);
    if (transposed) {
        exchange(to, spare, &shape, sizeof *spare);
        memcpy(to, spare, (size_t)(out * each) * sizeof *to);
        exchange(bytes, spare, &shape, 1);
        memcpy(bytes, spare, (size_t)(out * each));
    }
    for (int i = 0; i < 4; i++)
        in[i] = i < conv->n_in ? conv->in[i] : SK_VALUE_NONE;
    memset(&a, 0, sizeof a);
    a.quantise.axis = transposed;
    SK_TRY_GOTO(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &list, bias, &in[2], r->err));
    node.in = in;
    node.n_in = conv->n_in > 3 ? 4 : 3;
    if (r->numbers->simulate) {
        SK_TRY_GOTO(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &given, to, &in[1], r->err));
        status = sk_graph_push_node(r->graph, &node, r->err);
        goto done;
    }
    SK_TRY_GOTO(
        sk_graph_add_copy(r->graph, f8 ? SK_DTYPE_F8 : SK_DTYPE_I8, &given, bytes, &parts[0], r->err));
    SK_TRY_GOTO(sk_graph_add_copy(r->graph, SK_DTYPE_F32, &list, scales, &parts[1], r->err));
    char text[160];
    snprintf(text, sizeof text, "%.120s/weights", conv->name);
    SK_TRY_GOTO(sk_graph_add_node(r->graph, SK_OP_DEQUANTIZE, &a, parts, 2, 1, text, &in[1], r->err));
    status = sk_graph_push_node(r->graph, &node, r->err);
done:
    sk_free_all(bytes, to, scales, bias, spare);
    return status;
}

static sk_status rewrite_node(rewriter *r, size_t index, int32_t *next_layer)
{
    const sk_quantise_plan *plan = r->plan;
    sk_node *node = &r->old[index];
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0)
            node->in[i] = r->reads[node->in[i]];
    if (*next_layer < plan->n_layers && plan->layers[*next_layer].node == (int32_t)index) {
        const bool as_it_is = r->numbers->f8 && sk_quantise_is_depthwise(r->graph, node);
        SK_TRY(as_it_is ? sk_graph_push_node(r->graph, node, r->err) : add_layer(r, node, *next_layer));
        if (as_it_is && r->numbers->weight_error)
            r->numbers->weight_error[*next_layer] = 0;
        ++*next_layer;
    } else {
        SK_TRY(sk_graph_push_node(r->graph, node, r->err));
    }
    for (int i = 0; i < node->n_out; i++)
        if (r->group[node->out[i]] >= 0)
            SK_TRY(add_pair(r, node->out[i], node->name));
    return SK_OK;
}

static sk_status check_numbers(const sk_graph *graph, const sk_quantise_plan *plan,
                               const sk_quantise_numbers *numbers, sk_error *err)
{
    for (int32_t g = 0; g < plan->n_groups; g++)
        if (!(numbers->groups[g].scale > 0) || !isfinite(numbers->groups[g].scale) ||
            numbers->groups[g].zero < 0 || numbers->groups[g].zero > (numbers->f8 ? 0 : 255))
            return sk_fail(err, SK_ERR_ARG, "group %d has the scale %g and zero %d", g,
                           (double)numbers->groups[g].scale, numbers->groups[g].zero);
    for (int32_t i = 0; i < plan->n_layers; i++)
        if ((size_t)plan->layers[i].node >= graph->n_nodes ||
            (graph->nodes[plan->layers[i].node].op != SK_OP_CONV &&
             graph->nodes[plan->layers[i].node].op != SK_OP_CONV_TRANSPOSE))
            return sk_fail(err, SK_ERR_ARG, "the plan is of another graph");
    return SK_OK;
}

sk_status sk_quantise_rewrite(const sk_graph *graph, const sk_quantise_plan *plan,
                              const sk_quantise_numbers *numbers, sk_graph **out, sk_error *err)
{
    SK_CHECK_ARG(graph && plan && numbers && out, err);
    rewriter r = {.plan = plan, .numbers = numbers, .err = err};
    sk_status status;
    int32_t layer = 0;
    *out = NULL;
    SK_TRY(check_numbers(graph, plan, numbers, err));
    SK_TRY(sk_graph_clone(graph, &r.graph, err));
    r.n_old = r.graph->n_nodes;
    r.old = r.graph->nodes;
    r.graph->nodes = NULL;
    r.graph->n_nodes = r.graph->nodes_capacity = 0;
    r.reads = sk_calloc(r.graph->n_values + 1, sizeof *r.reads);
    r.group = sk_calloc(r.graph->n_values + 1, sizeof *r.group);
    if (!r.reads || !r.group) {
        status = sk_fail_memory(err, r.graph->n_values * sizeof *r.reads);
        goto done;
    }
    for (size_t v = 0; v < r.graph->n_values; v++) {
        r.reads[v] = (sk_value)v;
        r.group[v] = -1;
    }
    for (int32_t i = 0; i < plan->n_values; i++)
        r.group[plan->values[i]] = plan->group_of[i];
    for (int32_t i = 0; i < r.graph->n_inputs; i++)
        if (r.group[r.graph->inputs[i]] >= 0)
            SK_TRY_GOTO(add_pair(&r, r.graph->inputs[i], "input"));
    for (size_t n = 0; n < r.n_old; n++)
        SK_TRY_GOTO(rewrite_node(&r, n, &layer));
    SK_TRY_GOTO(sk_graph_remove_dead(r.graph, err));
    status = sk_graph_verify(r.graph, err);
done:
    sk_free_all(r.old, r.reads, r.group);
    return SK_HAND_OVER(status, r.graph, out, sk_graph_close);
}
