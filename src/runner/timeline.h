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

typedef struct sk_track {
    sk_step *steps; /* null: nothing is kept */
    int64_t capacity;
    _Atomic int64_t written;
    char name[48];
} sk_track;

sk_status sk_track_open(sk_track *track, int32_t capacity, const char *name, sk_error *err) SK_MUST_CHECK;
void sk_track_close(sk_track *track);
void sk_track_add(sk_track *track, const char *name, int64_t frame, int32_t count, int64_t begin,
                  int64_t end);

/* All tracks as Chrome trace events. Exact when their threads are idle; while they work, steps that are being
 * overwritten at this moment may be wrong or missing, so call it between frames. */
sk_status sk_tracks_write(const sk_track *const *tracks, int32_t n_tracks, const char *path,
                          sk_error *err) SK_MUST_CHECK;

#endif
