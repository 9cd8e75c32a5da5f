/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/frame.h"
#include "engines/offload.h"
#include "kernels/plain.h"
#include "runner/internal.h"

#include <string.h>

/* The first queue of a device: takes frames, brings them into the network's form. */

/* Each size of frames costs an engine that fits them in by itself a new trace. */
#define MOST_FITS 4

sk_status sk_lane_open_pre(sk_lane *lane, int32_t width, int32_t height, sk_error *err)
{
    const sk_runner *r = lane->runner;
    if (lane->pre && lane->pre_width == width && lane->pre_height == height)
        return SK_OK;
    sk_task_stage_close(&lane->pre);
    SK_TRY(sk_task_stage_open(r->models[0], &r->task, width, height, &lane->pre, err));
    lane->pre_width = width;
    lane->pre_height = height;
    return SK_OK;
}

static bool same_size(const sk_item *a, const sk_item *b)
{
    return a->view.width == b->view.width && a->view.height == b->view.height &&
           a->view.format == b->view.format && a->view.matrix == b->view.matrix &&
           a->view.full_range == b->view.full_range && sk_frame_same_place(&a->view, &b->view);
}

/* How many pending frames go together now; 0: none yet, and *when is the moment to look again. */
static int32_t batch_now(const sk_runner *r, int64_t *when)
{
    const sk_item *first = r->pending;
    int32_t n = 0, batch = r->settings.detector.batch;
    *when = INT64_MAX;
    if (!first)
        return 0;
    const sk_item *item = first, *last = first;
    for (; item && n < batch && same_size(item, first); item = item->next, n++)
        last = item;
    if (n == batch || item || last->ticket < r->flush_before || r->finished ||
        r->settings.mode == SK_PIPELINE_LATENCY)
        return n;
    *when = first->at[SK_AT_QUEUED] + (int64_t)r->settings.batch_wait_ms * 1000000;
    return sk_clock_ns() >= *when ? n : 0;
}

/* Whether any went; the lock was let go then. */
static bool expire(sk_runner *r)
{
    if (r->settings.mode != SK_PIPELINE_LATENCY || r->settings.max_age_ms <= 0)
        return false;
    const int64_t before = r->counted.expired;
    int64_t limit = sk_clock_ns() - (int64_t)r->settings.max_age_ms * 1000000;
    while (r->pending && r->pending->at[SK_AT_SUBMIT] < limit) {
        r->counted.expired++;
        sk_item_free(r, r->pending);
        pthread_cond_broadcast(&r->ready);
    }
    if (r->counted.expired == before)
        return false;
    if (!r->oldest && r->finished)
        r->news++; /* the end has come */
    sk_runner_tell(r);
    return true;
}

/* Waits for frames and for a free job; null when there is nothing to do any more. */
static sk_job *take(sk_lane_stage *stage)
{
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    for (;;) {
        if (r->state == SK_RUNNER_ENDING || lane->failed)
            return NULL;
        int64_t when = INT64_MAX;
        if (sk_lane_load(lane) < lane->n_jobs) {
            if (expire(r))
                continue;
            int32_t n = batch_now(r, &when);
            if (n && !sk_lane_leaves(lane, &when)) {
                sk_job *job = &lane->jobs[stage->begun % lane->n_jobs];
                int64_t now = sk_clock_ns();
                for (job->count = 0; job->count < n; job->count++) {
                    r->pending->share = n;
                    sk_item *item = r->pending;
                    r->pending = item->next;
                    item->state = SK_ITEM_PRE;
                    item->lane = lane->index;
                    item->at[SK_AT_PRE] = now;
                    job->items[job->count] = item;
                }
                stage->begun++;
                if (r->pending)
                    sk_lanes_wake(r); /* more is there than this lane takes */
                return job;
            }
            lane->idle = true;
        }
        sk_wait_until(&stage->wake, &r->lock, when);
        lane->idle = false;
    }
}

/* The frame, rows without gaps, for an engine that fits it in by itself: as it is, or made plain where engines do not take
 * the format. Rows that the fit does not read may hold anything. */
typedef struct frame_copy {
    const sk_frame *frame;
    sk_row_strips strips;
    const uint8_t *chroma; /* NV12, which engines take; null: others */
    sk_nv12_weights weights;
    size_t row; /* bytes */
    uint8_t *to;
} frame_copy;

static int32_t chroma_rows(const frame_copy *c)
{
    return c->chroma ? (c->frame->height + 1) / 2 : 0;
}

/* One of the shares of the strips and of the rows of colours behind them. */
static void copy_share(void *context, int32_t share, int32_t shares)
{
    const frame_copy *c = context;
    const sk_frame *frame = c->frame;
    const int32_t strips = c->strips.count;
    int64_t begin, end;
    sk_pool_split(strips + chroma_rows(c), 1, share, shares, &begin, &end);
    for (int64_t k = begin; k < end; k++) {
        if (k >= strips) {
            memcpy(c->to + c->row * (size_t)(frame->height + k - strips),
                   c->chroma + sk_frame_chroma_stride(frame) * (k - strips), c->row);
            continue;
        }
        const int64_t first = c->strips.first + k * c->strips.step;
        for (int64_t y = first; y < first + c->strips.height; y++) {
            uint8_t *row = c->to + c->row * (size_t)y;
            if (c->chroma)
                memcpy(row, frame->data + frame->stride * y, (size_t)frame->width);
            else
                sk_plain_row(frame, &c->weights, (int32_t)y, row);
        }
    }
}

static void copy_frame(sk_lane *lane, const sk_frame *frame, uint8_t *to)
{
    const bool nv12 = frame->format == SK_PIXEL_NV12;
    frame_copy c = {.frame = frame, .strips = lane->strips, .to = to};
    if (!c.strips.count) /* every row */
        c.strips = (sk_row_strips){.first = 0, .step = 1, .height = 1, .count = frame->height};
    c.row = nv12 ? ((size_t)frame->width + 1) / 2 * 2
                 : sk_frame_row_bytes(sk_plain_format(frame->format), frame->width);
    if (nv12)
        c.chroma = sk_frame_chroma(frame);
    else
        c.weights = sk_nv12_weights_of(frame->matrix, frame->full_range);
    sk_copiers_run(&lane->copiers, c.row * (size_t)(c.strips.count * c.strips.height + chroma_rows(&c)),
                   copy_share, &c);
}

/* A frame in a device's memory is for that device, and only where its engine fits frames in by itself. */
static sk_status check_device(const sk_lane *lane, const sk_trace_key *key, const sk_frame *frame,
                              sk_error *err)
{
    if (key->frames && (key->engine->can.reads & SK_READS(frame->place)) &&
        lane->device.index == frame->device)
        return SK_OK;
    return sk_fail(err, SK_ERR_UNSUPPORTED,
                   "frame %lld lies in the memory of GPU %d, which %s cannot read; give it in host memory "
                   "(hwaccel \"none\": the processor decodes)",
                   (long long)frame->index, frame->device, lane->device.name);
}

/* Outside of the lock. A frame that cannot be taken fails alone. */
static void process(sk_lane *lane, sk_job *job)
{
    const sk_frame *first = &job->items[0]->view;
    sk_error problem = {0};
    job->skip = job->on_device = false;
    if (lane->runner->given)
        return;
    sk_status status = sk_lane_open_pre(lane, first->width, first->height, &problem);
    job->on_device = sk_frame_on_device(first);
    if (status == SK_OK) {
        sk_trace_key key = sk_lane_key(lane, first);
        if (key.frames && memcmp(&key.fit, &lane->fit, sizeof key.fit) != 0) {
            lane->fit = key.fit;
            status = sk_offload_strips(&key.fit, &lane->strips, &problem);
            if (++lane->fits > MOST_FITS) { /* pictures of all sizes: one trace for all is better */
                lane->many_fits = true;
                key = sk_lane_key(lane, first);
            }
        }
        if (status == SK_OK)
            status = job->on_device ? check_device(lane, &key, first, &problem) : SK_OK;
        if (status == SK_OK)
            status = sk_job_prepare(job, &key, &problem);
    }
    job->skip = true;
    for (int32_t i = job->count; i < lane->runner->settings.detector.batch; i++)
        job->frames[i] = NULL; /* a batch that is not full */
    for (int32_t i = 0; i < job->count; i++) {
        sk_item *item = job->items[i];
        uint8_t *at = status == SK_OK && !job->on_device
                          ? job->input + sk_trace_picture_bytes(&job->key) * (size_t)i
                          : NULL;
        if (status == SK_OK && job->on_device)
            job->frames[i] = &item->view;
        else if (status == SK_OK && job->key.frames)
            copy_frame(lane, &item->view, at);
        else if (status == SK_OK)
            item->status = sk_task_stage_input(
                lane->pre, &item->view, job->key.u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32, at, &item->error);
        else {
            item->status = status;
            item->error = problem;
        }
        job->skip = job->skip && item->status != SK_OK;
    }
}

void *sk_lane_pre_main(void *argument)
{
    sk_lane_stage *stage = argument;
    sk_lane *lane = stage->lane;
    sk_runner *r = lane->runner;
    /* The pixels are needed again where crops are cut, a check is made or another device may have to begin anew. */
    bool keep = r->n_models > 1 || r->settings.frames == SK_RUNNER_HOLD || r->settings.allow_failover;
    pthread_mutex_lock(&r->lock);
    for (sk_job *job; (job = take(stage));) {
        pthread_mutex_unlock(&r->lock);
        int64_t begin = sk_clock_ns();
        int64_t ticket = job->items[0]->ticket;
        process(lane, job);
        int64_t end = sk_clock_ns();
        sk_timeline_row_add(&stage->row, "pre", ticket, job->count, begin, end);
        pthread_mutex_lock(&r->lock);
        sk_job_mark(job, SK_ITEM_WAIT_NETWORK, SK_AT_READY, end);
        for (int32_t i = 0; i < job->count; i++) {
            sk_item *item = job->items[i];
            if (!keep && !item->check &&
                !sk_frame_on_device(&item->view)) /* the device reads those when it gets to them */
                sk_item_give_back(r, item);
        }
        sk_stage_pass(stage);
        sk_runner_tell(r);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}
