/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_RUNNER_CHECK_H
#define SK_RUNNER_CHECK_H

#include "runner/trace.h"

#include <pthread.h>

/* Is the network's answer right? The frame that was given is pre-processed once more, from its own pixels, by stages
 * nobody else uses, and run through the reference executor; so a damaged weight, a frame mixed up on its way, and a trace
 * that was captured for something else all show. Slow: seconds for a large network. Opened when it is first used. */

typedef struct sk_checker {
    pthread_mutex_t lock; /* one check at a time */
    sk_task_stage *stage;
    int32_t width, height; /* frames the stage is open for */
    sk_session *reference;
    sk_trace_key key; /* that the reference is open for */
    uint8_t *input;
} sk_checker;

void sk_checker_init(sk_checker *checker);
void sk_checker_close(sk_checker *checker); /* may be opened again by the next check */

/* Fills *out. `outputs` are the trace's for a batch, of which `image` is this frame. */
sk_status sk_checker_run(sk_checker *checker, const sk_model *model, const sk_task_settings *settings,
                         const sk_frame *frame, const sk_trace *trace, const sk_tensor *outputs,
                         int32_t image, double pcc_min, sk_runner_check *out, sk_error *err) SK_MUST_CHECK;

#endif
