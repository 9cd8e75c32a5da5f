/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_TIMELINE_H
#define SK_RUNNER_TIMELINE_H

#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What a thread did when: its last steps, in a ring that is written by that thread alone, and may be read meanwhile. */

typedef struct sk_step {
    const char *name; /* constant */
    int64_t frame;    /* ticket of the first frame in it */
    int32_t count;    /* frames */
    int64_t begin, end;
} sk_step;

typedef struct sk_timeline_row {
    pthread_mutex_t lock;
    bool kept;      /* constant once open: there was something to keep */
    sk_step *steps; /* under the lock; null: nothing is kept */
    int64_t capacity;
    _Atomic int64_t written;
    char name[48];
} sk_timeline_row;

sk_status sk_timeline_row_open(sk_timeline_row *row, int32_t capacity, const char *name,
                               sk_error *err) SK_MUST_CHECK;
void sk_timeline_row_close(sk_timeline_row *row);
void sk_timeline_row_add(sk_timeline_row *row, const char *name, int64_t frame, int32_t count, int64_t begin,
                         int64_t end);

/* All rows as Chrome trace events, each as it is at one moment. */
sk_status sk_timeline_write(sk_timeline_row *const *rows, int32_t n_rows, const char *path,
                            sk_error *err) SK_MUST_CHECK;

#endif
