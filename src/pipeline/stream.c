/* SPDX-License-Identifier: Apache-2.0 */
#include "base/frame.h"
#include "pipeline/internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/eventfd.h>
#endif

/* Frames in, results out. */

/* `alone`: null, or the frame is one that nobody else may take, by the ticket written there. */
static sk_status submit(sk_pipeline *p, const sk_frame *frame, const sk_instances *found, void *user,
                        uint32_t flags, int64_t *alone, sk_error *err)
{
    SK_CHECK_ARG(p && frame, err);
    sk_frame whole;
    SK_TRY(sk_pipeline_read_frame(frame, &whole, err));
    if (flags & ~(SK_SUBMIT_CHECK | SK_SUBMIT_FLUSH))
        return sk_fail(err, SK_ERR_ARG, "flags 0x%x are not known", (unsigned)flags);
    const bool lent = whole.release != NULL;
    if (!lent && sk_frame_on_device(&whole))
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "frame %lld lies in a GPU's memory, which is read in place: set sk_frame.release, to be "
            "told when that is over",
            (long long)whole.index);
    const sk_runner_call call = {.check_pcc = flags & SK_SUBMIT_CHECK,
                                 .copy = !lent,
                                 .alone = alone,
                                 .user = user,
                                 .found = found,
                                 .frame_done = whole.release,
                                 .frame_context = whole.release_context,
                                 .given = frame};
    sk_status status = sk_runner_submit(p->runner, &whole, &call, alone, err);
    if (status == SK_OK && (flags & SK_SUBMIT_FLUSH))
        sk_runner_flush(p->runner);
    sk_pipeline_sync_fd(p); /* the stream goes on, or the result that was ready gave way */
    return status;
}

sk_status sk_pipeline_submit(sk_pipeline *p, const sk_frame *frame, void *user, uint32_t flags, sk_error *err)
{
    return submit(p, frame, NULL, user, flags, NULL, err);
}

sk_status sk_pipeline_submit_found(sk_pipeline *p, const sk_frame *frame, const sk_instances *found,
                                   void *user, uint32_t flags, sk_error *err)
{
    return submit(p, frame, found, user, flags, NULL, err);
}

void sk_pipeline_flush(sk_pipeline *p)
{
    if (p)
        sk_runner_flush(p->runner);
}

void sk_pipeline_finish(sk_pipeline *p)
{
    if (!p)
        return;
    sk_runner_finish(p->runner);
    sk_pipeline_sync_fd(p);
}

/* --- results --- */

static sk_taken *get_taken(sk_pipeline *p)
{
    pthread_mutex_lock(&p->lock);
    sk_taken *t = p->unused;
    if (t) {
        p->unused = t->next;
    } else if ((t = sk_calloc(1, sizeof *t))) {
        t->all = p->all;
        p->all = t;
    }
    pthread_mutex_unlock(&p->lock);
    return t;
}

static void put_taken(sk_pipeline *p, sk_taken *t)
{
    pthread_mutex_lock(&p->lock);
    t->next = p->unused;
    p->unused = t;
    pthread_mutex_unlock(&p->lock);
}

static void fill_result(sk_taken *t, sk_status status)
{
    const sk_runner_result *from = &t->from;
    t->result = (sk_result){.size = sizeof t->result,
                            .status = status,
                            .problem = t->problem,
                            .ticket = from->ticket,
                            .user = from->user,
                            .index = from->index,
                            .time_ns = from->time_ns,
                            .wall_ns = from->wall_ns,
                            .width = from->width,
                            .height = from->height,
                            .frame = from->frame,
                            .instances = from->instances,
                            .check = from->check && from->check->ran ? from->check : NULL,
                            .n_outputs = from->n_outputs,
                            .outputs = from->n_outputs ? from->outputs : NULL,
                            .device = from->device,
                            .latency_ms = from->latency_ms};
}

/* `alone`: null, or the ticket of the one frame that is wanted. */
static sk_status take(sk_pipeline *p, const int64_t *alone, int32_t timeout_ms, const sk_result **out,
                      sk_error *err)
{
    sk_taken *t = get_taken(p);
    if (!t)
        return sk_fail_memory(err, sizeof *t);
    sk_error problem = {0};
    sk_status status = alone ? sk_runner_take_one(p->runner, *alone, &t->from, &problem)
                             : sk_runner_take(p->runner, timeout_ms, &t->from, &problem);
    sk_pipeline_sync_fd(p);
    if (t->from.hold) {
        snprintf(t->problem, sizeof t->problem, "%s", status == SK_OK ? "" : problem.message);
        fill_result(t, status);
        *out = &t->result;
        return SK_OK;
    }
    put_taken(p, t);
    if (status == SK_ERR_BUSY)
        return sk_fail(err, SK_ERR_TIMEOUT, "no result after %d ms: %d frames are in flight", timeout_ms,
                       sk_runner_in_flight(p->runner));
    if (status != SK_OK && err)
        *err = problem;
    return status;
}

sk_status sk_pipeline_take(sk_pipeline *p, int32_t timeout_ms, const sk_result **out, sk_error *err)
{
    SK_CHECK_ARG(p && out, err);
    *out = NULL;
    return take(p, NULL, timeout_ms, out, err);
}

void sk_pipeline_give_back(sk_pipeline *p, const sk_result *result)
{
    if (!p || !result)
        return;
    pthread_mutex_lock(&p->lock);
    sk_taken *t = p->all;
    while (t && &t->result != result)
        t = t->all;
    pthread_mutex_unlock(&p->lock);
    if (!t || !t->from.hold)
        return; /* not ours, or given back already */
    sk_runner_end_result(p->runner, &t->from);
    put_taken(p, t);
}

sk_status sk_pipeline_run(sk_pipeline *p, const sk_frame *frame, const sk_result **out, sk_error *err)
{
    SK_CHECK_ARG(p && out, err);
    *out = NULL;
    int64_t ticket = -1;
    SK_TRY(submit(p, frame, NULL, NULL, SK_SUBMIT_FLUSH, &ticket, err));
    const sk_result *result = NULL;
    SK_TRY(take(p, &ticket, -1, &result, err));
    if (!result) /* only where somebody ended the stream meanwhile */
        return sk_fail(err, SK_ERR_CANCELLED, "the stream was ended before the frame was done");
    const sk_status status = result->status;
    if (status == SK_OK) {
        *out = result;
        return SK_OK;
    }
    (void)sk_fail(err, status, "%s", result->problem);
    if (status == SK_ERR_MISMATCH && result->check)
        *out = result;
    else
        sk_pipeline_give_back(p, result);
    return status;
}

sk_status sk_pipeline_drain(sk_pipeline *p, sk_error *err)
{
    SK_CHECK_ARG(p, err);
    return sk_runner_drain(p->runner, err);
}

void sk_pipeline_cancel(sk_pipeline *p)
{
    if (!p)
        return;
    sk_runner_cancel(p->runner); /* tells by sk_pipeline_result_ready, as of every news */
}

int32_t sk_pipeline_in_flight(sk_pipeline *p)
{
    return p ? sk_runner_in_flight(p->runner) : 0;
}

/* --- telling --- */

/* Whatever changes the answer is followed by a call of this, and the answer is asked under the lock: the last call leaves
 * the descriptor as things are. */
void sk_pipeline_sync_fd(sk_pipeline *p)
{
#ifdef __linux__
    pthread_mutex_lock(&p->fd_lock);
    if (p->fd >= 0) {
        const bool on = sk_runner_is_ready(p->runner);
        uint64_t one = 1;
        if (on && !p->fd_on)
            (void)!write(p->fd, &one, sizeof one);
        if (!on && p->fd_on)
            (void)!read(p->fd, &one, sizeof one);
        p->fd_on = on;
    }
    pthread_mutex_unlock(&p->fd_lock);
#else
    (void)p;
#endif
}

void sk_pipeline_result_ready(void *context)
{
    sk_pipeline *p = context;
    if (!p->runner)
        return; /* still opening */
    sk_pipeline_sync_fd(p);
    if (p->settings.ready)
        p->settings.ready(p->settings.ready_context);
}

int sk_pipeline_fd(sk_pipeline *p)
{
    if (!p)
        return -1;
#ifdef __linux__
    pthread_mutex_lock(&p->fd_lock);
    if (p->fd < 0)
        p->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const int fd = p->fd;
    pthread_mutex_unlock(&p->fd_lock);
    sk_pipeline_sync_fd(p);
    return fd;
#else
    return -1;
#endif
}
