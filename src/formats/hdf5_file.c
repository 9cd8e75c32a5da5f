/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5_file.h"

#include <errno.h>
#include <hdf5.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MAX_TEXT_BYTES ((size_t)256 << 20)
#define MAX_MEMBERS ((size_t)1 << 20)

struct sk_hdf5_file {
    hid_t id;
    char *what;
};

/* --- the lock and the library's global state --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static H5E_auto2_t saved_printer;
static void *saved_printer_data;
static unsigned saved_plugins;

void sk_hdf5_enter(void)
{
    pthread_mutex_lock(&lock);
    H5open();
    H5Eget_auto2(H5E_DEFAULT, &saved_printer, &saved_printer_data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    if (H5PLget_loading_state(&saved_plugins) < 0)
        saved_plugins = H5PL_ALL_PLUGIN;
    H5PLset_loading_state(0);
}

void sk_hdf5_leave(void)
{
    H5PLset_loading_state(saved_plugins);
    H5Eset_auto2(H5E_DEFAULT, saved_printer, saved_printer_data);
    pthread_mutex_unlock(&lock);
}

/* Why the library refused: the innermost entry of its error stack. */
static herr_t innermost(unsigned depth, const H5E_error2_t *entry, void *text)
{
    (void)depth;
    if (entry->desc && *entry->desc)
        snprintf(text, 160, "%s", entry->desc);
    return 1; /* stop at the first, which walking upward is the innermost */
}

static const char *reason(char text[160])
{
    strcpy(text, "no reason given");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, text);
    return text;
}

/* --- opening --- */

static sk_status open_with(hid_t fapl, const char *name, const char *what, sk_hdf5_file **out, sk_error *err)
{
    char why[160];
    sk_hdf5_file *file = sk_calloc(1, sizeof *file);
    char *what_copy = sk_strdup(what);
    if (!file || !what_copy) {
        sk_free(file);
        sk_free(what_copy);
        return sk_fail_memory(err, sizeof *file);
    }
    file->what = what_copy;
    file->id = H5Fopen(name, H5F_ACC_RDONLY, fapl);
    if (file->id < 0) {
        sk_status status = sk_fail(err, SK_ERR_FORMAT,
                                   "%s: not a readable HDF5 file, or cut short (%s); copy the original file again",
                                   what, reason(why));
        sk_free(file->what);
        sk_free(file);
        return status;
    }
    *out = file;
    return SK_OK;
}

sk_status sk_hdf5_open(const char *path, sk_hdf5_file **out, sk_error *err)
{
    SK_CHECK_ARG(path && out, err);
    *out = NULL;
    FILE *probe = fopen(path, "rb"); /* tells a missing file from a foreign one */
    if (!probe)
        return sk_fail(err, SK_ERR_IO, "%s: %s", path, strerror(errno));
    char magic[8] = {0};
    size_t got = fread(magic, 1, sizeof magic, probe);
    fclose(probe);
    if (got < sizeof magic)
        return sk_fail(err, SK_ERR_FORMAT, "%s: only %zu bytes, not an HDF5 file", path, got);
    if (memcmp(magic, "version ", 8) == 0)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: a git-lfs pointer, not the file itself; run `git lfs pull` where it came from", path);
    sk_hdf5_enter();
    sk_status status = open_with(H5P_DEFAULT, path, path, out, err);
    sk_hdf5_leave();
    return status;
}

sk_status sk_hdf5_open_memory(const void *bytes, size_t length, const char *what, sk_hdf5_file **out, sk_error *err)
{
    SK_CHECK_ARG(bytes && what && out, err);
    *out = NULL;
    if (length < 8)
        return sk_fail(err, SK_ERR_FORMAT, "%s: only %zu bytes, not an HDF5 file", what, length);
    sk_hdf5_enter();
    sk_status status;
    hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);
    if (fapl < 0 || H5Pset_fapl_core(fapl, 65536, 0) < 0 || H5Pset_file_image(fapl, (void *)bytes, length) < 0)
        status = sk_fail_memory(err, length);
    else
        status = open_with(fapl, "image", what, out, err);
    if (fapl >= 0)
        H5Pclose(fapl);
    sk_hdf5_leave();
    return status;
}

void sk_hdf5_close(sk_hdf5_file **file)
{
    if (!file || !*file)
        return;
    sk_hdf5_enter();
    H5Fclose((*file)->id);
    sk_hdf5_leave();
    sk_free((*file)->what);
    sk_free(*file);
    *file = NULL;
}

/* --- objects (under the lock from here on) --- */

static bool is_root(const char *path)
{
    return path[0] == '\0' || strcmp(path, "/") == 0;
}

/* Every link on the way exists and is a plain one: soft and external links may lead out of the file. */
static bool reachable(hid_t file, const char *path)
{
    char prefix[1024];
    size_t length = strlen(path);
    if (length >= sizeof prefix)
        return false;
    for (size_t i = 1; i <= length; i++) {
        if (i < length && path[i] != '/')
            continue;
        memcpy(prefix, path, i);
        prefix[i] = '\0';
        H5L_info_t info;
        if (prefix[i - 1] == '/')
            continue;
        if (H5Lexists(file, prefix, H5P_DEFAULT) <= 0 || H5Lget_info(file, prefix, &info, H5P_DEFAULT) < 0 ||
            info.type != H5L_TYPE_HARD)
            return false;
    }
    return true;
}

/* A group or dataset, or -1. */
static hid_t open_object(sk_hdf5_file *file, const char *path)
{
    if (is_root(path))
        return H5Oopen(file->id, "/", H5P_DEFAULT);
    return reachable(file->id, path) ? H5Oopen(file->id, path, H5P_DEFAULT) : -1;
}

bool sk_hdf5_exists(sk_hdf5_file *file, const char *path)
{
    sk_hdf5_enter();
    hid_t object = open_object(file, path);
    if (object >= 0)
        H5Oclose(object);
    sk_hdf5_leave();
    return object >= 0;
}

bool sk_hdf5_has_attribute(sk_hdf5_file *file, const char *path, const char *name)
{
    sk_hdf5_enter();
    hid_t object = open_object(file, path);
    bool found = object >= 0 && H5Aexists(object, name) > 0;
    if (object >= 0)
        H5Oclose(object);
    sk_hdf5_leave();
    return found;
}

/* What attributes and datasets have in common, so that both read alike. */
typedef struct {
    hid_t object, id, type, space;
    bool is_attribute;
    hssize_t count;
    const char *file, *path, *name; /* for errors; name "" for datasets */
} item;

static void close_item(item *it)
{
    if (it->space >= 0)
        H5Sclose(it->space);
    if (it->type >= 0)
        H5Tclose(it->type);
    if (it->id >= 0 && it->is_attribute)
        H5Aclose(it->id);
    else if (it->id >= 0)
        H5Dclose(it->id);
    if (it->object >= 0)
        H5Oclose(it->object);
}

static sk_status item_problem(const item *it, sk_status code, const char *why, sk_error *err)
{
    char text[160];
    if (!why)
        why = reason(text);
    return it->is_attribute
               ? sk_fail(err, code, "%s: attribute \"%s\" of /%s: %s", it->file, it->name, it->path, why)
               : sk_fail(err, code, "%s: dataset /%s: %s", it->file, it->path, why);
}

static sk_status finish_item(item *it, sk_error *err)
{
    if (it->id < 0)
        return item_problem(it, SK_ERR_FORMAT, NULL, err);
    it->type = it->is_attribute ? H5Aget_type(it->id) : H5Dget_type(it->id);
    it->space = it->is_attribute ? H5Aget_space(it->id) : H5Dget_space(it->id);
    it->count = it->space >= 0 ? H5Sget_simple_extent_npoints(it->space) : -1;
    if (it->type < 0 || it->count < 0)
        return item_problem(it, SK_ERR_FORMAT, NULL, err);
    return SK_OK;
}

static sk_status open_attribute(sk_hdf5_file *file, const char *path, const char *name, item *it, sk_error *err)
{
    *it = (item){-1, -1, -1, -1, true, 0, file->what, path, name};
    it->object = open_object(file, path);
    if (it->object < 0)
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no /%s in this file", file->what, path);
    if (H5Aexists(it->object, name) <= 0)
        return item_problem(it, SK_ERR_NOT_FOUND, "missing", err);
    it->id = H5Aopen(it->object, name, H5P_DEFAULT);
    return finish_item(it, err);
}

/* Data that lies in other files would make a model folder reach anywhere on the disk. */
static bool data_is_inside(hid_t dataset)
{
    hid_t plist = H5Dget_create_plist(dataset);
    bool inside = plist >= 0 && H5Pget_external_count(plist) == 0 && H5Pget_layout(plist) != H5D_VIRTUAL;
    if (plist >= 0)
        H5Pclose(plist);
    return inside;
}

static sk_status open_dataset(sk_hdf5_file *file, const char *path, item *it, sk_error *err)
{
    *it = (item){-1, -1, -1, -1, false, 0, file->what, path, ""};
    if (is_root(path) || !reachable(file->id, path))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no dataset /%s in this file", file->what, path);
    it->id = H5Dopen2(file->id, path, H5P_DEFAULT);
    SK_TRY(finish_item(it, err));
    if (!data_is_inside(it->id))
        return item_problem(it, SK_ERR_UNSUPPORTED, "its data lies outside this file, which is not followed", err);
    return SK_OK;
}

static herr_t read_item(const item *it, hid_t memory_type, void *out)
{
    return it->is_attribute ? H5Aread(it->id, memory_type, out)
                            : H5Dread(it->id, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out);
}

/* --- strings --- */

static sk_status append_text(sk_hdf5_texts *texts, size_t *capacity, const char *text, size_t length, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&texts->bytes, capacity, texts->length + length + 1, 1, MAX_TEXT_BYTES, err));
    memcpy(texts->bytes + texts->length, text, length);
    texts->bytes[texts->length + length] = '\0';
    texts->length += length + 1;
    texts->count++;
    return SK_OK;
}

static sk_status read_variable_texts(const item *it, hid_t type, sk_hdf5_texts *out, sk_error *err)
{
    sk_status status = SK_OK;
    size_t capacity = 0, count = (size_t)it->count;
    char **pointers = sk_calloc(count, sizeof *pointers);
    if (!pointers)
        return sk_fail_memory(err, count * sizeof *pointers);
    if (read_item(it, type, pointers) < 0)
        status = item_problem(it, SK_ERR_FORMAT, NULL, err);
    for (size_t i = 0; status == SK_OK && i < count; i++) {
        const char *text = pointers[i] ? pointers[i] : "";
        status = append_text(out, &capacity, text, strlen(text), err);
    }
    H5Dvlen_reclaim(type, it->space, H5P_DEFAULT, pointers);
    sk_free(pointers);
    return status;
}

static sk_status read_fixed_texts(const item *it, size_t width, sk_hdf5_texts *out, sk_error *err)
{
    size_t bytes, capacity = 0;
    if (!sk_mul_size(width, (size_t)it->count, &bytes) || bytes > MAX_TEXT_BYTES)
        return item_problem(it, SK_ERR_LIMIT, "more text than is read", err);
    char *flat = sk_calloc(1, bytes + 1);
    if (!flat)
        return sk_fail_memory(err, bytes);
    sk_status status = SK_OK;
    if (read_item(it, it->type, flat) < 0)
        status = item_problem(it, SK_ERR_FORMAT, NULL, err);
    for (size_t i = 0; status == SK_OK && i < (size_t)it->count; i++)
        status = append_text(out, &capacity, flat + i * width, strnlen(flat + i * width, width), err);
    sk_free(flat);
    return status;
}

static sk_status read_texts(const item *it, sk_hdf5_texts *out, sk_error *err)
{
    *out = (sk_hdf5_texts){0};
    if (it->count == 0)
        return SK_OK; /* whatever the type: an empty list of names is written as floats by numpy */
    if (H5Tget_class(it->type) != H5T_STRING)
        return item_problem(it, SK_ERR_FORMAT, "text was expected here", err);
    if ((size_t)it->count > MAX_MEMBERS)
        return item_problem(it, SK_ERR_LIMIT, "more texts than are read", err);
    sk_status status;
    if (H5Tis_variable_str(it->type) > 0)
        status = read_variable_texts(it, it->type, out, err);
    else
        status = read_fixed_texts(it, H5Tget_size(it->type), out, err);
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
    item it;
    sk_hdf5_enter();
    sk_status status = open_attribute(file, path, name, &it, err);
    if (status == SK_OK)
        status = read_texts(&it, out, err);
    close_item(&it);
    sk_hdf5_leave();
    return status;
}

sk_status sk_hdf5_attribute_text(sk_hdf5_file *file, const char *path, const char *name, char **out, sk_error *err)
{
    *out = NULL;
    sk_hdf5_texts texts;
    SK_TRY(sk_hdf5_attribute_texts(file, path, name, &texts, err));
    if (texts.count != 1) {
        sk_free(texts.bytes);
        return sk_fail(err, SK_ERR_FORMAT, "%s: attribute \"%s\" of /%s: one text was expected, not %zu", file->what,
                       name, path, texts.count);
    }
    *out = texts.bytes;
    return SK_OK;
}

sk_status sk_hdf5_dataset_texts(sk_hdf5_file *file, const char *path, sk_hdf5_texts *out, sk_error *err)
{
    *out = (sk_hdf5_texts){0};
    item it;
    sk_hdf5_enter();
    sk_status status = open_dataset(file, path, &it, err);
    if (status == SK_OK)
        status = read_texts(&it, out, err);
    close_item(&it);
    sk_hdf5_leave();
    return status;
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

static sk_dtype dtype_of(hid_t type)
{
    H5T_class_t kind = H5Tget_class(type);
    size_t size = H5Tget_size(type);
    if (kind == H5T_FLOAT)
        return size == 2 ? SK_DTYPE_F16 : size == 4 ? SK_DTYPE_F32 : size == 8 ? SK_DTYPE_F64 : SK_DTYPE_NONE;
    if (kind == H5T_ENUM && size == 1)
        return SK_DTYPE_BOOL; /* numpy's booleans */
    if (kind != H5T_INTEGER)
        return SK_DTYPE_NONE;
    bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    switch (size) {
    case 1: return is_signed ? SK_DTYPE_I8 : SK_DTYPE_U8;
    case 2: return is_signed ? SK_DTYPE_I16 : SK_DTYPE_U16;
    case 4: return is_signed ? SK_DTYPE_I32 : SK_DTYPE_U32;
    case 8: return is_signed ? SK_DTYPE_I64 : SK_DTYPE_U64;
    default: return SK_DTYPE_NONE;
    }
}

static hid_t memory_type(sk_dtype dtype, size_t *bytes)
{
    switch (dtype) {
    case SK_DTYPE_F32: *bytes = 4; return H5T_NATIVE_FLOAT;
    case SK_DTYPE_F64: *bytes = 8; return H5T_NATIVE_DOUBLE;
    case SK_DTYPE_I8: *bytes = 1; return H5T_NATIVE_INT8;
    case SK_DTYPE_U8: *bytes = 1; return H5T_NATIVE_UINT8;
    case SK_DTYPE_I16: *bytes = 2; return H5T_NATIVE_INT16;
    case SK_DTYPE_U16: *bytes = 2; return H5T_NATIVE_UINT16;
    case SK_DTYPE_I32: *bytes = 4; return H5T_NATIVE_INT32;
    case SK_DTYPE_U32: *bytes = 4; return H5T_NATIVE_UINT32;
    case SK_DTYPE_I64: *bytes = 8; return H5T_NATIVE_INT64;
    case SK_DTYPE_U64: *bytes = 8; return H5T_NATIVE_UINT64;
    default: *bytes = 0; return -1;
    }
}

static sk_status shape_of(const item *it, sk_shape *shape, sk_error *err)
{
    hsize_t dims[H5S_MAX_RANK];
    int rank = H5Sget_simple_extent_ndims(it->space);
    if (rank < 0 || rank > SK_MAX_RANK || H5Sget_simple_extent_dims(it->space, dims, NULL) < 0)
        return item_problem(it, SK_ERR_UNSUPPORTED, "more dimensions than are read", err);
    *shape = (sk_shape){.rank = rank};
    for (int i = 0; i < rank; i++) {
        if (dims[i] > (hsize_t)INT64_MAX)
            return item_problem(it, SK_ERR_FORMAT, "an impossible size", err);
        shape->dim[i] = (int64_t)dims[i];
    }
    return SK_OK;
}

sk_status sk_hdf5_attribute_real(sk_hdf5_file *file, const char *path, const char *name, double *out, sk_error *err)
{
    item it;
    sk_hdf5_enter();
    sk_status status = open_attribute(file, path, name, &it, err);
    if (status == SK_OK && (it.count != 1 || dtype_of(it.type) == SK_DTYPE_NONE))
        status = item_problem(&it, SK_ERR_FORMAT, "one number was expected here", err);
    if (status == SK_OK && H5Aread(it.id, H5T_NATIVE_DOUBLE, out) < 0)
        status = item_problem(&it, SK_ERR_FORMAT, NULL, err);
    close_item(&it);
    sk_hdf5_leave();
    return status;
}

sk_status sk_hdf5_dataset_info(sk_hdf5_file *file, const char *path, sk_dtype *dtype, sk_shape *shape, sk_error *err)
{
    item it;
    sk_hdf5_enter();
    sk_status status = open_dataset(file, path, &it, err);
    if (status == SK_OK) {
        *dtype = dtype_of(it.type);
        status = shape_of(&it, shape, err);
    }
    close_item(&it);
    sk_hdf5_leave();
    return status;
}

static sk_status read_numbers(const item *it, sk_dtype to, size_t max_bytes, sk_blob **out, sk_error *err)
{
    size_t element, bytes;
    hid_t type = memory_type(to, &element);
    if (type < 0)
        return item_problem(it, SK_ERR_ARG, "cannot be converted to the type asked for", err);
    if (dtype_of(it->type) == SK_DTYPE_NONE)
        return item_problem(it, SK_ERR_FORMAT, "numbers were expected here", err);
    if (!sk_mul_size((size_t)it->count, element, &bytes) || bytes > max_bytes)
        return sk_fail(err, SK_ERR_LIMIT, "%s: dataset /%s: %lld elements, more than the %zu bytes allowed here",
                       it->file, it->path, (long long)it->count, max_bytes);
    SK_TRY(sk_blob_alloc(bytes, out, err));
    if (it->count > 0 && read_item(it, type, sk_blob_data(*out)) < 0) {
        sk_blob_unref(out);
        return item_problem(it, SK_ERR_FORMAT, NULL, err);
    }
    return SK_OK;
}

sk_status sk_hdf5_dataset_read(sk_hdf5_file *file, const char *path, sk_dtype to, size_t max_bytes, sk_blob **out,
                               sk_shape *shape, sk_error *err)
{
    *out = NULL;
    item it;
    sk_shape found;
    sk_hdf5_enter();
    sk_status status = open_dataset(file, path, &it, err);
    if (status == SK_OK)
        status = shape_of(&it, &found, err);
    if (status == SK_OK)
        status = read_numbers(&it, to, max_bytes, out, err);
    close_item(&it);
    sk_hdf5_leave();
    if (status == SK_OK && shape)
        *shape = found;
    return status;
}

/* --- members --- */

typedef struct {
    sk_hdf5_texts *texts;
    size_t capacity;
    sk_status status;
    sk_error *err;
} member_list;

static herr_t add_member(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    (void)group;
    (void)info;
    member_list *list = context;
    if (list->texts->count >= MAX_MEMBERS)
        list->status = sk_fail(list->err, SK_ERR_LIMIT, "more than %zu members in a group", MAX_MEMBERS);
    else
        list->status = append_text(list->texts, &list->capacity, name, strlen(name), list->err);
    return list->status == SK_OK ? 0 : -1;
}

sk_status sk_hdf5_members(sk_hdf5_file *file, const char *path, sk_hdf5_texts *out, sk_error *err)
{
    *out = (sk_hdf5_texts){0};
    sk_status status = SK_OK;
    sk_hdf5_enter();
    hid_t group = open_object(file, path);
    member_list list = {out, 0, SK_OK, err};
    if (group < 0 || H5Iget_type(group) != H5I_GROUP) {
        status = sk_fail(err, SK_ERR_NOT_FOUND, "%s: there is no group /%s in this file", file->what, path);
    } else if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, add_member, &list) < 0) {
        char why[160];
        status = list.status != SK_OK
                     ? list.status
                     : sk_fail(err, SK_ERR_FORMAT, "%s: group /%s: %s", file->what, path, reason(why));
    }
    if (group >= 0)
        H5Oclose(group);
    sk_hdf5_leave();
    if (status != SK_OK) {
        sk_free(out->bytes);
        *out = (sk_hdf5_texts){0};
    }
    return status;
}
