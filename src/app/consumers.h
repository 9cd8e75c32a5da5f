/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_CONSUMERS_H
#define SK_APP_CONSUMERS_H

#include "app/consumer.h"
#include "app/inference_cache.h"

/* The consumers there are, in the order a run has them: crops lie there before the journal knows their frame, the journal
 * knows a frame before an overlay's part ends with it. Each is null where there is no memory for it: sk_consumers_add
 * says so. */

sk_consumer *sk_consumer_crops(void);   /* a picture of every instance */
sk_consumer *sk_consumer_journal(void); /* the folder's record of frames that are done */
/* The inference cache, for other runs; *kept is read from the first frame on and may be null. */
sk_consumer *sk_consumer_cache(sk_inference_cache *const *kept);
sk_consumer *sk_consumer_left_out(void); /* pictures that could not be read: a warning, and run.json's list */
sk_consumer *sk_consumer_file(const sk_sink_kind *kind); /* results in one format */

/* What the animals look like, for those behind it; before the journal, which keeps it. */
sk_consumer *sk_consumer_looks(void);
typedef struct sk_overlay_wish {
    uint32_t draw; /* SK_DRAW_… */
    float line_width;
    bool gpu; /* the video is encoded by the GPU, where it has an encoder */
} sk_overlay_wish;
/* A video, or of pictures a picture for each; a stack of pages is a video. */
sk_consumer *sk_consumer_overlay(const sk_overlay_wish *wish);

typedef struct sk_predict_progress {
    int64_t done, total; /* frames; total -1 unknown */
    int64_t instances;   /* found so far */
    int64_t continued;   /* of `done`, frames an earlier run had finished */
    double seconds; /* since this run's first frame was asked for; at the last frame it is the report's */
    /* For whoever wants to know more while the watch is called; null: there is none, or not yet */
    sk_pipeline *pipeline;
    sk_source *source;
} sk_predict_progress;

/* Called after every frame; return true to stop: the frame is finished and the files are closed. */
typedef bool (*sk_predict_watch)(void *context, const sk_predict_progress *progress);

/* Counts into `progress`, which lives longer than it and says before begin what there is: done, continued, total. `watch`
 * may be null. */
sk_consumer *sk_consumer_progress(sk_predict_progress *progress, sk_predict_watch watch, void *context);

/* For doors that want frames and results while they pass. Called on the thread that runs the feed, under no lock. */
typedef struct sk_tap {
    uint32_t needs; /* SK_NEEDS_… */
    /* Names of classes and keypoints, edges, sizes; borrowed until the run's end. May be null */
    void (*begin)(void *context, const sk_run_header *header);
    /* Once the files have the frame; both borrowed for the call. `frame` is null without SK_NEEDS_PIXELS. True: stop */
    bool (*take)(void *context, const sk_result_frame *result, const sk_frame *frame);
    /* Once everything is written, if begin was called. May be null */
    void (*end)(void *context, bool finished);
    void *context;
} sk_tap;
sk_consumer *sk_consumer_tap(const sk_tap *tap);

#endif
