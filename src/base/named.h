/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_NAMED_H
#define SK_BASE_NAMED_H

#include <stddef.h>
#include <stdint.h>

/* Tables that are searched by name: arrays of structs whose first member is the name, a const char *. */

/* The index of the row of that name; -1 where there is none, or `name` is null. */
#define SK_ROW_NAMED(table, name)                                                                            \
    sk_row_named((table), sizeof(table) / sizeof((table)[0]), sizeof((table)[0]), (name))
int32_t sk_row_named(const void *table, size_t rows, size_t row_bytes, const char *name);

/* The commonest one: a name and a number, mostly of an enum. */
typedef struct sk_named {
    const char *name;
    int32_t value;
} sk_named;

/* What the name stands for in an array of sk_named; `otherwise` where it is not there. */
#define SK_NAMED_VALUE(table, name, otherwise)                                                               \
    sk_named_value((table), sizeof(table) / sizeof((table)[0]), (name), (otherwise))
int32_t sk_named_value(const sk_named *table, size_t rows, const char *name, int32_t otherwise);

#endif
