/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_QUANTIZE_INTERNAL_H
#define SK_APP_QUANTIZE_INTERNAL_H

#include "app/finder_detections.h"
#include "app/quantize.h"
#include "base/instances.h"
#include "engines/engine.h"
#include "tasks/arrange.h"

/* The parts of sk_quantize_run. */

#define SK_QUANTIZE_MOST_SIZES 64

/* A frame, and what the network is given of it: the whole, or crops around what was found in it. */
typedef struct sk_quantize_frame {
    int32_t first, count; /* of the job's inputs */
    int32_t stage;        /* which of the stages reads its results */
    bool held;            /* for measuring; not to calibrate with */
    int64_t index;        /* in its video */
    char *name;           /* of a picture; null: a video's */
    sk_instances found;   /* crops: where they lie; of frames that are held */
} sk_quantize_frame;

/* One input of the network. */
typedef struct sk_quantize_input {
    void *data;
    bool held; /* as its frame */
} sk_quantize_input;

/* For frames of one size. */
typedef struct sk_quantize_stage {
    int32_t width, height;
    sk_task_stage *stage;
    /* crops: who finds */
    sk_task_stage *finder;
    sk_session *finder_network; /* null: a file */
    void *finder_input;
    sk_instances found; /* of the frame in hand */
    sk_instances unused;
} sk_quantize_stage;

typedef struct sk_quantize_truth sk_quantize_truth;

typedef struct sk_quantize_job {
    const sk_quantize_settings *s;
    const sk_model *model;
    const sk_engine *engine;
    sk_graph *graph; /* prepared */
    /* frames */
    int32_t width, height, channels;
    bool u8;
    int32_t n_frames;
    int64_t missing; /* of a video that is cut off */
    sk_quantize_frame *frames;
    size_t n_inputs, inputs_capacity;
    sk_quantize_input *inputs;
    int32_t n_stages;
    sk_quantize_stage stages[SK_QUANTIZE_MOST_SIZES];
    /* who finds what crops lie around; null: the network takes whole frames */
    sk_model *finder;
    sk_finder_detections file; /* its detections, where no model finds */
    sk_task_description gives; /* what both, or the model alone, find */
    sk_quantize_truth *truth;  /* null: none */
    /* numbers */
    sk_quantise_plan *plan;    /* all that can be */
    sk_quantise_scale *scales; /* one a value of the graph; only those of the plan's values are set */
    float *reach;              /* one a value of the graph: the largest magnitude seen, 0: not looked at */
    float **channel_reach;     /* the same of its channels, of what convolutions make; null: not looked at */
    size_t n_channel_reach;    /* values of the graph when it was looked at */
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
int32_t sk_quantize_count(const sk_quantize_job *job, bool held);  /* frames */
int32_t sk_quantize_inputs(const sk_quantize_job *job, bool held); /* of the network */
/* So many of a source's frames, evenly over all of it; fewer than it has. Room for one more; freed by sk_free. */
sk_status sk_quantize_spread(int64_t frames, int64_t wanted, sk_frame_range **out, int32_t *count,
                             sk_error *err) SK_MUST_CHECK;
sk_task_settings sk_quantize_task_settings(const sk_quantize_job *job);

/* quantize_finder.c: who finds the animals that a network looks at, where it takes crops. */
sk_status sk_quantize_finder_open(sk_quantize_job *job, sk_error *err) SK_MUST_CHECK;
void sk_quantize_finder_close(sk_quantize_job *job);
/* The frames that its file has detections in, so many spread over all; freed by sk_free. */
sk_status sk_quantize_finder_frames(const sk_quantize_job *job, int64_t wanted, sk_frame_range **out,
                                    int32_t *count, sk_error *err) SK_MUST_CHECK;
/* The finder's part of a stage, for frames of its size; closed with it, also half-way. */
sk_status sk_quantize_finder_stage(sk_quantize_job *job, sk_quantize_stage *stage,
                                   sk_error *err) SK_MUST_CHECK;
void sk_quantize_finder_stage_close(sk_quantize_stage *stage);
/* Where the crops of a frame lie; *found is the stage's, or the file's until the next frame. */
sk_status sk_quantize_find(sk_quantize_job *job, sk_quantize_stage *stage, const sk_frame *frame,
                           const sk_instances **found, sk_error *err) SK_MUST_CHECK;

/* quantize_calibrate.c */
/* A session on this graph (its outputs as they are, or these values); f32 unless `precision` says otherwise. */
sk_status sk_quantize_session(sk_quantize_job *job, const sk_graph *graph, const sk_value *outputs,
                              int32_t n_outputs, bool cut_tail, sk_precision precision, sk_session **out,
                              sk_error *err) SK_MUST_CHECK;
sk_status sk_quantize_run_input(sk_session *session, const void *data, sk_tensor *outputs,
                                sk_error *err) SK_MUST_CHECK;
/* The same for any model's network, as it is. */
sk_status sk_quantize_open_network(const sk_quantize_job *job, const sk_model *model,
                                   const sk_task_plan *plan, const sk_graph *graph, bool cut_tail,
                                   sk_precision precision, sk_session **out, sk_error *err) SK_MUST_CHECK;
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
sk_status sk_quantize_truth_open(const sk_quantize_job *job, sk_quantize_truth **out,
                                 sk_error *err) SK_MUST_CHECK;
void sk_quantize_truth_close(sk_quantize_truth **truth);
/* Refused where it has none of the frames that are held; once they are read. */
sk_status sk_quantize_truth_check(const sk_quantize_job *job, sk_error *err) SK_MUST_CHECK;
/* `which`: 0 f32, 1 eight bits. */
sk_status sk_quantize_truth_add(sk_quantize_truth *truth, int which, const sk_quantize_frame *frame,
                                const sk_instances *found, sk_error *err) SK_MUST_CHECK;
sk_status sk_quantize_truth_measure(sk_quantize_truth *truth, sk_quantize_report *report,
                                    sk_error *err) SK_MUST_CHECK;

/* quantize_compare.c: what eight bits find against what f32 finds, frame by frame. */

/* Numbers of which the median and the 95th percentile are wanted. */
typedef struct sk_quantize_sample {
    double *items;
    size_t count, capacity;
} sk_quantize_sample;

typedef struct sk_quantize_tally {
    sk_loss *loss; /* is filled */
    sk_quantize_sample boxes, points, scores;
    double agreement; /* how similar pairs are, summed */
    double heads_pcc; /* the lowest correlation of outputs; 1 at first */
    int64_t counted;  /* of both, pairs once */
    bool given; /* somebody else finds the animals, and boxes are theirs; track_id is the crop's number */
    bool peaks; /* the threshold is of points, not of instances */
    float threshold;    /* what counts as found */
    int64_t unsure;     /* of those lost and added: near it … */
    double unsure_part; /* … and what part of the loss that is, once it is ended */
} sk_quantize_tally;

/* Scores so near to the threshold may be found by one of two networks alone. */
#define SK_QUANTIZE_UNSURE 0.1

/* Pairs by overlap, or crop by crop where these are given. */
sk_status sk_quantize_compare(sk_quantize_tally *tally, const sk_instances *plain, const sk_instances *narrow,
                              sk_error *err) SK_MUST_CHECK;
void sk_quantize_compare_heads(sk_quantize_tally *tally, const sk_tensor *plain, const sk_tensor *narrow,
                               int32_t n);
/* What is lost of it all; once, also after a failure. */
void sk_quantize_tally_end(sk_quantize_tally *tally);

/* quantize_loss.c: what is found, against f32. */
sk_status sk_quantize_loss(sk_quantize_job *job, const sk_graph *eight_bits, const sk_graph *simulated,
                           sk_quantize_report *report, sk_error *err) SK_MUST_CHECK;

#endif
