/* SPDX-License-Identifier: Apache-2.0 */
#include "engines/engine_header.h"

#include "base/memory.h"

#include <string.h>

#define LONGEST ((size_t)16 << 20)

bool sk_engine_header_find(const void *bytes, size_t length, size_t *begin, size_t *end)
{
    const uint8_t *b = bytes;
    *begin = *end = 0;
    if (length < 6)
        return false;
    size_t said = (size_t)b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
    if (said < 2 || said > LONGEST || said > length - 4 || b[4] != '{' || b[3 + said] != '}')
        return false;
    *begin = 4;
    *end = 4 + said;
    return true;
}

sk_status sk_engine_header_join(const char *json, const void *plan, size_t plan_length, uint8_t **out,
                                size_t *length, sk_error *err)
{
    size_t n = strlen(json);
    while (n && (json[n - 1] == '\n' || json[n - 1] == ' '))
        n--;
    *out = NULL;
    if (n > LONGEST || !sk_add_size(n + 4, plan_length, length))
        return sk_fail(err, SK_ERR_LIMIT, "the engine file's description has %zu bytes", n);
    uint8_t *b = sk_malloc(*length);
    if (!b)
        return sk_fail_memory(err, *length);
    for (int i = 0; i < 4; i++)
        b[i] = (uint8_t)(n >> (8 * i));
    memcpy(b + 4, json, n);
    memcpy(b + 4 + n, plan, plan_length);
    *out = b;
    return SK_OK;
}
