/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_core_internal.h"

#include "base/sized.h"

#include <stdio.h>
#include <string.h>

/* How a node is, for people and for robots that watch it. */

#define SILENT_NS ((int64_t)5000000000) /* without a picture for longer is worth a word */
#define LATELY_NS ((int64_t)10000000000)

sk_node_level sk_node_core_health(sk_node_core *c, char *message, size_t capacity)
{
    const sk_pipeline_info *about = sk_pipeline_about(c->pipeline);
    const int64_t now = sk_node_now_ns(), last = atomic_load(&c->last_came_ns);
    sk_node_level level = SK_NODE_OK;
    pthread_mutex_lock(&c->lock);
    if (c->problem[0] && now - c->problem_ns < LATELY_NS) {
        snprintf(message, capacity, "%s", c->problem);
        level = SK_NODE_ERROR;
    } else if (atomic_load(&c->came) == 0) {
        snprintf(message, capacity, "ready on %s; no pictures yet", about->runtime);
    } else if (now - last > SILENT_NS) {
        snprintf(message, capacity, "no pictures for %.0f s", (double)(now - last) * 1e-9);
        level = SK_NODE_WARN;
    } else if (c->fell_back || c->notice[0]) {
        snprintf(message, capacity, "%s", c->notice[0] ? c->notice : "not the runtime that was asked for");
        level = SK_NODE_WARN;
    } else {
        snprintf(message, capacity, "running on %s", about->runtime);
    }
    pthread_mutex_unlock(&c->lock);
    return level;
}

/* say(fact, "key", "%d", value) */
#define say(fact, name, ...)                                                                                 \
    (snprintf((fact)->key, sizeof(fact)->key, "%s", name),                                                   \
     snprintf((fact)->value, sizeof(fact)->value, __VA_ARGS__))

enum { FACTS = 13 };

static bool say_fact(sk_node_core *c, int32_t index, sk_node_fact *f)
{
    const sk_pipeline_info *about = sk_pipeline_about(c->pipeline);
    sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
    sk_pipeline_get_stats(c->pipeline, &stats);
    switch (index) {
    case 0: say(f, "compute_runtime requested", "%s", c->requested); break;
    case 1: say(f, "compute_runtime effective", "%s", about->runtime); break;
    case 2: say(f, "device", "%s", about->device); break;
    case 3: say(f, "precision", "%s", about->precision); break;
    case 4: say(f, "model", "%s", about->models[0]->path); break;
    case 5: say(f, "model sha256", "%s", about->models[0]->sha256); break;
    case 6: say(f, "task", "%s", sk_task_name(about->task)); break;
    case 7: say(f, "pictures received", "%lld", (long long)atomic_load(&c->came)); break;
    case 8: say(f, "pictures processed", "%lld", (long long)(stats.delivered - stats.failed)); break;
    case 9:
        say(f, "pictures dropped for newer ones", "%lld", (long long)(stats.dropped + stats.expired));
        break;
    case 10: say(f, "pictures skipped", "%lld", (long long)atomic_load(&c->skipped)); break;
    case 11: say(f, "pictures failed", "%lld", (long long)(stats.failed + atomic_load(&c->refused))); break;
    case 12: say(f, "seconds to get ready", "%.3f", stats.open_seconds); break;
    default: return false;
    }
    return true;
}

/* The stages that were gone through, in their order. */
static bool say_stage(sk_node_core *c, int32_t index, sk_node_fact *f)
{
    for (int stage = 0; stage < SK_STAGE_COUNT; stage++) {
        sk_stage_stats s = SK_STAGE_STATS_INIT;
        if (!sk_pipeline_get_stage(c->pipeline, (sk_stage)stage, &s) || s.count == 0 || index-- > 0)
            continue;
        char key[sizeof f->key];
        snprintf(key, sizeof key, "%s ms", sk_stage_name((sk_stage)stage));
        say(f, key, "mean %.3f, min %.3f, p50 %.3f, p99 %.3f, max %.3f", s.sum / (double)s.count, s.min,
            s.p50, s.p99, s.max);
        return true;
    }
    return false;
}

bool sk_node_core_fact(sk_node_core *c, int32_t index, sk_node_fact *out)
{
    sk_node_fact whole = SK_NODE_FACT_INIT;
    if (index < 0 || !(index < FACTS ? say_fact(c, index, &whole) : say_stage(c, index - FACTS, &whole)))
        return false;
    sk_sized_write(out, &whole, sizeof whole);
    return true;
}
