/* SPDX-License-Identifier: Apache-2.0 */
#include "two_models.h"

/* The second model is a stage of its own: it has runs in flight, times of its own, and a name when it is late. */

enum { SECOND_SESSION = 1 };

static sk_runner *open_gated(const sk_runner_settings *s)
{
    sk_runner *r = open_two(s);
    assert_int_equal(atomic_load(&faults[0].opened), SECOND_SESSION + 1);
    faults[0].gate_from = SECOND_SESSION;
    atomic_store(&faults[0].later, 0);
    atomic_store(&faults[0].gate, 1);
    return r;
}

static void wait_for(_Atomic int32_t *number, int32_t least)
{
    for (int i = 0; i < 5000 && atomic_load(number) < least; i++)
        sk_clock_sleep_ns(2000000);
}

/* While the second network works on one frame's crops, it has got the next ones already, and the first network goes on. */
static void test_runs_in_flight(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(12, 48, 40);
    sk_runner_settings s = two_settings();
    s.devices = "cpu";
    s.depth = 12;
    faults[0].asynchronous = true;
    plain_two p = {0};
    plain_two_open(&p, &s);
    sk_runner *r = open_gated(&s);
    const int32_t before = atomic_load(&faults[0].submits);
    for (int i = 0; i < set.count; i++)
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    wait_for(&faults[0].later, 3);
    assert_int_equal(atomic_load(&faults[0].later), 3); /* its slots; the first of them has not answered */
    wait_for(&faults[0].submits, before + 3 + 4);
    assert_true(atomic_load(&faults[0].submits) - before - 3 >= 4); /* frames in the first network */
    atomic_store(&faults[0].gate, 0);
    for (int64_t i = 0; i < set.count; i++)
        expect_as_plain(r, &p, &set, i);
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    for (int stage = SK_STAGE_CROPS; stage < SK_STAGE_COUNT; stage++)
        assert_int_equal(stats.stages[stage].count, set.count);
    assert_true(stats.stages[SK_STAGE_SECOND].max > stats.stages[SK_STAGE_NETWORK].max); /* the gate */
    assert_string_equal(sk_stage_name(SK_STAGE_SECOND), "second network");
    sk_runner_close(&r);
    plain_two_close(&p);
    free_frames(&set);
}

static void test_late_second_network_is_named(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(2, 48, 40);
    sk_runner_settings s = two_settings();
    s.devices = "cpu";
    s.timeout_ms = 400;
    faults[0].asynchronous = true;
    sk_runner *r = open_gated(&s);
    sk_runner_result result;
    for (int i = 0; i < 2; i++)
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    wait_for(&faults[0].later, 1);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "'second network'"));
    atomic_store(&faults[0].gate, 0);
    for (int i = 0; i < 2; i++) {
        sk_status status;
        while ((status = sk_runner_wait(r, &result, &err)) == SK_ERR_TIMEOUT)
            continue; /* a busy machine */
        assert_int_equal(status, SK_OK);
    }
    sk_runner_close(&r);
    free_frames(&set);
}

/* Cancelled and released with runs of crops in flight. */
static void test_ends_with_runs_in_flight(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(8, 48, 40);
    for (int kind = 0; kind < 2; kind++) {
        sk_runner_settings s = two_settings();
        s.devices = "cpu";
        s.depth = 8;
        s.check_every = 2; /* the checker is held over a frame's runs */
        faults[0].asynchronous = true;
        sk_runner *r = open_gated(&s);
        for (int i = 0; i < set.count; i++)
            assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
        wait_for(&faults[0].later, 2);
        if (kind)
            sk_runner_cancel(r);
        atomic_store(&faults[0].gate, 0);
        if (kind) { /* and goes on */
            sk_runner_result result;
            assert_ok(sk_runner_submit(r, &set.frames[3], NULL, NULL, &err), &err);
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_int_equal(result.index, 3);
        }
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* A device that works by itself and fails with crops in flight: the other one does all of it. */
static void test_fails_with_runs_in_flight(void **state)
{
    (void)state;
    sk_error err = {0};
    frames set = make_frames(30, 48, 40);
    for (int after = 0; after < 14; after += 3) {
        sk_runner_settings s = two_settings();
        s.devices = "cpu,cpu";
        s.allow_failover = true;
        s.detector.batch = 1 + after % 2;
        faults[1].asynchronous = true;
        plain_two p = {0};
        plain_two_open(&p, &s);
        sk_runner *r = open_two(&s);
        atomic_store(&faults[1].fail_after, after);
        faults[0].delay_us = 300;
        fault_begin();
        int64_t submitted = 0;
        for (int64_t i = 0; i < set.count; i++) {
            while (submitted < set.count && sk_runner_in_flight(r) < sk_runner_depth(r))
                assert_ok(sk_runner_submit(r, &set.frames[submitted++], NULL, NULL, &err), &err);
            if (submitted == set.count)
                sk_runner_flush(r);
            sk_runner_result result;
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_int_equal(result.ticket, i);
            if (i % 5 == 0) {
                plain_two_run(&p, &set.frames[i]);
                assert_same_instances(result.instances, &p.second.found);
            }
        }
        sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_true(stats.devices[1].failed && stats.moved >= 1);
        sk_runner_close(&r);
        plain_two_close(&p);
    }
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_in_flight),
        cmocka_unit_test(test_late_second_network_is_named),
        cmocka_unit_test(test_ends_with_runs_in_flight),
        cmocka_unit_test(test_fails_with_runs_in_flight),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
