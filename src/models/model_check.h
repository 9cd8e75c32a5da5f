/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_MODEL_CHECK_H
#define SK_MODELS_MODEL_CHECK_H

#include "models/model.h"

/* Whether the numbers a model was filled with agree with each other; SK_ERR_MISMATCH names those that do not. Asked for
 * every model that is opened, whatever its format. */
sk_status sk_model_check(const sk_model *model, sk_error *err) SK_MUST_CHECK;

#endif
