/* SPDX-License-Identifier: Apache-2.0 */
#include "torch_writer.h"

#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void *must(void *block)
{
    if (!block) {
        fprintf(stderr, "torch_writer: out of memory\n");
        exit(1);
    }
    return block;
}

void tw_bytes(tw_buffer *b, const void *bytes, size_t length)
{
    if (length == 0)
        return;
    if (b->capacity - b->length < length) {
        b->capacity = (b->length + length) * 2;
        b->bytes = must(realloc(b->bytes, b->capacity));
    }
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
}

void tw_byte(tw_buffer *b, int byte)
{
    uint8_t value = (uint8_t)byte;
    tw_bytes(b, &value, 1);
}

void tw_little(tw_buffer *b, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) /* more than 8 bytes: zeros follow */
        tw_byte(b, i < 8 ? (int)(value >> (8 * i) & 0xff) : 0);
}

void tw_free(tw_buffer *b)
{
    free(b->bytes);
    memset(b, 0, sizeof *b);
}

/* --- zip --- */

static void deflate_bytes(const void *bytes, size_t length, tw_buffer *out)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        must(NULL);
    out->capacity = deflateBound(&stream, length) + 16;
    out->bytes = must(malloc(out->capacity));
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)length;
    stream.next_out = out->bytes;
    stream.avail_out = (uInt)out->capacity;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        must(NULL);
    out->length = stream.total_out;
    deflateEnd(&stream);
}

/* torch's padding: an extra field 'FB' filled with 'Z', so that the payload begins on a 64-byte boundary. */
static size_t padding_for(const tw_zip *zip, size_t name_length)
{
    size_t payload = zip->out.length + 30 + name_length + 4;
    return zip->unaligned ? 0 : 4 + (64 - payload % 64) % 64;
}

void tw_zip_add(tw_zip *zip, const char *name, const void *bytes, size_t length)
{
    size_t name_length = strlen(name), header = zip->out.length;
    uint32_t crc = zip->no_crc ? 0 : (uint32_t)crc32_z(0, bytes, length);
    tw_buffer packed = {0};
    if (zip->deflate)
        deflate_bytes(bytes, length, &packed);
    const void *payload = zip->deflate ? packed.bytes : bytes;
    size_t payload_length = zip->deflate ? packed.length : length;
    int flags = zip->no_descriptor ? 0x0800 : 0x0808, method = zip->deflate ? 8 : 0;
    size_t extra = padding_for(zip, name_length);

    tw_little(&zip->out, 0x04034b50, 4);
    tw_little(&zip->out, 0, 2);
    tw_little(&zip->out, (uint64_t)flags, 2);
    tw_little(&zip->out, (uint64_t)method, 2);
    tw_little(&zip->out, 0, 4); /* date */
    tw_little(&zip->out, zip->no_descriptor ? crc : 0, 4);
    tw_little(&zip->out, zip->no_descriptor ? payload_length : 0, 4);
    tw_little(&zip->out, zip->no_descriptor ? length : 0, 4);
    tw_little(&zip->out, name_length, 2);
    tw_little(&zip->out, extra, 2);
    tw_bytes(&zip->out, name, name_length);
    if (extra) {
        tw_bytes(&zip->out, "FB", 2);
        tw_little(&zip->out, extra - 4, 2);
        for (size_t i = 4; i < extra; i++)
            tw_byte(&zip->out, 'Z');
    }
    tw_bytes(&zip->out, payload, payload_length);
    if (!zip->no_descriptor) {
        tw_little(&zip->out, 0x08074b50, 4);
        tw_little(&zip->out, crc, 4);
        tw_little(&zip->out, payload_length, zip->zip64 ? 8 : 4);
        tw_little(&zip->out, length, zip->zip64 ? 8 : 4);
    }

    tw_buffer *d = &zip->directory;
    tw_little(d, 0x02014b50, 4);
    tw_little(d, 0, 4); /* versions */
    tw_little(d, (uint64_t)flags, 2);
    tw_little(d, (uint64_t)method, 2);
    tw_little(d, 0, 4);
    tw_little(d, crc, 4);
    tw_little(d, zip->zip64 ? 0xffffffff : payload_length, 4);
    tw_little(d, zip->zip64 ? 0xffffffff : length, 4);
    tw_little(d, name_length, 2);
    tw_little(d, zip->zip64 ? 28 : 0, 2);
    tw_little(d, 0, 2 + 2 + 2 + 4); /* comment, disk, attributes */
    tw_little(d, zip->zip64 ? 0xffffffff : header, 4);
    tw_bytes(d, name, name_length);
    if (zip->zip64) {
        tw_little(d, 1, 2);
        tw_little(d, 24, 2);
        tw_little(d, length, 8);
        tw_little(d, payload_length, 8);
        tw_little(d, header, 8);
    }
    zip->count++;
    tw_free(&packed);
}

void tw_zip_finish(tw_zip *zip)
{
    size_t at = zip->out.length, bytes = zip->directory.length;
    tw_bytes(&zip->out, zip->directory.bytes, bytes);
    if (zip->zip64) {
        size_t end = zip->out.length;
        tw_little(&zip->out, 0x06064b50, 4);
        tw_little(&zip->out, 44, 8);
        tw_little(&zip->out, 0, 2 + 2 + 4);
        tw_little(&zip->out, 0, 4);
        tw_little(&zip->out, (uint64_t)zip->count, 8);
        tw_little(&zip->out, (uint64_t)zip->count, 8);
        tw_little(&zip->out, bytes, 8);
        tw_little(&zip->out, at, 8);
        tw_little(&zip->out, 0x07064b50, 4);
        tw_little(&zip->out, 0, 4);
        tw_little(&zip->out, end, 8);
        tw_little(&zip->out, 1, 4);
    }
    tw_little(&zip->out, 0x06054b50, 4);
    tw_little(&zip->out, 0, 4);
    tw_little(&zip->out, zip->zip64 ? 0xffff : (uint64_t)zip->count, 2);
    tw_little(&zip->out, zip->zip64 ? 0xffff : (uint64_t)zip->count, 2);
    tw_little(&zip->out, zip->zip64 ? 0xffffffff : bytes, 4);
    tw_little(&zip->out, zip->zip64 ? 0xffffffff : at, 4);
    tw_little(&zip->out, 0, 2);
}

void tw_zip_free(tw_zip *zip)
{
    tw_free(&zip->out);
    tw_free(&zip->directory);
}

/* --- pickle --- */

void tw_start(tw_pickle *p)
{
    tw_bytes(&p->out, "\x80\x02", 2);
}

void tw_stop(tw_pickle *p)
{
    tw_byte(&p->out, '.');
}

uint32_t tw_memoize(tw_pickle *p)
{
    if (p->memo < 256) {
        tw_byte(&p->out, 'q');
        tw_little(&p->out, p->memo, 1);
    } else {
        tw_byte(&p->out, 'r');
        tw_little(&p->out, p->memo, 4);
    }
    return p->memo++;
}

void tw_get(tw_pickle *p, uint32_t index)
{
    tw_byte(&p->out, index < 256 ? 'h' : 'j');
    tw_little(&p->out, index, index < 256 ? 1 : 4);
}

void tw_none(tw_pickle *p)
{
    tw_byte(&p->out, 'N');
}

void tw_bool(tw_pickle *p, bool value)
{
    tw_byte(&p->out, value ? 0x88 : 0x89);
}

void tw_int(tw_pickle *p, int64_t value)
{
    if (p->hook)
        value = p->hook(p->context, value);
    if (value >= 0 && value < 256) {
        tw_byte(&p->out, 'K');
        tw_little(&p->out, (uint64_t)value, 1);
    } else if (value >= 0 && value < 65536) {
        tw_byte(&p->out, 'M');
        tw_little(&p->out, (uint64_t)value, 2);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        tw_byte(&p->out, 'J');
        tw_little(&p->out, (uint64_t)value, 4);
    } else {
        tw_bytes(&p->out, "\x8a\x08", 2);
        tw_little(&p->out, (uint64_t)value, 8);
    }
}

void tw_real(tw_pickle *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tw_byte(&p->out, 'G');
    for (int i = 7; i >= 0; i--)
        tw_byte(&p->out, (int)(bits >> (8 * i) & 0xff));
}

void tw_text(tw_pickle *p, const char *text)
{
    if (p->text_hook)
        text = p->text_hook(p->context, text);
    tw_byte(&p->out, 'X');
    tw_little(&p->out, strlen(text), 4);
    tw_bytes(&p->out, text, strlen(text));
    tw_memoize(p);
}

void tw_global(tw_pickle *p, const char *module, const char *name)
{
    tw_byte(&p->out, 'c');
    tw_bytes(&p->out, module, strlen(module));
    tw_byte(&p->out, '\n');
    tw_bytes(&p->out, name, strlen(name));
    tw_byte(&p->out, '\n');
    tw_memoize(p);
}

void tw_ints(tw_pickle *p, const int64_t *values, int count)
{
    if (count == 0 || count > 3)
        tw_byte(&p->out, count ? '(' : ')');
    for (int i = 0; i < count; i++)
        tw_int(p, values[i]);
    if (count > 0)
        tw_byte(&p->out, count > 3 ? 't' : 0x84 + count);
}

void tw_dict_begin(tw_pickle *p)
{
    tw_byte(&p->out, '}');
    tw_memoize(p);
    tw_byte(&p->out, '(');
}

void tw_dict_end(tw_pickle *p)
{
    tw_byte(&p->out, 'u');
}

void tw_ordered_begin(tw_pickle *p)
{
    tw_global(p, "collections", "OrderedDict");
    tw_bytes(&p->out, ")R", 2);
    tw_memoize(p);
    tw_byte(&p->out, '(');
}

void tw_list_begin(tw_pickle *p)
{
    tw_byte(&p->out, ']');
    tw_memoize(p);
    tw_byte(&p->out, '(');
}

void tw_list_end(tw_pickle *p)
{
    tw_byte(&p->out, 'e');
}

void tw_object_begin(tw_pickle *p, const char *module, const char *class_name)
{
    tw_global(p, module, class_name);
    tw_bytes(&p->out, ")\x81", 2);
    tw_memoize(p);
    tw_dict_begin(p);
}

void tw_object_end(tw_pickle *p)
{
    tw_dict_end(p);
    tw_byte(&p->out, 'b');
}

void tw_tensor_raw(tw_pickle *p, const char *storage_class, const char *key, int64_t count, int64_t offset,
                   const int64_t *dims, const int64_t *strides, int rank)
{
    tw_global(p, "torch._utils", "_rebuild_tensor_v2");
    tw_bytes(&p->out, "((", 2);
    tw_text(p, "storage");
    tw_global(p, "torch", storage_class);
    tw_text(p, key);
    tw_text(p, "cpu");
    tw_int(p, count);
    tw_byte(&p->out, 't');
    tw_memoize(p);
    tw_byte(&p->out, 'Q');
    tw_int(p, offset);
    tw_ints(p, dims, rank);
    tw_ints(p, strides, rank);
    tw_bool(p, false);
    tw_global(p, "collections", "OrderedDict");
    tw_bytes(&p->out, ")RtR", 4);
    tw_memoize(p);
}

static const char *storage_class_of(sk_dtype dtype)
{
    switch (dtype) {
    case SK_DTYPE_F16: return "HalfStorage";
    case SK_DTYPE_BF16: return "BFloat16Storage";
    case SK_DTYPE_F64: return "DoubleStorage";
    case SK_DTYPE_I64: return "LongStorage";
    case SK_DTYPE_I32: return "IntStorage";
    case SK_DTYPE_U8: return "ByteStorage";
    case SK_DTYPE_BOOL: return "BoolStorage";
    default: return "FloatStorage";
    }
}

void tw_tensor(tw_pickle *p, sk_dtype dtype, const sk_shape *shape, const float *values, bool parameter)
{
    size_t count = (size_t)sk_shape_count(shape);
    int64_t strides[SK_MAX_RANK], step = 1;
    for (int i = shape->rank; i-- > 0;) {
        strides[i] = step;
        step *= shape->dim[i];
    }
    p->storages = must(realloc(p->storages, (size_t)(p->n_storages + 1) * sizeof *p->storages));
    struct tw_storage *storage = &p->storages[p->n_storages];
    storage->length = count * sk_dtype_bytes(dtype);
    storage->bytes = must(calloc(1, storage->length + 1));
    sk_convert(SK_DTYPE_F32, values, dtype, storage->bytes, count);
    char key[16];
    snprintf(key, sizeof key, "%d", p->n_storages++);
    if (parameter)
        tw_global(p, "torch._utils", "_rebuild_parameter");
    tw_tensor_raw(p, storage_class_of(dtype), key, (int64_t)count, 0, shape->dim, strides, shape->rank);
    if (parameter) {
        tw_bool(p, true);
        tw_global(p, "collections", "OrderedDict");
        tw_bytes(&p->out, ")R\x87R", 4);
        tw_memoize(p);
    }
}

void tw_pickle_free(tw_pickle *p)
{
    for (int i = 0; i < p->n_storages; i++)
        free(p->storages[i].bytes);
    free(p->storages);
    tw_free(&p->out);
    memset(p, 0, sizeof *p);
}

/* --- checkpoint --- */

void tw_checkpoint(tw_zip *zip, const char *root, const tw_pickle *p)
{
    char name[256];
    snprintf(name, sizeof name, "%s/data.pkl", root);
    tw_zip_add(zip, name, p->out.bytes, p->out.length);
    snprintf(name, sizeof name, "%s/byteorder", root);
    tw_zip_add(zip, name, "little", 6);
    for (int i = 0; i < p->n_storages; i++) {
        snprintf(name, sizeof name, "%s/data/%d", root, i);
        tw_zip_add(zip, name, p->storages[i].bytes, p->storages[i].length);
    }
    snprintf(name, sizeof name, "%s/version", root);
    tw_zip_add(zip, name, "3\n", 2);
    tw_zip_finish(zip);
}

const char *tw_save(const tw_zip *zip, const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(zip->out.bytes, 1, zip->out.length, file) != zip->out.length || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    return path;
}
