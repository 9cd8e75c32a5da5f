/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_ORDER_H
#define SK_MODELS_ONNX_ORDER_H

#include "formats/onnx.h"

/* An order in which every node comes after those it needs, subgraphs' needs included; *order is ended with
 * sk_free. Most files are in order already and keep it. Fails on cycles and on names two nodes make. */
sk_status sk_onnx_order(const sk_onnx_node *nodes, int32_t n_nodes, const char *what, int32_t **order,
                        sk_error *err) SK_MUST_CHECK;

#endif
