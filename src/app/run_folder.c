/* SPDX-License-Identifier: Apache-2.0 */
#include "app/run_folder.h"

#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

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

sk_status sk_run_folder_begin(sk_run_folder *folder, const char *fingerprint, bool restart, sk_error *err)
{
    char *path = sk_path_join(folder->path, "journal.skj");
    if (!path)
        return sk_fail_memory(err, strlen(folder->path));
    sk_status status = sk_journal_open(path, fingerprint, folder->started, restart, &folder->journal, err);
    sk_free(path);
    if (status == SK_OK) /* a continued run began when its first part did */
        snprintf(folder->started, sizeof folder->started, "%s", sk_journal_stamp(folder->journal));
    return status;
}

void sk_run_folder_close(sk_run_folder *folder)
{
    sk_journal_close(&folder->journal);
    sk_lock_close(&folder->lock);
    sk_free(folder->path);
    *folder = (sk_run_folder){0};
}

void sk_source_status_json(const sk_source_status *status, const char *key, sk_json *json)
{
    sk_json_key(json, key);
    sk_json_object(json);
    sk_json_key_int(json, "decoded", status->decoded);
    sk_json_key_int(json, "dropped", status->dropped);
    sk_json_key_int(json, "damaged", status->damaged);
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
