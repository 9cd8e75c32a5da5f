/* SPDX-License-Identifier: Apache-2.0 */
#include "app/inference_cache.h"
#include "base/file.h"
#include "base/lock.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_MOST 100000

static int by_use(const void *left, const void *right)
{
    const sk_inference_row *a = left, *b = right;
    if (a->used != b->used)
        return a->used < b->used ? -1 : 1;
    return strcmp(a->path, b->path);
}

static sk_status add_row(const char *path, sk_inference_row **rows, size_t *count, size_t *capacity,
                         sk_error *err)
{
    struct stat info;
    char stamp[SK_JOURNAL_STAMP];
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode) || !sk_journal_is_one(path))
        return SK_OK; /* gone meanwhile, or nobody's journal */
    SK_TRY(sk_array_reserve((void **)rows, capacity, *count + 1, sizeof **rows, ROWS_MOST, err));
    const bool complete = sk_journal_glance(path, stamp) && sk_journal_is_finished(path);
    sk_inference_row row = {.path = sk_strdup(path),
                            .name = sk_strdup(stamp),
                            .bytes = info.st_size,
                            .used = info.st_mtim.tv_sec,
                            .complete = complete};
    (*rows)[(*count)++] = row;
    return row.path && row.name ? SK_OK : sk_fail_memory(err, strlen(path));
}

sk_status sk_inference_cache_folder(const char *wanted, char **folder, sk_error *err)
{
    *folder = NULL;
    if (wanted) {
        SK_TRY(sk_folder_make(wanted, err));
        *folder = sk_strdup(wanted);
        return *folder ? SK_OK : sk_fail_memory(err, strlen(wanted));
    }
    char *own = NULL;
    SK_TRY(sk_folder_cache(&own, err));
    *folder = sk_path_join(own, "inference");
    sk_free(own);
    sk_status status = *folder ? sk_folder_make_own(*folder, err) : sk_fail_memory(err, 64);
    if (status != SK_OK) {
        sk_free(*folder);
        *folder = NULL;
    }
    return status;
}

sk_status sk_inference_cache_list(const char *folder, sk_inference_row **rows, size_t *count, sk_error *err)
{
    char *place = NULL;
    size_t capacity = 0;
    *rows = NULL;
    *count = 0;
    SK_TRY(sk_inference_cache_folder(folder, &place, err));
    sk_status status = SK_OK;
    DIR *directory = opendir(place);
    for (struct dirent *entry; directory && status == SK_OK && (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' || !sk_path_has_extension(entry->d_name, ".skj"))
            continue;
        char *path = sk_path_join(place, entry->d_name);
        status =
            path ? add_row(path, rows, count, &capacity, err) : sk_fail_memory(err, strlen(entry->d_name));
        sk_free(path);
    }
    if (directory)
        closedir(directory);
    sk_free(place);
    if (status != SK_OK) {
        sk_inference_cache_list_free(*rows, *count);
        *rows = NULL;
        *count = 0;
    } else if (*count > 1) {
        qsort(*rows, *count, sizeof **rows, by_use);
    }
    return status;
}

void sk_inference_cache_list_free(sk_inference_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sk_free(rows[i].path);
        sk_free(rows[i].name);
    }
    sk_free(rows);
}

sk_status sk_inference_cache_remove(const char *path, sk_error *err)
{
    sk_lock *lock = NULL;
    char *file = sk_path_with_extension(path, ".lock");
    if (!file)
        return sk_fail_memory(err, strlen(path));
    sk_status status = sk_lock_open(file, 0, &lock, NULL, err);
    if (status == SK_OK && unlink(path) != 0 && errno != ENOENT)
        status = sk_fail(err, SK_ERR_IO, "%s: cannot be removed: %s", path, strerror(errno));
    sk_lock_remove(&lock);
    sk_free(file);
    return status;
}
