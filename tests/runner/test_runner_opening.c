/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "runner/devices.h"
#include "runner/histogram.h"
#include "runner/timeline.h"
#include "support/fault.h"

/* What a runner copies and runs when it is opened, what it does not run for nobody, and its small parts to the last digit. */

/* Whoever opened it may do with his texts what he likes. */
static void settings_are_copied(void **state)
{
    (void)state;
    char device[] = "GPU.1", precision[] = "f32", options[] = "tune=off";
    int32_t classes[] = {1, 0};
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.detector.openvino_device = device;
    s.detector.precision = precision, s.detector.engine_options = options;
    s.detector.classes = classes, s.detector.n_classes = 2;
    sk_runner *r = open_runner(model, &s);
    memset(device, 'x', 5), memset(precision, 'x', 3), memset(options, 'x', 8);
    memset(classes, 0x5a, sizeof classes);
    const sk_detector_settings *d = &r->settings.detector;
    assert_null(d->provider);
    assert_string_equal(d->openvino_device, "GPU.1");
    assert_string_equal(d->precision, "f32");
    assert_string_equal(d->engine_options, "tune=off");
    assert_memory_equal(d->classes, ((const int32_t[]){1, 0}), sizeof classes);
    assert_null(d->runtime); /* each device has its own */
    sk_runner_close(&r);
}

/* Warm-up, the next run and the first replay of what was captured, with their times, and two frames of grey through all stages; none of
 * it where it is to be quick. */
static void opening_runs_the_network(void **state)
{
    (void)state;
    for (int quick = 1; quick >= 0; quick--) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = quick;
        fault_reset();
        sk_runner *r = open_faulty(model, &s);
        assert_int_equal(atomic_load(&faults[0].submits), quick ? 0 : 3 + 2);
        assert_int_equal(atomic_load(&faults[0].captured), 1);
        assert_int_equal(atomic_load(&faults[0].opened), 1);
        static sk_runner_stats stats;
        sk_runner_get_stats(r, &stats);
        assert_true(stats.devices[0].warm_up_ms > 0 && stats.devices[0].capture_ms > 0);
        assert_false(stats.devices[0].replays_from_open);
        sk_runner_close(&r);
    }
}

static bool somebody_is(sk_runner *r, sk_item_state wanted)
{
    bool found = false;
    for (int i = 0; i < 10000 && !found; i++) {
        pthread_mutex_lock(&r->lock);
        for (const sk_item *item = r->oldest; item && !found; item = item->newer)
            found = item->state == wanted;
        pthread_mutex_unlock(&r->lock);
        if (!found)
            sk_clock_sleep_ns(1000000);
    }
    return found;
}

/* Frames that were cancelled while they waited for the network do not go through it. */
static void nothing_is_run_for_nobody(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.depth = 4;
    fault_reset();
    sk_runner *r = open_faulty(model, &s);
    frames set = make_frames(4, 48, 40);
    sk_runner_result result;
    const int32_t before = atomic_load(&faults[0].submits);
    atomic_store(&faults[0].gate, 1);
    for (int i = 0; i < 3; i++)
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
    assert_true(somebody_is(r, SK_ITEM_NETWORK) && somebody_is(r, SK_ITEM_WAIT_NETWORK));
    sk_runner_cancel(r);
    atomic_store(&faults[0].gate, 0);
    assert_ok(sk_runner_submit(r, &set.frames[3], NULL, NULL, &err), &err);
    assert_ok(sk_runner_wait(r, &result, &err), &err);
    assert_int_equal(result.index, 3);
    assert_int_equal(atomic_load(&faults[0].submits) - before, 2); /* the one that was in it, and the last */
    sk_runner_close(&r);
    free_frames(&set);
}

/* Frames of another size have another network, which is made once and told in the timeline. */
static void other_sizes_are_captured(void **state)
{
    (void)state;
    sk_error err = {0};
    char path[600], *text = NULL;
    size_t length = 0;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.detector.rect = SK_RECT_ON;
    s.detector.height = s.detector.width = 64;
    s.timeline = 50;
    sk_runner *r = open_runner(model, &s);
    sk_frame both[] = {make_frame(48, 40, 0), make_frame(64, 16, 1)};
    snprintf(path, sizeof path, "%s/captured.json", test_folder());
    for (int i = 0; i < 5; i++) {
        sk_runner_result result;
        assert_ok(sk_runner_run(r, &both[i % 2], NULL, &result, &err), &err);
        assert_ok(sk_runner_write_timeline(r, path, &err), &err);
        assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
        int captured = 0;
        for (const char *at = text; (at = strstr(at, "\"capture\"")); at++)
            captured++;
        assert_int_equal(captured, i > 0);
        sk_free(text);
    }
    static sk_runner_stats stats;
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.devices[0].captures, 2);
    sk_runner_close(&r);
    free(both[0].data);
    free(both[1].data);
}

/* An engine that fits frames in by itself has a network for each size, until there are too many of them. */
static void sizes_that_an_engine_fits_in(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    fault_reset();
    sk_runner *r = NULL;
    const sk_model *models[] = {model};
    assert_ok(sk_runner_open_on(models, 1, &s, &fault_engines[3], &r, &err), &err);
    for (int i = 0; i < 16; i++) { /* eight of one size, then all others */
        sk_runner_result result;
        sk_frame f = make_frame(i < 8 ? 48 : 40 + 2 * i, 40, i);
        assert_ok(sk_runner_run(r, &f, NULL, &result, &err), &err);
        free(f.data);
        assert_int_equal(r->lanes[0].many_fits, i >= 11); /* the fifth size */
        assert_int_equal(atomic_load(&faults[3].boxed), i < 11 ? i + 1 : 11);
    }
    sk_runner_close(&r);
}

/* A frame that is copied is the caller's again at once, whatever becomes of its pixels. */
static void copied_frames_are_free(void **state)
{
    (void)state;
    sk_error err = {0};
    for (int by_call = 0; by_call < 2; by_call++) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = true;
        s.frames = by_call ? SK_RUNNER_BORROW : SK_RUNNER_COPY;
        s.detector.batch = 2;
        s.batch_wait_ms = 3600000; /* nobody looks at it before the flush */
        s.depth = 4;
        fault_reset();
        sk_runner *r = open_faulty(model, &s);
        plain p = {0};
        plain_open(&p, model, &s, 48, 40);
        sk_frame f = make_frame(48, 40, 5);
        plain_run(&p, &f);
        const sk_runner_call call = {.copy = by_call};
        sk_runner_result result;
        assert_ok(sk_runner_submit(r, &f, &call, NULL, &err), &err);
        memset(f.data, 0, (size_t)f.stride * 40);
        sk_runner_flush(r);
        assert_ok(sk_runner_wait(r, &result, &err), &err);
        assert_same_instances(result.instances, &p.found);
        sk_runner_close(&r);
        plain_close(&p);
        free(f.data);
    }
}

static sk_status write_without_memory(void *context, sk_error *err)
{
    sk_timeline_row *const *rows = context;
    return sk_timeline_write(rows, 2, "/dev/null", err);
}

static void timelines_without_memory(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_timeline_row a = {0}, b = {0};
    assert_ok(sk_timeline_row_open(&a, 4, "a", &err), &err);
    assert_ok(sk_timeline_row_open(&b, 4, "b", &err), &err);
    sk_timeline_row_add(&a, "pre", 1, 1, 10, 20);
    sk_timeline_row_add(&b, "post", 1, 1, 20, 30);
    sk_timeline_row *rows[] = {&a, &b};
    assert_true(test_every_allocation(write_without_memory, rows) >= 3); /* the copies, and each row's */
    sk_timeline_row_close(&a);
    sk_timeline_row_close(&b);
}

/* Names say which cores: one by its number, several by the first and the last. */
static void groups_of_cores_are_named(void **state)
{
    (void)state;
    sk_device d[SK_RUNNER_MAX_DEVICES];
    sk_error err = {0};
    int32_t cores[1024], count = 0;
    const int32_t n = sk_cpu_core_list(cores, 1024);
    for (int32_t groups = 1; groups <= n && groups <= SK_RUNNER_MAX_DEVICES && n == sk_cpu_usable_cores();
         groups++) {
        char list[32], name[64];
        snprintf(list, sizeof list, "cpu:x%d", groups);
        assert_ok(sk_devices_read(list, "cpu", d, &count, &err), &err);
        assert_int_equal(count, groups);
        int32_t at = 0;
        for (int32_t g = 0; g < groups; at += d[g++].n_cores) {
            assert_true(d[g].n_cores >= n / groups && d[g].n_cores <= n / groups + 1);
            assert_memory_equal(d[g].cores, cores + at, (size_t)d[g].n_cores * sizeof *cores);
            const int32_t last = cores[at + d[g].n_cores - 1];
            if (d[g].n_cores == 1)
                snprintf(name, sizeof name, "cpu:%d", last);
            else
                snprintf(name, sizeof name, "cpu:%d-%d", cores[at], last);
            assert_string_equal(d[g].name, name);
        }
        assert_int_equal(at, n);
    }
    assert_ok(sk_devices_read("cpu:numa", "cpu", d, &count, &err), &err);
    int32_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        assert_non_null(strstr(d[i].name, "cpu:numa"));
        for (int32_t k = 0; k < d[i].n_cores; k++) { /* each is one of them */
            int32_t same = 0;
            for (int32_t c = 0; c < n; c++)
                same += cores[c] == d[i].cores[k];
            assert_int_equal(same, 1);
        }
        sum += d[i].n_cores;
    }
    assert_int_equal(sum, n);
    for (int count_of = 1; count_of <= 3; count_of++) { /* shares are numbered, and have a thread at least */
        char list[32], name[32];
        snprintf(list, sizeof list, "cpu*%d", count_of);
        assert_ok(sk_devices_read(list, "cpu", d, &count, &err), &err);
        assert_int_equal(count, count_of);
        for (int i = 0; i < count; i++) {
            snprintf(name, sizeof name, "cpu*%d", i);
            assert_string_equal(d[i].name, name);
            const int32_t usable = sk_cpu_usable_cores();
            assert_int_equal(d[i].threads, usable / count_of > 1 ? usable / count_of : 1);
        }
    }
}

/* Small values are told as they are, others as the middle of their bucket, and none beyond what there was. */
static void percentiles_are_middles(void **state)
{
    (void)state;
    static sk_histogram h;
    const int64_t fine = (int64_t)1 << SK_HISTOGRAM_FINE;
    for (int shift = 0; shift < 20; shift++)
        for (int64_t k = fine; k < 2 * fine; k++) {
            const int64_t low = k << shift, width = (int64_t)1 << shift;
            sk_histogram_reset(&h);
            sk_histogram_add(&h, 0);
            sk_histogram_add(&h, low);
            sk_histogram_add(&h, low + width - 1);
            sk_histogram_add(&h, low * 4 + 100);
            const double middle = shift ? (double)low + (double)width / 2 : (double)low;
            assert_true(sk_histogram_percentile(&h, 50) == middle &&
                        sk_histogram_percentile(&h, 75) == middle);
            assert_true(sk_histogram_percentile(&h, 25) == 0 && sk_histogram_percentile(&h, 0) == 0);
            assert_true(sk_histogram_percentile(&h, 76) == (double)(low * 4 + 100));
        }
    sk_histogram_reset(&h);
    for (int64_t i = 0; i < fine; i++)
        sk_histogram_add(&h, i);
    for (int64_t i = 0; i < fine; i++)
        assert_true(sk_histogram_percentile(&h, 100 * ((double)i + 0.5) / (double)fine) == (double)i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_copied),          cmocka_unit_test(opening_runs_the_network),
        cmocka_unit_test(nothing_is_run_for_nobody),    cmocka_unit_test(timelines_without_memory),
        cmocka_unit_test(copied_frames_are_free),       cmocka_unit_test(other_sizes_are_captured),
        cmocka_unit_test(sizes_that_an_engine_fits_in), cmocka_unit_test(groups_of_cores_are_named),
        cmocka_unit_test(percentiles_are_middles),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
