/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fault.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/ring.h"

#include <pthread.h>

typedef struct item {
    int64_t number;
    int64_t check;
    char odd; /* a size that is no power of two */
} item;

static sk_ring *open_ring(size_t capacity)
{
    sk_ring *ring = NULL;
    sk_error err = {0};
    assert_ok(sk_ring_open(capacity, sizeof(item), &ring, &err), &err);
    assert_int_equal(sk_ring_capacity(ring), capacity);
    return ring;
}

static item numbered(int64_t number)
{
    return (item){.number = number, .check = ~number, .odd = (char)number};
}

static void keeps_order_and_says_full_and_empty(void **state)
{
    (void)state;
    for (size_t capacity = 1; capacity <= 7; capacity++) {
        sk_ring *ring = open_ring(capacity);
        item in, out;
        int64_t next_in = 0, next_out = 0;
        for (int round = 0; round < 50; round++) {
            while (in = numbered(next_in), sk_ring_push(ring, &in, 0) == SK_RING_DONE)
                next_in++;
            assert_int_equal(sk_ring_push(ring, &in, 0), SK_RING_FULL);
            assert_int_equal(sk_ring_count(ring), capacity);
            int take = 1 + round % (int)capacity;
            for (int i = 0; i < take; i++) {
                assert_int_equal(sk_ring_pop(ring, &out, 0), SK_RING_DONE);
                assert_int_equal(out.number, next_out++);
                assert_int_equal(out.check, ~out.number);
            }
        }
        while (sk_ring_pop(ring, &out, 0) == SK_RING_DONE)
            assert_int_equal(out.number, next_out++);
        assert_int_equal(next_in, next_out);
        assert_int_equal(sk_ring_pop(ring, &out, 0), SK_RING_EMPTY);
        sk_ring_close(&ring);
        assert_null(ring);
    }
}

static void the_end_lets_the_rest_out(void **state)
{
    (void)state;
    sk_ring *ring = open_ring(4);
    item in = numbered(1), out;
    assert_int_equal(sk_ring_push(ring, &in, 0), SK_RING_DONE);
    sk_ring_end(ring);
    sk_ring_end(ring);
    assert_int_equal(sk_ring_push(ring, &in, SK_RING_FOREVER), SK_RING_ENDED);
    assert_int_equal(sk_ring_pop(ring, &out, SK_RING_FOREVER), SK_RING_DONE);
    assert_int_equal(sk_ring_pop(ring, &out, SK_RING_FOREVER), SK_RING_ENDED);
    sk_ring_close(&ring);
}

static void timeouts(void **state)
{
    (void)state;
    sk_ring *ring = open_ring(1);
    item in = numbered(1), out;
    int64_t start = sk_clock_ns();
    assert_int_equal(sk_ring_pop(ring, &out, 3000000), SK_RING_EMPTY);
    assert_true(sk_clock_ns() - start >= 3000000);
    assert_int_equal(sk_ring_push(ring, &in, 0), SK_RING_DONE);
    start = sk_clock_ns();
    assert_int_equal(sk_ring_push(ring, &in, 3000000), SK_RING_FULL);
    assert_true(sk_clock_ns() - start >= 3000000);
    sk_ring_close(&ring);
}

/* --- two threads --- */

typedef struct producer {
    sk_ring *ring;
    int64_t count;
    int pause_every; /* now and then one side is slow, so that both sleep and wake */
    int64_t pushed;
} producer;

static void *produce(void *argument)
{
    producer *p = argument;
    for (int64_t i = 0; i < p->count; i++) {
        item in = numbered(i);
        if (p->pause_every && i % p->pause_every == 0)
            sk_clock_sleep_ns(300000);
        if (sk_ring_push(p->ring, &in, SK_RING_FOREVER) != SK_RING_DONE)
            break;
        p->pushed++;
    }
    sk_ring_end(p->ring);
    return NULL;
}

static void carry(size_t capacity, int64_t count, int producer_pause, int consumer_pause)
{
    producer p = {.ring = open_ring(capacity), .count = count, .pause_every = producer_pause};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
    item out;
    int64_t got = 0;
    while (sk_ring_pop(p.ring, &out, SK_RING_FOREVER) == SK_RING_DONE) {
        assert_int_equal(out.number, got);
        assert_int_equal(out.check, ~got);
        got++;
        if (consumer_pause && got % consumer_pause == 0)
            sk_clock_sleep_ns(300000);
    }
    pthread_join(thread, NULL);
    assert_int_equal(got, count);
    sk_ring_close(&p.ring);
}

static void carries_everything_between_threads(void **state)
{
    (void)state;
    carry(1, 3000, 0, 0);
    carry(3, 20000, 0, 0);
    carry(8, 1000, 50, 0);
    carry(8, 1000, 0, 50);
    carry(2, 1000, 70, 90);
}

static void a_consumer_may_stop_the_producer(void **state)
{
    (void)state;
    producer p = {.ring = open_ring(2), .count = 1000000000};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
    item out;
    for (int i = 0; i < 10; i++)
        assert_int_equal(sk_ring_pop(p.ring, &out, SK_RING_FOREVER), SK_RING_DONE);
    sk_clock_sleep_ns(2000000); /* the producer sleeps on a full ring now */
    sk_ring_end(p.ring);
    pthread_join(thread, NULL);
    assert_in_range(p.pushed, 10, 12);
    sk_ring_close(&p.ring);
}

static void refuses_bad_sizes(void **state)
{
    (void)state;
    sk_ring *ring = NULL;
    sk_error err = {0};
    assert_int_equal(sk_ring_open(0, 8, &ring, &err), SK_ERR_ARG);
    assert_int_equal(sk_ring_open(8, 0, &ring, &err), SK_ERR_ARG);
    assert_int_equal(sk_ring_open((size_t)1 << 40, 8, &ring, &err), SK_ERR_ARG);
    assert_int_equal(sk_ring_open(1 << 20, SIZE_MAX / 2, &ring, &err), SK_ERR_MEMORY);
    assert_null(ring);
}

static sk_status open_and_close(void *context, sk_error *err)
{
    (void)context;
    sk_ring *ring = NULL;
    SK_TRY(sk_ring_open(5, 3, &ring, err));
    sk_ring_close(&ring);
    return SK_OK;
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(open_and_close, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_and_says_full_and_empty),
        cmocka_unit_test(the_end_lets_the_rest_out),
        cmocka_unit_test(timeouts),
        cmocka_unit_test(carries_everything_between_threads),
        cmocka_unit_test(a_consumer_may_stop_the_producer),
        cmocka_unit_test(refuses_bad_sizes),
        cmocka_unit_test(survives_lack_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
