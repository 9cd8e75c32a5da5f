/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_CONFIG_MAKE_H
#define SK_FORMATS_CONFIG_MAKE_H

#include "base/text.h"
#include "formats/config.h"

/* A configuration tree that the program makes itself instead of reading it. Values are added in order; the first failure is
 * kept and later calls do nothing: ask sk_make_finish once.
 *
 *     sk_maker m;
 *     sk_make_begin(&m, "the package");                 // the root is a map
 *     sk_make_text(&m, "name", "yolo");
 *     sk_make_list(&m, "parameters");
 *         sk_make_map(&m, NULL);                        // items of a list have no key
 *             sk_make_text(&m, "name", "classes");
 *         sk_make_close(&m);
 *     sk_make_close(&m);
 *     SK_TRY(sk_make_finish(&m, &config, err));         // ends the maker either way
 *
 * Texts and keys are copied; sk_make_value borrows the value, which must live as long as the tree. */
#define SK_MAKE_DEPTH 8

typedef struct sk_maker {
    struct sk_config *config;
    int depth;
    sk_error failed; /* code SK_OK while all is well */
    struct sk_make_level {
        const sk_config_value **items; /* maps: key, value, key, value … */
        size_t count, capacity;
        bool is_map;
        const char *key; /* of the container itself, in the one around it */
    } level[SK_MAKE_DEPTH];
} sk_maker;

void sk_make_begin(sk_maker *m, const char *what); /* `what` is borrowed until finish */
void sk_make_text(sk_maker *m, const char *key, const char *text);
void sk_make_grown(sk_maker *m, const char *key,
                   const sk_text *text); /* tells, too, where the text could not grow */
/* Frees the text; null is memory that ran out. */
void sk_make_owned(sk_maker *m, const char *key, char *text);
void sk_make_int(sk_maker *m, const char *key, int64_t value);
void sk_make_real(sk_maker *m, const char *key, double value);
void sk_make_bool(sk_maker *m, const char *key, bool value);
void sk_make_value(sk_maker *m, const char *key, const sk_config_value *value);
void sk_make_map(sk_maker *m, const char *key);
void sk_make_list(sk_maker *m, const char *key);
void sk_make_close(sk_maker *m); /* ends the innermost map or list */
sk_status sk_make_finish(sk_maker *m, sk_config **out, sk_error *err) SK_MUST_CHECK;

#endif
