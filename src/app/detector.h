/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SK_APP_DETECTOR_H
#define SK_APP_DETECTOR_H

#include "runner/runner.h"

/* What it found out about itself; borrowed. */
typedef struct sk_detector_info {
    sk_task task;
    int32_t n_models;
    const sk_model *models[SK_PIPELINE_MAX_MODELS];
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

sk_status sk_detector_open(const char *const *models, int32_t n_models, const sk_detector_settings *settings,
                           sk_detector **out, sk_error *err) SK_MUST_CHECK;
void sk_detector_close(sk_detector **detector);
const sk_detector_info *sk_detector_about(const sk_detector *detector);
void sk_detector_get_times(const sk_detector *detector, sk_detector_times *times);

/* Looks at `count` frames (1 … batch) and fills out[i] (from sk_instances_alloc with the info's capacity and keypoints) for
 * each. Sessions for a new frame size are opened when it first comes. */
sk_status sk_detector_run(sk_detector *detector, const sk_frame *const *frames, int32_t count,
                          sk_instances *out, sk_error *err) SK_MUST_CHECK;

/* For those who drive the runner themselves: models opened, ordered and described like every detector's, without a
 * network yet. */
sk_status sk_detector_open_models(const char *const *models, int32_t n_models,
                                  const sk_detector_settings *settings, sk_detector **out,
                                  sk_error *err) SK_MUST_CHECK;

/* A runner on the detector's models and settings (of `how`, all but `detector` counts); the detector's, released with
 * it or by the next one. */
sk_status sk_detector_open_runner(sk_detector *detector, const sk_runner_settings *how, sk_runner **out,
                                  sk_error *err) SK_MUST_CHECK;
/* May an engine be given frames of video as they are? */
bool sk_detector_takes_nv12(const sk_detector *detector);
/* Does one network fit frames of every size? */
bool sk_detector_fits_all(const sk_detector *detector);
/* Once the runner is open: frees the models' own copy of the weights where no frame can need another network, or, with
 * `one_size`, where none is expected to: then the file is read again. */
void sk_detector_forget(sk_detector *detector, bool one_size);

#endif
