/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/hdf5_format.h"

#include <string.h>
#include <zlib.h>

#define MAX_CHUNK_BYTES ((uint64_t)256 << 20)
#define MAX_TREE_DEPTH  16

typedef struct {
    const sk_hdf5_item *item;
    uint8_t *out;
    uint64_t chunk_bytes;
    uint8_t *buffers[2]; /* chunk_bytes + 8 each: filters go from one to the other */
    uint64_t budget;     /* bytes that may still be looked at: a hostile tree may repeat itself */
    sk_error *err;
} reader;

static sk_status damaged(const reader *r, const char *why)
{
    return sk_fail(r->err, SK_ERR_FORMAT, "%s: %s: %s", r->item->file->what, r->item->label, why);
}

/* --- filters, undone --- */

/* At most `capacity` bytes; false when the stream is damaged or longer. */
static bool inflate_into(const uint8_t *from, uint64_t length, uint8_t *to, uint64_t capacity, uint64_t *made)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)from,
                  .avail_in = (uInt)length,
                  .next_out = to,
                  .avail_out = (uInt)capacity};
    if (length > UINT32_MAX || inflateInit(&z) != Z_OK)
        return false;
    int result = inflate(&z, Z_FINISH);
    *made = capacity - z.avail_out;
    inflateEnd(&z);
    return result == Z_STREAM_END;
}

/* Byte k of every element lies together; the rest that makes no whole element stays at the end. */
static void unshuffle(const uint8_t *from, uint64_t length, uint32_t size, uint8_t *to)
{
    uint64_t count = length / size;
    for (uint32_t k = 0; k < size; k++)
        for (uint64_t i = 0; i < count; i++)
            to[i * size + k] = from[k * count + i];
    memcpy(to + count * size, from + count * size, (size_t)(length - count * size));
}

/* The chunk's plain bytes, chunk_bytes of them. */
static sk_status undo_filters(reader *r, const uint8_t *data, uint64_t length, uint64_t skipped,
                              const uint8_t **out)
{
    int next = 0;
    for (int i = r->item->n_filters - 1; i >= 0; i--) {
        if (skipped >> i & 1)
            continue;
        uint8_t *to = r->buffers[next];
        uint64_t made = length;
        switch (r->item->filters[i].id) {
        case 1:
            if (!inflate_into(data, length, to, r->chunk_bytes + 8, &made))
                return damaged(r, "a compressed chunk is damaged");
            break;
        case 2:
            if (length > r->chunk_bytes + 8)
                return damaged(r, "a chunk is too long");
            unshuffle(data, length, r->item->type.size, to);
            break;
        default: /* a checksum of 4 bytes at the end */
            if (length < 4)
                return damaged(r, "a chunk is cut short");
            length -= 4;
            continue;
        }
        data = to;
        length = made;
        next = !next;
    }
    if (length != r->chunk_bytes)
        return damaged(r, "a chunk is of the wrong length");
    *out = data;
    return SK_OK;
}

/* --- placing --- */

static sk_status place_chunk(reader *r, const uint8_t *chunk, const uint64_t *offset)
{
    const sk_hdf5_item *it = r->item;
    int rank = it->shape.rank;
    uint64_t size = it->type.size, index[SK_MAX_RANK] = {0};
    for (int i = 0; i < rank; i++)
        if (offset[i] >= (uint64_t)it->shape.dim[i])
            return SK_OK; /* left over from before the dataset was shrunk */
    uint64_t row = it->chunk[rank - 1], rows = r->chunk_bytes / size / row;
    uint64_t room = (uint64_t)it->shape.dim[rank - 1] - offset[rank - 1];
    uint64_t used = row < room ? row : room;
    for (uint64_t n = 0; n < rows; n++) {
        uint64_t at = 0;
        bool inside = true;
        for (int i = 0; i < rank; i++) {
            uint64_t position = offset[i] + (i < rank - 1 ? index[i] : 0);
            inside = inside && position < (uint64_t)it->shape.dim[i];
            at = at * (uint64_t)it->shape.dim[i] + position;
        }
        if (inside)
            memcpy(r->out + at * size, chunk + n * row * size, (size_t)(used * size));
        for (int i = rank - 2; i >= 0 && ++index[i] == it->chunk[i]; i--)
            index[i] = 0;
    }
    return SK_OK;
}

static sk_status read_chunk(reader *r, uint64_t address, uint64_t stored, uint64_t skipped,
                            const uint64_t *offset)
{
    sk_hdf5_cursor c = sk_hdf5_view(r->item->file, address, stored);
    const uint8_t *data = sk_hdf5_take(&c, stored), *plain = NULL;
    if (!data)
        return damaged(r, "a chunk lies outside the file");
    if (r->budget < r->chunk_bytes)
        return sk_fail(r->err, SK_ERR_LIMIT, "%s: %s: more chunks than the dataset has room for",
                       r->item->file->what, r->item->label);
    r->budget -= r->chunk_bytes;
    SK_TRY(undo_filters(r, data, stored, skipped, &plain));
    return place_chunk(r, plain, offset); /* NOLINT(clang-analyzer-unix.Malloc): plain is in r->buffers */
}

/* A node of the tree of chunks: keys (stored size, skipped filters, place) and children in turn. */
static sk_status walk(reader *r, uint64_t address, int depth)
{
    sk_hdf5_file *file = r->item->file;
    uint64_t room = file->length - file->base;
    sk_hdf5_cursor c = sk_hdf5_view(file, address, address <= room ? room - address : 0);
    const uint8_t *signature = sk_hdf5_take(&c, 4);
    int type = (int)sk_hdf5_number(&c, 1), level = (int)sk_hdf5_number(&c, 1);
    int count = (int)sk_hdf5_number(&c, 2);
    sk_hdf5_take(&c, 16);
    if (c.bad || memcmp(signature, "TREE", 4) != 0 || type != 1 || depth > MAX_TREE_DEPTH)
        return damaged(r, "its tree of chunks is damaged");
    for (int i = 0; i < count; i++) {
        uint64_t offset[SK_MAX_RANK];
        uint64_t stored = sk_hdf5_number(&c, 4), skipped = sk_hdf5_number(&c, 4);
        for (int k = 0; k < r->item->shape.rank; k++)
            offset[k] = sk_hdf5_number(&c, 8);
        sk_hdf5_take(&c, 8); /* the element's own dimension */
        uint64_t child = sk_hdf5_number(&c, 8);
        if (c.bad || r->budget < 64)
            return damaged(r, "its tree of chunks is damaged");
        r->budget -= 64;
        SK_TRY(level > 0 ? walk(r, child, depth + 1) : read_chunk(r, child, stored, skipped, offset));
    }
    return SK_OK;
}

/* How much may be looked at: every chunk once, but no more than some times the data where chunks reach far
 * beyond it. */
static uint64_t work_allowed(const sk_hdf5_item *item, uint64_t chunk_bytes)
{
    uint64_t chunks = 1, decoded, total = item->count * item->type.size;
    for (int i = 0; i < item->shape.rank; i++)
        chunks *= ((uint64_t)item->shape.dim[i] + item->chunk[i] - 1) / item->chunk[i];
    if (__builtin_mul_overflow(chunks, chunk_bytes, &decoded) || decoded > 32 * total + 2 * MAX_CHUNK_BYTES)
        decoded = 32 * total + 2 * MAX_CHUNK_BYTES;
    return decoded + chunks * 128 + 65536;
}

sk_status sk_hdf5_read_chunks(const sk_hdf5_item *item, uint8_t *out, sk_error *err)
{
    reader r = {.item = item, .out = out, .chunk_bytes = item->type.size, .err = err};
    sk_status status = SK_OK;
    for (int i = 0; i < item->shape.rank; i++) {
        r.chunk_bytes *= item->chunk[i];
        if (r.chunk_bytes > MAX_CHUNK_BYTES)
            return sk_fail(err, SK_ERR_LIMIT, "%s: %s: chunks of more than %llu bytes", item->file->what,
                           item->label, (unsigned long long)MAX_CHUNK_BYTES);
    }
    r.budget = work_allowed(item, r.chunk_bytes);
    for (int i = 0; i < 2; i++) {
        r.buffers[i] = sk_malloc((size_t)r.chunk_bytes + 8);
        if (!r.buffers[i]) {
            status = sk_fail_memory(err, (size_t)r.chunk_bytes);
            goto done;
        }
    }
    status = walk(&r, item->address, 0);
done:
    sk_free(r.buffers[0]);
    sk_free(r.buffers[1]);
    return status;
}
