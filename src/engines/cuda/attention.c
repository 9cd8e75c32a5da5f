/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/edit.h"

#include <stdio.h>
#include <string.h>

/* The attention of YOLO11 and later, written in the graph as reshape, split, scale, transpose, matmul, softmax, transpose,
 * matmul, reshape on a 1x1 convolution's output, is one kernel here. The convolution's output channels are reordered from
 * [head][q k v] to [q of all heads][k][v], so that v is a range of channels of its own for whoever else reads it. */

typedef struct match {
    int32_t conv, reshape, split, scale, transpose_q, scores, softmax, transpose_s, product, out, values;
    sk_value qkv;
    int32_t heads, kd, hd;
    float factor;
} match;

static int32_t producer(const sk_graph *g, sk_value v, sk_op op)
{
    const int32_t p = v >= 0 ? g->values[v].producer : -1;
    return p >= 0 && g->nodes[p].op == op ? p : -1;
}

/* The only reader of v, when it is of this kind. */
static int32_t reader(const sk_graph *g, const int32_t *uses, sk_value v, sk_op op)
{
    if (uses[v] != 1)
        return -1;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v)
                return g->nodes[i].op == op ? (int32_t)i : -1;
    return -1;
}

static bool swaps_last(const sk_node *node, int32_t rank)
{
    return rank == 4 && node->a.perm[0] == 0 && node->a.perm[1] == 1 && node->a.perm[2] == 3 &&
           node->a.perm[3] == 2;
}

static bool is_scalar(const sk_graph *g, sk_value v, float *out)
{
    if (!sk_value_is_constant(g, v) || sk_shape_count(&g->values[v].shape) != 1)
        return false;
    const sk_tensor t = sk_value_tensor(g, v);
    *out = (float)sk_tensor_at(&t, 0);
    return true;
}

/* From the softmax back to q and k. */
static bool match_scores(const sk_graph *g, const int32_t *uses, match *m)
{
    const sk_node *softmax = &g->nodes[m->softmax];
    const sk_shape *s = &g->values[softmax->in[0]].shape;
    if (s->rank != 4 || (softmax->a.axis != 3 && softmax->a.axis != -1))
        return false;
    sk_value scores = softmax->in[0];
    m->factor = 1.0f;
    m->scale = producer(g, scores, SK_OP_BINARY);
    if (m->scale >= 0) { /* scaled after the product */
        const sk_node *n = &g->nodes[m->scale];
        if (n->a.binary.kind != SK_BINARY_MUL || !is_scalar(g, n->in[1], &m->factor) || uses[n->in[0]] != 1)
            return false;
        scores = n->in[0];
    }
    m->scores = producer(g, scores, SK_OP_MATMUL);
    if (m->scores < 0 || uses[softmax->in[0]] != 1)
        return false;
    m->transpose_q = producer(g, g->nodes[m->scores].in[0], SK_OP_TRANSPOSE);
    if (m->transpose_q < 0 || !swaps_last(&g->nodes[m->transpose_q], 4) ||
        uses[g->nodes[m->scores].in[0]] != 1)
        return false;
    sk_value q = g->nodes[m->transpose_q].in[0];
    const int32_t before = producer(g, q, SK_OP_BINARY);
    if (before >= 0) {
        const sk_node *n = &g->nodes[before];
        if (m->scale >= 0 || n->a.binary.kind != SK_BINARY_MUL || !is_scalar(g, n->in[1], &m->factor) ||
            uses[q] != 1)
            return false;
        m->scale = before;
        q = n->in[0];
    }
    m->split = producer(g, q, SK_OP_SPLIT);
    if (m->split < 0)
        return false;
    const sk_node *split = &g->nodes[m->split];
    return split->n_out == 3 && (split->a.split.axis == 2 || split->a.split.axis == -2) &&
           split->out[0] == q && uses[q] == 1 && g->nodes[m->scores].in[1] == split->out[1] &&
           uses[split->out[1]] == 1;
}

/* From the softmax on to the result, and from the split back to the convolution. */
static bool match_rest(const sk_graph *g, const int32_t *uses, match *m)
{
    const sk_node *split = &g->nodes[m->split];
    m->transpose_s = reader(g, uses, g->nodes[m->softmax].out[0], SK_OP_TRANSPOSE);
    if (m->transpose_s < 0 || !swaps_last(&g->nodes[m->transpose_s], 4))
        return false;
    m->product = reader(g, uses, g->nodes[m->transpose_s].out[0], SK_OP_MATMUL);
    if (m->product < 0 || g->nodes[m->product].in[0] != split->out[2] ||
        g->nodes[m->product].in[1] != g->nodes[m->transpose_s].out[0])
        return false;
    m->out = reader(g, uses, g->nodes[m->product].out[0], SK_OP_RESHAPE);
    m->reshape = producer(g, split->in[0], SK_OP_RESHAPE);
    if (m->out < 0 || m->reshape < 0 || uses[split->in[0]] != 1)
        return false;
    m->qkv = g->nodes[m->reshape].in[0];
    m->conv = producer(g, m->qkv, SK_OP_CONV);
    if (m->conv < 0 || uses[m->qkv] != 1)
        return false;
    const sk_node *conv = &g->nodes[m->conv];
    const sk_shape *map = &g->values[m->qkv].shape, *heads = &g->values[split->in[0]].shape,
                   *out = &g->values[g->nodes[m->out].out[0]].shape;
    m->heads = (int32_t)heads->dim[1];
    m->kd = (int32_t)g->values[split->out[0]].shape.dim[2];
    m->hd = (int32_t)g->values[split->out[2]].shape.dim[2];
    m->values = -1; /* who else reads v: a reshape back to a map, or nobody */
    for (size_t i = 0; uses[split->out[2]] == 2 && i < g->n_nodes; i++)
        if (g->nodes[i].op == SK_OP_RESHAPE && g->nodes[i].in[0] == split->out[2])
            m->values = (int32_t)i;
    const int32_t others = uses[split->out[2]] - 1;
    if (others > 1 || (others == 1 && m->values < 0))
        return false;
    return map->rank == 4 && heads->rank == 4 && out->rank == 4 &&
           heads->dim[3] == map->dim[2] * map->dim[3] && m->kd == 32 && m->hd == 64 &&
           (int32_t)map->dim[1] == m->heads * (2 * m->kd + m->hd) && out->dim[1] == m->heads * m->hd &&
           out->dim[2] == map->dim[2] && out->dim[3] == map->dim[3] &&
           (m->values < 0 || sk_shape_equal(out, &g->values[g->nodes[m->values].out[0]].shape)) &&
           (conv->n_in < 4 || conv->in[3] == SK_VALUE_NONE) && conv->a.conv.groups == 1 &&
           sk_value_is_constant(g, conv->in[1]) &&
           (conv->n_in < 3 || conv->in[2] == SK_VALUE_NONE || sk_value_is_constant(g, conv->in[2]));
}

/* A constant with its first axis reordered from [head][q k v] to [q][k][v]. */
static sk_status reorder(sk_graph *g, const match *m, sk_value v, sk_value *out, sk_error *err)
{
    const sk_tensor t = sk_value_tensor(g, v);
    const int32_t per = 2 * m->kd + m->hd;
    const size_t row = sk_tensor_bytes(&t) / (size_t)t.shape.dim[0];
    sk_blob *blob = NULL;
    SK_TRY(sk_blob_alloc(sk_tensor_bytes(&t), &blob, err));
    uint8_t *to = sk_blob_data(blob);
    for (int32_t h = 0; h < m->heads; h++)
        for (int32_t c = 0; c < per; c++) {
            const int32_t part = c < m->kd ? 0 : c < 2 * m->kd ? 1 : 2;
            const int32_t at = part < 2 ? part * m->heads * m->kd + h * m->kd + c % m->kd
                                        : 2 * m->heads * m->kd + h * m->hd + c - 2 * m->kd;
            memcpy(to + (size_t)at * row, (const uint8_t *)t.data + (size_t)(h * per + c) * row, row);
        }
    sk_status status = sk_graph_add_constant(g, "", t.dtype, &t.shape, blob, 0, out, err);
    sk_blob_unref(&blob);
    return status;
}

static sk_status rewrite(gpu_plan *plan, const match *m, sk_error *err)
{
    sk_graph *g = plan->graph;
    sk_value weights, bias = SK_VALUE_NONE, lead;
    SK_TRY(reorder(g, m, g->nodes[m->conv].in[1], &weights, err));
    if (g->nodes[m->conv].n_in > 2 && g->nodes[m->conv].in[2] != SK_VALUE_NONE)
        SK_TRY(reorder(g, m, g->nodes[m->conv].in[2], &bias, err));
    sk_node *conv = &g->nodes[m->conv];
    conv->in[1] = weights;
    if (conv->n_in > 2)
        conv->in[2] = bias;
    SK_TRY(sk_array_reserve((void **)&plan->attention, &plan->attention_capacity, plan->n_attention + 1,
                            sizeof plan->attention[0], 1024, err));
    plan->attention[plan->n_attention++] = (gpu_attention){.node = m->softmax,
                                                           .qkv = m->qkv,
                                                           .out = g->nodes[m->out].out[0],
                                                           .heads = m->heads,
                                                           .kd = m->kd,
                                                           .hd = m->hd,
                                                           .scale = m->factor};
    const sk_value result = g->nodes[m->out].out[0];
    if (m->values >= 0) { /* v as a map: the second part of a split of the convolution's output */
        sk_shape shape = g->values[m->qkv].shape;
        shape.dim[1] = 2 * m->heads * m->kd;
        SK_TRY(sk_graph_add_value(g, "", SK_DTYPE_F32, &shape, &lead, err));
        sk_node *split = &g->nodes[m->split];
        const sk_value v = g->nodes[m->values].out[0];
        split->in[0] = m->qkv;
        split->n_out = 2;
        split->out[0] = lead;
        split->out[1] = v;
        split->a.split.axis = 1;
        split->a.split.n_sizes = 2;
        split->a.split.sizes[0] = shape.dim[1];
        split->a.split.sizes[1] = m->heads * m->hd;
        g->values[lead].producer = g->values[v].producer = m->split;
    } else {
        g->nodes[m->split].op = SK_OP_NONE;
        g->nodes[m->split].n_in = g->nodes[m->split].n_out = 0;
    }
    /* the softmax node stands for the whole */
    g->nodes[m->softmax].in[0] = m->qkv;
    g->nodes[m->softmax].out[0] = result;
    g->values[result].producer = m->softmax;
    const int32_t gone[] = {m->reshape,     m->scale,   m->transpose_q, m->scores,
                            m->transpose_s, m->product, m->out,         m->values};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        if (gone[i] >= 0) {
            g->nodes[gone[i]].op = SK_OP_NONE;
            g->nodes[gone[i]].n_in = g->nodes[gone[i]].n_out = 0;
        }
    return SK_OK;
}

sk_status gpu_find_attention(gpu_plan *plan, sk_error *err)
{
    sk_graph *g = plan->graph;
    sk_status status = SK_OK;
    for (size_t i = 0; plan->type == GPU_F16 && !(plan->without & GPU_WITHOUT_ATTENTION) && i < g->n_nodes;
         i++) {
        if (g->nodes[i].op != SK_OP_SOFTMAX)
            continue;
        int32_t *uses = sk_graph_count_uses(g);
        if (!uses)
            return sk_fail_memory(err, g->n_values * sizeof *uses);
        match m = {.softmax = (int32_t)i};
        if (match_scores(g, uses, &m) && match_rest(g, uses, &m))
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

sk_status gpu_build_attention(gpu_plan *plan, const gpu_attention *t, sk_error *err)
{
    const sk_shape *s = gpu_shape(plan, t->qkv);
    gpu_step *step;
    SK_TRY(gpu_need_map(plan, t->qkv, err));
    SK_TRY(gpu_make_map(plan, t->out, err));
    SK_TRY(gpu_add_step(plan, GPU_ATTENTION, NULL, &step, err));
    step->args.attention = (gpu_attention_args){.n = (int32_t)s->dim[0],
                                                .pixels = (int32_t)(s->dim[2] * s->dim[3]),
                                                .heads = t->heads,
                                                .kd = t->kd,
                                                .hd = t->hd,
                                                .ldi = gpu_map_pitch(plan, t->qkv),
                                                .ldo = gpu_map_pitch(plan, t->out),
                                                .scale = t->scale};
    step->refs[0] = gpu_map_ref(plan, t->out);
    step->refs[1] = gpu_map_ref(plan, t->qkv);
    step->n_refs = 2;
    step->flops = 2.0 * (double)s->dim[0] * t->heads * (double)(s->dim[2] * s->dim[3]) *
                  (double)(s->dim[2] * s->dim[3]) * (t->kd + t->hd);
    snprintf(step->kernel, sizeof step->kernel, "attention");
    snprintf(step->shape, sizeof step->shape, "%d heads, %lldx%lld", t->heads, (long long)s->dim[2],
             (long long)s->dim[3]);
    return SK_OK;
}
