/* SPDX-License-Identifier: Apache-2.0 */
#include "app/basic.h"

#include "base/clock.h"
#include "base/frame.h"
#include "base/object.h"
#include "runner/network.h"
#include "runner/session_settings.h"

#include <string.h>

typedef struct basic_network {
    sk_task_stage *stage;
    sk_session *session;
    size_t input_bytes;
    sk_task_input form;
    int32_t n_outputs;
    sk_outputs_form outputs_form;
} basic_network;

struct sk_basic {
    int32_t n_models;
    basic_network networks[SK_PIPELINE_MAX_MODELS];
    sk_basic_times times;
};

static sk_status open_network(basic_network *n, const sk_model *model, const sk_engine *engine,
                              const sk_detector_settings *settings, sk_error *err)
{
    const sk_task_plan *plan = sk_task_stage_plan(n->stage);
    sk_session_settings s;
    sk_network_wish wish;
    SK_TRY(sk_network_wish_of(settings, &wish, err));
    SK_TRY(sk_session_settings_of(engine, &wish, &s, err));
    s.tail = plan->cut_tail ? SK_TAIL_FREE : SK_TAIL_KEEP;
    s.input = plan->u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    int32_t batch = model->input.fixed_batch > 0 ? model->input.fixed_batch : 1;
    SK_TRY(sk_net_open(model, engine, batch, plan->height, plan->width, &s, &n->session, err));
    SK_TRY(sk_session_capture(n->session, err));
    n->n_outputs = sk_session_about(n->session)->n_outputs;
    n->outputs_form = sk_session_about(n->session)->outputs_form;
    n->form = plan->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32;
    n->input_bytes = (size_t)plan->width * (size_t)plan->height * (size_t)plan->channels * (size_t)batch *
                     (plan->u8 ? 1 : sizeof(float));
    return SK_OK;
}

sk_status sk_basic_open(const sk_model *const *models, int32_t n_models, const sk_engine *engine,
                        const sk_detector_settings *settings, int32_t width, int32_t height, sk_basic **out,
                        sk_error *err)
{
    *out = NULL;
    sk_basic *b = sk_calloc(1, sizeof *b);
    if (!b)
        return sk_fail_memory(err, sizeof *b);
    sk_task_settings task = sk_task_settings_of(settings);
    task.rect = sk_net_rect(settings->rect, models[0], engine) == SK_RECT_ON;
    sk_status status;
    b->n_models = n_models;
    SK_TRY_GOTO(sk_task_stage_open(models[0], &task, width, height, &b->networks[0].stage, err));
    if (n_models > 1)
        SK_TRY_GOTO(
            sk_task_stage_open_second(models[1], b->networks[0].stage, &task, &b->networks[1].stage, err));
    for (int32_t i = 0; i < n_models; i++)
        SK_TRY_GOTO(open_network(&b->networks[i], models[i], engine, settings, err));
    *out = b;
    return SK_OK;
done:
    sk_basic_close(&b);
    return status;
}

void sk_basic_close(sk_basic **pointer)
{
    SK_TAKE_OR_RETURN(b, pointer);
    for (int32_t i = SK_PIPELINE_MAX_MODELS - 1; i >= 0; i--) {
        sk_session_close(&b->networks[i].session);
        sk_task_stage_close(&b->networks[i].stage);
    }
    sk_free(b);
}

static void lap(int64_t *mark, double *sum)
{
    int64_t now = sk_clock_ns();
    *sum += (double)(now - *mark) * 1e-9;
    *mark = now;
}

static void free_outputs(sk_tensor *outputs, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        sk_free(outputs[i].data);
}

/* Runs the network on `input` and gives fresh copies of its outputs. */
static sk_status run_network(const basic_network *n, const void *input, sk_tensor *copies, sk_error *err)
{
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    sk_session_input in = {.data = input};
    memset(copies, 0, (size_t)n->n_outputs * sizeof *copies);
    SK_TRY(sk_session_run(n->session, &in, 1, outputs, SK_SESSION_MAX_OUTPUTS, err));
    for (int32_t i = 0; i < n->n_outputs; i++) {
        size_t bytes = sk_tensor_bytes(&outputs[i]);
        copies[i] = outputs[i];
        copies[i].data = sk_malloc(bytes);
        if (!copies[i].data)
            return sk_fail_memory(err, bytes);
        memcpy(copies[i].data, outputs[i].data, bytes);
    }
    return SK_OK;
}

static sk_status look_at_crops(sk_basic *b, const sk_frame *frame, const sk_instances *found, int64_t *mark,
                               sk_instances *out, sk_error *err)
{
    const basic_network *n = &b->networks[1];
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    int32_t n_crops = 0;
    SK_TRY(sk_task_stage_crops(n->stage, frame, found, out, &n_crops, err));
    for (int32_t c = 0; c < n_crops; c++) {
        uint8_t *input = sk_calloc(1, n->input_bytes);
        sk_status status = input ? sk_task_stage_crop_input(n->stage, c, n->form, input, err)
                                 : sk_fail_memory(err, n->input_bytes);
        lap(mark, &b->times.pre);
        if (status == SK_OK) {
            status = run_network(n, input, outputs, err);
            lap(mark, &b->times.network);
            if (status == SK_OK)
                status = sk_task_stage_crop_result(n->stage, c, outputs, n->n_outputs, 0, n->outputs_form,
                                                   out, err);
            free_outputs(outputs, n->n_outputs);
            lap(mark, &b->times.post);
        }
        sk_free(input);
        SK_TRY(status);
    }
    return sk_task_stage_crops_end(n->stage, out, err);
}

static sk_status post(sk_basic *b, const sk_frame *frame, const sk_tensor *outputs, int64_t *mark,
                      int32_t *count, sk_error *err)
{
    const basic_network *n = &b->networks[0];
    const sk_task_plan *plan = sk_task_stage_plan(n->stage);
    sk_instances found = {0}, poses = {0};
    sk_status status;
    SK_TRY_GOTO(sk_instances_alloc(plan->capacity, plan->n_keypoints, &found, err));
    SK_TRY_GOTO(sk_task_stage_result(n->stage, outputs, n->n_outputs, 0, n->outputs_form, &found, err));
    if (b->n_models == 1)
        sk_task_stage_keep(n->stage, &found);
    *count = found.count;
    if (b->n_models > 1) {
        plan = sk_task_stage_plan(b->networks[1].stage);
        SK_TRY_GOTO(sk_instances_alloc(plan->capacity, plan->n_keypoints, &poses, err));
        lap(mark, &b->times.post);
        SK_TRY_GOTO(look_at_crops(b, frame, &found, mark, &poses, err));
        sk_task_stage_keep(b->networks[1].stage, &poses);
        *count = poses.count;
    }
done:
    sk_instances_free(&found);
    sk_instances_free(&poses);
    return status;
}

sk_status sk_basic_run(sk_basic *b, const sk_frame *frame, int32_t *count, sk_error *err)
{
    const basic_network *n = &b->networks[0];
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS] = {0};
    int64_t mark = sk_clock_ns();
    const size_t bytes = sk_frame_copy_bytes(frame);
    sk_frame copy = {0};
    sk_status status = SK_OK;
    uint8_t *input = sk_calloc(1, n->input_bytes);
    uint8_t *pixels = sk_malloc(bytes);
    if (!input || !pixels) {
        status = sk_fail_memory(err, bytes);
        goto done;
    }
    sk_frame_copy(frame, pixels, &copy);
    lap(&mark, &b->times.copy);
    SK_TRY_GOTO(sk_task_stage_input(n->stage, &copy, n->form, input, err));
    lap(&mark, &b->times.pre);
    SK_TRY_GOTO(run_network(n, input, outputs, err));
    lap(&mark, &b->times.network);
    SK_TRY_GOTO(post(b, &copy, outputs, &mark, count, err));
    lap(&mark, &b->times.post);
    b->times.frames++;
done:
    free_outputs(outputs, n->n_outputs);
    sk_free(pixels);
    sk_free(input);
    return status;
}

void sk_basic_get_times(const sk_basic *b, sk_basic_times *times)
{
    *times = b->times;
}

void sk_basic_reset_times(sk_basic *b)
{
    b->times = (sk_basic_times){0};
}
