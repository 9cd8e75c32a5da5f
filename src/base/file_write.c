/* SPDX-License-Identifier: Apache-2.0 */
/* The part of file.h about writing whole files. */
#include "base/file.h"

#include "base/clock.h"
#include "base/object.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sk_file_writer {
    char *path;
    char *temporary; /* null once it is gone */
    FILE *stream;
};

void sk_file_writer_close(sk_file_writer **writer)
{
    SK_TAKE_OR_RETURN(w, writer);
    if (w->stream)
        fclose(w->stream);
    if (w->temporary)
        unlink(w->temporary);
    sk_free_all(w->temporary, w->path, w);
}

/* A new file beside the target, with the permissions of the file it will replace, or those the umask leaves.
 * Not mkstemp: it gives 0600, and asking for the umask would change it for other threads. */
static int open_temporary(const char *target, char *temporary, size_t capacity, const char *folder)
{
    static _Atomic uint32_t counter;
    struct stat info;
    int has_mode = lstat(target, &info) == 0 && S_ISREG(info.st_mode);
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

/* What the link points at, which is then replaced while the link stays. */
static char *resolve_link(const char *path)
{
    struct stat info;
    char *real = lstat(path, &info) == 0 && S_ISLNK(info.st_mode) ? realpath(path, NULL) : NULL;
    char *target = sk_strdup(real ? real : path);
    free(real);
    return target;
}

/* Renaming over a device or pipe would take it away from everybody else; behind a link too, such as /dev/stdout. */
static sk_status may_be_replaced(const char *path, sk_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0 || S_ISREG(info.st_mode))
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "%s: is a %s, where a file was to be written", path,
                   S_ISDIR(info.st_mode)    ? "folder"
                   : S_ISFIFO(info.st_mode) ? "named pipe"
                                            : "device");
}

static sk_status open_writer(const char *path, bool linked, sk_file_writer **out, sk_error *err)
{
    sk_status status = SK_OK;
    int file = -1;
    char *folder = NULL, *temporary = NULL;
    *out = NULL;
    sk_file_writer *w = sk_calloc(1, sizeof *w);
    size_t capacity = 0;
    if (w)
        w->path = linked ? resolve_link(path) : sk_strdup(path);
    if (w && w->path) {
        folder = sk_path_folder(w->path);
        capacity = strlen(w->path) + 32;
        temporary = sk_malloc(capacity);
    }
    if (!folder || !temporary) {
        status = sk_fail(err, SK_ERR_MEMORY, "%s: out of memory for writing it", path);
        goto done;
    }
    SK_TRY_GOTO(may_be_replaced(path, err));
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

sk_status sk_file_writer_open(const char *path, sk_file_writer **out, sk_error *err)
{
    return open_writer(path, false, out, err);
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
        status = sk_fail(err, SK_ERR_IO, "%s: could not be written: %s%s", w->path,
                         errno ? strerror(errno) : "disk full?", sk_file_remedy(errno));
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

static sk_status replace(const char *path, bool linked, const void *data, size_t bytes, sk_error *err)
{
    sk_file_writer *writer = NULL;
    SK_TRY(open_writer(path, linked, &writer, err));
    if (bytes && fwrite(data, 1, bytes, writer->stream) != bytes) {
        sk_status status = sk_fail(err, SK_ERR_IO, "%s: could not be written: %s%s", path, strerror(errno),
                                   sk_file_remedy(errno));
        sk_file_writer_close(&writer);
        return status;
    }
    return sk_file_writer_commit(&writer, err);
}

sk_status sk_file_replace(const char *path, const void *data, size_t bytes, sk_error *err)
{
    return replace(path, false, data, bytes, err);
}

sk_status sk_file_replace_linked(const char *path, const void *data, size_t bytes, sk_error *err)
{
    return replace(path, true, data, bytes, err);
}

sk_status sk_file_put(const char *path, const void *data, size_t bytes, sk_error *err)
{
    /* One name for the half of it, so that a run that goes on after a kill writes over what was left. */
    sk_text half = {0};
    FILE *file = NULL;
    sk_text_appendf(&half, "%s.part", path);
    sk_status status = half.failed ? sk_fail_memory(err, strlen(path))
                                   : sk_file_create_stream(sk_text_get(&half), &file, err);
    if (status == SK_OK) {
        const bool written = fwrite(data, 1, bytes, file) == bytes;
        if (fclose(file) != 0 || !written || rename(sk_text_get(&half), path) != 0) {
            status = sk_fail(err, SK_ERR_IO, "%s: cannot be written: %s%s", path, strerror(errno),
                             sk_file_remedy(errno));
            unlink(sk_text_get(&half));
        }
    }
    sk_text_free(&half);
    return status;
}

const char *sk_file_remedy(int code)
{
    return code == ENOSPC || code == EDQUOT
               ? ". What was done before is kept; make room and run the same command again"
           : code == EFBIG ? ". Longer files are not allowed here ('ulimit -f', or the file system); allow "
                             "them and run the same command again"
                           : "";
}
