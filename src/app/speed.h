/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_SPEED_H
#define SK_APP_SPEED_H

#include "app/basic.h"
#include "runner/runner.h"

/* How much the runner gains on a model and a source: basic execution and the runner side by side in one process, in
 * short rounds that alternate, over the same frames. Decoding is part of both: on the calling thread without the runner,
 * on a thread of its own with it. */

#define SK_SPEED_MAX_ROUNDS 64

typedef struct sk_speed_settings {
    int32_t n_models;
    const char *models[SK_PIPELINE_MAX_MODELS];
    const char *input;         /* video or pictures; null: frames of noise, without decoding */
    int32_t width, height;     /* of noise; default 1920 x 1080 */
    sk_runner_settings runner; /* with the detector's settings, which basic execution uses too */
    int32_t iterations;        /* frames of each side; default 200 */
    int32_t rounds;            /* default 0: as many as give about 25 frames each */
    int32_t decode_threads;    /* of either side; default 1 */
    bool rgb;                  /* no planes for the runner: frames as basic execution has them */
    bool check_pcc;            /* the first and the last frame, outside of the measured time */
    const char *trace_out;     /* timeline of the last round; null: none */
    bool no_basic;             /* only the runner */
} sk_speed_settings;

void sk_speed_defaults(sk_speed_settings *settings);

typedef struct sk_speed_report {
    int32_t rounds, frames_a_round;
    double basic_fps, runner_fps;       /* medians of the rounds */
    double speedup;                     /* runner_fps / basic_fps */
    double speedup_least, speedup_most; /* the rounds' own ratios lie between */
    double basic_round[SK_SPEED_MAX_ROUNDS], runner_round[SK_SPEED_MAX_ROUNDS]; /* frames/s */
    sk_basic_times basic;
    double basic_decode;  /* seconds */
    double runner_decode; /* seconds, on its own thread */
    int64_t basic_instances, runner_instances;
    sk_runner_stats stats;
    int32_t depth;
    bool checked;
    sk_check check; /* the worse of the two */
    int32_t n_models;
    char models[SK_PIPELINE_MAX_MODELS][256]; /* in the order they run in */
    int32_t width, height;                    /* of the frames */
    char runtime[32], device[160], precision[8];
    char notice[512]; /* "" or what the person should know */
} sk_speed_report;

/* Called after every round; return true to stop. */
typedef bool (*sk_speed_watch)(void *context, int32_t round, int32_t rounds);

sk_status sk_speed_measure(const sk_speed_settings *settings, sk_speed_watch watch, void *context,
                           sk_speed_report *report, sk_error *err) SK_MUST_CHECK;

#endif
