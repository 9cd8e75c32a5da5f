/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "formats/zip_write.h"
#include "ros/generate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES 1000

char *sk_ros_package_path(const sk_ros_package *package, const char *folder, bool zip)
{
    sk_text name = {0};
    sk_text_appendf(&name, "%s%s", package->name, zip ? ".zip" : "");
    char *path = name.failed == SK_OK ? sk_path_join(folder, sk_text_get(&name)) : NULL;
    sk_text_free(&name);
    return path;
}

/* Takes away the folder that this call made, where nothing came to be in it. */
static void leave_none(const char *folder, bool was_there)
{
    if (!was_there)
        (void)!rmdir(folder);
}

/* All entries, through a file beside the archive that takes its place at the end. */
static sk_status write_entries(const sk_ros_package *package, const char *path, sk_error *err)
{
    sk_file_writer *file = NULL;
    sk_zip_writer *zip = NULL;
    sk_text name = {0};
    sk_status status = sk_file_writer_open(path, &file, err);
    if (status == SK_OK)
        status = sk_zip_writer_open(sk_file_writer_stream(file), path, &zip, err);
    for (size_t i = 0; status == SK_OK && i < package->count; i++) {
        sk_text_clear(&name);
        sk_text_appendf(&name, "%s/%s", package->name, package->files[i].path);
        status = sk_text_status(&name, err);
        if (status == SK_OK)
            status = sk_zip_writer_add(zip, sk_text_get(&name), package->files[i].text,
                                       package->files[i].length, err);
    }
    if (status == SK_OK)
        status = sk_zip_writer_end(zip, err);
    if (status == SK_OK)
        status = sk_file_writer_commit(&file, err);
    sk_zip_writer_close(&zip);
    sk_file_writer_close(&file);
    sk_text_free(&name);
    return status;
}

sk_status sk_ros_write_zip(const sk_ros_package *package, const char *folder, char **path, sk_error *err)
{
    char *whole = sk_ros_package_path(package, folder, true);
    *path = NULL;
    if (!whole)
        return sk_fail_memory(err, 1);
    const bool was_there = sk_file_exists(folder);
    sk_status status = sk_folder_make(folder, err);
    if (status == SK_OK) {
        status = write_entries(package, whole, err);
        if (status != SK_OK)
            leave_none(folder, was_there);
    }
    if (status == SK_OK)
        *path = whole;
    else
        sk_free(whole);
    return status;
}

/* --- a folder --- */

/* Makes every folder between `root` and the file root/path, the outermost first. */
static sk_status with_folders(const char *root, const char *path, sk_error *err)
{
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *part = sk_strndup(path, (size_t)(slash - path));
        char *folder = part ? sk_path_join(root, part) : NULL;
        const sk_status status = folder ? sk_folder_make_own(folder, err) : sk_fail_memory(err, 1);
        sk_free_all(part, folder);
        SK_TRY(status);
    }
    return SK_OK;
}

static sk_status write_files(const sk_ros_package *package, const char *root, sk_error *err)
{
    for (size_t i = 0; i < package->count; i++) {
        SK_TRY(with_folders(root, package->files[i].path, err));
        char *path = sk_path_join(root, package->files[i].path);
        const sk_status status =
            path ? sk_file_replace(path, package->files[i].text, package->files[i].length, err)
                 : sk_fail_memory(err, 1);
        sk_free(path);
        SK_TRY(status);
    }
    return SK_OK;
}

/* Takes away what write_files has made of a folder that was new; where memory is out, as far as it goes. */
static void remove_files(const sk_ros_package *package, const char *root)
{
    for (size_t i = package->count; i-- > 0;) {
        char *path = sk_path_join(root, package->files[i].path);
        if (!path)
            continue;
        (void)!unlink(path);
        for (char *slash; (slash = strrchr(path + strlen(root) + 1, '/'));) {
            *slash = '\0';
            if (rmdir(path) != 0)
                break;
        }
        sk_free(path);
    }
    (void)!rmdir(root);
}

/* A new folder beside the one to come, so that a rename is all that is left to do. */
static sk_status make_beside(const char *folder, const char *name, char **out, sk_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        char *path;
        sk_text text = {0};
        sk_text_appendf(&text, ".%s.skitter-%ld-%d", name, (long)getpid(), i);
        path = text.failed == SK_OK ? sk_path_join(folder, sk_text_get(&text)) : NULL;
        sk_text_free(&text);
        if (!path)
            return sk_fail_memory(err, 1);
        if (mkdir(path, 0777) == 0) {
            *out = path;
            return SK_OK;
        }
        const int code = errno;
        sk_free(path);
        if (code != EEXIST)
            return sk_fail(err, SK_ERR_IO, "%s: no folder can be made in it: %s%s", folder, strerror(code),
                           sk_file_remedy(code));
    }
    return sk_fail(err, SK_ERR_IO, "%s: it is full of unfinished packages (.%s.skitter-…): remove them",
                   folder, name);
}

static sk_status write_new(const sk_ros_package *package, const char *folder, const char *path, sk_error *err)
{
    char *beside = NULL;
    SK_TRY(make_beside(folder, package->name, &beside, err));
    sk_status status = write_files(package, beside, err);
    if (status == SK_OK && rename(beside, path) != 0)
        status = errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR
                     ? sk_fail(err, SK_ERR_IO, "%s: is there already", path)
                     : sk_fail(err, SK_ERR_IO, "%s: cannot be made: %s", path, strerror(errno));
    if (status != SK_OK)
        remove_files(package, beside);
    sk_free(beside);
    return status;
}

static sk_status check_place(const char *root, bool overwrite, sk_error *err)
{
    if (!sk_file_exists(root) || (overwrite && sk_file_is_directory(root)))
        return SK_OK;
    return sk_fail(err, SK_ERR_IO, "%s is there already\n%s", root,
                   overwrite ? "it is no folder: remove it, or give another --output"
                             : "--overwrite replaces its files, another --output keeps them");
}

sk_status sk_ros_check_folder(const sk_ros_package *package, const char *folder, bool overwrite,
                              sk_error *err)
{
    char *root = sk_ros_package_path(package, folder, false);
    const sk_status status = root ? check_place(root, overwrite, err) : sk_fail_memory(err, 1);
    sk_free(root);
    return status;
}

sk_status sk_ros_write_folder(const sk_ros_package *package, const char *folder, bool overwrite, char **path,
                              sk_error *err)
{
    char *root = sk_ros_package_path(package, folder, false);
    *path = NULL;
    if (!root)
        return sk_fail_memory(err, 1);
    const bool was_there = sk_file_exists(folder), is_there = sk_file_exists(root);
    sk_status status = check_place(root, overwrite, err);
    if (status == SK_OK)
        status = sk_folder_make(folder, err);
    if (status == SK_OK) {
        status = is_there ? write_files(package, root, err) : write_new(package, folder, root, err);
        if (status != SK_OK)
            leave_none(folder, was_there);
    }
    if (status != SK_OK)
        sk_free(root);
    else
        *path = root;
    return status;
}
