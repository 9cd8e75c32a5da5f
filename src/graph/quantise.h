/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_QUANTISE_H
#define SK_GRAPH_QUANTISE_H

#include "graph/graph.h"

/* Eight bits in a graph. A number is kept as q = saturate(round_half_even(x / scale) + zero) and read as
 * (q - zero) * scale; a number that is none is kept as zero. Of f8 (f8_formula.h), q is the number of e4m3 nearest to x / scale, half
 * to even, at most 448 either way; the zero is 0, and what is no number stays none.
 *
 * The form that our quantiser makes and engines fold: every value in eight bits is QUANTIZE (u8, one scale, any zero), then
 * DEQUANTIZE, and everyone reads the dequantised value. Weights of convolutions are DEQUANTIZE (constant i8, a scale for each
 * output channel, no zero). Biases are f32 constants. What has no QUANTIZE is computed in f32. Of fp8, both are f8. */

/* How a value is kept in eight bits. */
typedef struct sk_quantisation {
    sk_dtype dtype;      /* u8, i8 or f8 */
    float scale;         /* of all, or of the first channel */
    int32_t zero;        /* of all, or of the first channel that has another than 0 */
    int64_t n_scales;    /* 1, or one for each along the axis */
    const float *scales; /* the graph's own */
    int32_t axis;        /* as the node has it: may count from the end */
    sk_value real;       /* what goes into QUANTIZE; SK_VALUE_NONE for a constant */
    sk_value bytes;      /* the eight bits */
} sk_quantisation;

/* Is this value DEQUANTIZE of QUANTIZE, or of a constant in eight bits (weights)? */
bool sk_graph_quantisation_of(const sk_graph *graph, sk_value v, sk_quantisation *out);

/* Does any node of the graph quantise or dequantise? */
bool sk_graph_is_quantised(const sk_graph *graph);
/* Is anything left of that in a specialised graph: values that are rounded, or weights of convolutions? Others, such as weights of
 * products, become constants in f32. */
bool sk_graph_computes_bytes(const sk_graph *graph);
/* Is f8 what some of these make or read? */
bool sk_graph_is_f8(const sk_graph *graph);

/* For engines that compute no eight bits, and for f32 where a person wishes it: weights become f32 constants, what is
 * between QUANTIZE and DEQUANTIZE is no longer rounded. In place; outputs stay what they are. */
sk_status sk_graph_dequantise(sk_graph *graph, sk_error *err) SK_MUST_CHECK;

/* Scale and zero of QUANTIZE and DEQUANTIZE: constants of fitting types, every scale finite and above 0. The node's inputs. */
sk_status sk_quantise_check(const sk_node *node, const sk_tensor *ins, sk_error *err) SK_MUST_CHECK;
/* The same for a node of a graph; SK_OK for every other operation. */
sk_status sk_quantise_check_node(const sk_graph *graph, const sk_node *node, sk_error *err) SK_MUST_CHECK;
/* Sets SK_NODE_WEIGHTS; for specialisation. */
sk_status sk_graph_mark_weights(sk_graph *graph, sk_error *err) SK_MUST_CHECK;

#endif
