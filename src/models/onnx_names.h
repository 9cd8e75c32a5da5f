/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MODELS_ONNX_NAMES_H
#define SK_MODELS_ONNX_NAMES_H

#include "base/memory.h"
#include <stdbool.h>

/* From names to numbers, with an outer scope that is asked when a name is not here: what subgraphs see.
 * Names are borrowed. */
typedef struct sk_onnx_scope sk_onnx_scope;

sk_status sk_onnx_scope_open(const sk_onnx_scope *outer, sk_onnx_scope **out, sk_error *err) SK_MUST_CHECK;
void sk_onnx_scope_close(sk_onnx_scope **scope);

/* Adds a name. SK_ERR_MISMATCH when this scope (not an outer one) has it already. */
sk_status sk_onnx_scope_add(sk_onnx_scope *scope, const char *name, int32_t number,
                            sk_error *err) SK_MUST_CHECK;
/* False when no scope has the name. */
bool sk_onnx_scope_find(const sk_onnx_scope *scope, const char *name, int32_t *number);
/* Only in this scope. */
bool sk_onnx_scope_find_here(const sk_onnx_scope *scope, const char *name, int32_t *number);

#endif
