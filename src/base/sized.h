/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_SIZED_H
#define SK_BASE_SIZED_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Structs that begin with their own size, as the caller's compiler knew it. */

/* What a caller filled, over the defaults that `whole` holds: a smaller struct lacks its last fields, which keep their
 * defaults. A larger one, of a later version, is taken where what we do not know of is zero. whole's size stays its own. */
sk_status sk_sized_read(const void *given, void *whole, size_t whole_bytes, const char *what,
                        sk_error *err) SK_MUST_CHECK;

/* Into what a caller gave room for, as far as it reaches; its size stays what it said. */
void sk_sized_write(void *given, const void *whole, size_t whole_bytes);

#endif
