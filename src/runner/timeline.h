/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_TIMELINE_H
#define SK_RUNNER_TIMELINE_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

/* What a thread did when: its last steps, in a ring that is written by that thread alone. */

typedef struct sk_step {
    const char *name; /* constant */
    int64_t frame;    /* ticket of the first frame in it */
    int32_t count;    /* frames */
    int64_t begin, end;
} sk_step;

typedef struct sk_timeline_row {
    sk_step *steps; /* null: nothing is kept */
    int64_t capacity;
    _Atomic int64_t written;
    char name[48];
} sk_timeline_row;

sk_status sk_timeline_row_open(sk_timeline_row *row, int32_t capacity, const char *name,
                               sk_error *err) SK_MUST_CHECK;
void sk_timeline_row_close(sk_timeline_row *row);
void sk_timeline_row_add(sk_timeline_row *row, const char *name, int64_t frame, int32_t count, int64_t begin,
                         int64_t end);

/* All rows as Chrome trace events. Exact when their threads are idle; while they work, steps that are being
 * overwritten at this moment may be wrong or missing, so call it between frames. */
sk_status sk_timeline_write(const sk_timeline_row *const *rows, int32_t n_rows, const char *path,
                            sk_error *err) SK_MUST_CHECK;

#endif
