/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_TRACE_H
#define SK_RUNNER_TRACE_H

#include "models/model.h"
#include "runner/devices.h"
#include "tasks/stage.h"

/* A trace: one network at one shape on one device, run once to warm up, once more to see that it gives the same, and
 * then frozen. What it was made from is its key; it is replayed for nothing else. */

typedef struct sk_trace_key {
    char model[65]; /* content hash */
    const sk_engine *engine;
    int32_t device;
    int32_t batch, height, width, channels;
    int32_t u8, cut_tail;
    int32_t frames; /* 1: the engine takes frames as they come and fits them in by itself */
    int32_t sparse; /* 1: only places that can pass come back */
    int32_t found;  /* 1: what is found comes back */
    int32_t peaks;  /* 1: tables of peaks come back, as `wish` says */
    int32_t crops;  /* 1: the engine cuts them from a frame on the device, as `cut` says */
    sk_frame_fit fit;
    sk_crop_wish cut;
    sk_peak_wish wish;
} sk_trace_key;

typedef struct sk_trace {
    sk_trace_key key;
    uint64_t generation; /* 0: there is none; counts captures */
    sk_session *session;
    int32_t n_outputs, asynchronous;
    sk_outputs_form outputs_form;
    sk_precision precision;
    const void *outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS]; /* where results lie, for ever */
    bool from_open; /* the engine replays from the start: there is no capture, and no time of it */
    double warm_up_ms, optimised_ms, capture_ms;
} sk_trace;

sk_trace_key sk_trace_key_of(const sk_model *model, const sk_device *device, int32_t batch,
                             const sk_task_plan *plan);
/* Lets the engine do what it offers around the network, where the stage allows: fit frames in; and, unless the outputs are
 * wanted whole, decode and suppress or find peaks, or leave out results that cannot pass. */
void sk_trace_key_offload(sk_trace_key *key, const sk_model *model, const sk_task_stage *stage,
                          const sk_frame *like, bool whole);
/* Only the last of these: peaks. For models on crops. */
void sk_trace_key_peaks(sk_trace_key *key, const sk_task_stage *stage);
/* Crops cut by the engine, from frames like this one that lie on its device. */
void sk_trace_key_crops(sk_trace_key *key, const sk_task_stage *stage, const sk_frame *like);
/* Do results come back without the places that cannot pass, or only what is found or peaks? */
bool sk_trace_key_is_partial(const sk_trace_key *key);
bool sk_trace_key_equal(const sk_trace_key *a, const sk_trace_key *b);
bool sk_trace_fits(const sk_trace *trace, const sk_trace_key *key);
/* Bytes of one picture as it is handed in. */
size_t sk_trace_picture_bytes(const sk_trace_key *key);

/* Ends the old trace and makes one for `key`. On failure there is none. `quick`: without trial runs. `resident`: for traces of
 * crops, a frame to try them on; else null. */
sk_status sk_trace_capture(sk_trace *trace, const sk_model *model, const sk_device *device,
                           const sk_trace_key *key, const sk_detector_settings *settings, int32_t slots,
                           bool quick, const sk_frame *resident, sk_error *err) SK_MUST_CHECK;
void sk_trace_release(sk_trace *trace);

/* Replay: submit and wait of the session. `key` is that of the input; another trace's is refused. Wait also refuses
 * results that do not lie where they did at capture. */
sk_status sk_trace_submit(sk_trace *trace, const sk_trace_key *key, const sk_session_input *input,
                          sk_error *err) SK_MUST_CHECK;
sk_status sk_trace_wait(sk_trace *trace, sk_tensor *outputs, sk_error *err) SK_MUST_CHECK;

#endif
