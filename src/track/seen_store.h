/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TRACK_SEEN_STORE_H
#define SK_TRACK_SEEN_STORE_H

#include "track/track.h"

/* Detections of a whole video, frame after frame, to be read again in any order. With a path they lie in a file without a name
 * (it is gone with the process, whatever happens), so that memory stays as it is however long the video; else in memory. */
typedef struct sk_seen_store sk_seen_store;

/* `path`: where the file is made, null: in memory. */
sk_status sk_seen_store_open(const char *path, sk_seen_store **out, sk_error *err) SK_MUST_CHECK;
void sk_seen_store_close(sk_seen_store **store);
sk_status sk_seen_store_add(sk_seen_store *store, int64_t frame, double time, const sk_detection *detections,
                            int32_t n, sk_error *err) SK_MUST_CHECK;

typedef struct sk_stored_frame {
    int64_t frame;
    double time;
    const sk_detection *detections; /* with their points and looks; valid until the next read */
    int32_t n;
    int64_t first; /* number of the first one among all detections of the video */
} sk_stored_frame;
/* The `at`-th frame added. */
sk_status sk_seen_store_read(sk_seen_store *store, int64_t at, sk_stored_frame *out,
                             sk_error *err) SK_MUST_CHECK;
/* Another reader of the same frames, for another thread: read, frames and detections are for it. Nothing is added to the store any
 * more, and it outlives its readers, which are closed as stores are. */
sk_status sk_seen_store_reader(sk_seen_store *store, sk_seen_store **out, sk_error *err) SK_MUST_CHECK;
int64_t sk_seen_store_frames(const sk_seen_store *store);
int64_t sk_seen_store_detections(const sk_seen_store *store); /* in all */

/* A value for each detection of the video, zero at first, where the store's file is. */
void *sk_seen_store_column(sk_seen_store *store, size_t bytes_each, sk_error *err); /* null: failed */
/* Ended by this, or with the store. */
void sk_seen_store_drop_column(sk_seen_store *store, void *column);

#endif
