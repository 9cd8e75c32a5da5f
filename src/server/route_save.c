/* SPDX-License-Identifier: Apache-2.0 */
#include "app/correct.h"
#include "base/file.h"
#include "server/archive.h"
#include "server/routes.h"
#include "server/views.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A corrected copy of a run, and its files for taking along. */

/* The video is opened only where it may be. */
static sk_status save(const sk_server *server, sk_run_view *view, const sk_correct_save *how,
                      sk_predict_report *report, sk_error *err)
{
    char *video = NULL;
    sk_correct_save allowed = *how;
    allowed.without_video = sk_views_source(server, view, &video, NULL) != SK_OK;
    sk_status status = sk_correct_save_run(view, &allowed, report, err);
    sk_free(video);
    return status;
}

sk_status sk_serve_view_save(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    sk_config *body = NULL;
    char *from = NULL, *to = NULL;
    sk_status status;
    sk_run_view *view = NULL;
    sk_predict_report *report = sk_calloc(1, sizeof *report);
    if (!report)
        return sk_fail_memory(err, sizeof *report);
    SK_TRY_GOTO(sk_request_json(r, &body, err));
    const char *folder = sk_config_text(sk_config_get(sk_config_root(body), "folder"));
    const char *out = sk_config_text(sk_config_get(sk_config_root(body), "to"));
    if (!folder || !out || !out[0]) {
        status =
            sk_fail(err, SK_ERR_ARG, "\"folder\" names the run, \"to\" the folder for the corrected copy");
        goto done;
    }
    SK_TRY_GOTO(sk_roots_resolve(&server->roots, folder, &from, err));
    SK_TRY_GOTO(sk_roots_resolve_new(&server->roots, out, &to, err));
    const sk_correct_save how = {.out = to, .report = true};
    SK_TRY_GOTO(sk_run_view_open(from, &view, err)); /* of its own: others go on looking meanwhile */
    SK_TRY_GOTO(save(server, view, &how, report, err));
    sk_json j = sk_reply_json(reply);
    sk_json_object(&j);
    sk_json_key_strings(&j, {"folder", to}, {"notice", report->notice[0] ? report->notice : NULL});
    sk_json_key_array(&j, "files");
    for (int32_t i = 0; i < report->n_files; i++)
        sk_json_string(&j, report->files[i]);
    sk_json_close(&j);
    sk_json_close(&j);
    status = sk_json_end(&j, err);
done:
    sk_run_view_close(&view);
    sk_config_close(&body);
    sk_free_all(from, to, report);
    return status;
}

/* --- downloads --- */

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {
        {".csv", "text/csv; charset=utf-8"},   {".json", "application/json"}, {".jsonl", "application/jsonl"},
        {".txt", "text/plain; charset=utf-8"}, {".mp4", "video/mp4"},         {".zip", "application/zip"},
        {".html", "text/html; charset=utf-8"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (sk_path_has_extension(name, types[i][0]))
            return types[i][1];
    return "application/octet-stream";
}

/* To be kept by the browser, never shown as a page of this server. `name` is one of ours: letters, '.' and '_'. */
static sk_status send_file(int file, const char *name, sk_reply *reply, sk_error *err)
{
    char disposition[200];
    struct stat info;
    if (fstat(file, &info) != 0) {
        close(file);
        return sk_fail(err, SK_ERR_IO, "%.100s: its length cannot be told", name);
    }
    snprintf(disposition, sizeof disposition, "attachment; filename=\"%s\"", name);
    sk_reply_header_add(reply, "Content-Disposition", disposition);
    reply->type = type_of(name);
    reply->file = file;
    reply->file_bytes = (int64_t)info.st_size;
    return SK_OK;
}

static const char *const extra[] = {"report.html",       "overlay.mp4", "run.json",
                                    "corrections.jsonl", "plots/",      "crops/"};

/* The file of a format, or one of the others by its name, a folder with '/' behind it; null: no such. */
static const char *file_of(const char *format)
{
    const sk_sink_kind *kind = sk_sink_find(format);
    if (kind)
        return kind->file;
    for (size_t i = 0; i < sizeof extra / sizeof *extra; i++)
        if (strncmp(extra[i], format, strcspn(extra[i], "/")) == 0 && !format[strcspn(extra[i], "/")])
            return extra[i];
    return NULL;
}

static bool is_folder(const char *name)
{
    return strchr(name, '/') != NULL;
}

bool sk_download_is_made(const sk_sink_kind *kind)
{
    return strcmp(kind->name, "raw") != 0;
}

/* What predict found, frame by frame, in another format. */
static sk_status write_found(sk_run_view *view, const sk_sink_kind *kind, const char *path, sk_error *err)
{
    sk_run_view_info info;
    sk_sink *sink = NULL;
    sk_run_view_get_info(view, &info);
    sk_status status = kind->open(path, info.header, &sink, err);
    for (int64_t i = 0; i < info.frames && status == SK_OK; i++) {
        sk_result_frame frame;
        status = sk_run_view_frame(view, sk_run_view_number(view, i), &frame, err);
        if (status == SK_OK)
            status = sink->write(sink, &frame, err);
    }
    if (sink) {
        const sk_status ended = sink->close(sink, status == SK_OK ? err : NULL);
        status = status == SK_OK ? ended : status;
    }
    return status;
}

static sk_status pack_own(const sk_server *server, const char *path, const char *name, int *file,
                          sk_error *err)
{
    const int folder = open(path, O_RDONLY | O_CLOEXEC); /* nobody else writes where it lies */
    if (folder < 0)
        return sk_fail(err, SK_ERR_IO, "%.400s: %s", path, strerror(errno));
    return sk_archive_make(server, folder, name, file, err);
}

/* "labels/" → "labels" */
static sk_status pack(const sk_server *server, const char *path, const char *name, int *file, sk_error *err)
{
    char plain[64];
    int folder = -1;
    snprintf(plain, sizeof plain, "%.*s", (int)strcspn(name, "/"), name);
    SK_TRY(sk_roots_open(&server->roots, path, true, &folder, err));
    return sk_archive_make(server, folder, plain, file, err);
}

/* A format of which the run has no file, or an outdated one: made of what is there, in the state folder, and gone once it is open. */
static sk_status make_file(sk_server *server, sk_run_view *view, bool tracked, const sk_sink_kind *kind,
                           int *file, sk_error *err)
{
    sk_predict_report *report = sk_calloc(1, sizeof *report);
    char *out = sk_path_join(server->state, "download-XXXXXX"), *path = NULL;
    int64_t bytes = 0;
    sk_status status = SK_OK;
    if (!report || !out) {
        status = sk_fail_memory(err, sizeof *report);
        goto done;
    }
    if (!mkdtemp(out)) {
        status = sk_fail(err, SK_ERR_IO, "no folder for the file could be made in %.300s", server->state);
        goto done;
    }
    path = sk_path_join(out, kind->file);
    const sk_correct_save how = {.out = out, .n_formats = 1, .formats = {kind->name}};
    status = !path     ? sk_fail_memory(err, strlen(out))
             : tracked ? save(server, view, &how, report, err)
                       : write_found(view, kind, path, err);
    if (status == SK_OK)
        status = is_folder(kind->file) ? pack_own(server, path, kind->name, file, err)
                                       : sk_file_open(path, file, &bytes, err);
    if (path) /* what is in it, if it is a folder */
        sk_folder_empty_own(path, NULL);
    sk_folder_empty_own(out, NULL);
done:
    sk_free_all(report, out, path);
    return status;
}

static bool is_of_tracks(const sk_sink_kind *kind)
{
    for (const sk_sink_kind *const *of = sk_sink_track_kinds; *of; of++)
        if (*of == kind)
            return true;
    return false;
}

/* The run's own file; or, where there is none or it is not as corrected, one that is made. */
static sk_status open_download(sk_server *server, const char *folder, const char *name,
                               const sk_sink_kind *kind, int *file, sk_error *err)
{
    sk_run_view *view = NULL;
    sk_run_view_info info;
    char *path = sk_path_join(folder, name);
    sk_status status = path ? sk_run_view_open(folder, &view, err) : sk_fail_memory(err, strlen(folder));
    if (status == SK_OK) {
        sk_run_view_get_info(view, &info);
        const bool makes = kind && sk_download_is_made(kind) && (info.tracked || !is_of_tracks(kind));
        const bool there = is_folder(name) ? sk_file_is_directory(path) : sk_file_is_regular(path);
        if (makes && (info.corrections->count || !there))
            status = make_file(server, view, info.tracked, kind, file, err);
        else if (is_folder(name))
            status = pack(server, path, name, file, err);
        else
            status = sk_roots_open(&server->roots, path, false, file, err);
    }
    sk_run_view_close(&view);
    sk_free(path);
    return status;
}

sk_status sk_serve_view_download(sk_server *server, const sk_request *r, sk_reply *reply, sk_error *err)
{
    const char *folder = sk_request_query(r, "folder"), *format = sk_request_query(r, "format");
    char *real = NULL;
    int file = -1;
    const char *name = format ? file_of(format) : NULL;
    if (!folder || !format)
        return sk_fail(err, SK_ERR_ARG, "folder= names a run's folder, format= the file");
    if (!name)
        return sk_fail(err, SK_ERR_NOT_FOUND, "'%.60s' is no file of a run that can be downloaded", format);
    SK_TRY(sk_roots_resolve(&server->roots, folder, &real, err));
    sk_status status = open_download(server, real, name, sk_sink_find(format), &file, err);
    char sent[80];
    snprintf(sent, sizeof sent, "%.*s%s", (int)strcspn(name, "/"), name, is_folder(name) ? ".zip" : "");
    if (status == SK_OK)
        status = send_file(file, sent, reply, err);
    sk_free(real);
    return status;
}
