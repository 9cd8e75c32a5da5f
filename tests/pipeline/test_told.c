/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include "base/file.h"
#include "pipeline/internal.h"

/* What a pipeline says of its device and its models, what it keeps of them, and what is refused of a single frame. */

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Prepared by settings of the door's own; null where there is no such runtime here. */
static sk_pipeline *prepare(const char *runtime, const char *provider, const char *device)
{
    sk_error err = {0};
    const char *path = tiny_path();
    sk_pipeline *p = NULL;
    sk_detector_settings d;
    sk_detector_defaults(&d);
    d.runtime = runtime;
    d.provider = provider;
    d.openvino_device = device;
    const sk_status status = sk_pipeline_prepare(&path, 1, &d, NULL, &p, &err);
    if (status != SK_OK && status != SK_ERR_UNSUPPORTED)
        fail_msg("%s", err.message);
    return p;
}

static void devices_are_told_with_what_was_asked_of_them(void **state)
{
    (void)state;
    static const struct {
        const char *runtime, *provider, *device, *end;
    } cases[] = {{"cpu", NULL, "GPU.1", ", GPU.1 device"},
                 {"cpu", NULL, NULL, ""},
                 {"reference", NULL, "NPU", ", NPU device"},
                 {"onnx_cpu", "cpu", NULL, ", cpu provider"},
                 {"onnx_cpu", "cpu", "GPU", ", cpu provider, GPU device"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_pipeline *p = prepare(cases[i].runtime, cases[i].provider, cases[i].device);
        if (!p)
            continue; /* not on this machine */
        const sk_pipeline_info *info = sk_pipeline_about(p);
        if (!ends_with(info->device, cases[i].end) || info->device[0] == ',')
            fail_msg("case %zu: '%s'", i, info->device);
        assert_int_equal(strstr(info->device, "device") != NULL, cases[i].device != NULL);
        assert_int_equal(strstr(info->device, "provider") != NULL, cases[i].provider != NULL);
        assert_string_equal(info->runtime, cases[i].runtime);
        assert_int_equal(info->depth, 0); /* nothing stands yet */
        assert_null(sk_pipeline_runner(p));
        sk_pipeline_close(&p);
    }
}

/* Weights are given back where no frame can need another network. */
static void weights_are_forgotten_where_one_network_fits_all(void **state)
{
    (void)state;
    static const sk_rect both[] = {SK_RECT_OFF, SK_RECT_ON};
    for (int k = 0; k < 2; k++) {
        const sk_rect rect = both[k];
        sk_pipeline_settings s = tiny_settings();
        s.rect = rect;
        sk_pipeline *p = open_tiny(&s);
        assert_int_equal(sk_pipeline_fits_all(p), rect == SK_RECT_OFF);
        assert_int_equal(sk_pipeline_models(p)[0]->forgotten, rect == SK_RECT_OFF);
        assert_int_equal(sk_pipeline_about(p)->rect, rect);
        lent *a = make_lent(0, 48, 40), *b = make_lent(1, 20, 90); /* another size works in both */
        sk_error err = {0};
        const sk_result *result = NULL;
        for (int i = 0; i < 2; i++) {
            assert_ok(sk_pipeline_run(p, i ? &b->frame : &a->frame, &result, &err), &err);
            assert_int_equal(result->index, i);
            sk_pipeline_give_back(p, result);
        }
        for (int twice = 0; twice < 2; twice++) {
            sk_pipeline_forget(p, true); /* no other size is expected */
            assert_true(sk_pipeline_models(p)[0]->forgotten);
        }
        sk_pipeline_close(&p);
        free_lent(a);
        free_lent(b);
    }
    sk_pipeline *p = prepare("cpu", NULL, NULL);
    assert_false(sk_pipeline_models(p)[0]->forgotten);
    sk_pipeline_close(&p);
}

static void a_single_frame_is_refused_in_words(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(4, 48, 40);
    const sk_result *result = (const sk_result *)(const void *)&s;
    sk_error err = {0};
    assert_int_equal(sk_pipeline_run(NULL, &l->frame, &result, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_run(p, &l->frame, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_run(p, NULL, &result, &err), SK_ERR_ARG);
    assert_null(result);
    assert_int_equal(sk_pipeline_take(NULL, 0, &result, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_submit(p, &l->frame, NULL, 8, &err), SK_ERR_ARG);
    assert_string_equal(err.message, "flags 0x8 are not known");
    l->frame.place = SK_PLACE_CUDA;
    l->frame.format = SK_PIXEL_NV12;
    l->frame.release = NULL;
    assert_int_not_equal(sk_pipeline_submit(p, &l->frame, NULL, 0, &err), SK_OK);
    assert_int_equal(l->back, 0);
    assert_int_equal(sk_pipeline_take(p, 0, &result, &err), SK_ERR_TIMEOUT);
    assert_string_equal(err.message, "no result after 0 ms: 0 frames are in flight");
    sk_pipeline_give_back(p, NULL);
    const sk_result nobodys = {0};
    sk_pipeline_give_back(p, &nobodys);
    sk_pipeline_close(&p);
    free_lent(l);
}

/* All fields of a result, of a frame that passed and of one that failed a check. */
static void results_are_told_whole(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    s.keep_frames = true;
    s.keep_outputs = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(11, 48, 40);
    l->frame.wall_ns = 123456789;
    sk_error err = {0};
    const sk_result *result = NULL, *again = NULL;
    assert_ok(sk_pipeline_submit(p, &l->frame, &s, SK_SUBMIT_CHECK | SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &result, &err), &err);
    assert_int_equal(result->size, sizeof *result);
    assert_int_equal(result->status, SK_OK);
    assert_string_equal(result->problem, "");
    assert_true(result->ticket == 0 && result->index == 11 && result->time_ns == 440000000 &&
                result->wall_ns == 123456789 && result->width == 48 && result->height == 40 &&
                result->device == 0 && result->latency_ms > 0);
    assert_ptr_equal(result->user, &s);
    assert_ptr_equal(result->frame, &l->frame);
    assert_true(result->check && result->check->ran && result->check->passed && result->check->n_outputs > 0);
    assert_true(result->n_outputs > 0 && result->outputs);
    assert_int_equal(l->back, 0); /* kept until the result is given back */
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &again, &err), &err);
    assert_ptr_not_equal(again, result);
    assert_null(again->check);
    assert_int_equal(again->ticket, 1);
    sk_pipeline_give_back(p, result);
    assert_int_equal(l->back, 1);
    sk_pipeline_give_back(p, result); /* once is enough */
    assert_int_equal(l->back, 1);
    sk_pipeline_give_back(p, again);
    assert_int_equal(l->back, 2);
    sk_pipeline_close(&p);
    free_lent(l);
}

/* The network's input is told as it will be for the frames that are expected. */
static void inputs_are_told_for_expected_frames(void **state)
{
    (void)state;
    static const struct {
        sk_rect rect;
        int32_t frame[2], input[2];                /* width, height */
    } cases[] = {{SK_RECT_ON, {64, 16}, {64, 32}}, /* whole strides of 32 */
                 {SK_RECT_ON, {16, 64}, {32, 64}},
                 {SK_RECT_ON, {50, 50}, {64, 64}},
                 {SK_RECT_OFF, {64, 16}, {64, 64}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sk_pipeline_settings s = tiny_settings();
        sk_frame like = SK_FRAME_INIT;
        like.format = SK_PIXEL_RGB;
        like.width = cases[i].frame[0], like.height = cases[i].frame[1];
        s.height = s.width = 64;
        s.rect = cases[i].rect;
        s.expect = &like;
        sk_pipeline *p = open_tiny(&s);
        const sk_pipeline_model *m = sk_pipeline_about(p)->models[0];
        if (m->width != cases[i].input[0] || m->height != cases[i].input[1])
            fail_msg("case %zu: %d x %d", i, m->width, m->height);
        sk_pipeline_close(&p);
    }
}

/* A door may say by itself how frames pass; what computes stays the pipeline's. */
static void frames_pass_as_the_door_says(void **state)
{
    (void)state;
    sk_pipeline *p = prepare("cpu", NULL, NULL);
    const double prepared = p->open_seconds;
    assert_true(prepared > 0);
    sk_runner_settings how;
    sk_error err = {0};
    sk_runner_defaults(&how);
    how.quick_open = true;
    how.depth = 9;
    how.check_every = 3;
    how.allow_failover = true;
    how.frames = SK_RUNNER_HOLD;
    how.detector.runtime = "nobody asks";
    assert_ok(sk_pipeline_start(p, &how, &err), &err);
    assert_int_equal(sk_pipeline_about(p)->depth, 9);
    assert_true(p->settings.check_every == 3 && p->settings.allow_failover);
    assert_non_null(sk_pipeline_runner(p));
    sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
    sk_pipeline_get_stats(p, &stats);
    assert_true(stats.open_seconds > prepared && stats.n_devices == 1);
    assert_ok(sk_pipeline_start(p, NULL, &err), &err); /* and again as the settings said */
    assert_int_equal(sk_pipeline_about(p)->depth, 4);
    sk_pipeline_close(&p);
}

static void steps_of_others_are_in_the_timeline(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    s.timeline = 10;
    sk_pipeline *p = open_tiny(&s);
    sk_error err = {0};
    char path[600], *text = NULL;
    size_t length = 0;
    snprintf(path, sizeof path, "%s/timeline.json", test_folder());
    sk_pipeline_mark(p, "somebody else's", 77, 1000, 4000);
    assert_ok(sk_pipeline_write_timeline(p, path, &err), &err);
    assert_ok(sk_file_read(path, 1 << 20, &text, &length, &err), &err);
    const char *mine = strstr(text, "somebody else's");
    assert_non_null(mine);
    assert_non_null(strstr(mine, "77"));
    sk_free(text);
    sk_pipeline_close(&p);
}

static void a_network_that_is_cut_off_is_refused(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    sk_network *n = NULL;
    assert_ok(sk_model_open(tiny_path(), &model, &err), &err);
    sk_graph *const graph = model->graph;
    model->graph = NULL;
    assert_int_equal(sk_network_open(model, NULL, &n, &err), SK_ERR_FORMAT);
    assert_non_null(strstr(err.message, "the file is cut off and cannot be run"));
    assert_null(n);
    model->graph = graph;
    model->truncated = true;
    assert_int_equal(sk_network_open(model, NULL, &n, &err), SK_ERR_FORMAT);
    model->truncated = false;
    for (int slots = 0; slots <= SK_SESSION_MAX_SLOTS + 1; slots += SK_SESSION_MAX_SLOTS + 1) {
        sk_network_settings s = SK_NETWORK_SETTINGS_INIT;
        sk_network_defaults(&s);
        s.slots = slots;
        assert_int_equal(sk_network_open(model, &s, &n, &err), SK_ERR_ARG);
        assert_non_null(strstr(err.message, slots ? "allowed are 1 to" : "slots is 0; allowed are 1 to"));
    }
    sk_model_close(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_told_with_what_was_asked_of_them),
        cmocka_unit_test(weights_are_forgotten_where_one_network_fits_all),
        cmocka_unit_test(a_single_frame_is_refused_in_words),
        cmocka_unit_test(results_are_told_whole),
        cmocka_unit_test(inputs_are_told_for_expected_frames),
        cmocka_unit_test(frames_pass_as_the_door_says),
        cmocka_unit_test(steps_of_others_are_in_the_timeline),
        cmocka_unit_test(a_network_that_is_cut_off_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
