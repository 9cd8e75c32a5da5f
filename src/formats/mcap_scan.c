/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap_bytes.h"
#include "formats/mcap_file.h"

#include <stdio.h>

/* A file is read by going through its records from the first to the last, whatever its summary says: chunks are stepped over,
 * the index behind each says where its messages are. So a file that nobody finished (a recorder that was killed) is read in the
 * same way as a whole one, and no offset of a hostile summary is followed. Chunks are unpacked where there is no index, or where
 * a channel is not described elsewhere. */

#define MOST_TEXT_RECORD ((uint64_t)16 << 20) /* bytes of a schema or a channel */
#define MOST_LISTED      ((size_t)1 << 26)
#define SURE_LISTED      ((uint64_t)1 << 20) /* messages of packed chunks; beyond them one a byte of the file */

/* --- what records say --- */

static sk_status add_schema(sk_mcap_file *m, sk_mcap_bytes b, sk_error *err)
{
    size_t length;
    const uint16_t id = (uint16_t)sk_mcap_number(&b, 2);
    const char *name = sk_mcap_text(&b, &length);
    if (b.bad || id == 0 || m->schemas[id]) /* 0: the format says, to be ignored */
        return SK_OK;
    m->schemas[id] = sk_strndup(name, length);
    return m->schemas[id] ? SK_OK : sk_fail_memory(err, length);
}

static sk_status add_channel(sk_mcap_file *m, sk_mcap_bytes b, sk_error *err)
{
    size_t topic_length, encoding_length, topic = 0;
    const uint16_t id = (uint16_t)sk_mcap_number(&b, 2), schema = (uint16_t)sk_mcap_number(&b, 2);
    const char *name = sk_mcap_text(&b, &topic_length);
    const char *encoding = sk_mcap_text(&b, &encoding_length);
    if (b.bad || m->topics[id])
        return SK_OK;
    char *called = sk_strndup(name, topic_length), *code = sk_strndup(encoding, encoding_length);
    const char *type = m->schemas[schema] ? m->schemas[schema] : "";
    sk_status status = called && code ? sk_bag_file_topic(&m->base, called, type, code, &topic, err)
                                      : sk_fail_memory(err, topic_length + encoding_length);
    if (status == SK_OK)
        m->topics[id] = (uint32_t)topic + 1;
    sk_free_all(called, code);
    return status;
}

static sk_status add_loose(sk_mcap_file *m, uint64_t in_chunk, uint64_t offset, const uint8_t *head,
                           sk_error *err)
{
    sk_mcap_bytes b = {head, SK_MCAP_MESSAGE_HEAD, false};
    sk_mcap_loose l = {.channel = (uint16_t)sk_mcap_number(&b, 2)};
    if (m->n_loose >= SURE_LISTED && m->n_loose - SURE_LISTED >= m->length)
        return sk_fail(err, SK_ERR_LIMIT,
                       "%s: damaged: more messages come out of its chunks than it has bytes", m->base.path);
    sk_mcap_number(&b, 4); /* the sequence */
    l.entry = (sk_bag_entry){.log_ns = (int64_t)sk_mcap_number(&b, 8), .chunk = in_chunk, .offset = offset};
    SK_TRY(sk_array_reserve((void **)&m->loose, &m->loose_capacity, m->n_loose + 1, sizeof *m->loose,
                            MOST_LISTED, err));
    m->loose[m->n_loose++] = l;
    return SK_OK;
}

static sk_status add_chunk(sk_mcap_file *m, uint64_t at, uint64_t length, sk_error *err)
{
    uint8_t head[64 + 32]; /* a name of a packing is short */
    const size_t there = length < sizeof head ? (size_t)length : sizeof head;
    size_t name_length;
    sk_mcap_chunk c = {0};
    SK_TRY(sk_mcap_read_at(m, at, head, there, err));
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

static sk_status add_index(sk_mcap_file *m, uint64_t at, uint64_t length, sk_error *err)
{
    uint8_t head[6];
    if (length < sizeof head || m->n_chunks == 0)
        return SK_OK;
    SK_TRY(sk_mcap_read_at(m, at, head, sizeof head, err));
    sk_mcap_bytes b = {head, sizeof head, false};
    sk_mcap_index r = {.place = at + sizeof head, .chunk = (uint32_t)(m->n_chunks - 1)};
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

static sk_status add_text_record(sk_mcap_file *m, uint8_t op, uint64_t at, uint64_t length, sk_error *err)
{
    if (length > MOST_TEXT_RECORD)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a description of %llu bytes; at most %llu are read",
                       m->base.path, (unsigned long long)length, (unsigned long long)MOST_TEXT_RECORD);
    SK_TRY(sk_mcap_reserve(&m->bytes, &m->bytes_capacity, length, err));
    SK_TRY(sk_mcap_read_at(m, at, m->bytes, (size_t)length, err));
    const sk_mcap_bytes b = {m->bytes, (size_t)length, false};
    return op == SK_MCAP_SCHEMA ? add_schema(m, b, err) : add_channel(m, b, err);
}

/* --- going through the file --- */

static sk_status add_record(sk_mcap_file *m, uint8_t op, uint64_t at, uint64_t length, sk_error *err)
{
    uint8_t head[SK_MCAP_MESSAGE_HEAD];
    switch (op) {
    case SK_MCAP_SCHEMA:
    case SK_MCAP_CHANNEL: return add_text_record(m, op, at, length, err);
    case SK_MCAP_CHUNK: return add_chunk(m, at, length, err);
    case SK_MCAP_MESSAGE_INDEX: return add_index(m, at, length, err);
    case SK_MCAP_MESSAGE:
        if (length < SK_MCAP_MESSAGE_HEAD)
            return SK_OK;
        SK_TRY(sk_mcap_read_at(m, at, head, sizeof head, err));
        return add_loose(m, SK_MCAP_NO_CHUNK, at - SK_MCAP_HEAD, head, err);
    case SK_MCAP_FOOTER: m->finished = true; return SK_OK;
    default: return SK_OK;
    }
}

static sk_status go_through(sk_mcap_file *m, sk_error *err)
{
    uint64_t at = SK_MCAP_MAGIC_BYTES;
    while (!m->finished && m->length - at >= SK_MCAP_HEAD) {
        uint8_t head[SK_MCAP_HEAD];
        SK_TRY(sk_mcap_read_at(m, at, head, sizeof head, err));
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

/* Goes through a chunk: what it describes, and its messages where no index has them. */
static sk_status walk(sk_mcap_file *m, size_t number, sk_error *err)
{
    sk_status status = sk_mcap_hold(m, number, err);
    if ((status == SK_ERR_FORMAT || status == SK_ERR_LIMIT) && !m->endless) {
        m->bad_chunks++;
        return SK_OK;
    }
    SK_TRY(status);
    const sk_mcap_chunk *c = &m->chunks[number];
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
        else if (op == SK_MCAP_MESSAGE && !c->indexed && length >= SK_MCAP_MESSAGE_HEAD)
            SK_TRY(add_loose(m, number, offset, content, err));
    }
    return SK_OK;
}

static sk_status walk_where_needed(sk_mcap_file *m, sk_error *err)
{
    for (size_t i = 0, k = 0; i < m->n_chunks; i++) {
        bool needed = !m->chunks[i].indexed;
        for (; k < m->n_indexes && m->indexes[k].chunk <= i; k++)
            needed = needed || sk_mcap_topic(m, m->indexes[k].channel) == SIZE_MAX;
        if (needed)
            SK_TRY(walk(m, i, err));
    }
    return SK_OK;
}

static void count_messages(sk_mcap_file *m)
{
    for (size_t i = 0; i < m->n_indexes; i++) {
        const size_t topic = sk_mcap_topic(m, m->indexes[i].channel);
        if (topic == SIZE_MAX)
            m->unknown += m->indexes[i].bytes / 16;
        else
            m->base.topics[topic].messages += m->indexes[i].bytes / 16;
    }
    for (size_t i = 0; i < m->n_loose; i++) {
        const size_t topic = sk_mcap_topic(m, m->loose[i].channel);
        if (topic == SIZE_MAX)
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

sk_status sk_mcap_scan(sk_mcap_file *m, sk_error *err)
{
    sk_mcap_begin_scan(m);
    SK_TRY(go_through(m, err));
    SK_TRY(walk_where_needed(m, err));
    count_messages(m);
    sk_mcap_begin_pass(m);
    return SK_OK;
}
