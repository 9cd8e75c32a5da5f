/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/memory.h"

typedef struct tap {
    sk_consumer base;
    sk_tap wish;
} tap;

static sk_status begin(sk_consumer *base, const sk_run_header *header, sk_run_folder *folder, sk_error *err)
{
    const tap *t = (const tap *)base;
    (void)folder, (void)err;
    if (t->wish.begin)
        t->wish.begin(t->wish.context, header);
    return SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    const tap *t = (const tap *)base;
    (void)err;
    const sk_frame *frame = base->needs & SK_NEEDS_PIXELS ? passing->frame : NULL;
    if (t->wish.take(t->wish.context, passing->result, frame))
        passing->stop = true;
    return SK_OK;
}

static sk_status end(sk_consumer *base, bool finished, sk_error *err)
{
    const tap *t = (const tap *)base;
    (void)err;
    if (t->wish.end)
        t->wish.end(t->wish.context, finished);
    return SK_OK;
}

static const sk_consumer_kind kind = {.name = "tap", .begin = begin, .take = take, .end = end};

sk_consumer *sk_consumer_tap(const sk_tap *wish)
{
    tap *t = sk_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->base = (sk_consumer){.kind = &kind, .needs = wish->needs};
    t->wish = *wish;
    return &t->base;
}
