/* SPDX-License-Identifier: Apache-2.0 */
/* How much the runner gains: what is counted, over which frames, and how the figures follow from the rounds. */
#include "runner/runner_fixture.h"

#include "app/speed.h"
#include "base/file.h"
#include "base/memory.h"
#include "media/video_sink.h"
#include "runner/network.h"

#include <math.h>
#include <unistd.h>

static sk_error err;
static char network[4300];

static sk_speed_settings quick(void)
{
    sk_speed_settings s;
    sk_speed_defaults(&s);
    s.n_models = 1;
    s.models[0] = network;
    s.width = 48;
    s.height = 40;
    s.runner = tiny_settings();
    s.iterations = 10;
    s.rounds = 3;
    return s;
}

static sk_speed_report report; /* large */

static void defaults(void **state)
{
    (void)state;
    sk_speed_settings s;
    sk_speed_defaults(&s);
    assert_true(s.width == 1920 && s.height == 1080 && s.iterations == 200 && s.decode_threads == 1);
    assert_true(s.rounds == 0 && !s.rgb && !s.check_pcc && !s.no_basic && !s.input && !s.trace_out);
    assert_int_equal(s.n_models, 0);
}

static double middle_of(const double *values, int32_t n)
{
    double a[SK_SPEED_MAX_ROUNDS];
    memcpy(a, values, (size_t)n * sizeof *a);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k < n; k++)
            if (a[k] < a[i]) {
                const double t = a[i];
                a[i] = a[k];
                a[k] = t;
            }
    return n % 2 ? a[n / 2] : (a[n / 2 - 1] + a[n / 2]) / 2;
}

/* What holds of every report with both sides. */
static void check_figures(const sk_speed_report *r)
{
    double least = INFINITY, most = 0, basic = 0, runner = 0;
    for (int32_t i = 0; i < r->rounds; i++) {
        assert_true(r->basic_round[i] > 0 && r->runner_round[i] > 0);
        const double ratio = r->runner_round[i] / r->basic_round[i];
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        basic += r->frames_a_round / r->basic_round[i];
        runner += r->frames_a_round / r->runner_round[i];
    }
    assert_true(fabs(r->speedup_least - least) < 1e-9 && fabs(r->speedup_most - most) < 1e-9);
    assert_true(fabs(r->basic_fps / middle_of(r->basic_round, r->rounds) - 1) < 1e-9);
    assert_true(fabs(r->runner_fps / middle_of(r->runner_round, r->rounds) - 1) < 1e-9);
    assert_true(fabs(r->speedup - r->runner_fps / r->basic_fps) < 1e-9);
    /* basic execution's parts are parts of its rounds */
    const double parts = r->basic.copy + r->basic.pre + r->basic.network + r->basic.post + r->basic_decode;
    assert_true(r->basic.copy > 0 && r->basic.pre > 0 && r->basic.network > 0 && r->basic.post > 0);
    assert_true(parts <= basic && parts > basic / 4);
    assert_true(runner < 600 && basic < 600);
    assert_int_equal(r->basic.frames, r->rounds * r->frames_a_round);
    assert_int_equal(r->basic_instances, r->runner_instances); /* the same frames, the same results */
    assert_true(r->runner_instances > 0);
    assert_int_equal(r->stats.delivered, r->rounds * r->frames_a_round);
}

static void both_sides_see_the_same_noise(void **state)
{
    (void)state;
    sk_speed_settings s = quick();
    assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
    assert_int_equal(report.rounds, 3);
    assert_int_equal(report.frames_a_round, 4); /* ten in three rounds, rounded up */
    check_figures(&report);
    assert_true(report.width == 48 && report.height == 40 && report.n_models == 1);
    assert_string_equal(report.models[0], network);
    assert_string_equal(report.runtime, "cpu");
    assert_string_equal(report.precision, "f32");
    assert_true(report.device[0] && report.notice[0] == '\0' && !report.checked);
    assert_true(report.basic_decode == 0 && report.runner_decode == 0);
    assert_true(report.depth >= 1);
    s.check_pcc = true;
    s.runner.mode = SK_PIPELINE_LATENCY;
    s.iterations = 9;
    assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
    assert_int_equal(report.frames_a_round, 3);
    check_figures(&report);
    assert_true(report.checked && report.check.pcc > 0.999 && report.check.pcc <= 1.0000001);
    assert_int_equal(report.depth, 1); /* one frame for the one device */
    s.no_basic = true;
    assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
    assert_true(report.basic_fps == 0 && report.speedup == 0 && report.speedup_most == 0);
    assert_true(report.basic.frames == 0 && report.basic_instances == 0 && report.checked);
    assert_true(report.runner_fps > 0 && report.runner_instances > 0);
}

/* One model finds, the other looks at crops of that: both sides count the poses. */
static void two_models(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Detect", .f32 = true};
    char finder[4300];
    snprintf(finder, sizeof finder, "%s", yolo_save(&fixture, "finder.pt"));
    sk_speed_settings s = quick();
    s.n_models = 2;
    s.models[1] = finder;
    s.iterations = 4;
    s.rounds = 2;
    s.runner.detector.max_det = 3;
    assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
    assert_int_equal(report.n_models, 2);
    assert_string_equal(report.models[0], finder); /* in the order in which they run */
    assert_string_equal(report.models[1], network);
    assert_true(report.rounds == 2 && report.frames_a_round == 2 && report.basic.frames == 4);
    assert_int_equal(report.basic_instances, report.runner_instances);
    assert_true(report.basic_instances > 0 && report.basic_instances <= 4 * 3);
}

typedef struct seen {
    int32_t calls, rounds, stop_at;
} seen;

static bool see(void *context, int32_t round, int32_t rounds)
{
    seen *s = context;
    s->calls++;
    assert_int_equal(round, s->calls);
    s->rounds = rounds;
    return round == s->stop_at;
}

static void rounds_of(int32_t iterations, int32_t asked, int32_t stop_at, int32_t rounds, int32_t each)
{
    sk_speed_settings s = quick();
    seen w = {.stop_at = stop_at};
    s.iterations = iterations;
    s.rounds = asked;
    s.no_basic = true;
    assert_ok(sk_speed_measure(&s, see, &w, &report, &err), &err);
    assert_int_equal(w.rounds, rounds);
    assert_int_equal(w.calls, stop_at ? stop_at : rounds);
    assert_int_equal(report.rounds, w.calls);
    assert_int_equal(report.frames_a_round, each);
}

static void rounds_are_of_about_25_frames(void **state)
{
    (void)state;
    rounds_of(25, 0, 0, 1, 25);
    rounds_of(26, 0, 0, 2, 13);
    rounds_of(1, 0, 0, 1, 1);
    rounds_of(50, 0, 1, 2, 25);
    rounds_of(64, 1000, 2, SK_SPEED_MAX_ROUNDS, 1);
    rounds_of(10, -5, 0, 1, 10);
}

static void put_picture(const char *path, int32_t width, int32_t height, int64_t index)
{
    sk_frame f = make_frame(width, height, index);
    for (int32_t y = 1; y < height; y++)
        memmove(f.data + (size_t)y * 3 * (size_t)width, f.data + (size_t)y * (size_t)f.stride,
                3 * (size_t)width);
    f.stride = 3 * (ptrdiff_t)width;
    assert_ok(sk_picture_write(path, &f, &err), &err);
    free(f.data);
}

static void frames_of_files(void **state)
{
    (void)state;
    char path[64];
    assert_ok(sk_folder_make("pictures", &err), &err);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "pictures/%d.png", i);
        put_picture(path, 48, 40, i);
    }
    sk_speed_settings s = quick();
    s.input = "pictures";
    s.check_pcc = true;
    s.trace_out = "trace.json";
    assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
    assert_true(report.width == 48 && report.height == 40);
    assert_true(report.basic_decode > 0 && report.runner_decode > 0);
    check_figures(&report);
    assert_true(sk_file_size("trace.json") > 100);
    s.no_basic = true;
    s.rgb = true;
    s.trace_out = NULL;
    assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
    assert_true(report.basic_decode == 0 && report.runner_decode > 0);
    put_picture("pictures/1.png", 40, 40, 1);
    s.no_basic = s.check_pcc = false;
    assert_int_equal(sk_speed_measure(&s, NULL, NULL, &report, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "pictures: pictures of different sizes (48x40, then 40x40); basic "
                                     "execution is measured with one");
    assert_string_equal(report.runtime, "cpu"); /* what ran is told all the same */
    s.input = "0";
    assert_int_equal(sk_speed_measure(&s, NULL, NULL, &report, &err), SK_ERR_UNSUPPORTED);
    assert_string_equal(err.message, "0: a camera, stream or pipe gives its frames once; both sides need the "
                                     "same ones. Give a file");
    s.input = "-";
    assert_int_equal(sk_speed_measure(&s, NULL, NULL, &report, &err), SK_ERR_UNSUPPORTED);
    s.input = "nowhere";
    assert_int_equal(sk_speed_measure(&s, NULL, NULL, &report, &err), SK_ERR_NOT_FOUND);
    s = quick();
    s.models[0] = "nothing.pt";
    assert_int_equal(sk_speed_measure(&s, NULL, NULL, &report, &err), SK_ERR_NOT_FOUND);
    assert_int_equal(report.rounds, 0);
    s = quick();
    s.trace_out = "nowhere/trace.json";
    assert_int_equal(sk_speed_measure(&s, NULL, NULL, &report, &err), SK_ERR_IO);
}

/* Basic execution finds what the stages find, frame by frame, and forgets its times when asked. */
static void basic_execution(void **state)
{
    (void)state;
    sk_model *model = NULL;
    sk_basic *b = NULL;
    sk_basic_times times;
    const sk_engine *engine = NULL;
    sk_runner_settings s = tiny_settings();
    assert_ok(sk_model_open(network, &model, &err), &err);
    assert_ok(sk_net_engine("cpu", &engine, &err), &err);
    const sk_model *models[] = {model};
    assert_ok(sk_basic_open(models, 1, engine, &s.detector, 48, 40, &b, &err), &err);
    plain p = {0};
    plain_open(&p, model, &s, 48, 40);
    frames set = make_frames(4, 48, 40);
    for (int32_t i = 0; i < 4; i++) {
        int32_t count = -1;
        assert_ok(sk_basic_run(b, &set.frames[i], &count, &err), &err);
        plain_run(&p, &set.frames[i]);
        sk_task_stage_keep(p.stage, &p.found);
        assert_int_equal(count, p.found.count);
    }
    sk_basic_get_times(b, &times);
    assert_int_equal(times.frames, 4);
    sk_basic_reset_times(b);
    sk_basic_get_times(b, &times);
    assert_true(times.frames == 0 && times.copy == 0 && times.pre == 0 && times.network == 0 &&
                times.post == 0);
    plain_close(&p);
    free_frames(&set);
    sk_basic_close(&b);
    assert_null(b);
    sk_model_close(&model);
}

/* What the settings do not keep counts on neither side. */
static void what_is_not_kept(void **state)
{
    (void)state;
    sk_speed_settings s = quick();
    char model[4300];
    snprintf(model, sizeof model, "%s", test_source("tests/fixtures/sleap_nn/unet_single_kernel5_convs3"));
    s.models[0] = model;
    s.width = 64;
    s.height = 48;
    s.iterations = 4;
    s.rounds = 2;
    s.runner.detector.height = s.runner.detector.width = 0;
    s.runner.detector.peak_threshold = -1e9f;
    for (int kept = 1; kept >= 0; kept--) {
        s.runner.detector.sleap.min_mean_node_score = kept ? -1e9f : 1e9f;
        assert_ok(sk_speed_measure(&s, NULL, NULL, &report, &err), &err);
        assert_int_equal(report.basic_instances, kept ? 4 : 0);
        assert_int_equal(report.runner_instances, kept ? 4 : 0);
    }
}

int main(void)
{
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    if (chdir(test_folder()) != 0)
        return 1;
    snprintf(network, sizeof network, "%s", yolo_save(&fixture, "speed.pt"));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),
        cmocka_unit_test(both_sides_see_the_same_noise),
        cmocka_unit_test(two_models),
        cmocka_unit_test(what_is_not_kept),
        cmocka_unit_test(rounds_are_of_about_25_frames),
        cmocka_unit_test(frames_of_files),
        cmocka_unit_test(basic_execution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
