/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/check.h"

#include "base/memory.h"
#include "runner/compare.h"
#include "runner/network.h"

#include <string.h>

void sk_checker_init(sk_checker *c)
{
    pthread_mutex_init(&c->lock, NULL);
}

void sk_checker_close(sk_checker *c)
{
    sk_task_stage_close(&c->stage);
    sk_session_close(&c->reference);
    sk_free(c->input);
    c->input = NULL;
    c->width = c->height = 0;
}

static sk_status prepare(sk_checker *c, const sk_model *model, const sk_task_settings *settings,
                         const sk_frame *frame, const sk_trace *trace, sk_error *err)
{
    if (!c->stage || c->width != frame->width || c->height != frame->height) {
        sk_task_stage_close(&c->stage);
        SK_TRY(sk_task_stage_open(model, settings, frame->width, frame->height, &c->stage, err));
        c->width = frame->width;
        c->height = frame->height;
    }
    const sk_device device = {.engine = &sk_engine_reference};
    /* One picture, but where the file says how many it takes. */
    int32_t batch = model->input.fixed_batch > 0 ? model->input.fixed_batch : 1;
    sk_trace_key key = sk_trace_key_of(model, &device, batch, sk_task_stage_plan(c->stage));
    key.cut_tail = trace->tail_cut;
    if (c->reference && sk_trace_key_equal(&key, &c->key))
        return SK_OK;
    sk_session_close(&c->reference);
    sk_free(c->input);
    size_t bytes = sk_trace_picture_bytes(&key) * (size_t)batch;
    c->input = sk_aligned_calloc(64, bytes);
    if (!c->input)
        return sk_fail_memory(err, bytes);
    sk_session_settings s = sk_session_defaults();
    s.precision = SK_PRECISION_F32;
    s.cut_tail = key.cut_tail ? SK_TAIL_CUT : SK_TAIL_KEEP;
    s.input = key.u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    c->key = key;
    return sk_network_open(model, &sk_engine_reference, batch, key.height, key.width, &s, &c->reference, err);
}

/* Elements of one image of a batch; 0 when the tensor is not of that batch. */
static size_t image_elements(const sk_tensor *t, int32_t batch)
{
    if (t->shape.rank < 1 || t->shape.dim[0] != batch)
        return batch == 1 ? (size_t)sk_shape_count(&t->shape) : 0;
    return (size_t)(sk_shape_count(&t->shape) / batch);
}

static sk_status compare_all(const sk_checker *c, const sk_trace *trace, const sk_tensor *ours,
                             const sk_tensor *reference, int32_t image, sk_runner_check *out, sk_error *err)
{
    const sk_session_info *info = sk_session_about(c->reference);
    if (info->n_outputs != trace->n_outputs)
        return sk_fail(err, SK_ERR_MISMATCH, "the network has %d outputs, the reference %d", trace->n_outputs,
                       info->n_outputs);
    for (int32_t i = 0; i < trace->n_outputs; i++) {
        if (reference[i].dtype != SK_DTYPE_F32 || ours[i].dtype != SK_DTYPE_F32)
            continue;
        size_t count = image_elements(&ours[i], trace->key.batch);
        if (count == 0 || count != image_elements(&reference[i], c->key.batch))
            return sk_fail(err, SK_ERR_MISMATCH,
                           "output %s has no place for each picture of a batch: check with batch 1",
                           info->output_names[i]);
        sk_agreement a =
            sk_compare((const float *)ours[i].data + (size_t)image * count, reference[i].data, count);
        out->outputs[i].pcc = a.pcc;
        out->outputs[i].max_diff = a.max_diff;
        out->outputs[i].mean_diff = a.mean_diff;
        out->pcc = !(a.pcc >= out->pcc) ? a.pcc : out->pcc;
        out->max_diff = !(a.max_diff <= out->max_diff) ? a.max_diff : out->max_diff;
        out->mean_diff = !(a.mean_diff <= out->mean_diff) ? a.mean_diff : out->mean_diff;
        out->n_outputs = i + 1;
    }
    return SK_OK;
}

static sk_status say_failed(const sk_checker *c, const sk_frame *frame, const sk_runner_check *check,
                            sk_error *err)
{
    int32_t worst = 0;
    for (int32_t i = 1; i < check->n_outputs; i++)
        if (!(check->outputs[i].pcc >= check->outputs[worst].pcc))
            worst = i;
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "frame %lld: output %s correlates with the reference by %.6f, at least %.6f is asked for (largest "
        "difference %g, mean %g): the results of this runtime are not to be trusted for this model",
        (long long)frame->index, sk_session_about(c->reference)->output_names[worst],
        check->outputs[worst].pcc, check->pcc_min, check->outputs[worst].max_diff,
        check->outputs[worst].mean_diff);
}

sk_status sk_checker_run(sk_checker *c, const sk_model *model, const sk_task_settings *settings,
                         const sk_frame *frame, const sk_trace *trace, const sk_tensor *outputs,
                         int32_t image, double pcc_min, sk_runner_check *out, sk_error *err)
{
    sk_tensor reference[SK_SESSION_MAX_OUTPUTS];
    *out = (sk_runner_check){.pcc = 1, .pcc_min = pcc_min > 0 ? pcc_min : sk_pcc_limit(trace->precision)};
    pthread_mutex_lock(&c->lock);
    sk_status status;
    SK_TRY_GOTO(prepare(c, model, settings, frame, trace, err));
    SK_TRY_GOTO(sk_task_stage_input(c->stage, frame, c->key.u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                    c->input, err));
    sk_session_input in = {.data = c->input};
    SK_TRY_GOTO(sk_session_run(c->reference, &in, 1, reference, SK_SESSION_MAX_OUTPUTS, err));
    SK_TRY_GOTO(compare_all(c, trace, outputs, reference, image, out, err));
    out->ran = true;
    out->passed = out->pcc >= out->pcc_min;
    if (!out->passed)
        status = say_failed(c, frame, out, err);
done:
    pthread_mutex_unlock(&c->lock);
    return status;
}
