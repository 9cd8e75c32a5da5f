/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/cpu.h"
#include "engines/cpu/plan.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* Walking the plan with several threads. The whole plan runs inside one fork of the pool.
 *
 * Each step is cut into shares. A thread first takes the shares that are its own, the same ones every time, so that it
 * finds its rows in its cache; then it takes what others have not begun. Nobody waits for threads, only for shares: a
 * thread that the system has put aside costs at most the share it holds, and the slow cores of a mixed processor simply
 * take fewer. */

#define MAX_QUEUES 16 /* beyond that many threads, several share a queue */

typedef struct cpu_progress {
    _Alignas(64) _Atomic int32_t done;
    _Atomic int32_t next[MAX_QUEUES]; /* taken of each queue's shares */
} cpu_progress;

typedef struct replay {
    cpu_plan *plan;
    const sk_session_input *inputs;
    int64_t *step_end; /* when the last share of each step was done; null: not measured */
} replay;

static inline void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static int32_t queue_count(const cpu_plan *plan, const cpu_step *step)
{
    int32_t queues = plan->threads < MAX_QUEUES ? plan->threads : MAX_QUEUES;
    return queues < step->parts ? queues : step->parts;
}

int64_t cpu_profile_clock(const cpu_plan *plan)
{
    struct timespec t;
    if (plan->threads > 1)
        return sk_clock_ns();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Shares of one step until none is left to begin. */
static void work(const cpu_plan *plan, const cpu_step *step, cpu_progress *progress, const cpu_frame *frame,
                 int32_t thread, int64_t *end)
{
    const int32_t queues = queue_count(plan, step), parts = step->parts;
    int32_t finished = 0;
    for (int32_t i = 0; i < queues; i++) {
        int32_t q = (thread + i) % queues;
        int32_t first = (int32_t)((int64_t)parts * q / queues),
                last = (int32_t)((int64_t)parts * (q + 1) / queues);
        for (;;) {
            if (atomic_load_explicit(&progress->next[q], memory_order_relaxed) >= last - first)
                break;
            int32_t at = first + atomic_fetch_add_explicit(&progress->next[q], 1, memory_order_relaxed);
            if (at >= last)
                break;
            if (step->borders)
                cpu_clear_borders(plan, step, at, parts);
            step->run(step, frame, at, parts);
            finished++;
        }
    }
    if (!finished)
        return;
    int64_t now = end ? cpu_profile_clock(plan) : 0;
    if (atomic_fetch_add_explicit(&progress->done, finished, memory_order_acq_rel) + finished == parts && end)
        *end = now;
}

static void replay_thread(void *context, int32_t thread, int32_t threads)
{
    (void)threads;
    const replay *r = context;
    const cpu_plan *plan = r->plan;
    const cpu_frame frame = {
        .plan = plan, .inputs = r->inputs, .scratch = plan->scratch + (size_t)thread * plan->scratch_floats};
    const uint64_t mode = sk_cpu_flush_tiny(); /* on every thread: the same bits with any number of them */
    for (size_t i = 0; i < plan->n_steps; i++) {
        const cpu_step *step = &plan->steps[i];
        work(plan, step, &plan->progress[i], &frame, thread, r->step_end ? &r->step_end[i] : NULL);
        for (int spins = 0;
             atomic_load_explicit(&plan->progress[i].done, memory_order_acquire) < step->parts;) {
            /* Somebody holds a share. If that takes long, this core may be what they are waiting for. */
            if (++spins < 4000)
                pause_cpu();
            else
                sched_yield();
        }
    }
    sk_cpu_float_mode_restore(mode); /* thread 0 is the caller's own */
}

sk_status cpu_plan_run(cpu_plan *plan, sk_pool *pool, const sk_session_input *inputs, int64_t *step_end,
                       sk_error *err)
{
    replay r = {.plan = plan, .inputs = inputs, .step_end = step_end};
    plan->failure = SK_OK;
    for (size_t i = 0; i < plan->n_steps; i++) {
        atomic_store_explicit(&plan->progress[i].done, 0, memory_order_relaxed);
        for (int k = 0; k < MAX_QUEUES; k++)
            atomic_store_explicit(&plan->progress[i].next[k], 0, memory_order_relaxed);
    }
    sk_pool_run(pool, replay_thread, &r, plan->threads);
    if (plan->failure != SK_OK && err)
        *err = plan->failure_error;
    return plan->failure;
}

/* Shares a thread: more for long steps, where an uneven end would cost more than a few more calls. */
static int32_t shares_for(const cpu_plan *plan, const cpu_step *step)
{
    if (plan->threads == 1 || step->parts == 1)
        return 1;
    double each = step->flops / plan->threads;
    return plan->threads * (each > 40e6 ? 4 : each > 10e6 ? 2 : 1);
}

sk_status cpu_replay_open(cpu_plan *plan, sk_error *err)
{
    plan->progress = sk_aligned_calloc(64, (plan->n_steps + 1) * sizeof *plan->progress);
    if (!plan->progress)
        return sk_fail_memory(err, plan->n_steps * sizeof *plan->progress);
    for (size_t i = 0; i < plan->n_steps; i++)
        plan->steps[i].parts = shares_for(plan, &plan->steps[i]);
    return SK_OK;
}
