/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_SERVER_PROBES_H
#define SK_SERVER_PROBES_H

#include "app/runtimes.h"

#include <pthread.h>

/* What the runtimes' probes said last, kept: a page asks at every switch of a backend, and wants the answer at once. */
typedef struct sk_probes {
    pthread_mutex_t lock;
    bool known;
    int64_t at_ns, at_wall_ms; /* when the probes were done */
    sk_probe_row rows[SK_RUNTIME_COUNT];
} sk_probes;

bool sk_probes_open(sk_probes *probes);
void sk_probes_close(sk_probes *probes);

/* Facts and gate for these pipelines, from what is known; probes where nothing is yet, or with `fresh` (unless somebody
 * else did since the call). Waits for that. *at_wall_ms (may be null): when they were made. */
void sk_probes_look(sk_probes *probes, uint32_t pipelines, bool fresh, sk_runtimes_view *out,
                    int64_t *at_wall_ms);

#endif
