/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_PIPELINE_INTERNAL_H
#define SK_PIPELINE_INTERNAL_H

#include "base/memory.h"
#include "engines/engine.h"
#include "pipeline/pipeline.h"
#include "runner/runner.h"
#include "tasks/arrange.h"

#include <pthread.h>

/* Inside a pipeline: the models and their description, a copy of the settings, and the runner that does the work. */

/* A result that is out, or was. */
typedef struct sk_taken sk_taken;
struct sk_taken {
    sk_result result; /* first: what the caller has */
    sk_runner_result from;
    char problem[SK_ERROR_MESSAGE_MAX];
    sk_taken *next; /* unused */
    sk_taken *all;  /* every one there is */
};

#define SK_MAX_ACCEPTS 16

struct sk_pipeline {
    sk_pipeline_settings settings; /* its pointers are null or our own */
    sk_sleap_options sleap;
    sk_frame expect;
    int32_t *classes;
    char *provider, *device_name; /* of the detector settings it was given */
    char *runtime, *devices, *precision, *options;
    sk_detector_settings detector; /* the same, as the stages know them */

    sk_model *models[SK_PIPELINE_MAX_MODELS];
    sk_task_description description;
    const sk_engine *engine;
    sk_pipeline_info info;
    sk_pipeline_model about[SK_PIPELINE_MAX_MODELS];
    char device[192], precision_used[40];
    sk_frame_kind accepts[SK_MAX_ACCEPTS];
    double open_seconds;

    sk_runner *runner; /* null before start */

    pthread_mutex_t lock; /* of the taken results */
    sk_taken *unused, *all;
    pthread_mutex_t fd_lock;
    int fd; /* -1: nobody asked */
    bool fd_on;
};

/* settings.c: checked and copied, over the defaults. */
sk_status sk_pipeline_copy_settings(sk_pipeline *pipeline, const sk_pipeline_settings *given,
                                    sk_error *err) SK_MUST_CHECK;
/* The same from those that the commands have; after it. */
sk_status sk_pipeline_copy_detector(sk_pipeline *pipeline, const sk_detector_settings *given,
                                    sk_error *err) SK_MUST_CHECK;
void sk_pipeline_free_settings(sk_pipeline *pipeline);
/* `frame` of any size, whole; a null one fails. */
sk_status sk_pipeline_read_frame(const sk_frame *given, sk_frame *whole, sk_error *err) SK_MUST_CHECK;

/* accepts.c: fills info.accepts, from the runner where it stands. */
void sk_pipeline_list_accepts(sk_pipeline *pipeline);

/* stream.c: the descriptor says what is. */
void sk_pipeline_sync_fd(sk_pipeline *pipeline);
void sk_pipeline_result_ready(void *pipeline);

#endif
