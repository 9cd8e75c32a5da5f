/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_BASE_POOL_H
#define SK_BASE_POOL_H

#include "base/error.h"

#include <stdint.h>

/* A fixed team of threads for work that is split before it starts. There is no queue and no stealing: part i
 * always runs on thread i, so that a thread finds its own data in its own cache, and results do not depend on
 * timing.
 *
 * The calling thread is thread 0; a pool of n threads starts n - 1 others, and a pool of one starts none.
 * Waiting threads spin for a short while, then sleep in the kernel: fork and join cost well under a
 * microsecond while work keeps coming, and an idle pool costs nothing. Where a pool has more threads than
 * this process may use cores, they give the core away instead of spinning. Several pools may live side by
 * side. */
typedef struct sk_pool sk_pool;

#define SK_POOL_MAX_THREADS 256

typedef struct sk_pool_settings {
    int32_t threads;      /* 1 … SK_POOL_MAX_THREADS; 0 = sk_cpu_usable_cores() */
    int32_t spin_us;      /* how long a waiting thread spins before it sleeps; 0 = at once; default 80 */
    const int32_t *cores; /* thread i is bound to cores[i % core_count]; null = left to the system */
    int32_t core_count;
} sk_pool_settings;

sk_pool_settings sk_pool_defaults(void);

/* Null settings mean the defaults. Fails with SK_ERR_ARG for a core this process may not use. */
sk_status sk_pool_open(const sk_pool_settings *settings, sk_pool **out, sk_error *err) SK_MUST_CHECK;
void sk_pool_close(sk_pool **pool); /* nulls the pointer; null is allowed; never from inside a region */

int32_t sk_pool_threads(const sk_pool *pool);

/* Binds the calling thread, which is thread 0 of the pool, to cores[0]. Does nothing without a core list.
 * Kept apart from opening, since the thread belongs to the caller. */
sk_status sk_pool_bind_caller(const sk_pool *pool, sk_error *err) SK_MUST_CHECK;

typedef void (*sk_pool_fn)(void *context, int32_t part, int32_t part_count);

/* Runs fn(context, i, part_count) for every i below part_count and returns when all are done; what the parts
 * wrote is then visible to the caller. Part i runs on thread i % threads; threads beyond part_count are left
 * asleep. One caller at a time, and never from inside a region of the same pool. Allocates nothing. */
void sk_pool_run(sk_pool *pool, sk_pool_fn fn, void *context, int32_t part_count);

/* Runs fn(context, i, threads) here as part 0 and on every other thread that comes before part 0 is through; the others are told
 * to stay, and not waited for. So the parts must share the work out among themselves (a counter), and part 0 must end only when
 * all of it is begun. For work that one thread can do, where waking others up may take longer than it. No barriers. */
void sk_pool_offer(sk_pool *pool, sk_pool_fn fn, void *context);

/* For part 0 of an offer: how many other threads it was made to. Each of them comes as long as part 0 is not through. */
int32_t sk_pool_offered(const sk_pool *pool);

/* Inside a region: waits until every thread of the region has come here; what any of them wrote before is
 * visible to all after it. `thread` is the caller's part number. Only for regions with part_count <= threads,
 * and all of the region's parts must call it equally often. About as cheap as moving one cache line there and
 * back. */
void sk_pool_barrier(sk_pool *pool, int32_t thread);

/* Splits `count` items into part_count runs whose lengths differ by at most one `grain`; every run but the
 * last starts and ends at a multiple of grain. Gives part's half-open range. */
static inline void sk_pool_split(int64_t count, int64_t grain, int32_t part, int32_t part_count,
                                 int64_t *begin, int64_t *end)
{
    int64_t grains = (count + grain - 1) / grain;
    int64_t from = grains * part / part_count * grain;
    int64_t to = grains * (part + 1) / part_count * grain;
    *begin = from < count ? from : count;
    *end = to < count ? to : count;
}

#endif
