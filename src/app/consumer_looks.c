/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "app/frame_looks.h"
#include "base/memory.h"

/* Frames from the inference cache come with what was seen when they were looked at. */

typedef struct looking {
    sk_consumer base;
    sk_frame_looks looks;
    sk_result_frame told;
} looking;

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    looking *l = (looking *)base;
    if (!passing->frame || passing->result->problem)
        return SK_OK;
    SK_TRY(sk_frame_looks_fill(&l->looks, passing->frame, passing->result->instances, err));
    l->told = *passing->result;
    l->told.looks = l->looks.bytes;
    passing->result = &l->told; /* for those behind */
    return SK_OK;
}

static void close_looks(sk_consumer *base)
{
    sk_frame_looks_free(&((looking *)base)->looks);
}

static const sk_consumer_kind kind = {.name = "looks", .take = take, .close = close_looks};

sk_consumer *sk_consumer_looks(void)
{
    looking *l = sk_calloc(1, sizeof *l);
    if (l)
        l->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_PIXELS};
    return l ? &l->base : NULL;
}
