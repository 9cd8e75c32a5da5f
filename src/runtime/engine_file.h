/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_ENGINE_FILE_H
#define SK_RUNTIME_ENGINE_FILE_H

#include "models/model.h"

/* Engine files as Ultralytics writes them, so that either program reads the other's: a 32-bit little-endian length, that
 * many bytes of JSON about the model, then the runtime's own bytes. Files of other tools have no such beginning. */

/* The JSON for a model at this size; ended by sk_free. */
sk_status sk_engine_file_describe(const sk_model *model, int32_t batch, int32_t height, int32_t width,
                                  char **json, sk_error *err) SK_MUST_CHECK;

/* Does somebody's engine file say it is this model at this size? One that says nothing is taken at its word. */
sk_status sk_engine_file_fits(const sk_model *model, const void *bytes, size_t length, int32_t batch,
                              int32_t height, int32_t width, sk_error *err) SK_MUST_CHECK;

#endif
