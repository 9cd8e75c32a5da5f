/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ENGINE_HEADER_H
#define SK_ENGINES_ENGINE_HEADER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of an Ultralytics engine file: a 32-bit little-endian length and that many bytes of JSON, before the
 * runtime's own bytes. Other tools' files have none. */

/* True when there is one: the JSON is bytes[*begin … *end), the runtime's bytes follow at *end. */
bool sk_engine_header_find(const void *bytes, size_t length, size_t *begin, size_t *end);
/* Header and plan in one block, ended by sk_free. */
sk_status sk_engine_header_join(const char *json, const void *plan, size_t plan_length, uint8_t **out,
                                size_t *length, sk_error *err) SK_MUST_CHECK;

#endif
