/* SPDX-License-Identifier: Apache-2.0 */
#include "server/probes.h"

#include "base/clock.h"

#include <string.h>

bool sk_probes_open(sk_probes *probes)
{
    memset(probes, 0, sizeof *probes);
    return pthread_mutex_init(&probes->lock, NULL) == 0;
}

void sk_probes_close(sk_probes *probes)
{
    pthread_mutex_destroy(&probes->lock);
}

void sk_probes_look(sk_probes *probes, uint32_t pipelines, bool fresh, sk_runtimes_view *out,
                    int64_t *at_wall_ms)
{
    const int64_t asked = sk_clock_ns();
    pthread_mutex_lock(&probes->lock);
    if (!probes->known || (fresh && probes->at_ns < asked)) {
        sk_probe_all(fresh, probes->rows);
        probes->known = true;
        probes->at_ns = sk_clock_ns();
        probes->at_wall_ms = sk_clock_wall_ms();
    }
    memcpy(out->rows, probes->rows, sizeof out->rows);
    if (at_wall_ms)
        *at_wall_ms = probes->at_wall_ms;
    pthread_mutex_unlock(&probes->lock);
    out->pipelines = pipelines;
    sk_probe_facts(out->rows, &out->facts);
    sk_runtime_gate_make(pipelines, &out->facts, &out->gate);
}
