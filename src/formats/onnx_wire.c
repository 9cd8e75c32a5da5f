/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/onnx_wire.h"

#include <stdbool.h>
#include <string.h>

/* protobuf-c trusts its input in three ways that a hostile file can use: it recurses as deep as messages
 * nest, it merges a singular message that occurs twice by copying all of it (quadratic), and a two-byte
 * message becomes a struct of a hundred bytes. Hence: walk the bytes first with its own descriptors, and
 * count what it allocates. */

#define MAX_DEPTH    64
#define MAX_MESSAGES (4u << 20)
#define MAX_BYTES    ((size_t)INT32_MAX) /* protobuf's own limit */
#define SPARE_BYTES  ((size_t)256 << 20)

typedef struct walk {
    const uint8_t *begin;
    const char *what;
    size_t messages;
    sk_error *err;
} walk;

static sk_status truncated(const walk *w, const uint8_t *at)
{
    return sk_fail(w->err, SK_ERR_FORMAT,
                   "%s: damaged or truncated ONNX file (at byte %zu); copy or download it again", w->what,
                   (size_t)(at - w->begin));
}

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= shift < 64 ? (uint64_t)(byte & 0x7F) << shift : 0;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The field's index in the descriptor; -1 when the schema does not know it. */
static int field_index(const ProtobufCMessageDescriptor *type, uint64_t number)
{
    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].id == number)
            return (int)i;
    return -1;
}

static sk_status walk_message(walk *w, const ProtobufCMessageDescriptor *type, const uint8_t *at,
                              const uint8_t *end, int depth)
{
    if (depth > MAX_DEPTH || ++w->messages > MAX_MESSAGES)
        return sk_fail(w->err, SK_ERR_LIMIT,
                       "%s: the ONNX file nests deeper than %d levels or holds more than %u "
                       "messages; no sane model does",
                       w->what, MAX_DEPTH, MAX_MESSAGES);
    uint64_t seen = 0; /* singular messages, by field index */
    while (at < end) {
        const uint8_t *start = at;
        uint64_t tag, size = 0;
        if (!read_varint(&at, end, &tag) || tag >> 3 == 0 || tag >> 32 != 0)
            return truncated(w, start);
        switch (tag & 7) {
        case 0:
            if (!read_varint(&at, end, &size))
                return truncated(w, start);
            continue;
        case 1: size = 8; break;
        case 5: size = 4; break;
        case 2:
            if (!read_varint(&at, end, &size))
                return truncated(w, start);
            break;
        default: return truncated(w, start);
        }
        if (size > (size_t)(end - at))
            return truncated(w, start);
        int index = (tag & 7) == 2 ? field_index(type, tag >> 3) : -1;
        const ProtobufCFieldDescriptor *field = index >= 0 ? &type->fields[index] : NULL;
        if (field && field->type == PROTOBUF_C_TYPE_MESSAGE) {
            if (field->label != PROTOBUF_C_LABEL_REPEATED && (seen >> index & 1))
                return sk_fail(w->err, SK_ERR_FORMAT, "%s: damaged ONNX file: '%s' occurs twice at byte %zu",
                               w->what, field->name, (size_t)(start - w->begin));
            seen |= (uint64_t)1 << index;
            SK_TRY(walk_message(w, field->descriptor, at, at + size, depth + 1));
        }
        at += size;
    }
    return SK_OK;
}

static void *counted_alloc(void *context, size_t bytes)
{
    sk_onnx_wire *wire = context;
    if (bytes > wire->limit - wire->used) {
        wire->over_limit = true;
        return NULL;
    }
    wire->used += bytes;
    /* Weights go over to the graph without a copy, so they get the alignment blobs have. */
    void *block = bytes >= SK_ONNX_WIRE_ALIGNED ? sk_aligned_calloc(64, bytes) : sk_malloc(bytes);
    if (!block)
        wire->refused = bytes;
    return block;
}

static void counted_free(void *context, void *block)
{
    (void)context; /* the limit is on what is ever allocated: nothing is given back */
    sk_free(block);
}

sk_status sk_onnx_wire_open(const void *bytes, size_t length, const char *what, sk_onnx_wire *wire,
                            sk_error *err)
{
    memset(wire, 0, sizeof *wire);
    if (length > MAX_BYTES)
        return sk_fail(
            err, SK_ERR_LIMIT,
            "%s: %zu bytes; an ONNX file may have 2 GiB (larger models keep weights in external data)", what,
            length);
    walk w = {.begin = bytes, .what = what, .err = err};
    if (length > 0)
        SK_TRY(walk_message(&w, &sk_onnx__model__descriptor, bytes, (const uint8_t *)bytes + length, 0));
    wire->limit = 2 * length + SPARE_BYTES;
    wire->allocator = (ProtobufCAllocator){counted_alloc, counted_free, wire};
    wire->message = sk_onnx__model__unpack(&wire->allocator, length, bytes);
    if (wire->message)
        return SK_OK;
    if (wire->refused)
        return sk_fail_memory(err, wire->refused);
    if (wire->over_limit)
        return sk_fail(
            err, SK_ERR_LIMIT,
            "%s: a file of %zu bytes that unpacks into more than %zu is no ONNX model; it is damaged, "
            "or made to do harm",
            what, length, wire->limit);
    return sk_fail(err, SK_ERR_FORMAT, "%s: not a readable ONNX file; copy or download it again", what);
}

void sk_onnx_wire_close(sk_onnx_wire *wire)
{
    if (wire->message)
        sk_onnx__model__free_unpacked(wire->message, &wire->allocator);
    wire->message = NULL;
}

uint8_t *sk_onnx_wire_take(ProtobufCBinaryData *field)
{
    uint8_t *data = field->data;
    field->data = NULL;
    field->len = 0;
    return data;
}
