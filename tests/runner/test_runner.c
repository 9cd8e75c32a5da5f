/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu.h"
#include "runner/network.h"
#include "one_model.h"

#include <sys/resource.h>

/* What comes out, in which order, with what memory. */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const bool sanitized = true;
#else
static const bool sanitized = false;
#endif
#else
static const bool sanitized = false;
#endif

/* Every frame through the runner gives the bits that the stages give one after another. */
static void compare_with_plain(const sk_runner_settings *settings)
{
    sk_error err = {0};
    frames set = make_frames(23, 48, 40);
    plain p = {0};
    plain_open(&p, model, settings, 48, 40);
    sk_runner_settings s = *settings;
    s.keep_outputs = true;
    fault_reset();
    sk_runner *r = open_faulty(model, &s);
    int64_t submitted = 0, found = 0;
    sk_runner_result result;
    for (int64_t i = 0; i < set.count; i++) {
        while (submitted < set.count && sk_runner_in_flight(r) < sk_runner_depth(r)) {
            int64_t ticket = -1;
            assert_ok(sk_runner_submit(r, &set.frames[submitted], NULL, &ticket, &err), &err);
            assert_int_equal(ticket, submitted++);
        }
        if (submitted == set.count)
            sk_runner_flush(r);
        assert_ok(sk_runner_wait(r, &result, &err), &err);
        assert_int_equal(result.ticket, i);
        assert_int_equal(result.index, i);
        plain_run(&p, &set.frames[i]);
        assert_same_instances(result.instances, &p.found);
        found += p.found.count;
        assert_int_equal(result.n_outputs, sk_session_about(p.session)->n_outputs);
        for (int k = 0; k < result.n_outputs; k++)
            assert_memory_equal(result.outputs[k].data, p.outputs[k].data, sk_tensor_bytes(&p.outputs[k]));
    }
    assert_true(found > 0);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_NOT_FOUND);
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.submitted, set.count);
    assert_int_equal(stats.delivered, set.count);
    assert_int_equal(stats.stages[SK_STAGE_NETWORK].count, set.count);
    assert_int_equal(stats.devices[0].captures, 1);
    assert_true(stats.bytes > 0);
    sk_runner_close(&r);
    plain_close(&p);
    free_frames(&set);
}

static void test_same_as_one_after_another(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    compare_with_plain(&s);
    s.detector.batch = 4; /* 23 frames: the last batch is not full */
    compare_with_plain(&s);
    s.depth = 1;
    s.detector.batch = 1;
    compare_with_plain(&s);
    s.depth = 0;
    s.devices = "cpu,cpu,cpu";
    compare_with_plain(&s);
}

/* What the tests below need of an engine's list: the names are replaced by engines with faults. */
static sk_runner_settings faulty_settings(const char *devices)
{
    sk_runner_settings s = tiny_settings();
    s.devices = devices;
    fault_reset();
    return s;
}

static void test_order_under_delays(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = faulty_settings("cpu,cpu,cpu,cpu");
    for (int i = 0; i < 4; i++)
        faults[i].delay_us = 200 + 900 * i;
    faults[2].asynchronous = true;
    s.detector.batch = 2;
    s.depth = 24;
    sk_runner *r = open_faulty(model, &s);
    frames set = make_frames(300, 48, 40);
    plain p = {0};
    plain_open(&p, model, &s, 48, 40);
    int64_t submitted = 0;
    uint32_t used = 0;
    for (int64_t i = 0; i < set.count; i++) {
        while (submitted < set.count && sk_runner_in_flight(r) < s.depth)
            assert_ok(sk_runner_submit(r, &set.frames[submitted++], NULL, NULL, &err), &err);
        if (submitted == set.count)
            sk_runner_flush(r);
        sk_runner_result result;
        assert_ok(sk_runner_wait(r, &result, &err), &err);
        assert_int_equal(result.ticket, i);
        assert_int_equal(result.index, i);
        used |= 1u << result.device;
        if (i % 10 == 0) {
            plain_run(&p, &set.frames[i]);
            assert_same_instances(result.instances, &p.found);
        }
    }
    assert_int_equal(used, 15); /* every device had some */
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_true(stats.stages[SK_STAGE_UPLOAD].count > 0 && stats.stages[SK_STAGE_DOWNLOAD].count > 0);
    sk_runner_close(&r);
    plain_close(&p);
    free_frames(&set);
}

/* Opening warms up, runs once more, captures once; a new shape captures anew, one that was there before does not, and each
 * is run by its own trace. */
static void test_trace(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = faulty_settings("cpu");
    assert_int_equal(s.detector.rect, SK_RECT_AUTO); /* the network's shape follows the frame's */
    s.detector.height = s.detector.width = 64;
    s.keep_outputs = true;
    sk_runner *r = open_faulty(model, &s);
    assert_int_equal(atomic_load(&faults[0].captured), 1);
    sk_frame wide = make_frame(64, 16, 0), tall = make_frame(16, 64, 1);
    const sk_frame *order[] = {&wide, &tall, &wide, &wide, &tall, &tall};
    plain a = {0}, b = {0};
    plain_open(&a, model, &s, 64, 16);
    plain_open(&b, model, &s, 16, 64);
    for (int i = 0; i < 6; i++)
        if (i < 4)
            assert_ok(sk_runner_submit(r, order[i], NULL, NULL, &err), &err);
    for (int i = 0; i < 6; i++) {
        sk_runner_result result;
        if (i >= 4)
            assert_ok(sk_runner_submit(r, order[i], NULL, NULL, &err), &err);
        assert_ok(sk_runner_wait(r, &result, &err), &err);
        plain *p = order[i] == &wide ? &a : &b;
        plain_run(p, order[i]);
        assert_same_instances(result.instances, &p->found);
        assert_int_equal(result.outputs[0].dim[1], p->outputs[0].shape.dim[2]);
        assert_memory_equal(result.outputs[0].data, p->outputs[0].data, sk_tensor_bytes(&p->outputs[0]));
    }
    sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.devices[0].captures, 3); /* opening's, wide, tall; both are kept */
    assert_int_equal(atomic_load(&faults[0].captured), 3);
    assert_true(stats.devices[0].warm_up_ms > 0 && stats.devices[0].optimised_ms > 0);
    assert_true(!stats.devices[0].replays_from_open && stats.devices[0].capture_ms > 0);
    sk_runner_close(&r);
    s = tiny_settings(); /* an engine that replays from the start has no such phase, and no time of it */
    r = open_runner(model, &s);
    sk_runner_get_stats(r, &stats);
    assert_true(stats.devices[0].replays_from_open && stats.devices[0].optimised_ms > 0);
    assert_true(stats.devices[0].capture_ms == 0);
    sk_runner_close(&r);
    plain_close(&a);
    plain_close(&b);
    free(wide.data);
    free(tall.data);
}

static sk_status build_nothing(const void *onnx, size_t length, int32_t batch, const char *metadata,
                               const sk_session_settings *settings, void (*progress)(void *, double),
                               void *context, uint8_t **out, size_t *out_length, sk_error *err)
{
    (void)onnx, (void)length, (void)batch, (void)metadata, (void)settings, (void)progress, (void)context;
    (void)out, (void)out_length;
    return sk_fail(err, SK_ERR_UNSUPPORTED, "nothing is built here");
}

/* An engine that runs files made for one size is given squares, unless rectangles are asked for; and weights that were
 * given back are read again for a shape nobody expected, unless the file is another by then. */
static void test_shapes(void **state)
{
    (void)state;
    sk_error err = {0};
    const sk_engine_form form = {.name = "onnx"}, built = {.name = "plan", .build = build_nothing};
    sk_engine native = sk_engine_reference, files = native, plans = native;
    files.form = &form;
    files.can.free_shapes = plans.can.free_shapes = false;
    plans.form = &built;
    sk_model onnx = *model, fixed = *model;
    onnx.format = SK_FORMAT_ONNX;
    fixed.input.fixed_size = 1;
    assert_int_equal(sk_net_rect(SK_RECT_AUTO, model, &native), SK_RECT_ON);
    assert_int_equal(sk_net_rect(SK_RECT_OFF, model, &native), SK_RECT_OFF);
    assert_int_equal(sk_net_rect(SK_RECT_AUTO, model, &files), SK_RECT_OFF);
    assert_int_equal(sk_net_rect(SK_RECT_ON, model, &files), SK_RECT_ON);
    assert_int_equal(sk_net_rect(SK_RECT_AUTO, &onnx, &files), SK_RECT_ON);
    assert_int_equal(sk_net_rect(SK_RECT_AUTO, &onnx, &plans), SK_RECT_OFF);
    assert_int_equal(sk_net_rect(SK_RECT_ON, &fixed, &native), SK_RECT_OFF);

    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    sk_model *lean = NULL;
    assert_ok(sk_model_open(yolo_save(&fixture, "lean.pt"), &lean, &err), &err);
    sk_runner_settings s = tiny_settings();
    s.detector.height = s.detector.width = 64;
    sk_runner *r = open_runner(lean, &s);
    sk_model_forget_network(lean);
    sk_frame wide = make_frame(64, 16, 0), tall = make_frame(16, 64, 1);
    plain p = {0};
    plain_open(&p, model, &s, 64, 16);
    plain_run(&p, &wide);
    sk_runner_result result;
    assert_ok(sk_runner_run(r, &wide, NULL, &result, &err), &err);
    assert_same_instances(result.instances, &p.found);
    const yolo_fixture other = {.head = "Pose", .fused = true};
    (void)yolo_save(&other, "lean.pt");
    assert_int_equal(sk_runner_run(r, &tall, NULL, &result, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "was changed since"));
    sk_runner_close(&r);
    sk_model_close(&lean);
    plain_close(&p);
    free(wide.data);
    free(tall.data);
}

static void test_key_guards_trace(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = tiny_settings();
    sk_runner *r = open_runner(model, &s);
    sk_trace *t = &r->lanes[0].trace;
    sk_trace_key key = t->key;
    assert_true(sk_trace_fits(t, &key));
    key.width += 2;
    assert_false(sk_trace_fits(t, &key));
    const sk_session_input in = {.data = r->lanes[0].jobs[0].input};
    assert_int_equal(sk_trace_submit(t, &key, &in, &err), SK_ERR_INTERNAL);
    key = t->key;
    key.model[0] ^= 1; /* another model's */
    assert_int_equal(sk_trace_submit(t, &key, &in, &err), SK_ERR_INTERNAL);
    sk_runner_close(&r);
}

static void test_unsteady_engine_is_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner *r = NULL;
    sk_runner_settings s = faulty_settings("cpu");
    faults[0].kind = FAULT_UNSTEADY;
    fault_begin();
    const sk_model *m = model;
    assert_int_equal(sk_runner_open_on(&m, 1, &s, fault_engines, &r, &err), SK_ERR_MISMATCH);
    assert_non_null(strstr(err.message, "two runs"));
    assert_null(r);
    fault_reset();
    faults[0].kind = FAULT_MOVES; /* addresses are part of the trace */
    r = open_faulty(model, &s);
    fault_begin();
    sk_frame f = make_frame(48, 40, 0);
    sk_runner_result result;
    sk_status status = SK_OK;
    for (int i = 0; i < 8 && status == SK_OK; i++) /* each slot's place is known from its first replay on */
        status = sk_runner_run(r, &f, NULL, &result, &err);
    assert_int_equal(status, SK_ERR_INTERNAL);
    assert_non_null(strstr(err.message, "moved"));
    sk_runner_close(&r);
    free(f.data);
}

/* --- memory --- */

static void stream(sk_runner *r, frames *set, int64_t count)
{
    sk_error err = {0};
    sk_runner_result result;
    for (int64_t i = 0; i < count; i++) {
        if (sk_runner_in_flight(r) == sk_runner_depth(r) && sk_runner_wait(r, &result, &err) != SK_OK)
            fail_msg("%s", err.message);
        if (sk_runner_submit(r, &set->frames[i % set->count], NULL, NULL, &err) != SK_OK)
            fail_msg("%s", err.message);
    }
    sk_runner_flush(r);
    while (sk_runner_in_flight(r))
        if (sk_runner_wait(r, &result, &err) != SK_OK)
            fail_msg("%s", err.message);
}

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void check_memory(const sk_runner_settings *settings, int64_t count)
{
    sk_runner *r = open_runner(model, settings);
    frames set = make_frames(8, 48, 40);
    stream(r, &set, 64);
    uint64_t allocations = sk_memory_allocations();
    int64_t live = sk_memory_live_bytes();
    /* The system may take a page away or merge some at any moment; a fault of ours would come in every round. */
    long faulted = 1;
    for (int round = 0; round < 6 && faulted; round++) {
        faulted = page_faults();
        stream(r, &set, count);
        faulted = page_faults() - faulted;
    }
    assert_int_equal(sk_memory_allocations() - allocations, 0);
    assert_int_equal(sk_memory_live_bytes(), live);
    if (!sanitized) /* sanitizers touch memory of their own */
        assert_int_equal(faulted, 0);
    sk_runner_close(&r);
    free_frames(&set);
}

static void test_no_allocation_no_fault(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    check_memory(&s, 2000);
    s.detector.batch = 3;
    s.keep_outputs = true;
    s.devices = "cpu,cpu";
    s.timeline = 100;
    check_memory(&s, 2000);
    s.frames = SK_RUNNER_BORROW;
    s.mode = SK_PIPELINE_LATENCY;
    s.when_full = SK_FULL_BLOCK;
    s.detector.batch = 1;
    check_memory(&s, 500);
}

static sk_status open_and_run(void *context, sk_error *err)
{
    const sk_model *m = context;
    sk_runner_settings s = tiny_settings();
    s.devices = "cpu,cpu";
    s.keep_outputs = true;
    s.timeline = 16;
    s.check_every = 1;
    sk_runner *r = NULL;
    sk_frame f = make_frame(48, 40, 3);
    sk_runner_result result;
    sk_status status = sk_runner_open(&m, 1, &s, &r, err);
    if (status == SK_OK)
        status = sk_runner_run(r, &f, NULL, &result, err);
    sk_runner_close(&r);
    free(f.data);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    int n = test_every_allocation(open_and_run, model);
    assert_true(n > 20);
}

static void test_bad_arguments(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner *r = NULL;
    const sk_model *m = model;
    sk_runner_settings s = tiny_settings();
    s.size = 4;
    assert_int_equal(sk_runner_open(&m, 1, &s, &r, &err), SK_ERR_ARG);
    s = tiny_settings();
    s.devices = "gpu9";
    assert_int_equal(sk_runner_open(&m, 1, &s, &r, &err), SK_ERR_ARG);
    s = tiny_settings();
    s.devices = "cpu:4096";
    assert_int_not_equal(sk_runner_open(&m, 1, &s, &r, &err), SK_OK);
    s = tiny_settings();
    s.detector.batch = 4;
    s.depth = 2;
    assert_int_equal(sk_runner_open(&m, 1, &s, &r, &err), SK_ERR_ARG);
    s = tiny_settings();
    s.pcc_min = 2;
    assert_int_equal(sk_runner_open(&m, 1, &s, &r, &err), SK_ERR_ARG);
    s = tiny_settings();
    r = open_runner(model, &s);
    sk_frame f = make_frame(48, 40, 0);
    sk_frame bad = f;
    bad.stride = 10;
    assert_int_equal(sk_runner_submit(r, &bad, NULL, NULL, &err), SK_ERR_ARG);
    bad = f;
    bad.format = SK_PIXEL_NONE;
    assert_int_equal(sk_runner_submit(r, &bad, NULL, NULL, &err), SK_ERR_ARG);
    bad = f;
    bad.data = NULL;
    assert_int_equal(sk_runner_submit(r, &bad, NULL, NULL, &err), SK_ERR_ARG);
    sk_runner_close(&r);
    sk_runner_close(&r);
    sk_runner_release(NULL);
    free(f.data);
}

/* "auto" takes as many instances as find room, at least one. */
static void test_auto_keeps_memory_in_view(void **state)
{
    (void)state;
    int32_t cores = sk_cpu_usable_cores() < 8 ? sk_cpu_usable_cores() : 8;
    sk_runner_settings s = tiny_settings();
    s.devices = "auto";
    s.detector.threads = 0;
    frames set = make_frames(6, 48, 40);
    sk_runner_stats stats;
    int64_t each = 0;
    for (int round = 0; round < 3; round++) {
        sk_error err = {0};
        sk_runner_auto_memory = round == 0 ? 0 : round == 1 ? 1 : each * cores;
        sk_runner *r = open_runner(model, &s);
        sk_runner_get_stats(r, &stats);
        assert_int_equal(stats.n_devices, round == 1 ? 1 : cores);
        assert_int_equal(stats.devices[0].threads,
                         round == 1 ? sk_cpu_usable_cores() : sk_cpu_usable_cores() / cores);
        each = r->lanes[0].activation_bytes;
        assert_true(each > 0);
        for (int i = 0; i < set.count; i++) {
            sk_runner_result result;
            assert_ok(sk_runner_run(r, &set.frames[i], NULL, &result, &err), &err);
        }
        sk_runner_close(&r);
    }
    sk_runner_auto_memory = 0;
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_one_after_another),
        cmocka_unit_test(test_order_under_delays),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_key_guards_trace),
        cmocka_unit_test(test_unsteady_engine_is_refused),
        cmocka_unit_test(test_no_allocation_no_fault),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_auto_keeps_memory_in_view),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
