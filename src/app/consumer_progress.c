/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/memory.h"

typedef struct progress {
    sk_consumer base;
    sk_predict_progress *count;
    sk_predict_watch watch;
    void *context;
} progress;

static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry, (void)lacks, (void)err;
    ((progress *)base)->count->instances += known->problem ? 0 : known->instances->count;
    return SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    (void)err;
    progress *p = (progress *)base;
    p->count->done++;
    if (passing->result->problem)
        return SK_OK;
    p->count->instances += passing->result->instances->count;
    p->count->seconds = passing->seconds;
    if (p->watch && p->watch(p->context, p->count))
        passing->stop = true;
    return SK_OK;
}

static const sk_consumer_kind kind = {.name = "progress", .retell = retell, .take = take};

sk_consumer *sk_consumer_progress(sk_predict_progress *count, sk_predict_watch watch, void *context)
{
    progress *p = sk_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_PROBLEMS};
    p->count = count;
    p->watch = watch;
    p->context = context;
    return &p->base;
}
