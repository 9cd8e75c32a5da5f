/* SPDX-License-Identifier: Apache-2.0 */
#include "app/detector.h"

#include "base/clock.h"
#include "models/model.h"
#include "runner/network.h"
#include "runner/offer.h"
#include "runner/session_settings.h"
#include "tasks/arrange.h"

#include <stdio.h>
#include <string.h>

struct sk_detector {
    sk_detector_settings settings;
    sk_detector_info info;
    double open_seconds;
    sk_model *models[SK_PIPELINE_MAX_MODELS];
    const sk_engine *engine;
    sk_runner *runner; /* opened with the first frame, or at once where every frame fits */
    sk_task_description what;
};

static void take_over(sk_detector *d)
{
    const sk_task_description *what = &d->what;
    sk_detector_info *info = &d->info;
    for (int32_t i = 0; i < info->n_models; i++)
        info->models[i] = d->models[i];
    info->task = what->task;
    info->n_classes = what->n_classes;
    info->class_names = what->class_names;
    info->identities = what->identities;
    info->n_keypoints = what->n_keypoints;
    info->keypoint_names = (const char *const *)what->keypoint_names;
    info->n_edges = what->n_edges;
    info->edges = what->edges;
    info->has = what->has;
    info->capacity = what->capacity;
    info->heads = what->heads;
    info->colours = what->colours;
}

static sk_status fill_info(sk_detector *d, sk_error *err)
{
    sk_detector_info *info = &d->info;
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
    sk_network_wish wish; /* what is wrong with it is said before anything is begun */
    sk_session_settings session;
    SK_TRY(sk_network_wish_of(&d->settings, &wish, err));
    SK_TRY(sk_session_settings_of(d->engine, &wish, &session, err));
    snprintf(info->precision, sizeof info->precision, "%s",
             sk_precision_name(sk_precision_settle(&d->engine->can, session.precision)));
    return SK_OK;
}

/* What the models give, and whether they get rectangles or squares: from here on that stands. */
static sk_status describe(sk_detector *d, sk_error *err)
{
    const sk_model *models[SK_PIPELINE_MAX_MODELS] = {d->models[0], d->models[1]};
    SK_TRY(sk_task_check_wishes(models, d->info.n_models, d->settings.heads, d->settings.rect, err));
    const sk_task_settings task = sk_task_settings_of(&d->settings);
    SK_TRY(sk_task_describe(models, d->info.n_models, &task, &d->what, err));
    take_over(d);
    if (d->what.rectangles)
        d->settings.rect = d->info.rect = sk_net_rect(d->settings.rect, d->models[0], d->engine);
    return fill_info(d, err);
}

bool sk_detector_takes_nv12(const sk_detector *d)
{
    return d->what.takes_nv12;
}

bool sk_detector_fits_all(const sk_detector *d)
{
    if (d->engine->can.offers &
        SK_OFFERS_FRAMES) /* it fits frames in by itself: a network for each size of frame */
        return false;
    return d->what.fits_all && d->settings.rect == SK_RECT_OFF;
}

sk_status sk_detector_open_models(const char *const *models, int32_t n_models,
                                  const sk_detector_settings *settings, sk_detector **out, sk_error *err)
{
    SK_CHECK_ARG(models && n_models >= 1 && n_models <= SK_PIPELINE_MAX_MODELS && settings && out, err);
    *out = NULL;
    int64_t begin = sk_clock_ns();
    sk_detector *d = sk_calloc(1, sizeof *d);
    if (!d)
        return sk_fail_memory(err, sizeof *d);
    sk_status status = SK_OK;
    d->settings = *settings;
    d->info.n_models = n_models;
    SK_TRY_GOTO(sk_net_engine(settings->runtime, &d->engine, err));
    for (int32_t i = 0; i < n_models; i++)
        SK_TRY_GOTO(sk_model_open_heads(models[i], settings->heads, &d->models[i], err));
    SK_TRY_GOTO(sk_task_arrange(d->models, n_models, err));
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
    bool enough = (one_size ? d->what.fits_all : sk_detector_fits_all(d)) &&
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
    sk_task_description_free(&d->what);
    for (int32_t i = 0; i < SK_PIPELINE_MAX_MODELS; i++)
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
    times->network = 1e-3 * (stats.stages[SK_STAGE_NETWORK].sum + stats.stages[SK_STAGE_SECOND].sum);
    times->post = 1e-3 * (stats.stages[SK_STAGE_POST].sum + stats.stages[SK_STAGE_CROPS].sum +
                          stats.stages[SK_STAGE_SECOND_POST].sum);
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
