/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_import.h"

#include "base/object.h"
#include "models/onnx_importer.h"
#include "models/onnx_order.h"

#include <string.h>

#define OPSET_MIN    7
#define OPSET_MAX    23
#define MAX_DEPTH    24
#define MAX_IMPORTED ((int64_t)1 << 20)

/* --- one node --- */

static const sk_onnx_function *find_function(const sk_onnx_model *model, const sk_onnx_node *node)
{
    for (int32_t i = 0; i < model->n_functions; i++)
        if (strcmp(model->functions[i].name, node->op) == 0 &&
            strcmp(model->functions[i].domain, node->domain) == 0)
            return &model->functions[i];
    return NULL;
}

static void fail_unknown(sk_importer *m)
{
    const sk_onnx_node *node = m->node;
    const char *remedy = "export the model again without it";
    if (strstr(node->op, "Quantize") || strstr(node->op, "Integer") || strncmp(node->op, "QLinear", 7) == 0)
        remedy = "quantised models are read where they use QuantizeLinear and DequantizeLinear; export so, "
                 "or in float32";
    else if (strcmp(node->op, "Loop") == 0 || strcmp(node->op, "Scan") == 0)
        remedy = "loops are not read; export with fixed sizes, so that the exporter unrolls them";
    else if (strcmp(node->domain, "com.microsoft") == 0)
        remedy = "it was put in by an optimiser for one runtime; use the file as it was exported";
    sk_im_fail(m, SK_ERR_UNSUPPORTED, "the operator %s%s%s is not supported; %s", node->domain,
               *node->domain ? "." : "", node->op, remedy);
}

static void enter(sk_importer *m)
{
    if (++m->depth > MAX_DEPTH)
        sk_im_fail(m, SK_ERR_LIMIT, "functions or subgraphs nest deeper than %d", MAX_DEPTH);
}

static void run_nodes(sk_importer *m, const sk_onnx_node *nodes, int32_t n_nodes);

/* A call of one of the file's own functions: its nodes take the call's place. */
static void inline_function(sk_importer *m, const sk_onnx_function *f)
{
    sk_importer saved = *m;
    sk_onnx_frame frame = {.caller = m->frame, .node = m->node, .function = f};
    sk_onnx_scope *inside = NULL;
    sk_value outs[64];
    int64_t opset = sk_onnx_opset_version(f->opsets, f->n_opsets, "");
    if (f->n_out > 64 || f->n_in < m->node->n_in) {
        sk_im_fail(m, SK_ERR_FORMAT, "does not fit the file's function of that name");
        return;
    }
    enter(m);
    if (m->b.status == SK_OK)
        m->b.status = sk_onnx_scope_open(NULL, &inside, &m->b.error);
    for (int i = 0; i < m->node->n_in && m->b.status == SK_OK; i++) {
        sk_value v = sk_im_in(m, i);
        if (m->b.status == SK_OK)
            m->b.status = sk_onnx_scope_add(inside, f->in[i], v, &m->b.error);
    }
    m->scope = inside;
    m->frame = &frame;
    m->opset = opset ? opset : m->opset;
    run_nodes(m, f->nodes, f->n_nodes);
    m->scope = saved.scope;
    m->frame = saved.frame;
    m->opset = saved.opset;
    m->depth = saved.depth;
    m->node = saved.node;
    m->op = saved.op;
    for (int i = 0; i < f->n_out; i++) {
        outs[i] = SK_VALUE_NONE;
        if (m->b.status == SK_OK && !sk_onnx_scope_find(inside, f->out[i], &outs[i]))
            sk_im_fail(m, SK_ERR_FORMAT, "the function makes no '%.120s'", f->out[i]);
    }
    sk_onnx_scope_close(&inside);
    for (int i = 0; i < f->n_out && i < m->node->n_out; i++)
        sk_im_out(m, i, outs[i]);
}

static void run_node(sk_importer *m, const sk_onnx_node *node)
{
    uint32_t flags = m->b.node_flags;
    m->node = node;
    m->op = NULL;
    if (++m->imported > MAX_IMPORTED) {
        sk_im_fail(m, SK_ERR_LIMIT, "more than %lld nodes", (long long)MAX_IMPORTED);
        return;
    }
    const sk_onnx_function *function = find_function(m->model, node);
    if (function) {
        inline_function(m, function);
        return;
    }
    m->op = *node->domain ? NULL : sk_onnx_find_op(node->op);
    if (!m->op) {
        fail_unknown(m);
        return;
    }
    for (int i = 0; i < m->op->min_in; i++)
        if (!sk_im_has(m, i)) {
            sk_im_fail(m, SK_ERR_FORMAT, "input %d is missing", i);
            return;
        }
    if (m->own && strncmp(node->name, SK_ONNX_TAIL_SCOPE, strlen(SK_ONNX_TAIL_SCOPE)) == 0)
        m->b.node_flags |= SK_NODE_TAIL;
    m->op->import(m);
    m->b.node_flags = flags;
}

/* --- graphs --- */

static void run_nodes(sk_importer *m, const sk_onnx_node *nodes, int32_t n_nodes)
{
    int32_t *order = NULL;
    if (m->b.status == SK_OK)
        m->b.status = sk_onnx_order(nodes, n_nodes, m->what, &order, &m->b.error);
    for (int32_t i = 0; i < n_nodes && m->b.status == SK_OK; i++)
        run_node(m, &nodes[order[i]]);
    sk_free(order);
}

static void run_graph(sk_importer *m, const sk_onnx_graph *graph)
{
    for (int32_t i = 0; i < graph->n_initializers && m->b.status == SK_OK; i++) {
        sk_value v = sk_im_tensor(m, &graph->initializers[i]);
        if (m->b.status == SK_OK)
            m->b.status = sk_onnx_scope_add(m->scope, graph->initializers[i].name, v, &m->b.error);
        if (m->b.status == SK_ERR_MISMATCH)
            sk_error_prefix(&m->b.error, "%s: two weights of one name", m->what);
    }
    run_nodes(m, graph->nodes, graph->n_nodes);
}

void sk_import_if(sk_importer *m)
{
    sk_tensor condition;
    sk_importer saved = *m;
    sk_onnx_scope *inside = NULL;
    sk_value outs[64];
    if (!sk_im_constant(m, 0, &condition) || sk_shape_count(&condition.shape) != 1) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED,
                   "its condition '%.120s' is only known while the network runs (or the file "
                   "leaves its input sizes open); export with fixed sizes",
                   m->node->in[0]);
        return;
    }
    bool yes = sk_tensor_int_at(&condition, 0) != 0;
    const sk_onnx_attr *attr = sk_im_attr(m, yes ? "then_branch" : "else_branch");
    if (!attr || !attr->graph || attr->graph->n_outputs < m->node->n_out || attr->graph->n_outputs > 64) {
        sk_im_fail(m, SK_ERR_FORMAT, "a branch is missing or has too few outputs");
        return;
    }
    enter(m);
    if (m->b.status == SK_OK)
        m->b.status = sk_onnx_scope_open(m->scope, &inside, &m->b.error);
    if (m->b.status == SK_OK) {
        m->scope = inside;
        run_graph(m, attr->graph);
    }
    m->scope = saved.scope;
    m->depth = saved.depth;
    m->node = saved.node;
    m->op = saved.op;
    for (int i = 0; i < attr->graph->n_outputs; i++) {
        outs[i] = SK_VALUE_NONE;
        if (m->b.status == SK_OK && !sk_onnx_scope_find(inside, attr->graph->outputs[i].name, &outs[i]))
            sk_im_fail(m, SK_ERR_FORMAT, "the branch makes no '%.120s'", attr->graph->outputs[i].name);
    }
    sk_onnx_scope_close(&inside);
    for (int i = 0; i < m->node->n_out; i++)
        sk_im_out(m, i, outs[i]);
}

static void add_inputs(sk_importer *m, const sk_onnx_graph *graph)
{
    for (int32_t i = 0; i < graph->n_inputs && m->b.status == SK_OK; i++) {
        const sk_onnx_value *in = &graph->inputs[i];
        sk_dtype dtype = in->dtype == SK_DTYPE_F16 || in->dtype == SK_DTYPE_BF16 ? SK_DTYPE_F32 : in->dtype;
        if (dtype == SK_DTYPE_NONE) {
            sk_builder_fail(&m->b, SK_ERR_UNSUPPORTED, "%s: the input '%.120s' is no tensor of numbers",
                            m->what, in->name);
            return;
        }
        sk_value v = sk_b_input(&m->b, in->name, dtype, &in->shape);
        if (m->b.status == SK_OK)
            m->b.status = sk_onnx_scope_add(m->scope, in->name, v, &m->b.error);
        if (m->b.status == SK_ERR_MISMATCH)
            sk_error_prefix(&m->b.error, "%s: input", m->what);
    }
}

/* An output gets a value of its own, so that each keeps its name. */
static sk_value own_value(sk_importer *m, sk_value v)
{
    const sk_graph *graph = m->b.graph;
    bool taken = graph->values[v].producer < 0;
    for (int32_t i = 0; i < graph->n_outputs; i++)
        taken = taken || graph->outputs[i] == v;
    return taken ? sk_b_node(&m->b, SK_OP_IDENTITY, NULL, &v, 1, NULL) : v;
}

static bool depends_on_data(const sk_graph *graph)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op == SK_OP_NON_ZERO || graph->nodes[i].op == SK_OP_NON_MAX_SUPPRESSION)
            return true;
    return false;
}

/* One size of an output as the file declares it: a number, or a free size of an input. SK_VALUE_NONE:
 * neither. */
static sk_value declared_size(sk_importer *m, const sk_onnx_value *out, int32_t axis)
{
    const sk_onnx_graph *file = &m->model->graph;
    if (out->shape.dim[axis] > 0)
        return sk_b_i64s(&m->b, &out->shape.dim[axis], 1);
    for (int32_t i = 0; i < file->n_inputs && *out->param[axis]; i++)
        for (int32_t d = 0; d < file->inputs[i].shape.rank; d++)
            if (strcmp(file->inputs[i].param[d], out->param[axis]) == 0) {
                sk_value shape = sk_b_node(&m->b, SK_OP_SHAPE, NULL, &m->b.graph->inputs[i], 1, NULL);
                return sk_b_slice(&m->b, shape, 0, d, d + 1);
            }
    return SK_VALUE_NONE;
}

/* With NMS inside the network the result's size cannot be told from the nodes, but exporters pad it to a
 * fixed one and declare it. */
static sk_value as_declared(sk_importer *m, sk_value v, const sk_onnx_value *out)
{
    sk_value sizes[SK_MAX_RANK];
    if (out->shape.rank < 1 || !depends_on_data(m->b.graph))
        return v;
    for (int32_t i = 0; i < out->shape.rank; i++) {
        sizes[i] = declared_size(m, out, i);
        if (sizes[i] == SK_VALUE_NONE)
            return v;
    }
    sk_value dims = sk_b_concat(&m->b, sizes, out->shape.rank, 0);
    return sk_b_node(&m->b, SK_OP_RESHAPE, NULL, (sk_value[]){v, dims}, 2, NULL);
}

static void add_outputs(sk_importer *m, const sk_onnx_graph *graph)
{
    for (int32_t i = 0; i < graph->n_outputs && m->b.status == SK_OK; i++) {
        const char *name = graph->outputs[i].name;
        int32_t v;
        if (!sk_onnx_scope_find(m->scope, name, &v) || v == SK_VALUE_NONE) {
            sk_builder_fail(&m->b, SK_ERR_FORMAT, "%s: the output '%.120s' is made by no node", m->what,
                            name);
            return;
        }
        sk_b_output(&m->b, own_value(m, as_declared(m, v, &graph->outputs[i])), name);
    }
    if (graph->n_outputs == 0)
        sk_builder_fail(&m->b, SK_ERR_FORMAT, "%s: the graph has no output", m->what);
}

sk_status sk_onnx_import(const sk_onnx_model *model, const char *what, sk_graph **out, sk_error *err)
{
    sk_importer m = {.model = model, .what = what, .own = sk_onnx_metadata(model, SK_ONNX_OWN_KEY) != NULL};
    sk_graph *graph = NULL;
    sk_status status = SK_OK;
    *out = NULL;
    m.opset = sk_onnx_opset_version(model->opsets, model->n_opsets, "");
    if (m.opset < OPSET_MIN || m.opset > OPSET_MAX)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: operator set %lld; %d to %d are read. Export with opset=17", what,
                       (long long)m.opset, OPSET_MIN, OPSET_MAX);
    SK_TRY_GOTO(sk_graph_open(&graph, err));
    sk_builder_init(&m.b, graph);
    SK_TRY_GOTO(sk_onnx_scope_open(NULL, &m.scope, err));
    add_inputs(&m, &model->graph);
    run_graph(&m, &model->graph);
    add_outputs(&m, &model->graph);
    if (m.b.status != SK_OK) {
        status = m.b.status;
        if (err)
            *err = m.b.error;
        goto done;
    }
    status = sk_graph_verify(graph, err);
    if (status != SK_OK) {
        sk_error_prefix(err, "%s", what);
        goto done;
    }
done:
    sk_onnx_scope_close(&m.scope);
    return SK_HAND_OVER(status, graph, out, sk_graph_close);
}
