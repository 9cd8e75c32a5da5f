/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_folder.h"

#include "app/overlay_run.h"
#include "app/run_identity.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sk_status sk_run_folder_open(const char *where, sk_run_folder *folder, sk_error *err)
{
    sk_clock_text(sk_clock_wall_ms(), folder->started, sizeof folder->started);
    folder->path = sk_strdup(where);
    if (!folder->path)
        return sk_fail_memory(err, strlen(where));
    SK_TRY(sk_folder_make(where, err));
    char *path = sk_path_join(where, ".skitter.lock");
    if (!path)
        return sk_fail_memory(err, strlen(where));
    sk_lock_holder holder = {0};
    sk_status status = sk_lock_open(path, 0, &folder->lock, &holder, err);
    if (status == SK_ERR_BUSY)
        status = sk_fail(
            err, SK_ERR_BUSY,
            "%s: another run is writing here: process %lld, '%s'. Wait for it, stop it (kill %lld) or choose "
            "another --out",
            where, (long long)holder.pid, holder.command, (long long)holder.pid);
    sk_free(path);
    return status;
}

/* --- what lies in the folder --- */

/* Files that were about to be put in place when a run was killed; nobody else is writing here. */
static void remove_halves(const char *folder)
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

/* A folder in which no run began may hold somebody's files. */
static sk_status check_foreign(const sk_run_folder *folder, const sk_run_begin *how, sk_error *err)
{
    for (const char *const *file = how->files; *file && !how->overwrite; file++)
        if (is_there(folder->path, *file))
            return sk_fail(
                err, SK_ERR_MISMATCH,
                "%s/%s is there already, and no run of skitter began in this folder. Choose another "
                "--out, move it away, or give --overwrite to replace it",
                folder->path, *file);
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

/* What an earlier run left, of whatever formats: a new one must not be mixed with it. */
static void remove_results(const sk_run_folder *folder)
{
    static const char *const others[] = {"overlay.mp4", SK_OVERLAY_STYLE_FILE, "run.json", NULL};
    static const char *const folders[][2] = {
        {"overlay", ".jpg"}, {"overlay.parts", ".mp4"}, {"overlay.done", ".mp4"}};
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        char *path = sk_path_join(folder->path, (*kind)->file);
        size_t length = path ? strlen(path) : 0;
        if (length && path[length - 1] == '/') {
            path[length - 1] = '\0'; /* a link in its place is not followed */
            if (unlink(path) != 0)
                sk_folder_empty_own(path, ".txt");
        } else if (path) {
            unlink(path);
        }
        sk_free(path);
        path = (*kind)->beside ? sk_path_join(folder->path, (*kind)->beside) : NULL;
        if (path)
            unlink(path);
        sk_free(path);
    }
    char *crops = sk_path_join(folder->path, "crops");
    if (crops && unlink(crops) != 0)
        empty_crops(crops);
    sk_free(crops);
    for (size_t i = 0; others[i]; i++) {
        char *path = sk_path_join(folder->path, others[i]);
        if (path)
            unlink(path);
        sk_free(path);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = sk_path_join(folder->path, folders[i][0]);
        if (path && unlink(path) != 0)
            sk_folder_empty_own(path, folders[i][1]);
        sk_free(path);
    }
}

static sk_status refuse_other(const sk_run_folder *folder, const char *other, const char *identity,
                              sk_error *err)
{
    sk_text what = {0};
    sk_run_identity_difference(other, identity, &what);
    sk_status status =
        sk_fail(err, SK_ERR_MISMATCH,
                "%s holds another run, and results would be mixed. Different here: %.600s. Run it with "
                "what it began with to continue, choose another --out, or begin anew here with "
                "--restart",
                folder->path, sk_text_get(&what));
    sk_text_free(&what);
    return status;
}

sk_status sk_run_folder_begin(sk_run_folder *folder, const sk_run_begin *how, sk_error *err)
{
    char *path = sk_path_join(folder->path, "journal.skj"), *other = NULL;
    if (!path)
        return sk_fail_memory(err, strlen(folder->path));
    sk_status status = SK_OK;
    remove_halves(folder->path);
    if (!sk_journal_is_one(path))
        SK_TRY_GOTO(check_foreign(folder, how, err));
    else if (how->restart)
        remove_results(folder); /* before the journal goes: until then it can make them again */
    status =
        sk_journal_open(path, how->identity, folder->started, how->restart, &folder->journal, &other, err);
    if (other)
        status = refuse_other(folder, other, how->identity, err);
    if (status == SK_OK) /* a continued run began when its first part did */
        snprintf(folder->started, sizeof folder->started, "%s", sk_journal_stamp(folder->journal));
done:
    sk_free(other);
    sk_free(path);
    return status;
}

bool sk_run_folder_says_finished(const sk_run_folder *folder)
{
    char *path = sk_path_join(folder->path, "run.json"), *text = NULL;
    size_t length;
    bool says = path && sk_file_read_own(path, 64u << 20, &text, &length, NULL) == SK_OK &&
                strstr(text, "\"state\": \"finished\"");
    sk_free(text);
    sk_free(path);
    return says;
}

sk_status sk_run_folder_unreadable(sk_run_folder *folder, int64_t index, const char *name,
                                   const char *problem, sk_error *err)
{
    folder->n_unreadable++;
    sk_text_appendf(&folder->unreadable, "%lld", (long long)index);
    sk_text_append_bytes(&folder->unreadable, "", 1);
    sk_text_append_bytes(&folder->unreadable, name, strlen(name) + 1);
    sk_text_append_bytes(&folder->unreadable, problem, strlen(problem) + 1);
    return sk_text_status(&folder->unreadable, err);
}

const char *sk_run_folder_first_problem(const sk_run_folder *folder)
{
    const char *at = sk_text_get(&folder->unreadable);
    for (int field = 0; field < 2 && folder->n_unreadable; field++)
        at += strlen(at) + 1;
    return at;
}

void sk_run_folder_close(sk_run_folder *folder)
{
    sk_journal_close(&folder->journal);
    sk_lock_close(&folder->lock);
    sk_free(folder->path);
    sk_text_free(&folder->unreadable);
    *folder = (sk_run_folder){0};
}

void sk_source_status_json(const sk_source_status *status, const char *key, sk_json *json)
{
    sk_json_key(json, key);
    sk_json_object(json);
    sk_json_key_int(json, "decoded", status->decoded);
    sk_json_key_int(json, "dropped", status->dropped);
    sk_json_key_int(json, "damaged", status->damaged);
    sk_json_key_int(json, "missing", status->missing);
    sk_json_key_int(json, "outages", status->outages);
    sk_json_key_int(json, "reconnects", status->reconnects);
    sk_json_key_bool(json, "connected", status->connected);
    sk_json_key_string(json, "last_problem", status->last_problem);
    sk_json_close(json);
}

/* What computed in this model's place. */
static void put_files(sk_json *json, const sk_run_header *h, int32_t model)
{
    bool any = false;
    for (int32_t k = 0; k < h->n_files; k++) {
        if (h->files[k].model != model)
            continue;
        if (!any) {
            sk_json_key(json, "computed_by");
            sk_json_array(json);
        }
        any = true;
        sk_json_object(json);
        sk_json_key_string(json, "path", h->files[k].path[0] ? h->files[k].path : NULL);
        sk_json_key_string(json, "sha256", h->files[k].sha256);
        sk_json_close(json);
    }
    if (any)
        sk_json_close(json);
}

static void write_unreadable(const sk_run_folder *folder, sk_json *json)
{
    sk_json_key(json, "unreadable");
    sk_json_array(json);
    const char *at = sk_text_get(&folder->unreadable), *end = at + folder->unreadable.length;
    while (at < end) {
        sk_json_object(json);
        sk_json_key_int(json, "frame", strtoll(at, NULL, 10));
        at += strlen(at) + 1;
        sk_json_key_string(json, "source", at);
        at += strlen(at) + 1;
        sk_json_key_string(json, "problem", at);
        at += strlen(at) + 1;
        sk_json_close(json);
    }
    sk_json_close(json);
}

/* run.json: the header for formats that have no place for one, and where the run stands. */
sk_status sk_run_folder_note(const sk_run_folder *folder, const sk_run_header *h,
                             const sk_run_standing *standing, sk_error *err)
{
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key_string(&json, "skitter", h->version);
    sk_json_key_string(&json, "started", h->started);
    sk_json_key_string(&json, "state", standing->state);
    sk_json_key_string(&json, "source", h->source);
    sk_json_key_string(&json, "source_kind", h->source_kind);
    sk_json_key_int(&json, "width", h->width);
    sk_json_key_int(&json, "height", h->height);
    sk_json_key_float(&json, "rate", h->rate);
    sk_json_key_int(&json, "frames", standing->frames);
    sk_json_key_int(&json, "instances", standing->instances);
    sk_json_key(&json, "last_part");
    sk_json_object(&json);
    sk_json_key_int(&json, "frames", standing->part_frames);
    sk_json_key_float(&json, "seconds", standing->part_seconds);
    sk_json_key_float(&json, "fps",
                      standing->part_seconds > 0 ? (double)standing->part_frames / standing->part_seconds
                                                 : 0);
    sk_json_close(&json);
    sk_json_key_string(&json, "task", h->task);
    sk_run_header_names(h, &json);
    sk_json_key_string(&json, "runtime_requested", h->runtime_requested);
    sk_json_key_string(&json, "runtime", h->runtime);
    sk_json_key_string(&json, "device", h->device);
    sk_json_key_string(&json, "precision", h->precision);
    if (h->shape) {
        char size[32] = "";
        if (h->input_width > 0)
            snprintf(size, sizeof size, "%dx%d", h->input_height, h->input_width);
        sk_json_key_string(&json, "shape", h->shape);
        sk_json_key_string(&json, "network_input", size); /* height x width, as --imgsz */
        sk_json_key_string(&json, "heads", h->heads);
    }
    sk_json_key_string(&json, "settings", h->settings);
    sk_json_key_string(&json, "decoder", standing->decoder);
    sk_json_key_string(&json, "hwaccel", standing->hwaccel);
    sk_source_status_json(&standing->source, "source_status", &json);
    write_unreadable(folder, &json);
    sk_run_identity_json(standing->identity, "identity", &json);
    sk_json_key(&json, "models");
    sk_json_array(&json);
    for (int32_t i = 0; i < h->n_models; i++) {
        sk_json_object(&json);
        sk_json_key_string(&json, "path", h->model_paths[i]);
        sk_json_key_string(&json, "sha256", h->model_hashes[i]);
        put_files(&json, h, i);
        sk_json_close(&json);
    }
    sk_json_close(&json);
    sk_json_close(&json);
    sk_status status = sk_json_end(&json, err);
    char *path = sk_path_join(folder->path, "run.json");
    if (status == SK_OK)
        status = path ? sk_file_replace(path, text.data, text.length, err) : sk_fail_memory(err, 1);
    sk_free(path);
    sk_text_free(&text);
    return status;
}
