/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_FORMATS_HDF5_OBJECTS_H
#define SK_TESTS_FORMATS_HDF5_OBJECTS_H

#include "hdf5_bytes.h"

#include "formats/hdf5_file.h"

/* Whole files with the headers of their objects. */

enum { ROOT = 128, MOST = 4096 };

static sk_hdf5_file *file;

static inline void put_text(const char *text, size_t count)
{
    memcpy(bytes + length, text, strlen(text));
    memset(bytes + length + strlen(text), 0, count - strlen(text));
    length += count;
}

static inline void poke(size_t at, uint64_t value, int count)
{
    const size_t kept = length;
    length = at;
    put(value, count);
    length = kept;
}

/* The beginning of a file; what follows begins at ROOT. */
static inline size_t begin(int version)
{
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, "\x89HDF\r\n\x1a\n", length = 8);
    put((uint64_t)version, 1);
    put(0, version < 2 ? 4 : 0);
    put(8, 1);
    put(8, 1);
    put(0, version == 0 ? 9 : version == 1 ? 13 : 1);
    put(0, 8);
    put(UINT64_MAX, 8);
    const size_t end = length;
    put(0, 8);
    for (int i = 0; version < 2 && i < 2; i++)
        put(0, 8);
    put(ROOT, 8);
    length = ROOT;
    return end;
}

static inline sk_status open_now(size_t count)
{
    sk_hdf5_close(&file);
    return sk_hdf5_open_memory(bytes, count, "in.h5", &file, &err);
}

static inline void put_message(int version, int type, int flags, const uint8_t *data, size_t count,
                               bool ordered)
{
    put((uint64_t)type, version == 1 ? 2 : 1);
    put(count, 2);
    put((uint64_t)flags, 1);
    put(0, version == 1 ? 3 : ordered ? 2 : 0);
    memcpy(bytes + length, data, count);
    length += count;
}

/* The beginning of a header of version 1; end_header sets its size. */
static inline size_t put_header(void)
{
    put(1, 1);
    put(0, 1);
    put(1, 2);
    put(1, 4);
    put(0, 8);
    return length;
}

static inline void end_header(size_t from)
{
    poke(from - 8, length - from, 4);
}

#endif
