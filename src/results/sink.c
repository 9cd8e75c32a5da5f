/* SPDX-License-Identifier: Apache-2.0 */
#include "results/sink.h"

#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const sk_sink_kind sk_sink_csv, sk_sink_jsonl, sk_sink_slp, sk_sink_analysis, sk_sink_coco,
    sk_sink_labels, sk_sink_labels_conf, sk_sink_mot, sk_sink_mcap, sk_sink_db3, sk_sink_rosbag2;

const sk_sink_kind *const sk_sink_kinds[] = {
    &sk_sink_csv,         &sk_sink_jsonl, &sk_sink_slp,  &sk_sink_analysis, &sk_sink_coco,    &sk_sink_labels,
    &sk_sink_labels_conf, &sk_sink_mot,   &sk_sink_mcap, &sk_sink_db3,      &sk_sink_rosbag2, NULL};

static const sk_sink_kind *find_among(const sk_sink_kind *const *kinds, const char *name)
{
    for (; *kinds; kinds++)
        if (strcmp((*kinds)->name, name) == 0)
            return *kinds;
    return NULL;
}

const sk_sink_kind *sk_sink_find(const char *name)
{
    const sk_sink_kind *found = find_among(sk_sink_kinds, name);
    return found ? found : find_among(sk_sink_track_kinds, name);
}

const char *sk_track_state_name(sk_track_state state)
{
    return state == SK_TRACK_ACTIVE ? "active" : state == SK_TRACK_COVERED ? "covered" : "lost";
}

sk_status sk_run_header_needs_shapes(const sk_run_header *header, const char *format, sk_error *err)
{
    if (header->has)
        return SK_OK;
    char others[256] = "";
    for (const sk_sink_kind *const *kind = sk_sink_kinds; *kind; kind++) {
        const size_t used = strlen(others);
        if ((*kind)->no_shapes)
            snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", (*kind)->name);
    }
    return sk_fail(err, SK_ERR_ARG,
                   "format %s holds boxes or keypoints, and this model says what whole pictures show; there "
                   "are %s",
                   format, others);
}

void sk_run_header_rate(sk_run_header *h, double rate)
{
    if (!(rate > 0) && !(h->rate > 0) && h->tracked && strcmp(h->source_kind, "pictures") == 0 &&
        strcmp(h->task, "detections") != 0) /* of a file: it says so itself */
        sk_log(
            SK_LOG_WARN,
            "%s: pictures do not say how many a second they are; 25 are taken. What is measured in seconds "
            "depends on it: give --fps",
            h->source);
    if (!(rate > 0) || strcmp(h->source_kind, "live") == 0)
        return;
    if (h->rate > 0 && fabs(rate - h->rate) > 0.01 * h->rate)
        sk_log(SK_LOG_WARN,
               "%s: %.6g frames a second by --fps or the configuration, %.6g by the file: times and speeds "
               "go by "
               "%.6g; --set fps=0 goes by the file",
               h->source, rate, h->rate, rate);
    h->rate = rate;
}

/* Adds as much as there is room for. */
static void add_file(char *buffer, size_t capacity, const char *what, const char *path, const char *sha256)
{
    const size_t used = strlen(buffer);
    snprintf(buffer + used, capacity - used, "; %s %s sha256 %.16s", what, path, sha256);
}

const char *sk_run_header_line(const sk_run_header *h, char *buffer, size_t capacity)
{
    snprintf(buffer, capacity, "skitter %s; %s; runtime %s (requested %s); device %s; precision %s; %s",
             h->version, h->started, h->runtime, h->runtime_requested, h->device, h->precision, h->settings);
    for (int32_t i = 0; i < h->n_models; i++)
        add_file(buffer, capacity, "model", h->model_paths[i], h->model_hashes[i]);
    for (int32_t i = 0; i < h->n_files; i++)
        add_file(buffer, capacity, "computed by", h->files[i].path[0] ? h->files[i].path : "a file in memory",
                 h->files[i].sha256);
    for (char *at = buffer; *at; at++) /* one line, whatever a path holds */
        if (*at == '\n' || *at == '\r')
            *at = ' ';
    return buffer;
}

static void names(const char *const *texts, int32_t count, const char *key, sk_json *json)
{
    sk_json_key_array(json, key);
    for (int32_t i = 0; i < count; i++)
        sk_json_string(json, texts && texts[i] ? texts[i] : "");
    sk_json_close(json);
}

void sk_run_header_keypoints(const sk_run_header *h, const char *key, sk_json *json)
{
    if (h->n_keypoints <= 0)
        return;
    names(h->keypoint_names, h->n_keypoints, key, json);
    sk_json_key_array(json, "edges");
    for (int32_t i = 0; i < h->n_edges; i++) {
        sk_json_array(json);
        sk_json_int(json, h->edges[i][0]);
        sk_json_int(json, h->edges[i][1]);
        sk_json_close(json);
    }
    sk_json_close(json);
}

void sk_run_header_names(const sk_run_header *h, sk_json *json)
{
    names(h->class_names, h->n_classes, "classes", json);
    sk_run_header_keypoints(h, "keypoints", json);
}

bool sk_run_header_fits(const sk_run_header *header, const sk_result_frame *frame)
{
    const sk_instances *in = frame->instances;
    if (frame->index < 0 || frame->width < 0 || frame->height < 0 ||
        (in->count > 0 && in->n_keypoints < header->n_keypoints))
        return false;
    for (int32_t i = 0; i < in->count; i++)
        if (in->items[i].class_id < -1 || in->items[i].class_id > 1 << 24 || in->items[i].track_id < -1 ||
            in->items[i].track_id > 1 << 24)
            return false;
    return true;
}
