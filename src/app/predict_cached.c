/* SPDX-License-Identifier: Apache-2.0 */
#include "app/frame_looks.h"
#include "app/predict_internal.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

sk_status predict_open_cache(predict_run *r, sk_error *err)
{
    const sk_predict_more *more = r->settings->more;
    char why[512];
    if (more && more->looks)
        sk_text_append(&r->identity.text, SK_LOOKS_IDENTITY);
    r->finding = sk_strdup(sk_text_get(&r->identity.text));
    if (!r->finding)
        return sk_fail_memory(err, r->identity.text.length);
    if (r->settings->find_only)
        return sk_text_status(&r->identity.text, err);
    if (more && more->cached) {
        const sk_inference_wish wish = {more->cache, r->settings->source, sk_text_get(&r->identity.text)};
        SK_TRY(sk_inference_cache_open(&wish, &r->cache, why, err));
        if (why[0])
            sk_log(SK_LOG_INFO, "%s: %s", r->settings->source, why);
    }
    if (more && more->identity) /* behind the cache's key, which this does not concern */
        sk_text_append(&r->identity.text, more->identity);
    return sk_text_status(&r->identity.text, err);
}

typedef struct cached_feed {
    predict_run *run;
    int64_t begin; /* ns */
} cached_feed;

static sk_status take(void *context, const sk_result_frame *known, sk_error *err)
{
    cached_feed *f = context;
    predict_run *r = f->run;
    if (r->report->stopped)
        return SK_OK;
    if (!sk_run_header_fits(&r->header, known))
        return sk_fail(err, SK_ERR_FORMAT,
                       "%s: what it keeps does not fit the model; give --no-cache, or remove it",
                       sk_inference_cache_path(r->cache));
    sk_result_frame result = *known;
    result.source = r->settings->source; /* it may be called otherwise now */
    sk_passing passing = {.result = &result};
    SK_TRY(sk_consumers_take(&r->consumers, &passing, f->begin, err));
    r->report->frames++;
    r->report->cached++;
    r->report->seconds = passing.seconds;
    r->report->stopped = passing.stop;
    r->cached_last = known->index;
    return SK_OK;
}

sk_status predict_take_cached(predict_run *r, sk_error *err)
{
    cached_feed f = {r, sk_clock_ns()};
    return sk_inference_cache_replay(r->cache, r->progress.done, take, &f, err);
}
