/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- reading --- */

static sk_status open_regular(const char *path, int *file, struct stat *info, sk_error *err)
{
    /* Not blocking, since opening a named pipe would wait for its writer; without effect on regular files. */
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*file < 0)
        return sk_fail(err, errno == ENOENT || errno == ENOTDIR ? SK_ERR_NOT_FOUND : SK_ERR_IO,
                       "%s: cannot be opened: %s", path, strerror(errno));
    const char *kind = NULL;
    if (fstat(*file, info) != 0)
        kind = "cannot be examined";
    else if (S_ISDIR(info->st_mode))
        kind = "is a folder, where a file was expected";
    else if (!S_ISREG(info->st_mode))
        kind = "is not a regular file";
    if (!kind)
        return SK_OK;
    close(*file);
    *file = -1;
    return sk_fail(err, SK_ERR_IO, "%s: %s", path, kind);
}

static sk_status too_long(const char *path, size_t limit, sk_error *err)
{
    return sk_fail(err, SK_ERR_LIMIT, "%s: longer than the %zu bytes allowed for a file of this kind", path,
                   limit);
}

sk_status sk_file_read(const char *path, size_t limit, char **data, size_t *bytes, sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    struct stat info;
    char *block = NULL;
    size_t used = 0;
    *data = NULL;
    *bytes = 0;
    SK_TRY(open_regular(path, &file, &info, err));
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

sk_status sk_file_map(const char *path, sk_blob **out, sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    struct stat info;
    *out = NULL;
    SK_TRY(open_regular(path, &file, &info, err));
    mapping *m = sk_calloc(1, sizeof *m);
    if (!m) {
        status = sk_fail_memory(err, sizeof *m);
        goto done;
    }
    static const char nothing[1];
    m->data = (void *)(uintptr_t)nothing;
    if (info.st_size > 0) {
        void *data = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (data == MAP_FAILED) {
            status = sk_fail(err, errno == ENOMEM ? SK_ERR_MEMORY : SK_ERR_IO, "%s: cannot be mapped: %s",
                             path, strerror(errno));
            goto done;
        }
        m->data = data;
        m->bytes = (size_t)info.st_size;
    }
    status = sk_blob_wrap(m->data, m->bytes, release_mapping, m, out, err);
done:
    if (status != SK_OK && m)
        release_mapping(m);
    close(file);
    return status;
}

/* --- writing --- */

struct sk_file_writer {
    char *path;
    char *temporary; /* null once it is gone */
    FILE *stream;
};

void sk_file_writer_close(sk_file_writer **writer)
{
    sk_file_writer *w = writer ? *writer : NULL;
    if (!w)
        return;
    *writer = NULL;
    if (w->stream)
        fclose(w->stream);
    if (w->temporary)
        unlink(w->temporary);
    sk_free(w->temporary);
    sk_free(w->path);
    sk_free(w);
}

/* A new file beside the target, with the permissions of the file it will replace, or those the umask leaves.
 * Not mkstemp: it gives 0600, and asking for the umask would change it for other threads. */
static int open_temporary(const char *target, char *temporary, size_t capacity, const char *folder)
{
    static _Atomic uint32_t counter;
    struct stat info;
    int has_mode = stat(target, &info) == 0;
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t unlikely = (uint64_t)sk_clock_ns() * 1000003u + (uint64_t)getpid() * 65537u + counter++;
        snprintf(temporary, capacity, "%s/.%.180s.%08x", folder, sk_path_name(target),
                 (unsigned)(unlikely >> 8));
        int file = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 && has_mode && fchmod(file, info.st_mode & 07777) != 0)
            has_mode = 0; /* a file system without permissions */
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
}

/* A link stays a link: what it points at is replaced. */
static char *resolve_link(const char *path)
{
    struct stat info;
    char *real = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
    char *target = sk_strdup(real ? real : path);
    free(real);
    return target;
}

sk_status sk_file_writer_open(const char *path, sk_file_writer **out, sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    char *folder = NULL, *temporary = NULL;
    *out = NULL;
    sk_file_writer *w = sk_calloc(1, sizeof *w);
    size_t capacity = 0;
    if (w)
        w->path = resolve_link(path);
    if (w && w->path) {
        folder = sk_path_folder(w->path);
        capacity = strlen(w->path) + 32;
        temporary = sk_malloc(capacity);
    }
    if (!folder || !temporary) {
        status = sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for writing it", path);
        goto done;
    }
    if (sk_file_is_directory(path)) {
        status = sk_fail(err, SK_ERR_IO, "%s: is a folder, where a file was to be written", path);
        goto done;
    }
    file = open_temporary(w->path, temporary, capacity, folder);
    if (file < 0) {
        status = sk_fail(err, errno == ENOENT ? SK_ERR_NOT_FOUND : SK_ERR_IO,
                         "%s: cannot be written: %s in folder %s", path, strerror(errno), folder);
        goto done;
    }
    w->temporary = temporary;
    temporary = NULL;
    w->stream = fdopen(file, "w+b");
    if (!w->stream) {
        status = sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for a stream", path);
        goto done;
    }
    file = -1;
    *out = w;
    w = NULL;
done:
    if (file >= 0)
        close(file);
    sk_file_writer_close(&w);
    sk_free(temporary);
    sk_free(folder);
    return status;
}

FILE *sk_file_writer_stream(sk_file_writer *writer)
{
    return writer->stream;
}

const char *sk_file_writer_path(const sk_file_writer *writer)
{
    return writer->temporary;
}

/* The rename itself must reach the disk too; not every file system lets a folder be synced, and that is no
 * failure. */
static void sync_folder(const char *path)
{
    char *folder = sk_path_folder(path);
    int file = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (file >= 0) {
        fsync(file);
        close(file);
    }
    sk_free(folder);
}

sk_status sk_file_writer_commit(sk_file_writer **writer, sk_error *err)
{
    sk_file_writer *w = *writer;
    sk_status status = SK_OK;
    int sick = ferror(w->stream);
    if (fflush(w->stream) != 0 || sick || fsync(fileno(w->stream)) != 0) {
        status = sk_fail(err, SK_ERR_IO, "%s: could not be written: %s", w->path,
                         errno ? strerror(errno) : "disk full?");
        goto done;
    }
    int closed = fclose(w->stream);
    w->stream = NULL;
    if (closed != 0 || rename(w->temporary, w->path) != 0) {
        status = sk_fail(err, SK_ERR_IO, "%s: could not be put in place: %s", w->path, strerror(errno));
        goto done;
    }
    sk_free(w->temporary);
    w->temporary = NULL;
    sync_folder(w->path);
done:
    sk_file_writer_close(writer);
    return status;
}

sk_status sk_file_replace(const char *path, const void *data, size_t bytes, sk_error *err)
{
    sk_file_writer *writer = NULL;
    SK_TRY(sk_file_writer_open(path, &writer, err));
    if (bytes && fwrite(data, 1, bytes, writer->stream) != bytes) {
        sk_status status = sk_fail(err, SK_ERR_IO, "%s: could not be written: %s", path, strerror(errno));
        sk_file_writer_close(&writer);
        return status;
    }
    return sk_file_writer_commit(&writer, err);
}
