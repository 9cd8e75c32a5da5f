/* SPDX-License-Identifier: Apache-2.0 */
#include "app/node_core_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/sized.h"

#include <string.h>

int64_t sk_node_now_ns(void)
{
    return sk_clock_ns();
}

/* --- opening and closing --- */

sk_status sk_node_core_open(const sk_node_settings *settings, sk_node_core **out, sk_error *err)
{
    if (!out)
        return sk_fail(err, SK_ERR_ARG, "sk_node_core_open without a place for the core");
    *out = NULL;
    if (!settings)
        return sk_fail(err, SK_ERR_ARG, "sk_node_core_open without settings");
    sk_node_core *c = sk_calloc(1, sizeof *c);
    if (!c)
        return sk_fail_memory(err, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    c->out.core = c;
    c->settings = sk_node_settings_copy(settings);
    sk_status status = c->settings ? SK_OK : sk_fail_memory(err, sizeof(void *));
    if (status == SK_OK) {
        atomic_store(&c->frame_skip, sk_node_settings_int(settings, "frame_skip"));
        status = sk_node_open_pipeline(c, err);
    }
    if (status == SK_OK)
        status = sk_node_open_told(c, err);
    if (status == SK_OK)
        *out = c;
    else
        sk_node_core_close(&c);
    return status;
}

void sk_node_core_close(sk_node_core **core)
{
    sk_node_core *c = core ? *core : NULL;
    if (!c)
        return;
    *core = NULL;
    if (c->out.of)
        sk_node_core_give_back(c, &c->out.told);
    sk_pipeline_close(&c->pipeline); /* releases what is on its way */
    sk_node_close_told(c);
    for (sk_node_held *held = c->free, *next; held; held = next) {
        next = held->next;
        sk_slot_free(&held->slot);
        sk_free(held);
    }
    sk_node_settings_close(&c->settings);
    pthread_mutex_destroy(&c->lock);
    sk_free(c);
}

const sk_pipeline_info *sk_node_core_about(const sk_node_core *core)
{
    return sk_pipeline_about(core->pipeline);
}

sk_status sk_node_core_set(sk_node_core *c, const char *name, const char *value, sk_error *err)
{
    sk_node_param p = SK_NODE_PARAM_INIT;
    for (int32_t i = 0; name && sk_node_param_get(i, &p); i++)
        if (strcmp(p.name, name) == 0)
            break;
    if (p.name && name && strcmp(p.name, name) == 0 && !p.live) {
        return sk_fail(
            err, SK_ERR_BUSY,
            "%s cannot change while the node is configured: deactivate it, clean it up and configure "
            "it again",
            name);
    }
    pthread_mutex_lock(&c->lock);
    const sk_status status = sk_node_settings_set(c->settings, name, value, err);
    if (status == SK_OK)
        atomic_store(&c->frame_skip, sk_node_settings_int(c->settings, "frame_skip"));
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* --- pictures in --- */

static sk_node_held *take_held(sk_node_core *c)
{
    pthread_mutex_lock(&c->lock);
    sk_node_held *held = c->free;
    if (held)
        c->free = held->next;
    pthread_mutex_unlock(&c->lock);
    if (!held)
        held = sk_calloc(1, sizeof *held);
    if (held)
        held->core = c;
    return held;
}

static void put_back(sk_node_held *held)
{
    sk_node_core *c = held->core;
    pthread_mutex_lock(&c->lock);
    held->next = c->free;
    c->free = held;
    pthread_mutex_unlock(&c->lock);
}

/* The pipeline's, when it no longer needs a frame. */
static void release_held(void *context, const sk_frame *frame)
{
    sk_node_held *held = context;
    void (*release)(void *) = held->release;
    void *user = held->user;
    (void)frame;
    held->release = NULL;
    put_back(held);
    if (release)
        release(user);
}

static void note_problem(sk_node_core *c, const char *text)
{
    pthread_mutex_lock(&c->lock);
    snprintf(c->problem, sizeof c->problem, "%.255s", text);
    c->problem_ns = sk_node_now_ns();
    pthread_mutex_unlock(&c->lock);
}

static sk_status submit(sk_node_core *c, const sk_node_image *image, int64_t number, sk_error *err)
{
    sk_node_held *held = take_held(c);
    if (!held)
        return sk_fail_memory(err, sizeof *held);
    sk_status status = sk_node_image_frame(image, held, err);
    if (status == SK_OK) {
        held->user = image->user;
        held->release = image->release;
        held->stamp_ns = image->stamp_ns;
        held->frame.index = number;
        held->frame.wall_ns = image->stamp_ns;
        held->frame.time_ns = 0;
        held->frame.release = release_held;
        held->frame.release_context = held;
        status = sk_pipeline_submit(c->pipeline, &held->frame, held, SK_SUBMIT_FLUSH, err);
    }
    if (status != SK_OK)
        put_back(held);
    return status;
}

sk_status sk_node_core_submit(sk_node_core *c, const sk_node_image *given, sk_error *err)
{
    sk_node_image image = SK_NODE_IMAGE_INIT;
    sk_error problem = {0};
    SK_TRY(sk_sized_read(given, &image, sizeof image, "sk_node_image", err));
    const int64_t number = atomic_fetch_add(&c->came, 1), skip = atomic_load(&c->frame_skip);
    atomic_store(&c->last_came_ns, sk_node_now_ns());
    if (skip > 0 && number % (skip + 1) != 0) {
        atomic_fetch_add(&c->skipped, 1);
        if (image.release)
            image.release(image.user);
        return SK_OK;
    }
    const sk_status status = submit(c, &image, number, &problem);
    if (status == SK_OK || status == SK_ERR_CANCELLED) {
        if (err && status != SK_OK)
            *err = problem;
        return status;
    }
    atomic_fetch_add(&c->refused, 1);
    note_problem(c, problem.message);
    if (err)
        *err = problem;
    return status;
}

void sk_node_core_finish(sk_node_core *c)
{
    sk_pipeline_finish(c->pipeline);
}

/* --- results out --- */

sk_status sk_node_core_take(sk_node_core *c, int32_t timeout_ms, const sk_node_result **out, sk_error *err)
{
    const sk_result *of = NULL;
    *out = NULL;
    if (c->out.of)
        return sk_fail(err, SK_ERR_ARG, "the result before was not given back");
    SK_TRY(sk_pipeline_take(c->pipeline, timeout_ms, &of, err));
    if (!of)
        return SK_OK;
    const sk_node_held *held = of->user;
    c->out.of = of;
    c->out.told = (sk_node_result){.size = sizeof c->out.told,
                                   .status = of->status,
                                   .problem = of->problem ? of->problem : "",
                                   .user = held->user,
                                   .stamp_ns = held->stamp_ns,
                                   .width = of->width,
                                   .height = of->height,
                                   .latency_ms = of->latency_ms};
    sk_status status = SK_OK;
    if (of->status != SK_OK)
        note_problem(c, c->out.told.problem);
    else
        status = sk_node_follow(c, err);
    if (status != SK_OK) {
        sk_node_core_give_back(c, &c->out.told);
        return status;
    }
    *out = &c->out.told;
    return SK_OK;
}

void sk_node_core_give_back(sk_node_core *c, const sk_node_result *result)
{
    if (!result || !c->out.of)
        return;
    const sk_result *of = c->out.of;
    c->out.of = NULL;
    sk_pipeline_give_back(c->pipeline, of);
}
