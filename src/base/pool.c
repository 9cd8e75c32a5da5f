/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/futex.h"
#include "base/memory.h"
#include "base/object.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Two cache lines, since the neighbour line is fetched along. */
#define LINE           128

#define YIELD_AFTER_NS 10000

/* Written by the caller before it raises a worker's `go`, read by that worker after it saw it. */
typedef struct pool_job {
    sk_pool_fn fn; /* null asks the worker to end */
    void *context;
    int32_t part_count;
} pool_job;

/* What became of an offer to a worker: whoever changes OPEN first decides. */
enum { OPEN = 0, TAKEN, WITHDRAWN };

/* `go` changes by this much from job to job; its lowest bit says that the job is an offer. */
#define NEXT_JOB 2u
#define OFFER    1u

/* Every thread but the caller's has one mailbox. `go` numbers the jobs given to this thread; `done` is the last one
 * it finished; they lie apart because each side spins on one while the other writes its own. The job lies
 * beside `go`, so that both travel in one cache line. A job is read by the worker only while the caller waits for it: an
 * offer, once it is taken. */
typedef struct pool_worker {
    _Alignas(LINE) _Atomic uint32_t go;
    _Atomic uint32_t asleep; /* the worker waits in the kernel on `go` */
    _Atomic uint32_t offer;
    pool_job job;
    _Alignas(LINE) _Atomic uint32_t done;
    _Alignas(LINE) sk_pool *pool;
    pthread_t handle;
    int32_t index;
    uint32_t given; /* the caller's own copy of `go` */
} pool_worker;

struct sk_pool {
    _Alignas(LINE) int32_t team; /* threads that take part in the region */

    int32_t threads;
    int32_t started; /* workers whose thread exists: 1 … started */
    int64_t spin_ns;
    bool crowded; /* more threads than cores: yield instead of spinning */
    int32_t core_count;
    int32_t *cores;

    _Alignas(LINE) _Atomic uint32_t join_asleep; /* the caller waits in the kernel on join_wake */
    _Atomic uint32_t join_wake;

    _Alignas(LINE) _Atomic uint32_t arrived;    /* at the barrier, of `team` */
    _Alignas(LINE) _Atomic uint32_t generation; /* of the barrier */
    _Atomic uint32_t barrier_asleep;

    pool_worker *workers; /* [threads]; entry 0, the caller, is unused */
    int32_t offered;      /* how many an offer was made to; only the caller looks */
};

/* Spins until *word differs from `seen` or the budget is spent; true when it differs. The clock is looked at
 * only every few pauses, so that the usual short wait never pays for it. A wait that has become long is
 * probably for a thread that has lost its core: then this core is offered at every look. */
static bool spin_while(const sk_pool *pool, _Atomic uint32_t *word, uint32_t seen)
{
    int64_t start = 0;
    for (;;) {
        for (int i = 0; i < 32; i++) {
            if (atomic_load_explicit(word, memory_order_acquire) != seen)
                return true;
            sk_cpu_relax();
        }
        if (pool->spin_ns == 0)
            return false;
        int64_t now = sk_clock_ns();
        if (start == 0)
            start = now;
        if (now - start >= pool->spin_ns)
            return false;
        if (pool->crowded || now - start > YIELD_AFTER_NS)
            sched_yield();
    }
}

/* For the order of flag and word, here and below, see futex.h. */
static uint32_t wait_for_job(sk_pool *pool, pool_worker *me, uint32_t seen)
{
    if (!spin_while(pool, &me->go, seen)) {
        atomic_store(&me->asleep, 1);
        while (atomic_load(&me->go) == seen)
            sk_futex_wait(&me->go, seen, -1);
        atomic_store(&me->asleep, 0);
    }
    return atomic_load_explicit(&me->go, memory_order_acquire);
}

static bool is_free(const pool_worker *worker)
{
    return atomic_load_explicit(&worker->done, memory_order_acquire) == worker->given;
}

static void wait_for_worker(sk_pool *pool, pool_worker *worker)
{
    const uint32_t before = atomic_load_explicit(&worker->done, memory_order_acquire);
    if (before == worker->given || spin_while(pool, &worker->done, before))
        return;
    atomic_store(&pool->join_asleep, 1);
    for (;;) {
        uint32_t wake = atomic_load(&pool->join_wake);
        if (atomic_load(&worker->done) == worker->given)
            break;
        sk_futex_wait(&pool->join_wake, wake, -1);
    }
    atomic_store(&pool->join_asleep, 0);
}

static void give_job(sk_pool *pool, pool_worker *worker, const pool_job *job, uint32_t kind)
{
    if (!is_free(worker)) /* an offer was withdrawn, and it has not seen that yet */
        wait_for_worker(pool, worker);
    worker->job = *job;
    worker->given = (worker->given & ~OFFER) + (NEXT_JOB | kind);
    atomic_store(&worker->go, worker->given);
    if (atomic_load(&worker->asleep))
        sk_futex_wake(&worker->go, 1);
}

/* True where it was still open. */
static bool settle_offer(pool_worker *worker, uint32_t how)
{
    uint32_t open = OPEN;
    return atomic_compare_exchange_strong(&worker->offer, &open, how);
}

static void run_parts(const pool_job *job, int32_t index, int32_t threads)
{
    for (int64_t part = index; part < job->part_count; part += threads)
        job->fn(job->context, (int32_t)part, job->part_count);
}

static void *worker_main(void *argument)
{
    pool_worker *me = argument;
    sk_pool *pool = me->pool;
    uint32_t seen = 0;
    for (;;) {
        seen = wait_for_job(pool, me, seen);
        if (!(seen & OFFER) || settle_offer(me, TAKEN)) {
            if (!me->job.fn)
                return NULL;
            run_parts(&me->job, me->index, pool->threads);
        }
        atomic_store(&me->done, seen);
        if (atomic_load(&pool->join_asleep)) {
            atomic_fetch_add(&pool->join_wake, 1);
            sk_futex_wake(&pool->join_wake, 1);
        }
    }
}

void sk_pool_run(sk_pool *pool, sk_pool_fn fn, void *context, int32_t part_count)
{
    pool_job job = {.fn = fn, .context = context, .part_count = part_count};
    int32_t team = part_count < pool->threads ? part_count : pool->threads;
    if (pool->team != team) /* workers read it: leave the line alone where it says so already */
        pool->team = team;
    for (int32_t i = 1; i < team; i++)
        give_job(pool, &pool->workers[i], &job, 0);
    run_parts(&job, 0, pool->threads);
    for (int32_t i = 1; i < team; i++)
        wait_for_worker(pool, &pool->workers[i]);
}

void sk_pool_offer(sk_pool *pool, sk_pool_fn fn, void *context)
{
    const pool_job job = {.fn = fn, .context = context, .part_count = pool->threads};
    pool->offered = 0;
    for (int32_t i = 1; i < pool->threads; i++) {
        pool_worker *worker = &pool->workers[i];
        if (!is_free(worker)) /* has not even seen the last one */
            continue;
        atomic_store_explicit(&worker->offer, OPEN, memory_order_relaxed); /* `go` publishes it */
        give_job(pool, worker, &job, OFFER);
        pool->offered++;
    }
    run_parts(&job, 0, pool->threads);
    for (int32_t i = 1; i < pool->threads; i++)
        if (!settle_offer(&pool->workers[i], WITHDRAWN) && atomic_load(&pool->workers[i].offer) == TAKEN)
            wait_for_worker(pool, &pool->workers[i]);
}

int32_t sk_pool_offered(const sk_pool *pool)
{
    return pool->offered;
}

void sk_pool_barrier(sk_pool *pool, int32_t thread)
{
    (void)thread; /* part of the contract: lets the barrier become a tree for large teams */
    if (pool->team <= 1)
        return;
    uint32_t generation = atomic_load_explicit(&pool->generation, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&pool->arrived, 1, memory_order_acq_rel) + 1 == (uint32_t)pool->team) {
        atomic_store_explicit(&pool->arrived, 0, memory_order_relaxed);
        atomic_store(&pool->generation, generation + 1);
        if (atomic_load(&pool->barrier_asleep))
            sk_futex_wake(&pool->generation, pool->team);
        return;
    }
    if (spin_while(pool, &pool->generation, generation))
        return;
    atomic_fetch_add(&pool->barrier_asleep, 1);
    while (atomic_load(&pool->generation) == generation)
        sk_futex_wait(&pool->generation, generation, -1);
    atomic_fetch_sub(&pool->barrier_asleep, 1);
}

sk_pool_settings sk_pool_defaults(void)
{
    return (sk_pool_settings){.threads = 0, .spin_us = 80, .cores = NULL, .core_count = 0};
}

int32_t sk_pool_threads(const sk_pool *pool)
{
    return pool->threads;
}

static sk_status check_cores(const sk_pool_settings *settings, sk_error *err)
{
    cpu_set_t allowed;
    if (settings->core_count == 0)
        return SK_OK;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return sk_fail(err, SK_ERR_IO, "thread pool: the system does not tell which cores may be used");
    for (int32_t i = 0; i < settings->core_count; i++) {
        int32_t core = settings->cores[i];
        if (core < 0 || core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed))
            return sk_fail(
                err, SK_ERR_ARG,
                "thread pool: core %d is not one this process may use; choose from `taskset -p %d`", core,
                (int)getpid());
    }
    return SK_OK;
}

static void core_set(const sk_pool *pool, int32_t index, cpu_set_t *set)
{
    CPU_ZERO(set);
    CPU_SET(pool->cores[index % pool->core_count], set);
}

/* Workers take no signals: those belong to the program's own threads. */
static sk_status start_worker(sk_pool *pool, int32_t index, sk_error *err)
{
    pool_worker *worker = &pool->workers[index];
    worker->pool = pool;
    worker->index = index;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return sk_fail(err, SK_ERR_MEMORY, "thread pool: out of memory for thread %d", index);
    int refused = 0;
    if (pool->core_count) {
        cpu_set_t set;
        core_set(pool, index, &set);
        refused = pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
    }
    if (!refused) {
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        refused = pthread_create(&worker->handle, &attributes, worker_main, worker);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    if (refused)
        return sk_fail(err, SK_ERR_IO,
                       "thread pool: thread %d of %d could not be started (%s); use fewer threads", index + 1,
                       pool->threads, strerror(refused));
    pool->started = index;
    char name[24]; /* the kernel takes 15 letters; 256 threads need 11 */
    snprintf(name, sizeof name, "skitter-%d", (int)index);
    pthread_setname_np(worker->handle, name);
    return SK_OK;
}

sk_status sk_pool_open(const sk_pool_settings *settings, sk_pool **out, sk_error *err)
{
    sk_pool_settings chosen = settings ? *settings : sk_pool_defaults();
    SK_CHECK_ARG(out, err);
    *out = NULL;
    if (chosen.threads == 0)
        chosen.threads = sk_cpu_usable_cores();
    if (chosen.threads < 1 || chosen.threads > SK_POOL_MAX_THREADS)
        return sk_fail(err, SK_ERR_ARG, "thread pool: %d threads asked for; 1 to %d are possible",
                       chosen.threads, SK_POOL_MAX_THREADS);
    SK_CHECK_ARG(chosen.spin_us >= 0 && chosen.core_count >= 0, err);
    SK_CHECK_ARG(chosen.core_count == 0 || chosen.cores, err);
    SK_TRY(check_cores(&chosen, err));

    sk_status status = SK_OK;
    sk_pool *pool = sk_aligned_calloc(LINE, sizeof *pool);
    if (!pool)
        return sk_fail_memory(err, sizeof *pool);
    pool->threads = chosen.threads;
    pool->spin_ns = (int64_t)chosen.spin_us * 1000;
    pool->crowded = chosen.threads > sk_cpu_usable_threads();
    pool->workers = sk_aligned_calloc(LINE, sizeof *pool->workers * (size_t)chosen.threads);
    pool->cores = sk_calloc((size_t)chosen.core_count, sizeof *pool->cores);
    if (!pool->workers || !pool->cores) {
        status = sk_fail_memory(err, sizeof *pool->workers * (size_t)chosen.threads);
        goto done;
    }
    pool->core_count = chosen.core_count;
    if (chosen.core_count)
        memcpy(pool->cores, chosen.cores, sizeof *pool->cores * (size_t)chosen.core_count);
    for (int32_t i = 1; i < chosen.threads; i++)
        SK_TRY_GOTO(start_worker(pool, i, err));
done:
    return SK_HAND_OVER(status, pool, out, sk_pool_close);
}

void sk_pool_close(sk_pool **pool)
{
    SK_TAKE_OR_RETURN(p, pool);
    pool_job end = {0};
    int32_t started = p->workers ? p->started : 0;
    for (int32_t i = 1; i <= started; i++)
        give_job(p, &p->workers[i], &end, 0);
    for (int32_t i = 1; i <= started; i++)
        pthread_join(p->workers[i].handle, NULL);
    sk_free_all(p->workers, p->cores, p);
}

sk_status sk_pool_bind_caller(const sk_pool *pool, sk_error *err)
{
    if (pool->core_count == 0)
        return SK_OK;
    cpu_set_t set;
    core_set(pool, 0, &set);
    int refused = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    if (refused)
        return sk_fail(err, SK_ERR_IO, "thread pool: the calling thread could not be bound to core %d (%s)",
                       pool->cores[0], strerror(refused));
    return SK_OK;
}
