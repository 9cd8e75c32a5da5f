/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_STATE_H
#define SK_APP_BATCH_STATE_H

#include "app/batch.h"
#include "app/batch_claim.h"

/* Where a piece stands, by the files that say so. */

typedef enum sk_batch_outcome {
    SK_BATCH_FINISHED,
    SK_BATCH_INCOMPLETE, /* its video is cut off: what there is is done */
    SK_BATCH_FAILED,     /* … and may be tried again */
    SK_BATCH_REFUSED,    /* it would fail again: an option or a runtime that is not there */
    SK_BATCH_STOPPED,    /* by a person, or by SLURM's order to end */
    SK_BATCH_LOST        /* its process, machine or task was gone, without a word */
} sk_batch_outcome;
const char *sk_batch_outcome_name(sk_batch_outcome outcome);

/* How an attempt ended: <piece>.<attempt>.end, and .done for the one that counts. */
typedef struct sk_batch_done {
    int32_t attempt;
    sk_batch_outcome outcome;
    int64_t round, frames, instances, tracks; /* tracks -1: not followed */
    double seconds;                           /* of the process */
    int64_t started_ms, ended_ms;
    char host[72], slurm[64], reason[512];
} sk_batch_done;

bool sk_batch_done_read(const sk_batch *batch, int64_t number, sk_batch_done *done);
bool sk_batch_end_read(const sk_batch *batch, int64_t number, int32_t attempt, sk_batch_done *end);
/* SK_ERR_BUSY: somebody was first, and counts. `attempt` of *end; the place is .done for a piece that is done. */
sk_status sk_batch_end_put(const sk_batch *batch, int64_t number, const sk_batch_done *end, bool done,
                           sk_error *err) SK_MUST_CHECK;

typedef enum sk_batch_state {
    SK_PIECE_WAITING, /* to be done, perhaps again */
    SK_PIECE_BLOCKED, /* a merge whose parts are not all done */
    SK_PIECE_RUNNING,
    SK_PIECE_GONE, /* claimed by somebody who is gone: to be done again */
    SK_PIECE_DONE,
    SK_PIECE_GIVEN_UP /* as often as may be */
} sk_batch_state;
const char *sk_batch_state_name(sk_batch_state state);

typedef struct sk_batch_look {
    sk_batch_state state;
    int32_t attempts;         /* claims so far */
    int32_t failures, losses; /* of this round */
    sk_claim_holder holder;   /* RUNNING, GONE */
    char why_gone[128];
    sk_batch_done last; /* DONE: that; else how the last attempt that ended did; attempt 0: none has */
} sk_batch_look;
/* Whoever had it is gone: that is how the attempt ended, unless somebody has put down its end before. */
sk_status sk_batch_put_lost(const sk_batch *batch, int64_t number, const sk_batch_look *look, const char *why,
                            sk_error *err) SK_MUST_CHECK;

/* Asks the files; `piece` is one of the batch's. */
void sk_batch_look_at(sk_batch *batch, const sk_batch_piece *piece, sk_batch_look *look);
/* May a merge begin? All parts are done, or all up to one whose video is cut off. */
bool sk_batch_parts_done(sk_batch *batch, const sk_batch_piece *merge);

#endif
