/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring layers with fewer frames than are usual, stopped half-way, and where the first of its memory is not there. */
#include "runner/runner_fixture.h"
#include "support/fault.h"

#include "app/quantize_internal.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "runner/network.h"

#include <unistd.h>

static sk_error err;
static sk_model *model;
static sk_quantize_settings s;
static sk_quantize_job job;
static sk_quantize_report report;
static sk_graph *simulated;
static int64_t ticks, total, stop_at;

static bool watch(void *context, const char *step, int64_t done, int64_t all)
{
    (void)context;
    assert_non_null(step);
    ticks = done;
    total = all;
    return done == stop_at;
}

static int begin(void **state)
{
    (void)state;
    char path[256];
    assert_ok(sk_folder_make("five", &err), &err);
    for (int i = 0; i < 5; i++) {
        sk_frame f = make_frame(32, 32, i);
        snprintf(path, sizeof path, "five/%03d.png", i);
        assert_ok(sk_picture_write(path, &f, &err), &err);
        free(f.data);
    }
    model = tiny_model();
    sk_quantize_defaults(&s);
    s.data = "five";
    s.frames = 4;
    s.height = s.width = 32;
    s.threads = 1;
    s.ranges = SK_RANGE_ALL;
    s.watch = watch;
    stop_at = -1;
    job.s = &s;
    job.model = model;
    assert_ok(sk_net_engine("cpu", &job.engine, &err), &err);
    assert_ok(sk_quantise_prepare(model->graph, &job.graph, &err), &err);
    assert_ok(sk_quantise_plan_open(job.graph, NULL, &job.plan, &err), &err);
    report.n_rows = job.plan->n_layers;
    report.rows = sk_calloc((size_t)report.n_rows, sizeof *report.rows);
    assert_ok(sk_quantize_read(&job, &err), &err);
    assert_ok(sk_quantize_calibrate(&job, &report, &err), &err);
    assert_ok(sk_quantize_make(&job, NULL, true, NULL, &simulated, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    sk_graph_close(&simulated);
    sk_quantize_numbers_free(&job);
    sk_free(job.sensitivity);
    sk_quantise_plan_close(&job.plan);
    sk_quantize_frames_free(&job);
    sk_graph_close(&job.graph);
    sk_quantize_report_free(&report);
    assert_true(!report.rows && report.n_rows == 0);
    sk_quantize_report_free(&report); /* once more does no harm */
    sk_model_close(&model);
    return 0;
}

/* One frame is held: it is looked at once for every 32 layers. */
static void one_frame_is_held(void **state)
{
    (void)state;
    const int32_t n = job.plan->n_layers;
    for (int32_t i = 0; i < n; i++)
        report.rows[i].error = report.rows[i].sensitivity = -1;
    assert_ok(sk_quantize_errors(&job, simulated, &report, &err), &err);
    assert_true(ticks == total && total == (n + 31) / 32);
    for (int32_t i = 0; i < n; i++)
        assert_true(report.rows[i].error > 0 && report.rows[i].error < 1 && report.rows[i].sensitivity == 0);
    /* against itself nothing is off */
    assert_ok(sk_quantize_errors(&job, job.graph, &report, &err), &err);
    for (int32_t i = 0; i < n; i++)
        assert_true(report.rows[i].error == 0);
}

static void nothing_is_held(void **state)
{
    (void)state;
    const size_t inputs = job.n_inputs;
    job.n_inputs = 4; /* without the fifth */
    ticks = total = -1;
    assert_ok(sk_quantize_errors(&job, simulated, &report, &err), &err);
    assert_true(ticks == -1 && job.total == 0 && job.done == 0);
    for (int32_t i = 0; i < job.plan->n_layers; i++)
        assert_true(report.rows[i].error == 0);
    job.n_inputs = inputs;
}

static void stopped(void **state)
{
    (void)state;
    stop_at = 1;
    assert_int_equal(sk_quantize_errors(&job, simulated, &report, &err), SK_ERR_CANCELLED);
    assert_int_equal(ticks, 1);
    assert_int_equal(sk_quantize_sensitivity(&job, &err), SK_ERR_CANCELLED);
    assert_true(ticks == 1 && total == job.plan->n_layers);
    assert_true(job.sensitivity && job.sensitivity[0] > 0 && job.sensitivity[1] == 0);
    sk_free(job.sensitivity);
    job.sensitivity = NULL;
    stop_at = -1;
}

static sk_status errors(void *context, sk_error *why)
{
    (void)context;
    return sk_quantize_errors(&job, simulated, &report, why);
}

/* The first layer alone: all that one takes, the others take again. */
static sk_status first_sensitivity(void *context, sk_error *why)
{
    (void)context;
    stop_at = 1;
    const sk_status status = sk_quantize_sensitivity(&job, why);
    stop_at = -1;
    sk_free(job.sensitivity);
    job.sensitivity = NULL;
    return status == SK_ERR_CANCELLED ? SK_OK : status;
}

static void without_memory(void **state)
{
    (void)state;
    const int a = test_every_allocation(errors, NULL), b = test_every_allocation(first_sensitivity, NULL);
    assert_true(a >= 10 && b >= 10);
}

/* Of no frame to calibrate with no layer has means. */
static void nothing_to_calibrate_with(void **state)
{
    (void)state;
    sk_quantize_job none = job;
    none.n_inputs = 0;
    none.means = none.channel_reach = NULL;
    none.scales = NULL;
    none.reach = NULL;
    assert_ok(sk_quantize_calibrate(&none, &report, &err), &err);
    assert_int_equal(none.total, 0);
    for (int32_t i = 0; i < none.plan->n_layers; i++)
        assert_null(none.means[i]);
    sk_quantize_numbers_free(&none);
}

static void ticking(void **state)
{
    (void)state;
    sk_quantize_begin(&job, "step", 3);
    assert_true(job.done == 0 && job.total == 3);
    stop_at = 2;
    assert_ok(sk_quantize_tick(&job, &err), &err);
    assert_true(ticks == 1 && total == 3 && job.done == 1);
    assert_int_equal(sk_quantize_tick(&job, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "interrupted; nothing was written");
    s.watch = NULL;
    job.done = 1;
    assert_ok(sk_quantize_tick(&job, &err), &err);
    assert_int_equal(job.done, 2);
    s.watch = watch;
    stop_at = -1;
}

int main(void)
{
    if (chdir(test_folder()) != 0)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_frame_is_held),
        cmocka_unit_test(nothing_is_held),
        cmocka_unit_test(stopped),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(nothing_to_calibrate_with),
        cmocka_unit_test(ticking),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
