/* SPDX-License-Identifier: Apache-2.0 */
#include "base/object.h"
#include "graph/edit.h"
#include "graph/infer.h"
#include "graph/quantise.h"

static sk_status bind_shapes(sk_graph *graph, const sk_shape *shapes, int32_t n, sk_error *err)
{
    char want[SK_SHAPE_TEXT], got[SK_SHAPE_TEXT];
    if (n != graph->n_inputs)
        return sk_fail(err, SK_ERR_ARG, "%d input shapes given to a graph with %d inputs", n,
                       graph->n_inputs);
    for (int i = 0; i < n; i++) {
        sk_value_info *info = &graph->values[graph->inputs[i]];
        int64_t count = sk_shape_count(&shapes[i]);
        if (count < 1)
            return sk_fail(err, SK_ERR_ARG, "input '%.80s': the shape %s is not complete", info->name,
                           sk_shape_text(&shapes[i], got, sizeof got));
        if ((size_t)count > SK_TENSOR_BYTES_MAX / sk_dtype_bytes(info->dtype))
            return sk_fail(err, SK_ERR_LIMIT, "input '%.80s': the shape %s is more than %zu MiB", info->name,
                           sk_shape_text(&shapes[i], got, sizeof got), SK_TENSOR_BYTES_MAX >> 20);
        bool fits = info->shape.rank < 0 || info->shape.rank == shapes[i].rank;
        for (int d = 0; fits && d < info->shape.rank; d++)
            fits = info->shape.dim[d] < 0 || info->shape.dim[d] == shapes[i].dim[d];
        if (!fits)
            return sk_fail(err, SK_ERR_MISMATCH,
                           "input '%.80s': the shape %s does not fit %s, which the model asks for",
                           info->name, sk_shape_text(&shapes[i], got, sizeof got),
                           sk_shape_text(&info->shape, want, sizeof want));
        info->shape = shapes[i];
    }
    return SK_OK;
}

/* Pads and kernel sizes that followed the input become numbers. */
static void make_explicit(sk_graph *graph, sk_node *node)
{
    const sk_shape *x = &graph->values[node->in[0]].shape;
    if (!sk_shape_known(x) || x->rank != 4)
        return;
    if (node->op == SK_OP_CONV || node->op == SK_OP_CONV_TRANSPOSE) {
        const sk_shape *w = &graph->values[node->in[1]].shape;
        if (!sk_shape_known(w))
            return;
        if (node->op == SK_OP_CONV_TRANSPOSE) {
            sk_conv_transpose_resolve(&node->a, w->dim[2], w->dim[3]);
            return;
        }
        node->a.conv.window.kernel[0] = (int32_t)w->dim[2];
        node->a.conv.window.kernel[1] = (int32_t)w->dim[3];
        node->a.conv.window = sk_window_resolve(&node->a.conv.window, x->dim[2], x->dim[3]);
    } else if (node->op == SK_OP_MAX_POOL || node->op == SK_OP_AVG_POOL) {
        node->a.pool.window = sk_window_resolve(&node->a.pool.window, x->dim[2], x->dim[3]);
    }
}

static sk_status specialise_node(sk_graph *graph, size_t index, sk_tensor *ins, sk_tensor *outs,
                                 sk_error *err)
{
    sk_node *node = &graph->nodes[index];
    for (int i = 0; i < node->n_in; i++)
        ins[i] = sk_value_tensor(graph, node->in[i]);
    SK_TRY(sk_node_infer(node, ins, outs, err));
    for (int i = 0; i < node->n_out; i++) {
        graph->values[node->out[i]].dtype = outs[i].dtype;
        graph->values[node->out[i]].shape = outs[i].shape;
    }
    make_explicit(graph, node);
    return sk_node_fold(graph, index, err);
}

sk_status sk_graph_specialise(const sk_graph *graph, const sk_shape *input_shapes, int32_t n_inputs,
                              sk_graph **out, sk_error *err)
{
    SK_CHECK_ARG(graph && input_shapes && out, err);
    sk_graph *copy = NULL;
    sk_tensor *ins = NULL, *outs = NULL;
    size_t widest = 1;
    sk_status status;
    *out = NULL;
    SK_TRY_GOTO(sk_graph_verify(graph, err));
    SK_TRY_GOTO(sk_graph_clone(graph, &copy, err));
    SK_TRY_GOTO(bind_shapes(copy, input_shapes, n_inputs, err));
    for (size_t n = 0; n < copy->n_nodes; n++) {
        widest = (size_t)copy->nodes[n].n_in > widest ? (size_t)copy->nodes[n].n_in : widest;
        widest = (size_t)copy->nodes[n].n_out > widest ? (size_t)copy->nodes[n].n_out : widest;
    }
    ins = sk_calloc(widest, sizeof *ins);
    outs = sk_calloc(widest, sizeof *outs);
    if (!ins || !outs) {
        status = sk_fail_memory(err, widest * sizeof *ins);
        goto done;
    }
    SK_TRY_GOTO(sk_graph_mark_weights(copy, err));
    for (size_t n = 0; n < copy->n_nodes; n++)
        SK_TRY_GOTO(specialise_node(copy, n, ins, outs, err));
    sk_graph_sweep(copy);
    SK_TRY_GOTO(sk_graph_remove_dead(copy, err));
    copy->specialised = 1;
done:
    sk_free(ins);
    sk_free(outs);
    return SK_HAND_OVER(status, copy, out, sk_graph_close);
}
