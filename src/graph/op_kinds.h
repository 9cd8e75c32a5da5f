/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_OP_KINDS_H
#define SK_GRAPH_OP_KINDS_H

/* What an operation that has several forms computes: apart from graph.h, as GPUs' C++ knows these, too. */

typedef enum sk_unary {
    SK_UNARY_SIGMOID = 1,
    SK_UNARY_SILU,
    SK_UNARY_RELU,
    SK_UNARY_GELU,      /* exact, erf */
    SK_UNARY_GELU_TANH, /* the tanh approximation */
    SK_UNARY_LEAKY,     /* alpha */
    SK_UNARY_ELU,       /* alpha */
    SK_UNARY_RELU6,
    SK_UNARY_HARD_SIGMOID, /* max(0, min(1, alpha*x + beta)) */
    SK_UNARY_HARD_SWISH,
    SK_UNARY_MISH,
    SK_UNARY_SOFTPLUS,
    SK_UNARY_TANH,
    SK_UNARY_ERF,
    SK_UNARY_EXP,
    SK_UNARY_LOG,
    SK_UNARY_SQRT,
    SK_UNARY_RECIPROCAL,
    SK_UNARY_NEG,
    SK_UNARY_ABS,
    SK_UNARY_FLOOR,
    SK_UNARY_CEIL,
    SK_UNARY_ROUND, /* half to even */
    SK_UNARY_SIGN,
    SK_UNARY_SIN,
    SK_UNARY_COS,
    SK_UNARY_ATAN,
    SK_UNARY_NOT, /* bool */
    SK_UNARY_IS_NAN,
    SK_UNARY_COUNT
} sk_unary;

typedef enum sk_binary {
    SK_BINARY_ADD = 1,
    SK_BINARY_SUB,
    SK_BINARY_MUL,
    SK_BINARY_DIV, /* integers truncate toward zero, as ONNX does */
    SK_BINARY_POW,
    SK_BINARY_MIN,
    SK_BINARY_MAX,
    SK_BINARY_MOD,   /* sign of the divisor (python); integers */
    SK_BINARY_FMOD,  /* sign of the dividend (C) */
    SK_BINARY_EQUAL, /* bool results from here on */
    SK_BINARY_LESS,
    SK_BINARY_LESS_EQUAL,
    SK_BINARY_GREATER,
    SK_BINARY_GREATER_EQUAL,
    SK_BINARY_AND,
    SK_BINARY_OR,
    SK_BINARY_XOR,
    SK_BINARY_COUNT
} sk_binary;

typedef enum sk_reduction {
    SK_REDUCE_SUM = 1,
    SK_REDUCE_MEAN,
    SK_REDUCE_MAX,
    SK_REDUCE_MIN,
    SK_REDUCE_PROD,
    SK_REDUCE_L1,
    SK_REDUCE_L2,
    SK_REDUCE_SUM_SQUARE,
    SK_REDUCE_LOG_SUM_EXP
} sk_reduction;

#endif
