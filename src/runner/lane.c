/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/internal.h"

#include "base/frame.h"

#include "base/clock.h"
#include "base/instances.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* One device: its threads, their beginning and end, and what happens when it fails. */

void sk_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t ns)
{
    if (ns == INT64_MAX) {
        pthread_cond_wait(condition, lock);
        return;
    }
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
    pthread_cond_timedwait(condition, lock, &t);
}

int32_t sk_lanes_alive(const sk_runner *r)
{
    int32_t alive = 0;
    for (int32_t i = 0; i < r->n_lanes; i++)
        alive += !r->lanes[i].failed;
    return alive;
}

void sk_lanes_wake(sk_runner *r)
{
    sk_lane *best = NULL;
    for (int32_t i = 0; i < r->n_lanes; i++) {
        sk_lane *lane = &r->lanes[i];
        if (lane->idle && !lane->failed &&
            (!best || sk_lane_load(lane) < sk_lane_load(best) ||
             (sk_lane_load(best) > 0 && sk_lane_until_done(lane) < sk_lane_until_done(best))))
            best = lane;
    }
    if (best) {
        best->idle = false; /* the next frame wakes another one */
        pthread_cond_signal(&best->stages[SK_LANE_PRE].wake);
    }
}

/* --- failure --- */

static void fail_item(sk_runner *r, sk_item *item, const sk_error *problem)
{
    item->status = problem->code;
    item->error = *problem;
    sk_item_finish(r, item);
}

void sk_lane_hand_over(sk_lane *lane, sk_job *job)
{
    sk_runner *r = lane->runner;
    bool move = r->settings.allow_failover && sk_lanes_alive(r) > 0;
    for (int32_t i = 0; i < job->count; i++) {
        sk_item *item = job->items[i];
        if (item->abandoned || !move || item->status != SK_OK) {
            if (item->status == SK_OK)
                fail_item(r, item, &lane->problem);
            else
                sk_item_finish(r, item);
            continue;
        }
        item->moved = true;
        r->counted.moved++;
        sk_item_pend(r, item);
    }
    job->count = 0;
    for (int32_t i = 0; move && i < r->n_lanes; i++)
        sk_lanes_wake(r);
}

void sk_lane_fail(sk_lane *lane, const sk_error *problem)
{
    sk_runner *r = lane->runner;
    if (lane->failed)
        return;
    lane->failed = true;
    lane->problem = *problem;
    sk_error_prefix(&lane->problem, "device %s failed", lane->device.name);
    sk_lane_hand_over_waiting(lane);
    while (sk_lanes_alive(r) == 0 && r->pending) {
        sk_item *item = r->pending;
        r->pending = item->next;
        item->state = SK_ITEM_PRE; /* out of the list */
        fail_item(r, item, &lane->problem);
    }
    sk_stage_wake(lane);
    pthread_cond_broadcast(&r->room);
}

/* --- beginning and end --- */

bool sk_lane_keeps(const sk_lane *lane, const sk_frame *frame)
{
    return lane->keeps && frame->format != SK_PIXEL_NV12; /* nobody cuts crops from planes */
}

sk_trace_key sk_lane_key(const sk_lane *lane, const sk_frame *like)
{
    const sk_runner *r = lane->runner;
    const sk_detector_settings *d = &r->settings.detector;
    sk_trace_key key = sk_trace_key_of(r->models[0], &lane->device, d->batch, sk_task_stage_plan(lane->pre));
    bool whole = r->settings.keep_outputs || r->settings.check_every > 0;
    if (lane->offload && (!lane->many_fits || sk_frame_on_device(like)))
        sk_trace_key_offload(&key, r->models[0], lane->pre, like, whole);
    key.fit.whole = key.frames && sk_lane_keeps(lane, like);
    return key;
}

bool sk_lane_is_sparse(const sk_lane *lane)
{
    return sk_trace_key_is_partial(&lane->trace.key) || sk_trace_key_is_partial(&lane->second.trace.key);
}

static void free_input(sk_job *job)
{
    if (job->input && job->input_free)
        job->input_free(job->input);
    job->input = NULL;
    job->input_bytes = 0;
}

sk_status sk_job_prepare(sk_job *job, const sk_trace_key *key, sk_error *err)
{
    job->key = *key;
    if (job->on_device)
        return SK_OK;
    size_t bytes = sk_trace_picture_bytes(key) * (size_t)key->batch;
    if (bytes <= job->input_bytes)
        return SK_OK;
    free_input(job);
    /* What uploads read directly, where the engine has such memory. Else zeroed here, by a thread on the lane's cores: the
     * pages lie in its memory node. */
    job->input = key->engine->host_alloc ? key->engine->host_alloc(bytes) : NULL;
    job->input_free = key->engine->host_free;
    if (!job->input) {
        job->input = sk_aligned_calloc(bytes >= SK_LARGE_PAGE ? SK_LARGE_PAGE : 4096, bytes);
        job->input_free = sk_free;
    }
    if (!job->input)
        return sk_fail_memory(err, bytes);
    job->input_bytes = bytes;
    return SK_OK;
}

static sk_status start_thread(sk_lane_stage *stage, sk_error *err)
{
    sk_lane *lane = stage->lane;
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return sk_fail_memory(err, sizeof attributes);
    int refused = 0;
    if (lane->device.n_cores) {
        /* The network's own thread is the first of its team and bound like one; the others share the group. */
        cpu_set_t set;
        CPU_ZERO(&set);
        for (int32_t i = 0; i < lane->device.n_cores; i++)
            if (stage->index != SK_LANE_NETWORK || i == 0)
                CPU_SET(lane->device.cores[i], &set);
        refused = pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!refused)
        refused = pthread_create(&stage->thread, &attributes, stage->main, stage);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (refused)
        return sk_fail(err, SK_ERR_IO, "device %s: its %s thread could not be started (%s)",
                       lane->device.name, stage->name, strerror(refused));
    char name[16];
    snprintf(name, sizeof name, "%s-%d", stage->name, lane->index);
    pthread_setname_np(stage->thread, name);
    stage->started = true;
    return SK_OK;
}

static sk_status allocate(sk_runner *r, sk_lane *lane, sk_error *err)
{
    int32_t batch = r->settings.detector.batch;
    lane->copiers = (sk_copiers){.threads = r->settings.detector.threads, .sharers = r->n_lanes};
    for (int32_t k = 0; k < SK_LANE_MAX_JOBS; k++) {
        lane->jobs[k].items = sk_calloc((size_t)batch, sizeof *lane->jobs[k].items);
        lane->jobs[k].frames = sk_calloc((size_t)batch, sizeof *lane->jobs[k].frames);
        lane->jobs[k].resident = sk_calloc((size_t)batch, sizeof *lane->jobs[k].resident);
        if (!lane->jobs[k].items || !lane->jobs[k].frames || !lane->jobs[k].resident)
            return sk_fail_memory(err, (size_t)batch * sizeof *lane->jobs[k].items);
    }
    for (int32_t i = 0; i < lane->n_stages; i++) {
        sk_lane_stage *stage = &lane->stages[i];
        char name[48];
        snprintf(name, sizeof name, "%.16s %.30s", lane->device.name, stage->role);
        SK_TRY(sk_timeline_row_open(&stage->row, r->settings.timeline, name, err));
    }
    return SK_OK;
}

void sk_lane_list_stages(sk_lane *lane, int32_t n_models, const pthread_condattr_t *monotonic)
{
    static const sk_lane_stage list[SK_LANE_MAX_STAGES] = {
        [SK_LANE_PRE] = {.name = "pre", .role = "transfer and pre-processing", .main = sk_lane_pre_main},
        [SK_LANE_NETWORK] = {.name = "network", .role = "network", .main = sk_lane_network_main},
        [SK_LANE_POST] = {.name = "post", .role = "post-processing", .main = sk_lane_post_main},
        [SK_LANE_SECOND] = {
            .name = "second", .role = "crops and second network", .main = sk_lane_second_main}};
    lane->n_stages = n_models > 1 ? SK_LANE_MAX_STAGES : SK_LANE_SECOND;
    for (int32_t i = 0; i < lane->n_stages; i++) {
        lane->stages[i] = list[i];
        lane->stages[i].lane = lane;
        lane->stages[i].index = i;
        pthread_cond_init(&lane->stages[i].wake, monotonic);
    }
}

sk_status sk_lane_open(sk_runner *r, sk_lane *lane, sk_error *err)
{
    SK_TRY(allocate(r, lane, err));
    SK_TRY(start_thread(&lane->stages[SK_LANE_NETWORK], err));
    pthread_mutex_lock(&r->lock);
    while (!lane->open_done)
        pthread_cond_wait(&r->gone, &r->lock);
    bool opened = lane->opened;
    pthread_mutex_unlock(&r->lock);
    if (!opened) {
        if (err)
            *err = lane->problem;
        return lane->problem.code;
    }
    for (int32_t i = lane->n_stages - 1; i >= 0; i--)
        if (i != SK_LANE_NETWORK)
            SK_TRY(start_thread(&lane->stages[i], err));
    return SK_OK;
}

void sk_lane_stop(sk_lane *lane)
{
    for (int32_t i = 0; i < lane->n_stages; i++) {
        if (lane->stages[i].started)
            pthread_join(lane->stages[i].thread, NULL);
        lane->stages[i].started = false;
    }
}

void sk_lane_close(sk_lane *lane)
{
    sk_trace_release(
        &lane->trace); /* waits for what is in flight, which reads the inputs: those go after it */
    sk_kept_traces_release(&lane->kept);
    sk_lane_close_second(lane);
    sk_copiers_close(&lane->copiers);
    sk_task_stage_close(&lane->pre);
    sk_task_stage_close(&lane->post);
    for (int32_t k = 0; k < SK_LANE_MAX_JOBS; k++) {
        sk_free_all(lane->jobs[k].items, lane->jobs[k].frames, lane->jobs[k].resident);
        free_input(&lane->jobs[k]);
        lane->jobs[k] = (sk_job){0};
    }
    for (int32_t i = 0; i < lane->n_stages; i++)
        sk_timeline_row_close(&lane->stages[i].row);
}
