/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/hash.h"
#include "runtime/artifact_internal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where artifacts lie, and keeping those places tidy. */

#define VARIANTS     8 /* of one model in the cache; the oldest goes */
#define SAFE_NAME(c) (((c) >= '0' && (c) <= '9') || ((c) >= 'a' && (c) <= 'f'))

sk_status sk_artifact_place(const char *model, const sk_engine_form *form, char *file, char *container,
                            sk_error *err)
{
    char base[SK_ARTIFACT_PATH];
    size_t length = strlen(model);
    bool folder = sk_file_is_directory(model);
    int used;
    while (length > 1 && model[length - 1] == '/')
        length--;
    const char *name = memrchr(model, '/', length);
    name = name ? name + 1 : model;
    size_t name_length = (size_t)(model + length - name);
    bool nameless = folder && ((name_length == 1 && name[0] == '.') ||
                               (name_length == 2 && name[0] == '.' && name[1] == '.'));
    char *real = nameless ? realpath(model, NULL) : NULL; /* "." has no name to put an extension to */
    used = snprintf(base, sizeof base, "%.*s", (int)(real ? strlen(real) : length), real ? real : model);
    free(real);
    if (used > 0 && (size_t)used < sizeof base) {
        if (!folder && !sk_path_has_extension(base, ".skq")) /* model.pt has its own model.onnx */
            base[strlen(base) - strlen(sk_path_extension(base))] = '\0';
        used = snprintf(container, SK_ARTIFACT_PATH, "%s%s", base,
                        folder ? form->folder_extension : form->extension);
        if (used > 0 && used < SK_ARTIFACT_PATH)
            used = snprintf(file, SK_ARTIFACT_PATH, folder ? "%s/%s" : "%s", container, form->file);
    }
    if (used <= 0 || used >= SK_ARTIFACT_PATH)
        return sk_fail(err, SK_ERR_LIMIT, "%s: the path is too long", model);
    return SK_OK;
}

sk_status sk_artifact_cache_folder(char **out, sk_error *err)
{
    char *cache = NULL;
    *out = NULL;
    SK_TRY(sk_folder_cache(&cache, err));
    *out = sk_path_join(cache, "artifacts");
    sk_free(cache);
    sk_status status = *out ? sk_folder_make(*out, err) : sk_fail_memory(err, 64);
    if (status != SK_OK) {
        sk_free(*out);
        *out = NULL;
    }
    return status;
}

/* <first of the model's hash>-<hash of the whole key><extension> in the user's cache folder. */
sk_status sk_artifact_cache_place(const sk_artifact_key *k, const sk_engine_form *form, char *file,
                                  sk_error *err)
{
    char text[512], hex[SK_SHA256_TEXT], *folder = NULL;
    sk_sha256 hash;
    int length = snprintf(text, sizeof text, "%s|%s|%d%s|%d|%d|%s|%d|%s|%s|%s", k->source, k->form, k->batch,
                          k->dynamic_batch ? " or less" : "", k->height, k->width, k->precision, k->opset,
                          k->architecture, k->library, k->version);
    sk_hash_sha256(text, (size_t)length, &hash);
    SK_TRY(sk_artifact_cache_folder(&folder, err));
    int used = snprintf(file, SK_ARTIFACT_PATH, "%s/%.16s-%.16s%s", folder, k->source,
                        sk_sha256_text(&hash, hex), form->extension);
    sk_free(folder);
    return used > 0 && used < SK_ARTIFACT_PATH
               ? SK_OK
               : sk_fail(err, SK_ERR_LIMIT, "the path of the cache folder is too long");
}

sk_status sk_artifact_lock_place(const char *container, char *path, sk_error *err)
{
    char *folder = sk_path_folder(container);
    if (!folder)
        return sk_fail_memory(err, strlen(container));
    int used = snprintf(path, SK_ARTIFACT_PATH, "%s/.%s.skitter.lock", folder, sk_path_name(container));
    sk_free(folder);
    return used > 0 && used < SK_ARTIFACT_PATH
               ? SK_OK
               : sk_fail(err, SK_ERR_LIMIT, "%s: the path is too long", container);
}

/* What a process that was killed left behind: .<name>.<8 hex digits>, for the file and its sidecar. Only the holder of
 * the lock writes such files. */
void sk_artifact_sweep_locked(const char *file)
{
    const char *name = sk_path_name(file);
    size_t length = strlen(name);
    char *folder = sk_path_folder(file);
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const char *at = e->d_name;
        if (at[0] != '.' || strncmp(at + 1, name, length) != 0)
            continue;
        at += 1 + length;
        if (strncmp(at, SK_ARTIFACT_SIDECAR, sizeof SK_ARTIFACT_SIDECAR - 1) == 0)
            at += sizeof SK_ARTIFACT_SIDECAR - 1;
        if (at[0] != '.' || strlen(at) != 9)
            continue;
        bool digits = true;
        for (int i = 1; i < 9; i++)
            digits = digits && SAFE_NAME(at[i]);
        char *path = digits ? sk_path_join(folder, e->d_name) : NULL;
        if (path)
            unlink(path);
        sk_free(path);
    }
    if (dir)
        closedir(dir);
    sk_free(folder);
}

void sk_artifact_sweep(const char *path)
{
    char lock_path[SK_ARTIFACT_PATH];
    sk_lock *lock = NULL;
    char *folder = sk_path_folder(path);
    bool inside =
        folder && (sk_path_has_extension(folder, ".onnx") || sk_path_has_extension(folder, ".tensorrt"));
    if (sk_artifact_lock_place(inside ? folder : path, lock_path, NULL) == SK_OK) {
        bool left = sk_file_exists(lock_path);
        if (left && sk_lock_open(lock_path, 0, &lock, NULL, NULL) == SK_OK) {
            sk_artifact_sweep_locked(path);
            sk_lock_remove(&lock);
        }
    }
    sk_free(folder);
}

void sk_artifact_unlink(const char *path)
{
    char side[SK_ARTIFACT_PATH + 32];
    unlink(path);
    snprintf(side, sizeof side, "%s%s", path, SK_ARTIFACT_SIDECAR);
    unlink(side);
}

/* Files of the cache that begin with this model's hash: the oldest beyond the limit go. */
void sk_artifact_limit_variants(const char *file)
{
    char *folder = sk_path_folder(file);
    for (int round = 0; folder && round < 64; round++) {
        char oldest[SK_ARTIFACT_PATH] = "";
        int64_t oldest_time = INT64_MAX;
        int count = 0;
        DIR *dir = opendir(folder);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            char *path =
                strncmp(e->d_name, sk_path_name(file), 17) == 0 && !strstr(e->d_name, SK_ARTIFACT_SIDECAR)
                    ? sk_path_join(folder, e->d_name)
                    : NULL;
            struct stat info;
            if (path && stat(path, &info) == 0) {
                int64_t time = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
                count++;
                if (time < oldest_time && strcmp(path, file) != 0) {
                    oldest_time = time;
                    snprintf(oldest, sizeof oldest, "%s", path);
                }
            }
            sk_free(path);
        }
        if (dir)
            closedir(dir);
        if (count <= VARIANTS || !oldest[0])
            break;
        sk_artifact_unlink(oldest);
    }
    sk_free(folder);
}
