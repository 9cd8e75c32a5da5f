/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_ATTENTION_H
#define SK_GRAPH_ATTENTION_H

#include "graph/graph.h"

/* The attention of YOLO10 and later, which a graph has as reshapes, transposes, split, scale, matmul, softmax, matmul and
 * reshapes of a map [image][head][q k v][pixel]; YOLO12's areas are ranges of an image's pixels. Engines that have a kernel for
 * the whole find it here. */

enum { SK_MAX_MOVES = 8 };

/* Reshapes and transposes one after the other, from the first to the last. */
typedef struct sk_moves {
    int32_t n, node[SK_MAX_MOVES];
    sk_value from, to;
} sk_moves;

typedef struct sk_attention {
    int32_t split, scale, transpose_q, scores, softmax, transpose_s, product; /* nodes; scale may be -1 */
    sk_moves in, out, values; /* from the map; to the result, a map; v as a map, n = 0: nobody reads it */
    int32_t heads, kd, hd, areas;
    float factor; /* of the scores */
} sk_attention;

/* Is node `softmax` the middle of such a one? `uses`: sk_graph_count_uses. */
bool sk_attention_match(const sk_graph *graph, const int32_t *uses, size_t softmax, sk_attention *out);

/* Removes all its nodes but the split and the softmax, which the engine puts something in the place of that makes out.to and
 * values.to of in.from. */
void sk_attention_remove(sk_graph *graph, const sk_attention *attention);

#endif
