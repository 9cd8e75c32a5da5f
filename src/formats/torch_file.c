/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/torch_file.h"

#include "base/allowance.h"
#include "base/file.h"
#include "base/object.h"
#include "formats/zip.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct sk_torch_file {
    const uint8_t *bytes;
    size_t length;
    sk_blob *map; /* what the bytes lie in; null when they are the caller's */
    char *what;
    char *prefix; /* "yolo11n/": the folder data.pkl lies in */
    sk_zip *zip;
    sk_pickle *pickle;
    bool big_endian;
    /* Bytes that may still be converted, copied or summed. Entries may overlap, storages may be shared by thousands of
     * tensors, and one element may be expanded to billions: honest files stay far below this. */
    uint64_t budget;
};

/* --- what else it could be --- */

static bool begins(const uint8_t *bytes, size_t length, const char *text, size_t text_length)
{
    return length >= text_length && memcmp(bytes, text, text_length) == 0;
}
#define BEGINS(text) begins(bytes, length, (text), sizeof(text) - 1)

static bool all_zero(const uint8_t *bytes, size_t length)
{
    size_t n = length < 4096 ? length : 4096;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i])
            return false;
    }
    return true;
}

static sk_status refuse_foreign(const uint8_t *bytes, size_t length, const char *what, sk_error *err)
{
    if (length == 0)
        return sk_fail(err, SK_ERR_FORMAT, "%s: the file is empty. Copy or download it again", what);
    if (BEGINS("version https://git-lfs"))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: a Git LFS pointer (%zu bytes of text), not the checkpoint itself. Run "
                       "'git lfs pull' in its repository",
                       what, length);
    if (BEGINS("<!DOCTYPE") || BEGINS("<!doctype") || BEGINS("<html") || BEGINS("<HTML"))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: a web page, not a checkpoint; the download went wrong. Download the "
                       "file itself",
                       what);
    if (BEGINS("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19"))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a checkpoint in the format of torch before 1.6 (not a zip "
                       "archive). Save it again with a newer torch: torch.save(torch.load(path, "
                       "weights_only=False), new_path)",
                       what);
    if (bytes[0] == 0x80 && length > 1 && bytes[1] <= 5)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: a bare pickle, not a torch checkpoint (those are zip archives)\nif a network is in it, "
            "save it from Python as .onnx, which skitter reads",
            what);
    if (BEGINS("\x89HDF\r\n"))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: an HDF5 (Keras) file, not a torch checkpoint. For a SLEAP model "
                       "give the folder that holds training_config.json",
                       what);
    if (length > 9 && bytes[8] == '{' && bytes[7] == 0 && bytes[6] == 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a safetensors file: weights without the network they belong to. "
                       "Give the .pt file",
                       what);
    if (all_zero(bytes, length))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: %zu bytes of zeros; the download never finished. Download it again", what,
                       length);
    return sk_fail(
        err, SK_ERR_FORMAT,
        "%s: not a torch checkpoint (a zip archive begins with 'PK', this file with "
        "bytes %02x %02x)\ncopy or download it again if it should be one; read are Ultralytics' .pt, "
        "SLEAP model folders and .onnx",
        what, bytes[0], length > 1 ? bytes[1] : 0);
}

/* --- opening --- */

static bool ends_in(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

static sk_status refuse_without_pickle(const sk_torch_file *f, sk_error *err)
{
    if (sk_zip_truncated(f->zip))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: zip directory missing; file truncated at %zu bytes, before the end of "
                       "data.pkl. Copy or download it again",
                       f->what, f->length);
    if (sk_zip_find(f->zip, "training_config.json") || sk_zip_find(f->zip, "best_model.h5"))
        return sk_fail(err, SK_ERR_UNSUPPORTED, "%s: a zipped SLEAP model, not a torch checkpoint", f->what);
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s: a zip archive without data.pkl, so not a torch checkpoint (%zu entries)", f->what,
                   sk_zip_count(f->zip));
}

/* The folder inside the zip is named after the file it was first saved as ("best/", "archive/"): any will do, as
 * long as there is one data.pkl. */
static sk_status find_pickle(sk_torch_file *f, const sk_zip_entry **out, sk_error *err)
{
    bool constants = false, code = false;
    *out = NULL;
    for (size_t i = 0; i < sk_zip_count(f->zip); i++) {
        const sk_zip_entry *entry = sk_zip_at(f->zip, i);
        constants |= ends_in(entry->name, "/constants.pkl");
        code |= strstr(entry->name, "/code/") != NULL;
        if (!ends_in(entry->name, "/data.pkl") && strcmp(entry->name, "data.pkl") != 0)
            continue;
        if (*out)
            return sk_fail(err, SK_ERR_FORMAT, "%s: holds two checkpoints, '%s' and '%s'", f->what,
                           (*out)->name, entry->name);
        *out = entry;
    }
    if (constants || code)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a TorchScript archive (compiled code and constants). Give the "
                       "original .pt checkpoint, or export it to ONNX",
                       f->what);
    return *out ? SK_OK : refuse_without_pickle(f, err);
}

static sk_status read_byte_order(sk_torch_file *f, sk_error *err)
{
    char name[512];
    const uint8_t *bytes;
    sk_blob *hold;
    if (snprintf(name, sizeof name, "%sbyteorder", f->prefix) >= (int)sizeof name)
        return SK_OK;
    const sk_zip_entry *entry = sk_zip_find(f->zip, name);
    if (!entry) /* torch before 2.1 wrote none: little */
        return SK_OK;
    SK_TRY(sk_zip_read(f->zip, entry, &bytes, &hold, err));
    f->big_endian = entry->size == 3 && memcmp(bytes, "big", 3) == 0;
    sk_blob_unref(&hold);
    return SK_OK;
}

static sk_status load(sk_torch_file *f, sk_error *err)
{
    if (!sk_zip_looks_like(f->bytes, f->length))
        return refuse_foreign(f->bytes, f->length, f->what, err);
    SK_TRY(sk_zip_open_memory(f->bytes, f->length, f->what, &f->zip, err));
    const sk_zip_entry *entry;
    SK_TRY(find_pickle(f, &entry, err));
    f->prefix = sk_strndup(entry->name, strlen(entry->name) - strlen("data.pkl"));
    if (!f->prefix)
        return sk_fail_memory(err, strlen(entry->name));
    SK_TRY(read_byte_order(f, err));
    uint64_t total = sk_zip_total_size(f->zip);
    total = total < (uint64_t)f->length * 2 ? total : (uint64_t)f->length * 2;
    uint64_t said = sk_allowance_of_file(0); /* 256 MiB, or what was asked for */
    f->budget = total * 8 + (said > (uint64_t)256 << 20 ? said : (uint64_t)64 << 20);
    const uint8_t *bytes;
    sk_blob *hold;
    if (entry->size > SK_PICKLE_MAX_BYTES) /* before it is inflated */
        return sk_fail(err, SK_ERR_LIMIT,
                       "%s: its data.pkl has %" PRIu64 " MiB, where checkpoints have less than one", f->what,
                       entry->size >> 20);
    SK_TRY(sk_zip_read(f->zip, entry, &bytes, &hold, err));
    sk_status status = sk_pickle_open(bytes, (size_t)entry->size, f->what, &f->pickle, err);
    sk_blob_unref(&hold);
    return status;
}

/* Takes over the reference on `map`, also on failure. */
static sk_status open_bytes(const void *bytes, size_t length, sk_blob *map, const char *what,
                            sk_torch_file **out, sk_error *err)
{
    sk_torch_file *f = sk_calloc(1, sizeof *f);
    if (!f) {
        sk_blob_unref(&map);
        return sk_fail_memory(err, sizeof *f);
    }
    f->bytes = bytes;
    f->length = length;
    f->map = map;
    f->what = sk_strdup(what);
    sk_status status = f->what ? load(f, err) : sk_fail_memory(err, strlen(what));
    return SK_HAND_OVER(status, f, out, sk_torch_file_close);
}

sk_status sk_torch_file_open_memory(const void *bytes, size_t length, const char *what, sk_torch_file **out,
                                    sk_error *err)
{
    SK_CHECK_ARG(bytes && what && out, err);
    *out = NULL;
    return open_bytes(bytes, length, NULL, what, out, err);
}

sk_status sk_torch_file_open(const char *path, sk_torch_file **out, sk_error *err)
{
    SK_CHECK_ARG(path && out, err);
    *out = NULL;
    if (sk_file_is_directory(path))
        return sk_fail(err, SK_ERR_FORMAT, "%s: a folder, not a torch checkpoint", path);
    sk_blob *map = NULL;
    SK_TRY(sk_file_load(path, &map, err));
    return open_bytes(sk_blob_data(map), sk_blob_bytes(map), map, path, out, err);
}

void sk_torch_file_close(sk_torch_file **file)
{
    SK_TAKE_OR_RETURN(f, file);
    sk_pickle_close(&f->pickle);
    sk_zip_close(&f->zip);
    sk_blob_unref(&f->map);
    sk_free_all(f->prefix, f->what, f);
}

const sk_pickle_value *sk_torch_file_root(const sk_torch_file *file)
{
    return sk_pickle_root(file->pickle);
}

bool sk_torch_file_truncated(const sk_torch_file *file)
{
    return sk_zip_truncated(file->zip);
}

size_t sk_torch_file_length(const sk_torch_file *file)
{
    return file->length;
}

/* --- tensors --- */

static sk_status refuse_tensor(const sk_torch_file *f, const sk_pickle_value *tensor, sk_error *err)
{
    const char *class = sk_pickle_class(tensor, NULL);
    if (class && strstr(class, "qtensor"))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: a quantised tensor. Give the checkpoint from before "
                       "quantisation",
                       f->what);
    return sk_fail(err, SK_ERR_FORMAT, "%s: a tensor was expected, but there is %s%s%s", f->what,
                   class ? "an object of class '" : "something else", class ? class : "", class ? "'" : "");
}

/* Elements from the first to one past the last that shape, stride and offset touch; false when that overflows. */
static bool span_of(const sk_pickle_value *tensor, int64_t *count, uint64_t *end)
{
    const sk_shape *shape = &tensor->u.tensor.shape;
    uint64_t last = (uint64_t)tensor->u.tensor.offset;
    *count = sk_shape_count(shape);
    if (*count < 0)
        return false;
    for (int32_t i = 0; i<shape->rank && * count> 0; i++) {
        uint64_t step;
        if (__builtin_mul_overflow((uint64_t)(shape->dim[i] - 1), (uint64_t)tensor->u.tensor.stride[i],
                                   &step) ||
            __builtin_add_overflow(last, step, &last))
            return false;
    }
    return !__builtin_add_overflow(last, (uint64_t)(*count > 0), end);
}

static bool is_contiguous(const sk_pickle_value *tensor)
{
    int64_t expected = 1;
    for (int32_t i = tensor->u.tensor.shape.rank; i-- > 0;) {
        if (tensor->u.tensor.shape.dim[i] != 1 && tensor->u.tensor.stride[i] != expected)
            return false;
        expected *= tensor->u.tensor.shape.dim[i];
    }
    return true;
}

/* Row by row: the last axis alone may be strided, the others are counted like an odometer. */
static void gather(const sk_pickle_value *tensor, const uint8_t *base, sk_dtype to, uint8_t *dst,
                   int64_t count)
{
    const sk_shape *shape = &tensor->u.tensor.shape;
    const int64_t *stride = tensor->u.tensor.stride;
    sk_dtype from = tensor->u.tensor.dtype;
    size_t from_bytes = sk_dtype_bytes(from), to_bytes = sk_dtype_bytes(to);
    int64_t position[SK_MAX_RANK] = {0};
    int64_t at = 0;
    for (int64_t i = 0; i < count; i++) {
        sk_convert(from, base + (size_t)at * from_bytes, to, dst + (size_t)i * to_bytes, 1);
        for (int32_t axis = shape->rank; axis-- > 0;) {
            if (shape->dim[axis] == 1) /* its stride may be any number */
                continue;
            at += stride[axis];
            if (++position[axis] < shape->dim[axis])
                break;
            at -= stride[axis] * shape->dim[axis];
            position[axis] = 0;
        }
    }
}

static void swap_bytes(uint8_t *bytes, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, bytes += size) {
        for (size_t j = 0; j < size / 2; j++) {
            uint8_t kept = bytes[j];
            bytes[j] = bytes[size - 1 - j];
            bytes[size - 1 - j] = kept;
        }
    }
}

/* Checkpoints are mostly half floats: one multiplication each, no branches, for the compiler to vectorise. */
static void widen_halfs(const uint16_t *src, float *dst, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        union {
            uint32_t u;
            float f;
        } v = {(uint32_t)(src[i] & 0x7fff) << 13};
        v.f *= 0x1p112f;                          /* moves the exponent's bias; subnormals come out normal */
        v.u |= v.f >= 65536.0f ? 0x7f800000u : 0; /* infinity and NaN */
        v.u |= (uint32_t)(src[i] & 0x8000) << 16;
        dst[i] = v.f;
    }
}

static sk_status spend(sk_torch_file *f, uint64_t bytes, const char *key, sk_error *err)
{
    if (bytes > f->budget)
        return sk_allowance_fail(
            err, bytes,
            "%s: the tensors on storage '%s' and others ask for more memory than the whole file could fill",
            f->what, key);
    f->budget -= bytes;
    return SK_OK;
}

/* The storage's bytes in this machine's order and aligned for its elements; *hold as in sk_zip_read. */
static sk_status read_storage(sk_torch_file *f, const sk_pickle_value *storage, size_t element,
                              const uint8_t **bytes, uint64_t *elements, sk_blob **hold, sk_error *err)
{
    char name[1024];
    const char *key = storage->u.storage.key;
    if (snprintf(name, sizeof name, "%sdata/%s", f->prefix, key) >= (int)sizeof name)
        return sk_fail(err, SK_ERR_FORMAT, "%s: a storage's name is over 1000 characters", f->what);
    const sk_zip_entry *entry = sk_zip_find(f->zip, name);
    if (!entry && sk_zip_truncated(f->zip))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: zip directory missing; file truncated at %zu bytes, before storage "
                       "'%s'. Copy or download it again",
                       f->what, f->length, name);
    if (!entry)
        return sk_fail(err, SK_ERR_FORMAT, "%s: storage '%s' is missing from the archive", f->what, name);
    SK_TRY(spend(f, sk_zip_work(f->zip, entry), key, err));
    SK_TRY(sk_zip_read(f->zip, entry, bytes, hold, err));
    *elements = entry->size / element;
    bool aligned = (uintptr_t)*bytes % element == 0; /* torch aligns to 64; a repacked archive may not */
    if ((!f->big_endian || element == 1) && aligned)
        return SK_OK;
    sk_blob *copy = NULL;
    sk_status status = spend(f, entry->size, key, err);
    if (status == SK_OK)
        status = sk_blob_alloc((size_t)entry->size, &copy, err);
    if (status == SK_OK) {
        memcpy(sk_blob_data(copy), *bytes, (size_t)entry->size);
        if (f->big_endian)
            swap_bytes(sk_blob_data(copy), (size_t)*elements, element);
        *bytes = sk_blob_data(copy);
    }
    sk_blob_unref(hold);
    *hold = copy;
    return status;
}

sk_status sk_torch_file_tensor(sk_torch_file *file, const sk_pickle_value *tensor, sk_dtype to, sk_blob **out,
                               sk_error *err)
{
    SK_CHECK_ARG(file && out && sk_dtype_bytes(to) > 0, err);
    *out = NULL;
    if (!tensor || tensor->kind != SK_PICKLE_TENSOR)
        return refuse_tensor(file, tensor, err);
    const sk_pickle_value *storage = tensor->u.tensor.storage;
    size_t element = sk_dtype_bytes(tensor->u.tensor.dtype);
    if (element == 0)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: the tensor on storage '%s' has an element type that is not read "
                       "(quantised, complex or 8-bit float). Save the model in float32 or float16",
                       file->what, storage->u.storage.key);
    int64_t count;
    uint64_t end = 0, elements = 0, wanted;
    if (!span_of(tensor, &count, &end) ||
        __builtin_mul_overflow((uint64_t)count, (uint64_t)sk_dtype_bytes(to), &wanted))
        wanted = UINT64_MAX;
    SK_TRY(spend(file, wanted, storage->u.storage.key, err));
    const uint8_t *bytes;
    sk_blob *hold = NULL;
    SK_TRY(read_storage(file, storage, element, &bytes, &elements, &hold, err));
    sk_status status = SK_OK;
    if (end > elements) {
        status = sk_fail(err, SK_ERR_FORMAT,
                         "%s: a tensor needs %" PRIu64 " elements of storage '%s', which holds %" PRIu64,
                         file->what, end, storage->u.storage.key, elements);
        goto done;
    }
    SK_TRY_GOTO(sk_blob_alloc((size_t)wanted, out, err));
    const uint8_t *base = bytes + (size_t)tensor->u.tensor.offset * element;
    bool contiguous = count == 0 || is_contiguous(tensor); /* beside a 0 the other sizes may be anything */
    if (contiguous && tensor->u.tensor.dtype == SK_DTYPE_F16 && to == SK_DTYPE_F32)
        widen_halfs((const uint16_t *)(const void *)base, sk_blob_data(*out), (size_t)count);
    else if (contiguous)
        sk_convert(tensor->u.tensor.dtype, base, to, sk_blob_data(*out), (size_t)count);
    else
        gather(tensor, base, to, sk_blob_data(*out), count);
done:
    sk_blob_unref(&hold);
    return status;
}
