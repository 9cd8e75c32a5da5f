/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"
#include "support/test.h"

#include "app/side_by_side.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Consumers in threads of their own are told the same as one after the other. */

enum { FRAMES = 1000, TOYS = 3 };

/* --- a system that has no more threads --- */

static int threads_left = 1000;
typedef int start_thread(pthread_t *thread, const pthread_attr_t *how, void *(*begin)(void *), void *context);

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *how,
                                                          void *(*begin)(void *), void *context)
{
    static start_thread *real;
    if (threads_left <= 0)
        return EAGAIN;
    threads_left--;
    if (!real) {
        void *symbol = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&real, &symbol, sizeof real);
    }
    return real(thread, how, begin, context);
}

/* --- those who are told --- */

typedef struct toy {
    sk_consumer base;
    int64_t told, fails_at;
    uint64_t sum; /* over all it was told */
} toy;

static _Atomic int at_work; /* of those that take turns */

static sk_status toy_retell(sk_consumer *c, int64_t entry, const sk_result_frame *f, bool *lacks,
                            sk_error *err)
{
    toy *t = (toy *)c;
    (void)lacks;
    if (c->needs & SK_NEEDS_TURNS) {
        assert_int_equal(atomic_fetch_add(&at_work, 1), 0);
        for (volatile int i = 0; i < 300; i++)
            ;
        atomic_fetch_sub(&at_work, 1);
    }
    if (entry == t->fails_at)
        return sk_fail(err, SK_ERR_IO, "toy failed at %lld", (long long)entry);
    t->sum = sk_hash_xxh3(f->source, strlen(f->source), t->sum + (uint64_t)entry);
    if (f->problem)
        t->sum = sk_hash_xxh3(f->problem, strlen(f->problem), t->sum);
    for (int32_t i = 0; i < f->instances->count; i++) {
        const sk_found *found = &f->instances->items[i];
        t->sum = sk_hash_xxh3(found->box, sizeof found->box, t->sum);
        t->sum = sk_hash_xxh3(&f->sightings[i].x, sizeof f->sightings[i].x, t->sum);
        if (found->has & SK_HAS_KEYPOINTS)
            t->sum = sk_hash_xxh3(&f->instances->keypoints[found->first_keypoint], 2 * sizeof(sk_keypoint),
                                  t->sum);
    }
    t->told++;
    return SK_OK;
}

static const sk_consumer_kind toy_kind = {.name = "toy", .retell = toy_retell};

/* Every frame's memory is used again for the next. */
static sk_status play(toy toys[TOYS], bool threads, sk_error *err)
{
    sk_consumers list = {.count = TOYS};
    sk_side_by_side *side = NULL;
    sk_found items[4];
    sk_keypoint points[8];
    sk_sighting sightings[4] = {{0}};
    char source[32], problem[32];
    sk_status status = SK_OK;
    for (int i = 0; i < TOYS; i++)
        list.items[i] = &toys[i].base;
    if (threads)
        SK_TRY(sk_side_by_side_open(&list, &side, err));
    for (int64_t f = 0; f < FRAMES && status == SK_OK; f++) {
        sk_instances in = {.items = items, .keypoints = points, .count = (int32_t)(f % 5), .n_keypoints = 2};
        snprintf(source, sizeof source, "frame %lld", (long long)f);
        snprintf(problem, sizeof problem, "torn at %lld", (long long)f);
        for (int32_t i = 0; i < in.count; i++) {
            items[i] = (sk_found){.box = {(float)f, (float)i, 0, 0}, .has = SK_HAS_BOX};
            if (i > 0) { /* the first one was not found: it has no keypoints */
                items[i].has |= SK_HAS_KEYPOINTS;
                items[i].first_keypoint = 2 * (i - 1);
            }
            points[2 * i] = points[2 * i + 1] = (sk_keypoint){.x = (float)(f + i)};
            sightings[i].x = (double)(f * i);
        }
        const sk_result_frame frame = {.source = source,
                                       .problem = f % 7 ? NULL : problem,
                                       .index = f,
                                       .instances = &in,
                                       .sightings = sightings};
        bool lacks = false;
        if (side)
            status = sk_side_by_side_tell(side, f, &frame, err);
        for (int i = 0; i < TOYS && !side && status == SK_OK; i++)
            status = toy_retell(&toys[i].base, f, &frame, &lacks, err);
    }
    return sk_side_by_side_end(&side, status, err);
}

static void begin(toy toys[TOYS])
{
    for (int i = 0; i < TOYS; i++)
        toys[i] = (toy){
            .base = {.kind = &toy_kind, .needs = i ? SK_NEEDS_TURNS : 0}, .fails_at = -1, .sum = (uint64_t)i};
}

static void all_are_told_the_same_in_order(void **state)
{
    (void)state;
    toy one[TOYS], other[TOYS];
    sk_error err = {0};
    begin(one);
    begin(other);
    assert_ok(play(one, false, &err), &err);
    assert_ok(play(other, true, &err), &err);
    for (int i = 0; i < TOYS; i++) {
        assert_int_equal(other[i].told, FRAMES);
        assert_true(one[i].sum == other[i].sum);
    }
}

/* In the first batch, in the middle, and in the last, which nobody fills. */
static void a_failure_of_one_is_told(void **state)
{
    (void)state;
    const int64_t places[] = {0, 500, FRAMES - 1};
    for (int k = 0; k < 3; k++) {
        toy toys[TOYS];
        sk_error err = {0};
        begin(toys);
        toys[1].fails_at = places[k];
        assert_int_equal(play(toys, true, &err), SK_ERR_IO);
        assert_non_null(strstr(err.message, "toy failed at"));
        assert_true(toys[1].told <= places[k]);
    }
}

static sk_status whole(void *context, sk_error *err)
{
    (void)context;
    toy toys[TOYS];
    begin(toys);
    return play(toys, true, err);
}

static void survives_a_lack_of_memory(void **state)
{
    (void)state;
    test_every_allocation(whole, NULL);
}

/* Who has no thread is told by the caller; who has its frames already, and who does not listen, is not told. */
static void without_threads(void **state)
{
    (void)state;
    toy one[TOYS], other[TOYS];
    sk_error err = {0};
    for (int left = 0; left < TOYS; left++) {
        begin(one);
        begin(other);
        assert_ok(play(one, false, &err), &err);
        threads_left = left;
        assert_ok(play(other, true, &err), &err);
        threads_left = 1000;
        for (int i = 0; i < TOYS; i++)
            assert_true(other[i].told == FRAMES && other[i].sum == one[i].sum);
        /* it fails in the caller's place */
        begin(other);
        other[TOYS - 1].fails_at = FRAMES / 2;
        threads_left = left;
        assert_int_equal(play(other, true, &err), SK_ERR_IO);
        threads_left = 1000;
        assert_string_equal(err.message, "toy failed at 500");
        assert_int_equal(other[TOYS - 1].told, FRAMES / 2);
        begin(other);
        other[0].base.has = FRAMES - 10;
        other[1].base.needs = SK_NEEDS_PIXELS;
        threads_left = left;
        assert_ok(play(other, true, &err), &err);
        threads_left = 1000;
        if (sk_cpu_usable_cores() > 1)
            assert_true(other[0].told == 10 && other[1].told == 0 && other[2].told == FRAMES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_told_the_same_in_order),
        cmocka_unit_test(a_failure_of_one_is_told),
        cmocka_unit_test(without_threads),
        cmocka_unit_test(survives_a_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
