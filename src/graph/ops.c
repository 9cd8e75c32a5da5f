/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/ops.h"

#include <stdio.h>

static const sk_op_info ops[SK_OP_COUNT] = {
    [SK_OP_CONV] = {"conv", 2, 4, 1, 1},
    [SK_OP_CONV_TRANSPOSE] = {"conv_transpose", 2, 3, 1, 1},
    [SK_OP_MAX_POOL] = {"max_pool", 1, 1, 1, 1},
    [SK_OP_AVG_POOL] = {"avg_pool", 1, 1, 1, 1},
    [SK_OP_RESIZE] = {"resize", 1, 2, 1, 1},
    [SK_OP_GRID_SAMPLE] = {"grid_sample", 2, 2, 1, 1},
    [SK_OP_MATMUL] = {"matmul", 2, 2, 1, 1},
    [SK_OP_GEMM] = {"gemm", 2, 3, 1, 1},
    [SK_OP_EINSUM] = {"einsum", 1, 2, 1, 1},
    [SK_OP_BATCH_NORM] = {"batch_norm", 5, 5, 1, 1},
    [SK_OP_LAYER_NORM] = {"layer_norm", 1, 3, 1, 1},
    [SK_OP_INSTANCE_NORM] = {"instance_norm", 1, 3, 1, 1},
    [SK_OP_SOFTMAX] = {"softmax", 1, 1, 1, 1},
    [SK_OP_LOG_SOFTMAX] = {"log_softmax", 1, 1, 1, 1},
    [SK_OP_UNARY] = {"unary", 1, 1, 1, 1},
    [SK_OP_CLIP] = {"clip", 1, 1, 1, 1},
    [SK_OP_CAST] = {"cast", 1, 1, 1, 1},
    [SK_OP_BINARY] = {"binary", 2, 2, 1, 1},
    [SK_OP_WHERE] = {"where", 3, 3, 1, 1},
    [SK_OP_REDUCE] = {"reduce", 1, 1, 1, 1},
    [SK_OP_ARG_MAX] = {"arg_max", 1, 1, 1, 1},
    [SK_OP_ARG_MIN] = {"arg_min", 1, 1, 1, 1},
    [SK_OP_TOP_K] = {"top_k", 2, 2, 2, 2},
    [SK_OP_CUM_SUM] = {"cum_sum", 2, 2, 1, 1},
    [SK_OP_NON_ZERO] = {"non_zero", 1, 1, 1, 1},
    [SK_OP_NON_MAX_SUPPRESSION] = {"non_max_suppression", 2, 5, 1, 1},
    [SK_OP_CONCAT] = {"concat", 1, -1, 1, 1},
    [SK_OP_SPLIT] = {"split", 1, 1, 1, -1},
    [SK_OP_SLICE] = {"slice", 3, 5, 1, 1},
    [SK_OP_RESHAPE] = {"reshape", 2, 2, 1, 1},
    [SK_OP_TRANSPOSE] = {"transpose", 1, 1, 1, 1},
    [SK_OP_SQUEEZE] = {"squeeze", 1, 2, 1, 1},
    [SK_OP_UNSQUEEZE] = {"unsqueeze", 2, 2, 1, 1},
    [SK_OP_FLATTEN] = {"flatten", 1, 1, 1, 1},
    [SK_OP_EXPAND] = {"expand", 2, 2, 1, 1},
    [SK_OP_TILE] = {"tile", 2, 2, 1, 1},
    [SK_OP_PAD] = {"pad", 2, 3, 1, 1},
    [SK_OP_GATHER] = {"gather", 2, 2, 1, 1},
    [SK_OP_GATHER_ELEMENTS] = {"gather_elements", 2, 2, 1, 1},
    [SK_OP_GATHER_ND] = {"gather_nd", 2, 2, 1, 1},
    [SK_OP_SCATTER_ELEMENTS] = {"scatter_elements", 3, 3, 1, 1},
    [SK_OP_SCATTER_ND] = {"scatter_nd", 3, 3, 1, 1},
    [SK_OP_DEPTH_TO_SPACE] = {"depth_to_space", 1, 1, 1, 1},
    [SK_OP_SPACE_TO_DEPTH] = {"space_to_depth", 1, 1, 1, 1},
    [SK_OP_SHAPE] = {"shape", 1, 1, 1, 1},
    [SK_OP_SIZE] = {"size", 1, 1, 1, 1},
    [SK_OP_RANGE] = {"range", 3, 3, 1, 1},
    [SK_OP_CONSTANT_OF_SHAPE] = {"constant_of_shape", 1, 1, 1, 1},
    [SK_OP_ONE_HOT] = {"one_hot", 3, 3, 1, 1},
    [SK_OP_EYE_LIKE] = {"eye_like", 1, 1, 1, 1},
    [SK_OP_IDENTITY] = {"identity", 1, 1, 1, 1},
    [SK_OP_ANCHORS] = {"anchors", 1, 8, 2, 2},
    [SK_OP_QUANTIZE] = {"quantise", 3, 3, 1, 1},
    [SK_OP_DEQUANTIZE] = {"dequantise", 2, 3, 1, 1},
};

static const char *const unary_names[SK_UNARY_COUNT] = {
    [SK_UNARY_SIGMOID] = "sigmoid",
    [SK_UNARY_SILU] = "silu",
    [SK_UNARY_RELU] = "relu",
    [SK_UNARY_GELU] = "gelu",
    [SK_UNARY_GELU_TANH] = "gelu_tanh",
    [SK_UNARY_LEAKY] = "leaky_relu",
    [SK_UNARY_ELU] = "elu",
    [SK_UNARY_RELU6] = "relu6",
    [SK_UNARY_HARD_SIGMOID] = "hard_sigmoid",
    [SK_UNARY_HARD_SWISH] = "hard_swish",
    [SK_UNARY_MISH] = "mish",
    [SK_UNARY_SOFTPLUS] = "softplus",
    [SK_UNARY_TANH] = "tanh",
    [SK_UNARY_ERF] = "erf",
    [SK_UNARY_EXP] = "exp",
    [SK_UNARY_LOG] = "log",
    [SK_UNARY_SQRT] = "sqrt",
    [SK_UNARY_RECIPROCAL] = "reciprocal",
    [SK_UNARY_NEG] = "neg",
    [SK_UNARY_ABS] = "abs",
    [SK_UNARY_FLOOR] = "floor",
    [SK_UNARY_CEIL] = "ceil",
    [SK_UNARY_ROUND] = "round",
    [SK_UNARY_SIGN] = "sign",
    [SK_UNARY_SIN] = "sin",
    [SK_UNARY_COS] = "cos",
    [SK_UNARY_ATAN] = "atan",
    [SK_UNARY_NOT] = "not",
    [SK_UNARY_IS_NAN] = "is_nan",
};

static const char *const binary_names[SK_BINARY_COUNT] = {
    [SK_BINARY_ADD] = "add",         [SK_BINARY_SUB] = "sub",
    [SK_BINARY_MUL] = "mul",         [SK_BINARY_DIV] = "div",
    [SK_BINARY_POW] = "pow",         [SK_BINARY_MIN] = "min",
    [SK_BINARY_MAX] = "max",         [SK_BINARY_MOD] = "mod",
    [SK_BINARY_FMOD] = "fmod",       [SK_BINARY_EQUAL] = "equal",
    [SK_BINARY_LESS] = "less",       [SK_BINARY_LESS_EQUAL] = "less_equal",
    [SK_BINARY_GREATER] = "greater", [SK_BINARY_GREATER_EQUAL] = "greater_equal",
    [SK_BINARY_AND] = "and",         [SK_BINARY_OR] = "or",
    [SK_BINARY_XOR] = "xor",
};

const sk_op_info *sk_op_info_of(sk_op op)
{
    return (int)op > 0 && op < SK_OP_COUNT ? &ops[op] : NULL;
}

const char *sk_op_name(sk_op op)
{
    const sk_op_info *info = sk_op_info_of(op);
    return info ? info->name : "no operation";
}

const char *sk_unary_name(sk_unary kind)
{
    return (int)kind > 0 && kind < SK_UNARY_COUNT ? unary_names[kind] : "no function";
}

const char *sk_binary_name(sk_binary kind)
{
    return (int)kind > 0 && kind < SK_BINARY_COUNT ? binary_names[kind] : "no function";
}

const char *sk_node_text(const sk_node *node, char *buffer, size_t capacity)
{
    const char *kind = node->op == SK_OP_UNARY    ? sk_unary_name(node->a.unary.kind)
                       : node->op == SK_OP_BINARY ? sk_binary_name(node->a.binary.kind)
                                                  : sk_op_name(node->op);
    if (node->name && node->name[0])
        snprintf(buffer, capacity, "%s '%.120s'", kind, node->name);
    else
        snprintf(buffer, capacity, "%s (unnamed)", kind);
    return buffer;
}

sk_status sk_node_error(const sk_node *node, sk_error *err, sk_status code, const char *file, int line,
                        const char *format, ...)
{
    char text[SK_NODE_TEXT], why[SK_ERROR_MESSAGE_MAX];
    if (!err)
        return code;
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return sk_error_set(err, code, file, line, "%s: %s", sk_node_text(node, text, sizeof text), why);
}
