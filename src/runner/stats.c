/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/internal.h"

#include <stdio.h>
#include <string.h>

const char *sk_stage_name(sk_stage stage)
{
    static const char *const names[SK_STAGE_COUNT] = {
        "upload",    "queue", "pre",         "wait network",   "network",
        "wait post", "post",  "download",    "check",          "wait reader",
        "total",     "crops", "wait second", "second network", "second post"};
    return stage >= 0 && stage < SK_STAGE_COUNT ? names[stage] : "unknown";
}

static int64_t bytes_of_lane(const sk_lane *lane)
{
    size_t bytes = lane->second.input_bytes * (size_t)lane->second.slots;
    for (int32_t k = 0; k < lane->n_jobs; k++)
        bytes += lane->jobs[k].input_bytes;
    return (int64_t)bytes;
}

static void describe_lane(const sk_lane *lane, sk_runner_device_stats *d)
{
    snprintf(d->name, sizeof d->name, "%s", lane->device.name);
    snprintf(d->detail, sizeof d->detail, "%s", lane->detail);
    d->threads = lane->n_threads;
    d->failed = lane->failed;
    if (lane->failed)
        snprintf(d->problem, sizeof d->problem, "%.255s", lane->problem.message);
    d->frames = lane->frames;
    d->captures = lane->captures;
    d->warm_up_ms = lane->warm_up_ms;
    d->optimised_ms = lane->optimised_ms;
    d->capture_ms = lane->capture_ms;
    d->replays_from_open = lane->from_open;
}

void sk_runner_get_stats(sk_runner *r, sk_runner_stats *stats)
{
    pthread_mutex_lock(&r->lock);
    *stats = r->counted;
    for (int i = 0; i < SK_STAGE_COUNT; i++)
        stats->stages[i] = sk_histogram_summary(&r->stages[i]);
    stats->n_devices = r->n_lanes;
    stats->bytes = 0;
    for (int32_t i = 0; i < r->n_lanes; i++) {
        describe_lane(&r->lanes[i], &stats->devices[i]);
        stats->bytes += bytes_of_lane(&r->lanes[i]) + r->lanes[i].activation_bytes;
    }
    for (const sk_item *item = r->items; item; item = item->sibling)
        stats->bytes += (int64_t)(item->staging_bytes + item->output_bytes +
                                  (size_t)r->capacity *
                                      (sizeof(sk_found) + (size_t)r->n_keypoints * sizeof(sk_keypoint)));
    pthread_mutex_unlock(&r->lock);
}

void sk_runner_reset_stats(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < SK_STAGE_COUNT; i++)
        sk_histogram_reset(&r->stages[i]);
    r->counted = (sk_runner_stats){.worst_pcc = 1};
    pthread_mutex_unlock(&r->lock);
}

void sk_runner_mark(sk_runner *r, const char *name, int64_t frame, int64_t begin_ns, int64_t end_ns)
{
    sk_timeline_row_add(&r->caller_row, name, frame, 1, begin_ns, end_ns);
}

sk_status sk_runner_write_timeline(sk_runner *r, const char *path, sk_error *err)
{
    SK_CHECK_ARG(r && path, err);
    sk_timeline_row *rows[1 + SK_RUNNER_MAX_DEVICES * SK_LANE_MAX_STAGES];
    int32_t n = 0;
    if (!r->settings.timeline)
        return sk_fail(err, SK_ERR_ARG, "no timeline was kept: set settings.timeline before opening");
    pthread_mutex_lock(&r->lock);
    bool there = r->state == SK_RUNNER_RUNNING;
    r->inside += there; /* a release waits until this is done */
    pthread_mutex_unlock(&r->lock);
    if (!there)
        return sk_fail(err, SK_ERR_CANCELLED, "the pipeline was released, and its timeline with it");
    rows[n++] = &r->caller_row;
    for (int32_t i = 0; i < r->n_lanes; i++)
        for (int32_t k = 0; k < r->lanes[i].n_stages; k++)
            rows[n++] = &r->lanes[i].stages[k].row;
    sk_status status = sk_timeline_write(rows, n, path, err);
    pthread_mutex_lock(&r->lock);
    r->inside--;
    pthread_cond_broadcast(&r->gone);
    pthread_mutex_unlock(&r->lock);
    return status;
}

void sk_runner_note_file(sk_runner *r, int32_t model, const sk_trace *trace)
{
    const sk_session_info *info = sk_session_about(trace->session);
    bool known = !info->artifact_sha256[0]; /* the graph itself runs */
    pthread_mutex_lock(&r->lock);
    for (int32_t i = 0; i < r->n_files; i++)
        known = known || (r->files[i].model == model && strcmp(r->files[i].path, info->artifact) == 0 &&
                          strcmp(r->files[i].sha256, info->artifact_sha256) == 0);
    if (!known && r->n_files < SK_RUNNER_MAX_FILES) {
        sk_runner_file *f = &r->files[r->n_files++];
        f->model = model;
        snprintf(f->path, sizeof f->path, "%s", info->artifact);
        snprintf(f->sha256, sizeof f->sha256, "%s", info->artifact_sha256);
    }
    pthread_mutex_unlock(&r->lock);
}

int32_t sk_runner_files(sk_runner *r, sk_runner_file files[SK_RUNNER_MAX_FILES])
{
    pthread_mutex_lock(&r->lock);
    int32_t count = r->n_files;
    memcpy(files, r->files, (size_t)count * sizeof *files);
    pthread_mutex_unlock(&r->lock);
    return count;
}
