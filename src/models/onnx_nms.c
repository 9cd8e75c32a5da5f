/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_meta.h"

#include "base/memory.h"

/* Ultralytics' nms=True appends the suppression of overlaps to the network, where the number of boxes depends on the
 * picture. Everything from the point where the dense rows [B][4+nc+extra][A] are turned over becomes the decode tail: engines
 * cut it off, and tasks/ decodes and suppresses as it does for every other YOLO model. */

/* Nodes that `last` depends on, itself included. */
static void mark_ancestors(const sk_graph *g, size_t last, bool *marked)
{
    marked[last] = true;
    for (size_t i = last + 1; i-- > 0;)
        for (int32_t k = 0; marked[i] && k < g->nodes[i].n_in; k++) {
            sk_value v = g->nodes[i].in[k];
            if (v != SK_VALUE_NONE && g->values[v].producer >= 0)
                marked[g->values[v].producer] = true;
        }
}

/* `first` and everything that depends on it become the tail, or cease to be it. */
static void flag_descendants(sk_graph *g, size_t first, bool *marked, bool tail)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        marked[i] = i == first;
        for (int32_t k = 0; i > first && k < g->nodes[i].n_in && !marked[i]; k++) {
            sk_value v = g->nodes[i].in[k];
            marked[i] = v != SK_VALUE_NONE && g->values[v].producer >= 0 && marked[g->values[v].producer];
        }
        if (marked[i])
            g->nodes[i].flags = tail ? g->nodes[i].flags | SK_NODE_TAIL : g->nodes[i].flags & ~SK_NODE_TAIL;
    }
}

/* Without the tail marked now: does the network end in dense rows of this many values? Their number, or 0. */
static int64_t dense_anchors(sk_onnx_reading *r, int64_t values)
{
    const sk_input_spec *in = &r->model->input;
    sk_graph *fixed = NULL;
    sk_error ignored;
    int64_t anchors = 0;
    sk_shape shape = sk_shape_of(4, (int64_t)(in->fixed_batch ? in->fixed_batch : 1), (int64_t)in->channels,
                                 (int64_t)in->height, (int64_t)in->width);
    /* In this order, as sessions do it: what follows from sizes alone is a constant by then. */
    if (sk_graph_specialise(r->model->graph, &shape, 1, &fixed, &ignored) == SK_OK &&
        sk_graph_cut_tail(fixed, &ignored) == SK_OK && fixed->n_outputs == r->model->graph->n_outputs) {
        const sk_shape *s = &fixed->values[fixed->outputs[0]].shape;
        if (s->rank == 3 && s->dim[1] == values && s->dim[2] > 0)
            anchors = s->dim[2];
    }
    sk_graph_close(&fixed);
    return anchors;
}

static const sk_node *producer_of(const sk_graph *g, sk_value v)
{
    return v != SK_VALUE_NONE && g->values[v].producer >= 0 ? &g->nodes[g->values[v].producer] : NULL;
}

static bool is_binary(const sk_node *node, sk_binary kind)
{
    return node && node->op == SK_OP_BINARY && node->a.binary.kind == kind;
}

/* Newer exporters let the head give corners when suppression follows. Told by how the boxes are made of distances to an
 * anchor: corners are anchor - d and anchor + d, centre and size half their sum and their difference. 1 corners, 0 centres,
 * -1 neither. */
static int boxes_are_corners(const sk_graph *g, sk_value dense)
{
    const sk_node *rows = producer_of(g, dense);
    const sk_node *scaled = rows && rows->op == SK_OP_CONCAT ? producer_of(g, rows->in[0]) : NULL;
    for (int32_t i = 0; is_binary(scaled, SK_BINARY_MUL) && i < 2; i++) {
        const sk_node *boxes = producer_of(g, scaled->in[i]);
        if (!boxes || boxes->op != SK_OP_CONCAT || boxes->n_in != 2)
            continue;
        const sk_node *first = producer_of(g, boxes->in[0]), *second = producer_of(g, boxes->in[1]);
        if (is_binary(first, SK_BINARY_SUB) && is_binary(second, SK_BINARY_ADD))
            return 1;
        if ((is_binary(first, SK_BINARY_DIV) || is_binary(first, SK_BINARY_MUL)) &&
            is_binary(second, SK_BINARY_SUB))
            return 0;
    }
    return -1;
}

static bool turns_rows_over(const sk_node *node)
{
    const int32_t *p = node->a.perm;
    return node->op == SK_OP_TRANSPOSE && p[0] == 0 && p[1] == 2 && p[2] == 1;
}

sk_status sk_onnx_find_nms(sk_onnx_reading *r, int64_t values, int64_t *anchors)
{
    sk_graph *g = r->model->graph;
    size_t data = 0;
    *anchors = 0;
    while (data < g->n_nodes && g->nodes[data].op != SK_OP_NON_ZERO &&
           g->nodes[data].op != SK_OP_NON_MAX_SUPPRESSION)
        data++;
    if (data == g->n_nodes)
        return SK_OK;
    bool *before = sk_calloc(g->n_nodes + 1, sizeof *before),
         *after = sk_calloc(g->n_nodes + 1, sizeof *after);
    if (before && after) {
        mark_ancestors(g, data, before);
        for (size_t i = data; i-- > 0 && *anchors == 0;) {
            if (!before[i] || !turns_rows_over(&g->nodes[i]))
                continue;
            int corners = r->model->task == SK_TASK_OBB ? 0 : boxes_are_corners(g, g->nodes[i].in[0]);
            if (corners < 0)
                continue;
            r->model->yolo.dense_corners = corners;
            flag_descendants(g, i, after, true);
            *anchors = dense_anchors(r, values);
            if (*anchors == 0)
                flag_descendants(g, i, after, false);
        }
    }
    sk_status status = before && after ? SK_OK : sk_fail_memory(r->err, g->n_nodes);
    sk_free(before);
    sk_free(after);
    return status;
}
