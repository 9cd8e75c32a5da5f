/* SPDX-License-Identifier: Apache-2.0 */
#include "track/seen_store.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_COLUMNS 8
#define BUFFER_BYTES ((size_t)1 << 20)
#define WINDOW_BYTES ((size_t)256 << 10)

typedef struct frame_place {
    int64_t offset; /* of its record */
    int64_t first;
} frame_place;

/* What lies in the file: the head, n detections, then points and looks of those that have them. */
typedef struct record_head {
    int64_t frame;
    double time;
    int64_t n, bytes;
} record_head;

typedef struct column {
    void *data;
    size_t bytes;
} column;

struct sk_seen_store {
    bool reader; /* file, records and frames are another's */
    int file;    /* -1: in memory */
    char *bytes; /* in memory: all records; else what is not yet written */
    size_t used, capacity;
    int64_t written; /* bytes in the file */
    frame_place *frames;
    size_t n_frames, frames_capacity;
    int64_t detections;
    char *read; /* the record that was read last */
    size_t read_capacity;
    /* A stretch of the file: passes go through it from one end to the other, and a system call a frame would be most of their time */
    char *window;
    int64_t window_at;
    size_t window_bytes;
    column columns[MOST_COLUMNS];
    char *path;
};

static sk_status unnamed_file(const char *path, int *file, sk_error *err)
{
    unlink(path); /* what a killed process left */
    SK_TRY(sk_file_open_own(path, O_RDWR | O_CREAT | O_EXCL, file, err));
    if (unlink(path) != 0) {
        const int code = errno;
        close(*file);
        return sk_fail(err, SK_ERR_IO, "%s: cannot be made a file without a name: %s", path, strerror(code));
    }
    return SK_OK;
}

sk_status sk_seen_store_open(const char *path, sk_seen_store **out, sk_error *err)
{
    *out = NULL;
    sk_seen_store *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    s->file = -1;
    sk_status status = SK_OK;
    if (path) {
        s->path = sk_strdup(path);
        status = s->path ? unnamed_file(path, &s->file, err) : sk_fail_memory(err, strlen(path));
    }
    if (status != SK_OK)
        sk_seen_store_close(&s);
    *out = s;
    return status;
}

void sk_seen_store_close(sk_seen_store **store)
{
    sk_seen_store *s = *store;
    *store = NULL;
    if (!s)
        return;
    for (int i = 0; i < MOST_COLUMNS; i++)
        if (s->columns[i].data)
            sk_seen_store_drop_column(s, s->columns[i].data);
    sk_free(s->read);
    sk_free(s->window);
    if (!s->reader) {
        if (s->file >= 0)
            close(s->file);
        sk_free(s->bytes);
        sk_free(s->frames);
        sk_free(s->path);
    }
    sk_free(s);
}

static sk_status flush(sk_seen_store *s, sk_error *err)
{
    for (size_t done = 0; done < s->used;) {
        const ssize_t n = pwrite(s->file, s->bytes + done, s->used - done, (off_t)s->written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sk_fail(err, SK_ERR_IO, "%s: detections could not be kept for the pass back: %s%s",
                           s->path, strerror(errno), sk_file_remedy(errno));
        s->written += n;
        done += (size_t)n;
    }
    s->used = 0;
    return SK_OK;
}

sk_status sk_seen_store_reader(sk_seen_store *store, sk_seen_store **out, sk_error *err)
{
    *out = NULL;
    if (store->file >= 0 && store->used)
        SK_TRY(flush(store, err));
    sk_seen_store *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    *s = (sk_seen_store){.reader = true,
                         .file = store->file,
                         .bytes = store->bytes,
                         .used = store->used,
                         .written = store->written,
                         .frames = store->frames,
                         .n_frames = store->n_frames,
                         .detections = store->detections,
                         .path = store->path};
    *out = s;
    return SK_OK;
}

static sk_status put(sk_seen_store *s, const void *data, size_t bytes, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->bytes, &s->capacity, s->used + bytes, 1, (size_t)1 << 44, err));
    if (bytes)
        memcpy(s->bytes + s->used, data, bytes);
    s->used += bytes;
    return SK_OK;
}

static size_t points_bytes(const sk_detection *d)
{
    return d->points && d->n_points > 0 ? (size_t)d->n_points * sizeof *d->points : 0;
}

sk_status sk_seen_store_add(sk_seen_store *s, int64_t frame, double time, const sk_detection *detections,
                            int32_t n, sk_error *err)
{
    SK_TRY(sk_array_reserve((void **)&s->frames, &s->frames_capacity, s->n_frames + 1, sizeof *s->frames,
                            (size_t)1 << 40, err));
    record_head head = {.frame = frame, .time = time, .n = n};
    head.bytes = (int64_t)sizeof head + n * (int64_t)sizeof *detections;
    for (int32_t i = 0; i < n; i++)
        head.bytes += (int64_t)(points_bytes(&detections[i]) +
                                (detections[i].looks ? SK_TRACK_LOOKS * sizeof(float) : 0));
    s->frames[s->n_frames] = (frame_place){s->written + (int64_t)s->used, s->detections};
    const size_t before = s->used;
    sk_status status = put(s, &head, sizeof head, err);
    if (status == SK_OK)
        status = put(s, detections, (size_t)n * sizeof *detections, err);
    for (int32_t i = 0; i < n && status == SK_OK; i++) {
        status = put(s, detections[i].points, points_bytes(&detections[i]), err);
        if (status == SK_OK && detections[i].looks)
            status = put(s, detections[i].looks, SK_TRACK_LOOKS * sizeof(float), err);
    }
    if (status != SK_OK) {
        s->used = before;
        return status;
    }
    s->n_frames++;
    s->detections += n;
    return s->file >= 0 && s->used >= BUFFER_BYTES ? flush(s, err) : SK_OK;
}

static sk_status get(sk_seen_store *s, int64_t offset, void *out, size_t bytes, sk_error *err)
{
    for (size_t done = 0; done < bytes;) {
        const ssize_t n = pread(s->file, (char *)out + done, bytes - done, (off_t)offset + (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return sk_fail(err, SK_ERR_IO, "%s: detections that were kept cannot be read again: %s", s->path,
                           n ? strerror(errno) : "the file is cut off");
        done += (size_t)n;
    }
    return SK_OK;
}

/* From the window, which follows the way the reader goes: on, or back. */
static sk_status get_record(sk_seen_store *s, int64_t offset, char *out, size_t bytes, sk_error *err)
{
    if (bytes > WINDOW_BYTES / 4)
        return get(s, offset, out, bytes, err);
    if (!s->window && !(s->window = sk_malloc(WINDOW_BYTES)))
        return sk_fail_memory(err, WINDOW_BYTES);
    const int64_t end = offset + (int64_t)bytes;
    if (offset < s->window_at || end > s->window_at + (int64_t)s->window_bytes) {
        const bool back = s->window_bytes && offset < s->window_at && end > (int64_t)WINDOW_BYTES;
        const int64_t from = back ? end - (int64_t)WINDOW_BYTES : offset, left = s->written - from;
        const size_t length = left < (int64_t)WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
        s->window_bytes = 0;
        SK_TRY(get(s, from, s->window, length, err));
        s->window_at = from;
        s->window_bytes = length;
    }
    memcpy(out, s->window + (offset - s->window_at), bytes);
    return SK_OK;
}

sk_status sk_seen_store_read(sk_seen_store *s, int64_t at, sk_stored_frame *out, sk_error *err)
{
    SK_CHECK_ARG(at >= 0 && (size_t)at < s->n_frames, err);
    if (s->file >= 0 && s->used)
        SK_TRY(flush(s, err));
    const int64_t offset = s->frames[at].offset;
    const size_t end =
        (size_t)at + 1 < s->n_frames ? (size_t)s->frames[at + 1].offset : (size_t)s->written + s->used;
    const size_t bytes = end - (size_t)offset;
    SK_TRY(sk_array_reserve((void **)&s->read, &s->read_capacity, bytes, 1, (size_t)1 << 40, err));
    if (s->file >= 0)
        SK_TRY(get_record(s, offset, s->read, bytes, err));
    else
        memcpy(s->read, s->bytes + offset, bytes);
    record_head head;
    memcpy(&head, s->read, sizeof head);
    sk_detection *d = (sk_detection *)(void *)(s->read + sizeof head);
    char *rest = s->read + sizeof head + (size_t)head.n * sizeof *d;
    for (int64_t i = 0; i < head.n; i++) {
        if (points_bytes(&d[i])) {
            d[i].points = (const sk_keypoint *)(void *)rest;
            rest += points_bytes(&d[i]);
        }
        if (d[i].looks) {
            d[i].looks = (const float *)(void *)rest;
            rest += SK_TRACK_LOOKS * sizeof(float);
        }
    }
    *out = (sk_stored_frame){head.frame, head.time, d, (int32_t)head.n, s->frames[at].first};
    return SK_OK;
}

int64_t sk_seen_store_frames(const sk_seen_store *store)
{
    return (int64_t)store->n_frames;
}

int64_t sk_seen_store_detections(const sk_seen_store *store)
{
    return store->detections;
}

void *sk_seen_store_column(sk_seen_store *s, size_t bytes_each, sk_error *err)
{
    int at = 0;
    while (at < MOST_COLUMNS && s->columns[at].data)
        at++;
    const size_t bytes = ((size_t)s->detections + 1) * bytes_each;
    void *data = NULL;
    if (at == MOST_COLUMNS) {
        (void)sk_fail(err, SK_ERR_INTERNAL, "more than %d columns of detections at once", MOST_COLUMNS);
        return NULL;
    }
    if (s->file < 0) {
        data = sk_calloc(bytes, 1);
        if (!data)
            (void)sk_fail_memory(err, bytes);
    } else {
        int file = -1;
        if (unnamed_file(s->path, &file, err) != SK_OK)
            return NULL;
        /* Reserved, not only said to be so long: writing into a hole of a full disk would end the process. */
        errno = posix_fallocate(file, 0, (off_t)bytes);
        data = errno ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (data == MAP_FAILED) {
            (void)sk_fail(err, SK_ERR_IO, "%s: %zu bytes cannot be kept: %s%s", s->path, bytes,
                          strerror(errno), sk_file_remedy(errno));
            data = NULL;
        }
        close(file);
    }
    s->columns[at] = (column){data, bytes};
    return data;
}

void sk_seen_store_drop_column(sk_seen_store *s, void *data)
{
    for (int i = 0; i < MOST_COLUMNS && data; i++) {
        if (s->columns[i].data != data)
            continue;
        if (s->file < 0)
            sk_free(data);
        else
            munmap(data, s->columns[i].bytes);
        s->columns[i] = (column){0};
        return;
    }
}
