/* SPDX-License-Identifier: Apache-2.0 */
#include "app/consumers.h"
#include "base/clock.h"
#include "base/memory.h"

#define FLUSH_NS 500000000 /* as the journal's */

typedef struct cache {
    sk_consumer base;
    sk_inference_cache *const *kept; /* the run opens it once its source is known */
    int64_t seen;                    /* frames of the run so far */
    int64_t last_flush;
} cache;

/* It may have more frames than the run's folder, or fewer. */
static void keep(cache *c, const sk_result_frame *frame)
{
    if (c->seen++ >= sk_inference_cache_count(*c->kept))
        sk_inference_cache_append(*c->kept, frame);
}

static sk_status retell(sk_consumer *base, int64_t entry, const sk_result_frame *known, bool *lacks,
                        sk_error *err)
{
    (void)entry, (void)lacks, (void)err;
    keep((cache *)base, known);
    return SK_OK;
}

static sk_status take(sk_consumer *base, sk_passing *passing, sk_error *err)
{
    cache *c = (cache *)base;
    (void)err;
    keep(c, passing->result);
    const int64_t now = sk_clock_ns();
    if (now - c->last_flush > FLUSH_NS) {
        c->last_flush = now;
        sk_inference_cache_flush(*c->kept);
    }
    return SK_OK;
}

static sk_status complete(sk_consumer *base, sk_error *err)
{
    (void)err;
    sk_inference_cache_flush(*((cache *)base)->kept);
    return SK_OK;
}

static sk_status end(sk_consumer *base, bool finished, sk_error *err)
{
    (void)err;
    if (finished)
        sk_inference_cache_finish(*((cache *)base)->kept);
    return SK_OK;
}

static const sk_consumer_kind kind = {
    .name = "cache", .retell = retell, .take = take, .complete = complete, .end = end};

sk_consumer *sk_consumer_cache(sk_inference_cache *const *kept)
{
    cache *c = sk_calloc(1, sizeof *c);
    if (c) {
        c->base = (sk_consumer){.kind = &kind, .needs = SK_NEEDS_PROBLEMS};
        c->kept = kept;
    }
    return c ? &c->base : NULL;
}
