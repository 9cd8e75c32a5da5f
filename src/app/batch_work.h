/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_WORK_H
#define SK_APP_BATCH_WORK_H

#include "app/batch_state.h"

/* Pieces are done: each by a process of its own, several at once. */

typedef struct sk_batch_work {
    sk_batch *batch;
    const int64_t *pieces; /* which; null: all */
    int64_t count;
    int32_t slots;                      /* at once */
    bool merges;                        /* also merges of parts in the list, once they can be */
    bool despite_cancel;                /* a person wants these, although the batch was cancelled */
    bool waits;                         /* until nothing more can be done: for pieces that others do, too */
    bool (*interrupted)(void *context); /* null: never */
    void (*changed)(void *context); /* now and then, and when a piece begins or ends; null: nobody looks */
    void (*told)(void *context, const sk_batch_piece *piece,
                 const sk_batch_done *end); /* one ended; may be null */
    void *context;
} sk_batch_work;

typedef struct sk_batch_worked {
    int64_t done, failed, elsewhere; /* failed: given up; elsewhere: left to others */
    bool stopped;
} sk_batch_worked;

/* SK_OK also where pieces failed. */
sk_status sk_batch_work_run(const sk_batch_work *work, sk_batch_worked *worked, sk_error *err) SK_MUST_CHECK;

/* Puts the result of a piece that is done in its place, if whoever did it could not any more. */
sk_status sk_batch_settle(sk_batch *batch, const sk_batch_piece *piece, sk_error *err) SK_MUST_CHECK;

#endif
