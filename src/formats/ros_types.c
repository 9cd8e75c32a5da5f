/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/ros_types.h"

#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARTS 32 /* types that one type is made of */

static const struct {
    const char *word;
    sk_msg_kind kind;
} kinds[] = {
    {"bool", SK_MSG_BOOL},   {"byte", SK_MSG_BYTE},     {"char", SK_MSG_U8},    {"int8", SK_MSG_I8},
    {"uint8", SK_MSG_U8},    {"int16", SK_MSG_I16},     {"uint16", SK_MSG_U16}, {"int32", SK_MSG_I32},
    {"uint32", SK_MSG_U32},  {"int64", SK_MSG_I64},     {"uint64", SK_MSG_U64}, {"float32", SK_MSG_F32},
    {"float64", SK_MSG_F64}, {"string", SK_MSG_STRING},
};

size_t sk_msg_kind_bytes(sk_msg_kind kind)
{
    switch (kind) {
    case SK_MSG_I8:
    case SK_MSG_U8:
    case SK_MSG_BOOL:
    case SK_MSG_BYTE: return 1;
    case SK_MSG_I16:
    case SK_MSG_U16: return 2;
    case SK_MSG_I32:
    case SK_MSG_U32:
    case SK_MSG_F32: return 4;
    case SK_MSG_I64:
    case SK_MSG_U64:
    case SK_MSG_F64: return 8;
    default: return 0;
    }
}

const sk_msg_type *sk_msg_type_at(size_t index)
{
    return index < sk_msg_type_count ? &sk_msg_type_list[index] : NULL;
}

const sk_msg_type *sk_msg_type_find(const char *name)
{
    char whole[96];
    const char *slash = strchr(name, '/');
    if (slash && !strchr(slash + 1, '/')) {
        snprintf(whole, sizeof whole, "%.*s/msg/%s", (int)(slash - name), name, slash + 1);
        name = whole;
    }
    for (size_t i = 0; i < sk_msg_type_count; i++) {
        if (strcmp(sk_msg_type_list[i].name, name) == 0)
            return &sk_msg_type_list[i];
    }
    return NULL;
}

const char *sk_msg_type_dds_name(const char *name, char buffer[SK_MSG_DDS_NAME])
{
    const char *first = strchr(name, '/');
    const char *second = first ? strchr(first + 1, '/') : NULL;
    if (second)
        snprintf(buffer, SK_MSG_DDS_NAME, "%.*s::%.*s::dds_::%s_", (int)(first - name), name,
                 (int)(second - first - 1), first + 1, second + 1);
    else
        snprintf(buffer, SK_MSG_DDS_NAME, "%s", name);
    return buffer;
}

/* "string<=256[]", "float64[9]", "Gid[<=4]" taken apart; the type's own package is that of a bare name. */
static void parse_type(const char *word, const char *package, size_t package_length, sk_msg_field *field)
{
    const size_t length = strcspn(word, "<[");
    const char *bracket = strchr(word, '[');
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strlen(kinds[i].word) == length && strncmp(kinds[i].word, word, length) == 0)
            field->kind = kinds[i].kind;
    }
    if (!field->kind) {
        const char *slash = memchr(word, '/', length);
        const char *second = slash ? memchr(slash + 1, '/', length - (size_t)(slash + 1 - word)) : NULL;
        field->kind = SK_MSG_NESTED;
        if (second)
            snprintf(field->nested, sizeof field->nested, "%.*s", (int)length, word);
        else if (slash)
            snprintf(field->nested, sizeof field->nested, "%.*s/msg/%.*s", (int)(slash - word), word,
                     (int)(length - (size_t)(slash + 1 - word)), slash + 1);
        else
            snprintf(field->nested, sizeof field->nested, "%.*s/msg/%.*s", (int)package_length, package,
                     (int)length, word);
    } else if (field->kind == SK_MSG_STRING && word[length] == '<') {
        field->kind = SK_MSG_BOUNDED_STRING;
        field->text_capacity = (uint32_t)strtoul(word + length + 2, NULL, 10);
    }
    if (!bracket)
        return;
    if (bracket[1] == ']') {
        field->form = SK_MSG_SEQUENCE;
    } else if (bracket[1] == '<') {
        field->form = SK_MSG_BOUNDED_SEQUENCE;
        field->capacity = (uint32_t)strtoul(bracket + 3, NULL, 10);
    } else {
        field->form = SK_MSG_ARRAY;
        field->capacity = (uint32_t)strtoul(bracket + 1, NULL, 10);
    }
}

size_t sk_msg_type_fields(const sk_msg_type *type, sk_msg_field fields[SK_MSG_FIELDS])
{
    const size_t package_length = strcspn(type->name, "/");
    size_t count = 0;
    for (const char *line = type->text; *line && count < SK_MSG_FIELDS;) {
        const size_t length = strcspn(line, "\n");
        char word[96] = "", name[64] = "", copy[200];
        snprintf(copy, sizeof copy, "%.*s", (int)length, line);
        line += length + (line[length] == '\n');
        const bool is_constant = strchr(copy, '=') && !strstr(copy, "<=");
        if (is_constant || sscanf(copy, "%95s %63s", word, name) != 2)
            continue;
        sk_msg_field *field = &fields[count++];
        *field = (sk_msg_field){0};
        memcpy(field->name, name, sizeof field->name);
        parse_type(word, type->name, package_length, field);
    }
    return count;
}

/* A type and all it is made of, each once. */
typedef struct parts {
    const sk_msg_type *type[MOST_PARTS];
    size_t count;
    const sk_msg_type *extra; /* types that are in no list: a service's, and its events' */
    size_t n_extra;
    char missing[96]; /* a type that nobody knows; "" */
} parts;

static const sk_msg_type *part_find(const parts *p, const char *name)
{
    for (size_t i = 0; i < p->n_extra; i++) {
        if (strcmp(p->extra[i].name, name) == 0)
            return &p->extra[i];
    }
    return sk_msg_type_find(name);
}

/* Walks the list while it grows: no type is in it twice, and none is deeper than the list is long. */
static void collect(parts *p, const sk_msg_type *root)
{
    p->type[p->count++] = root;
    for (size_t at = 0; at < p->count; at++) {
        sk_msg_field fields[SK_MSG_FIELDS];
        const size_t n = sk_msg_type_fields(p->type[at], fields);
        for (size_t i = 0; i < n; i++) {
            if (fields[i].kind != SK_MSG_NESTED)
                continue;
            const sk_msg_type *part = part_find(p, fields[i].nested);
            bool known = false;
            for (size_t k = 0; k < p->count; k++)
                known = known || p->type[k] == part;
            if (known)
                continue;
            if (part && p->count < MOST_PARTS)
                p->type[p->count++] = part;
            else if (!p->missing[0])
                memcpy(p->missing, fields[i].nested, sizeof p->missing);
        }
    }
}

void sk_msg_type_definition(const sk_msg_type *type, sk_text *out)
{
    parts p = {0};
    collect(&p, type);
    sk_text_append(out, type->text);
    for (size_t i = 1; i < p.count; i++) {
        const char *name = p.type[i]->name, *slash = strchr(name, '/');
        for (int k = 0; k < 80; k++)
            sk_text_append(out, "=");
        sk_text_appendf(out, "\nMSG: %.*s/%s\n%s", (int)(slash - name), name, strrchr(name, '/') + 1,
                        p.type[i]->text);
    }
}

/* One type's description, spaced as Python's json.dumps spaces it: the hash is over these very bytes. */
static void describe(const sk_msg_type *type, sk_text *out)
{
    sk_msg_field fields[SK_MSG_FIELDS];
    const size_t n = sk_msg_type_fields(type, fields);
    sk_text_appendf(out, "{\"type_name\": \"%s\", \"fields\": [", type->name);
    for (size_t i = 0; i < n; i++) {
        const sk_msg_field *f = &fields[i];
        sk_text_appendf(out,
                        "%s{\"name\": \"%s\", \"type\": {\"type_id\": %d, \"capacity\": %u, "
                        "\"string_capacity\": %u, \"nested_type_name\": \"%s\"}}",
                        i ? ", " : "", f->name, (int)f->kind + (int)f->form, f->capacity, f->text_capacity,
                        f->nested);
    }
    sk_text_append(out, "]}");
}

static int by_name(const void *a, const void *b)
{
    const sk_msg_type *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static sk_status hash_parts(parts *p, const sk_msg_type *type, char buffer[SK_MSG_HASH], sk_error *err)
{
    sk_text text = {0};
    collect(p, type);
    if (p->missing[0])
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s is made of %s, which is not in the list of messages",
                       type->name, p->missing);
    qsort(p->type + 1, p->count - 1, sizeof p->type[0], by_name);
    sk_text_append(&text, "{\"type_description\": ");
    describe(type, &text);
    sk_text_append(&text, ", \"referenced_type_descriptions\": [");
    for (size_t i = 1; i < p->count; i++) {
        sk_text_append(&text, i > 1 ? ", " : "");
        describe(p->type[i], &text);
    }
    sk_text_append(&text, "]}");
    const sk_status status = sk_text_status(&text, err);
    if (status == SK_OK) {
        sk_sha256 hash;
        char hex[SK_SHA256_TEXT];
        sk_hash_sha256(text.data, text.length, &hash);
        snprintf(buffer, SK_MSG_HASH, "RIHS01_%s", sk_sha256_text(&hash, hex));
    }
    sk_text_free(&text);
    return status;
}

sk_status sk_msg_type_hash(const sk_msg_type *type, char buffer[SK_MSG_HASH], sk_error *err)
{
    parts p = {0};
    return hash_parts(&p, type, buffer, err);
}

sk_status sk_msg_service_hash(const char *service, char buffer[SK_MSG_HASH], sk_error *err)
{
    char event_name[96], text[400], event_text[400];
    snprintf(event_name, sizeof event_name, "%.80s_Event", service);
    snprintf(event_text, sizeof event_text,
             "service_msgs/ServiceEventInfo info\n%.80s_Request[<=1] request\n%.80s_Response[<=1] response\n",
             service, service);
    snprintf(text, sizeof text,
             "%.80s_Request request_message\n%.80s_Response response_message\n%.80s_Event event_message\n",
             service, service, service);
    const sk_msg_type made[] = {{service, text}, {event_name, event_text}};
    parts p = {.extra = made, .n_extra = 2};
    return hash_parts(&p, &made[0], buffer, err);
}
