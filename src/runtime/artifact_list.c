/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/hash.h"
#include "runtime/artifact.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What artifacts there are. Those beside models are known from artifacts/known/ in the user's cache folder, a file each
 * that holds the path. */

#define MOST 4096

typedef struct list {
    bool deep;
    sk_artifact_hash hash;
    sk_artifact_row *rows;
    size_t count, capacity;
    char cache[SK_ARTIFACT_PATH];
} list;

static sk_status known_folder(char **out, sk_error *err)
{
    char *folder = NULL;
    *out = NULL;
    SK_TRY(sk_artifact_cache_folder(&folder, err));
    *out = sk_path_join(folder, "known");
    sk_free(folder);
    return *out ? sk_folder_make(*out, err) : sk_fail_memory(err, 64);
}

void sk_artifact_remember(const char *path)
{
    char name[24], *folder = NULL, *file = NULL;
    char *full = realpath(path, NULL);
    if (full && known_folder(&folder, NULL) == SK_OK) {
        snprintf(name, sizeof name, "%016llx", (unsigned long long)sk_hash_xxh3(full, strlen(full), 0));
        file = sk_path_join(folder, name);
        if (file)
            (void)!sk_file_replace(file, full, strlen(full), NULL);
    }
    sk_free(file);
    sk_free(folder);
    free(full);
}

/* --- one row --- */

static void judge_source(list *l, sk_artifact_row *row)
{
    char hash[65] = "";
    sk_error problem = {0};
    const char *model = row->record.model;
    if (row->state == SK_ARTIFACT_USER || row->state == SK_ARTIFACT_DAMAGED)
        return;
    if (!sk_file_exists(model)) {
        row->orphan = true;
        snprintf(row->why, sizeof row->why, "its model %.300s is gone", model);
    } else if (l->hash && l->hash(model, hash, &problem) != SK_OK) {
        row->unread = true;
        snprintf(row->why, sizeof row->why, "its model cannot be read: %.300s", problem.message);
    } else if (l->hash && strcmp(hash, row->record.key.source) != 0) {
        row->state = SK_ARTIFACT_STALE;
        snprintf(row->why, sizeof row->why, "%.300s was changed since", model);
    }
}

static sk_status add(list *l, const char *path, sk_error *err)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->rows[i].path, path) == 0)
            return SK_OK;
    if (!sk_file_is_regular(path))
        return SK_OK;
    SK_TRY(sk_array_reserve((void **)&l->rows, &l->capacity, l->count + 1, sizeof *l->rows, MOST, err));
    sk_artifact_row *row = &l->rows[l->count];
    memset(row, 0, sizeof *row);
    snprintf(row->path, sizeof row->path, "%s", path);
    row->bytes = sk_file_size(path);
    row->in_cache = l->cache[0] && strncmp(path, l->cache, strlen(l->cache)) == 0;
    if (l->deep) {
        SK_TRY(sk_artifact_inspect(path, NULL, &row->record, &row->state, row->why, NULL, err));
    } else {
        sk_status status = sk_artifact_record_read(path, &row->record, NULL);
        row->state = status == SK_OK ? SK_ARTIFACT_FRESH : SK_ARTIFACT_USER;
        if (status != SK_OK)
            snprintf(row->why, sizeof row->why, "it has no record of what it was made from");
        if (status == SK_OK && row->record.bytes != row->bytes) {
            row->state = SK_ARTIFACT_DAMAGED;
            snprintf(row->why, sizeof row->why,
                     "%lld bytes where %lld were written; "
                     "'skitter artifacts verify' says whose it is",
                     (long long)row->bytes, (long long)row->record.bytes);
        }
    }
    judge_source(l, row);
    l->count++;
    return SK_OK;
}

/* Files in a folder that have a sidecar. */
static sk_status add_folder(list *l, const char *folder, sk_error *err)
{
    DIR *dir = opendir(folder);
    sk_status status = SK_OK;
    for (struct dirent *e; status == SK_OK && dir && (e = readdir(dir));) {
        size_t length = strlen(e->d_name), tail = sizeof SK_ARTIFACT_SIDECAR - 1;
        if (length <= tail || e->d_name[0] == '.' ||
            strcmp(e->d_name + length - tail, SK_ARTIFACT_SIDECAR) != 0)
            continue;
        e->d_name[length - tail] = '\0';
        char *path = sk_path_join(folder, e->d_name);
        status = path ? add(l, path, err) : sk_fail_memory(err, length);
        sk_free(path);
    }
    if (dir)
        closedir(dir);
    return status;
}

/* --- where to look --- */

static sk_status add_known(list *l, sk_error *err)
{
    char *folder = NULL;
    sk_status status = known_folder(&folder, err);
    DIR *dir = status == SK_OK ? opendir(folder) : NULL;
    for (struct dirent *e; status == SK_OK && dir && (e = readdir(dir));) {
        char *file = e->d_name[0] == '.' ? NULL : sk_path_join(folder, e->d_name), *path = NULL;
        size_t bytes = 0;
        if (file && sk_file_read_own(file, SK_ARTIFACT_PATH - 1, &path, &bytes, NULL) == SK_OK) {
            if (sk_file_exists(path))
                status = add(l, path, err);
            else
                unlink(file); /* it was taken away since */
        }
        sk_free(path);
        sk_free(file);
    }
    if (dir)
        closedir(dir);
    sk_free(folder);
    return status;
}

/* The artifacts that a model of this path may have. */
static sk_status add_model(list *l, const char *model, sk_error *err)
{
    char file[SK_ARTIFACT_PATH], container[SK_ARTIFACT_PATH];
    for (int32_t i = 0; i < sk_engine_count(); i++) {
        const sk_engine_form *form = sk_engine_at(i)->form;
        if (!form)
            continue;
        SK_TRY(sk_artifact_place(model, form, file, container, err));
        if (strcmp(file, model) == 0)
            continue;
        size_t before = l->count;
        SK_TRY(add(l, file, err));
        if (l->count > before)
            snprintf(l->rows[before].beside, sizeof l->rows[before].beside, "%s", model);
    }
    return SK_OK;
}

static sk_status add_place(list *l, const char *place, sk_error *err)
{
    char side[SK_ARTIFACT_PATH];
    if (!sk_file_exists(place))
        return sk_fail(err, SK_ERR_NOT_FOUND, "%s: no such file or folder", place);
    snprintf(side, sizeof side, "%s%s", place, SK_ARTIFACT_SIDECAR);
    if (sk_file_exists(side))
        return add(l, place, err); /* an artifact itself */
    if (sk_file_is_directory(place))
        SK_TRY(add_folder(l, place, err));
    return add_model(l, place, err);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const sk_artifact_row *)a)->path, ((const sk_artifact_row *)b)->path);
}

sk_status sk_artifact_list(const char *const *places, int32_t n_places, bool deep, sk_artifact_hash hash,
                           sk_artifact_row **rows, int32_t *count, sk_error *err)
{
    list l = {.deep = deep, .hash = hash};
    char *cache = NULL;
    sk_status status = SK_OK;
    *rows = NULL;
    *count = 0;
    status = sk_artifact_cache_folder(&cache, err);
    if (status == SK_OK)
        snprintf(l.cache, sizeof l.cache, "%s/", cache);
    else if (n_places == 0)
        goto done; /* nobody knows what there is */
    for (int32_t i = 0; i < n_places; i++)
        SK_TRY_GOTO(add_place(&l, places[i], err));
    if (n_places == 0 && cache) {
        SK_TRY_GOTO(add_folder(&l, cache, err));
        SK_TRY_GOTO(add_known(&l, err));
    }
    if (l.count)
        qsort(l.rows, l.count, sizeof *l.rows, by_path);
    *rows = l.rows;
    *count = (int32_t)l.count;
    l.rows = NULL;
done:
    sk_free(l.rows);
    sk_free(cache);
    return status;
}

sk_status sk_artifact_remove(const sk_artifact_row *row, sk_error *err)
{
    char side[SK_ARTIFACT_PATH + 32];
    if (row->state == SK_ARTIFACT_USER)
        return sk_fail(err, SK_ERR_ARG, "%s: was not made by skitter and is left alone", row->path);
    snprintf(side, sizeof side, "%s%s", row->path, SK_ARTIFACT_SIDECAR);
    if (unlink(row->path) != 0 && sk_file_exists(row->path))
        return sk_fail(err, SK_ERR_IO, "%s: could not be removed; look at its folder's permissions",
                       row->path);
    unlink(side);
    char *folder = sk_path_folder(row->path);
    if (folder && (sk_path_has_extension(folder, ".onnx") || sk_path_has_extension(folder, ".tensorrt")))
        rmdir(folder); /* goes only when empty */
    sk_free(folder);
    return SK_OK;
}
