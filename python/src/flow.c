/* SPDX-License-Identifier: Apache-2.0 */
#include "flow.h"

#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct timespec sk_flow_soon(int milliseconds)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    at.tv_sec += milliseconds / 1000 + at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

static bool is_past(const struct timespec *until)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

void sk_flow_open(sk_flow *flow, sk_pipeline *pipeline)
{
    pthread_condattr_t clock;
    *flow = (sk_flow){.pipeline = pipeline, .home = getpid()};
    pthread_mutex_init(&flow->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&flow->changed, &clock);
    pthread_condattr_destroy(&clock);
}

bool sk_flow_is_here(const sk_flow *flow)
{
    return flow->home == getpid();
}

void sk_flow_release(sk_flow *flow)
{
    pthread_mutex_lock(&flow->lock);
    flow->released = true;
    pthread_cond_broadcast(&flow->changed);
    pthread_mutex_unlock(&flow->lock);
    sk_pipeline_release(flow->pipeline);
}

/* Under the lock. */
static void end_item(sk_item *item)
{
    sk_flow *flow = item->flow;
    if (item->newer)
        item->newer->older = item->older;
    else
        flow->live = item->older;
    if (item->older)
        item->older->newer = item->newer;
    if (item->stream)
        item->stream->items--;
    item->next = flow->ended;
    flow->ended = item;
}

void sk_flow_close(sk_flow *flow)
{
    sk_flow_release(flow);
    sk_pipeline_close(&flow->pipeline); /* nothing is lent and no result is out from here on */
    while (flow->live)
        end_item(flow->live);
    while (flow->streams)
        sk_stream_free(flow->streams);
    pthread_cond_destroy(&flow->changed);
    pthread_mutex_destroy(&flow->lock);
}

/* ---- items ---- */

sk_item *sk_item_new(sk_flow *flow)
{
    sk_item *item = calloc(1, sizeof *item);
    const sk_frame frame = SK_FRAME_INIT;
    if (!item)
        return NULL;
    item->frame = frame;
    item->flow = flow;
    item->wanted = true;
    pthread_mutex_lock(&flow->lock);
    item->older = flow->live;
    if (item->older)
        item->older->newer = item;
    flow->live = item;
    pthread_mutex_unlock(&flow->lock);
    return item;
}

void sk_item_free(sk_item *item)
{
    free(item->name);
    free(item->pixels);
    free(item);
}

/* Nobody has anything to do with it any more: it waits to be freed. */
void sk_item_settle(sk_item *item)
{
    if (!item->waiting && !item->lent && !item->wanted)
        end_item(item);
}

void sk_item_drop(sk_item *item)
{
    sk_flow *flow = item->flow;
    pthread_mutex_lock(&flow->lock);
    const sk_result *result = item->result;
    item->result = NULL;
    item->wanted = false;
    sk_item_settle(item);
    pthread_mutex_unlock(&flow->lock);
    sk_pipeline_give_back(flow->pipeline, result);
}

sk_item *sk_flow_ended(sk_flow *flow)
{
    pthread_mutex_lock(&flow->lock);
    sk_item *all = flow->ended;
    flow->ended = NULL;
    pthread_mutex_unlock(&flow->lock);
    return all;
}

/* The pipeline's, when pixels are no longer needed. */
static void give_back_pixels(void *context, const sk_frame *frame)
{
    sk_item *item = context;
    sk_flow *flow = item->flow;
    (void)frame;
    if (item->inner)
        item->inner->release(item->inner->release_context, item->inner);
    pthread_mutex_lock(&flow->lock);
    item->lent = false;
    sk_item_settle(item);
    pthread_mutex_unlock(&flow->lock);
}

/* ---- frames in, results out ---- */

/* One result, for whoever it is. Under the lock, which is let go meanwhile. */
static void take_one(sk_flow *flow, int milliseconds)
{
    const sk_result *result = NULL, *unwanted = NULL;
    flow->taking = true;
    pthread_mutex_unlock(&flow->lock);
    const sk_status status = sk_pipeline_take(flow->pipeline, milliseconds, &result, NULL);
    pthread_mutex_lock(&flow->lock);
    flow->taking = false;
    if (status == SK_ERR_CANCELLED)
        flow->released = true;
    if (status == SK_OK && result) {
        sk_item *item = result->user;
        flow->waiting--;
        item->waiting = false;
        if (item->stream && item->stream->stopped)
            item->wanted = false;
        if (item->wanted)
            item->result = result;
        else
            unwanted = result;
        if (item->stream)
            sk_stream_deliver(item->stream, item);
        sk_item_settle(item);
    }
    pthread_cond_broadcast(&flow->changed);
    if (unwanted) {
        pthread_mutex_unlock(&flow->lock);
        sk_pipeline_give_back(flow->pipeline, unwanted);
        pthread_mutex_lock(&flow->lock);
    }
}

/* Something will have changed, or `until` has come. Under the lock. */
static void wait_a_while(sk_flow *flow, const struct timespec *until, int milliseconds)
{
    if (!flow->taking && flow->waiting > 0 && !flow->released)
        take_one(flow, milliseconds);
    else
        pthread_cond_timedwait(&flow->changed, &flow->lock, until);
}

sk_status sk_flow_submit(sk_flow *flow, sk_item *item, uint32_t flags, int milliseconds, sk_error *err)
{
    const struct timespec until = sk_flow_soon(milliseconds);
    item->frame.release = give_back_pixels;
    item->frame.release_context = item;
    for (;;) {
        pthread_mutex_lock(&flow->lock);
        flow->waiting++;
        item->waiting = item->lent = true;
        pthread_mutex_unlock(&flow->lock);
        const sk_status status = sk_pipeline_submit(flow->pipeline, &item->frame, item, flags, err);
        pthread_mutex_lock(&flow->lock);
        if (status != SK_OK) {
            flow->waiting--;
            item->waiting = item->lent = false;
        }
        pthread_cond_broadcast(&flow->changed);
        if (status == SK_ERR_BUSY && !is_past(&until)) { /* full: make room, or wait for who does */
            const struct timespec soon = sk_flow_soon(20);
            wait_a_while(flow, &soon, 20);
            pthread_mutex_unlock(&flow->lock);
            continue;
        }
        pthread_mutex_unlock(&flow->lock);
        return status;
    }
}

bool sk_flow_wait(sk_flow *flow, sk_item *item, int milliseconds)
{
    const struct timespec until = sk_flow_soon(milliseconds);
    pthread_mutex_lock(&flow->lock);
    while (item->waiting && !flow->released && !is_past(&until))
        wait_a_while(flow, &until, milliseconds);
    const bool over = !item->waiting || flow->released;
    pthread_mutex_unlock(&flow->lock);
    return over;
}

sk_status sk_stream_next(sk_stream *stream, int milliseconds, sk_item **out, sk_error *err)
{
    sk_flow *flow = stream->flow;
    const struct timespec until = sk_flow_soon(milliseconds);
    sk_status status = SK_ERR_BUSY;
    *out = NULL;
    pthread_mutex_lock(&flow->lock);
    for (;;) {
        if (stream->first) {
            *out = stream->first;
            stream->first = (*out)->next;
            stream->on_the_way--;
            status = SK_OK;
            pthread_cond_broadcast(&flow->changed);
        } else if (stream->ended && stream->on_the_way == 0) {
            status = stream->status;
            if (err && status != SK_OK)
                *err = stream->err;
        } else if (flow->released) {
            status = SK_ERR_CANCELLED;
        } else if (!is_past(&until)) {
            wait_a_while(flow, &until, milliseconds);
            continue;
        }
        break;
    }
    pthread_mutex_unlock(&flow->lock);
    return status;
}
