/* SPDX-License-Identifier: Apache-2.0 */
#include "models/onnx_importer.h"

#include <string.h>

/* Data movement and what is made from shapes. */

/* A rank-1 i64 constant from an attribute; SK_VALUE_NONE when it is absent. */
static sk_value ints_attr(sk_importer *m, const char *name)
{
    const sk_onnx_attr *attr = sk_im_attr(m, name);
    if (!attr || attr->type != SK_ONNX_INTS)
        return SK_VALUE_NONE;
    static const int64_t none;
    return sk_b_i64s(&m->b, attr->count ? attr->ints : &none, attr->count);
}

void sk_import_constant(sk_importer *m)
{
    const sk_onnx_attr *a = NULL;
    static const char *const names[] = {"value", "value_float", "value_int", "value_floats", "value_ints"};
    for (size_t i = 0; !a && i < sizeof names / sizeof *names; i++)
        a = sk_im_attr(m, names[i]);
    sk_value v = SK_VALUE_NONE;
    switch (a ? (int)a->type : 0) {
    case SK_ONNX_TENSOR: v = sk_im_tensor(m, a->tensor); break;
    case SK_ONNX_FLOAT: v = sk_b_f32(&m->b, a->f); break;
    case SK_ONNX_INT: v = sk_b_i64(&m->b, a->i); break;
    case SK_ONNX_FLOATS: {
        sk_shape shape = {.rank = 1, .dim = {a->count}};
        v = sk_b_constant(&m->b, NULL, SK_DTYPE_F32, &shape, a->floats);
        break;
    }
    case SK_ONNX_INTS: v = ints_attr(m, a->name); break;
    default: sk_im_fail(m, SK_ERR_UNSUPPORTED, "a constant that is neither numbers nor a tensor"); break;
    }
    sk_im_out(m, 0, v);
}

void sk_import_identity(sk_importer *m)
{
    sk_im_out(m, 0, sk_im_in(m, 0));
    sk_im_out(m, 1, SK_VALUE_NONE); /* Dropout's mask */
}

void sk_import_concat(sk_importer *m)
{
    sk_attrs a = {.axis = sk_im_int32(m, "axis", 1)};
    int count = m->node->n_in;
    sk_value *in = sk_malloc((size_t)count * sizeof *in);
    if (!in) {
        sk_im_fail(m, SK_ERR_MEMORY, "out of memory");
        return;
    }
    for (int i = 0; i < count; i++) {
        in[i] = sk_im_in(m, i);
        if (in[i] == SK_VALUE_NONE)
            sk_im_fail(m, SK_ERR_FORMAT, "input %d is missing", i);
    }
    sk_im_out(m, 0, sk_im_node(m, SK_OP_CONCAT, &a, in, count));
    sk_free(in);
}

void sk_import_split(sk_importer *m)
{
    sk_attrs a = {.split = {.axis = sk_im_int32(m, "axis", 0)}};
    sk_value x = sk_im_in(m, 0), outs[64];
    int n = m->node->n_out;
    int64_t sizes[64];
    int count = sk_im_ints(m, m->opset >= 13 ? 1 : -1, m->opset >= 13 ? NULL : "split", sizes, 64);
    if (n < 1 || n > 64) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "%d parts; 1 to 64 are possible", n);
        return;
    }
    if (count >= 0 && count != n)
        sk_im_fail(m, SK_ERR_FORMAT, "%d sizes for %d parts", count, n);
    bool equal = true;
    for (int i = 1; i < count; i++)
        equal = equal && sizes[i] == sizes[0];
    a.split.n_sizes = count > 0 && (!equal || count <= 16) ? count : 0;
    if (a.split.n_sizes > 16)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "more than 16 unequal parts");
    for (int i = 0; i < a.split.n_sizes && i < 16; i++)
        a.split.sizes[i] = sizes[i];
    sk_im_node_n(m, SK_OP_SPLIT, &a, &x, 1, outs, n);
    for (int i = 0; i < n; i++)
        sk_im_out(m, i, outs[i]);
}

void sk_import_slice(sk_importer *m)
{
    sk_value in[5];
    int count = 5;
    if (m->opset < 10) {
        in[1] = ints_attr(m, "starts");
        in[2] = ints_attr(m, "ends");
        in[3] = ints_attr(m, "axes");
        in[4] = SK_VALUE_NONE;
    } else {
        for (int i = 1; i < 5; i++)
            in[i] = sk_im_in_i64(m, i);
    }
    in[0] = sk_im_in(m, 0);
    if (in[1] == SK_VALUE_NONE || in[2] == SK_VALUE_NONE)
        sk_im_fail(m, SK_ERR_FORMAT, "starts or ends are missing");
    while (in[count - 1] == SK_VALUE_NONE && count > 3)
        count--;
    sk_im_out(m, 0, sk_im_node(m, SK_OP_SLICE, NULL, in, count));
}

void sk_import_reshape(sk_importer *m)
{
    sk_tensor dims;
    if (sk_im_int(m, "allowzero", 0) != 0) {
        bool plain = sk_im_constant(m, 1, &dims);
        for (int64_t i = 0; plain && i < sk_shape_count(&dims.shape); i++)
            plain = sk_tensor_int_at(&dims, i) != 0;
        if (!plain)
            sk_im_fail(m, SK_ERR_UNSUPPORTED, "allowzero with sizes of zero is not supported");
    }
    sk_im_out(m, 0, sk_im_node(m, SK_OP_RESHAPE, NULL, (sk_value[]){sk_im_in(m, 0), sk_im_in_i64(m, 1)}, 2));
}

void sk_import_transpose(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    const sk_onnx_attr *perm = sk_im_attr(m, "perm");
    sk_attrs a = {.perm = {0}};
    if (perm && perm->type != SK_ONNX_INTS) {
        sk_im_fail(m, SK_ERR_FORMAT, "perm is no list of axes");
        return;
    }
    int rank = perm ? perm->count : -1;
    bool seen[SK_MAX_RANK] = {false};
    if (rank < 0 && x != SK_VALUE_NONE)
        rank = m->b.graph->values[x].shape.rank; /* known for weights and inputs; all axes are reversed */
    if (rank < 0 || rank > SK_MAX_RANK) {
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "the order of the axes is missing or has more than %d",
                   SK_MAX_RANK);
        return;
    }
    for (int i = 0; i < rank; i++) {
        int64_t axis = perm ? perm->ints[i] : rank - 1 - i;
        if (axis < 0 || axis >= rank || seen[axis]) {
            sk_im_fail(m, SK_ERR_FORMAT, "perm is no permutation");
            return;
        }
        seen[axis] = true;
        a.perm[i] = (int32_t)axis;
    }
    sk_im_out(m, 0, sk_im_node(m, SK_OP_TRANSPOSE, &a, &x, 1));
}

void sk_import_squeeze(sk_importer *m)
{
    sk_op op = (sk_op)m->op->kind;
    sk_value axes = m->opset < 13 ? ints_attr(m, "axes") : sk_im_in_i64(m, 1);
    if (axes == SK_VALUE_NONE && op == SK_OP_UNSQUEEZE)
        sk_im_fail(m, SK_ERR_FORMAT, "the axes are missing");
    sk_im_out(m, 0,
              sk_im_node(m, op, NULL, (sk_value[]){sk_im_in(m, 0), axes}, axes == SK_VALUE_NONE ? 1 : 2));
}

void sk_import_flatten(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {.axis = sk_im_int32(m, "axis", 1)};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_FLATTEN, &a, &x, 1));
}

void sk_import_expand(sk_importer *m)
{
    sk_im_out(m, 0,
              sk_im_node(m, (sk_op)m->op->kind, NULL, (sk_value[]){sk_im_in(m, 0), sk_im_in_i64(m, 1)}, 2));
}

/* Opset 18: pads for some axes only. The full list is zeros with those put in place: zeros[2 * rank], at
 * axes and rank + axes. */
static sk_value pads_for_axes(sk_importer *m, sk_value x, sk_value pads, sk_value axes)
{
    sk_attrs a = {.axis = 0}, zeros = {.fill = {.dtype = SK_DTYPE_I64}};
    int64_t one = 1;
    sk_value shape = sk_im_node(m, SK_OP_SHAPE, NULL, &x, 1);
    sk_value rank = sk_im_node(m, SK_OP_SHAPE, NULL, &shape, 1);
    sk_value twice = sk_im_binary(m, SK_BINARY_MUL, rank, sk_b_i64(&m->b, 2));
    sk_value none = sk_im_node(m, SK_OP_CONSTANT_OF_SHAPE, &zeros, &twice, 1);
    sk_value ones = sk_b_i64s(&m->b, &one, 1);
    /* (axes + rank) mod rank: negative axes count from the end */
    sk_value from = sk_im_binary(m, SK_BINARY_MOD, sk_im_binary(m, SK_BINARY_ADD, axes, rank), rank);
    sk_value to = sk_im_binary(m, SK_BINARY_ADD, from, sk_im_binary(m, SK_BINARY_MUL, rank, ones));
    sk_value at = sk_im_node(m, SK_OP_CONCAT, &a, (sk_value[]){from, to}, 2);
    return sk_im_node(m, SK_OP_SCATTER_ELEMENTS, &a, (sk_value[]){none, at, pads}, 3);
}

void sk_import_pad(sk_importer *m)
{
    static const char *const modes[] = {"constant", "edge", "reflect"};
    const char *mode = sk_im_text(m, "mode", "constant");
    sk_attrs a = {.pad.mode = -1};
    sk_value in[] = {sk_im_in(m, 0), SK_VALUE_NONE, SK_VALUE_NONE};
    for (int i = 0; i < 3; i++)
        if (strcmp(mode, modes[i]) == 0)
            a.pad.mode = i;
    if (a.pad.mode < 0)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "padding by '%.40s' is not supported", mode);
    if (m->opset < 11) {
        in[1] = ints_attr(m, "pads");
        in[2] = sk_b_f32(&m->b, sk_im_float(m, "value", 0));
    } else {
        in[1] = sk_im_in_i64(m, 1);
        in[2] = sk_im_in(m, 2);
        if (sk_im_has(m, 3))
            in[1] = pads_for_axes(m, in[0], in[1], sk_im_in_i64(m, 3));
    }
    if (in[1] == SK_VALUE_NONE)
        sk_im_fail(m, SK_ERR_FORMAT, "the amounts are missing");
    sk_im_out(m, 0, sk_im_node(m, SK_OP_PAD, &a, in, in[2] == SK_VALUE_NONE ? 2 : 3));
}

void sk_import_gather(sk_importer *m)
{
    sk_op op = (sk_op)m->op->kind;
    sk_attrs a = {.axis = sk_im_int32(m, op == SK_OP_GATHER_ND ? "batch_dims" : "axis", 0)};
    sk_im_out(m, 0, sk_im_node(m, op, &a, (sk_value[]){sk_im_in(m, 0), sk_im_in(m, 1)}, 2));
}

void sk_import_scatter(sk_importer *m)
{
    sk_attrs a = {.axis = sk_im_int32(m, "axis", 0)};
    if (strcmp(sk_im_text(m, "reduction", "none"), "none") != 0)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "scattering with a reduction is not supported");
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in(m, 2)};
    sk_im_out(m, 0, sk_im_node(m, (sk_op)m->op->kind, &a, in, 3));
}

void sk_import_blocks(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_attrs a = {.blocks = {.block = sk_im_int32(m, "blocksize", 0),
                             .crd = strcmp(sk_im_text(m, "mode", "DCR"), "CRD") == 0}};
    sk_im_out(m, 0, sk_im_node(m, (sk_op)m->op->kind, &a, &x, 1));
}

void sk_import_shape(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    int64_t start = sk_im_int(m, "start", 0), end = sk_im_int(m, "end", INT64_MAX);
    sk_value v = sk_im_node(m, SK_OP_SHAPE, NULL, &x, 1);
    if (start != 0 || end != INT64_MAX) {
        sk_value in[] = {v, sk_b_i64s(&m->b, &start, 1), sk_b_i64s(&m->b, &end, 1)};
        v = sk_im_node(m, SK_OP_SLICE, NULL, in, 3);
    }
    sk_im_out(m, 0, v);
}

void sk_import_size(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_SIZE, NULL, &x, 1));
}

void sk_import_range(sk_importer *m)
{
    sk_value in[] = {sk_im_in(m, 0), sk_im_in(m, 1), sk_im_in(m, 2)};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_RANGE, NULL, in, 3));
}

void sk_import_constant_of_shape(sk_importer *m)
{
    sk_value dims = sk_im_in_i64(m, 0);
    const sk_onnx_attr *value = sk_im_attr(m, "value");
    sk_attrs a = {.fill = {.dtype = SK_DTYPE_F32}};
    if (value && value->type == SK_ONNX_TENSOR) {
        const sk_onnx_tensor *t = value->tensor;
        if (sk_shape_count(&t->shape) != 1) {
            sk_im_fail(m, SK_ERR_FORMAT, "the fill value has %lld elements",
                       (long long)sk_shape_count(&t->shape));
            return;
        }
        sk_tensor view = {t->dtype, t->shape, (char *)sk_blob_data(t->blob) + t->offset};
        a.fill.dtype = t->dtype == SK_DTYPE_F16 || t->dtype == SK_DTYPE_BF16 ? SK_DTYPE_F32 : t->dtype;
        a.fill.value = sk_tensor_at(&view, 0);
    }
    sk_im_out(m, 0, sk_im_node(m, SK_OP_CONSTANT_OF_SHAPE, &a, &dims, 1));
}

void sk_import_one_hot(sk_importer *m)
{
    sk_attrs a = {.axis = sk_im_int32(m, "axis", -1)};
    sk_value in[] = {sk_im_in(m, 0), sk_im_in_i64(m, 1), sk_im_in(m, 2)};
    sk_im_out(m, 0, sk_im_node(m, SK_OP_ONE_HOT, &a, in, 3));
}

void sk_import_eye_like(sk_importer *m)
{
    sk_value x = sk_im_in(m, 0);
    int64_t dtype = sk_im_int(m, "dtype", 0);
    sk_attrs a = {.fill = {.dtype = sk_im_dtype(dtype), .value = (double)sk_im_int(m, "k", 0)}};
    if (dtype != 0 && a.fill.dtype == SK_DTYPE_NONE)
        sk_im_fail(m, SK_ERR_UNSUPPORTED, "type %lld is not supported", (long long)dtype);
    sk_im_out(m, 0, sk_im_node(m, SK_OP_EYE_LIKE, &a, &x, 1));
}
