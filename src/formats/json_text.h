/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_JSON_TEXT_H
#define SK_FORMATS_JSON_TEXT_H

#include <jansson.h>

/* jansson refuses texts that are not UTF-8 and writes some control characters as they are. These do neither, as
 * base/json_write.h does not. */

/* A text value; bytes that are not UTF-8 become U+FFFD. Null only when memory is out. */
json_t *sk_json_text(const char *text);
/* json_dumps with these flags, safe to send to a terminal. Ended by free. */
char *sk_json_dump(const json_t *root, size_t flags);

#endif
