/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_SUPPORT_MARKUP_H
#define SK_TESTS_SUPPORT_MARKUP_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a page is well-formed: one root, every element closed in order, attributes quoted and given once, no bare '&' or
 * '<', only the entities XML and HTML share. Where not, `why` says what and where. */
bool test_markup_is_sound(const char *text, size_t length, char *why, size_t capacity);

#endif
