/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_PYTHON_STREAM_H
#define SKITTER_PYTHON_STREAM_H

#include "flow.h"

/* The inside of a stream. What is not constant is under the flow's lock. */
struct sk_stream {
    sk_flow *flow;
    sk_source *source;
    sk_source_info info;
    pthread_t reader;
    bool joined;
    bool frames;  /* pixels are copied */
    bool stopped; /* nobody reads it any more */
    bool ended;   /* its last frame was handed in, or it failed: */
    sk_status status;
    sk_error err;
    int32_t most;
    int32_t on_the_way; /* handed in and not yet taken by its reader */
    int32_t items;      /* of it that were not freed: while there are some the source stays open */
    bool closed;        /* by its owner */
    sk_item *first, *last;
    sk_unreadable *unreadable;
    int32_t n_unreadable, told_unreadable;
    struct sk_stream *next;
};

/* An item's result is there; under the lock. */
void sk_stream_deliver(sk_stream *stream, sk_item *item);
/* Its source, and itself, out of the flow's list; none of its frames is out any more. */
void sk_stream_free(sk_stream *stream);

#endif
