/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap_bytes.h"
#include "formats/mcap_file.h"

#include "base/file.h"
#include "base/object.h"

#include <string.h>
#include <unistd.h>

static sk_status list_index(sk_mcap_file *m, const sk_mcap_index *r, sk_bag_entries *out, sk_error *err)
{
    SK_TRY(sk_mcap_reserve(&m->bytes, &m->bytes_capacity, r->bytes, err));
    SK_TRY(sk_mcap_read_at(m, r->place, m->bytes, r->bytes, err));
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
    sk_mcap_file *m = (sk_mcap_file *)base;
    for (size_t i = 0; i < m->n_indexes; i++)
        if (sk_mcap_topic(m, m->indexes[i].channel) == topic)
            SK_TRY(list_index(m, &m->indexes[i], out, err));
    for (size_t i = 0; i < m->n_loose; i++)
        if (sk_mcap_topic(m, m->loose[i].channel) == topic)
            SK_TRY(sk_bag_entries_add(out, m->loose[i].entry, err));
    return SK_OK;
}

static sk_status no_message(const sk_mcap_file *m, const sk_bag_entry *entry, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: damaged: there is no message where its index has one (%llu)",
                   m->base.path, (unsigned long long)entry->offset);
}

static sk_status read_loose(sk_mcap_file *m, const sk_bag_entry *entry, sk_mcap_bytes *content, sk_error *err)
{
    uint8_t head[SK_MCAP_HEAD];
    SK_TRY(sk_mcap_read_at(m, entry->offset, head, sizeof head, err));
    sk_mcap_bytes b = {head + 1, 8, false};
    const uint64_t length = sk_mcap_number(&b, 8);
    if (length > m->length - entry->offset - SK_MCAP_HEAD)
        return no_message(m, entry, err);
    SK_TRY(sk_mcap_reserve(&m->bytes, &m->bytes_capacity, length, err));
    SK_TRY(sk_mcap_read_at(m, entry->offset + SK_MCAP_HEAD, m->bytes, (size_t)length, err));
    *content = (sk_mcap_bytes){m->bytes, (size_t)length, false};
    return SK_OK;
}

static sk_status read_message(sk_bag_file *base, size_t topic, const sk_bag_entry *entry,
                              const uint8_t **bytes, size_t *count, sk_error *err)
{
    sk_mcap_file *m = (sk_mcap_file *)base;
    sk_mcap_bytes content = {0};
    if (entry->log_ns < m->pass_ns)
        sk_mcap_begin_pass(m);
    m->pass_ns = entry->log_ns;
    if (entry->chunk == SK_MCAP_NO_CHUNK) {
        SK_TRY(read_loose(m, entry, &content, err));
    } else {
        SK_TRY(sk_mcap_hold(m, entry->chunk, err));
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
    sk_mcap_take(&content, SK_MCAP_MESSAGE_HEAD - 2);
    if (content.bad || sk_mcap_topic(m, channel) != topic)
        return no_message(m, entry, err);
    *bytes = content.at;
    *count = content.left;
    return SK_OK;
}

static void close_mcap(sk_bag_file *base)
{
    sk_mcap_file *m = (sk_mcap_file *)base;
    for (size_t i = 0; m->schemas && i < SK_MCAP_CHANNELS; i++)
        sk_free(m->schemas[i]);
    if (m->file >= 0)
        close(m->file);
    sk_bag_file_free(base);
    sk_free_all(m->chunks, m->indexes, m->loose, m->schemas, m->topics, m->unpacked, m->bytes, m);
}

static sk_status not_mcap(const sk_mcap_file *m, const uint8_t magic[SK_MCAP_MAGIC_BYTES], sk_error *err)
{
    const char *path = m->base.path;
    if (m->length == 0)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: not an MCAP file: it is empty; its recorder wrote nothing, or copying it failed",
                       path);
    if (memcmp(magic, "SQLite f", SK_MCAP_MAGIC_BYTES) == 0)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: not an MCAP file: it is an SQLite bag; give it the ending .db3", path);
    if (memcmp(magic, "#ROSBAG", 7) == 0)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: not an MCAP file: it is a bag of ROS 1; rosbags-convert (pip install rosbags) makes "
            "one of ROS 2 from it",
            path);
    if (memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: not an MCAP file: it is packed as a whole; unpack it first: zstd -d", path);
    if (memcmp(magic, "\x89MCAP", 5) == 0)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: not an MCAP file of version 0, which is the one that is read; 'mcap convert' or 'ros2 bag "
            "convert' of the program that wrote it may make one",
            path);
    return sk_fail(
        err, SK_ERR_FORMAT,
        "%s: not an MCAP file (it does not begin with \\x89MCAP0): 'mcap doctor' and 'mcap recover' say what "
        "is left of a damaged one; of something else, give it its own ending",
        path);
}

static sk_status begin(sk_mcap_file *m, const char *path, sk_error *err)
{
    uint8_t magic[SK_MCAP_MAGIC_BYTES] = {0};
    int64_t length = 0;
    m->base.path = sk_strdup(path);
    m->topics = sk_calloc(SK_MCAP_CHANNELS, sizeof *m->topics);
    m->schemas = sk_calloc(SK_MCAP_CHANNELS, sizeof *m->schemas);
    if (!m->base.path || !m->topics || !m->schemas)
        return sk_fail_memory(err, SK_MCAP_CHANNELS * sizeof *m->schemas);
    SK_TRY(sk_file_open(path, &m->file, &length, err));
    m->length = (uint64_t)length;
    if (m->length >= sizeof magic)
        SK_TRY(sk_mcap_read_at(m, 0, magic, sizeof magic, err));
    if (memcmp(magic, SK_MCAP_MAGIC, sizeof magic) != 0)
        return not_mcap(m, magic, err);
    return SK_OK;
}

sk_status sk_bag_file_open_mcap(const char *path, sk_bag_file **out, sk_error *err)
{
    sk_status status = SK_OK;
    *out = NULL;
    sk_mcap_file *m = sk_calloc(1, sizeof *m);
    if (!m)
        return sk_fail_memory(err, sizeof *m);
    m->base.list = list;
    m->base.read = read_message;
    m->base.close = close_mcap;
    m->file = -1;
    m->held = UINT64_MAX;
    SK_TRY_GOTO(begin(m, path, err));
    SK_TRY_GOTO(sk_mcap_scan(m, err));
done:
    if (status == SK_OK)
        *out = &m->base;
    else
        close_mcap(&m->base);
    return status;
}
