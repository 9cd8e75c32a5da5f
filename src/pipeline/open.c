/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/object.h"
#include "pipeline/internal.h"
#include "runner/network.h"
#include "runner/offer.h"
#include "runner/session_settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Opening and closing. */

/* --- what it is --- */

static sk_status settle_precision(sk_pipeline *p, sk_error *err)
{
    sk_network_wish wish; /* what is wrong with it is said before anything is begun */
    sk_session_settings session;
    SK_TRY(sk_network_wish_of(&p->detector, &wish, err));
    SK_TRY(sk_session_settings_of(p->engine, &wish, &session, err));
    size_t used = 0; /* one word where all models have one */
    for (int32_t i = 0; i < p->info.n_models; i++) {
        const sk_precision its = sk_net_precision(session.precision, p->models[i], p->engine);
        const char *name = sk_precision_name(sk_precision_settle(&p->engine->can, its));
        SK_TRY(sk_net_check_precision(its, p->models[i], p->engine, err));
        if (used && strcmp(p->precision_used, name) == 0)
            continue;
        used += (size_t)snprintf(p->precision_used + used, sizeof p->precision_used - used, "%s%s",
                                 used ? "," : "", name);
    }
    return SK_OK;
}

static sk_status name_device(sk_pipeline *p, sk_error *err)
{
    sk_engine_probe probe = {0};
    SK_TRY(p->engine->probe(&probe, err));
    const char *with = p->provider, *on = p->device_name;
    snprintf(p->device, sizeof p->device, "%.140s%s%.20s%s%s%.20s%s",
             probe.n_devices ? probe.devices[0].name : probe.detail, with ? ", " : "", with ? with : "",
             with ? " provider" : "", on ? ", " : "", on ? on : "", on ? " device" : "");
    return SK_OK;
}

static void describe_models(sk_pipeline *p)
{
    const sk_task_settings task = sk_task_settings_of(&p->detector);
    for (int32_t i = 0; i < p->info.n_models; i++) {
        const sk_model *m = p->models[i];
        sk_pipeline_model *a = &p->about[i];
        *a = (sk_pipeline_model){.path = m->path,
                                 .sha256 = m->content_hash,
                                 .task = m->task,
                                 .width = m->input.width,
                                 .height = m->input.height,
                                 .channels = m->input.channels};
        int32_t width = 0, height = 0;
        const sk_frame *e = &p->expect;
        if (i == 0 && sk_task_input_size(m, &task, e->width > 0 ? e->width : m->input.width,
                                         e->height > 0 ? e->height : m->input.height, &width, &height)) {
            a->width = width;
            a->height = height;
        }
        p->info.models[i] = a;
    }
}

static void fill_info(sk_pipeline *p)
{
    const sk_task_description *what = &p->description;
    sk_pipeline_info *info = &p->info;
    info->size = sizeof *info;
    info->task = what->task;
    info->n_classes = what->n_classes;
    info->class_names = what->class_names;
    info->n_keypoints = what->n_keypoints;
    info->keypoint_names = (const char *const *)what->keypoint_names;
    info->n_edges = what->n_edges;
    info->edges = what->edges;
    info->has = what->has;
    info->identities = what->identities;
    info->heads = what->heads;
    info->capacity = what->capacity;
    info->colours = what->colours;
    info->runtime_requested = p->runtime ? p->runtime : p->detector.runtime;
    info->runtime = p->engine->name;
    info->device = p->device;
    info->precision = p->precision_used;
    if (what->rectangles)
        info->rect = p->detector.rect;
    describe_models(p);
}

/* --- preparing --- */

/* "cuda:1" names a runtime and one of its devices. */
static sk_status find_engine(sk_pipeline *p, sk_error *err)
{
    char *colon = p->runtime ? strchr(p->runtime, ':') : NULL;
    if (colon && !p->devices) {
        p->devices = sk_strdup(p->runtime);
        if (!p->devices)
            return sk_fail_memory(err, strlen(p->runtime));
        p->settings.devices = p->devices;
    }
    char name[64];
    snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - p->runtime) : 63, p->detector.runtime);
    SK_TRY(sk_net_engine(name, &p->engine, err));
    if (colon)
        p->detector.runtime = p->engine->name;
    return SK_OK;
}

/* With the models in place: in order, fit for each other and for what was asked of them. */
static sk_status settle(sk_pipeline *p, sk_error *err)
{
    const sk_model *const *models = (const sk_model *const *)p->models;
    const int32_t n = p->info.n_models;
    for (int32_t i = 0; i < n; i++)
        if (models[i]->truncated)
            return sk_fail(err, SK_ERR_FORMAT, "%s: the file is cut off and cannot be run; fetch it again",
                           models[i]->path);
    SK_TRY(sk_task_arrange(p->models, n, err));
    SK_TRY(sk_task_check_wishes(models, n, p->detector.heads, p->detector.rect, err));
    const sk_task_settings task = sk_task_settings_of(&p->detector);
    SK_TRY(sk_task_describe(models, n, &task, &p->description, err));
    if (p->detector.heads != SK_HEADS_AUTO && p->description.heads != p->detector.heads)
        return sk_fail(err, SK_ERR_ARG,
                       "%s: was opened with its other heads; open it by sk_model_open_heads with those that "
                       "are wanted",
                       models[0]->path);
    if (p->description.rectangles)
        p->detector.rect = sk_net_rect(p->detector.rect, models[0], p->engine);
    SK_TRY(settle_precision(p, err));
    SK_TRY(name_device(p, err));
    fill_info(p);
    sk_pipeline_list_accepts(p);
    return SK_OK;
}

static sk_status begin(int32_t n_models, const sk_detector_settings *detector,
                       const sk_pipeline_settings *settings, sk_pipeline **out, sk_error *err)
{
    *out = NULL;
    if (n_models < 1 || n_models > SK_PIPELINE_MAX_MODELS)
        return sk_fail(err, SK_ERR_ARG, "%d models; one or two make a pipeline", n_models);
    sk_pipeline *p = sk_calloc(1, sizeof *p);
    if (!p)
        return sk_fail_memory(err, sizeof *p);
    p->fd = -1;
    p->info.n_models = n_models;
    pthread_mutex_init(&p->lock, NULL);
    pthread_mutex_init(&p->fd_lock, NULL);
    sk_status status = sk_pipeline_copy_settings(p, settings, err);
    if (status == SK_OK && detector)
        status = sk_pipeline_copy_detector(p, detector, err);
    if (status == SK_OK)
        status = find_engine(p, err);
    return SK_HAND_OVER(status, p, out, sk_pipeline_close);
}

static void add_time(sk_pipeline *p, int64_t begin)
{
    p->open_seconds += (double)(sk_clock_ns() - begin) * 1e-9;
}

/* Once the models are there (`status` says whether): the pipeline is settled, or closed where anything failed. */
static sk_status settle_or_close(sk_status status, sk_pipeline **p, int64_t start, sk_error *err)
{
    if (status == SK_OK)
        status = settle(*p, err);
    if (status == SK_OK)
        add_time(*p, start);
    else
        sk_pipeline_close(p);
    return status;
}

sk_status sk_pipeline_prepare(const char *const *paths, int32_t n_paths, const sk_detector_settings *detector,
                              const sk_pipeline_settings *settings, sk_pipeline **out, sk_error *err)
{
    SK_CHECK_ARG(paths && out, err);
    const int64_t start = sk_clock_ns();
    sk_pipeline *p = NULL;
    sk_status status = begin(n_paths, detector, settings, &p, err);
    for (int32_t i = 0; i < n_paths && status == SK_OK; i++)
        status = sk_model_open_heads(paths[i], p->detector.heads, &p->models[i], err);
    status = settle_or_close(status, &p, start, err);
    *out = p;
    return status;
}

sk_status sk_pipeline_prepare_given(const sk_model *finder, const char *path,
                                    const sk_detector_settings *detector,
                                    const sk_pipeline_settings *settings, sk_pipeline **out, sk_error *err)
{
    SK_CHECK_ARG(finder && path && out, err);
    const int64_t start = sk_clock_ns();
    sk_pipeline *p = NULL;
    sk_status status = begin(2, detector, settings, &p, err);
    if (status == SK_OK) {
        p->models[0] = sk_model_hold(finder);
        status = sk_model_open_heads(path, p->detector.heads, &p->models[1], err);
    }
    status = settle_or_close(status, &p, start, err);
    *out = p;
    return status;
}

/* --- starting --- */

static void fill_runner_settings(sk_pipeline *p, sk_runner_settings *how)
{
    const sk_pipeline_settings *s = &p->settings;
    sk_runner_defaults(how);
    how->detector = p->detector;
    how->devices = p->devices;
    how->frame_width = p->expect.width;
    how->frame_height = p->expect.height;
    how->mode = s->mode;
    how->when_full = s->when_full;
    how->frames = s->keep_frames ? SK_RUNNER_HOLD : SK_RUNNER_BORROW;
    how->result_ready = sk_pipeline_result_ready;
    how->context = p;
    how->depth = s->depth;
    how->batch_wait_ms = s->batch_wait_ms;
    how->max_age_ms = s->max_age_ms;
    how->timeout_ms = s->timeout_ms;
    how->check_every = s->check_every;
    how->pcc_min = s->pcc_min;
    how->allow_failover = s->allow_failover;
    how->quick_open = s->quick_open;
    how->keep_outputs = s->keep_outputs;
    how->like = &p->expect;
    how->timeline = s->timeline;
}

sk_status sk_pipeline_start(sk_pipeline *p, const sk_runner_settings *given, sk_error *err)
{
    const int64_t start = sk_clock_ns();
    sk_runner_settings how;
    fill_runner_settings(p, &how);
    if (given) {
        how = *given;
        how.detector = p->detector;
        how.frame_done = NULL; /* frames say for themselves how they go back */
        how.result_ready = sk_pipeline_result_ready;
        how.context = p;
        p->settings.allow_failover = given->allow_failover;
        p->settings.check_every = given->check_every;
    }
    sk_runner_release(p->runner);
    sk_runner_close(&p->runner);
    SK_TRY(sk_runner_open((const sk_model *const *)p->models, p->info.n_models, &how, &p->runner, err));
    p->info.depth = sk_runner_depth(p->runner);
    describe_models(p);
    sk_pipeline_list_accepts(p);
    add_time(p, start);
    return SK_OK;
}

static sk_status start_or_close(sk_pipeline *p, sk_pipeline **out, sk_error *err)
{
    sk_status status = sk_pipeline_start(p, NULL, err);
    if (status != SK_OK) {
        sk_pipeline_close(&p);
        return status;
    }
    sk_pipeline_forget(p, false);
    *out = p;
    return SK_OK;
}

sk_status sk_pipeline_open(const char *const *paths, int32_t n_paths, const sk_pipeline_settings *settings,
                           sk_pipeline **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    sk_pipeline *p = NULL;
    *out = NULL;
    SK_TRY(sk_pipeline_prepare(paths, n_paths, NULL, settings, &p, err));
    return start_or_close(p, out, err);
}

sk_status sk_pipeline_open_models(const sk_model *const *models, int32_t n_models,
                                  const sk_pipeline_settings *settings, sk_pipeline **out, sk_error *err)
{
    SK_CHECK_ARG(out, err);
    *out = NULL;
    SK_CHECK_ARG(models, err);
    const int64_t start = sk_clock_ns();
    sk_pipeline *p = NULL;
    for (int32_t i = 0; i < n_models && i < SK_PIPELINE_MAX_MODELS; i++)
        SK_CHECK_ARG(models[i], err);
    sk_status status = begin(n_models, NULL, settings, &p, err);
    for (int32_t i = 0; i < n_models && status == SK_OK; i++)
        p->models[i] = sk_model_hold(models[i]);
    SK_TRY(settle_or_close(status, &p, start, err));
    return start_or_close(p, out, err);
}

bool sk_pipeline_fits_all(const sk_pipeline *p)
{
    if (p->engine->can.offers & SK_OFFERS_FRAMES) /* it fits frames in by itself: a network for each size */
        return false;
    return p->description.fits_all && p->detector.rect == SK_RECT_OFF;
}

void sk_pipeline_forget(sk_pipeline *p, bool one_size)
{
    const bool enough = (one_size ? p->description.fits_all : sk_pipeline_fits_all(p)) &&
                        !(p->runner && sk_runner_takes_frames(p->runner));
    for (int32_t i = 0; enough && i < p->info.n_models; i++)
        if (sk_model_held_alone(p->models[i]))
            sk_model_forget_network(p->models[i]);
}

/* --- closing --- */

void sk_pipeline_release(sk_pipeline *p)
{
    if (!p || !p->runner)
        return;
    sk_runner_release(p->runner);
    sk_pipeline_sync_fd(p);
}

void sk_pipeline_close(sk_pipeline **pointer)
{
    SK_TAKE_OR_RETURN(p, pointer);
    sk_runner_release(p->runner); /* its threads may still ask for it, to tell of a result */
    sk_runner_close(&p->runner);
    for (sk_taken *t = p->all, *next; t; t = next) {
        next = t->all;
        sk_free(t);
    }
    if (p->fd >= 0)
        close(p->fd);
    sk_task_description_free(&p->description);
    for (int32_t i = 0; i < SK_PIPELINE_MAX_MODELS; i++)
        sk_model_close(&p->models[i]);
    sk_pipeline_free_settings(p);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->fd_lock);
    sk_free(p);
}

const sk_pipeline_info *sk_pipeline_about(const sk_pipeline *p)
{
    return p ? &p->info : NULL;
}

const sk_model *const *sk_pipeline_models(const sk_pipeline *p)
{
    return (const sk_model *const *)p->models;
}

sk_runner *sk_pipeline_runner(const sk_pipeline *p)
{
    return p->runner;
}
