/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ros_messages.h"

/* Between structures and bytes, along a layout's members. A list in a structure is a pointer and a count, whatever it is
 * a list of. */
typedef struct list {
    const void *items;
    size_t count;
} list;

static bool is_text(sk_msg_kind kind)
{
    return kind == SK_MSG_STRING || kind == SK_MSG_BOUNDED_STRING;
}

static size_t element_bytes(const sk_msg_member *member)
{
    if (member->kind == SK_MSG_NESTED)
        return member->nested->bytes;
    return is_text(member->kind) ? sizeof(sk_msg_text) : sk_msg_kind_bytes(member->kind);
}

static void put_elements(const sk_msg_member *member, const uint8_t *items, size_t count,
                         sk_cdr_writer *writer)
{
    if (member->kind == SK_MSG_NESTED) {
        for (size_t i = 0; i < count; i++)
            sk_msg_put(member->nested, items + i * member->nested->bytes, writer);
    } else if (is_text(member->kind)) {
        const sk_msg_text *texts = (const sk_msg_text *)(const void *)items;
        for (size_t i = 0; i < count; i++) {
            if (member->kind == SK_MSG_BOUNDED_STRING && texts[i].length > member->capacity)
                writer->failed = writer->failed ? writer->failed : SK_ERR_LIMIT;
            sk_cdr_put_text(writer, texts[i].data, texts[i].length);
        }
    } else {
        sk_cdr_put_numbers(writer, items, sk_msg_kind_bytes(member->kind), count);
    }
}

void sk_msg_put(const sk_msg_layout *layout, const void *message, sk_cdr_writer *writer)
{
    for (size_t i = 0; i < layout->count; i++) {
        const sk_msg_member *member = &layout->members[i];
        const uint8_t *place = (const uint8_t *)message + member->offset;
        if (member->form == SK_MSG_ONE || member->form == SK_MSG_ARRAY) {
            put_elements(member, place, member->form == SK_MSG_ARRAY ? member->capacity : 1, writer);
            continue;
        }
        list held;
        memcpy(&held, place, sizeof held);
        if (member->form == SK_MSG_BOUNDED_SEQUENCE && held.count > member->capacity)
            writer->failed = writer->failed ? writer->failed : SK_ERR_LIMIT;
        sk_cdr_put_count(writer, held.count);
        if (writer->failed == SK_OK)
            put_elements(member, held.items, held.count, writer);
    }
}

sk_status sk_msg_encode(const sk_msg_layout *layout, const void *message, sk_cdr_writer *writer,
                        sk_error *err)
{
    sk_cdr_writer_begin(writer);
    sk_msg_put(layout, message, writer);
    sk_status status = sk_cdr_writer_status(writer, err);
    if (status != SK_OK)
        sk_error_prefix(err, "%s", layout->type);
    return status;
}

/* The fewest bytes a message of this kind takes, without what aligns it: what a count is held against. */
static size_t least_bytes(const sk_msg_member *member)
{
    if (member->kind != SK_MSG_NESTED)
        return is_text(member->kind) ? 4 : sk_msg_kind_bytes(member->kind);
    size_t sum = 0;
    for (size_t i = 0; i < member->nested->count; i++) {
        const sk_msg_member *m = &member->nested->members[i];
        if (m->form == SK_MSG_ONE || m->form == SK_MSG_ARRAY)
            sum += least_bytes(m) * (m->form == SK_MSG_ARRAY ? m->capacity : 1);
        else
            sum += 4;
    }
    return sum;
}

static sk_status get_members(const sk_msg_layout *layout, sk_cdr_reader *reader, sk_arena *arena,
                             uint8_t *message);

static sk_status get_elements(const sk_msg_member *member, sk_cdr_reader *reader, sk_arena *arena,
                              uint8_t *items, size_t count)
{
    if (member->kind == SK_MSG_NESTED) {
        for (size_t i = 0; i < count && reader->failed == SK_OK; i++)
            SK_TRY(get_members(member->nested, reader, arena, items + i * member->nested->bytes));
    } else if (is_text(member->kind)) {
        sk_msg_text *texts = (sk_msg_text *)(void *)items;
        for (size_t i = 0; i < count && reader->failed == SK_OK; i++)
            texts[i].data = sk_cdr_get_text(reader, &texts[i].length);
    } else {
        sk_cdr_get_numbers(reader, items, sk_msg_kind_bytes(member->kind), count);
        for (size_t i = 0; member->kind == SK_MSG_BOOL && i < count; i++)
            items[i] = items[i] != 0;
    }
    return SK_OK;
}

static sk_status get_list(const sk_msg_member *member, sk_cdr_reader *reader, sk_arena *arena, list *held)
{
    held->count = sk_cdr_get_count(reader, least_bytes(member));
    if (!held->count)
        return SK_OK;
    if (member->kind == SK_MSG_U8 || member->kind == SK_MSG_BYTE) { /* where they lie */
        held->items = sk_cdr_get_bytes(reader, held->count);
        return SK_OK;
    }
    if (!arena)
        return SK_ERR_ARG;
    uint8_t *items = sk_arena_alloc(arena, held->count * element_bytes(member));
    if (!items)
        return SK_ERR_MEMORY;
    held->items = items;
    return get_elements(member, reader, arena, items, held->count);
}

static sk_status get_members(const sk_msg_layout *layout, sk_cdr_reader *reader, sk_arena *arena,
                             uint8_t *message)
{
    for (size_t i = 0; i < layout->count && reader->failed == SK_OK; i++) {
        const sk_msg_member *member = &layout->members[i];
        uint8_t *place = message + member->offset;
        if (member->form == SK_MSG_ONE || member->form == SK_MSG_ARRAY) {
            SK_TRY(get_elements(member, reader, arena, place,
                                member->form == SK_MSG_ARRAY ? member->capacity : 1));
            continue;
        }
        list held = {0};
        const sk_status status = get_list(member, reader, arena, &held);
        memcpy(place, &held, sizeof held);
        SK_TRY(status);
    }
    return SK_OK;
}

sk_status sk_msg_get(const sk_msg_layout *layout, sk_cdr_reader *reader, sk_arena *arena, void *message,
                     sk_error *err)
{
    memset(message, 0, layout->bytes);
    sk_status status = get_members(layout, reader, arena, message);
    if (status == SK_ERR_ARG)
        status = sk_fail(err, status, "%s: lists of this message need memory to be put into", layout->type);
    else if (status == SK_ERR_MEMORY)
        status = sk_fail(err, status, "%s: out of memory, or larger than is allowed", layout->type);
    else if ((status = sk_cdr_reader_status(reader, err)) != SK_OK)
        sk_error_prefix(err, "%s", layout->type);
    if (status != SK_OK)
        memset(message, 0, layout->bytes);
    return status;
}

sk_status sk_msg_decode(const sk_msg_layout *layout, const void *bytes, size_t count, sk_arena *arena,
                        void *message, sk_error *err)
{
    sk_cdr_reader reader;
    memset(message, 0, layout->bytes);
    sk_status status = sk_cdr_reader_begin(&reader, bytes, count, err);
    if (status != SK_OK) {
        sk_error_prefix(err, "%s", layout->type);
        return status;
    }
    return sk_msg_get(layout, &reader, arena, message, err);
}
