/* SPDX-License-Identifier: Apache-2.0 */
#include "media/pattern.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_MOST   1000000
#define FOLDERS_DEEP 64

static sk_status expand(const char *pattern, int flags, sk_pattern_files *files, sk_error *err)
{
    glob_t found = {0};
    int result = glob(pattern, GLOB_TILDE | GLOB_NOSORT | flags, NULL, &found);
    sk_status status = SK_OK;
    if (result == GLOB_NOSPACE)
        status = sk_fail_memory(err, strlen(pattern));
    else if (result != 0 && result != GLOB_NOMATCH)
        status = sk_fail(err, SK_ERR_IO, "%s: the pattern could not be expanded", pattern);
    for (size_t i = 0; status == SK_OK && result == 0 && i < found.gl_pathc; i++) {
        status = sk_array_reserve((void **)&files->paths, &files->capacity, files->count + 1,
                                  sizeof *files->paths, FILES_MOST, err);
        char *copy = status == SK_OK ? sk_strdup(found.gl_pathv[i]) : NULL;
        if (copy)
            files->paths[files->count++] = copy;
        else if (status == SK_OK)
            status = sk_fail_memory(err, strlen(found.gl_pathv[i]));
    }
    globfree(&found);
    return status;
}

/* The part "**" between slashes or at an end; null: none. */
static const char *find_deep(const char *pattern)
{
    for (const char *at = pattern; (at = strstr(at, "**")); at++)
        if ((at == pattern || at[-1] == '/') && (at[2] == '/' || !at[2]))
            return at;
    return NULL;
}

/* `rest` in this very folder, whose own name is no pattern. */
static sk_status expand_in(const char *folder, const char *rest, sk_pattern_files *files, sk_error *err)
{
    sk_text pattern = {0};
    for (const char *c = folder; *c; c++) {
        if (strchr("*?[]\\~", *c))
            sk_text_append(&pattern, "\\");
        sk_text_append_bytes(&pattern, c, 1);
    }
    sk_text_appendf(&pattern, "%s%s", *folder && folder[strlen(folder) - 1] != '/' ? "/" : "", rest);
    sk_status status = sk_text_status(&pattern, err);
    if (status == SK_OK)
        status = expand(sk_text_get(&pattern), 0, files, err);
    sk_text_free(&pattern);
    return status;
}

/* folder "": the current one, without a name before its files. */
static sk_status walk(const char *folder, const char *rest, int depth, sk_pattern_files *files, sk_error *err)
{
    if (depth > FOLDERS_DEEP)
        return sk_fail(err, SK_ERR_LIMIT, "%s: ** goes %d folders deep at most", folder, FOLDERS_DEEP);
    SK_TRY(expand_in(folder, rest, files, err));
    DIR *directory = opendir(*folder ? folder : ".");
    sk_status status = SK_OK; /* a folder that may not be read has no matches, as with any wildcard */
    for (struct dirent *entry; directory && status == SK_OK && (entry = readdir(directory));) {
        struct stat info;
        if (entry->d_name[0] == '.')
            continue;
        char *path = sk_path_join(folder, entry->d_name);
        if (!path)
            status = sk_fail_memory(err, strlen(folder));
        else if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode))
            status = walk(path, rest, depth + 1, files, err);
        sk_free(path);
    }
    if (directory)
        closedir(directory);
    return status;
}

sk_status sk_pattern_find(const char *pattern, sk_pattern_files *files, sk_error *err)
{
    const char *deep = find_deep(pattern);
    if (!deep)
        return expand(pattern, 0, files, err);
    const char *rest = deep[2] && deep[3] ? deep + 3 : "*";
    if (find_deep(rest))
        return sk_fail(err, SK_ERR_ARG, "%s: a pattern may hold one **", pattern);
    if (deep == pattern)
        return walk("", rest, 0, files, err);
    sk_pattern_files folders = {0};
    char *before = sk_malloc((size_t)(deep - pattern) + 1);
    sk_status status = before ? SK_OK : sk_fail_memory(err, strlen(pattern));
    if (before) {
        memcpy(before, pattern, (size_t)(deep - pattern));
        before[deep - pattern] = '\0';
        status = expand(before, GLOB_ONLYDIR, &folders, err);
    }
    for (size_t i = 0; status == SK_OK && i < folders.count; i++)
        status = walk(folders.paths[i], rest, 0, files, err);
    sk_pattern_free(&folders);
    sk_free(before);
    return status;
}

void sk_pattern_free(sk_pattern_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        sk_free(files->paths[i]);
    sk_free(files->paths);
    *files = (sk_pattern_files){0};
}
