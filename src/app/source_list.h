/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SOURCE_LIST_H
#define SK_APP_SOURCE_LIST_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What a person named, as the sources that are read one after the other: a folder of videos is its videos, a text list what
 * it names, a pattern what it matches; pictures given one by one are one source together. */

typedef struct sk_source_item {
    char *source; /* null: the list's pictures */
    char *name;   /* unlike every other item's, to call a folder by */
} sk_source_item;

typedef struct sk_source_list {
    sk_source_item *items;
    size_t count, capacity;
    char **pictures; /* given one by one, in their order */
    size_t n_pictures, pictures_capacity;
    bool
        many; /* results go into a folder for each item: more than one source was asked for, if only one was found */
} sk_source_list;

/* The list starts as {0} and is ended by sk_source_list_free, also after a failure. */
sk_status sk_source_list_make(const char *const *given, size_t count, sk_source_list *list,
                              sk_error *err) SK_MUST_CHECK;
void sk_source_list_free(sk_source_list *list);

#endif
