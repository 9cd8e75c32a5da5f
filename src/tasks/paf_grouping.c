/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/paf_grouping.h"

#include "base/memory.h"
#include "base/object.h"
#include "tasks/assignment.h"
#include "tasks/order.h"
#include "tasks/peak_formula.h"

#include <math.h>
#include <string.h>

/* A peak that belongs to an instance; kept in the order in which peaks joined, which decides who wins a
 * node. */
typedef struct member {
    int32_t node, peak, instance;
} member;

typedef struct match {
    int32_t source, destination; /* indices into the peaks */
    float score;
} match;

struct sk_paf_grouping {
    sk_paf_settings settings;
    int32_t n_nodes, n_edges, n_walk;
    int32_t (*edges)[2];
    int32_t *walk;      /* [n_walk] edges from the root outwards */
    int32_t cap;        /* peaks a node */
    int32_t *slots;     /* [n_nodes][cap] peak indices of each node */
    int32_t *n_slots;   /* [n_nodes] */
    double *cost;       /* [cap][cap] */
    int32_t *column_of; /* [cap] */
    sk_assignment *assignment;
    match *matches;     /* [n_edges][cap] */
    int32_t *n_matches; /* [n_edges] */
    member *members;    /* [n_nodes * cap] */
    int32_t n_members;
    int32_t *member_of; /* [n_nodes * cap] by node and slot: index into members, -1 none */
    int32_t *slot_of;   /* scratch of the ranking, [most] */
    float *values;
    uint64_t *keys;
    int32_t most;      /* peaks a call may rank */
    int32_t *index_of; /* [capacity + 1] instance id to row */
    sk_paf_instance *instances;
    int32_t *peak_of; /* [capacity][n_nodes] */
    uint8_t *seen;    /* [2][n_nodes] */
};

sk_paf_settings sk_paf_settings_defaults(void)
{
    return (sk_paf_settings){.size = sizeof(sk_paf_settings),
                             .n_points = 10,
                             .max_edge_length_ratio = 0.25f,
                             .dist_penalty_weight = 1,
                             .min_line_score = 0.25f,
                             .max_peaks_per_node = 256};
}

/* Breadth first from the first node that no edge enters, children in edge order; each node is entered
 * once. Edges the walk does not take are not used, as in the original. */
static sk_status plan_walk(sk_paf_grouping *g, sk_error *err)
{
    int32_t root = -1, *queue = g->n_slots; /* [n_nodes], not needed until a frame comes */
    uint8_t *entered = g->seen, *reached = g->seen + g->n_nodes;
    for (int32_t e = 0; e < g->n_edges; e++)
        entered[g->edges[e][1]] = 1;
    for (int32_t e = 0; e < g->n_edges && root < 0; e++)
        if (!entered[g->edges[e][0]])
            root = g->edges[e][0];
    if (root < 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "the skeleton has no root: every node is the destination of an edge, so "
                       "peaks cannot be grouped");
    int32_t head = 0, tail = 0;
    queue[tail++] = root;
    reached[root] = 1;
    while (head < tail) {
        int32_t node = queue[head++];
        for (int32_t e = 0; e < g->n_edges; e++) {
            if (g->edges[e][0] != node || reached[g->edges[e][1]])
                continue;
            reached[g->edges[e][1]] = 1;
            queue[tail++] = g->edges[e][1];
            g->walk[g->n_walk++] = e;
        }
    }
    return SK_OK;
}

static sk_status allocate(sk_paf_grouping *g, sk_error *err)
{
    size_t nodes = (size_t)g->n_nodes, n_edges = (size_t)g->n_edges, cap = (size_t)g->cap, all = nodes * cap;
    g->most = (int32_t)(cap * 16 > 4096 ? cap * 16 : 4096);
    g->edges = sk_calloc(n_edges, sizeof *g->edges);
    g->walk = sk_calloc(n_edges, sizeof *g->walk);
    g->slots = sk_calloc(all, sizeof *g->slots);
    g->n_slots = sk_calloc(nodes, sizeof *g->n_slots);
    g->cost = sk_calloc(cap * cap, sizeof *g->cost);
    g->column_of = sk_calloc(cap, sizeof *g->column_of);
    g->matches = sk_calloc(n_edges * cap, sizeof *g->matches);
    g->n_matches = sk_calloc(n_edges, sizeof *g->n_matches);
    g->members = sk_calloc(all, sizeof *g->members);
    g->member_of = sk_calloc(all, sizeof *g->member_of);
    g->slot_of = sk_calloc((size_t)g->most, sizeof *g->slot_of);
    g->values = sk_calloc((size_t)g->most, sizeof *g->values);
    g->keys = sk_calloc((size_t)g->most * 2, sizeof *g->keys);
    g->index_of = sk_calloc(all + 1, sizeof *g->index_of);
    g->instances = sk_calloc(all, sizeof *g->instances);
    g->peak_of = sk_calloc(all * nodes, sizeof *g->peak_of);
    g->seen = sk_calloc(nodes * 2, 1);
    if (!g->edges || !g->walk || !g->slots || !g->n_slots || !g->cost || !g->column_of || !g->matches ||
        !g->n_matches || !g->members || !g->member_of || !g->slot_of || !g->values || !g->keys ||
        !g->index_of || !g->instances || !g->peak_of || !g->seen)
        return sk_fail_memory(err, all * nodes * sizeof *g->peak_of);
    return sk_assignment_open(g->cap, g->cap, &g->assignment, err);
}

sk_status sk_paf_grouping_open(int32_t n_nodes, const int32_t (*edges)[2], int32_t n_edges,
                               const sk_paf_settings *settings, sk_paf_grouping **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(n_nodes >= 1 && n_nodes <= 1024 && n_edges >= 1 && n_edges <= 4096 && edges, err);
    sk_paf_settings s = settings ? *settings : sk_paf_settings_defaults();
    SK_CHECK_ARG(s.n_points >= 2 && s.n_points <= 1000, err);
    SK_CHECK_ARG(s.max_peaks_per_node >= 1 && s.max_peaks_per_node <= 4096, err);
    for (int32_t e = 0; e < n_edges; e++)
        for (int k = 0; k < 2; k++)
            if (edges[e][k] < 0 || edges[e][k] >= n_nodes)
                return sk_fail(err, SK_ERR_ARG, "edge %d names node %d of %d", (int)e, (int)edges[e][k],
                               (int)n_nodes);
    sk_paf_grouping *g = sk_calloc(1, sizeof *g);
    if (!g)
        return sk_fail_memory(err, sizeof *g);
    sk_status status;
    g->settings = s;
    g->n_nodes = n_nodes;
    g->n_edges = n_edges;
    g->cap = s.max_peaks_per_node;
    SK_TRY_GOTO(allocate(g, err));
    memcpy(g->edges, edges, (size_t)n_edges * sizeof *g->edges);
    SK_TRY_GOTO(plan_walk(g, err));
done:
    return SK_HAND_OVER(status, g, out, sk_paf_grouping_close);
}

void sk_paf_grouping_close(sk_paf_grouping **grouping)
{
    SK_TAKE_OR_RETURN(g, grouping);
    sk_assignment_close(&g->assignment);
    sk_free_all(g->edges, g->walk, g->slots, g->n_slots, g->cost, g->column_of, g->matches, g->n_matches,
                g->members, g->member_of, g->slot_of, g->values, g->keys, g->index_of, g->instances,
                g->peak_of, g->seen, g);
}

int32_t sk_paf_grouping_capacity(const sk_paf_grouping *g)
{
    return g->n_nodes * g->cap;
}

float sk_paf_line_score(const sk_paf_settings *s, const sk_map *fields, float stride, int32_t edge,
                        const float source[2], const float destination[2])
{
    sk_line line = sk_line_begin(source, destination, s->n_points, stride);
    for (int32_t i = 0; i < s->n_points; i++) {
        int32_t x, y;
        sk_line_pixel(&line, i, fields->width, fields->height, &x, &y);
        sk_line_add(&line, sk_map_at(fields, 2 * edge, y, x), sk_map_at(fields, 2 * edge + 1, y, x));
    }
    return sk_line_score(&line, fields->width, fields->height, fields->channels, s->max_edge_length_ratio,
                         s->dist_penalty_weight);
}

/* The peaks of each node; where there are more than fit, the highest, still in their order. */
static void collect_nodes(sk_paf_grouping *g, const sk_peak *peaks, int32_t n_peaks)
{
    memset(g->n_slots, 0, (size_t)g->n_nodes * sizeof *g->n_slots);
    for (int32_t first = 0; first < n_peaks;) {
        int32_t node = peaks[first].channel, last = first;
        while (last < n_peaks && peaks[last].channel == node)
            last++;
        int32_t count = last - first;
        if (node >= 0 && node < g->n_nodes) {
            int32_t *slots = g->slots + (size_t)node * (size_t)g->cap;
            float least = -INFINITY;
            int32_t equal = count; /* so many of those at `least` fit, behind all that are higher */
            if (count > g->cap) {
                int32_t ranked = count < g->most ? count : g->most;
                for (int32_t i = 0; i < ranked; i++)
                    g->values[i] = peaks[first + i].value;
                sk_order_descending(g->values, ranked, g->slot_of, g->keys);
                least = g->values[g->slot_of[g->cap - 1]];
                equal = g->cap;
                for (int32_t i = 0; i < ranked; i++)
                    equal -= g->values[i] > least;
            }
            int32_t n = 0;
            for (int32_t i = first; i < last && n < g->cap; i++)
                if (peaks[i].value > least || (peaks[i].value == least && equal-- > 0))
                    slots[n++] = i;
            g->n_slots[node] = n;
        }
        first = last;
    }
}

/* Where the scores of lines come from: fields, or `lines`. */
typedef struct source_of_lines {
    const sk_map *fields;
    float stride;
    const sk_paf_lines *lines;
} source_of_lines;

static void match_edge(sk_paf_grouping *g, const sk_peak *peaks, const source_of_lines *s, int32_t e)
{
    int32_t source = g->edges[e][0], destination = g->edges[e][1];
    int32_t rows = g->n_slots[source], cols = g->n_slots[destination], n = 0;
    const int32_t *from = g->slots + (size_t)source * (size_t)g->cap;
    const int32_t *to = g->slots + (size_t)destination * (size_t)g->cap;
    match *matches = g->matches + (size_t)e * (size_t)g->cap;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < cols; c++) {
            const sk_peak *p = &peaks[from[r]], *q = &peaks[to[c]];
            const float a[2] = {p->x, p->y}, b[2] = {q->x, q->y};
            g->cost[r * cols + c] =
                s->lines ? -(double)s->lines
                                ->scores[s->lines->first[e] + s->lines->rank[from[r]] * s->lines->columns[e] +
                                         s->lines->rank[to[c]]]
                         : -(double)sk_paf_line_score(&g->settings, s->fields, s->stride, e, a, b);
        }
    sk_assignment_solve(g->assignment, g->cost, rows, cols, g->column_of);
    for (int32_t r = 0; r < rows; r++) {
        int32_t c = g->column_of[r];
        if (c < 0)
            continue;
        float score = (float)-g->cost[r * cols + c];
        if (score >= g->settings.min_line_score)
            matches[n++] = (match){r, c, score};
    }
    g->n_matches[e] = n;
}

static int32_t *place_of(const sk_paf_grouping *g, int32_t node, int32_t slot)
{
    return &g->member_of[(size_t)node * (size_t)g->cap + (size_t)slot];
}

static void join(sk_paf_grouping *g, int32_t node, int32_t slot, int32_t instance)
{
    *place_of(g, node, slot) = g->n_members;
    g->members[g->n_members++] =
        (member){node, g->slots[(size_t)node * (size_t)g->cap + (size_t)slot], instance};
}

static void assemble(sk_paf_grouping *g)
{
    g->n_members = 0;
    for (int32_t i = 0; i < g->n_nodes * g->cap; i++)
        g->member_of[i] = -1;
    for (int32_t w = 0; w < g->n_walk; w++) {
        int32_t e = g->walk[w], source = g->edges[e][0], destination = g->edges[e][1];
        for (int32_t k = 0; k < g->n_matches[e]; k++) {
            const match *m = &g->matches[(size_t)e * (size_t)g->cap + (size_t)k];
            /* The walk enters each node once, before it leaves it: nobody has the destination's peak yet. */
            int32_t s = *place_of(g, source, m->source);
            if (s < 0) {
                int32_t fresh = -1;
                for (int32_t i = 0; i < g->n_members; i++)
                    fresh = g->members[i].instance > fresh ? g->members[i].instance : fresh;
                join(g, source, m->source, fresh + 1);
                join(g, destination, m->destination, fresh + 1);
            } else {
                join(g, destination, m->destination, g->members[s].instance);
            }
        }
    }
}

/* Numbers the instances that are left, adds up their scores and names their peaks. */
static int32_t describe(sk_paf_grouping *g)
{
    int32_t count = 0, capacity = sk_paf_grouping_capacity(g);
    memset(g->index_of, 0, ((size_t)capacity + 1) * sizeof *g->index_of);
    for (int32_t i = 0; i < g->n_members; i++)
        g->index_of[g->members[i].instance]++;
    for (int32_t id = 0; id <= capacity; id++)
        g->index_of[id] =
            g->index_of[id] > 0 && g->index_of[id] >= g->settings.min_instance_peaks ? count++ : -1;
    for (int32_t i = 0; i < count; i++) {
        int32_t *nodes = g->peak_of + (size_t)i * (size_t)g->n_nodes;
        g->instances[i] = (sk_paf_instance){0, 0, nodes};
        for (int32_t k = 0; k < g->n_nodes; k++)
            nodes[k] = -1;
    }
    for (int32_t w = 0; w < g->n_walk; w++) {
        int32_t e = g->walk[w];
        for (int32_t k = 0; k < g->n_matches[e]; k++) {
            const match *m = &g->matches[(size_t)e * (size_t)g->cap + (size_t)k];
            int32_t s = *place_of(g, g->edges[e][0], m->source);
            int32_t row = s < 0 ? -1 : g->index_of[g->members[s].instance];
            if (row >= 0)
                g->instances[row].score += m->score;
        }
    }
    for (int32_t i = 0; i < g->n_members; i++) {
        const member *m = &g->members[i];
        int32_t row = g->index_of[m->instance];
        if (row < 0)
            continue;
        int32_t *nodes = g->peak_of + (size_t)row * (size_t)g->n_nodes;
        g->instances[row].n_peaks += nodes[m->node] < 0;
        nodes[m->node] = m->peak;
    }
    return count;
}

static void group(sk_paf_grouping *g, const sk_peak *peaks, int32_t n_peaks, const source_of_lines *source,
                  const sk_paf_instance **instances, int32_t *count)
{
    collect_nodes(g, peaks, n_peaks);
    for (int32_t e = 0; e < g->n_edges; e++)
        match_edge(g, peaks, source, e);
    assemble(g);
    *count = describe(g);
    *instances = g->instances;
}

sk_status sk_paf_group_lines(sk_paf_grouping *g, const sk_peak *peaks, int32_t n_peaks,
                             const sk_paf_lines *lines, const sk_paf_instance **instances, int32_t *count,
                             sk_error *err)
{
    SK_CHECK_ARG(g && (peaks || !n_peaks) && lines && instances && count, err);
    group(g, peaks, n_peaks, &(source_of_lines){.lines = lines}, instances, count);
    return SK_OK;
}

sk_status sk_paf_group(sk_paf_grouping *g, const sk_peak *peaks, int32_t n_peaks, const sk_map *fields,
                       float stride, const sk_paf_instance **instances, int32_t *count, sk_error *err)
{
    SK_CHECK_ARG(g && (peaks || !n_peaks) && fields && instances && count && stride > 0, err);
    if (fields->channels != 2 * g->n_edges)
        return sk_fail(err, SK_ERR_MISMATCH, "the affinity fields have %d channels; %d edges need %d",
                       (int)fields->channels, (int)g->n_edges, 2 * (int)g->n_edges);
    group(g, peaks, n_peaks, &(source_of_lines){fields, stride, NULL}, instances, count);
    return SK_OK;
}
