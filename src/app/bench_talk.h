/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_BENCH_TALK_H
#define SK_APP_BENCH_TALK_H

#include "app/bench.h"
#include "engines/options.h"

/* What the benchmark and the process of a runtime tell each other: records of fixed size. First a wish and what came of opening it, then
 * an order and its report, until ORDER_END. */

#define RUNS_A_ROUND 4

enum { ORDER_RUN = 1, ORDER_LAYERS = 2, ORDER_END = 3, ORDER_FRAMES = 4 };

typedef struct opened_report {
    int32_t ok;
    sk_status status;
    char problem[512];
    double open_ms, flops, weights_mb, activations_mb;
    char detail[256];
    int32_t threads;
    char runtime[32], precision[8], device[160];
} opened_report;

typedef struct round_report {
    int32_t ok;
    char problem[512];
    double ms[RUNS_A_ROUND];
    double cpu_ms; /* least of the round */
    double rss_mb;
} round_report;

/* The settings as they go over the socket: with the texts they point to. */
typedef struct bench_wish {
    sk_bench_settings settings; /* its pointers mean nothing */
    char model[4096], runtime[64], provider[64], openvino_device[64];
    char engine_options[SK_OPTIONS_TEXT];
} bench_wish;

#endif
