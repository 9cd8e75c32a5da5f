/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_QUANTIZE_INTERNAL_H
#define SK_APP_QUANTIZE_INTERNAL_H

#include "app/quantize.h"
#include "base/instances.h"
#include "engines/engine.h"
#include "tasks/stage.h"

/* The parts of sk_quantize_run. */

#define SK_QUANTIZE_MOST_SIZES 64

/* A frame as the network's input. */
typedef struct sk_quantize_frame {
    void *input;
    int32_t stage; /* which of the stages reads its results */
    bool held;     /* for measuring; not to calibrate with */
    int64_t index; /* in its video */
    char *name;    /* of a picture; null: a video's */
} sk_quantize_frame;

typedef struct sk_quantize_job {
    const sk_quantize_settings *s;
    const sk_model *model;
    const sk_engine *engine;
    sk_graph *graph; /* prepared */
    /* frames */
    int32_t width, height, channels;
    bool u8;
    int32_t n_frames;
    sk_quantize_frame *frames;
    int32_t n_stages;
    struct {
        int32_t width, height;
        sk_task_stage *stage;
    } stages[SK_QUANTIZE_MOST_SIZES];
    /* numbers */
    sk_quantise_plan *plan;    /* all that can be */
    sk_quantise_scale *scales; /* one a value of the graph; only those of the plan's values are set */
    float *reach;              /* one a value of the graph: the largest magnitude seen, 0: not looked at */
    float **means;             /* one a layer of the plan */
    double *sensitivity;       /* one a layer; null: not measured */
    int64_t done, total;       /* of the step, for the watcher */
    const char *step;
} sk_quantize_job;

/* Tells the watcher; SK_ERR_CANCELLED where it wants no more. */
sk_status sk_quantize_tick(sk_quantize_job *job, sk_error *err) SK_MUST_CHECK;
void sk_quantize_begin(sk_quantize_job *job, const char *step, int64_t total);

/* quantize_frames.c: reads and fits in. */
sk_status sk_quantize_read(sk_quantize_job *job, sk_error *err) SK_MUST_CHECK;
void sk_quantize_frames_free(sk_quantize_job *job);
int32_t sk_quantize_count(const sk_quantize_job *job, bool held);

/* quantize_calibrate.c */
/* A session on this graph (its outputs as they are, or these values); f32 unless `precision` says otherwise. */
sk_status sk_quantize_session(sk_quantize_job *job, const sk_graph *graph, const sk_value *outputs,
                              int32_t n_outputs, bool cut_tail, sk_precision precision, sk_session **out,
                              sk_error *err) SK_MUST_CHECK;
sk_status sk_quantize_run_frame(const sk_quantize_job *job, sk_session *session,
                                const sk_quantize_frame *frame, sk_tensor *outputs,
                                sk_error *err) SK_MUST_CHECK;
/* Scales and means by the frames that are not held; how far layers reach goes to the report's rows. */
sk_status sk_quantize_calibrate(sk_quantize_job *job, sk_quantize_report *report,
                                sk_error *err) SK_MUST_CHECK;
void sk_quantize_numbers_free(sk_quantize_job *job);
/* The graph in eight bits, or its simulation, with the layers that `stays` leaves. `rows`: errors of weights; may be null. */
sk_status sk_quantize_make(sk_quantize_job *job, const uint8_t *stays, bool simulate,
                           sk_quantize_report *rows, sk_graph **out, sk_error *err) SK_MUST_CHECK;

/* quantize_measure.c */
/* How much each layer alone disturbs the outputs: job->sensitivity. */
sk_status sk_quantize_sensitivity(sk_quantize_job *job, sk_error *err) SK_MUST_CHECK;
/* Errors of all layers together. */
sk_status sk_quantize_errors(sk_quantize_job *job, const sk_graph *simulated, sk_quantize_report *report,
                             sk_error *err) SK_MUST_CHECK;
/* quantize_truth.c; *out stays null where there is none. */
typedef struct sk_quantize_truth sk_quantize_truth;
sk_status sk_quantize_truth_open(const sk_quantize_job *job, sk_quantize_truth **out,
                                 sk_error *err) SK_MUST_CHECK;
void sk_quantize_truth_close(sk_quantize_truth **truth);
/* `which`: 0 f32, 1 eight bits. */
sk_status sk_quantize_truth_add(sk_quantize_truth *truth, int which, const sk_quantize_frame *frame,
                                const sk_instances *found, sk_error *err) SK_MUST_CHECK;
sk_status sk_quantize_truth_measure(sk_quantize_truth *truth, sk_quantize_report *report,
                                    sk_error *err) SK_MUST_CHECK;

/* quantize_loss.c: what is found, against f32. */
sk_status sk_quantize_loss(sk_quantize_job *job, const sk_graph *eight_bits, const sk_graph *simulated,
                           sk_quantize_report *report, sk_error *err) SK_MUST_CHECK;

#endif
