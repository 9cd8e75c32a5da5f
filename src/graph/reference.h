/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_REFERENCE_H
#define SK_GRAPH_REFERENCE_H

#include "graph/graph.h"

/* The oracle: executes a graph slowly and obviously, float32 with double accumulation where it matters.
 * Every engine is checked against it, constant folding uses it, and engines borrow it for operations they
 * have no kernel for. */

/* Runs a specialised graph. `inputs` are borrowed, one per graph input, of the input's dtype and shape.
 * On success outputs[i].data is fresh memory that the caller ends with sk_free; on failure all are null. */
sk_status sk_reference_run(const sk_graph *graph, const sk_tensor *inputs, int32_t n_inputs,
                           sk_tensor *outputs, int32_t n_outputs, sk_error *err) SK_MUST_CHECK;

/* Called after each node with its outputs, for comparing layer by layer. Return non-SK_OK to stop. */
typedef sk_status (*sk_reference_watch)(void *context, const sk_graph *graph, int32_t node,
                                        const sk_tensor *outs);
sk_status sk_reference_run_watched(const sk_graph *graph, const sk_tensor *inputs, int32_t n_inputs,
                                   sk_tensor *outputs, int32_t n_outputs, sk_reference_watch watch,
                                   void *context, sk_error *err) SK_MUST_CHECK;

/* Output types and shapes of one node from its inputs' types, shapes and, where data is non-null, values.
 * ins[i].dtype SK_DTYPE_NONE marks an absent optional input. Shapes that depend on unknown data get rank
 * -1 or dimensions of -1. */
sk_status sk_node_infer(const sk_node *node, const sk_tensor *ins, sk_tensor *outs,
                        sk_error *err) SK_MUST_CHECK;

/* Executes one node: `outs` have dtype and shape from sk_node_infer and data of that size. For
 * data-dependent shapes (rank -1 or -1 dims) data must be null: it is allocated here (sk_free) and the
 * shape completed. */
sk_status sk_node_execute(const sk_node *node, const sk_tensor *ins, sk_tensor *outs,
                          sk_error *err) SK_MUST_CHECK;

#endif
