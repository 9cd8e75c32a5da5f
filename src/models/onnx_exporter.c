/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_exporter.h"

#include "graph/ops.h"
#include "models/onnx_import.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_ITEMS ((size_t)1 << 22)

void sk_ex_fail(sk_exporter *e, sk_status code, const char *format, ...)
{
    char why[SK_ERROR_MESSAGE_MAX / 2], node[SK_NODE_TEXT] = "the graph";
    va_list args;
    if (e->status != SK_OK)
        return;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (e->node)
        sk_node_text(e->node, node, sizeof node);
    e->status = sk_fail(&e->error, code, "writing ONNX: %s: %s", node, why);
}

/* Keeps a copy in the model's arena; null after a failure. */
static void *keep(sk_exporter *e, const void *data, size_t bytes)
{
    void *copy = e->status == SK_OK ? sk_arena_alloc(e->model->arena, bytes) : NULL;
    if (copy && bytes)
        memcpy(copy, data, bytes);
    else if (!copy)
        sk_ex_fail(e, SK_ERR_MEMORY, "out of memory");
    return copy;
}

/* --- names --- */

/* A name nobody has yet: the wish itself, or with a number behind it. */
static const char *claim(sk_exporter *e, sk_onnx_scope *scope, const char *wish)
{
    char text[600];
    int32_t other;
    snprintf(text, sizeof text, "%.500s", wish);
    while (e->status == SK_OK && sk_onnx_scope_find_here(scope, text, &other))
        snprintf(text, sizeof text, "%.500s_%d", wish, ++e->fresh);
    const char *name = keep(e, text, strlen(text) + 1);
    if (name)
        e->status = sk_onnx_scope_add(scope, name, 0, &e->error);
    return e->status == SK_OK ? name : "";
}

static const char *fresh_name(sk_exporter *e)
{
    char text[32];
    snprintf(text, sizeof text, "t%d", ++e->fresh);
    return claim(e, e->value_names, text);
}

/* Node names carry the tail's mark, by which our importer finds it again. */
static const char *node_name(sk_exporter *e, const char *op)
{
    char text[600];
    bool tail = e->node && (e->node->flags & SK_NODE_TAIL);
    const char *base = e->node && e->node->name && *e->node->name ? e->node->name : op;
    bool marked = strncmp(base, SK_ONNX_TAIL_SCOPE, strlen(SK_ONNX_TAIL_SCOPE)) == 0;
    snprintf(text, sizeof text, "%s%.500s", tail && !marked ? SK_ONNX_TAIL_SCOPE : "", base);
    return claim(e, e->node_names, text);
}

/* --- constants --- */

sk_dtype sk_onnx_written_type(sk_dtype dtype, bool half)
{
    return half && dtype == SK_DTYPE_F32 ? SK_DTYPE_F16 : dtype;
}

/* Values beyond float16's range stay finite. */
static void narrow_to_half(const float *from, uint16_t *to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float v = from[i];
        to[i] = sk_f32_to_f16(isfinite(v) ? fminf(fmaxf(v, -65504.0f), 65504.0f) : v);
    }
}

/* Adds an initializer; takes over the caller's reference on the blob. */
static void add_tensor(sk_exporter *e, const char *name, sk_dtype type, const sk_shape *shape, sk_blob *blob,
                       size_t offset)
{
    void *items = e->tensors;
    sk_status status = sk_onnx_keep_blob(e->model, blob, &e->error);
    if (status == SK_OK)
        status = sk_array_reserve(&items, &e->tensors_capacity, e->n_tensors + 1, sizeof *e->tensors,
                                  MAX_ITEMS, &e->error);
    e->tensors = items;
    if (status == SK_OK)
        e->tensors[e->n_tensors++] = (sk_onnx_tensor){name, type, *shape, blob, offset};
    else if (e->status == SK_OK)
        e->status = status;
}

static const char *add_constant(sk_exporter *e, sk_dtype type, const sk_shape *shape, const void *data)
{
    sk_blob *blob = NULL;
    sk_tensor view = {type, *shape, NULL};
    size_t bytes = sk_tensor_bytes(&view);
    const char *name = fresh_name(e);
    if (e->status == SK_OK)
        e->status = sk_blob_alloc(bytes, &blob, &e->error);
    if (e->status != SK_OK)
        return "";
    if (bytes)
        memcpy(sk_blob_data(blob), data, bytes);
    add_tensor(e, name, type, shape, blob, 0);
    return name;
}

const char *sk_ex_scalar(sk_exporter *e, sk_dtype type, double value)
{
    sk_shape shape = {.rank = 0};
    unsigned char data[8] = {0};
    float single = (float)value;
    sk_dtype written = sk_onnx_written_type(type, e->half);
    if (written == SK_DTYPE_F16)
        narrow_to_half(&single, (uint16_t *)(void *)data, 1);
    else
        sk_convert(SK_DTYPE_F64, &value, written, data, 1);
    return add_constant(e, written, &shape, data);
}

const char *sk_ex_ints(sk_exporter *e, const int64_t *values, int count)
{
    sk_shape shape = {.rank = 1, .dim = {count}};
    return add_constant(e, SK_DTYPE_I64, &shape, values);
}

const char *sk_ex_int(sk_exporter *e, int64_t value)
{
    sk_shape shape = {.rank = 0};
    return add_constant(e, SK_DTYPE_I64, &shape, &value);
}

const char *sk_ex_floats(sk_exporter *e, const float *values, int count)
{
    sk_shape shape = {.rank = 1, .dim = {count}};
    return add_constant(e, SK_DTYPE_F32, &shape, values);
}

/* Writes a constant of the graph, sharing its bytes unless they must be narrowed. */
static void write_constant(sk_exporter *e, const char *name, const sk_value_info *info, const sk_shape *shape)
{
    sk_dtype type = sk_onnx_written_type(info->dtype, e->half);
    sk_blob *blob = NULL;
    if (type == info->dtype) {
        add_tensor(e, name, type, shape, sk_blob_ref(info->blob), info->offset);
        return;
    }
    size_t count = (size_t)sk_shape_count(&info->shape);
    e->status = sk_blob_alloc(count * sizeof(uint16_t), &blob, &e->error);
    if (e->status != SK_OK)
        return;
    const void *from = (const char *)sk_blob_data(info->blob) + info->offset;
    narrow_to_half(from, sk_blob_data(blob), count);
    add_tensor(e, name, type, shape, blob, 0);
}

/* --- inputs and outputs of the node being written --- */

static const char *value_name(sk_exporter *e, sk_value v)
{
    const sk_value_info *info = &e->graph->values[v];
    if (e->names[v] || e->status != SK_OK)
        return e->names[v] ? e->names[v] : "";
    char text[32];
    snprintf(text, sizeof text, "v%d", v);
    e->names[v] = claim(e, e->value_names, info->blob && *info->name ? info->name : text);
    if (e->status == SK_OK && info->blob)
        write_constant(e, e->names[v], info, &info->shape);
    return e->names[v];
}

const char *sk_ex_in(sk_exporter *e, int i)
{
    if (i >= e->node->n_in || e->node->in[i] == SK_VALUE_NONE)
        return "";
    return value_name(e, e->node->in[i]);
}

const char *sk_ex_in_list(sk_exporter *e, int i)
{
    sk_tensor t = sk_ex_constant(e, i);
    if (!t.data || t.shape.rank != 0 || e->status != SK_OK)
        return sk_ex_in(e, i);
    const char *name = fresh_name(e);
    sk_shape list = {.rank = 1, .dim = {1}};
    if (e->status == SK_OK)
        write_constant(e, name, &e->graph->values[e->node->in[i]], &list);
    return name;
}

sk_tensor sk_ex_constant(const sk_exporter *e, int i)
{
    if (i >= e->node->n_in || e->node->in[i] == SK_VALUE_NONE ||
        !sk_value_is_constant(e->graph, e->node->in[i]))
        return (sk_tensor){0};
    return sk_value_tensor(e->graph, e->node->in[i]);
}

sk_dtype sk_ex_type(const sk_exporter *e, int i)
{
    return i < e->node->n_in && e->node->in[i] != SK_VALUE_NONE ? e->types[e->node->in[i]] : SK_DTYPE_NONE;
}

const char *sk_ex_out(const sk_exporter *e, int i)
{
    return i < e->node->n_out ? e->names[e->node->out[i]] : "";
}

/* --- nodes --- */

void sk_ex_emit_n(sk_exporter *e, const char *op, const char *const *in, int n_in, const sk_onnx_attr *attrs,
                  int n_attrs, const char *const *outs, int n_out)
{
    void *items = e->nodes;
    if (e->status != SK_OK)
        return;
    while (n_in > 0 && !*in[n_in - 1])
        n_in--; /* optional inputs left out at the end */
    sk_onnx_node node = {
        .op = op, .domain = "", .name = node_name(e, op), .n_in = n_in, .n_out = n_out, .n_attrs = n_attrs};
    node.in = keep(e, in, (size_t)n_in * sizeof *in);
    node.out = keep(e, outs, (size_t)n_out * sizeof *outs);
    node.attrs = keep(e, attrs, (size_t)n_attrs * sizeof *attrs);
    if (e->status == SK_OK)
        e->status = sk_array_reserve(&items, &e->nodes_capacity, e->n_nodes + 1, sizeof *e->nodes, MAX_ITEMS,
                                     &e->error);
    e->nodes = items;
    if (e->status == SK_OK)
        e->nodes[e->n_nodes++] = node;
}

const char *sk_ex_emit(sk_exporter *e, const char *op, const char *const *in, int n_in,
                       const sk_onnx_attr *attrs, int n_attrs, const char *out)
{
    if (!out)
        out = fresh_name(e);
    sk_ex_emit_n(e, op, in, n_in, attrs, n_attrs, &out, 1);
    return out;
}

const char *sk_ex_1(sk_exporter *e, const char *op, const char *x, const char *out)
{
    return sk_ex_emit(e, op, &x, 1, NULL, 0, out);
}

const char *sk_ex_2(sk_exporter *e, const char *op, const char *x, const char *y, const char *out)
{
    return sk_ex_emit(e, op, (const char *[]){x, y}, 2, NULL, 0, out);
}

sk_onnx_attr sk_ex_attr_int(const char *name, int64_t value)
{
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_INT, .ref = "", .s = "", .i = value};
}

sk_onnx_attr sk_ex_attr_float(const char *name, float value)
{
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_FLOAT, .ref = "", .s = "", .f = value};
}

sk_onnx_attr sk_ex_attr_text(sk_exporter *e, const char *name, const char *value)
{
    const char *kept = keep(e, value, strlen(value) + 1);
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_STRING, .ref = "", .s = kept ? kept : ""};
}

sk_onnx_attr sk_ex_attr_ints(sk_exporter *e, const char *name, const int32_t *values, int count)
{
    int64_t wide[16];
    for (int i = 0; i < count; i++)
        wide[i] = values[i];
    return (sk_onnx_attr){.name = name,
                          .type = SK_ONNX_INTS,
                          .ref = "",
                          .s = "",
                          .count = count,
                          .ints = keep(e, wide, (size_t)count * sizeof *wide)};
}

sk_onnx_attr sk_ex_attr_tensor(sk_exporter *e, const char *name, sk_dtype type, double value)
{
    /* Made as an initializer, then taken off that list again. */
    sk_ex_scalar(e, type, value);
    sk_onnx_tensor *tensor =
        e->status == SK_OK ? keep(e, &e->tensors[e->n_tensors - 1], sizeof *tensor) : NULL;
    if (tensor) {
        tensor->name = "";
        tensor->shape = (sk_shape){.rank = 1, .dim = {1}};
        e->n_tensors--;
    }
    return (sk_onnx_attr){.name = name, .type = SK_ONNX_TENSOR, .ref = "", .s = "", .tensor = tensor};
}
