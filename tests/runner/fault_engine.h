/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TESTS_RUNNER_FAULT_ENGINE_H
#define SK_TESTS_RUNNER_FAULT_ENGINE_H

#include "base/clock.h"
#include "base/memory.h"
#include "engines/engine.h"
#include "tasks/letterbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The CPU engine with faults put in on purpose. Each of the four engines below reads the fault of its number. */

typedef enum fault_kind {
    FAULT_NONE = 0,
    FAULT_WEIGHT,      /* one convolution's weights are damaged */
    FAULT_WRONG_FRAME, /* gives the outputs of the submit before */
    FAULT_STALE,       /* gives the outputs of its first run for ever */
    FAULT_MOVES,       /* outputs lie elsewhere from time to time */
    FAULT_UNSTEADY     /* outputs differ from run to run */
} fault_kind;

typedef struct fault {
    fault_kind kind;
    int32_t spared;             /* sessions opened first that have no such fault: the first of two models */
    _Atomic int32_t quiet;      /* submits before kinds and failures begin: those of opening */
    _Atomic int32_t fail_after; /* submits until one fails; -1 never */
    int32_t delay_us;           /* longest random delay of a submit */
    bool asynchronous;          /* submit returns at once, the work is done in wait */
    _Atomic int32_t gate;       /* 1: submits wait until it is 0 … */
    int32_t gate_from;          /* … of sessions from this number on, in the order they were opened */
    _Atomic int32_t later;      /* submits to those */
    bool artifacts;             /* sessions say that a file runs in the model's place, each its own */
    bool refuses_frames;        /* engine 3: says that it takes frames, and cannot with this model */
    _Atomic int32_t opened, captured, submits, boxed;
} fault;

static fault faults[4];

typedef struct fault_session {
    sk_session base;
    fault *f;
    fault_kind kind;
    int32_t number; /* of the session, in the order of opening */
    sk_session *inner;
    void *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS], *spare[SK_SESSION_MAX_OUTPUTS];
    void *last[SK_SESSION_MAX_OUTPUTS], *first[SK_SESSION_MAX_OUTPUTS];
    size_t bytes[SK_SESSION_MAX_OUTPUTS];
    const void *inputs[SK_SESSION_MAX_SLOTS];
    sk_letterbox *box; /* takes frames: fits them in by itself */
    sk_frame_fit fit;
    int32_t batch;
    uint8_t *boxed;
    bool moved, has_first;
    uint32_t noise;
} fault_session;

static void fault_close(sk_session *session)
{
    fault_session *s = (fault_session *)session;
    for (int i = 0; i < SK_SESSION_MAX_OUTPUTS; i++) {
        for (int k = 0; k < SK_SESSION_MAX_SLOTS; k++)
            sk_free(s->outputs[k][i]);
        sk_free(s->spare[i]);
        sk_free(s->last[i]);
        sk_free(s->first[i]);
    }
    sk_session_close(&s->inner);
    sk_letterbox_close(&s->box);
    sk_free(s->boxed);
    sk_free(s);
}

static sk_status damage(const sk_graph *graph, sk_graph **out, sk_error *err)
{
    SK_TRY(sk_graph_clone(graph, out, err));
    for (size_t i = 0; i < (*out)->n_nodes; i++) {
        const sk_node *node = &(*out)->nodes[i];
        if (node->op != SK_OP_CONV)
            continue;
        /* blobs are shared with the model: the damage goes into a copy */
        sk_value_info *v = &(*out)->values[node->in[1]];
        sk_blob *copy = NULL;
        SK_TRY(sk_blob_alloc(sk_blob_bytes(v->blob), &copy, err));
        memcpy(sk_blob_data(copy), sk_blob_data(v->blob), sk_blob_bytes(v->blob));
        sk_blob_unref(&v->blob);
        v->blob = copy;
        float *w = sk_value_tensor(*out, node->in[1]).data;
        w[0] += 4;
        return SK_OK;
    }
    return sk_fail(err, SK_ERR_NOT_FOUND, "no convolution to damage");
}

static sk_status fault_open(fault *f, const sk_graph *graph, const sk_session_settings *settings,
                            sk_session **out, sk_error *err)
{
    fault_session *s = sk_calloc(1, sizeof *s);
    if (!s)
        return sk_fail_memory(err, sizeof *s);
    sk_graph *changed = NULL;
    sk_status status = SK_OK;
    sk_session_settings plain = *settings;
    plain.slots = 1;
    plain.tail = SK_TAIL_KEEP;
    strcpy(plain.options, "tune=off");
    plain.cache_dir = "";
    plain.precision = SK_PRECISION_F32;
    sk_shape shape = graph->values[graph->inputs[0]].shape;
    s->f = f;
    s->number = atomic_load(&f->opened);
    s->kind = s->number < f->spared ? FAULT_NONE : f->kind;
    s->noise = 1;
    if (settings->input == SK_INPUT_FRAMES) {
        sk_letterbox_geometry g;
        plain.input = SK_INPUT_U8_HWC;
        plain.stages.fit = NULL;
        s->fit = *settings->stages.fit;
        s->batch = (int32_t)shape.dim[0];
        s->boxed = sk_calloc(1, (size_t)sk_shape_count(&shape));
        if (!s->boxed) {
            status = sk_fail_memory(err, (size_t)sk_shape_count(&shape));
            goto done;
        }
        SK_TRY_GOTO(sk_letterbox_fit(s->fit.frame_width, s->fit.frame_height, (int32_t)shape.dim[3],
                                     (int32_t)shape.dim[2], 0, &g, err));
        SK_TRY_GOTO(
            sk_letterbox_open(&g, s->fit.channels == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB, 1, &s->box, err));
    }
    if (s->kind == FAULT_WEIGHT)
        SK_TRY_GOTO(damage(graph, &changed, err));
    SK_TRY_GOTO(
        sk_session_open(&sk_engine_cpu, changed ? changed : graph, &shape, 1, &plain, &s->inner, err));
    const sk_session_info *info = sk_session_about(s->inner);
    s->base.info.threads = info->threads;
    s->base.info.asynchronous = f->asynchronous;
    if (f->artifacts) {
        snprintf(s->base.info.artifact, sizeof s->base.info.artifact, "/made/%d.engine", s->number);
        snprintf(s->base.info.artifact_sha256, sizeof s->base.info.artifact_sha256, "%064d", s->number);
    }
    for (int i = 0; i < info->n_outputs; i++) {
        s->bytes[i] = sk_tensor_bytes(&info->outputs[i]);
        s->spare[i] = sk_calloc(1, s->bytes[i]);
        s->last[i] = sk_calloc(1, s->bytes[i]);
        s->first[i] = sk_calloc(1, s->bytes[i]);
        bool all = s->spare[i] && s->last[i] && s->first[i];
        for (int k = 0; k < settings->slots; k++)
            all = (s->outputs[k][i] = sk_calloc(1, s->bytes[i])) && all;
        if (!all) {
            status = sk_fail_memory(err, s->bytes[i]);
            goto done;
        }
        s->base.info.outputs[i].data = s->outputs[0][i];
    }
    atomic_fetch_add(&f->opened, 1);
    *out = &s->base;
done:
    sk_graph_close(&changed);
    if (status != SK_OK)
        fault_close(&s->base);
    return status;
}

static sk_status fault_work(fault_session *s, int32_t slot, const void *input, sk_error *err)
{
    fault *f = s->f;
    int32_t n = s->base.info.n_outputs;
    sk_tensor got[SK_SESSION_MAX_OUTPUTS];
    sk_session_input in = {.data = input};
    size_t frame_bytes = (size_t)s->fit.frame_width * (size_t)s->fit.frame_height * (size_t)s->fit.channels;
    for (int32_t i = 0; s->box && i < s->batch; i++) {
        const sk_letterbox_geometry *g = sk_letterbox_geometry_of(s->box);
        sk_frame frame = {.format = s->fit.channels == 1 ? SK_PIXEL_GRAY : SK_PIXEL_RGB,
                          .width = s->fit.frame_width,
                          .height = s->fit.frame_height,
                          .stride = (ptrdiff_t)s->fit.frame_width * s->fit.channels,
                          .data = (uint8_t *)(uintptr_t)input + (size_t)i * frame_bytes};
        SK_TRY(sk_letterbox_run(s->box, &frame,
                                s->boxed + (size_t)i * (size_t)g->width * (size_t)g->height * 3, err));
        in.data = s->boxed;
        atomic_fetch_add(&f->boxed, 1);
    }
    while (s->number >= f->gate_from && atomic_load(&f->gate))
        sk_clock_sleep_ns(200000);
    if (f->delay_us) {
        s->noise = s->noise * 1664525u + 1013904223u;
        sk_clock_sleep_ns((int64_t)((s->noise >> 8) % (uint32_t)f->delay_us) * 1000);
    }
    bool quiet = atomic_fetch_sub(&f->quiet, 1) > 0;
    if (!quiet && atomic_load(&f->fail_after) >= 0 && atomic_fetch_sub(&f->fail_after, 1) <= 0)
        return sk_fail(err, SK_ERR_RUNTIME, "the device was unplugged");
    SK_TRY(sk_session_run(s->inner, &in, 1, got, SK_SESSION_MAX_OUTPUTS, err));
    for (int32_t i = 0; i < n; i++) {
        const void *from = got[i].data;
        if (!quiet && s->kind == FAULT_WRONG_FRAME)
            from = s->last[i];
        if (!quiet && s->kind == FAULT_STALE)
            from = s->first[i];
        memcpy(s->outputs[slot][i], from, s->bytes[i]);
        memcpy(s->last[i], got[i].data, s->bytes[i]);
        if (!s->has_first)
            memcpy(s->first[i], got[i].data, s->bytes[i]);
        if (!quiet && s->kind == FAULT_UNSTEADY)
            for (size_t k = 0; k < s->bytes[i] / sizeof(float); k++) {
                s->noise = s->noise * 1664525u + 1013904223u;
                ((float *)s->outputs[slot][i])[k] += (float)(s->noise >> 8) / 4e6f;
            }
    }
    s->has_first = true;
    return SK_OK;
}

static sk_status fault_submit(sk_session *session, int32_t slot, const sk_session_input *inputs,
                              sk_error *err)
{
    fault_session *s = (fault_session *)session;
    atomic_fetch_add(&s->f->submits, 1);
    atomic_fetch_add(&s->f->later, s->number >= s->f->gate_from);
    s->inputs[slot] = inputs[0].data;
    return s->f->asynchronous ? SK_OK : fault_work(s, slot, inputs[0].data, err);
}

static sk_status fault_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err)
{
    fault_session *s = (fault_session *)session;
    if (s->f->asynchronous)
        SK_TRY(fault_work(s, slot, s->inputs[slot], err));
    bool move = s->kind == FAULT_MOVES && atomic_load(&s->f->quiet) < 0 && !s->moved;
    s->moved = move;
    for (int32_t i = 0; i < s->base.info.n_outputs; i++)
        outputs[i] = move ? s->spare[i] : s->outputs[slot][i];
    return SK_OK;
}

static sk_status fault_capture(sk_session *session, sk_error *err)
{
    (void)err;
    atomic_fetch_add(&((fault_session *)session)->f->captured, 1);
    return SK_OK;
}

static sk_status fault_times(sk_session *session, int32_t slot, sk_session_times *out, sk_error *err)
{
    (void)session;
    (void)slot;
    (void)err;
    *out = (sk_session_times){.upload = 1e-4, .network = 2e-4, .download = 3e-4};
    return SK_OK;
}

static sk_status fault_probe(sk_engine_probe *out, sk_error *err)
{
    return sk_engine_cpu.probe(out, err);
}

static sk_status fault_supports(const sk_graph *graph, const sk_session_settings *settings, sk_error *err)
{
    (void)graph;
    if (settings->input == SK_INPUT_FRAMES && faults[3].refuses_frames)
        return sk_fail(err, SK_ERR_UNSUPPORTED, "no frames with this model");
    return SK_OK;
}

#define FAULT_ENGINE(number, its_offers)                                                                     \
    static sk_status fault_open_##number(const sk_graph *g, const sk_session_settings *s, sk_session **out,  \
                                         sk_error *err)                                                      \
    {                                                                                                        \
        return fault_open(&faults[number], g, s, out, err);                                                  \
    }                                                                                                        \
    static const sk_engine fault_engine_##number = {.name = "fault" #number,                                 \
                                                    .title = "CPU with faults",                              \
                                                    .probe = fault_probe,                                    \
                                                    .supports = fault_supports,                              \
                                                    .open = fault_open_##number,                             \
                                                    .submit = fault_submit,                                  \
                                                    .wait = fault_wait,                                      \
                                                    .close = fault_close,                                    \
                                                    .capture = fault_capture,                                \
                                                    .times = fault_times,                                    \
                                                    .can = {.device = SK_DEVICE_NVIDIA,                      \
                                                            .offers = (its_offers),                          \
                                                            .replay = SK_REPLAY_CAPTURED,                    \
                                                            .free_shapes = true}}
FAULT_ENGINE(0, 0);
FAULT_ENGINE(1, 0);
FAULT_ENGINE(2, 0);
FAULT_ENGINE(3, SK_OFFERS_FRAMES); /* fits frames in by itself, as GPUs do */
static const sk_engine *const fault_engines[4] = {&fault_engine_0, &fault_engine_1, &fault_engine_2,
                                                  &fault_engine_3};

/* All four without a fault; submits of opening are left alone as long as they are fewer than a thousand. */
static inline void fault_reset(void)
{
    for (int i = 0; i < 4; i++) {
        memset(&faults[i], 0, sizeof faults[i]);
        atomic_store(&faults[i].quiet, 1000);
        atomic_store(&faults[i].fail_after, -1);
    }
}

/* Faults begin with the next submit. */
static inline void fault_begin(void)
{
    for (int i = 0; i < 4; i++)
        atomic_store(&faults[i].quiet, 0);
}

#endif
