/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_TASKS_DETECTOR_SETTINGS_H
#define SK_TASKS_DETECTOR_SETTINGS_H

#include "skitter/pipeline.h"

/* What counts as found and what computes it: the part of a pipeline's settings that stages, traces and run folders know. */

typedef struct sk_detector_settings {
    const char *runtime;   /* compute runtime; default "cpu" */
    int32_t threads;       /* 0: all cores */
    int32_t batch;         /* frames in one run of the network, 1 (default) … 64 */
    int32_t height, width; /* network input; 0: the model's own */
    sk_rect rect;          /* YOLO: the network's shape; default SK_RECT_AUTO */
    float confidence;      /* YOLO: keep score > this; default 0.25 */
    double iou;            /* YOLO: default 0.7 */
    int32_t max_det;       /* YOLO: default 300 */
    bool agnostic;
    sk_heads heads; /* YOLOv10, YOLO26: default SK_HEADS_AUTO, as Ultralytics: those that need suppression */
    const int32_t *classes; /* YOLO: only these; null = all; borrowed until open returns */
    int32_t n_classes;
    float peak_threshold;  /* SLEAP: default 0.2 */
    int32_t max_instances; /* SLEAP: 0 = no limit */
    sk_sleap_options sleap;
    int32_t crop_batch;                     /* as of sk_pipeline_settings; default 0 */
    sk_choice crop_turned, mask_neighbours; /* as of sk_pipeline_settings; default off */
    bool winograd;                          /* default true */
    bool obb_quarter; /* oriented boxes in newer Ultralytics' form; default false: w >= h */
    /* onnx_cpu, onnx_cuda, onnx_rocm: ONNX Runtime's execution provider, "CPU", "CUDA", "TensorRT", "ROCm", "MIGraphX",
     * "OpenVINO", "CoreML"; default null: the runtime's own. Borrowed while the detector is open. */
    const char *provider;
    const char *
        openvino_device; /* openvino: "CPU" (default null), "GPU", "GPU.1", "NPU", "AUTO"; borrowed while open */
    const char *
        precision; /* "f32", "f16", "bf16", "i8", "fp8"; default null: what the runtime usually computes in */
    bool openvino_throughput; /* openvino: compile for many frames at once, not for the soonest answer */
    /* What only the chosen runtime knows, "winograd=off,tune=off" (docs/runtimes.md; `skitter runtimes --options` lists them);
     * what it does not know is refused at opening. Default null. Borrowed while open. */
    const char *engine_options;
} sk_detector_settings;

void sk_detector_defaults(sk_detector_settings *settings);

#endif
