/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_WORKERS_H
#define SK_SERVER_WORKERS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Threads that answer requests, so that one that takes seconds (a probe, a video that is opened) holds up nobody else. */
typedef struct sk_workers sk_workers;
typedef void (*sk_worker_job)(void *context);

sk_status sk_workers_open(int32_t threads, int32_t most_waiting, sk_workers **out,
                          sk_error *err) SK_MUST_CHECK;
/* False: too many wait already. */
bool sk_workers_give(sk_workers *workers, sk_worker_job job, void *context);
/* Every job that was taken is done first. */
void sk_workers_close(sk_workers **workers);

#endif
