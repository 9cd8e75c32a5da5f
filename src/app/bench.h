/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BENCH_H
#define SK_APP_BENCH_H

#include "engines/engine.h"
#include "skitter/model.h"

/* Times a model on several runtimes, side by side, its network alone and the whole way from frames to results: each runtime lives in a process of its own (so that memory
 * and opening time are its own), and short rounds of runs alternate between them, so that a noisy machine disturbs all
 * alike. Ratios between rows of one run are meaningful; absolute times only as far as the machine is quiet. */

#define SK_BENCH_MAX_RUNTIMES 16

typedef struct sk_bench_settings {
    const char *model;
    int32_t n_runtimes;
    const char *runtimes[SK_BENCH_MAX_RUNTIMES];
    int32_t batch;         /* 1 … */
    int32_t height, width; /* 0: the model's own */
    int32_t threads;       /* 0: all cores */
    int32_t iterations;    /* timed runs of each runtime; default 60 */
    int32_t warmup;        /* untimed runs of each; default 3 */
    bool frames;           /* also frames to results, all stages; default true */
    bool layers;           /* also a per-layer table of the first runtime */
    bool cut_tail;         /* 1: time up to the raw heads, as predict runs it */
    bool winograd;
    sk_heads heads;       /* of YOLOv10 and YOLO26 */
    const char *provider; /* of the onnx_… runtimes; null: their own */
    const char *openvino_device;
    const char *engine_options; /* engines/options.h; null: none */
    sk_precision precision;     /* 0: each runtime's usual one */
    bool openvino_throughput;
} sk_bench_settings;

typedef struct sk_bench_result {
    char requested[32]; /* as it was asked for */
    char runtime[32];   /* what ran */
    char precision[8];
    char device[160];
    bool failed;
    sk_status status; /* why, where it failed: what another command would end with … */
    char problem[512];
    double open_ms;                   /* from the model's path to the end of the first run */
    double median_ms, min_ms, p99_ms; /* the network alone, on the device */
    double frame_ms; /* median from frames in memory to their instances, a batch; 0: not measured … */
    char frames_problem[512]; /* … for this reason, where it was asked for */
    double cpu_ms; /* least processor time of a run, over all threads: what a busy machine disturbs least */
    double gflops; /* of the median */
    double peak_percent;               /* of this CPU's measured peak with as many threads; 0 unknown */
    double rss_mb;                     /* largest resident size of the runtime's process */
    char detail[256];                  /* the session's own words */
    double weights_mb, activations_mb; /* of rss_mb, what the session itself says it holds; 0 unknown */
    int32_t threads;
    int32_t n_layers;
    sk_profile_row *layers; /* sk_free; null unless asked for */
} sk_bench_result;

/* The child's part (base/child.h, role "bench"). */
void sk_bench_serve(int fd);

void sk_bench_defaults(sk_bench_settings *settings);
/* While it is on, the saved runtime cannot be changed; `notice` says when that could not be arranged. Fills one result a runtime. A runtime that fails is reported in its row; SK_OK when at least one ran. */
sk_status sk_bench_run(const sk_bench_settings *settings, sk_bench_result *results, char notice[512],
                       sk_error *err) SK_MUST_CHECK;

#endif
