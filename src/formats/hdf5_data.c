/* SPDX-License-Identifier: Apache-2.0 */
#include "base/allowance.h"
#include "formats/hdf5_format.h"

#include <string.h>

static sk_status refuse(const char *label, sk_hdf5_file *file, sk_status code, const char *why, sk_error *err)
{
    return file ? sk_fail(err, code, "%s: %s: %s", file->what, label, why)
                : sk_fail(err, code, "%s: %s", label, why);
}

/* --- types --- */

static sk_dtype integer_type(uint32_t size, bool is_signed)
{
    switch (size) {
    case 1: return is_signed ? SK_DTYPE_I8 : SK_DTYPE_U8;
    case 2: return is_signed ? SK_DTYPE_I16 : SK_DTYPE_U16;
    case 4: return is_signed ? SK_DTYPE_I32 : SK_DTYPE_U32;
    case 8: return is_signed ? SK_DTYPE_I64 : SK_DTYPE_U64;
    default: return SK_DTYPE_NONE;
    }
}

/* IEEE numbers only: where exponent and mantissa lie must be as usual. */
static sk_dtype float_type(uint32_t size, sk_hdf5_cursor c)
{
    sk_hdf5_take(&c, 4); /* bit offset, precision */
    int exponent_at = (int)sk_hdf5_number(&c, 1), exponent = (int)sk_hdf5_number(&c, 1);
    int mantissa_at = (int)sk_hdf5_number(&c, 1), mantissa = (int)sk_hdf5_number(&c, 1);
    if (c.bad || mantissa_at != 0 || exponent_at != mantissa)
        return SK_DTYPE_NONE;
    if (size == 2 && exponent == 5 && mantissa == 10)
        return SK_DTYPE_F16;
    if (size == 4 && exponent == 8 && mantissa == 23)
        return SK_DTYPE_F32;
    if (size == 8 && exponent == 11 && mantissa == 52)
        return SK_DTYPE_F64;
    return SK_DTYPE_NONE;
}

sk_status sk_hdf5_parse_type(sk_hdf5_cursor c, sk_hdf5_type *out, const char *label, sk_error *err)
{
    int kind = (int)sk_hdf5_number(&c, 1) & 15;
    uint32_t bits = (uint32_t)sk_hdf5_number(&c, 3);
    *out = (sk_hdf5_type){.size = (uint32_t)sk_hdf5_number(&c, 4), .big_endian = bits & 1};
    if (c.bad || out->size == 0)
        return refuse(label, NULL, SK_ERR_FORMAT, "a damaged type", err);
    switch (kind) {
    case 0: out->dtype = integer_type(out->size, bits & 8); break;
    case 1:
        out->dtype = float_type(out->size, c);
        if (bits & 0x40)
            out->dtype = SK_DTYPE_NONE; /* VAX order */
        break;
    case 3: out->text = true; break;
    case 8: /* an enumeration is its base type; numpy's booleans are one over a byte */
        if (out->size == 1)
            out->dtype = SK_DTYPE_BOOL;
        break;
    case 9: out->text = out->variable = (bits & 15) == 1; break;
    default: break;
    }
    if (kind != 0 && kind != 1)
        out->big_endian = false;
    return SK_OK;
}

sk_status sk_hdf5_parse_space(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err)
{
    int version = (int)sk_hdf5_number(&c, 1), rank = (int)sk_hdf5_number(&c, 1);
    sk_hdf5_take(&c, 1);
    int kind = (int)sk_hdf5_number(&c, 1); /* version 2: 0 scalar, 1 simple, 2 nothing */
    if (version == 1)
        sk_hdf5_take(&c, 4);
    if ((version != 1 && version != 2) || rank > 32)
        return refuse(item->label, item->file, SK_ERR_FORMAT, "a damaged shape", err);
    item->shape = (sk_shape){.rank = rank <= SK_MAX_RANK ? rank : -1};
    item->count = version == 2 && kind == 2 ? 0 : 1;
    for (int i = 0; i < rank; i++) {
        uint64_t size = sk_hdf5_number(&c, 8);
        if (size > (uint64_t)1 << 48 || __builtin_mul_overflow(item->count, size, &item->count))
            return refuse(item->label, item->file, SK_ERR_FORMAT, "an impossible shape", err);
        if (i < SK_MAX_RANK)
            item->shape.dim[i] = (int64_t)size;
    }
    return c.bad ? refuse(item->label, item->file, SK_ERR_FORMAT, "a damaged shape", err) : SK_OK;
}

/* --- where the elements are --- */

static sk_status parse_chunked(sk_hdf5_cursor *c, sk_hdf5_item *item, sk_error *err)
{
    int rank = (int)sk_hdf5_number(c, 1) - 1; /* the last is the element's size */
    item->address = sk_hdf5_number(c, 8);
    if (c->bad || rank != item->shape.rank || rank < 1)
        return refuse(item->label, item->file, SK_ERR_FORMAT, "damaged chunks", err);
    for (int i = 0; i < rank; i++) {
        item->chunk[i] = (uint32_t)sk_hdf5_number(c, 4);
        if (item->chunk[i] == 0)
            return refuse(item->label, item->file, SK_ERR_FORMAT, "damaged chunks", err);
    }
    if (sk_hdf5_number(c, 4) != item->type.size || c->bad)
        return refuse(item->label, item->file, SK_ERR_FORMAT, "damaged chunks", err);
    return SK_OK;
}

sk_status sk_hdf5_parse_layout(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err)
{
    int version = (int)sk_hdf5_number(&c, 1);
    int kind = (int)sk_hdf5_number(&c, 1);
    if (version != 3 && !(version == 4 && kind != SK_HDF5_CHUNKED))
        return refuse(
            item->label, item->file, SK_ERR_UNSUPPORTED,
            "stored in an older or HDF5's newest way; rewrite the file with `h5repack --high=0 OLD NEW`",
            err);
    item->layout = (sk_hdf5_layout)kind;
    switch (kind) {
    case SK_HDF5_COMPACT: {
        uint64_t size = sk_hdf5_number(&c, 2);
        const uint8_t *data = sk_hdf5_take(&c, size);
        if (data)
            item->inside = (sk_hdf5_cursor){data, data + size, false};
        break;
    }
    case SK_HDF5_CONTIGUOUS:
        item->address = sk_hdf5_number(&c, 8);
        item->size = sk_hdf5_number(&c, 8);
        break;
    case SK_HDF5_CHUNKED: return parse_chunked(&c, item, err);
    default:
        item->outside = true; /* virtual: put together from other files */
        return SK_OK;
    }
    return c.bad ? refuse(item->label, item->file, SK_ERR_FORMAT, "a damaged layout", err) : SK_OK;
}

sk_status sk_hdf5_parse_filters(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err)
{
    int version = (int)sk_hdf5_number(&c, 1), count = (int)sk_hdf5_number(&c, 1);
    if (version == 1)
        sk_hdf5_take(&c, 6);
    if (c.bad || (version != 1 && version != 2) || count > SK_HDF5_MAX_FILTERS)
        return refuse(item->label, item->file, SK_ERR_FORMAT, "damaged filters", err);
    for (int i = 0; i < count; i++) {
        int id = (int)sk_hdf5_number(&c, 2);
        uint64_t name = version == 1 || id >= 256 ? sk_hdf5_number(&c, 2) : 0;
        sk_hdf5_take(&c, 2);
        uint64_t values = sk_hdf5_number(&c, 2);
        sk_hdf5_take(&c, version == 1 ? (name + 7) / 8 * 8 : name);
        sk_hdf5_take(&c, values * 4 + (version == 1 && values % 2 ? 4 : 0));
        if (c.bad)
            return refuse(item->label, item->file, SK_ERR_FORMAT, "damaged filters", err);
        if (id < 1 || id > 3)
            return refuse(
                item->label, item->file, SK_ERR_UNSUPPORTED,
                "compressed by a filter other than gzip; rewrite the file with `h5repack -f GZIP=4 OLD NEW`",
                err);
        item->filters[item->n_filters++].id = id;
    }
    return SK_OK;
}

/* --- the elements --- */

void sk_hdf5_parse_fill(sk_hdf5_cursor c, bool old, sk_hdf5_item *item)
{
    bool defined = true;
    if (!old) {
        const int version = (int)sk_hdf5_number(&c, 1);
        c.bad = c.bad || version < 1 || version > 3;
        if (version == 3) {
            defined = sk_hdf5_number(&c, 1) & 0x20;
        } else {
            sk_hdf5_take(&c, 2); /* when space is made, and when it is filled */
            defined = sk_hdf5_number(&c, 1) != 0;
        }
    }
    const uint32_t size = defined ? (uint32_t)sk_hdf5_number(&c, 4) : 0;
    if (!c.bad && (size == 0 || size >= 0x80000000)) /* the library's own: zeros */
        return;
    item->fill = size == item->type.size ? sk_hdf5_take(&c, size) : NULL;
    item->fill_damaged = !item->fill;
}

sk_status sk_hdf5_raw(const sk_hdf5_item *item, uint64_t max_bytes, const uint8_t **bytes, sk_blob **hold,
                      sk_error *err)
{
    uint64_t total;
    *bytes = NULL;
    *hold = NULL;
    if (item->outside)
        return refuse(item->label, item->file, SK_ERR_UNSUPPORTED,
                      "its data lies outside this file, which is not followed", err);
    if (__builtin_mul_overflow(item->count, (uint64_t)item->type.size, &total) || total > max_bytes)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s: %llu elements, more than the %llu bytes allowed here",
                       item->file->what, item->label, (unsigned long long)item->count,
                       (unsigned long long)max_bytes);
    sk_hdf5_cursor c = item->inside;
    if (item->layout == SK_HDF5_CONTIGUOUS && item->address != SK_HDF5_UNDEFINED)
        c = sk_hdf5_view(item->file, item->address, total);
    bool written = item->layout == SK_HDF5_COMPACT || item->address != SK_HDF5_UNDEFINED;
    if (item->layout != SK_HDF5_CHUNKED && written) {
        *bytes = sk_hdf5_take(&c, total);
        return *bytes ? SK_OK : refuse(item->label, item->file, SK_ERR_FORMAT, "its data is cut short", err);
    }
    if (total > sk_allowance_of_file(item->file->length)) /* a file of some kilobytes can claim any shape */
        return sk_allowance_fail(err, total, "%s: %s: %llu MiB that the file of %llu KiB does not hold",
                                 item->file->what, item->label, (unsigned long long)(total >> 20),
                                 (unsigned long long)(item->file->length >> 10));
    if (item->fill_damaged)
        return refuse(item->label, item->file, SK_ERR_FORMAT, "its fill value is damaged", err);
    SK_TRY(sk_blob_alloc((size_t)total, hold, err)); /* zeros */
    *bytes = sk_blob_data(*hold);
    for (uint64_t i = 0; item->fill && i < item->count; i++)
        memcpy((uint8_t *)sk_blob_data(*hold) + i * item->type.size, item->fill, item->type.size);
    sk_status status = written && total ? sk_hdf5_read_chunks(item, sk_blob_data(*hold), err) : SK_OK;
    if (status != SK_OK)
        sk_blob_unref(hold);
    return status;
}
