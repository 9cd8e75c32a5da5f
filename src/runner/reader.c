/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "runner/internal.h"

/* Results out, in order. */

static sk_status deliver(sk_runner *r, sk_item *item, bool keep, sk_runner_result *result, sk_error *err)
{
    int64_t now = sk_clock_ns();
    sk_histogram_add(&r->stages[SK_STAGE_WAIT_READER], now - item->at[SK_AT_DONE]);
    sk_item_unlink(r, item);
    item->state = SK_ITEM_HELD;
    if (!keep)
        r->held = item;
    r->counted.delivered++;
    pthread_cond_signal(&r->room);
    bool whole = item->status == SK_OK || item->checked.ran;
    *result = (sk_runner_result){.ticket = item->ticket,
                                 .index = item->view.index,
                                 .time_ns = item->view.time_ns,
                                 .wall_ns = item->view.wall_ns,
                                 .width = item->view.width,
                                 .height = item->view.height,
                                 .frame = item->lent ? item->lent->frame : NULL,
                                 .instances = whole ? &item->instances : NULL,
                                 .n_outputs = whole && r->settings.keep_outputs ? item->n_outputs : 0,
                                 .outputs = item->outputs,
                                 .check = &item->checked,
                                 .device = item->lane,
                                 .latency_ms = (double)(item->at[SK_AT_DONE] - item->at[SK_AT_SUBMIT]) * 1e-6,
                                 .user = item->user,
                                 .hold = keep ? item : NULL};
    if (item->status != SK_OK && err)
        *err = item->error;
    return item->status;
}

static sk_status too_late(sk_runner *r, const sk_item *item, int64_t now, sk_error *err)
{
    const char *device = item->lane >= 0 ? r->lanes[item->lane].device.name : "no device yet";
    return sk_fail(err, SK_ERR_TIMEOUT,
                   "frame %lld: no result after %lld ms (limit %d ms): it is in the stage '%s' (%s)",
                   (long long)item->view.index, (long long)((now - item->at[SK_AT_SUBMIT]) / 1000000),
                   r->settings.timeout_ms, sk_item_state_name(item->state), device);
}

/* How a reader reads. */
typedef struct reading {
    bool stream; /* frames may still come */
    bool keep;   /* the result is ended by a call of its own */
    bool one;    /* the frame of this ticket and no other; else the oldest that is nobody's own */
    int64_t ticket;
    int64_t until;
} reading;

static sk_item *wanted(const sk_runner *r, const reading *how)
{
    sk_item *item = r->oldest;
    while (item && (how->one ? item->ticket != how->ticket : item->alone))
        item = item->newer;
    return item;
}

/* Under the lock. */
static sk_status fetch(sk_runner *r, const reading *how, sk_runner_result *result, sk_error *err)
{
    uint64_t cancels = r->cancels;
    for (;;) {
        if (r->state != SK_RUNNER_RUNNING)
            return sk_runner_ended(err);
        if (cancels != r->cancels)
            return sk_fail(err, SK_ERR_CANCELLED, "the frames in flight were cancelled");
        sk_item *item = wanted(r, how);
        if (item && item->state == SK_ITEM_DONE)
            return deliver(r, item, how->keep, result, err);
        if (!item && how->one)
            return sk_fail(err, SK_ERR_CANCELLED,
                           "the frame was given up before it was begun: it waited for longer than max_age_ms "
                           "(%d), or a newer one took its place",
                           r->settings.max_age_ms);
        if (!item && how->stream && r->finished)
            return SK_OK; /* ticket is -1 */
        if (!item && !how->stream)
            return sk_fail(err, SK_ERR_NOT_FOUND, "no frame is in flight: submit one first");
        int64_t until = INT64_MAX, now = sk_clock_ns();
        if (item && r->settings.timeout_ms > 0)
            until = item->at[SK_AT_SUBMIT] + (int64_t)r->settings.timeout_ms * 1000000;
        if (now >= until)
            return too_late(r, item, now, err);
        if (now >= how->until)
            return sk_fail(err, SK_ERR_BUSY, "no result yet: %d frames are in flight", r->in_flight);
        sk_wait_until(&r->ready, &r->lock, until < how->until ? until : how->until);
    }
}

static sk_status wait_for(sk_runner *r, const reading *how, sk_runner_result *result, sk_error *err)
{
    SK_CHECK_ARG(r && result, err);
    *result = (sk_runner_result){.ticket = -1, .device = -1};
    sk_runner_enter(r);
    if (r->readers == SK_READ_BY_NONE) {
        r->readers = SK_READ_BY_ONE;
        r->reader = pthread_self();
    } else if (!pthread_equal(r->reader, pthread_self())) {
        r->readers = SK_READ_BY_SEVERAL;
    }
    if (r->held) {
        sk_item *held = r->held;
        r->held = NULL;
        sk_item_free(r, held);
        sk_runner_tell(r); /* the frame may be needed for another to come */
    }
    sk_status status = fetch(r, how, result, err);
    sk_runner_leave(r);
    return status;
}

sk_status sk_runner_wait(sk_runner *r, sk_runner_result *result, sk_error *err)
{
    return wait_for(r, &(reading){.until = INT64_MAX}, result, err);
}

sk_status sk_runner_next(sk_runner *r, sk_runner_result *result, sk_error *err)
{
    return wait_for(r, &(reading){.stream = true, .until = INT64_MAX}, result, err);
}

sk_status sk_runner_take(sk_runner *r, int64_t wait_ms, sk_runner_result *result, sk_error *err)
{
    const bool forever = wait_ms < 0 || wait_ms > INT32_MAX;
    const int64_t until = forever ? INT64_MAX : wait_ms ? sk_clock_ns() + wait_ms * 1000000 : 0;
    return wait_for(r, &(reading){.stream = true, .keep = true, .until = until}, result, err);
}

sk_status sk_runner_take_one(sk_runner *r, int64_t ticket, sk_runner_result *result, sk_error *err)
{
    const reading how = {.keep = true, .one = true, .ticket = ticket, .until = INT64_MAX};
    return wait_for(r, &how, result, err);
}

static bool all_done(const sk_runner *r)
{
    if (r->reserved || r->abandoned)
        return false; /* in submit, not in the list yet; or in a lane, no longer in the list */
    for (const sk_item *item = r->oldest; item; item = item->newer)
        if (item->state != SK_ITEM_DONE)
            return false;
    return true;
}

sk_status sk_runner_drain(sk_runner *r, sk_error *err)
{
    sk_runner_flush(r);
    sk_runner_enter(r);
    const uint64_t cancels = r->cancels;
    r->draining++;
    while (r->state == SK_RUNNER_RUNNING && cancels == r->cancels && !all_done(r))
        sk_wait_until(&r->ready, &r->lock, r->reserved ? sk_clock_ns() + 1000000 : INT64_MAX);
    r->draining--;
    sk_status status = r->state != SK_RUNNER_RUNNING ? sk_runner_ended(err)
                       : cancels != r->cancels
                           ? sk_fail(err, SK_ERR_CANCELLED, "the frames in flight were cancelled")
                           : SK_OK;
    sk_runner_leave(r);
    return status;
}

bool sk_runner_is_ready(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    const sk_item *item = wanted(r, &(reading){0});
    const bool ready = r->state != SK_RUNNER_RUNNING || (item ? item->state == SK_ITEM_DONE : r->finished);
    pthread_mutex_unlock(&r->lock);
    return ready;
}

void sk_runner_end_result(sk_runner *r, sk_runner_result *result)
{
    sk_runner_enter(r);
    sk_item *item = result->hold;
    *result = (sk_runner_result){.ticket = -1, .device = -1};
    if (item)
        sk_item_end(r, item);
    sk_runner_leave(r);
}
