/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_JSON_SCAN_H
#define SK_FORMATS_JSON_SCAN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Walks over the top of a JSON text too large to be read as one tree, and hands out the parts as text: each is then
 * read by sk_config_open_json, which also judges whether it is well formed. Nothing is copied. */
typedef struct sk_json_scan {
    const char *at, *end;
    const char *begin, *what; /* for errors; borrowed */
    bool first;               /* nothing of the current list or object was handed out yet */
} sk_json_scan;

typedef struct sk_json_span {
    const char *text;
    size_t length;
} sk_json_span;

sk_json_scan sk_json_scan_over(const char *text, size_t length, const char *what);

/* Enters a list ('[') or object ('{'); SK_ERR_FORMAT when something else stands there. */
sk_status sk_json_scan_enter(sk_json_scan *scan, char opener, sk_error *err) SK_MUST_CHECK;
/* The next item; a null text at the end of the list. */
sk_status sk_json_scan_item(sk_json_scan *scan, sk_json_span *item, sk_error *err) SK_MUST_CHECK;
/* The next key (without its quotation marks, escapes as they stand) and value; a null key at the end. */
sk_status sk_json_scan_pair(sk_json_scan *scan, sk_json_span *key, sk_json_span *value,
                            sk_error *err) SK_MUST_CHECK;
/* Nothing but white space may be left. */
sk_status sk_json_scan_finish(sk_json_scan *scan, sk_error *err) SK_MUST_CHECK;

#endif
