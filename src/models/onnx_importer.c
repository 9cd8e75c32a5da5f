/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_importer.h"

#include "formats/onnx_read.h"
#include "graph/reference.h"

#include <stdio.h>
#include <string.h>

/* Constants beyond this are left to specialisation; below it are the shape arithmetic and small tables. */
#define FOLD_ELEMENTS ((int64_t)1 << 16)
#define FOLD_TOTAL    ((int64_t)1 << 24)

const char *sk_im_name(const sk_importer *m)
{
    return *m->node->name ? m->node->name : m->node->n_out ? m->node->out[0] : m->node->op;
}

sk_value sk_im_fail(sk_importer *m, sk_status code, const char *format, ...)
{
    char text[SK_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sk_builder_fail(&m->b, code, "%s: %s node '%.160s': %s", m->what, m->node->op, sk_im_name(m),
                           text);
}

/* --- inputs --- */

bool sk_im_has(const sk_importer *m, int index)
{
    return index < m->node->n_in && *m->node->in[index];
}

sk_value sk_im_in(sk_importer *m, int index)
{
    int32_t number = SK_VALUE_NONE;
    if (m->b.status != SK_OK || !sk_im_has(m, index))
        return SK_VALUE_NONE;
    const char *name = m->node->in[index];
    if (!sk_onnx_scope_find(m->scope, name, &number))
        return sk_im_fail(m, SK_ERR_FORMAT, "input '%.160s' is made by no node, input or weight", name);
    if (number == SK_VALUE_NONE)
        return sk_im_fail(m, SK_ERR_UNSUPPORTED,
                          "input '%.160s' is an optional result that skitter does not compute", name);
    return number;
}

sk_value sk_im_in_i64(sk_importer *m, int index)
{
    sk_value v = sk_im_in(m, index);
    if (v == SK_VALUE_NONE || m->b.graph->values[v].dtype == SK_DTYPE_I64)
        return v;
    return sk_im_cast(m, v, SK_DTYPE_I64);
}

/* Fixes the sizes of what has been imported so far, where the file fixes its inputs, to learn a value that
 * hangs on shapes only. */
static sk_value settle(sk_importer *m, sk_value v)
{
    sk_graph *part = NULL, *fixed = NULL;
    sk_shape shapes[8];
    sk_error ignored;
    sk_graph *graph = m->b.graph;
    sk_value out = SK_VALUE_NONE;
    for (int i = 0; i < graph->n_inputs; i++) {
        shapes[i] = graph->values[graph->inputs[i]].shape;
        if (!sk_shape_known(&shapes[i]))
            return SK_VALUE_NONE;
    }
    if (sk_graph_clone(graph, &part, &ignored) != SK_OK)
        return SK_VALUE_NONE;
    part->outputs[0] = v;
    part->n_outputs = 1;
    if (sk_graph_specialise(part, shapes, graph->n_inputs, &fixed, &ignored) == SK_OK &&
        sk_value_is_constant(fixed, fixed->outputs[0])) {
        const sk_value_info *info = &fixed->values[fixed->outputs[0]];
        out = sk_b_constant_blob(&m->b, NULL, info->dtype, &info->shape, info->blob, info->offset);
    }
    sk_graph_close(&fixed);
    sk_graph_close(&part);
    return out;
}

bool sk_im_constant(sk_importer *m, int index, sk_tensor *out)
{
    sk_value v = sk_im_in(m, index);
    if (v != SK_VALUE_NONE && !sk_value_is_constant(m->b.graph, v))
        v = settle(m, v);
    if (v == SK_VALUE_NONE)
        return false;
    *out = sk_value_tensor(m->b.graph, v);
    return true;
}

int sk_im_ints(sk_importer *m, int index, const char *attr, int64_t *values, int capacity)
{
    sk_tensor tensor = {0};
    int64_t count = -1;
    const sk_onnx_attr *a = attr ? sk_im_attr(m, attr) : NULL;
    const bool by_input = index >= 0 && sk_im_has(m, index);
    if (by_input && !sk_im_constant(m, index, &tensor)) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "input %d ('%.120s') must be known before the network runs", index,
                   m->node->in[index]);
        return -1;
    }
    if (by_input)
        count = sk_shape_count(&tensor.shape);
    else if (a && a->type == SK_ONNX_INTS)
        count = a->count;
    if (count > capacity) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "a list of %lld numbers where at most %d are possible",
                   (long long)count, capacity);
        return -1;
    }
    for (int64_t i = 0; i < count; i++)
        values[i] = by_input ? sk_tensor_int_at(&tensor, i) : a->ints[i];
    return (int)count;
}

/* --- attributes --- */

/* Inside a function an attribute may stand for one of the call, or for the function's default. */
static const sk_onnx_attr *resolve(const sk_onnx_frame *frame, const sk_onnx_attr *attr)
{
    while (attr && *attr->ref && frame) {
        const sk_onnx_attr *given = sk_onnx_find_attr(frame->node, attr->ref);
        if (!given)
            for (int32_t i = 0; i < frame->function->n_defaults; i++)
                if (strcmp(frame->function->defaults[i].name, attr->ref) == 0)
                    return &frame->function->defaults[i];
        attr = given;
        frame = frame->caller;
    }
    return attr && *attr->ref ? NULL : attr;
}

const sk_onnx_attr *sk_im_attr(const sk_importer *m, const char *name)
{
    return resolve(m->frame, sk_onnx_find_attr(m->node, name));
}

int64_t sk_im_int(const sk_importer *m, const char *name, int64_t fallback)
{
    const sk_onnx_attr *attr = sk_im_attr(m, name);
    return attr && attr->type == SK_ONNX_INT ? attr->i : fallback;
}

int32_t sk_im_int32(sk_importer *m, const char *name, int32_t fallback)
{
    int64_t value = sk_im_int(m, name, fallback);
    if (value < INT32_MIN || value > INT32_MAX)
        sk_im_fail(m, SK_ERR_FORMAT, "%s = %lld is out of range", name, (long long)value);
    return (int32_t)value;
}

float sk_im_float(const sk_importer *m, const char *name, float fallback)
{
    const sk_onnx_attr *attr = sk_im_attr(m, name);
    return attr && attr->type == SK_ONNX_FLOAT ? attr->f : fallback;
}

const char *sk_im_text(const sk_importer *m, const char *name, const char *fallback)
{
    const sk_onnx_attr *attr = sk_im_attr(m, name);
    return attr && attr->type == SK_ONNX_STRING ? attr->s : fallback;
}

/* --- nodes --- */

/* True when every input is a constant small enough to compute with now. */
static bool can_fold(const sk_importer *m, const sk_value *in, int n_in, sk_tensor *ins)
{
    for (int i = 0; i < n_in; i++) {
        ins[i] = (sk_tensor){0};
        if (in[i] == SK_VALUE_NONE)
            continue;
        ins[i] = sk_value_tensor(m->b.graph, in[i]);
        if (!ins[i].data || sk_shape_count(&ins[i].shape) > FOLD_ELEMENTS)
            return false;
    }
    return true;
}

/* Computes the node and adds its only result as a constant; SK_VALUE_NONE when that is not possible. */
static sk_value fold(sk_importer *m, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in)
{
    sk_tensor ins[8], out = {0};
    sk_value output = 0, result = SK_VALUE_NONE, copy[8];
    sk_error ignored;
    bool eight_bits = op == SK_OP_DEQUANTIZE && sk_dtype_bytes(m->b.graph->values[in[0]].dtype) == 1;
    if (eight_bits) /* these may be weights that stay so; specialisation knows */
        return SK_VALUE_NONE;
    if (n_in > 8 || !can_fold(m, in, n_in, ins))
        return SK_VALUE_NONE;
    memcpy(copy, in, (size_t)n_in * sizeof *in);
    sk_node node = {.op = op, .n_in = n_in, .n_out = 1, .in = copy, .out = &output, .name = sk_im_name(m)};
    if (attrs)
        node.a = *attrs;
    if (sk_node_infer(&node, ins, &out, &ignored) != SK_OK || !sk_shape_known(&out.shape))
        return SK_VALUE_NONE;
    int64_t count = sk_shape_count(&out.shape);
    if (count < 0 || count > FOLD_ELEMENTS || count > FOLD_TOTAL - m->folded)
        return SK_VALUE_NONE;
    m->folded += count;
    out.data = sk_malloc(sk_tensor_bytes(&out));
    if (out.data && sk_node_execute(&node, ins, &out, &ignored) == SK_OK)
        result = sk_b_constant(&m->b, NULL, out.dtype, &out.shape, out.data);
    sk_free(out.data);
    return result;
}

sk_value sk_im_node(sk_importer *m, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in)
{
    if (m->b.status != SK_OK)
        return SK_VALUE_NONE;
    sk_value v = fold(m, op, attrs, in, n_in);
    return v != SK_VALUE_NONE ? v : sk_b_node(&m->b, op, attrs, in, n_in, sk_im_name(m));
}

void sk_im_node_n(sk_importer *m, sk_op op, const sk_attrs *attrs, const sk_value *in, int n_in,
                  sk_value *outs, int n_out)
{
    sk_b_node_n(&m->b, op, attrs, in, n_in, sk_im_name(m), outs, n_out);
}

sk_value sk_im_unary(sk_importer *m, sk_unary kind, sk_value x)
{
    sk_attrs a = {.unary.kind = kind};
    return sk_im_node(m, SK_OP_UNARY, &a, &x, 1);
}

sk_value sk_im_binary(sk_importer *m, sk_binary kind, sk_value x, sk_value y)
{
    sk_attrs a = {.binary.kind = kind};
    return sk_im_node(m, SK_OP_BINARY, &a, (sk_value[]){x, y}, 2);
}

sk_value sk_im_cast(sk_importer *m, sk_value x, sk_dtype to)
{
    sk_attrs a = {.cast.to = to};
    return sk_im_node(m, SK_OP_CAST, &a, &x, 1);
}

void sk_im_out(sk_importer *m, int index, sk_value value)
{
    if (m->b.status != SK_OK || !sk_im_wants(m, index))
        return;
    sk_status status = sk_onnx_scope_add(m->scope, m->node->out[index], value, &m->b.error);
    if (status != SK_OK) {
        char text[SK_ERROR_MESSAGE_MAX];
        memcpy(text, m->b.error.message, sizeof text);
        sk_im_fail(m, status == SK_ERR_MISMATCH ? SK_ERR_FORMAT : status, "%.300s", text);
    }
}

bool sk_im_wants(const sk_importer *m, int index)
{
    return index < m->node->n_out && *m->node->out[index];
}

/* --- types and tensors --- */

static sk_dtype widened(sk_dtype dtype)
{
    return dtype == SK_DTYPE_F16 || dtype == SK_DTYPE_BF16 ? SK_DTYPE_F32 : dtype;
}

sk_dtype sk_im_dtype(int64_t wire)
{
    return wire == (int32_t)wire ? widened(sk_onnx_dtype((int32_t)wire)) : SK_DTYPE_NONE;
}

sk_value sk_im_tensor(sk_importer *m, const sk_onnx_tensor *tensor)
{
    sk_dtype dtype = widened(tensor->dtype);
    if (m->b.status != SK_OK)
        return SK_VALUE_NONE;
    if (dtype == tensor->dtype)
        return sk_b_constant_blob(&m->b, tensor->name, dtype, &tensor->shape, tensor->blob, tensor->offset);
    size_t count = (size_t)sk_shape_count(&tensor->shape);
    sk_blob *blob = NULL;
    m->b.status = sk_blob_alloc(count * sk_dtype_bytes(dtype), &blob, &m->b.error);
    if (m->b.status != SK_OK)
        return SK_VALUE_NONE;
    sk_convert(tensor->dtype, (const char *)sk_blob_data(tensor->blob) + tensor->offset, dtype,
               sk_blob_data(blob), count);
    sk_value v = sk_b_constant_blob(&m->b, tensor->name, dtype, &tensor->shape, blob, 0);
    sk_blob_unref(&blob);
    return v;
}
