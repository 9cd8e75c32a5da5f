/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_FEED_H
#define SK_APP_FEED_H

#include "app/consumer.h"
#include "app/finder.h"
#include "skitter/pipeline.h"
#include "skitter/source.h"

/* Frames on their way: from a source through the pipeline to the consumers, in order. The one loop that does this; every
 * command that looks at frames has it. A thread reads and submits, the calling thread takes results to the consumers, so
 * that neither a camera that is slow nor a disk that is keeps the other waiting. */

typedef struct sk_feed {
    /* Frames come from a source, or, where it is null, from `next`: a null frame is the end. They are lent: each has its own
     * release, a source's goes back to it. */
    sk_source *source;
    sk_status (*next)(void *context, const sk_frame **frame, sk_error *err);
    void *context;
    sk_pipeline *pipeline;
    const sk_finder *finder; /* finds in each frame what the pipeline looks at; null: its first model does */
    sk_consumers *consumers; /* begun; null: results are only counted */
    sk_consumer *preview;    /* one of them that is shown frames as they come (app/preview.h); null: none */
    int64_t frames; /* so many, and the source stands at the next one; 0 (default): to the source's end */
    /* Everything on the calling thread, with at most this many frames on their way: for measurements, where frames are
     * always there. 0 (default): a thread reads, and as many as the pipeline takes are on their way. */
    int32_t in_flight;
    bool check; /* each is compared with the reference executor: sk_feed_report.check */
    /* Asked once the frames have ended: true, and they ended because the person wanted it. May be null. */
    bool (*interrupted)(void *context);
    void *interrupted_context;
} sk_feed;

typedef struct sk_feed_report {
    int64_t frames, instances;
    double seconds;     /* from asking for the first frame until the last consumer was given the last one */
    double wait_source; /* … of which waiting for decoded frames, on the reading thread */
    bool stopped;       /* by a consumer, or interrupted */
    bool checked;
    sk_check check; /* the worst of those checked */
} sk_feed_report;

/* Until the frames end, a consumer stops it or one side fails: then the other is stopped, every frame is given back, and
 * the first error is told. After a stop or a failure the pipeline is released. */
sk_status sk_feed_run(const sk_feed *feed, sk_feed_report *report, sk_error *err) SK_MUST_CHECK;

#endif
