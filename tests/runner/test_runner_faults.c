/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

/* What happens when something is wrong, slow, in the way, or no longer wanted. */

static sk_runner_settings faulty_settings(const char *devices)
{
    sk_runner_settings s = tiny_settings();
    s.devices = devices;
    fault_reset();
    return s;
}

/* --- the check --- */

static void test_check_passes(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = tiny_settings();
    s.check_every = 3;
    s.detector.batch = 2;
    s.devices = "cpu,cpu";
    sk_runner *r = open_runner(model, &s);
    frames set = make_frames(12, 48, 40);
    for (int i = 0; i < 12; i++) {
        sk_runner_result result;
        sk_runner_call call = {.check_pcc = i == 4};
        assert_ok(sk_runner_run(r, &set.frames[i], &call, &result, &err), &err);
        assert_int_equal(result.check->ran, i % 3 == 0 || i == 4);
        if (result.check->ran) {
            assert_true(result.check->passed);
            assert_true(result.check->pcc > 0.999999 && result.check->max_diff < 1e-3);
            assert_true(result.check->mean_diff <= result.check->max_diff);
            assert_true(result.check->n_outputs > 0);
        }
    }
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.checks, 5);
    assert_int_equal(stats.checks_failed, 0);
    assert_true(stats.worst_pcc > 0.999999);
    assert_int_equal(stats.stages[SK_STAGE_CHECK].count, 5);
    sk_runner_close(&r);
    free_frames(&set);
}

static void check_catches(fault_kind kind, sk_runner_frames mode)
{
    sk_error err = {0};
    sk_runner_settings s = faulty_settings("cpu");
    s.frames = mode;
    faults[0].kind = kind;
    sk_runner *r = open_faulty(model, &s);
    fault_begin();
    frames set = make_frames(4, 48, 40);
    for (int i = 0; i < 4; i++) {
        sk_runner_result result;
        sk_runner_call call = {.check_pcc = true};
        sk_status status = sk_runner_run(r, &set.frames[i], &call, &result, &err);
        assert_int_equal(status, SK_ERR_MISMATCH);
        assert_true(result.check->ran && !result.check->passed);
        assert_true(result.check->pcc < result.check->pcc_min);
        assert_non_null(result.instances); /* the answer is there, and said to be wrong */
        char index[32];
        snprintf(index, sizeof index, "frame %d:", i);
        assert_non_null(strstr(err.message, index));
    }
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.checks_failed, 4);
    sk_runner_close(&r);
    free_frames(&set);
}

static void test_check_catches(void **state)
{
    (void)state;
    check_catches(FAULT_WEIGHT, SK_RUNNER_COPY);
    check_catches(FAULT_WRONG_FRAME, SK_RUNNER_COPY);
    check_catches(FAULT_STALE, SK_RUNNER_COPY);
    check_catches(FAULT_WRONG_FRAME, SK_RUNNER_BORROW);
}

/* --- whose the frames are --- */

static _Atomic int32_t given_back[256];

static void note_done(void *context, const sk_frame *frame)
{
    (void)context;
    atomic_fetch_add(&given_back[frame->index], 1);
}

static void forget_done(void)
{
    for (int i = 0; i < 256; i++)
        atomic_store(&given_back[i], 0);
}

static void test_frames_come_back_once(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(40, 48, 40);
    for (int mode = SK_RUNNER_BORROW; mode <= SK_RUNNER_HOLD; mode++) {
        sk_runner_settings s = faulty_settings("cpu");
        s.frames = (sk_runner_frames)mode;
        s.frame_done = note_done;
        forget_done();
        sk_runner *r = open_faulty(model, &s);
        sk_runner_result result;
        for (int i = 0; i < 40; i++) {
            if (sk_runner_in_flight(r) == sk_runner_depth(r)) {
                assert_ok(sk_runner_wait(r, &result, &err), &err);
                assert_ptr_equal(result.frame, mode == SK_RUNNER_HOLD ? &set.frames[result.ticket] : NULL);
                if (mode == SK_RUNNER_HOLD)
                    assert_int_equal(atomic_load(&given_back[result.ticket]), 0);
            }
            assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
        }
        for (int i = 0; mode == SK_RUNNER_BORROW && i < 40; i++)
            assert_true(atomic_load(&given_back[i]) <= 1);
        sk_runner_release(r); /* with frames in every stage */
        for (int i = 0; i < 40; i++)
            assert_int_equal(atomic_load(&given_back[i]), 1);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* --- devices that fail --- */

static void test_failed_device_loses_nothing(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(120, 48, 40);
    plain p = {0};
    for (int kind = 0; kind < 4; kind++) {
        sk_runner_settings s = faulty_settings("cpu,cpu,cpu");
        s.allow_failover = true;
        s.detector.batch = 1 + kind % 2;
        s.frames = kind < 2 ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
        s.frame_done = note_done;
        forget_done();
        for (int i = 0; i < 3;
             i++) /* the one that stays is slow, so that the others get work on a busy machine too */
            faults[i].delay_us = i == 0 ? 4000 : 200;
        faults[1].asynchronous = kind == 3;
        plain_open(&p, model, &s, 48, 40);
        sk_runner *r = open_faulty(model, &s);
        atomic_store(&faults[1].fail_after, 4);
        atomic_store(&faults[2].fail_after, 9);
        fault_begin();
        int64_t submitted = 0;
        for (int64_t i = 0; i < 120; i++) {
            sk_runner_result result;
            while (submitted < 120 && sk_runner_in_flight(r) < sk_runner_depth(r))
                assert_ok(sk_runner_submit(r, &set.frames[submitted++], NULL, NULL, &err), &err);
            if (submitted == 120)
                sk_runner_flush(r);
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_int_equal(result.ticket, i);
            if (i % 7 == 0) {
                plain_run(&p, &set.frames[i]);
                assert_same_instances(result.instances, &p.found);
            }
        }
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_false(stats.devices[0].failed);
        assert_true(stats.devices[1].failed && stats.devices[2].failed);
        assert_non_null(strstr(stats.devices[1].problem, "unplugged"));
        assert_true(stats.moved >= 2);
        assert_int_equal(stats.failed, 0);
        assert_int_equal(stats.delivered, 120);
        sk_runner_close(&r);
        for (int i = 0; kind >= 2 && i < 120; i++)
            assert_int_equal(atomic_load(&given_back[i]), 1);
        plain_close(&p);
        p = (plain){0};
    }
    free_frames(&set);
}

/* Where moving is not allowed, or nobody is left, each frame says which device failed and why. */
static void test_failure_is_told(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(20, 48, 40);
    for (int devices = 1; devices <= 2; devices++) {
        sk_runner_settings s = faulty_settings(devices == 1 ? "cpu" : "cpu,cpu");
        s.allow_failover = devices == 2;
        sk_runner *r = open_faulty(model, &s);
        atomic_store(&faults[0].fail_after, 3);
        atomic_store(&faults[1].fail_after, 0);
        fault_begin();
        int failures = 0, right = 0;
        for (int i = 0; i < 20; i++) {
            sk_runner_result result = {.ticket = -1};
            err.message[0] = '\0';
            sk_status status = sk_runner_submit(r, &set.frames[i], NULL, NULL, &err);
            if (status == SK_OK)
                status = sk_runner_wait(r, &result, &err);
            right += status == SK_OK;
            if (status != SK_OK) {
                assert_int_equal(status, SK_ERR_RUNTIME);
                assert_non_null(strstr(err.message, "device cpu failed"));
                assert_non_null(strstr(err.message, "unplugged"));
                failures++;
            }
        }
        assert_int_equal(right, 3);
        assert_int_equal(failures, 17);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* The last device goes while frames are being handed in: each of them ends, nobody waits for ever. */
static void test_last_device_fails_under_submit(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(8, 640, 480); /* copying takes a while */
    for (int round = 0; round < 30; round++) {
        sk_runner_settings s = faulty_settings("cpu");
        s.timeout_ms = 20000;
        sk_runner *r = open_faulty(model, &s);
        atomic_store(&faults[0].fail_after, round % 4);
        fault_begin();
        int taken = 0, ended = 0;
        for (int i = 0; i < 40; i++) {
            sk_runner_result result;
            taken += sk_runner_submit(r, &set.frames[i % 8], NULL, NULL, &err) == SK_OK;
            if (sk_runner_in_flight(r) == sk_runner_depth(r)) {
                sk_status status = sk_runner_wait(r, &result, &err);
                assert_true(status == SK_OK || status == SK_ERR_RUNTIME);
                ended++;
            }
        }
        while (sk_runner_in_flight(r)) {
            sk_runner_result result;
            sk_status status = sk_runner_wait(r, &result, &err);
            assert_true(status == SK_OK || status == SK_ERR_RUNTIME);
            ended++;
        }
        assert_int_equal(ended, taken);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* --- full queues, late frames --- */

static void test_policies(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(30, 48, 40);
    sk_runner_settings s = faulty_settings("cpu");
    s.depth = 4;
    s.when_full = SK_FULL_REFUSE;
    s.timeout_ms = 400;
    sk_runner *r = open_faulty(model, &s);
    sk_runner_result result;
    atomic_store(&faults[0].gate, 1);
    int refused = 0;
    for (int i = 0; i < 10; i++)
        refused += sk_runner_submit(r, &set.frames[i], NULL, NULL, &err) == SK_ERR_BUSY;
    assert_int_equal(refused, 6);
    /* Too late, and where: the frame stays and comes when the network moves again. */
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "'network'"));
    assert_non_null(strstr(err.message, "frame 0"));
    assert_int_equal(sk_runner_in_flight(r), 4);
    atomic_store(&faults[0].gate, 0);
    sk_clock_sleep_ns(50000000);
    for (int i = 0; i < 4; i++) {
        sk_status status;
        while ((status = sk_runner_wait(r, &result, &err)) == SK_ERR_TIMEOUT)
            continue; /* a busy machine */
        assert_int_equal(status, SK_OK);
        assert_int_equal(result.index, i);
    }
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.refused, 6);
    sk_runner_close(&r);
    free_frames(&set);
}

static void test_newest_wins(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(60, 48, 40);
    sk_runner_settings s = faulty_settings("cpu");
    s.mode = SK_PIPELINE_LATENCY;
    s.frames = SK_RUNNER_BORROW;
    s.frame_done = note_done;
    s.max_age_ms = 100000;
    forget_done();
    sk_runner *r = open_faulty(model, &s);
    atomic_store(&faults[0].gate, 1);
    sk_runner_result result;
    assert_ok(sk_runner_submit(r, &set.frames[0], NULL, NULL, &err), &err);
    while (atomic_load(&faults[0].submits) == 0)
        sk_clock_sleep_ns(1000000);
    sk_clock_sleep_ns(20000000); /* frame 0 is in the network */
    for (int i = 1; i < 50; i++) /* never blocks */
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.dropped, 48);
    atomic_store(&faults[0].gate, 0);
    assert_ok(sk_runner_wait(r, &result, &err), &err);
    assert_int_equal(result.index, 0);
    assert_ok(sk_runner_wait(r, &result, &err), &err);
    assert_int_equal(result.index, 49);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_NOT_FOUND);
    sk_runner_close(&r);
    for (int i = 0; i < 50; i++)
        assert_int_equal(atomic_load(&given_back[i]), 1);

    /* Unless every frame is asked for. */
    s.when_full = SK_FULL_BLOCK;
    r = open_faulty(model, &s);
    for (int i = 0; i < 20; i++) {
        if (i >= sk_runner_depth(r)) {
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_int_equal(result.index, i - sk_runner_depth(r));
        }
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    }
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.dropped, 0);
    sk_runner_close(&r);
    s.when_full = SK_FULL_DEFAULT;

    /* A frame that waited too long is not looked at. */
    s.max_age_ms = 400; /* longer than a busy machine makes a thread wait */
    r = open_faulty(model, &s);
    atomic_store(&faults[0].gate, 1);
    int32_t before = atomic_load(&faults[0].submits);
    assert_ok(sk_runner_submit(r, &set.frames[50], NULL, NULL, &err), &err);
    while (atomic_load(&faults[0].submits) == before)
        sk_clock_sleep_ns(1000000);
    assert_ok(sk_runner_submit(r, &set.frames[51], NULL, NULL, &err), &err);
    sk_clock_sleep_ns(600000000);
    atomic_store(&faults[0].gate, 0);
    assert_ok(sk_runner_wait(r, &result, &err), &err);
    assert_int_equal(result.index, 50);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_NOT_FOUND);
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.expired, 1);
    sk_runner_close(&r);
    free_frames(&set);
}

/* --- a reader of its own, cancelling, releasing --- */

typedef struct reader {
    sk_runner *runner;
    int64_t count, last;
    sk_status status;
} reader;

static void *read_all(void *argument)
{
    reader *me = argument;
    sk_error err;
    for (;;) {
        sk_runner_result result;
        me->status = sk_runner_next(me->runner, &result, &err);
        if (me->status != SK_OK || result.ticket < 0)
            return NULL;
        if (result.ticket <= me->last)
            me->status = SK_ERR_INTERNAL;
        me->last = result.ticket;
        me->count++;
    }
}

static void test_stream(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(10, 48, 40);
    sk_runner_settings s = tiny_settings();
    s.detector.batch = 4;
    s.batch_wait_ms = 1;
    sk_runner *r = open_runner(model, &s);
    for (int round = 0; round < 3; round++) {
        reader me = {.runner = r, .last = -1};
        pthread_t thread;
        /* The first frame opens the stream again that the last round has ended. */
        assert_ok(sk_runner_submit(r, &set.frames[0], NULL, NULL, &err), &err);
        assert_int_equal(pthread_create(&thread, NULL, read_all, &me), 0);
        for (int i = 1; i < 101; i++) {
            assert_ok(sk_runner_submit(r, &set.frames[i % 10], NULL, NULL, &err), &err);
            if (i % 30 == 0)
                sk_clock_sleep_ns(3000000); /* batches that do not fill */
        }
        sk_runner_finish(r);
        pthread_join(thread, NULL);
        assert_int_equal(me.status, SK_OK);
        assert_int_equal(me.count, 101);
    }
    sk_runner_close(&r);
    free_frames(&set);
}

static void test_cancel(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(60, 48, 40);
    sk_runner_settings s = faulty_settings("cpu,cpu");
    faults[0].delay_us = faults[1].delay_us = 500;
    s.frames = SK_RUNNER_BORROW;
    s.frame_done = note_done;
    sk_runner *r = open_faulty(model, &s);
    for (int round = 0; round < 60; round++) {
        forget_done();
        int n = 1 + round % 6;
        for (int i = 0; i < n; i++)
            assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
        sk_clock_sleep_ns((round * 37 % 11) * 100000);
        sk_runner_result result;
        int fetched = 0;
        if (round % 3 == 0)
            fetched = sk_runner_wait(r, &result, &err) == SK_OK;
        sk_runner_cancel(r);
        assert_int_equal(sk_runner_in_flight(r), 0);
        assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_NOT_FOUND);
        /* And it goes on. */
        assert_ok(sk_runner_run(r, &set.frames[59], NULL, &result, &err), &err);
        assert_int_equal(result.index, 59);
        (void)fetched;
    }
    sk_runner_close(&r);
    for (int i = 0; i < 60; i++)
        assert_true(atomic_load(&given_back[i]) <= 1);
    free_frames(&set);
}

typedef struct pusher {
    sk_runner *runner;
    frames *set;
    sk_status status;
} pusher;

static void *push_all(void *argument)
{
    pusher *me = argument;
    sk_error err;
    for (int i = 0;; i++) {
        me->status = sk_runner_submit(me->runner, &me->set->frames[i % me->set->count], NULL, NULL, &err);
        if (me->status != SK_OK)
            return NULL;
    }
}

/* Released at every moment, with one thread in submit and one in next; by two threads at once. */
static void *release(void *runner)
{
    sk_runner_release(runner);
    return NULL;
}

static void test_release_at_any_moment(void **state)
{
    (void)state;
    frames set = make_frames(16, 48, 40);
    for (int round = 0; round < 40; round++) {
        sk_runner_settings s = faulty_settings(round % 2 ? "cpu,cpu" : "cpu");
        faults[0].delay_us = faults[1].delay_us = round % 4 * 300;
        faults[0].asynchronous = round % 3 == 0;
        s.detector.batch = 1 + round % 3;
        s.frames = (sk_runner_frames)(1 + round % 3);
        s.allow_failover = round % 5 == 0;
        s.check_every = round % 8 == 7 ? 2 : 0;
        sk_runner *r = open_faulty(model, &s);
        if (round % 5 == 0)
            atomic_store(&faults[0].fail_after, round % 7);
        fault_begin();
        reader me = {.runner = r, .last = -1};
        pusher other = {.runner = r, .set = &set};
        pthread_t threads[3];
        assert_int_equal(pthread_create(&threads[0], NULL, read_all, &me), 0);
        assert_int_equal(pthread_create(&threads[1], NULL, push_all, &other), 0);
        sk_clock_sleep_ns((round * 53 % 40) * 100000);
        if (round % 4 == 1)
            sk_runner_cancel(r);
        assert_int_equal(pthread_create(&threads[2], NULL, release, r), 0);
        sk_runner_release(r);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        assert_true(other.status == SK_ERR_CANCELLED || other.status == SK_ERR_RUNTIME);
        assert_true(me.status == SK_ERR_CANCELLED || me.status == SK_ERR_RUNTIME);
        sk_error err = {0};
        sk_runner_result result;
        assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_CANCELLED);
        assert_int_equal(sk_runner_submit(r, &set.frames[0], NULL, NULL, &err), SK_ERR_CANCELLED);
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        sk_runner_release(r);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

static void *open_the_gate(void *context)
{
    (void)context;
    sk_clock_sleep_ns(60000000);
    atomic_store(&faults[0].gate, 0);
    return NULL;
}

/* A frame that was cancelled inside the network is still being computed, from the caller's pixels. */
static void test_drain_waits_for_cancelled_frames(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(1, 48, 40);
    sk_runner_settings s = faulty_settings("cpu");
    sk_runner *r = open_faulty(model, &s);
    atomic_store(&faults[0].gate, 1);
    const int32_t before = faults[0].submits;
    assert_ok(sk_runner_submit(r, &set.frames[0], NULL, NULL, &err), &err);
    while (faults[0].submits == before)
        sk_clock_sleep_ns(1000000);
    sk_runner_cancel(r);
    assert_int_equal(sk_runner_in_flight(r), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_the_gate, NULL), 0);
    assert_ok(sk_runner_drain(r, &err), &err);
    assert_int_equal(faults[0].gate, 0);
    pthread_join(thread, NULL);
    sk_runner_close(&r);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_passes),
        cmocka_unit_test(test_check_catches),
        cmocka_unit_test(test_frames_come_back_once),
        cmocka_unit_test(test_failed_device_loses_nothing),
        cmocka_unit_test(test_failure_is_told),
        cmocka_unit_test(test_last_device_fails_under_submit),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_newest_wins),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_release_at_any_moment),
        cmocka_unit_test(test_drain_waits_for_cancelled_frames),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
