/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RUNNER_RUNNER_FIXTURE_H
#define SK_TESTS_RUNNER_RUNNER_FIXTURE_H

#include "fault_engine.h"
#include "models/model.h"
#include "runner/internal.h"
#include "support/fault.h"
#include "support/yolo_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A tiny YOLO model, frames of noise that can be told apart, and runners on them. */

static inline sk_model *tiny_model(void)
{
    sk_error err = {0};
    sk_model *model = NULL;
    const yolo_fixture fixture = {.head = "Pose", .f32 = true};
    assert_ok(sk_model_open(yolo_save(&fixture, "tiny.pt"), &model, &err), &err);
    return model;
}

/* Settings for the tiny model: 32 x 32, everything that can be found is found. */
static inline sk_runner_settings tiny_settings(void)
{
    sk_runner_settings s;
    sk_runner_defaults(&s);
    s.detector.threads = 1;
    s.detector.height = s.detector.width = 32;
    s.detector.confidence = 0.01f;
    s.detector.max_det = 20;
    s.frame_width = 48;
    s.frame_height = 40;
    return s;
}

typedef struct frames {
    int32_t count;
    sk_frame *frames;
} frames;

static inline sk_frame make_frame(int32_t width, int32_t height, int64_t index)
{
    sk_frame f = {.size = sizeof f,
                  .format = SK_PIXEL_RGB,
                  .width = width,
                  .height = height,
                  .stride = (ptrdiff_t)width * 3 + 5,
                  .index = index,
                  .time_ns = index * 40000000};
    uint32_t noise = (uint32_t)index * 7919u + 1u;
    size_t bytes = (size_t)f.stride * (size_t)height;
    f.data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) {
        noise = noise * 1664525u + 1013904223u;
        f.data[i] = (uint8_t)(noise >> 24);
    }
    return f;
}

static inline frames make_frames(int32_t count, int32_t width, int32_t height)
{
    frames set = {count, calloc((size_t)count, sizeof *set.frames)};
    for (int32_t i = 0; i < count; i++)
        set.frames[i] = make_frame(width, height, i);
    return set;
}

static inline void free_frames(frames *set)
{
    for (int32_t i = 0; i < set->count; i++)
        free(set->frames[i].data);
    free(set->frames);
}

static inline sk_runner *open_runner(const sk_model *model, const sk_runner_settings *settings)
{
    sk_error err = {0};
    sk_runner *r = NULL;
    assert_ok(sk_runner_open(&model, 1, settings, &r, &err), &err);
    return r;
}

/* On engines with faults: one a device of the settings' list, which must be "reference" as often. */
static inline sk_runner *open_faulty(const sk_model *model, const sk_runner_settings *settings)
{
    sk_error err = {0};
    sk_runner *r = NULL;
    assert_ok(sk_runner_open_on(&model, 1, settings, fault_engines, &r, &err), &err);
    return r;
}

/* What the stages and one plain session give for a frame, one step after another. */
typedef struct plain {
    sk_task_stage *stage;
    sk_session *session;
    uint8_t *input;
    sk_instances found;
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
} plain;

static inline void plain_open(plain *p, const sk_model *model, const sk_runner_settings *s, int32_t width,
                              int32_t height)
{
    sk_error err = {0};
    sk_task_settings task = sk_task_settings_of(&s->detector);
    assert_ok(sk_task_stage_open(model, &task, width, height, &p->stage, &err), &err);
    const sk_task_plan *plan = sk_task_stage_plan(p->stage);
    sk_session_settings session = sk_session_defaults();
    session.threads = s->detector.threads;
    strcpy(session.options,
           "tune=off"); /* as the engines with faults: timing would choose other sums from run to run */
    session.cache_dir = "";
    session.tail = plan->cut_tail;
    session.input = SK_INPUT_U8_HWC;
    session.scale = model->input.scale;
    for (int i = 0; i < 3; i++) {
        session.mean[i] = model->input.mean[i];
        session.std[i] = model->input.std[i] > 0 ? model->input.std[i] : 1;
    }
    sk_shape shape = sk_shape_of(4, (int64_t)1, (int64_t)3, (int64_t)plan->height, (int64_t)plan->width);
    assert_ok(sk_session_open(&sk_engine_cpu, model->graph, &shape, 1, &session, &p->session, &err), &err);
    p->input = calloc((size_t)plan->height * (size_t)plan->width, 3);
    assert_ok(sk_instances_alloc(plan->capacity, plan->n_keypoints, &p->found, &err), &err);
}

static inline void plain_run(plain *p, const sk_frame *frame)
{
    sk_error err = {0};
    assert_ok(sk_task_stage_input(p->stage, frame, SK_TASK_INPUT_U8, p->input, &err), &err);
    sk_session_input in = {.data = p->input};
    assert_ok(sk_session_run(p->session, &in, 1, p->outputs, SK_SESSION_MAX_OUTPUTS, &err), &err);
    const sk_session_info *info = sk_session_about(p->session);
    assert_ok(
        sk_task_stage_result(p->stage, p->outputs, info->n_outputs, 0, info->outputs_form, &p->found, &err),
        &err);
}

static inline void plain_close(plain *p)
{
    sk_session_close(&p->session);
    sk_task_stage_close(&p->stage);
    sk_instances_free(&p->found);
    free(p->input);
}

static inline void assert_same_instances(const sk_instances *a, const sk_instances *b)
{
    assert_non_null(a);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->items, b->items, (size_t)a->count * sizeof *a->items);
    assert_memory_equal(a->keypoints, b->keypoints,
                        (size_t)a->count * (size_t)a->n_keypoints * sizeof *a->keypoints);
}

#endif
