/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/cuda/plan.h"

#include "graph/edit.h"

#include <stdio.h>
#include <string.h>

/* The attention of YOLO10 and later, written in the graph as reshapes, transposes, split, scale, matmul, softmax, matmul and
 * reshapes on a 1x1 convolution's output, is one kernel here; YOLO12's areas are ranges of an image's pixels. The convolution's
 * output channels are reordered from [head][q k v] to [q of all heads][k][v], so that v is a range of channels of its own. The
 * depthwise convolution of v whose result is added (its positions) goes into the kernel where nothing else reads v. */

enum { CHAIN = 8 };

/* Reshapes and transposes one after the other, from the first to the last. */
typedef struct chain {
    int32_t n, node[CHAIN];
    sk_value from, to;
} chain;

typedef struct match {
    int32_t conv, split, scale, transpose_q, scores, softmax, transpose_s, product, position;
    chain in, out, values; /* from the convolution; to the result; v as a map, if anything reads it */
    int32_t heads, kd, hd, areas;
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

static bool moves_only(const sk_node *node)
{
    return node->op == SK_OP_RESHAPE || node->op == SK_OP_TRANSPOSE;
}

/* What v was made of by reshapes and transposes that nothing else looks into. */
static bool walk_back(const sk_graph *g, const int32_t *uses, sk_value v, chain *c)
{
    *c = (chain){.from = v, .to = v};
    for (int32_t p;
         uses[c->from] == 1 && (p = g->values[c->from].producer) >= 0 && moves_only(&g->nodes[p]);) {
        if (c->n == CHAIN)
            return false;
        memmove(c->node + 1, c->node, (size_t)c->n++ * sizeof *c->node);
        c->node[0] = p;
        c->from = g->nodes[p].in[0];
    }
    return true;
}

/* What becomes of v, read by node `first` for a beginning (-1: by its only reader). */
static bool walk_on(const sk_graph *g, const int32_t *uses, sk_value v, int32_t first, chain *c)
{
    *c = (chain){.from = v, .to = v};
    for (int32_t r = first;; r = -1) {
        for (size_t i = 0; r < 0 && uses[c->to] == 1 && i < g->n_nodes; i++)
            if (moves_only(&g->nodes[i]) && g->nodes[i].in[0] == c->to)
                r = (int32_t)i;
        if (r < 0)
            return true;
        if (c->n == CHAIN)
            return false;
        c->node[c->n++] = r;
        c->to = g->nodes[r].out[0];
    }
}

/* Element `at` of the chain's end is which of its beginning? */
static int64_t origin(const sk_graph *g, const chain *c, int64_t at)
{
    for (int32_t k = c->n; k-- > 0;) {
        const sk_node *node = &g->nodes[c->node[k]];
        if (node->op != SK_OP_TRANSPOSE)
            continue;
        const sk_shape *in = &g->values[node->in[0]].shape;
        int64_t stride[SK_MAX_RANK], from = 0, s = 1;
        for (int32_t d = in->rank; d-- > 0; s *= in->dim[d])
            stride[d] = s;
        for (int32_t d = in->rank; d-- > 0;) {
            const int64_t n = in->dim[node->a.perm[d]];
            from += at % n * stride[node->a.perm[d]];
            at /= n;
        }
        at = from;
    }
    return at;
}

/* Is one end of the chain a map [image][heads * per][area][pixel], and the other the same as [image][area][heads][per][pixel]?
 * All elements are looked at up to some number, beyond it so many. */
static bool is_areas(const sk_graph *g, const match *m, const chain *c, bool from_map, int64_t per)
{
    const sk_shape *map = &g->values[from_map ? c->from : c->to].shape,
                   *other = &g->values[from_map ? c->to : c->from].shape;
    const int64_t count = sk_shape_count(map), areas = m->areas;
    if (map->rank != 4 || other->rank != 4 || count != sk_shape_count(other) || count == 0 ||
        map->dim[1] != m->heads * per || other->dim[0] != map->dim[0] * areas || other->dim[1] != m->heads ||
        other->dim[2] != per || other->dim[3] * areas != map->dim[2] * map->dim[3])
        return false;
    const int64_t pixels = other->dim[3], looks = count < (1 << 16) ? count : 1 << 16;
    for (int64_t i = 0; i < looks; i++) {
        const int64_t at = count == looks ? i : (int64_t)((uint64_t)i * 2654435761u % (uint64_t)count);
        const int64_t p = at % pixels, ch = at / pixels % (m->heads * per),
                      range = at / pixels / (m->heads * per);
        const int64_t in_map = ((range / areas * m->heads * per + ch) * areas + range % areas) * pixels + p;
        if (from_map ? origin(g, c, at) != in_map : origin(g, c, in_map) != at)
            return false;
    }
    return true;
}

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
    for (size_t i = 0; m->values.n > 0 && i < g->n_nodes; i++) {
        const sk_node *n = &g->nodes[i];
        if (n->op != SK_OP_CONV || n->in[0] != m->values.to)
            continue;
        const sk_window *w = &n->a.conv.window;
        const sk_shape *s = &g->values[n->in[1]].shape;
        const int64_t k = s->dim[2];
        return has_constants(g, n, m->out.to) && uses[m->out.to] == 1 && uses[m->values.to] == 1 &&
                       n->a.conv.act.kind == 0 && n->a.conv.groups == m->heads * m->hd &&
                       s->dim[0] == m->heads * m->hd && s->dim[3] == k && w->stride[0] == 1 &&
                       w->stride[1] == 1 && w->dilation[0] == 1 && w->dilation[1] == 1 && w->same == 0 &&
                       w->pad[0] == k / 2 && w->pad[1] == k / 2 && w->pad[2] == k / 2 && w->pad[3] == k / 2 &&
                       gpu_attention_adds(m->kd, m->hd, (int32_t)k)
                   ? (int32_t)i
                   : -1;
    }
    return -1;
}

/* From the softmax on to the result, and from the split back to the convolution. */
static bool match_rest(const sk_graph *g, const int32_t *uses, match *m)
{
    const sk_node *split = &g->nodes[m->split];
    const sk_value v = split->out[2];
    m->transpose_s = reader(g, uses, g->nodes[m->softmax].out[0], SK_OP_TRANSPOSE);
    if (m->transpose_s < 0 || !swaps_last(&g->nodes[m->transpose_s], 4))
        return false;
    m->product = reader(g, uses, g->nodes[m->transpose_s].out[0], SK_OP_MATMUL);
    if (m->product < 0 || g->nodes[m->product].in[0] != v ||
        g->nodes[m->product].in[1] != g->nodes[m->transpose_s].out[0] ||
        !walk_on(g, uses, g->nodes[m->product].out[0], -1, &m->out) ||
        !walk_back(g, uses, split->in[0], &m->in))
        return false;
    m->conv = producer(g, m->in.from, SK_OP_CONV);
    const sk_shape *map = &g->values[m->in.from].shape, *areas = &g->values[split->in[0]].shape;
    if (m->conv < 0 || m->in.n == 0 || uses[m->in.from] != 1 || map->rank != 4 || areas->rank != 4 ||
        map->dim[0] == 0)
        return false;
    m->heads = (int32_t)areas->dim[1];
    m->areas = (int32_t)(areas->dim[0] / map->dim[0]);
    m->kd = (int32_t)g->values[split->out[0]].shape.dim[2];
    m->hd = (int32_t)g->values[v].shape.dim[2];
    int32_t first = -1; /* who else reads v: what makes a map of it, or nobody */
    for (size_t i = 0; i < g->n_nodes; i++)
        if (moves_only(&g->nodes[i]) && g->nodes[i].in[0] == v)
            first = (int32_t)i;
    if (uses[v] != (first < 0 ? 1 : 2) || (first >= 0 && !walk_on(g, uses, v, first, &m->values)))
        return false;
    if (!gpu_attention_adds(m->kd, m->hd, 0) || g->values[split->out[1]].shape.dim[2] != m->kd ||
        !is_areas(g, m, &m->in, true, 2 * m->kd + m->hd) || !is_areas(g, m, &m->out, false, m->hd) ||
        (first >= 0 && !is_areas(g, m, &m->values, false, m->hd)))
        return false;
    m->position = find_position(g, uses, m);
    return has_constants(g, &g->nodes[m->conv], SK_VALUE_NONE) && g->nodes[m->conv].a.conv.groups == 1;
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

static void remove_node(sk_graph *g, int32_t index)
{
    if (index < 0)
        return;
    g->nodes[index].op = SK_OP_NONE;
    g->nodes[index].n_in = g->nodes[index].n_out = 0;
}

static void remove_chain(sk_graph *g, const chain *c)
{
    for (int32_t i = 0; i < c->n; i++)
        remove_node(g, c->node[i]);
}

/* v as a map: the second part of a split of the convolution's output. */
static sk_status split_off(sk_graph *g, const match *m, sk_error *err)
{
    const sk_value v = m->values.to;
    sk_shape shape = g->values[m->in.from].shape;
    sk_value lead;
    shape.dim[1] = 2 * m->heads * m->kd;
    SK_TRY(sk_graph_add_value(g, "", SK_DTYPE_F32, &shape, &lead, err));
    sk_node *split = &g->nodes[m->split];
    split->in[0] = m->in.from;
    split->n_out = 2;
    split->out[0] = lead;
    split->out[1] = v;
    split->a.split.axis = 1;
    split->a.split.n_sizes = 2;
    split->a.split.sizes[0] = shape.dim[1];
    split->a.split.sizes[1] = m->heads * m->hd;
    g->values[lead].producer = g->values[v].producer = m->split;
    return SK_OK;
}

static sk_status rewrite(gpu_plan *plan, const match *m, sk_error *err)
{
    sk_graph *g = plan->graph;
    const sk_node *position = m->position >= 0 ? &g->nodes[m->position] : NULL;
    const sk_value result = position ? position->out[0] : m->out.to;
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
        (gpu_attention){.node = m->softmax,
                        .qkv = m->in.from,
                        .out = result,
                        .heads = m->heads,
                        .kd = m->kd,
                        .hd = m->hd,
                        .areas = m->areas,
                        .scale = m->factor,
                        .k = position ? (int32_t)g->values[position->in[1]].shape.dim[2] : 0,
                        .weights = position ? position->in[1] : SK_VALUE_NONE,
                        .bias = position && position->n_in > 2 ? position->in[2] : SK_VALUE_NONE};
    if (m->values.n > 0 && !position)
        SK_TRY(split_off(g, m, err));
    else
        remove_node(g, m->split);
    /* the softmax node stands for the whole */
    g->nodes[m->softmax].in[0] = m->in.from;
    g->nodes[m->softmax].out[0] = result;
    g->values[result].producer = m->softmax;
    const int32_t gone[] = {m->scale, m->transpose_q, m->scores, m->transpose_s, m->product, m->position};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        remove_node(g, gone[i]);
    remove_chain(g, &m->in);
    remove_chain(g, &m->out);
    remove_chain(g, &m->values);
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
        match m = {.softmax = (int32_t)i, .position = -1};
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
