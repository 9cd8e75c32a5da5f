/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/object.h"
#include "runner/internal.h"
#include "runner/network.h"
#include "runner/offer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Opening and releasing. */

#define MAX_DEPTH 1024

void sk_runner_defaults(sk_runner_settings *settings)
{
    *settings = (sk_runner_settings){.size = sizeof *settings,
                                     .mode = SK_PIPELINE_THROUGHPUT,
                                     .frames = SK_RUNNER_COPY,
                                     .batch_wait_ms = 20,
                                     .max_age_ms = 500};
    sk_detector_defaults(&settings->detector);
}

static sk_status check_settings(const sk_runner_settings *s, sk_error *err)
{
    if (s->size != sizeof *s)
        return sk_fail(err, SK_ERR_ARG, "runner settings of %u bytes, expected %zu: use sk_runner_defaults()",
                       (unsigned)s->size, sizeof *s);
    if (s->mode != SK_PIPELINE_THROUGHPUT && s->mode != SK_PIPELINE_LATENCY)
        return sk_fail(err, SK_ERR_ARG, "mode %d is not known (SK_PIPELINE_…)", (int)s->mode);
    if (s->when_full < SK_FULL_DEFAULT || s->when_full > SK_FULL_DROP_OLDEST)
        return sk_fail(err, SK_ERR_ARG, "when_full %d is not known", (int)s->when_full);
    if (s->frames < SK_RUNNER_COPY || s->frames > SK_RUNNER_HOLD)
        return sk_fail(err, SK_ERR_ARG, "frames %d is not known", (int)s->frames);
    if (s->detector.batch < 1 || s->detector.batch > 64)
        return sk_fail(err, SK_ERR_ARG, "batch is %d; allowed are 1 to 64", s->detector.batch);
    if (s->depth < 0 || s->depth > MAX_DEPTH || (s->depth && s->depth < s->detector.batch))
        return sk_fail(err, SK_ERR_ARG, "depth is %d; allowed are %d (the batch) to %d, or 0", s->depth,
                       s->detector.batch, MAX_DEPTH);
    const struct {
        const char *name;
        int32_t value;
    } counts[] = {{"batch_wait_ms", s->batch_wait_ms}, {"max_age_ms", s->max_age_ms},
                  {"timeout_ms", s->timeout_ms},       {"check_every", s->check_every},
                  {"timeline", s->timeline},           {"expect->width", s->frame_width},
                  {"expect->height", s->frame_height}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].value < 0)
            return sk_fail(err, SK_ERR_ARG, "%s is %d; it cannot be negative", counts[i].name,
                           counts[i].value);
    if (!(s->pcc_min >= 0 && s->pcc_min <= 1))
        return sk_fail(err, SK_ERR_ARG, "pcc_min is %g; a correlation lies between 0 and 1", s->pcc_min);
    return SK_OK;
}

static sk_status copy_settings(sk_runner *r, const sk_runner_settings *settings, sk_error *err)
{
    r->settings = *settings;
    sk_runner_settings *s = &r->settings;
    s->devices = NULL;
    r->like = (sk_frame){.format = SK_PIXEL_RGB};
    if (s->like)
        r->like = (sk_frame){.format = s->like->format,
                             .matrix = s->like->matrix,
                             .full_range = s->like->full_range,
                             .place = s->like->place,
                             .device = s->like->device};
    s->like = NULL;
    if (s->when_full == SK_FULL_DEFAULT)
        s->when_full = s->mode == SK_PIPELINE_LATENCY ? SK_FULL_DROP_OLDEST : SK_FULL_BLOCK;
    if (s->detector.n_classes > 0) {
        size_t bytes = (size_t)s->detector.n_classes * sizeof *r->classes;
        r->classes = sk_malloc(bytes);
        if (!r->classes)
            return sk_fail_memory(err, bytes);
        memcpy(r->classes, s->detector.classes, bytes);
    }
    const char **texts[] = {&s->detector.precision, &s->detector.engine_options, &s->detector.openvino_device,
                            &s->detector.provider};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *given = *texts[i];
        r->texts[i] = given ? sk_strdup(given) : NULL;
        if (given && !r->texts[i])
            return sk_fail_memory(err, strlen(given));
        *texts[i] = r->texts[i];
    }
    s->detector.classes = r->classes;
    s->detector.runtime = NULL;
    sk_rect rect = SK_RECT_ON; /* the same on all lanes */
    for (int32_t i = 0; i < r->n_lanes; i++)
        if (sk_net_rect(s->detector.rect, r->models[0], r->lanes[i].device.engine) == SK_RECT_OFF)
            rect = SK_RECT_OFF;
    s->detector.rect = rect;
    r->task = sk_task_settings_of(&s->detector);
    if (!s->frame_width || !s->frame_height) {
        const sk_input_spec *in = &r->models[0]->input;
        s->frame_width = in->width > 0 ? in->width : 640;
        s->frame_height = in->height > 0 ? in->height : 640;
    }
    return SK_OK;
}

/* What results will look like, from stages opened for a look. */
static sk_status plan_results(sk_runner *r, sk_error *err)
{
    sk_task_stage *first = NULL, *second = NULL;
    sk_status status;
    SK_TRY_GOTO(sk_task_stage_open(r->models[0], &r->task, r->settings.frame_width, r->settings.frame_height,
                                   &first, err));
    if (r->n_models > 1)
        SK_TRY_GOTO(sk_task_stage_open_second(r->models[1], first, &r->task, &second, err));
    r->planes = !second && sk_task_stage_plan(first)->i420 && r->settings.frames != SK_RUNNER_COPY;
    const sk_task_plan *plan = sk_task_stage_plan(second ? second : first);
    r->capacity = plan->capacity;
    r->n_keypoints = plan->n_keypoints;
    r->found_capacity = second ? sk_task_stage_plan(first)->capacity : 0;
    r->found_keypoints = second ? sk_task_stage_plan(first)->n_keypoints : 0;
done:
    sk_task_stage_close(&second);
    sk_task_stage_close(&first);
    return status;
}

/* Enough that each device has a batch in every stage; in latency mode one each, and the newest waiting. */
static int32_t default_depth(const sk_runner *r)
{
    if (r->settings.mode == SK_PIPELINE_LATENCY)
        return (r->n_lanes + 1) * r->settings.detector.batch;
    int32_t batches = r->settings.detector.batch > 8 ? 2 * r->n_lanes : 3 * r->n_lanes + 1;
    for (int32_t i = 0; i < r->n_lanes; i++) /* those in a second network that goes on beside the first */
        batches += r->n_models > 1 && !sk_device_on_cpu(&r->lanes[i].device) ? 3 : 0;
    int32_t depth = batches * r->settings.detector.batch;
    return depth < MAX_DEPTH ? depth : MAX_DEPTH;
}

static void init_conditions(sk_runner *r)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->room, &monotonic);
    pthread_cond_init(&r->ready, &monotonic);
    pthread_cond_init(&r->gone, &monotonic);
    for (int32_t i = 0; i < r->n_lanes; i++) {
        pthread_mutex_init(&r->lanes[i].networks, NULL);
        sk_lane_list_stages(&r->lanes[i], r->n_models, &monotonic);
    }
    pthread_condattr_destroy(&monotonic);
    sk_checker_init(&r->checker);
}

/* The largest share of the machine's memory that instances chosen by "auto" may take for activations. */
#define AUTO_MEMORY_SHARE 4

int64_t sk_runner_auto_memory; /* bytes; 0: a share of the machine's */

/* How many instances like this one find room; weights are shared and do not count. */
static int32_t instances_that_fit(const sk_lane *lane)
{
    int64_t room = sk_runner_auto_memory;
    if (room == 0)
        room = (int64_t)sysconf(_SC_PHYS_PAGES) / AUTO_MEMORY_SHARE * (int64_t)sysconf(_SC_PAGESIZE);
    int64_t each = lane->activation_bytes;
    if (lane->second.trace.session)
        each += (int64_t)sk_session_about(lane->second.trace.session)->activation_bytes;
    int64_t fit = each > 0 && room > 0 ? room / each : INT32_MAX;
    return fit < 1 ? 1 : fit > INT32_MAX ? INT32_MAX : (int32_t)fit;
}

/* `fits`: null, or where to say that fewer instances must do; then nothing was opened. */
static sk_status open_lanes(sk_runner *r, int32_t *fits, sk_error *err)
{
    for (int32_t i = 0; i < r->n_lanes; i++) { /* one after another: each times its kernels undisturbed */
        SK_TRY(sk_lane_open(r, &r->lanes[i], err));
        if (i > 0 || !fits)
            continue;
        int32_t fit = instances_that_fit(&r->lanes[0]);
        if (fit >= r->n_lanes)
            continue;
        *fits = fit;
        return sk_fail(err, SK_ERR_LIMIT, "%d instances of this network do not fit into memory", r->n_lanes);
    }
    r->planes = r->planes && !sk_runner_takes_frames(r);
    for (int32_t i = 0; i < r->n_lanes; i++)
        r->sparse = r->sparse || sk_lane_is_sparse(&r->lanes[i]);
    r->takes_nv12 = true;
    for (int32_t i = 0; i < r->n_lanes; i++)
        r->takes_nv12 = r->takes_nv12 && r->lanes[i].trace.key.frames;
    for (sk_item *item = r->items; item; item = item->sibling) {
        if (r->settings.keep_outputs)
            SK_TRY(sk_item_prepare_outputs(item, &r->lanes[0].trace, err));
        if (r->settings.frames != SK_RUNNER_COPY)
            continue;
        item->staging_bytes = (size_t)r->settings.frame_width * (size_t)r->settings.frame_height * 3;
        item->staging = sk_aligned_calloc(item->staging_bytes >= SK_LARGE_PAGE ? SK_LARGE_PAGE : 4096,
                                          item->staging_bytes);
        if (!item->staging)
            return sk_fail_memory(err, item->staging_bytes);
    }
    return SK_OK;
}

/* A few frames of grey through every stage, so that the first real one finds all memory touched and all code warm. */
static sk_status rehearse(sk_runner *r, sk_error *err)
{
    sk_frame frame = {.format = SK_PIXEL_RGB,
                      .width = r->settings.frame_width,
                      .height = r->settings.frame_height,
                      .stride = (ptrdiff_t)r->settings.frame_width * 3};
    size_t bytes = (size_t)frame.stride * (size_t)frame.height;
    frame.data = sk_malloc(bytes);
    if (!frame.data)
        return sk_fail_memory(err, bytes);
    memset(frame.data, 128, bytes);
    sk_runner_result result;
    sk_status status = SK_OK;
    const int32_t timeout = r->settings.timeout_ms, age = r->settings.max_age_ms;
    r->settings.timeout_ms = r->settings.max_age_ms = 0; /* for frames, not for warming up */
    int32_t rounds = r->n_lanes * 2 * r->settings.detector.batch;
    for (int32_t i = 0; i < rounds && status == SK_OK; i++) {
        status = sk_runner_submit_own(r, &frame, err);
        if (status == SK_OK && sk_runner_in_flight(r) >= r->depth)
            status = sk_runner_wait(r, &result, err);
    }
    sk_runner_flush(r);
    while (status == SK_OK && sk_runner_in_flight(r) > 0)
        status = sk_runner_wait(r, &result, err);
    pthread_mutex_lock(&r->lock);
    r->settings.timeout_ms = timeout;
    r->settings.max_age_ms = age;
    if (status != SK_OK) /* threads may still read the frame: see to it that they are done */
        r->state = SK_RUNNER_ENDING;
    if (r->held)
        sk_item_free(r, r->held);
    r->held = NULL;
    r->next_ticket = r->flush_before = 0;
    r->readers = SK_READ_BY_NONE;
    for (int32_t i = 0; i < r->n_lanes; i++) {
        r->lanes[i].frames = 0;
        for (int32_t k = 0; k < r->lanes[i].n_stages; k++)
            atomic_store(&r->lanes[i].stages[k].row.written, 0);
    }
    pthread_mutex_unlock(&r->lock);
    if (status != SK_OK)
        sk_runner_release(r);
    sk_free(frame.data);
    return status;
}

static sk_status open_on(const sk_model *const *models, int32_t n_models, const sk_runner_settings *settings,
                         const sk_engine *const *engines, int32_t *fits, sk_runner **out, sk_error *err)
{
    SK_CHECK_ARG(models && n_models >= 1 && n_models <= SK_PIPELINE_MAX_MODELS && settings && out, err);
    *out = NULL;
    SK_TRY(check_settings(settings, err));
    if (sk_task_is_given(models[0]) && settings->keep_outputs)
        return sk_fail(err, SK_ERR_UNSUPPORTED,
                       "raw outputs are the first network's, and where boxes are given there is none");
    sk_device devices[SK_RUNNER_MAX_DEVICES];
    int32_t n_devices = 0;
    SK_TRY(sk_devices_read(settings->devices, settings->detector.runtime, devices, &n_devices, err));
    sk_runner *r = sk_calloc(1, sizeof *r);
    sk_lane *lanes = sk_calloc((size_t)n_devices, sizeof *lanes);
    if (!r || !lanes) {
        sk_free(r);
        sk_free(lanes);
        return sk_fail_memory(err, sizeof *r + (size_t)n_devices * sizeof *lanes);
    }
    sk_status status = SK_OK;
    r->lanes = lanes;
    r->n_lanes = n_devices;
    r->n_models = n_models;
    for (int32_t i = 0; i < n_models; i++)
        r->models[i] = models[i];
    r->given = sk_task_is_given(models[0]);
    for (int32_t i = 0; i < n_devices; i++) {
        lanes[i] = (sk_lane){.runner = r, .index = i, .device = devices[i]};
        if (engines)
            lanes[i].device.engine = engines[i];
    }
    init_conditions(r);
    SK_TRY_GOTO(copy_settings(r, settings, err));
    r->depth = settings->depth ? settings->depth : default_depth(r);
    SK_TRY_GOTO(plan_results(r, err));
    SK_TRY_GOTO(sk_items_open(r, err));
    SK_TRY_GOTO(sk_timeline_row_open(&r->caller_row, r->settings.timeline, "decode", err));
    bool automatic = settings->devices && strcmp(settings->devices, "auto") == 0;
    SK_TRY_GOTO(open_lanes(r, automatic && sk_device_on_cpu(&devices[0]) ? fits : NULL, err));
    pthread_mutex_lock(&r->lock);
    r->state = SK_RUNNER_RUNNING;
    pthread_mutex_unlock(&r->lock);
    if (!settings->quick_open)
        SK_TRY_GOTO(rehearse(r, err));
    sk_runner_reset_stats(r);
    *out = r;
    return SK_OK;
done:
    sk_runner_close(&r);
    return status;
}

sk_status sk_runner_open_on(const sk_model *const *models, int32_t n_models,
                            const sk_runner_settings *settings, const sk_engine *const *engines,
                            sk_runner **out, sk_error *err)
{
    int32_t fits = 0;
    sk_status status = open_on(models, n_models, settings, engines, &fits, out, err);
    if (fits == 0)
        return status;
    /* As many as there is room for, each with more of the cores. */
    char devices[80];
    sk_runner_settings fewer = *settings;
    snprintf(devices, sizeof devices, "%.48s*%d", settings->detector.runtime, fits);
    fewer.devices = devices;
    return open_on(models, n_models, &fewer, engines, NULL, out, err);
}

bool sk_runner_takes_frames(const sk_runner *r)
{
    for (int32_t i = 0; i < r->n_lanes; i++)
        if (r->lanes[i].trace.key.frames)
            return true;
    return false;
}

bool sk_runner_takes_nv12(const sk_runner *r)
{
    return r->takes_nv12 && r->n_models == 1 && r->settings.check_every == 0 && !r->settings.allow_failover;
}

bool sk_runner_takes_device_frames(const sk_runner *r, int32_t device)
{
    bool taken = r->settings.frames != SK_RUNNER_COPY && sk_runner_takes_nv12(r);
    for (int32_t i = 0; i < r->n_lanes; i++)
        taken = taken && r->lanes[i].device.index == device &&
                (r->lanes[i].device.engine->can.reads & SK_READS_DEVICE);
    return taken;
}

bool sk_runner_takes_planes(const sk_runner *r)
{
    return r->planes;
}

sk_status sk_runner_open(const sk_model *const *models, int32_t n_models, const sk_runner_settings *settings,
                         sk_runner **out, sk_error *err)
{
    return sk_runner_open_on(models, n_models, settings, NULL, out, err);
}

void sk_runner_release(sk_runner *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    if (r->state == SK_RUNNER_ENDED || (r->state == SK_RUNNER_ENDING && r->releasing)) {
        while (r->state != SK_RUNNER_ENDED) /* somebody else is at it */
            pthread_cond_wait(&r->gone, &r->lock);
        pthread_mutex_unlock(&r->lock);
        return;
    }
    r->state = SK_RUNNER_ENDING;
    r->releasing = true;
    pthread_cond_broadcast(&r->room);
    pthread_cond_broadcast(&r->ready);
    for (int32_t i = 0; i < r->n_lanes; i++)
        sk_stage_wake(&r->lanes[i]);
    while (r->inside > 0)
        pthread_cond_wait(&r->gone, &r->lock);
    pthread_mutex_unlock(&r->lock);
    for (int32_t i = 0; i < r->n_lanes; i++)
        sk_lane_stop(&r->lanes[i]);
    for (int32_t i = 0; i < r->n_lanes; i++)
        sk_lane_close(&r->lanes[i]);
    sk_checker_close(&r->checker);
    sk_timeline_row_close(&r->caller_row);
    pthread_mutex_lock(&r->lock);
    r->counted.cancelled += r->in_flight;
    sk_items_close(r, false);
    r->state = SK_RUNNER_ENDED;
    pthread_cond_broadcast(&r->gone);
    pthread_mutex_unlock(&r->lock);
}

void sk_runner_close(sk_runner **pointer)
{
    SK_TAKE_OR_RETURN(r, pointer);
    sk_runner_release(r);
    pthread_mutex_lock(&r->lock);
    sk_items_close(r, true);
    pthread_mutex_unlock(&r->lock);
    for (int32_t i = 0; i < r->n_lanes; i++) {
        pthread_mutex_destroy(&r->lanes[i].networks);
        for (int32_t k = 0; k < r->lanes[i].n_stages; k++)
            pthread_cond_destroy(&r->lanes[i].stages[k].wake);
    }
    pthread_cond_destroy(&r->room);
    pthread_cond_destroy(&r->ready);
    pthread_cond_destroy(&r->gone);
    pthread_mutex_destroy(&r->lock);
    pthread_mutex_destroy(&r->checker.lock);
    sk_free(r->classes);
    for (size_t i = 0; i < sizeof r->texts / sizeof r->texts[0]; i++)
        sk_free(r->texts[i]);
    sk_free_all(r->lanes, r);
}
