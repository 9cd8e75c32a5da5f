/* SPDX-License-Identifier: Apache-2.0 */
#include "base/named.h"

#include <string.h>

int32_t sk_row_named(const void *table, size_t rows, size_t row_bytes, const char *name)
{
    for (size_t i = 0; name && i < rows; i++) {
        const char *own;
        memcpy(&own, (const char *)table + i * row_bytes, sizeof own);
        if (strcmp(own, name) == 0)
            return (int32_t)i;
    }
    return -1;
}

int32_t sk_named_value(const sk_named *table, size_t rows, const char *name, int32_t otherwise)
{
    int32_t i = sk_row_named(table, rows, sizeof *table, name);
    return i < 0 ? otherwise : table[i].value;
}
