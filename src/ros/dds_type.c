/* SPDX-License-Identifier: Apache-2.0 */
#include "ros/dds_type.h"

#include "base/memory.h"
#include "formats/ros_types.h"
#include "ros/dds_api.h"

#include <string.h>

/* Instructions, as dds_opcodes.h of Cyclone DDS describes them and idlc writes them. A message in a message is laid out flat,
 * member by member: in XCDR version 1 that is the same bytes. Elements of a sequence of messages are a list of their own behind
 * the instruction, ended by RTS, over which the instruction's jump leads. */

#define MOST_OPS       4096 /* jumps have 16 bits; the largest of our types has a few hundred */
#define DEEPEST        16
#define GID            "rmw_dds_common/msg/Gid"
#define ALIGNED(n, to) (((n) + (to)-1) / (to) * (to))

typedef struct maker {
    sk_dds_type *type;
    const sk_dds_twist *twist;
    sk_error *err;
} maker;

typedef struct layout {
    uint32_t size, align;
} layout;

static sk_status put(maker *m, const uint32_t *ops, uint32_t count)
{
    SK_TRY(sk_array_reserve((void **)&m->type->ops, &m->type->capacity, m->type->n_ops + count,
                            sizeof *m->type->ops, MOST_OPS, m->err));
    memcpy(m->type->ops + m->type->n_ops, ops, count * sizeof *ops);
    m->type->n_ops += count;
    return SK_OK;
}

static uint32_t place(layout *at, uint32_t size, uint32_t align)
{
    const uint32_t offset = ALIGNED(at->size, align);
    at->size = offset + size;
    at->align = align > at->align ? align : at->align;
    return offset;
}

static uint32_t value_of(const sk_msg_field *f)
{
    static const uint32_t by_size[] = {
        [1] = SK_DDS_1BY, [2] = SK_DDS_2BY, [4] = SK_DDS_4BY, [8] = SK_DDS_8BY};
    return f->kind == SK_MSG_BOOL             ? SK_DDS_BLN
           : f->kind == SK_MSG_STRING         ? SK_DDS_STR
           : f->kind == SK_MSG_BOUNDED_STRING ? SK_DDS_BST
           : f->kind == SK_MSG_NESTED         ? SK_DDS_STU
                                              : by_size[sk_msg_kind_bytes(f->kind)];
}

static sk_status put_members(maker *m, const char *name, layout *at, int depth);

/* What follows an instruction of a sequence of messages: its elements' own, and where they end. */
static sk_status put_element(maker *m, const char *name, uint32_t start, uint32_t jump, uint32_t size_at,
                             int depth)
{
    static const uint32_t end = SK_DDS_OP_RTS;
    layout element = {0};
    const uint32_t first = m->type->n_ops;
    SK_TRY(put_members(m, name, &element, depth + 1));
    SK_TRY(put(m, &end, 1));
    if (element.align)
        element.size = ALIGNED(element.size, element.align);
    m->type->ops[jump] = (m->type->n_ops - start) << 16 | (first - start);
    m->type->ops[size_at] = element.size;
    return SK_OK;
}

static sk_status put_array(maker *m, const sk_msg_field *f, layout *at)
{
    const uint32_t bytes = (uint32_t)sk_msg_kind_bytes(f->kind);
    if (!bytes)
        return sk_fail(m->err, SK_ERR_UNSUPPORTED, "arrays of other things than numbers");
    const uint32_t ops[3] = {SK_DDS_OP_ADR | SK_DDS_ARR << 16 | value_of(f) << 8,
                             place(at, bytes * f->capacity, bytes), f->capacity};
    return put(m, ops, 3);
}

static sk_status put_sequence(maker *m, const sk_msg_field *f, layout *at, int depth)
{
    const uint32_t value = value_of(f), start = m->type->n_ops;
    const bool bounded = f->form == SK_MSG_BOUNDED_SEQUENCE;
    const uint32_t offset = place(at, sizeof(sk_dds_sequence), _Alignof(sk_dds_sequence));
    uint32_t ops[5] = {SK_DDS_OP_ADR | (uint32_t)(bounded ? SK_DDS_BSQ : SK_DDS_SEQ) << 16 | value << 8,
                       offset}; /* then what there is room for: a bound, the element's size and its jump */
    uint32_t n = 2;
    if (f->kind == SK_MSG_BOUNDED_STRING)
        return sk_fail(m->err, SK_ERR_UNSUPPORTED, "sequences of bounded strings");
    if (bounded)
        ops[n++] = f->capacity;
    if (f->kind != SK_MSG_NESTED)
        return put(m, ops, n);
    SK_TRY(put(m, ops, n + 2));
    return put_element(m, f->nested, start, start + n + 1, start + n, depth);
}

static sk_status put_field(maker *m, const sk_msg_field *f, layout *at, int depth)
{
    const uint32_t value = value_of(f), bytes = (uint32_t)sk_msg_kind_bytes(f->kind);
    uint32_t op[3] = {SK_DDS_OP_ADR | value << 16, 0, 0};
    if (f->form == SK_MSG_ARRAY)
        return put_array(m, f, at);
    if (f->form != SK_MSG_ONE)
        return put_sequence(m, f, at, depth);
    if (f->kind == SK_MSG_NESTED)
        return put_members(m, f->nested, at, depth + 1);
    if (f->kind == SK_MSG_BOUNDED_STRING) {
        op[1] = place(at, f->text_capacity + 1, 1);
        op[2] = f->text_capacity + 1;
        return put(m, op, 3);
    }
    const uint32_t size = f->kind == SK_MSG_STRING ? (uint32_t)sizeof(char *) : bytes;
    op[1] = place(at, size, size);
    return put(m, op, 2);
}

/* Members of a message whose structure may lie in a larger one: it begins where its own alignment allows. */
static sk_status put_members(maker *m, const char *name, layout *at, int depth)
{
    const sk_msg_type *type = sk_msg_type_find(name);
    sk_msg_field *fields = sk_calloc(SK_MSG_FIELDS, sizeof *fields);
    sk_status status = SK_OK;
    if (!fields)
        return sk_fail_memory(m->err, SK_MSG_FIELDS * sizeof *fields);
    if (!type || depth > DEEPEST) {
        status = sk_fail(m->err, SK_ERR_UNSUPPORTED, "%s: no message type of that name is known", name);
        goto done;
    }
    const size_t n = sk_msg_type_fields(type, fields);
    for (size_t i = 0; i < n; i++) {
        if (m->twist && m->twist->gid_bytes && strcmp(name, GID) == 0)
            fields[i].capacity = m->twist->gid_bytes;
        SK_TRY_GOTO(put_field(m, &fields[i], at, depth));
    }
done:
    sk_free(fields);
    return status;
}

sk_status sk_dds_type_make(const char *name, const sk_dds_twist *twist, sk_dds_type *out, sk_error *err)
{
    static const sk_msg_field number = {.kind = SK_MSG_U64};
    static const uint32_t end = SK_DDS_OP_RTS;
    maker m = {out, twist, err};
    layout at = {0};
    char wire[SK_MSG_DDS_NAME];
    sk_status status = SK_OK;
    *out = (sk_dds_type){.name = sk_strdup(sk_msg_type_dds_name(name, wire))};
    if (!out->name) {
        status = sk_fail_memory(err, strlen(wire));
        goto done;
    }
    for (int i = 0; i < 2 && twist && twist->service; i++)
        SK_TRY_GOTO(put_field(&m, &number, &at, 0));
    SK_TRY_GOTO(put_members(&m, name, &at, 0));
    SK_TRY_GOTO(put(&m, &end, 1));
    out->align = at.align ? at.align : 1;
    out->size = ALIGNED(at.size, out->align);
done:
    if (status != SK_OK)
        sk_dds_type_free(out);
    return status;
}

void sk_dds_type_free(sk_dds_type *type)
{
    sk_free_all(type->name, type->ops);
    *type = (sk_dds_type){0};
}
