/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNTIME_LEGACY_H
#define SK_RUNTIME_LEGACY_H

#include "runtime/gate.h"

/* Configurations of the programs people come from, older and newer than the one `compute_runtime`. */

/* What files without `compute_runtime` say; null = the key is absent. */
typedef struct sk_runtime_legacy {
    const char *yolo_device;
    bool enable_tensorrt;
    const char *pose_runtime_flavor;
} sk_runtime_legacy;

/* TensorRT where it is switched on, else what the pose flavour names, else the device; `auto` or nothing is the
 * first available of tensorrt, mps, rocm, cuda, onnx_rocm, onnx_cuda, onnx_cpu, cpu. */
sk_runtime sk_runtime_from_legacy(const sk_runtime_legacy *legacy, const sk_runtime_facts *facts);

/* `runtime_tier` of newer files: "cpu", "gpu" (the device's own path) or "gpu_fast" (compiled for it). Without a
 * GPU the answer is the NVIDIA one, so that the gate can say why it is not there. False: no such tier. */
bool sk_runtime_from_tier(const char *tier, const sk_runtime_facts *facts, sk_runtime *out);

/* The older keys, as the older programs derived them from the one value. Constant texts. */
typedef struct sk_runtime_derived {
    const char *yolo_device;
    bool enable_onnx_runtime, enable_tensorrt, enable_gpu_background;
    const char *pose_runtime_flavor, *pose_sleap_device;
} sk_runtime_derived;

sk_runtime_derived sk_runtime_derive(sk_runtime runtime);

/* What an imported file means. */
typedef struct sk_runtime_import {
    sk_runtime runtime;
    char key[32];       /* what decided: "compute_runtime", "runtime_tier", "yolo_device", … */
    char value[64];     /* as written there */
    char note[256];     /* "" or what the person should know: "… knows no runtime 'x'; cpu is used" */
    uint32_t pipelines; /* the pipelines the file switches on, as bits 1 << sk_work; 0 = generic */
} sk_runtime_import;

/* Reads a JSON (or .yaml) configuration: a tracking configuration, pose settings, or engine parameters in capital
 * letters. SK_ERR_NOT_FOUND when it says nothing about the runtime. */
sk_status sk_runtime_import_file(const char *path, const sk_runtime_facts *facts, sk_runtime_import *out,
                                 sk_error *err) SK_MUST_CHECK;

/* The other way: the keys that those programs read, as a JSON object (ended by sk_free). What else `path` holds stays,
 * where it is given and there. Nothing is written. */
sk_status sk_runtime_export_text(sk_runtime runtime, const char *path, char **json,
                                 sk_error *err) SK_MUST_CHECK;

#endif
