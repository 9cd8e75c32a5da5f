/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/attention.h"
#include "graph/edit.h"

#include <stdio.h>
#include <string.h>

/* The attention of YOLO10 and later on a 1x1 convolution's output is one kernel here. The convolution's output channels are reordered
 * from [head][q k v] to [q of all heads][k][v], so that v is a range of channels of its own. The depthwise convolution of v whose
 * result is added (its positions) goes into the kernel where nothing else reads v. */

typedef struct match {
    sk_attention at;
    int32_t conv, position; /* the convolution whose output it is; that of v, or -1 */
} match;

/* A convolution whose weights may be looked at, and which adds nothing but `residual`. */
static bool has_constants(const sk_graph *g, const sk_node *conv, sk_value residual)
{
    return (conv->n_in < 4 ? SK_VALUE_NONE : conv->in[3]) == residual &&
           sk_value_is_constant(g, conv->in[1]) &&
           (conv->n_in < 3 || conv->in[2] == SK_VALUE_NONE || sk_value_is_constant(g, conv->in[2]));
}

/* The convolution of v that adds to the result and is its only reader, as v's; -1: none. */
static int32_t find_position(const sk_graph *g, const int32_t *uses, const match *m)
{
    for (size_t i = 0; m->at.values.n > 0 && i < g->n_nodes; i++) {
        const sk_node *n = &g->nodes[i];
        if (n->op != SK_OP_CONV || n->in[0] != m->at.values.to)
            continue;
        const sk_window *w = &n->a.conv.window;
        const sk_shape *s = &g->values[n->in[1]].shape;
        const int64_t k = s->dim[2];
        return has_constants(g, n, m->at.out.to) && uses[m->at.out.to] == 1 && uses[m->at.values.to] == 1 &&
                       n->a.conv.act.kind == 0 && n->a.conv.groups == m->at.heads * m->at.hd &&
                       s->dim[0] == m->at.heads * m->at.hd && s->dim[3] == k && w->stride[0] == 1 &&
                       w->stride[1] == 1 && w->dilation[0] == 1 && w->dilation[1] == 1 && w->same == 0 &&
                       w->pad[0] == k / 2 && w->pad[1] == k / 2 && w->pad[2] == k / 2 && w->pad[3] == k / 2 &&
                       gpu_attention_adds(m->at.kd, m->at.hd, (int32_t)k)
                   ? (int32_t)i
                   : -1;
    }
    return -1;
}

static bool match_convolutions(const sk_graph *g, const int32_t *uses, match *m)
{
    const sk_value map = m->at.in.from;
    m->conv = g->values[map].producer;
    if (m->conv < 0 || g->nodes[m->conv].op != SK_OP_CONV || uses[map] != 1 ||
        !gpu_attention_adds(m->at.kd, m->at.hd, 0))
        return false;
    m->position = find_position(g, uses, m);
    return has_constants(g, &g->nodes[m->conv], SK_VALUE_NONE) && g->nodes[m->conv].a.conv.groups == 1;
}

/* A constant with its first axis reordered from [head][q k v] to [q][k][v]. */
static sk_status reorder(sk_graph *g, const match *m, sk_value v, sk_value *out, sk_error *err)
{
    const sk_tensor t = sk_value_tensor(g, v);
    const int32_t per = 2 * m->at.kd + m->at.hd;
    const size_t row = sk_tensor_bytes(&t) / (size_t)t.shape.dim[0];
    sk_blob *blob = NULL;
    SK_TRY(sk_blob_alloc(sk_tensor_bytes(&t), &blob, err));
    uint8_t *to = sk_blob_data(blob);
    for (int32_t h = 0; h < m->at.heads; h++)
        for (int32_t c = 0; c < per; c++) {
            const int32_t part = c < m->at.kd ? 0 : c < 2 * m->at.kd ? 1 : 2;
            const int32_t at = part < 2 ? part * m->at.heads * m->at.kd + h * m->at.kd + c % m->at.kd
                                        : 2 * m->at.heads * m->at.kd + h * m->at.hd + c - 2 * m->at.kd;
            memcpy(to + (size_t)at * row, (const uint8_t *)t.data + (size_t)(h * per + c) * row, row);
        }
    sk_status status = sk_graph_add_constant(g, "", t.dtype, &t.shape, blob, 0, out, err);
    sk_blob_unref(&blob);
    return status;
}

/* v as a map: the second part of a split of the convolution's output. */
static sk_status split_off(sk_graph *g, const match *m, sk_error *err)
{
    const sk_value v = m->at.values.to;
    sk_shape shape = g->values[m->at.in.from].shape;
    sk_value lead;
    shape.dim[1] = 2 * m->at.heads * m->at.kd;
    SK_TRY(sk_graph_add_value(g, "", SK_DTYPE_F32, &shape, &lead, err));
    sk_node *split = &g->nodes[m->at.split];
    split->in[0] = m->at.in.from;
    split->n_out = 2;
    split->out[0] = lead;
    split->out[1] = v;
    split->a.split.axis = 1;
    split->a.split.n_sizes = 2;
    split->a.split.sizes[0] = shape.dim[1];
    split->a.split.sizes[1] = m->at.heads * m->at.hd;
    g->values[lead].producer = g->values[v].producer = m->at.split;
    return SK_OK;
}

static sk_status rewrite(gpu_plan *plan, const match *m, sk_error *err)
{
    sk_graph *g = plan->graph;
    const sk_node *position = m->position >= 0 ? &g->nodes[m->position] : NULL;
    const sk_value result = position ? position->out[0] : m->at.out.to;
    sk_value weights, bias = SK_VALUE_NONE;
    SK_TRY(reorder(g, m, g->nodes[m->conv].in[1], &weights, err));
    if (g->nodes[m->conv].n_in > 2 && g->nodes[m->conv].in[2] != SK_VALUE_NONE)
        SK_TRY(reorder(g, m, g->nodes[m->conv].in[2], &bias, err));
    sk_node *conv = &g->nodes[m->conv];
    conv->in[1] = weights;
    if (conv->n_in > 2)
        conv->in[2] = bias;
    SK_TRY(sk_array_reserve((void **)&plan->attention, &plan->attention_capacity, plan->n_attention + 1,
                            sizeof plan->attention[0], 1024, err));
    plan->attention[plan->n_attention++] =
        (gpu_attention){.node = m->at.softmax,
                        .qkv = m->at.in.from,
                        .out = result,
                        .heads = m->at.heads,
                        .kd = m->at.kd,
                        .hd = m->at.hd,
                        .areas = m->at.areas,
                        .scale = m->at.factor,
                        .k = position ? (int32_t)g->values[position->in[1]].shape.dim[2] : 0,
                        .weights = position ? position->in[1] : SK_VALUE_NONE,
                        .bias = position && position->n_in > 2 ? position->in[2] : SK_VALUE_NONE};
    sk_attention_remove(g, &m->at);
    if (m->at.values.n > 0 && !position)
        SK_TRY(split_off(g, m, err));
    else
        sk_node_remove(g, (size_t)m->at.split);
    if (m->position >= 0)
        sk_node_remove(g, (size_t)m->position);
    /* the softmax node stands for the whole */
    g->nodes[m->at.softmax].in[0] = m->at.in.from;
    g->nodes[m->at.softmax].out[0] = result;
    g->values[result].producer = m->at.softmax;
    return SK_OK;
}

sk_status gpu_find_attention(gpu_plan *plan, sk_error *err)
{
    sk_graph *g = plan->graph;
    sk_status status = SK_OK;
    for (size_t i = 0;
         gpu_is_narrow(plan->type) && !(plan->without & GPU_WITHOUT_ATTENTION) && i < g->n_nodes; i++) {
        if (g->nodes[i].op != SK_OP_SOFTMAX)
            continue;
        int32_t *uses = sk_graph_count_uses(g);
        if (!uses)
            return sk_fail_memory(err, g->n_values * sizeof *uses);
        match m;
        if (sk_attention_match(g, uses, i, &m.at) && match_convolutions(g, uses, &m))
            status = rewrite(plan, &m, err);
        sk_free(uses);
        if (status != SK_OK)
            return status;
    }
    return SK_OK;
}

const gpu_attention *gpu_attention_of(const gpu_plan *plan, size_t node)
{
    for (size_t i = 0; i < plan->n_attention; i++)
        if ((size_t)plan->attention[i].node == node)
            return &plan->attention[i];
    return NULL;
}

bool gpu_attention_adds(int32_t kd, int32_t hd, int32_t k)
{
    return (kd == 32 && hd == 32 && (k == 0 || k == 7)) ||
           (((kd == 32 && hd == 64) || (kd == 48 && hd == 96)) && (k == 0 || k == 3));
}

sk_status gpu_build_attention(gpu_plan *plan, const gpu_attention *t, sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, t->qkv);
    const double pixels = (double)(s->dim[2] * s->dim[3] / t->areas);
    gpu_step *step;
    gpu_ref weights = {.buffer = GPU_NO_BUFFER}, bias = weights;
    SK_TRY(gpu_need_map(plan, t->qkv, err));
    SK_TRY(gpu_make_kept(plan, t->out, err));
    if (t->k > 0) {
        SK_TRY(gpu_add_depthwise_weights(plan, t->weights, &weights, err));
        SK_TRY(gpu_add_bias(plan, t->bias, (int64_t)t->heads * t->hd, &bias, err));
    }
    SK_TRY(gpu_add_step(plan, GPU_ATTENTION, NULL, &step, err));
    step->args.attention =
        (gpu_attention_args){.n = (int32_t)s->dim[0] * t->areas,
                             .pixels = (int32_t)(s->dim[2] * s->dim[3]) / t->areas,
                             .heads = t->heads,
                             .kd = t->kd,
                             .hd = t->hd,
                             .ldi = gpu_map_pitch(plan, t->qkv),
                             .ldo = gpu_kept_pitch(plan, t->out),
                             .areas = t->areas,
                             .h = (int32_t)s->dim[2],
                             .w = (int32_t)s->dim[3],
                             .k = t->k,
                             .scale = t->scale,
                             .type = plan->type,
                             .bytes = gpu_bytes_to(plan, t->out, SK_VALUE_NONE, GPU_ACT_NONE, false)};
    step->refs[0] = gpu_kept_ref(plan, t->out);
    step->refs[1] = gpu_map_ref(plan, t->qkv);
    step->refs[2] = weights;
    step->refs[3] = bias;
    step->n_refs = 4;
    step->flops = 2.0 * (double)s->dim[0] * t->areas * t->heads * pixels *
                  (pixels * (t->kd + t->hd) + t->k * t->k * t->hd);
    snprintf(step->kernel, sizeof step->kernel, t->k > 0 ? "attention + %dx%d" : "attention", t->k, t->k);
    snprintf(step->shape, sizeof step->shape, "%d heads, %lldx%lld%s", t->heads, (long long)s->dim[2],
             (long long)s->dim[3], t->areas > 1 ? ", areas" : "");
    return SK_OK;
}
