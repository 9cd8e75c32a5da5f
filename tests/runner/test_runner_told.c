/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/clock.h"
#include "runner/offer.h"

#include <math.h>

/* What the runner says of itself: refusals in words, names of outputs, figures that add up. */

static sk_runner_settings
waiting(void) /* a batch that is never full: frames stay where they are until somebody flushes */
{
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.detector.batch = 4;
    s.batch_wait_ms = 3600000;
    s.depth = 6;
    return s;
}

static void a_single_one_needs_the_runner_alone(void **state)
{
    (void)state;
    sk_runner_settings s = waiting();
    sk_runner *r = open_runner(model, &s);
    sk_frame f = make_frame(48, 40, 9);
    sk_error err = {0};
    sk_runner_result result;
    int64_t ticket = -1;
    const sk_runner_call alone = {.alone = true};
    assert_ok(sk_runner_submit(r, &f, NULL, &ticket, &err), &err);
    assert_int_equal(ticket, 0);
    assert_int_equal(sk_runner_run(r, &f, NULL, &result, &err), SK_ERR_BUSY);
    assert_string_equal(err.message, "frames are in flight: fetch them before running a single one");
    assert_int_equal(sk_runner_submit(r, &f, &alone, &ticket, &err), SK_ERR_BUSY);
    assert_string_equal(err.message, "frames are in flight: take them before running a single one");
    assert_int_equal(sk_runner_in_flight(r), 1);
    sk_runner_flush(r);
    assert_ok(sk_runner_wait(r, &result, &err), &err);
    assert_int_equal(result.ticket, 0);
    assert_ok(sk_runner_run(r, &f, NULL, &result, &err), &err);
    assert_int_equal(result.ticket, 1);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, "no frame is in flight: submit one first");
    assert_int_equal(result.ticket, -1);
    assert_int_equal(result.device, -1);
    assert_ok(sk_runner_submit(r, &f, &alone, &ticket, &err), &err);
    sk_runner_flush(r);
    assert_ok(sk_runner_take_one(r, ticket, &result, &err), &err);
    assert_int_equal(result.ticket, 2);
    assert_non_null(result.hold);
    sk_runner_end_result(r, &result);
    assert_null(result.hold);
    sk_runner_end_result(r, &result);
    assert_int_equal(sk_runner_take_one(r, ticket, &result, &err), SK_ERR_CANCELLED);
    sk_runner_close(&r);
    free(f.data);
}

static void who_waits_is_told_why(void **state)
{
    (void)state;
    sk_runner_settings s = waiting();
    s.timeout_ms = 60;
    s.when_full = SK_FULL_REFUSE;
    s.depth = 4;
    s.detector.batch = 4;
    sk_runner *r = open_runner(model, &s);
    sk_frame f = make_frame(48, 40, 7);
    sk_error err = {0};
    sk_runner_result result;
    assert_false(sk_runner_is_ready(r));
    assert_ok(sk_runner_submit(r, &f, NULL, NULL, &err), &err);
    int64_t begin = sk_clock_ns();
    assert_int_equal(sk_runner_take(r, 0, &result, &err), SK_ERR_BUSY);
    assert_string_equal(err.message, "no result yet: 1 frames are in flight");
    assert_int_equal(sk_runner_take(r, 20, &result, &err), SK_ERR_BUSY);
    assert_true(sk_clock_ns() - begin >= 20000000);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_TIMEOUT);
    assert_true(sk_clock_ns() - begin >= 60000000);
    assert_non_null(strstr(err.message, "frame 7: no result after "));
    assert_non_null(strstr(err.message, " ms (limit 60 ms): it is in the stage 'queue' (no device yet)"));
    long long after = -1;
    assert_int_equal(sscanf(err.message, "frame 7: no result after %lld ms", &after), 1);
    assert_true(after >= 60 && after < 60000);
    assert_false(sk_runner_is_ready(r));
    sk_runner_flush(r);
    assert_ok(sk_runner_drain(r, &err), &err);
    assert_true(sk_runner_is_ready(r));
    for (int i = 0; i < 3; i++)
        assert_ok(sk_runner_submit(r, &f, NULL, NULL, &err), &err);
    assert_int_equal(sk_runner_submit(r, &f, NULL, NULL, &err), SK_ERR_BUSY);
    assert_string_equal(err.message, "all 4 frames are in flight: wait for one first");
    sk_runner_finish(r);
    for (int i = 0; i < 4; i++) {
        sk_status status;
        while ((status = sk_runner_take(r, -1, &result, &err)) == SK_ERR_TIMEOUT)
            continue; /* a busy machine */
        assert_ok(status, &err);
        assert_int_equal(result.ticket, i);
        sk_runner_end_result(r, &result);
    }
    assert_true(sk_runner_is_ready(r)); /* to tell that this was all */
    assert_ok(sk_runner_take(r, 0, &result, &err), &err);
    assert_int_equal(result.ticket, -1);
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_true(stats.submitted == 4 && stats.delivered == 4 && stats.refused == 1 && stats.dropped == 0 &&
                stats.cancelled == 0 && stats.failed == 0 && stats.checks == 0);
    assert_ok(sk_runner_submit(r, &f, NULL, NULL, &err), &err); /* the stream goes on */
    assert_false(sk_runner_is_ready(r));
    sk_runner_cancel(r);
    assert_int_equal(sk_runner_in_flight(r), 0);
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.cancelled, 1);
    sk_runner_release(r);
    assert_true(sk_runner_is_ready(r));
    assert_int_equal(sk_runner_submit(r, &f, NULL, NULL, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "the pipeline was released");
    assert_int_equal(sk_runner_drain(r, &err), SK_ERR_CANCELLED);
    sk_runner_close(&r);
    free(f.data);
}

static void outputs_come_with_their_names(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.keep_outputs = true;
    s.detector.batch = 2;
    sk_runner *r = open_runner(model, &s);
    sk_frame f = make_frame(48, 40, 1);
    sk_error err = {0};
    sk_runner_result result;
    assert_ok(sk_runner_run(r, &f, NULL, &result, &err), &err);
    const sk_session_info *info = sk_session_about(r->lanes[0].trace.session);
    assert_int_equal(result.n_outputs, info->n_outputs);
    for (int32_t i = 0; i < info->n_outputs; i++) {
        const sk_tensor_view *o = &result.outputs[i];
        assert_string_equal(o->name, info->output_names[i]);
        assert_int_equal(o->element, SK_ELEMENT_F32);
        assert_int_equal(o->rank, info->outputs[i].shape.rank - 1);
        for (int32_t k = 0; k < o->rank; k++)
            assert_int_equal(o->dim[k], info->outputs[i].shape.dim[k + 1]);
        for (int32_t k = 0; k < i; k++)
            assert_ptr_not_equal(o->data, result.outputs[k].data);
    }
    sk_runner_close(&r);
    free(f.data);
}

/* Bytes are those of inputs, activations, and of what frames and results take, each once. */
static void bytes_are_counted_once(void **state)
{
    (void)state;
    for (int kept = 0; kept < 2; kept++) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = true;
        s.keep_outputs = kept;
        s.devices = kept ? "cpu*2" : "cpu";
        sk_runner *r = open_runner(model, &s);
        static sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        int64_t bytes = 0, outputs = 0;
        for (int32_t i = 0; i < r->n_lanes; i++) {
            const sk_session_info *info = sk_session_about(r->lanes[i].trace.session);
            bytes += (int64_t)info->activation_bytes + r->lanes[i].n_jobs * 32 * 32 * 3;
            for (int32_t k = 0; k < info->n_outputs && i == 0; k++)
                outputs += sk_shape_count(&info->outputs[k].shape) * (int64_t)sizeof(float);
        }
        const int64_t each =
            48 * 40 * 3 + (kept ? outputs : 0) +
            r->capacity * (int64_t)(sizeof(sk_found) + (size_t)r->n_keypoints * sizeof(sk_keypoint));
        bytes += (sk_runner_depth(r) + 1) * each; /* one is with the reader */
        assert_int_equal(stats.bytes, bytes);
        assert_int_equal(stats.n_devices, 1 + kept);
        for (int32_t i = 0; i < stats.n_devices; i++) {
            const sk_runner_device_stats *d = &stats.devices[i];
            const sk_session_info *info = sk_session_about(r->lanes[i].trace.session);
            assert_string_equal(d->name, r->lanes[i].device.name);
            assert_string_equal(d->detail, info->detail);
            assert_int_equal(d->threads, info->threads);
            assert_true(!d->failed && d->problem[0] == 0 && d->frames == 0 && d->captures == 1);
            assert_true(d->warm_up_ms > 0 && d->replays_from_open);
        }
        sk_runner_close(&r);
    }
}

/* Every moment of a frame's way lies behind the one before, and stages' times are those between them. */
static void times_add_up(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.check_every = 2;
    s.frames = SK_RUNNER_HOLD;
    sk_runner *r = open_runner(model, &s);
    frames set = make_frames(6, 48, 40);
    sk_error err = {0};
    double latency = 0;
    for (int i = 0; i < set.count; i++) {
        sk_runner_result result;
        int mark = i;
        const sk_runner_call call = {.user = &mark};
        assert_ok(sk_runner_submit(r, &set.frames[i], &call, NULL, &err), &err);
        sk_runner_flush(r);
        assert_ok(sk_runner_take(r, -1, &result, &err), &err);
        const sk_item *item = result.hold;
        for (int k = 1; k <= SK_AT_POST; k++)
            assert_true(item->at[k] >= item->at[k - 1]);
        assert_true(item->at[SK_AT_DONE] >= item->at[SK_AT_POST]);
        assert_ptr_equal(result.user, &mark);
        assert_ptr_equal(result.frame, &set.frames[i]);
        assert_int_equal(result.check->ran, i % 2 == 0);
        assert_true(fabs(result.latency_ms - (double)(item->at[SK_AT_DONE] - item->at[SK_AT_SUBMIT]) * 1e-6) <
                    1e-9);
        latency += result.latency_ms;
        sk_runner_end_result(r, &result);
    }
    static sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.checks, 3);
    assert_int_equal(stats.checks_failed, 0);
    assert_true(stats.worst_pcc > 0.9999 && stats.worst_pcc <= 1);
    assert_int_equal(stats.stages[SK_STAGE_CHECK].count, 3);
    static const sk_stage always[] = {SK_STAGE_QUEUE,       SK_STAGE_PRE,       SK_STAGE_WAIT_NETWORK,
                                      SK_STAGE_NETWORK,     SK_STAGE_WAIT_POST, SK_STAGE_POST,
                                      SK_STAGE_WAIT_READER, SK_STAGE_TOTAL};
    double parts = 0;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        assert_int_equal(stats.stages[always[i]].count, set.count);
        parts += always[i] == SK_STAGE_TOTAL || always[i] == SK_STAGE_WAIT_READER
                     ? 0
                     : stats.stages[always[i]].sum;
    }
    assert_true(fabs(stats.stages[SK_STAGE_TOTAL].sum - latency) < 1e-6 * latency + 1e-9);
    assert_true(parts <= latency);
    for (int stage = SK_STAGE_CROPS; stage < SK_STAGE_COUNT; stage++)
        assert_int_equal(stats.stages[stage].count, 0); /* of a second model */
    sk_runner_close(&r);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_single_one_needs_the_runner_alone),
        cmocka_unit_test(who_waits_is_told_why),
        cmocka_unit_test(outputs_come_with_their_names),
        cmocka_unit_test(bytes_are_counted_once),
        cmocka_unit_test(times_add_up),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
