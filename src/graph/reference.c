/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/reference.h"
#include "graph/ref.h"

#include <string.h>

/* All activations of one run together; more is refused before the machine swaps. */
#define RUN_BYTES_MAX ((size_t)1 << 34)

/* Which element types a family computes in; see ref.h. */
typedef enum type_class { RAW, FLOAT, WIDE } type_class;

typedef struct op_entry {
    sk_node_function run;
    type_class types;
} op_entry;

static const op_entry entries[SK_OP_COUNT] = {
    [SK_OP_CONV] = {sk_ref_conv, FLOAT},
    [SK_OP_CONV_TRANSPOSE] = {sk_ref_conv_transpose, FLOAT},
    [SK_OP_MAX_POOL] = {sk_ref_max_pool, FLOAT},
    [SK_OP_AVG_POOL] = {sk_ref_avg_pool, FLOAT},
    [SK_OP_RESIZE] = {sk_ref_resize, FLOAT},
    [SK_OP_GRID_SAMPLE] = {sk_ref_grid_sample, FLOAT},
    [SK_OP_MATMUL] = {sk_ref_matmul, FLOAT},
    [SK_OP_GEMM] = {sk_ref_gemm, FLOAT},
    [SK_OP_EINSUM] = {sk_ref_einsum, FLOAT},
    [SK_OP_BATCH_NORM] = {sk_ref_batch_norm, FLOAT},
    [SK_OP_LAYER_NORM] = {sk_ref_layer_norm, FLOAT},
    [SK_OP_INSTANCE_NORM] = {sk_ref_instance_norm, FLOAT},
    [SK_OP_SOFTMAX] = {sk_ref_softmax, FLOAT},
    [SK_OP_LOG_SOFTMAX] = {sk_ref_softmax, FLOAT},
    [SK_OP_UNARY] = {sk_ref_unary, WIDE},
    [SK_OP_CLIP] = {sk_ref_clip, WIDE},
    [SK_OP_CAST] = {sk_ref_cast, RAW},
    [SK_OP_BINARY] = {sk_ref_binary, WIDE},
    [SK_OP_WHERE] = {sk_ref_where, RAW},
    [SK_OP_REDUCE] = {sk_ref_reduce, WIDE},
    [SK_OP_ARG_MAX] = {sk_ref_arg, WIDE},
    [SK_OP_ARG_MIN] = {sk_ref_arg, WIDE},
    [SK_OP_TOP_K] = {sk_ref_top_k, WIDE},
    [SK_OP_CUM_SUM] = {sk_ref_cum_sum, WIDE},
    [SK_OP_NON_ZERO] = {sk_ref_non_zero, RAW},
    [SK_OP_NON_MAX_SUPPRESSION] = {sk_ref_nms, FLOAT},
    [SK_OP_CONCAT] = {sk_ref_concat, RAW},
    [SK_OP_SPLIT] = {sk_ref_split, RAW},
    [SK_OP_SLICE] = {sk_ref_slice, RAW},
    [SK_OP_RESHAPE] = {sk_ref_copy, RAW},
    [SK_OP_TRANSPOSE] = {sk_ref_transpose, RAW},
    [SK_OP_SQUEEZE] = {sk_ref_copy, RAW},
    [SK_OP_UNSQUEEZE] = {sk_ref_copy, RAW},
    [SK_OP_FLATTEN] = {sk_ref_copy, RAW},
    [SK_OP_EXPAND] = {sk_ref_expand, RAW},
    [SK_OP_TILE] = {sk_ref_tile, RAW},
    [SK_OP_PAD] = {sk_ref_pad, RAW},
    [SK_OP_GATHER] = {sk_ref_gather, RAW},
    [SK_OP_GATHER_ELEMENTS] = {sk_ref_gather_elements, RAW},
    [SK_OP_GATHER_ND] = {sk_ref_gather_nd, RAW},
    [SK_OP_SCATTER_ELEMENTS] = {sk_ref_scatter_elements, RAW},
    [SK_OP_SCATTER_ND] = {sk_ref_scatter_nd, RAW},
    [SK_OP_DEPTH_TO_SPACE] = {sk_ref_blocks, RAW},
    [SK_OP_SPACE_TO_DEPTH] = {sk_ref_blocks, RAW},
    [SK_OP_SHAPE] = {sk_ref_shape, RAW},
    [SK_OP_SIZE] = {sk_ref_size, RAW},
    [SK_OP_RANGE] = {sk_ref_range, RAW},
    [SK_OP_CONSTANT_OF_SHAPE] = {sk_ref_constant_of_shape, RAW},
    [SK_OP_ONE_HOT] = {sk_ref_one_hot, RAW},
    [SK_OP_EYE_LIKE] = {sk_ref_eye_like, RAW},
    [SK_OP_IDENTITY] = {sk_ref_copy, RAW},
    [SK_OP_ANCHORS] = {sk_ref_anchors, RAW},
    [SK_OP_QUANTIZE] = {sk_ref_quantise, FLOAT},
    [SK_OP_DEQUANTIZE] = {sk_ref_dequantise, FLOAT},
};

/* --- types a family computes in --- */

static sk_dtype computed_type(type_class types, sk_op op, sk_dtype dtype)
{
    bool floating = sk_dtype_is_float(dtype);
    if (types == RAW || dtype == SK_DTYPE_NONE)
        return dtype;
    if (dtype == SK_DTYPE_F8) /* who makes and reads it sees it as it is */
        return op == SK_OP_QUANTIZE || op == SK_OP_DEQUANTIZE ? dtype : SK_DTYPE_F32;
    if (types == WIDE)
        return dtype == SK_DTYPE_F64 ? SK_DTYPE_F64 : floating ? SK_DTYPE_F32 : SK_DTYPE_I64;
    /* images of bytes are resized in floating point too */
    bool image = op == SK_OP_RESIZE && sk_dtype_bytes(dtype) <= 2;
    return floating || image ? SK_DTYPE_F32 : dtype;
}

/* Fresh zeroed memory for a tensor of known shape. */
static sk_status tensor_alloc(sk_tensor *t, sk_error *err)
{
    size_t bytes = sk_tensor_bytes(t);
    t->data = sk_calloc(1, bytes);
    return t->data ? SK_OK : sk_fail_memory(err, bytes);
}

/* Copies converted to what the family computes in; only where needed. `scratch` owns them. */
static sk_status convert_tensors(const sk_node *node, const sk_tensor *ins, const sk_tensor *outs,
                                 sk_tensor *cins, sk_tensor *couts, void **scratch, sk_error *err)
{
    type_class types = entries[node->op].types;
    for (int i = 0; i < node->n_in; i++) {
        cins[i] = ins[i];
        cins[i].dtype = computed_type(types, node->op, ins[i].dtype);
        if (cins[i].dtype == ins[i].dtype)
            continue;
        SK_TRY(tensor_alloc(&cins[i], err));
        scratch[i] = cins[i].data;
        sk_convert(ins[i].dtype, ins[i].data, cins[i].dtype, cins[i].data,
                   (size_t)sk_shape_count(&ins[i].shape));
    }
    for (int i = 0; i < node->n_out; i++) {
        couts[i] = outs[i];
        couts[i].dtype = computed_type(types, node->op, outs[i].dtype);
        if (couts[i].dtype == outs[i].dtype || !outs[i].data)
            continue;
        SK_TRY(tensor_alloc(&couts[i], err));
        scratch[node->n_in + i] = couts[i].data;
    }
    return SK_OK;
}

/* Runs a node whose outputs are inferred and, where their shape is known, allocated. */
static sk_status run_node(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    const op_entry *entry = &entries[node->op];
    sk_status status = SK_OK;
    bool direct = true;
    for (int i = 0; i < node->n_in && direct; i++)
        direct = computed_type(entry->types, node->op, ins[i].dtype) == ins[i].dtype;
    for (int i = 0; i < node->n_out && direct; i++)
        direct = computed_type(entry->types, node->op, outs[i].dtype) == outs[i].dtype;
    if (direct)
        return entry->run(node, ins, outs, err);

    size_t n = (size_t)node->n_in + (size_t)node->n_out;
    sk_tensor *converted = sk_calloc(n, sizeof *converted);
    void **scratch = sk_calloc(n, sizeof *scratch);
    if (!converted || !scratch) {
        status = sk_fail_memory(err, n * sizeof *converted);
        goto done;
    }
    sk_tensor *cins = converted, *couts = converted + node->n_in;
    SK_TRY_GOTO(convert_tensors(node, ins, outs, cins, couts, scratch, err));
    SK_TRY_GOTO(entry->run(node, cins, couts, err));
    for (int i = 0; i < node->n_out; i++) {
        if (couts[i].dtype != outs[i].dtype)
            sk_convert(couts[i].dtype, couts[i].data, outs[i].dtype, outs[i].data,
                       (size_t)sk_shape_count(&outs[i].shape));
        else
            outs[i] = couts[i]; /* data-dependent shapes are completed there */
    }
done:
    for (size_t i = 0; scratch && i < n; i++)
        sk_free(scratch[i]);
    sk_free(scratch);
    sk_free(converted);
    return status;
}

sk_status sk_node_execute(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    SK_CHECK_ARG(node && ins && outs && node->n_out > 0, err);
    sk_status status = SK_OK;
    sk_tensor *inferred = sk_calloc((size_t)node->n_out, sizeof *inferred);
    if (!inferred)
        return sk_fail_memory(err, (size_t)node->n_out * sizeof *inferred);
    SK_TRY_GOTO(sk_node_infer(node, ins, inferred, err));
    for (int i = 0; i < node->n_out; i++) {
        bool known = sk_shape_known(&inferred[i].shape);
        bool fits = outs[i].dtype == inferred[i].dtype && (outs[i].data != NULL) == known &&
                    (!known || sk_shape_equal(&outs[i].shape, &inferred[i].shape));
        if (!fits) {
            status = sk_node_fail(node, err, SK_ERR_ARG, "output %d is not what inference made of it", i);
            goto done;
        }
    }
    status = run_node(node, ins, outs, err);
done:
    sk_free(inferred);
    return status;
}

/* --- whole graphs --- */

typedef struct run_state {
    const sk_graph *graph;
    sk_tensor *tensors; /* one a value; data null before it is made and after its last use */
    int32_t *uses;      /* reads still to come, outputs of the graph count as one */
    bool *owned;        /* ours to free */
    sk_tensor *ins;     /* the running node's, as many as the largest node has */
    sk_tensor *outs;
    size_t bytes; /* owned, now */
} run_state;

static sk_status run_state_open(run_state *s, const sk_graph *graph, sk_error *err)
{
    size_t widest = 1, n = graph->n_values + 1;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const sk_node *node = &graph->nodes[i];
        widest = (size_t)node->n_in > widest ? (size_t)node->n_in : widest;
        widest = (size_t)node->n_out > widest ? (size_t)node->n_out : widest;
    }
    s->graph = graph;
    s->tensors = sk_calloc(n, sizeof *s->tensors);
    s->uses = sk_calloc(n, sizeof *s->uses);
    s->owned = sk_calloc(n, sizeof *s->owned);
    s->ins = sk_calloc(widest, sizeof *s->ins);
    s->outs = sk_calloc(widest, sizeof *s->outs);
    if (!s->tensors || !s->uses || !s->owned || !s->ins || !s->outs)
        return sk_fail_memory(err, n * sizeof *s->tensors);
    for (size_t v = 0; v < graph->n_values; v++)
        s->tensors[v] = sk_value_tensor(graph, (sk_value)v);
    for (size_t i = 0; i < graph->n_nodes; i++)
        for (int k = 0; k < graph->nodes[i].n_in; k++)
            if (graph->nodes[i].in[k] >= 0)
                s->uses[graph->nodes[i].in[k]]++;
    for (int i = 0; i < graph->n_outputs; i++)
        s->uses[graph->outputs[i]]++;
    return SK_OK;
}

static void run_state_close(run_state *s)
{
    for (size_t v = 0; s->tensors && s->owned && v < s->graph->n_values; v++)
        if (s->owned[v])
            sk_free(s->tensors[v].data);
    sk_free_all(s->tensors, s->uses, s->owned, s->ins, s->outs);
}

static sk_status bind_inputs(run_state *s, const sk_tensor *inputs, int32_t n_inputs, sk_error *err)
{
    const sk_graph *graph = s->graph;
    if (n_inputs != graph->n_inputs)
        return sk_fail(err, SK_ERR_ARG, "%d inputs given to a graph that has %d", n_inputs, graph->n_inputs);
    for (int i = 0; i < n_inputs; i++) {
        const sk_value_info *info = &graph->values[graph->inputs[i]];
        char want[SK_SHAPE_TEXT], got[SK_SHAPE_TEXT];
        if (inputs[i].dtype != info->dtype || !sk_shape_equal(&inputs[i].shape, &info->shape) ||
            !inputs[i].data)
            return sk_fail(err, SK_ERR_MISMATCH, "input '%.80s' is %s %s where the graph is made for %s %s",
                           info->name, sk_dtype_name(inputs[i].dtype),
                           sk_shape_text(&inputs[i].shape, got, sizeof got), sk_dtype_name(info->dtype),
                           sk_shape_text(&info->shape, want, sizeof want));
        s->tensors[graph->inputs[i]] = inputs[i];
    }
    return SK_OK;
}

/* Keeps an output: it was inferred, allocated or completed by its node. */
static void adopt(run_state *s, sk_value v, sk_tensor *out)
{
    s->tensors[v] = *out;
    s->owned[v] = true;
    s->bytes += sk_tensor_bytes(out);
    out->data = NULL;
}

/* Memory for the outputs whose shapes are known; they must be what the graph says they are. */
static sk_status make_outputs(run_state *s, const sk_node *node, sk_error *err)
{
    size_t wanted = s->bytes;
    for (int i = 0; i < node->n_out; i++) {
        const sk_shape *planned = &s->graph->values[node->out[i]].shape;
        if (!sk_shape_known(&s->outs[i].shape))
            continue;
        if (sk_shape_known(planned) && !sk_shape_equal(planned, &s->outs[i].shape))
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "output %d differs from the shape the graph gives it", i);
        wanted += sk_tensor_bytes(&s->outs[i]);
        if (wanted > RUN_BYTES_MAX)
            return sk_node_fail(node, err, SK_ERR_LIMIT,
                                "the run needs more than %zu MiB; a smaller image helps",
                                RUN_BYTES_MAX >> 20);
        SK_TRY(tensor_alloc(&s->outs[i], err));
    }
    return SK_OK;
}

static void release(run_state *s, sk_value v)
{
    if (v < 0 || --s->uses[v] > 0 || !s->owned[v])
        return;
    s->bytes -= sk_tensor_bytes(&s->tensors[v]);
    sk_free(s->tensors[v].data);
    s->tensors[v].data = NULL;
    s->owned[v] = false;
}

static sk_status step(run_state *s, int32_t index, sk_reference_watch watch, void *context, sk_error *err)
{
    const sk_node *node = &s->graph->nodes[index];
    sk_status status = SK_OK;
    memset(s->outs, 0, (size_t)node->n_out * sizeof *s->outs);
    for (int i = 0; i < node->n_in; i++)
        s->ins[i] = node->in[i] >= 0 ? s->tensors[node->in[i]] : (sk_tensor){.shape.rank = -1};
    SK_TRY_GOTO(sk_node_infer(node, s->ins, s->outs, err));
    SK_TRY_GOTO(make_outputs(s, node, err));
    status = run_node(node, s->ins, s->outs, err);
    if (status == SK_ERR_MEMORY)
        sk_error_prefix(err, "%s '%.80s'", sk_op_name(node->op), node->name);
    if (status == SK_OK && watch) {
        status = watch(context, s->graph, index, s->outs);
        if (status != SK_OK)
            sk_node_fail(node, err, status, "stopped by the caller");
    }
    for (int i = 0; i < node->n_out && status == SK_OK; i++)
        adopt(s, node->out[i], &s->outs[i]);
done:
    for (int i = 0; i < node->n_out; i++)
        sk_free(s->outs[i].data);
    for (int i = 0; i < node->n_in && status == SK_OK; i++)
        release(s, node->in[i]);
    for (int i = 0; i < node->n_out && status == SK_OK; i++)
        if (s->uses[node->out[i]] == 0) {
            s->uses[node->out[i]] = 1; /* nobody reads it */
            release(s, node->out[i]);
        }
    return status;
}

/* Hands an output over; copies where the run does not own it or another output has taken it. */
static sk_status take_output(run_state *s, sk_value v, sk_tensor *out, sk_error *err)
{
    *out = s->tensors[v];
    if (s->owned[v]) {
        s->owned[v] = false;
        return SK_OK;
    }
    size_t bytes = sk_tensor_bytes(out);
    const void *from = out->data;
    out->data = sk_malloc(bytes);
    if (!out->data)
        return sk_fail_memory(err, bytes);
    if (bytes)
        memcpy(out->data, from, bytes);
    return SK_OK;
}

sk_status sk_reference_run_watched(const sk_graph *graph, const sk_tensor *inputs, int32_t n_inputs,
                                   sk_tensor *outputs, int32_t n_outputs, sk_reference_watch watch,
                                   void *context, sk_error *err)
{
    SK_CHECK_ARG(graph && (inputs || n_inputs == 0) && (outputs || n_outputs == 0), err);
    run_state s = {0};
    sk_status status;
    for (int i = 0; i < n_outputs; i++)
        outputs[i] = (sk_tensor){0};
    if (n_outputs != graph->n_outputs)
        return sk_fail(err, SK_ERR_ARG, "%d outputs wanted of a graph that has %d", n_outputs,
                       graph->n_outputs);
    if (!graph->specialised)
        return sk_fail(err, SK_ERR_ARG,
                       "the graph's shapes are not known; specialise it for an input size first");
    SK_TRY_GOTO(sk_graph_verify(graph, err));
    SK_TRY_GOTO(run_state_open(&s, graph, err));
    SK_TRY_GOTO(bind_inputs(&s, inputs, n_inputs, err));
    for (size_t n = 0; n < graph->n_nodes; n++)
        SK_TRY_GOTO(step(&s, (int32_t)n, watch, context, err));
    for (int i = 0; i < n_outputs; i++)
        SK_TRY_GOTO(take_output(&s, graph->outputs[i], &outputs[i], err));
done:
    if (s.graph)
        run_state_close(&s);
    for (int i = 0; i < n_outputs && status != SK_OK; i++) {
        sk_free(outputs[i].data);
        outputs[i].data = NULL;
    }
    return status;
}

sk_status sk_reference_run(const sk_graph *graph, const sk_tensor *inputs, int32_t n_inputs,
                           sk_tensor *outputs, int32_t n_outputs, sk_error *err)
{
    return sk_reference_run_watched(graph, inputs, n_inputs, outputs, n_outputs, NULL, NULL, err);
}
