/* SPDX-License-Identifier: Apache-2.0 */
#include "app/overlay_run.h"
#include "app/run_folder_internal.h"
#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void run_remove_halves(const char *folder)
{
    static const char *const names[] = {".journal.skj.", ".run.json."};
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));)
        for (size_t i = 0; i < 2; i++)
            if (strncmp(entry->d_name, names[i], strlen(names[i])) == 0 &&
                strlen(entry->d_name) == strlen(names[i]) + 8)
                unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}

void run_remove_made(const char *path, size_t made)
{
    char *copy = sk_strdup(path);
    for (size_t length = copy ? strlen(copy) : 0; length >= made && length > 0;) {
        while (length > 1 && copy[length - 1] == '/')
            copy[--length] = '\0';
        if (length < made || rmdir(copy) != 0)
            break;
        while (length > 0 && copy[length - 1] != '/')
            copy[--length] = '\0';
    }
    sk_free(copy);
}

static bool is_there(const char *folder, const char *file)
{
    struct stat info;
    char *path = sk_path_join(folder, file);
    bool there = path && lstat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode)) { /* an empty folder is nobody's */
        DIR *directory = opendir(path);
        int entries = 0;
        while (directory && entries < 3 && readdir(directory))
            entries++;
        if (directory)
            closedir(directory);
        there = entries > 2;
    }
    sk_free(path);
    return there;
}

sk_status run_check_foreign(const char *folder, const sk_run_begin *how, sk_error *err)
{
    for (const char *const *file = how->files; *file && !how->overwrite; file++)
        if (is_there(folder, *file))
            return sk_fail(
                err, SK_ERR_MISMATCH,
                "%s/%s is there already, and no run of skitter began in this folder. Choose another "
                "--out, move it away, or give --overwrite to replace it",
                folder, *file);
    return SK_OK;
}

/* crops/ and its folders, one a class. */
static void empty_crops(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));) {
        struct stat info;
        char *inside = entry->d_name[0] != '.' ? sk_path_join(path, entry->d_name) : NULL;
        if (inside && lstat(inside, &info) == 0 && S_ISDIR(info.st_mode))
            sk_folder_empty_own(inside, ".jpg");
        sk_free(inside);
    }
    closedir(directory);
    sk_folder_empty_own(path, ".jpg");
}

static void remove_file_of(const char *folder, const sk_sink_kind *kind)
{
    char *path = sk_path_join(folder, kind->file);
    size_t length = path ? strlen(path) : 0;
    if (length && path[length - 1] == '/') {
        path[length - 1] = '\0'; /* a link in its place is not followed */
        if (unlink(path) != 0)
            sk_folder_empty_own(path, ".txt");
    } else if (path) {
        unlink(path);
    }
    sk_free(path);
    path = kind->beside ? sk_path_join(folder, kind->beside) : NULL;
    if (path)
        unlink(path);
    sk_free(path);
}

void run_remove_results(const char *folder)
{
    static const char *const others[] = {"overlay.mp4", SK_OVERLAY_STYLE_FILE, "run.json",
                                         "report.html", "corrections.jsonl",   "results.db3-journal",
                                         NULL};
    static const char *const folders[][2] = {
        {"overlay", ".jpg"}, {"overlay.parts", ".mp4"}, {"overlay.done", ".mp4"}, {"plots", ".svg"},
        {"plots", ".png"},   {"rosbag2", ".mcap"},      {"rosbag2", ".yaml"}};
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++)
        remove_file_of(folder, *kind);
    for (const sk_sink_kind *const *kind = sk_sink_track_kinds; *kind; kind++)
        remove_file_of(folder, *kind);
    char *crops = sk_path_join(folder, "crops");
    if (crops && unlink(crops) != 0)
        empty_crops(crops);
    sk_free(crops);
    for (size_t i = 0; others[i]; i++) {
        char *path = sk_path_join(folder, others[i]);
        if (path)
            unlink(path);
        sk_free(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = sk_path_join(folder, folders[i][0]);
        if (path && unlink(path) != 0)
            sk_folder_empty_own(path, folders[i][1]);
        sk_free(path);
    }
}
