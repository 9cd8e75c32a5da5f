/* SPDX-License-Identifier: Apache-2.0 */
#include "results/result_reader.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/transfer.h"
#include "results/journal_entry.h"
#include "results/jsonl_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES_MOST ((size_t)1 << 28)
#define CHUNK       ((size_t)1 << 20)
#define LINE_MOST   ((size_t)64 << 20)

typedef struct place {
    int64_t frame, offset;
} place;

typedef struct reader_kind {
    /* The file is open, `end` 0: where its entries begin. */
    sk_status (*begin)(sk_result_reader *r, sk_error *err);
    /* Notes every whole entry from `end` on. */
    sk_status (*scan)(sk_result_reader *r, sk_error *err);
    sk_status (*read)(sk_result_reader *r, int64_t entry, sk_result_frame *out, sk_error *err);
} reader_kind;

struct sk_result_reader {
    const reader_kind *kind;
    char *path;
    int file;
    dev_t device;
    ino_t inode;
    int64_t end; /* of what was looked at */
    int64_t round;
    bool finished;
    place *places;
    size_t count, capacity;
    sk_journal_entry entry;
    sk_jsonl_line line;
    char *bytes; /* of lines */
    size_t bytes_capacity;
};

static sk_status note(sk_result_reader *r, int64_t frame, int64_t offset, sk_error *err)
{
    if (frame < 0 || (r->count && frame <= r->places[r->count - 1].frame))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: frame %lld follows frame %lld: the numbers of frames rise in a file of skitter",
                       r->path, (long long)frame, (long long)(r->count ? r->places[r->count - 1].frame : -1));
    SK_TRY(sk_array_reserve((void **)&r->places, &r->capacity, r->count + 1, sizeof *r->places, FRAMES_MOST,
                            err));
    r->places[r->count++] = (place){frame, offset};
    return SK_OK;
}

/* --- journals --- */

static sk_status begin_journal(sk_result_reader *r, sk_error *err)
{
    journal_head head;
    if (sk_read_all_at(r->file, &head, sizeof head, 0) != sizeof head ||
        memcmp(head.magic, JOURNAL_MAGIC, sizeof head.magic) != 0 ||
        head.identity_length > JOURNAL_IDENTITY_LIMIT)
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a journal of this version of skitter", r->path);
    r->end = (int64_t)sizeof head + head.identity_length;
    return SK_OK;
}

static sk_status scan_journal(sk_result_reader *r, sk_error *err)
{
    int64_t at = r->end, frame;
    while (sk_journal_entry_read(&r->entry, r->file, &at, &r->finished)) {
        memcpy(&frame, r->entry.body, sizeof frame);
        SK_TRY(note(r, frame, r->end, err));
        r->end = at;
    }
    return r->entry.scarce ? sk_fail_memory(err, r->entry.length) : SK_OK;
}

static sk_status read_journal(sk_result_reader *r, int64_t entry, sk_result_frame *out, sk_error *err)
{
    int64_t at = r->places[entry].offset;
    bool ended;
    if (sk_journal_entry_read(&r->entry, r->file, &at, &ended) && sk_journal_entry_parse(&r->entry, out))
        return SK_OK;
    if (r->entry.scarce)
        return sk_fail_memory(err, r->entry.length);
    return sk_fail(err, SK_ERR_FORMAT, "%s: the entry of frame %lld cannot be read", r->path,
                   (long long)r->places[entry].frame);
}

static const reader_kind journal_kind = {begin_journal, scan_journal, read_journal};

/* --- lines --- */

static sk_status begin_jsonl(sk_result_reader *r, sk_error *err)
{
    (void)r, (void)err;
    return SK_OK;
}

static sk_status reserve_bytes(sk_result_reader *r, size_t wanted, sk_error *err)
{
    if (wanted > LINE_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "%s: a line of more than %zu bytes", r->path, LINE_MOST);
    return sk_array_reserve((void **)&r->bytes, &r->bytes_capacity, wanted, 1, LINE_MOST, err);
}

static sk_status take_line(sk_result_reader *r, const char *line, size_t length, sk_error *err)
{
    const int64_t frame = sk_jsonl_line_number(line, length);
    if (frame < 0)
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: line %zu: an object with \"frame\" was expected\ndocs/results.md describes these "
                       "lines",
                       r->path, r->count + 1);
    return note(r, frame, r->end, err);
}

/* A last line without its end is one that is being written. */
static sk_status scan_jsonl(sk_result_reader *r, sk_error *err)
{
    size_t have = 0, got;
    int64_t offset = r->end;
    do {
        SK_TRY(reserve_bytes(r, have + CHUNK, err));
        got = sk_read_all_at(r->file, r->bytes + have, CHUNK, offset);
        offset += (int64_t)got;
        const char *at = r->bytes, *end = r->bytes + have + got, *stop;
        const char *from = at + have; /* what was there before holds no line end */
        while ((stop = memchr(from, '\n', (size_t)(end - from)))) {
            SK_TRY(take_line(r, at, (size_t)(stop - at), err));
            r->end += stop + 1 - at;
            from = at = stop + 1;
        }
        have = (size_t)(end - at);
        memmove(r->bytes, at, have);
    } while (got == CHUNK);
    return SK_OK;
}

static sk_status read_jsonl(sk_result_reader *r, int64_t entry, sk_result_frame *out, sk_error *err)
{
    char what[64];
    const int64_t from = r->places[entry].offset;
    const int64_t to = (size_t)entry + 1 < r->count ? r->places[entry + 1].offset : r->end;
    const size_t length = (size_t)(to - from);
    SK_TRY(reserve_bytes(r, length, err));
    if (sk_read_all_at(r->file, r->bytes, length, from) != length)
        return sk_fail(err, SK_ERR_IO, "%s: was changed while it was read", r->path);
    snprintf(what, sizeof what, "line %lld", (long long)entry + 1);
    sk_status status = sk_jsonl_line_read(&r->line, r->bytes, length ? length - 1 : 0, what, out, err);
    if (status != SK_OK)
        sk_error_prefix(err, "%s", r->path);
    return status;
}

static const reader_kind jsonl_kind = {begin_jsonl, scan_jsonl, read_jsonl};

/* --- either --- */

static sk_status open_file(sk_result_reader *r, sk_error *err)
{
    struct stat info;
    if (r->file >= 0)
        close(r->file);
    sk_journal_entry_forget(&r->entry);
    r->file = -1;
    r->count = 0;
    r->end = 0;
    r->finished = false;
    SK_TRY(sk_file_open_own(r->path, O_RDONLY, &r->file, err));
    if (fstat(r->file, &info) != 0)
        return sk_fail(err, SK_ERR_IO, "%s: %s", r->path, strerror(errno));
    r->device = info.st_dev;
    r->inode = info.st_ino;
    return r->kind->begin(r, err);
}

static sk_status open_reader(const char *path, const reader_kind *kind, sk_result_reader **out, sk_error *err)
{
    *out = NULL;
    sk_result_reader *r = sk_calloc(1, sizeof *r);
    if (!r)
        return sk_fail_memory(err, sizeof *r);
    r->kind = kind;
    r->file = -1;
    r->path = sk_strdup(path);
    sk_status status = r->path ? open_file(r, err) : sk_fail_memory(err, strlen(path));
    if (status == SK_OK)
        status = kind->scan(r, err);
    return SK_HAND_OVER(status, r, out, sk_result_reader_close);
}

sk_status sk_result_reader_open_journal(const char *path, sk_result_reader **out, sk_error *err)
{
    return open_reader(path, &journal_kind, out, err);
}

sk_status sk_result_reader_open_jsonl(const char *path, int32_t n_keypoints, sk_result_reader **out,
                                      sk_error *err)
{
    SK_TRY(open_reader(path, &jsonl_kind, out, err));
    (*out)->line.least_keypoints = n_keypoints;
    return SK_OK;
}

void sk_result_reader_close(sk_result_reader **pointer)
{
    SK_TAKE_OR_RETURN(r, pointer);
    if (r->file >= 0)
        close(r->file);
    sk_journal_entry_free(&r->entry);
    sk_jsonl_line_free(&r->line);
    sk_free_all(r->path, r->places, r->bytes, r);
}

sk_status sk_result_reader_refresh(sk_result_reader *r, sk_error *err)
{
    struct stat info;
    const bool there = lstat(r->path, &info) == 0;
    if (there && (info.st_dev != r->device || info.st_ino != r->inode || info.st_size < r->end)) {
        SK_TRY(open_file(r, err));
        r->round++;
    }
    return r->file >= 0 ? r->kind->scan(r, err) : sk_fail(err, SK_ERR_NOT_FOUND, "%s: is gone", r->path);
}

int64_t sk_result_reader_count(const sk_result_reader *r)
{
    return (int64_t)r->count;
}

int64_t sk_result_reader_round(const sk_result_reader *r)
{
    return r->round;
}

bool sk_result_reader_finished(const sk_result_reader *r)
{
    return r->finished;
}

int64_t sk_result_reader_number(const sk_result_reader *r, int64_t entry)
{
    return entry >= 0 && (size_t)entry < r->count ? r->places[entry].frame : -1;
}

int64_t sk_result_reader_find(const sk_result_reader *r, int64_t frame)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->places[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low;
}

sk_status sk_result_reader_read(sk_result_reader *r, int64_t entry, sk_result_frame *out, sk_error *err)
{
    SK_CHECK_ARG(entry >= 0 && (size_t)entry < r->count, err);
    return r->kind->read(r, entry, out, err);
}
