/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/attention.h"

#include "graph/edit.h"

#include <string.h>

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

/* The last two of four axes. */
static bool swaps_last(const sk_node *node)
{
    return node->a.perm[0] == 0 && node->a.perm[1] == 1 && node->a.perm[2] == 3 && node->a.perm[3] == 2;
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
static bool match_scores(const sk_graph *g, const int32_t *uses, sk_attention *m)
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
    if (m->transpose_q < 0 || !swaps_last(&g->nodes[m->transpose_q]) || uses[g->nodes[m->scores].in[0]] != 1)
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
static bool walk_back(const sk_graph *g, const int32_t *uses, sk_value v, sk_moves *c)
{
    *c = (sk_moves){.from = v, .to = v};
    for (int32_t p;
         uses[c->from] == 1 && (p = g->values[c->from].producer) >= 0 && moves_only(&g->nodes[p]);) {
        if (c->n == SK_MAX_MOVES)
            return false;
        memmove(c->node + 1, c->node, (size_t)c->n++ * sizeof *c->node);
        c->node[0] = p;
        c->from = g->nodes[p].in[0];
    }
    return true;
}

/* What becomes of v, read by node `first` for a beginning (-1: by its only reader). */
static bool walk_on(const sk_graph *g, const int32_t *uses, sk_value v, int32_t first, sk_moves *c)
{
    *c = (sk_moves){.from = v, .to = v};
    for (int32_t r = first;; r = -1) {
        for (size_t i = 0; r < 0 && uses[c->to] == 1 && i < g->n_nodes; i++)
            if (moves_only(&g->nodes[i]) && g->nodes[i].in[0] == c->to)
                r = (int32_t)i;
        if (r < 0)
            return true;
        if (c->n == SK_MAX_MOVES)
            return false;
        c->node[c->n++] = r;
        c->to = g->nodes[r].out[0];
    }
}

/* Element `at` of the chain's end is which of its beginning? */
static int64_t origin(const sk_graph *g, const sk_moves *c, int64_t at)
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

/* Numbers that have nothing to do with each other, nor with any size that a file may choose (splitmix64). */
static uint64_t scattered(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9u;
    i = (i ^ (i >> 27)) * 0x94d049bb133111ebu;
    return i ^ (i >> 31);
}

/* Is one end of the chain a map [image][heads * per][area][pixel], and the other the same as [image][area][heads][per][pixel]?
 * All elements are looked at up to some number, beyond it so many, here and there: another order of the axes is wrong nearly
 * everywhere. */
static bool is_areas(const sk_graph *g, const sk_attention *m, const sk_moves *c, bool from_map, int64_t per)
{
    const sk_shape *map = &g->values[from_map ? c->from : c->to].shape,
                   *other = &g->values[from_map ? c->to : c->from].shape;
    const int64_t count = sk_shape_count(map), areas = m->areas;
    if (map->rank != 4 || other->rank != 4 || count != sk_shape_count(other) || count == 0 ||
        map->dim[1] != m->heads * per || other->dim[0] != map->dim[0] * areas || other->dim[1] != m->heads ||
        other->dim[2] != per || other->dim[3] * areas != map->dim[2] * map->dim[3])
        return false;
    const int64_t pixels = other->dim[3], looks = count < (1 << 12) ? count : 1 << 12;
    for (int64_t i = 0; i < looks; i++) {
        const int64_t at = count == looks ? i : (int64_t)(scattered((uint64_t)i) % (uint64_t)count);
        const int64_t p = at % pixels, ch = at / pixels % (m->heads * per),
                      range = at / pixels / (m->heads * per);
        const int64_t in_map = ((range / areas * m->heads * per + ch) * areas + range % areas) * pixels + p;
        if (from_map ? origin(g, c, at) != in_map : origin(g, c, in_map) != at)
            return false;
    }
    return true;
}

/* From the softmax on to the result, and from the split back to the map. */
static bool match_rest(const sk_graph *g, const int32_t *uses, sk_attention *m)
{
    const sk_node *split = &g->nodes[m->split];
    const sk_value v = split->out[2];
    m->transpose_s = reader(g, uses, g->nodes[m->softmax].out[0], SK_OP_TRANSPOSE);
    if (m->transpose_s < 0 || !swaps_last(&g->nodes[m->transpose_s]))
        return false;
    m->product = reader(g, uses, g->nodes[m->transpose_s].out[0], SK_OP_MATMUL);
    if (m->product < 0 || g->nodes[m->product].in[0] != v ||
        g->nodes[m->product].in[1] != g->nodes[m->transpose_s].out[0] ||
        !walk_on(g, uses, g->nodes[m->product].out[0], -1, &m->out) ||
        !walk_back(g, uses, split->in[0], &m->in))
        return false;
    const sk_shape *map = &g->values[m->in.from].shape, *areas = &g->values[split->in[0]].shape;
    if (map->rank != 4 || areas->rank != 4 || map->dim[0] == 0)
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
    return g->values[split->out[1]].shape.dim[2] == m->kd &&
           is_areas(g, m, &m->in, true, 2 * m->kd + m->hd) && is_areas(g, m, &m->out, false, m->hd) &&
           (first < 0 || is_areas(g, m, &m->values, false, m->hd));
}

bool sk_attention_match(const sk_graph *g, const int32_t *uses, size_t softmax, sk_attention *out)
{
    *out = (sk_attention){.softmax = (int32_t)softmax};
    return g->nodes[softmax].op == SK_OP_SOFTMAX && match_scores(g, uses, out) && match_rest(g, uses, out);
}

static void remove_moves(sk_graph *g, const sk_moves *c)
{
    for (int32_t i = 0; i < c->n; i++)
        sk_node_remove(g, (size_t)c->node[i]);
}

void sk_attention_remove(sk_graph *g, const sk_attention *a)
{
    const int32_t gone[] = {a->scale, a->transpose_q, a->scores, a->transpose_s, a->product};
    for (size_t i = 0; i < sizeof gone / sizeof gone[0]; i++)
        if (gone[i] >= 0)
            sk_node_remove(g, (size_t)gone[i]);
    remove_moves(g, &a->in);
    remove_moves(g, &a->out);
    remove_moves(g, &a->values);
}
