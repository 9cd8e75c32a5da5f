/* SPDX-License-Identifier: Apache-2.0 */
#include "two_models.h"

/* Cancelled and released while a frame is in each of the stages, two models, checks and two devices at work. */

enum { FRAMES = 12, ROUNDS = 4 };

typedef struct stress {
    sk_runner *runner;
    frames set;
    _Atomic int32_t taken[FRAMES], given_back[FRAMES];
    _Atomic int64_t results;
    int64_t reading_ns; /* how long the reader looks at a result */
} stress;

static void note_done(void *context, const sk_frame *frame)
{
    stress *s = context;
    atomic_fetch_add(&s->given_back[frame->index], 1);
}

static bool goes_on(sk_runner *r)
{
    pthread_mutex_lock(&r->lock);
    bool on = r->state == SK_RUNNER_RUNNING;
    pthread_mutex_unlock(&r->lock);
    return on;
}

/* Both go on through cancels and end when the runner is released. */
static void *push(void *argument)
{
    stress *s = argument;
    sk_error err;
    for (int i = 0;; i = (i + 1) % FRAMES) {
        atomic_fetch_add(&s->taken[i], 1);
        sk_status status = sk_runner_submit(s->runner, &s->set.frames[i], NULL, NULL, &err);
        if (status == SK_OK)
            continue;
        atomic_fetch_sub(&s->taken[i], 1);
        if (!goes_on(s->runner))
            return NULL;
    }
}

static void *pull(void *argument)
{
    stress *s = argument;
    sk_error err;
    for (;;) {
        sk_runner_result result;
        sk_status status = sk_runner_next(s->runner, &result, &err);
        if (status == SK_OK) {
            atomic_fetch_add(&s->results, 1);
            sk_clock_sleep_ns(s->reading_ns);
        }
        if (!goes_on(s->runner))
            return NULL;
    }
}

/* True once a frame is in this state, with the lock held at that very moment and given back. */
static bool find(sk_runner *r, sk_item_state wanted)
{
    for (int64_t end = sk_clock_ns() + 20000000000; sk_clock_ns() < end;) {
        pthread_mutex_lock(&r->lock);
        bool found = wanted == SK_ITEM_HELD && r->held;
        for (const sk_item *item = r->oldest; item && !found; item = item->newer)
            found = item->state == wanted;
        pthread_mutex_unlock(&r->lock);
        if (found)
            return true;
        sk_clock_sleep_ns(20000);
    }
    return false;
}

/* Null, or what did not happen. The frames must be there as long as the threads are, so nothing is asserted before. */
static const char *cancel_in(stress *s, sk_item_state wanted)
{
    for (int i = 0; i < 3; i++) { /* cancelled, it goes on */
        if (!find(s->runner, wanted))
            return "no frame was ever in";
        sk_runner_cancel(s->runner);
    }
    const int64_t before = atomic_load(&s->results);
    for (int64_t end = sk_clock_ns() + 20000000000; atomic_load(&s->results) == before;) {
        if (sk_clock_ns() > end)
            return "no result after a cancel in";
        sk_clock_sleep_ns(20000);
    }
    return find(s->runner, wanted) ? NULL : "no frame was in again";
}

static void end_in(sk_item_state wanted, int round)
{
    sk_error err = {0};
    const sk_model *models[] = {finder, poser};
    stress s = {.set = make_frames(FRAMES, 320, 240)};
    /* these two states last as long as the reader takes its time */
    s.reading_ns = wanted == SK_ITEM_DONE || wanted == SK_ITEM_HELD ? 2000000 : 0;
    sk_runner_settings how = tiny_settings();
    fault_reset();
    faults[0].delay_us = faults[1].delay_us = 200;
    faults[0].asynchronous = round % 2;
    how.detector.max_det = 3;
    how.devices = round % 3 ? "cpu,cpu" : "cpu";
    how.detector.batch = 1 + round % 2;
    how.frames = round % 2 ? SK_RUNNER_HOLD : SK_RUNNER_BORROW;
    how.check_every = 3;
    how.allow_failover = round % 2;
    how.frame_done = note_done;
    how.context = &s;
    assert_ok(sk_runner_open_on(models, 2, &how, fault_engines, &s.runner, &err), &err);
    pthread_t threads[2];
    assert_int_equal(pthread_create(&threads[0], NULL, push, &s), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, pull, &s), 0);
    const char *problem = cancel_in(&s, wanted);
    sk_runner_release(s.runner);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    sk_runner_close(&s.runner);
    if (problem)
        fail_msg("%s '%s'", problem, sk_item_state_name(wanted));
    for (int i = 0; i < FRAMES; i++) /* each as often as it was taken */
        assert_int_equal(atomic_load(&s.given_back[i]), atomic_load(&s.taken[i]));
    free_frames(&s.set);
}

static void test_ends_in_every_stage(void **state)
{
    (void)state;
    static const sk_item_state all[] = {SK_ITEM_PENDING, SK_ITEM_PRE,       SK_ITEM_WAIT_NETWORK,
                                        SK_ITEM_NETWORK, SK_ITEM_WAIT_POST, SK_ITEM_POST,
                                        SK_ITEM_DONE,    SK_ITEM_HELD};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (int round = 0; round < ROUNDS; round++)
            end_in(all[i], round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends_in_every_stage)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
