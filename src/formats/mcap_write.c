/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mcap.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define MOST_CHANNELS 64
#define MOST_CHUNKS   ((size_t)1 << 24)
#define LIBRARY       "skitter"

typedef struct place {
    int64_t log_ns;
    uint64_t offset;
} place;

typedef struct channel {
    char *topic, *qos;
    const sk_msg_type *type;
    bool told; /* its records are in the file */
    uint64_t messages;
    place *places; /* its messages in the chunk that is being filled */
    size_t n_places, places_capacity;
} channel;

typedef struct chunk_index {
    uint64_t begin, length, indexes_length, packed, unpacked;
    int64_t first_ns, last_ns;
    uint64_t index_at[MOST_CHANNELS]; /* 0: the channel has no message in it */
} chunk_index;

struct sk_mcap_writer {
    FILE *file;
    char *path;
    sk_packing packing;
    uint64_t at; /* bytes written */
    channel channels[MOST_CHANNELS];
    uint16_t n_channels;
    sk_text chunk, record; /* records of the chunk; what is being put together */
    int64_t first_ns, last_ns;
    uint64_t in_chunk;
    chunk_index *chunks;
    size_t n_chunks, chunks_capacity;
    uint64_t messages;
    int64_t all_first_ns, all_last_ns;
};

/* --- bytes --- */

static void put(sk_text *out, uint64_t value, size_t bytes)
{
    char little[8];
    for (size_t i = 0; i < bytes; i++)
        little[i] = (char)(value >> (8 * i) & 0xFF);
    sk_text_append_bytes(out, little, bytes);
}

static void put_text(sk_text *out, const char *text)
{
    put(out, strlen(text), 4);
    sk_text_append(out, text);
}

static sk_status write_bytes(sk_mcap_writer *w, const void *bytes, size_t count, sk_error *err)
{
    if (count && fwrite(bytes, 1, count, w->file) != count)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s%s", w->path, strerror(errno),
                       sk_file_remedy(errno));
    w->at += count;
    return SK_OK;
}

/* A record of what stands in w->record, into a text or the file; empties it. */
static void end_record(sk_mcap_writer *w, uint8_t op, sk_text *to)
{
    put(to, op, 1);
    put(to, w->record.length, 8);
    sk_text_append_bytes(to, sk_text_get(&w->record), w->record.length);
    if (w->record.failed != SK_OK && to->failed == SK_OK)
        to->failed = w->record.failed;
    sk_text_clear(&w->record);
}

static sk_status write_text(sk_mcap_writer *w, sk_text *text, sk_error *err)
{
    sk_status status = sk_text_status(text, err);
    if (status == SK_OK)
        status = write_bytes(w, sk_text_get(text), text->length, err);
    sk_text_clear(text);
    return status;
}

/* --- schemas and channels; a schema's number is that of the first channel that has its type --- */

static uint16_t schema_of(const sk_mcap_writer *w, uint16_t number)
{
    uint16_t i = 0;
    while (i < number && w->channels[i].type != w->channels[number].type)
        i++;
    return (uint16_t)(i + 1);
}

static void put_schema(sk_mcap_writer *w, uint16_t number, sk_text *to)
{
    sk_text definition = {0};
    sk_msg_type_definition(w->channels[number].type, &definition);
    put(&w->record, schema_of(w, number), 2);
    put_text(&w->record, w->channels[number].type->name);
    put_text(&w->record, "ros2msg");
    put_text(&w->record, sk_text_get(&definition));
    if (definition.failed != SK_OK)
        w->record.failed = definition.failed;
    sk_text_free(&definition);
    end_record(w, SK_MCAP_SCHEMA, to);
}

static void put_channel(sk_mcap_writer *w, uint16_t number, sk_text *to)
{
    static const char key[] = "offered_qos_profiles", hash_key[] = "topic_type_hash";
    const channel *c = &w->channels[number];
    char hash[SK_MSG_HASH] = "";
    if (sk_msg_type_hash(c->type, hash, NULL) != SK_OK)
        w->record.failed = SK_ERR_MEMORY;
    put(&w->record, number + 1u, 2);
    put(&w->record, schema_of(w, number), 2);
    put_text(&w->record, c->topic);
    put_text(&w->record, "cdr");
    put(&w->record, 4 + strlen(key) + 4 + strlen(c->qos) + 4 + strlen(hash_key) + 4 + strlen(hash), 4);
    put_text(&w->record, key);
    put_text(&w->record, c->qos);
    put_text(&w->record, hash_key);
    put_text(&w->record, hash);
    end_record(w, SK_MCAP_CHANNEL, to);
}

sk_status sk_mcap_writer_topic(sk_mcap_writer *w, const char *topic, const sk_msg_type *type, const char *qos,
                               uint16_t *number, sk_error *err)
{
    if (w->n_channels == MOST_CHANNELS)
        return sk_fail(err, SK_ERR_LIMIT, "%s: more than %d topics", w->path, MOST_CHANNELS);
    channel *c = &w->channels[w->n_channels];
    *c = (channel){.topic = sk_strdup(topic), .qos = sk_strdup(qos), .type = type};
    *number = w->n_channels++;
    return c->topic && c->qos ? SK_OK : sk_fail_memory(err, strlen(topic) + strlen(qos));
}

/* --- chunks --- */

static sk_status write_indexes(sk_mcap_writer *w, chunk_index *index, sk_error *err)
{
    sk_text out = {0};
    for (uint16_t i = 0; i < w->n_channels; i++) {
        channel *c = &w->channels[i];
        if (!c->n_places)
            continue;
        index->index_at[i] = w->at + out.length;
        put(&w->record, i + 1u, 2);
        put(&w->record, c->n_places * 16, 4);
        for (size_t k = 0; k < c->n_places; k++) {
            put(&w->record, (uint64_t)c->places[k].log_ns, 8);
            put(&w->record, c->places[k].offset, 8);
        }
        end_record(w, SK_MCAP_MESSAGE_INDEX, &out);
        c->n_places = 0;
    }
    index->indexes_length = out.length;
    sk_status status = write_text(w, &out, err);
    sk_text_free(&out);
    return status;
}

static sk_status write_chunk(sk_mcap_writer *w, chunk_index *index, sk_error *err)
{
    const char *records = sk_text_get(&w->chunk), *name = sk_packing_name(w->packing);
    uint8_t *packed = NULL;
    size_t packed_bytes = 0;
    SK_TRY(sk_text_status(&w->chunk, err));
    SK_TRY(sk_pack(w->packing, records, w->chunk.length, &packed, &packed_bytes, err));
    *index = (chunk_index){.begin = w->at,
                           .packed = packed_bytes,
                           .unpacked = w->chunk.length,
                           .first_ns = w->first_ns,
                           .last_ns = w->last_ns};
    sk_text head = {0};
    put(&head, SK_MCAP_CHUNK, 1);
    put(&head, 8 + 8 + 8 + 4 + 4 + strlen(name) + 8 + packed_bytes, 8);
    put(&head, (uint64_t)w->first_ns, 8);
    put(&head, (uint64_t)w->last_ns, 8);
    put(&head, w->chunk.length, 8);
    put(&head, crc32_z(crc32(0, NULL, 0), (const Bytef *)records, w->chunk.length), 4);
    put_text(&head, name);
    put(&head, packed_bytes, 8);
    sk_status status = write_text(w, &head, err);
    if (status == SK_OK)
        status = write_bytes(w, packed, packed_bytes, err);
    index->length = w->at - index->begin;
    sk_free(packed);
    sk_text_free(&head);
    return status;
}

sk_status sk_mcap_writer_flush(sk_mcap_writer *w, sk_error *err)
{
    if (w->in_chunk) {
        SK_TRY(sk_array_reserve((void **)&w->chunks, &w->chunks_capacity, w->n_chunks + 1, sizeof *w->chunks,
                                MOST_CHUNKS, err));
        chunk_index *index = &w->chunks[w->n_chunks];
        SK_TRY(write_chunk(w, index, err));
        SK_TRY(write_indexes(w, index, err));
        w->n_chunks++;
        w->in_chunk = 0;
        sk_text_clear(&w->chunk);
    }
    if (fflush(w->file) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s%s", w->path, strerror(errno),
                       sk_file_remedy(errno));
    return SK_OK;
}

sk_status sk_mcap_writer_write(sk_mcap_writer *w, uint16_t number, int64_t log_ns, const void *bytes,
                               size_t count, sk_error *err)
{
    channel *c = &w->channels[number];
    if (!c->told) {
        put_schema(w, number, &w->chunk); /* once more for another topic of its type, which is allowed */
        put_channel(w, number, &w->chunk);
        c->told = true;
    }
    SK_TRY(sk_array_reserve((void **)&c->places, &c->places_capacity, c->n_places + 1, sizeof *c->places,
                            SIZE_MAX / 64, err));
    c->places[c->n_places++] = (place){log_ns, w->chunk.length};
    put(&w->record, number + 1u, 2);
    put(&w->record, (uint32_t)c->messages, 4);
    put(&w->record, (uint64_t)log_ns, 8);
    put(&w->record, (uint64_t)log_ns, 8);
    sk_text_append_bytes(&w->record, bytes, count);
    end_record(w, SK_MCAP_MESSAGE, &w->chunk);
    w->first_ns = w->in_chunk == 0 || log_ns < w->first_ns ? log_ns : w->first_ns;
    w->last_ns = w->in_chunk == 0 || log_ns > w->last_ns ? log_ns : w->last_ns;
    w->all_first_ns = w->messages == 0 || log_ns < w->all_first_ns ? log_ns : w->all_first_ns;
    w->all_last_ns = w->messages == 0 || log_ns > w->all_last_ns ? log_ns : w->all_last_ns;
    w->in_chunk++;
    w->messages++;
    c->messages++;
    SK_TRY(sk_text_status(&w->chunk, err));
    return w->chunk.length >= SK_MCAP_CHUNK_BYTES ? sk_mcap_writer_flush(w, err) : SK_OK;
}

/* --- the end --- */

static void put_statistics(sk_mcap_writer *w, bool metadata, sk_text *to)
{
    uint16_t schemas = 0;
    for (uint16_t i = 0; i < w->n_channels; i++)
        schemas = (uint16_t)(schemas + (schema_of(w, i) == i + 1));
    put(&w->record, w->messages, 8);
    put(&w->record, schemas, 2);
    put(&w->record, w->n_channels, 4);
    put(&w->record, 0, 4); /* attachments */
    put(&w->record, metadata, 4);
    put(&w->record, w->n_chunks, 4);
    put(&w->record, (uint64_t)w->all_first_ns, 8);
    put(&w->record, (uint64_t)w->all_last_ns, 8);
    put(&w->record, w->n_channels * 10u, 4);
    for (uint16_t i = 0; i < w->n_channels; i++) {
        put(&w->record, i + 1u, 2);
        put(&w->record, w->channels[i].messages, 8);
    }
    end_record(w, SK_MCAP_STATISTICS, to);
}

static void put_chunk_index(sk_mcap_writer *w, const chunk_index *c, sk_text *to)
{
    size_t indexed = 0;
    for (uint16_t i = 0; i < w->n_channels; i++)
        indexed += c->index_at[i] != 0;
    put(&w->record, (uint64_t)c->first_ns, 8);
    put(&w->record, (uint64_t)c->last_ns, 8);
    put(&w->record, c->begin, 8);
    put(&w->record, c->length, 8);
    put(&w->record, indexed * 10, 4);
    for (uint16_t i = 0; i < w->n_channels; i++) {
        if (!c->index_at[i])
            continue;
        put(&w->record, i + 1u, 2);
        put(&w->record, c->index_at[i], 8);
    }
    put(&w->record, c->indexes_length, 8);
    put_text(&w->record, sk_packing_name(w->packing));
    put(&w->record, c->packed, 8);
    put(&w->record, c->unpacked, 8);
    end_record(w, SK_MCAP_CHUNK_INDEX, to);
}

/* Where a group of the summary's records lies; none for an empty one. */
static void put_group(sk_mcap_writer *w, uint8_t op, uint64_t begin, uint64_t end, sk_text *offsets)
{
    if (begin == end)
        return;
    put(&w->record, op, 1);
    put(&w->record, begin, 8);
    put(&w->record, end - begin, 8);
    end_record(w, SK_MCAP_SUMMARY_OFFSET, offsets);
}

/* rosbag2 looks for a record of this name, and takes what the folder's metadata.yaml would say from it. */
static sk_status write_metadata(sk_mcap_writer *w, const char *metadata, uint64_t *begin, uint64_t *end,
                                sk_error *err)
{
    static const char name[] = "rosbag2", key[] = "serialized_metadata";
    sk_text out = {0};
    *begin = w->at;
    if (metadata) {
        put_text(&w->record, name);
        put(&w->record, 8 + strlen(key) + strlen(metadata), 4);
        put_text(&w->record, key);
        put_text(&w->record, metadata);
        end_record(w, SK_MCAP_METADATA, &out);
    }
    sk_status status = write_text(w, &out, err);
    sk_text_free(&out);
    *end = w->at;
    return status;
}

static sk_status write_summary(sk_mcap_writer *w, const char *metadata, sk_error *err)
{
    sk_text summary = {0}, offsets = {0};
    uint64_t metadata_at = 0, metadata_end = 0, group[6];
    SK_TRY(write_metadata(w, metadata, &metadata_at, &metadata_end, err));
    put(&w->record, 0, 4); /* no checksum of all data: each chunk has its own */
    end_record(w, SK_MCAP_DATA_END, &summary);
    sk_status status = write_text(w, &summary, err);
    const uint64_t begin = w->at;
    for (uint16_t i = 0; i < w->n_channels; i++)
        if (schema_of(w, i) == i + 1)
            put_schema(w, i, &summary);
    group[0] = summary.length;
    for (uint16_t i = 0; i < w->n_channels; i++)
        put_channel(w, i, &summary);
    group[1] = summary.length;
    put_statistics(w, metadata != NULL, &summary);
    group[2] = summary.length;
    for (size_t i = 0; i < w->n_chunks; i++)
        put_chunk_index(w, &w->chunks[i], &summary);
    group[3] = summary.length;
    if (metadata) {
        put(&w->record, metadata_at, 8);
        put(&w->record, metadata_end - metadata_at, 8);
        put_text(&w->record, "rosbag2");
        end_record(w, SK_MCAP_METADATA_INDEX, &summary);
    }
    group[4] = summary.length;
    put_group(w, SK_MCAP_SCHEMA, begin, begin + group[0], &offsets);
    put_group(w, SK_MCAP_CHANNEL, begin + group[0], begin + group[1], &offsets);
    put_group(w, SK_MCAP_STATISTICS, begin + group[1], begin + group[2], &offsets);
    put_group(w, SK_MCAP_CHUNK_INDEX, begin + group[2], begin + group[3], &offsets);
    put_group(w, SK_MCAP_METADATA_INDEX, begin + group[3], begin + group[4], &offsets);
    const uint64_t offsets_at = begin + summary.length;
    sk_text_append_bytes(&summary, sk_text_get(&offsets), offsets.length);
    summary.failed = summary.failed ? summary.failed : offsets.failed;
    put(&summary, SK_MCAP_FOOTER, 1); /* by hand: the checksum goes up to its last field */
    put(&summary, 20, 8);
    put(&summary, begin, 8);
    put(&summary, offsets_at, 8);
    put(&summary, crc32_z(crc32(0, NULL, 0), (const Bytef *)sk_text_get(&summary), summary.length), 4);
    sk_text_append_bytes(&summary, SK_MCAP_MAGIC, SK_MCAP_MAGIC_BYTES);
    if (status == SK_OK)
        status = write_text(w, &summary, err);
    sk_text_free(&summary);
    sk_text_free(&offsets);
    return status;
}

sk_status sk_mcap_writer_open(const char *path, sk_packing packing, sk_mcap_writer **out, sk_error *err)
{
    sk_status status = SK_OK;
    sk_mcap_writer *w = sk_calloc(1, sizeof *w);
    *out = NULL;
    if (!w)
        return sk_fail_memory(err, sizeof *w);
    sk_text head = {0};
    w->packing = packing;
    w->path = sk_strdup(path);
    if (!w->path) {
        status = sk_fail_memory(err, strlen(path));
        goto done;
    }
    SK_TRY_GOTO(sk_file_create_stream(path, &w->file, err));
    sk_text_append_bytes(&head, SK_MCAP_MAGIC, SK_MCAP_MAGIC_BYTES);
    put_text(&w->record, "ros2");
    put_text(&w->record, LIBRARY);
    end_record(w, SK_MCAP_HEADER, &head);
    SK_TRY_GOTO(write_text(w, &head, err));
done:
    sk_text_free(&head);
    return SK_HAND_OVER(status, w, out, sk_mcap_writer_close);
}

sk_status sk_mcap_writer_finish(sk_mcap_writer **writer, const char *metadata, sk_error *err)
{
    sk_mcap_writer *w = *writer;
    if (!w)
        return SK_OK;
    sk_status status = sk_mcap_writer_flush(w, err);
    if (status == SK_OK)
        status = write_summary(w, metadata, err);
    if (fclose(w->file) != 0 && status == SK_OK)
        status = sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s%s", w->path, strerror(errno),
                         sk_file_remedy(errno));
    w->file = NULL;
    sk_mcap_writer_close(writer);
    return status;
}

void sk_mcap_writer_close(sk_mcap_writer **pointer)
{
    SK_TAKE_OR_RETURN(w, pointer);
    for (uint16_t i = 0; i < w->n_channels; i++)
        sk_free_all(w->channels[i].topic, w->channels[i].qos, w->channels[i].places);
    if (w->file)
        fclose(w->file);
    sk_text_free(&w->chunk);
    sk_text_free(&w->record);
    sk_free_all(w->chunks, w->path, w);
}
