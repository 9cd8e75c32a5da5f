/* SPDX-License-Identifier: Apache-2.0 */
#include "results/journal.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/object.h"
#include "base/transfer.h"
#include "results/journal_entry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

static const char magic[8] = JOURNAL_MAGIC;
static const char family[6] = JOURNAL_FAMILY;
#define BUFFER_BYTES (4u << 20)

struct sk_journal {
    int fd;
    char *path;
    uint64_t id;
    int64_t count, last_index;
    int64_t end;   /* file offset after the last good entry, without what is buffered */
    int64_t begin; /* offset of the first entry */
    bool finished;
    char stamp[SK_JOURNAL_STAMP];
    unsigned char *buffer;
    size_t used;
    sk_journal_entry entry; /* for reading */
};

static sk_status io_failed(const sk_journal *j, const char *what, sk_error *err)
{
    return sk_fail(err, SK_ERR_IO, "%s: %s failed: %s", j->path, what, strerror(errno));
}

static sk_status write_all(sk_journal *j, const void *data, size_t bytes, sk_error *err)
{
    size_t put = sk_write_all_at(j->fd, data, bytes, j->end);
    sk_journal_entry_forget(&j->entry);
    j->end += (int64_t)put;
    if (put == bytes)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_IO,
        "%s: writing failed: %s. What was written before is kept; make room and run the same command "
        "again to continue",
        j->path, strerror(errno));
}

sk_status sk_journal_flush(sk_journal *j, bool durable, sk_error *err)
{
    if (!j)
        return SK_OK;
    int64_t before = j->end;
    sk_status status = write_all(j, j->buffer, j->used, err);
    if (status != SK_OK) {
        j->end = before; /* a torn entry is overwritten by the next attempt or cut off at the next start */
        return status;
    }
    j->used = 0;
    if (durable && fdatasync(j->fd) != 0 && errno != EINVAL)
        return io_failed(j, "syncing", err);
    return SK_OK;
}

/* Room for `bytes` more in the buffer; flushes or grows. */
static sk_status make_room(sk_journal *j, size_t bytes, sk_error *err)
{
    if (j->used + bytes <= BUFFER_BYTES)
        return SK_OK;
    SK_TRY(sk_journal_flush(j, false, err));
    if (bytes <= BUFFER_BYTES)
        return SK_OK;
    return sk_fail(err, SK_ERR_LIMIT, "%s: one frame's results take %zu bytes, at most %u are kept", j->path,
                   bytes, BUFFER_BYTES);
}

sk_status sk_journal_append(sk_journal *j, const sk_result_frame *frame, sk_error *err)
{
    if (!j)
        return SK_OK;
    const sk_instances *in = frame->instances;
    const size_t frame_id = frame->frame_id ? strlen(frame->frame_id) + 1 : 0; /* with the zero before it */
    journal_body_head head = {.index = frame->index,
                              .time = frame->time,
                              .wall_ns = frame->wall_ns,
                              .width = frame->width,
                              .height = frame->height,
                              .picture = frame->picture,
                              .source_length = (int32_t)(strlen(frame->source) + frame_id),
                              .problem_length = frame->problem ? (int32_t)strlen(frame->problem) : 0,
                              .count = in->count,
                              .n_keypoints = in->n_keypoints};
    size_t source = (size_t)head.source_length, problem = (size_t)head.problem_length,
           items = (size_t)in->count * sizeof *in->items;
    size_t points = (size_t)in->count * (size_t)in->n_keypoints * sizeof *in->keypoints;
    size_t looks = frame->looks ? (size_t)in->count * SK_TRACK_LOOKS : 0;
    size_t body = sizeof head + source + problem + items + points + looks;
    SK_TRY(make_room(j, 8 + body, err));
    unsigned char *at = j->buffer + j->used, *body_at = at + 8;
    memcpy(body_at, &head, sizeof head);
    memcpy(body_at + sizeof head, frame->source, source - frame_id);
    if (frame_id) {
        body_at[sizeof head + source - frame_id] = '\0';
        memcpy(body_at + sizeof head + source - frame_id + 1, frame->frame_id, frame_id - 1);
    }
    if (problem)
        memcpy(body_at + sizeof head + source, frame->problem, problem);
    unsigned char *item_at = body_at + sizeof head + source + problem, *point_at = item_at + items;
    if (items)
        memcpy(item_at, in->items, items);
    for (int32_t i = 0; i < in->count && points; i++) /* instances' keypoints, brought into their order */
        memcpy(point_at + (size_t)i * (size_t)in->n_keypoints * sizeof *in->keypoints,
               in->keypoints + in->items[i].first_keypoint, (size_t)in->n_keypoints * sizeof *in->keypoints);
    if (looks)
        memcpy(point_at + points, frame->looks, looks);
    uint32_t length = (uint32_t)body, sum = XXH32(body_at, body, 0);
    memcpy(at, &length, 4);
    memcpy(at + 4, &sum, 4);
    j->used += 8 + body;
    j->count++;
    j->last_index = frame->index;
    return SK_OK;
}

sk_status sk_journal_finish(sk_journal *j, sk_error *err)
{
    uint32_t mark[2] = {0, JOURNAL_END_MARK};
    SK_TRY(make_room(j, sizeof mark, err));
    memcpy(j->buffer + j->used, mark, sizeof mark);
    j->used += sizeof mark;
    j->finished = true;
    return sk_journal_flush(j, true, err);
}

static bool read_at(const sk_journal *j, int64_t offset, void *data, size_t bytes)
{
    return sk_read_all_at(j->fd, data, bytes, offset) == bytes;
}

sk_status sk_journal_replay(sk_journal *j, sk_journal_visit visit, void *context, sk_error *err)
{
    if (!j)
        return SK_OK;
    SK_TRY(sk_journal_flush(j, false, err));
    sk_status status = SK_OK;
    int64_t offset = j->begin;
    for (int64_t i = 0; i < j->count && status == SK_OK; i++) {
        bool ended;
        sk_result_frame frame;
        if (!sk_journal_entry_read(&j->entry, j->fd, &offset, &ended) ||
            !sk_journal_entry_parse(&j->entry, &frame))
            status = j->entry.scarce
                         ? sk_fail_memory(err, j->entry.length)
                         : sk_fail(err, SK_ERR_FORMAT,
                                   "%s: entry %lld can no longer be read; run again with --restart", j->path,
                                   (long long)i);
        else
            status = visit(context, &frame, err);
    }
    return status;
}

/* Walks the entries; leaves count, end and finished set and the file cut after the last good one. */
static sk_status find_end(sk_journal *j, int64_t at_most, sk_error *err)
{
    int64_t offset = j->begin;
    bool ended = false;
    j->count = 0;
    j->last_index = -1;
    while (j->count < at_most && sk_journal_entry_read(&j->entry, j->fd, &offset, &ended)) {
        memcpy(&j->last_index, j->entry.body, sizeof j->last_index);
        j->count++;
    }
    if (j->entry.scarce) /* more may follow: nothing is cut off */
        return sk_fail_memory(err, j->entry.length);
    j->end = offset;
    j->finished = ended;
    if (!ended && ftruncate(j->fd, offset) != 0)
        return io_failed(j, "cutting off an incomplete entry", err);
    return SK_OK;
}

sk_status sk_journal_truncate(sk_journal *j, int64_t count, sk_error *err)
{
    SK_TRY(sk_journal_flush(j, false, err));
    return count < j->count || j->finished ? find_end(j, count, err) : SK_OK;
}

static sk_status begin_new(const char *path, const char *identity, const char *stamp, sk_error *err)
{
    size_t length = strlen(identity);
    if (length > JOURNAL_IDENTITY_LIMIT)
        return sk_fail(err, SK_ERR_LIMIT, "%s: the run's settings take %zu bytes, at most %u are kept", path,
                       length, JOURNAL_IDENTITY_LIMIT);
    char *bytes = sk_malloc(sizeof(journal_head) + length);
    if (!bytes)
        return sk_fail_memory(err, length);
    journal_head head = {.identity_length = (uint32_t)length, .identity_sum = XXH32(identity, length, 0)};
    memcpy(head.magic, magic, sizeof magic);
    snprintf(head.stamp, sizeof head.stamp, "%s", stamp);
    const int64_t now[3] = {sk_clock_ns(), sk_clock_wall_ms(), getpid()};
    head.id = XXH64(now, sizeof now, head.identity_sum);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, identity, length);
    sk_status status = sk_file_replace(path, bytes, sizeof head + length, err);
    sk_free(bytes);
    return status;
}

bool sk_journal_is_one(const char *path)
{
    char begin[sizeof family];
    int file;
    if (sk_file_open_own(path, O_RDONLY, &file, NULL) != SK_OK)
        return false;
    ssize_t got = read(file, begin, sizeof begin);
    close(file);
    return got >= 0 && memcmp(begin, family, (size_t)got) == 0;
}

bool sk_journal_glance(const char *path, char stamp[SK_JOURNAL_STAMP])
{
    journal_head head = {0};
    int file;
    stamp[0] = '\0';
    if (sk_file_open_own(path, O_RDONLY, &file, NULL) != SK_OK)
        return false;
    const bool one = read(file, &head, sizeof head) == (ssize_t)sizeof head &&
                     memcmp(head.magic, magic, sizeof magic) == 0;
    close(file);
    if (one)
        snprintf(stamp, SK_JOURNAL_STAMP, "%.*s", SK_JOURNAL_STAMP - 1, head.stamp);
    return one;
}

bool sk_journal_is_finished(const char *path)
{
    char stamp[SK_JOURNAL_STAMP];
    uint32_t mark[2] = {1, 0};
    int file;
    if (!sk_journal_glance(path, stamp) || sk_file_open_own(path, O_RDONLY, &file, NULL) != SK_OK)
        return false;
    const off_t end = lseek(file, 0, SEEK_END);
    const bool got = end > (off_t)sizeof mark &&
                     pread(file, mark, sizeof mark, end - (off_t)sizeof mark) == (ssize_t)sizeof mark;
    close(file);
    return got && mark[0] == 0 && mark[1] == JOURNAL_END_MARK;
}

/* Was it cut off before its first entry? Then there is nothing in it to lose. */
static bool is_stump(const char *path)
{
    char *bytes = NULL;
    size_t length;
    journal_head head;
    if (!sk_file_exists(path))
        return true;
    if (sk_file_read_own(path, sizeof head + JOURNAL_IDENTITY_LIMIT, &bytes, &length, NULL) != SK_OK)
        return false;
    memset(&head, 0, sizeof head);
    memcpy(&head, bytes, length < sizeof head ? length : sizeof head);
    bool ours = memcmp(head.magic, magic, length < sizeof magic ? length : sizeof magic) == 0;
    sk_free(bytes);
    return ours && (length < sizeof head || (head.identity_length <= JOURNAL_IDENTITY_LIMIT &&
                                             length < sizeof head + (size_t)head.identity_length));
}

/* The head and, in fresh memory, the identity of what lies there. */
static sk_status read_head(sk_journal *j, char **identity, sk_error *err)
{
    journal_head head = {0};
    *identity = NULL;
    bool whole = read_at(j, 0, &head, sizeof head);
    if (memcmp(head.magic, family, sizeof family) == 0 && memcmp(head.magic, magic, sizeof magic) != 0)
        return sk_fail(
            err, SK_ERR_MISMATCH,
            "%s: this folder holds a run of another version of skitter, which cannot be continued. "
            "Use --restart to begin anew here, or choose another --out",
            j->path);
    if (!whole || memcmp(head.magic, magic, sizeof magic) != 0 ||
        head.identity_length > JOURNAL_IDENTITY_LIMIT)
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a journal of skitter; remove it or choose another --out",
                       j->path);
    char *text = sk_calloc(1, (size_t)head.identity_length + 1);
    if (!text)
        return sk_fail_memory(err, head.identity_length);
    if (!read_at(j, sizeof head, text, head.identity_length) ||
        XXH32(text, head.identity_length, 0) != head.identity_sum) {
        sk_free(text);
        return sk_fail(err, SK_ERR_FORMAT, "%s: the journal is damaged; run again with --restart", j->path);
    }
    memcpy(j->stamp, head.stamp, sizeof j->stamp);
    j->stamp[SK_JOURNAL_STAMP - 1] = '\0';
    j->id = head.id;
    j->begin = (int64_t)sizeof head + head.identity_length;
    *identity = text;
    return SK_OK;
}

sk_status sk_journal_open(const char *path, const char *identity, const char *stamp, bool restart,
                          sk_journal **out, char **other, sk_error *err)
{
    *out = NULL;
    *other = NULL;
    char *found = NULL;
    sk_journal *j = sk_calloc(1, sizeof *j);
    if (!j)
        return sk_fail_memory(err, sizeof *j);
    j->fd = -1;
    sk_status status = SK_OK;
    j->path = sk_strdup(path);
    j->buffer = sk_malloc(BUFFER_BYTES);
    if (!j->path || !j->buffer) {
        status = sk_fail_memory(err, BUFFER_BYTES);
        goto done;
    }
    if ((restart && (!sk_file_exists(path) || sk_journal_is_one(path))) || is_stump(path))
        SK_TRY_GOTO(begin_new(path, identity, stamp, err));
    SK_TRY_GOTO(sk_file_open_own(path, O_RDWR, &j->fd, err));
    SK_TRY_GOTO(read_head(j, &found, err));
    if (strcmp(found, identity) != 0) {
        *other = found;
        found = NULL;
        status = sk_fail(err, SK_ERR_MISMATCH, "%s: the journal of another run", path);
        goto done;
    }
    status = find_end(j, INT64_MAX, err);
done:
    sk_free(found);
    return SK_HAND_OVER(status, j, out, sk_journal_close);
}

void sk_journal_close(sk_journal **pointer)
{
    SK_TAKE_OR_RETURN(j, pointer);
    if (j->fd >= 0) {
        if (j->buffer && j->used)
            (void)!sk_journal_flush(j, false, NULL);
        close(j->fd);
    }
    sk_journal_entry_free(&j->entry);
    sk_free_all(j->buffer, j->path, j);
}

const char *sk_journal_stamp(const sk_journal *j)
{
    return j->stamp;
}

uint64_t sk_journal_id(const sk_journal *j)
{
    return j->id;
}

int64_t sk_journal_count(const sk_journal *j)
{
    if (!j)
        return 0;
    return j->count;
}

int64_t sk_journal_last_index(const sk_journal *j)
{
    if (!j)
        return -1;
    return j->last_index;
}

bool sk_journal_finished(const sk_journal *j)
{
    if (!j)
        return false;
    return j->finished;
}
