/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/trace.h"

#include "base/clock.h"
#include "base/frame.h"
#include "base/memory.h"
#include "engines/offload.h"
#include "kernels/plain.h"
#include "engines/compare.h"
#include "engines/tolerance.h"
#include "runner/network.h"
#include "runner/session_settings.h"

#include <string.h>

sk_trace_key sk_trace_key_of(const sk_model *model, const sk_device *device, int32_t batch,
                             const sk_task_plan *plan)
{
    sk_trace_key key;
    memset(&key, 0, sizeof key);
    memcpy(key.model, model->content_hash, sizeof key.model);
    key.engine = device->engine;
    key.device = device->index;
    key.batch = batch;
    key.height = plan->height;
    key.width = plan->width;
    key.channels = plan->channels;
    key.u8 = plan->u8;
    key.cut_tail = plan->cut_tail;
    return key;
}

void sk_trace_key_offload(sk_trace_key *key, const sk_model *model, const sk_task_stage *stage,
                          const sk_frame *like, bool whole)
{
    sk_task_fit way;
    sk_frame plain = *like;
    sk_sparse_outputs outputs;
    sk_found_outputs found;
    uint32_t offers = key->engine->can.offers;
    sk_frame_fit fit = {0};
    if (like->format != SK_PIXEL_NV12 &&
        !sk_frame_on_device(like)) /* what engines do not take is made plain */
        plain.format = sk_plain_format(like->format);
    if (!whole)
        sk_trace_key_peaks(key, stage);
    if (!(offers & SK_OFFERS_FRAMES) || !sk_task_stage_fit(stage, &way) ||
        !sk_offload_fit_stage(&way, &plain, &fit))
        return;
    key->frames = 1;
    key->fit = fit;
    const sk_yolo_settings *rules = sk_task_stage_found_rules(stage);
    if (whole || !key->cut_tail || !rules)
        return;
    key->found = (offers & SK_OFFERS_FOUND) && sk_offload_found(model, rules, &found);
    key->sparse =
        !key->found && (offers & SK_OFFERS_SPARSE) && sk_offload_sparse(model, rules->confidence, &outputs);
}

void sk_trace_key_peaks(sk_trace_key *key, const sk_task_stage *stage)
{
    key->peaks = (key->engine->can.offers & SK_OFFERS_PEAKS) && sk_task_stage_peaks(stage, &key->wish);
    if (!key->peaks)
        memset(&key->wish, 0, sizeof key->wish);
}

void sk_trace_key_crops(sk_trace_key *key, const sk_task_stage *stage, const sk_frame *like)
{
    key->crops = (key->engine->can.offers & SK_OFFERS_CROPS) &&
                 sk_offload_crops(sk_task_stage_crop_form(stage), like, &key->cut);
    if (!key->crops)
        memset(&key->cut, 0, sizeof key->cut);
}

bool sk_trace_key_is_partial(const sk_trace_key *key)
{
    return key->sparse || key->found || key->peaks;
}

bool sk_trace_key_equal(const sk_trace_key *a, const sk_trace_key *b)
{
    return strcmp(a->model, b->model) == 0 && a->engine == b->engine && a->device == b->device &&
           a->batch == b->batch && a->height == b->height && a->width == b->width &&
           a->channels == b->channels && a->u8 == b->u8 && a->cut_tail == b->cut_tail &&
           a->frames == b->frames && a->sparse == b->sparse && a->found == b->found && a->peaks == b->peaks &&
           a->crops == b->crops && memcmp(&a->fit, &b->fit, sizeof a->fit) == 0 &&
           memcmp((const char *)&a->cut, (const char *)&b->cut, sizeof a->cut) ==
               0 && /* its scale by its bits */
           (!a->peaks || sk_peak_wish_equal(&a->wish, &b->wish));
}

bool sk_trace_fits(const sk_trace *trace, const sk_trace_key *key)
{
    return trace->generation && sk_trace_key_equal(&trace->key, key);
}

size_t sk_trace_picture_bytes(const sk_trace_key *key)
{
    if (key->frames)
        return sk_frame_fit_bytes(&key->fit);
    if (key->crops)
        return 0;
    return (size_t)key->width * (size_t)key->height * (size_t)key->channels * (key->u8 ? 1 : sizeof(float));
}

void sk_trace_release(sk_trace *trace)
{
    sk_session_close(&trace->session);
    trace->n_outputs = 0;
    memset(&trace->key, 0, sizeof trace->key);
}

static sk_status open_session(sk_trace *t, const sk_model *model, const sk_device *device,
                              const sk_detector_settings *settings, int32_t slots, sk_error *err)
{
    sk_session_settings s;
    sk_network_wish wish;
    SK_TRY(sk_network_wish_of(settings, &wish, err));
    if (!wish.threads)
        wish.threads = device->threads ? device->threads : device->n_cores;
    SK_TRY(sk_session_settings_of(device->engine, &wish, &s, err));
    s.tail = t->key.cut_tail ? SK_TAIL_FREE : SK_TAIL_KEEP;
    s.input = t->key.frames  ? SK_INPUT_FRAMES
              : t->key.crops ? SK_INPUT_CROPS
              : t->key.u8    ? SK_INPUT_U8_HWC
                             : SK_INPUT_TENSOR;
    sk_sparse_outputs sparse;
    sk_found_outputs found;
    const sk_task_settings task = sk_task_settings_of(settings);
    s.stages.fit = t->key.frames ? &t->key.fit : NULL;
    s.stages.crops = t->key.crops ? &t->key.cut : NULL;
    if (t->key.sparse && sk_offload_sparse(model, settings->confidence, &sparse))
        s.stages.sparse = &sparse;
    if (t->key.found && sk_offload_found(model, &task.yolo, &found))
        s.stages.found = &found;
    s.stages.peaks = t->key.peaks ? &t->key.wish : NULL;
    s.slots = slots;
    s.device = device->index;
    s.cores = device->n_cores ? device->cores : NULL;
    s.core_count = device->n_cores;
    SK_TRY(
        sk_net_open(model, device->engine, t->key.batch, t->key.height, t->key.width, &s, &t->session, err));
    const sk_session_info *info = sk_session_about(t->session);
    t->n_outputs = info->n_outputs;
    t->outputs_form = info->outputs_form;
    t->asynchronous = info->asynchronous;
    t->precision = t->session->settings.precision;
    return SK_OK;
}

/* A picture with something in it: noise on a slope, so that neither flat regions nor edges are missing. */
static void paint(const sk_trace_key *key, uint8_t *input)
{
    const bool bytes = key->u8 || key->frames;
    size_t count = (size_t)key->batch * sk_trace_picture_bytes(key) / (bytes ? 1 : sizeof(float));
    uint32_t noise = 7;
    for (size_t i = 0; i < count; i++) {
        noise = noise * 1664525u + 1013904223u;
        uint8_t value = (uint8_t)((i * 191 / count) + (noise >> 26));
        if (bytes)
            input[i] = value;
        else
            ((float *)(void *)input)[i] = (float)value / 255.0f;
    }
}

static sk_status run_once(sk_trace *t, const void *input, const sk_frame *resident, sk_tensor *outputs,
                          sk_error *err)
{
    const sk_crop_form *form = &t->key.cut.form;
    const bool boxes = form->crop_width == 0; /* crops of any size: the whole frame is one */
    const sk_crop crop = {.width = (float)(boxes ? form->frame_width : form->crop_width),
                          .height = (float)(boxes ? form->frame_height : form->crop_height)};
    const sk_crop_list list = {&crop, 1, NULL};
    sk_session_input in = {.data = input};
    if (t->key.crops)
        in = (sk_session_input){.frames = &resident, .crops = &list};
    return sk_session_run(t->session, &in, 1, outputs, SK_SESSION_MAX_OUTPUTS, err);
}

/* The warm-up's outputs, kept for the optimised run to be compared with. */
static sk_status keep(const sk_tensor *outputs, int32_t n, float **kept, sk_error *err)
{
    for (int32_t i = 0; i < n; i++) {
        if (outputs[i].dtype != SK_DTYPE_F32)
            continue;
        size_t bytes = sk_tensor_bytes(&outputs[i]);
        kept[i] = sk_malloc(bytes);
        if (!kept[i])
            return sk_fail_memory(err, bytes);
        memcpy(kept[i], outputs[i].data, bytes);
    }
    return SK_OK;
}

static sk_status agree(const sk_trace *t, const sk_tensor *outputs, float *const *kept, sk_error *err)
{
    for (int32_t i = 0; i < t->n_outputs; i++) {
        if (!kept[i])
            continue;
        sk_likeness a = sk_compare(outputs[i].data, kept[i], sk_tensor_bytes(&outputs[i]) / sizeof(float));
        if (!(a.pcc >= sk_tolerance_of(t->precision)->pcc))
            return sk_fail(err, SK_ERR_MISMATCH,
                           "%s: two runs on the same picture differ (output %s: correlation %.6f, largest "
                           "difference %g), so no trace can be made; try another runtime",
                           t->key.engine->name, sk_session_about(t->session)->output_names[i], a.pcc,
                           a.max_diff);
    }
    return SK_OK;
}

static double ms_since(int64_t begin)
{
    return (double)(sk_clock_ns() - begin) * 1e-6;
}

sk_status sk_trace_capture(sk_trace *t, const sk_model *model, const sk_device *device,
                           const sk_trace_key *key, const sk_detector_settings *settings, int32_t slots,
                           bool quick, const sk_frame *resident, sk_error *err)
{
    SK_CHECK_ARG(!key->crops || resident, err);
    uint64_t generation = t->generation;
    sk_trace_release(t);
    t->generation = 0; /* until the end there is no trace that could be replayed */
    t->key = *key;
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    float *kept[SK_SESSION_MAX_OUTPUTS] = {0};
    sk_status status = SK_OK;
    size_t bytes = sk_trace_picture_bytes(key) * (size_t)key->batch;
    uint8_t *input = sk_aligned_calloc(64, bytes ? bytes : 64);
    if (!input)
        return sk_fail_memory(err, bytes);
    paint(key, input);
    int64_t begin = sk_clock_ns();
    memset(t->outputs, 0, sizeof t->outputs);
    SK_TRY_GOTO(open_session(t, model, device, settings, slots, err));
    if (!quick) {
        SK_TRY_GOTO(run_once(t, input, resident, outputs, err));
        SK_TRY_GOTO(keep(outputs, t->n_outputs, kept, err));
    }
    t->warm_up_ms = ms_since(begin);
    begin = sk_clock_ns();
    if (!quick) {
        SK_TRY_GOTO(run_once(t, input, resident, outputs, err));
        SK_TRY_GOTO(agree(t, outputs, kept, err));
    }
    t->optimised_ms = ms_since(begin);
    begin = sk_clock_ns();
    t->from_open = device->engine->can.replay != SK_REPLAY_CAPTURED;
    if (!t->from_open) {
        SK_TRY_GOTO(sk_session_capture(t->session, err));
        if (!quick) { /* the first replay */
            SK_TRY_GOTO(run_once(t, input, resident, outputs, err));
            SK_TRY_GOTO(agree(t, outputs, kept, err));
        }
    }
    t->capture_ms = t->from_open ? 0 : ms_since(begin);
    t->generation = generation + 1;
done:
    for (int32_t i = 0; i < SK_SESSION_MAX_OUTPUTS; i++)
        sk_free(kept[i]);
    sk_free(input);
    if (status != SK_OK)
        sk_trace_release(t);
    return status;
}

sk_status sk_trace_submit(sk_trace *t, const sk_trace_key *key, const sk_session_input *input, sk_error *err)
{
    if (!sk_trace_fits(t, key))
        return sk_fail(err, SK_ERR_INTERNAL, "a trace of %dx%d was to be replayed for an input of %dx%d",
                       t->key.width, t->key.height, key->width, key->height);
    return sk_session_submit(t->session, input, 1, err);
}

sk_status sk_trace_wait(sk_trace *t, sk_tensor *outputs, sk_error *err)
{
    SK_TRY(sk_session_wait(t->session, outputs, SK_SESSION_MAX_OUTPUTS, err));
    const void **fixed = t->outputs[t->session->last_slot]; /* known from the slot's first replay on */
    for (int32_t i = 0; i < t->n_outputs; i++) {
        if (!fixed[i])
            fixed[i] = outputs[i].data;
        if (outputs[i].data != fixed[i])
            return sk_fail(err, SK_ERR_INTERNAL, "%s: output %s moved since the trace was captured",
                           t->key.engine->name, sk_session_about(t->session)->output_names[i]);
    }
    return SK_OK;
}
