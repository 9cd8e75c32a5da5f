/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_PYTHON_FLOW_H
#define SKITTER_PYTHON_FLOW_H

#include <skitter/skitter.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* Frames in and results out for any number of threads and streams on one pipeline. No Python in here: nothing of this takes the
 * interpreter's lock, so that threads of the pipeline never wait for an interpreter, not even for one that is ending.
 *
 * A pipeline gives results in the order of submission to whoever takes. Here every frame is somebody's: of those who wait, one
 * takes for all, and hands each result to the one whose frame it is. */

typedef struct sk_flow sk_flow;
typedef struct sk_stream sk_stream;

/* One frame on its way, and then its result. It ends when its result is somebody's, its pixels are no longer needed and whoever
 * waited for it let go: it then lies in flow->ended, for the interpreter's side to free what is Python's. */
typedef struct sk_item {
    sk_frame frame;        /* as the pipeline has it */
    sk_flow *flow;         /* whose it is … */
    sk_stream *stream;     /* … and of which stream; null: somebody waits for this very frame */
    const sk_frame *inner; /* of a stream: the source's frame */
    const sk_result *result;
    bool waiting;    /* the result did not come yet */
    bool lent;       /* the pixels are still needed */
    bool wanted;     /* somebody will come for the result */
    char *name;      /* of a picture: its path */
    uint8_t *pixels; /* a copy, width * 3 bytes a row */
    void *held;      /* the interpreter's side: what keeps the pixels */
    struct sk_item *next;
    struct sk_item *older, *newer; /* of flow->live */
} sk_item;

struct sk_flow {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sk_pipeline *pipeline;
    pid_t home;  /* the process that has its threads */
    bool taking; /* one of those who wait takes for all */
    bool released;
    int32_t waiting; /* frames whose results did not come yet */
    sk_item *live;   /* all that did not end, the newest first */
    sk_item *ended;  /* to be freed */
    sk_stream *streams;
};

/* Takes the pipeline over. */
void sk_flow_open(sk_flow *flow, sk_pipeline *pipeline);
/* False in a fork of the process that opened it: none of its threads is there, and locks may be held for ever. Nothing below may
 * be called then. */
bool sk_flow_is_here(const sk_flow *flow);
/* Ends the pipeline: whoever waits is told. Any thread, at any time; may be called again. */
void sk_flow_release(sk_flow *flow);
/* Closes the pipeline; every item has ended then. Nobody may be using it. */
void sk_flow_close(sk_flow *flow);

/* A new item that nobody submitted yet; null: no memory. */
sk_item *sk_item_new(sk_flow *flow);
/* Whoever waits for it does so no longer; its result, where there is one, goes back to the pipeline. */
void sk_item_drop(sk_item *item);
/* Those that ended, linked by `next`: the caller's to free, with sk_item_free once `held` is empty. */
sk_item *sk_flow_ended(sk_flow *flow);
void sk_item_free(sk_item *item);

/* Hands the item's frame in. Waits while the pipeline is full, and takes for others meanwhile, up to `milliseconds`:
 * SK_ERR_BUSY. On failure the frame was not taken. */
sk_status sk_flow_submit(sk_flow *flow, sk_item *item, uint32_t flags, int milliseconds, sk_error *err);
/* Waits up to `milliseconds` for the result: true once it is there, or the pipeline was released (then it is null). */
bool sk_flow_wait(sk_flow *flow, sk_item *item, int milliseconds);

/* ---- streams ---- */

typedef struct sk_stream_settings {
    sk_source_settings source;
    bool frames; /* pixels are copied for whoever gets the result */
} sk_stream_settings;

/* Opens the source and begins to read it, on a thread of its own. `most`: frames on their way or waiting to be taken. */
sk_status sk_stream_open(sk_flow *flow, const char *uri, const sk_stream_settings *settings, int32_t most,
                         sk_stream **out, sk_error *err);
/* The next item into *out, waiting up to `milliseconds`: SK_ERR_BUSY where there is none by then. Null with SK_OK at the end;
 * what ended it otherwise is the status. */
sk_status sk_stream_next(sk_stream *stream, int milliseconds, sk_item **out, sk_error *err);
/* Stops reading. Frames on their way are given up; the source is closed when the last of them is back. Nulls the pointer. */
void sk_stream_close(sk_stream **stream);
const sk_source_info *sk_stream_about(const sk_stream *stream);
/* What the source says of itself; once it ended. */
void sk_stream_status(sk_stream *stream, sk_source_status *out);
/* A picture that was left out; false: none that was not told. */
bool sk_stream_unreadable(sk_stream *stream, sk_unreadable *out);
/* Closes sources of streams that ended, whose frames are back. */
void sk_flow_sweep(sk_flow *flow);

/* A point of CLOCK_MONOTONIC this far away. */
struct timespec sk_flow_soon(int milliseconds);
/* For stream.c: an item's part is over; under the lock. */
void sk_item_settle(sk_item *item);

#endif
