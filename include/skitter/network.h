/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_NETWORK_H
#define SKITTER_NETWORK_H

#include "skitter/model.h"
#include "skitter/pipeline.h"
#include "skitter/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A model's network by itself: float tensors in, outputs ("output0" …) out, on a compute runtime, in a precision, checked
 * against the reference executor. For networks without a task that skitter knows, and for callers with a pre- and
 * post-processing of their own. They have one input, pictures: [batch][channels][height][width]; SK_ERR_UNSUPPORTED where a
 * file's are others. Frames and instances are skitter/pipeline.h's.
 *
 *     sk_network_settings settings = SK_NETWORK_SETTINGS_INIT;
 *     sk_network_defaults(&settings);
 *     sk_network_open(model, &settings, &network, &err);        warm-up, optimised run, capture
 *     sk_network_run(network, &input, 1, &outputs, &err);       a replay
 *     sk_network_close(&network);
 *
 * Threads: one at a time. Several networks may run at once, also of one model. */
typedef struct sk_network sk_network;

/* From sk_network_defaults(). Every pointer may be null and is copied by open. */
typedef struct sk_network_settings {
    /* sizeof(sk_network_settings) */
    uint32_t size;
    /* as in sk_pipeline_settings, of one device: "cpu" (default), "cuda:1" */
    const char *runtime;
    /* default: the runtime's usual one */
    const char *precision;
    /* the runtime's own, "key=value" by commas */
    const char *options;
    /* 0 (default): all cores */
    int32_t threads;
    /* pictures in one run, 1 (default) … 64; networks of one batch: that */
    int32_t batch;
    /* pixels, of networks that leave it open; 0 (default): the model's own, 640 where it names none */
    int32_t height, width;
    /* how many submits may be in flight, 1 … 8; default 2 */
    int32_t slots;
    /* of sk_network_check; default 0: by precision */
    double pcc_min;
} sk_network_settings;

/* The only way to begin settings, before their defaults. */
#define SK_NETWORK_SETTINGS_INIT SK_INIT_BY_SIZE(sk_network_settings)
/* Fills what settings->size reaches with the defaults. */
SK_API void sk_network_defaults(sk_network_settings *settings);

/* What it takes and gives: names, elements and shapes with the batch; data is null. Constant while open. */
typedef struct sk_network_info {
    /* sizeof, as the library knows it */
    uint32_t size;
    /* one, for the models there are */
    int32_t n_inputs, n_outputs;
    const sk_tensor_view *inputs, *outputs;
    /* what computes, and in what */
    const char *runtime, *device, *precision;
    /* of opening: the first run with what it needs, one that must agree with it, and the freezing of what is replayed */
    double warm_up_ms, optimised_ms, capture_ms;
    /* activations */
    int64_t bytes;
} sk_network_info;

/* Null settings: defaults. The model may be closed at once: the network keeps its own hold on it. */
SK_API sk_status sk_network_open(const sk_model *model, const sk_network_settings *settings, sk_network **out,
                                 sk_error *err) SK_MUST_CHECK;
SK_API const sk_network_info *sk_network_about(const sk_network *network);

/* Hands in one batch: a tensor for each input, in the order of the info, dense and of exactly its shape and element. The
 * data is lent until the matching wait has returned. SK_ERR_BUSY: `slots` are in flight. */
SK_API sk_status sk_network_submit(sk_network *network, const sk_tensor_view *inputs, int32_t n_inputs,
                                   sk_error *err) SK_MUST_CHECK;
/* The oldest submit's outputs, info.n_outputs of them; they may be read until as many submits as there are slots have
 * followed. SK_ERR_NOT_FOUND: nothing is in flight. */
SK_API sk_status sk_network_wait(sk_network *network, const sk_tensor_view **outputs,
                                 sk_error *err) SK_MUST_CHECK;
/* Both. */
SK_API sk_status sk_network_run(sk_network *network, const sk_tensor_view *inputs, int32_t n_inputs,
                                const sk_tensor_view **outputs, sk_error *err) SK_MUST_CHECK;
/* Runs a batch and compares every output with the reference executor's (slow: seconds). SK_ERR_MISMATCH, with *check
 * filled, where a correlation lies below pcc_min. */
SK_API sk_status sk_network_check(sk_network *network, const sk_tensor_view *inputs, int32_t n_inputs,
                                  sk_check *check, sk_error *err) SK_MUST_CHECK;

/* Frees everything but the handle and the info; later calls give SK_ERR_CANCELLED. */
SK_API void sk_network_release(sk_network *network);
/* Release, and the handle. Nulls the pointer; null is fine. */
SK_API void sk_network_close(sk_network **network);

#ifdef __cplusplus
}
#endif
#endif
