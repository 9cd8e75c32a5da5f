/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/kept_traces.h"

#include <string.h>

/* Of activations, over all that are kept; packed weights are shared between sessions. */
#define MOST_BYTES ((size_t)64 << 20)

bool sk_kept_traces_swap(sk_kept_traces *kept, sk_trace *trace, const sk_trace_key *key)
{
    for (int32_t i = 0; i < kept->count; i++) {
        if (!sk_trace_fits(&kept->traces[i], key))
            continue;
        sk_trace found = kept->traces[i];
        memmove(&kept->traces[i], &kept->traces[i + 1], (size_t)(kept->count - i - 1) * sizeof *kept->traces);
        kept->count--;
        sk_kept_traces_put(kept, trace);
        *trace = found;
        return true;
    }
    return false;
}

static size_t bytes_of(const sk_trace *trace)
{
    return trace->session ? sk_session_about(trace->session)->activation_bytes : 0;
}

void sk_kept_traces_put(sk_kept_traces *kept, sk_trace *trace)
{
    if (!trace->generation || trace->key.engine->form) { /* what a foreign library holds, nobody knows */
        sk_trace_release(trace);
        return;
    }
    if (kept->count == SK_KEPT_TRACES)
        sk_trace_release(&kept->traces[--kept->count]);
    memmove(&kept->traces[1], &kept->traces[0], (size_t)kept->count * sizeof *kept->traces);
    kept->traces[0] = *trace;
    kept->count++;
    memset(trace, 0, sizeof *trace);
    size_t bytes = 0;
    for (int32_t i = 0; i < kept->count; i++)
        bytes += bytes_of(&kept->traces[i]);
    while (kept->count > 0 && bytes > MOST_BYTES) {
        bytes -= bytes_of(&kept->traces[kept->count - 1]);
        sk_trace_release(&kept->traces[--kept->count]);
    }
}

void sk_kept_traces_release(sk_kept_traces *kept)
{
    while (kept->count > 0)
        sk_trace_release(&kept->traces[--kept->count]);
}
