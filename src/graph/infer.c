/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/infer.h"
#include "graph/quantise.h"

static const sk_node_function shape_functions[SK_OP_COUNT] = {
    [SK_OP_CONV] = sk_infer_conv,
    [SK_OP_CONV_TRANSPOSE] = sk_infer_conv_transpose,
    [SK_OP_MAX_POOL] = sk_infer_pool,
    [SK_OP_AVG_POOL] = sk_infer_pool,
    [SK_OP_RESIZE] = sk_infer_resize,
    [SK_OP_GRID_SAMPLE] = sk_infer_grid_sample,
    [SK_OP_MATMUL] = sk_infer_matmul,
    [SK_OP_GEMM] = sk_infer_gemm,
    [SK_OP_EINSUM] = sk_infer_einsum,
    [SK_OP_BATCH_NORM] = sk_infer_norm,
    [SK_OP_LAYER_NORM] = sk_infer_norm,
    [SK_OP_INSTANCE_NORM] = sk_infer_norm,
    [SK_OP_SOFTMAX] = sk_infer_softmax,
    [SK_OP_LOG_SOFTMAX] = sk_infer_softmax,
    [SK_OP_UNARY] = sk_infer_same,
    [SK_OP_CLIP] = sk_infer_same,
    [SK_OP_CAST] = sk_infer_same,
    [SK_OP_BINARY] = sk_infer_broadcast,
    [SK_OP_WHERE] = sk_infer_broadcast,
    [SK_OP_REDUCE] = sk_infer_reduce,
    [SK_OP_ARG_MAX] = sk_infer_arg,
    [SK_OP_ARG_MIN] = sk_infer_arg,
    [SK_OP_TOP_K] = sk_infer_top_k,
    [SK_OP_CUM_SUM] = sk_infer_cum_sum,
    [SK_OP_NON_ZERO] = sk_infer_non_zero,
    [SK_OP_NON_MAX_SUPPRESSION] = sk_infer_nms,
    [SK_OP_CONCAT] = sk_infer_concat,
    [SK_OP_SPLIT] = sk_infer_split,
    [SK_OP_SLICE] = sk_infer_slice,
    [SK_OP_RESHAPE] = sk_infer_reshape,
    [SK_OP_TRANSPOSE] = sk_infer_transpose,
    [SK_OP_SQUEEZE] = sk_infer_squeeze,
    [SK_OP_UNSQUEEZE] = sk_infer_unsqueeze,
    [SK_OP_FLATTEN] = sk_infer_flatten,
    [SK_OP_EXPAND] = sk_infer_expand,
    [SK_OP_TILE] = sk_infer_tile,
    [SK_OP_PAD] = sk_infer_pad,
    [SK_OP_GATHER] = sk_infer_gather,
    [SK_OP_GATHER_ELEMENTS] = sk_infer_gather_elements,
    [SK_OP_GATHER_ND] = sk_infer_gather_nd,
    [SK_OP_SCATTER_ELEMENTS] = sk_infer_scatter_elements,
    [SK_OP_SCATTER_ND] = sk_infer_scatter_nd,
    [SK_OP_DEPTH_TO_SPACE] = sk_infer_blocks,
    [SK_OP_SPACE_TO_DEPTH] = sk_infer_blocks,
    [SK_OP_SHAPE] = sk_infer_shape,
    [SK_OP_SIZE] = sk_infer_size,
    [SK_OP_RANGE] = sk_infer_range,
    [SK_OP_CONSTANT_OF_SHAPE] = sk_infer_constant_of_shape,
    [SK_OP_ONE_HOT] = sk_infer_one_hot,
    [SK_OP_EYE_LIKE] = sk_infer_eye_like,
    [SK_OP_IDENTITY] = sk_infer_same,
    [SK_OP_ANCHORS] = sk_infer_anchors,
    [SK_OP_QUANTIZE] = sk_infer_quantise,
    [SK_OP_DEQUANTIZE] = sk_infer_quantise,
};

/* --- helpers of the families --- */

sk_status sk_axis_resolve(const sk_node *node, int64_t axis, int rank, int *out, sk_error *err)
{
    if (axis < -rank || axis >= rank)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "axis %lld does not exist in %d dimensions",
                            (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return SK_OK;
}

sk_status sk_integers_read(const sk_node *node, const sk_tensor *tensor, const char *what, int64_t *values,
                           int limit, int *count, sk_error *err)
{
    int64_t n = sk_shape_count(&tensor->shape);
    if (tensor->shape.rank > 1 || n < 0 || n > limit || sk_dtype_is_float(tensor->dtype) ||
        tensor->dtype == SK_DTYPE_F8)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "%s must be a list of at most %d integers", what,
                            limit);
    for (int64_t i = 0; i < n; i++)
        values[i] = sk_tensor_int_at(tensor, i);
    *count = (int)n;
    return SK_OK;
}

sk_status sk_shape_broadcast(const sk_node *node, const sk_shape *a, const sk_shape *b, sk_shape *out,
                             sk_error *err)
{
    sk_shape result = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 0; i < result.rank; i++) {
        int ia = i - (result.rank - a->rank), ib = i - (result.rank - b->rank);
        int64_t da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1) {
            char ta[SK_SHAPE_TEXT], tb[SK_SHAPE_TEXT];
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "shapes %s and %s do not go together",
                                sk_shape_text(a, ta, sizeof ta), sk_shape_text(b, tb, sizeof tb));
        }
        result.dim[i] = da == 1 ? db : da;
    }
    *out = result;
    return SK_OK;
}

/* --- element types --- */

static sk_status need_float(const sk_node *node, const sk_tensor *ins, sk_error *err)
{
    for (int i = 0; i < node->n_in; i++)
        if (ins[i].dtype != SK_DTYPE_NONE && !sk_dtype_is_float(ins[i].dtype))
            return sk_node_fail(node, err, SK_ERR_MISMATCH,
                                "input %d is %s where floating point is needed; a cast before it helps", i,
                                sk_dtype_name(ins[i].dtype));
    return SK_OK;
}

static sk_status need_same(const sk_node *node, const sk_tensor *a, const sk_tensor *b, sk_error *err)
{
    if (a->dtype != b->dtype)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "inputs are %s and %s; a cast on one of them helps",
                            sk_dtype_name(a->dtype), sk_dtype_name(b->dtype));
    return SK_OK;
}

static sk_status need_integer(const sk_node *node, const sk_tensor *ins, int i, sk_error *err)
{
    const sk_tensor *t = sk_node_input(node, ins, i);
    if (t && (sk_dtype_is_float(t->dtype) || t->dtype == SK_DTYPE_BOOL || t->dtype == SK_DTYPE_F8))
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "input %d is %s where integers are needed", i,
                            sk_dtype_name(t->dtype));
    return SK_OK;
}

static sk_status unary_type(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    outs[0].dtype = ins[0].dtype;
    switch (node->a.unary.kind) {
    case SK_UNARY_NOT:
        if (ins[0].dtype != SK_DTYPE_BOOL)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "the input is %s where bool is needed",
                                sk_dtype_name(ins[0].dtype));
        return SK_OK;
    case SK_UNARY_IS_NAN: outs[0].dtype = SK_DTYPE_BOOL; return need_float(node, ins, err);
    case SK_UNARY_NEG:
    case SK_UNARY_ABS:
    case SK_UNARY_SIGN:
    case SK_UNARY_RELU:
    case SK_UNARY_FLOOR:
    case SK_UNARY_CEIL:
    case SK_UNARY_ROUND: return SK_OK; /* whole numbers too */
    default: return need_float(node, ins, err);
    }
}

static sk_status binary_type(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    sk_binary kind = node->a.binary.kind;
    outs[0].dtype = kind >= SK_BINARY_EQUAL ? SK_DTYPE_BOOL : ins[0].dtype;
    if (kind == SK_BINARY_POW) /* ONNX lets base and exponent differ */
        return SK_OK;
    if (kind >= SK_BINARY_AND && ins[0].dtype != SK_DTYPE_BOOL)
        return sk_node_fail(node, err, SK_ERR_MISMATCH, "the inputs are %s where bool is needed",
                            sk_dtype_name(ins[0].dtype));
    return need_same(node, &ins[0], &ins[1], err);
}

static sk_status output_types(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    outs[0].dtype = ins[0].dtype;
    switch (node->op) {
    case SK_OP_CONV:
    case SK_OP_CONV_TRANSPOSE:
    case SK_OP_MAX_POOL:
    case SK_OP_AVG_POOL:
    case SK_OP_GRID_SAMPLE:
    case SK_OP_BATCH_NORM:
    case SK_OP_LAYER_NORM:
    case SK_OP_INSTANCE_NORM:
    case SK_OP_SOFTMAX:
    case SK_OP_LOG_SOFTMAX: return need_float(node, ins, err);
    case SK_OP_MATMUL:
    case SK_OP_GEMM:
    case SK_OP_EINSUM:
        SK_TRY(need_float(node, ins, err));
        return node->n_in > 1 ? need_same(node, &ins[0], &ins[1], err) : SK_OK;
    case SK_OP_RESIZE:
        if (!sk_dtype_is_float(ins[0].dtype) && sk_dtype_bytes(ins[0].dtype) > 2)
            return sk_node_fail(node, err, SK_ERR_UNSUPPORTED, "%s images; a cast before it helps",
                                sk_dtype_name(ins[0].dtype));
        return need_integer(node, ins, 1, err);
    case SK_OP_UNARY: return unary_type(node, ins, outs, err);
    case SK_OP_BINARY: return binary_type(node, ins, outs, err);
    case SK_OP_CAST: outs[0].dtype = node->a.cast.to; return SK_OK;
    case SK_OP_WHERE:
        outs[0].dtype = ins[1].dtype;
        if (ins[0].dtype != SK_DTYPE_BOOL)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "the condition is %s where bool is needed",
                                sk_dtype_name(ins[0].dtype));
        return need_same(node, &ins[1], &ins[2], err);
    case SK_OP_ARG_MAX:
    case SK_OP_ARG_MIN:
    case SK_OP_NON_ZERO:
    case SK_OP_SHAPE:
    case SK_OP_SIZE: outs[0].dtype = SK_DTYPE_I64; return SK_OK;
    case SK_OP_TOP_K: outs[1].dtype = SK_DTYPE_I64; return need_integer(node, ins, 1, err);
    case SK_OP_CUM_SUM: return need_integer(node, ins, 1, err);
    case SK_OP_NON_MAX_SUPPRESSION: outs[0].dtype = SK_DTYPE_I64; return SK_OK;
    case SK_OP_CONCAT:
        for (int i = 1; i < node->n_in; i++)
            SK_TRY(need_same(node, &ins[0], &ins[i], err));
        return SK_OK;
    case SK_OP_SPLIT:
        for (int i = 1; i < node->n_out; i++)
            outs[i].dtype = ins[0].dtype;
        return SK_OK;
    case SK_OP_PAD:
        if (sk_node_input(node, ins, 2))
            SK_TRY(need_same(node, &ins[0], &ins[2], err));
        return need_integer(node, ins, 1, err);
    case SK_OP_SLICE:
        for (int i = 1; i < node->n_in; i++)
            SK_TRY(need_integer(node, ins, i, err));
        return SK_OK;
    case SK_OP_RESHAPE:
    case SK_OP_SQUEEZE:
    case SK_OP_UNSQUEEZE:
    case SK_OP_EXPAND:
    case SK_OP_TILE:
    case SK_OP_GATHER:
    case SK_OP_GATHER_ELEMENTS:
    case SK_OP_GATHER_ND: return need_integer(node, ins, 1, err);
    case SK_OP_SCATTER_ELEMENTS:
    case SK_OP_SCATTER_ND:
        SK_TRY(need_same(node, &ins[0], &ins[2], err));
        return need_integer(node, ins, 1, err);
    case SK_OP_RANGE:
        SK_TRY(need_same(node, &ins[0], &ins[1], err));
        return need_same(node, &ins[0], &ins[2], err);
    case SK_OP_CONSTANT_OF_SHAPE: outs[0].dtype = node->a.fill.dtype; return need_integer(node, ins, 0, err);
    case SK_OP_ONE_HOT: outs[0].dtype = ins[2].dtype; return SK_OK;
    case SK_OP_EYE_LIKE:
        if (node->a.fill.dtype != SK_DTYPE_NONE)
            outs[0].dtype = node->a.fill.dtype;
        return SK_OK;
    case SK_OP_ANCHORS: outs[0].dtype = outs[1].dtype = SK_DTYPE_F32; return SK_OK;
    case SK_OP_QUANTIZE:
    case SK_OP_DEQUANTIZE:
        outs[0].dtype = node->op == SK_OP_QUANTIZE ? ins[2].dtype : SK_DTYPE_F32;
        return sk_quantise_check(node, ins, err);
    default: return SK_OK;
    }
}

/* --- the whole --- */

static sk_status check_inputs(const sk_node *node, const sk_tensor *ins, bool *known, sk_error *err)
{
    const sk_op_info *info = sk_op_info_of(node->op);
    *known = true;
    for (int i = 0; i < node->n_in; i++) {
        const sk_shape *shape = &ins[i].shape;
        if (ins[i].dtype == SK_DTYPE_NONE) {
            if (i < info->min_in || info->max_in < 0)
                return sk_node_fail(node, err, SK_ERR_MISMATCH, "input %d has no type", i);
            continue;
        }
        if (shape->rank > SK_MAX_RANK)
            return sk_node_fail(node, err, SK_ERR_MISMATCH, "input %d has %d dimensions", i, shape->rank);
        if (!sk_shape_known(shape)) {
            *known = false;
            continue;
        }
        for (int d = 0; d < shape->rank; d++)
            if (shape->dim[d] > SK_DIM_MAX)
                return sk_node_fail(node, err, SK_ERR_LIMIT, "a dimension of input %d is %lld", i,
                                    (long long)shape->dim[d]);
    }
    return SK_OK;
}

static sk_status check_output(const sk_node *node, const sk_tensor *out, int index, sk_error *err)
{
    char text[SK_SHAPE_TEXT];
    if (out->shape.rank > SK_MAX_RANK)
        return sk_node_fail(node, err, SK_ERR_LIMIT,
                            "output %d would have %d dimensions; at most %d are possible", index,
                            out->shape.rank, SK_MAX_RANK);
    if (!sk_shape_known(&out->shape))
        return SK_OK;
    for (int d = 0; d < out->shape.rank; d++)
        if (out->shape.dim[d] > SK_DIM_MAX)
            return sk_node_fail(node, err, SK_ERR_LIMIT, "output %d would have the shape %s", index,
                                sk_shape_text(&out->shape, text, sizeof text));
    int64_t count = sk_shape_count(&out->shape);
    if (count < 0 || (size_t)count > SK_TENSOR_BYTES_MAX / sk_dtype_bytes(out->dtype))
        return sk_node_fail(node, err, SK_ERR_LIMIT, "output %d would have the shape %s, more than %zu MiB",
                            index, sk_shape_text(&out->shape, text, sizeof text), SK_TENSOR_BYTES_MAX >> 20);
    return SK_OK;
}

/* A reshape to fixed sizes tells its result's shape even where the input's depends on data: while running it must fit. */
static void reshape_to_fixed(const sk_tensor *ins, sk_tensor *outs)
{
    sk_shape shape = {.rank = (int32_t)(ins[1].shape.rank == 1 ? ins[1].shape.dim[0] : -1)};
    if (!ins[1].data || shape.rank < 0 || shape.rank > SK_MAX_RANK)
        return;
    for (int32_t i = 0; i < shape.rank; i++) {
        shape.dim[i] = sk_tensor_int_at(&ins[1], i);
        if (shape.dim[i] < 1)
            return;
    }
    outs[0].shape = shape;
}

sk_status sk_node_infer(const sk_node *node, const sk_tensor *ins, sk_tensor *outs, sk_error *err)
{
    bool known;
    SK_TRY(sk_node_check(node, err));
    SK_TRY(check_inputs(node, ins, &known, err));
    for (int i = 0; i < node->n_out; i++)
        outs[i] = (sk_tensor){.shape.rank = -1};
    SK_TRY(output_types(node, ins, outs, err));
    if (known)
        SK_TRY(shape_functions[node->op](node, ins, outs, err));
    else if (shape_functions[node->op] == sk_infer_same)
        outs[0].shape = ins[0].shape;
    else if (node->op == SK_OP_RESHAPE)
        reshape_to_fixed(ins, outs);
    for (int i = 0; i < node->n_out; i++)
        SK_TRY(check_output(node, &outs[i], i, err));
    return SK_OK;
}
