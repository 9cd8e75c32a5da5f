/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5_format.h"

#include <string.h>

/* Compound types: a list of members, each a name, its place in the element and a type of its own. */

enum { INTEGER = 0, REAL = 1, TEXT = 3, COMPOUND = 6, ENUMERATION = 8 };

#define MAX_MEMBERS 256

/* A name, ended by a zero; before version 3 filled up to a multiple of eight. */
static const char *take_name(sk_hdf5_cursor *c, int version)
{
    const char *name = (const char *)c->at;
    size_t room = (size_t)sk_hdf5_left(c), length = strnlen(name, room);
    if (length == room) {
        c->bad = true;
        return NULL;
    }
    uint64_t bytes = length + 1;
    return sk_hdf5_take(c, version < 3 ? (bytes + 7) / 8 * 8 : bytes) ? name : NULL;
}

static int offset_bytes(int version, uint32_t size)
{
    return version < 3 || size > 0xffffff ? 4 : size > 0xffff ? 3 : size > 0xff ? 2 : 1;
}

/* Past one type of the kinds that stand in tables; anything else marks the cursor bad. */
static void skip_type(sk_hdf5_cursor *c, int depth)
{
    int head = (int)sk_hdf5_number(c, 1), kind = head & 15, version = head >> 4;
    uint32_t bits = (uint32_t)sk_hdf5_number(c, 3), size = (uint32_t)sk_hdf5_number(c, 4);
    uint32_t count = bits & 0xffff;
    switch (kind) {
    case INTEGER: sk_hdf5_take(c, 4); return;
    case REAL: sk_hdf5_take(c, 12); return;
    case TEXT: return;
    case ENUMERATION: {
        sk_hdf5_cursor base = *c;
        if (depth > 4 || count > MAX_MEMBERS) {
            c->bad = true;
            return;
        }
        sk_hdf5_take(&base, 4);
        uint64_t width = sk_hdf5_number(&base, 4);
        skip_type(c, depth + 1);
        for (uint32_t i = 0; i < count && !c->bad; i++)
            take_name(c, version);
        sk_hdf5_take(c, count * width);
        return;
    }
    default: (void)size; c->bad = true;
    }
}

sk_status sk_hdf5_find_member(const sk_hdf5_item *item, const char *name, sk_hdf5_type *type,
                              uint32_t *offset, sk_error *err)
{
    sk_hdf5_cursor c = item->type_bytes;
    int head = (int)sk_hdf5_number(&c, 1), version = head >> 4;
    uint32_t count = (uint32_t)sk_hdf5_number(&c, 3) & 0xffff, size = (uint32_t)sk_hdf5_number(&c, 4);
    if (c.bad || (head & 15) != COMPOUND || count > MAX_MEMBERS)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: a table was expected here", item->file->what,
                       item->label);
    for (uint32_t i = 0; i < count && !c.bad; i++) {
        const char *own = take_name(&c, version);
        *offset = (uint32_t)sk_hdf5_number(&c, offset_bytes(version, size));
        sk_hdf5_take(&c, version == 1 ? 28 : 0); /* dimensions, which nobody uses */
        sk_hdf5_cursor at = c;
        skip_type(&c, 0);
        if (!own || strcmp(own, name) != 0)
            continue;
        SK_TRY(sk_hdf5_parse_type(at, type, item->label, err));
        if (type->dtype == SK_DTYPE_NONE || *offset > size || type->size > size - *offset)
            return sk_fail(err, SK_ERR_FORMAT, "%s: %s: column '%s' holds no numbers", item->file->what,
                           item->label, name);
        return SK_OK;
    }
    if (c.bad)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: a damaged or unknown table", item->file->what,
                       item->label);
    return sk_fail(err, SK_ERR_NOT_FOUND, "%s: %s: there is no column '%s'", item->file->what, item->label,
                   name);
}
