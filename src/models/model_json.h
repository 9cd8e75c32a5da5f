/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_MODEL_JSON_H
#define SK_MODELS_MODEL_JSON_H

#include "models/model.h"

/* Everything a model says beside its graph (task, names, skeleton, input, outputs, head and SLEAP
 * specifications, facts) as one line of JSON, and back. Our ONNX exports carry it in their metadata, so
 * that a model comes back as the same model. */

/* *text is ended with sk_free. */
sk_status sk_model_to_json(const sk_model *model, char **text, sk_error *err) SK_MUST_CHECK;
/* Fills a fresh model, except for its graph, format, path and hash. Foreign or damaged text is refused:
 * every count, index and enumeration is checked. `what` names the file in errors. */
sk_status sk_model_from_json(sk_model *model, const char *text, const char *what,
                             sk_error *err) SK_MUST_CHECK;

#endif
