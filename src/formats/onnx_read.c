/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/onnx_read.h"
#include "formats/onnx_wire.h"

#include <string.h>

/* Counts beyond this are hostile: real models stay in the thousands. */
#define MAX_ITEMS ((size_t)1 << 22)

const char *sk_onnx_copy_text(sk_onnx_reader *r, const char *text)
{
    return text && *text ? sk_arena_strdup(r->model->arena, text) : "";
}

static sk_status copy_text(sk_onnx_reader *r, const char *text, const char **out)
{
    *out = sk_onnx_copy_text(r, text);
    return *out ? SK_OK : sk_fail_memory(r->err, text ? strlen(text) : 0);
}

static sk_status copy_bytes(sk_onnx_reader *r, const ProtobufCBinaryData *bytes, const char **out)
{
    *out = bytes->len ? sk_arena_strndup(r->model->arena, (const char *)bytes->data, bytes->len) : "";
    return *out ? SK_OK : sk_fail_memory(r->err, bytes->len);
}

/* Zeroed room for a list; *out stays null when it is empty. */
static sk_status new_list(sk_onnx_reader *r, size_t count, size_t bytes, void *out, int32_t *n)
{
    void *items = NULL;
    if (count > MAX_ITEMS)
        return sk_fail(r->err, SK_ERR_LIMIT, "%s: a list of %zu entries; no sane model has it", r->what,
                       count);
    if (count > 0 && !(items = sk_arena_alloc(r->model->arena, count * bytes)))
        return sk_fail_memory(r->err, count * bytes);
    memcpy(out, &items, sizeof items);
    *n = (int32_t)count;
    return SK_OK;
}

static sk_status read_texts(sk_onnx_reader *r, char **from, size_t count, const char *const **out, int32_t *n)
{
    const char **texts;
    SK_TRY(new_list(r, count, sizeof *texts, &texts, n));
    for (size_t i = 0; i < count; i++)
        SK_TRY(copy_text(r, from[i], &texts[i]));
    *out = texts;
    return SK_OK;
}

static sk_status read_graph(sk_onnx_reader *r, SkOnnx__Graph *from, sk_onnx_graph *to);

/* Files older than IR 2 leave the type out: the field that is filled tells it. */
static int32_t attr_type(const SkOnnx__Attribute *from)
{
    if (from->has_type && from->type != 0)
        return from->type;
    if (from->t)
        return SK_ONNX_TENSOR;
    if (from->g)
        return SK_ONNX_GRAPH;
    if (from->n_floats)
        return SK_ONNX_FLOATS;
    if (from->n_strings)
        return SK_ONNX_STRINGS;
    if (from->has_s)
        return SK_ONNX_STRING;
    if (from->has_f)
        return SK_ONNX_FLOAT;
    return from->has_i ? SK_ONNX_INT : SK_ONNX_INTS;
}

static sk_status read_attr_list(sk_onnx_reader *r, const SkOnnx__Attribute *from, sk_onnx_attr *to)
{
    if (to->type == SK_ONNX_FLOATS) {
        float *floats;
        SK_TRY(new_list(r, from->n_floats, sizeof *floats, &floats, &to->count));
        if (to->count)
            memcpy(floats, from->floats, from->n_floats * sizeof *floats);
        to->floats = floats;
    } else if (to->type == SK_ONNX_INTS) {
        int64_t *ints;
        SK_TRY(new_list(r, from->n_ints, sizeof *ints, &ints, &to->count));
        if (to->count)
            memcpy(ints, from->ints, from->n_ints * sizeof *ints);
        to->ints = ints;
    } else {
        const char **texts;
        SK_TRY(new_list(r, from->n_strings, sizeof *texts, &texts, &to->count));
        for (size_t i = 0; i < from->n_strings; i++)
            SK_TRY(copy_bytes(r, &from->strings[i], &texts[i]));
        to->strings = texts;
    }
    return SK_OK;
}

static sk_status read_attr(sk_onnx_reader *r, const SkOnnx__Attribute *from, const char *node,
                           sk_onnx_attr *to)
{
    SK_TRY(copy_text(r, from->name, &to->name));
    SK_TRY(copy_text(r, from->ref_attr_name, &to->ref));
    to->type = (sk_onnx_attr_type)attr_type(from);
    to->f = from->f;
    to->i = from->i;
    to->s = "";
    if (*to->ref)
        return SK_OK;
    switch ((int)to->type) {
    case SK_ONNX_FLOAT:
    case SK_ONNX_INT: return SK_OK;
    case SK_ONNX_STRING: return copy_bytes(r, &from->s, &to->s);
    case SK_ONNX_FLOATS:
    case SK_ONNX_INTS:
    case SK_ONNX_STRINGS: return read_attr_list(r, from, to);
    case SK_ONNX_TENSOR: {
        sk_onnx_tensor *tensor = from->t ? sk_arena_alloc(r->model->arena, sizeof *tensor) : NULL;
        to->tensor = tensor;
        if (tensor)
            return sk_onnx_read_tensor(r, from->t, tensor);
        break;
    }
    case SK_ONNX_GRAPH: {
        sk_onnx_graph *graph = from->g ? sk_arena_alloc(r->model->arena, sizeof *graph) : NULL;
        to->graph = graph;
        if (graph)
            return read_graph(r, from->g, graph);
        break;
    }
    default: /* sparse tensors, types, lists of tensors: kept by name, of no use to any operation we know */
        return SK_OK;
    }
    return sk_fail(r->err, SK_ERR_FORMAT, "%s: node '%s': attribute '%s' is empty", r->what, node, to->name);
}

static sk_status read_attrs(sk_onnx_reader *r, SkOnnx__Attribute **from, size_t count, const char *node,
                            const sk_onnx_attr **out, int32_t *n)
{
    sk_onnx_attr *attrs;
    SK_TRY(new_list(r, count, sizeof *attrs, &attrs, n));
    *out = attrs;
    for (size_t i = 0; i < count; i++)
        SK_TRY(read_attr(r, from[i], node, &attrs[i]));
    return SK_OK;
}

static sk_status read_domain(sk_onnx_reader *r, const char *from, const char **out)
{
    return copy_text(r, from && strcmp(from, "ai.onnx") == 0 ? "" : from, out);
}

static sk_status read_nodes(sk_onnx_reader *r, SkOnnx__Node **from, size_t count, const sk_onnx_node **out,
                            int32_t *n)
{
    sk_onnx_node *nodes;
    SK_TRY(new_list(r, count, sizeof *nodes, &nodes, n));
    *out = nodes;
    for (size_t i = 0; i < count; i++) {
        sk_onnx_node *to = &nodes[i];
        SK_TRY(copy_text(r, from[i]->op_type, &to->op));
        SK_TRY(read_domain(r, from[i]->domain, &to->domain));
        SK_TRY(copy_text(r, from[i]->name, &to->name));
        SK_TRY(read_texts(r, from[i]->input, from[i]->n_input, &to->in, &to->n_in));
        SK_TRY(read_texts(r, from[i]->output, from[i]->n_output, &to->out, &to->n_out));
        const char *called = *to->name ? to->name : to->n_out ? to->out[0] : to->op;
        if (!*to->op)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: node %zu ('%s') has no operator", r->what, i, called);
        SK_TRY(read_attrs(r, from[i]->attribute, from[i]->n_attribute, called, &to->attrs, &to->n_attrs));
    }
    return SK_OK;
}

static sk_status read_value(sk_onnx_reader *r, const SkOnnx__ValueInfo *from, sk_onnx_value *to)
{
    SK_TRY(copy_text(r, from->name, &to->name));
    const SkOnnx__TensorType *type = from->type ? from->type->tensor_type : NULL;
    const SkOnnx__Shape *shape = type ? type->shape : NULL;
    to->dtype = type ? sk_onnx_dtype(type->elem_type) : SK_DTYPE_NONE;
    to->shape.rank = -1;
    for (int i = 0; i < SK_MAX_RANK; i++)
        to->param[i] = "";
    if (!shape)
        return SK_OK;
    if (shape->n_dim > SK_MAX_RANK)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: '%s' has %zu dimensions; at most %d are supported",
                       r->what, to->name, shape->n_dim, SK_MAX_RANK);
    to->shape.rank = (int32_t)shape->n_dim;
    for (size_t i = 0; i < shape->n_dim; i++) {
        const SkOnnx__Dimension *dim = shape->dim[i];
        /* Exporters write 0 or -1 for "any" as well. */
        to->shape.dim[i] = dim->has_dim_value && dim->dim_value > 0 ? dim->dim_value : -1;
        SK_TRY(copy_text(r, dim->dim_param, &to->param[i]));
    }
    if (sk_shape_known(&to->shape) && sk_shape_count(&to->shape) < 0)
        return sk_fail(r->err, SK_ERR_LIMIT, "%s: '%s' claims an absurd size", r->what, to->name);
    return SK_OK;
}

static bool names_initializer(const SkOnnx__Graph *graph, const char *name)
{
    for (size_t i = 0; name && i < graph->n_initializer; i++)
        if (graph->initializer[i]->name && strcmp(graph->initializer[i]->name, name) == 0)
            return true;
    return false;
}

static sk_status read_values(sk_onnx_reader *r, const SkOnnx__Graph *graph, SkOnnx__ValueInfo **from,
                             size_t count, bool drop_weights, const sk_onnx_value **out, int32_t *n)
{
    sk_onnx_value *values;
    /* The search for initializers is quadratic: bounded for files that are not models. */
    if (drop_weights && count > 64 && count * graph->n_initializer > (size_t)1 << 28)
        return sk_fail(r->err, SK_ERR_LIMIT, "%s: %zu graph inputs; no sane model has them", r->what, count);
    SK_TRY(new_list(r, count, sizeof *values, &values, n));
    *n = 0;
    for (size_t i = 0; i < count; i++)
        if (!drop_weights || !names_initializer(graph, from[i]->name))
            SK_TRY(read_value(r, from[i], &values[(*n)++]));
    *out = values;
    return SK_OK;
}

static sk_status read_graph(sk_onnx_reader *r, SkOnnx__Graph *from, sk_onnx_graph *to)
{
    sk_onnx_tensor *tensors;
    SK_TRY(copy_text(r, from->name, &to->name));
    if (from->n_sparse_initializer > 0)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED, "%s: sparse weights are not supported; export dense ones",
                       r->what);
    SK_TRY(new_list(r, from->n_initializer, sizeof *tensors, &tensors, &to->n_initializers));
    to->initializers = tensors;
    for (size_t i = 0; i < from->n_initializer; i++)
        SK_TRY(sk_onnx_read_tensor(r, from->initializer[i], &tensors[i]));
    SK_TRY(read_nodes(r, from->node, from->n_node, &to->nodes, &to->n_nodes));
    SK_TRY(read_values(r, from, from->input, from->n_input, true, &to->inputs, &to->n_inputs));
    return read_values(r, from, from->output, from->n_output, false, &to->outputs, &to->n_outputs);
}

static sk_status read_opsets(sk_onnx_reader *r, SkOnnx__OperatorSet **from, size_t count,
                             const sk_onnx_opset **out, int32_t *n)
{
    sk_onnx_opset *opsets;
    SK_TRY(new_list(r, count, sizeof *opsets, &opsets, n));
    *out = opsets;
    for (size_t i = 0; i < count; i++) {
        SK_TRY(read_domain(r, from[i]->domain, &opsets[i].domain));
        opsets[i].version = from[i]->version;
    }
    return SK_OK;
}

static sk_status read_functions(sk_onnx_reader *r, const SkOnnx__Model *from, sk_onnx_model *to)
{
    sk_onnx_function *functions;
    SK_TRY(new_list(r, from->n_functions, sizeof *functions, &functions, &to->n_functions));
    to->functions = functions;
    for (size_t i = 0; i < from->n_functions; i++) {
        SkOnnx__Function *f = from->functions[i];
        sk_onnx_function *t = &functions[i];
        SK_TRY(read_domain(r, f->domain, &t->domain));
        SK_TRY(copy_text(r, f->name, &t->name));
        SK_TRY(read_texts(r, f->input, f->n_input, &t->in, &t->n_in));
        SK_TRY(read_texts(r, f->output, f->n_output, &t->out, &t->n_out));
        SK_TRY(
            read_attrs(r, f->attribute_proto, f->n_attribute_proto, t->name, &t->defaults, &t->n_defaults));
        SK_TRY(read_opsets(r, f->opset_import, f->n_opset_import, &t->opsets, &t->n_opsets));
        SK_TRY(read_nodes(r, f->node, f->n_node, &t->nodes, &t->n_nodes));
    }
    return SK_OK;
}

static sk_status read_model(sk_onnx_reader *r, SkOnnx__Model *from)
{
    sk_onnx_model *to = r->model;
    to->ir_version = from->ir_version;
    SK_TRY(copy_text(r, from->producer_name, &to->producer));
    SK_TRY(copy_text(r, from->producer_version, &to->producer_version));
    SK_TRY(copy_text(r, from->doc_string, &to->doc));
    if (!from->graph || from->n_opset_import == 0)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: not an ONNX model (no %s)", r->what,
                       from->graph ? "operator set" : "graph");
    SK_TRY(read_opsets(r, from->opset_import, from->n_opset_import, &to->opsets, &to->n_opsets));
    SK_TRY(new_list(r, from->n_metadata_props, sizeof *to->metadata, &to->metadata, &to->n_metadata));
    for (size_t i = 0; i < from->n_metadata_props; i++) {
        SK_TRY(copy_text(r, from->metadata_props[i]->key, &to->metadata[i][0]));
        SK_TRY(copy_text(r, from->metadata_props[i]->value, &to->metadata[i][1]));
    }
    SK_TRY(read_functions(r, from, to));
    return read_graph(r, from->graph, &to->graph);
}

/* Names what the bytes are when they plainly are something else. */
static sk_status check_start(const uint8_t *bytes, size_t length, const char *what, sk_error *err)
{
    static const struct {
        const char *start, *is;
    } foreign[] = {
        {"version https://git-lfs",
         "a Git LFS pointer, not the model itself; run `git lfs pull` in its folder"},
        {"PK\003\004", "a zip archive (a .pt checkpoint?), not ONNX; give it its own extension"},
        {"\211HDF\r\n", "an HDF5 file (a Keras model?), not ONNX"},
        {"{", "a text file, not ONNX"},
        {"<", "a web page or XML, not ONNX; download the raw file"},
    };
    if (length == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty; copy or download it again", what);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t n = strlen(foreign[i].start);
        if (length >= n && memcmp(bytes, foreign[i].start, n) == 0)
            return sk_fail(err, SK_ERR_FORMAT, "%s: this is %s", what, foreign[i].is);
    }
    return SK_OK;
}

sk_status sk_onnx_read(const void *bytes, size_t length, const char *what, const char *folder,
                       sk_onnx_model **out, sk_error *err)
{
    sk_onnx_wire wire = {0};
    sk_onnx_reader reader = {.what = what, .folder = folder, .err = err};
    sk_status status = SK_OK;
    *out = NULL;
    SK_TRY(check_start(bytes, length, what, err));
    SK_TRY_GOTO(sk_onnx_create(&reader.model, err));
    SK_TRY_GOTO(sk_onnx_wire_open(bytes, length, what, &wire, err));
    sk_arena_limit(reader.model->arena, wire.limit);
    SK_TRY_GOTO(read_model(&reader, wire.message));
    *out = reader.model;
    reader.model = NULL;
done:
    sk_onnx_wire_close(&wire);
    sk_onnx_close(&reader.model);
    return status;
}
