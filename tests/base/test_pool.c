/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sk_pool *open_pool(int32_t threads, int32_t spin_us)
{
    sk_pool_settings settings = sk_pool_defaults();
    settings.threads = threads;
    settings.spin_us = spin_us;
    sk_pool *pool = NULL;
    sk_error err = {0};
    assert_ok(sk_pool_open(&settings, &pool, &err), &err);
    assert_int_equal(sk_pool_threads(pool), threads);
    return pool;
}

/* --- every part runs once, on its own thread --- */

#define PARTS 37

typedef struct record {
    pthread_t thread[PARTS];
    int runs[PARTS];
} record;

static void note_part(void *context, int32_t part, int32_t part_count)
{
    record *r = context;
    (void)part_count;
    r->runs[part]++; /* plain memory: tsan sees a part that ran twice at a time or an unordered join */
    r->thread[part] = pthread_self();
}

static void parts_run_once_on_their_thread(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 5; threads++) {
        sk_pool *pool = open_pool(threads, 20);
        record first = {0};
        sk_pool_run(pool, note_part, &first, PARTS);
        assert_true(pthread_equal(first.thread[0], pthread_self()));
        for (int round = 0; round < 20; round++) {
            record r = {0};
            int count = 1 + (round * 7) % PARTS;
            sk_pool_run(pool, note_part, &r, count);
            for (int i = 0; i < PARTS; i++) {
                assert_int_equal(r.runs[i], i < count);
                if (i < count)
                    assert_true(pthread_equal(r.thread[i], first.thread[i % threads]));
            }
        }
        for (int i = 0; i < threads; i++)
            for (int j = 0; j < i; j++)
                assert_false(pthread_equal(first.thread[i], first.thread[j]));
        sk_pool_close(&pool);
        assert_null(pool);
    }
}

static void no_parts_is_nothing(void **state)
{
    (void)state;
    sk_pool *pool = open_pool(2, 0);
    record r = {0};
    sk_pool_run(pool, note_part, &r, 0);
    assert_int_equal(r.runs[0], 0);
    sk_pool_close(&pool);
}

/* --- the barrier orders plain memory --- */

typedef struct layers {
    sk_pool *pool;
    int count;
    int wrong[16];
    int64_t value[2][16];
} layers;

/* Each layer reads what all threads wrote in the layer before, as a network does. */
static void run_layers(void *context, int32_t part, int32_t part_count)
{
    layers *l = context;
    for (int layer = 0; layer < l->count; layer++) {
        int64_t sum = 0;
        for (int i = 0; i < part_count; i++)
            sum += l->value[layer & 1][i];
        if (sum != (int64_t)layer * part_count)
            l->wrong[part]++;
        l->value[~layer & 1][part] = layer + 1;
        sk_pool_barrier(l->pool, part);
    }
}

static void check_layers(int threads, int spin_us, int count, int runs)
{
    sk_pool *pool = open_pool(threads, spin_us);
    for (int team = 1; team <= threads; team++) {
        for (int run = 0; run < runs; run++) {
            layers l = {.pool = pool, .count = count};
            sk_pool_run(pool, run_layers, &l, team);
            for (int i = 0; i < team; i++)
                assert_int_equal(l.wrong[i], 0);
        }
    }
    sk_pool_close(&pool);
}

static void barrier_orders_layers(void **state)
{
    (void)state;
    check_layers(1, 50, 100, 2);
    check_layers(2, 50, 300, 10);
    check_layers(4, 50, 100, 3);
    check_layers(3, 0, 100, 3); /* always sleeping */
}

/* Far more threads than cores: must end, and soon. */
static void survives_oversubscription(void **state)
{
    (void)state;
    int64_t start = sk_clock_ns();
    check_layers(16, 80, 20, 1);
    assert_true(sk_clock_ns() - start < 60ll * 1000000000);
}

/* --- sleeping and waking --- */

static void add_one(void *context, int32_t part, int32_t part_count)
{
    (void)part;
    (void)part_count;
    atomic_fetch_add((atomic_int *)context, 1);
}

static void wakes_after_sleep(void **state)
{
    (void)state;
    sk_pool *pool = open_pool(3, 10);
    atomic_int sum = 0;
    for (int i = 0; i < 20; i++) {
        sk_clock_sleep_ns((i % 4) * 300000);
        sk_pool_run(pool, add_one, &sum, 3);
    }
    assert_int_equal(sum, 60);
    sk_pool_close(&pool);
}

static void slow_worker(void *context, int32_t part, int32_t part_count)
{
    (void)part_count;
    if (part > 0)
        sk_clock_sleep_ns(3000000);
    atomic_fetch_add((atomic_int *)context, 1);
}

static void caller_sleeps_until_a_slow_worker_is_done(void **state)
{
    (void)state;
    sk_pool *pool = open_pool(3, 10);
    atomic_int sum = 0;
    for (int i = 0; i < 5; i++)
        sk_pool_run(pool, slow_worker, &sum, 3);
    assert_int_equal(sum, 15);
    sk_pool_close(&pool);
}

/* --- several pools, from several threads --- */

static void *use_own_pool(void *argument)
{
    atomic_int *sum = argument;
    sk_pool_settings settings = sk_pool_defaults();
    settings.threads = 3;
    sk_pool *pool = NULL;
    if (sk_pool_open(&settings, &pool, NULL) != SK_OK)
        return NULL;
    for (int i = 0; i < 200; i++)
        sk_pool_run(pool, add_one, sum, 3);
    sk_pool_close(&pool);
    return NULL;
}

static void several_pools_side_by_side(void **state)
{
    (void)state;
    atomic_int sum = 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_own_pool, &sum), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(sum, 3 * 200 * 3);
}

/* --- settings --- */

static void note_core(void *context, int32_t part, int32_t part_count)
{
    (void)part_count;
    ((int *)context)[part] = sched_getcpu();
}

static void binds_to_cores(void **state)
{
    (void)state;
    int32_t cores[64];
    int32_t count = sk_cpu_core_list(cores, 64);
    assert_true(count >= 1);
    sk_pool_settings settings = sk_pool_defaults();
    settings.threads = 3;
    settings.cores = cores;
    settings.core_count = count;
    sk_pool *pool = NULL;
    sk_error err = {0};
    assert_ok(sk_pool_open(&settings, &pool, &err), &err);
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_ok(sk_pool_bind_caller(pool, &err), &err);
    int seen[3];
    sk_pool_run(pool, note_core, seen, 3);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(seen[i], cores[i % count]);
    sk_pool_close(&pool);

    int32_t impossible = 100000;
    settings.cores = &impossible;
    settings.core_count = 1;
    assert_int_equal(sk_pool_open(&settings, &pool, &err), SK_ERR_ARG);
    assert_null(pool);
    assert_non_null(strstr(err.message, "core 100000"));
}

static void refuses_bad_settings(void **state)
{
    (void)state;
    sk_pool_settings settings = sk_pool_defaults();
    sk_pool *pool = NULL;
    sk_error err = {0};
    settings.threads = -1;
    assert_int_equal(sk_pool_open(&settings, &pool, &err), SK_ERR_ARG);
    settings.threads = SK_POOL_MAX_THREADS + 1;
    assert_int_equal(sk_pool_open(&settings, &pool, &err), SK_ERR_ARG);
    settings.threads = 0;
    assert_ok(sk_pool_open(&settings, &pool, &err), &err);
    assert_int_equal(sk_pool_threads(pool), sk_cpu_usable_cores());
    sk_pool_close(&pool);
    sk_pool_close(&pool);
}

static void running_allocates_nothing(void **state)
{
    (void)state;
    sk_pool *pool = open_pool(2, 50);
    atomic_int sum = 0;
    uint64_t before = sk_memory_allocations();
    for (int i = 0; i < 10; i++)
        sk_pool_run(pool, add_one, &sum, 2);
    assert_int_equal(sk_memory_allocations(), before);
    sk_pool_close(&pool);
}

static sk_status open_and_close(void *context, sk_error *err)
{
    sk_pool *pool = NULL;
    SK_TRY(sk_pool_open(context, &pool, err));
    sk_pool_close(&pool);
    return SK_OK;
}

static void opening_survives_lack_of_memory(void **state)
{
    (void)state;
    sk_pool_settings settings = sk_pool_defaults();
    settings.threads = 2;
    assert_true(test_every_allocation(open_and_close, &settings) >= 2);
}

static void splits_cover_everything_once(void **state)
{
    (void)state;
    for (int64_t count = 0; count < 50; count++) {
        for (int64_t grain = 1; grain < 9; grain += 3) {
            for (int32_t parts = 1; parts < 6; parts++) {
                int64_t next = 0;
                for (int32_t part = 0; part < parts; part++) {
                    int64_t begin, end;
                    sk_pool_split(count, grain, part, parts, &begin, &end);
                    assert_int_equal(begin, next);
                    assert_true(begin == count || begin % grain == 0);
                    assert_true(end >= begin);
                    next = end;
                }
                assert_int_equal(next, count);
            }
        }
    }
}

static void do_nothing(void *context, int32_t part, int32_t part_count)
{
    (void)context;
    (void)part;
    (void)part_count;
}

/* Prints what fork-join and barrier cost here; asserts only what holds on a loaded machine. */
static void cost_when_hot(void **state)
{
    (void)state;
    int threads = sk_cpu_usable_cores() < 4 ? sk_cpu_usable_cores() : 4;
    sk_pool *pool = open_pool(threads, 80);
    double best_fork = 1e9, best_barrier = 1e9;
    for (int round = 0; round < 20; round++) {
        int64_t start = sk_clock_ns();
        for (int i = 0; i < 200; i++)
            sk_pool_run(pool, do_nothing, NULL, threads);
        int64_t middle = sk_clock_ns();
        layers l = {.pool = pool, .count = 200};
        sk_pool_run(pool, run_layers, &l, threads);
        int64_t end = sk_clock_ns();
        best_fork = (double)(middle - start) / 200 < best_fork ? (double)(middle - start) / 200 : best_fork;
        best_barrier =
            (double)(end - middle) / 200 < best_barrier ? (double)(end - middle) / 200 : best_barrier;
    }
    print_message("%d threads: fork-join %.0f ns, barrier with a layer's reads %.0f ns\n", threads, best_fork,
                  best_barrier);
    assert_true(best_fork < 1e6 && best_barrier < 1e6);
    sk_pool_close(&pool);
}

/* --- offers: whoever comes in time takes part --- */

typedef struct offered {
    atomic_int next, inside, came;
    int32_t count;
    int taken[64]; /* plain: each is one thread's, and seen by the caller afterwards */
    bool slow;     /* those who came are still at it when the caller is through */
} offered;

static void take_offered(void *context, int32_t part, int32_t threads)
{
    offered *o = context;
    assert_in_range(part, 0, threads - 1);
    atomic_fetch_add(&o->inside, 1);
    atomic_fetch_add(&o->came, 1);
    for (int32_t i; (i = atomic_fetch_add(&o->next, 1)) < o->count;) {
        if (o->slow)
            usleep(part ? 3000 : 1000);
        o->taken[i]++;
    }
    atomic_fetch_sub(&o->inside, 1);
}

/* How many took part. */
static int offer_once(sk_pool *pool, int32_t count, bool slow)
{
    offered o = {.count = count, .slow = slow};
    sk_pool_offer(pool, take_offered, &o);
    assert_int_equal(atomic_load(&o.inside), 0); /* nobody is left in memory that is gone now */
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(o.taken[i], 1);
    const int came = atomic_load(&o.came);
    memset(&o, 0x5a, sizeof o);
    return came;
}

static void test_offers(void **state)
{
    (void)state;
    for (int32_t threads = 1; threads <= 4; threads++)
        for (int spin = 0; spin <= 80; spin += 80) {
            sk_pool *pool = open_pool(threads, spin);
            int came = 0, helped = 0;
            for (int round = 0; round < 300; round++) {
                came += offer_once(pool, round % 5, false); /* over before the others are awake, mostly */
                if (round % 50 == 0) { /* 12 ms: time enough to come, once the offer before is seen */
                    usleep(1000);
                    helped += offer_once(pool, 12, true) - 1;
                }
                if (round % 7 == 0) { /* a region right behind a withdrawn offer: all take part */
                    record r = {0};
                    sk_pool_run(pool, note_part, &r, PARTS);
                    for (int i = 0; i < PARTS; i++)
                        assert_int_equal(r.runs[i], 1);
                }
                if (round % 100 == 99)
                    usleep(1000); /* asleep in the kernel */
            }
            for (int more = 0; threads > 1 && helped == 0 && more < 1000; more++) /* a busy machine */
                helped += offer_once(pool, 12, true) - 1;
            assert_true(threads == 1 || helped > 0);
            assert_true(threads == 1 || spin || came < 300 * threads); /* nobody waits for the late */
            sk_pool_close(&pool);                                      /* also behind a withdrawn one */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offers),
        cmocka_unit_test(parts_run_once_on_their_thread),
        cmocka_unit_test(no_parts_is_nothing),
        cmocka_unit_test(barrier_orders_layers),
        cmocka_unit_test(survives_oversubscription),
        cmocka_unit_test(wakes_after_sleep),
        cmocka_unit_test(caller_sleeps_until_a_slow_worker_is_done),
        cmocka_unit_test(several_pools_side_by_side),
        cmocka_unit_test(binds_to_cores),
        cmocka_unit_test(refuses_bad_settings),
        cmocka_unit_test(running_allocates_nothing),
        cmocka_unit_test(opening_survives_lack_of_memory),
        cmocka_unit_test(splits_cover_everything_once),
        cmocka_unit_test(cost_when_hot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
