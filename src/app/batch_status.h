/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BATCH_STATUS_H
#define SK_APP_BATCH_STATUS_H

#include "app/batch_state.h"

/* How a whole batch stands, and what became of it. */

typedef struct sk_batch_row {
    const sk_batch_piece *piece;
    sk_batch_look look;
} sk_batch_row;

typedef struct sk_batch_status {
    int64_t pieces, done, running, waiting, failed, lost; /* failed: given up */
    int64_t videos, videos_done, videos_incomplete, videos_failed;
    int64_t attempts, attempts_failed, attempts_lost; /* all that ever were */
    int64_t frames, frames_now, frames_expected; /* of pieces done; of those running; of all, -1: not known */
    int64_t instances;
    double seconds; /* of all processes that ended well */
    int64_t first_ms, last_ms;
    sk_batch_row
        *rows; /* of pieces that are not simply waiting or done, and of those that took several attempts */
    size_t n_rows, capacity;
} sk_batch_status;

/* Looks at every piece. A status that was collected before may be given again: pieces known to be done are not looked at anew. */
typedef struct sk_batch_watcher sk_batch_watcher;
sk_status sk_batch_watch_open(sk_batch *batch, sk_batch_watcher **out, sk_error *err) SK_MUST_CHECK;
void sk_batch_watch_close(sk_batch_watcher **watcher);
sk_status sk_batch_watch_look(sk_batch_watcher *watcher, const sk_batch_status **status,
                              sk_error *err) SK_MUST_CHECK;

void sk_batch_status_json(sk_batch *batch, const sk_batch_status *status, sk_json *json);

/* summary.csv and summary.html in the folder of the results: a row a video. */
sk_status sk_batch_summary(sk_batch *batch, sk_error *err) SK_MUST_CHECK;

#endif
