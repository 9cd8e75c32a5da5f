/* SPDX-License-Identifier: Apache-2.0 */
#include "app/batch_work.h"

#include "app/batch_attempt.h"
#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS    ((int64_t)2000000000) /* at pieces that others do */
#define CHANGE_NS  ((int64_t)1000000000)
#define WAIT_MS    200
#define LEAVING_MS 2

typedef enum here { TO_DO, DOING, ELSEWHERE, BLOCKED, SETTLED } here;

typedef struct working {
    const sk_batch_work *work;
    sk_batch_worked *worked;
    int64_t *pieces; /* the list, with merges behind it */
    unsigned char *state;
    int64_t count, cursor, left; /* left: not settled */
    sk_batch_attempt *slots;
    int64_t *doing; /* of each slot: place in the list */
    int64_t beat_ns, look_ns, change_ns;
    const char *stopping; /* why; null: not */
} working;

/* --- the list --- */

static sk_status make_list(working *w, sk_error *err)
{
    const sk_batch_work *how = w->work;
    sk_batch *b = how->batch;
    const int64_t count = how->pieces ? how->count : b->pieces;
    w->pieces = sk_calloc((size_t)count * 2 + 1, sizeof *w->pieces);
    w->state = sk_calloc((size_t)count * 2 + 1, 1);
    w->slots = sk_calloc((size_t)how->slots, sizeof *w->slots);
    w->doing = sk_calloc((size_t)how->slots, sizeof *w->doing);
    if (!w->pieces || !w->state || !w->slots || !w->doing)
        return sk_fail_memory(err, (size_t)count * sizeof *w->pieces);
    for (int64_t i = 0; i < count; i++)
        w->pieces[w->count++] = how->pieces ? how->pieces[i] : i;
    int64_t last = -1;
    for (int64_t i = 0; how->pieces && how->merges && i < count; i++) {
        const sk_batch_piece *p = sk_batch_piece_of(b, how->pieces[i], err);
        if (!p)
            return sk_batch_piece_lacking(err);
        if (p->kind == SK_BATCH_PART && p->number + p->parts != last)
            w->pieces[w->count++] = last = p->number + p->parts;
    }
    w->left = w->count;
    return SK_OK;
}

static void settle(working *w, int64_t place)
{
    if (w->state[place] != SETTLED)
        w->left--;
    w->state[place] = SETTLED;
}

/* --- beginning pieces --- */

static sk_status try_piece(working *w, int64_t place, int32_t slot, bool *begun, sk_error *err)
{
    sk_batch *b = w->work->batch;
    const sk_batch_piece *piece = sk_batch_piece_of(b, w->pieces[place], err);
    sk_batch_look look;
    if (!piece)
        return sk_batch_piece_lacking(err);
    sk_batch_look_at(b, piece, &look);
    switch (look.state) {
    case SK_PIECE_DONE: settle(w, place); return sk_batch_settle(b, piece, err);
    case SK_PIECE_GIVEN_UP:
        w->worked->failed++;
        settle(w, place);
        return SK_OK;
    case SK_PIECE_RUNNING: w->state[place] = ELSEWHERE; return SK_OK;
    case SK_PIECE_BLOCKED: w->state[place] = BLOCKED; return SK_OK;
    case SK_PIECE_WAITING:
    case SK_PIECE_GONE: break;
    }
    sk_error why = {0};
    const sk_status status = sk_batch_attempt_start(b, piece, &look, slot, &w->slots[slot], &why);
    if (status == SK_ERR_BUSY) {
        w->state[place] = ELSEWHERE;
        return SK_OK;
    }
    if (status == SK_ERR_MEMORY || (status == SK_ERR_IO && why.message[0])) { /* of our own folder */
        return sk_fail(err, status, "%s", why.message);
    }
    if (status != SK_OK) {
        w->state[place] = TO_DO; /* the failure is put down, and bounds how often */
        return SK_OK;
    }
    w->state[place] = DOING;
    w->doing[slot] = place;
    *begun = true;
    return SK_OK;
}

static sk_status fill_slot(working *w, int32_t slot, sk_error *err)
{
    bool begun = false;
    for (int64_t seen = 0; seen < w->count && !begun && !w->stopping; seen++) {
        const int64_t place = w->cursor;
        w->cursor = (w->cursor + 1) % w->count;
        if (w->state[place] == TO_DO)
            SK_TRY(try_piece(w, place, slot, &begun, err));
    }
    return SK_OK;
}

static sk_status fill(working *w, sk_error *err)
{
    for (int32_t i = 0; i < w->work->slots && !w->stopping; i++)
        if (!w->slots[i].piece)
            SK_TRY(fill_slot(w, i, err));
    return SK_OK;
}

/* Those that others do, or that wait for others, are looked at again. */
static void look_again(working *w, int64_t now)
{
    if (now - w->look_ns < LOOK_NS)
        return;
    w->look_ns = now;
    if (w->work->batch->seen)
        (void)!sk_batch_refresh(w->work->batch,
                                NULL); /* what cannot be listed is asked for one by one, by claiming it */
    for (int64_t i = 0; i < w->count; i++)
        if (w->state[i] == ELSEWHERE || w->state[i] == BLOCKED)
            w->state[i] = TO_DO;
}

/* --- ending them --- */

static sk_status end_piece(working *w, int32_t slot, int exit_status, sk_error *err)
{
    const sk_batch_work *how = w->work;
    const sk_batch_piece *piece = w->slots[slot].piece;
    const int64_t place = w->doing[slot];
    sk_batch_done end;
    SK_TRY(sk_batch_attempt_finish(how->batch, &w->slots[slot], exit_status, w->stopping, &end, err));
    if (end.outcome == SK_BATCH_FINISHED || end.outcome == SK_BATCH_INCOMPLETE) {
        w->worked->done++;
        settle(w, place);
        for (int64_t i = 0; i < w->count && piece->kind == SK_BATCH_PART; i++)
            if (w->state[i] == BLOCKED && w->pieces[i] == piece->number + piece->parts)
                w->state[i] = TO_DO;
    } else {
        w->state[place] = TO_DO;
    }
    if (how->told)
        how->told(how->context, piece, &end);
    w->change_ns = 0;
    return SK_OK;
}

static sk_status listen(working *w, sk_error *err)
{
    struct pollfd ends[512];
    nfds_t n = 0;
    bool leaving = false; /* it has closed its end, and is about to be gone */
    for (int32_t i = 0; i < w->work->slots; i++)
        leaving = leaving || (w->slots[i].piece && w->slots[i].events < 0);
    for (int32_t i = 0; i < w->work->slots && n < 512; i++)
        if (w->slots[i].piece && w->slots[i].events >= 0)
            ends[n++] = (struct pollfd){.fd = w->slots[i].events, .events = POLLIN};
    (void)poll(ends, n, leaving ? LEAVING_MS : WAIT_MS);
    for (int32_t i = 0; i < w->work->slots; i++) {
        int exit_status = 0;
        if (w->slots[i].piece && sk_batch_attempt_listen(&w->slots[i], &exit_status))
            SK_TRY(end_piece(w, i, exit_status, err));
    }
    return SK_OK;
}

static void beat(working *w, int64_t now)
{
    if (now - w->beat_ns < SK_CLAIM_BEAT * (int64_t)1000000000)
        return;
    w->beat_ns = now;
    for (int32_t i = 0; i < w->work->slots; i++)
        if (w->slots[i].piece)
            sk_claim_beat(&w->slots[i].claim);
    if (!w->stopping && !w->work->despite_cancel && sk_batch_is_cancelled(w->work->batch))
        w->stopping = "cancelled: skitter batch cancel";
}

static bool is_busy(const working *w)
{
    for (int32_t i = 0; i < w->work->slots; i++)
        if (w->slots[i].piece)
            return true;
    return false;
}

/* Is there anything that this process may still do, or is to wait for? */
static bool has_more(const working *w)
{
    bool to_do = false, others = false; /* a merge that waits for parts: they are given up, or elsewhere */
    for (int64_t i = 0; i < w->count; i++) {
        to_do = to_do || w->state[i] == TO_DO;
        others = others || w->state[i] == ELSEWHERE;
    }
    return !w->stopping && (to_do || (others && w->work->waits));
}

static sk_status work_on(working *w, sk_error *err)
{
    const sk_batch_work *how = w->work;
    for (;;) {
        const int64_t now = sk_clock_ns();
        if (!w->stopping && how->interrupted && how->interrupted(how->context))
            w->stopping = getenv("SLURM_JOB_ID")
                              ? "told to end by SLURM: cancelled, preempted, or its time is up"
                              : "interrupted";
        beat(w, now);
        if (how->waits)
            look_again(w, now);
        SK_TRY(fill(w, err));
        if (!is_busy(w) && !has_more(w))
            return SK_OK;
        for (int32_t i = 0; w->stopping && i < how->slots; i++)
            if (w->slots[i].piece)
                sk_batch_attempt_stop(&w->slots[i]);
        SK_TRY(listen(w, err));
        if (how->changed && now - w->change_ns >= CHANGE_NS) {
            w->change_ns = now;
            how->changed(how->context);
        }
    }
}

sk_status sk_batch_work_run(const sk_batch_work *how, sk_batch_worked *worked, sk_error *err)
{
    working w = {.work = how, .worked = worked, .beat_ns = sk_clock_ns()};
    *worked = (sk_batch_worked){0};
    SK_CHECK_ARG(how->slots >= 1 && how->slots <= 512, err);
    sk_status status = make_list(&w, err);
    for (int32_t i = 0; status == SK_OK && i < how->slots; i++)
        w.slots[i] = (sk_batch_attempt){.events = -1, .summary = -1, .claim = {.file = -1}};
    if (status == SK_OK && w.count > 0)
        status = work_on(&w, err);
    /* After a failure of ours nobody would listen to them: they end, and what they found stays. */
    for (int32_t i = 0; status != SK_OK && w.slots && i < how->slots; i++)
        for (int exit_status = 0; w.slots[i].piece;) {
            sk_batch_done end;
            sk_batch_attempt_stop(&w.slots[i]);
            sk_clock_sleep_ns(50000000);
            if (sk_batch_attempt_listen(&w.slots[i], &exit_status))
                (void)!sk_batch_attempt_finish(how->batch, &w.slots[i], exit_status, "its worker failed",
                                               &end, NULL);
        }
    worked->stopped = w.stopping != NULL;
    worked->elsewhere = w.left;
    sk_free_all(w.pieces, w.state, w.slots, w.doing);
    return status;
}
