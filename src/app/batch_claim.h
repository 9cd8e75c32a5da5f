/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_CLAIM_H
#define SK_APP_BATCH_CLAIM_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Who does a piece. A claim is a file that comes to be by link(2), which on every file system, NFS too, happens once: of two that
 * want it one has it. Its holder writes into it every SK_CLAIM_BEAT seconds, and keeps an OFD lock on it where the file system
 * has such. A holder that is gone is known
 *     on the same machine   by its process: at once
 *     in the same SLURM task, started anew                        at once
 *     elsewhere             by a file that nobody wrote to for SK_CLAIM_STALE seconds of the file server's clock and whose lock is
 *                           free (or for ten times as long)
 * and the piece is then claimed by the next number: 0000012.1.claim, 0000012.2.claim … Claims are never removed or taken away, so
 * nobody can take what somebody else has just taken; each attempt works in a folder of its own, and the first that ends a piece
 * puts its done file there, by link(2), too. A holder that was thought dead and is not loses time, and harms nothing. */

#define SK_CLAIM_BEAT  5
#define SK_CLAIM_STALE 60

typedef struct sk_claim_holder {
    char host[72], boot[40];      /* the machine, and since when it runs */
    int64_t pid, started, names;  /* process, its start in the system's count, its space of process numbers */
    int64_t child, child_started; /* what it started */
    int64_t since_ms, round;
    char slurm[64];      /* "job_task"; "" none */
    int32_t slurm_again; /* how often SLURM started the task anew */
    int64_t frames, total;
    int64_t age_ms; /* read: since its last sign of life, by the file server's clock */
    bool locked;    /* read: its lock is held */
} sk_claim_holder;

typedef struct sk_claim {
    int file; /* -1: none */
    char path[4352];
    sk_claim_holder holder;
} sk_claim;

/* This process, as a holder. */
void sk_claim_self(sk_claim_holder *self);
/* SK_ERR_BUSY: somebody was first. */
sk_status sk_claim_take(const char *path, int64_t round, sk_claim *claim, sk_error *err) SK_MUST_CHECK;
/* A sign of life, with what it has done. */
void sk_claim_beat(sk_claim *claim);
/* Lets go; the file stays. */
void sk_claim_close(sk_claim *claim);

/* False: there is none. */
bool sk_claim_read(const char *path, sk_claim_holder *holder);
/* Is whoever this is gone? `why` (128 bytes) says how that is known. */
bool sk_claim_is_gone(const sk_claim_holder *holder, char why[128]);
/* An orphan: what a holder on this machine, itself gone, had started and still runs. It is ended. */
void sk_claim_end_orphan(const sk_claim_holder *holder);

/* Puts these bytes at the path unless something is there: SK_ERR_BUSY then. Whole or not at all, by link(2). */
sk_status sk_claim_put(const char *path, const char *text, sk_error *err) SK_MUST_CHECK;

#endif
