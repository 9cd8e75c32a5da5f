/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/onnx.h"
#include "onnx.pb-c.h"

#include <string.h>

/* The tree becomes protobuf-c's structs, which point into the tree wherever they can; they live in an
 * arena of their own and are gone when the bytes are made. */

typedef struct writer {
    sk_arena *arena;
    sk_error *err;
} writer;

static void *new_item(writer *w, size_t bytes)
{
    return sk_arena_alloc(w->arena, bytes);
}

/* A fresh, initialised message, or return from the enclosing function. */
#define NEW_MESSAGE(variable, Type, initialise)                                                              \
    do {                                                                                                     \
        (variable) = sk_arena_alloc(w->arena, sizeof(Type));                                                 \
        if (!(variable))                                                                                     \
            return sk_fail_memory(w->err, sizeof(Type));                                                     \
        initialise(variable);                                                                                \
    } while (0)

#define NEW_LIST(list, count)                                                                                \
    do {                                                                                                     \
        (list) = new_item(w, ((size_t)(count) + 1) * sizeof *(list));                                        \
        if (!(list))                                                                                         \
            return sk_fail_memory(w->err, (size_t)(count) * sizeof *(list));                                 \
    } while (0)

/* protobuf-c's structs are not const-correct; nothing is written through these pointers. */
static char *text(const char *from)
{
    return (char *)(uintptr_t)from;
}

static char *optional_text(const char *from)
{
    return from && *from ? text(from) : NULL;
}

static ProtobufCBinaryData binary(const char *from)
{
    return (ProtobufCBinaryData){strlen(from), (uint8_t *)text(from)};
}

static sk_status write_texts(writer *w, const char *const *from, int32_t count, char ***to, size_t *n)
{
    NEW_LIST(*to, count);
    for (int32_t i = 0; i < count; i++)
        (*to)[i] = text(from[i]);
    *n = (size_t)count;
    return SK_OK;
}

static sk_status write_tensor(writer *w, const sk_onnx_tensor *from, SkOnnx__Tensor **out)
{
    SkOnnx__Tensor *to;
    NEW_MESSAGE(to, SkOnnx__Tensor, sk_onnx__tensor__init);
    *out = to;
    to->name = optional_text(from->name);
    to->has_data_type = true;
    to->data_type = sk_onnx_type_of(from->dtype);
    sk_tensor view = {from->dtype, from->shape, NULL};
    size_t bytes = sk_tensor_bytes(&view);
    if (to->data_type == 0 || !sk_shape_known(&from->shape) || from->offset > sk_blob_bytes(from->blob) ||
        bytes > sk_blob_bytes(from->blob) - from->offset)
        return sk_fail(w->err, SK_ERR_INTERNAL, "writing ONNX: tensor '%s' has no type, shape or data",
                       from->name);
    NEW_LIST(to->dims, from->shape.rank);
    to->n_dims = (size_t)from->shape.rank;
    memcpy(to->dims, from->shape.dim, to->n_dims * sizeof *to->dims);
    to->has_raw_data = true;
    to->raw_data.len = bytes;
    to->raw_data.data = (uint8_t *)sk_blob_data(from->blob) + from->offset;
    return SK_OK;
}

static sk_status write_graph(writer *w, const sk_onnx_graph *from, SkOnnx__Graph **out);

static sk_status write_attr(writer *w, const sk_onnx_attr *from, SkOnnx__Attribute **out)
{
    SkOnnx__Attribute *to;
    NEW_MESSAGE(to, SkOnnx__Attribute, sk_onnx__attribute__init);
    *out = to;
    to->name = text(from->name);
    to->ref_attr_name = optional_text(from->ref);
    to->has_type = true;
    to->type = (int32_t)from->type;
    if (to->ref_attr_name)
        return SK_OK;
    switch (from->type) {
    case SK_ONNX_FLOAT: to->has_f = true, to->f = from->f; break;
    case SK_ONNX_INT: to->has_i = true, to->i = from->i; break;
    case SK_ONNX_STRING: to->has_s = true, to->s = binary(from->s); break;
    case SK_ONNX_FLOATS:
        to->n_floats = (size_t)from->count, to->floats = (float *)(uintptr_t)from->floats;
        break;
    case SK_ONNX_INTS: to->n_ints = (size_t)from->count, to->ints = (int64_t *)(uintptr_t)from->ints; break;
    case SK_ONNX_STRINGS:
        NEW_LIST(to->strings, from->count);
        to->n_strings = (size_t)from->count;
        for (int32_t i = 0; i < from->count; i++)
            to->strings[i] = binary(from->strings[i]);
        break;
    case SK_ONNX_TENSOR: return write_tensor(w, from->tensor, &to->t);
    case SK_ONNX_GRAPH: return write_graph(w, from->graph, &to->g);
    default:
        return sk_fail(w->err, SK_ERR_INTERNAL, "writing ONNX: attribute '%s' has no known type", from->name);
    }
    return SK_OK;
}

static sk_status write_attrs(writer *w, const sk_onnx_attr *from, int32_t count, SkOnnx__Attribute ***to,
                             size_t *n)
{
    NEW_LIST(*to, count);
    *n = (size_t)count;
    for (int32_t i = 0; i < count; i++)
        SK_TRY(write_attr(w, &from[i], &(*to)[i]));
    return SK_OK;
}

static sk_status write_nodes(writer *w, const sk_onnx_node *from, int32_t count, SkOnnx__Node ***out,
                             size_t *n)
{
    NEW_LIST(*out, count);
    *n = (size_t)count;
    for (int32_t i = 0; i < count; i++) {
        SkOnnx__Node *to;
        NEW_MESSAGE(to, SkOnnx__Node, sk_onnx__node__init);
        (*out)[i] = to;
        to->op_type = text(from[i].op);
        to->name = optional_text(from[i].name);
        to->domain = optional_text(from[i].domain);
        SK_TRY(write_texts(w, from[i].in, from[i].n_in, &to->input, &to->n_input));
        SK_TRY(write_texts(w, from[i].out, from[i].n_out, &to->output, &to->n_output));
        SK_TRY(write_attrs(w, from[i].attrs, from[i].n_attrs, &to->attribute, &to->n_attribute));
    }
    return SK_OK;
}

static sk_status write_shape(writer *w, const sk_onnx_value *from, SkOnnx__Shape **out)
{
    NEW_MESSAGE(*out, SkOnnx__Shape, sk_onnx__shape__init);
    NEW_LIST((*out)->dim, from->shape.rank);
    (*out)->n_dim = (size_t)from->shape.rank;
    for (int32_t i = 0; i < from->shape.rank; i++) {
        SkOnnx__Dimension *dim;
        NEW_MESSAGE(dim, SkOnnx__Dimension, sk_onnx__dimension__init);
        (*out)->dim[i] = dim;
        dim->has_dim_value = from->shape.dim[i] >= 0;
        dim->dim_value = from->shape.dim[i] >= 0 ? from->shape.dim[i] : 0;
        dim->dim_param = dim->has_dim_value ? NULL : optional_text(from->param[i]);
    }
    return SK_OK;
}

static sk_status write_values(writer *w, const sk_onnx_value *from, int32_t count, SkOnnx__ValueInfo ***out,
                              size_t *n)
{
    NEW_LIST(*out, count);
    *n = (size_t)count;
    for (int32_t i = 0; i < count; i++) {
        SkOnnx__ValueInfo *to;
        NEW_MESSAGE(to, SkOnnx__ValueInfo, sk_onnx__value_info__init);
        (*out)[i] = to;
        to->name = text(from[i].name);
        NEW_MESSAGE(to->type, SkOnnx__Type, sk_onnx__type__init);
        NEW_MESSAGE(to->type->tensor_type, SkOnnx__TensorType, sk_onnx__tensor_type__init);
        to->type->tensor_type->has_elem_type = true;
        to->type->tensor_type->elem_type = sk_onnx_type_of(from[i].dtype);
        if (from[i].shape.rank >= 0)
            SK_TRY(write_shape(w, &from[i], &to->type->tensor_type->shape));
    }
    return SK_OK;
}

static sk_status write_graph(writer *w, const sk_onnx_graph *from, SkOnnx__Graph **out)
{
    SkOnnx__Graph *to;
    NEW_MESSAGE(to, SkOnnx__Graph, sk_onnx__graph__init);
    *out = to;
    to->name = text(*from->name ? from->name : "graph");
    SK_TRY(write_nodes(w, from->nodes, from->n_nodes, &to->node, &to->n_node));
    NEW_LIST(to->initializer, from->n_initializers);
    to->n_initializer = (size_t)from->n_initializers;
    for (int32_t i = 0; i < from->n_initializers; i++)
        SK_TRY(write_tensor(w, &from->initializers[i], &to->initializer[i]));
    SK_TRY(write_values(w, from->inputs, from->n_inputs, &to->input, &to->n_input));
    return write_values(w, from->outputs, from->n_outputs, &to->output, &to->n_output);
}

static sk_status write_opsets(writer *w, const sk_onnx_opset *from, int32_t count, SkOnnx__OperatorSet ***out,
                              size_t *n)
{
    NEW_LIST(*out, count);
    *n = (size_t)count;
    for (int32_t i = 0; i < count; i++) {
        NEW_MESSAGE((*out)[i], SkOnnx__OperatorSet, sk_onnx__operator_set__init);
        (*out)[i]->domain = text(from[i].domain);
        (*out)[i]->has_version = true;
        (*out)[i]->version = from[i].version;
    }
    return SK_OK;
}

static sk_status write_functions(writer *w, const sk_onnx_model *from, SkOnnx__Model *model)
{
    NEW_LIST(model->functions, from->n_functions);
    model->n_functions = (size_t)from->n_functions;
    for (int32_t i = 0; i < from->n_functions; i++) {
        const sk_onnx_function *f = &from->functions[i];
        SkOnnx__Function *to;
        NEW_MESSAGE(to, SkOnnx__Function, sk_onnx__function__init);
        model->functions[i] = to;
        to->name = text(f->name);
        to->domain = text(f->domain);
        SK_TRY(write_texts(w, f->in, f->n_in, &to->input, &to->n_input));
        SK_TRY(write_texts(w, f->out, f->n_out, &to->output, &to->n_output));
        SK_TRY(write_nodes(w, f->nodes, f->n_nodes, &to->node, &to->n_node));
        SK_TRY(write_opsets(w, f->opsets, f->n_opsets, &to->opset_import, &to->n_opset_import));
        SK_TRY(write_attrs(w, f->defaults, f->n_defaults, &to->attribute_proto, &to->n_attribute_proto));
    }
    return SK_OK;
}

static sk_status write_model(writer *w, const sk_onnx_model *from, SkOnnx__Model **out)
{
    SkOnnx__Model *to;
    NEW_MESSAGE(to, SkOnnx__Model, sk_onnx__model__init);
    *out = to;
    to->has_ir_version = true;
    to->ir_version = from->ir_version;
    to->producer_name = optional_text(from->producer);
    to->producer_version = optional_text(from->producer_version);
    to->doc_string = optional_text(from->doc);
    SK_TRY(write_opsets(w, from->opsets, from->n_opsets, &to->opset_import, &to->n_opset_import));
    NEW_LIST(to->metadata_props, from->n_metadata);
    to->n_metadata_props = (size_t)from->n_metadata;
    for (int32_t i = 0; i < from->n_metadata; i++) {
        NEW_MESSAGE(to->metadata_props[i], SkOnnx__Pair, sk_onnx__pair__init);
        to->metadata_props[i]->key = text(from->metadata[i][0]);
        to->metadata_props[i]->value = text(from->metadata[i][1]);
    }
    SK_TRY(write_functions(w, from, to));
    return write_graph(w, &from->graph, &to->graph);
}

sk_status sk_onnx_write(const sk_onnx_model *model, uint8_t **out, size_t *length, sk_error *err)
{
    writer w = {.err = err};
    SkOnnx__Model *message = NULL;
    sk_status status = SK_OK;
    *out = NULL;
    SK_TRY_GOTO(sk_arena_open(0, &w.arena, err));
    SK_TRY_GOTO(write_model(&w, model, &message));
    *length = sk_onnx__model__get_packed_size(message);
    if (*length > (size_t)INT32_MAX) {
        status = sk_fail(err, SK_ERR_LIMIT,
                         "the ONNX file would have %zu bytes and its format ends at 2 GiB; export "
                         "in half precision",
                         *length);
        goto done;
    }
    *out = sk_malloc(*length);
    if (!*out) {
        status = sk_fail_memory(err, *length);
        goto done;
    }
    sk_onnx__model__pack(message, *out);
done:
    sk_arena_close(&w.arena);
    return status;
}
