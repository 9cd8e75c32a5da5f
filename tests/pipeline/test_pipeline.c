/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include <stddef.h>

/* What skitter/pipeline.h promises: settings, what a pipeline says of itself, what a result holds. */

static void settings_are_copied(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    int32_t *classes = malloc(sizeof *classes);
    sk_sleap_options *sleap = malloc(sizeof *sleap);
    char *texts[4] = {strdup("cpu"), strdup("cpu"), strdup("f32"), strdup("winograd=off")};
    *sleap = (sk_sleap_options)SK_SLEAP_OPTIONS_INIT;
    sk_sleap_options_defaults(sleap);
    classes[0] = 0;
    s.classes = classes;
    s.n_classes = 1;
    s.sleap = sleap;
    s.runtime = texts[0];
    s.devices = texts[1];
    s.precision = texts[2];
    s.options = texts[3];
    lent *expect = make_lent(0, 48, 40);
    s.expect = &expect->frame;
    sk_pipeline *p = open_tiny(&s);
    for (int i = 0; i < 4; i++) {
        memset(texts[i], 'x', strlen(texts[i]));
        free(texts[i]);
    }
    memset(classes, 0x7f, sizeof *classes);
    free(classes);
    memset(sleap, 0x7f, sizeof *sleap);
    free(sleap);
    memset(&s, 0x7f, sizeof s);
    free_lent(expect);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_string_equal(info->runtime_requested, "cpu");
    assert_string_equal(info->precision, "f32");
    lent *other = make_lent(3, 96, 64); /* another size: a new trace, by the copied settings */
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_run(p, &other->frame, &result, &err), &err);
    assert_true(sk_instances_count(result->instances) > 0);
    sk_instance animal = SK_INSTANCE_INIT;
    for (int32_t i = 0; sk_instances_get(result->instances, i, &animal); i++)
        assert_int_equal(animal.class_id, 0);
    sk_pipeline_give_back(p, result);
    sk_pipeline_close(&p);
    assert_int_equal(other->back, 1);
    free_lent(other);
}

/* Who forgets the defaults is told which function to call. */
static void empty_settings_name_the_defaults(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline *p = NULL;
    const char *path = tiny_path();
    sk_pipeline_settings s = {.size = sizeof s, .runtime = "cpu"};
    assert_int_equal(sk_pipeline_open(&path, 1, &s, &p, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "sk_pipeline_defaults"));
    s.batch = 1, s.confidence = 0.25f, s.iou = 0.7;
    assert_int_equal(sk_pipeline_open(&path, 1, &s, &p, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, "max_det 0"));
    assert_non_null(strstr(err.message, "sk_pipeline_defaults"));
}

/* A program built when the structs ended earlier, and one built when they will end later. */
static void other_sizes_of_structs(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline *p = NULL;
    const char *path = tiny_path();
    union {
        sk_pipeline_settings s;
        unsigned char bytes[sizeof(sk_pipeline_settings) + 64];
    } old, later;
    memset(&old, 0x5a, sizeof old);
    old.s.size = offsetof(sk_pipeline_settings, max_det);
    sk_pipeline_defaults(&old.s);
    assert_true(old.s.confidence == 0.25f);
    for (size_t i = offsetof(sk_pipeline_settings, max_det); i < sizeof old; i++)
        assert_int_equal(old.bytes[i], 0x5a); /* not touched */
    old.s.threads = 1;
    assert_ok(sk_pipeline_open(&path, 1, &old.s, &p, &err), &err); /* and not read */
    assert_int_equal(sk_pipeline_about(p)->capacity, 300);         /* max_det: its default */
    sk_pipeline_close(&p);
    memset(&later, 0, sizeof later);
    later.s = tiny_settings();
    later.s.size = sizeof later;
    assert_ok(sk_pipeline_open(&path, 1, &later.s, &p, &err), &err); /* what we do not know is not set */
    union {
        sk_frame f;
        unsigned char bytes[sizeof(sk_frame) + 16];
    } frame;
    memset(&frame, 0, sizeof frame);
    lent *l = make_lent(0, 48, 40);
    frame.f = l->frame;
    frame.f.release = NULL;
    frame.f.size = offsetof(sk_frame, release);
    memset(frame.bytes + offsetof(sk_frame, release), 0x5a, sizeof frame - offsetof(sk_frame, release));
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_run(p, &frame.f, &result, &err), &err);
    sk_pipeline_give_back(p, result);
    frame.f.size = sizeof frame;
    assert_int_equal(sk_pipeline_run(p, &frame.f, &result, &err), SK_ERR_ARG);
    assert_non_null(strstr(err.message, sk_version_text()));
    frame.f.size = 0;
    assert_int_equal(sk_pipeline_run(p, &frame.f, &result, &err), SK_ERR_ARG);
    sk_stage_stats stage = SK_STAGE_STATS_INIT;
    stage.size = offsetof(sk_stage_stats, max);
    stage.max = -7;
    assert_true(sk_pipeline_get_stage(p, SK_STAGE_TOTAL, &stage));
    assert_true(stage.count == 1 && stage.max == -7);
    assert_false(sk_pipeline_get_stage(p, SK_STAGE_COUNT, &stage));
    sk_pipeline_close(&p);
    later.bytes[sizeof later.bytes - 1] = 1;
    assert_int_equal(sk_pipeline_open(&path, 1, &later.s, &p, &err), SK_ERR_ARG);
    assert_null(p);
    assert_non_null(strstr(err.message, "later version"));
    free_lent(l);
}

static void about_is_complete(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_int_equal(info->size, sizeof *info);
    assert_int_equal(info->task, SK_TASK_POSE);
    assert_int_equal(info->n_models, 1);
    assert_null(info->models[1]);
    assert_string_equal(info->models[0]->path, tiny_path());
    assert_int_equal(strlen(info->models[0]->sha256), 64);
    assert_int_equal(info->models[0]->width, 32);
    assert_int_equal(info->models[0]->channels, 3);
    assert_true(info->n_classes > 0 && info->class_names[0]);
    assert_true(info->n_keypoints > 0);
    assert_string_equal(info->keypoint_names[0], "kpt0");
    assert_true(info->has & SK_HAS_KEYPOINTS);
    assert_string_equal(info->runtime, "cpu");
    assert_true(info->device[0] && info->depth > 0);
    sk_pipeline_close(&p);
    assert_null(p);
    sk_pipeline_close(&p);
}

/* Where frame `format` in memory stands in the list. */
static int32_t place_of(const sk_pipeline_info *info, sk_pixel_format format)
{
    for (int32_t i = 0; i < info->n_accepts; i++)
        if (info->accepts[i].format == format && info->accepts[i].place == SK_PLACE_HOST)
            return i;
    return -1;
}

static void accepts_the_best_first(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    /* a YOLO on the processor: large frames best as planes, of which it looks at few pixels; else RGB before the others */
    assert_int_equal(place_of(info, SK_PIXEL_I420), 0);
    assert_true(info->accepts[0].above_width >= 32 && info->accepts[0].above_height >= 32);
    assert_int_equal(place_of(info, SK_PIXEL_RGB), 1);
    static const sk_pixel_format others[] = {SK_PIXEL_BGR,    SK_PIXEL_GRAY, SK_PIXEL_RGBA, SK_PIXEL_BGRA,
                                             SK_PIXEL_GRAY16, SK_PIXEL_YUYV, SK_PIXEL_NV12};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(place_of(info, others[i]) > 1);
    for (int32_t i = 0; i < info->n_accepts; i++)
        assert_int_equal(info->accepts[i].place, SK_PLACE_HOST);
    sk_pipeline_close(&p);
    s.runtime = "reference"; /* another engine: no planes before RGB */
    p = open_tiny(&s);
    assert_int_equal(place_of(sk_pipeline_about(p), SK_PIXEL_RGB) <= 1, true);
    sk_pipeline_close(&p);
    const char *twice[] = {tiny_path(), tiny_path()};
    assert_int_equal(sk_pipeline_open(twice, 3, &s, &p, &err), SK_ERR_ARG);
}

static void checks_and_outputs(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    s.keep_outputs = true;
    sk_pipeline *p = open_tiny(&s);
    lent *l = make_lent(0, 48, 40);
    const sk_result *result = NULL;
    assert_ok(sk_pipeline_submit(p, &l->frame, NULL, SK_SUBMIT_CHECK | SK_SUBMIT_FLUSH, &err), &err);
    assert_ok(sk_pipeline_take(p, -1, &result, &err), &err);
    assert_non_null(result->check);
    assert_true(result->check->ran && result->check->passed && result->check->pcc > 0.9999);
    assert_true(result->n_outputs > 0 && result->outputs[0].data);
    assert_int_equal(result->outputs[0].element, SK_ELEMENT_F32);
    sk_pipeline_give_back(p, result);
    assert_int_equal(sk_pipeline_submit(p, &l->frame, NULL, 64, &err), SK_ERR_ARG);
    sk_pipeline_close(&p);
    free_lent(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_copied),    cmocka_unit_test(empty_settings_name_the_defaults),
        cmocka_unit_test(other_sizes_of_structs), cmocka_unit_test(about_is_complete),
        cmocka_unit_test(accepts_the_best_first), cmocka_unit_test(checks_and_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
