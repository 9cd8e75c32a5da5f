/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SKITTER_DETECTOR_H
#define SKITTER_DETECTOR_H

#include "skitter/frame.h"
#include "skitter/instance.h"
#include "skitter/model.h"
#include "skitter/source.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frames in, instances out: one model, or two of which the second looks at crops around what the first found. Wires
 * the stages of tasks/ around sessions of an engine; every door uses this one. One thread at a time. */

#define SK_DETECTOR_MAX_MODELS 2

/* The shape of a YOLO network's input: the square (or --imgsz as it is) with the frame in its middle, or cut down to the
 * least multiple of the stride that holds the frame, which for 16:9 video is three fifths of the work. */
typedef enum sk_rect {
    SK_RECT_AUTO =
        0, /* as Ultralytics: on where the runtime takes any shape, off where it runs a file made for one */
    SK_RECT_ON = 1,
    SK_RECT_OFF = 2
} sk_rect;

/* How SLEAP's peaks are refined to fractions of a pixel. A legacy model's own offsets take its place. */
typedef enum sk_sleap_refinement {
    SK_SLEAP_REFINE_INTEGRAL = 0, /* centre of mass of a patch around the peak */
    SK_SLEAP_REFINE_LOCAL,        /* a quarter pixel towards the higher neighbour */
    SK_SLEAP_REFINE_NONE
} sk_sleap_refinement;

/* What becomes of poses in one place. */
typedef enum sk_overlap {
    SK_OVERLAP_KEEP = 0,
    SK_OVERLAP_IOU, /* the boxes around them overlap */
    SK_OVERLAP_OKS  /* their nodes lie close together */
} sk_overlap;

/* SLEAP's own settings, by the names sleap-nn has for them. From sk_detector_defaults(). */
typedef struct sk_sleap_options {
    float centroid_peak_threshold; /* of centroids; below 0 (default): peak_threshold */
    int32_t refinement;            /* sk_sleap_refinement */
    int32_t integral_patch_size;   /* odd, 3 … 15; default 5 */
    /* Bottom-up: */
    float max_edge_length_ratio; /* longer edges are penalised, of the fields' largest side; default 0.25 */
    float dist_penalty_weight;   /* default 1 */
    int32_t n_points;            /* samples along an edge, 2 … 1000; default 10 */
    float min_instance_peaks;    /* up to 1: a part of the nodes; above: peaks; default 0 */
    float min_line_scores;       /* edges below are dropped, -1 … 1; default 0.25 */
    /* What is kept of a frame's poses; 0 = everything. */
    int32_t overlap;         /* sk_overlap: the worse of two poses goes … */
    float overlap_threshold; /* … where they overlap by more; default 0.8 */
    int32_t min_visible_nodes;
    float min_visible_node_fraction, min_mean_node_score, min_instance_score;
    float min_centroid_distance; /* pixels; models of centroids alone */
} sk_sleap_options;

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
    bool winograd;    /* default true */
    bool obb_quarter; /* oriented boxes in newer Ultralytics' form; default false: w >= h */
    /* onnx_cpu, onnx_cuda, onnx_rocm: ONNX Runtime's execution provider, "CPU", "CUDA", "TensorRT", "ROCm", "MIGraphX",
     * "OpenVINO", "CoreML"; default null: the runtime's own. Borrowed while the detector is open. */
    const char *provider;
    const char *
        openvino_device; /* openvino: "CPU" (default null), "GPU", "GPU.1", "NPU", "AUTO"; borrowed while open */
    const char
        *precision; /* "f32", "f16", "bf16", "i8"; default null: what the runtime usually computes in */
    bool openvino_throughput; /* openvino: compile for many frames at once, not for the soonest answer */
    /* What only the chosen runtime knows, "winograd=off,tune=off" (docs/runtimes.md; `skitter runtimes --options` lists them);
     * what it does not know is refused at opening. Default null. Borrowed while open. */
    const char *engine_options;
} sk_detector_settings;

SK_API void sk_detector_defaults(sk_detector_settings *settings);

/* What it found out about itself; borrowed. */
typedef struct sk_detector_info {
    sk_task task;
    int32_t n_models;
    const sk_model *models[SK_DETECTOR_MAX_MODELS];
    int32_t n_classes;
    const char *const *class_names;
    int32_t n_keypoints;
    const char *const *keypoint_names; /* unnamed ones are "kpt0" … */
    int32_t n_edges;
    const int32_t (*edges)[2];
    uint32_t has;                                /* SK_HAS_… */
    bool identities;                             /* classes are individuals */
    sk_heads heads;                              /* YOLO: what is run; AUTO: no YOLO model */
    sk_rect rect;                                /* YOLO: ON or OFF, what is run; AUTO: no YOLO model */
    int32_t capacity;                            /* most instances a frame */
    char runtime[32], device[160], precision[8]; /* what really runs */
    /* How the program that made the last model reads video: what that model learnt from. SLEAP up to 1.4: BT.601 always;
     * sleap-nn and Ultralytics: as the file says. */
    sk_source_colours colours;
} sk_detector_info;

/* Seconds spent so far, by stage. */
typedef struct sk_detector_times {
    int64_t frames;
    double open, pre, network, post;
} sk_detector_times;

typedef struct sk_detector sk_detector;

SK_API sk_status sk_detector_open(const char *const *models, int32_t n_models,
                                  const sk_detector_settings *settings, sk_detector **out,
                                  sk_error *err) SK_MUST_CHECK;
SK_API void sk_detector_close(sk_detector **detector);
SK_API const sk_detector_info *sk_detector_about(const sk_detector *detector);
SK_API void sk_detector_get_times(const sk_detector *detector, sk_detector_times *times);

/* Looks at `count` frames (1 … batch) and fills out[i] (from sk_instances_alloc with the info's capacity and keypoints) for
 * each. Sessions for a new frame size are opened when it first comes. */
SK_API sk_status sk_detector_run(sk_detector *detector, const sk_frame *const *frames, int32_t count,
                                 sk_instances *out, sk_error *err) SK_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
