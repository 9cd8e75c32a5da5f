/* SPDX-License-Identifier: Apache-2.0 */
/* Holds op_numbers.h to graph/graph.h: its names are put under others and compared here. */
#include "graph/graph.h"

#define FIRST(graph, own) _Static_assert((int)(graph) == (own), #graph " has another number in op_numbers.h")
FIRST(SK_UNARY_SIGMOID, 1);
FIRST(SK_UNARY_SILU, 2);
FIRST(SK_UNARY_LEAKY, 6);
FIRST(SK_UNARY_HARD_SWISH, 10);
FIRST(SK_UNARY_TANH, 13);
FIRST(SK_UNARY_NEG, 19);
FIRST(SK_UNARY_ROUND, 23);
FIRST(SK_UNARY_ATAN, 27);
FIRST(SK_BINARY_ADD, 1);
FIRST(SK_BINARY_MAX, 7);
FIRST(SK_REDUCE_SUM, 1);
FIRST(SK_REDUCE_MIN, 4);
