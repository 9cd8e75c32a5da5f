/* SPDX-License-Identifier: Apache-2.0 */
#include "base/copiers.h"

#include "base/cpu.h"

#include <stdatomic.h>

enum {
    ALONE_BELOW = 256 << 10, /* bytes that one thread has copied before others are awake */
    MOST = 4,       /* 2 MB on 16 cores: 190 us alone, 94, 73, 59 with two, three, four; then little */
    RANGES = 16,    /* at most */
    PART = 32 << 10 /* bytes */
};

/* Each thread begins in a range of its own, the same from job to job, so that it finds what it wrote last time in its cache;
 * then it helps the others. */
typedef struct copy_job {
    sk_pool_fn fn;
    sk_copiers_first first;
    void *context;
    const sk_pool *team;
    int32_t parts, ranges;
    struct {
        _Alignas(64) atomic_int next;
    } range[RANGES];
} copy_job;

static void take_parts(void *context, int32_t thread, int32_t threads)
{
    copy_job *job = context;
    (void)threads;
    if (thread == 0 && job->first)
        job->first(job->context, sk_pool_offered(job->team) > 0);
    for (int32_t k = 0; k < job->ranges; k++) {
        const int32_t r = (thread + k) % job->ranges;
        const int32_t begin = job->parts * r / job->ranges, end = job->parts * (r + 1) / job->ranges;
        for (int32_t part; (part = begin + atomic_fetch_add(&job->range[r].next, 1)) < end;)
            job->fn(job->context, part, job->parts);
    }
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

int32_t sk_copiers_parts(size_t bytes)
{
    return bytes < ALONE_BELOW ? 1 : (int32_t)((bytes + PART - 1) / PART);
}

void sk_copiers_run_beside(sk_copiers *copiers, size_t bytes, sk_pool_fn fn, sk_copiers_first first,
                           void *context)
{
    sk_pool *team = bytes >= ALONE_BELOW ? called(copiers) : NULL;
    if (!team) {
        if (first)
            first(context, false);
        fn(context, 0, 1);
        return;
    }
    const int32_t threads = sk_pool_threads(team);
    copy_job job = {.fn = fn,
                    .first = first,
                    .context = context,
                    .team = team,
                    .parts = sk_copiers_parts(bytes),
                    .ranges = threads < RANGES ? threads : RANGES};
    sk_pool_offer(team, take_parts, &job);
}

void sk_copiers_run(sk_copiers *copiers, size_t bytes, sk_pool_fn fn, void *context)
{
    sk_copiers_run_beside(copiers, bytes, fn, NULL, context);
}

void sk_copiers_close(sk_copiers *copiers)
{
    sk_pool_close(&copiers->team);
    copiers->alone = false;
}
