/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/quantise.h"
#include "models/onnx_exporter.h"
#include "models/onnx_importer.h"

/* QuantizeLinear and DequantizeLinear, in and out. */

/* A constant input as the graph wants it, known before the network runs. */
static sk_value constant_input(sk_importer *m, int index, const char *what)
{
    sk_tensor t;
    if (!sk_im_constant(m, index, &t)) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "its %s must be known before the network runs", what);
        return SK_VALUE_NONE;
    }
    return sk_b_constant(&m->b, NULL, t.dtype, &t.shape, t.data);
}

void sk_import_quantise(sk_importer *m)
{
    bool narrows = m->op->kind == SK_OP_QUANTIZE;
    sk_attrs a = {.quantise.axis = sk_im_int32(m, "axis", 1)};
    int64_t type = sk_im_int(m, "output_dtype", 0);
    sk_value in[] = {sk_im_in(m, 0), constant_input(m, 1, "scale"), SK_VALUE_NONE};
    if (sk_im_int(m, "block_size", 0) != 0)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "scales for blocks of %lld are not supported",
                   (long long)sk_im_int(m, "block_size", 0));
    if (narrows && type != 0 && sk_im_dtype(type) != SK_DTYPE_U8 && sk_im_dtype(type) != SK_DTYPE_I8 &&
        sk_im_dtype(type) != SK_DTYPE_F8)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "its element type %lld; uint8, int8 and float8e4m3fn are possible",
                   (long long)type);
    if (narrows && sk_im_int(m, "saturate", 1) == 0)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "numbers beyond the largest that become none (saturate = 0)");
    if (sk_im_has(m, 2)) {
        in[2] = constant_input(m, 2, "zero point");
    } else if (narrows && m->b.status == SK_OK) {
        static const uint8_t zeros[4096] = {0};
        const sk_shape *shape = &m->b.graph->values[in[1]].shape;
        sk_dtype dtype = type != 0 ? sk_im_dtype(type) : SK_DTYPE_U8;
        if (sk_shape_count(shape) > (int64_t)sizeof zeros)
            sk_im_fail(m, SK_ERR_LIMIT, "more than %zu scales without zero points", sizeof zeros);
        else
            in[2] = sk_b_constant(&m->b, NULL, dtype, shape, zeros);
    }
    sk_node node = {.op = (sk_op)m->op->kind, .n_in = 3, .in = in, .name = sk_im_name(m), .a = a};
    sk_error why;
    if (m->b.status == SK_OK && sk_quantise_check_node(m->b.graph, &node, &why) != SK_OK)
        sk_builder_fail(&m->b, why.code, "%s: %s", m->what, why.message);
    sk_im_out(m, 0, sk_im_node(m, (sk_op)m->op->kind, &a, in, in[2] == SK_VALUE_NONE ? 2 : 3));
}

void sk_export_quantise(sk_exporter *e)
{
    sk_onnx_attr axis = sk_ex_attr_int("axis", e->node->a.quantise.axis);
    sk_tensor scale = sk_ex_constant(e, 1);
    const char *in[] = {sk_ex_in(e, 0), sk_ex_in(e, 1), sk_ex_in(e, 2)};
    if (e->half)
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "a network in eight bits cannot be written in float16 as well");
    if (e->opset < SK_ONNX_OPSET_F8 && sk_graph_is_f8(e->graph))
        sk_ex_fail(e, SK_ERR_UNSUPPORTED, "fp8 (float8e4m3fn) needs opset %d, not %d", SK_ONNX_OPSET_F8,
                   e->opset);
    sk_ex_emit(e, e->node->op == SK_OP_QUANTIZE ? "QuantizeLinear" : "DequantizeLinear", in, 3, &axis,
               scale.data && sk_shape_count(&scale.shape) > 1, sk_ex_out(e, 0));
}
