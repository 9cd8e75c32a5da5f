/* SPDX-License-Identifier: Apache-2.0 */
/* The part of file.h about names and folders. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool sk_file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool sk_file_is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool sk_file_is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int64_t sk_file_size(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? (int64_t)info.st_size : -1;
}

static bool is_one(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool sk_file_is_same(const char *path, const char *other)
{
    if (sk_file_exists(path) || sk_file_exists(other))
        return is_one(path, other);
    char *folder = sk_path_folder(path), *its = sk_path_folder(other);
    const bool same =
        folder && its && is_one(folder, its) && strcmp(sk_path_name(path), sk_path_name(other)) == 0;
    sk_free_all(folder, its);
    return same;
}

/* Both from the root and without links. */
static bool is_below(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 &&
           (path[length] == '/' || path[length] == '\0' || folder[length - 1] == '/');
}

bool sk_file_is_within(const char *path, const char *folder)
{
    char *around = sk_path_folder(path), *there = realpath(folder, NULL), *target = realpath(path, NULL);
    char *real = around ? realpath(around, NULL) : NULL;
    const bool within = there && target && ((real && is_below(real, there)) || is_below(target, there)) &&
                        !sk_file_is_directory(path);
    free(there);
    free(target);
    free(real);
    sk_free(around);
    return within;
}

const char *sk_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *sk_path_extension(const char *path)
{
    const char *name = sk_path_name(path);
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot : path + strlen(path); /* ".bashrc" has none */
}

bool sk_path_has_extension(const char *path, const char *extension)
{
    return strcasecmp(sk_path_extension(path), extension) == 0;
}

char *sk_path_join(const char *folder, const char *name)
{
    if (name[0] == '/' || folder[0] == '\0')
        return sk_strdup(name);
    size_t length = strlen(folder), capacity = length + strlen(name) + 2;
    char *path = sk_malloc(capacity);
    if (path)
        snprintf(path, capacity, "%s%s%s", folder, folder[length - 1] == '/' ? "" : "/", name);
    return path;
}

char *sk_path_absolute(const char *path)
{
    if (path[0] == '/')
        return sk_strdup(path);
    char *folder = sk_path_folder(path), *real = folder ? realpath(folder, NULL) : NULL;
    char *here = folder && !real ? getcwd(NULL, 0) : NULL; /* a folder that is not there yet */
    char *absolute = real ? sk_path_join(real, sk_path_name(path)) : here ? sk_path_join(here, path) : NULL;
    free(here);
    free(real);
    sk_free(folder);
    return absolute;
}

char *sk_path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return sk_strdup(".");
    while (slash > path && slash[-1] == '/')
        slash--;
    return slash == path ? sk_strdup("/") : sk_strndup(path, (size_t)(slash - path));
}

char *sk_path_stem(const char *path)
{
    const char *name = sk_path_name(path);
    return sk_strndup(name, (size_t)(sk_path_extension(path) - name));
}

char *sk_path_with_extension(const char *path, const char *extension)
{
    size_t length = (size_t)(sk_path_extension(path) - path), more = strlen(extension);
    char *changed = sk_malloc(length + more + 1);
    if (changed) {
        memcpy(changed, path, length);
        memcpy(changed + length, extension, more + 1);
    }
    return changed;
}

sk_status sk_folder_make(const char *path, sk_error *err)
{
    if (!path[0])
        return sk_fail(err, SK_ERR_ARG, "a folder without a name cannot be made");
    char *copy = sk_strdup(path);
    if (!copy)
        return sk_fail_memory(err, strlen(path) + 1);
    sk_status status = SK_OK;
    for (char *p = copy + 1;; p++) {
        char here = *p;
        if (here != '/' && here != '\0')
            continue;
        *p = '\0';
        if (mkdir(copy, 0777) != 0) {
            int reason = errno; /* EEXIST may be a file; another errno a folder we may not make but have */
            if (!sk_file_is_directory(copy)) {
                status =
                    sk_fail(err, SK_ERR_IO, "%s: the folder cannot be made: %s. Choose another place", copy,
                            reason == EEXIST ? "a file of that name is in the way" : strerror(reason));
                break;
            }
        }
        *p = here;
        if (here == '\0')
            break;
    }
    sk_free(copy);
    return status;
}

sk_status sk_folder_make_own(const char *path, sk_error *err)
{
    struct stat info;
    char *plain = sk_strdup(path);
    size_t length = plain ? strlen(plain) : 0;
    if (!plain)
        return sk_fail_memory(err, strlen(path));
    while (length > 1 && plain[length - 1] == '/') /* behind which a link is followed */
        plain[--length] = '\0';
    sk_status status = SK_OK;
    if (mkdir(plain, 0777) != 0 && errno != EEXIST)
        status = sk_fail(err, SK_ERR_IO, "%s: the folder cannot be made: %s", plain, strerror(errno));
    else if (lstat(plain, &info) != 0 || !S_ISDIR(info.st_mode))
        status =
            sk_fail(err, SK_ERR_IO, "%s: is no folder, where skitter keeps one of its own; remove it", plain);
    sk_free(plain);
    return status;
}

void sk_folder_empty_own(const char *path, const char *ending)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = folder >= 0 ? fdopendir(folder) : NULL;
    if (!directory) {
        if (folder >= 0)
            close(folder);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory));) {
        const char *name = entry->d_name;
        bool named = strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
        if (named && (!ending || (name[0] != '.' && sk_path_has_extension(name, ending))))
            unlinkat(folder, name, 0);
    }
    closedir(directory);
    rmdir(path);
}

/* A home that is not there (an account without one says /nonexistent) is not skitter's to make, nor is where an XDG
 * folder would lie: whoever may write anywhere would find it in the way for ever. */
static sk_status has_ground(const char *variable, const char *folder, const char *override, sk_error *err)
{
    if (sk_file_is_directory(folder))
        return SK_OK;
    return sk_fail(
        err, SK_ERR_NOT_FOUND,
        "no folder for skitter's own files: %s needs %s, which is not there; make it, or set %s to "
        "another folder",
        variable, folder, override);
}

char *sk_path_program(void)
{
    char program[4096];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program);
    if (n <= 0 || (size_t)n >= sizeof program)
        return NULL;
    program[n] = '\0';
    return sk_strdup(program);
}

char *sk_folder_program(void)
{
    char *program = sk_path_program(), *folder = program ? sk_path_folder(program) : NULL;
    sk_free(program);
    return folder;
}

/* The XDG rules: a relative value of their variables is to be ignored. */
static sk_status own_folder(const char *override, const char *xdg, const char *below_home, char **out,
                            sk_error *err)
{
    *out = NULL;
    const char *value = getenv(override);
    const char *base = getenv(xdg), *home = getenv("HOME");
    char *path = NULL;
    if (value && *value) {
        path = sk_strdup(value);
    } else if (base && base[0] == '/') {
        char *ground = sk_path_folder(base);
        sk_status status =
            ground ? has_ground(xdg, ground, override, err) : sk_fail_memory(err, strlen(base));
        sk_free(ground);
        SK_TRY(status);
        path = sk_path_join(base, "skitter");
    } else if (home && home[0] == '/') {
        SK_TRY(has_ground("HOME", home, override, err));
        char *parent = sk_path_join(home, below_home);
        path = parent ? sk_path_join(parent, "skitter") : NULL;
        sk_free(parent);
    } else {
        return sk_fail(err, SK_ERR_NOT_FOUND, "no folder for skitter's own files: HOME is not set; set %s",
                       override);
    }
    if (!path)
        return sk_fail_memory(err, 64);
    sk_status status = sk_folder_make(path, err);
    if (status != SK_OK) {
        if (status == SK_ERR_IO)
            sk_error_prefix(err, "skitter's own folder (set %s to use another)", override);
        sk_free(path);
        return status;
    }
    *out = path;
    return SK_OK;
}

sk_status sk_folder_cache(char **out, sk_error *err)
{
    return own_folder("SKITTER_CACHE_DIR", "XDG_CACHE_HOME", ".cache", out, err);
}

sk_status sk_folder_config(char **out, sk_error *err)
{
    return own_folder("SKITTER_CONFIG_DIR", "XDG_CONFIG_HOME", ".config", out, err);
}

char *sk_folder_models(int which)
{
    static const char *const places[] = {"../share/models", "../share/skitter/models"};
    char *own = which >= 0 && which <= 1 ? sk_folder_program() : NULL;
    char *folder = own ? sk_path_join(own, places[which]) : NULL;
    sk_free(own);
    return folder;
}

bool sk_path_is_shipped(const char *path)
{
    char *folder = sk_path_folder(path), *here = folder ? realpath(folder, NULL) : NULL;
    bool found = false;
    for (int i = 0; here && !found && i < 2; i++) {
        char *models = sk_folder_models(i), *there = models ? realpath(models, NULL) : NULL;
        found = there && strcmp(here, there) == 0;
        free(there);
        sk_free(models);
    }
    free(here);
    sk_free(folder);
    return found;
}
