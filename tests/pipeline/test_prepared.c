/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline_fixture.h"

#include "pipeline/internal.h"
#include "runner/internal.h"
#include "runner/offer.h"

#include <stdio.h>

/* What a pipeline says before its networks stand and after, with a finder that is no network, of the files that ran, and to callers
 * who want no words. */

static sk_pipeline *prepare(const sk_pipeline_settings *s)
{
    sk_error err = {0};
    sk_pipeline *p = NULL;
    const char *path = tiny_path();
    assert_ok(sk_pipeline_prepare(&path, 1, NULL, s, &p, &err), &err);
    return p;
}

static void models_are_told_before_they_stand(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    s.height = 64, s.width = 96, s.rect = SK_RECT_OFF;
    sk_pipeline *p = prepare(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_int_equal(info->n_models, 1);
    const sk_pipeline_model *m = info->models[0];
    assert_non_null(m);
    assert_string_equal(m->path, tiny_path());
    assert_int_equal(strlen(m->sha256), 64);
    assert_int_equal(m->task, SK_TASK_POSE);
    assert_true(m->width == 96 && m->height == 64 && m->channels == 3);
    assert_true(info->n_accepts > 0 && info->accepts);
    assert_int_equal(info->size, sizeof *info);
    sk_pipeline_close(&p);
}

static bool likes_planes(const sk_pipeline_info *info)
{
    return info->accepts[0].format == SK_PIXEL_I420 && info->accepts[0].above_width > 0;
}

/* Which frames are taken is asked of the runner once it stands: one that copies them does so as RGB. */
static void accepts_follow_what_stands(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = prepare(&s);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    for (int copies = 0; copies < 3; copies++) {
        sk_runner_settings how;
        sk_runner_defaults(&how);
        how.quick_open = true;
        how.frames = copies % 2 ? SK_RUNNER_COPY : SK_RUNNER_BORROW;
        assert_true(likes_planes(info) || copies == 2);
        assert_ok(sk_pipeline_start(p, &how, &err), &err);
        assert_int_equal(likes_planes(info), copies % 2 == 0);
        assert_int_equal(info->accepts[copies % 2 == 0].format, SK_PIXEL_RGB);
        assert_int_equal(info->n_accepts, copies % 2 ? 9 : 10);
    }
    sk_pipeline_close(&p);
}

static void a_finder_that_is_given(void **state)
{
    (void)state;
    sk_error err = {0};
    sk_model *finder = NULL;
    sk_pipeline *p = (sk_pipeline *)&err;
    const sk_pipeline_settings s = tiny_settings();
    static const char *const names[] = {"mouse"};
    assert_ok(sk_model_of_given("boxes.csv", "its hash", 1, names, false, &finder, &err), &err);
    const char *path = tiny_path();
    assert_int_equal(sk_pipeline_prepare_given(NULL, path, NULL, &s, &p, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_prepare_given(finder, NULL, NULL, &s, &p, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_prepare_given(finder, path, NULL, &s, NULL, &err), SK_ERR_ARG);
    assert_int_equal(sk_pipeline_prepare_given(finder, test_missing("best.pt"), NULL, &s, &p, &err),
                     SK_ERR_NOT_FOUND);
    assert_null(p);
    path = tiny_path();
    assert_ok(sk_pipeline_prepare_given(finder, path, NULL, &s, &p, &err), &err);
    const sk_pipeline_info *info = sk_pipeline_about(p);
    assert_int_equal(info->n_models, 2);
    assert_ptr_equal(sk_pipeline_models(p)[0], finder);
    assert_string_equal(info->models[0]->path, "boxes.csv");
    assert_string_equal(info->models[1]->path, path);
    assert_int_equal(info->task, SK_TASK_POSE);
    assert_int_equal(info->n_keypoints, 3);
    assert_true(p->open_seconds > 0);
    sk_model_close(&finder); /* the pipeline holds it */
    assert_string_equal(sk_pipeline_models(p)[0]->path, "boxes.csv");
    sk_pipeline_close(&p);
}

static void files_that_ran_are_told(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    sk_pipeline_file file = SK_PIPELINE_FILE_INIT;
    assert_false(sk_pipeline_get_file(p, 0, &file)); /* the graph itself runs */
    p->runner->files[0] = (sk_runner_file){.model = 1, .path = "/a/b.engine", .sha256 = "00aa"};
    p->runner->files[1] = (sk_runner_file){.model = 0, .path = "c.onnx", .sha256 = "ff11"};
    p->runner->n_files = 2;
    assert_true(sk_pipeline_get_file(p, 0, &file));
    assert_int_equal(file.model, 1);
    assert_string_equal(file.path, "/a/b.engine");
    assert_string_equal(file.sha256, "00aa");
    assert_true(sk_pipeline_get_file(p, 1, &file));
    assert_int_equal(file.model, 0);
    assert_string_equal(file.path, "c.onnx");
    assert_string_equal(file.sha256, "ff11");
    assert_int_equal(file.size, sizeof file);
    assert_false(sk_pipeline_get_file(p, 2, &file));
    assert_false(sk_pipeline_get_file(p, -1, &file));
    sk_pipeline_close(&p);
}

/* Words are for who gives a place for them. */
static void without_a_place_for_words(void **state)
{
    (void)state;
    sk_pipeline_settings s = tiny_settings();
    sk_pipeline *p = open_tiny(&s);
    const sk_result *result = NULL;
    assert_int_equal(sk_pipeline_take(p, 0, &result, NULL), SK_ERR_TIMEOUT);
    sk_error err = {.code = SK_ERR_IO, .message = "before"};
    sk_pipeline_finish(p);
    assert_int_equal(sk_pipeline_take(p, 0, &result, &err), SK_OK); /* the end: nothing comes */
    assert_null(result);
    assert_string_equal(err.message, "before");
    sk_pipeline_release(p);
    assert_int_equal(sk_pipeline_take(p, 0, &result, NULL), SK_ERR_CANCELLED);
    assert_int_equal(sk_pipeline_take(p, 0, &result, &err), SK_ERR_CANCELLED);
    assert_string_equal(err.message, "the pipeline was released");
    sk_pipeline_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_are_told_before_they_stand),
        cmocka_unit_test(accepts_follow_what_stands),
        cmocka_unit_test(a_finder_that_is_given),
        cmocka_unit_test(files_that_ran_are_told),
        cmocka_unit_test(without_a_place_for_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
