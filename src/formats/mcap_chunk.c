/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap_file.h"

#include "base/transfer.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define UNPACKED_SURE ((uint64_t)64 << 20) /* bytes of a chunk; beyond them PER_BYTE for each packed one */
#define UNPACKED_MOST ((uint64_t)2 << 30)
#define PER_BYTE      ((uint64_t)4096)

/* Of all chunks together. Chunks of a few bytes may each become UNPACKED_SURE, and an index may ask for two of them in turn for
 * ever: what unpacking gives is counted, before messages are known against the file's length, then against what a pass over its
 * chunks needs (an honest one unpacks each about once, or some more often where they overlap in time). */
#define TOTAL_SURE ((uint64_t)1 << 30)
#define UNSEEN                                                                                               \
    ((uint64_t)256)          /* times the length, for chunks that must be unpacked to know what is in them */
#define AGAIN ((uint64_t)64) /* for chunks that overlap */

sk_status sk_mcap_reserve(uint8_t **bytes, size_t *capacity, uint64_t wanted, sk_error *err)
{
    return sk_array_reserve((void **)bytes, capacity, (size_t)wanted + 1, 1, SIZE_MAX / 4, err);
}

sk_status sk_mcap_read_at(sk_mcap_file *m, uint64_t at, void *to, size_t count, sk_error *err)
{
    if (at > m->length || count > m->length - at)
        return sk_fail(err, SK_ERR_FORMAT, "%s: cut short: it ends inside a record", m->base.path);
    if (sk_read_all_at(m->file, to, count, (int64_t)at) == count)
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", m->base.path,
                   errno ? strerror(errno) : "it has become shorter");
}

static uint64_t sum_up_to_most(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t by_length(const sk_mcap_file *m, uint64_t times)
{
    return m->length > INT64_MAX / times ? INT64_MAX : m->length * times;
}

void sk_mcap_begin_scan(sk_mcap_file *m)
{
    m->unpack_left = TOTAL_SURE + by_length(m, UNSEEN);
}

void sk_mcap_begin_pass(sk_mcap_file *m)
{
    m->unpack_left = TOTAL_SURE + by_length(m, AGAIN);
    for (size_t i = 0; i < m->n_chunks; i++)
        m->unpack_left = sum_up_to_most(m->unpack_left, m->chunks[i].unpacked);
    if (m->endless)
        m->held = UINT64_MAX; /* may be had again */
    m->endless = false;
}

static sk_status spend(sk_mcap_file *m, uint64_t bytes, sk_error *err)
{
    m->endless = bytes > m->unpack_left;
    if (m->endless)
        return sk_fail(
            err, SK_ERR_LIMIT,
            "%s: damaged, or made to take for ever: what its %zu chunks unpack to has no end; of an "
            "honest file 'mcap recover' or 'ros2 bag convert' makes one that is read",
            m->base.path, m->n_chunks);
    m->unpack_left -= bytes;
    return SK_OK;
}

static sk_status unpack(sk_mcap_file *m, const sk_mcap_chunk *c, sk_error *err)
{
    if (c->packing == SK_PACKING_NONE && c->packed != c->unpacked) /* before memory is taken for it */
        return sk_fail(err, SK_ERR_FORMAT, "%s: the chunk at byte %llu is damaged (its lengths differ)",
                       m->base.path, (unsigned long long)c->records);
    const uint64_t by_packed = c->packed < UNPACKED_MOST / PER_BYTE ? c->packed * PER_BYTE : UNPACKED_MOST;
    if (c->unpacked > UNPACKED_MOST || (c->unpacked > UNPACKED_SURE && c->unpacked > by_packed))
        return sk_fail(err, SK_ERR_LIMIT, "%s: %llu bytes that claim to unpack to %llu", m->base.path,
                       (unsigned long long)c->packed, (unsigned long long)c->unpacked);
    SK_TRY(spend(m, c->unpacked, err));
    SK_TRY(sk_mcap_reserve(&m->bytes, &m->bytes_capacity, c->packed, err));
    SK_TRY(sk_mcap_reserve(&m->unpacked, &m->unpacked_capacity, c->unpacked, err));
    SK_TRY(sk_mcap_read_at(m, c->records, m->bytes, (size_t)c->packed, err));
    sk_status status =
        sk_unpack(c->packing, m->bytes, (size_t)c->packed, m->unpacked, (size_t)c->unpacked, err);
    if (status != SK_OK) {
        sk_error_prefix(err, "%s: the chunk at byte %llu", m->base.path, (unsigned long long)c->records);
        return status;
    }
    if (c->crc && (uint32_t)crc32_z(crc32(0, NULL, 0), m->unpacked, (size_t)c->unpacked) != c->crc)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the chunk at byte %llu is damaged (its checksum differs)",
                       m->base.path, (unsigned long long)c->records);
    return SK_OK;
}

/* Holds the chunk, or the reason why it cannot be had. */
sk_status sk_mcap_hold(sk_mcap_file *m, uint64_t number, sk_error *err)
{
    if (m->held != number) {
        m->held = number;
        m->held_error = (sk_error){0};
        m->held_error.code = unpack(m, &m->chunks[number], &m->held_error);
    }
    if (m->held_error.code == SK_ERR_MEMORY || m->held_error.code == SK_ERR_IO)
        m->held = UINT64_MAX; /* it may be had later */
    if (m->held_error.code != SK_OK && err)
        *err = m->held_error;
    return m->held_error.code;
}
