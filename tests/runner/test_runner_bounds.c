/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/clock.h"
#include "runner/check.h"

#include <math.h>
#include <unistd.h>

/* At exactly the bound: correlations, plans of results, memory for instances, frames that wait; and times in their units. */

static sk_error err;

/* Results as planned fit; more, or others, are an error of ours, and not kept. */
static void plans_of_results_are_held_to(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    sk_runner *r = open_runner(model, &s);
    sk_lane *lane = &r->lanes[0];
    assert_ok(sk_lane_open_post(lane, 48, 40, &err), &err);
    const int32_t capacity = sk_task_stage_plan(lane->post)->capacity, points = r->n_keypoints;
    assert_true(capacity > 1 && points > 1 && capacity <= r->capacity);
    for (int two = 0; two < 2; two++) {
        const struct {
            int32_t capacity, points;
            bool good;
        } rows[] = {{capacity, points, true},      {capacity + 1, points, true},
                    {capacity - 1, points, false}, {capacity, points + 1, false},
                    {capacity, points - 1, false}, {capacity - 1, points + 1, false}};
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            char words[96];
            r->n_models = 1 + two;
            *(two ? &r->found_capacity : &r->capacity) = rows[i].capacity;
            *(two ? &r->found_keypoints : &r->n_keypoints) = rows[i].points;
            *(two ? &r->capacity : &r->found_capacity) = 0; /* which are the other model's */
            *(two ? &r->n_keypoints : &r->found_keypoints) = 0;
            lane->post_width = 0;
            const sk_status status = sk_lane_open_post(lane, 48, 40, &err);
            assert_int_equal(status, rows[i].good ? SK_OK : SK_ERR_INTERNAL);
            assert_int_equal(lane->post_width, rows[i].good ? 48 : 0);
            assert_int_equal(lane->post_height, rows[i].good ? 40 : 0);
            snprintf(words, sizeof words, "results of %d x %d where %d x %d were planned", capacity, points,
                     rows[i].capacity, rows[i].points);
            if (!rows[i].good)
                assert_string_equal(err.message, words);
        }
    }
    r->n_models = 1, r->capacity = capacity, r->n_keypoints = points;
    assert_ok(sk_lane_open_post(lane, 48, 40, &err), &err);
    const sk_task_stage *kept = lane->post;
    assert_ok(sk_lane_open_post(lane, 48, 40, &err), &err);
    assert_ptr_equal(lane->post, kept);
    assert_ok(sk_lane_open_post(lane, 48, 44, &err), &err);
    assert_true(lane->post_width == 48 && lane->post_height == 44);
    assert_ok(sk_lane_open_post(lane, 52, 44, &err), &err);
    assert_true(lane->post_width == 52 && lane->post_height == 44);
    sk_runner_close(&r);
}

/* Pixels in a GPU's memory: whatever would have to read them here refuses them, each reason by itself. */
static void frames_on_a_device_are_not_read_here(void **state)
{
    (void)state;
    static const sk_runner_call check = {.check_pcc = true}, copy = {.copy = true}, plain_call = {0};
    for (int i = 0; i < 8; i++) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = true;
        s.frames = i == 1 ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
        s.check_every = i == 2;
        s.allow_failover = i == 3;
        sk_runner *r = open_runner(model, &s);
        sk_frame f = make_frame(48, 40, 6), here = f;
        sk_runner_result result;
        f.place = SK_PLACE_CUDA;
        const sk_runner_call *call = i == 4 ? &check : i == 5 ? &copy : i == 7 ? &plain_call : NULL;
        if (i == 0 || i == 7) { /* no reason: it comes as far as the device, which is none of a GPU's */
            assert_int_equal(sk_runner_run(r, &f, call, &result, &err), SK_ERR_UNSUPPORTED);
            assert_null(strstr(err.message, "give RGB in memory"));
        } else {
            r->n_models = i == 6 ? 2 : 1;
            assert_int_equal(sk_runner_submit(r, &f, call, NULL, &err), SK_ERR_UNSUPPORTED);
            r->n_models = 1;
            assert_string_equal(err.message,
                                "frame 6 lies in a GPU's memory: such frames are not copied, "
                                "cropped, checked or moved to another device; give RGB in memory");
            assert_int_equal(sk_runner_in_flight(r), 0);
        }
        assert_ok(sk_runner_run(r, &here, NULL, &result, &err), &err);
        sk_runner_close(&r);
        free(f.data);
    }
}

/* The newest alone counts where time does, and only if frames may be dropped; else all that find room are looked at. */
static void who_waits_is_dropped_for_time_alone(void **state)
{
    (void)state;
    static const struct {
        sk_pipeline_mode mode;
        sk_pipeline_full when_full;
        int dropped;
    } rows[] = {
        {SK_PIPELINE_THROUGHPUT, SK_FULL_DROP_OLDEST, 0}, {SK_PIPELINE_THROUGHPUT, SK_FULL_BLOCK, 0},
        {SK_PIPELINE_THROUGHPUT, SK_FULL_REFUSE, 0},      {SK_PIPELINE_LATENCY, SK_FULL_REFUSE, 0},
        {SK_PIPELINE_LATENCY, SK_FULL_BLOCK, 0},          {SK_PIPELINE_LATENCY, SK_FULL_DROP_OLDEST, 1}};
    frames set = make_frames(5, 48, 40);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = true;
        s.mode = rows[i].mode, s.when_full = rows[i].when_full;
        s.detector.batch = 8, s.depth = 8;
        s.batch_wait_ms = 3600000, s.max_age_ms = 0; /* nobody begins before the flush */
        fault_reset();
        sk_runner *r = open_faulty(model, &s);
        const int32_t before = atomic_load(&faults[0].submits);
        atomic_store(&faults[0].gate, 1);
        static sk_runner_stats stats;
        sk_runner_result result;
        for (int k = 0; k < 5; k++) {
            assert_ok(sk_runner_submit(r, &set.frames[k], NULL, NULL, &err), &err);
            while (k == 0 && rows[i].mode == SK_PIPELINE_LATENCY && /* which begins with what there is */
                   atomic_load(&faults[0].submits) == before)
                sk_clock_sleep_ns(1000000);
        }
        sk_runner_get_stats(r, &stats);
        assert_int_equal(stats.dropped > 0, rows[i].dropped);
        assert_int_equal(sk_runner_in_flight(r) + stats.dropped, 5);
        atomic_store(&faults[0].gate, 0);
        sk_runner_flush(r);
        int last = -1;
        while (sk_runner_in_flight(r)) {
            assert_ok(sk_runner_wait(r, &result, &err), &err);
            assert_true(rows[i].dropped ? result.index > last : result.index == last + 1);
            last = (int)result.index;
        }
        assert_int_equal(last, 4);
        sk_runner_close(&r);
    }
    free_frames(&set);
}

/* A millisecond is a limit, too; none is none. */
static void the_shortest_patience(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.detector.batch = 2, s.depth = 2;
    s.batch_wait_ms = 3600000; /* it is not begun before the flush */
    s.timeout_ms = 1;
    sk_runner *r = open_runner(model, &s);
    sk_frame f = make_frame(48, 40, 2);
    sk_runner_result result;
    assert_ok(sk_runner_submit(r, &f, NULL, NULL, &err), &err);
    alarm(60);
    assert_int_equal(sk_runner_wait(r, &result, &err), SK_ERR_TIMEOUT);
    alarm(0);
    assert_int_equal(sk_runner_in_flight(r), 1);
    sk_runner_close(&r);
    free(f.data);
}

/* Copies and checks are told in what they take: more than nothing, less than passed meanwhile. */
static void times_are_in_their_units(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.keep_outputs = true;
    s.check_every = 1;
    sk_runner *r = open_runner(model, &s);
    frames set = make_frames(3, 48, 40);
    static sk_runner_stats stats;
    const int64_t begin = sk_clock_ns();
    for (int i = 0; i < 3; i++) {
        sk_runner_result result;
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
        sk_runner_flush(r);
        assert_ok(sk_runner_take(r, -1, &result, &err), &err);
        const sk_item *item = result.hold;
        const double whole = (double)(item->at[SK_AT_DONE] - item->at[SK_AT_SUBMIT]) * 1e-9;
        assert_true(item->upload > 0 && item->upload <= whole);
        assert_true(item->copying > 0 && item->copying <= whole);
        assert_true(item->checking > 0 && item->checking <= whole);
        assert_true(item->upload + item->copying + item->checking <= whole);
        const int64_t rest = item->post + (int64_t)((item->copying + item->checking) * 1e9);
        assert_true(item->post > 0 && rest <= item->at[SK_AT_DONE] - item->at[SK_AT_POST]);
        sk_runner_end_result(r, &result);
    }
    const double passed = (double)(sk_clock_ns() - begin) * 1e-6;
    sk_runner_get_stats(r, &stats);
    double sum = 0;
    static const sk_stage stages[] = {SK_STAGE_UPLOAD, SK_STAGE_DOWNLOAD, SK_STAGE_CHECK, SK_STAGE_POST};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(stats.stages[stages[i]].count, 3);
        assert_true(stats.stages[stages[i]].sum > 0);
        sum += stats.stages[stages[i]].sum;
    }
    assert_true(sum <= passed);
    sk_runner_close(&r);
    free_frames(&set);
}

/* Every item has room for outputs and pixels from the beginning, also where pixels are not copied; larger frames make more. */
static void items_are_ready(void **state)
{
    (void)state;
    for (int copied = 0; copied < 2; copied++) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = true;
        s.keep_outputs = true;
        s.frames = copied ? SK_RUNNER_COPY : SK_RUNNER_HOLD;
        sk_runner *r = open_runner(model, &s);
        int items = 0;
        for (const sk_item *item = r->items; item; item = item->sibling, items++) {
            assert_true(item->n_outputs > 0 && item->outputs[0].data);
            assert_int_equal(item->staging != NULL, copied);
            assert_int_equal(item->staging_bytes, copied ? 48 * 40 * 3 : 0);
        }
        assert_int_equal(items, sk_runner_depth(r) + 1);
        static const int32_t widths[] = {48, 49, 47, 49};
        static const size_t bytes[] = {48 * 40 * 3, 49 * 40 * 3, 49 * 40 * 3, 49 * 40 * 3};
        for (int i = 0; copied && i < 4; i++) {
            sk_frame f = make_frame(widths[i], 40, i);
            sk_runner_result result;
            assert_ok(sk_runner_submit(r, &f, NULL, NULL, &err), &err);
            sk_runner_flush(r);
            assert_ok(sk_runner_take(r, -1, &result, &err), &err);
            const sk_item *item = result.hold;
            assert_int_equal(item->staging_bytes, bytes[i]);
            assert_int_equal(item->view.width, widths[i]);
            for (int y = 0; y < 40; y++) /* rows without gaps */
                assert_memory_equal(item->view.data + (ptrdiff_t)y * item->view.stride,
                                    f.data + (ptrdiff_t)y * f.stride, (size_t)widths[i] * 3);
            assert_int_equal(item->view.stride, widths[i] * 3);
            sk_runner_end_result(r, &result);
            free(f.data);
        }
        sk_runner_close(&r);
    }
}

/* --- correlations --- */

typedef struct looked {
    sk_runner *runner;
    sk_frame frame;
    plain p;
    sk_checker checker;
    sk_check check;
    sk_checker_call call;
} looked;

static void look(looked *l)
{
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    l->runner = open_runner(model, &s);
    l->frame = make_frame(48, 40, 3);
    plain_open(&l->p, model, &s, 48, 40);
    plain_run(&l->p, &l->frame);
    sk_checker_init(&l->checker);
    l->call = (sk_checker_call){.models = (const sk_model *const *)&model,
                                .settings = &l->runner->task,
                                .frame = &l->frame,
                                .out = &l->check};
    l->check = (sk_check){.pcc = 1};
}

static void look_away(looked *l)
{
    sk_checker_close(&l->checker);
    plain_close(&l->p);
    sk_runner_close(&l->runner);
    free(l->frame.data);
}

static sk_status compare(looked *l)
{
    return sk_checker_frame(&l->checker, &l->call, &l->runner->lanes[0].trace, l->p.outputs, 0, &err);
}

/* A correlation of exactly the limit passes, one of the next number below it does not. */
static void limits_are_reached(void **state)
{
    (void)state;
    static looked l;
    look(&l);
    ((float *)l.p.outputs[0].data)[5] += 1;
    assert_ok(compare(&l), &err);
    assert_null(l.checker.parts[0].unrounded); /* of f32 nothing is excused */
    const double pcc = l.check.outputs[0].pcc;
    assert_true(pcc > 0.1 && pcc < 1);
    for (int above = 0; above < 2; above++) {
        l.call.pcc_min = above ? nextafter(pcc, 1) : pcc;
        l.check = (sk_check){.pcc = 1};
        assert_ok(compare(&l), &err);
        assert_true(l.check.outputs[0].pcc == pcc && l.check.outputs[0].pcc_min == l.call.pcc_min);
        assert_int_equal(sk_checker_verdict(&l.call, 1, &err), above ? SK_ERR_MISMATCH : SK_OK);
        assert_int_equal(l.check.passed, !above);
        assert_true(l.check.ran && l.check.pcc_min == l.call.pcc_min);
    }
    look_away(&l);
}

/* Where there is no room for more entries, what is worst is told all the same. */
static void entries_have_an_end(void **state)
{
    (void)state;
    static looked l;
    look(&l);
    const int32_t n = l.runner->lanes[0].trace.n_outputs;
    for (int room = 0; room < 2; room++) {
        l.check = (sk_check){.pcc = 1, .n_outputs = SK_MAX_CHECKED - room};
        for (int i = 0; i < l.check.n_outputs; i++)
            l.check.outputs[i] = (sk_output_check){.model = 1, .output = i, .pcc = 1};
        ((float *)l.p.outputs[n - 1].data)[0] += 3;
        assert_ok(compare(&l), &err);
        assert_int_equal(l.check.n_outputs, SK_MAX_CHECKED);
        assert_true(l.check.pcc < 1 && fabs(l.check.max_diff - 3 * (room + 1)) < 1e-3);
        const sk_output_check *last = &l.check.outputs[SK_MAX_CHECKED - 1];
        assert_true(room ? last->model == 0 && last->output == 0 : last->model == 1);
    }
    look_away(&l);
}

/* One number a picture is an output, too; in a batch of one also what has no place for pictures. */
static void outputs_of_few_numbers(void **state)
{
    (void)state;
    static looked l;
    look(&l);
    assert_ok(compare(&l), &err); /* the reference is open now */
    sk_session_info *info = &l.checker.parts[0].reference->info;
    const struct {
        int64_t batch, image;
        sk_shape ours, reference;
        double apart; /* below 0: refused */
    } rows[] = {{2, 1, sk_shape_of(1, (int64_t)2), sk_shape_of(1, (int64_t)1), 0.5},
                {2, 0, sk_shape_of(2, (int64_t)2, (int64_t)3), sk_shape_of(2, (int64_t)1, (int64_t)3), 0.25},
                {1, 0, sk_shape_of(1, (int64_t)7), sk_shape_of(1, (int64_t)7), 1},
                {1, 0, sk_shape_of(0), sk_shape_of(0), 0},
                {2, 0, sk_shape_of(1, (int64_t)7), sk_shape_of(1, (int64_t)7), -1},
                {2, 0, sk_shape_of(1, (int64_t)14), sk_shape_of(1, (int64_t)7), -1},
                {2, 0, sk_shape_of(1, (int64_t)7), sk_shape_of(1, (int64_t)1), -1},
                {1, 0, sk_shape_of(1, (int64_t)6), sk_shape_of(1, (int64_t)7), -1}};
    float *data = l.p.outputs[0].data;
    float first[7];
    memcpy(first, data, sizeof first);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sk_trace trace = l.runner->lanes[0].trace;
        trace.key.batch = (int32_t)rows[i].batch;
        for (int k = 0; k < 7; k++)
            data[k] = first[k] + (k == 6 ? 1 : k == 2 ? 0.25f : 0);
        if (rows[i].image)
            data[1] = first[0] + 0.5f; /* the second picture's only number */
        for (int32_t k = 0; k < trace.n_outputs; k++) {
            info->outputs[k].shape = rows[i].reference;
            l.p.outputs[k].shape = rows[i].ours;
        }
        l.check = (sk_check){.pcc = 1};
        const sk_status status =
            sk_checker_frame(&l.checker, &l.call, &trace, l.p.outputs, (int32_t)rows[i].image, &err);
        assert_int_equal(status, rows[i].apart < 0 ? SK_ERR_MISMATCH : SK_OK);
        if (rows[i].apart < 0)
            continue;
        assert_int_equal(l.check.n_outputs, trace.n_outputs);
        if (fabs(l.check.outputs[0].max_diff - rows[i].apart) > 1e-3)
            fail_msg("case %zu: %g", i, l.check.outputs[0].max_diff);
    }
    look_away(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_of_results_are_held_to),
        cmocka_unit_test(frames_on_a_device_are_not_read_here),
        cmocka_unit_test(who_waits_is_dropped_for_time_alone),
        cmocka_unit_test(the_shortest_patience),
        cmocka_unit_test(times_are_in_their_units),
        cmocka_unit_test(items_are_ready),
        cmocka_unit_test(limits_are_reached),
        cmocka_unit_test(entries_have_an_end),
        cmocka_unit_test(outputs_of_few_numbers),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
