/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_exporter.h"

#include <string.h>

/* What writes each operation. */
static void (*const writers[SK_OP_COUNT])(sk_exporter *) = {
    [SK_OP_CONV] = sk_export_conv,
    [SK_OP_CONV_TRANSPOSE] = sk_export_conv_transpose,
    [SK_OP_MAX_POOL] = sk_export_pool,
    [SK_OP_AVG_POOL] = sk_export_pool,
    [SK_OP_RESIZE] = sk_export_resize,
    [SK_OP_GRID_SAMPLE] = sk_export_grid_sample,
    [SK_OP_MATMUL] = sk_export_plain,
    [SK_OP_GEMM] = sk_export_gemm,
    [SK_OP_EINSUM] = sk_export_einsum,
    [SK_OP_BATCH_NORM] = sk_export_norm,
    [SK_OP_LAYER_NORM] = sk_export_norm,
    [SK_OP_INSTANCE_NORM] = sk_export_norm,
    [SK_OP_SOFTMAX] = sk_export_axis,
    [SK_OP_LOG_SOFTMAX] = sk_export_axis,
    [SK_OP_UNARY] = sk_export_unary,
    [SK_OP_CLIP] = sk_export_clip,
    [SK_OP_CAST] = sk_export_cast,
    [SK_OP_BINARY] = sk_export_binary,
    [SK_OP_WHERE] = sk_export_plain,
    [SK_OP_REDUCE] = sk_export_reduce,
    [SK_OP_ARG_MAX] = sk_export_arg,
    [SK_OP_ARG_MIN] = sk_export_arg,
    [SK_OP_TOP_K] = sk_export_top_k,
    [SK_OP_CUM_SUM] = sk_export_cum_sum,
    [SK_OP_NON_ZERO] = sk_export_plain,
    [SK_OP_NON_MAX_SUPPRESSION] = sk_export_nms,
    [SK_OP_CONCAT] = sk_export_axis,
    [SK_OP_SPLIT] = sk_export_split,
    [SK_OP_SLICE] = sk_export_lists,
    [SK_OP_RESHAPE] = sk_export_lists,
    [SK_OP_TRANSPOSE] = sk_export_transpose,
    [SK_OP_SQUEEZE] = sk_export_lists,
    [SK_OP_UNSQUEEZE] = sk_export_lists,
    [SK_OP_FLATTEN] = sk_export_axis,
    [SK_OP_EXPAND] = sk_export_lists,
    [SK_OP_TILE] = sk_export_lists,
    [SK_OP_PAD] = sk_export_pad,
    [SK_OP_GATHER] = sk_export_axis,
    [SK_OP_GATHER_ELEMENTS] = sk_export_axis,
    [SK_OP_GATHER_ND] = sk_export_gather_nd,
    [SK_OP_SCATTER_ELEMENTS] = sk_export_axis,
    [SK_OP_SCATTER_ND] = sk_export_plain,
    [SK_OP_DEPTH_TO_SPACE] = sk_export_blocks,
    [SK_OP_SPACE_TO_DEPTH] = sk_export_blocks,
    [SK_OP_SHAPE] = sk_export_plain,
    [SK_OP_SIZE] = sk_export_plain,
    [SK_OP_RANGE] = sk_export_range,
    [SK_OP_CONSTANT_OF_SHAPE] = sk_export_constant_of_shape,
    [SK_OP_ONE_HOT] = sk_export_one_hot,
    [SK_OP_EYE_LIKE] = sk_export_eye_like,
    [SK_OP_IDENTITY] = sk_export_plain,
    [SK_OP_ANCHORS] = sk_export_anchors,
    [SK_OP_QUANTIZE] = sk_export_quantise,
    [SK_OP_DEQUANTIZE] = sk_export_quantise,
};

/* The type a node's output has, from those of its inputs. */
static sk_dtype output_type(const sk_graph *graph, const sk_node *node, int out, const sk_dtype *types)
{
    sk_dtype first = node->n_in && node->in[0] != SK_VALUE_NONE ? types[node->in[0]] : SK_DTYPE_F32;
    (void)graph;
    switch (node->op) {
    case SK_OP_CAST: return node->a.cast.to;
    case SK_OP_CONSTANT_OF_SHAPE: return node->a.fill.dtype;
    case SK_OP_EYE_LIKE: return node->a.fill.dtype != SK_DTYPE_NONE ? node->a.fill.dtype : first;
    case SK_OP_BINARY: return node->a.binary.kind >= SK_BINARY_EQUAL ? SK_DTYPE_BOOL : first;
    case SK_OP_UNARY: return node->a.unary.kind == SK_UNARY_IS_NAN ? SK_DTYPE_BOOL : first;
    case SK_OP_WHERE: return types[node->in[1]];
    case SK_OP_ONE_HOT: return types[node->in[2]];
    case SK_OP_TOP_K: return out == 1 ? SK_DTYPE_I64 : first;
    case SK_OP_SHAPE:
    case SK_OP_SIZE:
    case SK_OP_ARG_MAX:
    case SK_OP_ARG_MIN:
    case SK_OP_NON_ZERO:
    case SK_OP_NON_MAX_SUPPRESSION: return SK_DTYPE_I64;
    case SK_OP_ANCHORS:
    case SK_OP_DEQUANTIZE: return SK_DTYPE_F32;
    case SK_OP_QUANTIZE: return types[node->in[2]];
    default: return first;
    }
}

void sk_onnx_types(const sk_graph *graph, sk_dtype *types)
{
    for (size_t v = 0; v < graph->n_values; v++)
        types[v] = graph->values[v].dtype;
    for (size_t n = 0; n < graph->n_nodes; n++)
        for (int32_t i = 0; i < graph->nodes[n].n_out; i++) {
            sk_value v = graph->nodes[n].out[i];
            if (types[v] == SK_DTYPE_NONE)
                types[v] = output_type(graph, &graph->nodes[n], i, types);
        }
}

static const char *claim_exact(sk_exporter *e, const char *wish)
{
    const char *name = sk_arena_strdup(e->model->arena, wish);
    if (!name)
        e->status = sk_fail_memory(&e->error, strlen(wish));
    if (e->status == SK_OK)
        e->status = sk_onnx_scope_add(e->value_names, name, 0, &e->error);
    return name;
}

/* Names of the graph's ends first: nobody else may take them. An output that is an input, a constant or an
 * output already gets an Identity node of its own at the end. */
static void name_ends(sk_exporter *e, const char *const *input_names, const char *const *output_names,
                      bool *separate)
{
    for (int32_t i = 0; i < e->graph->n_inputs && e->status == SK_OK; i++)
        e->names[e->graph->inputs[i]] = claim_exact(e, input_names[i]);
    for (int32_t i = 0; i < e->graph->n_outputs && e->status == SK_OK; i++) {
        sk_value v = e->graph->outputs[i];
        const char *name = claim_exact(e, output_names[i]);
        separate[i] = e->names[v] != NULL || e->graph->values[v].blob;
        if (!separate[i])
            e->names[v] = name;
    }
}

/* Fresh names for everything nodes make; constants are named when used. */
static void name_results(sk_exporter *e)
{
    static const sk_node none = {.name = ""};
    for (size_t n = 0; n < e->graph->n_nodes && e->status == SK_OK; n++)
        for (int32_t i = 0; i < e->graph->nodes[n].n_out && e->status == SK_OK; i++) {
            sk_value v = e->graph->nodes[n].out[i];
            sk_node one = none;
            one.n_in = 1;
            one.in = &v;
            e->node = &one;
            sk_ex_in(e, 0);
        }
    e->node = NULL;
}

static void write_nodes(sk_exporter *e)
{
    for (size_t n = 0; n < e->graph->n_nodes && e->status == SK_OK; n++) {
        e->node = &e->graph->nodes[n];
        void (*writer)(sk_exporter *) =
            (int)e->node->op > 0 && e->node->op < SK_OP_COUNT ? writers[e->node->op] : NULL;
        if (writer)
            writer(e);
        else
            sk_ex_fail(e, SK_ERR_UNSUPPORTED, "has no form in ONNX");
    }
    e->node = NULL;
}

static void write_separate_outputs(sk_exporter *e, const char *const *output_names, const bool *separate)
{
    for (int32_t i = 0; i < e->graph->n_outputs && e->status == SK_OK; i++) {
        sk_value v = e->graph->outputs[i];
        sk_node node = {.n_in = 1, .in = &v, .name = ""};
        if (!separate[i])
            continue;
        e->node = &node;
        sk_ex_1(e, "Identity", sk_ex_in(e, 0), output_names[i]);
        e->node = NULL;
    }
}

static void take_lists(sk_exporter *e)
{
    sk_onnx_graph *to = &e->model->graph;
    size_t node_bytes = e->n_nodes * sizeof *e->nodes, tensor_bytes = e->n_tensors * sizeof *e->tensors;
    void *nodes = sk_arena_alloc(e->model->arena, node_bytes);
    void *tensors = sk_arena_alloc(e->model->arena, tensor_bytes);
    if (!nodes || !tensors) {
        e->status = sk_fail_memory(&e->error, node_bytes + tensor_bytes);
        return;
    }
    if (node_bytes)
        memcpy(nodes, e->nodes, node_bytes);
    if (tensor_bytes)
        memcpy(tensors, e->tensors, tensor_bytes);
    to->nodes = nodes;
    to->n_nodes = (int32_t)e->n_nodes;
    to->initializers = tensors;
    to->n_initializers = (int32_t)e->n_tensors;
}

sk_status sk_onnx_from_graph(const sk_graph *graph, int32_t opset, bool half, const char *const *input_names,
                             const char *const *output_names, sk_onnx_model *model, sk_error *err)
{
    sk_exporter e = {.model = model, .graph = graph, .opset = opset, .half = half};
    bool separate[32];
    sk_status status = SK_OK;
    e.names = sk_calloc(graph->n_values + 1, sizeof *e.names);
    e.types = sk_calloc(graph->n_values + 1, sizeof *e.types);
    if (!e.names || !e.types) {
        status = sk_fail_memory(err, graph->n_values * sizeof *e.names);
        goto done;
    }
    SK_TRY_GOTO(sk_onnx_scope_open(NULL, &e.value_names, err));
    SK_TRY_GOTO(sk_onnx_scope_open(NULL, &e.node_names, err));
    sk_onnx_types(graph, e.types);
    name_ends(&e, input_names, output_names, separate);
    name_results(&e);
    write_nodes(&e);
    write_separate_outputs(&e, output_names, separate);
    if (e.status == SK_OK)
        take_lists(&e);
    if (e.status != SK_OK && err)
        *err = e.error;
    status = e.status;
done:
    sk_onnx_scope_close(&e.value_names);
    sk_onnx_scope_close(&e.node_names);
    sk_free_all(e.nodes, e.tensors, e.names, e.types);
    return status;
}
