/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/bag_file.h"
#include "formats/mcap.h"
#include "formats/mcap_bytes.h"

#include "base/file.h"
#include "base/object.h"
#include "base/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* A file is read by going through its records from the first to the last, whatever its summary says: chunks are stepped over,
 * the index behind each says where its messages are. So a file that nobody finished (a recorder that was killed) is read in the
 * same way as a whole one, and no offset of a hostile summary is followed. Chunks are unpacked where there is no index, or where
 * a channel is not described elsewhere. */

#define MOST_TEXT_RECORD ((uint64_t)16 << 20) /* bytes of a schema or a channel */
#define MOST_LISTED      ((size_t)1 << 26)
#define UNPACKED_SURE    ((uint64_t)64 << 20) /* bytes of a chunk; beyond them PER_BYTE for each packed one */
#define UNPACKED_MOST    ((uint64_t)2 << 30)
#define PER_BYTE         ((uint64_t)4096)
#define CHANNELS         65536
#define NO_TOPIC         SIZE_MAX
#define MESSAGE_HEAD     ((size_t)22)

typedef struct chunk {
    uint64_t records, packed, unpacked; /* where its packed bytes lie, how many, and how many they become */
    uint32_t crc;
    sk_packing packing;
    bool indexed;
} chunk;

typedef struct index_record { /* the messages of one channel in one chunk */
    uint64_t place;           /* of the array */
    uint32_t bytes, chunk;
    uint16_t channel;
} index_record;

typedef struct loose { /* a message that no index has */
    sk_bag_entry entry;
    uint16_t channel;
} loose;

typedef struct schema {
    char *name;
    uint16_t id;
} schema;

typedef struct mcap_file {
    sk_bag_file base;
    int file;
    uint64_t length;
    chunk *chunks;
    size_t n_chunks, chunks_capacity;
    index_record *indexes;
    size_t n_indexes, indexes_capacity;
    loose *loose;
    size_t n_loose, loose_capacity;
    schema *schemas;
    size_t n_schemas, schemas_capacity;
    size_t *topic_of; /* a channel's topic, or NO_TOPIC */
    /* the chunk that was unpacked last */
    uint8_t *unpacked;
    size_t unpacked_capacity;
    uint64_t held; /* its number; UINT64_MAX: none */
    sk_error held_error;
    uint8_t *bytes; /* what was read from the file last */
    size_t bytes_capacity;
    bool finished;
    size_t bad_chunks, unknown;
} mcap_file;

#define NO_CHUNK UINT64_MAX /* of an entry: the message lies outside of chunks */

static sk_status reserve_bytes(uint8_t **bytes, size_t *capacity, uint64_t wanted, sk_error *err)
{
    return sk_array_reserve((void **)bytes, capacity, (size_t)wanted + 1, 1, SIZE_MAX / 4, err);
}

static sk_status read_at(mcap_file *m, uint64_t at, void *to, size_t count, sk_error *err)
{
    if (at > m->length || count > m->length - at)
        return sk_fail(err, SK_ERR_FORMAT, "%s: cut short: it ends inside a record", m->base.path);
    if (sk_read_all_at(m->file, to, count, (int64_t)at) == count)
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", m->base.path,
                   errno ? strerror(errno) : "it has become shorter");
}

/* --- what records say --- */

static sk_status add_schema(mcap_file *m, sk_mcap_bytes b, sk_error *err)
{
    size_t length;
    const uint16_t id = (uint16_t)sk_mcap_number(&b, 2);
    const char *name = sk_mcap_text(&b, &length);
    if (b.bad || id == 0)
        return SK_OK; /* the format says: to be ignored */
    for (size_t i = 0; i < m->n_schemas; i++)
        if (m->schemas[i].id == id)
            return SK_OK;
    SK_TRY(sk_array_reserve((void **)&m->schemas, &m->schemas_capacity, m->n_schemas + 1, sizeof *m->schemas,
                            CHANNELS, err));
    char *copy = sk_strndup(name, length);
    if (!copy)
        return sk_fail_memory(err, length);
    m->schemas[m->n_schemas++] = (schema){copy, id};
    return SK_OK;
}

static sk_status add_channel(mcap_file *m, sk_mcap_bytes b, sk_error *err)
{
    size_t topic_length, encoding_length;
    const uint16_t id = (uint16_t)sk_mcap_number(&b, 2), schema_id = (uint16_t)sk_mcap_number(&b, 2);
    const char *topic = sk_mcap_text(&b, &topic_length);
    const char *encoding = sk_mcap_text(&b, &encoding_length);
    const char *type = "";
    if (b.bad || m->topic_of[id] != NO_TOPIC)
        return SK_OK;
    for (size_t i = 0; i < m->n_schemas; i++)
        type = m->schemas[i].id == schema_id ? m->schemas[i].name : type;
    char *name = sk_strndup(topic, topic_length), *code = sk_strndup(encoding, encoding_length);
    sk_status status = name && code ? sk_bag_file_topic(&m->base, name, type, code, &m->topic_of[id], err)
                                    : sk_fail_memory(err, topic_length + encoding_length);
    sk_free_all(name, code);
    return status;
}

static sk_status add_loose(mcap_file *m, uint64_t in_chunk, uint64_t offset, const uint8_t *head,
                           sk_error *err)
{
    sk_mcap_bytes b = {head, MESSAGE_HEAD, false};
    loose l = {.channel = (uint16_t)sk_mcap_number(&b, 2)};
    sk_mcap_number(&b, 4); /* the sequence */
    l.entry = (sk_bag_entry){.log_ns = (int64_t)sk_mcap_number(&b, 8), .chunk = in_chunk, .offset = offset};
    SK_TRY(sk_array_reserve((void **)&m->loose, &m->loose_capacity, m->n_loose + 1, sizeof *m->loose,
                            MOST_LISTED, err));
    m->loose[m->n_loose++] = l;
    return SK_OK;
}

static sk_status add_chunk(mcap_file *m, uint64_t at, uint64_t length, sk_error *err)
{
    uint8_t head[64 + 32]; /* a name of a packing is short */
    const size_t there = length < sizeof head ? (size_t)length : sizeof head;
    size_t name_length;
    chunk c = {0};
    SK_TRY(read_at(m, at, head, there, err));
    sk_mcap_bytes b = {head, there, false};
    sk_mcap_take(&b, 16); /* when its messages begin and end */
    c.unpacked = sk_mcap_number(&b, 8);
    c.crc = (uint32_t)sk_mcap_number(&b, 4);
    const char *name = sk_mcap_text(&b, &name_length);
    c.packed = sk_mcap_number(&b, 8);
    c.records = at + (uint64_t)(b.at - head);
    if (b.bad || c.packed > length - (uint64_t)(b.at - head)) {
        m->bad_chunks++;
        return SK_OK;
    }
    sk_status status = sk_packing_find(name, name_length, &c.packing, err);
    if (status != SK_OK) {
        sk_error_prefix(err, "%s: a chunk", m->base.path);
        return status;
    }
    SK_TRY(sk_array_reserve((void **)&m->chunks, &m->chunks_capacity, m->n_chunks + 1, sizeof *m->chunks,
                            UINT32_MAX, err));
    m->chunks[m->n_chunks++] = c;
    return SK_OK;
}

static sk_status add_index(mcap_file *m, uint64_t at, uint64_t length, sk_error *err)
{
    uint8_t head[6];
    if (length < sizeof head || m->n_chunks == 0)
        return SK_OK;
    SK_TRY(read_at(m, at, head, sizeof head, err));
    sk_mcap_bytes b = {head, sizeof head, false};
    index_record r = {.place = at + sizeof head, .chunk = (uint32_t)(m->n_chunks - 1)};
    r.channel = (uint16_t)sk_mcap_number(&b, 2);
    r.bytes = (uint32_t)sk_mcap_number(&b, 4);
    if (r.bytes > length - sizeof head)
        return SK_OK; /* the chunk is walked through instead */
    m->chunks[r.chunk].indexed = true;
    SK_TRY(sk_array_reserve((void **)&m->indexes, &m->indexes_capacity, m->n_indexes + 1, sizeof *m->indexes,
                            MOST_LISTED, err));
    m->indexes[m->n_indexes++] = r;
    return SK_OK;
}

static sk_status add_text_record(mcap_file *m, uint8_t op, uint64_t at, uint64_t length, sk_error *err)
{
    if (length > MOST_TEXT_RECORD)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a description of %llu bytes; at most %llu are read",
                       m->base.path, (unsigned long long)length, (unsigned long long)MOST_TEXT_RECORD);
    SK_TRY(reserve_bytes(&m->bytes, &m->bytes_capacity, length, err));
    SK_TRY(read_at(m, at, m->bytes, (size_t)length, err));
    const sk_mcap_bytes b = {m->bytes, (size_t)length, false};
    return op == SK_MCAP_SCHEMA ? add_schema(m, b, err) : add_channel(m, b, err);
}

/* --- going through the file --- */

static sk_status add_record(mcap_file *m, uint8_t op, uint64_t at, uint64_t length, sk_error *err)
{
    uint8_t head[MESSAGE_HEAD];
    switch (op) {
    case SK_MCAP_SCHEMA:
    case SK_MCAP_CHANNEL: return add_text_record(m, op, at, length, err);
    case SK_MCAP_CHUNK: return add_chunk(m, at, length, err);
    case SK_MCAP_MESSAGE_INDEX: return add_index(m, at, length, err);
    case SK_MCAP_MESSAGE:
        if (length < MESSAGE_HEAD)
            return SK_OK;
        SK_TRY(read_at(m, at, head, sizeof head, err));
        return add_loose(m, NO_CHUNK, at - SK_MCAP_HEAD, head, err);
    case SK_MCAP_FOOTER: m->finished = true; return SK_OK;
    default: return SK_OK;
    }
}

static sk_status scan(mcap_file *m, sk_error *err)
{
    uint64_t at = SK_MCAP_MAGIC_BYTES;
    while (!m->finished && m->length - at >= SK_MCAP_HEAD) {
        uint8_t head[SK_MCAP_HEAD];
        SK_TRY(read_at(m, at, head, sizeof head, err));
        sk_mcap_bytes b = {head + 1, 8, false};
        const uint64_t length = sk_mcap_number(&b, 8), left = m->length - at - SK_MCAP_HEAD;
        if (length > left || head[0] == 0) {
            snprintf(m->base.problem, sizeof m->base.problem,
                     head[0] == 0 ? "from byte %llu on it is not MCAP"
                                  : "it is cut off: the record at byte %llu is not complete",
                     (unsigned long long)at);
            return SK_OK;
        }
        SK_TRY(add_record(m, head[0], at + SK_MCAP_HEAD, length, err));
        at += SK_MCAP_HEAD + length;
    }
    if (!m->finished)
        snprintf(m->base.problem, sizeof m->base.problem, "nobody finished it: it has no end (footer)");
    return SK_OK;
}

/* --- chunks --- */

static sk_status unpack(mcap_file *m, const chunk *c, sk_error *err)
{
    const uint64_t by_packed = c->packed < UNPACKED_MOST / PER_BYTE ? c->packed * PER_BYTE : UNPACKED_MOST;
    if (c->unpacked > UNPACKED_MOST || (c->unpacked > UNPACKED_SURE && c->unpacked > by_packed))
        return sk_fail(err, SK_ERR_LIMIT, "%s: %llu bytes that claim to unpack to %llu", m->base.path,
                       (unsigned long long)c->packed, (unsigned long long)c->unpacked);
    SK_TRY(reserve_bytes(&m->bytes, &m->bytes_capacity, c->packed, err));
    SK_TRY(reserve_bytes(&m->unpacked, &m->unpacked_capacity, c->unpacked, err));
    SK_TRY(read_at(m, c->records, m->bytes, (size_t)c->packed, err));
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
static sk_status hold(mcap_file *m, uint64_t number, sk_error *err)
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

/* Goes through a chunk: what it describes, and its messages where no index has them. */
static sk_status walk(mcap_file *m, size_t number, sk_error *err)
{
    sk_status status = hold(m, number, err);
    if (status == SK_ERR_FORMAT || status == SK_ERR_LIMIT) {
        m->bad_chunks++;
        return SK_OK;
    }
    SK_TRY(status);
    const chunk *c = &m->chunks[number];
    sk_mcap_bytes b = {m->unpacked, (size_t)c->unpacked, false};
    while (b.left >= SK_MCAP_HEAD) {
        const uint64_t offset = c->unpacked - b.left;
        const uint8_t op = (uint8_t)sk_mcap_number(&b, 1);
        const uint64_t length = sk_mcap_number(&b, 8);
        const uint8_t *content = sk_mcap_take(&b, length);
        if (!content) {
            m->bad_chunks++;
            break;
        }
        const sk_mcap_bytes inside = {content, (size_t)length, false};
        if (op == SK_MCAP_SCHEMA)
            SK_TRY(add_schema(m, inside, err));
        else if (op == SK_MCAP_CHANNEL)
            SK_TRY(add_channel(m, inside, err));
        else if (op == SK_MCAP_MESSAGE && !c->indexed && length >= MESSAGE_HEAD)
            SK_TRY(add_loose(m, number, offset, content, err));
    }
    return SK_OK;
}

static sk_status walk_where_needed(mcap_file *m, sk_error *err)
{
    for (size_t i = 0, k = 0; i < m->n_chunks; i++) {
        bool needed = !m->chunks[i].indexed;
        for (; k < m->n_indexes && m->indexes[k].chunk <= i; k++)
            needed = needed || m->topic_of[m->indexes[k].channel] == NO_TOPIC;
        if (needed)
            SK_TRY(walk(m, i, err));
    }
    return SK_OK;
}

static void count_messages(mcap_file *m)
{
    for (size_t i = 0; i < m->n_indexes; i++) {
        const size_t topic = m->topic_of[m->indexes[i].channel];
        if (topic == NO_TOPIC)
            m->unknown += m->indexes[i].bytes / 16;
        else
            m->base.topics[topic].messages += m->indexes[i].bytes / 16;
    }
    for (size_t i = 0; i < m->n_loose; i++) {
        const size_t topic = m->topic_of[m->loose[i].channel];
        if (topic == NO_TOPIC)
            m->unknown++;
        else
            m->base.topics[topic].messages++;
    }
    if (m->base.problem[0])
        return;
    if (m->bad_chunks)
        snprintf(m->base.problem, sizeof m->base.problem, "%zu of its chunks are damaged and left out",
                 m->bad_chunks);
    else if (m->unknown)
        snprintf(m->base.problem, sizeof m->base.problem, "of %zu messages it does not say what they are",
                 m->unknown);
}

/* --- messages --- */

static sk_status list_index(mcap_file *m, const index_record *r, sk_bag_entries *out, sk_error *err)
{
    SK_TRY(reserve_bytes(&m->bytes, &m->bytes_capacity, r->bytes, err));
    SK_TRY(read_at(m, r->place, m->bytes, r->bytes, err));
    sk_mcap_bytes b = {m->bytes, r->bytes, false};
    while (b.left >= 16) {
        sk_bag_entry entry = {.log_ns = (int64_t)sk_mcap_number(&b, 8), .chunk = r->chunk};
        entry.offset = sk_mcap_number(&b, 8);
        SK_TRY(sk_bag_entries_add(out, entry, err));
    }
    return SK_OK;
}

static sk_status list(sk_bag_file *base, size_t topic, sk_bag_entries *out, sk_error *err)
{
    mcap_file *m = (mcap_file *)base;
    for (size_t i = 0; i < m->n_indexes; i++)
        if (m->topic_of[m->indexes[i].channel] == topic)
            SK_TRY(list_index(m, &m->indexes[i], out, err));
    for (size_t i = 0; i < m->n_loose; i++)
        if (m->topic_of[m->loose[i].channel] == topic)
            SK_TRY(sk_bag_entries_add(out, m->loose[i].entry, err));
    return SK_OK;
}

static sk_status no_message(const mcap_file *m, const sk_bag_entry *entry, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: damaged: there is no message where its index has one (%llu)",
                   m->base.path, (unsigned long long)entry->offset);
}

static sk_status read_loose(mcap_file *m, const sk_bag_entry *entry, sk_mcap_bytes *content, sk_error *err)
{
    uint8_t head[SK_MCAP_HEAD];
    SK_TRY(read_at(m, entry->offset, head, sizeof head, err));
    sk_mcap_bytes b = {head + 1, 8, false};
    const uint64_t length = sk_mcap_number(&b, 8);
    if (length > m->length - entry->offset - SK_MCAP_HEAD)
        return no_message(m, entry, err);
    SK_TRY(reserve_bytes(&m->bytes, &m->bytes_capacity, length, err));
    SK_TRY(read_at(m, entry->offset + SK_MCAP_HEAD, m->bytes, (size_t)length, err));
    *content = (sk_mcap_bytes){m->bytes, (size_t)length, false};
    return SK_OK;
}

static sk_status read_message(sk_bag_file *base, size_t topic, const sk_bag_entry *entry,
                              const uint8_t **bytes, size_t *count, sk_error *err)
{
    mcap_file *m = (mcap_file *)base;
    sk_mcap_bytes content = {0};
    if (entry->chunk == NO_CHUNK) {
        SK_TRY(read_loose(m, entry, &content, err));
    } else {
        SK_TRY(hold(m, entry->chunk, err));
        sk_mcap_bytes b = {m->unpacked, (size_t)m->chunks[entry->chunk].unpacked, false};
        sk_mcap_take(&b, entry->offset);
        const uint8_t op = (uint8_t)sk_mcap_number(&b, 1);
        const uint64_t length = sk_mcap_number(&b, 8);
        const uint8_t *at = sk_mcap_take(&b, length);
        if (!at || op != SK_MCAP_MESSAGE)
            return no_message(m, entry, err);
        content = (sk_mcap_bytes){at, (size_t)length, false};
    }
    const uint16_t channel = (uint16_t)sk_mcap_number(&content, 2);
    sk_mcap_take(&content, MESSAGE_HEAD - 2);
    if (content.bad || m->topic_of[channel] != topic)
        return no_message(m, entry, err);
    *bytes = content.at;
    *count = content.left;
    return SK_OK;
}

static void close_mcap(sk_bag_file *base)
{
    mcap_file *m = (mcap_file *)base;
    for (size_t i = 0; i < m->n_schemas; i++)
        sk_free(m->schemas[i].name);
    if (m->file >= 0)
        close(m->file);
    sk_bag_file_free(base);
    sk_free_all(m->chunks, m->indexes, m->loose, m->schemas, m->topic_of, m->unpacked, m->bytes, m);
}

static sk_status begin(mcap_file *m, const char *path, sk_error *err)
{
    uint8_t magic[SK_MCAP_MAGIC_BYTES] = {0};
    int64_t length = 0;
    m->base.path = sk_strdup(path);
    m->topic_of = sk_malloc(CHANNELS * sizeof *m->topic_of);
    if (!m->base.path || !m->topic_of)
        return sk_fail_memory(err, CHANNELS * sizeof *m->topic_of);
    for (size_t i = 0; i < CHANNELS; i++)
        m->topic_of[i] = NO_TOPIC;
    SK_TRY(sk_file_open(path, &m->file, &length, err));
    m->length = (uint64_t)length;
    if (m->length >= sizeof magic)
        SK_TRY(read_at(m, 0, magic, sizeof magic, err));
    if (memcmp(magic, SK_MCAP_MAGIC, sizeof magic) != 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: not an MCAP file%s", path,
                       m->length == 0                      ? ": it is empty"
                       : memcmp(magic, "\x89MCAP", 5) == 0 ? " of version 0, which is the one that is read"
                                                           : " (it does not begin with \\x89MCAP0)");
    return SK_OK;
}

sk_status sk_bag_file_open_mcap(const char *path, sk_bag_file **out, sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    mcap_file *m = sk_calloc(1, sizeof *m);
    if (!m)
        return sk_fail_memory(err, sizeof *m);
    m->base.list = list;
    m->base.read = read_message;
    m->base.close = close_mcap;
    m->file = -1;
    m->held = UINT64_MAX;
    SK_TRY_GOTO(begin(m, path, err));
    SK_TRY_GOTO(scan(m, err));
    SK_TRY_GOTO(walk_where_needed(m, err));
    count_messages(m);
done:
    if (status == SK_OK)
        *out = &m->base;
    else
        close_mcap(&m->base);
    return status;
}
