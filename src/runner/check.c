/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/check.h"

#include "base/memory.h"
#include "engines/compare.h"
#include "engines/tolerance.h"
#include "runner/network.h"
#include "base/instances.h"
#include "runner/session_settings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void sk_checker_init(sk_checker *c)
{
    pthread_mutex_init(&c->lock, NULL);
}

static void close_stages(sk_checker *c)
{
    for (int i = SK_PIPELINE_MAX_MODELS - 1; i >= 0; i--) /* the second reads the first */
        sk_task_stage_close(&c->parts[i].stage);
    sk_instances_free(&c->unused);
    c->width = c->height = 0;
}

void sk_checker_close(sk_checker *c)
{
    close_stages(c);
    for (int i = 0; i < SK_PIPELINE_MAX_MODELS; i++) {
        sk_session_close(&c->parts[i].reference);
        sk_session_close(&c->parts[i].unrounded);
        sk_free(c->parts[i].input);
        c->parts[i].input = NULL;
    }
}

static sk_status open_stage(sk_checker *c, const sk_checker_call *call, int32_t model, sk_error *err)
{
    const sk_frame *frame = call->frame;
    if (c->width != frame->width || c->height != frame->height) {
        close_stages(c);
        c->width = frame->width;
        c->height = frame->height;
    }
    sk_task_stage **first = &c->parts[0].stage, **second = &c->parts[1].stage;
    if (!*first)
        SK_TRY(sk_task_stage_open(call->models[0], call->settings, frame->width, frame->height, first, err));
    if (model == 0 || *second)
        return SK_OK;
    SK_TRY(sk_task_stage_open_second(call->models[1], *first, call->settings, second, err));
    const sk_task_plan *plan = sk_task_stage_plan(*second);
    return sk_instances_alloc(plan->capacity, plan->n_keypoints, &c->unused, err);
}

static sk_status session_settings(const sk_trace_key *key, sk_session_settings *s, sk_error *err)
{
    const sk_network_wish wish = {.precision = SK_PRECISION_F32};
    SK_TRY(sk_session_settings_of(&sk_engine_reference, &wish, s, err));
    s->tail = key->cut_tail ? SK_TAIL_CUT : SK_TAIL_KEEP;
    s->input = key->u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    return SK_OK;
}

/* The reference executor for what this trace was made for. */
static sk_status open_reference(sk_checker_part *p, const sk_model *model, const sk_trace *trace,
                                sk_error *err)
{
    const sk_device device = {.engine = &sk_engine_reference};
    /* One picture, but where the file says how many it takes. */
    int32_t batch = model->input.fixed_batch > 0 ? model->input.fixed_batch : 1;
    sk_trace_key key = sk_trace_key_of(model, &device, batch, sk_task_stage_plan(p->stage));
    key.cut_tail = trace->outputs_form != SK_OUTPUTS_WHOLE;
    if (p->reference && sk_trace_key_equal(&key, &p->key))
        return SK_OK;
    sk_session_close(&p->reference);
    sk_session_close(&p->unrounded);
    sk_free(p->input);
    size_t bytes = sk_trace_picture_bytes(&key) * (size_t)batch;
    p->input = sk_aligned_calloc(64, bytes);
    if (!p->input)
        return sk_fail_memory(err, bytes);
    sk_session_settings s;
    SK_TRY(session_settings(&key, &s, err));
    p->key = key;
    return sk_net_open(model, &sk_engine_reference, batch, key.height, key.width, &s, &p->reference, err);
}

/* Elements of one image of a batch; 0 when the tensor is not of that batch. */
static size_t image_elements(const sk_tensor *t, int32_t batch)
{
    if (t->shape.rank < 1 || t->shape.dim[0] != batch)
        return batch == 1 ? (size_t)sk_shape_count(&t->shape) : 0;
    return (size_t)(sk_shape_count(&t->shape) / batch);
}

/* The entry of a model's output: of an earlier crop, or a new one. Null when there is no room for more. */
static sk_output_check *entry_of(sk_check *out, int32_t model, int32_t output, const char *name, double limit)
{
    for (int32_t i = 0; i < out->n_outputs; i++)
        if (out->outputs[i].model == model && out->outputs[i].output == output)
            return &out->outputs[i];
    if (out->n_outputs == SK_MAX_CHECKED)
        return NULL;
    sk_output_check *e = &out->outputs[out->n_outputs++];
    *e = (sk_output_check){.model = model, .output = output, .pcc = 1, .pcc_min = limit};
    snprintf(e->name, sizeof e->name, "%.39s", name);
    return e;
}

static sk_status run_input(sk_session *session, const sk_checker_part *p, sk_tensor *outputs, sk_error *err)
{
    sk_session_input in = {.data = p->input};
    return sk_session_run(session, &in, 1, outputs, SK_SESSION_MAX_OUTPUTS, err);
}

static sk_status run_unrounded(sk_checker_part *p, const sk_model *model, sk_tensor *outputs, sk_error *err)
{
    sk_session_settings s;
    SK_TRY(session_settings(&p->key, &s, err));
    if (!p->unrounded)
        SK_TRY(
            sk_net_open_unrounded(model, p->key.batch, p->key.height, p->key.width, &s, &p->unrounded, err));
    return run_input(p->unrounded, p, outputs, err);
}

/* One output of one picture. Of those with their tail (`dense`) boxes, scores and the rest each for itself. */
typedef struct compared {
    const float *ours, *reference;
    size_t count;
    bool dense;
    int64_t channels, places;
    int32_t classes;
} compared;

static sk_likeness likeness(const compared *c)
{
    return c->dense ? sk_compare_dense(c->ours, c->reference, c->channels, c->places, c->classes)
                    : sk_compare(c->ours, c->reference, c->count);
}

static double rounding(const compared *c, const float *plain)
{
    return c->dense
               ? sk_compare_rounding_dense(c->ours, c->reference, plain, c->channels, c->places, c->classes)
               : sk_compare_rounding(c->ours, c->reference, plain, c->count);
}

static double lower(double a, double b) /* NaN is lowest */
{
    return !(b >= a) ? b : a;
}

static double higher(double a, double b) /* NaN is highest */
{
    return !(b <= a) ? b : a;
}

/* A correlation below the limit that roundings explain is what is asked for there; one that they do not explain stays one,
 * whatever later crops show. */
static void add_entry(sk_output_check *e, const sk_likeness *a, double limit, bool explained)
{
    if (!(a->pcc >= limit) && !explained)
        e->pcc_min = limit;
    else if (!(a->pcc >= e->pcc_min) && e->pcc >= e->pcc_min)
        e->pcc_min = a->pcc;
    e->pcc = lower(e->pcc, a->pcc);
    e->max_diff = higher(e->max_diff, a->max_diff);
    e->mean_diff = higher(e->mean_diff, a->mean_diff);
}

static sk_status compare_all(sk_checker_part *p, const sk_checker_call *call, int32_t model,
                             const sk_trace *trace, const sk_tensor *ours, const sk_tensor *reference,
                             int32_t image, sk_error *err)
{
    const sk_session_info *info = sk_session_about(p->reference);
    const sk_tolerance *usual = sk_tolerance_of(trace->precision);
    const sk_model *m = call->models[model];
    sk_tensor plain[SK_SESSION_MAX_OUTPUTS];
    bool have_plain = false;
    sk_check *out = call->out;
    double limit = call->pcc_min > 0 ? call->pcc_min : usual->pcc;
    if (info->n_outputs != trace->n_outputs)
        return sk_fail(err, SK_ERR_MISMATCH, "the network has %d outputs, the reference %d", trace->n_outputs,
                       info->n_outputs);
    for (int32_t i = 0; i < trace->n_outputs; i++) {
        if (reference[i].dtype != SK_DTYPE_F32 || ours[i].dtype != SK_DTYPE_F32)
            continue;
        size_t count = image_elements(&ours[i], trace->key.batch);
        if (count == 0 || count != image_elements(&reference[i], p->key.batch))
            return sk_fail(err, SK_ERR_MISMATCH,
                           "output %s has no place for each picture of a batch: check with batch 1",
                           info->output_names[i]);
        const sk_shape *shape = &reference[i].shape;
        const compared c = {.ours = (const float *)ours[i].data + (size_t)image * count,
                            .reference = reference[i].data,
                            .count = count,
                            .dense = trace->outputs_form == SK_OUTPUTS_WHOLE && i < m->n_outputs &&
                                     m->outputs[i].kind == SK_OUTPUT_YOLO && shape->rank == 3 &&
                                     shape->dim[1] > 4,
                            .channels = shape->dim[1],
                            .places = shape->dim[2],
                            .classes = m->n_classes};
        const sk_likeness a = likeness(&c);
        bool explained = false;
        if (!(a.pcc >= limit) && usual->rounding > 0 && !(call->pcc_min > 0)) {
            if (!have_plain)
                SK_TRY(run_unrounded(p, m, plain, err));
            have_plain = true;
            explained = rounding(&c, plain[i].data) <= usual->rounding;
        }
        sk_output_check *e = entry_of(out, model, i, info->output_names[i], limit);
        if (e)
            add_entry(e, &a, limit, explained);
        out->pcc = lower(out->pcc, a.pcc);
        out->max_diff = higher(out->max_diff, a.max_diff);
        out->mean_diff = higher(out->mean_diff, a.mean_diff);
    }
    return SK_OK;
}

static sk_status run_reference(sk_checker_part *p, sk_tensor *outputs, sk_error *err)
{
    return run_input(p->reference, p, outputs, err);
}

static sk_task_input form_of(const sk_checker_part *p)
{
    return p->key.u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32;
}

sk_status sk_checker_frame(sk_checker *c, const sk_checker_call *call, const sk_trace *trace,
                           const sk_tensor *outputs, int32_t image, sk_error *err)
{
    sk_tensor reference[SK_SESSION_MAX_OUTPUTS];
    sk_checker_part *p = &c->parts[0];
    pthread_mutex_lock(&c->lock);
    sk_status status;
    SK_TRY_GOTO(open_stage(c, call, 0, err));
    SK_TRY_GOTO(open_reference(p, call->models[0], trace, err));
    SK_TRY_GOTO(sk_task_stage_input(p->stage, call->frame, form_of(p), p->input, err));
    SK_TRY_GOTO(run_reference(p, reference, err));
    status = compare_all(p, call, 0, trace, outputs, reference, image, err);
done:
    pthread_mutex_unlock(&c->lock);
    return status;
}

sk_status sk_checker_crops_begin(sk_checker *c, const sk_checker_call *call, const sk_instances *found,
                                 int32_t n_crops, sk_error *err)
{
    int32_t ours = 0;
    pthread_mutex_lock(&c->lock);
    SK_TRY(open_stage(c, call, 1, err));
    SK_TRY(sk_task_stage_crops(c->parts[1].stage, call->frame, found, &c->unused, &ours, err));
    call->out->n_crops = ours;
    if (ours != n_crops)
        return sk_fail(err, SK_ERR_MISMATCH, "frame %lld: %d crops were looked at where %d are to be cut",
                       (long long)call->frame->index, n_crops, ours);
    return SK_OK;
}

sk_status sk_checker_crop(sk_checker *c, const sk_checker_call *call, int32_t crop, const sk_trace *trace,
                          const sk_tensor *outputs, int32_t image, sk_error *err)
{
    sk_tensor reference[SK_SESSION_MAX_OUTPUTS];
    sk_checker_part *p = &c->parts[1];
    SK_TRY(open_reference(p, call->models[1], trace, err));
    SK_TRY(sk_task_stage_crop_input(p->stage, crop, form_of(p), p->input, err));
    SK_TRY(run_reference(p, reference, err));
    return compare_all(p, call, 1, trace, outputs, reference, image, err);
}

void sk_checker_crops_end(sk_checker *c)
{
    pthread_mutex_unlock(&c->lock);
}

/* How far above its limit; one that is no number is below everything. */
static double margin(const sk_output_check *e)
{
    const double above = e->pcc - e->pcc_min;
    return isnan(above) ? -INFINITY : above;
}

sk_status sk_checker_verdict(const sk_checker_call *call, int32_t n_models, sk_error *err)
{
    sk_check *out = call->out;
    const sk_output_check *worst = NULL; /* furthest below its own limit */
    for (int32_t i = 0; i < out->n_outputs; i++) {
        const sk_output_check *e = &out->outputs[i];
        if (!worst || margin(e) < margin(worst))
            worst = e;
    }
    out->ran = true;
    out->passed = !worst || worst->pcc >= worst->pcc_min;
    out->pcc_min = worst ? worst->pcc_min : call->pcc_min;
    if (out->passed)
        return SK_OK;
    return sk_fail(
        err, SK_ERR_MISMATCH,
        "frame %lld: output %d%s%s%s%s correlates with the reference by %.6f, at least %.6f is asked for "
        "(largest difference %g, mean %g): the results of this runtime are not to be trusted for this model",
        (long long)call->frame->index, worst->output, worst->name[0] ? " " : "", worst->name,
        n_models > 1 ? " of " : "", n_models > 1 ? call->models[worst->model]->path : "", worst->pcc,
        worst->pcc_min, worst->max_diff, worst->mean_diff);
}
