/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_KEPT_TRACES_H
#define SK_RUNNER_KEPT_TRACES_H

#include "runner/trace.h"

/* Traces of shapes that were run before and may come again: pictures that lie and stand by turns. A few, of our own
 * engines, and only while their memory is small; the one that was put away longest ago goes first. */

#define SK_KEPT_TRACES 6

typedef struct sk_kept_traces {
    sk_trace traces[SK_KEPT_TRACES]; /* newest first */
    int32_t count;
} sk_kept_traces;

/* Where there is a trace for `key`, it and *trace change places. */
bool sk_kept_traces_swap(sk_kept_traces *kept, sk_trace *trace, const sk_trace_key *key);
/* Puts *trace away; what is over the limits is released. *trace is empty afterwards. */
void sk_kept_traces_put(sk_kept_traces *kept, sk_trace *trace);
void sk_kept_traces_release(sk_kept_traces *kept);

#endif
