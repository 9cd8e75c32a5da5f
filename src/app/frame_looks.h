/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_FRAME_LOOKS_H
#define SK_APP_FRAME_LOOKS_H

#include "results/sink.h"

/* What a frame's instances look like (track/looks.h), as bytes: 0 … 255 for 0 … 1, so that a run that goes on, and one from what was
 * kept, follow by the very numbers of the first. Starts as {0}. */
typedef struct sk_frame_looks {
    uint8_t *bytes; /* SK_TRACK_LOOKS an instance; all 0: not to be seen */
    size_t capacity;
} sk_frame_looks;

/* Of a run that looks: what is kept without is another thing. */
#define SK_LOOKS_IDENTITY "looks\ton\n"

sk_status sk_frame_looks_fill(sk_frame_looks *looks, const sk_frame *frame, const sk_instances *found,
                              sk_error *err) SK_MUST_CHECK;
void sk_frame_looks_free(sk_frame_looks *looks);
/* Back again: false where it was not to be seen. */
bool sk_frame_looks_get(const uint8_t *bytes, int32_t instance, float out[SK_TRACK_LOOKS]);

#endif
