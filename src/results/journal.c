/* SPDX-License-Identifier: Apache-2.0 */
#include "results/journal.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* File: magic, 32 bytes of stamp, u32 fingerprint length, fingerprint, then entries.
 * Entry: u32 body length, u32 checksum of the body, body. A body of length 0 with checksum END_MARK ends a finished run.
 * Body: i64 index, f64 time, i64 wall clock, i32 width, i32 height, i32 source length, i32 instances, i32 keypoints each, source bytes,
 * instances, keypoints; all in this machine's byte order (a journal never leaves its machine's run folder). */

static const char magic[8] = "SKJRNL3\n";
#define STAMP_BYTES  32
#define END_MARK     0x53454e44u
#define BODY_LIMIT   (64u << 20)
#define BUFFER_BYTES (4u << 20)

typedef struct body_head {
    int64_t index;
    double time;
    int64_t wall_ns;
    int32_t width, height, source_length, count, n_keypoints, padding;
} body_head;

struct sk_journal {
    int fd;
    char *path;
    int64_t count;
    int64_t end;   /* file offset after the last good entry, without what is buffered */
    int64_t begin; /* offset of the first entry */
    bool finished;
    char stamp[STAMP_BYTES];
    unsigned char *buffer;
    size_t used;
    unsigned char *body; /* for reading */
    size_t body_capacity;
};

static sk_status io_failed(const sk_journal *j, const char *what, sk_error *err)
{
    return sk_fail(err, SK_ERR_IO, "%s: %s failed: %s", j->path, what, strerror(errno));
}

static sk_status write_all(sk_journal *j, const void *data, size_t bytes, sk_error *err)
{
    for (const char *at = data; bytes;) {
        ssize_t n = pwrite(j->fd, at, bytes, j->end);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sk_fail(
                err, SK_ERR_IO,
                "%s: writing failed: %s. What was written before is kept; make room and run the same command "
                "again to continue",
                j->path, strerror(errno));
        at += n;
        bytes -= (size_t)n;
        j->end += n;
    }
    return SK_OK;
}

sk_status sk_journal_flush(sk_journal *j, bool durable, sk_error *err)
{
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
    const sk_instances *in = frame->instances;
    body_head head = {.index = frame->index,
                      .time = frame->time,
                      .wall_ns = frame->wall_ns,
                      .width = frame->width,
                      .height = frame->height,
                      .source_length = (int32_t)strlen(frame->source),
                      .count = in->count,
                      .n_keypoints = in->n_keypoints};
    size_t source = (size_t)head.source_length, items = (size_t)in->count * sizeof *in->items;
    size_t points = (size_t)in->count * (size_t)in->n_keypoints * sizeof *in->keypoints;
    size_t body = sizeof head + source + items + points;
    SK_TRY(make_room(j, 8 + body, err));
    unsigned char *at = j->buffer + j->used, *body_at = at + 8;
    memcpy(body_at, &head, sizeof head);
    memcpy(body_at + sizeof head, frame->source, source);
    memcpy(body_at + sizeof head + source, in->items, items);
    unsigned char *point_at = body_at + sizeof head + source + items;
    for (int32_t i = 0; i < in->count && points; i++) /* instances' keypoints, brought into their order */
        memcpy(point_at + (size_t)i * (size_t)in->n_keypoints * sizeof *in->keypoints,
               in->keypoints + in->items[i].first_keypoint, (size_t)in->n_keypoints * sizeof *in->keypoints);
    uint32_t length = (uint32_t)body, sum = XXH32(body_at, body, 0);
    memcpy(at, &length, 4);
    memcpy(at + 4, &sum, 4);
    j->used += 8 + body;
    j->count++;
    return SK_OK;
}

sk_status sk_journal_finish(sk_journal *j, sk_error *err)
{
    uint32_t mark[2] = {0, END_MARK};
    SK_TRY(make_room(j, sizeof mark, err));
    memcpy(j->buffer + j->used, mark, sizeof mark);
    j->used += sizeof mark;
    j->finished = true;
    return sk_journal_flush(j, true, err);
}

static bool read_at(const sk_journal *j, int64_t offset, void *data, size_t bytes)
{
    for (char *at = data; bytes;) {
        ssize_t n = pread(j->fd, at, bytes, offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
        offset += n;
    }
    return true;
}

/* One good entry at *offset into j->body; false at the end, at a torn or damaged entry. *ended for the end mark. */
static bool read_entry(sk_journal *j, int64_t *offset, uint32_t *length, bool *ended)
{
    uint32_t head[2];
    *ended = false;
    if (!read_at(j, *offset, head, sizeof head))
        return false;
    if (head[0] == 0) {
        *ended = head[1] == END_MARK;
        return false;
    }
    if (head[0] < sizeof(body_head) || head[0] > BODY_LIMIT)
        return false;
    if (sk_array_reserve((void **)&j->body, &j->body_capacity, head[0], 1, BODY_LIMIT, NULL) != SK_OK ||
        !read_at(j, *offset + 8, j->body, head[0]) || XXH32(j->body, head[0], 0) != head[1])
        return false;
    *offset += 8 + (int64_t)head[0];
    *length = head[0];
    return true;
}

/* The frame inside j->body; false when its counts do not fit its length. Instances are written into `instances`. */
static bool parse_body(const sk_journal *j, uint32_t length, sk_result_frame *frame, sk_instances *instances,
                       char **source)
{
    body_head head;
    memcpy(&head, j->body, sizeof head);
    if (head.source_length < 0 || head.count < 0 || head.n_keypoints < 0)
        return false;
    uint64_t items = (uint64_t)head.count * sizeof(sk_instance);
    uint64_t points = (uint64_t)head.count * (uint64_t)head.n_keypoints * sizeof(sk_keypoint);
    if (sizeof head + (uint64_t)head.source_length + items + points != length)
        return false;
    const unsigned char *at = j->body + sizeof head;
    sk_free(*source);
    *source = sk_strndup((const char *)at, (size_t)head.source_length);
    at += head.source_length;
    sk_free(instances->items);
    sk_free(instances->keypoints);
    *instances = (sk_instances){.count = head.count, .capacity = head.count, .n_keypoints = head.n_keypoints};
    instances->items = sk_malloc((size_t)items);
    instances->keypoints = sk_malloc((size_t)points);
    if (!*source || !instances->items || !instances->keypoints)
        return false;
    memcpy(instances->items, at, (size_t)items);
    memcpy(instances->keypoints, at + items, (size_t)points);
    for (int32_t i = 0; i < head.count; i++)
        instances->items[i].first_keypoint = i * head.n_keypoints;
    *frame =
        (sk_result_frame){*source, head.index, head.time, head.width, head.height, instances, head.wall_ns};
    return true;
}

sk_status sk_journal_replay(sk_journal *j, sk_journal_visit visit, void *context, sk_error *err)
{
    SK_TRY(sk_journal_flush(j, false, err));
    sk_instances instances = {0};
    char *source = NULL;
    sk_status status = SK_OK;
    int64_t offset = j->begin;
    for (int64_t i = 0; i < j->count && status == SK_OK; i++) {
        uint32_t length;
        bool ended;
        sk_result_frame frame;
        if (!read_entry(j, &offset, &length, &ended) || !parse_body(j, length, &frame, &instances, &source))
            status =
                sk_fail(err, SK_ERR_FORMAT, "%s: entry %lld can no longer be read; run again with --restart",
                        j->path, (long long)i);
        else
            status = visit(context, &frame, err);
    }
    sk_free(instances.items);
    sk_free(instances.keypoints);
    sk_free(source);
    return status;
}

/* Walks the entries; leaves count, end and finished set and the file cut after the last good one. */
static sk_status find_end(sk_journal *j, int64_t at_most, sk_error *err)
{
    int64_t offset = j->begin;
    bool ended = false;
    uint32_t length;
    j->count = 0;
    while (j->count < at_most && read_entry(j, &offset, &length, &ended))
        j->count++;
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

static sk_status begin_new(sk_journal *j, const char *fingerprint, const char *stamp, sk_error *err)
{
    uint32_t length = (uint32_t)strlen(fingerprint);
    if (ftruncate(j->fd, 0) != 0)
        return io_failed(j, "emptying", err);
    j->end = 0;
    snprintf(j->stamp, sizeof j->stamp, "%s", stamp);
    SK_TRY(write_all(j, magic, sizeof magic, err));
    SK_TRY(write_all(j, j->stamp, sizeof j->stamp, err));
    SK_TRY(write_all(j, &length, sizeof length, err));
    SK_TRY(write_all(j, fingerprint, length, err));
    j->begin = j->end;
    return SK_OK;
}

static sk_status continue_old(sk_journal *j, const char *fingerprint, sk_error *err)
{
    char head[sizeof magic];
    uint32_t length;
    if (!read_at(j, 0, head, sizeof head) || memcmp(head, magic, sizeof magic) != 0 ||
        !read_at(j, sizeof magic, j->stamp, sizeof j->stamp) ||
        !read_at(j, sizeof magic + STAMP_BYTES, &length, sizeof length) || length > (1u << 20))
        return sk_fail(err, SK_ERR_FORMAT, "%s: not a journal of skitter; remove it or choose another --out",
                       j->path);
    char *old = sk_calloc(1, (size_t)length + 1);
    if (!old)
        return sk_fail_memory(err, length);
    bool same = read_at(j, sizeof magic + STAMP_BYTES + 4, old, length) && strcmp(old, fingerprint) == 0;
    sk_free(old);
    if (!same)
        return sk_fail(err, SK_ERR_MISMATCH,
                       "%s: this folder holds the results of a run with another source, model or settings. "
                       "Use --restart to "
                       "begin anew here, or choose another --out",
                       j->path);
    j->stamp[STAMP_BYTES - 1] = '\0';
    j->begin = (int64_t)sizeof magic + STAMP_BYTES + 4 + (int64_t)length;
    return find_end(j, INT64_MAX, err);
}

sk_status sk_journal_open(const char *path, const char *fingerprint, const char *stamp, bool restart,
                          sk_journal **out, sk_error *err)
{
    *out = NULL;
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
    j->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct stat info;
    if (j->fd < 0 || fstat(j->fd, &info) != 0) {
        status = io_failed(j, "opening", err);
        goto done;
    }
    bool fresh = restart || info.st_size < (off_t)(sizeof magic + STAMP_BYTES + 4 + strlen(fingerprint));
    status = fresh ? begin_new(j, fingerprint, stamp, err) : continue_old(j, fingerprint, err);
done:
    if (status != SK_OK)
        sk_journal_close(&j);
    *out = j;
    return status;
}

void sk_journal_close(sk_journal **pointer)
{
    sk_journal *j = pointer ? *pointer : NULL;
    if (!j)
        return;
    *pointer = NULL;
    if (j->fd >= 0) {
        if (j->buffer && j->used)
            (void)!sk_journal_flush(j, false, NULL);
        close(j->fd);
    }
    sk_free(j->buffer);
    sk_free(j->body);
    sk_free(j->path);
    sk_free(j);
}

const char *sk_journal_stamp(const sk_journal *j)
{
    return j->stamp;
}

int64_t sk_journal_count(const sk_journal *j)
{
    return j->count;
}

bool sk_journal_finished(const sk_journal *j)
{
    return j->finished;
}
