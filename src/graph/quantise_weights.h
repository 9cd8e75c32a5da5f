/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_GRAPH_QUANTISE_WEIGHTS_H
#define SK_GRAPH_QUANTISE_WEIGHTS_H

#include "graph/quantise_plan.h"

/* The n weights of one output channel in eight bits, i8 or f8, `taps` of an input channel in a row: their bytes, what these mean, and
 * the scale of them. */
float sk_quantise_weights(const float *weights, int64_t n, int64_t taps, bool f8, uint8_t *bytes,
                          float *meant);

#endif
