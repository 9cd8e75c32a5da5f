/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FUZZ_USE_MODEL_H
#define SK_FUZZ_USE_MODEL_H

#include "models/model.h"

/* A model that a reader has accepted, used as the program would: described, run on a small frame from pixels to instances,
 * written as ONNX and read back. `model->path` may be null. */
void sk_fuzz_use_model(sk_model *model);

#endif
