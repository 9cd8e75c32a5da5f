/* SPDX-License-Identifier: Apache-2.0 */
#include "tasks/plain_frame.h"

#include "base/frame.h"
#include "base/memory.h"

sk_status sk_plain_frame_take(sk_plain_frame *p, const sk_frame *frame, const sk_frame **out, sk_error *err)
{
    *out = frame;
    if (sk_plain_format(frame->format) == frame->format)
        return SK_OK;
    SK_TRY(sk_frame_check(frame, err));
    SK_TRY(sk_array_reserve((void **)&p->memory, &p->bytes, sk_plain_bytes(frame), 1, sk_plain_bytes(frame),
                            err));
    sk_plain_convert(frame, p->memory, &p->view);
    *out = &p->view;
    return SK_OK;
}

void sk_plain_frame_free(sk_plain_frame *p)
{
    sk_free(p->memory);
    *p = (sk_plain_frame){0};
}
