/* SPDX-License-Identifier: Apache-2.0 */
#include "app/predict.h"
#include "app/run_folder_internal.h"
#include "app/run_identity.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const state_names[] = {[SK_RUN_RUNNING] = "running",
                                          [SK_RUN_FINISHED] = "finished",
                                          [SK_RUN_INCOMPLETE] = "incomplete",
                                          [SK_RUN_STOPPED] = "stopped",
                                          [SK_RUN_FAILED] = "failed"};

void sk_source_status_json(const sk_source_status *status, const char *key, sk_json *json)
{
    sk_json_key_object(json, key);
    sk_json_key_ints(json, {"decoded", status->decoded}, {"dropped", status->dropped},
                     {"damaged", status->damaged}, {"missing", status->missing}, {"outages", status->outages},
                     {"reconnects", status->reconnects});
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
            sk_json_key_array(json, "computed_by");
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

static void put_left_out(const sk_run_folder *folder, sk_json *json)
{
    sk_json_key_array(json, "unreadable");
    const char *at = sk_text_get(&folder->left_out), *end = at + folder->left_out.length;
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

/* Is there a run.json of a run that had finished? */
static bool says_finished(const sk_run_folder *folder)
{
    char *path = sk_path_join(folder->path, "run.json"), *text = NULL;
    size_t length;
    bool says = path && sk_file_read_own(path, 64u << 20, &text, &length, NULL) == SK_OK &&
                strstr(text, "\"state\": \"finished\"");
    sk_free(text);
    sk_free(path);
    return says;
}

/* run.json: the header for formats that have no place for one, and where the run stands. */
sk_status sk_run_folder_note(const sk_run_folder *folder, const sk_run_header *h,
                             const sk_run_standing *standing, sk_error *err)
{
    if (!folder->path || folder->stage == SK_RUN_HELD)
        return SK_OK;
    if (standing->nothing_to_do && says_finished(folder))
        return SK_OK;
    sk_text text = {0};
    sk_json json = sk_json_to_text(&text, 2);
    sk_json_object(&json);
    sk_json_key_strings(&json, {"skitter", h->version}, {"started", h->started},
                        {"state", state_names[standing->state]}, {"source", h->source},
                        {"source_kind", h->source_kind});
    if (h->stamped)
        sk_json_key_bool(&json, "stamped", true);
    if (h->frame_id[0])
        sk_json_key_string(&json, "frame_id", h->frame_id);
    sk_json_key_int(&json, "width", h->width);
    sk_json_key_int(&json, "height", h->height);
    sk_json_key_float(&json, "rate", h->rate);
    sk_json_key_int(&json, "frames", standing->frames);
    sk_json_key_int(&json, "instances", standing->instances);
    sk_json_key_object(&json, "last_part");
    sk_json_key_int(&json, "frames", standing->part_frames);
    sk_json_key_float(&json, "seconds", standing->part_seconds);
    sk_json_key_float(&json, "fps",
                      standing->part_seconds > 0 ? (double)standing->part_frames / standing->part_seconds
                                                 : 0);
    sk_json_close(&json);
    sk_json_key_string(&json, "task", h->task);
    sk_run_header_names(h, &json);
    sk_json_key_strings(&json, {"runtime_requested", h->runtime_requested}, {"runtime", h->runtime},
                        {"device", h->device}, {"precision", h->precision});
    if (h->shape) {
        char size[32] = "";
        if (h->input_width > 0)
            snprintf(size, sizeof size, "%dx%d", h->input_height, h->input_width);
        sk_json_key_string(&json, "shape", h->shape);
        sk_json_key_string(&json, "network_input", size); /* height x width, as --imgsz */
        sk_json_key_string(&json, "heads", h->heads);
    }
    sk_json_key_strings(&json, {"settings", h->settings}, {"decoder", standing->decoder},
                        {"hwaccel", standing->hwaccel});
    if (standing->hwaccel_refused && standing->hwaccel_refused[0])
        sk_json_key_string(&json, "hwaccel_refused", standing->hwaccel_refused);
    sk_source_status_json(&standing->source, "source_status", &json);
    put_left_out(folder, &json);
    sk_run_identity_json(folder->identity, "identity", &json);
    sk_json_key_array(&json, "models");
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
