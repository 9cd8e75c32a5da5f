/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/cdr.h"

#include "base/memory.h"

#include <string.h>

#define CDR_BIG       0x00
#define CDR_LITTLE    0x01
#define LARGEST_BYTES ((size_t)UINT32_MAX) /* of one message: what lengths of its parts can say */

static bool host_is_big(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 0;
}

static void reverse_each(uint8_t *bytes, size_t size, size_t count)
{
    for (size_t i = 0; i < count; i++, bytes += size) {
        for (size_t j = 0; j < size / 2; j++) {
            uint8_t kept = bytes[j];
            bytes[j] = bytes[size - 1 - j];
            bytes[size - 1 - j] = kept;
        }
    }
}

sk_status sk_cdr_reader_begin(sk_cdr_reader *reader, const void *bytes, size_t count, sk_error *err)
{
    const uint8_t *head = bytes;
    *reader = (sk_cdr_reader){.failed = SK_ERR_FORMAT, .problem = "it has no beginning"};
    if (count < SK_CDR_HEADER)
        return sk_fail(err, SK_ERR_FORMAT,
                       "a message of %zu bytes: not even the four that name its byte order", count);
    if (head[0] != 0 || head[1] > CDR_LITTLE)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "a message whose representation is %02x%02x: plain CDR (0000, 0001) is read", head[0],
                       head[1]);
    *reader = (sk_cdr_reader){.bytes = head + SK_CDR_HEADER,
                              .count = count - SK_CDR_HEADER,
                              .swapped = (head[1] == CDR_BIG) != host_is_big()};
    return SK_OK;
}

sk_status sk_cdr_reader_status(const sk_cdr_reader *reader, sk_error *err)
{
    if (reader->failed == SK_OK)
        return SK_OK;
    return sk_fail(err, reader->failed, "a damaged message of %zu bytes: %s (at byte %zu)",
                   reader->count + SK_CDR_HEADER, reader->problem, reader->at + SK_CDR_HEADER);
}

static const uint8_t *reader_fail(sk_cdr_reader *reader, const char *problem)
{
    if (reader->failed == SK_OK) {
        reader->failed = SK_ERR_FORMAT;
        reader->problem = problem;
    }
    return NULL;
}

const uint8_t *sk_cdr_get_bytes(sk_cdr_reader *reader, size_t count)
{
    if (reader->failed != SK_OK)
        return NULL;
    if (count > reader->count - reader->at)
        return reader_fail(reader, "it ends before its last field");
    const uint8_t *bytes = reader->bytes + reader->at;
    reader->at += count;
    return bytes;
}

bool sk_cdr_get_numbers(sk_cdr_reader *reader, void *out, size_t size, size_t count)
{
    /* no numbers lie nowhere: there is nothing to align */
    const size_t padding = count ? (size - reader->at % size) % size : 0;
    const uint8_t *bytes = NULL;
    size_t wanted = 0;
    if (count && sk_mul_size(size, count, &wanted) && sk_cdr_get_bytes(reader, padding))
        bytes = sk_cdr_get_bytes(reader, wanted);
    if (!bytes) {
        memset(out, 0, size * count);
        return reader->failed == SK_OK;
    }
    memcpy(out, bytes, wanted);
    if (reader->swapped && size > 1)
        reverse_each(out, size, count);
    return true;
}

#define GET(name, type)                                                                                      \
    type sk_cdr_get_##name(sk_cdr_reader *reader)                                                            \
    {                                                                                                        \
        type value;                                                                                          \
        sk_cdr_get_numbers(reader, &value, sizeof value, 1);                                                 \
        return value;                                                                                        \
    }
GET(u8, uint8_t)
GET(u32, uint32_t)
GET(i32, int32_t)
GET(u64, uint64_t)
GET(i64, int64_t)
GET(f64, double)

const char *sk_cdr_get_text(sk_cdr_reader *reader, size_t *length)
{
    const uint32_t bytes = sk_cdr_get_u32(reader);
    const char *text = bytes ? (const char *)sk_cdr_get_bytes(reader, bytes) : NULL;
    *length = 0;
    if (!text)
        return "";
    if (text[bytes - 1] != '\0') {
        reader_fail(reader, "a text without its final zero");
        return "";
    }
    *length = bytes - 1;
    return text;
}

uint32_t sk_cdr_get_count(sk_cdr_reader *reader, size_t least)
{
    const uint32_t count = sk_cdr_get_u32(reader);
    if (reader->failed == SK_OK && count > (reader->count - reader->at) / least)
        reader_fail(reader, "it has fewer elements than it says");
    return reader->failed == SK_OK ? count : 0;
}

static void writer_begin(sk_cdr_writer *writer, bool swapped)
{
    const bool big = host_is_big() != swapped;
    writer->length = 0;
    writer->failed = SK_OK;
    writer->swapped = swapped;
    sk_cdr_put_bytes(writer, (const uint8_t[]){0, big ? CDR_BIG : CDR_LITTLE, 0, 0}, SK_CDR_HEADER);
}

void sk_cdr_writer_begin(sk_cdr_writer *writer)
{
    writer_begin(writer, false);
}

void sk_cdr_writer_begin_swapped(sk_cdr_writer *writer)
{
    writer_begin(writer, true);
}

sk_status sk_cdr_writer_status(const sk_cdr_writer *writer, sk_error *err)
{
    if (writer->failed == SK_ERR_LIMIT)
        return sk_fail(err, SK_ERR_LIMIT, "a message of more than %zu bytes, or with a text that is too long",
                       LARGEST_BYTES);
    return writer->failed == SK_OK ? SK_OK : sk_fail_memory(err, writer->capacity * 2);
}

void sk_cdr_writer_free(sk_cdr_writer *writer)
{
    sk_free(writer->data);
    *writer = (sk_cdr_writer){0};
}

/* Room for `count` more bytes, which the caller fills; null: failed. */
static uint8_t *grow(sk_cdr_writer *writer, size_t count)
{
    if (writer->failed != SK_OK)
        return NULL;
    if (count > LARGEST_BYTES - writer->length) {
        writer->failed = SK_ERR_LIMIT;
        return NULL;
    }
    const size_t wanted = writer->length + count;
    if (wanted > writer->capacity) {
        size_t capacity = writer->capacity < 256 ? 256 : writer->capacity * 2;
        capacity = capacity < wanted ? wanted : capacity;
        uint8_t *grown = sk_realloc(writer->data, capacity);
        if (!grown) {
            writer->failed = SK_ERR_MEMORY;
            return NULL;
        }
        writer->data = grown;
        writer->capacity = capacity;
    }
    uint8_t *at = writer->data + writer->length;
    writer->length = wanted;
    return at;
}

void sk_cdr_put_bytes(sk_cdr_writer *writer, const void *bytes, size_t count)
{
    uint8_t *at = count ? grow(writer, count) : NULL;
    if (at)
        memcpy(at, bytes, count);
}

void sk_cdr_put_numbers(sk_cdr_writer *writer, const void *numbers, size_t size, size_t count)
{
    if (!count)
        return;
    const size_t padding = (size - (writer->length - SK_CDR_HEADER) % size) % size;
    size_t bytes = 0;
    if (!sk_mul_size(size, count, &bytes) || bytes > LARGEST_BYTES)
        bytes = LARGEST_BYTES; /* which grow refuses */
    uint8_t *at = grow(writer, padding + bytes);
    if (!at)
        return;
    memset(at, 0, padding);
    memcpy(at + padding, numbers, bytes);
    if (writer->swapped && size > 1)
        reverse_each(at + padding, size, count);
}

#define PUT(name, type)                                                                                      \
    void sk_cdr_put_##name(sk_cdr_writer *writer, type value)                                                \
    {                                                                                                        \
        sk_cdr_put_numbers(writer, &value, sizeof value, 1);                                                 \
    }
PUT(u8, uint8_t)
PUT(u32, uint32_t)
PUT(i32, int32_t)
PUT(u64, uint64_t)
PUT(i64, int64_t)
PUT(f64, double)

void sk_cdr_put_text(sk_cdr_writer *writer, const char *text, size_t length)
{
    if (length >= LARGEST_BYTES) {
        writer->failed = writer->failed ? writer->failed : SK_ERR_LIMIT;
        return;
    }
    sk_cdr_put_u32(writer, (uint32_t)length + 1);
    sk_cdr_put_bytes(writer, text, length);
    sk_cdr_put_u8(writer, 0);
}

void sk_cdr_put_count(sk_cdr_writer *writer, size_t count)
{
    if (count > UINT32_MAX)
        writer->failed = writer->failed ? writer->failed : SK_ERR_LIMIT;
    else
        sk_cdr_put_u32(writer, (uint32_t)count);
}
