/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include "graph/builder.h"
#include "pipeline/internal.h"
#include "runner/internal.h"

/* What is refused before a pipeline stands and leaves nothing behind; what is said of one that does; frames that fail one by one. */

static void pointers_that_must_be_there(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *model = NULL;
    const sk_pipeline_settings s = tiny_settings();
    const char *path = tiny_path(), *three[] = {path, path, path};
    sk_pipeline *p = (sk_pipeline *)&err;
    assert_int_equal(sk_pipeline_prepare(NULL, 1, NULL, &s, &p, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_prepare(&path, 1, NULL, &s, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_open(&path, 1, &s, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_open(NULL, 1, &s, &p, &err), SK_ERR_ARG);
    assert_null(p);
    for (int n = 0; n <= 3; n += 3) {
        p = (sk_pipeline *)&err;
        assert_int_equal(sk_pipeline_prepare(three, n, NULL, &s, &p, &err), SK_ERR_ARG);
        assert_string_equal(err.message, n ? "3 models; one or two make a pipeline"
                                           : "0 models; one or two make a pipeline");
        assert_null(p);
    }
    assert_ok(sk_model_open(path, &model, &err), &err);
    const sk_model *lists[][3] = {{NULL, NULL}, {model, NULL}, {NULL, model}, {model, model, NULL}};
    static const int counts[] = {1, 2, 2, 3}; /* of the last nobody looks at the third */
    for (int i = 0; i < 4; i++) {
        p = (sk_pipeline *)&err;
        assert_int_equal(sk_pipeline_open_models(lists[i], counts[i], &s, &p, &err), SK_ERR_ARG);
        assert_int_equal(strstr(err.message, "3 models;") != NULL, counts[i] == 3);
        assert_null(p);
    }
    p = (sk_pipeline *)&err;
    assert_int_equal(sk_pipeline_open_models(NULL, 1, &s, &p, &err), SK_ERR_ARG);
    assert_null(p);
    assert_int_equal(sk_pipeline_open_models(lists[1], 1, &s, NULL, &err), SK_ERR_ARG);
    assert_null(sk_pipeline_about(NULL));
    sk_pipeline_release(NULL);
    sk_model_close(&model);
}

/* A model that is open has the heads it was opened with. */
static void heads_of_a_model_that_is_open(void **state)
{
    (void)state;
    const yolo_fixture fixture = {.head = "Pose26", .reg_max = 1, .f32 = true};
    const char *path = yolo_save(&fixture, "twice.pt");
    for (sk_heads opened = SK_HEADS_ONE_TO_MANY; opened <= SK_HEADS_ONE_TO_ONE; opened++)
        for (sk_heads asked = SK_HEADS_AUTO; asked <= SK_HEADS_ONE_TO_ONE; asked++) {
            sk_error err = {0};
            sk_model *model = NULL;
            sk_pipeline *p = NULL;
            sk_pipeline_settings s = tiny_settings();
            s.heads = asked;
            assert_ok(sk_model_open_heads(path, opened, &model, &err), &err);
            const sk_model *list = model;
            const sk_status status = sk_pipeline_open_models(&list, 1, &s, &p, &err);
            const bool fits = asked == SK_HEADS_AUTO || asked == opened;
            assert_int_equal(status, fits ? SK_OK : SK_ERR_ARG);
            if (fits)
                assert_int_equal(sk_pipeline_about(p)->heads, opened);
            else
                assert_non_null(strstr(err.message, "twice.pt: was opened with its other heads"));
            sk_pipeline_close(&p);
            sk_model_close(&model);
        }
}

/* Whatever is wrong is seen before anything stands, and nothing stays of it. */
static void nothing_is_left_of_what_failed(void **state)
{
    (void)state;
    sk_error err = {0};
    const char *paths[] = {tiny_path(), test_missing("other.pt")};
    sk_pipeline_settings s = tiny_settings();
    sk_model *model = NULL;
    assert_ok(sk_model_open(paths[0], &model, &err), &err);
    const sk_model *list = model;
    const int64_t live = sk_memory_live_bytes();
    for (int i = 0; i < 4; i++) {
        sk_pipeline *p = (sk_pipeline *)&err;
        s.precision = i == 2 ? "no such" : NULL;
        s.runtime = i == 3 ? "no such" : "cpu";
        model->truncated = i == 1;
        const sk_status status = i ? sk_pipeline_open_models(&list, 1, &s, &p, &err)
                                   : sk_pipeline_prepare(paths, 2, NULL, &s, &p, &err);
        assert_int_not_equal(status, SK_OK);
        if (i < 2)
            assert_int_equal(status, i ? SK_ERR_FORMAT : SK_ERR_NOT_FOUND);
        assert_null(p);
        assert_true(sk_memory_live_bytes() == live);
    }
    model->truncated = 0;
    sk_model_close(&model);
}

/* "f32" of two models that are both in it, "i8,f32" of two that are not. */
static void precisions_are_told(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *finder = NULL;
    sk_pipeline *p = NULL;
    const sk_pipeline_settings s = tiny_settings();
    static const char *const names[] = {"mouse"};
    assert_ok(sk_model_of_given("boxes.csv", "its hash", 1, names, false, &finder, &err), &err);
    for (int bytes = 0; bytes < 2; bytes++) {
        assert_ok(sk_pipeline_prepare_given(finder, tiny_path(), NULL, &s, &p, &err), &err);
        assert_string_equal(sk_pipeline_about(p)->precision, bytes ? "i8,f32" : "f32");
        sk_pipeline_close(&p);
        if (bytes)
            break;
        sk_builder b;
        const sk_shape picture = sk_shape_of(4, 1, 3, 32, 32);
        const sk_attrs attrs = {.quantise.axis = 1};
        assert_ok(sk_graph_open(&finder->graph, &err), &err);
        sk_builder_init(&b, finder->graph);
        sk_value x = sk_b_input(&b, "images", SK_DTYPE_F32, &picture), scale = sk_b_f32(&b, 0.5f);
        sk_value zero = sk_b_constant(&b, "", SK_DTYPE_U8, &(sk_shape){0}, "\x10");
        x = sk_b_node(&b, SK_OP_QUANTIZE, &attrs, (sk_value[]){x, scale, zero}, 3, "q");
        sk_b_output(&b, sk_b_node(&b, SK_OP_DEQUANTIZE, &attrs, (sk_value[]){x, scale, zero}, 3, "dq"), "y");
        assert_ok(b.status, &b.error);
    }
    sk_model_close(&finder);
}

static void a_runtime_with_a_device_is_both(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    const char *path = tiny_path();
    sk_pipeline *p = NULL;
    s.runtime = "cpu:0";
    assert_ok(sk_pipeline_prepare(&path, 1, NULL, &s, &p, &err), &err);
    assert_string_equal(p->detector.runtime, "cpu");
    assert_string_equal(p->devices, "cpu:0");
    assert_ptr_equal(p->settings.devices, p->devices);
    assert_string_equal(sk_pipeline_about(p)->runtime, "cpu");
    assert_string_equal(sk_pipeline_about(p)->runtime_requested, "cpu:0");
    sk_pipeline_close(&p);
    s.devices = "cpu*2"; /* what is said of devices goes before */
    assert_ok(sk_pipeline_prepare(&path, 1, NULL, &s, &p, &err), &err);
    assert_string_equal(p->devices, "cpu*2");
    assert_string_equal(p->detector.runtime, "cpu");
    sk_pipeline_close(&p);
}

/* Frames of other sizes need other networks, of which none can be made any more: each fails by itself and goes back. */
static void frames_that_fail_alone(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.rect = SK_RECT_ON;
    s.height = s.width = 64;
    s.when_full = SK_FULL_REFUSE;
    s.keep_frames = true;
    sk_pipeline *p = open_tiny(&s);
    p->models[0]->truncated = 1;
    const sk_result *result = NULL;
    for (int i = 0; i < 12; i++) {
        lent *l = make_lent(i, 90, 20);
        result = (const sk_result *)(const void *)&s;
        const sk_status status = sk_pipeline_run(p, &l->frame, &result, &err);
        assert_int_equal(status, SK_ERR_FORMAT);
        assert_non_null(strstr(err.message, "cut off"));
        assert_null(result);
        assert_int_equal(sk_pipeline_in_flight(p), 0);
        assert_int_equal(l->back, 1);
        free_lent(l);
    }
    sk_pipeline_stats stats = SK_PIPELINE_STATS_INIT;
    sk_pipeline_get_stats(p, &stats);
    assert_int_equal(stats.failed, 12);
    p->models[0]->truncated = 0;
    lent *l = make_lent(20, 90, 20);
    assert_ok(sk_pipeline_run(p, &l->frame, &result, &err), &err);
    sk_pipeline_give_back(p, result);
    sk_pipeline_close(&p);
    free_lent(l);
}

/* Every figure is the runner's own. */
static void figures_are_the_runners(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.check_every = 1;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(1, 48, 40);
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_run(p, &l->frame, &result, &err), &err);
    sk_pipeline_give_back(p, result);
    static sk_runner_stats r;
    sk_pipeline_stats whole = SK_PIPELINE_STATS_INIT;
    sk_device_stats device = SK_DEVICE_STATS_INIT;
    snprintf(p->runner->lanes[0].detail, sizeof p->runner->lanes[0].detail, "in so many words");
    sk_runner_get_stats(p->runner, &r);
    sk_pipeline_get_stats(p, &whole);
    assert_true(whole.checks == 1 && whole.checks == r.checks && whole.checks_failed == 0);
    assert_true(whole.worst_pcc == r.worst_pcc && whole.worst_pcc > 0.999);
    assert_true(whole.bytes == r.bytes && whole.bytes > 0);
    assert_true(whole.whole == r.whole && whole.size == sizeof whole);
    assert_true(sk_pipeline_get_device(p, 0, &device));
    assert_string_equal(device.detail, "in so many words");
    assert_string_equal(device.name, r.devices[0].name);
    assert_true(device.captures == r.devices[0].captures && device.captures > 0 && !device.failed);
    assert_true(device.warm_up_ms == r.devices[0].warm_up_ms && device.warm_up_ms > 0);
    assert_true(device.optimised_ms == r.devices[0].optimised_ms &&
                device.capture_ms == r.devices[0].capture_ms);
    for (int k = 0; k < SK_STAGE_COUNT; k++) {
        sk_stage_stats stage = SK_STAGE_STATS_INIT;
        const sk_runner_stage_stats *from = &r.stages[k];
        assert_true(sk_pipeline_get_stage(p, (sk_stage)k, &stage));
        assert_true(stage.count == from->count && stage.sum == from->sum && stage.min == from->min &&
                    stage.max == from->max && stage.p50 == from->p50 && stage.p90 == from->p90 &&
                    stage.p99 == from->p99);
    }
    sk_stage_stats stage = SK_STAGE_STATS_INIT;
    sk_pipeline_file file = SK_PIPELINE_FILE_INIT;
    assert_false(sk_pipeline_get_stage(NULL, SK_STAGE_COUNT - 1, &stage));
    assert_false(sk_pipeline_get_stage(p, SK_STAGE_COUNT - 1, NULL));
    assert_false(sk_pipeline_get_device(NULL, 0, &device));
    assert_false(sk_pipeline_get_device(p, 0, NULL));
    assert_false(sk_pipeline_get_file(NULL, 0, &file));
    assert_false(sk_pipeline_get_file(p, 0, NULL));
    sk_pipeline_get_stats(NULL, &whole);
    sk_pipeline_get_stats(p, NULL);
    sk_pipeline_reset_stats(NULL);
    sk_pipeline_mark(NULL, "step", 0, 0, 1);
    sk_pipeline_mark(p, NULL, 0, 0, 1);
    assert_int_equal(sk_pipeline_write_timeline(NULL, "x", &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_write_timeline(p, NULL, &err), SK_ERR_ARG);
    sk_pipeline_close(&p);
    free_lent(l);
}

/* Memory of a device is complete by a stream or by an event, not by both. */
static void what_a_frame_waits_for(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        sk_error err = {0};
        sk_frame whole, given = SK_FRAME_INIT;
        int something;
        given.index = 7;
        given.stream = i & 1 ? &something : NULL;
        given.event = i & 2 ? &something : NULL;
        assert_int_equal(sk_pipeline_read_frame(&given, &whole, &err), i == 3 ? SK_ERR_ARG : SK_OK);
        if (i == 3)
            assert_string_equal(err.message, "frame 7 has a stream and an event; give one of them");
        else
            assert_true(whole.index == 7 && whole.stream == given.stream && whole.event == given.event);
    }
    sk_error err = {0};
    sk_frame whole;
    assert_int_equal(sk_pipeline_read_frame(NULL, &whole, &err), SK_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pointers_that_must_be_there),     cmocka_unit_test(heads_of_a_model_that_is_open),
        cmocka_unit_test(nothing_is_left_of_what_failed),  cmocka_unit_test(precisions_are_told),
        cmocka_unit_test(a_runtime_with_a_device_is_both), cmocka_unit_test(frames_that_fail_alone),
        cmocka_unit_test(figures_are_the_runners),         cmocka_unit_test(what_a_frame_waits_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
