/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_IMPORT_H
#define SK_MODELS_ONNX_IMPORT_H

#include "formats/onnx.h"
#include "graph/graph.h"

/* ONNX nodes → our graph, node by node. Half-precision weights, inputs and outputs become float32: engines
 * choose their own precision. In our own exports, nodes whose name begins with SK_ONNX_TAIL_SCOPE are
 * marked as the decode tail.
 *
 * Errors name the file and the node: operators we do not have, weights of a wrong shape as far as they can
 * be told here, cycles, names made twice or never. Shapes are checked by specialisation. */
sk_status sk_onnx_import(const sk_onnx_model *model, const char *what, sk_graph **out,
                         sk_error *err) SK_MUST_CHECK;

/* What our own exports put before the names of tail nodes. */
#define SK_ONNX_TAIL_SCOPE "tail/"

/* The metadata key our own exports carry: JSON that restores the model (models/model_json.h). */
#define SK_ONNX_OWN_KEY "skitter"

#endif
