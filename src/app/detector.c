/* SPDX-License-Identifier: Apache-2.0 */
#include "skitter/detector.h"

#include "app/network.h"
#include "base/clock.h"
#include "tasks/instances.h"
#include "tasks/pipeline.h"

#include <stdio.h>
#include <string.h>

/* One network with what goes before and after it, for frames of one size. */
typedef struct part {
    sk_task_stage *stage;
    const sk_task_plan *plan;
    sk_session *session;
    int32_t width, height; /* of the session's input */
    bool u8;
    size_t picture_bytes;
    uint8_t *input; /* a batch of inputs */
    sk_tensor outputs[SK_SESSION_MAX_OUTPUTS];
    int32_t n_outputs;
} part;

struct sk_detector {
    sk_detector_settings settings;
    sk_task_settings task_settings;
    sk_detector_info info;
    sk_detector_times times;
    sk_model *models[SK_DETECTOR_MAX_MODELS];
    const sk_engine *engine;
    part parts[SK_DETECTOR_MAX_MODELS]; /* whole frames, then crops */
    int32_t frame_width, frame_height;  /* that the parts are open for */
    sk_instances found;                 /* what the first of two models found */
    char **keypoint_names;
    int32_t n_keypoint_names;
};

static bool is_yolo(const sk_model *model)
{
    return model->task >= SK_TASK_DETECT && model->task <= SK_TASK_SEGMENT;
}

static bool wants_crops(const sk_model *model)
{
    return model->task == SK_TASK_CENTERED_INSTANCE || model->task == SK_TASK_MULTICLASS_TOPDOWN;
}

/* One model that sees whole frames, or a finder and a model on its crops; in whichever order they were given. */
static sk_status arrange(sk_detector *d, sk_error *err)
{
    sk_model **m = d->models;
    if (d->info.n_models == 2 && (wants_crops(m[0]) || (is_yolo(m[1]) && m[1]->task != SK_TASK_POSE))) {
        sk_model *swap = m[0];
        m[0] = m[1];
        m[1] = swap;
    }
    for (int32_t i = 0; i < d->info.n_models; i++) {
        if (m[i]->task == SK_TASK_CLASSIFY || m[i]->task == SK_TASK_UNKNOWN)
            return sk_fail(err, SK_ERR_UNSUPPORTED,
                           "%s: a model for the task '%s' finds nothing in a frame; give one for "
                           "detect, pose, obb or a SLEAP model",
                           m[i]->path, sk_task_name(m[i]->task));
        if (m[i]->n_outputs && m[i]->outputs[0].kind == SK_OUTPUT_OTHER)
            return sk_fail(
                err, SK_ERR_UNSUPPORTED,
                "%s: its outputs are already post-processed by its exporter, in a way that differs from the "
                "original; give the checkpoint or model folder it was exported from",
                m[i]->path);
    }
    if (d->info.n_models == 1) {
        if (wants_crops(m[0]))
            return sk_fail(err, SK_ERR_ARG,
                           "%s: looks at crops around animals; give the model that finds them too: a second "
                           "--model with "
                           "a SLEAP centroid model or a YOLO detector",
                           m[0]->path);
        return SK_OK;
    }
    bool finder = is_yolo(m[0]) || m[0]->task == SK_TASK_CENTROID;
    bool looker = wants_crops(m[1]) || (m[1]->task == SK_TASK_POSE && is_yolo(m[0]));
    if (!finder || !looker)
        return sk_fail(err, SK_ERR_ARG,
                       "a '%s' and a '%s' model do not go together: two models are a SLEAP centroid or YOLO "
                       "detector and a "
                       "SLEAP centered-instance or YOLO pose model",
                       sk_task_name(m[0]->task), sk_task_name(m[1]->task));
    return SK_OK;
}

static sk_status name_keypoints(sk_detector *d, const sk_model *model, sk_error *err)
{
    int32_t n = d->info.n_keypoints;
    d->keypoint_names = sk_calloc((size_t)n + 1, sizeof *d->keypoint_names);
    if (!d->keypoint_names)
        return sk_fail_memory(err, (size_t)n * sizeof *d->keypoint_names);
    d->n_keypoint_names = n;
    for (int32_t i = 0; i < n; i++) {
        char numbered[24];
        snprintf(numbered, sizeof numbered, "kpt%d", i);
        const char *name = model->task == SK_TASK_CENTROID ? "centroid"
                           : model->keypoint_names && i < model->n_keypoints && model->keypoint_names[i][0]
                               ? model->keypoint_names[i]
                               : numbered;
        d->keypoint_names[i] = sk_strdup(name);
        if (!d->keypoint_names[i])
            return sk_fail_memory(err, strlen(name));
    }
    d->info.keypoint_names = (const char *const *)d->keypoint_names;
    return SK_OK;
}

static sk_status fill_info(sk_detector *d, sk_error *err)
{
    const sk_model *last = d->models[d->info.n_models - 1], *first = d->models[0];
    sk_detector_info *info = &d->info;
    info->task = last->task;
    for (int32_t i = 0; i < info->n_models; i++)
        info->models[i] = d->models[i];
    /* Classes come from whoever names them: a YOLO finder keeps its classes when the poses are SLEAP's. */
    const sk_model *classes = is_yolo(first) ? first : last;
    info->identities = last->task == SK_TASK_MULTICLASS_BOTTOMUP || last->task == SK_TASK_MULTICLASS_TOPDOWN;
    if (info->identities)
        classes = last;
    info->n_classes = classes->n_classes;
    info->class_names = classes->class_names;
    info->n_edges = last->task == SK_TASK_CENTROID ? 0 : last->n_edges;
    info->edges = last->edges;
    info->n_keypoints = d->parts[info->n_models - 1].plan->n_keypoints;
    info->capacity = d->parts[info->n_models - 1].plan->capacity;
    if (is_yolo(first))
        info->has |= first->task == SK_TASK_OBB ? SK_HAS_OBB | SK_HAS_BOX : SK_HAS_BOX;
    if (info->n_keypoints)
        info->has |= SK_HAS_KEYPOINTS;
    snprintf(info->runtime, sizeof info->runtime, "%s", d->engine->name);
    sk_engine_probe probe = {0};
    SK_TRY(d->engine->probe(&probe, err));
    snprintf(info->device, sizeof info->device, "%.140s",
             probe.n_devices ? probe.devices[0].name : probe.detail);
    const char *provider = d->settings.provider;
    if (provider && provider[0]) {
        size_t used = strlen(info->device);
        snprintf(info->device + used, sizeof info->device - used, ", %s provider", provider);
    }
    snprintf(info->precision, sizeof info->precision, "%s",
             sk_precision_name(d->engine->usual ? d->engine->usual : SK_PRECISION_F32));
    return name_keypoints(d, last, err);
}

/* The network for the plan's input size; an open one that fits is kept. */
static sk_status open_session(sk_detector *d, int32_t index, sk_error *err)
{
    part *p = &d->parts[index];
    const sk_task_plan *plan = p->plan;
    if (p->session && p->width == plan->width && p->height == plan->height && p->u8 == (bool)plan->u8)
        return SK_OK;
    sk_session_close(&p->session);
    sk_free(p->input);
    p->input = NULL;
    p->width = plan->width;
    p->height = plan->height;
    p->u8 = plan->u8;
    sk_session_settings s = sk_session_defaults();
    s.threads = d->settings.threads;
    s.winograd = d->settings.winograd;
    s.cut_tail = plan->cut_tail ? SK_TAIL_FREE : SK_TAIL_KEEP;
    s.provider = d->settings.provider;
    s.input = p->u8 ? SK_INPUT_U8_HWC : SK_INPUT_TENSOR;
    int32_t batch = index == 0 ? d->settings.batch : 1;
    SK_TRY(
        sk_network_open(d->models[index], d->engine, batch, plan->height, plan->width, &s, &p->session, err));
    p->n_outputs = sk_session_about(p->session)->n_outputs;
    p->picture_bytes =
        (size_t)plan->width * (size_t)plan->height * (size_t)plan->channels * (p->u8 ? 1 : sizeof(float));
    p->input = sk_aligned_calloc(64, p->picture_bytes * (size_t)batch);
    return p->input ? SK_OK : sk_fail_memory(err, p->picture_bytes * (size_t)batch);
}

/* Stages for frames of this size; networks whose size depends on the frame's are opened when one really comes. */
static sk_status open_stages(sk_detector *d, int32_t width, int32_t height, sk_error *err)
{
    for (int32_t i = d->info.n_models - 1; i >= 0; i--)
        sk_task_stage_close(&d->parts[i].stage);
    SK_TRY(sk_task_stage_open(d->models[0], &d->task_settings, width, height, &d->parts[0].stage, err));
    d->parts[0].plan = sk_task_stage_plan(d->parts[0].stage);
    if (d->info.n_models == 2) {
        SK_TRY(sk_task_stage_open_second(d->models[1], d->parts[0].stage, &d->task_settings,
                                         &d->parts[1].stage, err));
        d->parts[1].plan = sk_task_stage_plan(d->parts[1].stage);
    }
    d->frame_width = width;
    d->frame_height = height;
    return SK_OK;
}

/* YOLO letterboxes every frame into the same picture, unless it is asked for no more border than needed. */
static bool size_is_fixed(const sk_detector *d)
{
    for (int32_t i = 0; i < d->info.n_models; i++)
        if (!is_yolo(d->models[i]))
            return false;
    return !d->settings.rect;
}

/* Networks that fit every frame are opened at once, and the models' own copy of the weights is given back. */
static sk_status open_fixed(sk_detector *d, sk_error *err)
{
    if (!size_is_fixed(d))
        return SK_OK;
    for (int32_t i = 0; i < d->info.n_models; i++)
        SK_TRY(open_session(d, i, err));
    for (int32_t i = 0; i < d->info.n_models; i++)
        sk_model_forget_network(d->models[i]);
    return SK_OK;
}

sk_status sk_detector_open(const char *const *models, int32_t n_models, const sk_detector_settings *settings,
                           sk_detector **out, sk_error *err)
{
    SK_CHECK_ARG(models && n_models >= 1 && n_models <= SK_DETECTOR_MAX_MODELS && settings && out, err);
    *out = NULL;
    int64_t begin = sk_clock_ns();
    sk_detector *d = sk_calloc(1, sizeof *d);
    if (!d)
        return sk_fail_memory(err, sizeof *d);
    sk_status status = SK_OK;
    d->settings = *settings;
    d->info.n_models = n_models;
    d->task_settings = sk_task_settings_of(settings);
    SK_TRY_GOTO(sk_network_engine(settings->runtime, &d->engine, err));
    for (int32_t i = 0; i < n_models; i++)
        SK_TRY_GOTO(sk_model_open(models[i], &d->models[i], err));
    SK_TRY_GOTO(arrange(d, err));
    /* Any size will do to learn what the stages will give; the first frame brings the real one. */
    SK_TRY_GOTO(open_stages(d, d->models[0]->input.width, d->models[0]->input.height, err));
    SK_TRY_GOTO(fill_info(d, err));
    SK_TRY_GOTO(open_fixed(d, err));
    if (n_models == 2)
        SK_TRY_GOTO(
            sk_instances_alloc(d->parts[0].plan->capacity, d->parts[0].plan->n_keypoints, &d->found, err));
    d->times.open = (double)(sk_clock_ns() - begin) * 1e-9;
    *out = d;
    return SK_OK;
done:
    sk_detector_close(&d);
    return status;
}

void sk_detector_close(sk_detector **pointer)
{
    sk_detector *d = pointer ? *pointer : NULL;
    if (!d)
        return;
    *pointer = NULL;
    for (int32_t i = SK_DETECTOR_MAX_MODELS - 1; i >= 0; i--) {
        sk_session_close(&d->parts[i].session);
        sk_task_stage_close(&d->parts[i].stage);
        sk_free(d->parts[i].input);
    }
    sk_instances_free(&d->found);
    for (int32_t i = 0; i < d->n_keypoint_names; i++)
        sk_free(d->keypoint_names[i]);
    sk_free(d->keypoint_names);
    for (int32_t i = 0; i < SK_DETECTOR_MAX_MODELS; i++)
        sk_model_close(&d->models[i]);
    sk_free(d);
}

const sk_detector_info *sk_detector_about(const sk_detector *d)
{
    return &d->info;
}

void sk_detector_get_times(const sk_detector *d, sk_detector_times *times)
{
    *times = d->times;
}

/* Adds the time since *mark to *sum and moves the mark. */
static void lap(int64_t *mark, double *sum)
{
    int64_t now = sk_clock_ns();
    *sum += (double)(now - *mark) * 1e-9;
    *mark = now;
}

static sk_status run_network(part *p, sk_error *err)
{
    sk_session_input input = {p->input, 0, 0};
    return sk_session_run(p->session, &input, 1, p->outputs, p->n_outputs, err);
}

static sk_status look_at_crops(sk_detector *d, const sk_frame *frame, int64_t *mark, sk_instances *out,
                               sk_error *err)
{
    part *p = &d->parts[1];
    int32_t n_crops = 0;
    int cut = sk_session_about(p->session)->tail_cut;
    SK_TRY(sk_task_stage_crops(p->stage, frame, &d->found, out, &n_crops, err));
    for (int32_t c = 0; c < n_crops; c++) {
        SK_TRY(sk_task_stage_crop_input(p->stage, c, p->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32, p->input,
                                        err));
        lap(mark, &d->times.pre);
        SK_TRY(run_network(p, err));
        lap(mark, &d->times.network);
        SK_TRY(sk_task_stage_crop_result(p->stage, c, p->outputs, p->n_outputs, 0, cut, out, err));
        lap(mark, &d->times.post);
    }
    return sk_task_stage_crops_end(p->stage, out, err);
}

sk_status sk_detector_run(sk_detector *d, const sk_frame *const *frames, int32_t count, sk_instances *out,
                          sk_error *err)
{
    SK_CHECK_ARG(d && frames && count >= 1 && count <= d->settings.batch && out, err);
    if (frames[0]->width != d->frame_width || frames[0]->height != d->frame_height)
        SK_TRY(open_stages(d, frames[0]->width, frames[0]->height, err));
    for (int32_t i = 0; i < d->info.n_models; i++)
        SK_TRY(open_session(d, i, err));
    part *p = &d->parts[0];
    int cut = sk_session_about(p->session)->tail_cut;
    int64_t mark = sk_clock_ns();
    for (int32_t i = 0; i < count; i++)
        SK_TRY(sk_task_stage_input(p->stage, frames[i], p->u8 ? SK_TASK_INPUT_U8 : SK_TASK_INPUT_F32,
                                   p->input + p->picture_bytes * (size_t)i, err));
    lap(&mark, &d->times.pre);
    SK_TRY(run_network(p, err));
    lap(&mark, &d->times.network);
    for (int32_t i = 0; i < count; i++) {
        sk_instances *found = d->info.n_models == 2 ? &d->found : &out[i];
        SK_TRY(sk_task_stage_result(p->stage, p->outputs, p->n_outputs, i, cut, found, err));
        lap(&mark, &d->times.post);
        if (d->info.n_models == 2) {
            SK_TRY(look_at_crops(d, frames[i], &mark, &out[i], err));
            lap(&mark, &d->times.post);
        }
    }
    d->times.frames += count;
    return SK_OK;
}
