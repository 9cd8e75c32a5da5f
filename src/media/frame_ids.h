/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_MEDIA_FRAME_IDS_H
#define SK_MEDIA_FRAME_IDS_H

#include "base/error.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Inside media/: the frame_id (in a robot's tree of coordinate frames) of each image of a bag, kept where it changes. One thread
 * notes as it reads, another asks. */
typedef struct sk_frame_id_change {
    int64_t index; /* from this frame on … */
    char *id;      /* … until the next */
} sk_frame_id_change;

typedef struct sk_frame_ids {
    pthread_mutex_t lock;
    sk_frame_id_change *items;
    size_t count, capacity;
} sk_frame_ids;

void sk_frame_ids_begin(sk_frame_ids *ids);
void sk_frame_ids_end(sk_frame_ids *ids);
/* Frames rise; one that does not (the reader jumped) begins the list anew. */
sk_status sk_frame_ids_note(sk_frame_ids *ids, int64_t index, const char *id, size_t length,
                            sk_error *err) SK_MUST_CHECK;
/* Copied, up to `capacity` with its zero; how long it is, as snprintf; 0: nothing is known, or it has none. */
size_t sk_frame_ids_of(sk_frame_ids *ids, int64_t index, char *out, size_t capacity);

#endif
