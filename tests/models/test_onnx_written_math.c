/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, reductions and order as they are written to ONNX. */
#include "onnx_written.h"

#define UNARY(what, ...)                                                                                     \
    {                                                                                                        \
        what, SK_OP_UNARY, {.unary = {__VA_ARGS__}}, "x", 0, 0                                               \
    }

static const written functions[] = {
    UNARY("sigmoid", SK_UNARY_SIGMOID, 0, 0),
    UNARY("silu", SK_UNARY_SILU, 0, 0),
    UNARY("relu", SK_UNARY_RELU, 0, 0),
    UNARY("gelu", SK_UNARY_GELU, 0, 0),
    UNARY("gelu, tanh", SK_UNARY_GELU_TANH, 0, 0),
    UNARY("leaky", SK_UNARY_LEAKY, 0.25f, 0.5f),
    UNARY("elu", SK_UNARY_ELU, 0.25f, 0.5f),
    UNARY("relu6", SK_UNARY_RELU6, 0, 0),
    UNARY("hard sigmoid", SK_UNARY_HARD_SIGMOID, 0.25f, 0.5f),
    UNARY("hard swish", SK_UNARY_HARD_SWISH, 0.25f, 0.75f),
    UNARY("mish", SK_UNARY_MISH, 0, 0),
    UNARY("softplus", SK_UNARY_SOFTPLUS, 0, 0),
    UNARY("tanh", SK_UNARY_TANH, 0, 0),
    UNARY("erf", SK_UNARY_ERF, 0, 0),
    UNARY("exp", SK_UNARY_EXP, 0, 0),
    {"log", SK_OP_UNARY, {.unary = {SK_UNARY_LOG, 0, 0}}, "p3", 0, 0},
    {"sqrt", SK_OP_UNARY, {.unary = {SK_UNARY_SQRT, 0, 0}}, "p3", 0, 0},
    {"reciprocal", SK_OP_UNARY, {.unary = {SK_UNARY_RECIPROCAL, 0, 0}}, "p3", 0, 0},
    UNARY("neg", SK_UNARY_NEG, 0, 0),
    UNARY("abs", SK_UNARY_ABS, 0, 0),
    UNARY("floor", SK_UNARY_FLOOR, 0, 0),
    UNARY("ceil", SK_UNARY_CEIL, 0, 0),
    UNARY("round", SK_UNARY_ROUND, 0, 0),
    UNARY("sign", SK_UNARY_SIGN, 0, 0),
    UNARY("sin", SK_UNARY_SIN, 0, 0),
    UNARY("cos", SK_UNARY_COS, 0, 0),
    UNARY("atan", SK_UNARY_ATAN, 0, 0),
    {"not", SK_OP_UNARY, {.unary = {SK_UNARY_NOT, 0, 0}}, "m", 0, 0},
    UNARY("is nan", SK_UNARY_IS_NAN, 0, 0),
    {"relu6 of whole numbers", SK_OP_UNARY, {.unary = {SK_UNARY_RELU6, 0, 0}}, "n", 0, 1},
    {"none", SK_OP_UNARY, {.unary = {(sk_unary)0, 0, 0}}, "x", 0, 1},
    {"one beyond the last", SK_OP_UNARY, {.unary = {SK_UNARY_COUNT, 0, 0}}, "x", 0, 1},
};

#define BINARY(what, kind, in)                                                                               \
    {                                                                                                        \
        what, SK_OP_BINARY, {.binary = {kind}}, in, 0, 0                                                     \
    }

static const written pairs[] = {
    BINARY("add", SK_BINARY_ADD, "x w4x1x8"),
    BINARY("sub", SK_BINARY_SUB, "w4x1x8 x"),
    BINARY("mul", SK_BINARY_MUL, "x f0.5"),
    BINARY("div", SK_BINARY_DIV, "x p4x1x1"),
    BINARY("div of whole numbers", SK_BINARY_DIV, "n i2"),
    BINARY("pow", SK_BINARY_POW, "p8 w8"),
    BINARY("min", SK_BINARY_MIN, "x y"),
    BINARY("max", SK_BINARY_MAX, "x y"),
    BINARY("mod", SK_BINARY_MOD, "n i3"),
    BINARY("fmod", SK_BINARY_FMOD, "x f0.5"),
    BINARY("equal", SK_BINARY_EQUAL, "n i1"),
    BINARY("less", SK_BINARY_LESS, "x y"),
    BINARY("less or equal", SK_BINARY_LESS_EQUAL, "n i1"),
    BINARY("greater", SK_BINARY_GREATER, "x y"),
    BINARY("greater or equal", SK_BINARY_GREATER_EQUAL, "n i1"),
    BINARY("and", SK_BINARY_AND, "m m"),
    BINARY("or", SK_BINARY_OR, "m m"),
    BINARY("xor", SK_BINARY_XOR, "m m"),
    {"where", SK_OP_WHERE, {.axis = 0}, "m x y", 0, 0},
    {"clip", SK_OP_CLIP, {.clip = {-0.25, 0.75}}, "x", 0, 0},
    {"clip, above", SK_OP_CLIP, {.clip = {-INFINITY, 0.75}}, "x", 0, 0},
    {"clip, below", SK_OP_CLIP, {.clip = {-0.25, INFINITY}}, "x", 0, 0},
    {"clip, neither", SK_OP_CLIP, {.clip = {-INFINITY, INFINITY}}, "x", 0, 0},
    {"clip of whole numbers", SK_OP_CLIP, {.clip = {-2, 3}}, "n", 0, 0},
    {"cast to f32", SK_OP_CAST, {.cast = {SK_DTYPE_F32}}, "n", 0, 0},
    {"cast to i32", SK_OP_CAST, {.cast = {SK_DTYPE_I32}}, "x", 0, 0},
    {"cast to u8", SK_OP_CAST, {.cast = {SK_DTYPE_U8}}, "n", 0, 0},
    {"cast to bool", SK_OP_CAST, {.cast = {SK_DTYPE_BOOL}}, "x", 0, 0},
    {"cast to f64", SK_OP_CAST, {.cast = {SK_DTYPE_F64}}, "x", 0, 0},
};

#define REDUCE(what, ...)                                                                                    \
    {                                                                                                        \
        what, SK_OP_REDUCE, {.reduce = {__VA_ARGS__}}, "x", 0, 0                                             \
    }

static const written reductions[] = {
    REDUCE("sum", SK_REDUCE_SUM, 2, {1, -1}, 1),
    REDUCE("sum of all", SK_REDUCE_SUM, 0, {0}, 0),
    REDUCE("mean", SK_REDUCE_MEAN, 1, {-2}, 0),
    REDUCE("mean of all", SK_REDUCE_MEAN, 0, {0}, 1),
    REDUCE("max", SK_REDUCE_MAX, 2, {0, 2}, 1),
    REDUCE("min", SK_REDUCE_MIN, 1, {3}, 0),
    REDUCE("prod", SK_REDUCE_PROD, 1, {1}, 1),
    REDUCE("l1", SK_REDUCE_L1, 4, {0, 1, 2, 3}, 1),
    REDUCE("l2", SK_REDUCE_L2, 1, {1}, 0),
    REDUCE("sum of squares", SK_REDUCE_SUM_SQUARE, 1, {1}, 1),
    REDUCE("log of the sum of exp", SK_REDUCE_LOG_SUM_EXP, 2, {2, 3}, 0),
    {"arg max", SK_OP_ARG_MAX, {.arg = {1, 1, 0}}, "x", 0, 0},
    {"arg min, last", SK_OP_ARG_MIN, {.arg = {-1, 0, 1}}, "n", 0, 0},
    {"softmax", SK_OP_SOFTMAX, {.axis = 1}, "x", 0, 0},
    {"log softmax", SK_OP_LOG_SOFTMAX, {.axis = -1}, "x", 0, 0},
    {"top, a number", SK_OP_TOP_K, {.top_k = {-1, 1, 1}}, "x i3", 2, 0},
    {"lowest, a list, unsorted", SK_OP_TOP_K, {.top_k = {1, 0, 0}}, "x i[2]", 2, 0},
    {"top, made", SK_OP_TOP_K, {.top_k = {-1, 1, 0}}, "x h", 2, 0},
    {"sums on the way", SK_OP_CUM_SUM, {.cum_sum = {0, 0}}, "x i2", 0, 0},
    {"sums of those before", SK_OP_CUM_SUM, {.cum_sum = {1, 0}}, "x i-1", 0, 0},
    {"sums from the end", SK_OP_CUM_SUM, {.cum_sum = {0, 1}}, "x i1", 0, 0},
    {"where it is not zero", SK_OP_NON_ZERO, {.axis = 0}, "m", 0, 0},
    {"suppression", SK_OP_NON_MAX_SUPPRESSION, {.nms = {0}}, "w1x6x4 w1x2x6 i5 f0.5 f0.25", 0, 0},
    {"suppression, centres", SK_OP_NON_MAX_SUPPRESSION, {.nms = {1}}, "w1x6x4 w1x2x6 i[3] p1 w1", 0, 0},
    {"suppression, no threshold", SK_OP_NON_MAX_SUPPRESSION, {.nms = {0}}, "w1x6x4 w1x2x6 i5", 0, 0},
    {"suppression, only of scores",
     SK_OP_NON_MAX_SUPPRESSION,
     {.nms = {0}},
     "w1x6x4 w1x2x6 i5 - f0.25",
     0,
     0},
};

static const written eight_bits[] = {
    {"to eight bits", SK_OP_QUANTIZE, {.quantise = {2}}, "x f0.125 t", 0, 0},
    {"to eight bits, each channel", SK_OP_QUANTIZE, {.quantise = {1}}, "x s4 z4", 0, 0},
    {"to eight bits, a list of one", SK_OP_QUANTIZE, {.quantise = {1}}, "x s1 z1", 0, 1},
    {"from eight bits", SK_OP_DEQUANTIZE, {.quantise = {1}}, "q f0.125 t", 0, 0},
    {"from eight bits without a zero", SK_OP_DEQUANTIZE, {.quantise = {1}}, "q f0.125", 0, 0},
};

WRITTEN_TEST(functions)
WRITTEN_TEST(pairs)
WRITTEN_TEST(reductions)
WRITTEN_TEST(eight_bits)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_as_written),
        cmocka_unit_test(pairs_as_written),
        cmocka_unit_test(reductions_as_written),
        cmocka_unit_test(eight_bits_as_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
