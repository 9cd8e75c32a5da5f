/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_exporter.h"

#include <stdio.h>
#include <string.h>

/* A network in float16 with float32 at its ends: casts after the inputs and before the outputs are added to the tree, after the
 * graph was written between renamed ends. */

enum { MOST_ENDS = 64 };

static const char *inner_name(sk_onnx_model *model, const char *name)
{
    char text[256];
    snprintf(text, sizeof text, "half/%.240s", name);
    return sk_arena_strdup(model->arena, text);
}

/* Casts around what is written; `inner`: names inside, of the inputs and then of the outputs. */
static sk_status add_casts(sk_onnx_model *model, const char *const *inner, sk_error *err)
{
    sk_onnx_graph *g = &model->graph;
    const int32_t ends = g->n_inputs + g->n_outputs, n = g->n_nodes + ends;
    sk_onnx_node *nodes = sk_arena_alloc(model->arena, (size_t)n * sizeof *nodes);
    const char **names = sk_arena_alloc(model->arena, 2 * (size_t)ends * sizeof *names);
    sk_onnx_attr *attrs = sk_arena_alloc(model->arena, 2 * sizeof *attrs);
    int32_t at = 0;
    if (!nodes || !names || !attrs)
        return sk_fail_memory(err, (size_t)n * sizeof *nodes);
    attrs[0] = sk_ex_attr_int("to", sk_onnx_type_of(SK_DTYPE_F16));
    attrs[1] = sk_ex_attr_int("to", sk_onnx_type_of(SK_DTYPE_F32));
    for (int32_t i = 0; i < ends; i++) {
        const bool output = i >= g->n_inputs;
        const sk_onnx_value *end = output ? &g->outputs[i - g->n_inputs] : &g->inputs[i];
        const bool casts = end->dtype == SK_DTYPE_F32;
        names[2 * i] = output ? inner[i] : end->name;
        names[2 * i + 1] = output ? end->name : inner[i];
        if (i == g->n_inputs) {
            memcpy(nodes + at, g->nodes, (size_t)g->n_nodes * sizeof *nodes);
            at += g->n_nodes;
        }
        nodes[at++] = (sk_onnx_node){casts ? "Cast" : "Identity",
                                     "",
                                     i == 0 ? "narrow_input" : "",
                                     1,
                                     1,
                                     casts ? 1 : 0,
                                     &names[2 * i],
                                     &names[2 * i + 1],
                                     &attrs[output]};
    }
    g->nodes = nodes;
    g->n_nodes = n;
    return SK_OK;
}

sk_status sk_onnx_from_graph_half(const sk_graph *graph, int32_t opset, sk_onnx_model *model, sk_error *err)
{
    const sk_onnx_graph *g = &model->graph;
    const char *inner[MOST_ENDS];
    if (g->n_inputs + g->n_outputs > MOST_ENDS)
        return sk_fail(err, SK_ERR_LIMIT, "a network of %d inputs and %d outputs", (int)g->n_inputs,
                       (int)g->n_outputs);
    for (int32_t i = 0; i < g->n_inputs + g->n_outputs; i++) {
        /* an export's one input has had this name since there are exports */
        const char *name = i >= g->n_inputs   ? g->outputs[i - g->n_inputs].name
                           : g->n_inputs == 1 ? "images"
                                              : g->inputs[i].name;
        inner[i] = inner_name(model, name);
        if (!inner[i])
            return sk_fail_memory(err, 256);
    }
    SK_TRY(sk_onnx_from_graph(graph, opset, true, inner, inner + g->n_inputs, model, err));
    return add_casts(model, inner, err);
}
