/* SPDX-License-Identifier: Apache-2.0 */
#include "server/archive.h"

#include "base/file.h"
#include "formats/zip_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MOST 4
#define NAMES_MOST 1000000
#define FILE_MOST  ((off_t)512 << 20)

typedef struct names {
    char **items;
    size_t count, capacity;
} names;

static void free_names(names *n)
{
    for (size_t i = 0; i < n->count; i++)
        sk_free(n->items[i]);
    sk_free(n->items);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static sk_status list(int folder, const char *what, names *n, sk_error *err)
{
    const int own = dup(folder);
    DIR *dir = own >= 0 ? fdopendir(own) : NULL;
    sk_status status = SK_OK;
    if (!dir) {
        if (own >= 0)
            close(own);
        return sk_fail(err, SK_ERR_IO, "%.200s: %s", what, strerror(errno));
    }
    for (struct dirent *e; status == SK_OK && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        if (n->count == NAMES_MOST)
            status = sk_fail(err, SK_ERR_LIMIT, "%.200s: more than %d files\ncopy the folder itself", what,
                             NAMES_MOST);
        else
            status = sk_array_reserve((void **)&n->items, &n->capacity, n->count + 1, sizeof *n->items,
                                      NAMES_MOST, err);
        if (status == SK_OK && !(n->items[n->count] = sk_strdup(e->d_name)))
            status = sk_fail_memory(err, sizeof *n->items);
        n->count += status == SK_OK;
    }
    closedir(dir);
    if (n->count)
        qsort(n->items, n->count, sizeof *n->items, by_name);
    return status;
}

static sk_status add_file(sk_zip_writer *zip, int file, off_t bytes, const char *name, sk_error *err)
{
    sk_status status = SK_OK;
    size_t have = 0;
    if (bytes > FILE_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "%.400s: too long for an archive\ncopy the folder itself", name);
    char *data = sk_malloc((size_t)bytes + 1);
    if (!data)
        return sk_fail_memory(err, (size_t)bytes);
    for (ssize_t n; have < (size_t)bytes && (n = read(file, data + have, (size_t)bytes - have)) != 0;) {
        if (n < 0 && errno != EINTR) {
            status = sk_fail(err, SK_ERR_IO, "%.400s: %s", name, strerror(errno));
            break;
        }
        have += n > 0 ? (size_t)n : 0;
    }
    if (status == SK_OK)
        status = sk_zip_writer_add(zip, name, data, have, err);
    sk_free(data);
    return status;
}

static sk_status add_folder(sk_zip_writer *zip, int folder, const char *within, int depth, sk_error *err)
{
    names n = {0};
    sk_status status = list(folder, within, &n, err);
    for (size_t i = 0; i < n.count && status == SK_OK; i++) {
        struct stat is;
        /* one that went away meanwhile is left out */
        const int file = openat(folder, n.items[i], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        char *name = sk_path_join(within, n.items[i]);
        if (!name)
            status = sk_fail_memory(err, strlen(within));
        else if (file >= 0 && fstat(file, &is) == 0 && S_ISREG(is.st_mode))
            status = add_file(zip, file, is.st_size, name, err);
        else if (file >= 0 && fstat(file, &is) == 0 && S_ISDIR(is.st_mode) && depth < DEPTH_MOST)
            status = add_folder(zip, file, name, depth + 1, err);
        if (file >= 0)
            close(file);
        sk_free(name);
    }
    free_names(&n);
    return status;
}

/* A file without a name. */
static sk_status open_nameless(const sk_server *server, int *file, sk_error *err)
{
    char *path = sk_path_join(server->state, "archive-XXXXXX");
    if (!path)
        return sk_fail_memory(err, strlen(server->state));
    *file = mkostemp(path, O_CLOEXEC);
    if (*file < 0) {
        const sk_status status =
            sk_fail(err, SK_ERR_IO, "no file for the archive could be made in %.300s: %s", server->state,
                    strerror(errno));
        sk_free(path);
        return status;
    }
    (void)unlink(path);
    sk_free(path);
    return SK_OK;
}

sk_status sk_archive_make(const sk_server *server, int folder, const char *name, int *file, sk_error *err)
{
    sk_zip_writer *zip = NULL;
    FILE *to = NULL;
    int made = -1;
    *file = -1;
    sk_status status = open_nameless(server, &made, err);
    const int copy = status == SK_OK ? fcntl(made, F_DUPFD_CLOEXEC, 0) : -1;
    to = copy >= 0 ? fdopen(copy, "wb") : NULL;
    if (status == SK_OK && !to)
        status = sk_fail(err, SK_ERR_IO, "%.100s: %s", name, strerror(errno));
    if (status == SK_OK)
        status = sk_zip_writer_open(to, name, &zip, err);
    if (status == SK_OK)
        status = add_folder(zip, folder, name, 0, err);
    if (status == SK_OK)
        status = sk_zip_writer_end(zip, err);
    sk_zip_writer_close(&zip);
    if (to)
        fclose(to);
    else if (copy >= 0)
        close(copy);
    close(folder);
    if (status == SK_OK && lseek(made, 0, SEEK_SET) == 0)
        *file = made;
    else if (made >= 0)
        close(made);
    return status;
}
