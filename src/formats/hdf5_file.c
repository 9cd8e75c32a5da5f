/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5_format.h"

#include "base/allowance.h"
#include "base/file.h"
#include "base/object.h"

#include <stdio.h>
#include <string.h>

#define MAX_TEXT_BYTES ((size_t)256 << 20)
#define MAX_TEXTS      ((size_t)1 << 20)

/* --- opening --- */

/* The superblock may lie behind a user block of 512, 1024 … bytes. */
static bool find_superblock(sk_hdf5_file *f)
{
    static const uint8_t signature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    for (uint64_t at = 0; at + sizeof signature <= f->length; at = at ? at * 2 : 512)
        if (memcmp(f->bytes + at, signature, sizeof signature) == 0) {
            f->base = at;
            return true;
        }
    return false;
}

static sk_status read_superblock(sk_hdf5_file *f, sk_error *err)
{
    if (!find_superblock(f))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not an HDF5 file%s", f->what,
                       f->length >= 8 && memcmp(f->bytes, "version ", 8) == 0
                           ? " but a git-lfs pointer; run `git lfs pull` where it came from"
                           : "");
    sk_hdf5_cursor c = sk_hdf5_view(f, 8, f->length - f->base - 8);
    int version = (int)sk_hdf5_number(&c, 1);
    bool old = version < 2;
    sk_hdf5_take(&c, old ? 4 : 0);
    int offsets = (int)sk_hdf5_number(&c, 1), lengths = (int)sk_hdf5_number(&c, 1);
    sk_hdf5_take(&c, version == 0 ? 9 : version == 1 ? 13 : 1);
    sk_hdf5_take(&c, 8); /* base address */
    sk_hdf5_take(&c, 8); /* free space, or the superblock's extension */
    uint64_t end = sk_hdf5_number(&c, 8);
    sk_hdf5_take(&c, old ? 16 : 0); /* driver information; the root's name */
    f->root = sk_hdf5_number(&c, 8);
    if (c.bad || version > 3)
        return sk_fail(err, SK_ERR_FORMAT, "%s: an HDF5 file of unknown version, or cut short", f->what);
    if (offsets != 8 || lengths != 8)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: an HDF5 file with addresses of %d bytes; 8 are read",
                       f->what, offsets);
    if (end > f->length)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: cut short: %llu of %llu bytes are there; copy the original file again", f->what,
                       (unsigned long long)f->length, (unsigned long long)end);
    return SK_OK;
}

static sk_status open_bytes(sk_blob *map, const void *bytes, size_t length, const char *what,
                            sk_hdf5_file **out, sk_error *err)
{
    sk_hdf5_file *f = sk_calloc(1, sizeof *f);
    if (!f)
        return sk_fail_memory(err, sizeof *f);
    f->bytes = bytes;
    f->length = length;
    f->what = sk_strdup(what);
    sk_status status = f->what ? read_superblock(f, err) : sk_fail_memory(err, strlen(what));
    if (status != SK_OK) {
        sk_hdf5_close(&f);
        return status;
    }
    f->map = sk_blob_ref(map);
    *out = f;
    return SK_OK;
}

sk_status sk_hdf5_open(const char *path, sk_hdf5_file **out, sk_error *err)
{
    SK_CHECK_ARG(path && out, err);
    *out = NULL;
    sk_blob *map;
    SK_TRY(sk_file_load(path, &map, err));
    sk_status status = open_bytes(map, sk_blob_data(map), sk_blob_bytes(map), path, out, err);
    sk_blob_unref(&map);
    return status;
}

sk_status sk_hdf5_open_memory(const void *bytes, size_t length, const char *what, sk_hdf5_file **out,
                              sk_error *err)
{
    SK_CHECK_ARG(bytes && what && out, err);
    *out = NULL;
    return open_bytes(NULL, bytes, length, what, out, err);
}

void sk_hdf5_close(sk_hdf5_file **file)
{
    SK_TAKE_OR_RETURN(f, file);
    sk_blob_unref(&f->map);
    sk_free_all(f->what, f);
}

/* --- datasets --- */

static const char *plain_path(const char *path)
{
    return *path == '/' ? path + 1 : path;
}

typedef struct {
    sk_hdf5_cursor type, space, layout, filters, fill;
    bool has_type, has_space, has_layout, has_filters, has_fill, old_fill, external, shared;
} dataset_messages;

static bool see_dataset_message(void *context, int type, int flags, sk_hdf5_cursor data)
{
    dataset_messages *m = context;
    bool shared = flags & 2; /* the message itself lies elsewhere */
    switch (type) {
    case SK_HDF5_MSG_TYPE:
        m->type = data;
        m->has_type = true;
        m->shared = m->shared || shared;
        break;
    case SK_HDF5_MSG_SPACE:
        m->space = data;
        m->has_space = true;
        m->shared = m->shared || shared;
        break;
    case SK_HDF5_MSG_LAYOUT:
        m->layout = data;
        m->has_layout = true;
        break;
    case SK_HDF5_MSG_FILTERS:
        m->filters = data;
        m->has_filters = true;
        m->shared = m->shared || shared;
        break;
    case SK_HDF5_MSG_OLD_FILL: /* files may have both forms: the newer counts */
    case SK_HDF5_MSG_FILL:
        if (m->has_fill && type == SK_HDF5_MSG_OLD_FILL)
            break;
        m->fill = data;
        m->has_fill = true;
        m->old_fill = type == SK_HDF5_MSG_OLD_FILL;
        m->shared = m->shared || shared;
        break;
    case SK_HDF5_MSG_EXTERNAL: m->external = true; break;
    default: break;
    }
    return true;
}

static sk_status open_dataset(sk_hdf5_file *file, const char *path, sk_hdf5_item *item, sk_error *err)
{
    *item = (sk_hdf5_item){.file = file, .layout = SK_HDF5_COMPACT, .address = SK_HDF5_UNDEFINED};
    snprintf(item->label, sizeof item->label, "dataset /%.250s", plain_path(path));
    uint64_t address;
    dataset_messages m = {0};
    SK_TRY(sk_hdf5_locate(file, path, &address, err));
    SK_TRY(sk_hdf5_messages(file, address, see_dataset_message, &m, err));
    if (!m.has_type || !m.has_space || !m.has_layout)
        return sk_fail(err, SK_ERR_FORMAT, "%s: /%.250s is not a dataset", file->what, plain_path(path));
    if (m.shared)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: %s: a named or shared type, which is not read",
                       file->what, item->label);
    item->type_bytes = m.type;
    SK_TRY(sk_hdf5_parse_type(m.type, &item->type, item->label, err));
    SK_TRY(sk_hdf5_parse_space(m.space, item, err));
    SK_TRY(sk_hdf5_parse_layout(m.layout, item, err));
    if (m.has_filters)
        SK_TRY(sk_hdf5_parse_filters(m.filters, item, err));
    if (m.has_fill)
        sk_hdf5_parse_fill(m.fill, m.old_fill, item);
    item->outside = item->outside || m.external;
    return SK_OK;
}

/* --- attributes --- */

typedef struct {
    const char *name;
    sk_hdf5_cursor data;
    bool found, dense;
} wanted_attribute;

static uint64_t padded(int version, uint64_t size)
{
    return version == 1 ? (size + 7) / 8 * 8 : size;
}

static bool match_attribute(void *context, int type, int flags, sk_hdf5_cursor data)
{
    wanted_attribute *w = context;
    if (type == SK_HDF5_MSG_ATTRIBUTE_INFO) {
        sk_hdf5_take(&data, 1);
        int info = (int)sk_hdf5_number(&data, 1);
        sk_hdf5_take(&data, info & 1 ? 2 : 0);
        w->dense = sk_hdf5_number(&data, 8) != SK_HDF5_UNDEFINED;
    }
    if (type != SK_HDF5_MSG_ATTRIBUTE || flags & 2)
        return true;
    sk_hdf5_cursor c = data;
    int version = (int)sk_hdf5_number(&c, 1);
    sk_hdf5_take(&c, 1);
    uint64_t name_size = sk_hdf5_number(&c, 2);
    sk_hdf5_take(&c, version == 3 ? 5 : 4);
    const char *name = (const char *)sk_hdf5_take(&c, name_size);
    if (!name || strnlen(name, (size_t)name_size) != strlen(w->name) ||
        memcmp(name, w->name, strlen(w->name)) != 0)
        return true;
    w->data = data;
    w->found = true;
    return false;
}

static sk_status parse_attribute(sk_hdf5_cursor c, sk_hdf5_item *item, sk_error *err)
{
    int version = (int)sk_hdf5_number(&c, 1), flags = (int)sk_hdf5_number(&c, 1);
    uint64_t name_size = sk_hdf5_number(&c, 2), type_size = sk_hdf5_number(&c, 2),
             space_size = sk_hdf5_number(&c, 2);
    sk_hdf5_take(&c, version == 3 ? 1 : 0);
    sk_hdf5_take(&c, padded(version, name_size));
    sk_hdf5_cursor type = c;
    sk_hdf5_take(&c, padded(version, type_size));
    sk_hdf5_cursor space = c;
    sk_hdf5_take(&c, padded(version, space_size));
    if (c.bad || version < 1 || version > 3)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: damaged", item->file->what, item->label);
    if (version > 1 && flags & 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: %s: a named or shared type, which is not read",
                       item->file->what, item->label);
    type.end = type.at + type_size;
    space.end = space.at + space_size;
    SK_TRY(sk_hdf5_parse_type(type, &item->type, item->label, err));
    SK_TRY(sk_hdf5_parse_space(space, item, err));
    item->layout = SK_HDF5_COMPACT;
    item->inside = c;
    return SK_OK;
}

static sk_status open_attribute(sk_hdf5_file *file, const char *path, const char *name, sk_hdf5_item *item,
                                sk_error *err)
{
    *item = (sk_hdf5_item){.file = file};
    snprintf(item->label, sizeof item->label, "attribute \"%.100s\" of /%.150s", name, plain_path(path));
    uint64_t address;
    wanted_attribute wanted = {.name = name};
    SK_TRY(sk_hdf5_locate(file, path, &address, err));
    SK_TRY(sk_hdf5_messages(file, address, match_attribute, &wanted, err));
    if (!wanted.found && wanted.dense)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: %s: stored in HDF5's newest way (fractal heap); rewrite the file with `h5repack "
                       "--high=0 OLD "
                       "NEW`",
                       file->what, item->label);
    if (!wanted.found)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: %s: missing", file->what, item->label);
    return parse_attribute(wanted.data, item, err);
}

bool sk_hdf5_exists(sk_hdf5_file *file, const char *path)
{
    uint64_t address;
    return sk_hdf5_locate(file, path, &address, NULL) == SK_OK;
}

bool sk_hdf5_has_attribute(sk_hdf5_file *file, const char *path, const char *name)
{
    uint64_t address;
    wanted_attribute wanted = {.name = name};
    return sk_hdf5_locate(file, path, &address, NULL) == SK_OK &&
           sk_hdf5_messages(file, address, match_attribute, &wanted, NULL) == SK_OK && wanted.found;
}

/* --- texts --- */

static sk_status append_text(sk_hdf5_texts *texts, size_t *capacity, const char *text, size_t length,
                             sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&texts->bytes, capacity, texts->length + length + 1, 1, MAX_TEXT_BYTES,
                            err));
    memcpy(texts->bytes + texts->length, text, length);
    texts->bytes[texts->length + length] = '\0';
    texts->length += length + 1;
    texts->count++;
    return SK_OK;
}

/* An object of a global heap: where texts of variable length are kept. */
static sk_hdf5_cursor heap_object(sk_hdf5_file *file, uint64_t address, uint64_t wanted)
{
    static const sk_hdf5_cursor nothing = {NULL, NULL, true};
    sk_hdf5_cursor c = sk_hdf5_view(file, address, 16);
    const uint8_t *signature = sk_hdf5_take(&c, 4);
    sk_hdf5_take(&c, 4);
    uint64_t size = sk_hdf5_number(&c, 8);
    if (c.bad || memcmp(signature, "GCOL", 4) != 0 || size < 16)
        return nothing;
    c = sk_hdf5_view(file, address, size);
    sk_hdf5_take(&c, 16);
    while (sk_hdf5_left(&c) >= 16 && sk_hdf5_work(file, 1)) {
        uint64_t index = sk_hdf5_number(&c, 2);
        sk_hdf5_take(&c, 6);
        uint64_t length = sk_hdf5_number(&c, 8);
        if (index == 0)
            break; /* the free space at the end */
        const uint8_t *data = sk_hdf5_take(&c, length);
        if (data && index == wanted)
            return (sk_hdf5_cursor){data, data + length, false};
        sk_hdf5_take(&c, (8 - length % 8) % 8);
    }
    return nothing;
}

static sk_status variable_text(const sk_hdf5_item *item, const uint8_t *element, sk_hdf5_cursor *text,
                               sk_error *err)
{
    sk_hdf5_cursor c = {element, element + 16, false};
    uint64_t length = sk_hdf5_number(&c, 4), heap = sk_hdf5_number(&c, 8), index = sk_hdf5_number(&c, 4);
    *text = (sk_hdf5_cursor){element, element, false};
    if (length == 0 || heap == 0 || heap == SK_HDF5_UNDEFINED)
        return SK_OK;
    *text = heap_object(item->file, heap, index);
    if (text->bad || (uint64_t)(text->end - text->at) < length)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: a text is missing", item->file->what, item->label);
    text->end = text->at + length;
    return SK_OK;
}

static sk_status collect_texts(const sk_hdf5_item *item, const uint8_t *bytes, sk_hdf5_texts *out,
                               sk_error *err)
{
    size_t capacity = 0;
    for (uint64_t i = 0; i < item->count; i++, bytes += item->type.size) {
        sk_hdf5_cursor text = {bytes, bytes + item->type.size, false};
        if (item->type.variable)
            SK_TRY(variable_text(item, bytes, &text, err));
        size_t room = (size_t)(text.end - text.at);
        SK_TRY(append_text(out, &capacity, (const char *)text.at, strnlen((const char *)text.at, room), err));
    }
    return SK_OK;
}

static sk_status read_texts(const sk_hdf5_item *item, sk_hdf5_texts *out, sk_error *err)
{
    if (item->count == 0)
        return SK_OK; /* whatever the type: numpy writes an empty list of names as floats */
    if (!item->type.text || (item->type.variable && item->type.size != 16))
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: text was expected here", item->file->what, item->label);
    if (item->count > MAX_TEXTS)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s: more texts than are read", item->file->what, item->label);
    const uint8_t *bytes;
    sk_blob *hold;
    SK_TRY(sk_hdf5_raw(item, MAX_TEXT_BYTES, &bytes, &hold, err));
    sk_status status = collect_texts(item, bytes, out, err);
    sk_blob_unref(&hold);
    if (status != SK_OK) {
        sk_free(out->bytes);
        *out = (sk_hdf5_texts){0};
    }
    return status;
}

sk_status sk_hdf5_attribute_texts(sk_hdf5_file *file, const char *path, const char *name, sk_hdf5_texts *out,
                                  sk_error *err)
{
    *out = (sk_hdf5_texts){0};
    sk_hdf5_item item;
    SK_TRY(open_attribute(file, path, name, &item, err));
    return read_texts(&item, out, err);
}

sk_status sk_hdf5_attribute_text(sk_hdf5_file *file, const char *path, const char *name, char **out,
                                 sk_error *err)
{
    *out = NULL;
    sk_hdf5_texts texts;
    SK_TRY(sk_hdf5_attribute_texts(file, path, name, &texts, err));
    if (texts.count != 1) {
        sk_free(texts.bytes);
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: attribute \"%.100s\" of /%.150s: one text was expected, not %zu", file->what,
                       name, plain_path(path), texts.count);
    }
    *out = texts.bytes;
    return SK_OK;
}

sk_status sk_hdf5_dataset_texts(sk_hdf5_file *file, const char *path, sk_hdf5_texts *out, sk_error *err)
{
    *out = (sk_hdf5_texts){0};
    sk_hdf5_item item;
    SK_TRY(open_dataset(file, path, &item, err));
    return read_texts(&item, out, err);
}

const char *sk_hdf5_text_at(const sk_hdf5_texts *texts, size_t index)
{
    if (index >= texts->count)
        return NULL;
    const char *text = texts->bytes;
    while (index-- > 0)
        text += strlen(text) + 1;
    return text;
}

/* --- numbers --- */

static void swap_bytes(uint8_t *bytes, uint64_t count, uint32_t size)
{
    for (uint64_t i = 0; i < count; i++, bytes += size)
        for (uint32_t a = 0, b = size - 1; a < b; a++, b--) {
            uint8_t kept = bytes[a];
            bytes[a] = bytes[b];
            bytes[b] = kept;
        }
}

/* What is handed out is kept by whoever asked; all of it together has a bound too. */
static sk_status spend(const sk_hdf5_item *item, uint64_t bytes, sk_error *err)
{
    uint64_t given = atomic_fetch_add(&item->file->given, bytes) + bytes;
    if (given <= sk_allowance_of_file(item->file->length))
        return SK_OK;
    return sk_allowance_fail(err, given, "%s: %s: with it %llu MiB come out of a file of %llu KiB",
                             item->file->what, item->label, (unsigned long long)(given >> 20),
                             (unsigned long long)(item->file->length >> 10));
}

static sk_status read_numbers(const sk_hdf5_item *item, sk_dtype to, size_t max_bytes, sk_blob **out,
                              sk_error *err)
{
    size_t element = sk_dtype_bytes(to), bytes;
    if (item->type.dtype == SK_DTYPE_NONE)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: numbers were expected here", item->file->what,
                       item->label);
    if (!sk_mul_size((size_t)item->count, element, &bytes) || bytes > max_bytes)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s: %llu elements, more than the %zu bytes allowed here",
                       item->file->what, item->label, (unsigned long long)item->count, max_bytes);
    const uint8_t *raw;
    sk_blob *hold, *turned = NULL;
    sk_status status;
    *out = NULL;
    SK_TRY(spend(item, bytes, err));
    SK_TRY(sk_hdf5_raw(item, (uint64_t)item->count * 8, &raw, &hold, err));
    SK_TRY_GOTO(sk_blob_alloc(bytes, out, err));
    if (item->count == 0)
        goto done;
    /* Turned or aligned in a copy of its own: the file's bytes are not ours and lie anywhere. */
    SK_TRY_GOTO(sk_blob_alloc((size_t)item->count * item->type.size, &turned, err));
    memcpy(sk_blob_data(turned), raw, (size_t)item->count * item->type.size);
    if (item->type.big_endian)
        swap_bytes(sk_blob_data(turned), item->count, item->type.size);
    sk_convert(item->type.dtype, sk_blob_data(turned), to, sk_blob_data(*out), (size_t)item->count);
done:
    sk_blob_unref(&turned);
    sk_blob_unref(&hold);
    if (status != SK_OK)
        sk_blob_unref(out);
    return status;
}

sk_status sk_hdf5_attribute_real(sk_hdf5_file *file, const char *path, const char *name, double *out,
                                 sk_error *err)
{
    sk_hdf5_item item;
    sk_blob *blob;
    SK_TRY(open_attribute(file, path, name, &item, err));
    if (item.count != 1 || item.type.dtype == SK_DTYPE_NONE)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %s: one number was expected here", file->what, item.label);
    SK_TRY(read_numbers(&item, SK_DTYPE_F64, sizeof *out, &blob, err));
    memcpy(out, sk_blob_data(blob), sizeof *out);
    sk_blob_unref(&blob);
    return SK_OK;
}

static sk_status check_rank(const sk_hdf5_item *item, sk_error *err)
{
    if (item->shape.rank < 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: %s: more dimensions than are read", item->file->what,
                       item->label);
    return SK_OK;
}

sk_status sk_hdf5_dataset_info(sk_hdf5_file *file, const char *path, sk_dtype *dtype, sk_shape *shape,
                               sk_error *err)
{
    sk_hdf5_item item;
    SK_TRY(open_dataset(file, path, &item, err));
    SK_TRY(check_rank(&item, err));
    *dtype = item.type.dtype;
    *shape = item.shape;
    return SK_OK;
}

sk_status sk_hdf5_dataset_read(sk_hdf5_file *file, const char *path, sk_dtype to, size_t max_bytes,
                               sk_blob **out, sk_shape *shape, sk_error *err)
{
    *out = NULL;
    sk_hdf5_item item;
    SK_TRY(open_dataset(file, path, &item, err));
    SK_TRY(check_rank(&item, err));
    SK_TRY(read_numbers(&item, to, max_bytes, out, err));
    if (shape)
        *shape = item.shape;
    return SK_OK;
}

sk_status sk_hdf5_dataset_column(sk_hdf5_file *file, const char *path, const char *column, sk_dtype to,
                                 size_t max_bytes, sk_blob **out, size_t *count, sk_error *err)
{
    *out = NULL;
    *count = 0;
    sk_hdf5_item item;
    sk_hdf5_type type;
    uint32_t offset;
    SK_TRY(open_dataset(file, path, &item, err));
    SK_TRY(sk_hdf5_find_member(&item, column, &type, &offset, err));
    size_t bytes;
    if (!sk_mul_size((size_t)item.count, sk_dtype_bytes(to), &bytes) || bytes > max_bytes)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %s: %llu rows, more than the %zu bytes allowed here",
                       file->what, item.label, (unsigned long long)item.count, max_bytes);
    const uint8_t *raw;
    sk_blob *hold = NULL, *dense = NULL;
    sk_status status = SK_OK;
    SK_TRY(spend(&item, bytes, err));
    /* As large as the column would be if all columns were: a table is read whole to have one of them. */
    SK_TRY(sk_hdf5_raw(&item, (uint64_t)max_bytes * 8, &raw, &hold, err));
    SK_TRY_GOTO(sk_blob_alloc(bytes, out, err));
    SK_TRY_GOTO(sk_blob_alloc((size_t)item.count * type.size, &dense, err));
    uint8_t *to_bytes = sk_blob_data(dense);
    for (uint64_t i = 0; i < item.count; i++)
        memcpy(to_bytes + i * type.size, raw + i * item.type.size + offset, type.size);
    if (type.big_endian)
        swap_bytes(to_bytes, item.count, type.size);
    if (item.count)
        sk_convert(type.dtype, to_bytes, to, sk_blob_data(*out), (size_t)item.count);
    *count = (size_t)item.count;
done:
    sk_blob_unref(&dense);
    sk_blob_unref(&hold);
    if (status != SK_OK)
        sk_blob_unref(out);
    return status;
}

/* --- members --- */

typedef struct {
    sk_hdf5_texts *texts;
    size_t capacity;
    sk_status status;
    sk_error *err;
} member_list;

static bool add_member(void *context, const char *name, size_t length, uint64_t address)
{
    (void)address;
    member_list *list = context;
    if (list->texts->count >= MAX_TEXTS)
        list->status = sk_fail(list->err, SK_ERR_LIMIT, "more than %zu members in a group", MAX_TEXTS);
    else
        list->status = append_text(list->texts, &list->capacity, name, length, list->err);
    return list->status == SK_OK;
}

sk_status sk_hdf5_members(sk_hdf5_file *file, const char *path, sk_hdf5_texts *out, sk_error *err)
{
    *out = (sk_hdf5_texts){0};
    uint64_t address;
    bool is_group = false;
    SK_TRY(sk_hdf5_locate(file, path, &address, err));
    member_list list = {out, 0, SK_OK, err};
    sk_status status = sk_hdf5_links(file, address, add_member, &list, &is_group, err);
    if (status == SK_OK)
        status = list.status;
    if (status == SK_OK && !is_group)
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: /%.250s is not a group", file->what, plain_path(path));
    if (status != SK_OK) {
        sk_free(out->bytes);
        *out = (sk_hdf5_texts){0};
    }
    return status;
}
