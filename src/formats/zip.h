/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_FORMATS_ZIP_H
#define SK_FORMATS_ZIP_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads zip archives that lie in memory (usually a mapped file): stored and deflated entries, ZIP64, data
 * descriptors. Stored entries are handed out in place, without a copy. Nothing in an archive is trusted: every
 * offset and size is checked against the bytes that are there. Thread-safe once open. */
typedef struct sk_zip sk_zip;

typedef struct sk_zip_entry {
    const char *name;    /* zero-terminated copy */
    uint64_t header;     /* of the local header */
    uint64_t compressed; /* bytes in the archive */
    uint64_t size;       /* bytes after inflating */
    uint32_t crc;        /* 0: the writer did not compute it (torch can be told so) */
    uint16_t method;     /* 0 stored, 8 deflated */
    uint16_t flags;
} sk_zip_entry;

/* True when the bytes begin like a zip archive. */
bool sk_zip_looks_like(const void *bytes, size_t length);

/* `bytes` are borrowed until close; `what` names the source in errors and is copied.
 * Where the directory at the end is missing or damaged (a download that broke off), the entries that are whole are
 * collected from the beginning instead and sk_zip_truncated() says so; fails when there is not even one. */
sk_status sk_zip_open_memory(const void *bytes, size_t length, const char *what, sk_zip **out,
                             sk_error *err) SK_MUST_CHECK;
void sk_zip_close(sk_zip **zip);

bool sk_zip_truncated(const sk_zip *zip);
size_t sk_zip_length(const sk_zip *zip); /* bytes of the archive */
size_t sk_zip_count(const sk_zip *zip);
const sk_zip_entry *sk_zip_at(const sk_zip *zip, size_t index);       /* in order of the directory */
const sk_zip_entry *sk_zip_find(const sk_zip *zip, const char *name); /* null when absent */
uint64_t sk_zip_total_size(const sk_zip *zip);                        /* of all entries, inflated */

/* The entry's bytes, checked against its checksum. Stored: *bytes points into the archive and *hold is null.
 * Deflated: *hold owns the bytes and the caller ends it with sk_blob_unref. */
sk_status sk_zip_read(const sk_zip *zip, const sk_zip_entry *entry, const uint8_t **bytes, sk_blob **hold,
                      sk_error *err) SK_MUST_CHECK;
/* Bytes the next sk_zip_read of this entry has to work through; 0 for a stored one whose checksum was verified
 * before. For readers that bound the work a hostile archive can ask for. */
uint64_t sk_zip_work(const sk_zip *zip, const sk_zip_entry *entry);

#endif
