/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/frame.h"
#include "runner/internal.h"

#include <stdio.h>

/* The second queue of a device: the network, and nothing else, one trace after another. An engine that works on its own
 * (a GPU) gets the next submit before the last one is waited for, as far as it has slots; one that works in submit gets
 * one at a time, so that its result goes on at once. */

/* For the statistics. */
static void note_capture(sk_lane *lane, const sk_trace *trace)
{
    const sk_session_info *info = sk_session_about(trace->session);
    pthread_mutex_lock(&lane->runner->lock);
    lane->captures++;
    lane->warm_up_ms = trace->warm_up_ms;
    lane->optimised_ms = trace->optimised_ms;
    lane->capture_ms = trace->capture_ms;
    lane->from_open = trace->from_open;
    lane->activation_bytes = (int64_t)info->activation_bytes;
    lane->n_threads = info->threads;
    snprintf(lane->detail, sizeof lane->detail, "%.159s", info->detail);
    pthread_mutex_unlock(&lane->runner->lock);
}

static sk_status capture(sk_lane *lane, const sk_trace_key *key, sk_error *err)
{
    sk_runner *r = lane->runner;
    pthread_mutex_lock(&lane->networks);
    sk_status status = sk_trace_capture(&lane->trace, r->models[0], &lane->device, key, &r->settings.detector,
                                        lane->slots, r->settings.quick_open, NULL, err);
    pthread_mutex_unlock(&lane->networks);
    if (status == SK_OK) {
        note_capture(lane, &lane->trace);
        sk_runner_note_file(r, 0, &lane->trace);
    }
    return status;
}

/* On the CPU results of a small network are kept twice, so that the next run does not wait for post-processing; those of a
 * large one are large too, and its run long beside the wait. A GPU has three: upload, run and download of neighbouring
 * frames overlap. */
#define TWO_SLOTS_PIXELS (512 * 512)
#define GPU_SLOTS        3

static void choose_slots(sk_lane *lane, const sk_trace_key *key)
{
    bool small = (int64_t)key->width * key->height * key->batch <= TWO_SLOTS_PIXELS;
    bool on_gpu = lane->trace.asynchronous || !sk_device_on_cpu(&lane->device);
    const int32_t more = on_gpu && lane->runner->n_models > 1 ? GPU_SLOTS - 1 : 0; /* in the second network */
    lane->slots = on_gpu ? GPU_SLOTS + (lane->keeps ? more : 0) : small ? 2 : 1;
    lane->n_jobs = on_gpu ? GPU_SLOTS + 2 + more : lane->slots + 1;
    if (lane->runner->settings.mode == SK_PIPELINE_LATENCY)
        lane->slots = lane->n_jobs = 1; /* nothing queues behind anything */
}

/* Boxes are given: the second network is the only one. */
static sk_status open_given(sk_lane *lane, sk_error *err)
{
    const sk_runner *r = lane->runner;
    sk_frame like = r->like;
    like.width = r->settings.frame_width;
    like.height = r->settings.frame_height;
    const bool one = r->settings.mode == SK_PIPELINE_LATENCY;
    lane->slots = lane->n_jobs = one ? 1 : sk_device_on_cpu(&lane->device) ? 3 : SK_LANE_MAX_JOBS;
    SK_TRY(sk_lane_open_second(lane, &like, NULL, err));
    note_capture(lane, &lane->second.trace);
    lane->activation_bytes = 0; /* counted with the second network's */
    return SK_OK;
}

/* Everything the first frame needs, made and touched on this thread. */
static sk_status open_lane(sk_lane *lane, sk_error *err)
{
    sk_runner *r = lane->runner;
    int32_t width = r->settings.frame_width, height = r->settings.frame_height;
    if (r->given)
        return open_given(lane, err);
    SK_TRY(sk_lane_open_pre(lane, width, height, err));
    lane->offload = true;
    lane->many_fits = false;
    lane->keeps = r->n_models > 1 && (lane->device.engine->can.offers & SK_OFFERS_CROPS);
    sk_trace_key key = sk_lane_key(lane, &r->like);
    choose_slots(lane, &key);
    sk_status status = capture(lane, &key, err);
    if (status == SK_ERR_UNSUPPORTED &&
        (key.frames || key.peaks)) { /* not with this model: then as on every other engine */
        lane->offload = false;
        key = sk_lane_key(lane, &r->like);
        status = capture(lane, &key, err);
    }
    SK_TRY(status);
    int32_t slots = lane->slots;
    choose_slots(lane, &key); /* the session has said whether it works by itself */
    if (lane->slots != slots)
        SK_TRY(capture(lane, &key, err));
    for (int32_t k = 0; k < lane->n_jobs && !sk_frame_on_device(&r->like); k++)
        SK_TRY(sk_job_prepare(&lane->jobs[k], &key, err));
    SK_TRY(sk_lane_open_post(lane, width, height, err));
    if (r->n_models == 1)
        return SK_OK;
    sk_frame like = r->like, resident = {0};
    like.width = width;
    like.height = height;
    const bool there = sk_lane_keeps(lane, &like) && key.frames;
    if (there)
        SK_TRY(sk_session_resident(lane->trace.session, 0, &resident, err));
    resident.format = like.format;
    return sk_lane_open_second(lane, &like, there ? &resident : NULL, err);
}

static void report_opening(sk_lane *lane, sk_status status)
{
    sk_runner *r = lane->runner;
    pthread_mutex_lock(&r->lock);
    lane->opened = status == SK_OK;
    lane->open_done = true;
    pthread_cond_broadcast(&r->gone);
    pthread_mutex_unlock(&r->lock);
}

static bool nothing_wanted(const sk_job *job)
{
    for (int32_t i = 0; i < job->count; i++)
        if (!job->items[i]->abandoned && job->items[i]->status == SK_OK)
            return false;
    return true;
}

static void fail_job(sk_job *job, sk_status status, const sk_error *problem)
{
    for (int32_t i = 0; i < job->count; i++) {
        job->items[i]->status = status;
        job->items[i]->error = *problem;
    }
    job->skip = true;
}

/* A shape the trace is not for: once nobody reads its results, a kept or a new one takes its place. Under the lock. */
static void change_trace(sk_lane_stage *stage, sk_job *job)
{
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    sk_error problem = {0};
    sk_trace_key key = job->key;
    pthread_mutex_unlock(&r->lock);
    int64_t begin = sk_clock_ns();
    sk_status status = SK_OK;
    if (!sk_kept_traces_swap(&lane->kept, &lane->trace, &key)) {
        sk_kept_traces_put(&lane->kept, &lane->trace);
        status = capture(lane, &key, &problem);
        sk_timeline_row_add(&stage->row, "capture", job->items[0]->ticket, job->count, begin, sk_clock_ns());
    }
    pthread_mutex_lock(&r->lock);
    if (status != SK_OK)
        fail_job(job, status, &problem);
}

static void submit(sk_lane_stage *stage, sk_job *job)
{
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    sk_error problem = {0};
    sk_status status = SK_OK;
    int64_t now = sk_clock_ns();
    job->skip = job->skip || nothing_wanted(job);
    sk_job_mark(job, SK_ITEM_NETWORK, SK_AT_NETWORK, now);
    stage->begun++;
    job->network_begin = job->network_end = now;
    if (job->skip || r->given)
        return;
    pthread_mutex_unlock(&r->lock);
    pthread_mutex_lock(&lane->networks);
    job->network_begin = sk_clock_ns();
    const sk_session_input in = {.data = job->input,
                                 .frames = job->on_device ? (const sk_frame *const *)job->frames : NULL};
    status = sk_trace_submit(&lane->trace, &job->key, &in, &problem);
    pthread_mutex_unlock(&lane->networks);
    pthread_mutex_lock(&r->lock);
    if (status != SK_OK)
        sk_lane_fail(lane, &problem);
}

/* Where the job's frames lie on the device, for their crops. */
static sk_status find_resident(sk_lane *lane, sk_job *job, sk_error *err)
{
    job->has_resident = sk_lane_keeps(lane, &job->items[0]->view) && job->key.frames;
    for (int32_t i = 0; i < job->count && job->has_resident; i++) {
        SK_TRY(sk_session_resident(lane->trace.session, i, &job->resident[i], err));
        job->resident[i].format = job->items[i]->view.format;
        job->resident[i].index = job->items[i]->view.index;
    }
    return SK_OK;
}

static void finish_oldest(sk_lane_stage *stage)
{
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    sk_job *job = sk_stage_oldest(stage);
    sk_error problem = {0};
    sk_status status = SK_OK;
    sk_session_times times = {0};
    job->has_resident = false;
    if (!job->skip && !r->given) {
        pthread_mutex_unlock(&r->lock);
        status = sk_trace_wait(&lane->trace, job->outputs, &problem);
        job->network_end = sk_clock_ns();
        if (status == SK_OK)
            status = sk_session_get_times(lane->trace.session, &times, &problem);
        if (status == SK_OK)
            status = find_resident(lane, job, &problem);
        if (status == SK_OK)
            sk_timeline_row_add(&stage->row, "network", job->items[0]->ticket, job->count, job->network_begin,
                                job->network_end);
        pthread_mutex_lock(&r->lock);
    }
    if (status != SK_OK) {
        sk_lane_fail(lane, &problem);
        return;
    }
    sk_job_mark(job, SK_ITEM_WAIT_POST, SK_AT_COMPUTED, job->network_end);
    for (int32_t i = 0; i < job->count; i++) {
        sk_item *item = job->items[i];
        item->at[SK_AT_NETWORK] = job->network_begin;
        item->upload += times.upload;
        item->download = times.download;
    }
    sk_stage_pass(stage);
}

/* One turn of the queue, under the lock. */
static void turn(sk_lane_stage *stage)
{
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    /* whose results, and frames on the device, nobody looks at any more */
    const int64_t read = lane->stages[lane->keeps ? SK_LANE_SECOND : SK_LANE_POST].done;
    bool flying = stage->done < stage->begun;
    sk_job *next = sk_stage_next(stage);
    if (next && !next->skip && !r->given && !sk_trace_fits(&lane->trace, &next->key)) {
        if (flying)
            finish_oldest(stage);
        else if (read < stage->begun)
            pthread_cond_wait(&stage->wake, &r->lock);
        else
            change_trace(stage, next);
    } else if (next && stage->begun - read < lane->slots && (lane->trace.asynchronous || !flying)) {
        submit(stage, next);
    } else if (flying) {
        finish_oldest(stage);
    } else {
        pthread_cond_wait(&stage->wake, &r->lock);
    }
}

void *sk_lane_network_main(void *argument)
{
    sk_lane_stage *stage = argument;
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    sk_status status = open_lane(lane, &lane->problem);
    report_opening(lane, status);
    if (status != SK_OK)
        return NULL;
    pthread_mutex_lock(&r->lock);
    while (!sk_stage_over(stage)) {
        turn(stage);
        sk_runner_tell(r);
    }
    if (lane->failed)
        sk_stage_hand_over(stage);
    sk_runner_tell(r);
    sk_stage_wake(lane);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}
