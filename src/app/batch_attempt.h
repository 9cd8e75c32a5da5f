/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_ATTEMPT_H
#define SK_APP_BATCH_ATTEMPT_H

#include "app/batch_state.h"

/* One process that does one piece. */
typedef struct sk_batch_attempt {
    const sk_batch_piece *piece; /* null: none */
    int32_t attempt;
    sk_claim claim;
    int64_t pid;
    int events, summary;    /* ends of pipes */
    sk_text heard, printed; /* what came out of them and was not yet read, or all of it */
    int64_t begun_ns, begun_ms;
    int64_t told_ns; /* to end */
    int32_t asked;   /* how often */
    bool heard_end;
    char message[512];
    int64_t frames, total, instances;
} sk_batch_attempt;

/* Claims the piece and starts its process. SK_ERR_BUSY: somebody else has it. */
sk_status sk_batch_attempt_start(sk_batch *batch, const sk_batch_piece *piece, const sk_batch_look *look,
                                 int32_t slot, sk_batch_attempt *a, sk_error *err) SK_MUST_CHECK;
/* Reads what it said; true once the process has ended, which *exit_status tells of. */
bool sk_batch_attempt_listen(sk_batch_attempt *a, int *exit_status);
/* It shall end: first in order, later at once. */
void sk_batch_attempt_stop(sk_batch_attempt *a);
/* The piece's outcome is put down, and its result in place. `stopped`: it was told to end, for this reason. */
sk_status sk_batch_attempt_finish(sk_batch *batch, sk_batch_attempt *a, int exit_status, const char *stopped,
                                  sk_batch_done *end, sk_error *err) SK_MUST_CHECK;

#endif
