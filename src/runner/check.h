/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_CHECK_H
#define SK_RUNNER_CHECK_H

#include "runner/trace.h"

#include <pthread.h>

/* Is the network's answer right? The frame that was given is pre-processed once more, from its own pixels, by stages
 * nobody else uses, and run through the reference executor; so a damaged weight, a frame mixed up on its way, and a trace
 * that was captured for something else all show. A second model is checked on each crop around what the first was found
 * to have found, cut from the frame anew. Slow: seconds for a large network. Opened when it is first used. */

typedef struct sk_checker_part {
    sk_task_stage *stage;
    sk_session *reference;
    sk_session *
        unrounded; /* of eight bits, once a correlation was too small: what their roundings are measured from */
    sk_trace_key key; /* that the two are open for */
    uint8_t *input;
} sk_checker_part;

typedef struct sk_checker {
    pthread_mutex_t lock;  /* one frame at a time */
    int32_t width, height; /* frames the stages are open for */
    sk_checker_part parts[SK_PIPELINE_MAX_MODELS];
    sk_instances unused; /* the crops' stage wants a place for results */
} sk_checker;

void sk_checker_init(sk_checker *checker);
void sk_checker_close(sk_checker *checker); /* may be opened again by the next check */

/* What is checked, and against which limit (0: by the trace's precision). */
typedef struct sk_checker_call {
    const sk_model *const *models;
    const sk_task_settings *settings;
    const sk_frame *frame;
    double pcc_min;
    sk_check *out; /* begins as {.pcc = 1}; every comparison adds to it */
} sk_checker_call;

/* The first model: `outputs` are the trace's for a batch, of which `image` is this frame. */
sk_status sk_checker_frame(sk_checker *checker, const sk_checker_call *call, const sk_trace *trace,
                           const sk_tensor *outputs, int32_t image, sk_error *err) SK_MUST_CHECK;

/* The second: begin with what the first found, each crop's outputs (`image` of the trace's batch) in turn, end in any case. The checker is the caller's
 * from begin to end. */
sk_status sk_checker_crops_begin(sk_checker *checker, const sk_checker_call *call, const sk_instances *found,
                                 int32_t n_crops, sk_error *err) SK_MUST_CHECK;
sk_status sk_checker_crop(sk_checker *checker, const sk_checker_call *call, int32_t crop,
                          const sk_trace *trace, const sk_tensor *outputs, int32_t image,
                          sk_error *err) SK_MUST_CHECK;
void sk_checker_crops_end(sk_checker *checker);

/* Once everything was compared: SK_ERR_MISMATCH names the worst output. */
sk_status sk_checker_verdict(const sk_checker_call *call, int32_t n_models, sk_error *err) SK_MUST_CHECK;

#endif
