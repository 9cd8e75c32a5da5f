/* SPDX-License-Identifier: Apache-2.0 */
#include "base/copiers.h"

#include "base/cpu.h"

#include <stdatomic.h>

enum {
    ALONE_BELOW = 256 << 10, /* bytes that one thread has copied before others are awake */
    MOST = 4,       /* 2 MB on 16 cores: 190 us alone, 94, 73, 59 with two, three, four; then little */
    PART = 64 << 10 /* bytes */
};

typedef struct copy_job {
    sk_pool_fn fn;
    void *context;
    int32_t parts;
    atomic_int next;
} copy_job;

static void take_parts(void *context, int32_t thread, int32_t threads)
{
    copy_job *job = context;
    (void)thread;
    (void)threads;
    for (int32_t part; (part = atomic_fetch_add(&job->next, 1)) < job->parts;)
        job->fn(job->context, part, job->parts);
}

static sk_pool *called(sk_copiers *c)
{
    if (c->team || c->alone)
        return c->team;
    sk_pool_settings settings = sk_pool_defaults();
    sk_error ignored = {0};
    const int32_t sharers = c->sharers > 1 ? c->sharers : 1;
    settings.threads = c->threads > 0 ? c->threads : sk_cpu_usable_cores() / 4 / sharers;
    const int32_t most = c->most > 0 ? c->most : MOST;
    if (settings.threads > most)
        settings.threads = most;
    c->alone = settings.threads < 2 || sk_pool_open(&settings, &c->team, &ignored) != SK_OK;
    return c->team;
}

void sk_copiers_run(sk_copiers *copiers, size_t bytes, sk_pool_fn fn, void *context)
{
    sk_pool *team = bytes >= ALONE_BELOW ? called(copiers) : NULL;
    if (!team) {
        fn(context, 0, 1);
        return;
    }
    copy_job job = {.fn = fn, .context = context, .parts = (int32_t)((bytes + PART - 1) / PART)};
    sk_pool_offer(team, take_parts, &job);
}

void sk_copiers_close(sk_copiers *copiers)
{
    sk_pool_close(&copiers->team);
    copiers->alone = false;
}
