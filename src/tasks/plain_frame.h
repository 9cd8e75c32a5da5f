/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_PLAIN_FRAME_H
#define SK_TASKS_PLAIN_FRAME_H

#include "base/error.h"
#include "kernels/plain.h"

/* Memory for frames made plain; starts as {0}. It grows with the first frame and then stays. */
typedef struct sk_plain_frame {
    sk_frame view;
    uint8_t *memory;
    size_t bytes;
} sk_plain_frame;

/* *out is the frame itself where it is plain, or one in p's memory that stays until the next call. */
sk_status sk_plain_frame_take(sk_plain_frame *p, const sk_frame *frame, const sk_frame **out,
                              sk_error *err) SK_MUST_CHECK;
void sk_plain_frame_free(sk_plain_frame *p);

#endif
