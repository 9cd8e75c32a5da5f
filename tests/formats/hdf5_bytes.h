/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_FORMATS_HDF5_BYTES_H
#define SK_TESTS_FORMATS_HDF5_BYTES_H

#include "support/test.h"

#include <stdint.h>
#include <string.h>

/* HDF5 files, or pieces of them, put together byte by byte. */

static uint8_t bytes[16384];
static size_t length; /* of what was put */
static sk_error err;

/* A number of so many bytes, the lowest first. */
static inline void put(uint64_t value, int count)
{
    for (int i = 0; i < count; i++, value >>= 8)
        bytes[length++] = (uint8_t)value;
}

/* What a type begins with. */
static inline void put_head(int kind, int version, uint32_t bits, uint32_t size)
{
    put((uint64_t)(version << 4 | kind), 1);
    put(bits, 3);
    put(size, 4);
}

static inline void told(sk_status status, sk_status wanted, const char *why)
{
    if (status != wanted || !strstr(err.message, why))
        fail_msg("%d, %s: not '%s'", (int)status, status == SK_OK ? "read" : err.message, why);
}

#endif
