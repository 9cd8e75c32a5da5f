/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_OPS_H
#define SK_GRAPH_OPS_H

#include "graph/graph.h"

/* What is fixed about each operation: its name and how many values go in and come out. Inputs below min_in
 * must be present; those from min_in to max_in may be SK_VALUE_NONE. max -1: any number. */
typedef struct sk_op_info {
    const char *name;
    int16_t min_in, max_in;
    int16_t min_out, max_out;
} sk_op_info;

/* Null for a number that is no operation. */
const sk_op_info *sk_op_info_of(sk_op op);

/* Attribute ranges and arity of one node, as sk_graph_verify checks them. The error names the node. */
sk_status sk_node_check(const sk_node *node, sk_error *err) SK_MUST_CHECK;

/* "conv 'model.0.conv'": how errors name a node. Returns buffer. */
const char *sk_node_text(const sk_node *node, char *buffer, size_t capacity);
#define SK_NODE_TEXT 160

/* sk_fail with the node's text in front. */
#ifndef __clang_analyzer__ /* see sk_fail */
#define sk_node_fail(node, err, code, ...)                                                                   \
    sk_node_error((node), (err), (code), __FILE__, __LINE__, __VA_ARGS__)
#else
#define sk_node_fail(node, err, code, ...)                                                                   \
    (sk_node_error((node), (err), (code), __FILE__, __LINE__, __VA_ARGS__), (code))
#endif
sk_status sk_node_error(const sk_node *node, sk_error *err, sk_status code, const char *file, int line,
                        const char *format, ...) SK_PRINTF(6, 7);

#endif
