/* SPDX-License-Identifier: Apache-2.0 */
#include "app/detector.h"

#include "base/clock.h"
#include "models/model.h"
#include "runner/network.h"
#include "runner/offer.h"
#include "tasks/pipeline.h"

#include <stdio.h>
#include <string.h>

struct sk_detector {
    sk_detector_settings settings;
    sk_detector_info info;
    double open_seconds;
    sk_model *models[SK_DETECTOR_MAX_MODELS];
    const sk_engine *engine;
    sk_runner *runner; /* opened with the first frame, or at once where every frame fits */
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

static const char *fact_of(const sk_model *model, const char *key)
{
    for (int32_t i = 0; i < model->n_facts; i++)
        if (strcmp(model->facts[i][0], key) == 0)
            return model->facts[i][1];
    return NULL;
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
        if (m[i]->task == SK_TASK_UNKNOWN || (m[i]->task == SK_TASK_CLASSIFY && d->info.n_models > 1))
            return sk_fail(err, SK_ERR_UNSUPPORTED,
                           "%s: a model for the task '%s' finds nothing in a frame%s; give one for "
                           "detect, pose, obb or a SLEAP model",
                           m[i]->path, sk_task_name(m[i]->task),
                           m[i]->task == SK_TASK_CLASSIFY ? " that another could look at" : "");
        if (m[i]->n_outputs && m[i]->outputs[0].kind == SK_OUTPUT_OTHER) {
            const char *from = fact_of(m[i], "checkpoint_path");
            return sk_fail(
                err, SK_ERR_UNSUPPORTED,
                "%s: its outputs are already post-processed by its exporter, in a way that differs from the "
                "original; give the checkpoint or model folder it was exported from%s%s%s, or export that "
                "with 'skitter export'",
                m[i]->path, from ? " (" : "", from ? from : "", from ? ")" : "");
        }
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

static sk_status fill_info(sk_detector *d, const sk_task_plan *plan, sk_error *err)
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
    info->colours = !is_yolo(last) && last->sleap.legacy ? SK_COLOURS_BT601 : SK_COLOURS_TAGGED;
    info->n_keypoints = plan->n_keypoints;
    info->capacity = plan->capacity;
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
    if (d->settings.openvino_device) {
        size_t used = strlen(info->device);
        snprintf(info->device + used, sizeof info->device - used, ", %s device", d->settings.openvino_device);
    }
    sk_precision usual = d->engine->usual ? d->engine->usual : SK_PRECISION_F32, asked = SK_PRECISION_AUTO;
    if (!sk_precision_find(d->settings.precision, &asked))
        return sk_fail(err, SK_ERR_ARG, "no precision is called '%s'; there are f32, tf32, f16, bf16, i8",
                       d->settings.precision);
    snprintf(info->precision, sizeof info->precision, "%s", sk_precision_name(asked ? asked : usual));
    return name_keypoints(d, last, err);
}

/* Rectangles or squares, and which heads: from here on that stands. */
static sk_status settle_shape(sk_detector *d, sk_error *err)
{
    const sk_model *first = d->models[0], *yolo = NULL;
    for (int32_t i = d->info.n_models - 1; i >= 0; i--)
        yolo = is_yolo(d->models[i]) ? d->models[i] : yolo;
    if (!yolo && d->settings.heads != SK_HEADS_AUTO)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: suppression (NMS) and heads are a YOLO model's, which this is not", first->path);
    if (yolo)
        d->info.heads =
            yolo->yolo.end2end && !yolo->yolo.nms_tail ? SK_HEADS_ONE_TO_ONE : SK_HEADS_ONE_TO_MANY;
    if (!is_yolo(first))
        return SK_OK;
    if (d->settings.rect == SK_RECT_ON && first->input.fixed_size)
        return sk_fail(
            err, SK_ERR_UNSUPPORTED,
            "%s: takes pictures of %dx%d only, so it cannot be given rectangles of any shape; export "
            "it with dynamic sizes, or give the checkpoint it was made from",
            first->path, first->input.width, first->input.height);
    d->settings.rect = d->info.rect = sk_network_rect(d->settings.rect, first, d->engine);
    return SK_OK;
}

/* What the stages will give; any frame size will do for that. */
static sk_status describe(sk_detector *d, sk_error *err)
{
    sk_task_settings task = sk_task_settings_of(&d->settings);
    sk_task_stage *first = NULL, *second = NULL;
    sk_status status;
    SK_TRY_GOTO(sk_task_stage_open(d->models[0], &task, d->models[0]->input.width, d->models[0]->input.height,
                                   &first, err));
    if (d->info.n_models == 2)
        SK_TRY_GOTO(sk_task_stage_open_second(d->models[1], first, &task, &second, err));
    SK_TRY_GOTO(fill_info(d, sk_task_stage_plan(second ? second : first), err));
done:
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
    return status;
}

static bool all_yolo(const sk_detector *d)
{
    for (int32_t i = 0; i < d->info.n_models; i++)
        if (!is_yolo(d->models[i]))
            return false;
    return true;
}

/* YOLO letterboxes every frame into the same picture, unless it is asked for no more border than needed. */
bool sk_detector_fits_all(const sk_detector *d)
{
    if (d->engine->offers &
        SK_OFFERS_FRAMES) /* it fits frames in by itself: a network for each size of frame */
        return false;
    return all_yolo(d) && d->settings.rect == SK_RECT_OFF;
}

sk_status sk_detector_open_models(const char *const *models, int32_t n_models,
                                  const sk_detector_settings *settings, sk_detector **out, sk_error *err)
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
    SK_TRY_GOTO(sk_network_engine(settings->runtime, &d->engine, err));
    for (int32_t i = 0; i < n_models; i++)
        SK_TRY_GOTO(sk_model_open_heads(models[i], settings->heads, &d->models[i], err));
    SK_TRY_GOTO(arrange(d, err));
    SK_TRY_GOTO(settle_shape(d, err));
    SK_TRY_GOTO(describe(d, err));
    d->open_seconds = (double)(sk_clock_ns() - begin) * 1e-9;
    *out = d;
    return SK_OK;
done:
    sk_detector_close(&d);
    return status;
}

sk_status sk_detector_open_runner(sk_detector *d, const sk_runner_settings *how, sk_runner **out,
                                  sk_error *err)
{
    int64_t begin = sk_clock_ns();
    sk_runner_settings settings = *how;
    settings.detector = d->settings;
    sk_runner_close(&d->runner);
    SK_TRY(sk_runner_open(d->info.models, d->info.n_models, &settings, &d->runner, err));
    d->open_seconds += (double)(sk_clock_ns() - begin) * 1e-9;
    if (out)
        *out = d->runner;
    return SK_OK;
}

void sk_detector_forget(sk_detector *d, bool one_size)
{
    bool enough = (one_size ? all_yolo(d) : sk_detector_fits_all(d)) &&
                  !(d->runner && sk_runner_takes_frames(d->runner));
    for (int32_t i = 0; enough && i < d->info.n_models; i++)
        sk_model_forget_network(d->models[i]);
}

/* The runner behind sk_detector_run: frames are the caller's for the whole call, so they are read in place. */
static sk_status open_own_runner(sk_detector *d, int32_t width, int32_t height, sk_error *err)
{
    sk_runner_settings how;
    sk_runner_defaults(&how);
    how.frames = SK_RUNNER_BORROW;
    how.depth = d->settings.batch;
    how.quick_open = true;
    how.frame_width = width;
    how.frame_height = height;
    SK_TRY(sk_detector_open_runner(d, &how, NULL, err));
    sk_detector_forget(d, false);
    return SK_OK;
}

sk_status sk_detector_open(const char *const *models, int32_t n_models, const sk_detector_settings *settings,
                           sk_detector **out, sk_error *err)
{
    SK_TRY(sk_detector_open_models(models, n_models, settings, out, err));
    sk_status status = sk_detector_fits_all(*out) ? open_own_runner(*out, 0, 0, err) : SK_OK;
    if (status != SK_OK)
        sk_detector_close(out);
    return status;
}

void sk_detector_close(sk_detector **pointer)
{
    sk_detector *d = pointer ? *pointer : NULL;
    if (!d)
        return;
    *pointer = NULL;
    sk_runner_close(&d->runner);
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
    *times = (sk_detector_times){.open = d->open_seconds};
    if (!d->runner)
        return;
    sk_runner_stats stats;
    sk_runner_get_stats(d->runner, &stats);
    times->frames = stats.stages[SK_STAGE_TOTAL].count;
    times->pre = 1e-3 * stats.stages[SK_STAGE_PRE].sum;
    times->network = 1e-3 * stats.stages[SK_STAGE_NETWORK].sum;
    times->post = 1e-3 * stats.stages[SK_STAGE_POST].sum;
}

static sk_status copy_instances(const sk_instances *from, sk_instances *to, sk_error *err)
{
    SK_CHECK_ARG(to->capacity >= from->count && to->n_keypoints == from->n_keypoints, err);
    to->count = from->count;
    memcpy(to->items, from->items, (size_t)from->count * sizeof *from->items);
    memcpy(to->keypoints, from->keypoints,
           (size_t)from->count * (size_t)from->n_keypoints * sizeof *from->keypoints);
    return SK_OK;
}

sk_status sk_detector_run(sk_detector *d, const sk_frame *const *frames, int32_t count, sk_instances *out,
                          sk_error *err)
{
    SK_CHECK_ARG(d && frames && count >= 1 && count <= d->settings.batch && out, err);
    sk_status status = SK_OK;
    if (!d->runner)
        SK_TRY(open_own_runner(d, frames[0]->width, frames[0]->height, err));
    for (int32_t i = 0; i < count; i++)
        SK_TRY_GOTO(sk_runner_submit(d->runner, frames[i], NULL, NULL, err));
    sk_runner_flush(d->runner);
    for (int32_t i = 0; i < count; i++) {
        sk_runner_result result;
        SK_TRY_GOTO(sk_runner_wait(d->runner, &result, err));
        SK_TRY_GOTO(copy_instances(result.instances, &out[i], err));
    }
done:
    /* After a failure the frames are the caller's again: nobody may still be reading them. */
    for (int32_t i = 0; status != SK_OK && i < count && sk_runner_in_flight(d->runner) > 0; i++) {
        sk_runner_result ignored;
        sk_runner_flush(d->runner);
        (void)!sk_runner_wait(d->runner, &ignored, NULL);
    }
    return status;
}
