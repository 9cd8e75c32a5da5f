/* SPDX-License-Identifier: Apache-2.0 */
/* The part of file.h about opening and reading. */
#include "base/file.h"

#include "base/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- reading --- */

static const char *kind_of(mode_t mode)
{
    if (S_ISDIR(mode))
        return "is a folder, where a file was expected";
    if (S_ISFIFO(mode))
        return "is a named pipe, not a regular file";
    if (S_ISSOCK(mode))
        return "is a socket, not a regular file";
    if (S_ISLNK(mode))
        return "is a link, where skitter keeps a file of its own; remove it";
    return S_ISREG(mode) ? NULL : "is a device, not a regular file";
}

/* A file to be emptied that has a second name (a copy made of links, `cp -al`): what is there by the other name stays. */
static const char *replace_linked(const char *path, int flags, int *file)
{
    close(*file);
    *file = unlink(path) == 0
                ? open(path, (flags & ~O_TRUNC) | O_CREAT | O_EXCL | O_CLOEXEC | O_NONBLOCK, 0666)
                : -1;
    return *file < 0 ? "cannot be replaced" : NULL;
}

/* Opens a regular file. Not blocking, since opening a named pipe would wait for its other end; without effect on
 * regular files. */
static sk_status open_regular(const char *path, int flags, int *file, struct stat *info, sk_error *err)
{
    *file = open(path, (flags & ~O_TRUNC) | O_CLOEXEC | O_NONBLOCK, 0666);
    if (*file < 0) {
        int reason = errno;
        bool there = (flags & O_NOFOLLOW ? lstat(path, info) : stat(path, info)) == 0;
        const char *kind = there ? kind_of(info->st_mode) : NULL;
        if (kind) /* sockets, pipes nobody reads, links that are not to be followed */
            return sk_fail(err, SK_ERR_IO, "%s: %s", path, kind);
        return sk_fail(err, reason == ENOENT || reason == ENOTDIR ? SK_ERR_NOT_FOUND : SK_ERR_IO,
                       "%s: cannot be opened: %s", path, strerror(reason));
    }
    const char *kind = fstat(*file, info) != 0 ? "cannot be examined" : kind_of(info->st_mode);
    if (!kind && flags & O_TRUNC && info->st_nlink > 1)
        kind = replace_linked(path, flags, file);
    else if (!kind && flags & O_TRUNC && ftruncate(*file, 0) != 0)
        kind = "cannot be emptied";
    if (!kind)
        return SK_OK;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return sk_fail(err, SK_ERR_IO, "%s: %s", path, kind);
}

static sk_status to_stream(const char *path, int file, const char *mode, FILE **out, sk_error *err)
{
    *out = fdopen(file, mode);
    if (*out)
        return SK_OK;
    close(file);
    return sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for a stream", path);
}

sk_status sk_file_open(const char *path, int *file, int64_t *bytes, sk_error *err)
{
    struct stat info;
    SK_TRY(open_regular(path, O_RDONLY, file, &info, err));
    *bytes = (int64_t)info.st_size;
    return SK_OK;
}

sk_status sk_file_open_stream(const char *path, FILE **out, sk_error *err)
{
    int file;
    struct stat info;
    *out = NULL;
    SK_TRY(open_regular(path, O_RDONLY, &file, &info, err));
    return to_stream(path, file, "rb", out, err);
}

sk_status sk_file_open_own(const char *path, int flags, int *file, sk_error *err)
{
    struct stat info;
    return open_regular(path, flags | O_NOFOLLOW, file, &info, err);
}

sk_status sk_file_create_stream(const char *path, FILE **out, sk_error *err)
{
    int file;
    *out = NULL;
    SK_TRY(sk_file_open_own(path, O_RDWR | O_CREAT | O_TRUNC, &file, err));
    return to_stream(path, file, "w+b", out, err);
}

static sk_status too_long(const char *path, size_t limit, sk_error *err)
{
    return sk_fail(err, SK_ERR_LIMIT, "%s: longer than the %zu bytes allowed for a file of this kind", path,
                   limit);
}

static sk_status read_all(const char *path, int flags, size_t limit, char **data, size_t *bytes,
                          sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    struct stat info;
    char *block = NULL;
    size_t used = 0;
    *data = NULL;
    *bytes = 0;
    SK_TRY(open_regular(path, O_RDONLY | flags, &file, &info, err));
    if (info.st_size > 0 && (uint64_t)info.st_size > limit) {
        status = too_long(path, limit, err);
        goto done;
    }
    /* The size is a hint: files under /proc say 0, and a log may grow while we read. */
    size_t capacity = (size_t)info.st_size + 1;
    for (;;) {
        if (!block || used + 1 >= capacity) {
            capacity = block ? capacity * 2 : capacity < 4096 ? 4096 : capacity + 1;
            char *grown = sk_realloc(block, capacity);
            if (!grown) {
                status = sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for %zu bytes", path, capacity);
                goto done;
            }
            block = grown;
        }
        ssize_t got = read(file, block + used, capacity - used - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            status = sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
            goto done;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > limit) {
            status = too_long(path, limit, err);
            goto done;
        }
    }
    block[used] = '\0';
    *data = block;
    *bytes = used;
    block = NULL;
done:
    sk_free(block);
    close(file);
    return status;
}

sk_status sk_file_read(const char *path, size_t limit, char **data, size_t *bytes, sk_error *err)
{
    return read_all(path, 0, limit, data, bytes, err);
}

sk_status sk_file_read_own(const char *path, size_t limit, char **data, size_t *bytes, sk_error *err)
{
    return read_all(path, O_NOFOLLOW, limit, data, bytes, err);
}

typedef struct mapping {
    void *data;
    size_t bytes;
} mapping;

static void release_mapping(void *context)
{
    mapping *m = context;
    if (m->bytes)
        munmap(m->data, m->bytes);
    sk_free(m);
}

/* Exactly the bytes that were there when it was opened; a file that somebody writes meanwhile is half of two. */
static sk_status fill(const char *path, int file, const struct stat *before, char *data, sk_error *err)
{
    size_t length = (size_t)before->st_size;
    if (sk_read_all(file, data, length) < length && errno)
        return sk_fail(err, SK_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    struct stat after;
    if (fstat(file, &after) != 0 || after.st_size != before->st_size ||
        after.st_mtim.tv_sec != before->st_mtim.tv_sec || after.st_mtim.tv_nsec != before->st_mtim.tv_nsec)
        return sk_fail(
            err, SK_ERR_IO,
            "%s: was changed while it was read (a training run that saves it?); try again, or give a copy",
            path);
    return SK_OK;
}

sk_status sk_file_load(const char *path, sk_blob **out, sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    struct stat info;
    *out = NULL;
    SK_TRY(open_regular(path, O_RDONLY, &file, &info, err));
    mapping *m = sk_calloc(1, sizeof *m);
    if (!m) {
        status = sk_fail_memory(err, sizeof *m);
        goto done;
    }
    static const char nothing[1];
    m->data = (void *)(uintptr_t)nothing;
    if (info.st_size > 0) {
        void *data =
            mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED) {
            status = sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for its %lld bytes", path,
                             (long long)info.st_size);
            goto done;
        }
        m->data = data;
        m->bytes = (size_t)info.st_size;
        SK_TRY_GOTO(fill(path, file, &info, data, err));
    }
    status = sk_blob_wrap(m->data, m->bytes, release_mapping, m, out, err);
done:
    if (status != SK_OK && m)
        release_mapping(m);
    close(file);
    return status;
}
