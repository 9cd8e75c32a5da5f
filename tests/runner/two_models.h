/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_TWO_MODELS_H
#define SK_TESTS_TWO_MODELS_H

/* A model that finds animals and one that poses them, for the time of a test program. */
#include "runner_fixture.h"

static sk_model *finder, *poser;

static int setup(void **state)
{
    (void)state;
    sk_error err = {0};
    const yolo_fixture detect = {.head = "Detect", .f32 = true};
    assert_ok(sk_model_open(yolo_save(&detect, "finder.pt"), &finder, &err), &err);
    poser = tiny_model();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    sk_model_close(&finder);
    sk_model_close(&poser);
    return 0;
}

static inline sk_runner_settings two_settings(void)
{
    sk_runner_settings s = tiny_settings();
    s.detector.max_det = 6; /* crops */
    fault_reset();
    return s;
}

/* Boxes and poses on crops, step by step. */
typedef struct plain_two {
    plain first, second;
} plain_two;

static inline void plain_two_open(plain_two *p, const sk_runner_settings *s)
{
    sk_error err = {0};
    sk_task_settings task = sk_task_settings_of(&s->detector);
    plain_open(&p->first, finder, s, 48, 40);
    plain_open(&p->second, poser, s, 48, 40);
    sk_task_stage_close(&p->second.stage);
    sk_instances_free(&p->second.found);
    assert_ok(sk_task_stage_open_second(poser, p->first.stage, &task, &p->second.stage, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(p->second.stage);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &p->second.found, &err), &err);
}

static inline int32_t plain_two_run(plain_two *p, const sk_frame *frame)
{
    sk_error err = {0};
    plain *b = &p->second;
    const sk_session_info *info = sk_session_about(b->session);
    int32_t n_crops = 0;
    plain_run(&p->first, frame);
    assert_ok(sk_task_stage_crops(b->stage, frame, &p->first.found, &b->found, &n_crops, &err), &err);
    for (int32_t c = 0; c < n_crops; c++) {
        sk_session_input in = {.data = b->input};
        assert_ok(sk_task_stage_crop_input(b->stage, c, SK_TASK_INPUT_U8, b->input, &err), &err);
        assert_ok(sk_session_run(b->session, &in, 1, b->outputs, SK_SESSION_MAX_OUTPUTS, &err), &err);
        assert_ok(sk_task_stage_crop_result(b->stage, c, b->outputs, info->n_outputs, 0, info->outputs_form,
                                            &b->found, &err),
                  &err);
    }
    assert_ok(sk_task_stage_crops_end(b->stage, &b->found, &err), &err);
    return n_crops;
}

static inline void plain_two_close(plain_two *p)
{
    plain_close(&p->first);
    plain_close(&p->second);
}

static inline sk_runner *open_two(const sk_runner_settings *s)
{
    sk_error err = {0};
    const sk_model *models[] = {finder, poser};
    sk_runner *r = NULL;
    assert_ok(sk_runner_open_on(models, 2, s, fault_engines, &r, &err), &err);
    return r;
}

/* The runner's next result is the i-th frame's, as it is step by step; how many crops it had. */
static inline int32_t expect_as_plain(sk_runner *r, plain_two *p, const frames *set, int64_t i)
{
    sk_error err = {0};
    sk_runner_result result;
    assert_ok(sk_runner_wait(r, &result, &err), &err);
    assert_int_equal(result.ticket, i);
    int32_t crops = plain_two_run(p, &set->frames[i]);
    assert_same_instances(result.instances, &p->second.found);
    return crops;
}

#endif
