/* SPDX-License-Identifier: Apache-2.0 */
#include "server/roots.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char outside[] = "is not in a folder that this page may use";

bool sk_roots_is_outside(const sk_error *err)
{
    return err->code == SK_ERR_UNSUPPORTED && strstr(err->message, outside);
}

static sk_status refuse(const char *path, sk_error *err)
{
    return sk_fail(err, SK_ERR_UNSUPPORTED, "%.400s %s\nstart it with that folder: skitter serve FOLDER …",
                   path, outside);
}

/* What realpath says, in memory of ours. */
static sk_status real_of(const char *path, char **out, sk_error *err)
{
    char *real = realpath(path, NULL);
    *out = real ? sk_strdup(real) : NULL;
    const int code = errno;
    const bool there = real != NULL;
    free(real); /* NOLINT: the C library's */
    if (*out)
        return SK_OK;
    if (there)
        return sk_fail_memory(err, strlen(path));
    return sk_fail(err, code == ENOENT || code == ENOTDIR ? SK_ERR_NOT_FOUND : SK_ERR_IO, "%.400s: %s", path,
                   strerror(code));
}

static bool lies_in(const char *path, const char *folder)
{
    const size_t n = strlen(folder);
    if (n == 1) /* "/" */
        return path[0] == '/';
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

int32_t sk_roots_of(const sk_roots *roots, const char *real)
{
    int32_t best = -1;
    for (int32_t i = 0; i < roots->count; i++) /* of nested ones the innermost */
        if (lies_in(real, roots->items[i].path) &&
            (best < 0 || strlen(roots->items[i].path) > strlen(roots->items[best].path)))
            best = i;
    return best;
}

sk_status sk_roots_add(sk_roots *roots, const char *path, bool writable, sk_error *err)
{
    char *real = NULL;
    if (roots->count == SK_ROOTS_MOST)
        return sk_fail(err, SK_ERR_LIMIT, "at most %d folders", SK_ROOTS_MOST);
    SK_TRY(real_of(path, &real, err));
    if (!sk_file_is_directory(real)) {
        sk_free(real);
        return sk_fail(err, SK_ERR_ARG, "%s: is no folder", path);
    }
    char *given = sk_path_absolute(path);
    if (!given) {
        sk_free(real);
        return sk_fail_memory(err, strlen(path));
    }
    roots->items[roots->count++] = (sk_root){real, given, writable};
    return SK_OK;
}

void sk_roots_free(sk_roots *roots)
{
    for (int32_t i = 0; i < roots->count; i++)
        sk_free_all(roots->items[i].path, roots->items[i].given);
    roots->count = 0;
}

/* From "/", with "." and ".." taken out by their letters. SK_ERR_… where it cannot be. */
static sk_status straighten(const sk_roots *roots, const char *path, char **out, sk_error *err)
{
    char *whole =
        path[0] == '/' || !roots->count ? sk_strdup(path) : sk_path_join(roots->items[0].path, path);
    *out = NULL;
    if (!whole)
        return sk_fail_memory(err, strlen(path));
    const size_t length = strlen(whole);
    if (length >= PATH_MAX || whole[0] != '/') {
        sk_free(whole);
        return sk_fail(err, SK_ERR_ARG, "%.100s…: is no path", path);
    }
    size_t n = 0; /* in place: it only gets shorter */
    for (size_t at = 0; at < length;) {
        const size_t part = strcspn(whole + at + 1, "/");
        const char *name = whole + at + 1;
        if (part == 2 && name[0] == '.' && name[1] == '.') {
            while (n > 0 && whole[--n] != '/') {
            }
        } else if (part > 0 && !(part == 1 && name[0] == '.')) {
            memmove(whole + n, whole + at, part + 1);
            n += part + 1;
        }
        at += part + 1;
    }
    whole[n] = '\0';
    if (n == 0)
        memcpy(whole, "/", 2); /* length was at least 1 */
    *out = whole;
    return SK_OK;
}

/* Is it, by its letters, in a root, as this is called or as it was given? What is not is not even looked for. */
static bool seems_in(const sk_roots *roots, const char *path)
{
    for (int32_t i = 0; i < roots->count; i++)
        if (lies_in(path, roots->items[i].path) || lies_in(path, roots->items[i].given))
            return true;
    return false;
}

sk_status sk_roots_resolve(const sk_roots *roots, const char *path, char **out, sk_error *err)
{
    char *whole = NULL;
    *out = NULL;
    SK_TRY(straighten(roots, path, &whole, err));
    sk_status status = seems_in(roots, whole) ? real_of(whole, out, err) : refuse(path, err);
    sk_free(whole);
    if (status == SK_OK && sk_roots_of(roots, *out) < 0) {
        sk_free(*out);
        *out = NULL;
        return refuse(path, err);
    }
    return status;
}

/* A folder's links, one by one; deeper folders are not looked into by readers of pictures. */
static sk_status check_links(const sk_roots *roots, const char *folder, sk_error *err)
{
    sk_status status = SK_OK;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && status == SK_OK && (e = readdir(dir));) {
        char *path = NULL, *real = NULL;
        if (e->d_type != DT_LNK && e->d_type != DT_UNKNOWN)
            continue;
        path = sk_path_join(folder, e->d_name);
        if (!path)
            status = sk_fail_memory(err, strlen(folder));
        else if (strcmp(e->d_name, "..") != 0 && real_of(path, &real, NULL) == SK_OK &&
                 sk_roots_of(roots, real) < 0)
            status = refuse(path, err);
        sk_free(real);
        sk_free(path);
    }
    if (dir)
        (void)closedir(dir);
    return status;
}

sk_status sk_roots_resolve_source(const sk_roots *roots, const char *path, char **out, sk_error *err)
{
    struct stat s;
    SK_TRY(sk_roots_resolve(roots, path, out, err));
    sk_status status = SK_OK;
    if (sk_path_has_extension(*out, ".txt") || sk_path_has_extension(*out, ".slp"))
        status =
            sk_fail(err, SK_ERR_ARG, "%.300s: is a list of other files\nname the videos themselves", path);
    else if (stat(*out, &s) == 0 && S_ISDIR(s.st_mode))
        status = check_links(roots, *out, err);
    if (status != SK_OK) {
        sk_free(*out);
        *out = NULL;
    }
    return status;
}

sk_status sk_roots_resolve_new(const sk_roots *roots, const char *path, char **out, sk_error *err)
{
    char *whole = NULL, *real = NULL;
    sk_status status;
    *out = NULL;
    SK_TRY(straighten(roots, path, &whole, err));
    if (!seems_in(roots, whole)) {
        sk_free(whole);
        return refuse(path, err);
    }
    /* the part of it that is there, as it really is, and behind it what is to be made */
    size_t there = strlen(whole);
    for (;;) {
        const char kept = whole[there];
        whole[there] = '\0';
        struct stat kind;
        const bool exists = lstat(there ? whole : "/", &kind) == 0;
        status = exists ? real_of(there ? whole : "/", &real, err) : SK_OK;
        whole[there] = kept;
        if (exists || there == 0)
            break;
        while (there > 0 && whole[--there] != '/') {
        }
    }
    const int32_t root = status == SK_OK && real ? sk_roots_of(roots, real) : -1;
    if (status == SK_OK && root < 0)
        status = refuse(path, err);
    else if (status == SK_OK && !roots->items[root].writable)
        status = sk_fail(err, SK_ERR_ARG, "%.400s: this folder is only read", roots->items[root].path);
    if (status == SK_OK) {
        *out = whole[there] ? sk_path_join(real, whole + there + 1) : sk_strdup(real);
        status = *out ? SK_OK : sk_fail_memory(err, strlen(whole));
    }
    sk_free_all(whole, real);
    return status;
}

/* Part by part from the root, links in no place followed. */
static int walk(const char *root, const char *rest, bool folder)
{
    int at = open(root, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (at >= 0 && *rest) {
        const size_t length = strcspn(rest, "/");
        char name[NAME_MAX + 1];
        int next = -1;
        if (length > NAME_MAX) {
            errno = ENAMETOOLONG;
        } else {
            memcpy(name, rest, length);
            name[length] = '\0';
            const bool last = !rest[length];
            next = openat(at, name,
                          (last && !folder ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY) | O_NOFOLLOW |
                              O_CLOEXEC);
        }
        const int code = errno;
        close(at);
        errno = code;
        at = next;
        rest += length + (rest[length] == '/');
    }
    if (at >= 0 && folder) { /* one that can be listed */
        const int list = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = list;
    }
    return at;
}

sk_status sk_roots_open(const sk_roots *roots, const char *path, bool folder, int *file, sk_error *err)
{
    char *real = NULL;
    struct stat kind;
    *file = -1;
    SK_TRY(sk_roots_resolve(roots, path, &real, err));
    const char *root = roots->items[sk_roots_of(roots, real)].path;
    const char *rest = real + (root[1] ? strlen(root) : 0);
    *file = walk(root, *rest ? rest + 1 : rest, folder);
    sk_status status = SK_OK;
    if (*file < 0)
        status = sk_fail(err, errno == ENOENT || errno == ENOTDIR ? SK_ERR_NOT_FOUND : SK_ERR_IO,
                         "%.400s: %s", path, strerror(errno));
    else if (!folder && (fstat(*file, &kind) != 0 || !S_ISREG(kind.st_mode)))
        status = sk_fail(err, SK_ERR_IO, "%.400s: is no regular file", path);
    if (status != SK_OK && *file >= 0) {
        close(*file);
        *file = -1;
    }
    sk_free(real);
    return status;
}
