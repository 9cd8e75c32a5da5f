/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/cpu.h"
#include "engines/compare.h"
#include "runner/devices.h"
#include "runner/histogram.h"
#include "runner/timeline.h"
#include "support/test.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runner's parts by themselves. */

static uint32_t noise = 1;

static double draw(void)
{
    noise = noise * 1664525u + 1013904223u;
    return (double)(noise >> 8) / (1 << 24);
}

/* Percentiles from buckets against those of all samples. */
static void test_histogram(void **state)
{
    (void)state;
    static sk_histogram h;
    enum { COUNT = 20000 };
    static double all[COUNT];
    double sum = 0;
    for (int i = 0; i < COUNT; i++) {
        all[i] = floor(exp(draw() * 20)); /* 1 ns to half a second */
        sum += all[i];
        sk_histogram_add(&h, (int64_t)all[i]);
    }
    sk_samples_summary exact = sk_samples_summarize(all, COUNT);
    const double percents[] = {1, 10, 50, 90, 99, 99.9};
    for (int i = 0; i < 6; i++) {
        double want = sk_samples_percentile(all, COUNT, percents[i]);
        double got = sk_histogram_percentile(&h, percents[i]);
        if (!(fabs(got - want) <= 0.04 * want + 1))
            fail_msg("%g %%: %g, not %g", percents[i], got, want);
    }
    sk_runner_stage_stats s = sk_histogram_summary(&h);
    assert_int_equal(s.count, COUNT);
    assert_true(fabs(s.sum - sum * 1e-6) < 1e-6 * s.sum + 1e-9);
    assert_true(s.min == exact.min * 1e-6 && s.max == exact.max * 1e-6);
    sk_histogram_reset(&h);
    assert_true(sk_histogram_percentile(&h, 50) == 0);
    sk_histogram_add(&h, -5);
    sk_histogram_add(&h, INT64_MAX); /* longer than the last bucket */
    assert_true(sk_histogram_percentile(&h, 1) == 0);
    assert_true(sk_histogram_percentile(&h, 100) == (double)INT64_MAX);
}

static void test_compare(void **state)
{
    (void)state;
    float a[1000], b[1000];
    for (int i = 0; i < 1000; i++) {
        a[i] = (float)draw();
        b[i] = a[i];
    }
    sk_likeness same = sk_compare(a, b, 1000);
    assert_true(same.pcc > 1 - 1e-12 && same.max_diff == 0 && same.mean_diff == 0);
    for (int i = 0; i < 1000; i++)
        b[i] = -2 * a[i] + 3;
    assert_true(fabs(sk_compare(a, b, 1000).pcc + 1) < 1e-6);
    for (int i = 0; i < 1000; i++)
        b[i] = (float)draw();
    assert_true(fabs(sk_compare(a, b, 1000).pcc) < 0.15);
    /* A large mean does not eat the variance. */
    for (int i = 0; i < 1000; i++) {
        a[i] = 1e5f + (float)(i % 7);
        b[i] = 1e5f + (float)(i % 7);
    }
    assert_true(sk_compare(a, b, 1000).pcc > 0.999999);
    b[3] += 1;
    sk_likeness one = sk_compare(a, b, 1000);
    assert_true(one.max_diff == 1 && fabs(one.mean_diff - 1e-3) < 1e-9 && one.pcc < 1);
    /* Constant on both sides: equal or not. */
    for (int i = 0; i < 1000; i++)
        a[i] = b[i] = 2;
    assert_true(sk_compare(a, b, 1000).pcc == 1);
    b[9] = 3;
    assert_true(sk_compare(a, b, 1000).pcc == 0);
    /* Not a number on one side only. */
    for (int i = 0; i < 1000; i++)
        a[i] = b[i] = (float)i;
    a[5] = b[5] = NAN;
    a[6] = b[6] = INFINITY;
    assert_true(sk_compare(a, b, 1000).pcc > 0.9999);
    b[5] = 1;
    assert_true(sk_compare(a, b, 1000).pcc == 0);
    assert_true(sk_compare(a, b, 0).pcc == 1);
}

static int32_t read_list(const char *list, sk_device *devices)
{
    sk_error err = {0};
    int32_t count = 0;
    assert_ok(sk_devices_read(list, "cpu", devices, &count, &err), &err);
    return count;
}

static void refused(const char *list, const char *why)
{
    sk_device devices[SK_RUNNER_MAX_DEVICES];
    sk_error err = {0};
    int32_t count = 0;
    if (sk_devices_read(list, "cpu", devices, &count, &err) == SK_OK)
        fail_msg("'%s' was taken", list);
    if (!strstr(err.message, why))
        fail_msg("'%s': no \"%s\" in: %s", list, why, err.message);
}

/* Boxes as the grid puts them hide that all scores are another picture's. */
static void test_compare_dense(void **state)
{
    (void)state;
    enum { CHANNELS = 4 + 2 + 3, PLACES = 200 };
    static float a[CHANNELS * PLACES], b[CHANNELS * PLACES];
    for (int i = 0; i < CHANNELS * PLACES; i++) {
        int place = i % PLACES;
        bool box = i < 4 * PLACES;
        a[i] = box ? (float)(place * 3) : 0.01f * (float)((place * 37) % 101);
        b[i] = box ? a[i] + 0.01f * (float)(place % 7) : 0.01f * (float)((place * 53 + 11) % 101);
    }
    assert_true(sk_compare(a, b, CHANNELS * PLACES).pcc > 0.9999);
    assert_true(sk_compare_dense(a, b, CHANNELS, PLACES, 2).pcc < 0.5);
    assert_true(sk_compare_dense(a, a, CHANNELS, PLACES, 2).pcc > 0.999999);
    assert_true(sk_compare_dense(a, b, 4, PLACES, 2).pcc > 0.9999); /* boxes alone */
    b[5 * PLACES] = NAN;
    assert_true(sk_compare_dense(a, b, CHANNELS, PLACES, 2).pcc <= 0);
}

static void test_devices(void **state)
{
    (void)state;
    sk_device d[SK_RUNNER_MAX_DEVICES];
    int32_t cores[16];
    assert_int_equal(sk_devices_cores("0-2+7", cores, 16), 4);
    assert_int_equal(cores[3], 7);
    assert_int_equal(sk_devices_cores("0-3,8\n", cores, 16), 5);
    assert_int_equal(sk_devices_cores("3-1", cores, 16), -1);
    assert_int_equal(sk_devices_cores("1+", cores, 16), -1);
    assert_int_equal(sk_devices_cores("x", cores, 16), -1);
    assert_int_equal(sk_devices_cores("0-99", cores, 16), -1);

    assert_int_equal(read_list(NULL, d), 1);
    assert_string_equal(d[0].name, "cpu");
    assert_int_equal(d[0].n_cores, 0);
    assert_int_equal(read_list("cpu,reference", d), 2);
    assert_ptr_equal(d[1].engine, &sk_engine_reference);
    assert_int_equal(read_list("cpu:0+1, cpu:3-5", d), 2);
    assert_int_equal(d[0].n_cores, 2);
    assert_int_equal(d[1].n_cores, 3);
    assert_int_equal(d[1].cores[2], 5);
    assert_string_equal(d[1].name, "cpu:3-5");
    assert_true(read_list("cpu:numa", d) >= 1);
    assert_true(d[0].n_cores >= 1);
    /* Groups: every core once. */
    int32_t n = sk_cpu_usable_cores(), sum = 0;
    int32_t groups = n < SK_RUNNER_MAX_DEVICES ? n : SK_RUNNER_MAX_DEVICES;
    char list[32];
    snprintf(list, sizeof list, "cpu:x%d", groups);
    assert_int_equal(read_list(list, d), groups);
    for (int32_t i = 0; i < groups; i++)
        sum += d[i].n_cores;
    assert_int_equal(sum, n);
    /* Shares without binding. */
    assert_int_equal(read_list("cpu*2", d), 2);
    assert_int_equal(d[0].n_cores, 0);
    assert_int_equal(d[0].threads, n > 2 ? n / 2 : 1);
    assert_int_equal(d[1].threads, d[0].threads);

    assert_int_equal(read_list("auto", d), n < 8 ? n : 8);
    assert_ptr_equal(d[0].engine, &sk_engine_cpu);

    refused("cpu:x100000", "cores");
    refused("cpu:x0", "cores");
    refused("cpu*17", "instances");
    refused("cpu:", "core list");
    refused("cpu:abc", "core list");
    refused("nonsense", "nonsense");
    refused(":0", "no compute runtime");
    refused(",", "empty");
    refused("cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu,cpu", "more than");
}

/* Chrome's trace events: parsed by somebody else's parser. The ring keeps the last steps. */
static void test_timeline(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_timeline_row a = {0}, b = {0}, off = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/trace.json", test_folder());
    assert_ok(sk_timeline_row_open(&a, 4, "the \"first\"", &err), &err);
    assert_ok(sk_timeline_row_open(&b, 100, "second", &err), &err);
    assert_ok(sk_timeline_row_open(&off, 0, "off", &err), &err);
    for (int i = 0; i < 10; i++) {
        sk_timeline_row_add(&a, "pre", i, 1, 1000000 + i * 2000, 1000000 + i * 2000 + 500);
        sk_timeline_row_add(&b, "network", i, 2, 1000000 + i * 2000, 1000000 + i * 2000 + 1500);
        sk_timeline_row_add(&off, "never", i, 1, 0, 1);
    }
    sk_timeline_row *rows[] = {&a, &off, &b};
    assert_ok(sk_timeline_write(rows, 3, path, &err), &err);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    json_t *events = json_object_get(root, "traceEvents");
    assert_int_equal(json_array_size(events), 2 + 4 + 10);
    json_t *first = json_array_get(events, 1);
    assert_string_equal(json_string_value(json_object_get(first, "ph")), "X");
    assert_string_equal(json_string_value(json_object_get(first, "name")), "pre");
    assert_true(fabs(json_number_value(json_object_get(first, "ts")) - 12) < 1e-6); /* step 6, from step 0 */
    assert_true(fabs(json_number_value(json_object_get(first, "dur")) - 0.5) < 1e-6);
    json_decref(root);
    assert_int_equal(sk_timeline_write(rows, 3, test_missing("trace.json"), &err), SK_ERR_IO);
    sk_timeline_row_close(&a);
    sk_timeline_row_close(&b);
    sk_timeline_row_close(&off);
}

/* How far from what nothing rounds, in parts of how far the known one is. */
static void test_compare_rounding(void **state)
{
    (void)state;
    float plain[60], rounded[60], ours[60];
    for (int i = 0; i < 60; i++) {
        plain[i] = 0.5f * (float)i;
        rounded[i] = plain[i] + (i % 2 ? 0.25f : -0.25f);
        ours[i] =
            plain[i] - (i % 2 ? 0.25f : -0.25f); /* each to the other side: uncorrelated roundings, as far */
    }
    assert_true(fabs(sk_compare_rounding(ours, rounded, plain, 60) - 1) < 1e-6);
    assert_true(sk_compare_rounding(plain, rounded, plain, 60) == 0);
    for (int i = 0; i < 60; i++)
        ours[i] = plain[i] + 0.75f;
    assert_true(fabs(sk_compare_rounding(ours, rounded, plain, 60) - 3) < 1e-6);
    /* squares count: one of sixty that is off by 15 is as far as all by 15 / sqrt(60) */
    memcpy(ours, plain, sizeof ours);
    ours[7] -= 15;
    assert_true(fabs(sk_compare_rounding(ours, rounded, plain, 60) - 15 / sqrt(60) / 0.25) < 1e-4);
    /* Where nothing was rounded, a millionth of the largest value is no difference, and a thousandth is one. */
    for (int i = 0; i < 60; i++)
        ours[i] = plain[i] + 1.5e-5f;
    assert_true(sk_compare_rounding(ours, plain, plain, 60) < 2);
    for (int i = 0; i < 60; i++)
        ours[i] = plain[i] + 0.03f;
    assert_true(sk_compare_rounding(ours, plain, plain, 60) > 500);
    /* Not a number, or infinite, on both sides is agreement. */
    memcpy(ours, plain, sizeof ours);
    plain[3] = ours[3] = NAN;
    plain[4] = ours[4] = INFINITY;
    assert_true(sk_compare_rounding(ours, rounded, plain, 60) == 0);
    ours[4] = -INFINITY;
    assert_true(isinf(sk_compare_rounding(ours, rounded, plain, 60)));
    ours[4] = INFINITY;
    ours[3] = 1;
    assert_true(isinf(sk_compare_rounding(ours, rounded, plain, 60)));
    assert_true(sk_compare_rounding(ours, rounded, plain, 0) == 0);
    /* Six channels of ten places, one class: boxes, scores and the rest each for itself, of which the worst counts. */
    for (int part = 0; part < 3; part++) {
        static const int from[] = {0, 40, 50, 60};
        for (int i = 0; i < 60; i++) {
            const float off = i < 40 ? 8 : 0.25f; /* boxes round by much more */
            plain[i] = (float)i;
            rounded[i] = plain[i] + off;
            ours[i] = plain[i] - (i >= from[part] && i < from[part + 1] ? 3 * off : off);
        }
        assert_true(fabs(sk_compare_rounding_dense(ours, rounded, plain, 6, 10, 1) - 3) < 1e-5);
    }
    assert_true(fabs(sk_compare_rounding_dense(ours, rounded, plain, 5, 10, 9) - 1) < 1e-5); /* no rest */
}

/* One figure in a hundred: the percentiles of a summary are those that their names say. */
static void summaries_are_by_their_names(void **state)
{
    (void)state;
    static sk_histogram h;
    sk_histogram_reset(&h);
    for (int i = 1; i <= 100; i++)
        sk_histogram_add(&h, i <= 50 ? 1000000 : i <= 90 ? 2000000 : i <= 99 ? 4000000 : 8000000);
    sk_runner_stage_stats s = sk_histogram_summary(&h);
    assert_true(fabs(s.p50 - 1) < 0.04 && fabs(s.p90 - 2) < 0.07 && fabs(s.p99 - 4) < 0.13 && s.max == 8);
    assert_true(s.min == 1 && s.count == 100 && fabs(s.sum - (50 + 80 + 36 + 8)) < 1e-9);
    sk_histogram_add(&h, 4000000); /* a half, nine tenths and 99 in a hundred of 103 are one more each */
    sk_histogram_add(&h, 4000000);
    sk_histogram_add(&h, 8000000);
    s = sk_histogram_summary(&h);
    assert_true(fabs(s.p50 - 2) < 0.07 && fabs(s.p90 - 4) < 0.13 && s.p99 > 7.7 && s.max == 8);
}

/* A row of one step keeps the last; what a step is goes into the file as numbers. */
static void the_last_step_is_kept(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_timeline_row one = {0}, none = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/one.json", test_folder());
    assert_ok(sk_timeline_row_open(&one, 1, "device post", &err), &err);
    assert_ok(sk_timeline_row_open(&none, 3, "idle", &err), &err);
    sk_timeline_row_add(&one, "pre", 7, 1, 1000, 2000);
    sk_timeline_row_add(&one, "post", 8, 3, 5000000, 7000000);
    sk_timeline_row *rows[] = {&none, &one};
    assert_ok(sk_timeline_write(rows, 2, path, &err), &err);
    json_t *root = json_load_file(path, 0, NULL), *events = json_object_get(root, "traceEvents"), *event;
    assert_int_equal(json_array_size(events), 2); /* a row without steps is not named */
    event = json_array_get(events, 0);
    assert_string_equal(json_string_value(json_object_get(event, "name")), "thread_name");
    assert_string_equal(json_string_value(json_object_get(event, "ph")), "M");
    assert_int_equal(json_integer_value(json_object_get(event, "pid")), 1);
    assert_int_equal(json_integer_value(json_object_get(event, "tid")), 2);
    assert_string_equal(json_string_value(json_object_get(json_object_get(event, "args"), "name")),
                        "device post");
    event = json_array_get(events, 1);
    assert_string_equal(json_string_value(json_object_get(event, "name")), "post");
    assert_string_equal(json_string_value(json_object_get(event, "cat")), "runner");
    assert_string_equal(json_string_value(json_object_get(event, "ph")), "X");
    assert_true(json_number_value(json_object_get(event, "ts")) == 0);
    assert_true(json_number_value(json_object_get(event, "dur")) == 2000);
    assert_int_equal(json_integer_value(json_object_get(event, "pid")), 1);
    assert_int_equal(json_integer_value(json_object_get(event, "tid")), 2);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(event, "args"), "frame")), 8);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(event, "args"), "frames")), 3);
    assert_string_equal(json_string_value(json_object_get(root, "displayTimeUnit")), "ms");
    json_decref(root);
    sk_timeline_row_close(&one);
    sk_timeline_row_add(&one, "late", 9, 1, 0, 1); /* nobody keeps it any more */
    assert_int_equal(one.capacity, 0);
    sk_timeline_row_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_histogram),        cmocka_unit_test(test_compare),
        cmocka_unit_test(test_compare_dense),    cmocka_unit_test(test_devices),
        cmocka_unit_test(test_timeline),         cmocka_unit_test(summaries_are_by_their_names),
        cmocka_unit_test(the_last_step_is_kept), cmocka_unit_test(test_compare_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
