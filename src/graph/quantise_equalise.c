/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/edit.h"
#include "graph/quantise_plan.h"

#include <math.h>
#include <string.h>

/* Channels of a value, and values that are joined, share a scale, so those that reach least are rounded coarsely. Where nothing but
 * convolutions, ReLU and moving lies between, their maker can give them larger and their readers weigh them less: the network computes
 * the same. By powers of two, so that it is the same bits. */

#define MOST_DEEP 8 /* joined, pooled and resized one after the other */
#define MOST_STEPS                                                                                           \
    20000 /* looking for readers and makers of one value; a network that needs more stays as it is */

typedef struct scaling {
    sk_graph *graph;
    const double *factors; /* of each channel of the value that is enlarged */
    bool apply;            /* else: may it be? */
    int *left;             /* steps */
    sk_error *err;
} scaling;

/* A copy of f32 weights in place of input `slot`: in every `stride` of them, from `first` on, `each` in a row times a factor, `count`
 * factors one after the other; or divided by them. */
static sk_status scale_constant(sk_graph *graph, sk_node *node, int slot, int64_t first, int64_t each,
                                int64_t count, int64_t stride, const double *factors, bool divide,
                                sk_error *err)
{
    sk_tensor t = sk_value_tensor(graph, node->in[slot]);
    const int64_t n = sk_shape_count(&t.shape);
    float *copy = sk_malloc((size_t)n * sizeof *copy);
    if (!copy)
        return sk_fail_memory(err, (size_t)n * sizeof *copy);
    memcpy(copy, t.data, (size_t)n * sizeof *copy);
    for (int64_t at = 0; at < n; at += stride)
        for (int64_t i = 0; i < count * each; i++) {
            const double f = factors[i / each];
            float *w = &copy[at + first + i];
            *w = (float)((double)*w * (divide ? 1 / f : f));
        }
    sk_status status = sk_graph_add_copy(graph, SK_DTYPE_F32, &t.shape, copy, &node->in[slot], err);
    sk_free(copy);
    return status;
}

static bool is_plain(const sk_graph *graph, sk_value v, int rank)
{
    return sk_value_is_constant(graph, v) && graph->values[v].dtype == SK_DTYPE_F32 &&
           graph->values[v].shape.rank == rank;
}

/* A convolution whose output grows as its weights do. */
static bool is_homogeneous(const sk_graph *graph, const sk_node *node)
{
    const int act = (int)node->a.conv.act.kind;
    return node->op == SK_OP_CONV && !(node->flags & SK_NODE_TAIL) && node->n_in <= 3 &&
           is_plain(graph, node->in[1], 4) &&
           (node->n_in < 3 || node->in[2] == SK_VALUE_NONE || is_plain(graph, node->in[2], 1)) &&
           (act == 0 || act == SK_UNARY_RELU || act == SK_UNARY_LEAKY);
}

static bool is_moved(const sk_node *node)
{
    return node->op == SK_OP_MAX_POOL || (node->op == SK_OP_RESIZE && node->a.resize.mode != SK_RESIZE_CUBIC);
}

/* Channels of a map; 0: not known. */
static int64_t channels_of(const sk_graph *graph, sk_value v, int deep, int *left)
{
    int32_t index = graph->values[v].producer;
    const sk_node *node = index >= 0 ? &graph->nodes[index] : NULL;
    if (!node || deep == MOST_DEEP || --*left < 0)
        return 0;
    if (node->op == SK_OP_CONV)
        return graph->values[node->in[1]].shape.rank == 4 ? graph->values[node->in[1]].shape.dim[0] : 0;
    if (is_moved(node))
        return channels_of(graph, node->in[0], deep + 1, left);
    int64_t sum = 0;
    for (int i = 0; node->op == SK_OP_CONCAT && i < node->n_in; i++) {
        int64_t n = channels_of(graph, node->in[i], deep + 1, left);
        if (n == 0)
            return 0;
        sum += n;
    }
    return sum;
}

static bool reads_it(const sk_node *node, sk_value v)
{
    bool any = false;
    for (int i = 0; i < node->n_in; i++)
        any = any || node->in[i] == v;
    return any;
}

/* Everyone who reads channels `first` and so many of v takes the factor back; *may: all of them can. */
static sk_status take_back(const scaling *s, sk_value v, int64_t first, int64_t count, int deep, bool *may)
{
    sk_graph *g = s->graph;
    *may = *may && --*s->left > 0;
    for (int i = 0; i < g->n_outputs; i++)
        *may = *may && g->outputs[i] != v;
    for (size_t n = 0; n < g->n_nodes && *may; n++) {
        sk_node *node = &g->nodes[n];
        int64_t before = 0;
        for (int i = 0; i < node->n_in && *may; i++) {
            const bool reads = node->in[i] == v;
            if (reads && (deep == MOST_DEEP || (node->flags & SK_NODE_TAIL))) {
                *may = false;
            } else if (reads && node->op == SK_OP_CONV && i == 0 && is_plain(g, node->in[1], 4) &&
                       node->a.conv.groups == 1) {
                const int64_t *d = g->values[node->in[1]].shape.dim, taps = d[2] * d[3];
                *may = first + count <= d[1];
                if (*may && s->apply)
                    SK_TRY(scale_constant(g, node, 1, first * taps, taps, count, d[1] * taps, s->factors,
                                          true, s->err));
            } else if (reads && is_moved(node) && i == 0) {
                SK_TRY(take_back(s, node->out[0], first, count, deep + 1, may));
            } else if (reads && node->op == SK_OP_CONCAT && node->a.axis == 1) {
                SK_TRY(take_back(s, node->out[0], before + first, count, deep + 1, may));
            } else if (reads) {
                *may = false;
            }
            if (node->op == SK_OP_CONCAT && *may && i + 1 < node->n_in && reads_it(node, v)) {
                int64_t c = channels_of(g, node->in[i], 0, s->left);
                before += c;
                *may = c > 0;
            }
        }
    }
    return SK_OK;
}

/* The convolution that a joined value comes from, unchanged but for moving; null: there is none. */
static sk_node *source_of(const sk_graph *graph, sk_value v)
{
    for (int deep = 0; deep < MOST_DEEP; deep++) {
        int32_t index = graph->values[v].producer;
        if (index < 0)
            return NULL;
        sk_node *node = &graph->nodes[index];
        if (!is_moved(node))
            return is_homogeneous(graph, node) ? node : NULL;
        v = node->in[0];
    }
    return NULL;
}

/* Each channel of what the convolution makes by its factor. */
static sk_status enlarge(sk_graph *graph, sk_node *conv, const double *factors, bool *done, sk_error *err)
{
    const sk_value v = conv->out[0];
    const int64_t out = graph->values[conv->in[1]].shape.dim[0],
                  all = sk_shape_count(&graph->values[conv->in[1]].shape);
    int left = MOST_STEPS;
    scaling s = {.graph = graph, .factors = factors, .left = &left, .err = err};
    *done = true;
    SK_TRY(take_back(&s, v, 0, out, 0, done));
    if (!*done)
        return SK_OK;
    s.apply = true;
    left = MOST_STEPS; /* the same steps again */
    SK_TRY(take_back(&s, v, 0, out, 0, done));
    SK_TRY(scale_constant(graph, conv, 1, 0, all / out, out, all, factors, false, err));
    return conv->n_in > 2 && conv->in[2] != SK_VALUE_NONE
               ? scale_constant(graph, conv, 2, 0, 1, out, out, factors, false, err)
               : SK_OK;
}

static int64_t made_by(const sk_graph *graph, const sk_node *conv)
{
    return graph->values[conv->in[1]].shape.dim[0];
}

static double power_of_two(double wanted)
{
    return exp2(nearbyint(log2(wanted)));
}

/* All channels of what it makes alike. */
static sk_status enlarge_all(sk_graph *graph, sk_node *conv, double factor, bool *done, sk_error *err)
{
    const int64_t n = made_by(graph, conv);
    double *factors = sk_malloc((size_t)n * sizeof *factors);
    if (!factors)
        return sk_fail_memory(err, (size_t)n * sizeof *factors);
    for (int64_t c = 0; c < n; c++)
        factors[c] = factor;
    const sk_status status = enlarge(graph, conv, factors, done, err);
    sk_free(factors);
    return status;
}

/* Half of the way, in powers, to where all channels reach alike: all of it would make steps of weights, which the channels share at
 * the reader, coarser than they make those of the value finer. */
static sk_status equalise_channels(sk_graph *graph, sk_node *conv, const float *reach, bool *done,
                                   sk_error *err)
{
    const int64_t n = made_by(graph, conv);
    float most = 0;
    bool any = false;
    double *factors = sk_malloc((size_t)n * sizeof *factors);
    if (!factors)
        return sk_fail_memory(err, (size_t)n * sizeof *factors);
    for (int64_t c = 0; c < n; c++)
        most = fmaxf(most, reach[c]);
    for (int64_t c = 0; c < n; c++) {
        const double ratio = reach[c] > 0 ? (double)most / (double)reach[c] : 1;
        factors[c] = ratio >= 2 && ratio < 1e6 ? power_of_two(sqrt(ratio)) : 1;
        any = any || factors[c] > 1;
    }
    *done = any;
    const sk_status status = any ? enlarge(graph, conv, factors, done, err) : SK_OK;
    sk_free(factors);
    return status;
}

sk_status sk_quantise_equalise(sk_graph *graph, float *reach, const float *const *channels, bool *changed,
                               sk_error *err)
{
    SK_CHECK_ARG(graph && reach && changed, err);
    *changed = false;
    for (size_t n = 0; channels && n < graph->n_nodes; n++) {
        sk_node *conv = &graph->nodes[n];
        bool done = false;
        if (conv->n_out < 1 || !channels[conv->out[0]] || !is_homogeneous(graph, conv) ||
            made_by(graph, conv) < 1)
            continue;
        SK_TRY(equalise_channels(graph, conv, channels[conv->out[0]], &done, err));
        *changed = *changed || done;
    }
    for (size_t n = 0; n < graph->n_nodes; n++) {
        const sk_node *node = &graph->nodes[n];
        float most = 0;
        if (node->op != SK_OP_CONCAT || node->a.axis != 1)
            continue;
        for (int i = 0; i < node->n_in; i++) {
            const sk_node *conv = source_of(graph, node->in[i]);
            most = conv ? fmaxf(most, reach[conv->out[0]]) : most;
        }
        for (int i = 0; i < node->n_in; i++) {
            sk_node *conv = source_of(graph, node->in[i]);
            bool done = false;
            if (!conv)
                continue;
            const float own = reach[conv->out[0]];
            if (!(own > 0) || !isfinite(most) || most / own < 1.5f || most / own > 1e6f)
                continue;
            const double factor = power_of_two((double)most / (double)own);
            SK_TRY(enlarge_all(graph, conv, factor, &done, err));
            *changed = *changed || done;
            reach[conv->out[0]] = done ? (float)((double)own * factor) : own;
        }
    }
    return *changed ? sk_graph_verify(graph, err) : SK_OK;
}
