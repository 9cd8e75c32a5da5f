/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"
#include "base/instances.h"

#include <unistd.h>

/* Who reads results and gets frames back: callbacks under no lock, a pointer that travels along, results kept for a while. */

#define FRAMES 24

typedef struct caller {
    sk_runner *runner;
    _Atomic int32_t back, ready, asked;
} caller;

static void ask_when_back(void *context, const sk_frame *frame)
{
    caller *c = context;
    assert_non_null(frame);
    if (c->runner && sk_runner_in_flight(c->runner) >= 0) /* for ever, if anybody held the lock */
        atomic_fetch_add(&c->asked, 1);
    atomic_fetch_add(&c->back, 1);
}

static void ask_when_ready(void *context)
{
    caller *c = context;
    sk_runner_stats stats;
    if (c->runner)
        sk_runner_get_stats(c->runner, &stats);
    atomic_fetch_add(&c->ready, 1);
}

static void run_callbacks(sk_runner_frames mode)
{
    sk_error err = {0};
    frames set = make_frames(FRAMES, 48, 40);
    caller c = {0};
    sk_runner_settings s = tiny_settings();
    s.frames = mode;
    s.frame_done = ask_when_back;
    s.result_ready = ask_when_ready;
    s.context = &c;
    sk_runner *r = open_runner(model, &s);
    c.runner = r;
    sk_runner_result result;
    for (int i = 0; i < FRAMES; i++) {
        if (sk_runner_in_flight(r) == sk_runner_depth(r))
            assert_ok(sk_runner_wait(r, &result, &err), &err);
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    }
    sk_runner_flush(r);
    while (sk_runner_in_flight(r))
        assert_ok(sk_runner_wait(r, &result, &err), &err);
    sk_runner_finish(r);
    assert_ok(sk_runner_next(r, &result, &err), &err); /* ends the last one */
    sk_runner_release(r);
    assert_int_equal(atomic_load(&c.back), FRAMES);
    assert_int_equal(atomic_load(&c.asked), FRAMES);
    assert_int_equal(atomic_load(&c.ready), FRAMES + 1); /* and that no more will come */
    sk_runner_close(&r);
    free_frames(&set);
}

static void test_callbacks_may_call_the_runner(void **state)
{
    (void)state;
    alarm(60);
    run_callbacks(SK_RUNNER_BORROW);
    run_callbacks(SK_RUNNER_HOLD);
    alarm(0);
}

/* Latency mode: frames that give way come back from inside submit. */
static void test_dropped_frames_come_back_unlocked(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(FRAMES, 48, 40);
    caller c = {0};
    sk_runner_settings s = tiny_settings();
    s.mode = SK_PIPELINE_LATENCY;
    s.frames = SK_RUNNER_BORROW;
    s.frame_done = ask_when_back;
    s.context = &c;
    alarm(60);
    sk_runner *r = open_runner(model, &s);
    c.runner = r;
    for (int i = 0; i < FRAMES; i++)
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    sk_runner_cancel(r);
    sk_runner_release(r);
    assert_int_equal(atomic_load(&c.back), FRAMES);
    alarm(0);
    sk_runner_close(&r);
    free_frames(&set);
}

static void count_one(void *user, const sk_frame *frame)
{
    (void)frame;
    atomic_fetch_add((_Atomic int32_t *)user, 1);
}

/* More results than frames may be in flight, all read at the end, ended from the middle outwards. */
static void test_many_results_are_held(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(FRAMES, 48, 40);
    sk_runner_settings s = tiny_settings();
    s.frames = SK_RUNNER_HOLD;
    s.depth = 3;
    sk_runner *r = open_runner(model, &s);
    sk_runner_result results[FRAMES];
    _Atomic int32_t marks[FRAMES] = {0};
    int32_t taken = 0;
    assert_int_equal(sk_runner_take(r, 0, &results[0], &err), SK_ERR_BUSY);
    assert_null(results[0].hold);
    for (int i = 0; i < FRAMES; i++) {
        const sk_runner_call call = {.user = &marks[i], .frame_done = count_one, .frame_context = &marks[i]};
        assert_ok(sk_runner_submit(r, &set.frames[i], &call, NULL, &err), &err);
        if (sk_runner_in_flight(r) == 3)
            assert_ok(sk_runner_take(r, -1, &results[taken++], &err), &err);
    }
    sk_runner_finish(r);
    while (taken < FRAMES)
        assert_ok(sk_runner_take(r, 60000, &results[taken++], &err), &err);
    sk_runner_result none;
    assert_ok(sk_runner_take(r, -1, &none, &err), &err);
    assert_int_equal(none.ticket, -1);
    plain p = {0};
    plain_open(&p, model, &s, 48, 40);
    for (int i = 0; i < FRAMES; i++) {
        assert_int_equal(results[i].ticket, i);
        assert_ptr_equal(results[i].user, &marks[i]);
        assert_ptr_equal(results[i].frame, &set.frames[i]);
        assert_int_equal(atomic_load(&marks[i]), 0);
        plain_run(&p, results[i].frame);
        assert_same_instances(results[i].instances, &p.found);
    }
    for (int i = 0; i < FRAMES; i++) {
        const int at = (i + FRAMES / 2) % FRAMES;
        sk_runner_end_result(r, &results[at]);
        assert_int_equal(atomic_load(&marks[at]), 1);
        sk_runner_end_result(r, &results[at]); /* again: nothing */
    }
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(atomic_load(&marks[i]), 1);
    plain_close(&p);
    sk_runner_close(&r);
    free_frames(&set);
}

/* Results that were taken outlive a release, with their frames; close ends what is left. */
static void test_taken_results_outlive_a_release(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(4, 48, 40);
    sk_runner_settings s = tiny_settings();
    s.frames = SK_RUNNER_HOLD;
    sk_runner *r = open_runner(model, &s);
    _Atomic int32_t marks[4] = {0};
    sk_runner_result results[3];
    for (int i = 0; i < 4; i++) {
        const sk_runner_call call = {.user = &marks[i], .frame_done = count_one, .frame_context = &marks[i]};
        assert_ok(sk_runner_submit(r, &set.frames[i], &call, NULL, &err), &err);
    }
    sk_runner_flush(r);
    for (int i = 0; i < 2; i++)
        assert_ok(sk_runner_take(r, -1, &results[i], &err), &err);
    assert_ok(sk_runner_wait(r, &results[2], &err), &err);
    sk_runner_release(r);
    for (int i = 0; i < 4; i++)
        assert_int_equal(atomic_load(&marks[i]), i >= 2);
    assert_int_equal(sk_runner_take(r, 0, &results[2], &err), SK_ERR_CANCELLED);
    plain p = {0};
    plain_open(&p, model, &s, 48, 40);
    plain_run(&p, results[0].frame);
    assert_same_instances(results[0].instances, &p.found);
    plain_close(&p);
    sk_runner_end_result(r, &results[0]);
    assert_int_equal(atomic_load(&marks[0]), 1);
    assert_int_equal(atomic_load(&marks[1]), 0);
    sk_runner_close(&r);
    for (int i = 0; i < 4; i++)
        assert_int_equal(atomic_load(&marks[i]), 1);
    free_frames(&set);
}

/* A frame that failed is a result too: with its pointer, and to be ended. */
static void test_failed_frames_are_held(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(1, 48, 40);
    sk_runner_settings s = tiny_settings();
    s.devices = "cpu";
    s.frames = SK_RUNNER_HOLD;
    fault_reset();
    sk_runner *r = open_faulty(model, &s);
    atomic_store(&faults[0].fail_after, 0);
    fault_begin();
    _Atomic int32_t mark = 0;
    const sk_runner_call call = {.user = &mark, .frame_done = count_one, .frame_context = &mark};
    assert_ok(sk_runner_submit(r, &set.frames[0], &call, NULL, &err), &err);
    sk_runner_flush(r);
    sk_runner_result result;
    assert_int_equal(sk_runner_take(r, -1, &result, &err), SK_ERR_RUNTIME);
    assert_non_null(result.hold);
    assert_ptr_equal(result.user, &mark);
    assert_int_equal(atomic_load(&mark), 0);
    sk_runner_end_result(r, &result);
    assert_int_equal(atomic_load(&mark), 1);
    sk_runner_close(&r);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callbacks_may_call_the_runner),
        cmocka_unit_test(test_dropped_frames_come_back_unlocked),
        cmocka_unit_test(test_many_results_are_held),
        cmocka_unit_test(test_taken_results_outlive_a_release),
        cmocka_unit_test(test_failed_frames_are_held),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
