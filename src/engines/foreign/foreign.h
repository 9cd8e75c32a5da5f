/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_FOREIGN_FOREIGN_H
#define SK_ENGINES_FOREIGN_FOREIGN_H

#include "base/copiers.h"
#include "engines/engine.h"

/* What engines that hand the graph to somebody else's runtime have in common: the graph as ONNX bytes,
 * buffers at fixed addresses that the runtime reads and writes, and a small graph to try it with. */

/* The common beginning of such an engine's session. Each slot has outputs of its own. Where submits are synchronous all
 * slots share the input buffers, else each has its own of these too. */
typedef struct sk_foreign_session {
    sk_session base;
    int32_t n_inputs, n_outputs, slots;
    int32_t input_sets;                                            /* 1, or as many as slots */
    sk_tensor inputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_INPUTS]; /* 64-byte aligned, as are the outputs */
    bool pictures[SK_SESSION_MAX_INPUTS];                          /* filled from 8-bit pictures … */
    sk_copiers
        copiers; /* … by these, where the processor has nothing else to do meanwhile: asynchronous engines */
    sk_tensor outputs[SK_SESSION_MAX_SLOTS][SK_SESSION_MAX_OUTPUTS];
} sk_foreign_session;

/* Names of the written model's ends: "in0", "out3". Returns buffer. */
#define SK_FOREIGN_NAME 16
const char *sk_foreign_name(bool output, int32_t index, char buffer[SK_FOREIGN_NAME]);

/* ONNX as the form of model files. */
extern const sk_engine_form sk_foreign_form_onnx;

/* The model to hand to a runtime, and what its ends are called: the artifact where there is one, else the graph written
 * in memory. */
typedef struct sk_foreign_model {
    const void *bytes;
    size_t length;
    char names[SK_SESSION_MAX_INPUTS + SK_SESSION_MAX_OUTPUTS][SK_FOREIGN_NAME];
    const char *inputs[SK_SESSION_MAX_INPUTS], *outputs[SK_SESSION_MAX_OUTPUTS];
    uint8_t *owned; /* null with an artifact */
} sk_foreign_model;
sk_status sk_foreign_model_open(const sk_graph *graph, const sk_session_settings *settings,
                                sk_foreign_model *out, sk_error *err) SK_MUST_CHECK;
void sk_foreign_model_close(sk_foreign_model *model);

/* The graph with batch norms folded, as an ONNX model: in f16 between f32 ends, in eight bits where the graph is, else in f32;
 * *bytes is ended by sk_free. */
sk_status sk_foreign_onnx(const sk_graph *graph, sk_precision precision, uint8_t **bytes, size_t *length,
                          sk_error *err) SK_MUST_CHECK;

/* f32 only, and every output of a size known ahead. `title` begins the message. */
sk_status sk_foreign_supports(const char *title, const sk_graph *graph, const sk_session_settings *settings,
                              sk_error *err) SK_MUST_CHECK;

/* Allocates the buffers and fills what the engine owes session->info; `s` is zeroed. On failure call free. */
sk_status sk_foreign_alloc(sk_foreign_session *s, const sk_graph *graph, const sk_session_settings *settings,
                           bool asynchronous, sk_error *err) SK_MUST_CHECK;
void sk_foreign_free(sk_foreign_session *s); /* the buffers, not the struct */

/* Copies or unpacks what was handed in into the slot's input buffers. */
void sk_foreign_fill_inputs(sk_foreign_session *s, int32_t slot, const sk_session_input *inputs);
/* An engine's wait. */
sk_status sk_foreign_wait(sk_session *session, int32_t slot, void **outputs, sk_error *err) SK_MUST_CHECK;

/* Opens one convolution on the engine, runs it and checks the sums: available means that it works. */
sk_status sk_foreign_try(const sk_engine *engine, sk_error *err) SK_MUST_CHECK;

/* Fills a probe: the library, what it runs on and computes in there (bits), or the text in `found` when `status` is a failure. */
void sk_foreign_report(sk_status status, const sk_error *found, const char *title, const char *version,
                       const char *path, uint32_t precisions, sk_engine_probe *out);

#endif
