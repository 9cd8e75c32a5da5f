/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/zip.h"

#include "base/object.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    MAX_COMMENT = 65535,
    MAX_ENTRIES = 1 << 20,
};

#define LOCAL_SIGNATURE      0x04034b50u
#define CENTRAL_SIGNATURE    0x02014b50u
#define END_SIGNATURE        0x06054b50u
#define END64_SIGNATURE      0x06064b50u
#define LOCATOR_SIGNATURE    0x07064b50u
#define DESCRIPTOR_SIGNATURE 0x08074b50u

#define FLAG_ENCRYPTED       0x0001u
#define FLAG_DESCRIPTOR      0x0008u

struct sk_zip {
    const uint8_t *bytes;
    size_t length;
    sk_arena *arena;
    const char *what;
    sk_zip_entry *entries;
    size_t n_entries, capacity;
    uint32_t *by_name;      /* indices sorted by name */
    atomic_uchar *verified; /* for each entry: its checksum was found right */
    uint64_t total_size;
    bool truncated;
};

static uint16_t read16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t read32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t read64(const uint8_t *p)
{
    return (uint64_t)read32(p) | (uint64_t)read32(p + 4) << 32;
}

bool sk_zip_looks_like(const void *bytes, size_t length)
{
    if (length < 4)
        return false;
    uint32_t signature = read32(bytes);
    return signature == LOCAL_SIGNATURE || signature == END_SIGNATURE;
}

static sk_status add_entry(sk_zip *zip, const sk_zip_entry *entry, const uint8_t *name, size_t name_length,
                           sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&zip->entries, &zip->capacity, zip->n_entries + 1, sizeof *zip->entries,
                            MAX_ENTRIES, err));
    char *copy = sk_arena_strndup(zip->arena, (const char *)name, name_length);
    if (!copy)
        return sk_fail_memory(err, name_length);
    sk_zip_entry *added = &zip->entries[zip->n_entries++];
    *added = *entry;
    added->name = copy;
    if (__builtin_add_overflow(zip->total_size, entry->size, &zip->total_size))
        zip->total_size = UINT64_MAX;
    return SK_OK;
}

/* --- the directory at the end --- */

typedef struct directory {
    uint64_t offset, bytes, count;
} directory;

/* The end record: the last one whose comment reaches exactly to the end of the file. */
static bool find_end(const sk_zip *zip, size_t *at)
{
    if (zip->length < END_BYTES)
        return false;
    size_t last = zip->length - END_BYTES;
    size_t first = last > MAX_COMMENT ? last - MAX_COMMENT : 0;
    for (size_t i = last + 1; i-- > first;) {
        const uint8_t *p = zip->bytes + i;
        if (p[0] == 'P' && read32(p) == END_SIGNATURE && i + END_BYTES + read16(p + 20) == zip->length) {
            *at = i;
            return true;
        }
    }
    return false;
}

static bool find_directory(const sk_zip *zip, directory *d)
{
    size_t end;
    if (!find_end(zip, &end))
        return false;
    const uint8_t *p = zip->bytes + end;
    d->count = read16(p + 10);
    d->bytes = read32(p + 12);
    d->offset = read32(p + 16);
    bool wide = d->count == 0xffff || d->bytes == 0xffffffff || d->offset == 0xffffffff;
    if (wide && end >= LOCATOR_BYTES && read32(p - LOCATOR_BYTES) == LOCATOR_SIGNATURE) {
        uint64_t at = read64(p - LOCATOR_BYTES + 8);
        if (at > zip->length || zip->length - at < END64_BYTES || read32(zip->bytes + at) != END64_SIGNATURE)
            return false;
        d->count = read64(zip->bytes + at + 32);
        d->bytes = read64(zip->bytes + at + 40);
        d->offset = read64(zip->bytes + at + 48);
    }
    return d->offset <= end && d->bytes <= end - d->offset && d->count <= d->bytes / CENTRAL_BYTES;
}

/* ZIP64 extra field: eight-byte values for exactly those fields that are saturated, in this order. */
static bool widen(sk_zip_entry *entry, const uint8_t *extra, size_t length)
{
    if (entry->size != 0xffffffff && entry->compressed != 0xffffffff && entry->header != 0xffffffff)
        return true;
    while (length >= 4) {
        size_t id = read16(extra), bytes = read16(extra + 2);
        if (bytes > length - 4)
            return false;
        if (id == 1) {
            const uint8_t *p = extra + 4, *stop = p + bytes;
            uint64_t *fields[3] = {&entry->size, &entry->compressed, &entry->header};
            for (int i = 0; i < 3; i++) {
                if (*fields[i] != 0xffffffff)
                    continue;
                if (stop - p < 8)
                    return false;
                *fields[i] = read64(p);
                p += 8;
            }
            return true;
        }
        extra += 4 + bytes;
        length -= 4 + bytes;
    }
    return true; /* a value of exactly 2^32 - 1 is legal */
}

static sk_status read_directory(sk_zip *zip, const directory *d, bool *whole, sk_error *err)
{
    const uint8_t *p = zip->bytes + d->offset, *stop = p + d->bytes;
    *whole = false;
    for (uint64_t i = 0; i < d->count; i++) {
        if (stop - p < CENTRAL_BYTES || read32(p) != CENTRAL_SIGNATURE)
            return SK_OK;
        size_t name = read16(p + 28), extra = read16(p + 30), comment = read16(p + 32);
        if ((size_t)(stop - p) - CENTRAL_BYTES < name + extra + comment)
            return SK_OK;
        sk_zip_entry entry = {
            .flags = read16(p + 8),
            .method = read16(p + 10),
            .crc = read32(p + 16),
            .compressed = read32(p + 20),
            .size = read32(p + 24),
            .header = read32(p + 42),
        };
        if (!widen(&entry, p + CENTRAL_BYTES + name, extra))
            return SK_OK;
        SK_TRY(add_entry(zip, &entry, p + CENTRAL_BYTES, name, err));
        p += CENTRAL_BYTES + name + extra + comment;
    }
    *whole = true;
    return SK_OK;
}

/* --- without a directory: walk the local headers --- */

/* Finds where a stored entry of unknown size ends: at a descriptor that names exactly the distance walked and the
 * checksum of what lies between. `after` is where the next header begins. */
static bool find_descriptor(const sk_zip *zip, size_t start, sk_zip_entry *entry, size_t *after)
{
    const uint8_t *base = zip->bytes + start;
    size_t left = zip->length - start, summed = 0;
    uLong crc =
        crc32_z(0, NULL, 0); /* of the first `summed` bytes: one pass, however many false descriptors */
    for (size_t i = 0; left >= 16 && i <= left - 16; i++) {
        const uint8_t *p = memchr(base + i, 'P', left - 16 - i + 1);
        if (!p)
            return false;
        i = (size_t)(p - base);
        if (read32(p) != DESCRIPTOR_SIGNATURE)
            continue;
        bool narrow = read32(p + 8) == i && read32(p + 12) == i;
        bool wide = !narrow && left - i >= 24 && read64(p + 8) == i && read64(p + 16) == i;
        if (!narrow && !wide)
            continue;
        entry->crc = read32(p + 4);
        crc = crc32_z(crc, base + summed, i - summed);
        summed = i;
        if (entry->crc != 0 && crc != entry->crc)
            continue;
        entry->size = entry->compressed = i;
        *after = start + i + (narrow ? 16 : 24);
        return true;
    }
    return false;
}

static sk_status salvage(sk_zip *zip, sk_error *err)
{
    size_t at = 0;
    zip->n_entries = 0;
    zip->total_size = 0;
    while (zip->length - at >= LOCAL_BYTES && read32(zip->bytes + at) == LOCAL_SIGNATURE) {
        const uint8_t *p = zip->bytes + at;
        size_t name = read16(p + 26), extra = read16(p + 28);
        if (zip->length - at - LOCAL_BYTES < name + extra)
            break;
        size_t start = at + LOCAL_BYTES + name + extra, after;
        sk_zip_entry entry = {
            .header = at,
            .flags = read16(p + 6),
            .method = read16(p + 8),
            .crc = read32(p + 14),
            .compressed = read32(p + 18),
            .size = read32(p + 22),
        };
        if (!widen(&entry, p + LOCAL_BYTES + name, extra))
            break;
        if (entry.flags & FLAG_DESCRIPTOR) {
            if (entry.method != 0 || !find_descriptor(zip, start, &entry, &after))
                break;
        } else {
            if (entry.compressed > zip->length - start)
                break;
            after = start + (size_t)entry.compressed;
        }
        entry.header = at;
        SK_TRY(add_entry(zip, &entry, p + LOCAL_BYTES, name, err));
        at = after;
    }
    zip->truncated = true;
    return SK_OK;
}

/* --- look-up --- */

static int compare_names(const void *a, const void *b, void *context)
{
    const sk_zip *zip = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int order = strcmp(zip->entries[i].name, zip->entries[j].name);
    return order ? order : (i > j) - (i < j);
}

static sk_status sort_names(sk_zip *zip, sk_error *err)
{
    zip->by_name = sk_calloc(zip->n_entries, sizeof *zip->by_name);
    zip->verified = sk_calloc(zip->n_entries, sizeof *zip->verified);
    if (!zip->by_name || !zip->verified)
        return sk_fail_memory(err, zip->n_entries * sizeof *zip->by_name);
    for (size_t i = 0; i < zip->n_entries; i++)
        zip->by_name[i] = (uint32_t)i;
    qsort_r(zip->by_name, zip->n_entries, sizeof *zip->by_name, compare_names, zip);
    return SK_OK;
}

static sk_status load(sk_zip *zip, sk_error *err)
{
    directory d;
    bool whole = false;
    if (find_directory(zip, &d))
        SK_TRY(read_directory(zip, &d, &whole, err));
    if (!whole)
        SK_TRY(salvage(zip, err));
    if (zip->truncated && zip->n_entries == 0)
        return sk_fail(
            err, SK_ERR_FORMAT,
            "%s: zip directory missing; file truncated at %zu bytes, nothing in it is whole. Copy or "
            "download it again",
            zip->what, zip->length);
    return sort_names(zip, err);
}

sk_status sk_zip_open_memory(const void *bytes, size_t length, const char *what, sk_zip **out, sk_error *err)
{
    SK_CHECK_ARG(bytes && what && out, err);
    *out = NULL;
    if (!sk_zip_looks_like(bytes, length))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a zip archive", what);
    sk_zip *zip = sk_calloc(1, sizeof *zip);
    if (!zip)
        return sk_fail_memory(err, sizeof *zip);
    zip->bytes = bytes;
    zip->length = length;
    sk_status status = sk_arena_open(0, &zip->arena, err);
    if (status == SK_OK) {
        zip->what = sk_arena_strdup(zip->arena, what);
        status = zip->what ? load(zip, err) : sk_fail_memory(err, strlen(what));
    }
    if (status != SK_OK) {
        sk_zip_close(&zip);
        return status;
    }
    *out = zip;
    return SK_OK;
}

void sk_zip_close(sk_zip **zip)
{
    SK_TAKE_OR_RETURN(z, zip);
    sk_arena_close(&z->arena);
    sk_free_all(z->entries, z->by_name, z->verified, z);
}

bool sk_zip_truncated(const sk_zip *zip)
{
    return zip->truncated;
}

size_t sk_zip_length(const sk_zip *zip)
{
    return zip->length;
}

size_t sk_zip_count(const sk_zip *zip)
{
    return zip->n_entries;
}

uint64_t sk_zip_total_size(const sk_zip *zip)
{
    return zip->total_size;
}

const sk_zip_entry *sk_zip_at(const sk_zip *zip, size_t index)
{
    return index < zip->n_entries ? &zip->entries[index] : NULL;
}

const sk_zip_entry *sk_zip_find(const sk_zip *zip, const char *name)
{
    size_t low = 0, high = zip->n_entries;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(zip->entries[zip->by_name[middle]].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == zip->n_entries)
        return NULL;
    const sk_zip_entry *entry = &zip->entries[zip->by_name[low]];
    return strcmp(entry->name, name) == 0 ? entry : NULL;
}

/* --- contents --- */

static sk_status inflate_entry(const sk_zip *zip, const sk_zip_entry *entry, const uint8_t *data,
                               sk_blob **hold, sk_error *err)
{
    /* Deflate cannot shrink below 1/1032; more is a lie and would only cost memory. zlib counts in 32 bits. */
    if (entry->size / 1032 > entry->compressed || entry->size > UINT32_MAX || entry->compressed > UINT32_MAX)
        return sk_fail(err, SK_ERR_LIMIT,
                       "%s: entry '%s' claims to inflate from %" PRIu64 " to %" PRIu64 " bytes", zip->what,
                       entry->name, entry->compressed, entry->size);
    SK_TRY(sk_blob_alloc((size_t)entry->size, hold, err));
    z_stream stream = {0};
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)entry->compressed;
    stream.next_out = sk_blob_data(*hold);
    stream.avail_out = (uInt)entry->size;
    int code = inflateInit2(&stream, -MAX_WBITS);
    if (code == Z_OK) {
        code = inflate(&stream, Z_FINISH);
        inflateEnd(&stream);
    }
    if (code == Z_STREAM_END && stream.total_out == entry->size)
        return SK_OK;
    sk_blob_unref(hold);
    return sk_fail(err, SK_ERR_FORMAT,
                   "%s: entry '%s' does not inflate to its %" PRIu64 " bytes (zlib code %d); the "
                   "file is damaged. Copy or download it again",
                   zip->what, entry->name, entry->size, code);
}

sk_status sk_zip_read(const sk_zip *zip, const sk_zip_entry *entry, const uint8_t **bytes, sk_blob **hold,
                      sk_error *err)
{
    *bytes = NULL;
    *hold = NULL;
    if (entry->flags & FLAG_ENCRYPTED)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: entry '%s' is encrypted; unpack it with its password first", zip->what,
                       entry->name);
    if (entry->method != 0 && entry->method != 8)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "%s: entry '%s' uses zip compression method %u; repack it with "
                       "'zip -0'",
                       zip->what, entry->name, entry->method);
    if (entry->header > zip->length || zip->length - entry->header < LOCAL_BYTES ||
        read32(zip->bytes + entry->header) != LOCAL_SIGNATURE)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: entry '%s' has no header at byte %" PRIu64 "; the file is damaged. "
                       "Copy or download it again",
                       zip->what, entry->name, entry->header);
    const uint8_t *header = zip->bytes + entry->header;
    uint64_t start = entry->header + LOCAL_BYTES + read16(header + 26) + read16(header + 28);
    if (start > zip->length || entry->compressed > zip->length - start)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: entry '%s' of %" PRIu64 " bytes goes beyond the end of the file "
                       "(%zu bytes). Copy or download it again",
                       zip->what, entry->name, entry->compressed, zip->length);
    const uint8_t *data = zip->bytes + start;
    if (entry->method == 8) {
        SK_TRY(inflate_entry(zip, entry, data, hold, err));
        data = sk_blob_data(*hold);
    } else if (entry->size != entry->compressed) {
        return sk_fail(err, SK_ERR_FORMAT, "%s: stored entry '%s' has two sizes, %" PRIu64 " and %" PRIu64,
                       zip->what, entry->name, entry->compressed, entry->size);
    }
    atomic_uchar *verified = &zip->verified[entry - zip->entries];
    if (entry->crc != 0 && (entry->method != 0 || !atomic_load(verified))) {
        if (crc32_z(0, data, (size_t)entry->size) != entry->crc) {
            sk_blob_unref(hold);
            return sk_fail(
                err, SK_ERR_FORMAT,
                "%s: entry '%s' does not match its checksum; the file is damaged. Copy or download it again",
                zip->what, entry->name);
        }
        atomic_store(verified, 1);
    }
    *bytes = data;
    return SK_OK;
}

uint64_t sk_zip_work(const sk_zip *zip, const sk_zip_entry *entry)
{
    if (entry->method == 0 && (entry->crc == 0 || atomic_load(&zip->verified[entry - zip->entries])))
        return 0;
    return entry->size;
}
