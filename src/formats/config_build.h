/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_CONFIG_BUILD_H
#define SK_FORMATS_CONFIG_BUILD_H

#include "formats/config.h"

/* For the parsers that fill a configuration tree: config_json.c, config_yaml.c, python_literal.c. */

struct sk_config {
    sk_arena *arena;
    const sk_config_value *root;
    size_t n_nodes;
    const char *what; /* for errors while parsing; borrowed */
};

/* Checks the text's size and opens an empty document whose memory is bounded by a multiple of that size. */
sk_status sk_config_create(size_t text_length, const char *what, sk_config **out,
                           sk_error *err) SK_MUST_CHECK;

/* A fresh node; fails over the node or memory limit. */
sk_status sk_config_node(sk_config *config, sk_config_kind kind, sk_config_value **out,
                         sk_error *err) SK_MUST_CHECK;
sk_status sk_config_string(sk_config *config, const char *text, size_t length, sk_config_value **out,
                           sk_error *err) SK_MUST_CHECK;

/* Items gathered while a container's end is not known yet. Freed by sk_config_gather_free. */
typedef struct sk_config_gather {
    const sk_config_value **items; /* maps: key, value, key, value … */
    size_t count, capacity;
} sk_config_gather;

sk_status sk_config_gather_add(sk_config_gather *gather, const sk_config_value *item,
                               sk_error *err) SK_MUST_CHECK;
void sk_config_gather_free(sk_config_gather *gather);
/* Turns what was gathered into a LIST or MAP node. */
sk_status sk_config_finish_list(sk_config *config, const sk_config_gather *gather, sk_config_value **out,
                                sk_error *err) SK_MUST_CHECK;
sk_status sk_config_finish_map(sk_config *config, const sk_config_gather *gather, sk_config_value **out,
                               sk_error *err) SK_MUST_CHECK;

/* Number text "12", "-1.5e3" (no separators, no spaces) as INT, or REAL when it has a point, an exponent
 * or does not fit; false when it is no number. */
bool sk_config_parse_number(const char *text, size_t length, sk_config_value *out);

#endif
