/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_GATE_H
#define SK_RUNTIME_GATE_H

#include "base/error.h"
#include "runtime/names.h"

#include <stdint.h>

/* Which runtimes may be chosen: pure logic on what the probes found. No device is touched here. */

/* What models are for, by the names that settings files have: their "pipelines". */
typedef enum sk_work {
    SK_WORK_GENERIC = 0, /* also any pipeline without rules of its own */
    SK_WORK_YOLO_OBB_DETECTION,
    SK_WORK_YOLO_POSE,
    SK_WORK_SLEAP_POSE,
    SK_WORK_YOLO_DETECTION,
    SK_WORK_COUNT
} sk_work;

const char *sk_work_name(sk_work pipeline); /* "sleap_pose" */
bool sk_work_find(const char *name, sk_work *out);
/* Reads "yolo_obb_detection,sleap_pose" into a set of bits 1 << pipeline; empty or null = no pipeline, which is
 * the generic rule. */
sk_status sk_works_parse(const char *list, uint32_t *set, sk_error *err) SK_MUST_CHECK;

#define SK_RUNTIME_WHY 320

/* What is known of this machine. All zero: nothing but a processor. */
typedef struct sk_runtime_facts {
    bool cuda;                /* a usable NVIDIA device */
    bool rocm;                /* a usable AMD device; excludes cuda wherever both are there */
    bool mps;                 /* Apple Metal */
    bool ort;                 /* ONNX Runtime can be loaded … */
    bool ort_providers_known; /* … and said what it offers: */
    bool ort_cpu, ort_cuda, ort_tensorrt;
    bool ort_rocm; /* MIGraphX, or ROCm in old libraries */
    bool tensorrt; /* TensorRT can be loaded */
    bool openvino;
    bool graph_importable; /* SLEAP: our importer can build the model's graph */
    /* A runtime whose own test failed is not offered even where the rules would allow it; `why` says what the
     * probe found, and is used as the reason. */
    bool failed[SK_RUNTIME_COUNT];
    char why[SK_RUNTIME_COUNT][SK_RUNTIME_WHY];
} sk_runtime_facts;

sk_runtime_devices sk_runtime_facts_devices(const sk_runtime_facts *facts);

/* May this pipeline use this runtime? When not, `because` (if given) gets the reason. */
bool sk_runtime_supported(sk_work pipeline, sk_runtime runtime, const sk_runtime_facts *facts, char *because,
                          size_t capacity);

/* The intersection over a set of pipelines, in the canonical order; never empty: `cpu` is always allowed. */
typedef struct sk_runtime_gate {
    int32_t n_allowed;
    sk_runtime allowed[SK_RUNTIME_COUNT];
    bool is_allowed[SK_RUNTIME_COUNT];
    sk_work by[SK_RUNTIME_COUNT];                   /* excluded: the first pipeline that said no … */
    char because[SK_RUNTIME_COUNT][SK_RUNTIME_WHY]; /* … and why: "sleap_pose: …"; "" for allowed ones */
} sk_runtime_gate;

void sk_runtime_gate_make(uint32_t pipelines, const sk_runtime_facts *facts, sk_runtime_gate *out);

/* A saved choice under this gate: itself when allowed, else the first allowed one. True when it was reset; `notice`
 * then names the old value, the new one and who removed the old. `saved` is taken as a person wrote it. */
#define SK_RUNTIME_NOTICE 640
bool sk_runtime_reset(const char *saved, const sk_runtime_gate *gate, const sk_runtime_facts *facts,
                      sk_runtime *out, char notice[SK_RUNTIME_NOTICE]);

#endif
