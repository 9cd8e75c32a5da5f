/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_ENGINES_ORT_ORT_PROVIDER_H
#define SK_ENGINES_ORT_ORT_PROVIDER_H

#include "engines/engine.h"
#include "engines/ort/ort_api.h"

/* ONNX Runtime's execution providers: which of our runtimes they belong to, and how each is asked for. */

/* What a session wants of its provider. */
typedef struct ort_request {
    const sk_session_settings *settings;
    void *stream; /* of the device, for the provider to work on; null: its own */
    bool graph;   /* the model is to be replayed as one CUDA graph */
} ort_request;

/* Where the ends of the model may lie when they are bound once and for all. */
typedef enum ort_ends {
    ORT_ENDS_ON_HOST = 0,   /* the provider computes in the host's memory */
    ORT_ENDS_ON_DEVICE,     /* NVIDIA: ort_device.h */
    ORT_ENDS_BOUND_EACH_RUN /* a device we have no memory of: inputs are copied when they are bound */
} ort_ends;

typedef struct ort_provider {
    const char *word;    /* as people say it: "TensorRT" */
    const char *listed;  /* as the library lists it: "TensorrtExecutionProvider" */
    const char *runtime; /* "onnx_cuda" */
    const char *package; /* the Python package that has it */
    sk_status (*append)(const ort_api *api, ort_session_options *options, const ort_request *request,
                        sk_error *err);
    ort_ends ends;
    bool
        takes_stream; /* it works on the stream it is given; else on its own, and a run returns when all is done */
    bool or_next; /* where the library lacks it, the runtime's next will do as well */
} ort_provider;

/* Of all three runtimes: the provider; of onnx_cuda: some of the CUDA provider's own. */
extern const sk_engine_option ort_options[], ort_cuda_options_table[];

/* Was the library built with it? Not whether it works. */
bool ort_provider_listed(const ort_api *api, const ort_provider *provider);

/* The provider for a runtime and these settings: the one asked for, else the runtime's first that the library lists.
 * `api` may be null: the library is then not asked. */
sk_status ort_provider_choose(const ort_api *api, const char *runtime, const sk_session_settings *settings,
                              const ort_provider **out, sk_error *err) SK_MUST_CHECK;

/* --- which nodes ended up elsewhere --- */

typedef struct ort_placement {
    const char *wanted; /* the provider's listed name */
    int32_t wanted_nodes, other_nodes;
    int32_t n_kinds;
    struct {
        char op[32];
        int32_t count;
    } kinds[24];
    char other[48]; /* the provider that the nodes named last are on */
    bool reading_other;
} ort_placement;

/* One message of the library; for ort_listen, with an ort_placement as context. */
void ort_placement_hear(void *placement, const char *message);
/* "CPUExecutionProvider runs 3 of 120 nodes: Resize x2, TopK x1"; "" when all are where they were wanted. */
void ort_placement_text(const ort_placement *placement, char *text, size_t capacity);

#endif
