/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_PREVIEW_H
#define SK_APP_PREVIEW_H

#include "app/consumer.h"

/* A small picture of a run as it goes, with what is found drawn in: one frame every half second, or less often where that
 * would cost more than half a percent of what the run computes. It needs nothing that the run does not do anyway: the thread that reads frames
 * copies one when a picture is due and the last one is done, what is found in it is added when it comes by, and a thread of
 * the lowest priority draws and writes. Frames in a GPU's memory are passed over. */
typedef struct sk_preview_wish {
    const char *path;                           /* of the JPEG file, replaced in one step; borrowed */
    void (*made)(void *context, int64_t frame); /* on the painting thread; may be null */
    void *context;
} sk_preview_wish;

sk_consumer *sk_consumer_preview(const sk_preview_wish *wish);
/* Shows it a frame that is about to be looked at; on one thread, which need not be the consumers'. Null: nothing happens. */
void sk_preview_look(sk_consumer *preview, const sk_frame *frame);

#endif
