/* SPDX-License-Identifier: Apache-2.0 */
#include "media/picture.h"

#include "base/file.h"
#include "base/memory.h"

#include <string.h>
#include <unistd.h>

/* The list of a TIFF's pages, followed by hand: libtiff needs the square of their number, and its first page is read anew
 * for each. Both forms: 32-bit offsets ("II*\0", "MM\0*") and 64-bit (BigTIFF, '+' for '*'). */

#define MOST_PAGES   ((size_t)1 << 20)
#define MOST_ENTRIES 4096

typedef struct walker {
    const char *path;
    const unsigned char *data; /* null: from the file */
    uint64_t length;
    int file;
    bool big_endian, wide; /* wide: BigTIFF */
} walker;

static bool take(const walker *w, uint64_t at, void *out, size_t count)
{
    if (at > w->length || w->length - at < count)
        return false;
    if (w->data) {
        memcpy(out, w->data + at, count);
        return true;
    }
    return pread(w->file, out, count, (off_t)at) == (ssize_t)count;
}

static uint64_t number(const walker *w, const unsigned char *p, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)p[w->big_endian ? bytes - 1 - i : i] << (8 * i);
    return value;
}

bool sk_picture_is_tiff(const unsigned char *start, size_t length)
{
    return length >= 8 && (memcmp(start, "II*\0", 4) == 0 || memcmp(start, "MM\0*", 4) == 0 ||
                           memcmp(start, "II+\0", 4) == 0 || memcmp(start, "MM\0+", 4) == 0);
}

static sk_status damaged(const walker *w, const char *why, sk_error *err)
{
    return sk_fail(err, SK_ERR_FORMAT, "%s: damaged TIFF: %s", w->path, why);
}

#define SUBFILE_TYPE 254
#define REDUCED      1 /* a small copy of another page */
#define MASK         4

/* One page's table: is it a picture of its own, and where is the next? */
static sk_status look_at(const walker *w, uint64_t at, bool *counts, uint64_t *next, sk_error *err)
{
    unsigned char head[8], entry[20];
    int head_bytes = w->wide ? 8 : 2, entry_bytes = w->wide ? 20 : 12, offset_bytes = w->wide ? 8 : 4;
    if (!take(w, at, head, (size_t)head_bytes))
        return damaged(w, "the file ends before a page's table", err);
    uint64_t entries = number(w, head, head_bytes);
    if (entries == 0 || entries > MOST_ENTRIES)
        return damaged(w, "a page's table has no plausible length", err);
    *counts = true;
    for (uint64_t i = 0; i < entries; i++) {
        if (!take(w, at + (uint64_t)head_bytes + i * (uint64_t)entry_bytes, entry, (size_t)entry_bytes))
            return damaged(w, "the file ends in a page's table", err);
        uint64_t tag = number(w, entry, 2);
        if (tag == SUBFILE_TYPE)
            *counts = !(number(w, entry + (w->wide ? 12 : 8), 4) & (REDUCED | MASK));
        if (tag >= SUBFILE_TYPE) /* tags come in rising order */
            break;
    }
    unsigned char end[8];
    if (!take(w, at + (uint64_t)head_bytes + entries * (uint64_t)entry_bytes, end, (size_t)offset_bytes))
        return damaged(w, "the file ends behind a page's table", err);
    *next = number(w, end, offset_bytes);
    return SK_OK;
}

static sk_status walk(walker *w, sk_tiff_pages *out, sk_error *err)
{
    unsigned char head[16] = {0};
    if (!take(w, 0, head, 8) || !sk_picture_is_tiff(head, 8))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a TIFF", w->path);
    w->big_endian = head[0] == 'M';
    w->wide = head[2] == '+' || head[3] == '+';
    if (w->wide && !take(w, 0, head, 16))
        return damaged(w, "the file ends in its head", err);
    uint64_t at = w->wide ? number(w, head + 8, 8) : number(w, head + 4, 4), mark = 0;
    for (size_t seen = 0; at != 0; seen++) {
        bool counts = true;
        uint64_t next = 0;
        if (seen == MOST_PAGES)
            return sk_fail(err, SK_ERR_LIMIT, "%s: more than %zu pages", w->path, MOST_PAGES);
        SK_TRY(look_at(w, at, &counts, &next, err));
        if (counts) {
            SK_TRY(sk_array_reserve((void **)&out->offsets, &out->capacity, out->count + 1,
                                    sizeof *out->offsets, MOST_PAGES, err));
            out->offsets[out->count++] = at;
        }
        if ((seen & (seen + 1)) == 0) /* a circle comes back to one of the places marked at 1, 2, 4 … */
            mark = at;
        if (next == mark)
            return damaged(w, "its list of pages goes in a circle", err);
        at = next;
    }
    return out->count ? SK_OK : damaged(w, "it holds no page", err);
}

sk_status sk_tiff_list(const char *path, const unsigned char *data, size_t length, sk_tiff_pages *out,
                       sk_error *err)
{
    walker w = {.path = path, .data = data, .length = length, .file = -1};
    *out = (sk_tiff_pages){0};
    if (!data) {
        int64_t size = 0;
        SK_TRY(sk_file_open(path, &w.file, &size, err));
        w.length = (uint64_t)size;
    }
    sk_status status = walk(&w, out, err);
    if (w.file >= 0)
        close(w.file);
    if (status != SK_OK)
        sk_tiff_pages_free(out);
    return status;
}

void sk_tiff_pages_free(sk_tiff_pages *pages)
{
    sk_free(pages->offsets);
    *pages = (sk_tiff_pages){0};
}
