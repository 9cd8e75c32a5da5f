/* SPDX-License-Identifier: Apache-2.0 */
#include "one_model.h"

#include "base/file.h"
#include "runner/devices.h"
#include "runner/histogram.h"
#include "runner/timeline.h"
#include "runner/trace.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>

/* Settings at their bounds, keys that differ in one thing, times in every bucket, lists of devices letter by letter. */

static void settings_have_bounds(void **state)
{
    (void)state;
#define AT(field) offsetof(sk_runner_settings, field)
    static const struct {
        size_t offset;
        int32_t value;
        const char *why; /* null: taken */
    } cases[] = {{AT(size), 7, "sk_runner_defaults"},
                 {AT(mode), 0, "mode 0"},
                 {AT(mode), 3, "mode 3"},
                 {AT(mode), SK_PIPELINE_LATENCY, NULL},
                 {AT(when_full), -1, "when_full"},
                 {AT(when_full), SK_FULL_DROP_OLDEST, NULL},
                 {AT(when_full), SK_FULL_DROP_OLDEST + 1, "when_full 4"},
                 {AT(frames), SK_RUNNER_COPY, NULL},
                 {AT(frames), SK_RUNNER_HOLD, NULL},
                 {AT(frames), SK_RUNNER_HOLD + 1, "frames"},
                 {AT(frames), SK_RUNNER_COPY - 1, "frames"},
                 {AT(detector.batch), 0, "batch is 0; allowed are 1 to 64"},
                 {AT(detector.batch), 65, "batch is 65"},
                 {AT(detector.batch), 64, NULL},
                 {AT(depth), -1, "depth is -1"},
                 {AT(depth), 1025, "depth is 1025"},
                 {AT(depth), 1024, NULL},
                 {AT(depth), 1, NULL},
                 {AT(batch_wait_ms), -1, "batch_wait_ms is -1"},
                 {AT(batch_wait_ms), 0, NULL},
                 {AT(max_age_ms), -1, "max_age_ms is -1"},
                 {AT(max_age_ms), 0, NULL},
                 {AT(timeout_ms), -1, "timeout_ms is -1"},
                 {AT(check_every), -1, "check_every is -1"},
                 {AT(timeline), -1, "timeline is -1"},
                 {AT(frame_width), -1, "expect->width is -1"},
                 {AT(frame_height), -1, "expect->height is -1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_runner_settings s = tiny_settings();
        sk_runner *r = NULL;
        sk_error err = {0};
        const sk_model *models[] = {model};
        s.quick_open = true;
        memcpy((char *)&s + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        const sk_status status = sk_runner_open(models, 1, &s, &r, &err);
        if ((status == SK_OK) != !cases[i].why || (cases[i].why && !strstr(err.message, cases[i].why)))
            fail_msg("case %zu: %s", i, err.message);
        sk_runner_close(&r);
    }
    static const double least[] = {0, 1, -0.01, 1.01, (double)NAN};
    for (int i = 0; i < 5; i++) {
        sk_runner_settings s = tiny_settings();
        sk_runner *r = NULL;
        sk_error err = {0};
        const sk_model *models[] = {model};
        s.quick_open = true;
        s.pcc_min = least[i];
        assert_int_equal(sk_runner_open(models, 1, &s, &r, &err), i < 2 ? SK_OK : SK_ERR_ARG);
        sk_runner_close(&r);
    }
    sk_runner_settings s = tiny_settings();
    s.detector.batch = 4, s.depth = 3;
    sk_runner *r = NULL;
    sk_error err = {0};
    const sk_model *models[] = {model};
    assert_int_equal(sk_runner_open(models, 1, &s, &r, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "depth is 3; allowed are 4 (the batch) to 1024"));
}

/* Enough for every device to have a batch in each stage; in latency mode one each and the newest. */
static void depth_follows_mode_and_batch(void **state)
{
    (void)state;
    static const struct {
        sk_pipeline_mode mode;
        const char *devices;
        int32_t batch, depth, lanes;
    } cases[] = {{SK_PIPELINE_THROUGHPUT, "cpu", 1, 4, 1},        {SK_PIPELINE_THROUGHPUT, "cpu", 8, 32, 1},
                 {SK_PIPELINE_THROUGHPUT, "cpu", 9, 18, 1},       {SK_PIPELINE_THROUGHPUT, "cpu*3", 2, 20, 3},
                 {SK_PIPELINE_LATENCY, "cpu", 1, 2, 1},           {SK_PIPELINE_LATENCY, "cpu*2", 3, 9, 2},
                 {SK_PIPELINE_THROUGHPUT, "cpu*16", 64, 1024, 16}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases - 1; i++) {
        sk_runner_settings s = tiny_settings();
        s.quick_open = true;
        s.mode = cases[i].mode, s.devices = cases[i].devices, s.detector.batch = cases[i].batch;
        sk_runner *r = open_runner(model, &s);
        assert_int_equal(sk_runner_depth(r), cases[i].depth);
        assert_int_equal(r->n_lanes, cases[i].lanes);
        assert_int_equal(r->settings.when_full,
                         cases[i].mode == SK_PIPELINE_LATENCY ? SK_FULL_DROP_OLDEST : SK_FULL_BLOCK);
        sk_runner_close(&r);
    }
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.frame_width = 0;
    sk_runner *r = open_runner(model, &s);
    assert_int_equal(r->settings.frame_width, model->input.width > 0 ? model->input.width : 640);
    assert_int_equal(r->settings.frame_height, model->input.height > 0 ? model->input.height : 640);
    sk_runner_close(&r);
}

static void keys_differ_in_one_thing(void **state)
{
    (void)state;
    sk_trace_key a = {.model = "m",
                      .engine = &sk_engine_cpu,
                      .device = 1,
                      .batch = 2,
                      .height = 3,
                      .width = 4,
                      .channels = 5};
    sk_trace trace = {.key = a, .generation = 0};
    sk_trace_key b = a;
    assert_true(sk_trace_key_equal(&a, &b));
    assert_false(sk_trace_fits(&trace, &a)); /* there is none yet */
    trace.generation = 1;
    assert_true(sk_trace_fits(&trace, &a));
    int32_t *const numbers[] = {&b.device,   &b.batch,  &b.height, &b.width, &b.channels, &b.u8,
                                &b.cut_tail, &b.frames, &b.sparse, &b.found, &b.peaks,    &b.crops};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        b = a;
        ++*numbers[i];
        assert_false(sk_trace_key_equal(&a, &b));
        assert_false(sk_trace_key_equal(&b, &a));
        assert_false(sk_trace_fits(&trace, &b));
        assert_int_equal(sk_trace_key_is_partial(&b), i == 8 || i == 9 || i == 10);
    }
    b = a;
    b.model[0] = 'n';
    assert_false(sk_trace_key_equal(&a, &b));
    b = a;
    b.engine = &sk_engine_reference;
    assert_false(sk_trace_key_equal(&a, &b));
    b = a;
    ((char *)&b.fit)[0] ^= 1;
    assert_false(sk_trace_key_equal(&a, &b));
    b = a;
    ((char *)&b.cut)[0] ^= 1;
    assert_false(sk_trace_key_equal(&a, &b));
    assert_int_equal(sk_trace_picture_bytes(&a), 3 * 4 * 5 * 4);
    a.u8 = 1;
    assert_int_equal(sk_trace_picture_bytes(&a), 3 * 4 * 5);
    a.crops = 1;
    assert_int_equal(sk_trace_picture_bytes(&a), 0);
}

/* Every value up to a thousand and the edges of every bucket above: at most a thirty-second from the true one. */
static void times_are_near_in_every_bucket(void **state)
{
    (void)state;
    static sk_histogram h;
    for (int power = 0; power < 48; power++)
        for (int part = 0; part < 96; part++) {
            const int64_t whole = (int64_t)1 << power,
                          value = power < 10 ? 96 * power + part : whole + whole / 96 * part;
            sk_histogram_reset(&h);
            sk_histogram_add(&h, value);
            sk_histogram_add(&h, value);
            sk_histogram_add(&h, INT64_MAX / 4);
            const double got = sk_histogram_percentile(&h, 50);
            if (!(fabs(got - (double)value) <= (value < 64 ? 0 : (double)value / 64 + 1)))
                fail_msg("%lld is told as %.1f", (long long)value, got);
            assert_true(sk_histogram_percentile(&h, 99) == (double)(INT64_MAX / 4));
            assert_int_equal(h.min, value);
        }
    sk_histogram_reset(&h);
    for (int i = 1; i <= 10; i++)
        sk_histogram_add(&h, i);
    for (int i = 1; i <= 10; i++)
        assert_true(sk_histogram_percentile(&h, 10.0 * i) == i &&
                    sk_histogram_percentile(&h, 10.0 * i - 9.9) == i);
    assert_true(sk_histogram_percentile(&h, 0) == 1);
    const sk_runner_stage_stats s = sk_histogram_summary(&h);
    assert_true(s.count == 10 && fabs(s.sum - 55e-6) < 1e-12 && fabs(s.p50 - 5e-6) < 1e-12 &&
                fabs(s.p90 - 9e-6) < 1e-12 && fabs(s.p99 - 10e-6) < 1e-12 && fabs(s.min - 1e-6) < 1e-12 &&
                fabs(s.max - 10e-6) < 1e-12);
}

static void cores_are_listed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t count, last;
    } cases[] = {{"0", 1, 0},
                 {"65535", 1, 65535},
                 {"65536", -1, 0},
                 {"65535-65535", 1, 65535},
                 {"65535-65536", -1, 0},
                 {"3-3", 1, 3},
                 {"3-2", -1, 0},
                 {"-1", -1, 0},
                 {"1-", -1, 0},
                 {"0-15", 16, 15},
                 {"0-16", -1, 0},
                 {"1,2+3", 3, 3},
                 {"1,", -1, 0},
                 {"1;2", -1, 0},
                 {"", 0, 0},
                 {"4\n", 1, 4},
                 {"1-2-3", -1, 0},
                 {"1 2", -1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t cores[16] = {0};
        const int32_t n = sk_devices_cores(cases[i].text, cores, 16);
        if (n != cases[i].count || (n > 0 && cores[n - 1] != cases[i].last))
            fail_msg("'%s': %d", cases[i].text, n);
    }
    static const struct {
        const char *list, *why;
    } wrong[] = {{"cpu*0", "cpu*0: 1 to"},
                 {"cpu*-1", "instances"},
                 {"cpu*2x", "instances"},
                 {"cpu*", "instances"},
                 {"cpu:x", "core list"},
                 {"cpu:x1y", "cores"},
                 {"reference*2:0", ""},
                 {"a-name-that-is-much-longer-than-any-runtime-has-ever-been", "names no compute runtime"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        sk_device d[SK_RUNNER_MAX_DEVICES];
        int32_t count = 0;
        sk_error err = {0};
        const sk_status status = sk_devices_read(wrong[i].list, "cpu", d, &count, &err);
        if (wrong[i].why[0] && (status == SK_OK || !strstr(err.message, wrong[i].why)))
            fail_msg("%s: %s", wrong[i].list, err.message);
    }
    sk_device d[SK_RUNNER_MAX_DEVICES];
    int32_t count = 0;
    sk_error err = {0};
    assert_ok(sk_devices_read("cpu*3,cpu:x1 cpu:2+4", "reference", d, &count, &err), &err);
    assert_int_equal(count, 5);
    assert_string_equal(d[0].name, "cpu*0");
    assert_string_equal(d[2].name, "cpu*2");
    assert_string_equal(d[4].name, "cpu:2+4");
    assert_int_equal(d[4].cores[1], 4);
    assert_true(sk_device_on_cpu(&d[0]));
    assert_ok(sk_devices_read("", "reference", d, &count, &err), &err);
    assert_string_equal(d[0].name, "reference");
}

/* All that a step says, for the program that draws it. */
static void steps_are_told_whole(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_timeline_row row = {0}, other = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/steps.json", test_folder());
    assert_ok(sk_timeline_row_open(&row, 3, "lane", &err), &err);
    assert_ok(sk_timeline_row_open(&other, 3, "early", &err), &err);
    sk_timeline_row_add(&row, "post", 17, 4, 5000, 9000);
    sk_timeline_row_add(&other, "pre", 16, 1, 2000, 2500);
    sk_timeline_row *rows[] = {&row, &other};
    assert_ok(sk_timeline_write(rows, 2, path, &err), &err);
    json_t *root = json_load_file(path, 0, NULL), *events = json_object_get(root, "traceEvents");
    assert_int_equal(json_array_size(events), 4);
    int names = 0, steps = 0;
    for (size_t i = 0; i < 4; i++) {
        json_t *e = json_array_get(events, i), *args = json_object_get(e, "args");
        const int64_t thread = json_integer_value(json_object_get(e, "tid"));
        const bool first = thread == json_integer_value(json_object_get(json_array_get(events, 0), "tid"));
        assert_int_equal(json_integer_value(json_object_get(e, "pid")), 1);
        assert_true(json_is_integer(json_object_get(e, "tid")));
        if (strcmp(json_string_value(json_object_get(e, "ph")), "M") == 0) {
            names++;
            assert_string_equal(json_string_value(json_object_get(e, "name")), "thread_name");
            assert_string_equal(json_string_value(json_object_get(args, "name")), first ? "lane" : "early");
            continue;
        }
        steps++;
        assert_string_equal(json_string_value(json_object_get(e, "cat")), "runner");
        assert_string_equal(json_string_value(json_object_get(e, "name")), first ? "post" : "pre");
        assert_int_equal(json_integer_value(json_object_get(args, "frame")), first ? 17 : 16);
        assert_int_equal(json_integer_value(json_object_get(args, "frames")), first ? 4 : 1);
        assert_true(fabs(json_number_value(json_object_get(e, "ts")) - (first ? 3 : 0)) < 1e-9);
        assert_true(fabs(json_number_value(json_object_get(e, "dur")) - (first ? 4 : 0.5)) < 1e-9);
    }
    assert_int_equal(names, 2);
    assert_int_equal(steps, 2);
    json_decref(root);
    sk_timeline_row_close(&row);
    sk_timeline_row_close(&other);
    sk_timeline_row_add(&row, "late", 1, 1, 1, 2); /* nothing happens */
}

static void stages_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < SK_STAGE_COUNT; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(sk_stage_name((sk_stage)i), sk_stage_name((sk_stage)k));
    assert_string_equal(sk_stage_name((sk_stage)-1), "unknown");
    assert_string_equal(sk_stage_name(SK_STAGE_COUNT), "unknown");
    assert_string_equal(sk_stage_name((sk_stage)0), "upload");
    assert_string_equal(sk_stage_name((sk_stage)(SK_STAGE_COUNT - 1)), "second post");
}

/* After frames went through: what is counted, what memory is held, and that it begins anew. */
static void figures_are_counted(void **state)
{
    (void)state;
    sk_runner_settings s = tiny_settings();
    s.quick_open = true;
    s.timeline = 50;
    sk_runner *r = open_runner(model, &s);
    frames set = make_frames(5, 48, 40);
    sk_error err = {0};
    static sk_runner_stats before, stats;
    sk_runner_get_stats(r, &before);
    assert_true(before.bytes > 0 && before.worst_pcc == 1);
    for (int i = 0; i < 5; i++) {
        sk_runner_result result;
        assert_ok(sk_runner_submit(r, &set.frames[i], NULL, NULL, &err), &err);
        assert_ok(sk_runner_next(r, &result, &err), &err);
        assert_int_equal(result.index, i);
        assert_int_equal(result.time_ns, i * 40000000);
        assert_true(result.width == 48 && result.height == 40 && result.latency_ms > 0);
    }
    sk_runner_get_stats(r, &stats);
    assert_int_equal(stats.submitted, 5);
    assert_int_equal(stats.delivered, 5);
    assert_int_equal(stats.devices[0].frames, 5);
    assert_int_equal(stats.devices[0].threads, 1);
    assert_string_equal(stats.devices[0].name, "cpu");
    assert_int_equal(stats.stages[SK_STAGE_TOTAL].count, 5);
    assert_true(stats.stages[SK_STAGE_TOTAL].max >= stats.stages[SK_STAGE_NETWORK].max);
    sk_runner_mark(r, "mine", 3, 10, 20);
    char path[512], *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/line.json", test_folder());
    assert_ok(sk_runner_write_timeline(r, path, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    assert_non_null(strstr(text, "mine"));
    assert_non_null(strstr(text, "network"));
    sk_free(text);
    sk_runner_reset_stats(r);
    sk_runner_get_stats(r, &stats);
    assert_true(stats.submitted == 0 && stats.worst_pcc == 1 && stats.stages[SK_STAGE_TOTAL].count == 0);
    sk_runner_release(r);
    assert_int_equal(sk_runner_write_timeline(r, path, &err), SK_ERR_CANCELLED);
    sk_runner_close(&r);
    s.timeline = 0;
    r = open_runner(model, &s);
    assert_int_equal(sk_runner_write_timeline(r, path, &err), SK_ERR_ARG);
    assert_int_equal(sk_runner_write_timeline(r, NULL, &err), SK_ERR_ARG);
    sk_runner_close(&r);
    free_frames(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_have_bounds),     cmocka_unit_test(depth_follows_mode_and_batch),
        cmocka_unit_test(keys_differ_in_one_thing), cmocka_unit_test(times_are_near_in_every_bucket),
        cmocka_unit_test(cores_are_listed),         cmocka_unit_test(steps_are_told_whole),
        cmocka_unit_test(stages_have_names),        cmocka_unit_test(figures_are_counted),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
