/* SPDX-License-Identifier: Apache-2.0 */
#include "base/allowance.h"
#include "base/transfer.h"
#include "formats/onnx_read.h"
#include "formats/onnx_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "ONNX raw data is little-endian and used as it is");

#define WIRE_TYPES 29

static const struct {
    const char *name;
    sk_dtype dtype;
} wire_types[WIRE_TYPES] = {
    {"undefined", SK_DTYPE_NONE},
    {"float32", SK_DTYPE_F32},
    {"uint8", SK_DTYPE_U8},
    {"int8", SK_DTYPE_I8},
    {"uint16", SK_DTYPE_U16},
    {"int16", SK_DTYPE_I16},
    {"int32", SK_DTYPE_I32},
    {"int64", SK_DTYPE_I64},
    {"string", SK_DTYPE_NONE},
    {"bool", SK_DTYPE_BOOL},
    {"float16", SK_DTYPE_F16},
    {"float64", SK_DTYPE_F64},
    {"uint32", SK_DTYPE_U32},
    {"uint64", SK_DTYPE_U64},
    {"complex64", SK_DTYPE_NONE},
    {"complex128", SK_DTYPE_NONE},
    {"bfloat16", SK_DTYPE_BF16},
    {"float8e4m3fn", SK_DTYPE_F8},
    {"float8e4m3fnuz", SK_DTYPE_NONE},
    {"float8e5m2", SK_DTYPE_NONE},
    {"float8e5m2fnuz", SK_DTYPE_NONE},
    {"uint4", SK_DTYPE_NONE},
    {"int4", SK_DTYPE_NONE},
    {"float4e2m1", SK_DTYPE_NONE},
    {"float8e8m0", SK_DTYPE_NONE},
    {"uint2", SK_DTYPE_NONE},
    {"int2", SK_DTYPE_NONE},
    {"float6e2m3", SK_DTYPE_NONE},
    {"float6e3m2", SK_DTYPE_NONE},
};

sk_dtype sk_onnx_dtype(int32_t type)
{
    return type > 0 && type < WIRE_TYPES ? wire_types[type].dtype : SK_DTYPE_NONE;
}

const char *sk_onnx_type_name(int32_t type)
{
    return type >= 0 && type < WIRE_TYPES ? wire_types[type].name : "of an unknown kind";
}

int32_t sk_onnx_type_of(sk_dtype dtype)
{
    for (int32_t i = 1; i < WIRE_TYPES; i++)
        if (wire_types[i].dtype == dtype && dtype != SK_DTYPE_NONE)
            return i;
    return 0;
}

/* --- data in the message --- */

/* The typed field an element type uses when there is no raw data: pointer, element count, width on the
 * wire. */
static void typed_field(const SkOnnx__Tensor *t, sk_dtype dtype, const void **data, size_t *count,
                        sk_dtype *wire)
{
    switch (dtype) {
    case SK_DTYPE_F32: *data = t->float_data, *count = t->n_float_data, *wire = SK_DTYPE_F32; break;
    case SK_DTYPE_F64: *data = t->double_data, *count = t->n_double_data, *wire = SK_DTYPE_F64; break;
    case SK_DTYPE_I64: *data = t->int64_data, *count = t->n_int64_data, *wire = SK_DTYPE_I64; break;
    case SK_DTYPE_U32:
    case SK_DTYPE_U64: *data = t->uint64_data, *count = t->n_uint64_data, *wire = SK_DTYPE_U64; break;
    default: *data = t->int32_data, *count = t->n_int32_data, *wire = SK_DTYPE_I32; break;
    }
}

/* Narrow types travel in wider integers; halves as their bits. Both keep the low bytes. */
static void narrow(const void *from, size_t from_bytes, void *to, size_t to_bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        memcpy((char *)to + i * to_bytes, (const char *)from + i * from_bytes, to_bytes);
}

static sk_status read_typed(sk_onnx_reader *r, const SkOnnx__Tensor *from, sk_onnx_tensor *to, size_t count,
                            sk_blob **blob)
{
    const void *data;
    size_t have;
    sk_dtype wire;
    typed_field(from, to->dtype, &data, &have, &wire);
    if (have != count)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: tensor '%s' holds %zu elements where its shape needs %zu",
                       r->what, to->name, have, count);
    SK_TRY(sk_blob_alloc(count * sk_dtype_bytes(to->dtype), blob, r->err));
    narrow(data, sk_dtype_bytes(wire), sk_blob_data(*blob), sk_dtype_bytes(to->dtype), count);
    return SK_OK;
}

static sk_status read_raw(sk_onnx_reader *r, SkOnnx__Tensor *from, const sk_onnx_tensor *to, size_t bytes,
                          sk_blob **blob)
{
    if (from->raw_data.len != bytes)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: tensor '%s' holds %zu bytes where its shape needs %zu",
                       r->what, to->name, from->raw_data.len, bytes);
    if (bytes < SK_ONNX_WIRE_ALIGNED) {
        SK_TRY(sk_blob_alloc(bytes, blob, r->err));
        if (bytes > 0)
            memcpy(sk_blob_data(*blob), from->raw_data.data, bytes);
        return SK_OK;
    }
    uint8_t *data = sk_onnx_wire_take(&from->raw_data);
    sk_status status = sk_blob_wrap(data, bytes, sk_free, data, blob, r->err);
    if (status != SK_OK)
        sk_free(data);
    return status;
}

/* --- data in a file beside the model --- */

typedef struct external {
    const char *location;
    uint64_t offset, length;
    bool has_length;
} external;

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *value <= INT64_MAX;
}

static sk_status parse_external(sk_onnx_reader *r, const SkOnnx__Tensor *from, const char *name, external *e)
{
    memset(e, 0, sizeof *e);
    for (size_t i = 0; i < from->n_external_data; i++) {
        const char *key = from->external_data[i]->key, *value = from->external_data[i]->value;
        bool fine = true;
        if (!key || !value)
            continue;
        if (strcmp(key, "location") == 0)
            e->location = value;
        else if (strcmp(key, "offset") == 0)
            fine = parse_count(value, &e->offset);
        else if (strcmp(key, "length") == 0)
            fine = e->has_length = parse_count(value, &e->length);
        if (!fine)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: tensor '%s': external data has the %s '%.60s'",
                           r->what, name, key, value);
    }
    if (!e->location || !*e->location)
        return sk_fail(r->err, SK_ERR_FORMAT, "%s: tensor '%s': external data without a location", r->what,
                       name);
    return SK_OK;
}

/* Absolute paths and any ".." are refused before the disk is asked. */
static bool location_stays_inside(const char *location)
{
    if (location[0] == '/' || strchr(location, '\\'))
        return false;
    for (const char *part = location; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

/* Opens the file if, links resolved, it still lies in the model's folder. */
static sk_status open_external(sk_onnx_reader *r, const char *name, const char *location, int *descriptor)
{
    char path[PATH_MAX], real_folder[PATH_MAX], real_path[PATH_MAX];
    if (!r->folder)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED,
                       "%s: tensor '%s' lies in the separate file '%s', which cannot be "
                       "reached from here; open the model by its path",
                       r->what, name, location);
    if (!location_stays_inside(location) ||
        snprintf(path, sizeof path, "%s/%s", r->folder, location) >= (int)sizeof path)
        return sk_fail(r->err, SK_ERR_FORMAT,
                       "%s: tensor '%s': external data at '%s' is outside the model's folder; "
                       "refused",
                       r->what, name, location);
    if (!realpath(r->folder, real_folder) || !realpath(path, real_path))
        return sk_fail(r->err, SK_ERR_NOT_FOUND,
                       "%s: tensor '%s': the external data file '%s' is missing (%s); copy "
                       "it beside the model",
                       r->what, name, path, strerror(errno));
    size_t length = strlen(real_folder);
    if (strncmp(real_path, real_folder, length) != 0 || (length > 1 && real_path[length] != '/'))
        return sk_fail(r->err, SK_ERR_FORMAT,
                       "%s: tensor '%s': external data '%s' links to '%s', outside the model's "
                       "folder; refused (copy the file there)",
                       r->what, name, location, real_path);
    *descriptor = open(real_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*descriptor < 0)
        return sk_fail(r->err, SK_ERR_IO, "%s: %s: %s", r->what, real_path, strerror(errno));
    return SK_OK;
}

static sk_status pread_all(int descriptor, void *data, size_t bytes, uint64_t offset, const char *path,
                           sk_error *err)
{
    size_t got = sk_read_all_at(descriptor, data, bytes, (int64_t)offset);
    if (got == bytes)
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "%s: read failed at byte %llu: %s", path,
                   (unsigned long long)(offset + got), errno ? strerror(errno) : "the file became shorter");
}

/* Read, not mapped: a mapping would crash the process if somebody shortened the file while a model is
 * open. */
static sk_status read_external(sk_onnx_reader *r, const SkOnnx__Tensor *from, const sk_onnx_tensor *to,
                               size_t bytes, sk_blob **blob)
{
    external e;
    int descriptor = -1;
    struct stat info;
    sk_status status = SK_OK;
    SK_TRY(parse_external(r, from, to->name, &e));
    if (e.has_length && e.length != bytes)
        return sk_fail(r->err, SK_ERR_FORMAT,
                       "%s: tensor '%s': external data of %llu bytes where its shape needs %zu", r->what,
                       to->name, (unsigned long long)e.length, bytes);
    SK_TRY(open_external(r, to->name, e.location, &descriptor));
    if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        status =
            sk_fail(r->err, SK_ERR_IO, "%s: external data '%s' is not a plain file", r->what, e.location);
        goto done;
    }
    if (e.offset > (uint64_t)info.st_size || bytes > (uint64_t)info.st_size - e.offset) {
        status = sk_fail(r->err, SK_ERR_FORMAT,
                         "%s: tensor '%s' needs bytes %llu to %llu of '%s', which has %lld; "
                         "download it again (with git lfs pull where it is an LFS pointer)",
                         r->what, to->name, (unsigned long long)e.offset,
                         (unsigned long long)e.offset + bytes, e.location, (long long)info.st_size);
        goto done;
    }
    r->external_bytes += bytes; /* each is no more than a file's length */
    if (r->external_bytes > sk_allowance_of_network().all) {
        status = sk_allowance_fail(r->err, r->external_bytes,
                                   "%s: with tensor '%.60s' its external data take %llu MiB", r->what,
                                   to->name, (unsigned long long)(r->external_bytes >> 20));
        goto done;
    }
    SK_TRY_GOTO(sk_blob_alloc(bytes, blob, r->err));
    status = pread_all(descriptor, sk_blob_data(*blob), bytes, e.offset, e.location, r->err);
    if (status != SK_OK)
        sk_blob_unref(blob);
done:
    close(descriptor);
    return status;
}

/* --- the tensor --- */

static sk_status read_shape(sk_onnx_reader *r, const SkOnnx__Tensor *from, sk_onnx_tensor *to)
{
    if (from->n_dims > SK_MAX_RANK)
        return sk_fail(r->err, SK_ERR_UNSUPPORTED,
                       "%s: tensor '%s' has %zu dimensions; at most %d are supported", r->what, to->name,
                       from->n_dims, SK_MAX_RANK);
    to->shape.rank = (int32_t)from->n_dims;
    for (size_t i = 0; i < from->n_dims; i++) {
        to->shape.dim[i] = from->dims[i];
        if (from->dims[i] < 0)
            return sk_fail(r->err, SK_ERR_FORMAT, "%s: tensor '%s' has a dimension of %lld", r->what,
                           to->name, (long long)from->dims[i]);
    }
    if (sk_shape_count(&to->shape) < 0)
        return sk_fail(r->err, SK_ERR_LIMIT, "%s: tensor '%s' claims an absurd size", r->what, to->name);
    return SK_OK;
}

sk_status sk_onnx_read_tensor(sk_onnx_reader *r, SkOnnx__Tensor *from, sk_onnx_tensor *to)
{
    to->name = sk_onnx_copy_text(r, from->name);
    if (!to->name)
        return sk_fail_memory(r->err, 1);
    to->dtype = sk_onnx_dtype(from->data_type);
    if (to->dtype == SK_DTYPE_NONE)
        return sk_fail(
            r->err, SK_ERR_UNSUPPORTED,
            "%s: tensor '%s' is %s (type %d), which skitter does not read; export in float32 or float16",
            r->what, to->name, sk_onnx_type_name(from->data_type), from->data_type);
    SK_TRY(read_shape(r, from, to));
    size_t count = (size_t)sk_shape_count(&to->shape), bytes = count * sk_dtype_bytes(to->dtype);
    sk_blob *blob = NULL;
    if (from->data_location == 1)
        SK_TRY(read_external(r, from, to, bytes, &blob));
    else if (from->has_raw_data)
        SK_TRY(read_raw(r, from, to, bytes, &blob));
    else
        SK_TRY(read_typed(r, from, to, count, &blob));
    to->blob = blob;
    to->offset = 0;
    return sk_onnx_keep_blob(r->model, blob, r->err);
}
