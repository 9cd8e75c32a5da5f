/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_NAMES_H
#define SK_RUNTIME_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The compute runtimes people choose from. The order is a contract: it is the order of every list that is shown,
 * and the first allowed one is what an impossible choice is reset to. */
typedef enum sk_runtime {
    SK_RUNTIME_CPU = 0,
    SK_RUNTIME_MPS,
    SK_RUNTIME_CUDA,
    SK_RUNTIME_ROCM,
    SK_RUNTIME_ONNX_CPU,
    SK_RUNTIME_ONNX_CUDA,
    SK_RUNTIME_ONNX_ROCM,
    SK_RUNTIME_TENSORRT,
    SK_RUNTIME_OPENVINO,
    SK_RUNTIME_COUNT
} sk_runtime;

/* Constant texts; "unknown" for a value out of range. */
const char *sk_runtime_name(sk_runtime runtime);    /* "onnx_cpu": what files and the command line say */
const char *sk_runtime_label(sk_runtime runtime);   /* "ONNX (CPU)": what people read */
const char *sk_runtime_meaning(sk_runtime runtime); /* "ONNX Runtime, CPU provider" */

/* A canonical name, letter for letter. */
bool sk_runtime_find(const char *name, sk_runtime *out);

/* What the words that leave a choice open are decided by. */
typedef struct sk_runtime_devices {
    bool cuda, rocm;         /* a usable NVIDIA / AMD device */
    bool ort_cuda, ort_rocm; /* ONNX Runtime offers the provider */
} sk_runtime_devices;

typedef enum sk_runtime_match {
    SK_RUNTIME_EXACT = 1, /* a canonical name, white space, case and '-' aside */
    SK_RUNTIME_ALIAS = 2, /* another word for it: "trt", "cuda:0", "auto" */
    SK_RUNTIME_NO_MATCH = 3
} sk_runtime_match;

/* Reads a runtime's name as people and older files write it. What nobody knows is `cpu` with SK_RUNTIME_NO_MATCH:
 * files from elsewhere are then read with a note, a person's own words are refused. `text` may be null (empty). */
sk_runtime_match sk_runtime_normalise(const char *text, const sk_runtime_devices *devices, sk_runtime *out);

/* Does the word leave open which ONNX Runtime it is? "onnx", "onnx_gpu" */
bool sk_runtime_is_open(const char *text);

/* "cpu, mps, …": for error texts. Returns buffer. */
#define SK_RUNTIME_LIST 128
const char *sk_runtime_list(char *buffer, size_t capacity);

#endif
