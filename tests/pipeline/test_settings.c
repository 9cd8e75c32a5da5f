/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/internal.h"
#include "pipeline_fixture.h"
#include "runner/internal.h"

#include <math.h>

/* Every setting of a pipeline: refused at its bounds and not before, handed on to the stages and to the runner, counted back. */

typedef struct refusal {
    sk_pipeline_settings settings;
    sk_sleap_options sleap;
    bool has_sleap;
    const char *why; /* null: taken */
} refusal;

static const char *try(refusal *r, char *message)
{
    sk_pipeline p = {0};
    sk_error err = {0};
    r->settings.sleap = r->has_sleap ? &r->sleap : NULL;
    const sk_status status = sk_pipeline_copy_settings(&p, &r->settings, &err);
    assert_true(status == SK_OK || status == SK_ERR_ARG);
    memcpy(message, err.message, sizeof err.message);
    sk_pipeline_free_settings(&p);
    return status == SK_OK ? NULL : message;
}

static refusal plain(void)
{
    refusal r = {.settings = SK_PIPELINE_SETTINGS_INIT, .sleap = SK_SLEAP_OPTIONS_INIT};
    sk_pipeline_defaults(&r.settings);
    sk_sleap_options_defaults(&r.sleap);
    return r;
}

/* One field at a time. */
#define TRY(field, value, why)                                                                               \
    do {                                                                                                     \
        refusal r_ = plain();                                                                                \
        char message_[SK_ERROR_MESSAGE_MAX];                                                                 \
        r_.field = (value);                                                                                  \
        r_.has_sleap = #field[1] == 'l';                                                                     \
        const char *told_ = try(&r_, message_), *wanted_ = (why);                                            \
        if (wanted_ ? !told_ || !strstr(told_, wanted_) : told_ != NULL)                                     \
            fail_msg("%s = %s: %s", #field, #value, told_ ? told_ : "taken");                                \
    } while (0)

static void settings_have_bounds(void **state)
{
    (void)state;
    static const int32_t classes[] = {1};
    TRY(settings.batch, 0, NULL); /* one of four that is 0 is a wish */
    TRY(settings.max_det, 0, NULL);
    TRY(settings.confidence, 0, NULL);
    TRY(settings.iou, 0, NULL);
    TRY(settings.rect, SK_RECT_AUTO, NULL);
    TRY(settings.rect, SK_RECT_OFF, NULL);
    TRY(settings.rect, (sk_rect)(SK_RECT_OFF + 1), "rect 3");
    TRY(settings.rect, (sk_rect)-1, "rect");
    TRY(settings.heads, SK_HEADS_ONE_TO_ONE, NULL);
    TRY(settings.heads, (sk_heads)(SK_HEADS_ONE_TO_ONE + 1), "heads");
    TRY(settings.heads, (sk_heads)-1, "heads");
    TRY(settings.crop_turned, SK_CHOICE_AUTO, NULL);
    TRY(settings.crop_turned, (sk_choice)3, "crop_turned 3");
    TRY(settings.mask_neighbours, SK_CHOICE_AUTO, NULL);
    TRY(settings.mask_neighbours, (sk_choice)3, "mask_neighbours 3");
    TRY(settings.crop_batch, 0, NULL);
    TRY(settings.crop_batch, 64, NULL);
    TRY(settings.crop_batch, 65, "crop_batch is 65");
    TRY(settings.crop_batch, -1, "crop_batch is -1");
    TRY(settings.n_classes, 1, "classes is null");
    TRY(settings.n_classes, -1, "n_classes is -1");
    TRY(settings.classes, classes, NULL); /* none of them */
    TRY(settings.peak_threshold, NAN, "peak_threshold");
    TRY(settings.max_instances, 0, NULL);
    TRY(settings.max_instances, -1, "max_instances is -1");
    TRY(settings.height, -1, "height -1");
    TRY(settings.width, -1, "width -1");
    TRY(settings.threads, -1, "threads -1");
    TRY(sleap.refinement, SK_SLEAP_REFINE_NONE, NULL);
    TRY(sleap.refinement, 3, "refinement 3");
    TRY(sleap.refinement, -1, "refinement");
    TRY(sleap.overlap, SK_OVERLAP_OKS, NULL);
    TRY(sleap.overlap, 3, "overlap 3");
    TRY(sleap.n_points, 1, "n_points is 1");
    TRY(sleap.n_points, 2, NULL);
    TRY(sleap.n_points, 1000, NULL);
    TRY(sleap.n_points, 1001, "n_points is 1001");
    TRY(sleap.min_line_scores, 1, NULL);
    TRY(sleap.min_line_scores, -1, NULL);
    TRY(sleap.min_line_scores, 1.01f, "min_line_scores 1.01");
    TRY(sleap.min_line_scores, -1.01f, "min_line_scores -1.01");
    TRY(sleap.min_visible_node_fraction, 1, NULL);
    TRY(sleap.min_visible_node_fraction, 0, NULL);
    TRY(sleap.min_visible_node_fraction, 1.01f, "fraction 1.01");
    TRY(sleap.min_visible_node_fraction, -0.01f, "fraction -0.01");
    TRY(sleap.centroid_peak_threshold, NAN, "NaN");
    TRY(sleap.max_edge_length_ratio, NAN, "NaN");
    TRY(sleap.dist_penalty_weight, NAN, "NaN");
    TRY(sleap.min_instance_peaks, NAN, "NaN");
    TRY(sleap.min_line_scores, NAN, "NaN");
    TRY(sleap.overlap_threshold, NAN, "NaN");
    TRY(sleap.min_mean_node_score, NAN, "NaN");
    TRY(sleap.min_instance_score, NAN, "NaN");
    TRY(sleap.min_centroid_distance, NAN, "NaN");
    TRY(sleap.min_visible_node_fraction, NAN, "NaN");
    const sk_pipeline_settings empty = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline p = {0};
    sk_error err = {0};
    assert_int_equal(sk_pipeline_copy_settings(&p, &empty, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "sk_pipeline_defaults"));
    sk_pipeline_free_settings(&p);
}

static void defaults_are_those_of_the_documentation(void **state)
{
    (void)state;
    sk_pipeline_settings s = SK_PIPELINE_SETTINGS_INIT;
    sk_pipeline_defaults(&s);
    assert_int_equal(s.size, sizeof s);
    assert_int_equal(s.mode, SK_PIPELINE_THROUGHPUT);
    assert_int_equal(s.batch_wait_ms, 20);
    assert_int_equal(s.max_age_ms, 500);
    assert_string_equal(s.runtime, "cpu");
    sk_sleap_options o = SK_SLEAP_OPTIONS_INIT;
    sk_sleap_options_defaults(&o);
    assert_int_equal(o.n_points, 10);
    assert_int_equal(o.integral_patch_size, 5);
    sk_pipeline_defaults(NULL);
    sk_sleap_options_defaults(NULL);
}

/* What they point to may go as soon as they were copied. */
static void settings_reach_the_detector(void **state)
{
    (void)state;
    sk_pipeline_settings s = plain().settings;
    sk_sleap_options o = plain().sleap;
    int32_t classes[] = {5, 2, 9};
    char runtime[] = "cpu", precision[] = "f32", options[] = "threads=2", devices[] = "cpu:0";
    sk_frame expect = SK_FRAME_INIT;
    expect.width = 77, expect.height = 55, expect.format = SK_PIXEL_NONE;
    o.n_points = 33;
    s.runtime = runtime, s.precision = precision, s.options = options, s.devices = devices;
    s.threads = 3, s.batch = 7, s.height = 96, s.width = 128, s.rect = SK_RECT_ON,
    s.heads = SK_HEADS_ONE_TO_ONE;
    s.confidence = 0.11f, s.iou = 0.22, s.max_det = 44, s.agnostic = true, s.obb_quarter = true;
    s.classes = classes, s.n_classes = 3, s.peak_threshold = 0.33f, s.max_instances = 6, s.sleap = &o;
    s.crop_turned = SK_CHOICE_AUTO, s.crop_batch = 8, s.mask_neighbours = SK_CHOICE_ON, s.expect = &expect;
    sk_pipeline p = {0};
    sk_error err = {0};
    assert_ok(sk_pipeline_copy_settings(&p, &s, &err), &err);
    memset(classes, 0, sizeof classes);
    memset(runtime, 0, sizeof runtime), memset(precision, 0, sizeof precision),
        memset(options, 0, sizeof options);
    memset(devices, 0, sizeof devices), memset(&o, 0, sizeof o), memset(&expect, 0, sizeof expect);
    const sk_detector_settings *d = &p.detector;
    assert_string_equal(d->runtime, "cpu");
    assert_string_equal(d->precision, "f32");
    assert_string_equal(d->engine_options, "threads=2");
    assert_string_equal(p.devices, "cpu:0");
    assert_true(p.settings.devices == p.devices && p.settings.runtime == p.runtime &&
                p.settings.precision == p.precision && p.settings.options == p.options &&
                p.settings.classes == p.classes && p.settings.sleap == &p.sleap &&
                p.settings.expect == &p.expect);
    assert_int_equal(d->threads, 3);
    assert_int_equal(d->batch, 7);
    assert_int_equal(d->height, 96);
    assert_int_equal(d->width, 128);
    assert_int_equal(d->rect, SK_RECT_ON);
    assert_int_equal(d->heads, SK_HEADS_ONE_TO_ONE);
    assert_true(d->confidence == 0.11f && d->iou == 0.22 && d->peak_threshold == 0.33f);
    assert_int_equal(d->max_det, 44);
    assert_true(d->agnostic && d->obb_quarter);
    assert_int_equal(d->n_classes, 3);
    assert_memory_equal(d->classes, ((const int32_t[]){5, 2, 9}), 12);
    assert_int_equal(d->max_instances, 6);
    assert_int_equal(d->sleap.n_points, 33);
    assert_int_equal(d->crop_turned, SK_CHOICE_AUTO);
    assert_int_equal(d->crop_batch, 8);
    assert_int_equal(d->mask_neighbours, SK_CHOICE_ON);
    assert_int_equal(p.expect.format, SK_PIXEL_RGB);
    assert_int_equal(p.expect.width, 77);
    /* and those that the commands have take their place */
    sk_detector_settings given = *d;
    int32_t others[] = {4};
    given.runtime = "ort", given.precision = "", given.engine_options = NULL, given.provider = "CUDA";
    given.openvino_device = "GPU", given.classes = others, given.n_classes = 1, given.batch = 2;
    assert_ok(sk_pipeline_copy_detector(&p, &given, &err), &err);
    assert_string_equal(d->runtime, "ort");
    assert_true(d->runtime == p.runtime && d->runtime != given.runtime);
    assert_null(d->precision);
    assert_null(d->engine_options);
    assert_string_equal(d->provider, "CUDA");
    assert_string_equal(d->openvino_device, "GPU");
    assert_int_equal(d->classes[0], 4);
    assert_true(d->classes != others);
    assert_int_equal(d->batch, 2);
    given.runtime = NULL;
    assert_ok(sk_pipeline_copy_detector(&p, &given, &err), &err);
    assert_string_equal(d->runtime, "cpu");
    sk_pipeline_free_settings(&p);
}

static void settings_reach_the_runner(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_frame expect = SK_FRAME_INIT;
    expect.width = 48, expect.height = 40, expect.format = SK_PIXEL_BGR;
    s.expect = &expect;
    s.mode = SK_PIPELINE_LATENCY, s.when_full = SK_FULL_REFUSE, s.depth = 5, s.batch_wait_ms = 31,
    s.max_age_ms = 432;
    s.timeout_ms = 54321, s.check_every = 6, s.pcc_min = 0.75, s.allow_failover = true, s.keep_outputs = true;
    s.timeline = 19, s.keep_frames = true;
    for (int other = 0; other < 2; other++) {
        sk_pipeline *p = open_tiny(&s);
        const sk_runner_settings *r = &p->runner->settings;
        assert_int_equal(r->frame_width, 48);
        assert_int_equal(r->frame_height, 40);
        assert_int_equal(r->mode, s.mode);
        assert_int_equal(r->when_full, s.when_full);
        assert_int_equal(r->frames, s.keep_frames ? SK_RUNNER_HOLD : SK_RUNNER_BORROW);
        assert_int_equal(r->depth, 5);
        assert_int_equal(p->info.depth, 5);
        assert_int_equal(r->batch_wait_ms, 31);
        assert_int_equal(r->max_age_ms, 432);
        assert_int_equal(r->timeout_ms, 54321);
        assert_int_equal(r->check_every, s.check_every);
        assert_true(r->pcc_min == s.pcc_min);
        assert_int_equal(r->allow_failover, s.allow_failover);
        assert_int_equal(r->keep_outputs, s.keep_outputs);
        assert_int_equal(r->quick_open, true);
        assert_int_equal(r->timeline, s.timeline);
        assert_ptr_equal(r->context, p);
        assert_true(p->open_seconds > 0 && p->open_seconds < 60);
        assert_int_equal(p->about[0].width, 32);
        sk_pipeline_close(&p);
        s.mode = SK_PIPELINE_THROUGHPUT, s.when_full = SK_FULL_BLOCK,
        s.allow_failover = s.keep_outputs = s.keep_frames = false;
        s.check_every = s.timeline = 0, s.pcc_min = 0;
    }
}

/* Frames in, figures out: of the whole, of each stage and of each device, and nothing where there is none. */
static void figures_are_counted(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    sk_error err = {0};
    for (int i = 0; i < 3; i++) {
        lent *l = make_lent(i, 48, 40);
        const sk_result *result = NULL;
        assert_ok(sk_pipeline_run(p, &l->frame, &result, &err), &err);
        sk_pipeline_give_back(p, result);
        free_lent(l);
    }
    sk_pipeline_stats whole = SK_PIPELINE_STATS_INIT;
    sk_pipeline_get_stats(p, &whole);
    assert_int_equal(whole.submitted, 3);
    assert_int_equal(whole.delivered, 3);
    assert_int_equal(whole.n_devices, 1);
    assert_true(
        whole.dropped + whole.expired + whole.refused + whole.cancelled + whole.failed + whole.moved == 0);
    assert_true(whole.open_seconds == p->open_seconds);
    for (int k = -1; k <= SK_STAGE_COUNT; k++) {
        sk_stage_stats stage = SK_STAGE_STATS_INIT;
        const bool there = k >= 0 && k < SK_STAGE_COUNT;
        assert_int_equal(sk_pipeline_get_stage(p, (sk_stage)k, &stage), there);
        if (there && stage.count)
            assert_true(stage.count <= 3 && stage.min <= stage.p50 && stage.p50 <= stage.p90 &&
                        stage.p90 <= stage.p99 && stage.p99 <= stage.max && stage.sum >= stage.max &&
                        stage.min > 0);
    }
    sk_device_stats device = SK_DEVICE_STATS_INIT;
    assert_false(sk_pipeline_get_device(p, -1, &device));
    assert_false(sk_pipeline_get_device(p, 1, &device));
    assert_true(sk_pipeline_get_device(p, 0, &device));
    assert_int_equal(device.frames, 3);
    assert_int_equal(device.threads, 1);
    assert_string_equal(device.name, "cpu");
    assert_string_equal(device.problem, "");
    sk_pipeline_file file = {.size = sizeof file};
    assert_false(sk_pipeline_get_file(p, -1, &file));
    assert_false(sk_pipeline_get_file(p, 100, &file));
    sk_pipeline_reset_stats(p);
    sk_pipeline_get_stats(p, &whole);
    assert_int_equal(whole.submitted, 0);
    assert_true(whole.open_seconds > 0);
    sk_pipeline_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_have_bounds),
        cmocka_unit_test(defaults_are_those_of_the_documentation),
        cmocka_unit_test(settings_reach_the_detector),
        cmocka_unit_test(settings_reach_the_runner),
        cmocka_unit_test(figures_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
