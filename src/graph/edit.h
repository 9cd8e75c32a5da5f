/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_EDIT_H
#define SK_GRAPH_EDIT_H

#include "graph/graph.h"

/* What specialisation and passes share: changing a graph in place. Values keep their numbers; a value
 * nobody makes or reads any more stays as an empty entry (no type, no blob). Removed nodes are marked
 * (SK_OP_NONE) and swept. */

/* Folds a node whose inputs are all known: constants, or only looked at for their shape. Leaves the node
 * as it is where the result depends on data or folding has cost enough; that is no failure, the node then
 * runs as others do. */
sk_status sk_node_fold(sk_graph *graph, size_t index, sk_error *err) SK_MUST_CHECK;

/* Takes the node out; its outputs lose their producer. */
void sk_node_remove(sk_graph *graph, size_t index);

/* Drops removed nodes, keeping the order, and renumbers producers. */
void sk_graph_sweep(sk_graph *graph);

/* True for nodes that look at their inputs' shapes only. */
bool sk_op_reads_shape_only(sk_op op);

/* Puts a node that exists elsewhere behind the last one; what it makes is made there from now on. Its lists stay where they are. */
sk_status sk_graph_push_node(sk_graph *graph, const sk_node *node, sk_error *err) SK_MUST_CHECK;

/* A constant without a name, of a copy of `data`. */
sk_status sk_graph_add_copy(sk_graph *graph, sk_dtype dtype, const sk_shape *shape, const void *data,
                            sk_value *out, sk_error *err) SK_MUST_CHECK;

/* How often each value is read by nodes and graph outputs; sk_free. Null when memory is out. */
int32_t *sk_graph_count_uses(const sk_graph *graph);

#endif
