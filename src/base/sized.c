/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sized.h"

#include "skitter/version.h"

#include <string.h>

#define MOST 65536 /* no struct of ours comes near: memory that nobody set */

static uint32_t size_of(const void *given)
{
    uint32_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

sk_status sk_sized_read(const void *given, void *whole, size_t whole_bytes, const char *what, sk_error *err)
{
    const uint32_t size = size_of(given), own = (uint32_t)whole_bytes;
    if (size < sizeof size || size > MOST)
        return sk_fail(err, SK_ERR_ARG, "%s of %u bytes: its size was not set; begin with SK_…_INIT", what,
                       (unsigned)size);
    const unsigned char *bytes = given;
    for (size_t i = whole_bytes; i < size; i++)
        if (bytes[i])
            return sk_fail(err, SK_ERR_ARG,
                           "%s of %u bytes, with something set that this library, %s, does not know (its own "
                           "has %u): the program was built with headers of a later version than it runs with",
                           what, (unsigned)size, sk_version_text(), (unsigned)own);
    memcpy(whole, given, size < whole_bytes ? size : whole_bytes);
    memcpy(whole, &own, sizeof own);
    return SK_OK;
}

void sk_sized_write(void *given, const void *whole, size_t whole_bytes)
{
    const uint32_t size = size_of(given);
    if (size < sizeof size || size > MOST)
        return;
    memcpy(given, whole, size < whole_bytes ? size : whole_bytes);
    memcpy(given, &size, sizeof size);
}
