/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/frame.h"
#include "base/instances.h"
#include "runner/internal.h"

#include <string.h>

/* Frames in. */

sk_status sk_runner_ended(sk_error *err)
{
    return sk_fail(err, SK_ERR_CANCELLED, "the pipeline was released");
}

static sk_status all_failed(const sk_runner *r, sk_error *err)
{
    if (err)
        *err = r->lanes[0].problem;
    return r->lanes[0].problem.code;
}

void sk_runner_enter(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    r->inside++;
}

void sk_runner_leave(sk_runner *r)
{
    sk_runner_tell(r);
    r->inside--;
    if (r->state == SK_RUNNER_ENDING && r->inside == 0)
        pthread_cond_broadcast(&r->gone);
    pthread_mutex_unlock(&r->lock);
}

/* What reads pixels on the host does not read a device's. */
static sk_status check_place(const sk_runner *r, const sk_frame *frame, const sk_runner_call *call,
                             sk_error *err)
{
    if (!sk_frame_on_device(frame))
        return SK_OK;
    if (r->settings.frames == SK_RUNNER_COPY || r->n_models > 1 || r->settings.check_every > 0 ||
        r->settings.allow_failover || (call && (call->check_pcc || call->copy)))
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "frame %lld lies in a GPU's memory: such frames are not copied, cropped, checked or "
                       "moved to another device; give RGB in memory",
                       (long long)frame->index);
    return SK_OK;
}

static void drop(sk_runner *r, sk_item *item)
{
    r->counted.dropped++;
    sk_item_free(r, item);
    pthread_cond_broadcast(&r->ready); /* the reader may have been waiting for this one */
}

/* The oldest frame nobody has begun; else the oldest result nobody has fetched; else null. */
static sk_item *to_drop(const sk_runner *r)
{
    if (r->pending)
        return r->pending;
    return r->oldest && r->oldest->state == SK_ITEM_DONE ? r->oldest : NULL;
}

/* Would waiting for room be waiting for oneself? One thread submits and reads, and there is something to read. */
static bool reads_next(const sk_runner *r)
{
    return r->readers == SK_READ_BY_ONE && pthread_equal(r->reader, pthread_self()) && r->oldest &&
           r->oldest->state == SK_ITEM_DONE;
}

/* Under the lock: an item to fill, when there is room for one more. */
static sk_status reserve(sk_runner *r, sk_item **out, sk_error *err)
{
    if (r->settings.mode == SK_PIPELINE_LATENCY && r->settings.when_full == SK_FULL_DROP_OLDEST)
        while (r->pending) /* the newest wins */
            drop(r, r->pending);
    for (;;) {
        sk_runner_tell(r);
        if (r->state != SK_RUNNER_RUNNING)
            return sk_runner_ended(err);
        if (sk_lanes_alive(r) == 0)
            return all_failed(r, err);
        if (r->in_flight + r->reserved < r->depth ||
            (r->settings.when_full == SK_FULL_BLOCK && reads_next(r))) {
            if (!r->free_items) /* the reader holds them */
                SK_TRY(sk_items_grow(r, err));
            break;
        }
        sk_item *victim = r->settings.when_full == SK_FULL_DROP_OLDEST ? to_drop(r) : NULL;
        if (victim) {
            drop(r, victim);
        } else if (r->settings.when_full == SK_FULL_REFUSE) {
            r->counted.refused++;
            return sk_fail(err, SK_ERR_BUSY, "all %d frames are in flight: wait for one first", r->depth);
        } else {
            pthread_cond_wait(&r->room, &r->lock);
        }
    }
    sk_item *item = r->free_items;
    r->free_items = item->next;
    r->reserved++;
    *out = item;
    return SK_OK;
}

/* Outside of the lock: pixels into the item's own memory, rows without gaps. */
static sk_status stage_copy(sk_item *item, const sk_frame *frame, sk_error *err)
{
    const size_t bytes = sk_frame_copy_bytes(frame);
    if (bytes > item->staging_bytes) {
        sk_free(item->staging);
        item->staging_bytes = 0;
        item->staging = sk_aligned_calloc(bytes >= SK_LARGE_PAGE ? SK_LARGE_PAGE : 4096, bytes);
        if (!item->staging)
            return sk_fail_memory(err, bytes);
        item->staging_bytes = bytes;
    }
    sk_frame_copy(frame, item->staging, &item->view);
    return SK_OK;
}

static void reset(sk_item *item, const sk_frame *frame, int64_t now)
{
    item->view = *frame;
    item->lent = NULL;
    item->user = NULL;
    item->check = item->abandoned = item->moved = item->whole = item->announced = false;
    item->status = SK_OK;
    item->share = 1;
    item->upload = item->download = item->copying = item->checking = 0;
    item->post = item->crops = item->second = item->second_post = item->second_end = 0;
    item->checked.ran = item->checked.passed = false;
    item->found.count = 0;
    item->lane = -1;
    item->at[SK_AT_SUBMIT] = now;
}

/* What is given with a frame, the first ones where there are too many. */
static void take_found(const sk_instances *from, sk_instances *to)
{
    to->count = from->count < to->capacity ? from->count : to->capacity;
    memcpy(to->items, from->items, (size_t)to->count * sizeof *to->items);
    for (int32_t i = 0; i < to->count; i++) { /* the next model's points are the only ones */
        to->items[i].first_keypoint = 0;
        to->items[i].has &= ~SK_HAS_KEYPOINTS;
    }
}

static sk_status submit(sk_runner *r, const sk_frame *frame, const sk_runner_call *call, bool own,
                        int64_t *ticket, sk_error *err)
{
    SK_TRY(sk_frame_check(frame, err));
    SK_TRY(check_place(r, frame, call, err));
    if (call && call->check_pcc && !r->settings.keep_outputs && !r->settings.check_every && r->sparse)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "this device brings back only results that can pass; open the runner with check_every or "
            "keep_outputs to check frames");
    sk_item *item = NULL;
    sk_runner_enter(r);
    sk_status status =
        call && call->alone && r->in_flight + r->reserved > 0
            ? sk_fail(err, SK_ERR_BUSY, "frames are in flight: take them before running a single one")
            : reserve(r, &item, err);
    if (status != SK_OK || !item) { /* no item without SK_OK; the analyser cannot see it */
        sk_runner_leave(r);
        return status;
    }
    int64_t begin = sk_clock_ns();
    reset(item, frame, begin);
    if (r->given && call && call->found)
        take_found(call->found, &item->found);
    const bool copy = !own && (r->settings.frames == SK_RUNNER_COPY || (call && call->copy));
    if (copy) {
        pthread_mutex_unlock(&r->lock);
        status = stage_copy(item, frame, err);
        item->upload = (double)(sk_clock_ns() - begin) * 1e-9;
        pthread_mutex_lock(&r->lock);
    }
    r->reserved--;
    if (status == SK_OK && r->state != SK_RUNNER_RUNNING)
        status = sk_runner_ended(err);
    if (status == SK_OK && sk_lanes_alive(r) == 0) /* the last one went while this was being copied */
        status = all_failed(r, err);
    if (status == SK_OK && !copy && !own)
        status = sk_item_lend(r, item, frame, call, err);
    if (status != SK_OK) {
        item->state = SK_ITEM_FREE;
        sk_item_free(r, item);
        sk_runner_leave(r);
        return status;
    }
    item->user = call ? call->user : NULL;
    item->alone = call && call->alone;
    item->announced = own || item->alone; /* nobody is told of those */
    item->ticket = r->next_ticket++;
    item->check = !own && ((call && call->check_pcc) ||
                           (r->settings.check_every > 0 && item->ticket % r->settings.check_every == 0));
    item->at[SK_AT_QUEUED] = sk_clock_ns();
    r->finished = false;
    r->counted.submitted++;
    sk_item_link(r, item);
    sk_item_pend(r, item);
    if (ticket)
        *ticket = item->ticket;
    sk_lanes_wake(r);
    if (r->in_flight == 1)
        pthread_cond_broadcast(&r->ready); /* a reader in next may have to watch the clock from now on */
    sk_runner_leave(r);
    return SK_OK;
}

sk_status sk_runner_submit(sk_runner *r, const sk_frame *frame, const sk_runner_call *call, int64_t *ticket,
                           sk_error *err)
{
    SK_CHECK_ARG(r, err);
    return submit(r, frame, call, false, ticket, err);
}

sk_status sk_runner_submit_own(sk_runner *r, const sk_frame *frame, sk_error *err)
{
    return submit(r, frame, NULL, true, NULL, err);
}

static void wake_all(sk_runner *r)
{
    for (int32_t i = 0; i < r->n_lanes; i++)
        pthread_cond_broadcast(&r->lanes[i].stages[SK_LANE_PRE].wake);
}

void sk_runner_flush(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    r->flush_before = r->next_ticket;
    wake_all(r);
    pthread_mutex_unlock(&r->lock);
}

void sk_runner_finish(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    r->inside++;
    r->finished = true;
    r->news++;
    wake_all(r);
    pthread_cond_broadcast(&r->ready);
    sk_runner_leave(r);
}

sk_status sk_runner_run(sk_runner *r, const sk_frame *frame, const sk_runner_call *call,
                        sk_runner_result *result, sk_error *err)
{
    SK_CHECK_ARG(r && result, err);
    if (sk_runner_in_flight(r) > 0)
        return sk_fail(err, SK_ERR_BUSY, "frames are in flight: fetch them before running a single one");
    SK_TRY(sk_runner_submit(r, frame, call, NULL, err));
    sk_runner_flush(r);
    return sk_runner_wait(r, result, err);
}

void sk_runner_cancel(sk_runner *r)
{
    sk_runner_enter(r);
    for (sk_item *item = r->state == SK_RUNNER_RUNNING ? r->oldest : NULL, *newer; item; item = newer) {
        newer = item->newer;
        r->counted.cancelled++;
        if (item->state == SK_ITEM_PENDING || item->state == SK_ITEM_DONE) {
            sk_item_free(r, item);
        } else {
            sk_item_unlink(r, item);
            item->abandoned = true; /* its lane frees it */
            r->abandoned++;
        }
    }
    r->cancels++;
    r->news++;
    pthread_cond_broadcast(&r->ready);
    pthread_cond_broadcast(&r->room);
    sk_runner_leave(r);
}

int32_t sk_runner_in_flight(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    int32_t n = r->in_flight;
    pthread_mutex_unlock(&r->lock);
    return n;
}

int32_t sk_runner_depth(const sk_runner *r)
{
    return r->depth;
}
