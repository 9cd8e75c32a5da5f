/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_DESCRIBE_H
#define SK_APP_DESCRIBE_H

#include "models/model.h"

/* What `info` says about a model, as text for a person or as one JSON object. */

typedef struct sk_describe_settings {
    bool json;
    bool layers;           /* also the graph, one line an operation */
    int32_t height, width; /* size for the layers; 0: the model's own */
} sk_describe_settings;

/* *text is ended by sk_free; without a final newline. */
sk_status sk_describe_model(const sk_model *model, const sk_describe_settings *settings, char **text,
                            sk_error *err) SK_MUST_CHECK;

const char *sk_model_format_name(sk_model_format format);
const char *sk_output_kind_name(sk_output_kind kind);

#endif
