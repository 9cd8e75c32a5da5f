/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/npy.h"

#include "base/file.h"
#include "base/text.h"
#include "formats/python_literal.h"

#include <stdlib.h>
#include <string.h>

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static const struct {
    char kind;
    int bytes;
    sk_dtype dtype;
} types[] = {
    {'f', 2, SK_DTYPE_F16}, {'f', 4, SK_DTYPE_F32}, {'f', 8, SK_DTYPE_F64}, {'i', 1, SK_DTYPE_I8},
    {'u', 1, SK_DTYPE_U8},  {'i', 2, SK_DTYPE_I16}, {'u', 2, SK_DTYPE_U16}, {'i', 4, SK_DTYPE_I32},
    {'u', 4, SK_DTYPE_U32}, {'i', 8, SK_DTYPE_I64}, {'u', 8, SK_DTYPE_U64}, {'b', 1, SK_DTYPE_BOOL},
};
#define TYPES (sizeof types / sizeof types[0])

typedef struct npy_header {
    sk_dtype dtype;
    sk_shape shape;
    bool is_big_endian;
    bool is_fortran;
    size_t data_at; /* where the array's bytes begin */
} npy_header;

static bool host_is_big_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 0;
}

/* "<f4", ">i8", "|u1", "=f4". */
static sk_status parse_type(const sk_config_value *descr, const char *name, npy_header *header, sk_error *err)
{
    const char *text = sk_config_text(descr);
    if (sk_config_is(descr, SK_CONFIG_LIST))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: an array of records; save each field as an array of its own", name);
    if (!text || strlen(text) < 2)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the .npy header names no element type ('descr')", name);
    char order = text[0];
    const char *kind = strchr("<>|=", order) ? text + 1 : text;
    if (kind[0] == 'O')
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: an array of Python objects, which only Python could read; save plain numbers",
                       name);
    char *end;
    long bytes = strtol(kind + 1, &end, 10);
    for (size_t i = 0; i < TYPES; i++) {
        if (*end == '\0' && end != kind + 1 && types[i].kind == kind[0] && types[i].bytes == bytes)
            header->dtype = types[i].dtype;
    }
    if (header->dtype == SK_DTYPE_NONE)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: elements of type '%.16s'; float16 to float64, integers and bool are possible",
                       name, text);
    header->is_big_endian = order == '>' || (order != '<' && host_is_big_endian());
    return SK_OK;
}

static sk_status parse_shape(const sk_config_value *shape, const char *name, npy_header *header,
                             sk_error *err)
{
    if (!sk_config_is(shape, SK_CONFIG_LIST))
        return sk_fail(err, SK_ERR_FORMAT, "%s: the .npy header has no 'shape'", name);
    if (sk_config_count(shape) > SK_MAX_RANK)
        return sk_fail(err, SK_ERR_LIMIT, "%s: %zu dimensions; at most %d are possible", name,
                       sk_config_count(shape), SK_MAX_RANK);
    header->shape = (sk_shape){.rank = (int32_t)sk_config_count(shape)};
    for (int32_t i = 0; i < header->shape.rank; i++) {
        const sk_config_value *item = sk_config_at(shape, (size_t)i);
        if (!sk_config_is(item, SK_CONFIG_INT) || item->u.integer < 0)
            return sk_fail(err, SK_ERR_FORMAT, "%s: dimension %d of 'shape' is not a count", name, (int)i);
        header->shape.dim[i] = item->u.integer;
    }
    return SK_OK;
}

static sk_status parse_header(const unsigned char *bytes, size_t count, const char *name, npy_header *header,
                              sk_error *err)
{
    if (count < 10 || memcmp(bytes, magic, sizeof magic) != 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a .npy file (it does not start with \\x93NUMPY)", name);
    int major = bytes[6];
    if (major < 1 || major > 3)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: .npy version %d.%d; versions 1 to 3 can be read", name,
                       major, bytes[7]);
    size_t start = major == 1 ? 10 : 12;
    if (count < start)
        return sk_fail(err, SK_ERR_FORMAT, "%s: ends inside the .npy header", name);
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (major > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > SK_NPY_MAX_HEADER)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a .npy header of %zu bytes; at most %zu are allowed", name,
                       length, SK_NPY_MAX_HEADER);
    if (length > count - start)
        return sk_fail(err, SK_ERR_FORMAT, "%s: ends inside the .npy header (%zu of %zu bytes)", name,
                       count - start, length);
    *header = (npy_header){.data_at = start + length};
    sk_config *config = NULL;
    SK_TRY(sk_python_literal_open((const char *)bytes + start, length, name, &config, err));
    const sk_config_value *root = sk_config_root(config);
    sk_status status = SK_OK;
    if (!sk_config_is(root, SK_CONFIG_MAP) ||
        !sk_config_to_bool(sk_config_get(root, "fortran_order"), &header->is_fortran))
        status = sk_fail(err, SK_ERR_FORMAT, "%s: the .npy header is no dict with 'fortran_order'", name);
    if (status == SK_OK)
        status = parse_type(sk_config_get(root, "descr"), name, header, err);
    if (status == SK_OK)
        status = parse_shape(sk_config_get(root, "shape"), name, header, err);
    sk_config_close(&config);
    return status;
}

static void swap_bytes(unsigned char *data, size_t count, size_t bytes)
{
    for (size_t i = 0; i < count; i++, data += bytes) {
        for (size_t j = 0; j < bytes / 2; j++) {
            unsigned char kept = data[j];
            data[j] = data[bytes - 1 - j];
            data[bytes - 1 - j] = kept;
        }
    }
}

/* src has the first index running fastest, dst the last. Walks dst in order, keeping src's position by
 * odometer. */
static void from_fortran(unsigned char *dst, const unsigned char *src, const sk_shape *shape, size_t count,
                         size_t bytes)
{
    size_t index[SK_MAX_RANK] = {0}, stride[SK_MAX_RANK] = {0}, at = 0, step = 1;
    for (int32_t i = 0; i < shape->rank; i++) {
        stride[i] = step;
        step *= (size_t)shape->dim[i];
    }
    for (size_t n = 0; n < count; n++) {
        memcpy(dst + n * bytes, src + at * bytes, bytes);
        for (int32_t i = shape->rank - 1; i >= 0; i--) {
            at += stride[i];
            if (++index[i] < (size_t)shape->dim[i])
                break;
            at -= stride[i] * index[i];
            index[i] = 0;
        }
    }
}

static void copy_elements(const npy_header *header, const unsigned char *src, unsigned char *dst,
                          size_t count)
{
    size_t bytes = sk_dtype_bytes(header->dtype);
    if (header->is_fortran && header->shape.rank > 1)
        from_fortran(dst, src, &header->shape, count, bytes);
    else if (count)
        memcpy(dst, src, count * bytes);
    if (bytes > 1 && header->is_big_endian != host_is_big_endian())
        swap_bytes(dst, count, bytes);
    if (header->dtype == SK_DTYPE_BOOL) {
        for (size_t i = 0; i < count; i++)
            dst[i] = dst[i] != 0;
    }
}

sk_status sk_npy_parse(const void *bytes, size_t count, const char *name, size_t limit, sk_tensor *out,
                       sk_error *err)
{
    npy_header header;
    *out = (sk_tensor){0};
    SK_TRY(parse_header(bytes, count, name, &header, err));
    int64_t elements = sk_shape_count(&header.shape);
    size_t wanted;
    if (elements < 0 || !sk_mul_size((size_t)elements, sk_dtype_bytes(header.dtype), &wanted) ||
        wanted > limit) {
        char shape[SK_SHAPE_TEXT];
        return sk_fail(err, SK_ERR_LIMIT, "%s: an array of shape %s is larger than the %zu bytes allowed",
                       name, sk_shape_text(&header.shape, shape, sizeof shape), limit);
    }
    if (wanted != count - header.data_at)
        return sk_fail(err, SK_ERR_FORMAT, "%s: %zu bytes follow the header where the array needs %zu; %s",
                       name, count - header.data_at, wanted,
                       wanted > count - header.data_at ? "the file is truncated" : "it is no single array");
    void *data = sk_aligned_calloc(64, wanted);
    if (!data)
        return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for %zu bytes", name, wanted);
    copy_elements(&header, (const unsigned char *)bytes + header.data_at, data, (size_t)elements);
    *out = (sk_tensor){.dtype = header.dtype, .shape = header.shape, .data = data};
    return SK_OK;
}

sk_status sk_npy_read(const char *path, size_t limit, sk_tensor *out, sk_error *err)
{
    sk_blob *blob = NULL;
    *out = (sk_tensor){0};
    SK_TRY(sk_file_load(path, &blob, err));
    sk_status status = sk_npy_parse(sk_blob_data(blob), sk_blob_bytes(blob), path, limit, out, err);
    sk_blob_unref(&blob);
    return status;
}

/* The header's text, padded so that the data begin at a multiple of 64, as NumPy does. */
static sk_status make_header(const sk_tensor *tensor, sk_text *text, sk_error *err)
{
    char kind = 0;
    for (size_t i = 0; i < TYPES; i++) {
        if (types[i].dtype == tensor->dtype)
            kind = types[i].kind;
    }
    size_t bytes = sk_dtype_bytes(tensor->dtype);
    if (!kind || !sk_shape_known(&tensor->shape))
        return sk_fail(err, SK_ERR_ARG, "a tensor of type %s and unknown shape cannot be written",
                       sk_dtype_name(tensor->dtype));
    sk_text_append_bytes(text, "\x93NUMPY\x01\x00\x00\x00", 10);
    sk_text_appendf(text, "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (", bytes == 1 ? '|' : '<',
                    kind, bytes);
    for (int32_t i = 0; i < tensor->shape.rank; i++)
        sk_text_appendf(text, "%s%lld%s", i ? " " : "", (long long)tensor->shape.dim[i],
                        i + 1 < tensor->shape.rank || i == 0 ? "," : "");
    sk_text_append(text, "), }");
    while (text->failed == SK_OK && (text->length + 1) % 64 != 0)
        sk_text_append(text, " ");
    sk_text_append(text, "\n");
    SK_TRY(sk_text_status(text, err));
    text->data[8] = (char)((text->length - 10) & 0xFF);
    text->data[9] = (char)((text->length - 10) >> 8);
    return SK_OK;
}

sk_status sk_npy_write(const char *path, const sk_tensor *tensor, sk_error *err)
{
    sk_status status = SK_OK;
    sk_tensor written = *tensor;
    sk_text header = {0};
    void *changed = NULL;
    sk_file_writer *writer = NULL;
    size_t count =
        sk_dtype_bytes(tensor->dtype) ? sk_tensor_bytes(tensor) / sk_dtype_bytes(tensor->dtype) : 0;
    if (tensor->dtype == SK_DTYPE_BF16)
        written.dtype = SK_DTYPE_F32;
    size_t element = sk_dtype_bytes(written.dtype), bytes = count * element;
    SK_TRY_GOTO(make_header(&written, &header, err));
    if (tensor->dtype == SK_DTYPE_BF16 || (host_is_big_endian() && element > 1)) {
        changed = sk_malloc(bytes);
        if (!changed) {
            status = sk_fail_memory(err, bytes);
            goto done;
        }
        sk_convert(tensor->dtype, tensor->data, written.dtype, changed, count);
        if (host_is_big_endian())
            swap_bytes(changed, count, element);
        written.data = changed;
    }
    SK_TRY_GOTO(sk_file_writer_open(path, &writer, err));
    FILE *stream = sk_file_writer_stream(writer);
    /* a short write stays in the stream's error flag, which the commit looks at */
    fwrite(header.data, 1, header.length, stream);
    if (bytes)
        fwrite(written.data, 1, bytes, stream);
    status = sk_file_writer_commit(&writer, err);
done:
    sk_file_writer_close(&writer);
    sk_text_free(&header);
    sk_free(changed);
    return status;
}
