/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark: rows in the order asked for, each with what its own process said; times cannot be known, what they follow from can. */
#include "support/test.h"
#include "support/yolo_writer.h"

#include "app/bench.h"
#include "app/bench_frames.h"
#include "base/memory.h"
#include "runner/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sk_error err;
static char network[4300];
static char notice[512];
static sk_bench_result rows[SK_BENCH_MAX_RUNTIMES];

static sk_bench_settings quick(int32_t n, ...)
{
    sk_bench_settings s;
    va_list names;
    sk_bench_defaults(&s);
    s.model = network;
    s.height = s.width = 32;
    s.iterations = 6;
    s.warmup = 1;
    s.threads = 1;
    s.n_runtimes = n;
    va_start(names, n);
    for (int32_t i = 0; i < n; i++)
        s.runtimes[i] = va_arg(names, const char *);
    va_end(names);
    return s;
}

static void free_rows(void)
{
    for (int i = 0; i < SK_BENCH_MAX_RUNTIMES; i++)
        sk_free(rows[i].layers);
    memset(rows, 0, sizeof rows);
}

static void defaults(void **state)
{
    (void)state;
    sk_bench_settings s;
    sk_bench_defaults(&s);
    assert_true(s.batch == 1 && s.iterations == 60 && s.warmup == 3 && s.winograd && s.frames);
    assert_false(s.layers || s.cut_tail || s.openvino_throughput);
    assert_true(s.threads == 0 && s.height == 0 && s.width == 0 && s.n_runtimes == 0 && !s.model);
}

static void check_row(const sk_bench_result *r, const char *runtime)
{
    assert_false(r->failed);
    assert_string_equal(r->requested, runtime);
    assert_string_equal(r->runtime, runtime);
    assert_string_equal(r->precision, "f32");
    assert_true(r->device[0] != '\0' && r->problem[0] == '\0' && r->frames_problem[0] == '\0');
    assert_true(r->min_ms > 0 && r->min_ms <= r->median_ms && r->median_ms <= r->p99_ms);
    assert_true(r->open_ms > 0.01 && r->open_ms < 300000 && r->open_ms > r->min_ms);
    assert_true(r->frame_ms > r->min_ms / 2 && r->frame_ms < 100000);
    assert_true(r->cpu_ms > 0 && r->cpu_ms < 100000 && r->cpu_ms > r->min_ms / 100);
    assert_true(r->rss_mb > 1 && r->rss_mb < 16384);
    assert_int_equal(r->threads, 1);
    assert_true(r->peak_percent > 0 && r->peak_percent < 200);
}

static void runtimes_side_by_side(void **state)
{
    (void)state;
    sk_bench_settings s = quick(2, "cpu", "reference");
    s.layers = true;
    assert_ok(sk_bench_run(&s, rows, notice, &err), &err);
    assert_string_equal(notice, "");
    check_row(&rows[0], "cpu");
    check_row(&rows[1], "reference");
    assert_true(rows[0].weights_mb > 0 && rows[0].weights_mb < 64);
    assert_true(rows[0].activations_mb > 0 && rows[0].activations_mb < 64);
    /* the same network, so the same work, and one processor's peak */
    const double work = rows[0].gflops * rows[0].median_ms;
    assert_true(fabs(rows[1].gflops * rows[1].median_ms / work - 1) < 1e-9);
    assert_true(fabs(rows[0].gflops / rows[0].peak_percent / (rows[1].gflops / rows[1].peak_percent) - 1) <
                1e-9);
    const double peak = 100 * rows[0].gflops / rows[0].peak_percent;
    assert_true(peak > 0.5 && peak < 1000); /* of one thread */
    assert_true(rows[0].n_layers > 3 && rows[0].n_layers < 1024 && rows[0].layers);
    double sum = 0;
    for (int32_t i = 0; i < rows[0].n_layers; i++) {
        assert_true(rows[0].layers[i].name[0] != '\0');
        sum += rows[0].layers[i].flops;
    }
    assert_true(fabs(sum / (work * 1e6) - 1) < 0.01);
    free_rows();
    /* two pictures are twice the work; what was not asked for is not there */
    s = quick(1, "cpu");
    s.batch = 2;
    s.frames = false;
    s.warmup = 0;
    s.iterations = 1;
    assert_ok(sk_bench_run(&s, rows, notice, &err), &err);
    assert_true(fabs(rows[0].gflops * rows[0].median_ms / work - 2) < 1e-6);
    assert_true(rows[0].min_ms == rows[0].median_ms && rows[0].p99_ms == rows[0].median_ms); /* of one run */
    assert_true(rows[0].frame_ms == 0 && rows[0].n_layers == 0 && !rows[0].layers);
    assert_string_equal(rows[0].frames_problem, "");
    free_rows();
    /* up to the raw heads there is less to do; every thread has its own peak */
    s = quick(1, "cpu");
    s.cut_tail = true;
    s.winograd = false;
    s.precision = SK_PRECISION_F32;
    assert_ok(sk_bench_run(&s, rows, notice, &err), &err);
    assert_true(rows[0].gflops * rows[0].median_ms <= work * 1.0000001);
    free_rows();
}

static void who_fails_is_told_in_its_row(void **state)
{
    (void)state;
    sk_bench_settings s = quick(2, "nonsense", "reference");
    assert_ok(sk_bench_run(&s, rows, notice, &err), &err);
    assert_true(rows[0].failed && rows[0].status != SK_OK);
    assert_string_equal(rows[0].requested, "nonsense");
    assert_non_null(strstr(rows[0].problem, "nonsense"));
    assert_true(rows[0].median_ms == 0 && rows[0].frame_ms == 0 && rows[0].gflops == 0);
    check_row(&rows[1], "reference");
    free_rows();
    s = quick(1, "cpu"); /* nobody ran: what the first said */
    s.model = "nothing.pt";
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_NOT_FOUND);
    assert_string_equal(err.message, rows[0].problem);
    assert_int_equal(rows[0].status, SK_ERR_NOT_FOUND);
    char *long_path = sk_malloc(5000);
    memset(long_path, 'x', 4999);
    long_path[4096] = '\0';
    s.model = long_path;
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_LIMIT);
    assert_non_null(strstr(err.message, "xxx…' is too long for the benchmark"));
    long_path[4095] = '\0'; /* the longest that fits: only not there */
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_NOT_FOUND);
    sk_free(long_path);
    s = quick(1, "cpu");
    s.iterations = 0;
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_ARG);
    s = quick(1, "cpu");
    s.batch = 0;
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_ARG);
    s = quick(0);
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_ARG);
    s.n_runtimes = SK_BENCH_MAX_RUNTIMES + 1;
    assert_int_equal(sk_bench_run(&s, rows, notice, &err), SK_ERR_ARG);
    free_rows();
}

/* The network can be timed where a pipeline cannot be had: the row says why. */
static void frames_that_no_pipeline_takes(void **state)
{
    (void)state;
    sk_bench_settings s = quick(1, "cpu");
    s.batch = 65;
    s.iterations = 1;
    s.warmup = 0;
    assert_ok(sk_bench_run(&s, rows, notice, &err), &err);
    assert_false(rows[0].failed);
    assert_true(rows[0].median_ms > 0 && rows[0].frame_ms == 0);
    assert_string_equal(rows[0].frames_problem, "a pipeline takes at most 64 frames at once");
    free_rows();
    uint8_t *pictures = sk_calloc(64, 32 * 32 * 3);
    sk_bench_frames *f = NULL;
    double ms = -1;
    assert_int_equal(sk_bench_frames_open(&s, "cpu", NULL, 3, pictures, 32, 32, &f, &err), SK_ERR_LIMIT);
    assert_null(f);
    s.batch = 64;
    assert_ok(sk_bench_frames_open(&s, "cpu", NULL, 3, pictures, 32, 32, &f, &err), &err);
    for (int i = 0; i < 3; i++)
        assert_ok(sk_bench_frames_run(f, &ms, &err), &err);
    assert_true(ms > 0 && ms < 100000);
    sk_bench_frames_close(&f);
    assert_null(f);
    sk_bench_frames_close(&f);
    s.batch = 1;
    assert_int_equal(sk_bench_frames_open(&s, "cpu", NULL, 2, pictures, 32, 32, &f, &err),
                     SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "pictures of 2 channels are no frames");
    assert_ok(sk_bench_frames_open(&s, "cpu", NULL, 1, pictures, 32, 32, &f, &err), &err);
    assert_ok(sk_bench_frames_run(f, &ms, &err), &err);
    sk_bench_frames_close(&f);
    s.model = "nothing.pt";
    assert_int_equal(sk_bench_frames_open(&s, "cpu", NULL, 3, pictures, 32, 32, &f, &err), SK_ERR_NOT_FOUND);
    assert_null(f);
    sk_free(pictures);
}

int main(void)
{
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "bench.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(runtimes_side_by_side),
        cmocka_unit_test(who_fails_is_told_in_its_row),
        cmocka_unit_test(frames_that_no_pipeline_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
