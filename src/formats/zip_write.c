/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/zip_write.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define OLD_COUNT     UINT16_MAX
#define ARCHIVE_BYTES UINT32_MAX
#define VERSION       20
#define VERSION_64    45
#define UTF_8         0x0800
#define FIRST_DAY     0x21 /* 1 January 1980: archives of the same files are the same */

struct sk_zip_writer {
    FILE *to;
    char *what;
    sk_text directory;
    uint64_t at, count;
};

sk_status sk_zip_writer_open(FILE *to, const char *what, sk_zip_writer **out, sk_error *err)
{
    *out = NULL;
    sk_zip_writer *zip = sk_calloc(1, sizeof *zip);
    char *name = sk_strdup(what);
    if (!zip || !name) {
        sk_free_all(zip, name);
        return sk_fail_memory(err, sizeof *zip);
    }
    zip->to = to;
    zip->what = name;
    *out = zip;
    return SK_OK;
}

void sk_zip_writer_close(sk_zip_writer **pointer)
{
    SK_TAKE_OR_RETURN(zip, pointer);
    sk_text_free(&zip->directory);
    sk_free_all(zip->what, zip);
}

/* --- numbers, the low byte first --- */

typedef struct fields {
    uint8_t bytes[80];
    size_t length;
} fields;

static void put(fields *f, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        f->bytes[f->length++] = (uint8_t)(value >> (8 * i));
}

static sk_status write_bytes(sk_zip_writer *zip, const void *bytes, size_t length, sk_error *err)
{
    if (length && fwrite(bytes, 1, length, zip->to) != length)
        return sk_fail(err, SK_ERR_IO, "%s: writing failed: %s%s", zip->what, strerror(errno),
                       sk_file_remedy(errno));
    zip->at += length;
    return SK_OK;
}

/* --- entries --- */

/* *packed is null where the bytes are no shorter deflated. */
static sk_status deflate_all(const void *bytes, size_t length, uint8_t **packed, size_t *packed_length,
                             sk_error *err)
{
    z_stream z = {0};
    *packed = NULL;
    *packed_length = length;
    if (length < 32 || deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return SK_OK;
    uint8_t *room = sk_malloc(length);
    if (!room) {
        deflateEnd(&z);
        return sk_fail_memory(err, length);
    }
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)length;
    z.next_out = room;
    z.avail_out = (uInt)length;
    const bool shorter = deflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out < length;
    *packed_length = shorter ? z.total_out : length;
    deflateEnd(&z);
    if (shorter)
        *packed = room;
    else
        sk_free(room);
    return SK_OK;
}

/* What stands before the bytes and, again, in the directory. */
static void put_entry(fields *f, bool deflated, uint32_t crc, size_t packed, size_t length, size_t name)
{
    put(f, VERSION, 2);
    put(f, UTF_8, 2);
    put(f, deflated ? 8 : 0, 2);
    put(f, 0, 2); /* the time */
    put(f, FIRST_DAY, 2);
    put(f, crc, 4);
    put(f, packed, 4);
    put(f, length, 4);
    put(f, name, 2);
    put(f, 0, 2); /* more fields */
}

sk_status sk_zip_writer_add(sk_zip_writer *zip, const char *name, const void *bytes, size_t length,
                            sk_error *err)
{
    const size_t named = strlen(name);
    const uint64_t begin = zip->at;
    fields local = {0}, listed = {0};
    uint8_t *packed = NULL;
    size_t packed_length = 0;
    if (named > UINT16_MAX || length > ARCHIVE_BYTES / 2 ||
        zip->at + length + zip->directory.length + 4096 + 2 * named > ARCHIVE_BYTES)
        return sk_fail(err, SK_ERR_LIMIT,
                       "%s: more than 4 GB do not go into one archive\ncopy the folder itself", zip->what);
    SK_TRY(deflate_all(bytes, length, &packed, &packed_length, err));
    const uint32_t crc = (uint32_t)crc32_z(0, bytes, length);
    put(&local, 0x04034b50, 4);
    put_entry(&local, packed != NULL, crc, packed_length, length, named);
    sk_status status = write_bytes(zip, local.bytes, local.length, err);
    if (status == SK_OK)
        status = write_bytes(zip, name, named, err);
    if (status == SK_OK)
        status = write_bytes(zip, packed ? packed : bytes, packed_length, err);
    sk_free(packed);
    SK_TRY(status);
    put(&listed, 0x02014b50, 4);
    put(&listed, VERSION, 2);
    put_entry(&listed, packed_length < length, crc, packed_length, length, named);
    put(&listed, 0, 2); /* comment */
    put(&listed, 0, 2); /* volume */
    put(&listed, 0, 2); /* attributes */
    put(&listed, 0, 4);
    put(&listed, begin, 4);
    sk_text_append_bytes(&zip->directory, (const char *)listed.bytes, listed.length);
    sk_text_append_bytes(&zip->directory, name, named);
    zip->count++;
    return zip->directory.failed == SK_OK ? SK_OK : sk_fail_memory(err, zip->directory.length);
}

/* --- the end --- */

static void put_64(fields *f, const sk_zip_writer *zip, uint64_t directory)
{
    put(f, 0x06064b50, 4);
    put(f, 44, 8); /* of what follows */
    put(f, VERSION_64, 2);
    put(f, VERSION_64, 2);
    put(f, 0, 4);
    put(f, 0, 4);
    put(f, zip->count, 8);
    put(f, zip->count, 8);
    put(f, zip->directory.length, 8);
    put(f, directory, 8);
    put(f, 0x07064b50, 4);
    put(f, 0, 4);
    put(f, directory + zip->directory.length, 8);
    put(f, 1, 4);
}

sk_status sk_zip_writer_end(sk_zip_writer *zip, sk_error *err)
{
    fields end = {0}, end_64 = {0};
    const uint64_t directory = zip->at;
    const bool many = zip->count >= OLD_COUNT;
    SK_TRY(write_bytes(zip, sk_text_get(&zip->directory), zip->directory.length, err));
    if (many)
        put_64(&end_64, zip, directory);
    SK_TRY(write_bytes(zip, end_64.bytes, end_64.length, err));
    put(&end, 0x06054b50, 4);
    put(&end, 0, 4);
    put(&end, many ? OLD_COUNT : zip->count, 2);
    put(&end, many ? OLD_COUNT : zip->count, 2);
    put(&end, zip->directory.length, 4);
    put(&end, directory, 4);
    put(&end, 0, 2);
    SK_TRY(write_bytes(zip, end.bytes, end.length, err));
    if (fflush(zip->to) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: writing failed: %s%s", zip->what, strerror(errno),
                       sk_file_remedy(errno));
    return SK_OK;
}
