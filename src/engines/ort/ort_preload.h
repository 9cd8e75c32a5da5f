/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ORT_ORT_PRELOAD_H
#define SK_ENGINES_ORT_ORT_PRELOAD_H

#include "engines/ort/ort_provider.h"

/* Asks for the provider, whose own library is loaded then. Libraries it misses (cuDNN, cuBLAS …) are looked for among NVIDIA's
 * packages of the Python environment that ONNX Runtime is in, where no loader finds them; what is still missing is named, with the
 * version it was built for and what to install. */
sk_status ort_preload_and_append(const ort_api *api, const ort_provider *provider,
                                 ort_session_options *options, const ort_request *request,
                                 sk_error *err) SK_MUST_CHECK;

#endif
